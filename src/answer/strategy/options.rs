//! The options of strategies.

use serde::Deserialize;

use super::budget::Budget;
use super::{ALL, AnswerStrategy};
use crate::error::{Error, Result};

/// The keys of [`StrategyOptions`] among the options of `rag_answer`.
pub const KEYS: [&str; 7] = [
    "budget",
    "group_size",
    "sub_questions",
    "rounds",
    "min_grade",
    "source_tokens",
    "always_retrieve",
];

/// Most sources of a group, sub-questions and rounds.
const MOST: u32 = 100;

/// Fewest tokens that all sources together may be cut to.
const FEWEST_TOKENS: u32 = 50;

/// How a strategy goes about its work. `None` is what the strategy takes if nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StrategyOptions {
    /// What the answer may take.
    pub budget: Budget,
    /// Sources, or answers to be merged, in a call.
    pub group_size: Option<u32>,
    /// Most sub-questions of a question.
    pub sub_questions: Option<u32>,
    /// Most times that something is looked up again.
    pub rounds: Option<u32>,
    /// Grade from 0 to 10 from which a source counts as relevant.
    pub min_grade: Option<f32>,
    /// Tokens of all sources together.
    pub source_tokens: Option<u32>,
    /// Whether it is settled that the question needs sources.
    pub always_retrieve: Option<bool>,
}

impl StrategyOptions {
    /// An error for a value out of range, or an option that `strategy` does not read.
    pub fn check(&self, strategy: &AnswerStrategy) -> Result<()> {
        self.budget.check()?;
        let AnswerStrategy { name, options: read, .. } = strategy;
        if let Some(other) = self.given().into_iter().find(|name| !read.contains(name)) {
            let owners = ALL.iter().filter(|it| it.options.contains(&other));
            let owners: Vec<&str> = owners.map(|it| it.name).collect();
            return Err(Error::invalid(format!("strategy \"{name}\" has no option \"{other}\""))
                .hint(format!("Strategies that have it: {}.", owners.join(", "))));
        }
        let counts = [
            ("group_size", self.group_size),
            ("sub_questions", self.sub_questions),
            ("rounds", self.rounds),
        ];
        for (name, count) in counts {
            if let Some(count) = count.filter(|count| !(1..=MOST).contains(count)) {
                return Err(Error::invalid(format!(
                    "{name} must be between 1 and {MOST}: {count}"
                )));
            }
        }
        match (self.min_grade, self.source_tokens) {
            (Some(grade), _) if !(0.0..=10.0).contains(&grade) => {
                Err(Error::invalid(format!("min_grade must be between 0 and 10: {grade}")))
            }
            (_, Some(tokens)) if tokens < FEWEST_TOKENS => Err(Error::invalid(format!(
                "source_tokens must be at least {FEWEST_TOKENS}: {tokens}"
            ))),
            _ => Ok(()),
        }
    }

    /// The options that have a value, the budget left out, which all strategies have.
    fn given(&self) -> Vec<&'static str> {
        let all = [
            ("group_size", self.group_size.is_some()),
            ("sub_questions", self.sub_questions.is_some()),
            ("rounds", self.rounds.is_some()),
            ("min_grade", self.min_grade.is_some()),
            ("source_tokens", self.source_tokens.is_some()),
            ("always_retrieve", self.always_retrieve.is_some()),
        ];
        all.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::named;
    use super::*;

    fn check(strategy: &str, options: Value) -> Result<()> {
        let options: StrategyOptions = serde_json::from_value(options).unwrap();
        options.check(named(Some(strategy)).unwrap())
    }

    #[test]
    fn each_strategy_has_its_own() {
        check("tree_summarize", json!({"group_size": 3, "budget": {"calls": 9}})).unwrap();
        check("compact", json!({"budget": {"tokens": 900}})).unwrap();
        let error = check("compact", json!({"group_size": 3})).unwrap_err();
        assert_eq!(error.message(), "strategy \"compact\" has no option \"group_size\"");
        let hint = error.hint_text().unwrap();
        assert!(hint.contains("refine, tree_summarize"), "{hint}");
    }

    #[test]
    fn every_option_is_somebodys_and_every_key_an_option() {
        for key in KEYS.iter().filter(|key| **key != "budget") {
            assert!(ALL.iter().any(|strategy| strategy.options.contains(key)), "{key}");
        }
        for strategy in ALL {
            for option in strategy.options {
                assert!(KEYS.contains(option), "{option}");
            }
        }
        let all = json!({"budget": {}, "group_size": 1, "sub_questions": 1, "rounds": 1,
            "min_grade": 1, "source_tokens": 100, "always_retrieve": true});
        let options: StrategyOptions = serde_json::from_value(all.clone()).unwrap();
        assert_eq!(all.as_object().unwrap().len(), KEYS.len());
        assert_eq!(options.given(), &KEYS[1..]);
    }

    #[test]
    fn values_out_of_range_are_refused() {
        for (strategy, options) in [
            ("refine", json!({"group_size": 0})),
            ("refine", json!({"group_size": 101})),
            ("ircot", json!({"rounds": 0})),
            ("decompose_parallel", json!({"sub_questions": 0})),
            ("corrective", json!({"min_grade": 11})),
            ("corrective", json!({"min_grade": -1})),
            ("simple_summarize", json!({"source_tokens": 1})),
            ("compact", json!({"budget": {"calls": 0}})),
        ] {
            assert!(check(strategy, options.clone()).is_err(), "{options}");
        }
    }
}
