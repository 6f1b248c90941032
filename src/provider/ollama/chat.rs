//! Chat.
//!
//! ```text
//! POST {base_url}/chat
//! {"model": ..., "messages": [...], "stream": false, "options": {"temperature": 0, "num_ctx": ...}}
//! → {"message": {"content": ...}, "done": true, "done_reason": "stop", "prompt_eval_count": 11, ...}
//! ```
//!
//! A stream is lines of such objects, the last of which is done. A prompt longer than the context
//! that the model was loaded with is cut without a word: the option `num_ctx` of a server says
//! how long it is to be.
//!
//! Tools are called as in the protocol of OpenAI, but arguments are objects, and a result names its tool.

use serde_json::{Map, Value, json};

use super::DIALECT;
use crate::protocol::RequestedCall;
use crate::provider::chat::{self, ChatProtocol, ChatQuestion, Heard};
use crate::provider::errors::CallPurpose;
use crate::provider::tools;

const TASK: CallPurpose = CallPurpose {
    dialect: &DIALECT,
    path: "chat",
    answer: chat::ANSWER,
    model: chat::MODEL,
    too_long: chat::TOO_LONG,
};

/// The chat API, for writing.
pub struct OllamaChat;

impl ChatProtocol for OllamaChat {
    const TASK: &'static CallPurpose = &TASK;
    const STREAM: &'static CallPurpose = &TASK;

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
            "options": options(asked),
        });
        if let Some(used) = asked.tools {
            body["tools"] = tools::functions(&used.tools, false);
        }
        match asked.schema() {
            Some(schema) => body["format"] = schema.clone(),
            None if asked.is_json() => body["format"] = json!("json"),
            None => {}
        }
        body
    }

    fn whole(reply: &Value, heard: &mut Heard) -> Result<(), String> {
        let message = reply.get("message").ok_or("no message")?;
        Self::event(reply, heard);
        heard.calls(tools::calls(message), message);
        Ok(())
    }

    fn event(event: &Value, heard: &mut Heard) {
        if let Some(text) = event.pointer("/message/content").and_then(Value::as_str) {
            heard.text.push_str(text);
        }
        if event.get("done").is_some_and(|done| done == true) {
            let reason = event.get("done_reason").and_then(Value::as_str).unwrap_or("stop");
            heard.finish_reason = Some(reason.to_string());
        }
        heard.count(event, "/prompt_eval_count", "/eval_count");
        heard.cached(event.get("prompt_eval_cached_count").and_then(Value::as_u64));
    }
}

/// Results name the tool.
fn results(answered: Vec<(&RequestedCall, &str)>) -> Vec<Value> {
    let result = |(call, text): (&RequestedCall, &str)| json!({"role": "tool", "tool_name": call.name, "content": text});
    answered.into_iter().map(result).collect()
}

fn options(asked: &ChatQuestion<'_>) -> Map<String, Value> {
    let given = [
        ("num_predict", asked.max_tokens.map(Value::from)),
        ("num_ctx", asked.provider.special.num_ctx.map(Value::from)),
    ];
    let given = given.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?)));
    asked.sampling.members().chain(given).collect()
}
