//! What is told while it is written.

use super::*;

/// A stream of `api` that says "For a row." in two pieces.
fn streamed(api: &str) -> (&'static str, Vec<String>) {
    let event = |event: Value| format!("data: {event}\n\n");
    let line = |line: Value| format!("{line}\n");
    let sse = "text/event-stream";
    match api {
        "anthropic" => {
            let text = |text: &str| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}});
            let end = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": 9, "output_tokens": 4}});
            (sse, vec![event(text("For ")), event(text("a row.")), event(end)])
        }
        "ollama" => {
            let text = |text: &str| json!({"message": {"content": text}, "done": false});
            let end = json!({"message": {"content": ""}, "done": true, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 4});
            let lines = vec![line(text("For ")), line(text("a row.")), line(end)];
            ("application/x-ndjson", lines)
        }
        "gemini" => {
            let text =
                |text: &str| json!({"candidates": [{"content": {"parts": [{"text": text}]}}]});
            let end = json!({"candidates": [{"finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 4}});
            (sse, vec![event(text("For ")), event(text("a row.")), event(end)])
        }
        _ => {
            let text = |text: &str| json!({"type": "content-delta", "delta": {"message": {"content": {"text": text}}}});
            let end = json!({"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": {"tokens": {"input_tokens": 9, "output_tokens": 4}}}});
            (sse, vec![event(text("For ")), event(text("a row.")), event(end)])
        }
    }
}

#[test]
fn each_protocol_tells_what_it_writes() {
    for api in APIS {
        let (kind, pieces) = streamed(api);
        let pieces = pieces.iter().map(|piece| (Duration::from_millis(20), piece.as_bytes()));
        let server = Server::play([Reply::pieces(kind, pieces)]);
        let mut told = Vec::new();
        let mut hear = |piece: &str| {
            told.push(piece.to_string());
            Ok(())
        };
        let request = chat(api, &server, &MESSAGES);
        let generated =
            generate_stream(&request, &ProviderMemory::default(), &Unlimited, &|| false, &mut hear)
                .unwrap();
        assert_eq!(told, ["For ", "a row."], "{api}");
        assert_eq!(
            (generated.text.as_str(), generated.finish_reason.as_str()),
            ("For a row.", "stop")
        );
        let counted = (generated.prompt_tokens, generated.completion_tokens);
        assert_eq!(counted, (Some(9), Some(4)), "{api}");
        let asked = server.requests().remove(0);
        match api {
            "gemini" => assert_eq!(asked.path, "/v1/models/tiny:streamGenerateContent?alt=sse"),
            _ => assert_eq!(body(&asked)["stream"], true, "{api}"),
        }
    }
}

#[test]
fn half_a_stream_is_no_answer() {
    for api in APIS {
        let (kind, pieces) = streamed(api);
        let pieces = pieces[..2].iter().map(|piece| (Duration::ZERO, piece.as_bytes()));
        let server = Server::play([Reply::pieces(kind, pieces)]);
        let mut told = String::new();
        let mut hear = |piece: &str| {
            told += piece;
            Ok(())
        };
        let request = chat(api, &server, &MESSAGES);
        let error =
            generate_stream(&request, &ProviderMemory::default(), &Unlimited, &|| false, &mut hear)
                .unwrap_err();
        check(&error, ErrorKind::ProviderFailed, "broke off its answer after 10 bytes of text");
        assert_eq!((told.as_str(), server.requests().len()), ("For a row.", 1), "{api}");
    }
}
