//! Which pipeline is next, and how much of it is taken at a time.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::pg::ingest::queue::Workable;
use crate::scheduling::fair_queueing::Shares;
use crate::scheduling::pacing::Pace;

/// Every so many batches of a pipeline, one is of its fill, whatever has changed.
const FILL_EVERY: u32 = 4;

/// What this process has done, by role and by pipeline.
#[derive(Default)]
pub struct Turns {
    roles: Shares<u32>,
    /// The shares of an owner's pipelines, by the owner's OID.
    pipelines: HashMap<u32, Shares<i32>>,
    /// Batches of new rows, by pipeline.
    batches: HashMap<i32, u32>,
    paces: HashMap<i32, Pace>,
}

impl Turns {
    /// The owners of sources have equal shares of the time, and so have the pipelines of an owner.
    /// What is new in a pipeline goes before what has failed.
    pub fn next(&mut self, workable: &[Workable]) -> Option<Workable> {
        let owner = self.roles.next(workable.iter().map(|it| it.owner))?;
        let of_owner = workable.iter().filter(|it| it.owner == owner);
        let pipelines = self.pipelines.entry(owner).or_default();
        let pipeline = pipelines.next(of_owner.map(|it| it.pipeline))?;
        let of_pipeline = workable.iter().filter(|it| it.pipeline == pipeline);
        of_pipeline.max_by_key(|it| it.is_new).copied()
    }

    /// Counts what has been done since `begun`.
    pub fn charge(&mut self, turn: Workable, begun: Instant) {
        let cost = begun.elapsed().max(Duration::from_millis(1)).as_micros() as u64;
        self.roles.charge(turn.owner, cost);
        self.pipelines.entry(turn.owner).or_default().charge(turn.pipeline, cost);
    }

    /// Whether the next batch of new rows is to be one of its fill, which else would have no end where
    /// rows change as fast as they are embedded.
    pub fn is_for_fill(&mut self, pipeline: i32) -> bool {
        let count = self.batches.entry(pipeline).or_default();
        *count = (*count + 1) % FILL_EVERY;
        *count == 0
    }

    /// How many rows of a pipeline to take.
    pub fn rows(&self, pipeline: i32) -> usize {
        self.pace(pipeline, false).rows()
    }

    /// The pace of a pipeline.
    pub fn pace(&self, pipeline: i32, is_remote: bool) -> Pace {
        self.paces.get(&pipeline).copied().unwrap_or_else(|| Pace::new(is_remote))
    }

    /// Remembers the pace of a pipeline.
    pub fn keep_pace(&mut self, pipeline: i32, pace: Pace) {
        self.paces.insert(pipeline, pace);
    }
}

#[cfg(feature = "pg_test")]
mod tests {
    use pgrx::pg_extern;

    use super::*;

    fn workable(pipeline: i32, owner: u32) -> Workable {
        Workable { pipeline, owner, is_new: true }
    }

    #[pg_extern]
    fn owners_have_equal_shares_and_so_have_their_pipelines() {
        let all: Vec<Workable> =
            [(1, 7), (2, 7), (3, 7), (4, 8)].map(|(id, owner)| workable(id, owner)).to_vec();
        let mut turns = Turns::default();
        let mut had = HashMap::new();
        for _ in 0..60 {
            let turn = turns.next(&all).unwrap();
            turns.charge(turn, Instant::now());
            *had.entry(turn.pipeline).or_insert(0) += 1;
        }
        assert!((28..=32).contains(&had[&4]), "{had:?}");
        assert!((1..=3).all(|id| (8..=12).contains(&had[&id])), "{had:?}");
    }

    #[pg_extern]
    fn one_batch_of_four_is_of_the_fill() {
        let mut turns = Turns::default();
        let for_fill: Vec<bool> = (0..8).map(|_| turns.is_for_fill(1)).collect();
        assert_eq!(for_fill, [false, false, false, true, false, false, false, true]);
        assert!(!turns.is_for_fill(2), "each pipeline counts for itself");
    }

    #[pg_extern]
    fn what_is_new_goes_before_what_has_failed() {
        let failed = Workable { is_new: false, ..workable(1, 7) };
        let mut turns = Turns::default();
        assert!(turns.next(&[failed, workable(1, 7)]).unwrap().is_new);
        assert_eq!(turns.next(&[failed]), Some(failed));
        assert!(turns.next(&[]).is_none());
    }

    #[pg_extern]
    fn what_has_failed_does_not_wait_for_the_end_of_anothers_new_rows() {
        let failed = Workable { is_new: false, ..workable(1, 7) };
        let all = [workable(2, 8), failed];
        let mut turns = Turns::default();
        let mut order = Vec::new();
        for _ in 0..4 {
            let turn = turns.next(&all).unwrap();
            turns.charge(turn, Instant::now());
            order.push(turn.is_new);
        }
        assert_eq!(order, [true, false, true, false]);
    }
}
