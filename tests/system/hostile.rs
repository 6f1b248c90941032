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
    "SELECT rag_conversation_continue('And the harbour?', '[{\"role\": \"user\", \"content\": \"about boats\"}, {\"role\": \"assistant\", \"content\": \"a\"}]')",
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

pub fn run(client: &mut Client, statement: &str) {
    let done = client.batch_execute(statement);
    done.unwrap_or_else(|error| panic!("{statement}: {}", describe(&error)));
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
