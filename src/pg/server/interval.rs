//! Intervals as times to wait, and as ages.

use std::time::Duration;

use pgrx::datum::Interval;

use crate::error::{Error, Result};

/// How long the argument `timeout` is, with months of 30 days. Fails where it is negative, or longer than a
/// program can say.
pub fn timeout(interval: &Interval) -> Result<Duration> {
    let seconds = seconds(interval);
    Duration::try_from_secs_f64(seconds).map_err(|_| negative("timeout", seconds))
}

/// The argument `older_than`. Fails where it is negative: nothing is older than what is to come, and all would be
/// deleted.
pub fn age(older_than: Interval) -> Result<Interval> {
    match seconds(&older_than) {
        seconds if seconds < 0.0 => Err(negative("older_than", seconds)),
        _ => Ok(older_than),
    }
}

/// The length in seconds, with months of 30 days.
fn seconds(interval: &Interval) -> f64 {
    let days = f64::from(interval.months()) * 30.0 + f64::from(interval.days());
    days * 86_400.0 + interval.micros() as f64 / 1e6
}

fn negative(argument: &str, seconds: f64) -> Error {
    Error::invalid(format!("{argument} must not be negative: {seconds} seconds"))
}
