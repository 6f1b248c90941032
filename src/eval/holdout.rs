//! On which questions is a configuration chosen, and on which is it judged?
//!
//! ```text
//! questions, a share, a seed → numbers of the training questions, numbers of the held-out ones
//! ```
//!
//! What was chosen because it does well on some questions does better on these than on others. So it is
//! judged on questions that had no say.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::random::Random;

/// Cases by their numbers, in the order in which they are asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldoutSplit {
    /// By which a configuration is chosen.
    pub training: Vec<usize>,
    /// By which the choice is judged.
    pub held_out: Vec<usize>,
}

/// Splits cases at random, the same way for the same seed. About `share` of them, above 0 and below 1, are
/// for training, and neither side is empty. Cases that ask the same, but for capitals and white space, stay
/// on one side.
///
/// Fails with an invalid parameter where all ask the same.
pub fn split(questions: &[&str], share: f64, seed: u64) -> Result<HoldoutSplit> {
    let mut groups = groups(questions);
    if groups.len() < 2 {
        let message =
            format!("an evaluation set with {} different questions cannot be split", groups.len());
        return Err(Error::invalid(message).hint(
            "Add cases with rag_eval_load; some dozens on each side tell a difference from chance.",
        ));
    }
    Random::new(seed).shuffle(&mut groups);
    let wanted = (questions.len() as f64 * share).round() as usize;
    let last = groups.len() - 1;
    let (mut training, mut held_out) = (Vec::new(), Vec::new());
    for (place, group) in groups.into_iter().enumerate() {
        let is_for_training = place == 0 || place < last && training.len() < wanted;
        let side = if is_for_training { &mut training } else { &mut held_out };
        side.extend(group);
    }
    Ok(HoldoutSplit { training, held_out })
}

/// Numbers of the cases, those that ask the same together, in the order of their first.
fn groups(questions: &[&str]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for (case, question) in questions.iter().enumerate() {
        let words: Vec<&str> = question.split_whitespace().collect();
        let place = *known.entry(words.join(" ").to_lowercase()).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(case),
            None => groups.push(vec![case]),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_case_is_on_one_side_with_those_that_ask_the_same(
            asked in proptest::collection::vec(0..20u8, 2..60),
            share in 0.01..0.99f64,
            seed: u64,
        ) {
            let questions: Vec<String> = asked.iter().map(|n| format!("Question {n}?")).collect();
            let questions: Vec<&str> = questions.iter().map(String::as_str).collect();
            let is_alike = questions.iter().all(|it| *it == questions[0]);
            let found = split(&questions, share, seed);
            prop_assert_eq!(found.is_err(), is_alike);
            if let Ok(HoldoutSplit { training, held_out }) = found {
                prop_assert!(!training.is_empty() && !held_out.is_empty());
                let mut all = [training.clone(), held_out.clone()].concat();
                all.sort_unstable();
                prop_assert_eq!(all, (0..asked.len()).collect::<Vec<_>>());
                let is_apart = |case: &usize| !held_out.iter().any(|it| asked[*it] == asked[*case]);
                prop_assert!(training.iter().all(is_apart));
            }
        }
    }

    #[test]
    fn a_share_of_the_cases_is_for_training() {
        let questions: Vec<String> = (0..40).map(|n| format!("Question {n}?")).collect();
        let questions: Vec<&str> = questions.iter().map(String::as_str).collect();
        let check = |share: f64, training: usize| {
            let found = split(&questions, share, 1).unwrap();
            assert_eq!((found.training.len(), found.held_out.len()), (training, 40 - training));
        };
        check(0.5, 20);
        check(0.75, 30);
        check(0.001, 1);
        check(0.999, 39);
        assert_eq!(split(&questions, 0.5, 7).unwrap(), split(&questions, 0.5, 7).unwrap());
        assert_ne!(split(&questions, 0.5, 7).unwrap(), split(&questions, 0.5, 8).unwrap());
    }

    #[test]
    fn questions_are_the_same_without_capitals_and_white_space() {
        let error = split(&["Why?", " why?\n", "WHY?"], 0.5, 1).unwrap_err();
        assert_eq!(error.message(), "an evaluation set with 1 different questions cannot be split");
        let found = split(&["Why?", "How?", "why?"], 0.5, 1).unwrap();
        assert_eq!(found.training.contains(&0), found.training.contains(&2));
    }
}
