//! # Is something out of order, and how long is it left alone?
//!
//! ```text
//! (pipeline, failures in a row, what was asked for) → pause
//! ```

use std::collections::HashMap;
use std::time::Duration;

use super::backoff::{Backoff, jittered};

const PAUSES: Backoff = Backoff::doubling(Duration::from_secs(1), Duration::from_secs(60));

/// After so many in a row, an error of a provider is taken for one about the row.
const MOST_IN_A_ROW: u32 = 5;

/// How often in a row something was out of order that is about no row, by pipeline.
#[derive(Debug, Default)]
pub struct Outages {
    in_a_row: HashMap<i32, u32>,
}

impl Outages {
    /// Something is out of order once more: how long `pipeline` waits, which is as long as the other side has
    /// `asked` for, if it has. `random` is in 0..1.
    pub fn begin(&mut self, pipeline: i32, asked: Option<Duration>, random: f64) -> Duration {
        let count = self.in_a_row.entry(pipeline).or_default();
        let pause = jittered(PAUSES.pause(*count), random);
        *count = count.saturating_add(1);
        asked.unwrap_or(pause)
    }

    /// A batch of `pipeline` was done.
    pub fn end(&mut self, pipeline: i32) {
        self.in_a_row.remove(&pipeline);
    }

    /// Whether an error of a provider is taken for its own, and not for one about a row of the batch. A row
    /// that failed while others were done not long ago (`has_answered`) is not tried again for their sake.
    #[must_use]
    pub fn doubts_provider(&self, pipeline: i32, is_new: bool, has_answered: bool) -> bool {
        let count = self.in_a_row.get(&pipeline).copied().unwrap_or_default();
        count < MOST_IN_A_ROW && (is_new || !has_answered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_minute_and_begin_anew() {
        let mut outages = Outages::default();
        let seconds: Vec<u64> = (0..8).map(|_| outages.begin(1, None, 0.5).as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(outages.begin(2, None, 0.5).as_secs(), 1, "each pipeline has its own");
        outages.end(1);
        assert_eq!(outages.begin(1, None, 0.5).as_secs(), 1);
    }

    #[test]
    fn what_was_asked_for_is_given() {
        let mut outages = Outages::default();
        let asked = Some(Duration::from_secs(300));
        assert_eq!(outages.begin(1, asked, 0.0), Duration::from_secs(300));
    }

    #[test]
    fn a_provider_is_doubted_until_it_has_failed_too_often() {
        let mut outages = Outages::default();
        assert!(outages.doubts_provider(1, true, true));
        assert!(outages.doubts_provider(1, false, false));
        assert!(!outages.doubts_provider(1, false, true), "others were done not long ago");
        for _ in 0..MOST_IN_A_ROW {
            outages.begin(1, None, 0.0);
        }
        assert!(!outages.doubts_provider(1, true, false));
    }
}
