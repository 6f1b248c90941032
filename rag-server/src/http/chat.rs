//! `/v1/chat/completions`: a pipeline as a model.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use uuid::Uuid;

use super::completion::{Chunks, Completion};
use super::request::JsonBody;
use super::tools::{self, Function};
use super::{Caller, InFlight, Server};
use crate::failure::Failure;
use crate::members::{AsWritten, Options, or_default, write};
use crate::question::{self, History, Question};
use crate::sse;

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
    #[serde(default, deserialize_with = "or_default")]
    tools: Vec<Box<RawValue>>,
    #[serde(default)]
    tool_choice: Value,
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
    // Whether the question is kept with its answer, in OpenAI's word.
    #[serde(default, deserialize_with = "or_default")]
    store: bool,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    content: Option<Content>,
    /// What is said in the place of the content.
    refusal: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    tool_calls: Vec<Box<RawValue>>,
    function_call: Option<IgnoredAny>,
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
    refusal: Option<String>,
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
                let said = |part: &Part| part.text.clone().or_else(|| part.refusal.clone());
                parts.iter().filter_map(said).collect::<Vec<_>>().join("\n")
            }
            None => self.refusal.clone().unwrap_or_default(),
        }
    }

    /// Whether it says how to answer, and nothing of what is talked about.
    fn is_instruction(&self) -> bool {
        matches!(self.role.as_str(), "system" | "developer")
    }

    fn calls_tools(&self) -> bool {
        !self.tool_calls.is_empty() || self.function_call.is_some()
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
            (Some("json_schema"), None) => {
                Err(Failure::request("response_format has no schema").param("response_format"))
            }
            (Some(other), _) => Err(Failure::request(format!(
                "response_format must be of the type text, json_object or json_schema, not {other:?}"
            ))
            .param("response_format")),
        }
    }
}

impl Request {
    /// The last message as a question, and those before it as its history. Instructions behind it are left out, as they
    /// are elsewhere.
    fn question(self) -> Result<(Question, Vec<(String, String)>), Failure> {
        self.check()?;
        let last = self.messages.iter().rposition(|message| !message.is_instruction());
        let last = last.filter(|place| self.messages[*place].role == "user").ok_or_else(|| {
            Failure::request("the last message must be of the user").param("messages")
        })?;
        let asked = &self.messages[last];
        if let Some(kind) = asked.other_than_text() {
            let message = format!("the last message has a part of the type {kind:?}");
            let refused = Failure::request(message).param("messages");
            return Err(refused.hint("only parts of the type \"text\" are read"));
        }
        let text = asked.text();
        let turns = turns(&self.messages[..last]);
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
            return Err(Failure::request(format!("n must be 1, not {n}")).param("n"));
        }
        // Whoever offers functions lets the model answer without them, unless a choice says that one must be called.
        let is_offered = self.functions.as_ref().is_some_and(|functions| !functions.is_empty());
        let choice = self.function_call.as_ref();
        if is_offered && choice.is_some_and(|it| !it.is_null() && it != "auto" && it != "none") {
            let refused = Failure::request("functions are not called").param("function_call");
            return Err(refused.hint("offer the function in tools, and name it in tool_choice"));
        }
        Ok(())
    }

    /// Refuses to keep a question in a conversation where the options say what was said before it.
    fn check_store(&self) -> Result<(), Failure> {
        if !self.options.says_of_answer("history") {
            return Ok(());
        }
        let refused = Failure::request("store and the option answer.history exclude each other");
        let hint = "leave the option out: the messages say what was said before";
        Err(refused.param("store").hint(hint))
    }

    /// The function of which the answer is to be the arguments.
    fn called(&self) -> Result<Option<Function>, Failure> {
        tools::wanted(&self.tools, &self.tool_choice)
    }

    /// The options, with OpenAI's parameters among them that pg_rag has too, where the options do not say them. The
    /// schema of a function that must be called goes before a `response_format`, and with one of the options it is
    /// refused.
    fn all_options(&self) -> Result<Options, Failure> {
        let form = self.response_format.as_ref().map(ResponseFormat::schema).transpose()?;
        let called = self.called()?;
        if called.is_some() && self.options.says_of_answer("schema") {
            let message =
                "the option answer.schema and a function that must be called exclude each other";
            let refused = Failure::request(message).param("options");
            return Err(refused.hint("the parameters of the function are a schema"));
        }
        // A penalty of 0 is none, and many clients send it, but not every provider knows the word.
        let penalty = |penalty: Option<f64>| penalty.filter(|it| it.abs() > 0.0);
        let (frequency, presence) =
            (penalty(self.frequency_penalty), penalty(self.presence_penalty));
        let said = [
            ("temperature", self.temperature.as_ref().map(write)),
            ("top_p", self.top_p.filter(|p| *p > 0.0).as_ref().map(write)),
            ("max_tokens", self.max_completion_tokens.or(self.max_tokens).as_ref().map(write)),
            ("frequency_penalty", frequency.as_ref().map(write)),
            ("presence_penalty", presence.as_ref().map(write)),
            ("schema", form.flatten()),
        ];
        let mut options = self.options.clone();
        for (name, value) in said {
            let Some(value) = value else { continue };
            options.change_answer(|answer| {
                answer.entry(name.to_owned()).or_insert(value);
            });
        }
        if let Some(function) = called {
            options.change_answer(|answer| {
                answer.insert("schema".to_owned(), function.schema());
            });
        }
        Ok(options)
    }
}

/// Questions with their answers. Messages of others than user and assistant are left out: in which words a language
/// model is asked is a matter of the database's templates. The arguments of a function that had to be called are the
/// answer, as which a conversation keeps them; but a text that follows a call is the answer of another server, which it has made of what
/// a tool has found.
fn turns(messages: &[Message]) -> Vec<(String, String)> {
    let mut turns = Vec::new();
    let (mut asked, mut called): (Option<String>, Option<String>) = (None, None);
    for message in messages {
        match message.role.as_str() {
            "user" => {
                turns.extend(asked.take().zip(called.take()));
                asked = Some(message.text());
            }
            "assistant" if message.calls_tools() => called = tools::arguments(&message.tool_calls),
            "assistant" => {
                called = None;
                turns.extend(asked.take().map(|asked| (asked, message.text())));
            }
            _ => {}
        }
    }
    turns.extend(asked.zip(called));
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
    let called = request.called()?.map(|function| function.name);
    let completion = Completion::new(&request.model, called);
    let is_kept = request.store && server.conversations;
    if is_kept {
        request.check_store()?;
    }
    let (question, turns) = request.question()?;
    server.check_conversation(&question)?;
    let history = History { turns, is_kept };
    if is_told {
        let pieces = question::tell(&caller.database, question, history).await?;
        return sse::response(pieces, Chunks::new(completion, with_usage), in_flight).await;
    }
    let mut lease = caller.database.lease().await?;
    let details = question::answer(&mut lease, question, &history).await?;
    Ok(Json(completion.whole(details)).into_response())
}

#[cfg(test)]
#[path = "chat_tests.rs"]
mod tests;
