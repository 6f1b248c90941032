//! # How much is to be done at a time?
//!
//! ```text
//! (what was done, how long it took) → how many rows make a batch, and how many bytes
//! ```
//!
//! A worker that has rows in hand sees to no other pipeline's. So what is taken at a time is no more than
//! is done in [`TARGET`], as far as that can be known beforehand: by what the rows of the last batches were
//! like. A provider is asked for much at a time instead: what its calls take is mostly the way there.

use std::time::Duration;

/// How long a batch may take. A change of another pipeline waits for so long, and a batch costs some
/// milliseconds of its own.
pub const TARGET: Duration = Duration::from_millis(250);

/// Bytes of text in a batch, at most and at least.
const MOST_BYTES: f64 = (128 << 10) as f64;
const LEAST_BYTES: f64 = (1 << 10) as f64;

/// Bytes of the first batch, of which it is not known how long it takes.
const FIRST_BYTES: f64 = (4 << 10) as f64;

/// Rows of a first batch, whose size is not known, and of any.
const FIRST_ROWS: usize = 16;
const MOST_ROWS: usize = 256;

/// How much the last batch says, beside those before it.
const WEIGHT: f64 = 0.5;

/// What is known of the rows of a pipeline.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    is_remote: bool,
    bytes_a_row: Option<f64>,
    bytes_a_second: Option<f64>,
}

impl Pace {
    /// Nothing yet. `is_remote`: a provider embeds them.
    #[must_use]
    pub fn new(is_remote: bool) -> Pace {
        Pace { is_remote, bytes_a_row: None, bytes_a_second: None }
    }

    /// How many rows to take.
    #[must_use]
    pub fn rows(&self) -> usize {
        let rows = |bytes_a_row: f64| (self.target() / bytes_a_row.max(1.0)) as usize;
        self.bytes_a_row.map_or(FIRST_ROWS, rows).clamp(1, MOST_ROWS)
    }

    /// Bytes after which rows that were taken are left for the next batch: twice as many as there were to
    /// be, since rows differ.
    #[must_use]
    pub fn most_bytes(&self) -> usize {
        (2.0 * self.target()) as usize
    }

    fn target(&self) -> f64 {
        if self.is_remote {
            return MOST_BYTES;
        }
        let within = |bytes_a_second: f64| bytes_a_second * TARGET.as_secs_f64();
        self.bytes_a_second.map_or(FIRST_BYTES, within).clamp(LEAST_BYTES, MOST_BYTES)
    }

    /// Notes that so many rows had so many bytes.
    pub fn read(&mut self, rows: usize, bytes: usize) {
        if rows > 0 {
            self.bytes_a_row = Some(mean(self.bytes_a_row, bytes as f64 / rows as f64));
        }
    }

    /// Notes that so many bytes took so long.
    pub fn took(&mut self, bytes: usize, time: Duration) {
        // What has no text says nothing about texts.
        if bytes > 0 {
            let speed = bytes as f64 / time.as_secs_f64().max(0.001);
            self.bytes_a_second = Some(mean(self.bytes_a_second, speed));
        }
    }
}

fn mean(before: Option<f64>, now: f64) -> f64 {
    before.map_or(now, |before| before + WEIGHT * (now - before))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pace after many batches of rows of `row` bytes, of which so many are done in a second.
    fn steady(row: usize, a_second: usize) -> Pace {
        let mut pace = Pace::new(false);
        for _ in 0..50 {
            let rows = pace.rows();
            let bytes = (rows * row).min(pace.most_bytes());
            pace.read(rows, rows * row);
            pace.took(bytes, Duration::from_secs_f64(bytes as f64 / a_second as f64));
        }
        pace
    }

    #[test]
    fn a_batch_takes_the_time_that_it_may() {
        for (row, a_second) in [(100, 50_000), (1000, 50_000), (3000, 400_000)] {
            let pace = steady(row, a_second);
            let seconds = (pace.rows() * row) as f64 / a_second as f64;
            assert!((0.18..=0.26).contains(&seconds), "{row} {a_second}: {seconds}");
        }
    }

    #[test]
    fn there_are_bounds() {
        assert_eq!(steady(10, 50_000_000).rows(), MOST_ROWS);
        assert_eq!(steady(1 << 20, 50_000).rows(), 1);
        let slow = steady(100, 10);
        assert_eq!((slow.rows(), slow.most_bytes()), (10, 2 << 10));
        assert_eq!(steady(1000, 50_000_000).most_bytes(), 256 << 10);
    }

    #[test]
    fn little_is_taken_of_what_nobody_knows() {
        let pace = Pace::new(false);
        assert_eq!((pace.rows(), pace.most_bytes()), (16, 8 << 10));
    }

    #[test]
    fn rows_without_text_change_no_speed_and_nothing_is_divided_by_zero() {
        let mut pace = steady(1000, 50_000);
        let before = pace.most_bytes();
        pace.took(0, Duration::from_secs(5));
        assert_eq!(pace.most_bytes(), before);
        pace.read(0, 0);
        pace.read(10, 0);
        pace.took(1, Duration::ZERO);
        assert!(pace.rows() >= 1);
    }

    #[test]
    fn a_slow_provider_is_asked_for_much_at_a_time() {
        let mut pace = Pace::new(true);
        pace.read(10, 10_000);
        pace.took(10_000, Duration::from_secs(9));
        assert_eq!((pace.rows(), pace.most_bytes()), (131, 256 << 10));
    }
}
