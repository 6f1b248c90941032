//! What can be said about the check of an answer: the group `verify` of the options of a question.

use std::fmt;

use serde::Deserialize;

/// How an answer is compared with what was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VerifyOptions {
    /// What compares them: 'words', 'llm', 'none' or the name of a model; `None`: words.
    pub by: Option<String>,
    /// The language model that judges; `None`: the one that writes.
    pub llm: Option<String>,
    /// What becomes of claims that no source supports; `None`: by the language model that writes.
    pub unsupported: Option<UnsupportedClaims>,
    /// What becomes of a doubtful answer; `None`: by the language model that writes.
    pub low_confidence: Option<LowConfidence>,
}

impl VerifyOptions {
    /// What holds for the answers of a language model on this machine where nothing else is said. A small one cites
    /// sources for what they do not say.
    pub const LOCAL_DEFAULTS: (UnsupportedClaims, LowConfidence) =
        (UnsupportedClaims::Remove, LowConfidence::Extractive);
}

/// What becomes of claims of a language model that no source supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnsupportedClaims {
    /// They stay in the answer.
    #[default]
    Keep,
    /// They are left out. An answer of which nothing is left is doubtful.
    Remove,
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
    /// The built-in answerer answers from what the language model has read.
    Extractive,
}

impl fmt::Display for UnsupportedClaims {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            UnsupportedClaims::Keep => "keep",
            UnsupportedClaims::Remove => "remove",
        })
    }
}

impl fmt::Display for LowConfidence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            LowConfidence::Flag => "flag",
            LowConfidence::Abstain => "abstain",
            LowConfidence::Extractive => "extractive",
        })
    }
}
