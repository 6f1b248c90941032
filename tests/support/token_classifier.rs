//! A tiny token classifier for tests, made by the cache's Python with the tokenizer of all-minilm-l6-v2.

use std::io::Write;
use std::path::Path;

use serde_json::json;

use super::python;

/// Makes a token classifier with these labels in `target`, which gives words their labels and all others the first
/// one. False, with a word, where Python or the model is not there.
pub fn make(target: &Path, labels: &[&str], words: &[(&str, &str)]) -> bool {
    let Some((mut command, model)) = python::script("token_classifier.py") else { return false };
    let mut child = command.args([&model, target]).spawn().expect("Python starts");
    let words: serde_json::Map<_, _> =
        words.iter().map(|(word, label)| ((*word).to_owned(), json!(label))).collect();
    let input = json!({"labels": labels, "words": words}).to_string();
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("Python reads");
    let output = child.wait_with_output().expect("Python ends");
    assert!(output.status.success());
    true
}
