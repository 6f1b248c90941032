//! Chat.
//!
//! ```text
//! POST {base_url}/chat
//! {"model": ..., "messages": [{"role": ..., "content": ...}], "temperature": 0, "stream": false}
//! → {"message": {"content": [{"type": "text", "text": ...}]}, "finish_reason": "COMPLETE", ...}
//! ```
//!
//! Tools are called as in the protocol of OpenAI; what a model plans to call stands in `tool_plan`, and results are documents.
//!
//! A stream is server-sent events that have a `type` each; the last one is "message-end".

use serde_json::{Value, json};

use super::DIALECT;
use crate::exact;
use crate::protocol::RequestedCall;
use crate::provider::chat::{self, ChatProtocol, ChatQuestion, Heard, translated};
use crate::provider::errors::CallPurpose;
use crate::provider::sampling::{SamplingNames, SamplingParameter};
use crate::provider::tools;

const TASK: CallPurpose = CallPurpose {
    dialect: &DIALECT,
    path: "chat",
    answer: chat::ANSWER,
    model: chat::MODEL,
    too_long: chat::TOO_LONG,
};

const REASONS: &[(&str, &str)] = &[
    ("COMPLETE", "stop"),
    ("STOP_SEQUENCE", "stop"),
    ("TOOL_CALL", "stop"),
    ("MAX_TOKENS", "length"),
    ("ERROR_TOXIC", "content_filter"),
];

/// The chat API, for writing.
pub struct CohereChat;

impl ChatProtocol for CohereChat {
    const TASK: &'static CallPurpose = &TASK;
    const STREAM: &'static CallPurpose = &TASK;
    const SAMPLING: SamplingNames = &[
        (SamplingParameter::Temperature, "temperature"),
        (SamplingParameter::TopP, "p"),
        (SamplingParameter::TopK, "k"),
        (SamplingParameter::FrequencyPenalty, "frequency_penalty"),
        (SamplingParameter::PresencePenalty, "presence_penalty"),
    ];

    fn body(asked: &ChatQuestion<'_>) -> Value {
        let turns = asked.turns.turns.iter().map(|(role, text)| (*role, text));
        let system = asked.turns.system.iter().map(|text| ("system", text));
        let message = |(role, text): (&str, &String)| json!({"role": role, "content": text});
        let said = system.chain(turns).map(message);
        let messages: Vec<Value> = said.chain(tools::messages(asked.tools, results)).collect();
        let mut body = json!({
            "model": asked.provider.model,
            "messages": messages,
            "stream": asked.stream,
        });
        asked.sampling.members().for_each(|(name, value)| body[name] = value);
        if let Some(max_tokens) = asked.max_tokens {
            body["max_tokens"] = json!(max_tokens);
        }
        if let Some(used) = asked.tools {
            body["tools"] = tools::functions(&used.tools, false);
        }
        match asked.schema() {
            Some(schema) => {
                body["response_format"] = json!({"type": "json_object", "schema": schema})
            }
            None if asked.is_json() => body["response_format"] = json!({"type": "json_object"}),
            None => {}
        }
        body
    }

    fn whole(reply: &Value, heard: &mut Heard) -> Result<(), String> {
        let message = reply.get("message").filter(|message| message.is_object());
        let message = message.ok_or("no message")?;
        heard.text = message.get("content").map(chat::texts).unwrap_or_default();
        let calls = tools::calls(message);
        if !calls.is_empty() && heard.text.is_empty() {
            let plan = message.get("tool_plan").and_then(Value::as_str);
            heard.text = plan.unwrap_or_default().to_owned();
        }
        let sent_back = tools::message(message, &calls, &["tool_plan", "content"]);
        heard.calls(calls, &sent_back);
        end(reply, heard);
        Ok(())
    }

    fn event(event: &Value, heard: &mut Heard) {
        if let Some(text) = event.pointer("/delta/message/content/text").and_then(Value::as_str) {
            heard.text.push_str(text);
        }
        if event.get("type").is_some_and(|kind| kind == "message-end") {
            end(event.get("delta").unwrap_or(event), heard);
        }
    }
}

/// Results are documents.
fn results(answered: Vec<(&RequestedCall, &str)>) -> Vec<Value> {
    let result = |(call, text): (&RequestedCall, &str)| {
        let document = json!({"type": "document", "document": {"data": {"result": text}}});
        json!({"role": "tool", "tool_call_id": call.id, "content": [document]})
    };
    answered.into_iter().map(result).collect()
}

/// What stands beside the message, or in the last event.
fn end(reply: &Value, heard: &mut Heard) {
    let reason = reply.get("finish_reason").and_then(Value::as_str).unwrap_or_default();
    heard.finish_reason = Some(translated(reason, REASONS));
    if let Some(error) = reply.get("error").and_then(Value::as_str) {
        heard.blocked = Some(error.to_string());
    }
    heard.count(reply, "/usage/tokens/input_tokens", "/usage/tokens/output_tokens");
    // A number that may be written with a point.
    let cached = reply.pointer("/usage/cached_tokens").and_then(|it| exact::rounded(it).as_f64());
    heard.cached(cached.filter(|tokens| *tokens >= 0.0).map(|tokens| tokens as u64));
}
