//! ragd as its clients see it: requests and answers over a real socket. What it embeds is the subject of
//! `daemon_embed.rs`.

#[path = "support/http_server.rs"]
mod http_server;
#[path = "support/provider.rs"]
mod provider;
#[path = "daemon/providers.rs"]
mod providers;
#[path = "support/ragd.rs"]
#[allow(dead_code)]
mod ragd;
#[path = "daemon/static_embeddings.rs"]
mod static_embeddings;
#[path = "support/static_table.rs"]
mod static_table;

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use pg_rag::chunk::{ChunkingMethod, ChunkingOptions, Language, MethodSettings};
use pg_rag::daemon::connection::ClientConnection;
use pg_rag::embed::calibration::{CALIBRATION_FILE, Calibration};
use pg_rag::error::ErrorKind;
use pg_rag::protocol::{MAX_FRAME, ModelRef, Request, Response, decode};
use ragd::{Folder, Ragd, embed, eventually, status};

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
    let mut parent = ragd::shell_that_starts_ragd(&socket);
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
