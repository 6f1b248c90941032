//! ragd as its clients see it: requests and answers over a real socket. What it embeds is the subject of
//! `daemon_embed.rs`.

#[allow(dead_code)]
mod support {
    pub mod http_server;
    pub mod ragd;
}

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use pg_rag::chunk::{ChunkingMethod, ChunkingOptions, Language, MethodSettings};
use pg_rag::daemon::connection::ClientConnection;
use pg_rag::embed::EmbeddingKind;
use pg_rag::embed::calibration::{CALIBRATION_FILE, Calibration};
use pg_rag::error::ErrorKind;
use pg_rag::protocol::{
    CallLimits, EmbedRequest, GenerateRequest, KeySource, Lane, MAX_FRAME, ModelRef, Network,
    ProviderConfig, Request, Response, decode,
};

use support::http_server::{Reply, Server};
use support::ragd::{Folder, Ragd, embed, eventually, status};

#[test]
fn it_listens_for_its_own_user_alone_and_leaves_nothing_behind() {
    let mut ragd = Ragd::start();
    let mode = fs::metadata(ragd.socket()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let status = status(&mut ragd.connect());
    assert_eq!(status.pid, ragd.pid());
    assert_eq!(status.version, env!("CARGO_PKG_VERSION"));
    assert!(status.models.is_empty());

    ragd.signal(libc::SIGTERM);
    assert!(ragd.wait().success());
    assert!(!ragd.socket().exists());
}

#[test]
fn it_holds_nothing_of_its_parent() {
    let ragd = Ragd::start();
    drop(ragd.connect());
    let proc = format!("/proc/{}", ragd.pid());
    let score = fs::read_to_string(format!("{proc}/oom_score_adj")).unwrap();
    // Where the tests have a higher one themselves, not everybody may lower it.
    assert!(score.trim().parse::<i32>().unwrap() >= 900, "{score}");
    let inherited = fs::read_dir(format!("{proc}/fd"))
        .unwrap()
        .filter_map(|entry| fs::read_link(entry.unwrap().path()).ok())
        .filter(|target| target.ends_with("Cargo.toml"))
        .count();
    assert_eq!(inherited, 0, "a file of the parent is open");
    let is_in = |mask: &str, signal: i32| {
        let status = fs::read_to_string(format!("{proc}/status")).unwrap();
        let line = status.lines().find(|line| line.starts_with(mask)).unwrap();
        let bits = u64::from_str_radix(line.split_whitespace().nth(1).unwrap(), 16).unwrap();
        bits & (1 << (signal - 1)) != 0
    };
    // A thread that starts another blocks all signals for that moment.
    eventually("SIGUSR1 is let through", || !is_in("SigBlk:", libc::SIGUSR1));
    assert!(!is_in("SigIgn:", libc::SIGUSR2), "SIGUSR2 is ignored");
}

#[test]
fn it_dies_with_its_parent() {
    let folder = Folder::new();
    let socket = folder.path().join("ragd.sock");
    let mut parent = support::ragd::shell_that_starts_ragd(&socket);
    eventually("ragd listens", || ClientConnection::connect(&socket).is_ok());
    parent.kill().unwrap();
    parent.wait().unwrap();
    eventually("ragd has gone", || ClientConnection::connect(&socket).is_err());
}

#[test]
fn killed_it_is_started_again_on_the_same_path() {
    let mut ragd = Ragd::start();
    let mut client = ragd.connect();
    ragd.signal(libc::SIGKILL);
    ragd.wait();
    assert!(ragd.socket().exists(), "nothing to be replaced");
    assert_eq!(client.call(&Request::Status).unwrap_err().kind(), ErrorKind::DaemonLost);
    let error = ClientConnection::connect(ragd.socket()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::DaemonUnavailable);

    ragd.restart();
    assert_eq!(status(&mut ragd.connect()).pid, ragd.pid());
}

#[test]
fn a_second_one_does_not_take_the_socket() {
    let ragd = Ragd::start();
    let output = Ragd::command(ragd.socket()).output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("another ragd serves there"), "{said}");
    assert_eq!(status(&mut ragd.connect()).pid, ragd.pid());
}

#[test]
fn a_file_that_is_no_socket_stays() {
    let folder = Folder::new();
    let path = folder.path().join("precious");
    fs::write(&path, "data").unwrap();
    let output = Ragd::command(&path).output().unwrap();
    assert!(!output.status.success());
    assert_eq!(fs::read_to_string(&path).unwrap(), "data");
}

#[test]
fn a_wrong_command_line_is_explained() {
    for arguments in [&["--sokcet", "x"][..], &["--socket", "x"], &["--threads", "0"]] {
        let output = Ragd::executable().args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.starts_with("ragd: ") && said.contains("--help"), "{said}");
    }
}

#[test]
fn garbage_is_answered_and_the_connection_closed() {
    let ragd = Ragd::start();
    let mut frame = 5_u32.to_le_bytes().to_vec();
    frame.extend([0xff; 5]);
    for bytes in [frame, ((MAX_FRAME + 1) as u32).to_le_bytes().to_vec(), vec![0xff; 4096]] {
        let mut stream = UnixStream::connect(ragd.socket()).unwrap();
        stream.write_all(&bytes).unwrap();
        let mut answer = Vec::new();
        // What ragd left unread may reset the connection after the answer was read.
        let _ = stream.read_to_end(&mut answer);
        let Response::Failed(error) = decode(&answer[4..]).unwrap() else { panic!("no error") };
        assert_eq!(error.kind(), ErrorKind::DataCorrupted, "{error}");
    }
    status(&mut ragd.connect());
}

#[test]
fn random_bytes_never_stop_it() {
    let ragd = Ragd::start();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    for round in 0..300 {
        let mut stream = UnixStream::connect(ragd.socket()).unwrap();
        let mut bytes = vec![0; round % 60];
        for byte in &mut bytes {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *byte = (seed >> 56) as u8;
        }
        let mut frame = (bytes.len() as u32).to_le_bytes().to_vec();
        frame.extend(bytes);
        stream.write_all(&frame).unwrap();
    }
    status(&mut ragd.connect());
}

#[test]
fn half_a_frame_is_nothing() {
    let ragd = Ragd::start();
    for bytes in [&[9_u8][..], &[9, 0, 0, 0], &[9, 0, 0, 0, 1, 2], &(1_u32 << 30).to_le_bytes()] {
        UnixStream::connect(ragd.socket()).unwrap().write_all(bytes).unwrap();
    }
    status(&mut ragd.connect());
}

#[test]
fn promised_gigabytes_cost_no_memory() {
    let ragd = Ragd::start();
    drop(ragd.connect());
    let before = ragd.resident();
    let streams: Vec<_> = (0..32)
        .map(|_| {
            let mut stream = UnixStream::connect(ragd.socket()).unwrap();
            stream.write_all(&(MAX_FRAME as u32).to_le_bytes()).unwrap();
            stream.write_all(&[1; 1000]).unwrap();
            stream
        })
        .collect();
    status(&mut ragd.connect());
    let grown = ragd.resident().saturating_sub(before);
    assert!(grown < 64 << 20, "{grown} bytes for 32 promises");
    drop(streams);
}

#[test]
fn a_model_that_is_not_there_is_an_error_and_the_connection_goes_on() {
    let ragd = Ragd::start();
    let mut client = ragd.connect();
    let model = ModelRef {
        name: "nothing".to_string(),
        path: "/nowhere/at/all".to_string(),
        file: None,
        digest: None,
    };
    let error = embed(&mut client, &model, &["x"]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileUnavailable);
    assert!(error.message().contains("/nowhere/at/all"), "{error}");
    assert_eq!(client.call(&Request::Describe(model)).unwrap_err(), error);
    status(&mut client);
}

#[test]
fn a_missing_library_is_said_to_be_missing() {
    let folder = Folder::new();
    let model = folder.tiny_model();
    let ragd = Ragd::start();
    let mut client = ragd.connect();
    let Response::Model(info) = client.call(&Request::Describe(model.clone())).unwrap() else {
        panic!("no model")
    };
    assert_eq!((info.dimension, &*info.pooling), (8, "mean"));
    let error = embed(&mut client, &model, &["x"]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileUnavailable);
    assert!(error.message().contains("/nowhere/libonnxruntime.so"), "{error}");
    assert!(error.hint_text().unwrap().contains("rag.onnxruntime_library"));
}

#[test]
fn a_model_says_what_its_similarities_mean_if_a_file_does() {
    let (plain, calibrated) = (Folder::new(), Folder::new());
    let text = Calibration::generic().unwrap().to_json().unwrap();
    let models = [plain.tiny_model(), calibrated.tiny_model()];
    std::fs::write(calibrated.path().join(CALIBRATION_FILE), &text).unwrap();
    let ragd = Ragd::start();
    let mut client = ragd.connect();
    let mut calibration = |model: &ModelRef| {
        let answer = client.call(&Request::Calibrate(model.clone())).unwrap();
        let Response::Calibration(calibration) = answer else { panic!("{answer:?}") };
        calibration
    };
    assert_eq!(calibration(&models[0]), None);
    assert_eq!(calibration(&models[1]), Some(text));
}

#[test]
fn documents_are_cut_without_the_library() {
    let folder = Folder::new();
    let model = folder.tiny_model();
    let ragd = Ragd::start();
    let cut = |documents: Vec<String>| {
        let options = ChunkingOptions {
            by: ChunkingMethod::Recursive,
            max_tokens: 16,
            ..ChunkingOptions::default()
        };
        let request =
            Request::Chunk { model: model.clone(), documents, options, distances: Vec::new() };
        match ragd.connect().call(&request).unwrap() {
            Response::Chunks(chunks) => chunks,
            other => panic!("{other:?}"),
        }
    };
    let ten_megabytes = "Words é and 東京, more words. \n\n".repeat(300_000);
    let documents = vec!["x x x".to_string(), String::new(), ten_megabytes];
    let chunks = cut(documents.clone());
    assert_eq!(chunks[0].len(), 1);
    assert_eq!((&*chunks[0][0].content, chunks[0][0].token_count), ("x x x", 3));
    assert!(chunks[1].is_empty());
    let kept: usize = chunks[2].iter().map(|chunk| chunk.content.split_whitespace().count()).sum();
    assert_eq!(kept, documents[2].split_whitespace().count());
    assert!(chunks[2].iter().all(|chunk| chunk.token_count <= 16));
}

#[test]
fn source_code_is_parsed_in_a_process_of_its_own() {
    let folder = Folder::new();
    let model = folder.tiny_model();
    let ragd = Ragd::start();
    let cut = |by, settings: &MethodSettings, document: &str| {
        let (max_tokens, settings) = (64, settings.clone());
        let options = ChunkingOptions { by, max_tokens, settings, ..ChunkingOptions::default() };
        let documents = vec![document.to_owned()];
        let (model, distances) = (model.clone(), Vec::new());
        let request = Request::Chunk { model, documents, options, distances };
        match ragd.connect().call(&request).unwrap() {
            Response::Chunks(mut chunks) => chunks.remove(0),
            other => panic!("{other:?}"),
        }
    };
    let python = MethodSettings { language: Some(Language::Python), ..MethodSettings::default() };
    // On a busy machine the parser's time may be over before it has begun.
    eventually("a class is found", || {
        let found =
            cut(ChunkingMethod::Code, &python, "class A:\n    def f(self):\n        return 1\n");
        found[0].heading.as_deref() == Some("class A > def f")
    });
    let nested = MethodSettings { base: Some(ChunkingMethod::Code), ..MethodSettings::default() };
    eventually("a function is found", || {
        let found = cut(ChunkingMethod::Hierarchical, &nested, "def f():\n    return 1\n");
        (found[0].heading.as_deref(), found[0].parent) == (Some("def f"), Some((0, 21)))
    });
    // The parser's time for this grows faster than its length; it is cut by its lines all the same.
    let typescript =
        MethodSettings { language: Some(Language::TypeScript), ..MethodSettings::default() };
    let document = "case 1:\n".repeat(50_000);
    let started = Instant::now();
    let found = cut(ChunkingMethod::Code, &typescript, &document);
    assert!(started.elapsed() < Duration::from_secs(30), "took {:?}", started.elapsed());
    let kept: usize = found.iter().map(|chunk| chunk.content.split_whitespace().count()).sum();
    assert_eq!(kept, 100_000);
}

#[test]
fn a_provider_it_does_not_know_is_named() {
    let ragd = Ragd::start();
    let provider = ProviderConfig {
        name: "oracle".to_string(),
        api: "delphi".to_string(),
        base_url: "http://127.0.0.1:9".to_string(),
        model: "m".to_string(),
        api_key: KeySource::None,
        connect_timeout_ms: 100,
        timeout_ms: 100,
        max_retries: 0,
        special: Default::default(),
        limits: CallLimits::default(),
        network: Network::default(),
    };
    let request = Request::Generate(GenerateRequest {
        provider,
        messages: Vec::new(),
        sampling: Default::default(),
        max_tokens: None,
        schema: None,
        tools: None,
        lane: Lane::Query,
    });
    let error = ragd.connect().call(&request).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("delphi"), "{error}");
}

/// A request to have `server` answer in the form of `schema`.
fn formed_by(server: &Server, schema: &serde_json::Value) -> Request {
    let Request::GenerateStream(request) = told_by(server) else { panic!("another request") };
    Request::Generate(GenerateRequest { schema: Some(schema.to_string()), ..request })
}

#[test]
fn an_answer_has_the_form_of_its_schema() {
    let server = Server::answer(|_| Reply::chat(r#"{"city": "Ulm"}"#));
    let ragd = Ragd::start();
    let mut connection = ragd.connect();
    let city = serde_json::json!({"type": "object", "required": ["city"]});
    let Response::Text(generated) = connection.call(&formed_by(&server, &city)).unwrap() else {
        panic!("no text")
    };
    assert_eq!(generated.text, r#"{"city": "Ulm"}"#);
    let rooms = serde_json::json!({"type": "object", "required": ["rooms"]});
    let error = connection.call(&formed_by(&server, &rooms)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ProviderFailed);
    assert!(error.message().contains("\"rooms\" is a required property"), "{error}");
    let calls = server.requests().len();
    let error = connection.call(&formed_by(&server, &serde_json::json!({"type": "objekt"})));
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    assert!(error.message().contains("schema is not a JSON schema: at /type"), "{error}");
    assert_eq!(server.requests().len(), calls, "it is refused before anything is paid for");
}

/// Each of forty definitions refers twice to the next one: the last is checked 2^40 times.
#[test]
fn a_schema_that_takes_for_ever_is_given_up() {
    let mut definitions: serde_json::Map<String, serde_json::Value> = (0..40)
        .map(|number| {
            let next = serde_json::json!({"$ref": format!("#/$defs/a{}", number + 1)});
            (format!("a{number}"), serde_json::json!({"allOf": [next, next]}))
        })
        .collect();
    definitions.insert("a40".to_string(), serde_json::json!({"type": "string"}));
    let schema = serde_json::json!({"$ref": "#/$defs/a0", "$defs": definitions});
    let server = Server::answer(|_| Reply::chat("\"Ulm\""));
    let ragd = Ragd::start();
    let mut connection = ragd.connect();
    let error = connection.call(&formed_by(&server, &schema)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    assert!(error.message().starts_with("schema is too complex"), "{error}");
    assert!(error.bill().is_some(), "the answer has been paid for");
    // ragd goes on.
    assert!(matches!(connection.call(&Request::Status).unwrap(), Response::Status(_)));
}

/// A request to have `server` tell an answer while it writes it.
fn told_by(server: &Server) -> Request {
    let provider = ProviderConfig {
        name: "teller".to_string(),
        api: "openai".to_string(),
        base_url: server.base_url(),
        model: "m".to_string(),
        api_key: KeySource::None,
        connect_timeout_ms: 1000,
        timeout_ms: 30_000,
        max_retries: 0,
        special: Default::default(),
        limits: CallLimits::default(),
        network: Network::default(),
    };
    Request::GenerateStream(GenerateRequest {
        provider,
        messages: Vec::new(),
        sampling: Default::default(),
        max_tokens: None,
        schema: None,
        tools: None,
        lane: Lane::Query,
    })
}

#[test]
fn an_answer_is_told_while_it_is_written() {
    let server = Server::play([Reply::chat_stream([
        (Duration::ZERO, "Two "),
        (Duration::from_millis(1500), "words."),
    ])]);
    let ragd = Ragd::start();
    let mut connection = ragd.connect();
    let mut pieces = Vec::new();
    let last = connection.listen(&told_by(&server), |piece| {
        pieces.push((piece.to_string(), Instant::now()));
    });
    let Response::Text(generated) = last.unwrap() else { panic!("no end") };
    assert_eq!((generated.text.as_str(), generated.attempts), ("Two words.", 1));
    let texts: Vec<&str> = pieces.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(texts, ["Two ", "words."]);
    // Whoever hears the first late hears the second sooner after it.
    assert!(pieces[1].1 - pieces[0].1 > Duration::from_millis(50), "both came together");
    // The connection serves on.
    assert!(matches!(connection.call(&Request::Status).unwrap(), Response::Status(_)));
}

#[test]
fn who_leaves_in_the_middle_of_an_answer_ends_it() {
    let long = Duration::from_secs(60);
    let server = Server::play([Reply::chat_stream([(Duration::ZERO, "One "), (long, "two")])]);
    let ragd = Ragd::start();
    let mut connection = ragd.connect();
    connection.send(&told_by(&server)).unwrap();
    assert_eq!(connection.receive().unwrap(), Response::Piece("One ".to_string()));
    drop(connection);
    let left = Instant::now();
    while server.abandoned() == 0 {
        assert!(left.elapsed() < Duration::from_secs(30), "the provider writes on");
        thread::sleep(Duration::from_millis(5));
    }
    println!("the provider was let go after {:?}", left.elapsed());
}

#[test]
fn all_sessions_leave_a_busy_provider_alone() {
    let busy = Reply::new(429).header("Retry-After", "30");
    let vectors = r#"{"data": [{"embedding": [0, 2]}], "usage": {"prompt_tokens": 3}}"#;
    let server = Server::play([Reply::json(200, vectors), busy]);
    let provider = ProviderConfig {
        name: "hosted".to_string(),
        api: "openai".to_string(),
        base_url: server.base_url(),
        model: "m".to_string(),
        api_key: KeySource::None,
        connect_timeout_ms: 1000,
        timeout_ms: 10_000,
        max_retries: 3,
        special: Default::default(),
        limits: CallLimits::default(),
        network: Network::default(),
    };
    let texts = vec!["text".to_string()];
    let (lane, dimension) = (Lane::Bulk, Some(2));
    let request = Request::EmbedRemotely(EmbedRequest {
        provider,
        dimension,
        lane,
        kind: EmbeddingKind::Passage,
        texts,
    });
    let ragd = Ragd::start();
    let embedded = ragd.connect().call(&request).unwrap();
    let values = vec![0.0, 1.0];
    assert_eq!(embedded, Response::Vectors { dimension: 2, values, tokens: 3 });
    for _ in 0..3 {
        let error = ragd.connect().call(&request).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ProviderBusy, "{error}");
        let delay = error.retry_delay().expect("a time to wait");
        assert!(delay > Duration::from_secs(25) && delay < Duration::from_secs(31), "{delay:?}");
    }
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_changed_model_is_refused_until_it_is_itself_again() {
    let folder = Folder::new();
    let mut model = folder.tiny_model();
    let ragd = Ragd::start();
    let mut client = ragd.connect();
    let mut describe = |model: &ModelRef| match client.call(&Request::Describe(model.clone())) {
        Ok(Response::Model(info)) => Ok(info),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error),
    };
    let digest = describe(&model).unwrap().digest;
    model.digest = Some(digest.clone());
    assert_eq!(describe(&model).unwrap().digest, digest);

    fs::write(folder.path().join("model.onnx"), "another graph").unwrap();
    let error = describe(&model).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileCorrupted);
    assert_eq!(error.message(), "model \"tiny\" has changed on disk since it was registered");
    let detail = error.detail_text().unwrap();
    assert!(detail.contains(&digest), "{detail}");
    assert!(error.hint_text().unwrap().contains("rag_add_model"));

    folder.tiny_model();
    assert_eq!(describe(&model).unwrap().digest, digest);
}
