//! A language model on this machine, from rag_add_model to an answer. What needs one wants `make test-llm`, and says so where
//! it is skipped.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use postgres::Client;

use super::cluster::{Cluster, wait_for};
use super::documents::{SETUP, assert_fails, count, describe};
use super::process;

/// Sessions that write while the model's process is killed.
const WRITERS: usize = 4;

/// Between two embeddings, so that something is left of two cores to the model, whose process gives way to all others.
const PAUSE: Duration = Duration::from_millis(50);

/// A text that does not end by itself before it is cancelled.
const LONG: &str =
    "SELECT rag_generate('Write a very long story about a river and its towns.', 'writer',
    options => '{\"max_tokens\": 4000, \"temperature\": 0}')";

const SHORT: &str = "SELECT rag_generate('What is two plus two?', 'writer',
    options => '{\"max_tokens\": 12, \"temperature\": 0}')";

/// No text twice, so that each is embedded.
const EMBED: &str = "SELECT vector_dims(rag_embed('It is ' || clock_timestamp()))";

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
    // The rules of the template are in the cache by then; of what comes after them, all is new.
    let again =
        "SELECT format('%s %s', usage ->> 'prompt_tokens', usage ->> 'cached_tokens') FROM rag_answer_details(
            'When are invoices sent?', 'docs', llm => 'writer', k => 2, options => '{\"answer\": {\"max_tokens\": 60}}')";
    let again = text(&mut client, again);
    let tokens: Vec<u64> = again.split(' ').map(|it| it.parse().unwrap()).collect();
    let (read, cached) = (tokens[0], tokens[1]);
    assert!(cached > 100 && cached + 60 < read, "{cached} of {read} tokens were in the cache");
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

/// The processes of models that run.
fn running(cluster: &Cluster) -> Vec<u32> {
    let ragd = process::ragd(cluster.postmaster_pid());
    ragd.map_or_else(Vec::new, |ragd| process::children(ragd, "ragd"))
}

/// Says that a test is over as it ends, also by a panic.
struct OverAtEnd<'a>(&'a AtomicBool);

impl Drop for OverAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A statement that a session repeats until the test is over.
struct RepeatedStatement<'a> {
    statement: &'static str,
    done: &'a AtomicUsize,
    is_over: &'a AtomicBool,
}

impl RepeatedStatement<'_> {
    /// Makes it again and again, and once more when it is over, in one session. Only a text may fail, and only because
    /// its process was killed.
    fn repeat(&self, mut session: Client) {
        let backend = "SELECT pg_backend_pid()::bigint";
        let before = count(&mut session, backend);
        while !self.is_over.load(Ordering::Relaxed) {
            match self.make(&mut session) {
                Ok(()) => {
                    self.done.fetch_add(1, Ordering::Relaxed);
                }
                Err(error) => {
                    let is_clear = error.starts_with("38000 ") && error.contains("signal 9");
                    assert!(self.statement == SHORT && is_clear, "{}: {error}", self.statement);
                }
            }
            if self.statement == EMBED {
                thread::sleep(PAUSE);
            }
        }
        assert_eq!(self.make(&mut session), Ok(()), "after all kills: {}", self.statement);
        assert_eq!(count(&mut session, backend), before);
    }

    fn make(&self, session: &mut Client) -> Result<(), String> {
        let row = session.query_one(self.statement, &[]);
        row.map(drop).map_err(|error| describe(&error))
    }
}

#[test]
fn a_killed_process_loses_no_session_and_no_embedding() {
    let Some((cluster, _)) = start() else { return };
    let kills: usize =
        std::env::var("PG_RAG_LOCAL_ROUNDS").map_or(5, |rounds| rounds.parse().unwrap());
    let ragd = process::ragd(cluster.postmaster_pid());
    let (written, embedded) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let is_over = AtomicBool::new(false);
    let killed = thread::scope(|scope| {
        // Also if something fails here: the others go on until it is over.
        let _over = OverAtEnd(&is_over);
        let begin = |statement, done| {
            let (session, is_over) = (cluster.connect(), &is_over);
            let repeated = RepeatedStatement { statement, done, is_over };
            scope.spawn(move || repeated.repeat(session));
        };
        (0..WRITERS).for_each(|_| begin(SHORT, &written));
        begin(EMBED, &embedded);
        let mut killed = BTreeSet::new();
        while killed.len() < kills {
            let done = || (written.load(Ordering::Relaxed), embedded.load(Ordering::Relaxed));
            let (texts, vectors) = done();
            // Of two embeddings one was begun after the last kill.
            if !wait_for(|| done().0 > texts && done().1 > vectors + 1) {
                break;
            }
            let running = running(&cluster);
            running.iter().for_each(|process| process::signal(*process, "KILL"));
            killed.extend(running);
        }
        killed.len()
    });
    let (written, embedded) = (written.into_inner(), embedded.into_inner());
    println!("{killed} kills of a model's process: {written} texts, {embedded} embeddings");
    assert!(killed >= kills, "after {killed} kills nothing was written or embedded any more");
    assert_eq!(process::ragd(cluster.postmaster_pid()), ragd, "ragd has ended");
}

/// Four texts are written side by side. One is cancelled, and its session has the next one written while the others go
/// on.
#[test]
fn a_cancelled_text_makes_room() {
    let Some((cluster, _)) = start() else { return };
    let mut client = cluster.connect();
    text(&mut client, SHORT);
    let [model] = running(&cluster)[..] else { panic!("one process") };
    let begin = |_| {
        let mut session = cluster.connect();
        let canceller = cluster.canceller(&mut session);
        let call = thread::spawn(move || {
            let outcome = session.batch_execute(LONG).map_err(|error| describe(&error));
            (session, outcome.expect_err("a text that does not end"))
        });
        (canceller, call)
    };
    let mut calls: Vec<_> = (0..4).map(begin).collect();
    let used = process::ticks(model);
    assert!(wait_for(|| process::ticks(model) > used + 100), "nothing is written");
    let (mut canceller, call) = calls.remove(0);
    canceller.cancel();
    let (mut session, error) = call.join().unwrap();
    assert!(error.starts_with("57014"), "{error}");
    text(&mut session, SHORT);
    for (canceller, _) in &mut calls {
        assert!(canceller.is_active(), "a text has ended that was not cancelled");
    }
    for (mut canceller, call) in calls {
        canceller.cancel();
        let (_, error) = call.join().unwrap();
        assert!(error.starts_with("57014"), "{error}");
    }
}
