//! ragd is asked whether anything in it hangs: it answers whatever it does, and what it says is true.
//!
//! What needs a model wants the default one and ONNX Runtime, which `make` puts in the cache, or the
//! cache's Python, and says so where it is skipped.

#[allow(dead_code)]
mod support {
    pub mod endless_model;
    pub mod python;
    pub mod ragd;
}

use std::fs::OpenOptions;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use pg_rag::daemon::connection::ClientConnection;
use pg_rag::embed::EmbeddingKind;
use pg_rag::error::ErrorKind;
use pg_rag::protocol::{Lane, ModelRef, Request, Response};

use support::endless_model;
use support::ragd::{Folder, Installed, Ragd, eventually, request, status};

/// A limit that nothing exceeds which is alive.
const LONG: u64 = 600_000;

/// What hangs, by an answer that must come.
fn hang(client: &mut ClientConnection, timeout_ms: u64) -> Option<String> {
    match client.call(&Request::Heartbeat { timeout_ms }).unwrap() {
        Response::Heartbeat { hang } => hang,
        other => panic!("{other:?}"),
    }
}

/// Asks until something hangs.
fn wait_for_hang(client: &mut ClientConnection, timeout_ms: u64) -> String {
    let end = Instant::now() + Duration::from_secs(120);
    loop {
        assert!(Instant::now() < end, "nothing hangs");
        thread::sleep(Duration::from_millis(10));
        if let Some(why) = hang(client, timeout_ms) {
            return why;
        }
    }
}

fn embed(model: &ModelRef, texts: &[&str]) -> Request {
    request(model, EmbeddingKind::Passage, Lane::Bulk, texts)
}

#[test]
fn nothing_hangs_where_nothing_is_done() {
    let ragd = Ragd::start();
    let mut client = ragd.connect();
    // However short the limit is, and however often it is asked.
    for _ in 0..20 {
        assert_eq!(hang(&mut client, 1), None);
    }
}

#[test]
fn it_answers_while_a_model_computes() {
    let Some(installed) = Installed::find() else { return };
    let ragd = installed.start();
    let model = installed.model("onnx/model_int8.onnx");
    let mut bulk = ragd.connect();
    bulk.call(&embed(&model, &["warm"])).unwrap();
    let text = "All work and no play makes a dull day. ".repeat(30);
    bulk.send(&embed(&model, &[&*text; 1000])).unwrap();
    eventually("the texts wait", || status(&mut ragd.connect()).waiting > 0);
    let mut client = ragd.connect();
    for _ in 0..50 {
        assert_eq!(hang(&mut client, LONG), None);
    }
    assert!(status(&mut client).waiting > 0, "the answers came after the computation");
}

/// The library is a pipe that nobody writes to, so opening it never ends.
#[test]
fn a_load_that_stands_still_hangs() {
    let folder = Folder::new();
    let model = folder.tiny_model();
    let library = folder.path().join("libonnxruntime.so");
    assert!(Command::new("mkfifo").arg(&library).status().unwrap().success());
    let ragd = Ragd::start_with(&library, &[]);
    let (mut client, mut other) = (ragd.connect(), ragd.connect());
    client.send(&embed(&model, &["x"])).unwrap();
    let why = wait_for_hang(&mut other, 100);
    assert!(why.starts_with("the loading of model \"tiny\" has stood still for "), "{why}");
    // Who waits for the same model does not hang by himself, and keeps nobody from answering.
    ragd.connect().send(&Request::Describe(model)).unwrap();
    assert_eq!(hang(&mut other, LONG), None);

    // Somebody opens the other end, which needs no more than that.
    drop(OpenOptions::new().write(true).open(&library).unwrap());
    let error = client.receive().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileUnavailable, "{error}");
    let end = Instant::now() + Duration::from_secs(60);
    while hang(&mut other, 100).is_some() {
        assert!(Instant::now() < end, "it hangs for ever");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_computation_without_end_hangs() {
    let Some(installed) = Installed::find() else { return };
    let folder = Folder::new();
    if !endless_model::make(folder.path()) {
        return;
    }
    let path = folder.path().to_str().unwrap().to_string();
    let model = ModelRef { name: "loop".to_string(), path, file: None, digest: None };
    let ragd = installed.start();
    let (mut client, mut other) = (ragd.connect(), ragd.connect());
    client.call(&embed(&model, &["a text", "another"])).unwrap();
    assert_eq!(hang(&mut other, LONG), None);
    client.send(&embed(&model, &["an endless text"])).unwrap();
    let why = wait_for_hang(&mut other, 500);
    assert!(why.starts_with("a batch of model \"loop\" has gone on for "), "{why}");
    // A short question to the model does not wait for it, other texts do.
    let mut load = ragd.connect();
    load.send(&embed(&model, &["another text"])).unwrap();
    eventually("it waits", || status(&mut ragd.connect()).waiting == 1);
    let question = request(&model, EmbeddingKind::Query, Lane::Query, &["a question"]);
    for _ in 0..3 {
        assert!(matches!(other.call(&question), Ok(Response::Vectors { .. })));
    }
    assert_eq!(status(&mut other).waiting, 1);
    // Other models go on.
    let usual = installed.model("onnx/model_int8.onnx");
    assert!(matches!(other.call(&embed(&usual, &["x"])), Ok(Response::Vectors { .. })));
}
