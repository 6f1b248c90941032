//! The protocol of OpenAI's chat completions, which nearly every server of language models
//! speaks: vLLM, llama.cpp, Ollama, LM Studio, LiteLLM and most hosted ones.
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

use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

use super::call::{self, Call, Reply};
use super::key::Key;
use super::retry::{self, Policy, Remedy, Trouble};
use super::trouble::{Teller, error_message};
use crate::daemon::protocol::{GenerateRequest, Generated, Message};
use crate::error::{Error, ErrorKind, Result};

/// Has the provider complete the chat of `request`.
pub fn generate(request: &GenerateRequest, gone: &dyn Fn() -> bool) -> Result<Generated> {
    let provider = &request.provider;
    let begun = Instant::now();
    check(request)?;
    let url = call::endpoint(&provider.base_url, "chat/completions")?;
    let key = Key::resolve(provider)?;
    let teller = Teller { provider, key: &key };
    let policy = Policy {
        deadline: deadline(begun, provider.timeout_ms),
        max_retries: provider.max_retries,
    };
    let mut body = ChatRequest::new(request);
    let (generated, attempts) = retry::run(&policy, gone, |timeout| {
        let call = Call {
            url: url.clone(),
            key: key.clone(),
            body: body.encode().map_err(lasting)?,
            connect_timeout: Duration::from_millis(provider.connect_timeout_ms),
            timeout,
        };
        let reply = call::post(call, gone).map_err(|failure| teller.failure(failure))?;
        if (200..300).contains(&reply.status) {
            return parse(&reply, &teller);
        }
        let mut trouble = teller.refusal(&reply);
        if body.give_in(&reply) {
            trouble.remedy = Remedy::Changed;
        }
        Err(trouble)
    })?;
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
}

fn check(request: &GenerateRequest) -> Result<()> {
    let provider = &request.provider;
    if !request.temperature.is_finite() || request.temperature < 0.0 {
        let temperature = request.temperature;
        return Err(Error::invalid(format!("temperature {temperature} is not 0 or more")));
    }
    for (option, value) in
        [("timeout", provider.timeout_ms), ("connect_timeout", provider.connect_timeout_ms)]
    {
        if value == 0 {
            let name = &provider.name;
            return Err(Error::invalid(format!("{option} of provider \"{name}\" is 0 ms")));
        }
    }
    Ok(())
}

/// A limit too far away for a clock is as good as a year.
fn deadline(begun: Instant, timeout_ms: u64) -> Instant {
    let year = Duration::from_secs(365 * 24 * 3600);
    begun + Duration::from_millis(timeout_ms).min(year)
}

fn lasting(error: Error) -> Trouble {
    Trouble { error, remedy: Remedy::None }
}

fn parse(reply: &Reply, teller: &Teller<'_>) -> std::result::Result<Generated, Trouble> {
    let text = std::str::from_utf8(&reply.body)
        .map_err(|error| teller.nonsense(&format!("not UTF-8: {error}"), reply))?;
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let html = reply.content_type.starts_with("text/html");
        let what = if html { "a web page".into() } else { format!("not JSON: {error}") };
        teller.nonsense(&what, reply)
    })?;
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
