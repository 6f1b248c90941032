//! Registered models are pinned: files that change later are refused.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use postgres::Client;
use serde_json::{Value, json};

use super::cluster::Cluster;
use super::documents::{assert_fails, count};
use super::{process, tiny_e5};

/// Copies a built-in model into the server's folder.
fn copy_of_the_model(cluster: &Cluster, client: &mut Client) -> PathBuf {
    let share: String = client
        .query_one("SELECT setting FROM pg_config WHERE name = 'SHAREDIR'", &[])
        .unwrap()
        .get(0);
    let copy = cluster.folder().join("model");
    copy_folder(&Path::new(&share).join("pg_rag/models/all-minilm-l6-v2"), &copy);
    cluster.give(&copy);
    copy
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap_or_else(|error| panic!("{from:?}: {error}")).flatten() {
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true => copy_folder(&path, &copy),
            false => drop(fs::copy(path, copy).unwrap()),
        }
    }
}

#[test]
fn a_model_whose_files_change_is_refused() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute("CREATE EXTENSION pg_rag CASCADE").unwrap();
    let folder = copy_of_the_model(&cluster, &mut client);
    let add = "SELECT dimension, max_tokens, pooling, normalized FROM rag_add_model('mine', $1)";
    let row = client.query_one(add, &[&folder.to_str()]).unwrap();
    assert_eq!((row.get::<_, i32>(0), row.get::<_, i32>(1)), (384, 256));
    assert_eq!((row.get::<_, &str>(2), row.get::<_, bool>(3)), ("mean", true));
    let same = "SELECT round(1000 * (rag_embed('a text', 'mine') <=> rag_embed('a text')))::bigint";
    let distance = count(&mut client, same);
    assert!(distance <= 30, "the copy gives other vectors: {distance} / 1000");

    let config = folder.join("config.json");
    let before = fs::read(&config).unwrap();
    let mut file = OpenOptions::new().append(true).open(&config).unwrap();
    file.write_all(b" ").unwrap();
    // ragd may trust what it saw a moment ago.
    std::thread::sleep(Duration::from_millis(1200));
    let refused = ["F0000", "model \"mine\" has changed on disk since it was registered"];
    assert_fails(&mut client, "SELECT rag_embed('another text', 'mine')", &refused);
    let chunk = r#"SELECT * FROM rag_chunk('a text', '{"model": "mine"}')"#;
    assert_fails(&mut client, chunk, &refused);
    let ragd = process::ragd(cluster.postmaster_pid()).expect("ragd");
    process::signal(ragd, "KILL");
    assert_fails(&mut client, "SELECT rag_embed('a third text', 'mine')", &refused);

    fs::write(&config, before).unwrap();
    std::thread::sleep(Duration::from_millis(1200));
    client
        .batch_execute("SELECT rag_embed('another text', 'mine')")
        .expect("the old files are back");
    client.batch_execute("SELECT rag_embed('a built-in model is not touched by this')").unwrap();
}

#[test]
fn what_is_no_model_cannot_be_added() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute("CREATE EXTENSION pg_rag CASCADE").unwrap();
    let folder = copy_of_the_model(&cluster, &mut client);
    let path = folder.to_str().unwrap();
    let add = format!("SELECT * FROM rag_add_model('mine', '{path}')");
    let missing = format!("SELECT * FROM rag_add_model('mine', '{path}/nowhere')");
    assert_fails(&mut client, &missing, &["58P01", "nowhere"]);
    let other = format!("SELECT * FROM rag_add_model('mine', '{path}', 'onnx/other.onnx')");
    assert_fails(&mut client, &other, &["58P01", "onnx/other.onnx"]);
    fs::write(folder.join("config.json"), "{ not JSON").unwrap();
    assert_fails(&mut client, &add, &["F0000", "config.json"]);
    fs::remove_file(folder.join("tokenizer.json")).unwrap();
    fs::write(folder.join("config.json"), r#"{"hidden_size": 384}"#).unwrap();
    assert_fails(&mut client, &add, &["58P01", "tokenizer.json"]);
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag.model WHERE NOT builtin"), 0);
}

/// A tiny model with a reader that is asked, in the server's folder; `None` where it cannot be made.
fn tiny_model(cluster: &Cluster) -> Option<PathBuf> {
    let folder = cluster.folder().join("tiny");
    tiny_e5::make(&folder, &[])?;
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let calibration = scripts.join("calibration/multilingual-e5-small.json");
    fs::copy(calibration, folder.join("pg_rag_calibration.json")).unwrap();
    Some(folder)
}

#[test]
fn a_damaged_reader_is_an_error_and_no_lesser_answer() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let Some(tiny) = tiny_model(&cluster) else { return };
    let broken = cluster.folder().join("broken");
    copy_folder(&tiny, &broken);
    fs::write(broken.join("onnx/reader_int8.onnx"), "not a graph").unwrap();
    let mut client = cluster.connect();
    let words = "CREATE EXTENSION pg_rag CASCADE;
        CREATE TABLE words (id integer PRIMARY KEY, body text);
        INSERT INTO words VALUES (1, 'The cafe is out of town.'), (2, 'Fin is a word.');";
    client.batch_execute(words).unwrap();
    for (name, folder) in [("tiny", &tiny), ("broken", &broken)] {
        cluster.give(folder);
        let add = "SELECT dimension FROM rag_add_model($1, $2, 'onnx/model_int8.onnx')";
        client.query_one(add, &[&name, &folder.to_str()]).unwrap();
        let create =
            "SELECT rag_create_pipeline('words', 'body', $1, model => $1, refresh => 'sync',
                          chunking => '{\"max_tokens\": 32}')";
        client.query_one(create, &[&name]).unwrap();
    }
    for (options, read) in [("{}", 2), ("{\"read\": 1}", 1), ("{\"read\": 0}", 0)] {
        let explain = format!(
            "SELECT coalesce(sum(rows), 0)::bigint FROM rag_explain('Where is the cafe?', 'tiny',
                options => '{{\"answer\": {options}}}') WHERE stage = 'reader'"
        );
        assert_eq!(count(&mut client, &explain), read, "{options}");
    }
    let damaged = ["F0000", "reader_int8.onnx"];
    assert_fails(&mut client, "SELECT rag_answer('Where is the cafe?', 'broken')", &damaged);
    let ranked =
        "SELECT source_key FROM rag_retrieve('Where is the cafe?', 'broken', rerank => 'reader')";
    assert_fails(&mut client, ranked, &damaged);
    // Vectors do not need it.
    let found =
        "SELECT count(*) FROM rag_retrieve('Where is the cafe?', 'broken', mode => 'dense')";
    assert_eq!(count(&mut client, found), 2);

    let missing = ["0A000", "model \"all-minilm-l6-v2\" has no reader", "late_interaction"];
    assert_fails(&mut client, "SELECT * FROM rag_rerank('x', ARRAY['x'], 'reader')", &missing);
    let default = r#"SELECT rag_create_pipeline('words', 'body', 'plain', defaults => '{"retrieve": {"rerank": "reader"}}')"#;
    assert_fails(&mut client, default, &missing);
}

/// Copies a model to `name`, with `retrieval` in its calibration; the statement that registers it.
fn weighed(cluster: &Cluster, tiny: &Path, name: &str, retrieval: Value) -> String {
    let folder = cluster.folder().join(name);
    copy_folder(tiny, &folder);
    let file = folder.join("pg_rag_calibration.json");
    let text = fs::read_to_string(&file).unwrap();
    let mut calibration: Value = serde_json::from_str(&text).unwrap();
    calibration["retrieval"] = retrieval;
    fs::write(&file, calibration.to_string()).unwrap();
    cluster.give(&folder);
    format!(
        "SELECT * FROM rag_add_model('{name}', '{}', 'onnx/model_int8.onnx')",
        folder.to_str().unwrap()
    )
}

#[test]
fn a_search_weighs_vectors_as_the_calibration_of_its_model_says() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let Some(tiny) = tiny_model(&cluster) else { return };
    let mut client = cluster.connect();
    let words = "CREATE EXTENSION pg_rag CASCADE;
        CREATE TABLE words (id integer PRIMARY KEY, body text);
        INSERT INTO words VALUES (1, 'The cafe is out of town.'), (2, 'Fin is a word.');";
    client.batch_execute(words).unwrap();
    for (name, weight) in [("by_words", 0), ("by_vectors", 1)] {
        let retrieval = json!({"dense_weight": weight, "late_interaction_weight": 0.25});
        client.batch_execute(&weighed(&cluster, &tiny, name, retrieval)).unwrap();
        let create = "SELECT rag_create_pipeline('words', 'body', $1, model => $1,
                          refresh => 'sync', chunking => '{\"max_tokens\": 32}')";
        client.query_one(create, &[&name]).unwrap();
    }
    // The words are those of the first row, and the vector is that of the second.
    let mut first = |pipeline: &str, retrieve: &str| -> String {
        let options = format!("{{\"retrieve\": {{\"fusion\": \"weighted\"{retrieve}}}}}");
        let query =
            "SELECT source_key FROM rag_retrieve('cafe', $1, k => 1, options => $2::text::jsonb,
                         query_vector => (SELECT embedding FROM by_words_rag WHERE source_id = 2))";
        let query = query.replace("by_words_rag", &format!("{pipeline}_rag"));
        client.query_one(&query, &[&pipeline, &options]).unwrap().get(0)
    };
    assert_eq!((&*first("by_words", ""), &*first("by_vectors", "")), ("1", "2"));
    let said = |weight: u32| format!(", \"dense_weight\": {weight}");
    assert_eq!(first("by_words", &said(1)), "2");
    assert_eq!(first("by_vectors", &said(0)), "1");

    let mut listed = |options: &str| -> Option<String> {
        let query =
            "SELECT string_agg(detail, ' ') FROM rag_explain('Where is the cafe?', 'by_words',
                         options => $1::text::jsonb) WHERE stage = 'options'";
        client.query_one(query, &[&options]).unwrap().get(0)
    };
    assert_eq!(listed("{}").as_deref(), Some("retrieve.dense_weight = 0 (model)"));
    assert_eq!(
        listed(r#"{"retrieve": {"fusion": "rrf"}}"#).as_deref(),
        Some("retrieve.fusion = rrf (call)")
    );
    let reranked = listed(r#"{"retrieve": {"rerank": "late_interaction", "dense_weight": 1}}"#);
    let reranked = reranked.unwrap();
    for part in ["dense_weight = 1 (call)", "rerank_weight = 0.25 (model)"] {
        assert!(reranked.contains(part), "{reranked}");
    }

    let defaults =
        r#"SELECT rag_alter_pipeline('by_words', defaults => '{"retrieve": {"dense_weight": 1}}')"#;
    client.batch_execute(defaults).unwrap();
    let found = "SELECT source_key::bigint FROM rag_retrieve('cafe', 'by_words', k => 1,
        options => '{\"retrieve\": {\"fusion\": \"weighted\"}}',
        query_vector => (SELECT embedding FROM by_words_rag WHERE source_id = 2))";
    assert_eq!(count(&mut client, found), 2);

    let refused = weighed(&cluster, &tiny, "refused", json!({"dense_weight": 1.5}));
    let said = ["F0000", "dense_weight of its part \"retrieval\" is 1.5, not between 0 and 1"];
    assert_fails(&mut client, &refused, &said);
}
