use super::*;

/// The data of frames.
fn data(frames: &str) -> Vec<String> {
    let lines = frames.lines().filter_map(|line| line.strip_prefix("data: "));
    lines.map(str::to_owned).collect()
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The members of the message of a told response, put together as clients do, and why it ended.
fn put_together(chunks: &mut Chunks, pieces: Vec<Piece>) -> (Value, Value) {
    let mut frames = data(&chunks.begin());
    for piece in pieces {
        frames.extend(data(&chunks.frames(Ok(piece))));
    }
    assert_eq!(frames.pop().unwrap(), "[DONE]");
    let mut message = json!({"content": "", "arguments": "", "refusal": ""});
    let mut add = |member: &str, said: &Value| {
        let before = message[member].as_str().unwrap();
        message[member] = json!(format!("{before}{}", said.as_str().unwrap_or_default()));
    };
    let mut finish = Value::Null;
    for frame in frames {
        let choice = read(&frame)["choices"][0].take();
        let delta = &choice["delta"];
        add("content", &delta["content"]);
        add("refusal", &delta["refusal"]);
        add("arguments", &delta["tool_calls"][0]["function"]["arguments"]);
        finish = choice["finish_reason"].clone();
    }
    (message, finish)
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
    let whole = Completion::new("docs", None).whole(details);
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
    let mut chunks = Chunks::new(Completion::new("docs", None), true);
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

#[test]
fn a_forced_call_has_its_arguments_at_once_and_in_pieces_alike() {
    let called = || Completion::new("docs", Some("f".to_owned()));
    let arguments = r#"{"day": 1}"#;
    let whole = called().whole(json!({"answer": arguments, "citations": [], "usage": {}}));
    let choice = &whole["choices"][0];
    assert_eq!(
        (&choice["finish_reason"], &choice["message"]["content"]),
        (&json!("tool_calls"), &Value::Null)
    );
    let call = &choice["message"]["tool_calls"][0];
    assert_eq!(call["function"], json!({"name": "f", "arguments": arguments}));
    assert!(call["id"].as_str().unwrap().starts_with("call_"), "{call}");

    let mut chunks = Chunks::new(called(), false);
    let begin = read(&data(&chunks.begin())[0]);
    assert_eq!(begin["choices"][0]["delta"], json!({"role": "assistant", "content": null}));
    let first = read(&data(&chunks.frames(Ok(Piece::Text(r#"{"day""#.to_owned()))))[0]);
    let first = &first["choices"][0]["delta"]["tool_calls"][0];
    assert_eq!((&first["index"], &first["function"]["name"]), (&json!(0), &json!("f")));
    let second = read(&data(&chunks.frames(Ok(Piece::Text(": 1}".to_owned()))))[0]);
    let second = &second["choices"][0]["delta"]["tool_calls"][0];
    assert_eq!(second, &json!({"index": 0, "function": {"arguments": ": 1}"}}));

    let pieces = [r#"{"day""#, ": 1}"].map(|text| Piece::Text(text.to_owned()));
    let details = Piece::Details(json!({"citations": [], "usage": {}}));
    let mut chunks = Chunks::new(called(), false);
    let told = put_together(&mut chunks, pieces.into_iter().chain([details]).collect());
    let expected = json!({"content": "", "arguments": arguments, "refusal": ""});
    assert_eq!(told, (expected, json!("tool_calls")));
}

#[test]
fn an_answer_that_is_null_is_a_refusal_at_once_and_in_pieces_alike() {
    for called in [None, Some("f".to_owned())] {
        let details = json!({"answer": null, "citations": [], "supported": false, "usage": {}});
        let whole = Completion::new("docs", called.clone()).whole(details.clone());
        let choice = &whole["choices"][0];
        assert_eq!(choice["message"]["refusal"], REFUSAL);
        assert_eq!(
            (&choice["message"]["content"], &choice["finish_reason"]),
            (&Value::Null, &json!("stop"))
        );
        assert_eq!(choice["message"].get("tool_calls"), None);

        let mut chunks = Chunks::new(Completion::new("docs", called), false);
        let told = put_together(&mut chunks, vec![Piece::Details(details)]);
        let expected = json!({"content": "", "arguments": "", "refusal": REFUSAL});
        assert_eq!(told, (expected, json!("stop")));
    }
}

#[test]
fn an_answer_that_is_corrected_behind_its_pieces_is_no_refusal() {
    let mut chunks = Chunks::new(Completion::new("docs", None), false);
    let details = json!({"answer": "At nine.", "citations": [], "usage": {}});
    let pieces = vec![Piece::Text("At nine. At ten.".to_owned()), Piece::Details(details)];
    let (message, finish) = put_together(&mut chunks, pieces);
    assert_eq!((&message["refusal"], finish), (&json!(""), json!("stop")));
}
