//! How long a call may take, and who leaves while it lasts.

use super::*;

#[test]
fn late_headers_and_late_bodies_time_out() {
    let long = Duration::from_secs(30);
    for slow in [Reply::chat("late").delay(long), Reply::chat("late").pause(40, long)] {
        let server = Server::play([slow]);
        let mut request = request(&server);
        request.provider.timeout_ms = 400;
        let begun = Instant::now();
        let error = call(&request).unwrap_err();
        check(&error, ErrorKind::ProviderTimeout, "within timeout of 400 ms");
        let took = begun.elapsed();
        assert!(took >= Duration::from_millis(390) && took < Duration::from_secs(15), "{took:?}");
        assert_eq!(error.hint_text(), Some("Raise timeout of server \"test\"."));
        // On a busy machine the time may be over before the request was read.
        assert!(server.requests().len() <= 1);
    }
}

#[test]
fn a_call_that_is_cut_short_names_the_timeout_that_was_set() {
    let server = Server::play([Reply::chat("late").delay(Duration::from_secs(30))]);
    let mut request = request(&server);
    (request.provider.timeout_ms, request.provider.limits.within_ms) = (20_000, Some(300));
    let error = call(&request).unwrap_err();
    let part =
        "within the 300 ms that budget.seconds leaves to this call, with timeout of 20000 ms";
    check(&error, ErrorKind::ProviderTimeout, part);
    assert_eq!(error.hint_text(), Some("Raise budget.seconds of the answer."));
    // There may be more time than a call may take.
    request.provider.limits.within_ms = Some(30_000);
    assert_eq!((request.provider.call_ms(), request.provider.is_cut_short()), (20_000, false));
}

#[test]
fn an_address_that_never_answers_times_out_while_connecting() {
    // The queue of a listener that accepts nobody fills up; then the kernel drops what
    // knocks, as an unreachable host would.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let wait = Duration::from_millis(200);
    let mut held = Vec::new();
    while let Ok(stream) = std::net::TcpStream::connect_timeout(&address, wait) {
        held.push(stream);
        assert!(held.len() < 20_000, "the queue never fills");
    }
    let mut request = request_to(&format!("http://{address}/v1"));
    request.provider.connect_timeout_ms = 300;
    request.provider.max_retries = 0;
    let begun = Instant::now();
    let error = call(&request).unwrap_err();
    check(&error, ErrorKind::ProviderTimeout, "within connect_timeout of 300 ms");
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}

#[test]
fn retries_stay_within_the_overall_limit() {
    let server = Server::play([Reply::new(503).header("Retry-After", "2")]);
    let mut request = request(&server);
    // Time for one pause, and after it too little for another.
    request.provider.timeout_ms = 3900;
    request.provider.max_retries = 1000;
    let begun = Instant::now();
    check(&call(&request).unwrap_err(), ErrorKind::ProviderFailed, "HTTP status 503");
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_wait_beyond_the_limit_fails_at_once() {
    let server = Server::play([Reply::new(429).header("Retry-After", "3600")]);
    let begun = Instant::now();
    check_failed(&server, ErrorKind::ProviderFailed, "HTTP status 429");
    assert!(begun.elapsed() < Duration::from_secs(15));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn who_leaves_is_let_go_and_the_provider_hears_of_it() {
    let long = Duration::from_secs(30);
    for slow in [Reply::chat("late").delay(long), Reply::chat("late").pause(40, long)] {
        let server = Server::play([slow]);
        let left = RefCell::new(None);
        let gone = || {
            let leave = !server.requests().is_empty();
            if leave {
                left.borrow_mut().get_or_insert_with(Instant::now);
            }
            leave
        };
        generate(&request(&server), &ProviderMemory::default(), &Unlimited, &gone).unwrap_err();
        let took = left.borrow().unwrap().elapsed();
        assert!(took < Duration::from_secs(15), "{took:?}");
        let hears = Instant::now() + Duration::from_secs(15);
        while server.abandoned() == 0 && Instant::now() < hears {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(server.abandoned(), 1, "the connection is still open");
    }
}

#[test]
fn who_leaves_during_a_wait_is_let_go() {
    let server = Server::play([Reply::new(503).header("Retry-After", "20")]);
    let mut request = request(&server);
    request.provider.timeout_ms = 60_000;
    let begun = Instant::now();
    let leave = Duration::from_millis(400);
    generate(&request, &ProviderMemory::default(), &Unlimited, &|| begun.elapsed() > leave)
        .unwrap_err();
    assert!(begun.elapsed() < leave + Duration::from_secs(10), "{:?}", begun.elapsed());
}
