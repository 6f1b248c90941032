//! How much a provider is asked, whether it is down, and where it may be.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use pg_rag::embed::EmbeddingKind;
use pg_rag::error::{Error, ErrorKind, Result};
use pg_rag::protocol::{
    EmbedRequest, GenerateRequest, HostRules, KeySource, Lane, Network, PrivateHosts,
    ProviderConfig,
};
use pg_rag::provider::schema::Unlimited;
use pg_rag::provider::{ProviderMemory, embed, generate};

#[path = "support/http_server.rs"]
mod http_server;
#[path = "support/provider.rs"]
mod support;
use http_server::{Reply, Server};
use support::{asking, check, provider_at};

// So many at a time, so many a minute.

#[test]
fn all_threads_together_make_so_many_calls_at_a_time() {
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counted, highest) = (Arc::clone(&running), Arc::clone(&most));
    let server = Server::answer(move |_| {
        highest.fetch_max(counted.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        // However late the second call comes, the first is still there.
        wait_for(|| highest.load(Ordering::SeqCst) >= 2);
        thread::sleep(Duration::from_millis(60));
        counted.fetch_sub(1, Ordering::SeqCst);
        Reply::chat("ok")
    });
    let memory = ProviderMemory::default();
    let mut provider = provider(&server.base_url());
    provider.limits.max_concurrency = Some(2);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| write(&provider, &memory).unwrap());
        }
    });
    assert_eq!((server.requests().len(), most.load(Ordering::SeqCst)), (8, 2));
}

#[test]
fn bulk_work_is_told_when_to_come_back() {
    let vectors = r#"{"data": [{"embedding": [0, 2]}]}"#;
    let is_free = Arc::new(AtomicBool::new(false));
    let may_answer = Arc::clone(&is_free);
    let server = Server::answer(move |_| {
        wait_for(|| may_answer.load(Ordering::SeqCst));
        Reply::json(200, vectors)
    });
    let memory = ProviderMemory::default();
    let mut provider = provider(&server.base_url());
    provider.limits.max_concurrency = Some(1);
    thread::scope(|scope| {
        scope.spawn(|| turn_into_vectors(&provider, &memory).unwrap());
        wait_for(|| server.requests().len() == 1);
        // Had it waited for the first call, which is not answered yet, there would be no error.
        let error = turn_into_vectors(&provider, &memory).unwrap_err();
        check(&error, ErrorKind::ProviderBusy, "as many calls as max_concurrency of 1 allows");
        assert!(error.retry_delay().is_some_and(|delay| delay == Duration::from_secs(1)));
        assert!(error.hint_text().unwrap().contains("raise max_concurrency"), "{error:?}");
        is_free.store(true, Ordering::SeqCst);
    });
    turn_into_vectors(&provider, &memory).unwrap();
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_language_model_in_the_background_lets_people_go_first() {
    let is_free = Arc::new(AtomicBool::new(false));
    let may_answer = Arc::clone(&is_free);
    let server = Server::answer(move |_| {
        wait_for(|| may_answer.load(Ordering::SeqCst));
        Reply::chat("ok")
    });
    let memory = ProviderMemory::default();
    let mut provider = provider(&server.base_url());
    provider.limits.max_concurrency = Some(1);
    thread::scope(|scope| {
        let person = || write(&provider, &memory).unwrap();
        scope.spawn(person);
        wait_for(|| server.requests().len() == 1);
        let error = write_in(Lane::Bulk, &provider, &memory).unwrap_err();
        check(&error, ErrorKind::ProviderBusy, "as many calls as max_concurrency of 1 allows");
        assert!(error.retry_delay().is_some());
        // A person waits instead.
        scope.spawn(person);
        is_free.store(true, Ordering::SeqCst);
    });
    assert_eq!(write_in(Lane::Bulk, &provider, &memory).unwrap(), "ok");
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_language_model_in_the_background_leaves_a_busy_provider_alone() {
    let busy = Reply::new(429).header("Retry-After", "30");
    let (memory, server) = (ProviderMemory::default(), Server::play([busy, Reply::chat("ok")]));
    let provider = provider(&server.base_url());
    for what in ["HTTP status 429", "said that it is busy"] {
        let error = write_in(Lane::Bulk, &provider, &memory).unwrap_err();
        check(&error, ErrorKind::ProviderBusy, what);
        let delay = error.retry_delay().expect("a time");
        assert!(delay > Duration::from_secs(1) && delay < Duration::from_secs(31), "{delay:?}");
    }
    assert_eq!(server.requests().len(), 1, "the second call is not made");
    assert_eq!(write(&provider, &memory).unwrap(), "ok", "a person is not held back");
}

#[test]
fn so_many_calls_a_minute_are_made_and_no_more() {
    let server = Server::play([Reply::chat("ok")]);
    let memory = ProviderMemory::default();
    let mut provider = provider(&server.base_url());
    provider.limits.requests_per_minute = Some(2);
    write(&provider, &memory).unwrap();
    write(&provider, &memory).unwrap();
    for outcome in [write(&provider, &memory).map(drop), turn_into_vectors(&provider, &memory)] {
        let error = outcome.unwrap_err();
        check(&error, ErrorKind::ProviderBusy, "as often as requests_per_minute of 2 allows");
        let delay = error.retry_delay().expect("a time");
        assert!(delay > Duration::from_secs(50) && delay <= Duration::from_secs(60), "{delay:?}");
    }
    assert_eq!(server.requests().len(), 2);
    provider.limits.requests_per_minute = None;
    write(&provider, &memory).unwrap();
}

#[test]
fn retries_are_counted_too() {
    let server = Server::play([Reply::new(500).header("Retry-After", "0")]);
    let mut provider = provider(&server.base_url());
    provider.limits.requests_per_minute = Some(3);
    provider.max_retries = 9;
    let error = write(&provider, &ProviderMemory::default()).unwrap_err();
    check(&error, ErrorKind::ProviderBusy, "requests_per_minute of 3");
    assert_eq!(server.requests().len(), 3);
}

// Whether it is down.

#[test]
fn a_provider_that_is_down_is_left_alone() {
    let memory = ProviderMemory::default();
    // A port that was free a moment ago may be another test's server by now.
    let absent = provider("http://127.0.0.1:1/v1");
    for _ in 0..5 {
        let error = write(&absent, &memory).unwrap_err();
        check(&error, ErrorKind::ProviderFailed, "cannot be reached");
    }
    for outcome in [write(&absent, &memory).map(drop), turn_into_vectors(&absent, &memory)] {
        let error = outcome.unwrap_err();
        check(&error, ErrorKind::ProviderBusy, "several times in a row and is not called for");
        let delay = error.retry_delay().expect("a time");
        assert!(delay > Duration::ZERO && delay <= Duration::from_secs(5), "{delay:?}");
    }
    // Another provider is another matter.
    let server = Server::play([Reply::chat("ok")]);
    write(&provider(&server.base_url()), &memory).unwrap();
}

#[test]
fn what_answers_is_not_down() {
    for (status, calls) in [(502, 5), (503, 5), (504, 5), (500, 7), (400, 7), (401, 7)] {
        let (memory, server) = (ProviderMemory::default(), Server::play([Reply::new(status)]));
        for _ in 0..7 {
            write(&provider(&server.base_url()), &memory).unwrap_err();
        }
        assert_eq!(server.requests().len(), calls, "{status}");
    }
}

#[test]
fn a_provider_that_comes_back_is_called_again() {
    let mut script = vec![Reply::new(502); 5];
    script.push(Reply::chat("back"));
    let (memory, server) = (ProviderMemory::default(), Server::play(script));
    let provider = provider(&server.base_url());
    for _ in 0..6 {
        write(&provider, &memory).unwrap_err();
    }
    assert_eq!(server.requests().len(), 5);
    thread::sleep(Duration::from_millis(5100));
    assert_eq!(write(&provider, &memory).unwrap(), "back");
    assert_eq!(write(&provider, &memory).unwrap(), "back");
}

// Who speaks for whom.

/// Somebody with a way of one's own to the same place: a proxy that leads to `target`.
fn stranger(target: &Server) -> ProviderConfig {
    let (proxy, _) = tunnel(target.url().trim_start_matches("http://").to_string());
    let mut stranger = provider("http://provider.invalid/v1");
    (stranger.network.proxy, stranger.network.owner) = (Some(proxy), 2);
    stranger
}

#[test]
fn nobodys_own_proxy_says_that_a_provider_is_busy() {
    let vectors = r#"{"data": [{"embedding": [0, 2]}]}"#;
    let server = Server::play([Reply::json(200, vectors)]);
    let liar = Server::play([Reply::new(429).header("Retry-After", "3600")]);
    let (theirs, mut ours) = (stranger(&liar), stranger(&server));
    ours.network.owner = 1;
    for owner in [2, 1] {
        let memory = ProviderMemory::default();
        // A way that only looks the same, and the same way, chosen by somebody else.
        let theirs = ProviderConfig {
            network: Network { owner, ..theirs.network.clone() },
            ..theirs.clone()
        };
        for what in ["HTTP status 429", "said that it is busy"] {
            let error = turn_into_vectors(&theirs, &memory).unwrap_err();
            check(&error, ErrorKind::ProviderBusy, what);
        }
        turn_into_vectors(&ours, &memory).unwrap();
    }
    assert_eq!((server.requests().len(), liar.requests().len()), (2, 2));
}

#[test]
fn nobodys_own_proxy_says_that_a_provider_is_down() {
    let (memory, server) = (ProviderMemory::default(), Server::play([Reply::chat("ok")]));
    let ours = stranger(&server);
    let mut theirs = ours.clone();
    theirs.network.proxy = Some("http://127.0.0.1:1".into());
    for _ in 0..5 {
        let error = write(&theirs, &memory).unwrap_err();
        check(&error, ErrorKind::ProviderFailed, "cannot be reached");
    }
    check(&write(&theirs, &memory).unwrap_err(), ErrorKind::ProviderBusy, "is not called for");
    assert_eq!(write(&ours, &memory).unwrap(), "ok");
}

#[test]
fn nobodys_own_server_makes_others_wait() {
    let busy = Reply::new(429).header("Retry-After", "3600");
    let vectors = r#"{"data": [{"embedding": [0, 2]}]}"#;
    let (memory, server) =
        (ProviderMemory::default(), Server::play([busy, Reply::json(200, vectors)]));
    let mut theirs = provider(&server.base_url());
    let mut ours = theirs.clone();
    (theirs.network.owner, ours.network.owner) = (2, 1);
    for provider in [&mut theirs, &mut ours] {
        provider.limits.requests_per_minute = Some(1);
    }
    turn_into_vectors(&theirs, &memory).unwrap_err();
    turn_into_vectors(&ours, &memory).unwrap();
    // A server of the same owner is another matter.
    ours.name = "test again".into();
    let error = turn_into_vectors(&ours, &memory).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ProviderBusy, "{error}");
}

#[test]
fn this_machine_is_reached_directly_whatever_proxy_is_named() {
    let server = Server::play([Reply::chat("ok")]);
    let (proxy, asked) = tunnel(server.url().trim_start_matches("http://").to_string());
    for base_url in [server.base_url(), server.base_url().replace("127.0.0.1", "localhost")] {
        let mut provider = provider(&base_url);
        provider.network.proxy = Some(proxy.clone());
        assert_eq!(write(&provider, &ProviderMemory::default()).unwrap(), "ok");
    }
    assert_eq!(*asked.lock().unwrap(), [] as [&str; 0]);
}

// Where it may be.

#[test]
fn addresses_that_are_refused_are_not_connected_to() {
    let server = Server::play([Reply::chat("stolen")]);
    let port = server.url().rsplit(':').next().unwrap().to_string();
    for (host, private) in [
        ("127.0.0.1", PrivateHosts::None),
        ("localhost", PrivateHosts::None),
        ("[::ffff:127.0.0.1]", PrivateHosts::None),
        ("0.0.0.0", PrivateHosts::Loopback),
        ("[::]", PrivateHosts::Loopback),
    ] {
        let error = refusal(&format!("http://{host}:{port}/v1"), private, &[]);
        assert!(error.message().contains("is refused"), "{error}");
        assert!(error.hint_text().unwrap().contains("rag.allow_private_hosts"), "{error:?}");
    }
    assert_eq!((server.requests().len(), server.connections()), (0, 0));
    for (host, private) in [("localhost", PrivateHosts::Loopback), ("0.0.0.0", PrivateHosts::All)] {
        let mut provider = provider(&format!("http://{host}:{port}/v1"));
        provider.network.hosts.private = private;
        assert_eq!(write(&provider, &ProviderMemory::default()).unwrap(), "stolen", "{host}");
    }
}

#[test]
fn a_connection_of_other_rules_is_not_used() {
    let server = Server::play([Reply::chat("ok")]);
    let mut provider = provider(&server.base_url().replace("127.0.0.1", "localhost"));
    write(&provider, &ProviderMemory::default()).unwrap();
    provider.network.hosts.private = PrivateHosts::None;
    let error = write(&provider, &ProviderMemory::default()).unwrap_err();
    check(&error, ErrorKind::Forbidden, "of host \"localhost\"");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn hosts_that_are_not_listed_are_not_called() {
    let server = Server::play([Reply::chat("ok")]);
    let error = refusal(&server.base_url(), PrivateHosts::All, &["api.example.com", "*.org"]);
    assert!(error.message().contains("host \"127.0.0.1\" is not in rag.allowed_hosts"), "{error}");
    assert_eq!(server.connections(), 0);
    let mut provider = provider(&server.base_url());
    provider.network.hosts.allowed = vec!["127.0.0.1".into()];
    write(&provider, &ProviderMemory::default()).unwrap();
}

#[test]
fn a_proxy_that_is_not_listed_gets_nothing_to_read() {
    let server = Server::play([Reply::chat("ok")]);
    let (proxy, asked) = tunnel(server.url().trim_start_matches("http://").to_string());
    let mut provider = provider("http://api.example.com/v1");
    provider.network.proxy = Some(proxy);
    provider.network.hosts.allowed = vec!["api.example.com".into()];
    let error = write(&provider, &ProviderMemory::default()).unwrap_err();
    check(&error, ErrorKind::Forbidden, "host \"127.0.0.1\" is not in rag.allowed_hosts");
    assert_eq!(*asked.lock().unwrap(), [] as [&str; 0]);
    provider.network.hosts.allowed.push("127.0.0.1".into());
    assert_eq!(write(&provider, &ProviderMemory::default()).unwrap(), "ok");
}

// By which way.

#[test]
fn a_proxy_leads_to_a_host_that_only_it_knows() {
    let server = Server::play([Reply::chat("through the tunnel")]);
    let (proxy, asked) = tunnel(server.url().trim_start_matches("http://").to_string());
    let mut provider = provider("http://provider.invalid/v1");
    provider.network.proxy = Some(proxy.clone());
    assert_eq!(write(&provider, &ProviderMemory::default()).unwrap(), "through the tunnel");
    assert_eq!(*asked.lock().unwrap(), ["CONNECT provider.invalid:80 HTTP/1.1"]);
    assert_eq!(server.requests()[0].header("host"), Some("provider.invalid"));

    // The rules hold for the proxy, and for an address behind it.
    provider.network.hosts.private = PrivateHosts::None;
    let error = write(&provider, &ProviderMemory::default()).unwrap_err();
    check(&error, ErrorKind::Forbidden, "127.0.0.1");
    provider.network.hosts.private = PrivateHosts::Loopback;
    provider.base_url = "http://169.254.169.254/v1".into();
    let error = write(&provider, &ProviderMemory::default()).unwrap_err();
    check(&error, ErrorKind::Forbidden, "the private address 169.254.169.254");
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[test]
fn unfit_ways_are_refused_by_name() {
    let server = Server::play([Reply::chat("ok")]);
    let mut provider = provider(&server.base_url());
    provider.network.proxy = Some("socks5://127.0.0.1:1080".into());
    let error = write(&provider, &ProviderMemory::default()).unwrap_err();
    check(&error, ErrorKind::InvalidParameter, "its proxy is not of the form http://host:port");
    provider.network.proxy = None;
    provider.network.ca_file = Some("/nonexistent/ca.pem".into());
    let error = write(&provider, &ProviderMemory::default()).unwrap_err();
    check(&error, ErrorKind::FileUnavailable, "ca_file \"/nonexistent/ca.pem\": No such file");
    assert_eq!(server.connections(), 0);
}

// What the tests share.

/// A proxy that leads everywhere to `target`, and what it was asked.
fn tunnel(target: String) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let mut lines = BufReader::new(client.try_clone().unwrap()).lines();
            noted.lock().unwrap().push(lines.next().unwrap().unwrap());
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            (&client).write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
            let server = TcpStream::connect(&target).unwrap();
            let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut &from, &mut &to).is_ok());
            thread::spawn(move || std::io::copy(&mut &server, &mut &client).is_ok());
        }
    });
    (address, asked)
}

fn provider(base_url: &str) -> ProviderConfig {
    ProviderConfig {
        api_key: KeySource::None,
        timeout_ms: 10_000,
        ..provider_at("openai", base_url)
    }
}

fn write(provider: &ProviderConfig, memory: &ProviderMemory) -> Result<String> {
    write_in(Lane::Query, provider, memory)
}

fn write_in(lane: Lane, provider: &ProviderConfig, memory: &ProviderMemory) -> Result<String> {
    let request = GenerateRequest { lane, ..asking(provider.clone(), &[("user", "How?")]) };
    generate(&request, memory, &Unlimited, &|| false).map(|generated| generated.text)
}

fn turn_into_vectors(provider: &ProviderConfig, memory: &ProviderMemory) -> Result<()> {
    let (lane, dimension, texts) = (Lane::Bulk, Some(2), vec!["text".to_string()]);
    let request = EmbedRequest {
        provider: provider.clone(),
        dimension,
        lane,
        kind: EmbeddingKind::Passage,
        texts,
    };
    embed(&request, memory, &Unlimited, &|| false).map(drop)
}

fn refusal(base_url: &str, private: PrivateHosts, allowed: &[&str]) -> Error {
    let mut provider = provider(base_url);
    let allowed = allowed.iter().map(|rule| rule.to_string()).collect();
    provider.network.hosts = HostRules { private, allowed };
    let error = write(&provider, &ProviderMemory::default()).unwrap_err();
    check(&error, ErrorKind::Forbidden, "is not called");
    error
}

fn wait_for(holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(30), "it never came");
        thread::sleep(Duration::from_millis(5));
    }
}
