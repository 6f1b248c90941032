//! How are tools offered, what is called, and how is it told what came of it?
//!
//! ```text
//! (tools, earlier calls and results) → members of a body;  a reply → calls, and the message to be sent back
//! ```
//!
//! Most protocols have the words of OpenAI: functions under `tools`, calls under `tool_calls`. What they share is here;
//! their own words are beside their other ones. A reply with calls is sent back as it came, since some providers sign
//! it or want what the model thought.
//!
//! Where the provider or the model knows no tools it says so, in words of its own: `llama3 does not support tools`,
//! `"auto" tool choice requires --enable-auto-tool-choice`, `Function calling is not enabled`. It is then asked for JSON of a
//! schema in the same call, and for a while at once.

use serde_json::{Value, json};

use super::call::HttpReply;
use super::errors::{explanation, is_too_long};
use super::schema::{self, SchemaCheck};
use crate::error::Result;
use crate::exact;
use crate::protocol::{
    GenerateRequest, Generated, OfferedTool, RequestedCall, ToolReply, ToolTurn, ToolUse,
};

/// Words of which a refusal of tools has one.
const OF_TOOLS: [&str; 3] = ["tool", "function", "jinja"];

/// Phrases of which a refusal of all tools has one.
const OF_ALL: [&str; 7] = [
    "not support tool",
    "n't support tool",
    "not support function",
    "support tool use",
    "tool choice requires",
    "calling is not enabled",
    "requires --jinja",
];

/// How servers that take no member of a name they don't know say so.
const UNKNOWN_MEMBER: &str = "extra inputs";

/// How they name a part of a tool, and not the tools.
const OF_A_PART: [&str; 2] = ["tools.", "\"tools\","];

/// A refusal of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolRefusal {
    /// There are no tools.
    All,
    /// There may be others.
    These,
}

impl ToolRefusal {
    /// The refusal that `reply` is, if it is one. Some servers take what they don't know for an error of their own, and
    /// many errors name tools, such as that of a call which the model has written wrongly.
    pub fn of(reply: &HttpReply) -> Option<ToolRefusal> {
        // A page of a proxy says nothing about the model.
        serde_json::from_slice::<Value>(&reply.body).ok()?;
        let said = explanation(&reply.body).to_lowercase();
        let names = |words: &[&str]| words.iter().any(|word| said.contains(word));
        let is_of_all = names(&OF_ALL)
            || said.contains(UNKNOWN_MEMBER) && said.contains("tools") && !names(&OF_A_PART);
        match reply.status {
            400 | 404 | 422 | 500 | 501 if is_of_all => Some(ToolRefusal::All),
            400 | 422 if names(&OF_TOOLS) && !is_too_long(&said) => Some(ToolRefusal::These),
            _ => None,
        }
    }
}

/// Has `write` write a reply with the tools of `request`, or, where there are none, JSON that fits the schema that
/// takes their place. Fails as [`schema::insist`] does; but where the provider turns out to know no tools, the schema is
/// not looked at before there is a reply, and the error has what the reply has cost.
pub fn written(
    request: &GenerateRequest,
    tools: &ToolUse,
    checker: &dyn SchemaCheck,
    write: impl Fn(&GenerateRequest) -> Result<Generated>,
) -> Result<Generated> {
    let (schema, messages) = (&tools.otherwise.schema, tools.otherwise.messages.clone());
    let plain =
        GenerateRequest { messages, schema: Some(schema.clone()), tools: None, ..request.clone() };
    if !request.provider.offers_tools() {
        return schema::insist(schema, &plain, checker, write);
    }
    let first = write(request)?;
    if first.tools.is_some() {
        return Ok(first);
    }
    // It is paid for, whatever becomes of it.
    schema::insist_from((schema, first), &plain, checker, write)
}

/// The schema of a tool's arguments.
pub fn parameters(tool: &OfferedTool) -> Value {
    serde_json::from_str(&tool.parameters).unwrap_or_else(|_| json!({"type": "object"}))
}

/// Tools as functions under `tools`; `strict` holds calls to the schemas, where the protocol has that.
pub fn functions(tools: &[OfferedTool], strict: bool) -> Value {
    let function = |tool: &OfferedTool| {
        let mut function = json!({
            "name": tool.name,
            "description": tool.description,
            "parameters": parameters(tool),
        });
        if strict {
            function["strict"] = json!(true);
        }
        json!({"type": "function", "function": function})
    };
    tools.iter().map(function).collect()
}

/// The calls under `tool_calls` of a message, whose numbers are as [`exact::read`] reads them.
pub fn calls(message: &Value) -> Vec<RequestedCall> {
    let calls = message.get("tool_calls").and_then(Value::as_array);
    let call = |(number, call): (usize, &Value)| {
        let word = |place: &str| call.pointer(place).and_then(Value::as_str).unwrap_or_default();
        let id = match word("/id") {
            "" => format!("call_{number}"),
            id => id.to_owned(),
        };
        let arguments = match call.pointer("/function/arguments") {
            None | Some(Value::Null) => "{}".to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => exact::written(other),
        };
        RequestedCall { id, name: word("/function/name").to_owned(), arguments }
    };
    (1..).zip(calls.into_iter().flatten()).map(call).collect()
}

/// The message with `tool_calls` that is sent back, with the `kept` members of the one that came.
pub fn message(came: &Value, calls: &[RequestedCall], kept: &[&str]) -> Value {
    let mut message = json!({"role": "assistant"});
    for name in kept {
        if let Some(value) = came.get(name).filter(|value| !value.is_null()) {
            message[name] = value.clone();
        }
    }
    let came = came.get("tool_calls").and_then(Value::as_array);
    let filled = |(call, it): (&Value, &RequestedCall)| {
        let mut call = if call.is_object() { call.clone() } else { json!({}) };
        call["id"] = json!(it.id);
        call["type"] = json!("function");
        if !call["function"].is_object() {
            call["function"] = json!({});
        }
        call["function"]["name"] = json!(it.name);
        // Some servers read it, and refuse what is no object.
        let is_object = exact::read(&it.arguments).is_ok_and(|it| it.is_object());
        call["function"]["arguments"] = json!(if is_object { &it.arguments } else { "{}" });
        call
    };
    message["tool_calls"] = came.into_iter().flatten().zip(calls).map(filled).collect();
    message
}

/// A reply with these calls; the numbers of `verbatim` are as [`exact::read`] reads them.
pub fn reply(calls: Vec<RequestedCall>, verbatim: &Value) -> ToolReply {
    // PostgreSQL's text cannot hold it, and no model means it.
    let clean = |text: String| text.replace('\0', "");
    let calls = calls.into_iter().map(|RequestedCall { id, name, arguments }| RequestedCall {
        id: clean(id),
        name: clean(name),
        arguments: clean(arguments),
    });
    let calls: Vec<RequestedCall> = calls.collect();
    let verbatim = if calls.is_empty() { String::new() } else { exact::written(verbatim) };
    ToolReply { calls, verbatim, replaced: Vec::new() }
}

/// Earlier turns as messages: each reply as it came, with numbers as [`exact::read`] reads them, and behind it what `answers`
/// makes of its results.
pub fn messages(
    used: Option<&ToolUse>,
    answers: impl Fn(Vec<(&RequestedCall, &str)>) -> Vec<Value>,
) -> Vec<Value> {
    let turn = |turn: &ToolTurn| {
        let said = exact::read(&turn.reply.verbatim).unwrap_or_default();
        let results = turn.results.iter().map(String::as_str);
        let answered = answers(turn.reply.calls.iter().zip(results).collect());
        std::iter::once(said).chain(answered).collect::<Vec<Value>>()
    };
    used.into_iter().flat_map(|used| &used.turns).flat_map(turn).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeMap;

    use super::*;
    use crate::error::{Bill, Error, ErrorKind};
    use crate::protocol::{ProviderConfig, WithoutTools};
    use crate::provider::schema::{SchemaFit, Unlimited};
    use crate::redact::PiiKind;

    /// A request with tools, in whose place JSON of `schema` is taken.
    fn request(schema: &str) -> GenerateRequest {
        let otherwise = WithoutTools { messages: vec![], schema: schema.into() };
        let tools = Some(ToolUse { tools: vec![], turns: vec![], otherwise });
        GenerateRequest { tools, ..GenerateRequest::empty(ProviderConfig::unreachable()) }
    }

    /// What comes of replies that say this one after the other, and call nothing. Each has taken two calls.
    fn replied(schema: &str, checker: &dyn SchemaCheck, texts: &[&str]) -> Result<Generated> {
        let (request, written_so_far) = (request(schema), Cell::new(0));
        let write = |_: &GenerateRequest| {
            let text = texts[written_so_far.replace(written_so_far.get() + 1)].to_owned();
            Ok(Generated {
                text,
                finish_reason: "stop".into(),
                prompt_tokens: Some(10),
                cached_tokens: None,
                completion_tokens: Some(3),
                attempts: 2,
                tools: None,
                withheld: BTreeMap::from([("a@b.de".to_owned(), PiiKind::Email)]),
            })
        };
        let outcome = written(&request, request.tools.as_ref().unwrap(), checker, write);
        assert_eq!(written_so_far.get(), texts.len(), "replies that were asked for");
        outcome
    }

    /// A check that comes to nothing.
    struct NoCheck;

    impl SchemaCheck for NoCheck {
        fn check(&self, _schema: &str, _answer: Option<&str>) -> Result<SchemaFit> {
            Err(Error::new(ErrorKind::OutOfResources, "no check"))
        }
    }

    #[test]
    fn a_reply_in_the_place_of_tools_is_paid_for_whatever_becomes_of_it() {
        let schema = r#"{"type": "object", "required": ["step"]}"#;
        let fits = r#"{"step": "look"}"#;
        let generated = replied(schema, &Unlimited, &[fits]).unwrap();
        assert_eq!((generated.text.as_str(), generated.attempts), (fits, 2));
        let generated = replied(schema, &Unlimited, &["{}", fits]).unwrap();
        assert_eq!((generated.text.as_str(), generated.attempts), (fits, 4));
        let check = |error: Error, kind: ErrorKind, calls: u32| {
            assert_eq!(error.kind(), kind, "{error}");
            let (read, wrote) = (5 * u64::from(calls), 3 * u64::from(calls) / 2);
            assert_eq!(error.bill(), Some(Bill::new(calls, Some(read), Some(wrote))), "{error}");
            let withheld: Vec<(&str, &str)> = error.withheld().collect();
            assert_eq!(withheld, [("a@b.de", PiiKind::Email.word())], "{error}");
        };
        let refused = |schema: &str, checker: &dyn SchemaCheck, texts: &[&str]| {
            replied(schema, checker, texts).unwrap_err()
        };
        // The schema is none, nobody can tell, and the model never keeps to it.
        let none = r#"{"type": "objekt"}"#;
        check(refused(none, &Unlimited, &[fits]), ErrorKind::InvalidParameter, 2);
        check(refused(schema, &NoCheck, &[fits]), ErrorKind::OutOfResources, 2);
        check(refused(schema, &Unlimited, &["{}", "[]"]), ErrorKind::ReplyMisfit, 4);
    }

    fn refused(status: u16, said: &str) -> Option<ToolRefusal> {
        let body = json!({"error": {"message": said}}).to_string().into_bytes();
        let content_type = "application/json".to_string();
        let (retry_after, location) = (None, None);
        ToolRefusal::of(&HttpReply { status, content_type, retry_after, location, body })
    }

    #[test]
    fn refusals_are_known_by_their_words() {
        for (status, said) in [
            (400, "registry.ollama.ai/library/llama3:latest does not support tools"),
            (
                400,
                "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
            ),
            (404, "No endpoints found that support tool use"),
            (400, "Function calling is not enabled for models/gemma-3-1b-it"),
            (500, "tools param requires --jinja flag"),
            (422, "tools: Extra inputs are not permitted"),
            (400, "This model doesn't support tools"),
        ] {
            assert_eq!(refused(status, said), Some(ToolRefusal::All), "{said}");
        }
        for said in [
            "Invalid schema for function 'search': In context=()",
            "tools.0.custom.input_schema: JSON schema is invalid",
            "tools.0.custom.strict: Extra inputs are not permitted",
            "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
        ] {
            assert_eq!(refused(400, said), Some(ToolRefusal::These), "{said}");
        }
        for (status, said) in [
            (400, "prompt is too long"),
            (
                400,
                "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8905 in the messages, 95 in the functions).",
            ),
            (401, "no tools for you"),
            (404, "no such function"),
            (429, "tools"),
            (500, "error parsing tool call: raw='{', err=unexpected end of JSON input"),
        ] {
            assert_eq!(refused(status, said), None, "{said}");
        }
    }

    #[test]
    fn only_what_the_model_server_says_is_a_refusal() {
        let of = |body: &str| {
            let content_type = "text/html".to_string();
            let (retry_after, location) = (None, None);
            let body = body.as_bytes().to_vec();
            ToolRefusal::of(&HttpReply { status: 500, content_type, retry_after, location, body })
        };
        assert_eq!(of("<html>This proxy does not support tools</html>"), None);
        assert_eq!(of(r#"{"error":"m does not support tools"}"#), Some(ToolRefusal::All));
        let member = r#"{"detail":[{"type":"extra_forbidden","loc":["body","tools"],"msg":"Extra inputs are not permitted"}]}"#;
        assert_eq!(of(member), Some(ToolRefusal::All));
        let part = r#"{"detail":[{"type":"extra_forbidden","loc":["body","tools",0,"strict"],"msg":"Extra inputs are not permitted"}]}"#;
        assert_eq!(of(part), None);
    }

    #[test]
    fn calls_are_read_whatever_is_missing() {
        let came = json!({"role": "assistant", "content": null, "refusal": null, "tool_calls": [
            {"id": "c9", "type": "function", "function": {"name": "a", "arguments": "{\"x\": 1}"}},
            {"function": {"name": "b", "arguments": {"y": 2}}},
            7,
        ]});
        let found = calls(&came);
        let call = |id: &str, name: &str, arguments: &str| RequestedCall {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        };
        let expected = [
            call("c9", "a", "{\"x\": 1}"),
            call("call_2", "b", "{\"y\":2}"),
            call("call_3", "", "{}"),
        ];
        assert_eq!(found, expected);
        assert_eq!(
            message(&came, &found, &["content"]),
            json!({"role": "assistant", "tool_calls": [
                {"id": "c9", "type": "function", "function": {"name": "a", "arguments": "{\"x\": 1}"}},
                {"id": "call_2", "type": "function", "function": {"name": "b", "arguments": "{\"y\":2}"}},
                {"id": "call_3", "type": "function", "function": {"name": "", "arguments": "{}"}},
            ]})
        );
        let broken = json!({"tool_calls": [{"id": "c", "function": {"name": "a", "arguments": "{\"x\": "}}]});
        let sent = message(&broken, &calls(&broken), &[]);
        assert_eq!(sent["tool_calls"][0]["function"]["arguments"], "{}");
        assert_eq!(calls(&broken)[0].arguments, "{\"x\": ", "what is wrong is told");
        assert_eq!(calls(&json!({"content": "none"})), []);
        assert_eq!(calls(&json!({"tool_calls": "none"})), []);
    }
}
