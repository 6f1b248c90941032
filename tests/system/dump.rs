//! pg_dump and restore bring pipelines back, working.

use postgres::Client;

use super::cluster::Cluster;
use super::documents::{SETUP, answer, count};
use super::http_server::{Reply, Server};
use super::provider;

/// A pipeline with all that is unusual: schema, capitals, composite key, expressions.
const UNUSUAL: &str = r#"
    CREATE SCHEMA "My Docs";
    CREATE SCHEMA "My Chunks";
    CREATE TABLE "My Docs"."Pages" (
        "Site" text, "No" integer, "Title" text, body text, lang text,
        PRIMARY KEY ("Site", "No"));
    INSERT INTO "My Docs"."Pages" VALUES
        ('intranet', 1, 'Canteen', 'Lunch is served from noon to two.', 'en'),
        ('intranet', 2, 'Parking', 'Visitors park behind the mill.', 'en');
    SELECT rag_create_pipeline('"My Docs"."Pages"', '"Title" || '': '' || body', 'pages', refresh => 'sync',
        metadata => ARRAY['lang', '"No" > 1 AS "Later"'], chunking => '{"by": "sentence", "max_tokens": 64, "overlap": 8}',
        options => '{"relations_schema": "My Chunks"}');
    ALTER TABLE "My Docs"."Pages" RENAME COLUMN body TO "Body Text";
    ALTER TABLE docs RENAME TO manuals;
    SELECT rag_template_set('standard', 'Reply from {{ sources }} to {{ question }}', 'ours');
    SELECT rag_template_set('of_us', '{{ question }}');
    SELECT rag_alter_pipeline('pages', options => '{"description": "the house"}',
                              defaults => '{"answer": {"max_sentences": 1, "template": "standard@1"}, "cite": {"style": "footnote"}}');"#;

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
               SELECT rag_create_pipeline('fresh', 'body', refresh => 'sync');"#,
        )
        .unwrap();
    let shop = r#"SELECT count(*) FROM rag_retrieve('When does the shop open?', 'pages', 1, filter => '{"lang": "en", "Later": false}')
                  WHERE source_key::jsonb = '{"Site": "shop", "No": 1}'"#;
    assert_eq!(count(client, shop), 1, "the new row is found");
    let gone =
        r#"SELECT count(*) FROM "My Chunks".pages_rag_chunks WHERE "source_Site" = 'intranet'"#;
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
                   || (SELECT string_agg(concat_ws(' ', name, description, defaults), '; ' ORDER BY name) FROM rag.pipeline)
               FROM rag.template";
    client.query_one(all, &[]).unwrap().get(0)
}

/// Something in each table of the extension that a dump has, rows that wait, and a content that is not
/// unusual. The pipeline waits, too.
pub const EVERYTHING: &str = "
    CREATE TABLE notes (id integer PRIMARY KEY, body text);
    INSERT INTO notes VALUES (1, 'The canteen serves lunch from noon to two.');
    SELECT rag_create_pipeline('notes', 'body', options => '{\"backfill\": \"now\", \"graph\": {\"entities\": \"rules\"}, \"communities\": {}}');
    SELECT rag_eval_load('lunch', '[{\"question\": \"When is lunch served?\", \"relevant\": [\"1\"]}]');
    SELECT rag_eval_floors('lunch', '{\"recall\": 0.5}');
    SELECT count(*) FROM rag_eval('notes', 'lunch', k => '{1}');
    SET rag.trace = 'summary';
    SELECT rag_feedback(trace_id, 1) FROM rag_answer_details('When is lunch served?', 'notes');
    SELECT rag_answer('When is lunch served?', 'notes', options => jsonb_build_object('answer', jsonb_build_object('conversation', rag_conversation())));
    RESET rag.trace;
    SELECT rag_pause('notes');
    INSERT INTO notes SELECT n, 'Room ' || n || ' is on floor ' || n / 10 || '.' FROM generate_series(2, 201) AS n;";

/// How many rows each table of the extension has that a dump has, but for what sessions leave and workers
/// count.
pub fn kept(client: &mut Client) -> Vec<(String, i64)> {
    let tables =
        "SELECT c.oid::regclass::text FROM pg_extension AS e, unnest(e.extconfig) AS t (oid)
                  JOIN pg_class AS c ON c.oid = t.oid AND c.relkind = 'r' AND c.relname NOT IN ('intake', 'activity')
                  WHERE e.extname = 'pg_rag' ORDER BY 1";
    let tables: Vec<String> =
        client.query(tables, &[]).unwrap().iter().map(|row| row.get(0)).collect();
    let rows = |table: String| {
        let rows = count(client, &format!("SELECT count(*) FROM {table}"));
        (table, rows)
    };
    tables.into_iter().map(rows).collect()
}

/// Has a worker make rows of the queue of what sessions have left.
fn until_queued(client: &mut Client, rows: i64) {
    let begun = std::time::Instant::now();
    while count(client, "SELECT count(*) FROM rag.queue") != rows {
        assert!(begun.elapsed().as_secs() < 300, "the rows are not queued");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
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
             SELECT rag_create_pipeline('docs', 'body', refresh => 'sync');
             INSERT INTO docs VALUES (1, 'In the low partition.'), (101, 'In the high one.');",
        )
        .unwrap();
    client.batch_execute(EVERYTHING).unwrap();
    until_queued(&mut client, 200);
    let before = kept(&mut client);
    let full = |table: &str| before.iter().any(|(name, rows)| name == table && *rows > 0);
    for table in
        ["conversation_turn", "dead_letter", "eval_floor", "eval_result", "feedback", "queue"]
    {
        // Nothing has failed.
        assert_eq!(full(&format!("rag.{table}")), table != "dead_letter", "{table}: {before:?}");
    }
    client.batch_execute("CREATE DATABASE restored").unwrap();
    let dump = cluster.run("pg_dump", &["-h", &cluster.socket(), "-U", "postgres", "postgres"]);
    cluster.psql("restored", &dump);
    goes_on_in_parts(&mut cluster.connect_to("restored"));
    // In any order, which is another one each time.
    let folder = cluster.dump("postgres");
    for database in ["first", "second", "third"] {
        client.batch_execute(&format!("CREATE DATABASE {database}")).unwrap();
        cluster.restore(&folder, database);
        let mut there = cluster.connect_to(database);
        // Its triggers may be there before its partitions' rows.
        there.batch_execute("SELECT rag_wait('docs', '5 minutes')").unwrap();
        assert_eq!(kept(&mut there), before, "{database}");
        goes_on_in_parts(&mut there);
    }
}

/// After a restore columns have other numbers than before, and their names alone are the same.
#[test]
fn relations_of_renamed_columns_are_restored() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client
        .batch_execute(
            r#"CREATE EXTENSION pg_rag CASCADE;
               CREATE TABLE boss (gone integer, id integer PRIMARY KEY, label text);
               CREATE TABLE event (gone integer, id integer PRIMARY KEY, body text, boss integer REFERENCES boss);
               ALTER TABLE boss DROP COLUMN gone;
               ALTER TABLE event DROP COLUMN gone;
               INSERT INTO boss VALUES (1, 'Ada Berg');
               INSERT INTO event VALUES (1, 'It was an evening.', 1);
               SELECT rag_create_pipeline('event', 'body', metadata => ARRAY['boss'], refresh => 'manual', options =>
                   '{"backfill": "now", "graph": {"entities": "rules", "names": {"boss": "label"}, "relations": {"boss": "led_by"}}}');
               ALTER TABLE event RENAME COLUMN boss TO leader;
               ALTER TABLE boss RENAME COLUMN label TO name"#,
        )
        .unwrap();
    client.batch_execute("CREATE DATABASE restored").unwrap();
    let dump = cluster.run("pg_dump", &["-h", &cluster.socket(), "-U", "postgres", "postgres"]);
    cluster.psql("restored", &dump);
    let mut there = cluster.connect_to("restored");
    for step in [
        "UPDATE boss SET name = 'Ada Lind'",
        "SELECT rag_alter_pipeline('event', options => jsonb_build_object('graph', options))
         FROM rag.derivation WHERE relation = 'event_rag_chunks_mentions'::regclass",
        "CALL rag_run('event')",
        "ALTER TABLE boss RENAME COLUMN name TO called",
        "UPDATE event SET body = 'It was a night.'",
        "CALL rag_run('event')",
    ] {
        there.batch_execute(step).unwrap();
    }
    let named = "SELECT count(*) FROM event_rag_chunks_relations WHERE object_name = 'Ada Lind'";
    assert_eq!(count(&mut there, named), 1);
}

/// What waits is done, and so is what is changed in partitions.
fn goes_on_in_parts(there: &mut Client) {
    for step in ["SELECT rag_resume('notes')", "SELECT rag_wait('notes', '5 minutes')"] {
        there.batch_execute(step).unwrap();
    }
    assert_eq!(count(there, "SELECT count(*) FROM notes_rag_chunks"), 201, "what waited");
    let tables = "SELECT count(*) FROM rag.derivation WHERE relation IN ('notes_rag_chunks_mentions'::regclass, 'notes_rag_chunks_communities'::regclass)";
    assert_eq!(count(there, tables), 2, "what is made of chunks");
    there.batch_execute("SELECT rag_wait('docs', '5 minutes')").unwrap();
    assert_eq!(count(there, "SELECT count(*) FROM docs_rag_chunks"), 2, "what was there");
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
        assert_eq!(count(there, "SELECT count(*) FROM docs_rag_chunks"), chunks, "{step}");
    }
}
