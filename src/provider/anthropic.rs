//! The protocol of Anthropic.
//!
//! ```text
//! POST {base_url}/messages
//! {"model": ..., "system": ..., "messages": [{"role": ..., "content": ...}], "max_tokens": 4096}
//! → {"content": [{"type": "text", "text": ...}], "stop_reason": "end_turn", "usage": {...}}
//! ```
//!
//! Tools are called by content of the type `tool_use`, and told what came of it by `tool_result` in the next turn of the user.
//! An answer in the form of a schema is asked for as the input of a tool that the model must
//! call. Such an input is an object, so any other schema becomes a member of one.

use serde_json::{Value, json};

use super::chat::{self, ChatProtocol, ChatQuestion, Heard, translated};
use super::dialect::Dialect;
use super::errors::CallPurpose;
use super::sampling::{SamplingNames, SamplingParameter};
use super::tools;
use crate::exact;
use crate::protocol::{OfferedTool, RequestedCall};

/// How Anthropic's API is called: its headers, and the end of its address.
pub const DIALECT: Dialect = Dialect {
    key_header: Some("x-api-key"),
    headers: &[("anthropic-version", "2023-06-01")],
    base_url_end: "/v1",
};

const TASK: CallPurpose = CallPurpose {
    dialect: &DIALECT,
    path: "messages",
    answer: chat::ANSWER,
    model: chat::MODEL,
    too_long: chat::TOO_LONG,
};

/// Longest answer where none is named, in tokens: the protocol wants a number, and no model
/// that is served writes less.
const MAX_TOKENS: u32 = 4096;

/// What the tool is called that takes an answer that is an object.
const OBJECT_TOOL: &str = "answer";

/// What the tool is called that takes any other answer, as its one member.
const VALUE_TOOL: &str = "answer_value";

/// The member of `VALUE_TOOL`'s input that holds the answer.
const VALUE: &str = "value";

const REASONS: &[(&str, &str)] = &[
    ("end_turn", "stop"),
    ("stop_sequence", "stop"),
    ("tool_use", "stop"),
    ("max_tokens", "length"),
    ("model_context_window_exceeded", "length"),
    ("refusal", "content_filter"),
];

/// The messages API, for writing.
pub struct Messages;

impl ChatProtocol for Messages {
    const TASK: &'static CallPurpose = &TASK;
    const STREAM: &'static CallPurpose = &TASK;
    const SAMPLING: SamplingNames = &[
        (SamplingParameter::Temperature, "temperature"),
        (SamplingParameter::TopP, "top_p"),
        (SamplingParameter::TopK, "top_k"),
    ];

    fn body(asked: &ChatQuestion<'_>) -> Value {
        let turn = |(role, text): &(&str, String)| json!({"role": role, "content": text});
        let turns = asked.turns.turns.iter().map(turn);
        let messages: Vec<Value> = turns.chain(tools::messages(asked.tools, results)).collect();
        let mut body = json!({
            "model": asked.provider.model,
            "messages": messages,
            "max_tokens": asked.max_tokens.unwrap_or(MAX_TOKENS),
            "stream": asked.stream,
        });
        if let Some(system) = &asked.turns.system {
            body["system"] = json!(system);
        }
        asked.sampling.members().for_each(|(name, value)| body[name] = value);
        if let Some(used) = asked.tools {
            body["tools"] = used.tools.iter().map(offered).collect();
        }
        if let Some(schema) = asked.schema() {
            let tool = tool(schema);
            body["tool_choice"] = json!({"type": "tool", "name": tool["name"]});
            body["tools"] = json!([tool]);
        }
        body
    }

    fn whole(reply: &Value, heard: &mut Heard) -> Result<(), String> {
        let content = reply.get("content").filter(|content| content.is_array());
        let content = content.ok_or("no content")?;
        match heard.is_offered_tools() {
            true => {
                heard.text = chat::texts(content);
                heard.calls(calls(content), &sent_back(content));
            }
            false => heard.text = input(content).unwrap_or_else(|| chat::texts(content)),
        }
        end(reply.get("stop_reason"), heard);
        count(reply.get("usage"), heard);
        Ok(())
    }

    fn event(event: &Value, heard: &mut Heard) {
        if let Some(text) = event.pointer("/delta/text").and_then(Value::as_str) {
            heard.text.push_str(text);
        }
        end(event.pointer("/delta/stop_reason"), heard);
        count(event.pointer("/message/usage"), heard);
        // The end has the counts of all, in some gateways also what was read.
        count(event.get("usage"), heard);
    }
}

/// Notes the counts of `usage`. Its `input_tokens` are those that neither came from the cache nor went into it. Counts only
/// grow in the course of a stream, and its end may leave out what its beginning has said of the cache.
fn count(usage: Option<&Value>, heard: &mut Heard) {
    let number = |name: &str| usage?.get(name)?.as_u64();
    let cached = number("cache_read_input_tokens");
    let beside = [cached, number("cache_creation_input_tokens")].into_iter().flatten();
    let read = beside.chain(number("input_tokens")).reduce(u64::saturating_add);
    heard.counted(read.max(heard.prompt_tokens), number("output_tokens"));
    heard.cached(cached);
}

fn end(reason: Option<&Value>, heard: &mut Heard) {
    let Some(reason) = reason.and_then(Value::as_str) else { return };
    if reason == "refusal" {
        heard.blocked = Some(reason.to_string());
    }
    heard.finish_reason = Some(translated(reason, REASONS));
}

fn offered(tool: &OfferedTool) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "input_schema": tools::parameters(tool),
    })
}

/// The calls of `content`, in their order.
fn calls(content: &Value) -> Vec<RequestedCall> {
    let call = |part: &Value| {
        let word = |name: &str| part.get(name).and_then(Value::as_str).unwrap_or_default();
        let arguments = part.get("input").map_or_else(|| "{}".to_owned(), exact::written);
        RequestedCall { id: word("id").to_owned(), name: word("name").to_owned(), arguments }
    };
    let parts = content.as_array().map(Vec::as_slice).unwrap_or_default();
    parts.iter().filter(is_call).map(call).collect()
}

fn is_call(part: &&Value) -> bool {
    part.get("type").is_some_and(|kind| kind == "tool_use")
}

/// The message of `content`. Empty texts and those of white space alone, which a model may write, are refused when they come
/// back.
fn sent_back(content: &Value) -> Value {
    let parts = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |part: &Value| part.get("text").and_then(Value::as_str).map(str::to_owned);
    let is_empty = |part: &&Value| text(part).is_some_and(|text| text.trim().is_empty());
    let parts: Vec<&Value> = parts.iter().filter(|part| !is_empty(part)).collect();
    json!({"role": "assistant", "content": parts})
}

/// All results of a turn are one message.
fn results(answered: Vec<(&RequestedCall, &str)>) -> Vec<Value> {
    let result = |(call, text): (&RequestedCall, &str)| json!({"type": "tool_result", "tool_use_id": call.id, "content": text});
    let content: Vec<Value> = answered.into_iter().map(result).collect();
    vec![json!({"role": "user", "content": content})]
}

/// The tool that takes an answer in the form of `schema`. Definitions stay at the root, where
/// references look for them.
fn tool(schema: &Value) -> Value {
    let of = |name: &str, schema: &Value| json!({"name": name, "description": "Takes the answer.", "input_schema": schema});
    if schema.get("type").is_some_and(|kind| kind == "object") {
        return of(OBJECT_TOOL, schema);
    }
    let mut inner = schema.clone();
    let mut outer = json!({"type": "object", "required": [VALUE]});
    for place in ["$schema", "$defs", "definitions"] {
        if let Some(kept) = inner.as_object_mut().and_then(|inner| inner.remove(place)) {
            outer[place] = kept;
        }
    }
    outer["properties"] = json!({VALUE: inner});
    of(VALUE_TOOL, &outer)
}

/// What a tool of `content` was called with.
fn input(content: &Value) -> Option<String> {
    let call = content.as_array()?.iter().find(is_call)?;
    let input = call.get("input")?;
    match call.get("name")?.as_str()? {
        VALUE_TOOL => input.get(VALUE).map(exact::written),
        _ => Some(exact::written(input)),
    }
}
