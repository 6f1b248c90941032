//! Tools: what a provider is told of them and their results, and with what they are called.

use pg_rag::protocol::{Message, OfferedTool, ToolCalling, ToolTurn, ToolUse, WithoutTools};

use super::*;

/// The tool `search`, with what came of earlier turns.
fn tools(turns: Vec<ToolTurn>) -> ToolUse {
    let parameters = json!({
        "type": "object",
        "properties": {"question": {"type": "string", "description": "such as 4111 1111 1111 1111"}},
        "required": ["question"],
    });
    let tool = OfferedTool {
        name: "search".into(),
        description: "searches as anna@example.com".into(),
        parameters: parameters.to_string(),
    };
    let message = Message {
        role: "user".into(),
        content: format!("Choose a step for Herr Anna Schmidt. {QUESTION}"),
    };
    let schema = json!({"type": "object", "required": ["step"], "examples": ["10.1.2.3"]});
    let otherwise = WithoutTools { messages: vec![message], schema: schema.to_string() };
    ToolUse { tools: vec![tool], turns, otherwise }
}

/// A reply of `api` that calls `search` with a question.
fn calls(api: &str, question: &str) -> Reply {
    let arguments = json!({"question": question});
    let function = json!({"name": "search", "arguments": arguments.to_string()});
    let reply = match api {
        "anthropic" => json!({
            "content": [{"type": "tool_use", "id": "t1", "name": "search", "input": arguments}],
            "stop_reason": "tool_use",
        }),
        "ollama" => json!({
            "message": {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "search", "arguments": arguments}}]},
            "done": true,
        }),
        "gemini" => json!({"candidates": [{
            "content": {"role": "model", "parts": [{"functionCall": {"id": "t1", "name": "search", "args": arguments}}]},
            "finishReason": "STOP",
        }]}),
        "cohere" => json!({
            "message": {"role": "assistant", "tool_calls": [{"id": "t1", "type": "function", "function": function}]},
            "finish_reason": "TOOL_CALL",
        }),
        _ => json!({"choices": [{"finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": null,
            "tool_calls": [{"id": "t1", "type": "function", "function": function}],
        }}]}),
    };
    Reply::json(200, &reply.to_string())
}

#[test]
fn tools_run_with_values_and_are_told_without() {
    for api in APIS {
        let server =
            Server::play([calls(api, "Who is [EMAIL_1]?"), says(api, "[EMAIL_1] and [EMAIL_2].")]);
        // A later message, such as one that sums up what was dropped, changes no placeholder.
        let with = |text: &str, turns| GenerateRequest {
            tools: Some(tools(turns)),
            ..request(api, &server, &[("system", SYSTEM), ("user", text)])
        };
        let reply = call(&with(QUESTION, Vec::new())).unwrap().tools.expect("calls");
        assert_eq!(reply.calls.len(), 1, "{api}");
        let arguments: Value = serde_json::from_str(&reply.calls[0].arguments).unwrap();
        assert_eq!(arguments, json!({"question": "Who is anna@example.com?"}), "{api}");
        let results = vec!["anna@example.com wrote to bob@example.com.".to_owned()];
        let turns = vec![ToolTurn { reply, results }];
        let told = call(&with("First zoe@example.com. Go on.", turns)).unwrap();
        assert_eq!(told.text, "anna@example.com and zoe@example.com.", "{api}");
        let sent = check_wire(&server, api);
        assert!(sent[1].contains("Who is [EMAIL_1]?"), "{api}: {}", sent[1]);
        assert!(sent[1].contains("[EMAIL_1] wrote to [EMAIL_3]."), "{api}: {}", sent[1]);
        assert!(!sent[1].contains("bob@"), "{api}");
    }
}

#[test]
fn where_there_are_no_tools_the_step_has_values() {
    let server = Server::play([says("openai", r#"{"step": "search [EMAIL_1]"}"#)]);
    let mut asked = request("openai", &server, &[("user", QUESTION)]);
    asked.provider.special.tools = ToolCalling::Json;
    asked.tools = Some(tools(Vec::new()));
    assert_eq!(call(&asked).unwrap().text, r#"{"step": "search anna@example.com"}"#);
    check_wire(&server, "openai");
}
