//! Pipelines of roles that their callers have no reason to trust, and which they have not named.

use std::sync::atomic::{AtomicBool, Ordering};

use postgres::Client;

use super::cluster::Cluster;
use super::documents::{assert_fails, count, describe};
use super::hostile::run;

/// What mal does to its pipeline `bait`, and whether a superuser and a reader still ask it by itself.
const TRICKS: &[(&str, bool, bool)] = &[
    ("", true, true),
    ("ALTER TABLE bait RENAME COLUMN id TO number; ALTER TABLE bait RENAME TO lure", true, true),
    ("CREATE INDEX ON bait (lower(body))", true, true),
    ("ALTER TABLE bait ENABLE ROW LEVEL SECURITY;
      CREATE POLICY p ON bait USING (tenant = current_user OR tenant = current_setting('app.tenant', true)
          OR id::text::varchar IN ('7', '8') OR id = coalesce(current_setting('app.id', true)::int, 0)
          OR CASE WHEN tenant IS NULL THEN pg_has_role('reader', 'MEMBER') END)",
     true, true),
    ("ALTER TABLE bait ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON bait USING (gotcha(body) = body)", true, false),
    ("ALTER POLICY rag_source_visible ON bait_rag_chunks USING (gotcha(content) = content)", true, false),
    ("CREATE OPERATOR === (LEFTARG = text, RIGHTARG = text, FUNCTION = same);
      ALTER TABLE bait ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON bait USING (body === body)", true, false),
    ("ALTER TABLE bait ENABLE ROW LEVEL SECURITY;
      CREATE POLICY p ON bait USING (query_to_xml('SELECT 1', true, true, '') IS NOT NULL)", true, false),
    ("CREATE OR REPLACE VIEW bait_rag WITH (security_invoker = true) AS
      SELECT c.chunk_id, c.source_id, c.chunk_no, gotcha(c.content) AS content, c.start_char, c.end_char,
             c.heading, c.context, c.parent_start, c.parent_end, c.token_count, c.mood, c.embedding, c.tsv
      FROM bait_rag_chunks AS c", false, false),
    ("CREATE OR REPLACE VIEW bait_rag WITH (security_invoker = true) AS
      SELECT c.chunk_id, c.source_id, c.chunk_no, c.content, c.start_char, c.end_char,
             c.heading, c.context, c.parent_start, c.parent_end, c.token_count, c.mood, c.embedding, c.tsv
      FROM bait_rag_chunks AS c WHERE query_to_xml('SELECT gotcha(''x'')', true, true, '') IS NOT NULL", false, false),
    ("CREATE VIEW hook AS SELECT gotcha('x') AS x;
      CREATE OR REPLACE VIEW bait_rag WITH (security_invoker = true) AS
      SELECT c.chunk_id, c.source_id, c.chunk_no, c.content, c.start_char, c.end_char,
             c.heading, c.context, c.parent_start, c.parent_end, c.token_count, c.mood, c.embedding, c.tsv
      FROM bait_rag_chunks AS c JOIN hook ON hook.x = c.content", false, false),
    ("CREATE OR REPLACE VIEW bait_rag AS
      SELECT c.chunk_id, c.source_id, c.chunk_no, c.content, c.start_char, c.end_char,
             c.heading, c.context, c.parent_start, c.parent_end, c.token_count, c.mood, c.embedding, c.tsv
      FROM bait_rag_chunks AS c; ALTER VIEW bait_rag RESET (security_invoker)", false, false),
    ("CREATE INDEX ON bait_rag_chunks (chunk_no) WHERE same('a', 'a')", false, false),
    ("ALTER TABLE bait ADD CHECK (same(body, body))", false, false),
    ("CREATE STATISTICS ON (same(body, body)), id FROM bait", false, false),
    ("SELECT rag_drop_pipeline('bait'); ALTER TABLE bait DROP mood;
      SELECT rag_create_pipeline('bait', 'body', metadata => ARRAY['nullif(gotcha(body), body) AS mood'], refresh => 'sync',
          options => '{\"description\": \"the office\"}');
      GRANT SELECT ON bait_rag, bait_rag_chunks TO PUBLIC", true, true),
    ("SELECT rag_drop_pipeline('bait'); CREATE TYPE feeling AS ENUM ('calm');
      CREATE FUNCTION worded(feeling) RETURNS json LANGUAGE plpgsql AS $$BEGIN RAISE 'gotcha'; END$$;
      CREATE CAST (feeling AS json) WITH FUNCTION worded(feeling);
      ALTER TABLE bait ALTER mood TYPE feeling USING NULL;
      SELECT rag_create_pipeline('bait', 'body', metadata => '{mood}', refresh => 'sync',
          options => '{\"description\": \"the office\"}');
      GRANT SELECT ON bait_rag, bait_rag_chunks TO PUBLIC", false, false),
    ("CREATE TABLE child () INHERITS (bait_rag_chunks); CREATE INDEX ON child ((same(content, content)))",
     false, false),
    ("SELECT rag_drop_pipeline('bait');
      SELECT rag_create_pipeline('bait', 'body', metadata => '{mood}', refresh => 'sync',
          options => '{\"description\": \"the office\", \"graph\": {\"entities\": \"rules\"}}');
      GRANT SELECT ON bait_rag, bait_rag_chunks, bait_rag_chunks_mentions TO PUBLIC", true, true),
    ("SELECT rag_drop_pipeline('bait');
      SELECT rag_create_pipeline('bait', 'body', metadata => '{mood}', refresh => 'sync',
          options => '{\"description\": \"the office\", \"graph\": {\"entities\": \"rules\"}}');
      GRANT SELECT ON bait_rag, bait_rag_chunks, bait_rag_chunks_mentions TO PUBLIC;
      CREATE TYPE hidden AS (number bigint);
      CREATE FUNCTION shown(hidden) RETURNS bigint LANGUAGE plpgsql AS $$BEGIN RAISE 'gotcha'; END$$;
      CREATE CAST (hidden AS bigint) WITH FUNCTION shown(hidden) AS IMPLICIT;
      DROP POLICY rag_source_visible ON bait_rag_chunks_mentions;
      ALTER TABLE bait_rag_chunks_mentions DROP CONSTRAINT bait_rag_chunks_mentions_pkey,
          DROP CONSTRAINT bait_rag_chunks_mentions_chunk_id_fkey, ALTER chunk_id TYPE hidden USING ROW(chunk_id)::hidden",
     false, false),
    ("CREATE SCHEMA lair; GRANT USAGE ON SCHEMA lair TO PUBLIC; ALTER VIEW bait_rag SET SCHEMA lair", false, false),
];

#[test]
fn a_question_that_names_no_pipeline_runs_no_code_of_strangers() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut admin = cluster.connect();
    admin
        .batch_execute(
            "CREATE EXTENSION pg_rag CASCADE; CREATE ROLE mal LOGIN; CREATE ROLE keeper LOGIN;
             CREATE ROLE reader LOGIN; CREATE ROLE friend LOGIN; GRANT mal TO friend;
             GRANT CREATE ON SCHEMA public TO mal, keeper; GRANT CREATE ON DATABASE postgres TO mal;",
        )
        .unwrap();
    let (mut mal, mut reader) = (cluster.connect_as("mal"), cluster.connect_as("reader"));
    run(&mut mal, "CREATE FUNCTION gotcha(t text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS
            $$BEGIN IF current_user <> 'mal' THEN RAISE EXCEPTION 'gotcha as %', current_user; END IF; RETURN t; END$$;
        CREATE FUNCTION same(a text, b text) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN true; END$$;
        CREATE TYPE mood AS ENUM ('calm')");
    for (trick, superuser, ordinary) in TRICKS {
        let mut trap = mal.transaction().unwrap();
        trap.batch_execute(
            "CREATE TABLE bait (id int PRIMARY KEY, body text, tenant text DEFAULT 'reader', mood text);
             INSERT INTO bait VALUES (1, 'The office opens at nine. Everything about passwords.');
             SELECT rag_create_pipeline('bait', 'body', metadata => '{mood}', refresh => 'sync',
                 options => '{\"description\": \"the office, its opening hours, passwords, everything\"}');
             GRANT SELECT ON bait TO PUBLIC; GRANT SELECT ON bait_rag, bait_rag_chunks TO PUBLIC")
            .and_then(|()| trap.batch_execute(trick))
            .unwrap_or_else(|error| panic!("{trick}: {}", describe(&error)));
        trap.commit().unwrap();
        for (client, is_asked) in [(&mut admin, superuser), (&mut reader, ordinary)] {
            for question in [
                "SELECT rag_retrieve('When does the office open?', filter => '{\"mood\": null}')",
                "SELECT rag_retrieve('When does the office open?', 'auto')",
                "SELECT rag_retrieve('When does the office open?', '*')",
                "SELECT rag_answer('When does the office open?')",
                "SELECT rag_context('When does the office open?', options => '{\"retrieve\": {\"route\": \"similarity\"}}')",
            ] {
                match client.query(question, &[]) {
                    Ok(found) => assert!(*is_asked && !found.is_empty(), "{trick}: {question}"),
                    Err(error) => {
                        let error = describe(&error);
                        assert!(
                            !is_asked && error.starts_with("42501"),
                            "{trick}: {question}: {error}"
                        );
                        assert!(error.contains("Add pipeline =>"), "{error}");
                    }
                }
            }
        }
        run(&mut mal, "DROP TABLE IF EXISTS child; SELECT rag_drop_pipeline('bait'); DROP TABLE IF EXISTS bait, lure CASCADE;
            DROP VIEW IF EXISTS hook; DROP OPERATOR IF EXISTS === (text, text); DROP SCHEMA IF EXISTS lair CASCADE");
    }
    defaults_of_strangers(&cluster);
    trusted_and_named(&cluster);
}

/// What the owner of a pipeline says of its questions holds for those who have named it, or trust the owner.
fn defaults_of_strangers(cluster: &Cluster) {
    let (mut admin, mut reader) = (cluster.connect(), cluster.connect_as("reader"));
    let mut friend = cluster.connect_as("friend");
    let mut mal = cluster.connect_as("mal");
    run(&mut mal, "
        CREATE TABLE bait (id int PRIMARY KEY, body text); INSERT INTO bait VALUES (1, 'The office opens at nine.');
        SELECT rag_create_pipeline('bait', 'body', refresh => 'sync', defaults => '{\"answer\": {\"strategy\": \"sql\"}}');
        GRANT SELECT ON bait TO PUBLIC; GRANT SELECT ON bait_rag, bait_rag_chunks TO PUBLIC");
    let ask = |pipeline: &str| format!("SELECT rag_answer('When does the office open?'{pipeline})");
    for pipeline in ["", ", 'auto'", ", '*'"] {
        run(&mut admin, &ask(pipeline));
        run(&mut reader, &ask(pipeline));
        assert_fails(
            &mut friend,
            &ask(pipeline),
            &["0A000", "strategy \"sql\" needs a language model"],
        );
    }
    for client in [&mut admin, &mut reader] {
        assert_fails(
            client,
            &ask(", 'bait'"),
            &["0A000", "strategy \"sql\" needs a language model"],
        );
    }
    run(&mut mal, "SELECT rag_drop_pipeline('bait'); DROP TABLE bait");
}

/// What mal lays out as soon as a question has locked its pipeline, and takes away again.
const TRAPS: &[(&str, &str)] = &[
    ("CREATE INDEX trap ON bait ((trap(1) + id))", "DROP INDEX trap"),
    ("CREATE STATISTICS trap ON (trap(1) + id), id FROM bait", "DROP STATISTICS trap"),
    ("CREATE INDEX trap ON bait (id) WHERE unfolded(1) = 1", "DROP INDEX trap"),
];

#[test]
fn what_strangers_lay_out_during_a_question_does_not_run() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut admin = cluster.connect();
    admin
        .batch_execute(
            "CREATE EXTENSION pg_rag CASCADE; CREATE ROLE mal LOGIN; GRANT CREATE ON SCHEMA public TO mal;
             CREATE TABLE caught (who text); GRANT INSERT ON caught TO PUBLIC",
        )
        .unwrap();
    let mut mal = cluster.connect_as("mal");
    run(&mut mal, "CREATE TABLE bait (id int PRIMARY KEY, body text); INSERT INTO bait VALUES (1, 'The office opens at nine.');
        SELECT rag_create_pipeline('bait', 'body', refresh => 'sync'); GRANT SELECT ON bait, bait_rag, bait_rag_chunks TO PUBLIC;
        CREATE FUNCTION note(i int) RETURNS int LANGUAGE plpgsql AS $$BEGIN INSERT INTO public.caught VALUES (current_user); RETURN i; END$$;
        CREATE FUNCTION trap(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
            $$BEGIN RETURN CASE WHEN current_user = 'mal' THEN i ELSE public.note(i) END; END$$;
        CREATE FUNCTION unfolded(i int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT public.trap(i)'");
    for (trap, gone) in TRAPS {
        let is_over = AtomicBool::new(false);
        let laid = std::thread::scope(|scope| {
            let mal = &mut mal;
            let watcher = scope.spawn(|| {
                let mut laid = 0;
                let is_asked = "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'bait'::regclass AND pid <> pg_backend_pid())";
                while !is_over.load(Ordering::Relaxed) {
                    if mal.query_one(is_asked, &[]).unwrap().get(0) {
                        run(mal, trap);
                        run(mal, gone);
                        laid += 1;
                    }
                }
                laid
            });
            for round in 0..10 {
                // A session that has planned nothing yet takes its time.
                let mut victim = cluster.connect();
                let asked = victim.query(
                    &format!("SELECT rag_retrieve('When does the office open? {round}')"),
                    &[],
                );
                if let Err(error) = asked {
                    assert!(describe(&error).starts_with("42501"), "{trap}: {}", describe(&error));
                }
            }
            is_over.store(true, Ordering::Relaxed);
            watcher.join().expect("mal")
        });
        assert!(laid > 0, "{trap}: was never laid out in time");
        assert_eq!(count(&mut admin, "SELECT count(*) FROM caught"), 0, "{trap}");
    }
}

/// Who trusts an owner has its code run, as who names its pipeline has, and others are asked instead.
fn trusted_and_named(cluster: &Cluster) {
    let (mut admin, mut reader) = (cluster.connect(), cluster.connect_as("reader"));
    let mut friend = cluster.connect_as("friend");
    let question = "When does the office open?";
    let any = format!("SELECT rag_retrieve('{question}', 'auto')");
    for (role, table, text) in [
        ("mal", "bait", "The office opens at nine, everything about passwords."),
        ("keeper", "house", "The garden closes in the evening."),
    ] {
        run(&mut cluster.connect_as(role), &format!(
            "CREATE TABLE {table} (id int PRIMARY KEY, body text); INSERT INTO {table} VALUES (1, '{text}');
             SELECT rag_create_pipeline('{table}', 'body', refresh => 'sync', options => '{{\"description\": \"{text}\"}}');
             GRANT SELECT ON {table} TO PUBLIC; GRANT SELECT ON {table}_rag, {table}_rag_chunks TO PUBLIC"));
    }
    let chosen = |client: &mut Client| -> String {
        let query = format!("SELECT content FROM rag_retrieve('{question}', 'auto', k => 1)");
        client.query_one(&query, &[]).unwrap().get(0)
    };
    assert!(chosen(&mut admin).contains("nine"));
    run(&mut cluster.connect_as("mal"), "ALTER TABLE bait ADD CHECK (gotcha(body) = body)");
    assert!(chosen(&mut admin).contains("garden"));
    assert!(chosen(&mut reader).contains("garden"));
    assert!(chosen(&mut friend).contains("nine"));
    run(&mut admin, "DROP TABLE house CASCADE");
    assert_fails(
        &mut admin,
        &any,
        &["42501", "there is no pipeline that can be chosen", "one of: bait"],
    );
    assert_fails(
        &mut admin,
        &format!("SELECT rag_retrieve('{question}')"),
        &[
            "42501 pipeline \"bait\" is not asked unless it is named, as it may run code of role \"mal\"",
            "Add pipeline => 'bait' if you trust that role",
        ],
    );
    run(&mut admin, &format!("SELECT rag_retrieve('{question}', 'bait')"));
    // Who owns a schema could put another view in the place of that which is in it.
    run(
        &mut admin,
        "CREATE SCHEMA kept AUTHORIZATION keeper; GRANT USAGE ON SCHEMA kept TO PUBLIC",
    );
    run(&mut admin, "ALTER VIEW bait_rag SET SCHEMA kept");
    assert_fails(&mut friend, &any, &["42501", "there is no pipeline that can be chosen"]);
    run(&mut admin, "ALTER VIEW kept.bait_rag SET SCHEMA public");
    assert!(chosen(&mut friend).contains("nine"));
    run(&mut admin, "ALTER DATABASE postgres OWNER TO mal");
    run(&mut reader, &any);
}
