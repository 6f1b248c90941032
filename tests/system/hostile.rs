//! Roles that wait for others to run their code.

use postgres::Client;

use super::cluster::Cluster;
use super::documents::{SETUP, assert_fails, count, describe};

/// `mal` may create objects where everybody looks names up, and lays a bait for each operator and
/// function that a statement could name: one that fits better than PostgreSQL's own, and one that stands
/// before it where `pg_catalog` is not the first of the search path. Each says who has swallowed it.
const BAIT: &str = r#"
    CREATE FUNCTION lay(definition text) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        EXECUTE definition;
    EXCEPTION WHEN OTHERS THEN NULL;
    END $$;
    DO $$
    DECLARE
        kinds text[] := ARRAY(
            SELECT kind FROM pg_catalog.unnest(ARRAY['int2', 'int4', 'int8', 'float4', 'float8', 'numeric', 'text',
                'varchar', 'bpchar', 'name', '"char"', 'oid', 'regclass', 'regproc', 'date', 'timestamp',
                'timestamptz', 'interval', 'jsonb', 'uuid', 'bytea', 'bool', 'text[]', 'tsvector', 'tsquery',
                'vector', 'label', 'mood']) AS kind
            WHERE to_regtype(kind) IS NOT NULL);
        one text; other text; operator text;
    BEGIN
        FOREACH one IN ARRAY kinds LOOP
            FOREACH other IN ARRAY kinds LOOP
                PERFORM lay(pg_catalog.format($f$CREATE FUNCTION bait(%s, %s) RETURNS bool LANGUAGE plpgsql AS
                    'BEGIN RAISE EXCEPTION ''swallowed by %%: operator of %s and %s'', current_user; END'$f$,
                    one, other, replace(one, '"', ''), replace(other, '"', '')));
                FOREACH operator IN ARRAY ARRAY['=', '<>', '<', '<=', '>', '>=', '+', '-', '*', '/', '||', '~',
                                                '~~', '@@', '->', '->>', '>>', '<=>', '<@>'] LOOP
                    PERFORM lay(pg_catalog.format('CREATE OPERATOR %s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = bait)',
                                       operator, one, other));
                END LOOP;
            END LOOP;
        END LOOP;
    END $$;
    DO $$
    DECLARE
        known record;
    BEGIN
        FOR known IN
            SELECT proname, pg_get_function_identity_arguments(oid) AS arguments, prorettype::regtype AS result
            FROM pg_proc
            WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind IN ('f', 'a')
              AND NOT 'internal'::regtype = ANY (proargtypes::oid[] || prorettype)
              AND NOT 'cstring'::regtype = ANY (proargtypes::oid[] || prorettype)
        LOOP
            PERFORM lay(pg_catalog.format($f$CREATE FUNCTION %I(%s) RETURNS %s LANGUAGE plpgsql AS
                'BEGIN RAISE EXCEPTION ''swallowed by %%: function %s'', current_user; END'$f$,
                known.proname, known.arguments, known.result, known.proname));
        END LOOP;
    END $$;
    -- Functions for just these types go before those for any type, also where pg_catalog is the first.
    DO $$
    DECLARE
        known record; kind text; often integer; fitted text;
    BEGIN
        FOR known IN
            SELECT DISTINCT proname, pg_get_function_identity_arguments(oid) AS arguments
            FROM pg_proc
            WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f'
              AND pg_get_function_identity_arguments(oid) ~ 'any'
              AND NOT 'internal'::regtype = ANY (proargtypes::oid[])
        LOOP
            FOREACH kind IN ARRAY ARRAY['text', 'name', 'oid', 'int4', 'int8', 'varchar', 'float8', 'jsonb', 'bytea'] LOOP
                FOR often IN 1 .. CASE WHEN known.arguments ~ 'VARIADIC' THEN 3 ELSE 1 END LOOP
                    fitted := replace(known.arguments, 'VARIADIC "any"', rtrim(repeat(kind || ', ', often), ', '));
                    fitted := regexp_replace(fitted, 'any(compatible)?array', kind || '[]', 'g');
                    fitted := regexp_replace(fitted, '"any"|any(compatible)?(nonarray|element|enum)|anycompatible', kind, 'g');
                    PERFORM lay(pg_catalog.format($f$CREATE FUNCTION %I(%s) RETURNS %s LANGUAGE plpgsql AS
                        'BEGIN RAISE EXCEPTION ''swallowed by %%: function %s'', current_user; END'$f$,
                        known.proname, fitted, kind, known.proname));
                END LOOP;
            END LOOP;
        END LOOP;
    END $$;"#;

/// Objects that are none of mal's and name one of mal's operators or functions.
const HOOKED: &str = "
    SELECT pg_describe_object(d.classid, d.objid, d.objsubid) || ': '
           || pg_describe_object(d.refclassid, d.refobjid, d.refobjsubid)
    FROM pg_depend AS d
    WHERE (d.refclassid = 'pg_operator'::regclass::oid
           AND d.refobjid IN (SELECT oid FROM pg_operator WHERE oprowner = 'mal'::regrole)
           OR d.refclassid = 'pg_proc'::regclass::oid
           AND d.refobjid IN (SELECT oid FROM pg_proc WHERE proowner = 'mal'::regrole))
      AND NOT (d.classid = 'pg_operator'::regclass::oid
               AND d.objid IN (SELECT oid FROM pg_operator WHERE oprowner = 'mal'::regrole))";

fn assert_nothing_is_hooked(client: &mut Client) {
    let rows = client.query(HOOKED, &[]).unwrap();
    let hooked: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(hooked, Vec::<String>::new());
}

/// What victims ask of the pipeline `vk`.
const QUESTIONS: &[&str] = &[
    "SELECT rag_retrieve('harbour', 'vk', options => '{\"retrieve\": {\"neighbours\": 1, \"mmr\": 0.5, \"recency\": {\"column\": \"t\", \"half_life\": 30}}}')",
    "SELECT rag_retrieve('harbour', 'vk', mode => 'dense', options => '{\"retrieve\": {\"expand\": \"section\", \"rewrite\": {\"by\": \"prf\"}}}')",
    "SELECT rag_retrieve('harbour', 'vk', mode => 'lexical', rewrite => 'prf')",
    "SELECT rag_answer('When does the harbour open?', 'vk')",
    "SELECT rag_answer('When does the harbour open?')",
    "SELECT rag_answer('When does the harbour open?', 'auto', options => '{\"context\": {\"order\": \"chronological\", \"order_by\": \"t\"}}')",
    "SELECT rag_answer_details('When does the harbour open?', 'vk')",
    "SELECT rag_answer_stream('When does the harbour open?', 'vk')",
    "SELECT rag_context('harbour', 'vk')",
    "SELECT rag_graph('Where is Bath?', 'vk')",
    "SELECT rag_prompt('harbour', 'vk')",
    "SELECT rag_explain('harbour', 'vk')",
    "SELECT rag_retrieve_batch(ARRAY['harbour', 'boats'], 'vk')",
    "SELECT rag_rerank('harbour', ARRAY['a boat', 'a harbour'])",
    "SELECT rag_embed('harbour'), rag_embed_batch(ARRAY['harbour'])",
    "SELECT rag_chunk('One. Two.'), rag_verify('a', ARRAY['b']), rag.strategies()",
    "TABLE rag.strategy",
    "TABLE rag.tool",
    "TABLE rag.tool_definition",
    "SELECT rag_conversation('about boats')",
    "SELECT rag_eval_load('ROLE', '[{\"question\": \"harbour\", \"relevant\": [\"a\"]}, {\"question\": \"boats\", \"relevant\": [\"b\"]}]')",
    "SELECT rag_eval_floors('ROLE', '{\"ndcg\": 1}')",
    "SELECT rag_eval('vk', 'ROLE', options => '{\"answers\": true}')",
    "SELECT rag_optimize('vk', 'ROLE', search_space => '{\"k\": [1, 2]}')",
    "SELECT rag_trace_purge('1 day')",
    "TABLE rag.pipeline_status",
    "TABLE rag.derivation_status",
    "TABLE rag.model_status",
    "TABLE rag.stat_pipeline",
    "TABLE rag.stat_usage",
    "TABLE rag.stat_budget",
    "TABLE rag.answer_log",
    "TABLE rag.eval_summary",
    "TABLE rag.eval_score",
    "TABLE rag.eval_floor_status",
    "TABLE vk_rag",
    "TABLE vk_rag_chunks",
];

/// What the owner does with it.
const DEEDS: &[&str] = &[
    "INSERT INTO vk (id, body, m) VALUES ('z', 'The lighthouse is white.', 'sea')",
    "UPDATE vk SET body = 'The lighthouse is red.', id = 'y' WHERE vk.id OPERATOR(pg_catalog.=) 'z'::text",
    "DELETE FROM vk WHERE id OPERATOR(pg_catalog.=) 'y'::text",
    "SELECT rag_alter_pipeline('vk', refresh => 'manual', options => '{\"description\": \"boats\"}')",
    "INSERT INTO vk (id, body, m) VALUES ('x', 'The mole is long.', 'sea')",
    "CALL rag_run('vk')",
    "SELECT rag_wait('vk'), rag_pause('vk'), rag_resume('vk'), rag_retry('vk')",
    "SELECT rag_alter_pipeline('vk', chunking => '{\"max_tokens\": 64}')",
    "CALL rag_run('vk')",
    "SELECT rag_alter_pipeline('vk', refresh => 'async')",
    "TRUNCATE vk",
    "SELECT rag_drop_pipeline('vk')",
];

#[test]
fn nobody_runs_what_a_stranger_has_laid_out() {
    let Some(cluster) = Cluster::start(&["rag.trace = 'full'"]) else { return };
    let mut admin = cluster.connect();
    admin
        .batch_execute(
            "CREATE ROLE mal LOGIN; CREATE ROLE keeper LOGIN; CREATE ROLE reader LOGIN;
             GRANT CREATE ON SCHEMA public TO mal, keeper;
             CREATE EXTENSION vector;",
        )
        .unwrap();
    cluster.connect_as("mal").batch_execute(BAIT).unwrap();
    // The script of an extension looks names up where the extension is made, too.
    admin.batch_execute("CREATE EXTENSION pg_rag").unwrap();
    assert_nothing_is_hooked(&mut admin);
    admin
        .batch_execute(
            "SELECT rag_template_set('words', 'Say {{ question }} from {{ sources }}');
             CREATE DOMAIN label AS text; CREATE TYPE mood AS ENUM ('calm', 'rough');",
        )
        .unwrap();
    cluster
        .connect_as("mal")
        .batch_execute(&BAIT.replace("CREATE FUNCTION lay", "CREATE OR REPLACE FUNCTION lay"))
        .unwrap();
    let baits = "SELECT count(*) FROM pg_operator WHERE oprowner = 'mal'::regrole";
    assert!(count(&mut admin, baits) > 1000, "no bait was laid");
    for role in ["keeper", "postgres"] {
        let mut owner = cluster.connect_as(role);
        let mut reader = cluster.connect_as("reader");
        run(&mut owner, "CREATE TABLE vk (id varchar(20) PRIMARY KEY, body text, m varchar(10), c char(4), d date,
                 t timestamptz, n numeric(8, 2), s name, e mood, b boolean, u uuid, i integer, l bigint,
                 f real, z label, a text[], w vector(2))");
        run(&mut owner, "INSERT INTO vk VALUES ('a', 'The harbour of Bath opens at seven.', 'sea', 'ab', '2020-01-02',
                 '2020-01-02', 1.5, 'bob', 'calm', true, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 3, 4, 0.5, 'x',
                 '{p,q}', '[1,2]'), ('b', 'Boats lie at the quay.', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                 NULL, NULL, NULL, NULL, NULL, NULL)");
        run(&mut owner, "GRANT SELECT ON vk TO reader");
        for client in [&mut owner, &mut reader] {
            run(client, "SET search_path = public, pg_catalog");
        }
        run(
            &mut owner,
            "SELECT rag_create_pipeline('vk', 'body', refresh => 'sync', chunking => '{\"by\": \"markdown\"}',
                 metadata => '{m,c,d,t,n,s,e,b,u,i,l,f,z,a,w}',
                 options => '{\"contextual\": true, \"graph\": {\"entities\": \"rules\"}}')",
        );
        assert_nothing_is_hooked(&mut admin);
        for (name, client) in [(role, &mut owner), ("reader", &mut reader)] {
            filter_by_all(client);
            QUESTIONS.iter().for_each(|question| run(client, &question.replace("ROLE", name)));
        }
        DEEDS.iter().for_each(|deed| run(&mut owner, deed));
        assert_nothing_is_hooked(&mut admin);
        run(&mut owner, "DROP TABLE vk");
    }
}

/// Each form of a filter with each type: what is equal is found, what is not is not.
fn filter_by_all(client: &mut Client) {
    let columns = [
        ("m", "\"sea\"", "\"sun\""),
        ("c", "\"ab\"", "\"cd\""),
        ("d", "\"2020-01-02\"", "\"2021-01-02\""),
        ("t", "\"2020-01-02\"", "\"2021-01-02\""),
        ("n", "1.5", "2"),
        ("s", "\"bob\"", "\"eve\""),
        ("e", "\"calm\"", "\"rough\""),
        ("b", "true", "false"),
        (
            "u",
            "\"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\"",
            "\"b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\"",
        ),
        ("i", "3", "4"),
        ("l", "4", "5"),
        ("f", "0.5", "1"),
        ("w", "\"[1,2]\"", "\"[3,4]\""),
        ("z", "\"x\"", "\"y\""),
    ];
    for (column, equal, other) in columns {
        let filters = [
            (equal.to_string(), 1),
            (other.to_string(), 0),
            (format!("[{equal}, {other}]"), 1),
            (format!("[{other}, null]"), 1),
            ("null".to_owned(), 1),
            (format!("{{\"ne\": {equal}}}"), 1),
            (format!("{{\"ne\": {other}}}"), 2),
            (format!("{{\"gte\": {equal}, \"lte\": {equal}}}"), 1),
            (format!("{{\"gt\": {equal}}}"), 0),
            (format!("{{\"lt\": {equal}}}"), 0),
            ("{\"ne\": null}".to_owned(), 1),
        ];
        for (filter, expected) in filters {
            let filter = format!("{{\"{column}\": {filter}}}");
            for mode in ["hybrid", "dense"] {
                let query =
                    "SELECT rag_retrieve('harbour', 'vk', filter => $1::text::jsonb, mode => $2)";
                let found = client.query(query, &[&filter, &mode]);
                let found = found.unwrap_or_else(|error| panic!("{filter}: {}", describe(&error)));
                assert_eq!(found.len(), expected, "{filter}, {mode}");
            }
        }
    }
}

fn run(client: &mut Client, statement: &str) {
    let done = client.batch_execute(statement);
    done.unwrap_or_else(|error| panic!("{statement}: {}", describe(&error)));
}

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
            &["22023", "The defaults of pipeline \"bait\" say"],
        );
    }
    for client in [&mut admin, &mut reader] {
        assert_fails(client, &ask(", 'bait'"), &["22023", "The defaults of pipeline \"bait\" say"]);
    }
    run(&mut mal, "SELECT rag_drop_pipeline('bait'); DROP TABLE bait");
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

/// Each function of the extension with NULL for every argument, for all but the first, and for all but
/// the first two. What drops something comes last.
const NULLS: &str = "
    SELECT CASE p.prokind WHEN 'p' THEN 'CALL ' ELSE 'SELECT ' END || p.oid::regproc || '('
           || coalesce(string_agg(
                  CASE WHEN a.place > f.given THEN 'NULL'
                       WHEN a.kind IN ('text'::regtype, 'name'::regtype, 'regclass'::regtype) THEN '''docs'''
                       WHEN a.kind = 'uuid'::regtype THEN '''0e37df36-f698-11e6-8dd4-cb9ced3df976'''
                       WHEN a.kind IN ('json'::regtype, 'jsonb'::regtype) THEN '''[]'''
                       WHEN format_type(a.kind, NULL) LIKE '%[]' THEN '''{}'''
                       WHEN format_type(a.kind, NULL) LIKE '%rag_bm25_query' THEN '''(,)'''
                       WHEN format_type(a.kind, NULL) LIKE '%bm25_weighted_query' THEN '''(,,)'''
                       ELSE '''1''' END || '::' || format_type(a.kind, NULL), ', ' ORDER BY a.place), '') || ')'
    FROM pg_depend AS d
    JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
    JOIN generate_series(0, 2) AS f (given) ON f.given <= p.pronargs
    LEFT JOIN LATERAL unnest(p.proargtypes::oid[]) WITH ORDINALITY AS a (kind, place) ON true
    WHERE d.deptype = 'e' AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pg_rag')
      AND NOT 'internal'::regtype = ANY (p.proargtypes::oid[])
    GROUP BY p.oid, p.prokind, f.given
    ORDER BY p.proname LIKE '%drop%', 1";

#[test]
fn errors_are_for_users() {
    let Some(cluster) = Cluster::start(&["statement_timeout = '120s'"]) else { return };
    let mut client = cluster.connect();
    run(&mut client, SETUP);
    let calls: Vec<String> =
        client.query(NULLS, &[]).unwrap().iter().map(|row| row.get(0)).collect();
    assert!(calls.len() > 100, "{calls:?}");
    // An error of PostgreSQL within a statement of pg_rag, which passes through Rust.
    let others = [
        "INSERT INTO docs VALUES (4, 'Zero', NULL); SELECT rag_create_pipeline('docs', '(1 / (id - 4))::text', 'halves')",
    ];
    for call in calls.iter().map(String::as_str).chain(others) {
        let Err(error) = client.batch_execute(call) else { continue };
        let told = error.as_db_error().unwrap_or_else(|| panic!("{call}: {error}"));
        assert_ne!(told.code().code(), "XX000", "{call}: {}", describe(&error));
        let detail = told.detail().unwrap_or_default();
        assert!(!detail.contains("backtrace") && !detail.contains(".rs"), "{call}: {detail}");
    }
    assert_fails(
        &mut client,
        "SELECT rag_alter_pipeline(NULL)",
        &["22004 pipeline must not be NULL"],
    );
    assert_fails(&mut client, others[0], &["22012 division by zero"]);
}
