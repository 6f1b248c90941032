//! What ragd embeds, over a real socket. It wants all-minilm-l6-v2 and ONNX Runtime, which `make` puts in
//! the cache, and says so where it is skipped.

#[allow(dead_code)]
mod support {
    pub mod ragd;
}

use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use pg_rag::daemon::connection::ClientConnection;
use pg_rag::embed::EmbeddingKind;
use pg_rag::error::{Error, ErrorKind};
use pg_rag::protocol::{Lane, MAX_FRAME, Request, Response, encode};

use support::ragd::{Folder, Installed, embed, eventually, request, status};

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn assert_same(a: &[f32], b: &[f32]) {
    let apart = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(apart <= 1e-5, "vectors are {apart} apart");
}

#[test]
fn meaning_is_near_what_it_should_be() {
    let Some(installed) = Installed::find() else { return };
    let ragd = installed.start();
    let texts = [
        "That is a happy person",
        "That is a happy dog",
        "That is a very happy person",
        "Today is a sunny day",
    ];
    // Quantized activations depend on what else is in the batch, hence the wider limit.
    for (file, expected, limit) in [
        ("onnx/model.onnx", [0.6946, 0.9429, 0.2569], 0.001),
        ("onnx/model_int8.onnx", [0.7044, 0.9380, 0.2732], 0.04),
    ] {
        let vectors = embed(&mut ragd.connect(), &installed.model(file), &texts).unwrap();
        for (vector, expected) in vectors[1..].iter().zip(expected) {
            let found = cosine(&vectors[0], vector);
            assert!((found - expected).abs() < limit, "{file}: {found} instead of {expected}");
        }
        let length = cosine(&vectors[0], &vectors[0]);
        assert!((length - 1.0).abs() < 1e-5, "length {length}");
    }
}

/// Some builds of ONNX Runtime keep an identifier of the machine and what they report of it there.
#[test]
fn no_telemetry_is_collected() {
    let Some(installed) = Installed::find() else { return };
    let ragd = installed.start();
    embed(&mut ragd.connect(), &installed.model("onnx/model_int8.onnx"), &["a text"]).unwrap();
    assert_eq!(ragd.written_at_home(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_text_has_one_vector_alone_or_in_company() {
    let Some(installed) = Installed::find() else { return };
    let ragd = installed.start();
    let model = installed.model("onnx/model.onnx");
    let long = "The quick brown fox jumps over the lazy dog. ".repeat(40);
    let texts = [
        "One.",
        "Two words",
        &long,
        "",
        "日本語のテキスト",
        "one more sentence, with a comma",
        "One.",
    ];
    let mut client = ragd.connect();
    let together = embed(&mut client, &model, &texts).unwrap();
    for (text, vector) in texts.iter().zip(&together) {
        assert_same(&embed(&mut client, &model, &[text]).unwrap()[0], vector);
        let query = request(&model, EmbeddingKind::Query, Lane::Query, &[text]);
        let Response::Vectors { values, .. } = client.call(&query).unwrap() else { panic!() };
        assert_same(&values, vector);
    }
}

#[test]
fn strange_texts_have_vectors_too() {
    let Some(installed) = Installed::find() else { return };
    let ragd = installed.start();
    let model = installed.model("onnx/model_int8.onnx");
    let mut client = ragd.connect();
    assert!(embed(&mut client, &model, &[]).unwrap().is_empty());
    let megabyte = "word ".repeat(200_000);
    let one_word = "a".repeat(1 << 20);
    let texts = [
        "",
        " \t\n",
        "a\0b\0",
        "\u{200b}",
        "\u{fffd}\u{10ffff}",
        "👩‍👩‍👧‍👦",
        "[CLS] [SEP] [PAD]",
        &megabyte,
        &one_word,
    ];
    for vector in embed(&mut client, &model, &texts).unwrap() {
        assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-4);
    }
}

#[test]
fn tokens_are_counted_without_padding() {
    let Some(installed) = Installed::find() else { return };
    let ragd = installed.start();
    let call = request(
        &installed.model("onnx/model_int8.onnx"),
        EmbeddingKind::Passage,
        Lane::Bulk,
        &["a", "a b c"],
    );
    let Response::Vectors { tokens, .. } = ragd.connect().call(&call).unwrap() else { panic!() };
    assert_eq!(tokens, 3 + 5);
}

#[test]
fn many_clients_each_get_their_own_answers() {
    let Some(installed) = Installed::find() else { return };
    let ragd = Arc::new(installed.start());
    let model = installed.model("onnx/model.onnx");
    let words = ["apple", "river stones", "a green bicycle", "tax law in Peru", "snow"];
    let expected = Arc::new(embed(&mut ragd.connect(), &model, &words).unwrap());
    let threads: Vec<_> = (0..12)
        .map(|number| {
            let (ragd, model, expected) = (Arc::clone(&ragd), model.clone(), Arc::clone(&expected));
            thread::spawn(move || {
                let mut client = ragd.connect();
                for round in 0..4 {
                    let at = (number + round) % words.len();
                    let lane = if number % 3 == 0 { Lane::Bulk } else { Lane::Query };
                    let call = request(&model, EmbeddingKind::Query, lane, &[words[at], words[0]]);
                    let Response::Vectors { values, .. } = client.call(&call).unwrap() else {
                        panic!()
                    };
                    assert_same(&values[..384], &expected[at]);
                    assert_same(&values[384..], &expected[0]);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn a_query_overtakes_a_bulk_load() {
    let Some(installed) = Installed::find() else { return };
    let ragd = installed.start();
    let model = installed.model("onnx/model_int8.onnx");
    embed(&mut ragd.connect(), &model, &["warm"]).unwrap();
    let mut bulk = ragd.connect();
    let long = "All work and no play makes a dull day. ".repeat(30);
    bulk.send(&request(&model, EmbeddingKind::Passage, Lane::Bulk, &[&*long; 1000])).unwrap();
    eventually("the load waits", || status(&mut ragd.connect()).waiting > 100);

    let mut client = ragd.connect();
    client.call(&request(&model, EmbeddingKind::Query, Lane::Query, &["quick?"])).unwrap();
    let waiting = status(&mut ragd.connect()).waiting;
    assert!(waiting > 0, "the query came out after the load");
}

/// Two sessions of the model run at once, on fewer processors than threads.
#[test]
fn questions_and_a_load_beside_them_have_the_vectors_that_they_have_alone() {
    let Some(installed) = Installed::find() else { return };
    let ragd = installed.start();
    let model = installed.model("onnx/model_int8.onnx");
    let texts: Vec<String> = (0..200)
        .map(|number| format!("Report {number}. {}", "It rained all day in the hills. ".repeat(40)))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let ask = |client: &mut ClientConnection| {
        let question = request(&model, EmbeddingKind::Query, Lane::Query, &["did it rain?"]);
        match client.call(&question).unwrap() {
            Response::Vectors { values, .. } => values,
            other => panic!("{other:?}"),
        }
    };
    let mut client = ragd.connect();
    let (alone, answer) = (embed(&mut client, &model, &texts).unwrap(), ask(&mut client));
    let mut bulk = ragd.connect();
    bulk.send(&request(&model, EmbeddingKind::Passage, Lane::Bulk, &texts)).unwrap();
    eventually("the load waits", || status(&mut ragd.connect()).waiting > 0);
    let mut asked = 0;
    while status(&mut client).waiting > 0 {
        assert_same(&ask(&mut client), &answer);
        asked += 1;
    }
    assert!(asked > 1, "the load kept the questions out");
    let Response::Vectors { values, dimension, .. } = bulk.receive().unwrap() else { panic!() };
    let beside: Vec<&[f32]> = values.chunks(dimension as usize).collect();
    assert_eq!(beside.len(), alone.len());
    alone.iter().zip(beside).for_each(|(alone, beside)| assert_same(alone, beside));
}

#[test]
fn what_nobody_waits_for_is_dropped() {
    let Some(installed) = Installed::find() else { return };
    let ragd = installed.start();
    let model = installed.model("onnx/model_int8.onnx");
    embed(&mut ragd.connect(), &model, &["warm"]).unwrap();
    let long = "All work and no play makes a dull day. ".repeat(30);
    let clients: Vec<_> = (0..64)
        .map(|_| {
            let mut client = ragd.connect();
            client
                .send(&request(&model, EmbeddingKind::Passage, Lane::Bulk, &[&*long; 400]))
                .unwrap();
            client
        })
        .collect();
    eventually("the texts wait", || status(&mut ragd.connect()).waiting > 500);
    drop(clients);
    // To compute all of them would take far longer than is waited for.
    eventually("the queue is empty", || status(&mut ragd.connect()).waiting == 0);
    eventually("the threads have gone", || ragd.threads() < 16);
    embed(&mut ragd.connect(), &model, &["still here"]).unwrap();
}

#[test]
fn a_loaded_model_that_changes_on_disk_is_refused() {
    let Some(installed) = Installed::find() else { return };
    let folder = Folder::new();
    let mut model = folder.copy_of(&installed.model("onnx/model_int8.onnx"));
    let ragd = installed.start();
    let mut client = ragd.connect();
    let Response::Model(info) = client.call(&Request::Describe(model.clone())).unwrap() else {
        panic!("no model")
    };
    model.digest = Some(info.digest);
    embed(&mut client, &model, &["before"]).unwrap();
    assert_eq!(status(&mut client).models, ["copy"]);

    // Touched but the same: it stays.
    let config = folder.path().join("config.json");
    let text = fs::read_to_string(&config).unwrap();
    thread::sleep(Duration::from_millis(1100));
    fs::write(&config, &text).unwrap();
    embed(&mut client, &model, &["touched"]).unwrap();

    thread::sleep(Duration::from_millis(1100));
    fs::write(&config, text.replace("gelu", "relu")).unwrap();
    let error: Error = embed(&mut client, &model, &["after"]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileCorrupted);
    assert!(error.message().contains("has changed on disk"), "{error}");
    assert!(status(&mut client).models.is_empty());

    fs::write(&config, text).unwrap();
    embed(&mut client, &model, &["restored"]).unwrap();
}

#[test]
fn a_file_that_is_no_model_is_an_error_each_time() {
    let Some(installed) = Installed::find() else { return };
    let folder = Folder::new();
    let model = folder.tiny_model();
    let ragd = installed.start();
    let mut client = ragd.connect();
    for _ in 0..2 {
        let error = embed(&mut client, &model, &["x"]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileCorrupted, "{error}");
        assert!(error.message().contains("model.onnx"), "{error}");
    }
    embed(&mut client, &installed.model("onnx/model_int8.onnx"), &["x"]).unwrap();
}

#[test]
fn an_answer_too_long_to_send_fails_at_once() {
    let Some(installed) = Installed::find() else { return };
    let ragd = installed.start();
    let texts = vec![""; (MAX_FRAME / 4 / 384) + 1];
    let call = request(
        &installed.model("onnx/model_int8.onnx"),
        EmbeddingKind::Passage,
        Lane::Bulk,
        &texts,
    );
    assert!(encode(&call).is_ok());
    let error = ragd.connect().call(&call).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfResources);
    assert!(error.message().contains(&texts.len().to_string()), "{error}");
}
