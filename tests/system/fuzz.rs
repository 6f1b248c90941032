//! Random calls of every function of the extension, by random roles.
//!
//! ```text
//! make fuzz FOR=3600 SEED=7          for an hour, from a seed that an earlier run has printed
//! ```
//!
//! No call may end the server or the session, fail with an internal error, or outlast its
//! `statement_timeout`. What fails is printed as a script that does it again.

#[path = "fuzz/values.rs"]
mod values;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use postgres::{Client, SimpleQueryMessage};

use self::values::{huge, values};
use super::callable::{Argument, Function, functions};
use super::cluster::Cluster;
use super::documents::describe;
use super::random::Random;

/// Calls where no time is given.
const CALLS: usize = 5000;

/// Sessions that call at the same time.
const SESSIONS: u64 = 2;

/// How long a call may take before it is cancelled, and how much later it may end on a busy machine.
const TIMEOUT: &str = "1s";
const LIMIT: Duration = Duration::from_secs(60);

/// Who calls: who may do all, who owns the documents, who sees some of them, and who sees nothing.
const ROLES: [&str; 4] = ["postgres", "owner", "reader", "nobody"];

const SETUP: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE ROLE owner;
    CREATE ROLE reader;
    CREATE ROLE nobody;
    GRANT CREATE ON SCHEMA public TO owner;
    SET ROLE owner;
    CREATE TABLE docs (id integer PRIMARY KEY, tenant text, views integer, note jsonb, body text);
    ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
    CREATE POLICY own ON docs TO reader USING (tenant = 'a');
    INSERT INTO docs SELECT i, CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END, i * 10, '{\"a\": 1}',
        'To reset password ' || i || ', open the settings page. A link is sent by mail on day ' || i % 7 || '.'
        FROM generate_series(1, 40) AS i;
    GRANT SELECT ON docs TO reader;
    CREATE TABLE plain (id integer PRIMARY KEY, body text);
    INSERT INTO plain SELECT i, 'Row ' || i FROM generate_series(1, 10) AS i;
    SELECT rag_create_pipeline('docs', 'body', refresh => 'sync', metadata => ARRAY['tenant', 'views', 'note']);
    RESET ROLE;
    SELECT rag_eval_load('cases', '[{\"question\": \"How?\", \"answers\": [\"So.\"], \"relevant\": [\"1\"]}]');";

#[test]
fn random_calls_end_no_session_and_meet_no_internal_error() {
    let seed = variable("PG_RAG_FUZZ_SEED").unwrap_or(20_260_731);
    let end = variable("PG_RAG_FUZZ_SECONDS").map(|it| Instant::now() + Duration::from_secs(it));
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut observer = cluster.connect();
    observer.batch_execute(SETUP).unwrap();
    let begun = started_at(&mut observer);
    let words = Words::learn(&mut observer);
    println!("seed {seed}, {} functions, {} options", words.functions.len(), words.options.len());
    let calls = AtomicUsize::new(0);
    let goes_on = || match end {
        Some(end) => Instant::now() < end,
        None => calls.load(Ordering::Relaxed) < CALLS,
    };
    thread::scope(|scope| {
        for session in 0..SESSIONS {
            let (cluster, words, goes_on, calls) = (&cluster, &words, &goes_on, &calls);
            scope.spawn(move || {
                let mut fuzzer = Fuzzer::of(cluster.connect(), words, seed + session);
                while goes_on() {
                    calls.fetch_add(1, Ordering::Relaxed);
                    fuzzer.call();
                }
                println!("seed {}: {}", seed + session, fuzzer.outcome());
            });
        }
    });
    assert_eq!(started_at(&mut observer), begun, "the server has started again");
    for sign in ["was terminated by signal", "PANIC:", "panicked"] {
        let log = cluster.log();
        let found = log.lines().find(|line| line.contains(sign));
        assert_eq!(found, None, "seed {seed}");
    }
}

fn variable(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok().filter(|value| !value.is_empty())?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} is not a number: {value}")))
}

fn started_at(client: &mut Client) -> String {
    client.query_one("SELECT pg_postmaster_start_time()::text", &[]).unwrap().get(0)
}

/// What calls are made of.
struct Words {
    functions: Vec<Function>,
    /// Names of options, as errors tell them.
    options: Vec<String>,
    /// Names of relations of the extension's access methods.
    indexes: Vec<String>,
}

impl Words {
    fn learn(client: &mut Client) -> Words {
        let functions = functions(client);
        let mut options = BTreeSet::new();
        for function in &functions {
            for argument in function.arguments.iter().filter(|it| it.kind == "jsonb") {
                for value in ["'{\"nosuch\": 1}'", "'[{\"nosuch\": 1}]'"] {
                    let mut given = vec![(argument.name.as_str(), value.to_owned())];
                    let others = function.arguments.iter().filter(|it| it.name != argument.name);
                    let needed = others.filter(|it| !it.has_default);
                    given.extend(needed.map(|it| (it.name.as_str(), usual(it).to_owned())));
                    let call = format!("BEGIN; {}", function.call(&given));
                    if let Err(error) = client.batch_execute(&call) {
                        options.extend(names(&describe(&error)));
                    }
                    client.batch_execute("ROLLBACK").unwrap();
                }
            }
        }
        let indexes =
            "SELECT c.oid::regclass::text FROM pg_class AS c JOIN pg_am AS a ON a.oid = c.relam
                       WHERE a.amname IN ('rag_hnsw', 'rag_bm25') ORDER BY 1";
        let indexes = client.query(indexes, &[]).unwrap().iter().map(|row| row.get(0)).collect();
        assert!(options.len() > 20, "{options:?}");
        Words { functions, options: options.into_iter().collect(), indexes }
    }
}

/// The names in an error that lists what it knows: those between backticks, and those after a colon.
fn names(error: &str) -> Vec<String> {
    let quoted = error.split('`').skip(1).step_by(2);
    let listed =
        error.split("Known").skip(1).flat_map(|list| list.split([',', ':', '.', ' ', ')']));
    let is_name = |word: &&str| {
        word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    quoted.chain(listed).filter(is_name).map(str::to_owned).collect()
}

/// A value with which most functions have something to do.
fn usual(argument: &Argument) -> &'static str {
    match (argument.name.as_str(), argument.kind.as_str()) {
        ("pipeline" | "source", _) => "'docs'",
        ("question" | "query" | "prompt", "text") => "'How do I reset a password?'",
        ("questions", "text[]") => "ARRAY['How do I reset a password?']",
        ("content", "text") => "'body'",
        ("eval_set", "text") => "'cases'",
        ("index", _) => "'docs_rag_chunks_tsv_idx'",
        (_, "text") => "'A link is sent by mail.'",
        (_, "text[]") => "ARRAY['A link is sent by mail.']",
        (_, "bytea") => "'<p>A link is sent by mail.'",
        (_, "integer") => "3",
        (_, "jsonb" | "json") => "'{}'",
        _ => "NULL",
    }
}

/// A session that makes random calls.
struct Fuzzer<'a> {
    client: Client,
    words: &'a Words,
    random: Random,
    seed: u64,
    calls: usize,
    failed: usize,
    longest: Duration,
}

impl Fuzzer<'_> {
    fn of(client: Client, words: &Words, seed: u64) -> Fuzzer<'_> {
        let random = Random(seed);
        Fuzzer { client, words, random, seed, calls: 0, failed: 0, longest: Duration::ZERO }
    }

    /// Makes a call, and takes back what it did.
    fn call(&mut self) {
        self.calls += 1;
        let words = self.words;
        let function = self.random.pick(&words.functions);
        let role = ROLES[self.random.below(ROLES.len())];
        let call = self.statement(function);
        let settings = format!(
            "SET statement_timeout = '{TIMEOUT}'; SET lock_timeout = '300ms'; SET ROLE {role};"
        );
        let script = match function.is_procedure() {
            true => vec![settings, call],
            false => vec![format!("{settings} BEGIN"), call],
        };
        let begun = Instant::now();
        let outcome = script
            .iter()
            .try_for_each(|it| self.client.simple_query(it).map(drop::<Vec<SimpleQueryMessage>>));
        let took = begun.elapsed();
        let again =
            || format!("seed {}, call {}, {took:?}: {};", self.seed, self.calls, script.join("; "));
        if let Err(error) = &outcome {
            self.failed += 1;
            let code = error.as_db_error().map(|error| error.code().code());
            let is_broken = code.is_none_or(|code| code.starts_with("XX"));
            assert!(!is_broken, "{}: {}", again(), describe(error));
        }
        assert!(took < LIMIT, "{}", again());
        self.longest = self.longest.max(took);
        let ended = self.client.batch_execute("ROLLBACK; RESET ROLE; SET statement_timeout = 0");
        ended.unwrap_or_else(|error| panic!("{}: afterwards {}", again(), describe(&error)));
    }

    fn statement(&mut self, function: &Function) -> String {
        let mut given = Vec::new();
        for argument in &function.arguments {
            if !argument.has_default || self.random.below(3) == 0 {
                given.push((argument.name.as_str(), self.value(argument)));
            }
        }
        function.call(&given)
    }

    fn value(&mut self, argument: &Argument) -> String {
        let kind = argument.kind.as_str();
        let value = match self.random.below(60) {
            0..25 => usual(argument).to_owned(),
            25..28 => "NULL".to_owned(),
            28 => self.random.pick(huge(kind)).replace('@', kind),
            29..34 if kind == "regclass" => match self.words.indexes.as_slice() {
                [] => "0".to_owned(),
                indexes => format!("'{}'::regclass", self.random.pick(indexes)),
            },
            _ if kind == "jsonb" || kind == "json" => {
                format!("'{}'", self.json(2).replace('\'', "''"))
            }
            _ => self.random.pick(values(kind)).to_string(),
        };
        // A type for literals and NULL, so that overloaded names are found.
        format!("({value})::{kind}")
    }

    /// JSON with names that functions know.
    fn json(&mut self, depth: usize) -> String {
        const PLAIN: [&str; 18] = [
            "null",
            "true",
            "false",
            "0",
            "1",
            "-1",
            "3",
            "0.5",
            "1e400",
            "-1e-400",
            "18446744073709551616",
            "\"\"",
            "\"docs\"",
            "\"How?\"",
            "\"none\"",
            "\"tenant\"",
            "[]",
            "{}",
        ];
        match self.random.below(if depth == 0 { 1 } else { 4 }) {
            0 => self.random.pick(&PLAIN).to_string(),
            1 => {
                let items: Vec<String> =
                    (0..self.random.below(4)).map(|_| self.json(depth - 1)).collect();
                format!("[{}]", items.join(","))
            }
            _ => {
                let names = &self.words.options;
                let count = self.random.below(4);
                let members: Vec<String> = (0..count)
                    .map(|_| {
                        let name = self.random.pick(names).clone();
                        format!("\"{name}\": {}", self.json(depth - 1))
                    })
                    .collect();
                format!("{{{}}}", members.join(","))
            }
        }
    }

    fn outcome(&self) -> String {
        format!("{} calls, {} failed, the longest took {:?}", self.calls, self.failed, self.longest)
    }
}
