//! A language model on this machine, from rag_add_model to an answer. What needs one wants `make test-llm`, and says so where
//! it is skipped.

use std::fs;
use std::path::PathBuf;

use postgres::Client;

use super::cluster::{Cluster, wait_for};
use super::documents::{SETUP, assert_fails, count};

/// A server with the model registered as "writer", and a foreign server of that name.
fn start() -> Option<(Cluster, PathBuf)> {
    let variable =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.exists());
    let (Some(library), Some(model)) = (variable("PG_RAG_LLAMA"), variable("PG_RAG_TEST_GGUF"))
    else {
        println!("skipped: no llama.cpp or no model; make test-llm gets them");
        return None;
    };
    let cluster = Cluster::start(&[])?;
    // Where the server's user can read them, whoever runs the test.
    let libraries = cluster.folder().join("llama");
    fs::create_dir(&libraries).unwrap();
    for file in
        fs::read_dir(library).unwrap().flatten().filter(|file| file.file_name() != ".made-from")
    {
        fs::copy(file.path(), libraries.join(file.file_name())).unwrap();
    }
    let path = cluster.folder().join("smollm2.gguf");
    fs::copy(model, &path).unwrap();
    cluster.give(&libraries);
    cluster.give(&path);
    let library = libraries.join("libllama.so");
    cluster
        .configure(&[&format!("rag.llama_library='{}'", library.display()), "rag.llama_threads=2"]);
    cluster.reload();
    cluster.connect().batch_execute(&format!(
        "{SETUP}
         SELECT * FROM rag_add_model('smollm2', '{}');
         CREATE SERVER writer FOREIGN DATA WRAPPER rag_llm OPTIONS (api 'local', model 'smollm2', timeout '600');",
        path.display()
    )).unwrap();
    Some((cluster, path))
}

/// The only value of a query, a text.
fn text(client: &mut Client, query: &str) -> String {
    client.query_one(query, &[]).unwrap().get(0)
}

#[test]
fn it_writes_streams_and_answers() {
    let Some((cluster, _)) = start() else { return };
    let mut client = cluster.connect();
    let registered = "SELECT format('%s %s %s', task, max_tokens, digest ~ '^[0-9a-f]{64}$')
        FROM rag.model WHERE name = 'smollm2'";
    assert_eq!(text(&mut client, registered), "generate 8192 t");

    let capital =
        "SELECT rag_generate('What is the capital of France? Answer in one short sentence.',
        'writer', options => '{\"max_tokens\": 30, \"temperature\": 0}')";
    let capital = text(&mut client, capital);
    assert!(capital.contains("Paris"), "{capital}");

    let form = "SELECT jsonb_typeof(rag_generate('Say hello.', 'writer', options => '{\"max_tokens\": 200,
        \"schema\": {\"type\": \"object\", \"properties\": {\"greeting\": {\"type\": \"string\", \"maxLength\": 60}},
                   \"required\": [\"greeting\"], \"additionalProperties\": false}}')::jsonb -> 'greeting')";
    assert_eq!(text(&mut client, form), "string");

    let asked =
        "SELECT usage ->> 'llm' FROM rag_answer_details('How do I reset a password?', 'docs',
        llm => 'writer', k => 2, options => '{\"answer\": {\"max_tokens\": 60}}')";
    assert_eq!(text(&mut client, asked), "writer");
    // What it writes is held against the chunks, and little of them is read.
    let defaults =
        "SELECT detail FROM rag_explain('How do I reset a password?', 'docs', llm => 'writer',
        options => '{\"answer\": {\"max_tokens\": 5}}') WHERE stage = 'options'";
    let defaults = text(&mut client, defaults);
    let held = "verify.unsupported = remove (local model), verify.low_confidence = extractive (local model)";
    assert!(defaults.contains(held), "{defaults}");
    let streamed = "SELECT count(*) FROM rag_answer_stream('How do I reset a password?', 'docs',
        llm => 'writer', k => 1, options => '{\"answer\": {\"max_tokens\": 30}}')";
    assert!(count(&mut client, streamed) >= 1);
    // Its calls are counted like those of any other.
    let calls =
        "SELECT coalesce(sum(calls), 0)::bigint FROM rag.stat_usage WHERE model = 'smollm2'";
    assert!(wait_for(|| count(&mut client, calls) >= 4));
}

#[test]
fn a_role_without_usage_is_refused_and_a_changed_file_too() {
    let Some((cluster, path)) = start() else { return };
    let mut client = cluster.connect();
    client.batch_execute("CREATE ROLE reader LOGIN").unwrap();
    let write = "SELECT rag_generate('Hello', 'writer', options => '{\"max_tokens\": 2}')";
    assert_fails(
        &mut cluster.connect_as("reader"),
        write,
        &["42501", "permission denied for server \"writer\""],
    );
    client.batch_execute("GRANT USAGE ON FOREIGN SERVER writer TO reader").unwrap();
    cluster.connect_as("reader").batch_execute(write).unwrap();
    // A file that is another by now is refused, where no process has loaded the old one.
    client.batch_execute("ALTER SERVER writer OPTIONS (ADD num_ctx '512')").unwrap();
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, bytes).unwrap();
    assert_fails(&mut client, write, &["F0000", "is not the one that was registered"]);
    client.batch_execute("SELECT rag_drop_model('smollm2')").unwrap();
    assert_fails(&mut client, write, &["42704", "local language model \"smollm2\" does not exist"]);
}
