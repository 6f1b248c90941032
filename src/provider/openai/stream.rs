//! A chat completion that is passed on while it is written.
//!
//! ```text
//! data: {"choices": [{"delta": {"content": "Hel"}, "finish_reason": null}]}
//! data: {"choices": [{"delta": {"content": "lo"}, "finish_reason": "stop"}]}
//! data: {"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 2}}
//! data: [DONE]
//! ```
//!
//! The usage comes only for requests with `stream_options`, which some servers refuse; it is given
//! up then. Some servers leave `[DONE]` out: an answer with a reason for its end is whole.

use serde_json::Value;

use crate::account::tokens_of;
use crate::protocol::Generated;
use crate::provider::chat::{credible, credibly_cached};
use crate::provider::errors::{ErrorFormatter, error_message};
use crate::provider::retry::CallError;
use crate::provider::stream::EventReader;

/// What has been read so far.
#[derive(Default)]
pub struct ChatReader {
    text: String,
    refusal: String,
    finish_reason: String,
    prompt_tokens: Option<u64>,
    cached_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    is_done: bool,
}

impl EventReader for ChatReader {
    fn read(
        &mut self,
        data: &str,
        teller: &ErrorFormatter<'_>,
    ) -> std::result::Result<Option<String>, CallError> {
        if data.trim() == "[DONE]" {
            self.is_done = true;
            return Ok(None);
        }
        let event: Value = teller.read_event(data)?;
        if event.get("error").is_some_and(|error| !error.is_null()) {
            let trouble = teller.reported(&error_message(&event).unwrap_or_default());
            return Err(match self.text.len() {
                0 => trouble,
                length => trouble.billed(self.prompt_tokens, Some(tokens_of(length))),
            });
        }
        self.note_usage(&event);
        let Some(choice) = event.pointer("/choices/0") else { return Ok(None) };
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish_reason = reason.to_string();
        }
        let delta = |name: &str| choice.pointer("/delta")?.get(name)?.as_str();
        self.refusal += delta("refusal").unwrap_or_default();
        let piece = delta("content").unwrap_or_default().replace('\0', "");
        self.text += &piece;
        Ok(Some(piece))
    }

    fn finish(&mut self, teller: &ErrorFormatter<'_>) -> std::result::Result<Generated, CallError> {
        if !self.is_done && self.finish_reason.is_empty() {
            return Err(teller.broke_off(self.text.len()));
        }
        if self.text.trim().is_empty() {
            let silence = self.silence(teller);
            return Err(silence.billed(self.prompt_tokens, self.completion_tokens));
        }
        Ok(Generated {
            text: std::mem::take(&mut self.text),
            finish_reason: std::mem::take(&mut self.finish_reason),
            prompt_tokens: self.prompt_tokens,
            cached_tokens: credibly_cached(self.cached_tokens, self.prompt_tokens),
            completion_tokens: self.completion_tokens,
            attempts: 0,
            tools: None,
            withheld: Default::default(),
        })
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

/// How many of the tokens that were read come from the provider's cache of prompts, if `reply` says so: as OpenAI does, or
/// as DeepSeek.
pub fn cached(reply: &Value) -> Option<u64> {
    let count = |name: &str| reply.get("usage")?.pointer(name)?.as_u64();
    count("/prompt_tokens_details/cached_tokens").or_else(|| count("/prompt_cache_hit_tokens"))
}

impl ChatReader {
    /// Some servers count with each event; the last count is the whole.
    fn note_usage(&mut self, event: &Value) {
        let count = |name: &str| event.pointer("/usage")?.get(name)?.as_u64().map(credible);
        self.prompt_tokens = count("prompt_tokens").or(self.prompt_tokens);
        self.completion_tokens = count("completion_tokens").or(self.completion_tokens);
        self.cached_tokens = cached(event).or(self.cached_tokens);
    }

    fn silence(&self, teller: &ErrorFormatter<'_>) -> CallError {
        let Self { refusal, finish_reason, .. } = self;
        match finish_reason.as_str() {
            _ if !refusal.is_empty() => teller.silence(&format!("it refuses: {refusal}"), None),
            "length" => teller.silence(
                "its finish_reason is \"length\"",
                Some("The model used up its tokens before it wrote. Raise max_tokens."),
            ),
            reason => teller.silence(&format!("its finish_reason is \"{reason}\""), None),
        }
    }
}
