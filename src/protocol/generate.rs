//! What a language model is asked to write, and what it wrote.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Lane, ProviderConfig};
use crate::account::tokens_of;
use crate::error::Error;
use crate::prompt::messages::Message;
use crate::prompt::sampling::SamplingParameters;
use crate::prompt::tools::{ToolReply, ToolUse};
use crate::redact::PiiKind;

/// A chat completion to be made by a provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GenerateRequest {
    /// The provider that makes it.
    pub provider: ProviderConfig,
    /// What was said so far, oldest first.
    pub messages: Vec<Message>,
    /// How the model chooses its words.
    pub sampling: SamplingParameters,
    /// Longest answer in tokens; `None`: the provider's default.
    pub max_tokens: Option<u32>,
    /// The JSON schema that the answer must fit; `None`: it is free text.
    pub schema: Option<String>,
    /// What may be called instead of answering; where there are such tools, `schema` has no effect.
    pub tools: Option<ToolUse>,
    /// Whether a user waits. Calls for [`Lane::Bulk`] go behind the others, and fail with
    /// [`ErrorKind::ProviderBusy`](crate::error::ErrorKind::ProviderBusy) while the provider wants to be left alone.
    pub lane: Lane,
}

/// Chat completions to be made at once, as far as that is possible.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GenerateMany {
    /// The requests, in any order.
    pub requests: Vec<GenerateRequest>,
    /// Limit for all of them together; those that are not done by then have timed out. `None`:
    /// each has its own limit and no other.
    pub within_ms: Option<u64>,
}

impl GenerateRequest {
    /// A request in which nothing is said.
    #[cfg(test)]
    pub fn empty(provider: ProviderConfig) -> GenerateRequest {
        GenerateRequest {
            provider,
            messages: Vec::new(),
            sampling: SamplingParameters::default(),
            max_tokens: None,
            schema: None,
            tools: None,
            lane: Lane::Query,
        }
    }

    /// The bytes of all that the language model reads.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let messages: usize = self.messages.iter().map(|message| message.content.len()).sum();
        messages + self.tools.as_ref().map_or(0, ToolUse::bytes)
    }
}

/// What became of one of several texts.
pub type GenerateOutcome = std::result::Result<Generated, Error>;

/// What a provider wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generated {
    /// The text of the first choice.
    pub text: String,
    /// "stop", "length", "content_filter", or a word of the provider's own.
    pub finish_reason: String,
    /// Tokens read, those in the provider's cache included, if the provider says.
    pub prompt_tokens: Option<u64>,
    /// Tokens among these that were in the provider's cache of prompts, if the provider says.
    pub cached_tokens: Option<u64>,
    /// Tokens written, if the provider says.
    pub completion_tokens: Option<u64>,
    /// Calls made, the retried ones included.
    pub attempts: u32,
    /// What it calls for; `None` where no tools were offered, be it that the provider knows none.
    pub tools: Option<ToolReply>,
    /// Personal data that were found in the request and not sent, but for those that
    /// [`Special::withheld`](super::Special::withheld) has already.
    pub withheld: BTreeMap<String, PiiKind>,
}

impl Generated {
    /// Tokens written: as many as the provider says, or about as many as the text and the message with calls have.
    #[must_use]
    pub fn written(&self) -> u64 {
        let called = self.tools.as_ref().map_or(0, |tools| tools.verbatim.len());
        self.completion_tokens.unwrap_or_else(|| tokens_of(self.text.len() + called))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_written_as_well() {
        let generated = |completion_tokens, verbatim: &str| Generated {
            text: "x".repeat(8),
            finish_reason: "stop".into(),
            prompt_tokens: None,
            cached_tokens: None,
            completion_tokens,
            attempts: 1,
            tools: Some(ToolReply { verbatim: verbatim.into(), ..ToolReply::default() }),
            withheld: BTreeMap::new(),
        };
        assert_eq!(generated(Some(7), "{}").written(), 7);
        assert_eq!(generated(None, "").written(), tokens_of(8));
        assert_eq!(generated(None, &"y".repeat(400)).written(), tokens_of(408));
    }
}
