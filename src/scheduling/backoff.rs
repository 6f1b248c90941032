//! # How long to wait before the next attempt?
//!
//! ```text
//! (attempts that failed, a random number) → pause
//! ```
//!
//! Exponential backoff with jitter: each pause is a multiple of the one before, up to a limit, and a random
//! part of it keeps apart what failed together.

use std::time::Duration;

/// Pauses that grow.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    first: Duration,
    factor: u32,
    longest: Duration,
}

impl Backoff {
    /// Pauses that double from `first` up to `longest`.
    #[must_use]
    pub const fn doubling(first: Duration, longest: Duration) -> Backoff {
        Backoff::by(2, first, longest)
    }

    /// Pauses that are `factor` times as long as the one before, from `first` up to `longest`.
    #[must_use]
    pub const fn by(factor: u32, first: Duration, longest: Duration) -> Backoff {
        Backoff { first, factor, longest }
    }

    /// The pause after `before` others, without jitter.
    #[must_use]
    pub fn pause(&self, before: u32) -> Duration {
        self.first.saturating_mul(self.factor.saturating_pow(before)).min(self.longest)
    }

    /// The pause after `before` others, from half of it to all of it by `random`, which is in 0..1.
    #[must_use]
    pub fn at_most(&self, before: u32, random: f64) -> Duration {
        self.pause(before).mul_f64(0.5 + random / 2.0)
    }
}

/// `pause`, a quarter less to a quarter more by `random`, which is in 0..1.
#[must_use]
pub fn jittered(pause: Duration, random: f64) -> Duration {
    pause.mul_f64(0.75 + 0.5 * random)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn pauses_grow_up_to_a_limit() {
        let seconds = |backoff: Backoff| [0, 1, 2, 3, 9].map(|n| backoff.pause(n).as_secs());
        assert_eq!(seconds(Backoff::doubling(SECOND, 6 * SECOND)), [1, 2, 4, 6, 6]);
        assert_eq!(seconds(Backoff::by(4, SECOND, 100 * SECOND)), [1, 4, 16, 64, 100]);
    }

    #[test]
    fn no_number_of_failures_is_too_many() {
        let backoff = Backoff::by(4, SECOND, 100 * SECOND);
        assert_eq!(backoff.pause(u32::MAX), 100 * SECOND);
    }

    #[test]
    fn a_random_part_keeps_pauses_apart() {
        let backoff = Backoff::doubling(SECOND, 6 * SECOND);
        assert_eq!([0.0, 1.0].map(|random| backoff.at_most(1, random)), [SECOND, 2 * SECOND]);
        let around = [0.0, 0.5, 1.0].map(|random| jittered(4 * SECOND, random).as_secs());
        assert_eq!(around, [3, 4, 5]);
    }
}
