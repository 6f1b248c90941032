//! pg_upgrade brings pipelines, indexes and pending work to a new version of PostgreSQL.

use super::cluster::Cluster;
use super::documents::{QUESTION, SETUP, count};
use super::dump::kept;

/// What workers would do is left undone: there are none.
const PENDING: &str = "
    CREATE TEXT SEARCH CONFIGURATION public.plain (COPY = simple);
    CREATE TABLE notes (id integer PRIMARY KEY, body text, lang text);
    INSERT INTO notes VALUES (1, 'The canteen serves lunch from noon to two.', 'en');
    SELECT rag_create_pipeline('notes', 'body', metadata => '{lang}',
                               options => '{\"config\": \"plain\", \"backfill\": \"now\"}');
    INSERT INTO notes VALUES (2, 'Visitors park behind the mill.', 'en');
    CREATE TABLE parts (id integer PRIMARY KEY, body text) PARTITION BY RANGE (id);
    CREATE TABLE low PARTITION OF parts FOR VALUES FROM (0) TO (100);
    INSERT INTO parts VALUES (1, 'The museum is closed on Mondays.');
    SELECT rag_create_pipeline('parts', 'body', options => '{\"backfill\": \"now\"}');
    SELECT rag_eval_load('lunch', '[{\"question\": \"When is lunch served?\", \"relevant\": [\"1\"]}]');
    SELECT count(*) FROM rag_eval('notes', 'lunch', k => '{1}');
    SELECT rag_answer('When is lunch served?', 'notes', options => jsonb_build_object('answer', jsonb_build_object('conversation', rag_conversation())));
    CREATE TABLE manual (id integer PRIMARY KEY, body text);
    INSERT INTO manual VALUES (1, 'The garden is open in summer.');
    SELECT rag_create_pipeline('manual', 'body', refresh => 'manual');";

/// The two kinds of indexes.
const KINDS: [&str; 2] = ["hnsw", "bm25"];

/// The indexes of a kind.
fn indexes(kind: &str) -> String {
    format!(
        "SELECT count(*) FROM pg_class AS c JOIN pg_am AS a ON a.oid = c.relam AND a.amname = 'rag_{kind}'"
    )
}

#[test]
fn an_upgraded_server_goes_on() {
    let Some(old) = Cluster::start_older(&["rag.max_workers = 0"]) else { return };
    let mut client = old.connect();
    client.batch_execute(&format!("{SETUP} {PENDING}")).unwrap();
    let question = format!("SELECT rag_answer('{QUESTION}', 'docs')");
    let before: String = client.query_one(&question, &[]).unwrap().get(0);
    let chunks = "SELECT count(*) FROM notes_rag_chunks";
    assert_eq!(count(&mut client, chunks), 1);
    let made = KINDS.map(|kind| count(&mut client, &indexes(kind)));
    assert!(made.iter().all(|made| *made >= 3), "{made:?} indexes");
    let kept_before = kept(&mut client);
    assert!(count(&mut client, "SELECT count(*) FROM rag.intake") > 0, "nothing waits");
    drop(client);

    let Some(new) = old.upgrade(&[]) else { return };
    let mut client = new.connect();
    let after: String = client.query_one(&question, &[]).unwrap().get(0);
    assert_eq!(after, before);
    for (kind, made) in KINDS.into_iter().zip(made) {
        assert_eq!(count(&mut client, &indexes(kind)), made, "{kind}");
        let wrong = format!("{} CROSS JOIN LATERAL rag_{kind}_check(c.oid)", indexes(kind));
        assert_eq!(count(&mut client, &wrong), 0, "what is wrong with the indexes: {kind}");
    }
    assert_eq!(kept(&mut client), kept_before, "rows of the extension's tables");
    let waited = "SELECT rag_wait('notes', '5 minutes')::int::bigint";
    assert_eq!(count(&mut client, waited), 1, "pending work is done");
    assert_eq!(count(&mut client, chunks), 2);
    client.batch_execute("CALL rag_run('manual')").unwrap();
    for (question, pipeline) in [
        ("Where do visitors park?", "notes"),
        ("When is the garden open?", "manual"),
        ("museum", "parts"),
    ] {
        let query =
            format!("SELECT count(*) FROM rag_retrieve('{question}', '{pipeline}', k => 1)");
        assert_eq!(count(&mut client, &query), 1, "{question}");
    }
    client
        .batch_execute(
            "UPDATE notes SET body = 'Visitors park in the yard.' WHERE id = 2;
             DELETE FROM notes WHERE id = 1;",
        )
        .unwrap();
    assert_eq!(count(&mut client, waited), 1, "new work is done");
    assert_eq!(
        count(&mut client, "SELECT count(*) FROM notes_rag_chunks WHERE content LIKE '%yard%'"),
        1
    );
    assert_eq!(count(&mut client, chunks), 1);
    client.batch_execute("TRUNCATE low").unwrap();
    let waited = "SELECT rag_wait('parts', '5 minutes')::int::bigint";
    assert_eq!(count(&mut client, waited), 1, "a partition says that it is truncated");
    assert_eq!(count(&mut client, "SELECT count(*) FROM parts_rag_chunks"), 0);
}
