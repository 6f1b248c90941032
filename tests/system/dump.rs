//! pg_dump and restore bring pipelines back, working.

use postgres::Client;

use super::cluster::Cluster;
use super::documents::{SETUP, answer, count};
use super::http_server::{Reply, Server};
use super::provider;

/// A pipeline with all that is unusual: schema, capitals, composite key, an expression.
const UNUSUAL: &str = r#"
    CREATE SCHEMA "My Docs";
    CREATE TABLE "My Docs"."Pages" (
        "Site" text, "No" integer, "Title" text, body text, lang text,
        PRIMARY KEY ("Site", "No"));
    INSERT INTO "My Docs"."Pages" VALUES
        ('intranet', 1, 'Canteen', 'Lunch is served from noon to two.', 'en'),
        ('intranet', 2, 'Parking', 'Visitors park behind the mill.', 'en');
    SELECT rag_create_pipeline('"My Docs"."Pages"', '"Title" || '': '' || body', 'pages', mode => 'sync',
        metadata => ARRAY['lang'], max_tokens => 64, overlap => 8, strategy => 'sentence');
    ALTER TABLE "My Docs"."Pages" RENAME COLUMN body TO "Body Text";
    ALTER TABLE docs RENAME TO manuals;
    SELECT rag_template_set('standard', 'Reply from {{ sources }} to {{ question }}', 'ours');
    SELECT rag_template_set('of_us', '{{ question }}');
    SELECT rag_alter_pipeline('pages', options => '{"template": "standard@1", "description": "the house"}');"#;

#[test]
fn a_restored_database_goes_on() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::play([Reply::chat("Noon [1].")]);
    let mut before = cluster.connect();
    before
        .batch_execute(&format!("{SETUP} {UNUSUAL} {}", provider::server("writer", &http)))
        .unwrap();
    let expected = works(&mut before);
    before.batch_execute("CREATE DATABASE restored").unwrap();
    let dump = cluster.run("pg_dump", &["-h", &cluster.socket(), "-U", "postgres", "postgres"]);
    cluster.psql("restored", &dump);
    assert_eq!(works(&mut cluster.connect_to("restored")), expected, "in the same server");
    let again = cluster.run("pg_dump", &["-h", &cluster.socket(), "-U", "postgres", "restored"]);
    goes_on(&mut cluster.connect_to("restored"));

    let elsewhere = cluster.beside(&[]);
    elsewhere.psql("postgres", &dump);
    assert_eq!(works(&mut elsewhere.connect()), expected, "in another server");
    goes_on(&mut elsewhere.connect());

    before.batch_execute("CREATE DATABASE twice").unwrap();
    cluster.psql("twice", &again);
    goes_on(&mut cluster.connect_to("twice"));
}

/// What the pipelines say of the same questions.
fn works(client: &mut Client) -> Vec<String> {
    let answer = |client: &mut Client, question: &str, pipeline: &str, llm: &str| -> String {
        let call = "SELECT rag_answer($1, $2, llm => $3)";
        client.query_one(call, &[&question, &pipeline, &llm]).unwrap().get(0)
    };
    vec![
        answer(client, "How do I reset a password?", "docs", "extractive"),
        answer(client, "Where do visitors park?", "pages", "extractive"),
        answer(client, "When is lunch?", "pages", "writer"),
        templates(client),
    ]
}

/// New rows are captured, and new pipelines can be made.
fn goes_on(client: &mut Client) {
    client
        .batch_execute(
            r#"INSERT INTO "My Docs"."Pages" VALUES ('shop', 1, 'Opening', 'The shop opens at nine.', 'en');
               DELETE FROM "My Docs"."Pages" WHERE "Site" = 'intranet' AND "No" = 1;
               UPDATE manuals SET body = 'Backups are kept for ninety days.' WHERE id = 3;
               CREATE TABLE fresh (id integer PRIMARY KEY, body text);
               INSERT INTO fresh VALUES (1, 'The garden is open in summer.');
               SELECT rag_create_pipeline('fresh', 'body', mode => 'sync');"#,
        )
        .unwrap();
    let shop = r#"SELECT count(*) FROM rag_retrieve('When does the shop open?', 'pages', 1, filter => '{"lang": "en"}')
                  WHERE source_key::jsonb = '{"Site": "shop", "No": 1}'"#;
    assert_eq!(count(client, shop), 1, "the new row is found");
    let gone =
        r#"SELECT count(*) FROM "My Docs".pages_rag_chunks WHERE "source_Site" = 'intranet'"#;
    assert_eq!(count(client, gone), 1, "the deleted row's chunks are gone");
    let ninety = "SELECT count(*) FROM docs_rag_chunks WHERE content LIKE '%ninety%'";
    assert_eq!(count(client, ninety), 1, "the changed row's chunks are new");
    let garden = "SELECT count(*) FROM rag_retrieve('When is the garden open?', 'fresh')";
    assert_eq!(count(client, garden), 1);
    client
        .batch_execute("SELECT rag_drop_pipeline('fresh'); SELECT rag_drop_pipeline('pages');")
        .unwrap();
    assert!(answer(client).contains("settings page"), "the one pipeline that is left");
}

/// All templates, and what pipelines say of themselves.
fn templates(client: &mut Client) -> String {
    let all = "SELECT string_agg(concat_ws(' ', name, version, md5(content), description, created_by), '; ' ORDER BY name, version)
                   || (SELECT string_agg(concat_ws(' ', name, template, description), '; ' ORDER BY name) FROM rag.pipeline)
               FROM rag.template";
    client.query_one(all, &[]).unwrap().get(0)
}

#[test]
fn a_partitioned_source_is_restored() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client
        .batch_execute(
            "CREATE EXTENSION pg_rag CASCADE;
             CREATE TABLE docs (id integer PRIMARY KEY, body text) PARTITION BY RANGE (id);
             CREATE TABLE low PARTITION OF docs FOR VALUES FROM (0) TO (100);
             CREATE TABLE high PARTITION OF docs FOR VALUES FROM (100) TO (200) PARTITION BY RANGE (id);
             CREATE TABLE highest PARTITION OF high FOR VALUES FROM (100) TO (200);
             SELECT rag_create_pipeline('docs', 'body', mode => 'sync');
             INSERT INTO docs VALUES (1, 'In the low partition.'), (101, 'In the high one.');",
        )
        .unwrap();
    client.batch_execute("CREATE DATABASE restored").unwrap();
    let dump = cluster.run("pg_dump", &["-h", &cluster.socket(), "-U", "postgres", "postgres"]);
    cluster.psql("restored", &dump);
    let mut there = cluster.connect_to("restored");
    there.batch_execute("SELECT rag_wait('docs', '5 minutes')").unwrap();
    let steps = [
        ("INSERT INTO docs VALUES (2, 'Another one.')", 3),
        ("TRUNCATE low", 1),
        ("CREATE TABLE newest PARTITION OF docs FOR VALUES FROM (200) TO (300)", 1),
        ("INSERT INTO newest VALUES (201, 'In a new partition.')", 2),
        ("TRUNCATE newest", 1),
        ("TRUNCATE docs", 0),
    ];
    for (step, chunks) in steps {
        there.batch_execute(step).unwrap();
        // What the restore has left for workers is done, too.
        there.batch_execute("SELECT rag_wait('docs', '5 minutes')").unwrap();
        assert_eq!(count(&mut there, "SELECT count(*) FROM docs_rag_chunks"), chunks, "{step}");
    }
}
