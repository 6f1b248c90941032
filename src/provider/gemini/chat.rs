//! Generated content.
//!
//! ```text
//! POST {base_url}/models/{model}:generateContent
//! {"systemInstruction": {...}, "contents": [{"role": "user", "parts": [{"text": ...}]}], ...}
//! → {"candidates": [{"content": {"parts": [...]}, "finishReason": "STOP"}], "usageMetadata": {...}}
//! ```
//!
//! A stream is server-sent events of such objects. A prompt that a filter refuses has no
//! candidates and a `blockReason`; an answer that it stops ends with the filter's name. Parts
//! that are thoughts are left out.
//!
//! Tools are `functionDeclarations`. A part `functionCall` calls one, and a part `functionResponse` of the user's next turn says
//! what came of it. The content with a call is sent back whole: newer models sign its parts, and refuse one
//! without `thoughtSignature`.

use serde_json::{Map, Value, json};

use super::DIALECT;
use crate::exact;
use crate::protocol::{OfferedTool, RequestedCall};
use crate::provider::chat::{self, ChatProtocol, ChatQuestion, Heard, translated};
use crate::provider::errors::CallPurpose;
use crate::provider::sampling::{SamplingNames, SamplingParameter};
use crate::provider::tools;

const TASK: CallPurpose = CallPurpose {
    dialect: &DIALECT,
    path: "{model}:generateContent",
    answer: chat::ANSWER,
    model: chat::MODEL,
    too_long: chat::TOO_LONG,
};

const REASONS: &[(&str, &str)] = &[("STOP", "stop"), ("MAX_TOKENS", "length")];

/// Reasons by which a filter stops an answer.
const FILTERS: &[&str] = &[
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "LANGUAGE",
    "IMAGE_SAFETY",
];

/// The API `generateContent`, for writing.
pub struct GenerateContent;

impl ChatProtocol for GenerateContent {
    const TASK: &'static CallPurpose = &TASK;
    const SAMPLING: SamplingNames = &[
        (SamplingParameter::Temperature, "temperature"),
        (SamplingParameter::TopP, "topP"),
        (SamplingParameter::TopK, "topK"),
        (SamplingParameter::FrequencyPenalty, "frequencyPenalty"),
        (SamplingParameter::PresencePenalty, "presencePenalty"),
    ];
    const STREAM: &'static CallPurpose =
        &CallPurpose { path: "{model}:streamGenerateContent?alt=sse", ..TASK };

    fn body(asked: &ChatQuestion<'_>) -> Value {
        let turn = |(role, text): &(&str, String)| {
            let role = if *role == "assistant" { "model" } else { "user" };
            json!({"role": role, "parts": [{"text": text}]})
        };
        let turns = asked.turns.turns.iter().map(turn);
        let contents: Vec<Value> = turns.chain(tools::messages(asked.tools, responses)).collect();
        let mut body = json!({"contents": contents, "generationConfig": config(asked)});
        if let Some(system) = &asked.turns.system {
            body["systemInstruction"] = json!({"parts": [{"text": system}]});
        }
        if let Some(used) = asked.tools {
            let declared: Vec<Value> = used.tools.iter().map(declaration).collect();
            body["tools"] = json!([{"functionDeclarations": declared}]);
        }
        body
    }

    fn whole(reply: &Value, heard: &mut Heard) -> Result<(), String> {
        Self::event(reply, heard);
        if let Some(content) = reply.pointer("/candidates/0/content") {
            heard.calls(calls(content), content);
        }
        match reply.pointer("/candidates/0") {
            None if heard.blocked.is_none() => Err("no candidates".into()),
            _ => Ok(()),
        }
    }

    fn event(event: &Value, heard: &mut Heard) {
        let word = |place: &str| event.pointer(place).and_then(Value::as_str);
        if let Some(parts) = event.pointer("/candidates/0/content/parts") {
            heard.text += &said(parts);
        }
        if let Some(reason) = word("/promptFeedback/blockReason") {
            heard.blocked = Some(reason.to_string());
        }
        if let Some(reason) = word("/candidates/0/finishReason") {
            end(reason, heard);
        }
        if let Some(usage) = event.get("usageMetadata") {
            let count = |name: &str| usage.get(name).and_then(Value::as_u64);
            // Thoughts are paid for like what is said.
            let written = [count("candidatesTokenCount"), count("thoughtsTokenCount")];
            let written = written.into_iter().flatten().reduce(u64::saturating_add);
            heard.counted(count("promptTokenCount"), written);
            heard.cached(count("cachedContentTokenCount"));
        }
    }
}

fn declaration(tool: &OfferedTool) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        // Its sibling parameters knows a part of JSON schema, and refuses the rest.
        "parametersJsonSchema": tools::parameters(tool),
    })
}

/// The calls of `content`, in their order. Older models give them no ID.
fn calls(content: &Value) -> Vec<RequestedCall> {
    let call = |part: &Value| {
        let call = part.get("functionCall")?;
        let word = |name: &str| call.get(name).and_then(Value::as_str).unwrap_or_default();
        let arguments = call.get("args").map_or_else(|| "{}".to_owned(), exact::written);
        Some(RequestedCall { id: word("id").to_owned(), name: word("name").to_owned(), arguments })
    };
    let parts = content.get("parts").and_then(Value::as_array);
    parts.into_iter().flatten().filter_map(call).collect()
}

/// All results of a turn are parts of one content.
fn responses(answered: Vec<(&RequestedCall, &str)>) -> Vec<Value> {
    let response = |(call, text): (&RequestedCall, &str)| {
        let mut response = json!({"name": call.name, "response": {"result": text}});
        if !call.id.is_empty() {
            response["id"] = json!(call.id);
        }
        json!({"functionResponse": response})
    };
    let parts: Vec<Value> = answered.into_iter().map(response).collect();
    vec![json!({"role": "user", "parts": parts})]
}

fn said(parts: &Value) -> String {
    let parts = parts.as_array().map(Vec::as_slice).unwrap_or_default();
    let is_thought = |part: &&Value| part.get("thought").is_some_and(|thought| thought == true);
    let said = parts.iter().filter(|part| !is_thought(part));
    said.filter_map(|part| part.get("text")?.as_str()).collect()
}

fn end(reason: &str, heard: &mut Heard) {
    let filtered = FILTERS.contains(&reason);
    if filtered {
        heard.blocked = Some(reason.to_string());
    }
    let reason = if filtered { "content_filter".into() } else { translated(reason, REASONS) };
    heard.finish_reason = Some(reason);
}

fn config(asked: &ChatQuestion<'_>) -> Map<String, Value> {
    let as_json = asked.schema().is_some() || asked.is_json();
    let given = [
        ("maxOutputTokens", asked.max_tokens.map(Value::from)),
        ("responseMimeType", as_json.then(|| json!("application/json"))),
        // Its sibling responseSchema knows a part of JSON schema, and refuses the rest.
        ("responseJsonSchema", asked.schema().cloned()),
    ];
    let given = given.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?)));
    asked.sampling.members().chain(given).collect()
}
