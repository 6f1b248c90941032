//! How long is a provider left alone?
//!
//! ```text
//! (provider, what it asked for, now) → not before then
//! ```
//!
//! A provider that answers 429 means all callers with the same key, and not the one text that was
//! too many. So the pause belongs to the provider, and bulk work of all sessions keeps it, as far
//! as it goes there by servers of the same owner and by the same proxy: the owner of a foreign
//! server could otherwise have its proxy say that another role's provider is busy. A provider that
//! says how long is believed, up to an hour. One that does not say gets 1 second the first time,
//! then twice as long each time up to 60 seconds, each time a random part of up to a half less, so
//! that several servers with one key do not come back together.
//!
//! Calls that were on their way together are refused together. That is one refusal and not
//! many: what arrives during a pause does not make the next one longer.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::scheduling::backoff::Backoff;

/// Pauses that nobody asked for.
const PAUSES: Backoff = Backoff::doubling(FIRST, LONGEST);
const FIRST: Duration = Duration::from_secs(1);

/// The longest pause of a provider that names none.
const LONGEST: Duration = Duration::from_secs(60);

/// The longest pause that is granted. A provider whose clock is wrong must not be lost until
/// ragd is restarted.
const LONGEST_ASKED: Duration = Duration::from_secs(3600);

/// How long after its end a pause still makes the next one longer.
const REMEMBERED: Duration = Duration::from_secs(600);

/// Which provider is left alone: a digest of an address, a key, the way there and the role that has
/// chosen it.
pub type ProviderId = [u8; 32];

/// The pauses of all providers.
#[derive(Default)]
pub struct Cooldowns(HashMap<ProviderId, Cooldown>);

struct Cooldown {
    until: Instant,
    /// Pauses since the provider last answered.
    count: u32,
}

impl Cooldowns {
    /// Notes at `now` that `provider` is busy, and gives how long it is left alone from now
    /// on. `asked` is how long it asked for; `random` is in 0..1.
    pub fn refused(
        &mut self,
        provider: ProviderId,
        asked: Option<Duration>,
        now: Instant,
        random: f64,
    ) -> Duration {
        self.0.retain(|_, pause| now < pause.until + REMEMBERED);
        let pause = self.0.entry(provider).or_insert(Cooldown { until: now, count: 0 });
        let is_over = pause.until <= now;
        match asked {
            Some(asked) => pause.until = pause.until.max(now + granted(asked, random)),
            None if is_over => pause.until = now + PAUSES.at_most(pause.count, random),
            None => {}
        }
        pause.count += u32::from(is_over);
        pause.until - now
    }

    /// Notes at `now` that `provider` has answered. A pause that is on goes on: the call may
    /// have begun before it.
    pub fn answered(&mut self, provider: &ProviderId, now: Instant) {
        if self.left(provider, now).is_none() {
            self.0.remove(provider);
        }
    }

    /// How much longer `provider` is left alone; `None`: it may be called.
    pub fn left(&self, provider: &ProviderId, now: Instant) -> Option<Duration> {
        let left = self.0.get(provider)?.until.saturating_duration_since(now);
        (!left.is_zero()).then_some(left)
    }
}

/// All callers got the same moment; a little later is still polite.
fn granted(asked: Duration, random: f64) -> Duration {
    asked.min(LONGEST_ASKED) + FIRST.mul_f64(random / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ProviderId = [1; 32];
    const B: ProviderId = [2; 32];

    fn seconds(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    #[test]
    fn unasked_pauses_double_up_to_a_limit() {
        let (mut pauses, mut now) = (Cooldowns::default(), Instant::now());
        let mut lengths = Vec::new();
        for _ in 0..8 {
            let pause = pauses.refused(A, None, now, 1.0);
            lengths.push(pause.as_secs());
            now += pause;
        }
        assert_eq!(lengths, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(pauses.refused(B, None, now, 0.0), seconds(0.5));
    }

    #[test]
    fn a_pause_ends_to_the_moment() {
        let (mut pauses, now) = (Cooldowns::default(), Instant::now());
        assert_eq!(pauses.left(&A, now), None);
        pauses.refused(A, Some(seconds(20.0)), now, 0.0);
        assert_eq!(pauses.left(&A, now + seconds(19.0)), Some(seconds(1.0)));
        assert_eq!(pauses.left(&A, now + seconds(20.0)), None);
        assert_eq!(pauses.left(&B, now), None);
    }

    #[test]
    fn an_asked_pause_is_never_shortened_and_never_endless() {
        let (mut pauses, now) = (Cooldowns::default(), Instant::now());
        assert_eq!(pauses.refused(A, Some(seconds(20.0)), now, 0.5), seconds(20.25));
        assert_eq!(pauses.refused(A, Some(seconds(5.0)), now, 0.5), seconds(20.25));
        assert_eq!(pauses.refused(A, Some(seconds(30.0)), now, 0.0), seconds(30.0));
        assert_eq!(pauses.refused(A, Some(Duration::MAX), now, 0.0), LONGEST_ASKED);
        assert_eq!(pauses.refused(B, Some(Duration::ZERO), now, 0.0), Duration::ZERO);
    }

    #[test]
    fn refusals_of_one_moment_are_one_refusal() {
        let (mut pauses, now) = (Cooldowns::default(), Instant::now());
        for _ in 0..9 {
            pauses.refused(A, None, now, 1.0);
        }
        assert_eq!(pauses.left(&A, now), Some(seconds(1.0)));
        assert_eq!(pauses.refused(A, None, now + seconds(1.0), 1.0), seconds(2.0));
    }

    #[test]
    fn an_answer_ends_the_doubling_and_no_pause() {
        let (mut pauses, now) = (Cooldowns::default(), Instant::now());
        pauses.refused(A, None, now, 1.0);
        pauses.answered(&A, now);
        assert_eq!(pauses.left(&A, now), Some(seconds(1.0)), "the pause is on");
        let later = now + seconds(1.0);
        pauses.answered(&A, later);
        assert_eq!(pauses.refused(A, None, later, 1.0), seconds(1.0));
    }

    #[test]
    fn old_pauses_are_forgotten() {
        let (mut pauses, now) = (Cooldowns::default(), Instant::now());
        pauses.refused(A, None, now, 1.0);
        pauses.refused(B, None, now + seconds(1.0) + REMEMBERED, 1.0);
        assert_eq!(pauses.0.len(), 1);
    }
}
