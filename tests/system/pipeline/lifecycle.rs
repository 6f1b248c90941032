//! A pipeline over the years: its table is renamed, its model changes, it is dumped and restored.

use super::super::documents::prose;
use super::removal::without_workers;
use super::*;

#[test]
fn renames_are_followed() {
    let Some((_cluster, mut client)) = start(&[]) else { return };
    run(
        &mut client,
        "INSERT INTO docs VALUES (1, 't', 'One.', 'en'), (2, 't', 'Two.', 'en'), (3, 't', 'Three.', 'en')",
    );
    wait(&mut client, "docs");
    let renames = [
        (
            "ALTER TABLE docs RENAME COLUMN body TO \"Body\"",
            "ALTER TABLE docs RENAME COLUMN \"Body\" TO body",
        ),
        (
            "ALTER TABLE docs RENAME COLUMN lang TO language",
            "ALTER TABLE docs RENAME COLUMN language TO lang",
        ),
        (
            "ALTER TABLE docs RENAME COLUMN id TO \"no\"",
            "ALTER TABLE docs RENAME COLUMN \"no\" TO id",
        ),
        ("ALTER TABLE docs RENAME TO \"Papers\"", "ALTER TABLE \"Papers\" RENAME TO docs"),
        ("CREATE SCHEMA s; ALTER TABLE docs SET SCHEMA s", "ALTER TABLE s.docs SET SCHEMA public"),
        ("ALTER TABLE docs ADD COLUMN more text DEFAULT 'x'", "ALTER TABLE docs DROP COLUMN more"),
        (
            "ALTER TABLE docs_rag_chunks RENAME TO pieces",
            "ALTER TABLE pieces RENAME TO docs_rag_chunks",
        ),
    ];
    for (round, (there, back)) in renames.iter().enumerate() {
        run(&mut client, there);
        let source: String = client
            .query_one("SELECT source::text FROM rag.pipeline WHERE name = 'docs'", &[])
            .unwrap()
            .get(0);
        let columns = client
            .query_one(
                "SELECT string_agg(quote_ident(attname), ',' ORDER BY attnum) FROM pg_attribute
                 WHERE attrelid = $1::text::regclass AND attnum BETWEEN 1 AND 4",
                &[&source],
            )
            .unwrap();
        let columns: Vec<String> =
            columns.get::<_, String>(0).split(',').map(str::to_owned).collect();
        let [id, _, body, lang] = &columns[..] else { panic!("{columns:?}") };
        let new = 10 + round;
        run(
            &mut client,
            &format!(
                "INSERT INTO {source} VALUES ({new}, 't', 'Inserted after {round}.', 'en');
                 UPDATE {source} SET {body} = 'Changed after {round}.', {lang} = 'de' WHERE {id} = 1;
                 UPDATE {source} SET {id} = {id} + 1000 WHERE {id} % 1000 = 2;
                 DELETE FROM {source} WHERE {id} = {new} - 1"
            ),
        );
        wait(&mut client, "docs");
        run(&mut client, back);
        assert_agree(&mut client, 64);
        let found = "SELECT count(*) FROM rag_retrieve('changed', k => 100)";
        assert_eq!(count(&mut client, found), 4, "{there}");
    }
}

/// Rows of several chunks.
pub(super) fn fill(client: &mut Client, rows: i32) {
    for id in 1..=rows {
        let body = prose(id as usize, 5);
        client.execute("INSERT INTO docs VALUES ($1, 't', $2, 'en')", &[&id, &body]).unwrap();
    }
}

#[test]
fn a_new_generation_takes_the_place_of_the_old() {
    let Some((cluster, mut client)) = start(&[]) else { return };
    fill(&mut client, 100);
    wait(&mut client, "docs");
    run(&mut client, "CREATE VIEW mine AS SELECT source_id, content FROM docs_rag");
    let generations = [
        (r#"chunking => '{"max_tokens": 32}'"#, 32, "all-minilm-l6-v2"),
        ("model => 'all-minilm-l6-v2-fp32'", 32, "all-minilm-l6-v2-fp32"),
        (
            r#"metadata => '{lang,title}', chunking => '{"max_tokens": 48}'"#,
            48,
            "all-minilm-l6-v2-fp32",
        ),
    ];
    let mut editor = cluster.connect();
    for (number, (change, max_tokens, model)) in generations.into_iter().enumerate() {
        if change.contains("metadata") {
            run(&mut client, "DROP VIEW mine");
        }
        let begun = Instant::now();
        run(&mut client, &format!("SELECT rag_alter_pipeline('docs', {change})"));
        let altered = begun.elapsed();
        let (mut answers, mut edits) = (0, 0);
        let generation = number as i32 + 2;
        while !is_made(&mut client, generation) {
            assert!(begun.elapsed() < Duration::from_secs(300), "{:?}", status(&mut client));
            let found = count(
                &mut client,
                "SELECT count(*) FROM rag_retrieve('the orchard and the harbour', 'docs')",
            );
            assert_eq!(found, 5, "the old generation answers");
            answers += 1;
            // Keys all over the table, those that were embedded already and those that were not.
            let id = 1 + edits * 37 % 100;
            run(
                &mut editor,
                &format!(
                    "UPDATE docs SET body = 'Edited {edits} during the build of generation {generation}.' WHERE id = {id};
                     DELETE FROM docs WHERE id = {id} + 1000;
                     INSERT INTO docs VALUES ({id} + 1000, 't', 'Inserted {edits} during the build.', 'de');"
                ),
            );
            edits += 1;
            std::thread::sleep(Duration::from_millis(60));
        }
        println!(
            "rag_alter_pipeline({change}) returns after {} ms; generation {generation} is made after {} ms, \
             {answers} answers and {edits} edits meanwhile",
            altered.as_millis(),
            begun.elapsed().as_millis()
        );
        assert!(edits > 0, "nothing happened during the build");
        wait(&mut client, "docs");
        assert_agree(&mut client, max_tokens);
        let other = format!("SELECT model FROM docs_rag_chunks WHERE model <> '{model}'");
        assert_none(&mut client, &other);
        assert_none(
            &mut client,
            "SELECT relname::text FROM pg_class WHERE relname ~ '^docs_rag.*_[0-9]+$'",
        );
        if !change.contains("metadata") {
            assert!(count(&mut client, "SELECT count(*) FROM mine") > 0, "a view over the chunks");
        }
    }
    assert_none(
        &mut client,
        "SELECT 'title: ' || source_id FROM docs_rag WHERE title IS DISTINCT FROM 't'",
    );
}

#[test]
fn rows_are_read_with_the_definitions_of_their_commit() {
    let Some((_cluster, mut client)) = start(&[]) else { return };
    run(
        &mut client,
        "SELECT rag_drop_pipeline('docs');
         CREATE FUNCTION marked(text) RETURNS text LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN 'none'; END $$;
         SELECT rag_create_pipeline('docs', 'public.marked(body)');
         INSERT INTO docs VALUES (0, 't', 'x', 'en')",
    );
    wait(&mut client, "docs");
    for round in 1..=20 {
        // The worker is idle, and has the function of the round before in its caches.
        run(
            &mut client,
            &format!(
                "BEGIN;
                 CREATE OR REPLACE FUNCTION marked(text) RETURNS text LANGUAGE plpgsql STABLE AS $$
                     BEGIN RETURN 'Round {round}.'; END $$;
                 INSERT INTO docs VALUES ({round}, 't', 'x', 'en')"
            ),
        );
        std::thread::sleep(Duration::from_millis(50));
        run(&mut client, "COMMIT");
        // Nobody else is busy when the worker wakes.
        std::thread::sleep(Duration::from_millis(50));
        wait(&mut client, "docs");
    }
    assert_none(
        &mut client,
        "SELECT source_id || ': ' || content FROM docs_rag_chunks
         WHERE source_id > 0 AND content <> 'Round ' || source_id || '.'",
    );
}

pub(super) fn is_made(client: &mut Client, generation: i32) -> bool {
    let query = "SELECT count(*) = 1 AND min(generation) = $1 AND min(stage) = 'live'
                 FROM rag.pipeline WHERE source = 'docs'::regclass";
    client.query_one(query, &[&generation]).unwrap().get(0)
}

#[test]
fn an_alteration_is_altered_and_a_paused_one_waits() {
    let Some((_cluster, mut client)) = start(&[]) else { return };
    fill(&mut client, 60);
    wait(&mut client, "docs");
    // The second one takes the place of the first before that is made.
    run(
        &mut client,
        "SELECT rag_alter_pipeline('docs', chunking => '{\"max_tokens\": 32}');
         SELECT rag_alter_pipeline('docs', chunking => '{\"max_tokens\": 40}');",
    );
    time_until(
        &mut client,
        "SELECT count(*) FROM rag.pipeline WHERE chunking->'max_tokens' = '40' AND name = 'docs'",
        1,
    );
    wait(&mut client, "docs");
    assert_agree(&mut client, 40);
    run(
        &mut client,
        "SELECT rag_pause('docs'); SELECT rag_alter_pipeline('docs', chunking => '{\"max_tokens\": 64}');",
    );
    run(&mut client, "UPDATE docs SET body = 'Edited while it is paused.' WHERE id <= 10");
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(
        count(
            &mut client,
            "SELECT (chunking->>'max_tokens')::bigint FROM rag.pipeline WHERE name = 'docs'"
        ),
        40
    );
    run(&mut client, "SELECT rag_resume('docs')");
    time_until(
        &mut client,
        "SELECT count(*) FROM rag.pipeline WHERE chunking->'max_tokens' = '64' AND name = 'docs'",
        1,
    );
    wait(&mut client, "docs");
    assert_agree(&mut client, 64);
}

#[test]
fn an_edited_paragraph_is_embedded_alone() {
    let Some((_cluster, mut client)) = start(&[]) else { return };
    let text = paragraphs(90);
    client.execute("INSERT INTO docs VALUES (1, 't', $1, 'en')", &[&text]).unwrap();
    wait(&mut client, "docs");
    let chunks = count(&mut client, "SELECT count(*) FROM docs_rag_chunks");
    assert!((80..=100).contains(&chunks), "{chunks} chunks");
    let before = done(&mut client).1;
    let place = text.find("\n\n").unwrap() * 45;
    let place = place + text[place..].find("The ").unwrap();
    let edited = format!("{}A sentence that was not there. {}", &text[..place], &text[place..]);
    client.execute("UPDATE docs SET body = $1", &[&edited]).unwrap();
    wait(&mut client, "docs");
    let embedded = done(&mut client).1 - before;
    println!("one paragraph of {chunks} chunks is edited: {embedded} chunks are embedded");
    assert!((1..=3).contains(&embedded), "{embedded} chunks");
    assert_agree(&mut client, 64);
}

#[test]
fn the_refresh_changes() {
    let Some((_cluster, mut client)) = start(&[]) else { return };
    let chunks = "SELECT count(*) FROM docs_rag_chunks";
    run(
        &mut client,
        "SELECT rag_pause('docs'); INSERT INTO docs VALUES (1, 't', 'Async and paused.', 'en')",
    );
    let error = client.batch_execute("SELECT rag_wait('docs')").unwrap_err();
    assert!(
        describe(&error).starts_with("55000") && describe(&error).contains("rag_resume"),
        "{}",
        describe(&error)
    );
    run(&mut client, "SELECT rag_resume('docs')");
    wait(&mut client, "docs");
    // The statement itself embeds.
    run(&mut client, "SELECT rag_alter_pipeline('docs', refresh => 'sync')");
    run(&mut client, "BEGIN; INSERT INTO docs VALUES (2, 't', 'Sync.', 'en')");
    assert_eq!(count(&mut client, chunks), 2, "in the same transaction");
    run(&mut client, "ROLLBACK");
    assert_eq!(count(&mut client, chunks), 1);
    run(
        &mut client,
        "INSERT INTO docs VALUES (2, 't', 'Sync.', 'en'); DELETE FROM docs WHERE id = 1",
    );
    assert_eq!(count(&mut client, chunks), 1);
    // Nobody embeds before rag_run.
    run(&mut client, "SELECT rag_alter_pipeline('docs', refresh => 'manual')");
    run(
        &mut client,
        "INSERT INTO docs SELECT i, 't', 'Manual ' || i, 'en' FROM generate_series(3, 30) AS i",
    );
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(count(&mut client, chunks), 1);
    let error = client.batch_execute("SELECT rag_wait('docs')").unwrap_err();
    assert!(describe(&error).starts_with("55000"), "{}", describe(&error));
    run(&mut client, "CALL rag_run('docs')");
    assert_agree(&mut client, 64);
    // What was left with manual refresh is the workers' now.
    run(&mut client, "UPDATE docs SET body = 'Left for workers.' WHERE id = 3");
    run(&mut client, "SELECT rag_alter_pipeline('docs', refresh => 'async')");
    wait(&mut client, "docs");
    assert_agree(&mut client, 64);
    // And what was left with asynchronous refresh when it becomes sync.
    run(
        &mut client,
        "SELECT rag_pause('docs'); UPDATE docs SET body = 'Left in the queue.' WHERE id = 4",
    );
    run(
        &mut client,
        "SELECT rag_alter_pipeline('docs', refresh => 'sync'); SELECT rag_resume('docs')",
    );
    wait(&mut client, "docs");
    assert_agree(&mut client, 64);
}

#[test]
fn a_restored_database_has_its_pending_work() {
    let Some((cluster, mut client)) = start(&["rag.max_attempts = 1"]) else { return };
    fill(&mut client, 20);
    wait(&mut client, "docs");
    run(
        &mut client,
        "SELECT rag_pause('docs');
         INSERT INTO docs VALUES (100, 't', 'Pending in the dump.', 'en');
         UPDATE docs SET body = 'Changed before the dump.' WHERE id = 1;
         DELETE FROM docs WHERE id = 2;",
    );
    // Some of it in the queue, some of it not yet.
    time_until(&mut client, "SELECT count(*) FROM rag.intake", 0);
    without_workers(&cluster, &mut client);
    run(&mut client, "UPDATE docs SET lang = 'de' WHERE id = 3");
    assert!(count(&mut client, "SELECT count(*) FROM rag.intake") > 0);
    let chunks = count(&mut client, "SELECT count(*) FROM docs_rag_chunks");
    run(&mut client, "CREATE DATABASE restored");
    let dump = cluster.run("pg_dump", &["-h", &cluster.socket(), "-U", "postgres", "postgres"]);
    cluster.psql("restored", &dump);
    cluster.configure(&["rag.max_workers = 2"]);
    cluster.reload();
    // In the queue or not yet.
    let pending =
        "SELECT count(*) FROM (SELECT key FROM rag.queue UNION SELECT keys FROM rag.intake) AS p";
    for name in ["restored", "postgres"] {
        let mut there = cluster.connect_to(name);
        assert_eq!(count(&mut there, "SELECT count(*) FROM docs_rag_chunks"), chunks, "{name}");
        assert_eq!(count(&mut there, pending), 4, "{name}");
        let paused = "SELECT count(*) FROM rag.pipeline_status WHERE state = 'paused'";
        assert_eq!(count(&mut there, paused), 1, "{name}: {:?}", status(&mut there));
        run(&mut there, "SELECT rag_resume('docs')");
        wait(&mut there, "docs");
        assert_agree(&mut there, 64);
        run(
            &mut there,
            "UPDATE docs SET body = 'After the restore.' WHERE id = 5; DELETE FROM docs WHERE id = 6",
        );
        wait(&mut there, "docs");
        assert_agree(&mut there, 64);
        run(&mut there, "SELECT rag_alter_pipeline('docs', chunking => '{\"max_tokens\": 32}')");
        time_until(
            &mut there,
            "SELECT count(*) FROM rag.pipeline WHERE chunking->'max_tokens' = '32' AND stage = 'live' AND name = 'docs'",
            1,
        );
        wait(&mut there, "docs");
        assert_agree(&mut there, 32);
    }
}
