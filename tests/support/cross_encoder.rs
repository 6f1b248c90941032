//! A tiny cross-encoder for tests, made by the cache's Python with the tokenizer of all-minilm-l6-v2.

use std::io::Write;
use std::path::Path;

use super::python;

/// Makes a cross-encoder that gives `labels` numbers a pair in `target`; gives what plain ONNX
/// Runtime computes for `pairs`. `None`, with a word, where Python or the model is not there.
pub fn make(target: &Path, labels: usize, pairs: &[(&str, &str)]) -> Option<Vec<Vec<f32>>> {
    let (mut command, model) = python::script("cross_encoder.py")?;
    let mut child =
        command.args([&model, target]).arg(labels.to_string()).spawn().expect("Python starts");
    let input = serde_json::to_vec(pairs).expect("pairs are JSON");
    child.stdin.take().expect("a pipe").write_all(&input).expect("Python reads");
    let output = child.wait_with_output().expect("Python ends");
    assert!(output.status.success());
    Some(serde_json::from_slice(&output.stdout).expect("numbers"))
}
