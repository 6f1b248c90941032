//! What becomes of a call while the provider is busy or in trouble.

use super::*;

#[test]
fn a_busy_provider_is_left_alone_until_it_says() {
    let busy = Reply::json(429, r#"{"error":{"message":"slow down"}}"#).header("Retry-After", "30");
    let server = Server::play([busy, vectors()]);
    let memory = ProviderMemory::default();
    let request = request(&server, &two_texts());
    let begun = Instant::now();
    let error = call(&request, &memory).unwrap_err();
    check_busy(&error, "HTTP status 429: slow down", 30_000..=30_500);
    let error = call(&request, &memory).unwrap_err();
    check_busy(&error, "said that it is busy and is not called for another", 1..=30_500);
    assert_eq!(server.requests().len(), 1, "it was called during its pause");
    assert!(begun.elapsed() < Duration::from_secs(15), "somebody waited");
}

#[test]
fn a_busy_provider_is_called_again_after_its_pause() {
    let server = Server::play([Reply::new(429).header("Retry-After", "1"), vectors()]);
    let memory = ProviderMemory::default();
    let request = request(&server, &two_texts());
    let error = call(&request, &memory).unwrap_err();
    check_busy(&error, "HTTP status 429", 1000..=1500);
    sit_out(&error);
    call(&request, &memory).unwrap();
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_busy_provider_that_says_no_time_gets_one() {
    let server = Server::play([Reply::new(429), Reply::new(429), vectors()]);
    let memory = ProviderMemory::default();
    let request = request(&server, &two_texts());
    for length in [500..=1000, 1000..=2000] {
        let error = call(&request, &memory).unwrap_err();
        check_busy(&error, "HTTP status 429", length);
        sit_out(&error);
    }
    call(&request, &memory).unwrap();
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_pause_is_of_one_provider_and_one_key() {
    let busy = Server::play([Reply::new(429).header("Retry-After", "30")]);
    let idle = Server::play([vectors()]);
    let memory = ProviderMemory::default();
    let mut request = request(&busy, &two_texts());
    call(&request, &memory).unwrap_err();
    request.provider.base_url += "/";
    call(&request, &memory).unwrap_err();
    assert_eq!(busy.requests().len(), 1);
    request.provider.api_key = KeySource::None;
    call(&request, &memory).unwrap_err();
    assert_eq!(busy.requests().len(), 2);
    request.provider.base_url = idle.base_url();
    call(&request, &memory).unwrap();
}

#[test]
fn a_vector_is_of_one_way_to_one_model() {
    let server = Server::play([vectors()]);
    let one = request(&server, &two_texts());
    let change = |change: fn(&mut EmbedRequest)| {
        let mut other = one.clone();
        change(&mut other);
        other.identity()
    };
    assert_eq!(one.identity(), change(|it| it.texts.clear()));
    let others = [
        change(|it| it.provider.api = "ollama".into()),
        change(|it| it.provider.base_url += "1"),
        change(|it| it.provider.model += "1"),
        change(|it| it.provider.api_key = KeySource::None),
        change(|it| it.provider.api_key = KeySource::File("key".into())),
        change(|it| it.provider.network.proxy = Some("http://p:1".into())),
        change(|it| it.provider.network.ca_file = Some("http://p:1".into())),
        change(|it| it.provider.network.owner = 7),
        change(|it| it.dimension = Some(77)),
    ];
    let all = others.iter().chain([&one.identity()]).cloned().collect::<HashSet<String>>();
    assert_eq!(all.len(), others.len() + 1);
    assert!(all.iter().all(|identity| !identity.contains(&SECRET[..8])));
}

#[test]
fn who_waits_for_one_answer_is_not_held_back() {
    let soon = Reply::new(429).header("Retry-After", "0");
    let server = Server::play([Reply::new(429).header("Retry-After", "30"), soon, vectors()]);
    let memory = ProviderMemory::default();
    let bulk = request(&server, &two_texts());
    call(&bulk, &memory).unwrap_err();
    let query = EmbedRequest { lane: Lane::Query, ..bulk.clone() };
    call(&query, &memory).unwrap();
    assert_eq!(server.requests().len(), 3, "a query is tried again");
    check_busy(&call(&bulk, &memory).unwrap_err(), "is busy", 1..=30_500);
}

#[test]
fn what_a_language_model_says_holds_for_embeddings_too() {
    let server = Server::play([Reply::new(503).header("Retry-After", "30"), vectors()]);
    let memory = ProviderMemory::default();
    let mut bulk = request(&server, &two_texts());
    bulk.provider.max_retries = 0;
    let written = GenerateRequest {
        provider: bulk.provider.clone(),
        messages: Vec::new(),
        sampling: Default::default(),
        max_tokens: None,
        schema: None,
        tools: None,
        lane: Lane::Query,
    };
    let error = generate(&written, &memory, &Unlimited, &|| false).unwrap_err();
    check(&error, "HTTP status 503");
    check_busy(&call(&bulk, &memory).unwrap_err(), "is busy", 1..=30_500);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn trouble_is_tried_again_as_often_as_allowed() {
    for trouble in [Reply::new(500), Reply::new(503), Reply::reset(), Reply::raw("")] {
        let server = Server::play([trouble, vectors()]);
        ask(&server, &["a", "b"]).unwrap();
    }
    let server = Server::play([Reply::new(502)]);
    let mut request = request(&server, &two_texts());
    request.provider.max_retries = 1;
    let error = call(&request, &ProviderMemory::default()).unwrap_err();
    check(&error, "HTTP status 502");
    assert_eq!((server.requests().len(), error.retry_delay()), (2, None));
}

#[test]
fn trouble_may_end_in_being_busy() {
    let server = Server::play([Reply::new(500), Reply::new(429).header("Retry-After", "9")]);
    let error = ask(&server, &["a", "b"]).unwrap_err();
    check_busy(&error, "HTTP status 429", 9000..=9500);
    assert_eq!(error.detail_text(), Some("The call was made 2 times."));
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_delay_survives_the_socket() {
    let error = Error::new(ErrorKind::ProviderBusy, "busy").retry_after(Duration::from_millis(812));
    let frame = encode(&Response::Failed(error.clone())).unwrap();
    assert_eq!(decode::<Response>(&frame[4..]).unwrap(), Response::Failed(error));
}

/// Waits until the pause that `error` told of is over, which had begun before it was told.
fn sit_out(error: &Error) {
    let pause = error.retry_delay().expect("a time to wait");
    std::thread::sleep(pause + Duration::from_millis(10));
}
