//! A tiny cross-encoder for tests, made by the cache's Python with the default model's tokenizer.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Makes a cross-encoder that gives `labels` numbers a pair in `target`; gives what plain ONNX
/// Runtime computes for `pairs`. `None`, with a word, where Python or the model is not there.
pub fn make(target: &Path, labels: usize, pairs: &[(&str, &str)]) -> Option<Vec<Vec<f32>>> {
    let cache = std::env::var_os("PG_RAG_CACHE").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache/pg_rag"),
        PathBuf::from,
    );
    let (python, model) = (cache.join("python/bin/python"), cache.join("models/all-minilm-l6-v2"));
    if !python.is_file() || !model.is_dir() {
        println!("skipped: no Python or no model under {}", cache.display());
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/cross_encoder.py");
    let mut child = Command::new(python)
        .args([&script, &model, target])
        .arg(labels.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python starts");
    let input = serde_json::to_vec(pairs).expect("pairs are JSON");
    child.stdin.take().expect("a pipe").write_all(&input).expect("Python reads");
    let output = child.wait_with_output().expect("Python ends");
    assert!(output.status.success());
    Some(serde_json::from_slice(&output.stdout).expect("numbers"))
}
