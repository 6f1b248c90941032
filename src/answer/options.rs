//! What can be said about an answer and its citations: the groups `answer` and `cite` of the options of a
//! question.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::fallback::FallbackPipelines;
use super::preset::settled;
use super::refusal::RefusalTexts;
use super::strategy::{self, Budget, StrategyOptions};
use super::style::CitationStyle;
use crate::error::{Error, Result};
use crate::extract::AnswerFormat;
use crate::options::out_of_range;
use crate::prompt::sampling::{
    SamplingOptions, SamplingParameters, SamplingPreset, check_max_tokens,
};
use crate::rewrite::history::ToldHistory;
use crate::text::marker::markers;

/// Most chunks that a reader reads for an answer.
const MOST_READ: u32 = 100;

/// Most examples of a prompt.
const MOST_EXAMPLES: u32 = 20;

/// Longest mark of own knowledge, in characters.
const LONGEST_MARK: usize = 100;

/// How an answer is written. `None` is what the strategy, the model or a setting says.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnswerOptions {
    /// The name of the strategy: in how many calls it is written; `None`: `auto`.
    pub strategy: Option<String>,
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
    /// Whether a second call judges the answer of an agent, and may send it back once; `None`: it doesn't.
    pub evaluate: Option<bool>,
    /// Names of the functions that an agent may call; `None`: all that the caller may.
    pub tools: Option<Vec<String>>,
    /// Most communities that are read.
    pub communities: Option<u32>,
    /// Most chunks that are read of a community.
    pub community_chunks: Option<u32>,
    /// The deepest level of communities that is looked at, from 0; `None`: the deepest there is.
    pub community_level: Option<u32>,
    /// Whether replies about communities are kept in the database; `None`: they are.
    pub keep_replies: Option<bool>,
    /// Grade from 0 to 10 from which a source counts as relevant.
    pub min_grade: Option<f32>,
    /// Tokens of all sources together.
    pub source_tokens: Option<u32>,
    /// Whether it is settled that the question needs sources.
    pub always_retrieve: Option<bool>,
    /// The options of `rag_sql` for the strategies that have queries written; `None`: its defaults.
    pub sql: Option<Map<String, Value>>,
    /// The template of the prompt; `None`: that of the pipeline, or the usual one.
    pub template: Option<String>,
    /// The JSON schema that the answer fits; `None`: it is free text.
    pub schema: Option<Map<String, Value>>,
    /// Whether the language model may use what it knows itself, and marks it.
    pub own_knowledge: bool,
    /// How many questions of the past are shown with their answers, as examples.
    pub examples: u32,
    /// The evaluation set whose questions are examples as well, with the answers that are expected, where examples are shown.
    pub example_set: Option<String>,
    /// Parameters of sampling that go together.
    pub preset: Option<SamplingPreset>,
    /// Sampling temperature of a language model.
    pub temperature: Option<f32>,
    /// The most probable tokens are chosen from that have this probability together.
    pub top_p: Option<f32>,
    /// So many of the most probable tokens are chosen from.
    pub top_k: Option<u32>,
    /// What a token loses of its logit for each time that it was written.
    pub frequency_penalty: Option<f32>,
    /// What a token loses of its logit once it was written.
    pub presence_penalty: Option<f32>,
    /// Longest answer of a language model, in tokens.
    pub max_tokens: Option<u32>,
    /// Most sentences of an extractive answer.
    pub max_sentences: Option<usize>,
    /// Most chunks that the reader of the embedding model reads for an extractive answer, 0 for none; `None`: as many as
    /// suit it.
    pub read: Option<u32>,
    /// Confidence from 0 to 1 below which an answer is doubtful.
    pub min_confidence: Option<f32>,
    /// What is said where the documents hold no answer, perhaps by the language of the question; `None`: a sentence in
    /// that language.
    pub refusal: Option<RefusalTexts>,
    /// Whether a refusal names what is near in the documents.
    pub suggest: bool,
    /// Which pipelines are asked where this one has no answer.
    pub fallback: FallbackPipelines,
    /// Which answers are given again.
    pub cache: Option<AnswerCache>,
    /// Cosine from which on two questions in the same words mean the same.
    pub cache_similarity: Option<f32>,
    /// The ID of the conversation that the question is part of.
    pub conversation: Option<String>,
    /// What was said before the question, where no conversation has it.
    pub history: Option<ToldHistory>,
}

/// Which answers of a language model are given again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerCache {
    /// No answer is given again.
    Off,
    /// Answers to the same messages are given again.
    Exact,
    /// Answers to questions that mean the same are given again, too.
    Semantic,
}

impl AnswerOptions {
    /// An error that names the first value out of its range.
    pub fn check(&self) -> Result<()> {
        strategy::named(self.strategy.as_deref())?;
        self.of_strategy().check()?;
        self.sampling()?;
        check_max_tokens("answer.", self.max_tokens)?;
        self.check_max_sentences()?;
        self.check_read()?;
        self.refusal.as_ref().map_or(Ok(()), RefusalTexts::check)?;
        self.fallback.check()?;
        self.check_own_knowledge()?;
        self.check_examples()?;
        self.check_history()?;
        share("answer.min_confidence", self.min_confidence)?;
        share("answer.cache_similarity", self.cache_similarity)
    }

    /// An error where the model's own knowledge could not be marked.
    fn check_own_knowledge(&self) -> Result<()> {
        let strategy = self.strategy.as_deref().unwrap_or("auto");
        match self.own_knowledge {
            true if self.schema.is_some() => Err(Error::invalid(
                "the options \"answer.own_knowledge\" and \"answer.schema\" exclude each other",
            )
            .hint("Own knowledge is marked behind sentences, and JSON has values without any.")),
            true if !["auto", "compact"].contains(&strategy) => Err(Error::invalid(format!(
                "the option \"answer.own_knowledge\" and the strategy \"{strategy}\" exclude each other"
            ))
            .hint("Strategies that have it: auto, compact.")),
            _ => Ok(()),
        }
    }

    /// An error where more examples are wanted than there may be. A set of them without a number is none: either may be a
    /// default of a pipeline.
    fn check_examples(&self) -> Result<()> {
        match self.examples > MOST_EXAMPLES {
            true => {
                let range = format!("between 0 and {MOST_EXAMPLES}");
                Err(out_of_range("answer.examples", range, self.examples))
            }
            false => Ok(()),
        }
    }

    /// An error where it is not clear what was said before, or where some of that is no message.
    fn check_history(&self) -> Result<()> {
        match (&self.conversation, &self.history) {
            (Some(_), Some(_)) => Err(Error::invalid(
                "the options \"answer.conversation\" and \"answer.history\" exclude each other",
            )
            .hint("A conversation of the database knows what was said in it: leave out the history, or the conversation.")),
            (None, Some(history)) => history.check("answer.history"),
            (_, None) => Ok(()),
        }
    }

    /// An error where an extractive answer could say nothing.
    fn check_max_sentences(&self) -> Result<()> {
        match self.max_sentences {
            Some(0) => Err(out_of_range("answer.max_sentences", "at least 1", 0)),
            _ => Ok(()),
        }
    }

    /// Chooses the preset for what `question` asks for, where that is left open.
    pub fn settle_preset(&mut self, question: &str) {
        self.preset = self.preset.map(|preset| settled(preset, question));
    }

    /// An error where a reader would read more chunks than it may.
    fn check_read(&self) -> Result<()> {
        match self.read {
            Some(read) if read > MOST_READ => {
                Err(out_of_range("answer.read", format!("between 0 and {MOST_READ}"), read))
            }
            _ => Ok(()),
        }
    }

    /// How a language model chooses its words. An error that names the first value out of its range.
    pub fn sampling(&self) -> Result<SamplingParameters> {
        let options = SamplingOptions {
            preset: self.preset,
            temperature: self.temperature,
            top_p: self.top_p,
            top_k: self.top_k,
            frequency_penalty: self.frequency_penalty,
            presence_penalty: self.presence_penalty,
        };
        options.parameters("answer.")
    }

    /// The options that are read by the strategy.
    #[must_use]
    pub fn of_strategy(&self) -> StrategyOptions {
        StrategyOptions {
            budget: self.budget,
            group_size: self.group_size,
            sub_questions: self.sub_questions,
            rounds: self.rounds,
            max_steps: self.max_steps,
            communities: self.communities,
            community_chunks: self.community_chunks,
            community_level: self.community_level,
            keep_replies: match self.cache {
                Some(AnswerCache::Off) => Some(false),
                _ => self.keep_replies,
            },
            evaluate: self.evaluate,
            names_tools: self.tools.is_some(),
            says_sql: self.sql.is_some(),
            min_grade: self.min_grade,
            source_tokens: self.source_tokens,
            always_retrieve: self.always_retrieve,
        }
    }
}

/// How what is cited looks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CiteOptions {
    /// How citations are shown.
    pub style: CitationStyle,
    /// What markup an extractive answer has.
    pub format: AnswerFormat,
    /// The metadata column with the address of a source.
    pub link_column: Option<String>,
    /// The address of a source, with names of metadata columns and the like in braces.
    pub link_template: Option<String>,
    /// The metadata column with the name of a source; its key, if there is none.
    pub source_column: Option<String>,
    /// What stands behind a sentence of the language model's own knowledge; `None`: "(own knowledge)".
    pub own_mark: Option<String>,
}

impl CiteOptions {
    /// An error where the style cannot be made, an address is said twice, or a mark is none.
    pub fn check(&self) -> Result<()> {
        if let Some(mark) = &self.own_mark {
            check_mark(mark)?;
        }
        match (self.style, &self.link_column, &self.link_template) {
            (_, Some(_), Some(_)) => Err(Error::invalid(
                "the options \"cite.link_column\" and \"cite.link_template\" exclude each other",
            )),
            (CitationStyle::Link, None, None) => {
                Err(Error::invalid("the citation style \"link\" needs the option \"cite.link_column\" or \"cite.link_template\"")
                    .hint("For instance {\"cite\": {\"style\": \"link\", \"link_template\": \"https://example.org/docs/{source_key}\"}}."))
            }
            _ => Ok(()),
        }
    }
}

fn check_mark(mark: &str) -> Result<()> {
    let is_mark = !mark.trim().is_empty() && markers(mark).is_empty() && !mark.contains('\n');
    match is_mark && mark.chars().count() <= LONGEST_MARK {
        true => Ok(()),
        false => {
            let range = format!("a text of 1 to {LONGEST_MARK} characters in one line without [1]");
            Err(out_of_range("cite.own_mark", range, format!("\"{mark}\"")))
        }
    }
}

fn share(option: &str, value: Option<f32>) -> Result<()> {
    match value {
        Some(value) if !(0.0..=1.0).contains(&value) => {
            Err(out_of_range(option, "between 0 and 1", value))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::options::read;

    fn check(group: &str, options: Value, message: &str) {
        let error = match group {
            "answer" => read::<AnswerOptions>(group, options, &[]).and_then(|it| it.check()),
            _ => read::<CiteOptions>(group, options, &[]).and_then(|it| it.check()),
        };
        assert_eq!(error.unwrap_err().message(), message);
    }

    #[test]
    fn values_out_of_their_range_are_named() {
        check("answer", json!({"strategy": "guess"}), "unknown strategy \"guess\"");
        check(
            "answer",
            json!({"min_confidence": 2}),
            "option \"answer.min_confidence\" must be between 0 and 1, not 2",
        );
        check(
            "answer",
            json!({"cache_similarity": -0.5}),
            "option \"answer.cache_similarity\" must be between 0 and 1, not -0.5",
        );
        check(
            "answer",
            json!({"schema": "object"}),
            "option \"answer.schema\" must be an object, not \"object\"",
        );
        check("answer", json!({"cache": "some"}), "option \"answer.cache\" cannot be \"some\"");
        check(
            "answer",
            json!({"budget": {"seconds": 0}}),
            "option \"answer.budget.seconds\" must be greater than 0, not 0",
        );
        check(
            "answer",
            json!({"own_knowledge": true, "schema": {}}),
            "the options \"answer.own_knowledge\" and \"answer.schema\" exclude each other",
        );
        check(
            "answer",
            json!({"own_knowledge": true, "strategy": "refine"}),
            "the option \"answer.own_knowledge\" and the strategy \"refine\" exclude each other",
        );
        check(
            "answer",
            json!({"examples": 21}),
            "option \"answer.examples\" must be between 0 and 20, not 21",
        );
        check(
            "answer",
            json!({"max_tokens": 0}),
            "option \"answer.max_tokens\" must be at least 1, not 0",
        );
        check(
            "answer",
            json!({"max_sentences": 0}),
            "option \"answer.max_sentences\" must be at least 1, not 0",
        );
        check(
            "answer",
            json!({"read": 101}),
            "option \"answer.read\" must be between 0 and 100, not 101",
        );
        check("answer", json!({"preset": "wild"}), "option \"answer.preset\" cannot be \"wild\"");
        assert!(AnswerOptions::default().check().is_ok());
        let set = read::<AnswerOptions>("answer", json!({"example_set": "support"}), &[]);
        assert!(set.and_then(|it| it.check()).is_ok());
    }

    #[test]
    fn what_texts_cannot_be_is_named() {
        check(
            "answer",
            json!({"conversation": "5", "history": []}),
            "the options \"answer.conversation\" and \"answer.history\" exclude each other",
        );
        check(
            "answer",
            json!({"history": [{"role": "user", "content": "When?"}, {"role": "system", "content": ""}]}),
            "option \"answer.history[1].role\" must be \"user\" or \"assistant\", not \"system\"",
        );
        check(
            "answer",
            json!({"history": ["When?"]}),
            "option \"answer.history[0]\" must be an object, not \"When?\"",
        );
        check(
            "answer",
            json!({"refusal": {"xx": "?"}}),
            "unknown language \"xx\" of \"answer.refusal\"",
        );
        check(
            "answer",
            json!({"refusal": ""}),
            "option \"answer.refusal\" must be a text that is not empty, not \"\"",
        );
        for mark in ["", " ", "see [1]", "a\nb"] {
            check(
                "cite",
                json!({ "own_mark": mark }),
                &format!(
                    "option \"cite.own_mark\" must be a text of 1 to 100 characters in one line without [1], not \"{mark}\""
                ),
            );
        }
        check(
            "cite",
            json!({"style": "link"}),
            "the citation style \"link\" needs the option \"cite.link_column\" or \"cite.link_template\"",
        );
        check(
            "cite",
            json!({"link_column": "a", "link_template": "b"}),
            "the options \"cite.link_column\" and \"cite.link_template\" exclude each other",
        );
        assert!(CiteOptions::default().check().is_ok());
    }

    #[test]
    fn without_a_cache_no_reply_is_kept() {
        let keeps = |options: Value| {
            read::<AnswerOptions>("answer", options, &[]).unwrap().of_strategy().keep_replies
        };
        assert_eq!(keeps(json!({})), None);
        assert_eq!(keeps(json!({"cache": "off"})), Some(false));
        assert_eq!(keeps(json!({"cache": "off", "keep_replies": true})), Some(false));
        assert_eq!(keeps(json!({"cache": "exact"})), None);
        assert_eq!(keeps(json!({"keep_replies": false})), Some(false));
    }

    #[test]
    fn the_question_settles_what_the_preset_leaves_open() {
        let temperature = |options: Value, question: &str| {
            let mut options = read::<AnswerOptions>("answer", options, &[]).unwrap();
            options.settle_preset(question);
            options.sampling().unwrap().temperature
        };
        let open = || json!({"preset": "auto"});
        assert_eq!(temperature(open(), "When does the gate open?"), 0.0);
        assert_eq!(temperature(open(), "Why is the gate closed?"), 0.4);
        assert_eq!(temperature(open(), "Write a poem about the gate."), 0.9);
        assert_eq!(temperature(json!({}), "Write a poem about the gate."), 0.0);
        let said = json!({"preset": "auto", "temperature": 0.2});
        assert_eq!(temperature(said, "Write a poem about the gate."), 0.2);
    }
}
