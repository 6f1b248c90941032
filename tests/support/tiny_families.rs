//! Tiny models of the families that users bring, made by the cache's Python.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use super::python;

/// By family and text, what its model gives: the vectors of the tokens, or one row of logits.
pub type Given = HashMap<String, Vec<Vec<Vec<f32>>>>;

/// Makes the models of all families in folders of `target`; computes without ONNX what they give for `texts`, which are
/// tokens with a space between them. `None`, with a word, where Python or `all-minilm-l6-v2` is not there.
pub fn make(target: &Path, texts: &[(&str, &[&str])]) -> Option<Given> {
    let (mut command, _) = python::script("tiny_families.py")?;
    let mut tokens: HashMap<&str, Vec<Vec<&str>>> = HashMap::new();
    for (family, texts) in texts {
        let texts = texts.iter().map(|text| text.split(' ').collect());
        tokens.insert(family, texts.collect());
    }
    let mut child = command.arg(target).spawn().expect("Python starts");
    let input = serde_json::to_vec(&tokens).expect("texts are JSON");
    child.stdin.take().expect("a pipe").write_all(&input).expect("Python reads");
    let output = child.wait_with_output().expect("Python ends");
    assert!(output.status.success());
    Some(serde_json::from_slice(&output.stdout).expect("rows of numbers"))
}
