//! `/v1/chat/completions`: a pipeline as a model.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use uuid::Uuid;

use super::request::JsonBody;
use super::{Caller, InFlight, Server};
use crate::failure::Failure;
use crate::members::{AsWritten, Options, or_default, write};
use crate::question::{self, History, Piece, Question};
use crate::sse::{self, Frames};

/// The members of a request that are read. Others are left alone, as clients send many.
#[derive(Default, Deserialize)]
pub struct Request {
    model: String,
    messages: Vec<Message>,
    #[serde(default, deserialize_with = "or_default")]
    stream: bool,
    stream_options: Option<StreamOptions>,
    response_format: Option<ResponseFormat>,
    temperature: Option<f64>,
    top_p: Option<f64>,
    max_tokens: Option<i32>,
    max_completion_tokens: Option<i32>,
    frequency_penalty: Option<f64>,
    presence_penalty: Option<f64>,
    n: Option<i64>,
    tools: Option<Vec<IgnoredAny>>,
    tool_choice: Option<Value>,
    // What tools were called before.
    functions: Option<Vec<IgnoredAny>>,
    function_call: Option<Value>,
    // Arguments of rag_answer.
    strategy: Option<String>,
    k: Option<i32>,
    mode: Option<String>,
    filter: Option<AsWritten>,
    llm: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    options: Options,
    conversation: Option<Uuid>,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    content: Option<Content>,
    #[serde(default, deserialize_with = "or_default")]
    tool_calls: Vec<IgnoredAny>,
}

/// A text, or parts of which some are texts.
#[derive(Deserialize)]
#[serde(untagged, expecting = "the content of a message must be a text or an array of parts")]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
struct Part {
    #[serde(rename = "type")]
    kind: Option<String>,
    text: Option<String>,
}

#[derive(Default, Deserialize)]
struct StreamOptions {
    #[serde(default, deserialize_with = "or_default")]
    include_usage: bool,
}

#[derive(Deserialize)]
struct ResponseFormat {
    #[serde(rename = "type")]
    kind: Option<String>,
    json_schema: Option<JsonSchema>,
}

#[derive(Deserialize)]
struct JsonSchema {
    schema: Option<Box<RawValue>>,
}

impl Message {
    fn text(&self) -> String {
        match &self.content {
            Some(Content::Text(text)) => text.clone(),
            Some(Content::Parts(parts)) => {
                let texts: Vec<_> = parts.iter().filter_map(|part| part.text.as_deref()).collect();
                texts.join("\n")
            }
            None => String::new(),
        }
    }

    /// The type of a part that is no text.
    fn other_than_text(&self) -> Option<&str> {
        let Some(Content::Parts(parts)) = &self.content else { return None };
        let kinds = parts.iter().filter(|part| part.text.is_none());
        kinds.map(|part| part.kind.as_deref().unwrap_or_default()).find(|kind| *kind != "text")
    }
}

impl ResponseFormat {
    /// The schema that an answer in this form fits; nothing for a text.
    fn schema(&self) -> Result<Option<Box<RawValue>>, Failure> {
        let given = self.json_schema.as_ref().and_then(|format| format.schema.clone());
        match (self.kind.as_deref(), given) {
            (Some("text"), _) | (None, None) => Ok(None),
            (Some("json_object"), _) => Ok(Some(write(&json!({"type": "object"})))),
            (Some("json_schema") | None, Some(schema)) => Ok(Some(schema)),
            (Some("json_schema"), None) => Err(Failure::request("response_format has no schema")),
            (Some(other), _) => Err(Failure::request(format!(
                "response_format must be of the type text, json_object or json_schema, not {other:?}"
            ))),
        }
    }
}

impl Request {
    /// The last message as a question, and those before it as its history.
    fn question(self) -> Result<(Question, Vec<(String, String)>), Failure> {
        self.check()?;
        let last = self.messages.last().filter(|message| message.role == "user");
        let last = last.ok_or_else(|| Failure::request("the last message must be of the user"))?;
        if let Some(kind) = last.other_than_text() {
            let message = format!("the last message has a part of the type {kind:?}");
            return Err(Failure::request(message).hint("only parts of the type \"text\" are read"));
        }
        let text = last.text();
        let turns = turns(&self.messages[..self.messages.len() - 1]);
        let options = self.all_options()?;
        let Self { model, strategy, k, mode, filter, llm, conversation, .. } = self;
        let question = Question {
            question: text,
            pipeline: Some(model).filter(|model| !model.is_empty()),
            strategy,
            k,
            mode,
            filter,
            llm,
            options,
            conversation,
            converse: false,
        };
        Ok((question, turns))
    }

    /// Refuses what a client would wait for in vain.
    fn check(&self) -> Result<(), Failure> {
        if let Some(n) = self.n.filter(|n| *n != 1) {
            return Err(Failure::request(format!("n must be 1, not {n}")));
        }
        // Whoever offers tools lets the model answer without them, unless a choice says that one must be called.
        let must_call = |tools: &Option<Vec<IgnoredAny>>, choice: &Option<Value>| {
            tools.as_ref().is_some_and(|tools| !tools.is_empty())
                && choice.as_ref().is_some_and(|it| !it.is_null() && it != "auto" && it != "none")
        };
        if must_call(&self.tools, &self.tool_choice)
            || must_call(&self.functions, &self.function_call)
        {
            let refused = Failure::request("tools are not called");
            let hint = "leave out tool_choice; the strategy agent calls functions of the database";
            return Err(refused.hint(hint));
        }
        Ok(())
    }

    /// The options, with OpenAI's parameters among them that pg_rag has too, where the options do not say them.
    fn all_options(&self) -> Result<Options, Failure> {
        let schema = self.response_format.as_ref().map(ResponseFormat::schema).transpose()?;
        let said = [
            ("temperature", self.temperature.as_ref().map(write)),
            ("top_p", self.top_p.filter(|p| *p > 0.0).as_ref().map(write)),
            ("max_tokens", self.max_completion_tokens.or(self.max_tokens).as_ref().map(write)),
            ("frequency_penalty", self.frequency_penalty.as_ref().map(write)),
            ("presence_penalty", self.presence_penalty.as_ref().map(write)),
            ("schema", schema.flatten()),
        ];
        let mut options = self.options.clone();
        for (name, value) in said {
            let Some(value) = value else { continue };
            options.change_answer(|answer| {
                answer.entry(name.to_owned()).or_insert(value);
            });
        }
        Ok(options)
    }
}

/// Questions with their answers. Messages of others than user and assistant are left out: in which words a language
/// model is asked is a matter of the database's templates. So are calls of tools, by which another server came to its answer.
fn turns(messages: &[Message]) -> Vec<(String, String)> {
    let mut turns = Vec::new();
    let mut asked: Option<String> = None;
    for message in messages {
        match message.role.as_str() {
            "user" => asked = Some(message.text()),
            "assistant" if !message.tool_calls.is_empty() => {}
            "assistant" => turns.extend(asked.take().map(|asked| (asked, message.text()))),
            _ => {}
        }
    }
    turns
}

/// Answers the last message, at once or in pieces.
pub async fn complete(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Arc<Caller>>,
    JsonBody(request): JsonBody<Request>,
) -> Result<Response, Failure> {
    let in_flight = InFlight::new(&server);
    let is_told = request.stream;
    let with_usage = request.stream_options.as_ref().is_some_and(|options| options.include_usage);
    let completion = Completion::new(&request.model);
    let (question, turns) = request.question()?;
    let history = if server.conversations { History::Said(turns) } else { History::Unkept };
    if is_told {
        let pieces = question::tell(&caller.database, question, history).await?;
        return sse::response(pieces, Chunks { completion, with_usage }, in_flight).await;
    }
    let mut lease = caller.database.lease().await?;
    let details = question::answer(&mut lease, question, &history).await?;
    Ok(Json(completion.whole(details)).into_response())
}

/// What is the same in all objects of a response.
struct Completion {
    id: String,
    created: u64,
    model: String,
}

impl Completion {
    fn new(model: &str) -> Self {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // Nothing looks an answer up by this; it tells those of one client apart.
        let id = format!("chatcmpl-{:x}", since_1970.as_nanos());
        Self { id, created: since_1970.as_secs(), model: model.to_owned() }
    }

    fn object(&self, kind: &str, choice: Value) -> Value {
        json!({
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.model,
            "choices": [choice],
        })
    }

    /// A response at once.
    fn whole(&self, mut details: Value) -> Value {
        let answer = details.as_object_mut().and_then(|details| details.remove("answer"));
        let message = json!({"role": "assistant", "content": answer, "refusal": null});
        let finish = finish_reason(&details);
        let choice =
            json!({"index": 0, "message": message, "finish_reason": finish, "logprobs": null});
        let mut object = self.object("chat.completion", choice);
        object["usage"] = usage(&details);
        object["citations"] = details["citations"].take();
        object["rag"] = details;
        object
    }

    fn chunk(&self, delta: Value, finish: Option<&str>) -> Value {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish, "logprobs": null});
        self.object("chat.completion.chunk", choice)
    }
}

/// `length` where the language model had to stop, else `stop`.
fn finish_reason(details: &Value) -> &'static str {
    match details["usage"]["finish_reason"].as_str() {
        Some("length" | "max_tokens") => "length",
        _ => "stop",
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
struct Chunks {
    completion: Completion,
    with_usage: bool,
}

impl Chunks {
    /// The last chunk, what clients wait for behind it, and in between the usage where it was wanted.
    fn last(&self, mut details: Value) -> String {
        let mut last = self.completion.chunk(json!({}), Some(finish_reason(&details)));
        let used = usage(&details);
        last["citations"] = details["citations"].take();
        last["rag"] = details;
        let mut text = sse::frame(None, &last.to_string());
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
        let role = self.completion.chunk(json!({"role": "assistant", "content": ""}), None);
        sse::frame(None, &role.to_string())
    }

    fn frames(&mut self, piece: Result<Piece, Failure>) -> String {
        match piece {
            // There is no word for it in OpenAI's API. A comment keeps the connection awake.
            Ok(Piece::Step(_)) => ": step\n\n".to_owned(),
            Ok(Piece::Text(text)) => {
                let chunk = self.completion.chunk(json!({"content": text}), None);
                sse::frame(None, &chunk.to_string())
            }
            Ok(Piece::Details(details)) => self.last(details),
            Err(failure) => {
                sse::frame(None, &failure.body().to_string()) + &sse::frame(None, "[DONE]")
            }
        }
    }
}

#[cfg(test)]
#[path = "chat_tests.rs"]
mod tests;
