//! Pipelines over shards: several databases behind foreign servers answer as one would, and say so where one does not.

use super::documents::{assert_fails, count};
use super::shard_cluster::{
    Found, QUESTIONS, SENTENCES, SHARDS, found, listening, make_database, server, sharded,
};

#[test]
fn shards_find_what_one_server_finds() {
    let Some(cluster) = sharded(&[]) else { return };
    let (mut one, mut shards) = (cluster.connect_to("one"), cluster.connect());
    for client in [&mut one, &mut shards] {
        client.batch_execute("SET timezone = 'Asia/Tokyo'; SET datestyle = 'ISO, DMY'").unwrap();
    }
    let options = [
        "{}",
        r#"{"retrieve": {"filter": {"lang": "de"}}}"#,
        r#"{"retrieve": {"filter": {"or": [{"lang": {"in": ["de", "fr"]}}, {"id": {"lt": 9}}]}}}"#,
        // What a date is compared with depends on settings, so postgres_fdw would not send it.
        r#"{"retrieve": {"filter": {"day": {"between": ["2026-01-05", "2026-01-20"]}}}}"#,
        // Which moment this is depends on the caller's settings.
        r#"{"retrieve": {"filter": {"at": {"between": ["02/01/2026 02:30", "02/01/2026 07:30"]}}}}"#,
        r#"{"retrieve": {"candidates": 5, "fusion": "rrf"}}"#,
        r#"{"retrieve": {"offset": 3, "candidates": 20}}"#,
        r#"{"retrieve": {"closeness": false, "candidates": 3}}"#,
        r#"{"retrieve": {"neighbours": 1, "dedupe": 0.99, "per_source": 1}}"#,
        r#"{"retrieve": {"rewrite": "prf"}}"#,
    ];
    for mode in ["dense", "lexical", "hybrid"] {
        for options in options {
            for question in QUESTIONS {
                let expected = found(&mut one, question, mode, options);
                assert!(mode != "dense" || !expected.is_empty(), "{options}");
                let got = found(&mut shards, question, mode, options);
                let order = |found: &Found| -> Vec<(i32, String)> {
                    found.iter().map(|(rank, content, _)| (*rank, content.clone())).collect()
                };
                assert_eq!(order(&got), order(&expected), "{question} {mode} {options}");
                for ((_, _, got), (_, _, expected)) in got.iter().zip(&expected) {
                    assert!((got - expected).abs() < 1e-9, "{question} {mode}: {got} {expected}");
                }
            }
        }
    }
    // The view has all chunks, each with a number of its own.
    assert_eq!(count(&mut shards, "SELECT count(DISTINCT chunk_id) FROM house_rag"), 24);
    let own = "SELECT count(*) FROM rag_retrieve('Where do visitors park?', k => 8) AS f JOIN house_rag AS h USING (chunk_id)
               WHERE f.content = h.content AND f.source_key = h.source_id::text";
    assert_eq!(count(&mut shards, own), 8);
}

#[test]
fn all_shards_are_asked_at_the_same_time() {
    let settings = [
        "session_preload_libraries = 'auto_explain'",
        "auto_explain.log_min_duration = 0",
        "auto_explain.log_nested_statements = on",
        "auto_explain.log_verbose = on",
    ];
    let Some(cluster) = sharded(&settings) else { return };
    let before = cluster.log().len();
    assert_eq!(found(&mut cluster.connect(), QUESTIONS[0], "hybrid", "{}").len(), 8);
    let log = cluster.log()[before..].to_owned();
    let asked = log
        .split("duration:")
        .filter(|plan| plan.contains("Query Text: ") && plan.contains("WITH u AS"));
    let plans: Vec<&str> = asked.collect();
    // The frequencies of words, and the candidates.
    assert_eq!(plans.len(), 2, "{log}");
    for plan in &plans {
        assert_eq!(plan.matches("Async Foreign Scan").count(), SHARDS.len(), "{plan}");
    }
}

#[test]
fn a_shard_that_is_not_there_is_an_error_or_left_out() {
    let Some(cluster) = sharded(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute("ALTER SERVER s3 OPTIONS (SET host '/nonexistent')").unwrap();
    let (mut client, heard) = listening(&cluster);
    let parts =
        ["08001", "shard \"s3.docs\" of pipeline \"house\" does not answer", "\"partial\": true"];
    assert_fails(&mut client, "SELECT * FROM rag_retrieve('Where do visitors park?')", &parts);
    assert_fails(&mut client, "SELECT rag_answer('Where do visitors park?')", &parts);
    let partial = r#"{"retrieve": {"partial": true}}"#;
    for mode in ["dense", "lexical", "hybrid"] {
        heard.lock().unwrap().clear();
        let rest = found(&mut client, QUESTIONS[0], mode, partial);
        assert!(rest[0].1.contains("park their cars"), "{rest:?}");
        let of_s3 = &SENTENCES[16..];
        assert!(rest.iter().all(|(_, it, _)| of_s3.iter().all(|(body, _)| it != body)), "{rest:?}");
        let heard = heard.lock().unwrap().join("; ");
        assert!(
            heard.contains("WARNING shard \"s3.docs\" of pipeline \"house\" does not answer"),
            "{heard}"
        );
    }
    let steps = "SELECT least(count(*), 1) FROM rag_explain('Where do visitors park?', options => '{\"retrieve\": {\"partial\": true}}')
                 WHERE stage = 'shards' AND detail LIKE '%without s3.docs%'";
    assert_eq!(count(&mut client, steps), 1);
    // A default of the pipeline is as good as a word of the call.
    client
        .batch_execute(
            "SELECT rag_alter_pipeline('house', defaults => '{\"retrieve\": {\"partial\": true}}')",
        )
        .unwrap();
    assert_eq!(
        count(&mut client, "SELECT count(*) FROM rag_retrieve('Where do visitors park?')"),
        5
    );
    client
        .batch_execute(
            "ALTER SERVER s1 OPTIONS (SET host '/nonexistent'); ALTER SERVER s2 OPTIONS (SET host '/nonexistent');",
        )
        .unwrap();
    assert_fails(
        &mut client,
        "SELECT * FROM rag_retrieve('Where?')",
        &["08001", "does not answer"],
    );
}

#[test]
fn a_server_that_ends_is_noticed_in_a_session_that_has_asked_it() {
    let Some(cluster) = sharded(&[]) else { return };
    let mut other = cluster.beside(&[]);
    make_database(&other, "far", &SENTENCES[..4]);
    let mut client = cluster.connect();
    client.batch_execute(&server("far", &other.socket(), "far")).unwrap();
    client
        .batch_execute(
            "SELECT rag_create_pipeline(name => 'both', shards => ARRAY['s2.docs', 'far.docs'])",
        )
        .unwrap();
    let partial = "SELECT count(*) FROM rag_retrieve('Where do visitors park?', 'both', k => 20, options => '{\"retrieve\": {\"partial\": true}}')";
    assert_eq!(count(&mut client, partial), 12);
    other.stop("INT");
    assert_fails(
        &mut client,
        "SELECT * FROM rag_retrieve('Where?', 'both')",
        &["far.docs", "does not answer"],
    );
    assert_eq!(count(&mut client, partial), 8);
    other.boot();
    assert_eq!(count(&mut client, partial), 12);
}

#[test]
fn who_asks_sees_what_its_role_there_sees() {
    let Some(cluster) = sharded(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute("CREATE ROLE reader LOGIN; CREATE ROLE maker LOGIN; CREATE ROLE guest LOGIN; GRANT CREATE ON SCHEMA public TO maker").unwrap();
    for shard in SHARDS {
        cluster
            .connect_to(shard)
            .batch_execute(
                "GRANT SELECT ON docs, docs_rag, docs_rag_chunks TO guest;
                 ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
                 CREATE POLICY german ON docs FOR SELECT TO guest USING (lang = 'de');",
            )
            .unwrap();
    }
    let ask = "SELECT count(*) FROM rag_retrieve('Wo steht der Drucker?', 'house', k => 20)";
    let mut reader = cluster.connect_as("reader");
    assert_fails(&mut reader, ask, &["42704", "does not exist"]);
    client.batch_execute("GRANT SELECT ON house_rag TO reader").unwrap();
    assert_fails(&mut reader, ask, &["user mapping not found"]);
    for shard in SHARDS {
        let mapping = format!(
            "CREATE USER MAPPING FOR reader SERVER {shard} OPTIONS (user 'guest', password_required 'false')"
        );
        client.batch_execute(&mapping).unwrap();
    }
    assert_eq!(count(&mut reader, ask), 3, "the three rows that guest sees");
    assert_eq!(count(&mut reader, "SELECT count(*) FROM house_rag"), 3);
    assert_eq!(count(&mut client, ask), 20);
    client.batch_execute("REVOKE SELECT ON house_rag FROM reader").unwrap();
    for relation in ["house_rag", "house_rag_shard_1", "house_rag_shard_1_pipeline"] {
        assert_fails(&mut reader, &format!("SELECT * FROM {relation}"), &["42501"]);
    }
    // Who may not use a server has nothing asked there.
    let mut maker = cluster.connect_as("maker");
    let make = "SELECT rag_create_pipeline(name => 'mine', shards => ARRAY['s1.docs'])";
    assert_fails(&mut maker, make, &["42501", "s1"]);
    client
        .batch_execute("GRANT USAGE ON FOREIGN SERVER s1 TO maker; CREATE USER MAPPING FOR maker SERVER s1 OPTIONS (user 'maker', password_required 'false')")
        .unwrap();
    assert_fails(&mut maker, make, &["42704", "pipeline \"docs\" does not exist on server \"s1\""]);
    assert_fails(&mut maker, "SELECT rag_alter_pipeline('house', name => 'mine')", &["42704"]);
    assert_fails(
        &mut maker,
        "INSERT INTO rag.shard VALUES (1, 9, 'docs', 'house_rag', 'house_rag')",
        &["42501"],
    );
    // Another owner has all of it.
    client
        .batch_execute(
            "GRANT USAGE ON FOREIGN SERVER s2, s3 TO maker; ALTER VIEW house_rag OWNER TO maker",
        )
        .unwrap();
    let given = "SELECT count(*) FROM pg_class WHERE relname LIKE 'house\\_rag%' AND relowner = 'maker'::regrole";
    assert_eq!(count(&mut client, given), 8);
    maker.batch_execute("SELECT rag_drop_pipeline('house')").unwrap();
}

#[test]
fn names_are_names_and_nothing_else() {
    let Some(cluster) = sharded(&[]) else { return };
    cluster
        .connect_to("s1")
        .batch_execute(r#"SELECT rag_create_pipeline('docs', 'body', 'it''s "odd"; DROP TABLE docs', refresh => 'sync')"#)
        .unwrap();
    let mut client = cluster.connect();
    client.batch_execute(&server("\"my server; --\"", &cluster.socket(), "s1")).unwrap();
    client
        .batch_execute(r#"SELECT rag_create_pipeline(name => 'o''dd " one', shards => ARRAY['"my server; --"."it''s ""odd""; DROP TABLE docs"'])"#)
        .unwrap();
    let found = r#"SELECT count(*) FROM rag_retrieve('Where do visitors park?', 'o''dd " one')"#;
    assert_eq!(count(&mut client, found), 5);
    client.batch_execute(r#"SELECT rag_drop_pipeline('o''dd " one')"#).unwrap();
    assert_eq!(count(&mut cluster.connect_to("s1"), "SELECT count(*) FROM docs"), 8);
    // What a server says of itself is not believed to be SQL.
    cluster
        .connect_to("s2")
        .batch_execute(
            "CREATE TABLE shop (id integer PRIMARY KEY, body text);
             SELECT rag_create_pipeline('shop', 'body');
             ALTER VIEW rag.pipeline_as_shard RENAME TO told;
             CREATE VIEW rag.pipeline_as_shard AS
             SELECT t.id, t.name, t.database, t.schema, t.view, t.model, t.dimension, t.digest, t.config, t.key_columns, t.vector_schema, t.version,
                    replace(t.columns::text, '\"integer\"', '\"integer); DROP EXTENSION postgres_fdw; --\"')::jsonb AS columns
             FROM rag.told AS t",
        )
        .unwrap();
    let create = "SELECT rag_create_pipeline(name => 'shop', shards => ARRAY['s2.shop'])";
    assert_fails(&mut client, create, &["DROP EXTENSION"]);
    assert_eq!(
        count(&mut client, "SELECT count(*) FROM pg_extension WHERE extname = 'postgres_fdw'"),
        1
    );
}

#[test]
fn what_cannot_be_searched_together_is_refused() {
    let Some(cluster) = sharded(&[]) else { return };
    let mut client = cluster.connect();
    cluster
        .connect_to("s1")
        .batch_execute(
            "SELECT rag_create_pipeline('docs', 'body', 'exact', model => 'all-minilm-l6-v2-fp32', refresh => 'sync');
             CREATE TABLE pages (url text PRIMARY KEY, body text);
             SELECT rag_create_pipeline('pages', 'body', refresh => 'sync');",
        )
        .unwrap();
    client
        .batch_execute(&format!(
            "CREATE SERVER bare FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{}', dbname 's1');
             CREATE USER MAPPING FOR postgres SERVER bare OPTIONS (user 'postgres');",
            cluster.socket()
        ))
        .unwrap();
    let refused = [
        ("'s1.docs', 's9.docs'", ["42704", "foreign server \"s9\""]),
        ("'s1.nothing'", ["42704", "pipeline \"nothing\" does not exist on server \"s1\""]),
        ("'docs'", ["22023", "not a shard: \"docs\""]),
        ("'s1.docs', 's1.docs'", ["22023", "named twice"]),
        ("NULL", ["22004", "shards must not contain NULL"]),
        ("'bare.docs'", ["22023", "ADD extensions 'vector, pg_rag'"]),
        (
            "'s2.docs', 's1.exact'",
            ["s2.docs has \"all-minilm-l6-v2\"", "s1.exact has \"all-minilm-l6-v2-fp32\""],
        ),
        ("'s2.docs', 's1.pages'", ["22023", "shard \"s1.pages\" has no column \"source_id\""]),
    ];
    for (shards, parts) in refused {
        let create =
            format!("SELECT rag_create_pipeline(name => 'new', shards => ARRAY[{shards}])");
        assert_fails(&mut client, &create, &parts);
        let alter = format!("SELECT rag_alter_pipeline('house', shards => ARRAY[{shards}])");
        assert_fails(&mut client, &alter, &parts[..1]);
    }
    for (arguments, part) in [
        ("name => 'new', shards => '{}'", "1 to 256 shards, not 0"),
        ("shards => '{s1.docs}'", "name must not be NULL"),
        ("name => 'house', shards => '{s1.docs}'", "already exists"),
        (
            "name => 'new', shards => '{s1.docs}', metadata => '{lang}'",
            "metadata says something of chunks",
        ),
        (
            "name => 'new', shards => '{s1.docs}', refresh => 'sync'",
            "refresh says something of chunks",
        ),
        ("'pg_class', 'x', name => 'new', shards => '{s1.docs}'", "has no source here"),
    ] {
        assert_fails(&mut client, &format!("SELECT rag_create_pipeline({arguments})"), &[part]);
    }
    for arguments in
        ["model => 'x'", "metadata => '{}'", "refresh => 'sync'", "options => '{\"tree\": {}}'"]
    {
        let alter = format!("SELECT rag_alter_pipeline('house', {arguments})");
        assert_fails(&mut client, &alter, &["0A000", "are on other servers"]);
    }
    let leftovers = "SELECT count(*) FROM pg_class WHERE relname LIKE 'new\\_rag%'";
    assert_eq!(count(&mut client, leftovers), 0);
}

#[test]
fn a_pipeline_over_shards_is_altered_restored_and_dropped() {
    let Some(cluster) = sharded(&[]) else { return };
    let mut client = cluster.connect();
    let all = "SELECT count(*) FROM rag_retrieve('Where do visitors park?', k => 30)";
    assert_eq!(count(&mut client, all), 24);
    assert_eq!(count(&mut client, "SELECT rag_wait('house')::int::bigint"), 1);
    client.batch_execute("CALL rag_run('house')").unwrap();
    let status = "SELECT count(*) FROM rag.pipeline_status WHERE pipeline = 'house' AND state = 'live' AND chunks IS NULL AND pending_rows = 0";
    assert_eq!(count(&mut client, status), 1);

    // What tools show as descriptions.
    let undescribed = "SELECT count(*) FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0
        WHERE c.relname LIKE 'ho%\\_rag%' AND c.relkind IN ('v', 'f') AND (col_description(c.oid, a.attnum) IS NULL OR obj_description(c.oid) IS NULL)";
    assert_eq!(count(&mut client, undescribed), 0);
    client.batch_execute("CREATE VIEW mine AS SELECT content FROM house_rag; CREATE ROLE reader; GRANT SELECT ON house_rag TO reader").unwrap();
    client
        .batch_execute(
            "SELECT rag_alter_pipeline('house', 'home', shards => ARRAY['s3.docs', 's1.docs'])",
        )
        .unwrap();
    assert_eq!(count(&mut client, all), 16);
    assert_eq!(count(&mut client, undescribed), 0);
    assert_eq!(count(&mut client, "SELECT count(*) FROM mine"), 16);
    let granted = "SELECT count(*) FROM rag.shard WHERE has_table_privilege('reader', relation, 'SELECT') AND has_table_privilege('reader', description, 'SELECT')";
    assert_eq!(count(&mut client, granted), 2);

    let folder = cluster.dump("postgres");
    client.batch_execute("CREATE DATABASE restored").unwrap();
    cluster.restore(&folder, "restored");
    let mut restored = cluster.connect_to("restored");
    assert_eq!(count(&mut restored, all), 16);
    restored
        .batch_execute("SELECT rag_alter_pipeline('home', shards => ARRAY['s2.docs'])")
        .unwrap();
    assert_eq!(count(&mut restored, all), 8);

    assert_fails(&mut client, "DROP SERVER s1", &["2BP01"]);
    client.batch_execute("DROP SERVER s1 CASCADE").unwrap();
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag.pipeline"), 0);
    assert_fails(
        &mut restored,
        "SELECT rag_drop_pipeline('home')",
        &["2BP01", "other objects depend on it"],
    );
    restored.batch_execute("DROP VIEW mine; SELECT rag_drop_pipeline('home')").unwrap();
    for client in [&mut client, &mut restored] {
        let left = "SELECT count(*) FROM pg_class WHERE relname LIKE 'ho%\\_rag%'";
        assert_eq!(count(client, left), 0);
        assert_eq!(count(client, "SELECT count(*) FROM rag.shard"), 0);
    }
}

/// The blocks on shards, which need other servers, with the socket in place of their hosts.
#[test]
fn the_page_on_scale_does_what_it_says() {
    let Some(cluster) = sharded(&[]) else { return };
    let page = include_str!("../../docs/scale.md").split_once("\n## Shards\n").unwrap().1;
    let section = page.split("\n## ").next().unwrap();
    let blocks = section.split("```sql no-run\n").skip(1);
    let blocks: Vec<String> = blocks
        .map(|block| {
            let block = block.split("```").next().unwrap();
            let socket = cluster.socket();
            block.replace("east.example", &socket).replace("west.example", &socket)
        })
        .collect();
    let [roles, servers, partial] = blocks.as_slice() else { panic!("{} blocks", blocks.len()) };
    let (role, grants) = roles.split_once('\n').unwrap();
    let mut client = cluster.connect();
    client.batch_execute(role).unwrap();
    for (name, rows) in [("east", &SENTENCES[..8]), ("west", &SENTENCES[8..])] {
        make_database(&cluster, name, rows);
        cluster.connect_to(name).batch_execute(grants).unwrap();
    }
    let servers = servers.replace("CREATE EXTENSION postgres_fdw;", "");
    client.batch_execute(&servers).unwrap();
    client.batch_execute(partial).unwrap();
    let all = "SELECT count(*) FROM rag_retrieve('Where do visitors park?', 'everything', k => 30)";
    assert_eq!(count(&mut client, all), 24);
}

#[test]
fn an_answer_says_on_which_shard_its_sources_are() {
    let Some(cluster) = sharded(&[]) else { return };
    let mut client = cluster.connect();
    let query = "SELECT answer, citations::text, context::text FROM rag_answer_details($1)";
    let row = client.query_one(query, &[&QUESTIONS[1]]).unwrap();
    let text = |column: usize| row.get::<_, String>(column);
    assert!(text(0).contains("E4711"), "{}", text(0));
    assert!(text(1).contains("\"shard\": \"s2.docs\""), "{}", text(1));
    assert!(text(2).contains("\"shard\": \"s2.docs\""), "{}", text(2));
    // A shard that is made anew by another model is noticed.
    let mut shard = cluster.connect_to("s2");
    shard
        .batch_execute("SELECT rag_alter_pipeline('docs', model => 'all-minilm-l6-v2-fp32')")
        .unwrap();
    assert_eq!(count(&mut shard, "SELECT rag_wait('docs', '5 minutes')::int::bigint"), 1);
    let parts = ["s2.docs", "now has \"all-minilm-l6-v2-fp32\""];
    for mode in ["dense", "lexical", "hybrid"] {
        let ask =
            format!("SELECT * FROM rag_retrieve('Where do visitors park?', mode => '{mode}')");
        assert_fails(&mut client, &ask, &parts);
    }
}
