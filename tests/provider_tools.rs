//! Tools in each protocol: how they are offered, what is called, how it is told what came of it, and what becomes of those
//! who know none.

use pg_rag::error::{ErrorKind, Result};
use pg_rag::protocol::{
    GenerateRequest, Generated, Message, OfferedTool, RequestedCall, ToolCalling, ToolTurn,
    ToolUse, WithoutTools,
};
use pg_rag::provider::schema::Unlimited;
use pg_rag::provider::{ProviderMemory, generate};
use serde_json::{Value, json};

#[path = "support/http_server.rs"]
mod http_server;
#[path = "support/provider.rs"]
mod provider;
use http_server::{Reply, Server};
use provider::{SECRET, body, chat, check, check_silent, says};

const APIS: [&str; 5] = ["openai", "anthropic", "ollama", "gemini", "cohere"];

/// What is asked for where there are no tools, and a reply that fits it.
const FITS: &str = r#"{"step": "look"}"#;

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {"reason": {"type": "string"}, "question": {"type": "string"}},
        "required": ["reason", "question"],
        "additionalProperties": false,
    })
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"step": {"type": "string"}}, "required": ["step"]})
}

/// The tools `search` and `open`, with what came of earlier turns.
fn tools(turns: Vec<ToolTurn>) -> ToolUse {
    let tool = |name: &str| OfferedTool {
        name: name.into(),
        description: format!("does {name}"),
        parameters: parameters().to_string(),
    };
    let message = Message { role: "user".into(), content: "Choose a step.".into() };
    let otherwise = WithoutTools { messages: vec![message], schema: schema().to_string() };
    ToolUse { tools: vec![tool("search"), tool("open")], turns, otherwise }
}

fn request(api: &str, server: &Server, turns: Vec<ToolTurn>) -> GenerateRequest {
    let mut request = chat(api, server, &[("system", "Be brief."), ("user", "Who?")]);
    request.tools = Some(tools(turns));
    request
}

fn call(request: &GenerateRequest) -> Result<Generated> {
    generate(request, &ProviderMemory::default(), &Unlimited, &|| false).inspect_err(check_silent)
}

fn bodies(server: &Server) -> Vec<Value> {
    server.requests().iter().map(body).collect()
}

/// A call of `search` and one of `open`, in a reply of `api` as its vendor documents it, with a text beside them.
fn two_calls(api: &str) -> Value {
    let arguments = |question: &str| json!({"reason": "so", "question": question});
    let function = |question: &str| arguments(question).to_string();
    match api {
        "anthropic" => json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s1"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "toolu_1", "name": "search", "input": arguments("Ghent?")},
                {"type": "text", "text": ""},
                {"type": "tool_use", "id": "toolu_2", "name": "open", "input": arguments("Bruges?")},
            ],
            "stop_reason": "tool_use", "stop_sequence": null,
            "usage": {"input_tokens": 5, "output_tokens": 3},
        }),
        "ollama" => json!({
            "model": "m", "created_at": "2026-01-01T00:00:00Z",
            "message": {
                "role": "assistant", "content": "I look.", "thinking": "hm",
                "tool_calls": [
                    {"function": {"name": "search", "arguments": arguments("Ghent?")}},
                    {"function": {"name": "open", "arguments": arguments("Bruges?")}},
                ],
            },
            "done": true, "done_reason": "stop", "prompt_eval_count": 5, "eval_count": 3,
        }),
        "gemini" => json!({
            "candidates": [{
                "content": {"role": "model", "parts": [
                    {"text": "hm", "thought": true},
                    {"text": "I look."},
                    {"functionCall": {"id": "f1", "name": "search", "args": arguments("Ghent?")}, "thoughtSignature": "c2ln"},
                    {"functionCall": {"name": "open", "args": arguments("Bruges?")}},
                ]},
                "finishReason": "STOP", "index": 0,
            }],
            "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 3},
        }),
        "cohere" => json!({
            "id": "c", "finish_reason": "TOOL_CALL",
            "message": {
                "role": "assistant", "tool_plan": "I look.",
                "tool_calls": [
                    {"id": "t1", "type": "function", "function": {"name": "search", "arguments": function("Ghent?")}},
                    {"id": "t2", "type": "function", "function": {"name": "open", "arguments": function("Bruges?")}},
                ],
            },
            "usage": {"tokens": {"input_tokens": 5, "output_tokens": 3}},
        }),
        _ => json!({
            "id": "c", "object": "chat.completion", "model": "m",
            "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
                "role": "assistant", "content": "I look.", "refusal": null, "annotations": [],
                "tool_calls": [
                    {"id": "call_a", "type": "function", "function": {"name": "search", "arguments": function("Ghent?")}},
                    {"id": "call_b", "type": "function", "function": {"name": "open", "arguments": function("Bruges?")}},
                ],
            }}],
            "usage": {"prompt_tokens": 5, "completion_tokens": 3},
        }),
    }
}

fn played(api: &str) -> Server {
    Server::play([Reply::json(200, &two_calls(api).to_string())])
}

/// The turn in which these two calls came back with a result each.
fn answered(api: &str) -> Vec<ToolTurn> {
    let server = played(api);
    let reply = call(&request(api, &server, Vec::new())).unwrap().tools.expect("calls");
    vec![ToolTurn { reply, results: vec!["found 1".into(), "found 2".into()] }]
}

// What is asked.

#[test]
fn openai_is_offered_functions_and_told_by_messages_of_the_role_tool() {
    let server = Server::play([says("openai", "Eve.")]);
    call(&request("openai", &server, answered("openai"))).unwrap();
    let function = |name: &str| json!({"type": "function", "function": {"name": name, "description": format!("does {name}"), "parameters": parameters(), "strict": true}});
    let called = |id: &str, name: &str, question: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": json!({"reason": "so", "question": question}).to_string()}});
    let expected = json!({
        "model": "tiny",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Who?"},
            {"role": "assistant", "content": "I look.", "tool_calls": [called("call_a", "search", "Ghent?"), called("call_b", "open", "Bruges?")]},
            {"role": "tool", "tool_call_id": "call_a", "content": "found 1"},
            {"role": "tool", "tool_call_id": "call_b", "content": "found 2"},
        ],
        "tools": [function("search"), function("open")],
        "stream": false,
        "temperature": 0.2,
    });
    assert_eq!(bodies(&server), [expected]);
    assert_eq!(server.requests()[0].path, "/v1/chat/completions");
}

#[test]
fn anthropic_gets_its_content_back_and_results_in_one_message() {
    let server = Server::play([says("anthropic", "Eve.")]);
    call(&request("anthropic", &server, answered("anthropic"))).unwrap();
    let tool = |name: &str| json!({"name": name, "description": format!("does {name}"), "input_schema": parameters()});
    let arguments = |question: &str| json!({"reason": "so", "question": question});
    let expected = json!({
        "model": "tiny",
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": "Who?"},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s1"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "toolu_1", "name": "search", "input": arguments("Ghent?")},
                {"type": "tool_use", "id": "toolu_2", "name": "open", "input": arguments("Bruges?")},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "found 1"},
                {"type": "tool_result", "tool_use_id": "toolu_2", "content": "found 2"},
            ]},
        ],
        "tools": [tool("search"), tool("open")],
        "max_tokens": 4096,
        "stream": false,
        "temperature": 0.2,
    });
    assert_eq!(bodies(&server), [expected]);
}

#[test]
fn texts_of_white_space_alone_do_not_go_back_to_anthropic() {
    let blank = two_calls("anthropic").to_string().replace("\"text\":\"\"", "\"text\":\" \\n\"");
    assert!(blank.contains("\" \\n\""), "{blank}");
    let server = Server::play([Reply::json(200, &blank)]);
    let called = call(&request("anthropic", &server, Vec::new())).unwrap().tools.unwrap();
    let sent: Value = serde_json::from_str(&called.verbatim).unwrap();
    assert_eq!(sent["content"].as_array().unwrap().len(), 4, "{sent}");
}

#[test]
fn gemini_gets_its_signed_parts_back() {
    let server = Server::play([says("gemini", "Eve.")]);
    call(&request("gemini", &server, answered("gemini"))).unwrap();
    let declaration = |name: &str| json!({"name": name, "description": format!("does {name}"), "parametersJsonSchema": parameters()});
    let expected = json!({
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Who?"}]},
            two_calls("gemini")["candidates"][0]["content"],
            {"role": "user", "parts": [
                {"functionResponse": {"id": "f1", "name": "search", "response": {"result": "found 1"}}},
                {"functionResponse": {"name": "open", "response": {"result": "found 2"}}},
            ]},
        ],
        "tools": [{"functionDeclarations": [declaration("search"), declaration("open")]}],
        "generationConfig": {"temperature": 0.2},
    });
    assert_eq!(bodies(&server), [expected]);
}

#[test]
fn ollama_is_told_by_the_names_of_tools() {
    let server = Server::play([says("ollama", "Eve.")]);
    call(&request("ollama", &server, answered("ollama"))).unwrap();
    let function = |name: &str| json!({"type": "function", "function": {"name": name, "description": format!("does {name}"), "parameters": parameters()}});
    let expected = json!({
        "model": "tiny",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Who?"},
            two_calls("ollama")["message"],
            {"role": "tool", "tool_name": "search", "content": "found 1"},
            {"role": "tool", "tool_name": "open", "content": "found 2"},
        ],
        "tools": [function("search"), function("open")],
        "stream": false,
        "options": {"temperature": 0.2},
    });
    assert_eq!(bodies(&server), [expected]);
}

#[test]
fn cohere_gets_its_plan_back_and_documents() {
    let server = Server::play([says("cohere", "Eve.")]);
    call(&request("cohere", &server, answered("cohere"))).unwrap();
    let function = |name: &str| json!({"type": "function", "function": {"name": name, "description": format!("does {name}"), "parameters": parameters()}});
    let result = |id: &str, text: &str| json!({"role": "tool", "tool_call_id": id, "content": [{"type": "document", "document": {"data": {"result": text}}}]});
    let expected = json!({
        "model": "tiny",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Who?"},
            {"role": "assistant", "tool_plan": "I look.", "tool_calls": two_calls("cohere")["message"]["tool_calls"]},
            result("t1", "found 1"),
            result("t2", "found 2"),
        ],
        "tools": [function("search"), function("open")],
        "stream": false,
        "temperature": 0.2,
    });
    assert_eq!(bodies(&server), [expected]);
}

// What comes back.

#[test]
fn all_calls_of_a_reply_are_read() {
    for api in APIS {
        let server = played(api);
        let generated = call(&request(api, &server, Vec::new())).unwrap();
        assert_eq!(generated.text, "I look.", "{api}");
        assert_eq!(generated.finish_reason, "stop", "{api}");
        let counted = (generated.prompt_tokens, generated.completion_tokens, generated.attempts);
        assert_eq!(counted, (Some(5), Some(3), 1), "{api}");
        let calls = generated.tools.expect("tools were offered").calls;
        let read = |RequestedCall { name, arguments, .. }: &RequestedCall| {
            let arguments: Value = serde_json::from_str(arguments).unwrap();
            (name.clone(), arguments["question"].as_str().unwrap().to_owned())
        };
        let expected = [("search", "Ghent?"), ("open", "Bruges?")];
        let expected = expected.map(|(name, question)| (name.to_owned(), question.to_owned()));
        assert_eq!(calls.iter().map(read).collect::<Vec<_>>(), expected, "{api}");
    }
}

/// Members that a program's numbers would change.
const EXACT: [&str; 5] = [
    r#""price":12345678901234567890.123"#,
    r#""rate":0.1000000000000000055"#,
    r#""size":1.50"#,
    r#""count":89490200001234567890"#,
    r#""most":1e400"#,
];

/// [`two_calls`] with these members among the arguments, which some protocols have as an object and others as a text.
fn exact_calls(api: &str) -> String {
    let members = EXACT.join(",") + ",";
    let (place, members) = match api {
        "openai" | "cohere" => (r#"\"question\""#, members.replace('"', r#"\""#)),
        _ => (r#""question""#, members),
    };
    two_calls(api).to_string().replace(place, &(members + place))
}

#[test]
fn arguments_keep_the_digits_of_their_numbers() {
    for api in APIS {
        let server = Server::play([Reply::json(200, &exact_calls(api)), says(api, "Eve.")]);
        let reply = call(&request(api, &server, Vec::new())).unwrap().tools.expect("calls");
        assert_eq!(reply.calls.len(), 2, "{api}");
        for RequestedCall { arguments, .. } in &reply.calls {
            assert!(EXACT.iter().all(|it| arguments.contains(it)), "{api}: {arguments}");
        }
        let results = vec!["found 1".into(), "found 2".into()];
        call(&request(api, &server, vec![ToolTurn { reply, results }])).unwrap();
        // Plain numbers again in what goes back, within objects as within texts.
        let sent = server.requests()[1].text().replace('\\', "");
        for member in EXACT {
            assert_eq!(sent.matches(member).count(), 2, "{api}: {member} in {sent}");
        }
    }
}

#[test]
fn servers_that_speak_as_openai_may_send_objects() {
    let members = EXACT.join(",");
    let calls = format!(
        r#"[{{"id":"c","type":"function","function":{{"name":"search","arguments":{{{members}}}}}}}]"#
    );
    let body = format!(
        r#"{{"choices":[{{"message":{{"content":null,"tool_calls":{calls}}},"finish_reason":"tool_calls"}}]}}"#
    );
    let server = Server::play([Reply::json(200, &body)]);
    let reply = call(&request("openai", &server, Vec::new())).unwrap().tools.expect("a call");
    for member in EXACT {
        assert!(reply.calls[0].arguments.contains(member), "{reply:?}");
    }
}

#[test]
fn a_reply_may_only_call_or_only_say() {
    for api in APIS {
        let mut calls = two_calls(api).to_string();
        calls = calls.replace("\"content\":\"I look.\"", "\"content\":null");
        calls = calls.replace("\"text\":\"I look.\"", "\"text\":\"\"");
        calls = calls.replace("\"tool_plan\":\"I look.\"", "\"tool_plan\":\"\"");
        let server = Server::play([Reply::json(200, &calls), says(api, "Eve.")]);
        let silent = call(&request(api, &server, Vec::new())).unwrap();
        assert_eq!((silent.text.as_str(), silent.tools.unwrap().calls.len()), ("", 2), "{api}");
        let said = call(&request(api, &server, Vec::new())).unwrap();
        assert_eq!((said.text.as_str(), said.tools.unwrap().calls.len()), ("Eve.", 0), "{api}");
    }
}

#[test]
fn a_reply_that_does_neither_is_an_error() {
    for api in APIS {
        let server = Server::play([says(api, " ")]);
        let error = call(&request(api, &server, Vec::new())).unwrap_err();
        check(&error, ErrorKind::ProviderFailed, "");
    }
}

#[test]
fn zeros_are_taken_out_of_names() {
    let reply = two_calls("ollama").to_string().replace("\"search\"", "\"sea\\u0000rch\"");
    let server = Server::play([Reply::json(200, &reply)]);
    let generated = call(&request("ollama", &server, Vec::new())).unwrap();
    assert_eq!(generated.tools.unwrap().calls[0].name, "search");
}

// Who knows no tools.

const REFUSALS: [(&str, u16, &str); 5] = [
    (
        "openai",
        400,
        r#"{"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice","type":"BadRequestError","param":null}}"#,
    ),
    (
        "anthropic",
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"'tiny' does not support tool use."}}"#,
    ),
    ("ollama", 400, r#"{"error":"registry.ollama.ai/library/tiny:latest does not support tools"}"#),
    (
        "gemini",
        400,
        r#"{"error":{"code":400,"message":"Function calling is not enabled for models/tiny","status":"INVALID_ARGUMENT"}}"#,
    ),
    ("cohere", 422, r#"{"message":"model 'tiny' does not support tools"}"#),
];

#[test]
fn who_refuses_tools_is_asked_for_json_in_the_same_call_and_then_at_once() {
    for (api, status, refusal) in REFUSALS {
        let server = Server::answer(move |request| {
            let asked = body(request);
            // The tool that takes an answer of Anthropic's is no tool of ours.
            let ours = asked["tools"].to_string();
            match ours.contains("does search") {
                true => Reply::json(status, refusal),
                false => says(api, FITS),
            }
        });
        let memory = ProviderMemory::default();
        let ask = || generate(&request(api, &server, Vec::new()), &memory, &Unlimited, &|| false);
        let first = ask().unwrap();
        assert_eq!((first.text.as_str(), first.attempts), (FITS, 2), "{api}");
        assert!(first.tools.is_none(), "{api}: it was asked for JSON");
        assert_eq!(ask().unwrap().attempts, 1, "{api}: it is remembered");
        let asked = bodies(&server);
        assert_eq!(asked.len(), 3, "{api}");
        let (with, without) = (asked[0].to_string(), asked[1].to_string());
        assert!(with.contains("Who?") && !with.contains("Choose a step."), "{with}");
        assert!(without.contains("Choose a step.") && !without.contains("Who?"), "{without}");
        assert!(without.contains("\"step\""), "{without}");
        assert_eq!(asked[1], asked[2], "{api}");
    }
}

#[test]
fn a_server_that_calls_it_its_own_error_is_asked_for_json_too() {
    let said = r#"{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}"#;
    let server = Server::play([Reply::json(500, said), says("openai", FITS)]);
    assert_eq!(call(&request("openai", &server, Vec::new())).unwrap().text, FITS);
    let broken = r#"{"error":{"message":"out of memory"}}"#;
    for api in APIS {
        let server = Server::play([Reply::json(500, broken)]);
        let error = call(&request(api, &server, Vec::new())).unwrap_err();
        check(&error, ErrorKind::ProviderFailed, "out of memory");
    }
}

#[test]
fn tools_that_are_refused_for_themselves_say_nothing_of_others() {
    let refused = r#"{"error":{"message":"Invalid schema for function 'search': In context=()"}}"#;
    let server = Server::play([Reply::json(400, refused), says("openai", FITS)]);
    let memory = ProviderMemory::default();
    for _ in 0..2 {
        generate(&request("openai", &server, Vec::new()), &memory, &Unlimited, &|| false).unwrap();
    }
    let offered: Vec<bool> = bodies(&server).iter().map(|it| it["tools"].is_array()).collect();
    assert_eq!(offered, [true, false, true]);
}

#[test]
fn json_in_the_place_of_tools_is_held_to_its_schema() {
    let refused = r#"{"error":"tiny does not support tools"}"#;
    let replies =
        [Reply::json(400, refused), says("ollama", r#"{"step": 1}"#), says("ollama", FITS)];
    let server = Server::play(replies);
    let generated = call(&request("ollama", &server, Vec::new())).unwrap();
    assert_eq!((generated.text.as_str(), generated.attempts), (FITS, 3));
    let last = bodies(&server).pop().unwrap().to_string();
    assert!(last.contains("does not fit the JSON schema") && last.contains("at /step"), "{last}");
}

#[test]
fn the_option_of_a_server_offers_no_tools_at_all() {
    for api in APIS {
        let server = Server::play([says(api, FITS)]);
        let mut request = request(api, &server, answered(api));
        request.provider.special.tools = ToolCalling::Json;
        assert_eq!(call(&request).unwrap().text, FITS, "{api}");
        let asked = bodies(&server).remove(0).to_string();
        assert!(!asked.contains("does search") && !asked.contains("found 1"), "{api}: {asked}");
        assert!(asked.contains("Choose a step."), "{api}: {asked}");
    }
}

#[test]
fn another_refusal_is_not_about_tools() {
    for api in APIS {
        let server =
            Server::play([Reply::json(400, r#"{"error":{"message":"prompt is too long"}}"#)]);
        let error = call(&request(api, &server, Vec::new())).unwrap_err();
        check(&error, ErrorKind::ProviderRefused, "prompt is too long");
        assert_eq!(server.requests().len(), 1, "{api}");
        let said = format!("{{\"error\":{{\"message\":\"no tools for {SECRET}\"}}}}");
        let server = Server::play([Reply::json(403, &said)]);
        check_silent(&call(&request(api, &server, Vec::new())).unwrap_err());
        assert_eq!(server.requests().len(), 1, "{api}");
    }
}
