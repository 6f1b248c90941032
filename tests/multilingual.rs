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

use std::ops::Range;

use pg_rag::daemon::connection::ClientConnection;
use pg_rag::embed::reader::SpanScores;
use pg_rag::embed::{EmbeddingKind, Spanned};
use pg_rag::error::{Error, ErrorKind};
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
        for ((text, _), expected) in texts.iter().zip(&expected.vectors) {
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
fn texts_are_read_in_one_form_and_questions_in_small_letters() {
    use EmbeddingKind::{Passage, Query};
    check(&[
        ((Passage, "\u{FEFF}Stra\u{AD}ße"), &["<s>", "▁passage", ":", "▁Stra", "ße", "</s>"]),
        ((Query, "OUT OUT OUT"), &["<s>", "▁query", ":", "▁out", "▁out", "▁out", "</s>"]),
    ]);
}

#[test]
fn the_reader_says_what_its_packed_numbers_say() {
    let folder = Folder::new();
    let question: &[&str] = &["<s>", "▁query", ":", "▁out", "</s>", "</s>"];
    let pair = [question, &["▁caf", "é", "▁fin", "▁out", "</s>"]].concat();
    let other = [question, &["▁out", "</s>"]].concat();
    let Some(expected) = tiny_e5::make(folder.path(), &[&pair, &other]) else { return };
    let Some(installed) = Installed::find() else { return };
    let ragd = installed.start();
    let place = |text: &str, spans: &[std::ops::Range<usize>]| Spanned {
        text: text.to_string(),
        spans: spans.to_vec(),
    };
    let request = Request::ScoreSpans {
        model: model(&folder, "onnx/model_int8.onnx"),
        lane: Lane::Query,
        question: "out".to_string(),
        // Of different lengths, so that one of them is filled up.
        passages: vec![
            place("café fin out", &[0..5, 6..13, 0..13]),
            place("out", &[Range { start: 0, end: 3 }]),
        ],
    };
    let scores = match ragd.connect().call(&request).unwrap() {
        Response::SpanScores { scores, tokens: 19 } => scores,
        other => panic!("{other:?}"),
    };
    let logits: Vec<Vec<f32>> = expected.logits.iter().map(|it| it.concat()).collect();
    let places = [(0, 6..8), (0, 8..10), (0, 6..10), (1, 6..7)];
    assert_eq!(scores.len(), places.len());
    for (scores, (text, tokens)) in scores.iter().zip(places) {
        let expected = SpanScores::of(&logits[text], &tokens);
        for (one, other) in scores.numbers().iter().zip(expected.numbers()) {
            assert!((one - other).abs() < 0.1, "{scores:?} is not {expected:?}");
        }
    }
}

#[test]
fn a_passage_longer_than_the_model_reads_is_read_in_parts() {
    let folder = Folder::new();
    let Some(_) = tiny_e5::make(folder.path(), &[]) else { return };
    let Some(installed) = Installed::find() else { return };
    let ragd = installed.start();
    let text = "out ".repeat(100);
    let spans: Vec<_> = (0..100).map(|at| 4 * at..4 * at + 3).collect();
    let request = |question: &str| Request::ScoreSpans {
        model: model(&folder, "onnx/model_int8.onnx"),
        lane: Lane::Query,
        question: question.to_string(),
        passages: vec![Spanned { text: text.clone(), spans: spans.clone() }],
    };
    let long = "out ".repeat(1000);
    for question in ["out", "", &long] {
        match ragd.connect().call(&request(question)).unwrap() {
            Response::SpanScores { scores, .. } => {
                assert_eq!(scores.len(), 100);
                let is_finite = |it: &SpanScores| it.numbers().iter().all(|it| it.is_finite());
                assert!(scores.iter().all(is_finite), "{question}");
            }
            other => panic!("{other:?}"),
        }
    }
}

/// The scores of passages by the reader, and the tokens it took.
fn rerank(
    client: &mut ClientConnection,
    model: &ModelRef,
    query: &str,
    passages: &[&str],
) -> Result<(Vec<f32>, u64), Error> {
    let passages = passages.iter().map(|text| text.to_string()).collect();
    let (model, query) = (model.clone(), query.to_string());
    match client.call(&Request::RerankByReader { model, query, passages })? {
        Response::Scores { scores, tokens, .. } => Ok((scores, tokens)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_reader_ranks_passages_and_long_ones_by_their_best_window() {
    let folder = Folder::new();
    let question: &[&str] = &["<s>", "▁query", ":", "▁out", "</s>", "</s>"];
    let long: Vec<&str> = [["▁out"; 50], ["▁fin"; 50]].concat();
    // Beside the question and the last token 57 of 64 have room.
    let windows = [&long[..57], &long[28..85], &long[43..]];
    let short: [&[&str]; 3] = [&["▁caf", "é", "▁fin"], &[], &["▁out"]];
    let texts: Vec<Vec<&str>> = short
        .into_iter()
        .chain(windows)
        .map(|passage| [question, passage, &["</s>"]].concat())
        .collect();
    let texts: Vec<&[&str]> = texts.iter().map(Vec::as_slice).collect();
    let Some(expected) = tiny_e5::make(folder.path(), &texts) else { return };
    let probability = |logits: &Vec<Vec<f32>>| 1.0 / (1.0 + (-logits[0][3]).exp());
    let expected: Vec<f32> = expected.logits.iter().map(probability).collect();
    let best_window = expected[3..].iter().copied().fold(0.0, f32::max);
    let expected = [&expected[..3], &[best_window]].concat();

    let Some(installed) = Installed::find() else { return };
    let ragd = installed.start();
    let (mut client, model) = (ragd.connect(), model(&folder, "onnx/model_int8.onnx"));
    let long = [["out"; 50], ["fin"; 50]].concat().join(" ");
    let passages = ["café fin", "", "out", &long];
    let (scores, tokens) = rerank(&mut client, &model, "out", &passages).unwrap();
    assert_eq!(tokens, 10 + 7 + 8 + 3 * 64);
    for ((score, expected), passage) in scores.iter().zip(&expected).zip(passages) {
        assert!((score - expected).abs() < 0.03, "{score} is not {expected}: {passage}");
        let (alone, _) = rerank(&mut client, &model, "out", &[passage]).unwrap();
        assert!((alone[0] - score).abs() < 0.03, "{score} in company, {alone:?} alone: {passage}");
    }
    assert_eq!(rerank(&mut client, &model, "out", &[]).unwrap(), (vec![], 0));
    // Of a very long passage the beginning is read.
    let endless = "out ".repeat(100_000);
    let (scores, tokens) = rerank(&mut client, &model, "out", &[&endless]).unwrap();
    assert!(scores[0] > 0.0 && (16_384..80_000).contains(&tokens), "{scores:?}, {tokens}");
}

#[test]
fn what_has_no_reader_says_so_and_a_broken_one_is_not_taken_for_none() {
    let folder = Folder::new();
    let Some(_) = tiny_e5::make(folder.path(), &[]) else { return };
    let Some(installed) = Installed::find() else { return };
    let ragd = installed.start();
    let read = || {
        let model = model(&folder, "onnx/model_int8.onnx");
        let (question, lane) = ("out".to_string(), Lane::Query);
        let passages =
            vec![Spanned { text: "out".to_string(), spans: vec![Range { start: 0, end: 3 }] }];
        ragd.connect().call(&Request::ScoreSpans { model, lane, question, passages })
    };
    let onnx = folder.path().join("onnx");
    assert!(matches!(read(), Ok(Response::SpanScores { .. })));
    let reader = onnx.join("reader_int8.onnx");
    let whole = std::fs::read(&reader).unwrap();
    let encoder = std::fs::read(onnx.join("model_int8.onnx")).unwrap();
    // An encoder is no reader.
    for damaged in [&encoder[..], &whole[..whole.len() / 2], b"not a graph", b""] {
        std::fs::write(&reader, damaged).unwrap();
        let error = loop {
            // The files of a model in use are looked at once a second.
            match read() {
                Ok(_) => std::thread::yield_now(),
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), ErrorKind::FileCorrupted, "{error}");
        let model = model(&folder, "onnx/model_int8.onnx");
        let error = rerank(&mut ragd.connect(), &model, "out", &["out"]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileCorrupted, "{error}");
        std::fs::write(&reader, &whole).unwrap();
        while read().is_err() {
            std::thread::yield_now();
        }
    }
    std::fs::remove_file(onnx.join("reader_int8.onnx")).unwrap();
    let error = loop {
        match read() {
            Err(error) if error.kind() == ErrorKind::Unsupported => break error,
            _ => std::thread::yield_now(),
        }
    };
    assert_eq!(error.message(), "model \"tiny-e5\" has no reader");
    let model = model(&folder, "onnx/model_int8.onnx");
    let error = rerank(&mut ragd.connect(), &model, "out", &["out"]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.hint_text().is_some_and(|hint| hint.contains("late_interaction")), "{error}");
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
    assert!(info.has_reader);
    assert_eq!(info.pooling.as_str(), "mean");
}
