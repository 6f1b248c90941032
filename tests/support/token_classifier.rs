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

/// Labels of the model that examples and tests of graphs use.
const LABELS: [&str; 6] = ["O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC"];

/// Words that it knows; the other pieces of a word have another label than its first one.
const WORDS: [(&str, &str); 8] = [
    ("steve", "B-PER"),
    ("hillage", "I-PER"),
    ("daevid", "B-PER"),
    ("allen", "I-PER"),
    ("gong", "B-ORG"),
    ("arzachel", "B-ORG"),
    ("melbourne", "B-LOC"),
    ("canterbury", "B-LOC"),
];

/// Makes a token classifier that knows a few musicians, bands and towns in `target`. False, with a word, where Python or the
/// model is not there.
pub fn make_of_bands(target: &Path) -> bool {
    make(target, &LABELS, &WORDS)
}
