//! Trees whose summaries a language model writes: an HTTP server on loopback.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use postgres::Client;

use super::cluster::{Cluster, wait_for};
use super::derivation::{CALLS, Writer};
use super::documents::{assert_fails, count};
use super::embedder::embeddings;
use super::http_server::{Reply, Request, Server};
use super::provider::server;
use super::tree::SETUP;

/// Trees that `writer` writes over the reports.
fn create(refresh: &str) -> String {
    format!(
        "SELECT rag_create_pipeline('report', 'body', refresh => '{refresh}',
             chunking => '{{\"by\": \"markdown\", \"max_tokens\": 48, \"overlap\": 0}}',
             options => '{{\"tree\": {{\"summary\": \"llm\", \"llm\": \"writer\"}}}}')"
    )
}

const RUN: &str = "CALL rag_run('report')";

const NODES: &str = "SELECT count(*) FROM report_rag_chunks_tree";

const WRITTEN: &str = "SELECT count(*) FROM report_rag_chunks_tree WHERE written";

const UNEMBEDDED: &str =
    "SELECT count(*) FROM report_rag_chunks_tree WHERE searched AND embedding IS NULL";

/// A language model that writes something else each time.
fn writer() -> Server {
    let number = AtomicUsize::new(0);
    Server::answer(move |request| {
        assert!(request.text().contains("<<<source 2 "), "{}", request.text());
        let number = number.fetch_add(1, Ordering::SeqCst);
        Reply::chat(&format!("Digest {number}: mills grind,\n and bread costs money."))
    })
}

/// How often each run of chunks was asked about: by what is sent, but for the mark that is new each time.
fn asked(requests: &[Request]) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for request in requests {
        let text = request.text();
        if !text.contains("Heading: Part") {
            continue;
        }
        let mark = text.split("<<<source 1 ").nth(1).expect("a source").split(">>>").next();
        *counts.entry(text.replace(mark.expect("its mark"), "")).or_default() += 1;
    }
    counts
}

fn text(client: &mut Client, query: &str) -> String {
    client.query_one(query, &[]).unwrap_or_else(|error| panic!("{query}: {error:?}")).get(0)
}

#[test]
fn an_edit_in_a_hundred_documents_asks_few_times() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = writer();
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", server("writer", &http))).unwrap();
    // One that needs nobody, and one of which all is written with another.
    client
        .batch_execute(
            "INSERT INTO report VALUES (101, 'The mill of the valley is closed.');
             INSERT INTO report SELECT 102, body FROM report WHERE id = 1",
        )
        .unwrap();
    client.batch_execute(&create("manual")).unwrap();
    client.batch_execute(RUN).unwrap();
    let calls = http.requests().len() as i64;
    assert_eq!(count(&mut client, WRITTEN), calls);
    assert_eq!(count(&mut client, NODES), calls + 1, "a chunk alone is not summed up");
    assert_eq!(count(&mut client, UNEMBEDDED), 0);
    assert!(asked(&http.requests()).values().all(|times| *times == 1));
    let status =
        "SELECT concat_ws(' ', kind, llm, state, missing, empty) FROM rag.derivation_status";
    assert_eq!(text(&mut client, status), "tree writer live 0 0");

    client.batch_execute(RUN).unwrap();
    assert_eq!(http.requests().len() as i64, calls, "nothing is paid for twice");
    client
        .batch_execute("UPDATE report SET body = replace(body, 'in part 5 that', 'in part 5 now that') WHERE id = 42")
        .unwrap();
    client.batch_execute(RUN).unwrap();
    let again = http.requests().len() as i64 - calls;
    assert!((1..=6).contains(&again), "{again} calls for an edit");
    assert_eq!(count(&mut client, WRITTEN), calls, "what is gone is forgotten");
    assert_eq!(count(&mut client, UNEMBEDDED), 0);

    // What is written has no place; the sentences beside it have.
    let own = "SELECT content FROM rag_summary('42', 'report') WHERE no = 0 AND chunk_id IS NULL";
    let own = text(&mut client, own);
    assert!(own.starts_with("Digest ") && own.ends_with(": mills grind, and bread costs money."));
    let quoted = "SELECT count(*) FROM report AS r CROSS JOIN rag_summary(r.id::text, 'report') AS s
                  WHERE r.id = 42 AND s.no > 0 AND substr(r.body, s.start_char + 1, s.end_char - s.start_char) = s.content";
    assert!(count(&mut client, quoted) > 0);
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag_summary('101') WHERE no = 0"), 0);
    // Answers read it, and cite the chunks below.
    let read = "SELECT count(*) FROM rag_answer_details('Summarise what the reports say of bread.', 'report') AS a,
                                     jsonb_array_elements(a.context) AS c
                WHERE c ? 'summary_id' AND c ->> 'content' LIKE 'Digest %' AND jsonb_array_length(c -> 'leaves') > 0";
    assert!(count(&mut client, read) > 0);
}

#[test]
fn a_node_that_is_refused_quotes_and_an_outage_loses_nothing() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let is_down = Arc::new(AtomicBool::new(false));
    let down = Arc::clone(&is_down);
    let http = Server::answer(move |request| {
        match request.text().contains("report number 3 says") || down.load(Ordering::SeqCst) {
            true => Reply::json(400, r#"{"error": {"message": "that is not decent"}}"#),
            false => Reply::chat("Digest: mills grind."),
        }
    });
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", server("writer", &http))).unwrap();
    client.batch_execute("DELETE FROM report WHERE id > 5").unwrap();
    client.batch_execute(&create("manual")).unwrap();
    client.batch_execute(RUN).unwrap();
    let refused =
        "SELECT count(*) FROM report_rag_chunks_tree WHERE NOT written AND template IS NOT NULL
                   AND content LIKE '%report number 3 says%' AND embedding IS NOT NULL";
    assert_eq!(count(&mut client, refused), 3);
    assert_eq!(count(&mut client, WRITTEN), 12);
    let of_refused = "SELECT concat_ws(' ', count(*) FILTER (WHERE no = 0), count(*) > 0) FROM rag_summary('3', 'report')";
    assert_eq!(text(&mut client, of_refused), "0 t");
    let status = "SELECT concat_ws(' ', state, missing, empty) FROM rag.derivation_status";
    assert_eq!(text(&mut client, status), "live 0 3");
    // It is not asked again.
    let calls = http.requests().len();
    client.batch_execute(RUN).unwrap();
    assert_eq!(http.requests().len(), calls);

    // Who refuses everything is out of order: nothing is said of the nodes, and the old ones stay.
    is_down.store(true, Ordering::SeqCst);
    client.batch_execute("UPDATE report SET body = body || ' More.' WHERE id = 4").unwrap();
    for _ in 0..2 {
        assert_fails(&mut client, RUN, &["38000", "writer"]);
    }
    assert_eq!(count(&mut client, refused), 3);
    assert_eq!(text(&mut client, "SELECT state FROM rag.derivation_status"), "filling");
    is_down.store(false, Ordering::SeqCst);
    let calls = http.requests().len();
    client.batch_execute(RUN).unwrap();
    assert!((1..=3).contains(&(http.requests().len() - calls)));
    assert_eq!((count(&mut client, WRITTEN), count(&mut client, refused)), (12, 3));
    assert_eq!(text(&mut client, status), "live 0 3");
}

#[test]
fn summaries_follow_the_option_the_template_and_the_generation() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let (http, embedder) = (writer(), Server::answer(embeddings));
    let mut client = cluster.connect();
    client
        .batch_execute(&format!(
            "{SETUP} {} {} DELETE FROM report WHERE id > 5;
             SELECT rag_add_model('far', server => 'embedder');",
            server("writer", &http),
            server("embedder", &embedder)
        ))
        .unwrap();
    client.batch_execute(&create("manual")).unwrap();
    client.batch_execute(RUN).unwrap();
    assert_eq!((count(&mut client, WRITTEN), http.requests().len()), (15, 15));
    // Another template is another summary, of each node.
    client
        .batch_execute("SELECT rag_template_set('summarize_passages', '{{ frame }} {{ sources }}')")
        .unwrap();
    client.batch_execute(RUN).unwrap();
    let new = "SELECT count(*) FROM report_rag_chunks_tree WHERE written AND template = 'summarize_passages@1'";
    assert_eq!((count(&mut client, new), http.requests().len()), (15, 30));
    assert_eq!((count(&mut client, NODES), count(&mut client, UNEMBEDDED)), (15, 0));
    // Another model of vectors makes another generation of chunks, whose texts are the old ones.
    client.batch_execute("SELECT rag_alter_pipeline('report', model => 'far')").unwrap();
    client.batch_execute(RUN).unwrap();
    assert_eq!(text(&mut client, "SELECT model FROM rag.pipeline WHERE name = 'report'"), "far");
    assert_eq!(http.requests().len(), 30);
    let table = text(&mut client, "SELECT relation FROM rag.derivation_status");
    let in_table = |condition: &str| format!("SELECT count(*) FROM {table} WHERE {condition}");
    assert_eq!(count(&mut client, &in_table("written AND embedding IS NOT NULL")), 15);
    // Quotes again: they ask nobody.
    client
        .batch_execute("SELECT rag_alter_pipeline('report', options => '{\"tree\": {\"summary\": \"extractive\"}}')")
        .unwrap();
    client.batch_execute(RUN).unwrap();
    assert_eq!(count(&mut client, &in_table("NOT written AND template IS NULL")), 15);
    assert_eq!(count(&mut client, &in_table("written OR searched AND embedding IS NULL")), 0);
    assert_eq!(http.requests().len(), 30);
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag_summary('1') WHERE no = 0"), 0);
    // What cannot be.
    let alter = |tree: &str| {
        format!("SELECT rag_alter_pipeline('report', options => '{{\"tree\": {tree}}}')")
    };
    let nobody = alter("{\"summary\": \"llm\", \"llm\": \"nobody\"}");
    assert_fails(&mut client, &nobody, &["42704", "nobody"]);
    let extractive = alter("{\"summary\": \"llm\", \"llm\": \"extractive\"}");
    assert_fails(&mut client, &extractive, &["tree", "rag_llm"]);
    let template = alter("{\"summary\": \"llm\", \"llm\": \"writer\", \"template\": \"none\"}");
    assert_fails(&mut client, &template, &["none"]);
}

#[test]
fn who_quotes_for_a_moment_has_all_written_again() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = writer();
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", server("writer", &http))).unwrap();
    client.batch_execute("DELETE FROM report WHERE id > 5").unwrap();
    client.batch_execute(&create("manual")).unwrap();
    client.batch_execute(RUN).unwrap();
    assert_eq!((count(&mut client, WRITTEN), http.requests().len()), (15, 15));
    // No run has seen that they were to quote.
    client
        .batch_execute(
            r#"BEGIN;
               SELECT rag_alter_pipeline('report', options => '{"tree": {"summary": "extractive"}}');
               SELECT rag_alter_pipeline('report', options => '{"tree": {"summary": "llm", "llm": "writer"}}');
               COMMIT"#,
        )
        .unwrap();
    assert_eq!(count(&mut client, NODES), 0);
    client.batch_execute(RUN).unwrap();
    assert_eq!((count(&mut client, WRITTEN), http.requests().len()), (15, 30));
    assert_eq!((count(&mut client, NODES), count(&mut client, UNEMBEDDED)), (15, 0));
    let roots = "SELECT count(*) FROM report_rag_chunks_tree WHERE is_root";
    assert_eq!(count(&mut client, roots), 5);
}

#[test]
fn a_crash_costs_no_more_summaries_than_calls_in_flight() {
    let Some(mut cluster) = Cluster::start(&[]) else { return };
    let writer = Arc::new(Writer::default());
    let http = writer.serve();
    let mut client = cluster.connect();
    client
        .batch_execute(&format!(
            "{SETUP} {} ALTER SERVER writer OPTIONS (ADD max_concurrency '{CALLS}');
             DELETE FROM report WHERE id > 40; {}",
            server("writer", &http),
            create("async")
        ))
        .unwrap();
    assert!(wait_for(|| count(
        &mut client,
        "SELECT CASE WHEN to_regclass('report_rag_chunks_tree') IS NULL THEN 0 ELSE 1 END::bigint"
    ) == 1));
    assert!(wait_for(|| count(&mut client, WRITTEN) > 10));
    writer.close();
    assert!(wait_for(|| writer.in_flight() == CALLS));
    assert!(count(&mut client, WRITTEN) < 120);
    cluster.kill();
    writer.open();
    cluster.boot();
    let mut client = cluster.connect();
    client.batch_execute("INSERT INTO report VALUES (1000, 'It is the end.')").unwrap();
    assert!(wait_for(|| count(&mut client, WRITTEN) == 120 && count(&mut client, UNEMBEDDED) == 0));
    let asked = asked(&http.requests());
    let again = asked.values().filter(|times| **times > 1).count();
    assert!(again <= CALLS, "{again} are paid for twice");
}
