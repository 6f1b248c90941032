//! How does an answer look to clients of OpenAI's API?
//!
//! In: the columns of `rag_answer_details`, or the parts of a told answer. Out: a chat completion, or its chunks.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::failure::Failure;
use crate::question::Piece;
use crate::sse::{self, Frames};

/// What is said in the place of an answer that was to have a form and is none. A conversation keeps the same words, by
/// which it is found when the client sends them back.
const REFUSAL: &str = "I don't know: the sources do not say.";

/// What is the same in all objects of a response.
pub struct Completion {
    /// Nothing looks an answer up by this; it tells those of one client apart.
    key: String,
    created: u64,
    model: String,
    /// The name of the function of which the answer is the arguments, where it is that.
    called: Option<String>,
}

impl Completion {
    /// A response that begins now. With `called`, the answer is the arguments of a call of this function.
    pub fn new(model: &str, called: Option<String>) -> Self {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let key = format!("{:x}", since_1970.as_nanos());
        Self { key, created: since_1970.as_secs(), model: model.to_owned(), called }
    }

    fn object(&self, kind: &str, choice: Value) -> Value {
        json!({
            "id": format!("chatcmpl-{}", self.key),
            "object": kind,
            "created": self.created,
            "model": self.model,
            "choices": [choice],
        })
    }

    /// A response at once.
    pub fn whole(&self, mut details: Value) -> Value {
        let answer = details.as_object_mut().and_then(|details| details.remove("answer"));
        let message = self.message(answer.as_ref().and_then(Value::as_str));
        let finish = self.finish_reason(&details, message.get("tool_calls").is_some());
        let choice =
            json!({"index": 0, "message": message, "finish_reason": finish, "logprobs": null});
        let mut object = self.object("chat.completion", choice);
        object["usage"] = usage(&details);
        object["citations"] = details["citations"].take();
        object["rag"] = details;
        object
    }

    /// The message with an answer, or with a refusal where there is none.
    fn message(&self, answer: Option<&str>) -> Value {
        let mut message = json!({"role": "assistant", "content": null, "refusal": null});
        match (answer, &self.called) {
            (None, _) => message["refusal"] = json!(REFUSAL),
            (Some(text), None) => message["content"] = json!(text),
            (Some(text), Some(name)) => message["tool_calls"] = json!([self.call(name, text)]),
        }
        message
    }

    fn call(&self, name: &str, arguments: &str) -> Value {
        let function = json!({"name": name, "arguments": arguments});
        json!({"id": format!("call_{}", self.key), "type": "function", "function": function})
    }

    /// `length` where the language model had to stop, `tool_calls` behind a call, else `stop`.
    fn finish_reason(&self, details: &Value, is_call: bool) -> &'static str {
        match details["usage"]["finish_reason"].as_str() {
            Some("length" | "max_tokens") => "length",
            _ if is_call => "tool_calls",
            _ => "stop",
        }
    }

    fn chunk(&self, delta: Value, finish: Option<&str>) -> Value {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish, "logprobs": null});
        self.object("chat.completion.chunk", choice)
    }
}

fn usage(details: &Value) -> Value {
    let tokens = |name: &str| details["usage"][name].as_u64().unwrap_or_default();
    let (prompt, completion) = (tokens("prompt_tokens"), tokens("completion_tokens"));
    let mut usage = json!({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion});
    if let Some(cached) = details["usage"]["cached_tokens"].as_u64() {
        usage["prompt_tokens_details"] = json!({"cached_tokens": cached});
    }
    usage
}

/// A response in pieces.
pub struct Chunks {
    completion: Completion,
    with_usage: bool,
    /// Whether something of the answer was told.
    is_begun: bool,
}

impl Chunks {
    /// The chunks of a response, and before its end one with the usage, where that is wanted.
    pub fn new(completion: Completion, with_usage: bool) -> Self {
        Self { completion, with_usage, is_begun: false }
    }

    fn frame(&self, delta: Value, finish: Option<&str>) -> String {
        sse::frame(None, &self.completion.chunk(delta, finish).to_string())
    }

    /// What a piece of the answer adds to the message.
    fn delta(&self, text: &str) -> Value {
        let Some(name) = &self.completion.called else { return json!({"content": text}) };
        // Only the first part of a call says which one it is.
        let mut call = match self.is_begun {
            true => json!({"function": {"arguments": text}}),
            false => self.completion.call(name, text),
        };
        call["index"] = json!(0);
        json!({"tool_calls": [call]})
    }

    /// The last chunk, what clients wait for behind it, and in between the usage where it was wanted.
    fn last(&self, mut details: Value) -> String {
        let mut text = String::new();
        // An answer that is not as it was told is there, and null where it was refused.
        if details.get("answer").is_some_and(Value::is_null) && !self.is_begun {
            text.push_str(&self.frame(json!({"refusal": REFUSAL}), None));
        }
        let is_call = self.is_begun && self.completion.called.is_some();
        let finish = self.completion.finish_reason(&details, is_call);
        let mut last = self.completion.chunk(json!({}), Some(finish));
        let used = usage(&details);
        last["citations"] = details["citations"].take();
        last["rag"] = details;
        text.push_str(&sse::frame(None, &last.to_string()));
        if self.with_usage {
            let mut only_usage = self.completion.chunk(json!({}), None);
            only_usage["choices"] = json!([]);
            only_usage["usage"] = used;
            text.push_str(&sse::frame(None, &only_usage.to_string()));
        }
        text + &sse::frame(None, "[DONE]")
    }
}

impl Frames for Chunks {
    fn begin(&mut self) -> String {
        // A text begins with nothing, and a call has none.
        let content = self.completion.called.is_none().then_some("");
        self.frame(json!({"role": "assistant", "content": content}), None)
    }

    fn frames(&mut self, piece: Result<Piece, Failure>) -> String {
        match piece {
            // There is no word for it in OpenAI's API. A comment keeps the connection awake.
            Ok(Piece::Step(_)) => ": step\n\n".to_owned(),
            Ok(Piece::Text(text)) => {
                let delta = self.delta(&text);
                self.is_begun = true;
                self.frame(delta, None)
            }
            Ok(Piece::Details(details)) => self.last(details),
            Err(failure) => {
                sse::frame(None, &failure.body().to_string()) + &sse::frame(None, "[DONE]")
            }
        }
    }
}

#[cfg(test)]
#[path = "completion_tests.rs"]
mod tests;
