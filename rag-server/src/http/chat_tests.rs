use super::*;

fn request(value: Value) -> Request {
    serde_json::from_value(value).unwrap()
}

#[test]
fn the_last_message_is_the_question() {
    let request = request(json!({
        "model": "docs",
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "When are invoices sent?"},
            {"role": "assistant", "content": "On the first day. [1]"},
            {"role": "user", "content": [{"type": "text", "text": "And how"}, {"type": "text", "text": "are they paid?"}]},
        ],
        "user": "somebody", "n": 1,
    }));
    let (question, turns) = request.question().unwrap();
    assert_eq!(question.question, "And how\nare they paid?");
    assert_eq!(question.pipeline.as_deref(), Some("docs"));
    let expected = ("When are invoices sent?".to_owned(), "On the first day. [1]".to_owned());
    assert_eq!(turns, [expected]);
}

#[test]
fn instructions_and_calls_of_tools_are_no_turns() {
    let called =
        json!([{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]);
    let request = request(json!({
        "model": "docs",
        "messages": [
            {"role": "developer", "content": "Be kind."},
            {"role": "user", "content": "What is it?", "name": "somebody"},
            {"role": "assistant", "content": null, "tool_calls": called},
            {"role": "tool", "tool_call_id": "c1", "content": "42"},
            {"role": "assistant", "content": "It is 42.", "tool_calls": null, "refusal": null},
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Why?"},
        ],
    }));
    let (question, turns) = request.question().unwrap();
    assert_eq!(question.question, "Why?");
    assert_eq!(turns, [("What is it?".to_owned(), "It is 42.".to_owned())]);
}

#[test]
fn what_is_no_text_is_not_passed_over_in_a_question() {
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}});
    let text = json!({"type": "text", "text": "What is this?"});
    let of = |asked: Value| {
        let before = json!({"role": "user", "content": [image, text]});
        let answer =
            json!({"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]});
        let asked = json!({"role": "user", "content": asked});
        request(json!({"model": "docs", "messages": [before, answer, asked]})).question()
    };
    let refused = of(json!([text, image])).unwrap_err();
    assert_eq!(refused.message, "the last message has a part of the type \"image_url\"");
    assert_eq!(refused.status, 400);
    let (question, turns) = of(json!([text, {"text": "Tell me."}])).unwrap();
    assert_eq!(question.question, "What is this?\nTell me.");
    assert_eq!(turns, [("What is this?".to_owned(), String::new())]);
}

#[test]
fn a_form_of_the_answer_is_a_schema_or_refused() {
    let check = |format: Value, expected: Result<Value, &str>| {
        let request = request(json!({"model": "docs", "messages": [], "response_format": format}));
        match (request.all_options(), expected) {
            (Ok(options), Ok(expected)) => {
                let options = serde_json::to_value(options).unwrap();
                assert_eq!(options.pointer("/answer/schema").unwrap_or(&Value::Null), &expected);
            }
            (Err(failure), Err(part)) => assert!(failure.message.contains(part), "{failure:?}"),
            (found, expected) => panic!("{format}: {found:?} and not {expected:?}"),
        }
    };
    let list = json!({"type": "array"});
    check(json!({"type": "text"}), Ok(Value::Null));
    check(json!({}), Ok(Value::Null));
    check(json!({"type": "json_object"}), Ok(json!({"type": "object"})));
    check(json!({"type": "json_schema", "json_schema": {"name": "a", "schema": list}}), Ok(list));
    check(json!({"type": "json_schema", "json_schema": {"name": "a"}}), Err("has no schema"));
    check(json!({"type": "json_schema"}), Err("has no schema"));
    check(json!({"type": "grammar"}), Err("not \"grammar\""));
}

#[test]
fn without_a_question_there_is_no_answer() {
    let no_messages = request(json!({"model": "docs", "messages": []}));
    assert_eq!(no_messages.question().unwrap_err().status, 400);
    let of_others =
        request(json!({"model": "docs", "messages": [{"role": "assistant", "content": "a"}]}));
    assert!(of_others.question().unwrap_err().message.contains("of the user"));
}

#[test]
fn parameters_become_options_unless_these_say_otherwise() {
    let request = request(json!({
        "model": "docs", "messages": [], "temperature": 0.2, "top_p": 0, "max_tokens": 50,
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}},
        "options": {"answer": {"temperature": 0.9}, "k": 3},
    }));
    let options = serde_json::to_value(request.all_options().unwrap()).unwrap();
    let expected = json!({"answer": {"temperature": 0.9, "max_tokens": 50, "schema": {"type": "object"}}, "k": 3});
    assert_eq!(options, expected);
}

#[test]
fn null_is_what_is_left_out() {
    let request = request(json!({
        "model": "docs", "messages": [], "stream": null, "stream_options": {"include_usage": null}, "n": null,
        "tools": null, "filter": null, "options": null, "temperature": null, "response_format": null,
    }));
    assert!(!request.stream && !request.stream_options.as_ref().unwrap().include_usage);
    assert!(request.filter.is_none() && request.check().is_ok());
    assert_eq!(serde_json::to_value(request.all_options().unwrap()).unwrap(), json!({}));
}

#[test]
fn what_cannot_be_done_is_refused() {
    let check = |member: &str, value: Value, word: &str| {
        let mut body = json!({"model": "docs", "messages": [{"role": "user", "content": "a"}],
            "tools": [{"type": "function"}]});
        body[member] = value;
        match request(body).question() {
            Ok(_) => assert_eq!(word, "", "{member}"),
            Err(failure) => assert!(!word.is_empty() && failure.message.contains(word), "{member}"),
        }
    };
    check("n", json!(1), "");
    check("n", json!(2), "n must be 1, not 2");
    check("tool_choice", json!(null), "");
    check("tool_choice", json!("auto"), "");
    check("tool_choice", json!("none"), "");
    check("tool_choice", json!("required"), "tools");
    check("tool_choice", json!({"type": "function", "function": {"name": "f"}}), "tools");
    check("functions", json!([{"name": "f"}]), "");
    check("stop", json!(["\n"]), "");
}

#[test]
fn a_function_that_must_be_called_is_a_tool_that_must_be() {
    let check = |call: Value, may_answer: bool| {
        let request = request(json!({
            "model": "docs", "messages": [{"role": "user", "content": "a"}],
            "functions": [{"name": "f"}], "function_call": call,
        }));
        assert_eq!(request.question().is_ok(), may_answer, "{call}");
    };
    check(json!(null), true);
    check(json!("auto"), true);
    check(json!({"name": "f"}), false);
}

#[test]
fn a_content_of_another_type_is_named() {
    let body = json!({"model": "docs", "messages": [{"role": "user", "content": 5}]});
    let error = serde_json::from_value::<Request>(body).err().unwrap().to_string();
    assert!(error.contains("content of a message must be a text or an array of parts"), "{error}");
}

#[test]
fn cached_tokens_are_told_as_openai_does() {
    let used = usage(
        &json!({"usage": {"prompt_tokens": 70, "cached_tokens": 64, "completion_tokens": 2}}),
    );
    let expected = json!({
        "prompt_tokens": 70, "completion_tokens": 2, "total_tokens": 72,
        "prompt_tokens_details": {"cached_tokens": 64},
    });
    assert_eq!(used, expected);
}

#[test]
fn a_whole_response_has_citations_and_figures() {
    let details = json!({
        "answer": "At nine. [1]", "citations": [{"marker": 1}], "supported": true,
        "usage": {"prompt_tokens": 7, "completion_tokens": 2, "finish_reason": "length"},
    });
    let whole = Completion::new("docs").whole(details);
    assert_eq!(whole["object"], "chat.completion");
    assert_eq!(whole["choices"][0]["message"]["content"], "At nine. [1]");
    assert_eq!(whole["choices"][0]["finish_reason"], "length");
    assert_eq!(whole["usage"]["total_tokens"], 9);
    assert_eq!(whole["usage"].get("prompt_tokens_details"), None);
    assert_eq!(whole["citations"][0]["marker"], 1);
    assert_eq!(whole["rag"]["supported"], true);
}

#[test]
fn a_told_response_ends_with_done() {
    let mut chunks = Chunks { completion: Completion::new("docs"), with_usage: true };
    let data = |frames: &str| -> Vec<String> {
        let lines = frames.lines().filter_map(|line| line.strip_prefix("data: "));
        lines.map(str::to_owned).collect()
    };
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let begin = data(&chunks.begin());
    assert_eq!(read(&begin[0])["choices"][0]["delta"]["role"], "assistant");
    let step = chunks.frames(Ok(Piece::Step(json!({"do": "search"}))));
    assert_eq!(data(&step), [] as [&str; 0], "a comment: {step}");
    let piece = data(&chunks.frames(Ok(Piece::Text("At\nnine.".to_owned()))));
    assert_eq!(read(&piece[0])["choices"][0]["delta"]["content"], "At\nnine.");
    let last =
        data(&chunks.frames(Ok(Piece::Details(json!({"citations": [], "supported": false})))));
    assert_eq!(last.len(), 3);
    assert_eq!(read(&last[0])["choices"][0]["finish_reason"], "stop");
    assert_eq!(read(&last[0])["rag"]["supported"], false);
    assert_eq!(read(&last[1])["choices"], json!([]));
    assert_eq!(last[2], "[DONE]");
    let broken = data(&chunks.frames(Err(Failure::request("no"))));
    assert_eq!(read(&broken[0])["error"]["message"], "no");
}
