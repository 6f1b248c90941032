//! When a provider is asked again.

use super::*;

#[test]
fn a_busy_provider_is_asked_again_when_it_says() {
    let busy = Reply::json(429, r#"{"error":{"message":"slow down"}}"#).header("Retry-After", "1");
    let server = Server::play([busy, Reply::chat("now")]);
    assert_eq!(ask(&server).unwrap().attempts, 2);
    let requests = server.requests();
    let waited = requests[1].at - requests[0].at;
    assert!(waited >= Duration::from_secs(1) && waited < Duration::from_secs(15), "{waited:?}");
    assert_eq!(requests[0].body, requests[1].body);
}

#[test]
fn a_date_in_retry_after_is_understood() {
    let begun = Instant::now();
    let then = httpdate::fmt_http_date(std::time::SystemTime::now() + Duration::from_secs(2));
    let server = Server::play([Reply::new(503).header("Retry-After", &then), Reply::chat("now")]);
    assert_eq!(ask(&server).unwrap().attempts, 2);
    // A date has no fractions of seconds.
    assert!(begun.elapsed() >= Duration::from_millis(900), "{:?}", begun.elapsed());
}

#[test]
fn a_provider_in_trouble_is_asked_as_often_as_allowed() {
    let server = Server::play([Reply::json(500, r#"{"error":{"message":"out of luck"}}"#)]);
    let mut request = request(&server);
    request.provider.max_retries = 2;
    let error = call(&request).unwrap_err();
    check(&error, ErrorKind::ProviderFailed, "HTTP status 500: out of luck");
    assert_eq!(error.detail_text(), Some("The call was made 3 times."));
    let times: Vec<_> = server.requests().iter().map(|request| request.at).collect();
    assert_eq!(times.len(), 3);
    assert!(times[1] - times[0] >= Duration::from_millis(250));
    assert!(times[2] - times[1] >= Duration::from_millis(500));
}

#[test]
fn passing_statuses_are_retried_and_lasting_ones_are_not() {
    for (status, calls) in
        [(429, 2), (500, 2), (502, 2), (503, 2), (504, 2), (400, 1), (401, 1), (404, 1), (501, 1)]
    {
        let server = Server::play([Reply::new(status).header("Retry-After", "0")]);
        let mut request = request(&server);
        request.provider.max_retries = 1;
        call(&request).unwrap_err();
        assert_eq!(server.requests().len(), calls, "{status}");
    }
}

#[test]
fn a_reset_connection_is_tried_again() {
    let server = Server::play([Reply::reset(), Reply::chat("second try")]);
    let generated = ask(&server).unwrap();
    assert_eq!((generated.text.as_str(), generated.attempts), ("second try", 2));
}

#[test]
fn a_connection_closed_without_a_word_is_tried_again() {
    let server = Server::play([Reply::raw(""), Reply::chat("second try")]);
    assert_eq!(ask(&server).unwrap().attempts, 2);
}

#[test]
fn nobody_listening_is_said_with_the_address() {
    // A port that was free a moment ago may be another test's server by now.
    let mut request = request_to("http://127.0.0.1:1/v1");
    request.provider.max_retries = 1;
    let error = call(&request).unwrap_err();
    let part = "cannot be reached at http://127.0.0.1:1/v1: ";
    check(&error, ErrorKind::ProviderFailed, part);
    assert!(error.message().contains("refused"), "{error}");
    assert_eq!(error.detail_text(), Some("The call was made 2 times."));
}
