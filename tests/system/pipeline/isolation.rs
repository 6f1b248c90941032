//! No change is lost to an older snapshot: that of a transaction, or what a worker has read before.

use super::removal::without_workers;
use super::*;

const ROWS: &str = "
    SELECT rag_drop_pipeline('docs');
    TRUNCATE docs;
    INSERT INTO docs SELECT i, 't', 'Row number ' || i, 'en' FROM generate_series(1, 5) AS i;";

#[test]
fn changes_under_a_snapshot_that_is_older_than_the_pipeline() {
    let Some((cluster, mut client)) = start(&[]) else { return };
    let mut older = cluster.connect();
    let sync = PIPELINE.replace(");", ", refresh => 'sync');");
    for pipeline in [PIPELINE, sync.as_str()] {
        for level in ["REPEATABLE READ", "SERIALIZABLE"] {
            run(&mut client, ROWS);
            run(&mut older, &format!("BEGIN ISOLATION LEVEL {level}; SELECT 1;"));
            run(&mut client, pipeline);
            run(
                &mut older,
                "INSERT INTO docs VALUES (10, 't', 'Inserted.', 'en');
                 UPDATE docs SET body = 'Updated.' WHERE id = 1;
                 DELETE FROM docs WHERE id = 2;
                 COMMIT;",
            );
            wait(&mut client, "docs");
            assert_agree(&mut client, 64);
            // What the session knows of the pipeline now is not what it knew then.
            run(&mut older, "INSERT INTO docs VALUES (11, 't', 'Inserted later.', 'en')");
            wait(&mut client, "docs");
            assert_agree(&mut client, 64);
            assert_eq!(count(&mut client, "SELECT count(*) FROM docs_rag_chunks"), 6);
        }
    }
}

/// It shows the row that was deleted beside the one that has its key now.
#[test]
fn a_key_that_is_given_again_under_an_older_snapshot() {
    let Some((cluster, mut client)) = start(&[]) else { return };
    run(&mut client, ROWS);
    run(&mut client, &PIPELINE.replace(");", ", refresh => 'sync');"));
    let mut older = cluster.connect();
    run(&mut older, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM docs;");
    run(&mut client, "DELETE FROM docs WHERE id = 2");
    run(&mut older, "INSERT INTO docs VALUES (2, 't', 'Here again.', 'en'); COMMIT;");
    wait(&mut client, "docs");
    assert_agree(&mut client, 64);
}

#[test]
fn a_truncation_under_a_snapshot_that_is_older_than_the_pipeline() {
    let Some((cluster, mut client)) = start(&[]) else { return };
    let mut older = cluster.connect();
    let sync = PIPELINE.replace(");", ", refresh => 'sync');");
    for pipeline in [PIPELINE, sync.as_str()] {
        run(&mut client, ROWS);
        run(&mut older, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;");
        run(&mut client, pipeline);
        run(&mut older, "TRUNCATE docs; COMMIT;");
        wait(&mut client, "docs");
        assert_eq!(count(&mut client, "SELECT count(*) FROM docs_rag_chunks"), 0);
    }
}

#[test]
fn a_pipeline_that_is_made_under_an_older_snapshot() {
    let Some((cluster, mut client)) = start(&[]) else { return };
    run(&mut client, ROWS);
    let (mut writer, mut creator) = (cluster.connect(), cluster.connect());
    run(
        &mut creator,
        "SET default_transaction_isolation = 'repeatable read'; SET lock_timeout = '5min'",
    );
    run(
        &mut writer,
        "BEGIN;
         UPDATE docs SET body = 'Updated.' WHERE id = 1;
         INSERT INTO docs VALUES (10, 't', 'Inserted.', 'en');",
    );
    std::thread::scope(|scope| {
        let made = scope.spawn(|| run(&mut creator, PIPELINE));
        // It has its snapshot, and waits to make the triggers.
        time_until(&mut client, "SELECT count(*) FROM pg_locks WHERE NOT granted", 1);
        run(&mut writer, "COMMIT");
        made.join().unwrap();
    });
    wait(&mut client, "docs");
    assert_agree(&mut client, 64);
    assert_eq!(count(&mut client, "SELECT count(*) FROM docs_rag_chunks"), 6);
}

#[test]
fn a_row_that_a_worker_has_in_hand_is_looked_at_again_with_synchronous_refresh() {
    let Some((cluster, mut client)) = start(&[]) else { return };
    run(&mut client, ROWS);
    run(&mut client, &PIPELINE.replace(");", ", refresh => 'sync');"));
    without_workers(&cluster, &mut client);
    let left = "SELECT count(*) FROM rag.intake WHERE kind = 'keys' AND keys = '{1}'";
    run(&mut client, "UPDATE docs SET body = 'Nobody is at work.' WHERE id = 1");
    assert_eq!(count(&mut client, left), 0);
    // As if a worker had claimed the row.
    run(
        &mut client,
        "INSERT INTO rag.queue (pipeline, key, change, queued_at, lease, leased_until)
         SELECT id, '{1}', nextval('rag.change'), now(), 1, now() + interval '1 hour' FROM rag.pipeline;
         UPDATE docs SET body = 'Somebody is at work.' WHERE id = 1",
    );
    let stored = "SELECT count(*) FROM docs_rag_chunks WHERE content = 'Somebody is at work.'";
    assert_eq!(count(&mut client, stored), 1, "by the statement itself");
    assert_eq!(count(&mut client, left), 1);
}

/// What the worker has read is older than what the statement has stored, and is stored by nobody.
#[test]
fn a_worker_stores_nothing_over_what_a_statement_has_stored_with_synchronous_refresh() {
    let Some((cluster, mut client)) = start(&[]) else { return };
    run(&mut client, ROWS);
    run(&mut client, &PIPELINE.replace(");", ", refresh => 'sync');"));
    let chunks: String =
        client.query_one("SELECT chunk_table::text FROM rag.pipeline", &[]).unwrap().get(0);
    run(
        &mut client,
        &format!(
            "CREATE TABLE stored (content text, lang text);
             CREATE FUNCTION store() RETURNS trigger LANGUAGE plpgsql AS
                 $$BEGIN INSERT INTO public.stored VALUES (NEW.content, NEW.lang); RETURN NULL; END$$;
             CREATE TRIGGER store AFTER INSERT OR UPDATE ON {chunks} FOR EACH ROW EXECUTE FUNCTION store();
             SELECT rag_pause('docs');
             INSERT INTO rag.queue (pipeline, key, change, queued_at)
                 SELECT id, '{{1}}', nextval('rag.change'), now() FROM rag.pipeline;"
        ),
    );
    let mut writer = cluster.connect();
    run(
        &mut writer,
        "BEGIN; UPDATE docs SET body = 'Words of another row.', lang = 'de' WHERE id = 1;",
    );
    run(&mut client, "SELECT rag_resume('docs')");
    // A worker has read the row as it was, and waits for the chunk.
    time_until(&mut client, "SELECT count(*) FROM pg_locks WHERE NOT granted", 1);
    run(&mut writer, "COMMIT");
    wait(&mut client, "docs");
    assert_agree(&mut client, 64);
    let stored: Vec<(String, String)> = client
        .query("SELECT content, lang FROM stored", &[])
        .unwrap()
        .iter()
        .map(|row| (row.get(0), row.get(1)))
        .collect();
    assert_eq!(stored, [("Words of another row.".to_owned(), "de".to_owned())]);
}
