//! Every function of the extension is cancelled while it reads something huge.
//!
//! The calls are made from the catalog: each argument that can be huge is so in one call, the others
//! are what they ordinarily are. What comes to its end before it is cancelled needs no cancel.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use postgres::Client;

use super::callable::{Argument, Function, functions};
use super::cluster::{Canceller, Cluster};
use super::documents::{SETUP, describe};
use super::http_server::{Reply, Server};
use super::provider;

/// How long a call goes on before it is cancelled.
const BEFORE: Duration = Duration::from_millis(200);

/// What is meant by at once; what takes longer is printed.
const AT_ONCE: Duration = Duration::from_millis(100);

/// What a cancel may take on a machine that does other things too.
const LIMIT: Duration = Duration::from_secs(10);

/// Texts of megabytes, each hard in its own way: one sentence, many short ones, one word, and signs.
const TEXTS: &[&str] = &[
    "repeat('word ', 1000000)",
    "repeat('See No. 5 and e.g. Ada. ', 200000)",
    "repeat('x', 5000000)",
    "repeat('[1](`', 1000000)",
];

/// What a call is given beside its huge argument, by the name of the argument. What is not here has a
/// default, or is something of its type.
const ORDINARY: &[(&str, &str)] = &[
    ("answer", "'A link is sent by mail.'"),
    ("content", "'body'"),
    ("context", "ARRAY['A link is sent by mail.']"),
    ("document", "'A link is sent by mail.'"),
    ("eval_set", "'cases'"),
    ("input", "'A link is sent by mail.'"),
    ("passages", "ARRAY['A link is sent by mail.']"),
    ("path", "'/nowhere'"),
    ("pipeline", "'docs'"),
    ("prompt", "'How do I reset a password?'"),
    ("query", "'How do I reset a password?'"),
    ("question", "'How do I reset a password?'"),
    ("questions", "ARRAY['How do I reset a password?']"),
    ("source", "'docs'"),
    ("timeout", "'1 hour'"),
];

/// What no table of types would find: more than one argument is huge, or another way is taken.
const MORE: &[&str] = &[
    "SELECT * FROM rag_verify(repeat('word ', 1000000), array_fill(repeat('word ', 200000), ARRAY[5]))",
    "SELECT * FROM rag_verify(repeat('A word. ', 500000), ARRAY[repeat('A word. ', 500000)])",
    "SELECT * FROM rag_verify(repeat('[1-99] ', 500000), ARRAY[repeat('1 2 3 4 ', 500000)])",
    "SELECT rag_faithfulness((SELECT string_agg(i::text, ' ') FROM generate_series(1, 500000) i), \
        ARRAY[(SELECT string_agg(i::text, ' ') FROM generate_series(1, 500000) i)])",
    "SELECT * FROM rag_chunk(repeat('A word. ', 2000000), '{\"by\": \"semantic\"}')",
    "SELECT * FROM rag_chunk(repeat('word ', 4000000), '{\"by\": \"semantic\"}')",
    "SELECT * FROM rag_chunk(repeat('# A word' || E'\\n\\n', 500000), '{\"by\": \"markdown\"}')",
    "SELECT * FROM rag_chunk(repeat('<p>A word. ', 500000), '{\"by\": \"html\"}')",
    "SELECT * FROM rag_chunk(repeat('def f(): pass' || E'\\n', 500000), '{\"by\": \"code\", \"language\": \"python\"}')",
    "SELECT rag_embed(repeat('word ', 20000000))",
    "SELECT * FROM rag_retrieve(repeat('word ', 1000000), mode => 'lexical')",
    "SELECT * FROM rag_retrieve((SELECT string_agg(i::text, ' ') FROM generate_series(1, 500000) i), mode => 'lexical')",
    "SELECT rag_to_tsvector('simple', repeat('数据库', 3000000))",
    "SELECT rag_question_to_tsquery('simple', repeat('数据库，', 3000000))",
    "SELECT count(*) FROM generate_series(1, 100000) AS i, LATERAL rag_retrieve('password ' || i, k => 1, \
        options => '{\"retrieve\": {\"offset\": 0, \"candidates\": 100000, \"mmr\": 0.5, \"dedupe\": 0.99, \"neighbours\": 1}}')",
    "SELECT count(*) FROM rag_retrieve_batch(array_fill('How do I reset a password?'::text, ARRAY[100000]))",
    "SELECT count(*) FROM rag_retrieve_batch(array_fill(repeat('word ', 100000), ARRAY[1000]), mode => 'lexical')",
    "SELECT * FROM rag_rerank(repeat('word ', 1000000), array_fill(repeat('word ', 1000), ARRAY[500]))",
    "SELECT r.* FROM (SELECT set_config('rag.embedding_model', 'multilingual-e5-small', true) AS model) AS s, \
        rag_rerank(repeat('word ', 1000000) || left(s.model, 0), array_fill(repeat('word ', 4000), ARRAY[500]), 'reader') AS r",
    "SELECT rag_generate(repeat('word ', 1000000), 'slow')",
];

#[test]
fn every_function_is_cancelled_at_once() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::play([Reply::chat("too late").delay(Duration::from_secs(600))]);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", provider::server("slow", &http))).unwrap();
    client
        .batch_execute(
            "SELECT rag_eval_load('cases', '[{\"question\": \"How?\", \"answers\": [\"So.\"]}]')",
        )
        .unwrap();
    let mut caller = Caller::of(&cluster, client);
    let (mut calls, mut late) = (Vec::new(), Vec::new());
    for function in functions(caller.canceller.observer()) {
        calls.extend(calls_of(&function));
    }
    calls.extend(MORE.iter().map(|call| ((*call).to_owned(), true)));
    let mut cancelled = 0;
    for (call, may_roll_back) in &calls {
        let Some(latency) = caller.cancel(call, *may_roll_back) else { continue };
        cancelled += 1;
        if latency > AT_ONCE {
            println!("{} ms: {call}", latency.as_millis());
            late.push((latency, call));
        }
    }
    println!("{} calls, {cancelled} cancelled, {} after {AT_ONCE:?}", calls.len(), late.len());
    late.retain(|(latency, _)| *latency > LIMIT);
    assert!(late.is_empty(), "{late:?}");
    assert!(cancelled > 5, "only {cancelled} calls took long enough to be cancelled");
}

/// A call for each argument that can be huge, and whether it can be in a transaction block.
fn calls_of(function: &Function) -> Vec<(String, bool)> {
    let mut calls = Vec::new();
    for huge in &function.arguments {
        for expression in huge_of(&huge.kind) {
            let mut given = vec![(huge.name.as_str(), expression)];
            for other in function.arguments.iter().filter(|other| other.name != huge.name) {
                given.extend(ordinary(other).map(|value| (other.name.as_str(), value)));
            }
            calls.push((function.call(&given), !function.is_procedure()));
        }
    }
    if calls.is_empty() {
        let given = function.arguments.iter();
        let given: Vec<_> =
            given.filter_map(|it| Some((it.name.as_str(), ordinary(it)?))).collect();
        calls.push((function.call(&given), !function.is_procedure()));
    }
    calls
}

/// Huge values of a type; none where it has none.
fn huge_of(kind: &str) -> Vec<String> {
    let first = TEXTS[0];
    match kind {
        "text" | "name" => TEXTS.iter().map(|text| (*text).to_owned()).collect(),
        "text[]" => {
            vec![format!("ARRAY[{first}]"), "array_fill('word'::text, ARRAY[1000000])".to_owned()]
        }
        "bytea" => vec![format!("convert_to({first}, 'UTF8')")],
        "json" | "jsonb" => vec![
            format!("('{{\"default\": {{\"a\": \"' || {first} || '\"}}}}')::{kind}"),
            format!("('[' || repeat('{CASE},', 100000) || '{CASE}]')::{kind}"),
            format!("('{{\"a\": [' || repeat('1,', 1000000) || '1]}}')::{kind}"),
        ],
        "integer[]" => vec!["array_fill(3, ARRAY[1000000])".to_owned()],
        "tsvector" => vec!["array_to_tsvector(array_fill('a'::text, ARRAY[100000]))".to_owned()],
        "tsquery" => vec!["(repeat('a & ', 20000) || 'a')::tsquery".to_owned()],
        _ => Vec::new(),
    }
}

/// A case of an evaluation set.
const CASE: &str = "{\"question\": \"How?\", \"answers\": [\"So.\"]}";

/// What an argument is when it is not huge; `None` where the default will do.
fn ordinary(argument: &Argument) -> Option<String> {
    let known = ORDINARY.iter().find(|(name, _)| *name == argument.name);
    let of_kind = || match argument.kind.as_str() {
        "text" | "name" => "'x'",
        "jsonb" | "json" => "'[]'",
        "integer" => "3",
        "regclass" => "'docs_rag_chunks'",
        "regprocedure" => "'pg_client_encoding()'",
        "regconfig" => "'english'",
        "bytea" => "'x'",
        _ => "NULL",
    };
    match known {
        Some((_, value)) if argument.kind == "text[]" && !value.starts_with("ARRAY") => {
            Some(format!("ARRAY[{value}]"))
        }
        Some((_, value)) if argument.kind == "bytea" => {
            Some(format!("convert_to({value}, 'UTF8')"))
        }
        Some((_, value)) => Some((*value).to_owned()),
        None if argument.has_default => None,
        None => Some(of_kind().to_owned()),
    }
}

/// A session in a thread of its own, and what cancels it.
struct Caller {
    statements: Sender<String>,
    ended: Receiver<(String, Instant)>,
    canceller: Canceller,
}

impl Caller {
    fn of(cluster: &Cluster, mut client: Client) -> Caller {
        let canceller = cluster.canceller(&mut client);
        let (statements, received) = channel::<String>();
        let (end, ended) = channel();
        thread::spawn(move || {
            for statement in received {
                let result = client.batch_execute(&statement);
                let said = result.map_or_else(|error| describe(&error), |()| String::new());
                if end.send((said, Instant::now())).is_err() {
                    break;
                }
            }
        });
        Caller { statements, ended, canceller }
    }

    /// How long a call goes on after it is cancelled; `None` where it has ended before.
    fn cancel(&mut self, call: &str, may_roll_back: bool) -> Option<Duration> {
        let statement = if may_roll_back { format!("BEGIN; {call}") } else { call.to_owned() };
        self.statements.send(statement).unwrap();
        let latency = self.cancel_at_work(call);
        self.statements.send("ROLLBACK".to_owned()).unwrap();
        let (said, _) = self.ended.recv().unwrap();
        assert_eq!(said, "", "after {call}");
        latency
    }

    fn cancel_at_work(&mut self, call: &str) -> Option<Duration> {
        while !self.canceller.is_active() {
            if self.has_ended(call, Duration::from_millis(1)).is_some() {
                return None;
            }
        }
        if self.has_ended(call, BEFORE).is_some() {
            return None;
        }
        let asked = self.canceller.cancel();
        let ended = self.has_ended(call, Duration::from_secs(600));
        Some(ended.unwrap_or_else(|| panic!("never ends: {call}")).saturating_duration_since(asked))
    }

    /// When the call has ended, if it does within `time`.
    fn has_ended(&self, call: &str, time: Duration) -> Option<Instant> {
        match self.ended.recv_timeout(time) {
            Ok((said, at)) => {
                let is_broken = said.starts_with("XX") || said == "connection closed";
                assert!(!is_broken, "{said}: {call}");
                Some(at)
            }
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => panic!("the session has ended in {call}"),
        }
    }
}
