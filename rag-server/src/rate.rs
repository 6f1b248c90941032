//! How many requests a token may make.

use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A bucket of requests: full at first, it fills evenly, and a request takes one out.
#[derive(Debug)]
pub struct RateLimit {
    /// Requests a minute, and how many fit into the bucket; 0 is no limit.
    per_minute: u32,
    /// What is in it, and since when.
    level: Mutex<(f64, Instant)>,
}

impl RateLimit {
    /// A full bucket.
    pub fn new(per_minute: u32, now: Instant) -> Self {
        Self { per_minute, level: Mutex::new((f64::from(per_minute), now)) }
    }

    /// Takes one request out at `now`; the error is the time after which there will be one.
    pub fn take(&self, now: Instant) -> Result<(), Duration> {
        if self.per_minute == 0 {
            return Ok(());
        }
        let most = f64::from(self.per_minute);
        let per_second = most / 60.0;
        let mut level = self.level.lock().expect("nobody panics with the bucket in hand");
        let filled = level.0 + now.saturating_duration_since(level.1).as_secs_f64() * per_second;
        *level = (filled.min(most), now.max(level.1));
        if level.0 < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - level.0) / per_second));
        }
        level.0 -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_empties_and_fills() {
        let start = Instant::now();
        let after = |seconds: f64| start + Duration::from_secs_f64(seconds);
        let limit = RateLimit::new(60, start);
        assert!((0..60).all(|_| limit.take(start).is_ok()));
        let wait = limit.take(start).unwrap_err();
        assert!((wait.as_secs_f64() - 1.0).abs() < 1e-6, "{wait:?}");
        assert!(limit.take(after(0.5)).is_err());
        assert!(limit.take(after(1.01)).is_ok());
        assert!(limit.take(after(1.02)).is_err());
        // It never holds more than a minute's.
        let much_later = after(10_000.0);
        assert_eq!((0..100).filter(|_| limit.take(much_later).is_ok()).count(), 60);
    }

    #[test]
    fn a_clock_that_goes_back_gives_nothing_away() {
        let start = Instant::now();
        let limit = RateLimit::new(1, start);
        assert!(limit.take(start + Duration::from_secs(5)).is_ok());
        assert!(limit.take(start).is_err());
        assert!(limit.take(start + Duration::from_secs(6)).is_err());
    }

    #[test]
    fn zero_is_no_limit() {
        let now = Instant::now();
        let limit = RateLimit::new(0, now);
        assert!((0..10_000).all(|_| limit.take(now).is_ok()));
    }
}
