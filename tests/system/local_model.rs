//! A language model on this machine, from rag_add_model to an answer. What needs one wants `make test-llm`, and says so where
//! it is skipped.

use std::fs;
use std::path::PathBuf;

use super::cluster::{Cluster, wait_for};
use super::documents::{QUESTION, SETUP, assert_fails, count};

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

#[test]
fn it_writes_streams_and_answers() {
    let Some((cluster, _)) = start() else { return };
    let mut client = cluster.connect();
    let row = client.query_one("SELECT task, max_tokens, digest ~ '^[0-9a-f]{64}$' FROM rag.model WHERE name = 'smollm2'", &[]).unwrap();
    assert_eq!(
        (row.get::<_, &str>(0), row.get::<_, i32>(1), row.get::<_, bool>(2)),
        ("generate", 8192, true)
    );
    let hello: String = client.query_one("SELECT rag_generate('What is the capital of France?', 'writer', options => '{\"max_tokens\": 30}')", &[]).unwrap().get(0);
    assert!(hello.contains("Paris"), "{hello}");
    let schema = r#"{"max_tokens": 200, "schema": {"type": "object", "properties": {"answer": {"type": "string", "maxLength": 60}}, "required": ["answer"], "additionalProperties": false}}"#;
    let form: String = client.query_one("SELECT rag_generate('Say hello.', 'writer', options => $1::text::jsonb)::jsonb ->> 'answer'", &[&schema]).unwrap().get(0);
    println!("in a form: {form}");
    let ask = "SELECT answer, usage ->> 'llm', (usage ->> 'prompt_tokens')::bigint FROM rag_answer_details($1, 'docs', llm => 'writer', k => 2, options => '{\"answer\": {\"max_tokens\": 60}}')";
    let row = client.query_one(ask, &[&QUESTION]).unwrap();
    println!("answered: {:?}", row.get::<_, Option<&str>>(0));
    let pieces = count(
        &mut client,
        "SELECT count(*) FROM rag_answer_stream('How is a password reset?', 'docs', llm => 'writer', k => 1, options => '{\"answer\": {\"max_tokens\": 30}}')",
    );
    assert!(pieces >= 1);
    // It is counted like any other.
    assert!(wait_for(|| count(
        &mut client,
        "SELECT coalesce(sum(calls), 0)::bigint FROM rag.stat_usage WHERE model = 'smollm2'"
    ) >= 3));
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
