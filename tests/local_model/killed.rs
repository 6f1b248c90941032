//! The process of a local model is killed again and again: each call is answered, or fails with an error that says why,
//! no session ends, and embeddings go on.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use pg_rag::error::ErrorKind;

use super::gguf::{InstalledLlm, generate};
use super::ragd::{Installed, Ragd, embed, eventually};
use super::rounds;

const WRITERS: usize = 8;
const EMBEDDERS: usize = 2;

/// Between two embeddings of a session. Without it they would leave little of two cores to the model, whose process
/// gives way to all others.
const PAUSE: Duration = Duration::from_millis(50);

const TEXTS: [&str; 2] = ["The miller carried flour to the river.", "Snow fell on the town."];

/// What was done by all sessions so far.
#[derive(Default)]
struct DoneWork {
    is_over: AtomicBool,
    written: AtomicUsize,
    failed: AtomicUsize,
    embedded: AtomicUsize,
}

impl DoneWork {
    fn goes_on(&self) -> bool {
        !self.is_over.load(Ordering::Relaxed)
    }
}

/// Lets the sessions come to an end, also where a test fails meanwhile.
struct OverAtEnd<'a>(&'a DoneWork);

impl Drop for OverAtEnd<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_killed_process_ends_no_session() {
    let Some(llm) = InstalledLlm::find() else { return };
    let installed = Installed::find();
    let ragd = match &installed {
        Some(installed) => llm.start_with_onnxruntime(installed.library()),
        None => llm.start(),
    };
    let kills = rounds(5);
    let done = DoneWork::default();
    thread::scope(|scope| {
        let (ragd, llm, done) = (&ragd, &llm, &done);
        let _over = OverAtEnd(done);
        for _ in 0..WRITERS {
            scope.spawn(move || keep_writing(ragd, llm, done));
        }
        if let Some(installed) = &installed {
            for _ in 0..EMBEDDERS {
                scope.spawn(move || keep_embedding(ragd, installed, done));
            }
        }
        let mut killed: BTreeSet<libc::pid_t> = BTreeSet::new();
        while killed.len() < kills {
            let written = done.written.load(Ordering::Relaxed);
            let embedded = done.embedded.load(Ordering::Relaxed);
            eventually("a text is written", || done.written.load(Ordering::Relaxed) > written);
            // A session has one call under way, so of so many one was begun after the last kill.
            eventually("embeddings go on", || {
                installed.is_none() || done.embedded.load(Ordering::Relaxed) > embedded + EMBEDDERS
            });
            let running = || ragd.children().into_iter().find(|it| !killed.contains(it));
            eventually("another process runs", || running().is_some());
            let process = running();
            ragd.signal_children(libc::SIGKILL);
            killed.extend(process);
        }
    });
    let DoneWork { written, failed, embedded, .. } = done;
    let (written, failed, embedded) =
        (written.into_inner(), failed.into_inner(), embedded.into_inner());
    println!("{kills} kills: {written} texts, {failed} calls failed, {embedded} embeddings");
    assert!(written >= kills);
}

/// Has texts written in one session, whose last call comes after all kills and is answered.
fn keep_writing(ragd: &Ragd, llm: &InstalledLlm, done: &DoneWork) {
    let mut client = ragd.connect();
    let question = || llm.request("What is two plus two?", 12);
    while done.goes_on() {
        match generate(&mut client, question()) {
            Ok(text) => {
                assert!(!text.text.is_empty());
                done.written.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::ProviderFailed, "{error}");
                assert!(error.message().contains("signal 9"), "{error}");
                done.failed.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
    generate(&mut client, question()).unwrap();
}

/// Embeds in one session, without a failure, and gets the same vectors each time.
fn keep_embedding(ragd: &Ragd, installed: &Installed, done: &DoneWork) {
    let mut client = ragd.connect();
    let model = installed.model("onnx/model.onnx");
    let first = embed(&mut client, &model, &TEXTS).unwrap();
    while done.goes_on() {
        let again = embed(&mut client, &model, &TEXTS).unwrap();
        for (one, other) in first.iter().zip(&again) {
            let cosine: f32 = one.iter().zip(other).map(|(one, other)| one * other).sum();
            assert!(cosine > 0.999, "{cosine}");
        }
        done.embedded.fetch_add(1, Ordering::Relaxed);
        thread::sleep(PAUSE);
    }
}
