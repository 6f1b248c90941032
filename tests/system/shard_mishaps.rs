//! Shards that have the same keys, types of their own, other rights, that hang or die, and tables of theirs that go.

use super::cluster::Cluster;
use super::documents::{assert_fails, count, prose};
use super::shard_cluster::{
    QUESTIONS, SENTENCES, found, listening, make_database, server, sharded,
};

const ALL: &str = "SELECT count(*) FROM rag_retrieve('Where do visitors park?', 'house', k => 30)";

const PARTIAL: &str = "SELECT count(*) FROM rag_retrieve('Where do visitors park?', 'house', k => 30, options => '{\"retrieve\": {\"partial\": true}}')";

#[test]
fn rows_of_two_shards_with_the_same_key_are_not_one_document() {
    let Some(cluster) = sharded(&[]) else { return };
    for (seed, shard) in [(1, "s1"), (2, "s2")] {
        let mut client = cluster.connect_to(shard);
        client.execute("INSERT INTO docs VALUES (900, $1, 'en')", &[&prose(seed, 40)]).unwrap();
    }
    let options = r#"{"retrieve": {"neighbours": 2, "filter": {"id": 900}}}"#;
    let mut seen = [0, 0];
    for mode in ["dense", "lexical", "hybrid"] {
        let question = "The river meets the engine near the orchard.";
        let found = found(&mut cluster.connect(), question, mode, options);
        let of = |number: &str| found.iter().filter(|it| it.1.contains(number)).count();
        let [one, other] = ["number 10", "number 20"].map(of);
        assert_eq!(one + other, found.len(), "{mode} {found:?}");
        seen = [seen[0] + one, seen[1] + other];
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}

#[test]
fn keys_and_metadata_may_have_a_length_or_be_domains() {
    let Some(cluster) = sharded(&[]) else { return };
    for (shard, key) in [("s1", "abc"), ("s2", "d")] {
        cluster
            .connect_to(shard)
            .batch_execute(&format!(
                "CREATE DOMAIN code AS char(2);
                 CREATE DOMAIN country AS code CHECK (value <> 'xx');
                 CREATE TABLE codes (code char(3) PRIMARY KEY, body text, country country, flags bit(3));
                 INSERT INTO codes VALUES ('{key}', 'The mill by the river ground rye.', 'de', '101');
                 SELECT rag_create_pipeline('codes', 'body', metadata => ARRAY['country', 'flags'], refresh => 'sync');"
            ))
            .unwrap();
    }
    let mut client = cluster.connect();
    client
        .batch_execute(
            "SELECT rag_create_pipeline(name => 'codes', shards => ARRAY['s1.codes', 's2.codes'])",
        )
        .unwrap();
    let query = "SELECT count(*) FROM rag_retrieve('What did the mill grind?', 'codes', options => '{\"retrieve\": {\"neighbours\": 1, \"filter\": {\"country\": \"de\"}}}')
                 WHERE rtrim(source_key) IN ('abc', 'd') AND metadata->>'flags' = '101' AND metadata->>'country' = 'de'";
    assert_eq!(count(&mut client, query), 2);
    let alter = "SELECT rag_alter_pipeline('codes', shards => ARRAY['s2.codes'])";
    client.batch_execute(alter).unwrap();
    assert_eq!(count(&mut client, query), 1);
}

#[test]
fn no_shard_is_lost_in_silence_with_a_table() {
    let Some(cluster) = sharded(&[]) else { return };
    let mut client = cluster.connect();
    // Without the event trigger.
    client
        .batch_execute(
            "SET session_replication_role = replica;
             DROP FOREIGN TABLE house_rag_shard_2_pipeline;
             RESET session_replication_role",
        )
        .unwrap();
    let parts = ["42704", "\"docs\", a shard of pipeline \"house\", is not there"];
    assert_fails(&mut client, ALL, &parts);
    client
        .batch_execute(
            "SELECT rag_alter_pipeline('house', shards => ARRAY['s1.docs', 's2.docs', 's3.docs'])",
        )
        .unwrap();
    assert_eq!(count(&mut client, ALL), 24);
    let table = "SELECT description::text FROM rag.shard WHERE number = 2";
    let table: String = client.query_one(table, &[]).unwrap().get(0);
    client.batch_execute(&format!("DROP FOREIGN TABLE {table}")).unwrap();
    for left in [
        "SELECT count(*) FROM rag.pipeline",
        "SELECT count(*) FROM rag.shard",
        "SELECT count(*) FROM pg_class WHERE relname LIKE 'house\\_rag%'",
    ] {
        assert_eq!(count(&mut client, left), 0, "{left}");
    }
}

#[test]
fn foreign_tables_let_others_read_and_no_more() {
    let Some(cluster) = sharded(&[]) else { return };
    let mut client = cluster.connect();
    client
        .batch_execute(
            "CREATE ROLE reader; CREATE ROLE writer; CREATE ROLE peeper;
             GRANT SELECT ON house_rag TO reader WITH GRANT OPTION;
             GRANT INSERT ON house_rag TO writer;
             GRANT SELECT (content) ON house_rag TO peeper;
             SET ROLE reader; GRANT SELECT ON house_rag TO writer; RESET ROLE;
             GRANT SELECT ON house_rag TO writer",
        )
        .unwrap();
    let tables = |condition: &str| {
        format!(
            "SELECT count(*) FROM rag.shard, unnest(ARRAY[relation, description]) AS t (oid) WHERE {condition}"
        )
    };
    for (condition, expected) in [
        ("has_table_privilege('reader', t.oid, 'SELECT')", 6),
        ("has_table_privilege('writer', t.oid, 'SELECT')", 6),
        ("has_table_privilege('writer', t.oid, 'INSERT')", 0),
        ("has_table_privilege('reader', t.oid, 'SELECT WITH GRANT OPTION')", 0),
        ("has_table_privilege('peeper', t.oid, 'SELECT')", 0),
        ("has_any_column_privilege('peeper', t.oid, 'SELECT')", 3),
    ] {
        assert_eq!(count(&mut client, &tables(condition)), expected, "{condition}");
    }
    client
        .batch_execute(
            "REVOKE SELECT (content) ON house_rag FROM peeper;
             REVOKE SELECT ON house_rag FROM reader CASCADE",
        )
        .unwrap();
    let peeped = tables("has_any_column_privilege('peeper', t.oid, 'SELECT')");
    let read = tables("has_table_privilege('reader', t.oid, 'SELECT')");
    assert_eq!([peeped, read].map(|it| count(&mut client, &it)), [0, 0]);
    // What has nothing to do with it leaves the tables alone.
    let written =
        "SELECT sum(xmin::text::bigint)::bigint FROM pg_class WHERE relname LIKE 'house\\_rag%'";
    let before = count(&mut client, written);
    client.batch_execute("CREATE TABLE other (); GRANT SELECT ON other TO reader").unwrap();
    assert_eq!(count(&mut client, written), before);
}

#[test]
fn a_shard_that_hangs_is_a_loss_after_its_statement_timeout() {
    let Some(cluster) = sharded(&[]) else { return };
    let (mut client, heard) = listening(&cluster);
    let slow = "ALTER SERVER s2 OPTIONS (ADD options '-c statement_timeout=500')";
    client.batch_execute(slow).unwrap();
    let mut hanging = cluster.connect_to("s2");
    hanging.batch_execute("BEGIN; LOCK TABLE docs_rag_chunks").unwrap();
    assert_fails(&mut client, ALL, &["57014", "of pipeline \"house\" does not answer"]);
    assert_eq!(count(&mut client, PARTIAL), 16);
    let heard = heard.lock().unwrap().join("; ");
    assert!(heard.contains("shard \"s2.docs\" of pipeline \"house\" does not answer"), "{heard}");
    // What is cancelled here is no loss, and is not tried again.
    client
        .batch_execute(
            "ALTER SERVER s2 OPTIONS (SET options '-c statement_timeout=0'); SET statement_timeout = '500ms'",
        )
        .unwrap();
    let error = client.query_one(PARTIAL, &[]).unwrap_err();
    let error = error.as_db_error().unwrap();
    assert_eq!(error.code().code(), "57014");
    assert!(!error.message().contains("does not answer"), "{}", error.message());
    hanging.batch_execute("ROLLBACK").unwrap();
    client.batch_execute("RESET statement_timeout").unwrap();
    assert_eq!(count(&mut client, PARTIAL), 24);
}

/// A pipeline `house` over a shard of `cluster` and one of a server that can end.
fn over_two_servers() -> Option<(Cluster, Cluster)> {
    let cluster = sharded(&[])?;
    let far = cluster.beside(&[]);
    make_database(&far, "far", &SENTENCES[..4]);
    let mut client = cluster.connect();
    client.batch_execute(&server("far", &far.socket(), "far")).unwrap();
    client
        .batch_execute("SELECT rag_alter_pipeline('house', shards => ARRAY['s2.docs', 'far.docs'])")
        .unwrap();
    Some((cluster, far))
}

#[test]
fn a_server_that_ends_in_a_transaction_fails_the_question_and_not_the_commit() {
    let Some((cluster, mut far)) = over_two_servers() else { return };
    let mut client = cluster.connect();
    client.batch_execute("BEGIN").unwrap();
    assert_eq!(count(&mut client, PARTIAL), 12);
    far.stop("INT");
    assert_fails(&mut client, PARTIAL, &["does not answer", "it cannot be committed"]);
    client.batch_execute("ROLLBACK").unwrap();
    client.batch_execute("BEGIN").unwrap();
    assert_eq!(count(&mut client, PARTIAL), 8);
    client.batch_execute("COMMIT").unwrap();
}

#[test]
fn a_server_whose_statements_mean_something_else_is_no_shard() {
    let Some(cluster) = sharded(&[]) else { return };
    let mut client = cluster.connect();
    let create = "SELECT rag_create_pipeline(name => 'new', shards => ARRAY['s1.docs'])";
    let mut shard = cluster.connect_to("s1");
    shard.batch_execute("CREATE SCHEMA ext; ALTER EXTENSION vector SET SCHEMA ext").unwrap();
    let parts = ["55000", "vector is in schema ext on shard \"s1.docs\"", "SET SCHEMA"];
    assert_fails(&mut client, create, &parts);
    shard
        .batch_execute(
            "ALTER EXTENSION vector SET SCHEMA public;
             UPDATE pg_extension SET extversion = '0.0.9' WHERE extname = 'pg_rag'",
        )
        .unwrap();
    assert_fails(&mut client, create, &["55000", "\"s1.docs\" has pg_rag 0.0.9", "UPDATE"]);
}

#[test]
fn words_are_counted_for_those_who_may_read_them() {
    let Some(cluster) = sharded(&[]) else { return };
    let mut shard = cluster.connect_to("s1");
    shard
        .batch_execute(
            "CREATE ROLE clerk LOGIN; GRANT SELECT (id) ON docs TO clerk;
             GRANT SELECT (chunk_id) ON docs_rag TO clerk; GRANT SELECT (chunk_id) ON docs_rag_chunks TO clerk;
             SET ROLE clerk",
        )
        .unwrap();
    let counted =
        "SELECT rag.shard_statistics(id, rag.database_number(), 'mill') FROM rag.pipeline";
    assert_fails(&mut shard, counted, &["42501", "docs"]);
    shard
        .batch_execute(
            "RESET ROLE; GRANT SELECT ON docs, docs_rag, docs_rag_chunks TO clerk; SET ROLE clerk",
        )
        .unwrap();
    shard.batch_execute(counted).unwrap();
    assert!(!found(&mut cluster.connect(), QUESTIONS[0], "lexical", "{}").is_empty());
}

/// An error that is none of the connection is no loss: it comes here with all that it says, and nothing is left out.
#[test]
fn what_a_policy_of_a_shard_raises_comes_here_as_it_is() {
    let Some(cluster) = sharded(&[]) else { return };
    cluster
        .connect_to("s2")
        .batch_execute(
            "CREATE ROLE guest LOGIN;
             GRANT SELECT ON docs, docs_rag, docs_rag_chunks TO guest;
             CREATE FUNCTION opens(body text) RETURNS boolean STABLE LANGUAGE plpgsql AS $$
             BEGIN
                 RAISE EXCEPTION 'not on Sundays' USING ERRCODE = 'UX007', DETAIL = 'It is Sunday.', HINT = 'Ask on Monday.';
             END $$;
             ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
             CREATE POLICY opening ON docs USING (opens(body));",
        )
        .unwrap();
    let (mut client, heard) = listening(&cluster);
    client
        .batch_execute(
            "ALTER USER MAPPING FOR postgres SERVER s2 OPTIONS (SET user 'guest', ADD password_required 'false')",
        )
        .unwrap();
    for statement in [ALL, PARTIAL] {
        let error = client.query_one(statement, &[]).unwrap_err();
        let error = error.as_db_error().unwrap();
        let said = (error.code().code(), error.message(), error.detail(), error.hint());
        let raised = ("UX007", "not on Sundays", Some("It is Sunday."), Some("Ask on Monday."));
        assert_eq!(said, raised, "{statement}");
    }
    assert_eq!(heard.lock().unwrap().join("; "), "");
    // Nothing of it stays.
    cluster.connect_to("s2").batch_execute("DROP POLICY opening ON docs").unwrap();
    assert_eq!(count(&mut client, PARTIAL), 16);
}

#[test]
fn pipelines_that_exchange_their_names_are_not_mixed_up() {
    let Some(cluster) = sharded(&[]) else { return };
    let mut shard = cluster.connect_to("s1");
    shard
        .batch_execute(
            "CREATE TABLE others (id integer PRIMARY KEY, body text, lang text, day date, at timestamptz);
             INSERT INTO others VALUES (1, 'Visitors park in the cellar.', 'en');
             SELECT rag_create_pipeline('others', 'body', metadata => ARRAY['lang', 'day', 'at'], refresh => 'sync');
             SELECT rag_alter_pipeline('docs', name => 'old');
             SELECT rag_alter_pipeline('others', name => 'docs')",
        )
        .unwrap();
    let mut client = cluster.connect();
    for mode in ["dense", "lexical", "hybrid"] {
        let ask =
            format!("SELECT * FROM rag_retrieve('Where do visitors park?', mode => '{mode}')");
        let parts = ["42704", "does not show the chunks of pipeline \"docs\""];
        assert_fails(&mut client, &ask, &parts);
    }
    client
        .batch_execute(
            "SELECT rag_alter_pipeline('house', shards => ARRAY['s1.docs', 's2.docs', 's3.docs'])",
        )
        .unwrap();
    let rest = found(&mut client, QUESTIONS[0], "hybrid", "{}");
    assert!(rest[0].1.contains("in the cellar"), "{rest:?}");
}

#[test]
fn a_shard_that_expects_another_request_is_there() {
    let Some(cluster) = sharded(&[]) else { return };
    cluster
        .connect_to("s1")
        .batch_execute(
            "ALTER FUNCTION rag.shard_candidates RENAME TO candidates;
             CREATE FUNCTION rag.shard_candidates(pipeline integer, database bigint, view jsonb, request bytea)
             RETURNS bytea LANGUAGE sql IMMUTABLE AS
                 $$ SELECT rag.candidates(pipeline, database, view, '\\x00' || request) $$",
        )
        .unwrap();
    let mut client = cluster.connect();
    let parts = ["55000", "cannot read a request for candidates", "same version"];
    assert_fails(&mut client, "SELECT * FROM rag_retrieve('Where do visitors park?')", &parts);
    // It is not left out like one that does not answer.
    assert_fails(&mut client, PARTIAL, &parts[..2]);
    cluster
        .connect_to("s1")
        .batch_execute(
            "CREATE OR REPLACE FUNCTION rag.shard_candidates(pipeline integer, database bigint, view jsonb, request bytea)
             RETURNS bytea LANGUAGE sql IMMUTABLE AS
                 $$ SELECT substr(rag.candidates(pipeline, database, view, request), 1, 9) $$",
        )
        .unwrap();
    let parts = ["55000", "cannot read what shard \"s1.docs\" answers", "same version"];
    assert_fails(&mut client, "SELECT * FROM rag_retrieve('Where do visitors park?')", &parts);
}
