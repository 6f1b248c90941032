//! What comes back.

use super::*;

#[test]
fn other_shapes_of_an_answer_are_understood() {
    for (content, text) in [
        (json!([{"type": "text", "text": "a"}, {"type": "image"}, {"text": "b"}]), "ab"),
        (json!("nul\u{0}free"), "nulfree"),
    ] {
        let body = json!({"choices": [{"message": {"content": content}}], "usage": null});
        let generated = ask(&Server::play([Reply::json(200, &body.to_string())])).unwrap();
        assert_eq!((generated.text.as_str(), generated.prompt_tokens), (text, None));
    }
}

#[test]
fn half_a_character_does_not_spoil_an_answer() {
    for (content, text) in [
        (r"Good \ud83d", "Good \u{fffd}"),
        (r"\ude00 or \ud83d\ude00", "\u{fffd} or \u{1f600}"),
        (r"a path: C:\\ud83d", r"a path: C:\ud83d"),
    ] {
        let body = format!(
            r#"{{"choices":[{{"message":{{"content":"{content}"}},"finish_reason":"stop"}}]}}"#
        );
        assert_eq!(ask(&Server::play([Reply::json(200, &body)])).unwrap().text, text);
    }
}

#[test]
fn chunked_answers_are_read() {
    let body = r#"{"choices":[{"message":{"content":"in pieces"},"finish_reason":"stop"}]}"#;
    let (head, tail) = body.split_at(30);
    let late = Duration::from_millis(30);
    let server = Server::play([Reply::chunked([(Duration::ZERO, head), (late, tail)])]);
    assert_eq!(ask(&server).unwrap().text, "in pieces");
}

#[test]
fn nonsense_is_a_provider_failure_that_shows_what_came() {
    let failed = ErrorKind::ProviderFailed;
    let html = Reply::new(200).header("Content-Type", "text/html").body("<html>Welcome</html>");
    check_once(html, failed, "a web page: \"<html>Welcome</html>\"");
    check_once(Reply::json(200, ""), failed, "not JSON: EOF while parsing");
    check_once(Reply::json(200, r#"{"choices":[{"mess"#), failed, "not JSON: EOF while parsing");
    check_once(Reply::json(200, r#"{"choices":[]}"#), failed, "no choices: \"{\"choices\":[]}\"");
    check_once(Reply::json(200, "[]"), failed, "no choices: \"[]\"");
    check_once(Reply::json(200, r#"{"choices":null}"#), failed, "no choices");
    let deep = "[".repeat(200_000);
    check_once(Reply::json(200, &deep), failed, "recursion limit");
    let latin =
        Reply::new(200).body(&b"{\"choices\":[{\"message\":{\"content\":\"caf\xe9\"}}]}"[..]);
    check_once(latin, failed, "not UTF-8");
    check_once(Reply::json(200, r#"{"error":{"message":"no GPU"}}"#), failed, "error: no GPU");
    check_once(Reply::raw("SSH-2.0-OpenSSH_9.2\r\n"), failed, "failed at http://127.0.0.1");
}

#[test]
fn an_answer_without_text_says_why() {
    let choice = |choice: Value| Reply::json(200, &json!({"choices": [choice]}).to_string());
    let failed = ErrorKind::ProviderFailed;
    let empty = choice(json!({"message": {"content": " "}, "finish_reason": "content_filter"}));
    check_once(empty, failed, "wrote no text: its finish_reason is \"content_filter\"");
    let refusal = choice(json!({"message": {"content": null, "refusal": "I will not"}}));
    check_once(refusal, failed, "wrote no text: it refuses: I will not");
    let used_up = choice(json!({"message": {"content": null}, "finish_reason": "length"}));
    let error = check_once(used_up, failed, "its finish_reason is \"length\"");
    assert!(error.hint_text().unwrap().contains("max_tokens"));
}

#[test]
fn half_a_body_is_not_an_answer() {
    let body = Reply::chat("the whole truth").close_after(60);
    check_once(body, ErrorKind::ProviderFailed, "answer broke off after 60 bytes");
}

#[test]
fn a_huge_body_is_cut_off() {
    let huge = Reply::json(200, &format!("\"{}\"", "a".repeat(17 << 20)));
    check_once(huge, ErrorKind::ProviderFailed, "more than the limit of 16777216 bytes");
    let huge_error = Reply::json(400, &"a".repeat(17 << 20));
    let error = check_once(huge_error, ErrorKind::ProviderRefused, "HTTP status 400: aaa");
    assert!(error.message().len() < 400, "{}", error.message().len());
}

#[test]
fn redirects_are_not_followed() {
    let elsewhere = Server::play([Reply::chat("stolen")]);
    for status in [301, 302, 303, 307, 308] {
        let location = format!("{}/v1/chat/completions", elsewhere.url());
        let reply = Reply::redirect(status, &location);
        let part = format!("{status}, a redirect to {location}, which is not followed");
        check_once(reply, ErrorKind::ProviderFailed, &part);
    }
    assert_eq!((elsewhere.requests().len(), elsewhere.connections()), (0, 0));
}

#[test]
fn statuses_have_hints() {
    for (status, body, hint) in [
        (401, r#"{"error":{"message":"bad key"}}"#, "Check the key in the user mapping"),
        (403, "", "Check the key in the user mapping"),
        (404, "", "base_url and model"),
        (400, r#"{"error":{"message":"maximum context length is 8"}}"#, "prompt is longer"),
        (400, r#"{"error":{"message":"exceed_context_size_error: context size"}}"#, "longer"),
        (413, "", "prompt is longer"),
        (400, r#"{"error":"what?"}"#, "speaks this api"),
        (422, r#"{"detail":[{"loc":["model"]}]}"#, "speaks this api"),
    ] {
        let part = format!("HTTP status {status}");
        // What is wrong with the question is told from what is wrong with the provider.
        let kind = match status {
            400 | 413 | 422 => ErrorKind::ProviderRefused,
            _ => ErrorKind::ProviderFailed,
        };
        let error = check_once(Reply::json(status, body), kind, &part);
        assert!(error.hint_text().unwrap().contains(hint), "{status}: {error:?}");
    }
}

#[test]
fn words_of_the_provider_are_one_short_line() {
    let noise = format!("a\r\nb\x1b[2J\t{}", "long ".repeat(200));
    let body = json!({"error": {"message": noise}}).to_string();
    let error = check_once(Reply::json(418, &body), ErrorKind::ProviderFailed, "418: a b[2J long");
    assert!(error.message().chars().count() < 370);
    assert!(!error.message().contains(char::is_control));
}
