//! Chat completions.
//!
//! ```text
//! POST {base_url}/chat/completions
//! {"model": ..., "messages": [{"role": ..., "content": ...}], "temperature": 0, "stream": false}
//! → {"choices": [{"message": {"content": ...}, "finish_reason": ...}], "usage": {...}}
//! ```
//!
//! Some parameters are not accepted everywhere. Newer models of OpenAI know only one
//! temperature, and want the length limit under another name. The provider says so, naming
//! the parameter; the request is then sent once more without it or with the other name. An
//! answer in the form of a schema is asked for by `response_format`, and more modestly where
//! that is refused. Tools are functions that the model calls by `tool_calls`; messages of the role `tool` say what came
//! of it.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};

use super::DIALECT;
use crate::error::{Error, ErrorKind, Result};
use crate::exact;
use crate::protocol::{GenerateRequest, Generated, Message, RequestedCall, ToolReply, ToolUse};
use crate::provider::call::HttpReply;
use crate::provider::caller::{Caller, ProviderQuestion};
use crate::provider::chat::{self, credible, credibly_cached, translated};
use crate::provider::errors::{CallPurpose, ErrorFormatter, error_message, explanation};
use crate::provider::openai::stream::{ChatReader, cached};
use crate::provider::provider_state::ProviderMemory;
use crate::provider::retry::CallError;
use crate::provider::sampling::{RequestedSampling, SAMPLING_NAMES};
use crate::provider::schema::{Manner, ResponseFormat};
use crate::provider::stream::{EventReader, Hear, Streamed};
use crate::provider::tools::{self, ToolRefusal};

const TASK: CallPurpose = CallPurpose {
    dialect: &DIALECT,
    path: "chat/completions",
    answer: chat::ANSWER,
    model: chat::MODEL,
    too_long: chat::TOO_LONG,
};

/// A call is no reason of its own, as with all other protocols.
const REASONS: &[(&str, &str)] = &[("tool_calls", "stop"), ("function_call", "stop")];

/// Members of a message with calls that are sent back with it: some servers want what the model thought.
const SENT_BACK: [&str; 3] = ["content", "reasoning_content", "reasoning_details"];

/// Has the provider complete the chat of `request`.
pub fn generate(
    request: &GenerateRequest,
    memory: &ProviderMemory,
    gone: &dyn Fn() -> bool,
) -> Result<Generated> {
    let caller = Caller::new(&request.provider, &TASK, request.lane, memory)?;
    let asked = caller.whom();
    let mut chat = ChatRequest::new(request)?;
    if !memory.may_have_tools(&asked) {
        chat.forgo_tools()?;
    }
    let mut chat = chat.in_manner(memory.manner(&asked));
    let (generated, effort) = caller.ask(&mut chat, gone)?;
    chat::learn(memory, asked, chat.form.as_ref(), chat.refused);
    Ok(chat::reckoned(generated, effort, request))
}

/// Has the chat completions API write an answer as a stream, and passes each piece of it to `hear`
/// as it arrives. Gives the whole answer with its tokens at the end.
pub fn generate_stream(
    request: &GenerateRequest,
    memory: &ProviderMemory,
    gone: &dyn Fn() -> bool,
    hear: &mut Hear<'_>,
) -> Result<Generated> {
    let caller = Caller::new(&request.provider, &TASK, request.lane, memory)?;
    let stream_options = Some(StreamOptions { include_usage: true });
    let mut chat = ChatRequest { stream: true, stream_options, ..ChatRequest::new(request)? };
    let (generated, effort) = caller.listen(&mut chat, gone, hear)?;
    Ok(chat::reckoned(generated, effort, request))
}

/// The body of a request.
#[derive(Serialize)]
struct ChatRequest<'a> {
    model: &'a str,
    messages: Vec<SentMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Value>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(flatten)]
    sampling: RequestedSampling,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
    #[serde(skip)]
    form: Option<ResponseFormat>,
    /// What may be called, and was called before.
    #[serde(skip)]
    used: Option<&'a ToolUse>,
    /// Whether tools were offered and refused.
    #[serde(skip)]
    refused: Option<ToolRefusal>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum SentMessage<'a> {
    /// A text of a role.
    Said { role: &'a str, content: Cow<'a, str> },
    /// Calls of tools, or what came of one.
    Called(Value),
}

impl<'a> ChatRequest<'a> {
    fn new(request: &'a GenerateRequest) -> Result<Self> {
        let form = chat::form_of(request)?;
        let used = request.tools.as_ref();
        let called = tools::messages(used, results).into_iter().map(SentMessage::Called);
        Ok(ChatRequest {
            model: &request.provider.model,
            messages: said_in(&request.messages).chain(called).collect(),
            tools: used.map(|used| tools::functions(&used.tools, true)),
            stream: false,
            stream_options: None,
            sampling: RequestedSampling::new(
                &request.sampling,
                SAMPLING_NAMES,
                &request.provider.api,
            )?,
            max_tokens: request.max_tokens,
            max_completion_tokens: None,
            response_format: form.as_ref().and_then(response_format),
            form,
            used,
            refused: None,
        })
    }

    /// Asks for what takes the place of tools, if there are any.
    fn forgo_tools(&mut self) -> Result<()> {
        if let Some(used) = self.used.take() {
            let form = ResponseFormat::new(&used.otherwise.schema)?;
            self.messages = said_in(&used.otherwise.messages).collect();
            self.tools = None;
            self.response_format = response_format(&form);
            self.form = Some(form);
        }
        Ok(())
    }

    /// Whether `reply` refuses tools, so that the request goes on without them.
    fn give_in_tools(&mut self, reply: &HttpReply) -> bool {
        if self.used.is_none() {
            return false;
        }
        self.refused = ToolRefusal::of(reply);
        self.refused.is_some() && self.forgo_tools().is_ok()
    }

    /// The request with its form, if it has one, asked for in that `manner`.
    fn in_manner(mut self, manner: Manner) -> Self {
        let Some(form) = self.form.as_mut().filter(|form| form.manner != manner) else {
            return self;
        };
        form.manner = manner;
        instruct(&mut self.messages, &form.instruction());
        self.response_format = response_format(form);
        self
    }

    /// Asks more modestly for the form of the answer, if `said`, a refusal, is about that.
    fn give_in_form(&mut self, said: &str) -> bool {
        let Some(form) = self.form.as_mut() else { return false };
        if !form.give_in(&said.to_lowercase()) {
            return false;
        }
        if form.manner == Manner::Json {
            instruct(&mut self.messages, &form.instruction());
        }
        self.response_format = response_format(form);
        true
    }
}

/// Some servers want the system to speak first and never again, so the user says it.
fn instruct(messages: &mut Vec<SentMessage<'_>>, instruction: &str) {
    match messages.last_mut() {
        Some(SentMessage::Said { role: "user", content }) => {
            content.to_mut().push_str(&format!("\n\n{instruction}"));
        }
        _ => {
            let content = Cow::from(instruction.to_string());
            messages.push(SentMessage::Said { role: "user", content });
        }
    }
}

fn said_in(messages: &[Message]) -> impl Iterator<Item = SentMessage<'_>> {
    messages.iter().map(|Message { role, content }| SentMessage::Said {
        role,
        content: Cow::from(content.as_str()),
    })
}

fn results(answered: Vec<(&RequestedCall, &str)>) -> Vec<Value> {
    let result = |(call, text): (&RequestedCall, &str)| json!({"role": "tool", "tool_call_id": call.id, "content": text});
    answered.into_iter().map(result).collect()
}

fn response_format(form: &ResponseFormat) -> Option<Value> {
    let named = json!({"name": "answer", "strict": true, "schema": form.schema});
    match form.manner {
        Manner::Schema => Some(json!({"type": "json_schema", "json_schema": named})),
        Manner::Json => Some(json!({"type": "json_object"})),
        Manner::Words => None,
    }
}

impl ProviderQuestion for ChatRequest<'_> {
    type Answer = Generated;

    fn encode(&self) -> Result<Vec<u8>> {
        let json = serde_json::to_string(self).map_err(|error| {
            Error::new(ErrorKind::Internal, format!("cannot encode a chat request: {error}"))
        })?;
        // Earlier replies go back with the numbers that came.
        Ok(exact::unmarked(&json).into_owned().into_bytes())
    }

    /// Gives up the parameter that `reply` refuses, if there is another way. Each can be
    /// given up once, so this ends.
    fn give_in(&mut self, reply: &HttpReply) -> bool {
        if self.stream_options.is_some() && names_stream_options(reply) {
            self.stream_options = None;
            return true;
        }
        if !matches!(reply.status, 400 | 422) {
            return self.give_in_tools(reply);
        }
        let value = serde_json::from_slice::<Value>(&reply.body).unwrap_or_default();
        match value.pointer("/error/param").and_then(Value::as_str) {
            Some(param) if self.sampling.give_up(&param.to_lowercase()) => true,
            Some("max_tokens") => {
                self.max_completion_tokens = self.max_tokens.take();
                self.max_completion_tokens.is_some()
            }
            _ => {
                let said = explanation(&reply.body);
                self.give_in_tools(reply)
                    || self.give_in_form(&said)
                    || self.sampling.give_up(&said.to_lowercase())
            }
        }
    }

    fn read(
        &mut self,
        reply: &HttpReply,
        teller: &ErrorFormatter<'_>,
    ) -> std::result::Result<Generated, CallError> {
        let value = teller.read_exact(reply)?;
        let Some(choice) = value.pointer("/choices/0") else {
            return Err(match error_message(&value) {
                Some(said) => teller.reported(&said),
                None => teller.nonsense("no choices", reply),
            });
        };
        let finish_reason = choice.get("finish_reason").and_then(Value::as_str).unwrap_or_default();
        let text = said(choice);
        let tools = self.used.map(|_| called(choice));
        let tokens = |name: &str| value.pointer("/usage")?.get(name)?.as_u64().map(credible);
        let (prompt_tokens, completion_tokens) =
            (tokens("prompt_tokens"), tokens("completion_tokens"));
        let has_calls = tools.as_ref().is_some_and(|it| !it.calls.is_empty());
        if text.trim().is_empty() && !has_calls {
            let silence = silence(choice, finish_reason, teller);
            return Err(silence.billed(prompt_tokens, completion_tokens));
        }
        let finish_reason = translated(finish_reason, REASONS);
        let cached_tokens = credibly_cached(cached(&value), prompt_tokens);
        Ok(Generated {
            text,
            finish_reason,
            prompt_tokens,
            cached_tokens,
            completion_tokens,
            attempts: 0,
            tools,
            withheld: Default::default(),
        })
    }
}

impl Streamed for ChatRequest<'_> {
    fn reader(&self) -> Box<dyn EventReader> {
        Box::new(ChatReader::default())
    }
}

/// Servers that do not know the parameter have no common words to say so, but name it.
fn names_stream_options(reply: &HttpReply) -> bool {
    let named = || String::from_utf8_lossy(&reply.body).contains("stream_options");
    matches!(reply.status, 400 | 422) && named()
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

/// The calls of a choice.
fn called(choice: &Value) -> ToolReply {
    let message = choice.get("message").unwrap_or(&Value::Null);
    let calls = tools::calls(message);
    let sent_back = tools::message(message, &calls, &SENT_BACK);
    tools::reply(calls, &sent_back)
}

fn silence(choice: &Value, finish_reason: &str, teller: &ErrorFormatter<'_>) -> CallError {
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
