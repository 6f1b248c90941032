//! Static embeddings, by a ragd without ONNX Runtime.

use std::path::Path;

use half::f16;
use pg_rag::daemon::connection::ClientConnection;
use pg_rag::embed::{EmbeddingKind, Spanned};
use pg_rag::error::ErrorKind;
use pg_rag::protocol::{Lane, ModelInfo, ModelRef, Request, Response};

use super::ragd::{Folder, Ragd, embed, request, status};
use super::static_table::{
    DIMENSION, TOKENS, Tensor, assert_same, embeddings, mean, normalized, vector, write,
};

fn model(folder: &Path) -> ModelRef {
    let path = folder.to_str().unwrap().to_owned();
    ModelRef { name: "static".to_owned(), path, file: None, digest: None }
}

fn describe(client: &mut ClientConnection, model: &ModelRef) -> ModelInfo {
    match client.call(&Request::Describe(model.clone())).unwrap() {
        Response::Model(info) => info,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_text_has_the_mean_of_the_vectors_of_its_known_tokens() {
    let ragd = Ragd::start();
    let mut client = ragd.connect();
    for dtype in ["F16", "F32", "F64"] {
        let folder = Folder::new();
        write(folder.path(), &[embeddings(dtype)], true);
        let texts = ["Ink is black.", "Ink is purple.", "ink", "", "purple", "[CLS] ink"];
        let vectors = embed(&mut client, &model(folder.path()), &texts).unwrap();
        assert_same("a text", &vectors[0], &normalized(mean(&["ink", "is", "black", "."])));
        assert_same("a text", &vectors[1], &normalized(mean(&["ink", "is", "."])));
        assert_same("a text", &vectors[2], &normalized(mean(&["ink"])));
        assert_same("a text", &vectors[3], &[0.0; DIMENSION]);
        assert_same("a text", &vectors[4], &[0.0; DIMENSION]);
        // What a text says itself counts.
        assert_same("a text", &vectors[5], &normalized(mean(&["[CLS]", "ink"])));
    }
    assert_eq!(status(&mut client).models, ["static"; 3]);
}

#[test]
fn vectors_are_scaled_only_if_the_configuration_says_so() {
    let (ragd, folder) = (Ragd::start(), Folder::new());
    write(folder.path(), &[embeddings("F32")], false);
    let vectors = embed(&mut ragd.connect(), &model(folder.path()), &["Paper is black"]).unwrap();
    assert_same("a text", &vectors[0], &mean(&["paper", "is", "black"]));
}

/// Two rows for all tokens, and a weight for each, as a model with a quantized vocabulary has them.
fn shared_rows(mapping: &[i64], wide: bool) -> [Tensor; 3] {
    let rows = [1.0_f32, 2.0, 3.0, 4.0, -1.0, 0.5, 0.0, 2.0];
    let weights = (0..TOKENS.len()).map(|token| token as f64 / 2.0);
    let numbers = mapping.iter().copied();
    let (dtype, mapped): (_, Vec<u8>) = match wide {
        true => ("I64", numbers.flat_map(i64::to_le_bytes).collect()),
        false => ("I32", numbers.flat_map(|it| (it as i32).to_le_bytes()).collect()),
    };
    [
        Tensor {
            name: "embeddings",
            dtype: "F16",
            shape: vec![2, DIMENSION],
            bytes: rows.iter().flat_map(|it| f16::from_f32(*it).to_le_bytes()).collect(),
        },
        Tensor {
            name: "weights",
            dtype: "F64",
            shape: vec![TOKENS.len()],
            bytes: weights.flat_map(f64::to_le_bytes).collect(),
        },
        Tensor { name: "mapping", dtype, shape: vec![mapping.len()], bytes: mapped },
    ]
}

#[test]
fn tokens_may_share_a_row_and_have_a_weight_each() {
    let ragd = Ragd::start();
    for wide in [false, true] {
        let folder = Folder::new();
        write(folder.path(), &shared_rows(&[0, 0, 0, 0, 1, 0, 1, 0, 0], wide), false);
        let model = model(folder.path());
        let vectors = embed(&mut ragd.connect(), &model, &["ink", "is", "ink is"]).unwrap();
        // Ink is token 4 with row 1, and "is" token 5 with row 0.
        assert_same("a text", &vectors[0], &[-2.0, 1.0, 0.0, 4.0]);
        assert_same("a text", &vectors[1], &[2.5, 5.0, 7.5, 10.0]);
        assert_same("a text", &vectors[2], &[0.25, 3.0, 3.75, 7.0]);
    }
}

#[test]
fn it_is_described_and_pinned_as_other_models() {
    let (ragd, folder) = (Ragd::start(), Folder::new());
    let mut client = ragd.connect();
    write(folder.path(), &[embeddings("F16")], true);
    let mut model = model(folder.path());
    let info = describe(&mut client, &model);
    assert_eq!((info.dimension, info.max_tokens, info.has_reader), (4, 512, false));
    assert_eq!((info.pooling.as_str(), info.normalize), ("mean", true));
    assert_eq!((info.file.as_str(), info.digest.len()), ("model.safetensors", 64));

    // As a session names a model that is registered.
    (model.file, model.digest) = (Some(info.file), Some(info.digest.clone()));
    embed(&mut client, &model, &["ink"]).unwrap();
    write(folder.path(), &[embeddings("F32")], true);
    let error = client.call(&Request::Describe(model.clone())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileCorrupted);
    assert!(error.message().contains("has changed on disk"), "{error}");
    model.digest = None;
    assert_ne!(describe(&mut client, &model).digest, info.digest);
    assert_same(
        "a text",
        &embed(&mut client, &model, &["ink"]).unwrap()[0],
        &normalized(mean(&["ink"])),
    );
}

#[test]
fn its_tokens_are_compared_and_cut_as_those_of_other_models() {
    let (ragd, folder) = (Ragd::start(), Folder::new());
    let mut client = ragd.connect();
    write(folder.path(), &[embeddings("F32")], false);
    let model = model(folder.path());
    let passages = ["ink", "purple", ""].map(str::to_owned).to_vec();
    let rerank = Request::Rerank { model: model.clone(), query: "ink".to_owned(), passages };
    match client.call(&rerank).unwrap() {
        Response::Scores { scores, .. } => assert_same("a text", &scores, &[1.0, 0.0, 0.0]),
        other => panic!("{other:?}"),
    }
    let spans = vec![0..3, 4..12, 0..12];
    let documents = vec![Spanned { text: "ink is black".to_owned(), spans }];
    let in_place = Request::EmbedInPlace { model: model.clone(), lane: Lane::Bulk, documents };
    let expected = [mean(&["ink"]), mean(&["is", "black"]), mean(&["ink", "is", "black"])].concat();
    match client.call(&in_place).unwrap() {
        Response::Vectors { values, .. } => assert_same("a text", &values, &expected),
        other => panic!("{other:?}"),
    }
    let query = request(&model, EmbeddingKind::Query, Lane::Query, &["paper"]);
    match client.call(&query).unwrap() {
        Response::Vectors { values, tokens: 1, .. } => {
            assert_same("a text", &values, &vector("paper"))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_table_that_lies_is_an_error_and_ragd_goes_on() {
    let ragd = Ragd::start();
    let mut client = ragd.connect();
    let mut check = |tensors: &[Tensor], kind: ErrorKind, part: &str| {
        let folder = Folder::new();
        write(folder.path(), tensors, true);
        let model = model(folder.path());
        // To register it fails as using it does.
        let described = client.call(&Request::Describe(model.clone())).unwrap_err();
        for error in [described, embed(&mut client, &model, &["ink"]).unwrap_err()] {
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.message().contains(part), "{error}");
        }
    };
    let damaged = ErrorKind::FileCorrupted;
    let without_rows = |count: usize| {
        let mut table = embeddings("F32");
        table.bytes.truncate(count * DIMENSION * size_of::<f32>());
        table.shape[0] = count;
        [table]
    };
    check(&without_rows(8), damaged, "it has 8 tokens, and tokenizer.json 9");
    check(&without_rows(0), damaged, "is empty");
    check(&shared_rows(&[0, 0, 0, 0, 1, 0, 2, 0, 0], false), damaged, "names row 2 of 2");
    check(&shared_rows(&[0, 0, 0, 0, -1, 0, 0, 0, 0], true), damaged, "names row -1");
    check(&shared_rows(&[0; 8], true), damaged, "\"weights\" has not as many");
    let short = Tensor { bytes: vec![0; 100], ..embeddings("F32") };
    check(&[short], damaged, "another length than its shape says");
    let quantized = Tensor { dtype: "I8", bytes: vec![1; 36], ..embeddings("F32") };
    check(&[quantized], ErrorKind::Unsupported, "type I8");
    let other = Tensor { name: "bias", ..embeddings("F32") };
    check(&[embeddings("F32"), other], ErrorKind::Unsupported, "tensor \"bias\"");
    let no_number = Tensor { bytes: [0xff; 4].repeat(36), ..embeddings("F32") };
    check(&[no_number], damaged, "not finite");
    let beyond = f64::from(f32::MAX) * 2.0;
    let beyond = Tensor { bytes: beyond.to_le_bytes().repeat(36), ..embeddings("F64") };
    check(&[beyond], damaged, "not finite");

    let folder = Folder::new();
    write(folder.path(), &[embeddings("F32")], true);
    embed(&mut client, &model(folder.path()), &["ink"]).unwrap();
}
