//! The options of strategies.

use super::budget::Budget;
use super::{ALL, AnswerStrategy};
use crate::error::{Error, Result};
use crate::options::out_of_range;

/// Most sources of a group, sub-questions, rounds and steps.
const MOST: u32 = 100;

/// Fewest tokens that all sources together may be cut to.
const FEWEST_TOKENS: u32 = 50;

/// How a strategy goes about its work. `None` is what the strategy takes if nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StrategyOptions {
    /// What the answer may take.
    pub budget: Budget,
    /// Sources, or answers to be merged, in a call.
    pub group_size: Option<u32>,
    /// Most sub-questions of a question.
    pub sub_questions: Option<u32>,
    /// Most times that something is looked up again.
    pub rounds: Option<u32>,
    /// Most steps of an agent, the answer among them.
    pub max_steps: Option<u32>,
    /// Most communities that are read.
    pub communities: Option<u32>,
    /// Most chunks that are read of a community.
    pub community_chunks: Option<u32>,
    /// The deepest level of communities that is looked at, from 0.
    pub community_level: Option<u32>,
    /// Whether replies about communities are kept in the database.
    pub keep_replies: Option<bool>,
    /// Whether a second call judges the answer of an agent, and may send it back once.
    pub evaluate: Option<bool>,
    /// Whether the functions are named that an agent may call.
    pub names_tools: bool,
    /// Whether something is said of how queries are written and run.
    pub says_sql: bool,
    /// Grade from 0 to 10 from which a source counts as relevant.
    pub min_grade: Option<f32>,
    /// Tokens of all sources together.
    pub source_tokens: Option<u32>,
    /// Whether it is settled that the question needs sources.
    pub always_retrieve: Option<bool>,
}

impl StrategyOptions {
    /// An error for a value out of range.
    pub fn check(&self) -> Result<()> {
        self.budget.check("answer.budget")?;
        let counts = [
            ("answer.group_size", self.group_size),
            ("answer.sub_questions", self.sub_questions),
            ("answer.rounds", self.rounds),
            ("answer.max_steps", self.max_steps),
            ("answer.communities", self.communities),
            ("answer.community_chunks", self.community_chunks),
        ];
        for (name, count) in counts {
            if let Some(count) = count.filter(|count| !(1..=MOST).contains(count)) {
                return Err(out_of_range(name, format!("between 1 and {MOST}"), count));
            }
        }
        if let Some(level) = self.community_level.filter(|level| *level > MOST) {
            let range = format!("between 0 and {MOST}");
            return Err(out_of_range("answer.community_level", range, level));
        }
        match (self.min_grade, self.source_tokens) {
            (Some(grade), _) if !(0.0..=10.0).contains(&grade) => {
                Err(out_of_range("answer.min_grade", "between 0 and 10", grade))
            }
            (_, Some(tokens)) if tokens < FEWEST_TOKENS => Err(out_of_range(
                "answer.source_tokens",
                format!("at least {FEWEST_TOKENS}"),
                tokens,
            )),
            _ => Ok(()),
        }
    }

    /// The options that `strategy` reads. One that it does not read is an error if the caller `wrote` it,
    /// and has no effect if it comes from elsewhere, where it was meant for another strategy.
    pub fn fitted(
        mut self,
        strategy: &AnswerStrategy,
        wrote: impl Fn(&str) -> bool,
    ) -> Result<StrategyOptions> {
        let AnswerStrategy { name, options: read, .. } = strategy;
        for other in self.given().into_iter().filter(|name| !read.contains(name)) {
            if wrote(other) {
                let owners = ALL.iter().filter(|it| it.options.contains(&other));
                let owners: Vec<&str> = owners.map(|it| it.name).collect();
                return Err(Error::invalid(format!(
                    "strategy \"{name}\" has no option \"{other}\""
                ))
                .hint(format!("Strategies that have it: {}.", owners.join(", "))));
            }
            self.forget(other);
        }
        Ok(self)
    }

    /// Takes the value of the option `name` away.
    fn forget(&mut self, name: &str) {
        match name {
            "group_size" => self.group_size = None,
            "sub_questions" => self.sub_questions = None,
            "rounds" => self.rounds = None,
            "max_steps" => self.max_steps = None,
            "communities" => self.communities = None,
            "community_chunks" => self.community_chunks = None,
            "community_level" => self.community_level = None,
            "keep_replies" => self.keep_replies = None,
            "evaluate" => self.evaluate = None,
            "tools" => self.names_tools = false,
            "sql" => self.says_sql = false,
            "min_grade" => self.min_grade = None,
            "source_tokens" => self.source_tokens = None,
            "always_retrieve" => self.always_retrieve = None,
            _ => {}
        }
    }

    /// The options that have a value, the budget left out, which all strategies have.
    fn given(&self) -> Vec<&'static str> {
        let all = [
            ("group_size", self.group_size.is_some()),
            ("sub_questions", self.sub_questions.is_some()),
            ("rounds", self.rounds.is_some()),
            ("max_steps", self.max_steps.is_some()),
            ("communities", self.communities.is_some()),
            ("community_chunks", self.community_chunks.is_some()),
            ("community_level", self.community_level.is_some()),
            ("keep_replies", self.keep_replies.is_some()),
            ("evaluate", self.evaluate.is_some()),
            ("tools", self.names_tools),
            ("sql", self.says_sql),
            ("min_grade", self.min_grade.is_some()),
            ("source_tokens", self.source_tokens.is_some()),
            ("always_retrieve", self.always_retrieve.is_some()),
        ];
        all.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::named;
    use super::*;

    fn all() -> StrategyOptions {
        StrategyOptions {
            budget: Budget::default(),
            group_size: Some(3),
            sub_questions: Some(1),
            rounds: Some(1),
            max_steps: Some(1),
            communities: Some(1),
            community_chunks: Some(1),
            community_level: Some(1),
            keep_replies: Some(false),
            evaluate: Some(true),
            names_tools: true,
            says_sql: true,
            min_grade: Some(1.0),
            source_tokens: Some(100),
            always_retrieve: Some(true),
        }
    }

    fn check(strategy: &str, options: StrategyOptions) -> Result<StrategyOptions> {
        options.fitted(named(Some(strategy)).unwrap(), |_| true)
    }

    #[test]
    fn each_strategy_has_its_own() {
        let groups = StrategyOptions { group_size: Some(3), ..StrategyOptions::default() };
        check("tree_summarize", groups).unwrap();
        check("compact", StrategyOptions::default()).unwrap();
        let error = check("compact", groups).unwrap_err();
        assert_eq!(error.message(), "strategy \"compact\" has no option \"group_size\"");
        let hint = error.hint_text().unwrap();
        assert!(hint.contains("refine, tree_summarize"), "{hint}");
    }

    #[test]
    fn tools_and_queries_are_for_strategies_that_have_them() {
        let tools = StrategyOptions { names_tools: true, ..StrategyOptions::default() };
        let queries = StrategyOptions { says_sql: true, ..StrategyOptions::default() };
        for strategy in ["auto", "sql", "combined", "agent"] {
            check(strategy, queries).unwrap();
        }
        check("agent", tools).unwrap();
        let error = check("compact", tools).unwrap_err();
        assert_eq!(error.message(), "strategy \"compact\" has no option \"tools\"");
        assert_eq!(error.hint_text(), Some("Strategies that have it: agent."));
        let error = check("compact", queries).unwrap_err();
        assert_eq!(error.message(), "strategy \"compact\" has no option \"sql\"");
        assert_eq!(error.hint_text(), Some("Strategies that have it: auto, sql, combined, agent."));
    }

    #[test]
    fn what_the_caller_did_not_write_gives_way_to_another_strategy() {
        for strategy in ALL {
            let fitted = all().fitted(strategy, |_| false).unwrap();
            let mut read = strategy.options.to_vec();
            let mut given = fitted.given();
            read.sort_unstable();
            given.sort_unstable();
            assert_eq!(given, read, "{}", strategy.name);
        }
    }

    #[test]
    fn every_option_is_a_strategys() {
        for key in all().given() {
            assert!(ALL.iter().any(|strategy| strategy.options.contains(&key)), "{key}");
        }
        for strategy in ALL {
            for option in strategy.options {
                assert!(all().given().contains(option), "{option}");
            }
        }
    }

    #[test]
    fn values_out_of_range_are_refused() {
        let none = StrategyOptions::default();
        let budget = Budget { calls: Some(0), ..Budget::default() };
        for (options, message) in [
            (
                StrategyOptions { group_size: Some(0), ..none },
                "option \"answer.group_size\" must be between 1 and 100, not 0",
            ),
            (
                StrategyOptions { group_size: Some(101), ..none },
                "option \"answer.group_size\" must be between 1 and 100, not 101",
            ),
            (
                StrategyOptions { rounds: Some(0), ..none },
                "option \"answer.rounds\" must be between 1 and 100, not 0",
            ),
            (
                StrategyOptions { max_steps: Some(0), ..none },
                "option \"answer.max_steps\" must be between 1 and 100, not 0",
            ),
            (
                StrategyOptions { sub_questions: Some(0), ..none },
                "option \"answer.sub_questions\" must be between 1 and 100, not 0",
            ),
            (
                StrategyOptions { communities: Some(0), ..none },
                "option \"answer.communities\" must be between 1 and 100, not 0",
            ),
            (
                StrategyOptions { community_level: Some(101), ..none },
                "option \"answer.community_level\" must be between 0 and 100, not 101",
            ),
            (
                StrategyOptions { min_grade: Some(11.0), ..none },
                "option \"answer.min_grade\" must be between 0 and 10, not 11",
            ),
            (
                StrategyOptions { min_grade: Some(-1.0), ..none },
                "option \"answer.min_grade\" must be between 0 and 10, not -1",
            ),
            (
                StrategyOptions { source_tokens: Some(1), ..none },
                "option \"answer.source_tokens\" must be at least 50, not 1",
            ),
            (
                StrategyOptions { budget, ..none },
                "option \"answer.budget.calls\" must be greater than 0, not 0",
            ),
        ] {
            assert_eq!(options.check().unwrap_err().message(), message);
        }
    }
}
