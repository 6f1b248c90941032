//! Passages read again by a model, through a real ragd: late interaction by all-minilm-l6-v2,
//! and a small cross-encoder that is made here and compared with plain ONNX Runtime.
//!
//! Wants that model and ONNX Runtime, which `make` puts in the cache, and says so where
//! it is skipped; the cross-encoder wants the cache's Python too.

#[allow(dead_code)]
mod support {
    pub mod cross_encoder;
    pub mod python;
    pub mod ragd;
}

use pg_rag::daemon::connection::ClientConnection;
use pg_rag::embed::EmbeddingKind;
use pg_rag::error::{Error, ErrorKind};
use pg_rag::protocol::{Lane, ModelInfo, ModelRef, ModelTask, Request, Response};

use support::cross_encoder;
use support::ragd::{Folder, Installed};

fn call(client: &mut ClientConnection, request: &Request) -> Result<Response, Error> {
    client.call(request)
}

fn rerank(
    client: &mut ClientConnection,
    model: &ModelRef,
    query: &str,
    passages: &[&str],
) -> Result<Vec<f32>, Error> {
    let passages = passages.iter().map(|text| text.to_string()).collect();
    let request = Request::Rerank { model: model.clone(), query: query.to_string(), passages };
    match call(client, &request)? {
        Response::Scores { scores, .. } => Ok(scores),
        other => panic!("{other:?}"),
    }
}

fn describe(client: &mut ClientConnection, model: &ModelRef) -> ModelInfo {
    match call(client, &Request::Describe(model.clone())).unwrap() {
        Response::Model(info) => info,
        other => panic!("{other:?}"),
    }
}

const QUERY: &str = "How do I reset my password?";

const PASSAGES: [&str; 5] = [
    "Invoices are sent on the first day of each month.",
    "To reset your password, open the settings page.",
    "",
    "Die Sicherung läuft jede Nacht um zwei Uhr.",
    "A new password can be requested by those who have forgotten theirs; it comes by mail.",
];

// Late interaction

#[test]
fn tokens_that_match_are_told_from_those_that_do_not() {
    let Some(installed) = Installed::find() else { return };
    let ragd = installed.start();
    for file in ["onnx/model.onnx", "onnx/model_int8.onnx"] {
        let model = installed.model(file);
        let scores = rerank(&mut ragd.connect(), &model, QUERY, &PASSAGES).unwrap();
        println!("{file}: {scores:?}");
        assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)));
        assert!(scores[1] > 2.0 * scores[0] && scores[4] > 2.0 * scores[0], "{scores:?}");
        assert!(scores[1] > scores[4] && scores[2] < scores[4], "{scores:?}");
    }
}

#[test]
fn a_text_matches_itself() {
    let Some(installed) = Installed::find() else { return };
    let ragd = installed.start();
    let model = installed.model("onnx/model.onnx");
    let score = rerank(&mut ragd.connect(), &model, QUERY, &[QUERY]).unwrap()[0];
    assert!((score - 1.0).abs() < 1e-4, "{score}");
}

#[test]
fn a_passage_has_one_score_alone_or_in_company() {
    let Some(installed) = Installed::find() else { return };
    let ragd = installed.start();
    let model = installed.model("onnx/model.onnx");
    let mut client = ragd.connect();
    let long = "A password is a secret word. ".repeat(100);
    let passages: Vec<&str> = PASSAGES.into_iter().chain([&*long]).collect();
    let together = rerank(&mut client, &model, QUERY, &passages).unwrap();
    for (passage, expected) in passages.iter().zip(&together) {
        let alone = rerank(&mut client, &model, QUERY, &[passage]).unwrap()[0];
        assert!((alone - expected).abs() < 1e-4, "{alone} and {expected}: {passage}");
    }
    assert!(rerank(&mut client, &model, QUERY, &[]).unwrap().is_empty());
    assert_eq!(rerank(&mut client, &model, "", &["x"]).unwrap().len(), 1);
}

// Cross-encoders

/// A cross-encoder in `folder`, and what plain ONNX Runtime gives for pairs; `None` where there
/// is no Python for it.
fn made(
    folder: &Folder,
    labels: usize,
    pairs: &[(&str, &str)],
) -> Option<(ModelRef, Vec<Vec<f32>>)> {
    let target = folder.path().join("cross-encoder");
    let logits = cross_encoder::make(&target, labels, pairs)?;
    let path = target.to_str().unwrap().to_string();
    Some((ModelRef { name: "cross".to_string(), path, file: None, digest: None }, logits))
}

fn sigmoid(value: f32) -> f32 {
    1.0 / (1.0 + (-value).exp())
}

fn check_scores(labels: usize, expected: impl Fn(&[f32]) -> f32) {
    let long_query = "which word is longer ".repeat(20);
    let long_passage = "a text of many words goes on and on ".repeat(20);
    let folder = Folder::new();
    for query in [QUERY, &long_query] {
        let passages: Vec<&str> = PASSAGES.into_iter().chain([&*long_passage]).collect();
        let pairs: Vec<(&str, &str)> = passages.iter().map(|passage| (query, *passage)).collect();
        let Some((model, logits)) = made(&folder, labels, &pairs) else { return };
        let ragd = Installed::find().unwrap().start();
        let scores = rerank(&mut ragd.connect(), &model, query, &passages).unwrap();
        println!("{labels} labels: {scores:?}");
        assert_eq!(scores.len(), logits.len());
        for ((score, logits), passage) in scores.iter().zip(&logits).zip(&passages) {
            let expected = expected(logits);
            assert!((score - expected).abs() < 1e-4, "{score} is not {expected}: {passage}");
        }
    }
}

#[test]
fn scores_of_one_label_are_those_of_plain_onnx_runtime() {
    check_scores(1, |logits| sigmoid(logits[0]));
}

#[test]
fn scores_of_two_labels_are_those_of_plain_onnx_runtime() {
    check_scores(2, |logits| sigmoid(logits[1] - logits[0]));
}

#[test]
fn a_reranker_is_told_from_an_embedding_model() {
    let folder = Folder::new();
    let Some((model, _)) = made(&folder, 1, &[]) else { return };
    let installed = Installed::find().unwrap();
    let ragd = installed.start();
    let mut client = ragd.connect();
    assert_eq!(describe(&mut client, &model).task, ModelTask::Rerank);
    assert_eq!(describe(&mut client, &installed.model("onnx/model.onnx")).task, ModelTask::Embed);
    let texts = vec!["x".to_string()];
    let request = Request::Embed { model, kind: EmbeddingKind::Passage, lane: Lane::Bulk, texts };
    let error = call(&mut client, &request).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WrongObjectType);
    assert!(error.message().contains("is a reranker"), "{error}");
}

#[test]
fn a_classifier_of_three_labels_is_refused() {
    let folder = Folder::new();
    let Some((model, _)) = made(&folder, 3, &[]) else { return };
    let ragd = Installed::find().unwrap().start();
    let error = call(&mut ragd.connect(), &Request::Describe(model)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("3 labels"), "{error}");
}
