//! What can be said about the check of an answer: the group `verify` of the options of a question.

use serde::Deserialize;

/// How an answer is compared with what was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VerifyOptions {
    /// What compares them: 'words', 'llm', 'none' or the name of a model; `None`: words.
    pub by: Option<String>,
    /// The language model that judges; `None`: the one that writes.
    pub llm: Option<String>,
    /// What becomes of a doubtful answer.
    pub low_confidence: LowConfidence,
}

/// What becomes of a doubtful answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LowConfidence {
    /// The answer is given, with `needs_review`.
    #[default]
    Flag,
    /// The answer is not given.
    Abstain,
}
