//! Answers in the form of a schema: how each protocol is asked for it, and what becomes of those
//! that do not fit.

use pg_rag::error::{ErrorKind, Result};
use pg_rag::protocol::{GenerateRequest, Generated};
use pg_rag::provider::schema::Unlimited;
use pg_rag::provider::{ProviderMemory, generate};
use serde_json::{Value, json};

#[path = "support/http_server.rs"]
mod http_server;
#[path = "support/provider.rs"]
mod provider;
use http_server::{Reply, Server};
use provider::{SECRET, body, chat, check, check_silent};

const APIS: [&str; 5] = ["openai", "anthropic", "ollama", "gemini", "cohere"];

const FITS: &str = r#"{"city": "Köln", "rooms": 2}"#;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"city": {"type": "string"}, "rooms": {"type": "integer", "minimum": 1}},
        "required": ["city", "rooms"],
        "additionalProperties": false,
    })
}

/// A reply of `api` that says `text`.
fn says(api: &str, text: &str) -> Reply {
    let said = json!([{"type": "text", "text": text}]);
    let reply = match api {
        "anthropic" => {
            json!({"content": said, "stop_reason": "end_turn", "usage": {"input_tokens": 5, "output_tokens": 3}})
        }
        "ollama" => {
            json!({"message": {"content": text}, "done": true, "done_reason": "stop", "prompt_eval_count": 5, "eval_count": 3})
        }
        "gemini" => {
            json!({"candidates": [{"content": {"parts": said}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 3}})
        }
        "cohere" => {
            json!({"message": {"content": said}, "finish_reason": "COMPLETE", "usage": {"tokens": {"input_tokens": 5, "output_tokens": 3}}})
        }
        _ => {
            json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 5, "completion_tokens": 3}})
        }
    };
    Reply::json(200, &reply.to_string())
}

fn request(api: &str, server: &Server, schema: &Value) -> GenerateRequest {
    let mut request = chat(api, server, &[("user", "Where?")]);
    request.schema = Some(schema.to_string());
    request
}

fn call(request: &GenerateRequest) -> Result<Generated> {
    generate(request, &ProviderMemory::default(), &Unlimited, &|| false).inspect_err(check_silent)
}

fn bodies(server: &Server) -> Vec<Value> {
    server.requests().iter().map(body).collect()
}

// How it is asked for.

fn check_asked(api: &str, place: &str, expected: &Value) {
    let server = Server::play([says(api, FITS)]);
    assert_eq!(call(&request(api, &server, &schema())).unwrap().text, FITS, "{api}");
    let asked = bodies(&server);
    assert_eq!(asked.len(), 1, "{api}");
    assert_eq!(asked[0].pointer(place), Some(expected), "{api}");
    assert!(!asked[0].to_string().contains("Answer with JSON"), "{api}: it was told twice");
}

#[test]
fn each_protocol_has_its_own_way() {
    let named = json!({"name": "answer", "strict": true, "schema": schema()});
    check_asked(
        "openai",
        "/response_format",
        &json!({"type": "json_schema", "json_schema": named}),
    );
    check_asked("ollama", "/format", &schema());
    check_asked("gemini", "/generationConfig/responseJsonSchema", &schema());
    check_asked("gemini", "/generationConfig/responseMimeType", &json!("application/json"));
    check_asked("cohere", "/response_format", &json!({"type": "json_object", "schema": schema()}));
    let tool =
        json!({"name": "answer", "description": "Takes the answer.", "input_schema": schema()});
    check_asked("anthropic", "/tools", &json!([tool]));
    check_asked("anthropic", "/tool_choice", &json!({"type": "tool", "name": "answer"}));
}

fn tool_use(name: &str, input: &Value) -> Reply {
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": name, "input": input});
    Reply::json(200, &json!({"content": [call], "stop_reason": "tool_use"}).to_string())
}

#[test]
fn the_input_of_the_tool_is_the_answer() {
    let input = json!({"city": "Köln", "rooms": 2});
    let server = Server::play([tool_use("answer", &input)]);
    let generated = call(&request("anthropic", &server, &schema())).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&generated.text).unwrap(), input);
    assert_eq!(generated.finish_reason, "stop");
}

#[test]
fn what_is_no_object_becomes_a_member_of_one() {
    let list = json!({"$ref": "#/$defs/cities", "$defs": {"cities": {"type": "array", "items": {"type": "string"}}}});
    let server = Server::play([tool_use("answer_value", &json!({"value": ["Köln", "Bonn"]}))]);
    assert_eq!(call(&request("anthropic", &server, &list)).unwrap().text, r#"["Köln","Bonn"]"#);
    let expected = json!({"type": "object", "required": ["value"], "properties": {"value": {"$ref": "#/$defs/cities"}}, "$defs": list["$defs"]});
    assert_eq!(bodies(&server)[0].pointer("/tools/0/input_schema"), Some(&expected));
}

#[test]
fn an_answer_keeps_the_digits_of_its_numbers() {
    let check = |schema: &Value, content: &str, expected: &str| {
        let body = format!(r#"{{"content":[{content}],"stop_reason":"end_turn"}}"#);
        let server = Server::play([Reply::json(200, &body)]);
        assert_eq!(call(&request("anthropic", &server, schema)).unwrap().text, expected);
    };
    let (object, list) = (json!({"type": "object"}), json!({"type": "array"}));
    let input = r#"{"price":12345678901234567890.123,"rate":0.1000000000000000055}"#;
    let used = |name: &str, input: &str| {
        format!(r#"{{"type":"tool_use","name":"{name}","input":{input}}}"#)
    };
    check(&object, &used("answer", input), input);
    check(&list, &used("answer_value", r#"{"value":[1.50,1]}"#), "[1.50,1]");
    let said = r#"{"type":"text","text":"It is {\"price\": 1.50}, I think."}"#;
    check(&object, said, r#"{"price":1.50}"#);
}

#[test]
fn who_refuses_a_schema_is_asked_more_modestly() {
    let places = [
        ("openai", "/response_format"),
        ("anthropic", "/tools"),
        ("ollama", "/format"),
        ("gemini", "/generationConfig/responseMimeType"),
        ("cohere", "/response_format"),
    ];
    for (api, place) in places {
        let server = Server::answer(move |request| match body(request).pointer(place) {
            Some(_) => {
                Reply::json(400, r#"{"error":{"message":"This response_format is unavailable"}}"#)
            }
            None => says(api, &format!("Here you are:\n```json\n{FITS}\n```")),
        });
        let generated = call(&request(api, &server, &schema())).unwrap();
        let found: Value = serde_json::from_str(&generated.text).unwrap();
        assert_eq!(found, json!({"city": "Köln", "rooms": 2}), "{api}");
        let asked = bodies(&server);
        let last = asked.last().unwrap().to_string();
        assert_eq!(last.matches("Answer with JSON that fits this JSON schema").count(), 1, "{api}");
        assert!((2..=3).contains(&asked.len()), "{api}: {}", asked.len());
    }
}

#[test]
fn plain_json_is_asked_for_before_nothing_is() {
    let refused = Reply::json(
        400,
        r#"{"error":{"message":"json_schema is not supported","param":"response_format"}}"#,
    );
    let server = Server::play([refused, says("openai", FITS)]);
    call(&request("openai", &server, &schema())).unwrap();
    let asked = bodies(&server);
    assert_eq!(asked[1]["response_format"], json!({"type": "json_object"}));
    let told = asked[1]["messages"][0]["content"].as_str().unwrap();
    assert!(told.starts_with("Where?\n\nAnswer with JSON") && told.contains("\"rooms\""), "{told}");
}

#[test]
fn who_has_refused_is_asked_more_modestly_at_once() {
    for (api, place) in [("openai", "/response_format/json_schema"), ("ollama", "/format/type")] {
        let server = Server::answer(move |request| match body(request).pointer(place) {
            Some(_) => Reply::json(400, r#"{"error":{"message":"unknown format json_schema"}}"#),
            None => says(api, FITS),
        });
        let memory = ProviderMemory::default();
        let ask =
            |request: &GenerateRequest| generate(request, &memory, &Unlimited, &|| false).unwrap();
        assert_eq!(ask(&request(api, &server, &schema())).attempts, 2, "{api}");
        // Another schema, the same server.
        let other = json!({"type": "object", "required": ["city"]});
        assert_eq!(ask(&request(api, &server, &other)).attempts, 1, "{api}");
        let asked = bodies(&server);
        assert_eq!(asked.len(), 3, "{api}");
        let (second, third) = (asked[1].to_string(), asked[2].to_string());
        assert_eq!(
            third.matches("Answer with JSON that fits this JSON schema").count(),
            1,
            "{api}"
        );
        assert!(second.contains("rooms") && !third.contains("rooms"), "{api}: {third}");
        // What another model knows has to be found out.
        let mut request = request(api, &server, &schema());
        request.provider.model = "other".into();
        assert_eq!(ask(&request).attempts, 2, "{api}");
    }
}

#[test]
fn a_schema_that_is_refused_for_itself_says_nothing_of_others() {
    let refused =
        r#"{"error":{"message":"Invalid schema for response_format 'answer': in context=()"}}"#;
    let server =
        Server::play([Reply::json(400, refused), says("openai", FITS), says("openai", FITS)]);
    let memory = ProviderMemory::default();
    for _ in 0..2 {
        generate(&request("openai", &server, &schema()), &memory, &Unlimited, &|| false).unwrap();
    }
    let asked = bodies(&server);
    let manners: Vec<&Value> = asked.iter().map(|body| &body["response_format"]["type"]).collect();
    assert_eq!(manners, ["json_schema", "json_object", "json_schema"]);
}

#[test]
fn another_refusal_is_not_about_the_form() {
    for api in APIS {
        let server =
            Server::play([Reply::json(400, r#"{"error":{"message":"prompt is too long"}}"#)]);
        let error = call(&request(api, &server, &schema())).unwrap_err();
        check(&error, ErrorKind::ProviderRefused, "prompt is too long");
        assert_eq!(server.requests().len(), 1, "{api}");
    }
}

// What comes back.

#[test]
fn an_answer_that_does_not_fit_is_repaired_once() {
    for api in APIS {
        let wrong = r#"{"city": "Köln", "rooms": "two"}"#;
        let server = Server::play([says(api, wrong), says(api, FITS)]);
        let generated = call(&request(api, &server, &schema())).unwrap();
        assert_eq!(generated.text, FITS, "{api}");
        let counted = (generated.prompt_tokens, generated.completion_tokens, generated.attempts);
        assert_eq!(counted, (Some(10), Some(6), 2), "{api}: both calls are paid for");
        let second = bodies(&server).remove(1).to_string();
        for told in ["does not fit the JSON schema", "at /rooms", "Köln"] {
            assert!(second.contains(told), "{api}: {told} is not in {second}");
        }
    }
}

#[test]
fn cached_tokens_of_both_answers_are_counted() {
    let says = |text: &str, details: Value| {
        let usage =
            json!({"prompt_tokens": 5, "completion_tokens": 3, "prompt_tokens_details": details});
        let choice = json!({"message": {"content": text}, "finish_reason": "stop"});
        Reply::json(200, &json!({"choices": [choice], "usage": usage}).to_string())
    };
    let cached = |tokens: u64| json!({ "cached_tokens": tokens });
    for (first, second, expected) in [
        (cached(4), cached(3), Some(7)),
        (cached(4), json!(null), Some(4)),
        (json!(null), cached(3), Some(3)),
        (json!(null), json!(null), None),
    ] {
        let server = Server::play([says("{}", first), says(FITS, second)]);
        let generated = call(&request("openai", &server, &schema())).unwrap();
        assert_eq!((generated.prompt_tokens, generated.cached_tokens), (Some(10), expected));
    }
}

#[test]
fn no_text_of_an_answer_has_the_character_0() {
    for (answer, expected) in [
        (r#"{"city": "Kö\u0000ln\u0000", "rooms": 2}"#, r#"{"city": "Köln", "rooms": 2}"#),
        (r#"Here: {"city": "\u0000\\u0000", "rooms": 2}"#, r#"{"city":"\\u0000","rooms":2}"#),
    ] {
        let server = Server::play([says("ollama", answer)]);
        let generated = call(&request("ollama", &server, &schema())).unwrap();
        assert_eq!(generated.text, expected);
    }
}

#[test]
fn an_answer_that_never_fits_names_the_place() {
    let check_misfit = |answer: &str, schema: &Value, part: &str| {
        let server = Server::play([says("ollama", answer)]);
        let error = call(&request("ollama", &server, schema)).unwrap_err();
        check(&error, ErrorKind::ReplyMisfit, "did not answer in the form of the schema: ");
        assert!(error.message().contains(part), "{error}");
        assert_eq!(server.requests().len(), 2, "{error}");
    };
    check_misfit("I would rather not.", &schema(), "it is not JSON");
    check_misfit("[]", &schema(), "at the root: ");
    check_misfit(r#"{"city": "Köln", "rooms": 0}"#, &schema(), "at /rooms: ");
    check_misfit(r#"{"city": "Köln"}"#, &schema(), "\"rooms\" is a required property");
    check_misfit(r#"{"city": 1, "rooms": "x"}"#, &schema(), "at /city: ");
    let deep =
        json!({"type": "array", "items": {"type": "object", "properties": {"a/b": {"enum": [1]}}}});
    check_misfit(r#"[{"a/b": 1}, {"a/b": 2}]"#, &deep, "at /1/a~1b: ");
    check_misfit(r#""caf\u00e9""#, &json!({"pattern": "^[a-z]+$"}), "at the root: ");
    check_misfit(&format!("[{}", "[".repeat(10_000)), &schema(), "it is not JSON");
}

#[test]
fn an_answer_that_was_cut_short_is_not_repaired() {
    let message =
        json!({"message": {"content": "{\"city\": \"Kö"}, "done": true, "done_reason": "length"});
    let server = Server::play([Reply::json(200, &message.to_string())]);
    let error = call(&request("ollama", &server, &schema())).unwrap_err();
    check(&error, ErrorKind::ReplyMisfit, "it is not JSON");
    assert!(error.hint_text().unwrap().contains("Raise max_tokens"), "{error:?}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_schema_that_is_none_is_an_error_before_any_call() {
    for (schema, part) in [
        ("", "schema is not JSON: EOF"),
        ("{\"type\": ", "schema is not JSON"),
        ("true", "schema is not a JSON object"),
        (r#""object""#, "schema is not a JSON object"),
        (r#"{"type": "objekt"}"#, "schema is not a JSON schema: at /type"),
        (r#"{"properties": {"a": {"minimum": "1"}}}"#, "at /properties/a/minimum"),
        (r##"{"$ref": "#/$defs/missing"}"##, "schema is not a JSON schema"),
        (r#"{"$ref": "http://127.0.0.1:9/schema.json"}"#, "schema is not a JSON schema"),
        (r#"{"$ref": "file:///etc/passwd"}"#, "schema is not a JSON schema"),
        (r#"{"pattern": "("}"#, "schema is not a JSON schema"),
        (&format!("{{\"title\": \"{}\"}}", "x".repeat(200_000)), "is longer than 131072"),
        (
            &format!("{}1{}", "{\"not\":".repeat(500), "}".repeat(500)),
            "schema is not JSON: recursion",
        ),
    ] {
        for api in APIS {
            let server = Server::play([says(api, FITS)]);
            let mut request = request(api, &server, &json!({}));
            request.schema = Some(schema.to_string());
            let error = call(&request).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{error}");
            assert!(error.message().contains(part), "{error}\ndoes not hold\n{part}");
            assert_eq!(server.requests().len(), 0, "{api}: {error}");
        }
    }
}

#[test]
fn a_pattern_cannot_keep_a_thread_busy() {
    let server = Server::play([says("ollama", &format!("\"{}\"", "a".repeat(5000)))]);
    let begun = std::time::Instant::now();
    let request = request("ollama", &server, &json!({"pattern": "^(?=(a+)+b)(a|a)*$"}));
    call(&request).unwrap_err();
    assert!(begun.elapsed() < std::time::Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[test]
fn the_key_is_in_no_place_of_an_answer() {
    let server =
        Server::play([says("ollama", &json!({"city": "x", "rooms": 1, SECRET: 1}).to_string())]);
    let error = call(&request("ollama", &server, &schema())).unwrap_err();
    check(&error, ErrorKind::ReplyMisfit, "did not answer in the form of the schema");
}
