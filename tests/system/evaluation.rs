//! Evaluation: sets from files, a language model that judges, what roles see, cancel, and dump and
//! restore.

use std::fs;
use std::thread;
use std::time::Duration;

use postgres::Client;
use postgres::fallible_iterator::FallibleIterator;

use super::cluster::{Cluster, wait_for};
use super::documents::{SETUP, assert_fails, count, describe};
use super::http_server::{Reply, Server};
use super::provider;

const CASES: &str = r#"
    SELECT rag_eval_load('help', '[
        {"id": "password", "question": "How do I reset a password?", "relevant": ["1"]},
        {"id": "invoice", "question": "When are invoices sent?", "relevant": ["2"]},
        {"id": "backup", "question": "How long are backups kept?", "relevant": ["3"]}]')"#;

/// The value of a metric over the first `k` of the set `set`.
fn value(client: &mut Client, set: &str, metric: &str, k: i32) -> f64 {
    let query = "SELECT value FROM rag_eval(eval_set => $1) WHERE metric = $2 AND k = $3";
    let row = client.query_one(query, &[&set, &metric, &k]);
    row.unwrap_or_else(|error| panic!("{set} {metric}: {}", describe(&error))).get(0)
}

#[test]
fn sets_are_read_from_files_by_who_may() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    let folder = cluster.folder().join("beir");
    fs::create_dir_all(folder.join("qrels")).unwrap();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write(
        "queries.jsonl",
        "{\"_id\": \"q1\", \"text\": \"How do I reset a password?\"}\n\
         {\"_id\": \"q2\", \"text\": \"When are invoices sent?\"}\n\
         {\"_id\": \"q3\", \"text\": \"Nobody has judged this.\"}\n",
    );
    write("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\t1\t1\n");
    write("qrels_train.tsv", "query-id\tcorpus-id\tscore\nq2\t2\t2\nq2\t1\t0\n");
    let spans = cluster.folder().join("spans.jsonl");
    let reference = "{\"content\": \"Backups are made\", \"start_index\": 0, \"end_index\": 16}";
    let line = format!(
        "{{\"id\": \"c\", \"text\": \"When are backups made?\", \"corpus_id\": \"3\", \
         \"references\": [{reference}]}}\n"
    );
    fs::write(&spans, line).unwrap();
    cluster.give(&folder);
    cluster.give(&spans);
    let folder = folder.to_string_lossy().into_owned();
    let load = |client: &mut Client, set: &str, path: &str, split: Option<&str>| -> i32 {
        let query = "SELECT rag_eval_load($1, path => $2, split => $3)";
        client.query_one(query, &[&set, &path, &split]).unwrap().get(0)
    };
    assert_eq!(load(&mut client, "test", &folder, None), 1);
    assert_eq!(load(&mut client, "train", &folder, Some("train")), 1);
    assert_eq!(load(&mut client, "spans", &spans.to_string_lossy(), None), 1);
    assert_eq!(value(&mut client, "train", "recall", 1), 1.0);
    assert_eq!(value(&mut client, "spans", "span_recall", 1), 1.0);
    let missing = format!("SELECT rag_eval_load('x', '{folder}', 'dev')");
    assert_fails(&mut client, &missing, &["58P01", "qrels_dev.tsv"]);

    client.batch_execute("CREATE ROLE stranger LOGIN; CREATE ROLE reader LOGIN").unwrap();
    client.batch_execute("GRANT pg_read_server_files TO reader").unwrap();
    let read = format!("SELECT rag_eval_load('own', '{folder}')");
    assert_fails(&mut cluster.connect_as("stranger"), &read, &["42501", "pg_read_server_files"]);
    cluster.connect_as("reader").batch_execute(&read).unwrap();
}

#[test]
fn a_team_shares_what_it_owns() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    client
        .batch_execute(
            "CREATE ROLE team; CREATE ROLE ann LOGIN IN ROLE team; CREATE ROLE bob LOGIN IN ROLE team;
             GRANT SELECT ON docs, docs_rag, docs_rag_chunks TO team",
        )
        .unwrap();
    let (mut ann, mut bob) = (cluster.connect_as("ann"), cluster.connect_as("bob"));
    ann.batch_execute(CASES).unwrap();
    assert_eq!(count(&mut bob, "SELECT count(*) FROM rag.eval_case"), 0);
    ann.batch_execute("SELECT rag_eval_give('help', 'team')").unwrap();
    assert_eq!(value(&mut bob, "help", "hit_rate", 5), 1.0);
    // What was found is that of the role that looked for it.
    assert_eq!(count(&mut ann, "SELECT count(*) FROM rag.eval_result"), 0);
    assert_eq!(count(&mut bob, "SELECT count(*) FROM rag.eval_result"), 3);
    // A role that is gone takes nothing along, and troubles nobody.
    client.batch_execute("UPDATE rag.eval_set SET owner = 'nobody there'").unwrap();
    assert_eq!(count(&mut bob, "SELECT count(*) FROM rag.eval_set"), 0);
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag.eval_set"), 1);
}

#[test]
fn a_language_model_judges_contexts() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let replies = ["[2, 0, 0]", "Sure! [2, 1, 1]", "I would rather not."];
    let http = Server::play(replies.map(Reply::chat));
    let mut client = cluster.connect();
    client
        .batch_execute(&format!("{SETUP} {CASES}; {}", provider::server("judge", &http)))
        .unwrap();
    let query = "SELECT configuration, value, n FROM rag_eval(
            configurations => '{\"hybrid\": {\"k\": 3}, \"again\": {\"k\": 3}}',
            options => '{\"context\": \"llm\", \"llm\": \"judge\", \"context_k\": 3}')
        WHERE metric = 'context_relevance'";
    let rows = client.query(query, &[]).unwrap();
    for row in &rows {
        let (value, judged): (f64, i32) = (row.get(1), row.get(2));
        assert!((value - (1.0 / 3.0 + 2.0 / 3.0) / 2.0).abs() < 1e-9, "{value}");
        assert_eq!(judged, 2, "one reply had no grades");
    }
    assert_eq!(rows.len(), 2);
    assert_eq!(http.requests().len(), 3, "a context that both have in common is judged once");
}

/// A statement that waits for a provider ends soon after it is cancelled.
fn check_interrupt(cluster: &Cluster, client: &mut Client, http: &Server, statement: &str) {
    let mut canceller = cluster.canceller(client);
    let took = thread::scope(|scope| {
        let canceller = scope.spawn(|| {
            assert!(wait_for(|| !http.requests().is_empty()), "the provider was not asked");
            canceller.cancel()
        });
        assert_fails(client, statement, &["57014"]);
        canceller.join().unwrap().elapsed()
    });
    println!("{statement} was cancelled within {took:.1?}");
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn a_run_is_interrupted() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::play([Reply::chat("[2]").delay(Duration::from_secs(60))]);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {CASES}; {}", provider::server("slow", &http))).unwrap();
    let run =
        "SELECT count(*) FROM rag_eval(options => '{\"context\": \"llm\", \"llm\": \"slow\"}')";
    check_interrupt(&cluster, &mut client, &http, run);
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag.eval_run"), 0);
}

#[test]
fn who_listens_is_told_of_broken_floors() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {CASES}; LISTEN rag_eval_floor; LISTEN quiet")).unwrap();
    let told = |client: &mut Client, statement: &str| -> Vec<(String, serde_json::Value)> {
        client.batch_execute(statement).unwrap_or_else(|error| panic!("{}", describe(&error)));
        let mut notifications = client.notifications();
        let mut waiting = notifications.timeout_iter(Duration::from_secs(1));
        let mut told = Vec::new();
        while let Some(it) = waiting.next().unwrap() {
            told.push((it.channel().to_owned(), serde_json::from_str(it.payload()).unwrap()));
        }
        told
    };
    let nobody = "SELECT count(*) FROM rag_eval('docs', 'help', k => '{1,5}',
        configurations => '{\"nobody\": {\"pipeline\": \"blank\"}, \"usual\": {}}')";
    client
        .batch_execute(
            "CREATE TABLE blank (id integer PRIMARY KEY, body text);
             SELECT rag_create_pipeline('blank', 'body');
             SELECT rag_eval_floors('help', '{\"recall@1\": 0.5, \"mrr\": 0.5}')",
        )
        .unwrap();
    assert!(told(&mut client, &format!("BEGIN; {nobody}; ROLLBACK")).is_empty());
    let broken = told(&mut client, nobody);
    assert_eq!(broken.len(), 2, "{broken:?}");
    let run_number = count(&mut client, "SELECT max(id) FROM rag.eval_run");
    let expected = serde_json::json!({"set": "help", "configuration": "nobody", "metric": "recall", "k": 1,
        "value": 0.0, "floor": 0.5, "run": run_number});
    assert!(broken.contains(&("rag_eval_floor".to_owned(), expected)), "{broken:?}");
    // The greatest k of the run, and the channel that is named.
    let quiet = "SELECT rag_eval_floors('help', '{\"mrr\": 0.5}', channel => 'quiet')";
    assert!(told(&mut client, quiet).is_empty());
    let broken = told(&mut client, nobody);
    assert_eq!((broken.len(), broken[0].0.as_str()), (1, "quiet"), "{broken:?}");
    assert_eq!((&broken[0].1["metric"], &broken[0].1["k"]), (&"mrr".into(), &5.into()));
    // Names of any length make no notification too long.
    let long =
        "SELECT rag_eval_load(repeat('\"', 2000), '[{\"text\": \"Why?\", \"relevant\": [\"1\"]}]');
        SELECT rag_eval_floors(repeat('\"', 2000), '{\"recall\": 1}');
        SELECT count(*) FROM rag_eval('blank', repeat('\"', 2000),
            configurations => json_build_object(repeat('\u{1F600}', 5000), '{}'::json))";
    assert_eq!(told(&mut client, long).len(), 1);
}

/// Four ways to ask the same, so that a good writer is right on both halves.
const BACKUPS: &str = r#"
    SELECT rag_eval_load('backups', jsonb_agg(jsonb_build_object('question', q, 'answer', 'Backups are kept for thirty days.')))
    FROM unnest('{How long are backups kept?,For how many days are backups kept?,
        Are backups kept for long?,How old is the oldest backup?}'::text[]) AS q"#;

#[test]
fn the_best_writer_is_chosen_within_a_budget() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let good = Server::play([Reply::chat("Backups are kept for thirty days [1].")]);
    let bad = Server::play([Reply::chat("Passwords are reset on the settings page [1].")]);
    let mut client = cluster.connect();
    let servers = [provider::server("good", &good), provider::server("bad", &bad)].concat();
    client.batch_execute(&format!("{SETUP} {BACKUPS}; {servers}")).unwrap();
    let mut optimize = |options: &str, apply: bool| {
        let query = format!(
            "SELECT configuration, is_chosen, training_n, held_out, held_out_n, difference
             FROM rag_optimize('docs', 'backups', 'token_f1', '{{\"llm\": [\"bad\", \"good\"]}}',
                 apply => {apply}, options => '{options}')"
        );
        client.query(&query, &[]).unwrap_or_else(|error| panic!("{}", describe(&error)))
    };
    let rows = optimize("{}", false);
    assert_eq!(rows.len(), 3);
    assert_eq!((rows[0].get::<_, &str>(0), rows[0].get(1)), ("llm=good", true));
    assert_eq!((rows[0].get(2), rows[0].get(4)), (2, 2));
    assert_eq!(rows[0].get::<_, f64>(3), 1.0);
    assert!(rows[0].get::<_, f64>(5) > 0.0, "better than what is quoted");
    assert!(rows[1..].iter().all(|row| !row.get::<_, bool>(1)));
    let asked = good.requests().len() + bad.requests().len();
    assert_eq!(asked, 8, "each writer once for each question");

    // Of four calls two are for training: a question each.
    let rows = optimize("{\"budget\": {\"calls\": 4}}", true);
    assert_eq!((rows[0].get::<_, &str>(0), rows[0].get(2), rows[0].get(4)), ("llm=good", 1, 1));
    assert_eq!(good.requests().len() + bad.requests().len() - asked, 4);
    let defaults = "SELECT count(*) FROM rag.pipeline WHERE defaults = '{\"llm\": \"good\"}'";
    assert_eq!(count(&mut client, defaults), 1, "the best becomes the default");
    let too_small =
        "SELECT rag_optimize('docs', 'backups', 'token_f1', '{\"llm\": [\"bad\", \"good\"]}',
        options => '{\"budget\": {\"calls\": 1}}')";
    assert_fails(&mut client, too_small, &["53400", "before a question was asked"]);
}

/// Parts of the prompts in which a writer is right: that of a template, of a strategy, and of examples.
const HELPFUL: [&str; 3] = [
    "in as few words as possible",
    "and say how good the answer is",
    "So were other questions answered",
];

#[test]
fn the_best_template_strategy_and_number_of_examples_are_chosen() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(|request| {
        Reply::chat(match HELPFUL.iter().any(|it| request.text().contains(it)) {
            true => "Backups are kept for thirty days [1].",
            false => "Passwords are reset on the settings page [1].",
        })
    });
    let mut client = cluster.connect();
    let shown = r#"SELECT rag_eval_load('shown', '[
        {"question": "When are invoices sent?", "answer": "Invoices are sent on the first day of each month."},
        {"question": "When are backups made?", "answer": "Backups are made at two."}]')"#;
    client
        .batch_execute(&format!(
            "{SETUP} {BACKUPS}; {shown}; {}",
            provider::server("writer", &http)
        ))
        .unwrap();
    let mut check = |space: &str, apply: bool, expected: &str| {
        let query = format!(
            "SELECT configuration, is_chosen, held_out, difference
             FROM rag_optimize('docs', 'backups', 'token_f1', '{{\"llm\": [\"writer\"], {space}}}', apply => {apply})"
        );
        let rows = client.query(&query, &[]);
        let rows = rows.unwrap_or_else(|error| panic!("{space}: {}", describe(&error)));
        let chosen: Vec<_> = rows.iter().filter(|row| row.get(1)).collect();
        assert_eq!((rows.len(), chosen.len()), (3, 1), "{space}");
        assert_eq!(chosen[0].get::<_, &str>(0), format!("llm=writer, {expected}"));
        assert_eq!(chosen[0].get::<_, f64>(2), 1.0, "{space}");
        assert!(chosen[0].get::<_, f64>(3) > 0.0, "{space}: better than what is quoted");
    };
    check("\"answer.template\": [\"standard\", \"concise\"]", false, "answer.template=concise");
    check(
        "\"answer.strategy\": [\"compact\", \"map_rerank\"]",
        false,
        "answer.strategy=map_rerank",
    );
    let examples = "\"answer.example_set\": [\"shown\"], \"answer.examples\": [0, 2]";
    check(examples, true, "answer.example_set=shown, answer.examples=2");
    let defaults = "SELECT count(*) FROM rag.pipeline WHERE defaults =
        '{\"llm\": \"writer\", \"answer\": {\"examples\": 2, \"example_set\": \"shown\"}}'";
    assert_eq!(count(&mut client, defaults), 1, "the best becomes the default");
}

#[test]
fn a_search_is_interrupted() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::play([Reply::chat("Late.").delay(Duration::from_secs(60))]);
    let mut client = cluster.connect();
    client
        .batch_execute(&format!("{SETUP} {BACKUPS}; {}", provider::server("slow", &http)))
        .unwrap();
    let search = "SELECT rag_optimize('docs', 'backups', 'token_f1', '{\"llm\": [\"slow\"]}', apply => true)";
    check_interrupt(&cluster, &mut client, &http, search);
    assert_eq!(
        count(&mut client, "SELECT count(*) FROM rag.pipeline WHERE defaults IS NOT NULL"),
        0
    );
}

#[test]
fn sets_and_runs_are_dumped_and_restored() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {CASES}; CREATE ROLE ann;")).unwrap();
    client.batch_execute("SET ROLE ann; SELECT rag_eval_load('anns', '[{\"text\": \"Why?\", \"relevant\": [\"1\"]}]'); RESET ROLE").unwrap();
    let before = value(&mut client, "help", "ndcg", 10);
    let dump = cluster.run("pg_dump", &["-h", &cluster.socket(), "-U", "postgres", "postgres"]);
    // In a server that does not know the role ann.
    let elsewhere = cluster.beside(&[]);
    elsewhere.psql("postgres", &dump);
    let mut restored = elsewhere.connect();
    assert_eq!(count(&mut restored, "SELECT count(*) FROM rag.eval_set"), 2);
    assert_eq!(count(&mut restored, "SELECT count(*) FROM rag.eval_result"), 3);
    assert_eq!(value(&mut restored, "help", "ndcg", 10), before);
    let compared = "SELECT count(*) FROM rag.eval_summary WHERE metric = 'ndcg' AND change = 0";
    assert_eq!(
        count(&mut restored, compared),
        4,
        "the run after the restore follows the one before"
    );
}
