//! Is a provider down?
//!
//! ```text
//! (provider, what became of its calls, now) → call it, or not before then
//! ```
//!
//! A provider that cannot be reached costs each caller a timeout and some retries. After five calls
//! in a row that came to nothing, retries included, it is left alone for 5 seconds, and calls fail
//! at once with the time that is left. Then one call may try. If that fails too, the time doubles,
//! up to a minute; if it works, all may call again.
//!
//! Down is what cannot be connected to, and what answers 502, 503 or 504. A refusal, a nonsense or a
//! slow answer is an answer of a provider that is there.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::cooldown::ProviderId;
use crate::scheduling::backoff::Backoff;

/// Calls in a row after which a provider counts as down.
pub const FAILURES: u32 = 5;

/// How long it is left alone then.
const PAUSES: Backoff = Backoff::doubling(FIRST, LONGEST);
const FIRST: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_secs(60);

/// The time after which calls that come while one tries are to come back.
const WHILE_TRYING: Duration = Duration::from_secs(1);

/// After so long without a call, failures are forgotten.
const REMEMBERED: Duration = Duration::from_secs(600);

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// The provider answered, whatever it said.
    Up,
    /// The provider did not answer, or something before it said that it doesn't.
    Down,
    /// The call does not say: it was given up, or not made.
    Unknown,
}

/// The providers whose last call failed.
#[derive(Default)]
pub struct CircuitBreakers(HashMap<ProviderId, CircuitBreaker>);

struct CircuitBreaker {
    /// Calls in a row.
    failures: u32,
    /// When the provider may be called again.
    until: Instant,
    /// Whether a call is trying.
    is_tried: bool,
}

impl CircuitBreakers {
    /// Whether `provider` may be called at `now`; if not, how long it is left alone. A caller that
    /// is admitted has to [`CircuitBreakers::note`] what became of the call.
    pub fn admit(&mut self, provider: &ProviderId, now: Instant) -> Result<(), Duration> {
        let Some(breaker) = self.0.get_mut(provider) else { return Ok(()) };
        if breaker.failures < FAILURES {
            return Ok(());
        }
        match breaker.until.saturating_duration_since(now) {
            Duration::ZERO if breaker.is_tried => Err(WHILE_TRYING),
            Duration::ZERO => {
                breaker.is_tried = true;
                Ok(())
            }
            left => Err(left),
        }
    }

    /// Notes what became of a call that ended at `now`.
    pub fn note(&mut self, provider: ProviderId, health: Health, now: Instant) {
        match health {
            Health::Up => drop(self.0.remove(&provider)),
            Health::Down => self.failed(provider, now),
            Health::Unknown => {
                if let Some(breaker) = self.0.get_mut(&provider) {
                    breaker.is_tried = false;
                }
            }
        }
    }

    fn failed(&mut self, provider: ProviderId, now: Instant) {
        self.0.retain(|_, breaker| now < breaker.until + REMEMBERED);
        let new = CircuitBreaker { failures: 0, until: now, is_tried: false };
        let breaker = self.0.entry(provider).or_insert(new);
        // Calls that were on their way together fail together: that makes no time longer.
        let is_left_alone = breaker.failures >= FAILURES && now < breaker.until;
        if is_left_alone {
            return;
        }
        breaker.failures = breaker.failures.saturating_add(1);
        breaker.is_tried = false;
        let times = breaker.failures.checked_sub(FAILURES);
        breaker.until = now + times.map_or(Duration::ZERO, |times| PAUSES.pause(times));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ProviderId = [1; 32];
    const B: ProviderId = [2; 32];

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn broken(now: Instant) -> CircuitBreakers {
        let mut breakers = CircuitBreakers::default();
        (0..FAILURES).for_each(|_| breakers.note(A, Health::Down, now));
        breakers
    }

    #[test]
    fn failures_in_a_row_end_the_calls_of_that_provider() {
        let (mut breakers, now) = (CircuitBreakers::default(), Instant::now());
        for _ in 0..FAILURES {
            assert_eq!(breakers.admit(&A, now), Ok(()));
            breakers.note(A, Health::Down, now);
        }
        assert_eq!(breakers.admit(&A, now), Err(seconds(5)));
        assert_eq!(breakers.admit(&A, now + seconds(2)), Err(seconds(3)));
        assert_eq!(breakers.admit(&B, now), Ok(()));
    }

    #[test]
    fn an_answer_between_failures_begins_anew() {
        let (mut breakers, now) = (CircuitBreakers::default(), Instant::now());
        for _ in 0..20 {
            (1..FAILURES).for_each(|_| breakers.note(A, Health::Down, now));
            breakers.note(A, Health::Up, now);
        }
        assert_eq!(breakers.admit(&A, now), Ok(()));
    }

    #[test]
    fn one_call_tries_and_its_answer_lets_all_in() {
        let now = Instant::now();
        let (mut breakers, later) = (broken(now), now + seconds(5));
        assert_eq!(breakers.admit(&A, later), Ok(()));
        assert_eq!(breakers.admit(&A, later), Err(WHILE_TRYING));
        breakers.note(A, Health::Up, later);
        assert_eq!(breakers.admit(&A, later), Ok(()));
        assert_eq!(breakers.admit(&A, later), Ok(()));
    }

    #[test]
    fn a_try_that_fails_doubles_the_time_up_to_a_minute() {
        let mut now = Instant::now();
        let mut breakers = broken(now);
        let mut times = Vec::new();
        for _ in 0..6 {
            let left = breakers.admit(&A, now).unwrap_err();
            times.push(left.as_secs());
            now += left;
            assert_eq!(breakers.admit(&A, now), Ok(()));
            breakers.note(A, Health::Down, now);
        }
        assert_eq!(times, [5, 10, 20, 40, 60, 60]);
    }

    #[test]
    fn a_try_that_is_given_up_leaves_the_next_one_to_try() {
        let now = Instant::now();
        let (mut breakers, later) = (broken(now), now + seconds(5));
        assert_eq!(breakers.admit(&A, later), Ok(()));
        breakers.note(A, Health::Unknown, later);
        assert_eq!(breakers.admit(&A, later), Ok(()));
        assert_eq!(breakers.admit(&A, later), Err(WHILE_TRYING));
    }

    #[test]
    fn failures_that_arrive_late_make_no_time_longer() {
        let now = Instant::now();
        let mut breakers = broken(now);
        (0..50).for_each(|_| breakers.note(A, Health::Down, now + seconds(1)));
        assert_eq!(breakers.admit(&A, now + seconds(1)), Err(seconds(4)));
    }

    #[test]
    fn old_failures_are_forgotten() {
        let now = Instant::now();
        let mut breakers = broken(now);
        breakers.note(B, Health::Down, now + seconds(5) + REMEMBERED);
        assert_eq!(breakers.0.len(), 1);
    }
}
