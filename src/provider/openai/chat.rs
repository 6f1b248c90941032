//! Chat completions.
//!
//! ```text
//! POST {base_url}/chat/completions
//! {"model": ..., "messages": [{"role": ..., "content": ...}], "temperature": 0, "stream": false}
//! → {"choices": [{"message": {"content": ...}, "finish_reason": ...}], "usage": {...}}
//! ```
//!
//! Two parameters are not accepted everywhere. Newer models of OpenAI know only one
//! temperature, and want the length limit under another name. The provider says so, naming
//! the parameter; the request is then sent once more without it or with the other name.

use serde::Serialize;
use serde_json::Value;

use crate::daemon::protocol::{GenerateRequest, Generated, Lane, Message};
use crate::error::{Error, ErrorKind, Result};
use crate::provider::call::Reply;
use crate::provider::caller::{Caller, Question};
use crate::provider::memory::Memory;
use crate::provider::retry::Trouble;
use crate::provider::trouble::{Task, Teller, error_message};

const TASK: Task = Task {
    path: "chat/completions",
    answer: "a chat completion",
    model: "model",
    too_long: "The prompt is longer than the model reads. Give it fewer or shorter chunks.",
};

/// Has the provider complete the chat of `request`.
pub fn generate(
    request: &GenerateRequest,
    memory: &Memory,
    gone: &dyn Fn() -> bool,
) -> Result<Generated> {
    check_temperature(request.temperature)?;
    // Somebody waits for what is written.
    let caller = Caller::new(&request.provider, &TASK, Lane::Query, memory)?;
    let (generated, attempts) = caller.ask(&mut ChatRequest::new(request), gone)?;
    Ok(Generated { attempts, ..generated })
}

/// The body of a request.
#[derive(Serialize)]
struct ChatRequest<'a> {
    model: &'a str,
    messages: Vec<ChatMessage<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
}

#[derive(Serialize)]
struct ChatMessage<'a> {
    role: &'a str,
    content: &'a str,
}

impl<'a> ChatRequest<'a> {
    fn new(request: &'a GenerateRequest) -> Self {
        let message = |Message { role, content }: &'a Message| ChatMessage { role, content };
        ChatRequest {
            model: &request.provider.model,
            messages: request.messages.iter().map(message).collect(),
            stream: false,
            temperature: Some(request.temperature),
            max_tokens: request.max_tokens,
            max_completion_tokens: None,
        }
    }
}

impl Question for ChatRequest<'_> {
    type Answer = Generated;

    fn encode(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(self).map_err(|error| {
            Error::new(ErrorKind::Internal, format!("cannot encode a chat request: {error}"))
        })
    }

    /// Gives up the parameter that `reply` refuses, if there is another way. Each can be
    /// given up once, so this ends.
    fn give_in(&mut self, reply: &Reply) -> bool {
        let Ok(value) = serde_json::from_slice::<Value>(&reply.body) else { return false };
        if reply.status != 400 {
            return false;
        }
        match value.pointer("/error/param").and_then(Value::as_str) {
            Some("temperature") => self.temperature.take().is_some(),
            Some("max_tokens") => {
                self.max_completion_tokens = self.max_tokens.take();
                self.max_completion_tokens.is_some()
            }
            _ => false,
        }
    }

    fn read(
        &mut self,
        reply: &Reply,
        teller: &Teller<'_>,
    ) -> std::result::Result<Generated, Trouble> {
        let value: Value = teller.read(reply)?;
        let Some(choice) = value.pointer("/choices/0") else {
            return Err(match error_message(&value) {
                Some(said) => teller.reported(&said),
                None => teller.nonsense("no choices", reply),
            });
        };
        let finish_reason = choice.get("finish_reason").and_then(Value::as_str).unwrap_or_default();
        let text = said(choice);
        if text.trim().is_empty() {
            return Err(silence(choice, finish_reason, teller));
        }
        let tokens = |name: &str| value.pointer("/usage")?.get(name)?.as_u64();
        Ok(Generated {
            text,
            finish_reason: finish_reason.to_string(),
            prompt_tokens: tokens("prompt_tokens"),
            completion_tokens: tokens("completion_tokens"),
            attempts: 0,
        })
    }
}

fn check_temperature(temperature: f32) -> Result<()> {
    if temperature.is_finite() && temperature >= 0.0 {
        return Ok(());
    }
    Err(Error::invalid(format!("temperature {temperature} is not 0 or more")))
}

/// The text of a choice: a string, or parts of which some are text.
fn said(choice: &Value) -> String {
    let text = match choice.pointer("/message/content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text")?.as_str()).collect()
        }
        _ => String::new(),
    };
    // PostgreSQL's text cannot hold it, and no model means it.
    text.replace('\0', "")
}

fn silence(choice: &Value, finish_reason: &str, teller: &Teller<'_>) -> Trouble {
    let refusal = choice.pointer("/message/refusal").and_then(Value::as_str);
    match (refusal, finish_reason) {
        (Some(refusal), _) => teller.silence(&format!("it refuses: {refusal}"), None),
        (None, "length") => teller.silence(
            "its finish_reason is \"length\"",
            Some("The model used up its tokens before it wrote. Raise max_tokens."),
        ),
        (None, reason) => teller.silence(&format!("its finish_reason is \"{reason}\""), None),
    }
}
