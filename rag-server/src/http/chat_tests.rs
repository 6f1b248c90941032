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
            {"role": "user", "content": "Is it?"},
            {"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": "true"},
            {"role": "assistant", "content": "It is."},
            {"role": "user", "content": "Why?"},
        ],
    }));
    let (question, turns) = request.question().unwrap();
    assert_eq!(question.question, "Why?");
    let turn = |asked: &str, answered: &str| (asked.to_owned(), answered.to_owned());
    assert_eq!(turns, [turn("What is it?", "It is 42."), turn("Is it?", "It is.")]);
}

/// The turns of a conversation in which messages stand between the questions `Which day?` and `Why?`.
fn turns_with(between: Value) -> Vec<(String, String)> {
    let mut messages = vec![json!({"role": "user", "content": "Which day?"})];
    messages.extend(between.as_array().unwrap().iter().cloned());
    messages.push(json!({"role": "user", "content": "Why?"}));
    request(json!({"model": "docs", "messages": messages})).question().unwrap().1
}

#[test]
fn a_forced_call_is_answered_by_its_arguments() {
    let check = |between: Value, answer: Option<&str>| {
        let expected = answer.map(|answer| ("Which day?".to_owned(), answer.to_owned()));
        assert_eq!(turns_with(between.clone()), Vec::from_iter(expected), "{between}");
    };
    let arguments = "{\"day\": 1}";
    let one =
        json!({"id": "c1", "type": "function", "function": {"name": "f", "arguments": arguments}});
    let call = json!({"role": "assistant", "content": null, "tool_calls": [one]});
    let result = json!({"role": "tool", "tool_call_id": "c1", "content": "noted"});
    let said = json!({"role": "assistant", "content": "On day 1."});
    check(json!([call]), Some(arguments));
    check(json!([call, result]), Some(arguments));
    check(json!([call, result, said]), Some("On day 1."));
    check(json!([said, call]), Some("On day 1."));
    let several = json!({"role": "assistant", "content": null, "tool_calls": [one, one]});
    check(json!([several]), None);
    let broken = json!({"role": "assistant", "content": null, "tool_calls": [null]});
    check(json!([broken]), None);
    let month = json!({"role": "user", "content": "Which month?"});
    let of_month = [("Which month?".to_owned(), arguments.to_owned())];
    assert_eq!(turns_with(json!([month, call])), of_month, "not of a question before it");
}

#[test]
fn instructions_behind_a_question_do_not_hide_it() {
    let of = |role: &str| {
        request(json!({"model": "docs", "messages": [
            {"role": "user", "content": "Why?"}, {"role": role, "content": "Be brief."},
        ]}))
        .question()
    };
    for role in ["system", "developer"] {
        assert_eq!(of(role).unwrap().0.question, "Why?", "{role}");
    }
    for role in ["assistant", "tool"] {
        assert_eq!(of(role).unwrap_err().param, Some("messages"), "{role}");
    }
}

#[test]
fn a_refusal_is_what_was_answered() {
    let refused = |message: Value| {
        let asked = json!({"role": "user", "content": "Who?"});
        let next = json!({"role": "user", "content": "Why?"});
        let request = request(json!({"model": "docs", "messages": [asked, message, next]}));
        request.question().unwrap().1
    };
    let expected = [("Who?".to_owned(), "Nobody knows.".to_owned())];
    let alone = json!({"role": "assistant", "content": null, "refusal": "Nobody knows."});
    assert_eq!(refused(alone), expected);
    let part = json!([{"type": "refusal", "refusal": "Nobody knows."}]);
    assert_eq!(refused(json!({"role": "assistant", "content": part})), expected);
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
    assert_eq!(turns, [("What is this?".to_owned(), "No.".to_owned())]);
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
        "model": "docs", "messages": [], "stream": null, "stream_options": {"include_usage": null}, "n": null, "store": null,
        "tools": null, "filter": null, "options": null, "temperature": null, "response_format": null,
    }));
    assert!(
        !request.stream
            && !request.store
            && !request.stream_options.as_ref().unwrap().include_usage
    );
    assert!(request.filter.is_none() && request.check().is_ok());
    assert_eq!(serde_json::to_value(request.all_options().unwrap()).unwrap(), json!({}));
}

#[test]
fn what_was_said_before_is_stored_by_the_messages_alone() {
    let check = |options: Value| {
        let body = json!({"model": "docs", "messages": [], "store": true, "options": options});
        request(body).check_store()
    };
    assert!(check(json!({})).is_ok() && check(json!({"answer": {"history": null}})).is_ok());
    assert!(check(json!({"answer": {"history": []}})).is_err());
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
    check("tool_choice", json!("required"), "tool_choice");
    check("tool_choice", json!({"type": "function", "function": {"name": "f"}}), "tool_choice");
    check("functions", json!([{"name": "f"}]), "");
    check("stop", json!(["\n"]), "");
}

#[test]
fn a_function_of_the_old_kind_that_must_be_called_is_refused() {
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
fn the_arguments_of_a_function_that_must_be_called_are_an_answer_with_its_schema() {
    let parameters = json!({"type": "object", "properties": {"day": {"type": "integer"}}});
    let function = json!({"name": "f", "parameters": parameters});
    let of = |choice: Value| {
        let request = request(json!({
            "model": "docs", "messages": [{"role": "user", "content": "a"}],
            "tools": [{"type": "function", "function": function}], "tool_choice": choice,
            "response_format": {"type": "json_object"},
        }));
        let called = request.called().unwrap().map(|function| function.name);
        let (question, _) = request.question().unwrap();
        (called, serde_json::to_value(&question.options).unwrap()["answer"]["schema"].take())
    };
    assert_eq!(of(json!("required")), (Some("f".to_owned()), parameters));
    assert_eq!(of(json!("auto")), (None, json!({"type": "object"})));
}

#[test]
fn a_function_that_must_be_called_goes_with_no_schema_of_the_options() {
    let of = |schema: Value, choice: &str| {
        let function = json!({"name": "f", "parameters": {"type": "object", "minProperties": 1}});
        let request = request(json!({
            "model": "docs", "messages": [], "tools": [{"type": "function", "function": function}],
            "tool_choice": choice, "options": {"answer": {"schema": schema}},
        }));
        request
            .all_options()
            .map(|options| serde_json::to_value(&options).unwrap()["answer"]["schema"].take())
    };
    let object = json!({"type": "object"});
    let refused = of(object.clone(), "required").unwrap_err();
    assert_eq!((refused.status.as_u16(), refused.param), (400, Some("options")));
    assert_eq!(of(object.clone(), "auto").unwrap(), object);
    assert_eq!(of(Value::Null, "required").unwrap()["minProperties"], 1);
}

#[test]
fn tools_that_need_not_be_called_are_not_read() {
    let mut body = json!({"model": "docs", "messages": [{"role": "user", "content": "a"}],
        "tools": [null, {"function": "f"}, {"function": {"name": null}}]});
    for choice in [json!(null), json!("auto"), json!("none")] {
        body["tool_choice"] = choice;
        assert!(request(body.clone()).question().is_ok(), "{body}");
    }
    body["tool_choice"] = json!("required");
    assert_eq!(request(body).question().unwrap_err().param, Some("tools"));
}

#[test]
fn a_penalty_of_nothing_is_none() {
    let of = |frequency: f64, presence: f64| {
        let request = request(json!({"model": "docs", "messages": [],
            "frequency_penalty": frequency, "presence_penalty": presence}));
        serde_json::to_value(request.all_options().unwrap()).unwrap()
    };
    assert_eq!(of(0.0, -0.0), json!({}));
    assert_eq!(of(0.0, -0.5), json!({"answer": {"presence_penalty": -0.5}}));
    assert_eq!(of(1.0, 0.0), json!({"answer": {"frequency_penalty": 1.0}}));
}

#[test]
fn a_content_of_another_type_is_named() {
    let body = json!({"model": "docs", "messages": [{"role": "user", "content": 5}]});
    let error = serde_json::from_value::<Request>(body).err().unwrap().to_string();
    assert!(error.contains("content of a message must be a text or an array of parts"), "{error}");
}
