//! # Which rows of a batch fail?
//!
//! ```text
//! (rows, an attempt at some of them) → rows that failed │ why the batch as a whole has to wait
//! ```
//!
//! Rows are done together, so an error of one is that of all. A batch that fails is halved until the row is
//! alone, and the others are done. What is not about a row ends the batch, and no row is blamed for it.

/// What a failure is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// What may pass by itself: a lock, memory, a busy provider.
    Passing,
    /// A provider that answered with an error: it may refuse one of the texts, or be out of order.
    Provider,
    /// The time that code of a user has was over.
    OverTime,
    /// One of the rows.
    Row,
}

/// Rows that are done together.
pub trait DivisibleBatch {
    /// Why rows could not be done.
    type Failure;

    /// Does the rows in these places of the batch: all of them, or none.
    fn attempt(&mut self, places: &[usize]) -> Result<(), Self::Failure>;

    /// Notes that the row in this place has failed. An error ends the batch.
    fn note_failure(&mut self, place: usize, failure: &Self::Failure) -> Result<(), Self::Failure>;

    /// What a failure is about.
    fn cause(failure: &Self::Failure) -> Cause;
}

/// Does the rows in `places` of a batch.
///
/// `doubts_provider`: whether an error of a provider is taken for one of its own until it has answered for
/// another row of the batch. Returns why the batch has to wait, where that is not about a row: then nothing
/// was noted, but for a single row that took too long.
pub fn run<B: DivisibleBatch>(
    batch: &mut B,
    places: &[usize],
    doubts_provider: &mut bool,
) -> Result<Option<B::Failure>, B::Failure> {
    let Err(failure) = batch.attempt(places) else { return Ok(None) };
    match B::cause(&failure) {
        Cause::Passing => return Ok(Some(failure)),
        // Not by halves, each of which would take that long while others wait.
        Cause::OverTime => {
            if let [place] = places {
                batch.note_failure(*place, &failure)?;
            }
            return Ok(Some(failure));
        }
        Cause::Provider if *doubts_provider => {
            // If it answers for one of these, there is something about another row.
            let ends = [places.first(), places.last()].into_iter().flatten();
            let mut ends = ends.filter(|_| places.len() > 1);
            if !ends.any(|end| batch.attempt(&[*end]).is_ok()) {
                return Ok(Some(failure));
            }
            *doubts_provider = false;
        }
        Cause::Provider | Cause::Row => {}
    }
    if let [place] = places {
        batch.note_failure(*place, &failure)?;
        return Ok(None);
    }
    let (first, second) = places.split_at(places.len() / 2);
    match run(batch, first, doubts_provider)? {
        None => run(batch, second, doubts_provider),
        waits => Ok(waits),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashMap};

    use super::*;

    /// Rows that fail for what is noted of them; all do while the provider is down.
    #[derive(Default)]
    struct Scripted {
        causes: HashMap<usize, Cause>,
        is_provider_down: bool,
        done: BTreeSet<usize>,
        failed: Vec<usize>,
        attempts: usize,
    }

    impl DivisibleBatch for Scripted {
        type Failure = Cause;

        fn attempt(&mut self, places: &[usize]) -> Result<(), Cause> {
            self.attempts += 1;
            if self.is_provider_down {
                return Err(Cause::Provider);
            }
            match places.iter().find_map(|place| self.causes.get(place)) {
                Some(cause) => Err(*cause),
                None => {
                    self.done.extend(places);
                    Ok(())
                }
            }
        }

        fn note_failure(&mut self, place: usize, _failure: &Cause) -> Result<(), Cause> {
            self.failed.push(place);
            Ok(())
        }

        fn cause(failure: &Cause) -> Cause {
            *failure
        }
    }

    fn batch(causes: &[(usize, Cause)]) -> Scripted {
        Scripted { causes: causes.iter().copied().collect(), ..Scripted::default() }
    }

    /// Runs a batch of 16 rows: why it waits, how many rows were done, and which failed.
    fn outcome(batch: &mut Scripted, doubts: bool) -> (Option<Cause>, usize, Vec<usize>) {
        let places: Vec<usize> = (0..16).collect();
        let waits = run(batch, &places, &mut doubts.clone()).unwrap();
        (waits, batch.done.len(), batch.failed.clone())
    }

    #[test]
    fn a_row_that_fails_is_found_and_the_others_are_done() {
        let mut batch = batch(&[(3, Cause::Row), (11, Cause::Row)]);
        assert_eq!(outcome(&mut batch, true), (None, 14, vec![3, 11]));
        assert!(batch.attempts <= 1 + 2 * 2 * 4, "{}", batch.attempts);
    }

    #[test]
    fn what_passes_ends_the_batch_and_blames_no_row() {
        let mut batch = batch(&[(9, Cause::Passing)]);
        assert_eq!(outcome(&mut batch, true), (Some(Cause::Passing), 0, vec![]));
        assert_eq!(batch.attempts, 1);
    }

    #[test]
    fn a_provider_that_is_down_is_asked_three_times_and_no_row_is_blamed() {
        let mut batch = Scripted { is_provider_down: true, ..Scripted::default() };
        assert_eq!(outcome(&mut batch, true), (Some(Cause::Provider), 0, vec![]));
        assert_eq!(batch.attempts, 3);
    }

    #[test]
    fn a_text_that_a_provider_refuses_is_found_once_it_has_answered_for_another() {
        let mut batch = batch(&[(0, Cause::Provider)]);
        assert_eq!(outcome(&mut batch, true), (None, 15, vec![0]));
    }

    #[test]
    fn a_provider_that_is_not_doubted_is_believed() {
        let mut alone = batch(&[(0, Cause::Provider)]);
        let waits = run(&mut alone, &[0], &mut false).unwrap();
        assert_eq!((waits, alone.failed), (None, vec![0]));
        let mut alone = batch(&[(0, Cause::Provider)]);
        let waits = run(&mut alone, &[0], &mut true).unwrap();
        assert_eq!((waits, alone.failed), (Some(Cause::Provider), vec![]));
    }

    #[test]
    fn what_takes_too_long_is_not_halved() {
        let mut all = batch(&[(5, Cause::OverTime)]);
        assert_eq!(outcome(&mut all, true), (Some(Cause::OverTime), 0, vec![]));
        assert_eq!(all.attempts, 1);
        let mut alone = batch(&[(5, Cause::OverTime)]);
        assert_eq!(run(&mut alone, &[5], &mut true), Ok(Some(Cause::OverTime)));
        assert_eq!(alone.failed, [5]);
    }
}
