//! Intervals as times to wait.

use std::time::Duration;

use pgrx::datum::Interval;

use crate::error::{Error, Result};

/// How long the argument `timeout` is, with months of 30 days. Fails where it is negative, or longer than a
/// program can say.
pub fn timeout(interval: &Interval) -> Result<Duration> {
    let days = f64::from(interval.months()) * 30.0 + f64::from(interval.days());
    let seconds = days * 86_400.0 + interval.micros() as f64 / 1e6;
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| Error::invalid(format!("timeout must not be negative: {seconds} seconds")))
}
