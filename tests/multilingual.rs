//! The way of a multilingual model from its wheel's format to vectors: blocks of 4 bit numbers and a
//! unigram vocabulary are converted as set-up does it, and a real ragd embeds with the result.
//!
//! The model is tiny and made here. Wants ONNX Runtime and the cache's Python, which `make` puts in
//! the cache, and says so where it is skipped.

#[allow(dead_code)]
mod support {
    pub mod python;
    pub mod ragd;
    pub mod tiny_e5;
}

use pg_rag::daemon::connection::ClientConnection;
use pg_rag::embed::EmbeddingKind;
use pg_rag::protocol::{Lane, ModelInfo, ModelRef, Request, Response};

use support::ragd::{Folder, Installed, request};
use support::tiny_e5;

/// The files, and the least cosine of their vectors with those that are computed without ONNX.
const FILES: [(&str, f32); 2] = [("onnx/model.onnx", 0.99999), ("onnx/model_int8.onnx", 0.999)];

fn model(folder: &Folder, file: &str) -> ModelRef {
    let path = folder.path().to_str().unwrap().to_string();
    ModelRef { name: "tiny-e5".to_string(), path, file: Some(file.to_string()), digest: None }
}

fn embed(client: &mut ClientConnection, model: &ModelRef, text: (EmbeddingKind, &str)) -> Vec<f32> {
    match client.call(&request(model, text.0, Lane::Query, &[text.1])).unwrap() {
        Response::Vectors { values, .. } => values,
        other => panic!("{other:?}"),
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Each text has the vector of these tokens, by both files.
fn check(texts: &[((EmbeddingKind, &str), &[&str])]) {
    let folder = Folder::new();
    let tokens: Vec<&[&str]> = texts.iter().map(|(_, tokens)| *tokens).collect();
    let Some(expected) = tiny_e5::make(folder.path(), &tokens) else { return };
    let Some(installed) = Installed::find() else { return };
    let ragd = installed.start();
    for (file, least) in FILES {
        for ((text, _), expected) in texts.iter().zip(&expected) {
            let vector = embed(&mut ragd.connect(), &model(&folder, file), *text);
            let cosine = cosine(&vector, expected);
            assert!(cosine > least, "{file}, {text:?}: {cosine}");
        }
    }
}

#[test]
fn vectors_are_those_of_the_packed_numbers() {
    use EmbeddingKind::{Passage, Query};
    check(&[
        ((Query, ""), &["<s>", "▁query", ":", "</s>"]),
        ((Query, "out"), &["<s>", "▁query", ":", "▁out", "</s>"]),
        ((Passage, "out"), &["<s>", "▁passage", ":", "▁out", "</s>"]),
    ]);
}

#[test]
fn characters_are_replaced_before_tokens_are_cut() {
    use EmbeddingKind::{Passage, Query};
    check(&[
        (
            (Passage, "Straße\tﬁn\u{3000}東京は"),
            &["<s>", "▁passage", ":", "▁Stra", "ße", "▁fin", "▁", "東京", "は", "</s>"],
        ),
        // An accent of its own goes with its letter, and what stands for nothing goes away.
        (
            (Query, "  cafe\u{301}  o\u{1}ut ½"),
            &["<s>", "▁query", ":", "▁caf", "é", "▁out", "▁", "<unk>", "</s>"],
        ),
    ]);
}

#[test]
fn the_folder_says_prefixes_and_limits() {
    let folder = Folder::new();
    let Some(_) = tiny_e5::make(folder.path(), &[]) else { return };
    let Some(installed) = Installed::find() else { return };
    let ragd = installed.start();
    let request = Request::Describe(model(&folder, "onnx/model_int8.onnx"));
    let info: ModelInfo = match ragd.connect().call(&request).unwrap() {
        Response::Model(info) => info,
        other => panic!("{other:?}"),
    };
    assert_eq!((&*info.query_prefix, &*info.passage_prefix), ("query: ", "passage: "));
    assert_eq!((info.dimension, info.max_tokens, info.normalize), (64, 64, true));
    assert_eq!(info.pooling.as_str(), "mean");
}
