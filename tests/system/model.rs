//! Registered models are pinned: files that change later are refused.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use postgres::Client;

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
    let read = "SELECT sum(rows)::bigint FROM rag_explain('Where is the cafe?', 'tiny') WHERE stage = 'reader'";
    assert_eq!(count(&mut client, read), 2);
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
