//! Whatever changes a row, the row is embedded again if its content changed, and only then.

use std::io::Write;

use super::removal::without_workers;
use super::*;

/// Statements, the rows that they bring into the queue, and the most chunks to embed.
const CHANGES: &[(&str, i64, i64)] = &[
    ("INSERT INTO docs VALUES (1, 'One', 'The first row.', 'en')", 1, 1),
    ("INSERT INTO docs SELECT i, 't', 'Row number ' || i, 'en' FROM generate_series(2, 9) AS i", 8, 8),
    ("UPDATE docs SET body = 'The first row, again.' WHERE id = 1", 1, 1),
    ("UPDATE docs SET body = body || '!' WHERE id IN (2, 3)", 2, 2),
    // Nothing that the pipeline reads.
    ("UPDATE docs SET title = 'Another title'", 0, 0),
    ("UPDATE docs SET body = body", 0, 0),
    // Read, but not embedded.
    ("UPDATE docs SET lang = 'de' WHERE id IN (2, 3)", 2, 0),
    ("UPDATE docs SET body = NULL WHERE id = 4", 1, 0),
    ("UPDATE docs SET body = 'Back again.' WHERE id = 4", 1, 1),
    // Both keys.
    ("UPDATE docs SET id = 100 WHERE id = 9", 2, 1),
    ("UPDATE docs SET id = id + 1000 WHERE id <= 2", 4, 2),
    ("DELETE FROM docs WHERE id IN (3, 4)", 2, 0),
    (
        "INSERT INTO docs VALUES (5, 't', 'Row five has met itself.', 'en'), (20, 't', 'Row twenty.', 'en')
         ON CONFLICT (id) DO UPDATE SET body = EXCLUDED.body",
        2,
        2,
    ),
    ("INSERT INTO docs VALUES (5, 't', 'x', 'en') ON CONFLICT DO NOTHING", 0, 0),
    (
        "MERGE INTO docs AS d
         USING (VALUES (5, 'Merged.'), (6, NULL), (21, 'Inserted by MERGE.')) AS s (id, body) ON s.id = d.id
         WHEN MATCHED AND s.body IS NULL THEN DELETE
         WHEN MATCHED THEN UPDATE SET body = s.body
         WHEN NOT MATCHED THEN INSERT VALUES (s.id, 't', s.body, 'en')",
        3,
        2,
    ),
    ("WITH gone AS (DELETE FROM docs WHERE id = 7 RETURNING *)
      INSERT INTO docs SELECT 30, title, body, lang FROM gone", 2, 1),
    ("BEGIN; INSERT INTO docs VALUES (40, 't', 'Never.', 'en'); ROLLBACK", 0, 0),
    ("BEGIN; UPDATE docs SET body = 'First thought.' WHERE id = 5;
      UPDATE docs SET body = 'Second thought.' WHERE id = 5; COMMIT", 1, 1),
    ("DO $$ BEGIN INSERT INTO docs VALUES (41, 't', 'From a function.', 'en'); END $$", 1, 1),
    ("PREPARE p (integer) AS INSERT INTO docs VALUES ($1, 't', 'Prepared.', 'en');
      EXECUTE p (42); DEALLOCATE p", 1, 1),
    ("SET session_replication_role = replica;
      INSERT INTO docs VALUES (43, 't', 'As a replica.', 'en'); RESET session_replication_role", 1, 1),
    ("BEGIN; TRUNCATE docs; INSERT INTO docs VALUES (1, 't', 'After the truncation.', 'en'); COMMIT", 1, 1),
];

#[test]
fn every_change_is_embedded_once() {
    let Some((_cluster, mut client)) = start(&[]) else { return };
    for (change, rows, most_embedded) in CHANGES {
        let before = done(&mut client);
        run(&mut client, change);
        wait(&mut client, "docs");
        let after = done(&mut client);
        assert_eq!(after.0 - before.0, *rows, "rows queued by {change}");
        let embedded = after.1 - before.1;
        assert!(embedded <= *most_embedded, "{embedded} chunks embedded for {change}");
        assert_agree(&mut client, 64);
    }
    run(&mut client, "TRUNCATE docs");
    wait(&mut client, "docs");
    assert_eq!(count(&mut client, "SELECT count(*) FROM docs_rag_chunks"), 0, "after TRUNCATE");
}

#[test]
fn rows_of_a_copy() {
    let Some((_cluster, mut client)) = start(&[]) else { return };
    let mut copy = client.copy_in("COPY docs FROM STDIN").unwrap();
    // More than are kept in memory until the commit.
    for id in 0..12_000 {
        writeln!(
            copy,
            "{id}\t\t{}\ten",
            if id % 100 == 0 { format!("Line {id}.") } else { String::new() }
        )
        .unwrap();
    }
    copy.finish().unwrap();
    wait(&mut client, "docs");
    assert_agree(&mut client, 64);
    assert_eq!(done(&mut client).0, 12_000);
    assert_eq!(count(&mut client, "SELECT count(*) FROM docs_rag_chunks"), 120);
}

#[test]
fn what_is_rolled_back_to_a_savepoint_is_not_embedded() {
    let Some((_cluster, mut client)) = start(&[]) else { return };
    run(
        &mut client,
        "INSERT INTO docs VALUES (1, 't', 'Before.', 'en');
         BEGIN;
         UPDATE docs SET body = 'Kept.' WHERE id = 1;
         SAVEPOINT a;
         UPDATE docs SET body = 'Lost.' WHERE id = 1;
         INSERT INTO docs VALUES (2, 't', 'Lost as well.', 'en');
         SAVEPOINT b;
         INSERT INTO docs SELECT i, 't', 'Many.', 'en' FROM generate_series(1000, 12000) AS i;
         ROLLBACK TO a;
         INSERT INTO docs VALUES (3, 't', 'Kept as well.', 'en');
         SAVEPOINT c;
         INSERT INTO docs VALUES (4, 't', 'Kept with its savepoint.', 'en');
         RELEASE c;
         COMMIT;",
    );
    wait(&mut client, "docs");
    assert_agree(&mut client, 64);
    assert_eq!(count(&mut client, "SELECT count(*) FROM docs_rag_chunks"), 3);
    // The error is caught inside a function.
    run(
        &mut client,
        "DO $$ BEGIN
             INSERT INTO docs VALUES (5, 't', 'Kept by the block.', 'en');
             BEGIN
                 INSERT INTO docs VALUES (6, 't', 'Lost with the error.', 'en');
                 INSERT INTO docs VALUES (1, 't', 'A duplicate.', 'en');
             EXCEPTION WHEN unique_violation THEN NULL;
             END;
         END $$",
    );
    wait(&mut client, "docs");
    assert_agree(&mut client, 64);
    assert_eq!(count(&mut client, "SELECT count(*) FROM docs_rag_chunks"), 4);
}

/// Its content says which columns the row has, and what is in them.
#[test]
fn a_content_of_the_whole_row_follows_each_column() {
    let Some((_cluster, mut client)) = start(&[]) else { return };
    run(
        &mut client,
        "SELECT rag_drop_pipeline('docs');
         INSERT INTO docs VALUES (1, 'A title', 'A body.', 'en');
         CREATE FUNCTION of_row(docs) RETURNS text IMMUTABLE LANGUAGE sql
             BEGIN ATOMIC SELECT $1.title || ' ' || $1.body; END;",
    );
    for content in ["to_jsonb(docs)::text", "docs::text", "concat(public.of_row(docs), docs::text)"]
    {
        let create = "SELECT rag_create_pipeline('docs', $1, refresh => 'sync')::text";
        client.query_one(create, &[&content]).unwrap();
        for column in ["title", "body", "lang", "added"] {
            run(
                &mut client,
                &format!(
                    "ALTER TABLE docs ADD COLUMN IF NOT EXISTS added text;
                     UPDATE docs SET {column} = 'New in ' || '{column}.' WHERE id = 1;"
                ),
            );
            let found = format!(
                "SELECT count(*) FROM docs_rag_chunks WHERE content LIKE '%New in {column}.%'"
            );
            assert_eq!(count(&mut client, &found), 1, "{column} in {content}");
        }
        run(
            &mut client,
            "SELECT rag_drop_pipeline('docs');
             ALTER TABLE docs DROP COLUMN added;
             UPDATE docs SET title = 'A title', body = 'A body.', lang = 'en';",
        );
    }
}

/// A table `docs` without a pipeline, whose one partition `low` takes the numbers below 100.
fn partitioned() -> Option<(Cluster, Client)> {
    let cluster = Cluster::start(&[])?;
    let mut client = cluster.connect();
    run(
        &mut client,
        "CREATE EXTENSION pg_rag CASCADE;
         CREATE TABLE docs (id integer PRIMARY KEY, title text, body text, lang text) PARTITION BY RANGE (id);
         CREATE TABLE low PARTITION OF docs FOR VALUES FROM (0) TO (100);",
    );
    Some((cluster, client))
}

/// A statement embeds keys that were noted before its savepoint too, and may be rolled back.
#[test]
fn a_savepoint_does_not_take_other_rows_with_it() {
    let Some((_cluster, mut client)) = partitioned() else { return };
    run(
        &mut client,
        "SELECT rag_create_pipeline('docs', 'body', metadata => '{lang}', chunking => '{\"max_tokens\": 64}', refresh => 'sync');
         BEGIN;
         INSERT INTO low VALUES (1, 't', 'Straight into a partition.', 'en');
         SAVEPOINT a;
         INSERT INTO docs VALUES (2, 't', 'From above.', 'en');
         ROLLBACK TO a;
         COMMIT;",
    );
    wait(&mut client, "docs");
    assert_agree(&mut client, 64);
    assert_eq!(count(&mut client, "SELECT count(*) FROM docs_rag_chunks"), 1);
}

#[test]
fn prepared_transactions_count_from_their_commit() {
    let Some((_cluster, mut client)) = start(&["max_prepared_transactions = 2"]) else { return };
    run(
        &mut client,
        "BEGIN; INSERT INTO docs VALUES (1, 't', 'Prepared.', 'en'); PREPARE TRANSACTION 'kept';
         BEGIN; INSERT INTO docs VALUES (2, 't', 'Given up.', 'en'); PREPARE TRANSACTION 'lost';",
    );
    wait(&mut client, "docs");
    let chunks = "SELECT count(*) FROM docs_rag_chunks";
    assert_eq!(count(&mut client, chunks), 0, "nothing has been committed");
    run(&mut client, "COMMIT PREPARED 'kept'");
    run(&mut client, "ROLLBACK PREPARED 'lost'");
    wait(&mut client, "docs");
    assert_agree(&mut client, 64);
    assert_eq!(count(&mut client, chunks), 1);
}

#[test]
fn partitions() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    run(
        &mut client,
        "CREATE EXTENSION pg_rag CASCADE;
         CREATE TABLE docs (id integer, title text, body text, lang text, PRIMARY KEY (id)) PARTITION BY RANGE (id);
         CREATE TABLE low PARTITION OF docs FOR VALUES FROM (0) TO (100);
         CREATE TABLE high PARTITION OF docs FOR VALUES FROM (100) TO (200) PARTITION BY RANGE (id);
         CREATE TABLE highest PARTITION OF high FOR VALUES FROM (100) TO (200);
         INSERT INTO docs VALUES (1, 't', 'In the low partition.', 'en'), (101, 't', 'In the high one.', 'en');",
    );
    run(&mut client, PIPELINE);
    let steps = [
        "INSERT INTO low VALUES (2, 't', 'Straight into a partition.', 'en')",
        "INSERT INTO highest VALUES (102, 't', 'Into a partition of a partition.', 'en')",
        "UPDATE docs SET id = 103 WHERE id = 1",
        "UPDATE low SET body = 'Changed in the partition.' WHERE id = 2",
        "DELETE FROM highest WHERE id = 102",
        "CREATE TABLE newest PARTITION OF docs FOR VALUES FROM (200) TO (300);
         INSERT INTO newest VALUES (201, 't', 'In a new partition.', 'en');
         INSERT INTO docs VALUES (202, 't', 'In a new partition, from above.', 'en')",
        "CREATE TABLE other (columns integer, lang text, body text, title text, id integer NOT NULL);
         ALTER TABLE other DROP COLUMN columns;
         ALTER TABLE docs ATTACH PARTITION other FOR VALUES FROM (300) TO (400);
         INSERT INTO docs VALUES (301, 't', 'In a partition with other column numbers.', 'en');
         UPDATE docs SET id = 302 WHERE id = 301",
    ];
    for step in steps {
        run(&mut client, step);
        wait(&mut client, "docs");
        assert_agree(&mut client, 64);
    }
    assert_eq!(count(&mut client, "SELECT count(*) FROM docs_rag_chunks"), 6);
    run(&mut client, "TRUNCATE docs");
    wait(&mut client, "docs");
    assert_eq!(count(&mut client, "SELECT count(*) FROM docs_rag_chunks"), 0);
}

#[test]
fn a_truncated_partition_leaves_no_chunks() {
    let Some((cluster, mut client)) = partitioned() else { return };
    run(
        &mut client,
        "CREATE TABLE high PARTITION OF docs FOR VALUES FROM (100) TO (200);
         INSERT INTO docs VALUES (1, 't', 'In the low partition.', 'en'), (101, 't', 'In the high one.', 'en');",
    );
    run(&mut client, PIPELINE);
    run(&mut client, "TRUNCATE low; INSERT INTO docs VALUES (102, 't', 'One more.', 'en')");
    wait(&mut client, "docs");
    // Whatever is stored, nobody is shown a row that is gone.
    assert_eq!(count(&mut client, "SELECT count(*) FROM docs_rag"), 2);
    assert_agree(&mut client, 64);
    partitions_are_truncated_at_the_same_time(&cluster, &mut client);
}

/// With synchronous refresh the others are read, but not while somebody holds one of them.
fn partitions_are_truncated_at_the_same_time(cluster: &Cluster, client: &mut Client) {
    run(client, "SELECT rag_alter_pipeline('docs', refresh => 'sync')");
    let mut other = cluster.connect();
    // Each holds one partition before the other wants to read it.
    run(client, "BEGIN; LOCK TABLE low");
    run(&mut other, "SET statement_timeout = '60s'");
    run(&mut other, "BEGIN; LOCK TABLE high");
    run(client, "TRUNCATE low");
    run(&mut other, "TRUNCATE high; COMMIT");
    run(client, "COMMIT");
    wait(client, "docs");
    assert_none(client, "SELECT content FROM docs_rag_chunks");
    run(
        client,
        "INSERT INTO docs VALUES (3, 't', 'Low again.', 'en'), (103, 't', 'High again.', 'en')",
    );
    run(client, "BEGIN; TRUNCATE low, high");
    assert_none(client, "SELECT content FROM docs_rag_chunks");
    run(client, "ROLLBACK");
    assert_agree(client, 64);
}

#[test]
fn only_a_dropped_partition_is_looked_for() {
    let Some((cluster, mut client)) = partitioned() else { return };
    run(&mut client, PIPELINE);
    without_workers(&cluster, &mut client);
    run(&mut client, "DELETE FROM rag.intake; CREATE TABLE other (id integer); DROP TABLE other");
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag.intake"), 0);
    run(&mut client, "DROP TABLE low");
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag.intake WHERE kind = 'gone'"), 1);
    run(
        &mut client,
        "DELETE FROM rag.intake;
         CREATE SCHEMA parts;
         CREATE TABLE parts.low PARTITION OF docs FOR VALUES FROM (0) TO (100);
         DROP SCHEMA parts CASCADE;",
    );
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag.intake WHERE kind = 'gone'"), 1);
}

#[test]
fn a_detached_partition_is_a_table_like_any_other() {
    let Some((_cluster, mut client)) = partitioned() else { return };
    run(&mut client, "INSERT INTO docs VALUES (1, 't', 'In the low partition.', 'en')");
    run(&mut client, PIPELINE);
    let chunks = "SELECT count(*) FROM docs_rag_chunks";
    let triggers =
        "SELECT count(*) FROM pg_trigger WHERE tgrelid = 'low'::regclass AND tgname LIKE 'rag%'";
    assert_eq!(count(&mut client, triggers), 4);
    run(&mut client, "ALTER TABLE docs DETACH PARTITION low");
    assert_eq!(count(&mut client, triggers), 0);
    run(
        &mut client,
        "TRUNCATE low; INSERT INTO low VALUES (2, 't', 'In a table of its own.', 'en')",
    );
    wait(&mut client, "docs");
    assert_eq!(count(&mut client, chunks), 0);
    run(&mut client, "ALTER TABLE docs ATTACH PARTITION low FOR VALUES FROM (0) TO (100)");
    assert_eq!(count(&mut client, triggers), 4);
    wait(&mut client, "docs");
    assert_agree(&mut client, 64);
    assert_eq!(count(&mut client, chunks), 1);
    run(&mut client, "TRUNCATE low");
    wait(&mut client, "docs");
    assert_eq!(count(&mut client, chunks), 0);
    // What a trigger says that nobody has dropped is not taken for more than it is.
    run(
        &mut client,
        "CREATE TABLE other (id integer);
         CREATE TRIGGER mine AFTER TRUNCATE ON other EXECUTE FUNCTION rag.capture(1);
         TRUNCATE other;",
    );
}

#[test]
fn changes_that_logical_replication_applies() {
    let Some((subscriber, mut reader)) = start(&[]) else { return };
    let publisher = subscriber.beside(&["wal_level = logical"]);
    let mut writer = publisher.connect();
    run(
        &mut writer,
        "CREATE TABLE docs (id integer PRIMARY KEY, title text, body text, lang text);
         INSERT INTO docs SELECT i, 't', 'Copied row ' || i, 'en' FROM generate_series(1, 20) AS i;
         CREATE PUBLICATION everything FOR ALL TABLES;",
    );
    run(
        &mut reader,
        &format!(
            "CREATE SUBSCRIPTION s CONNECTION 'host={} user=postgres dbname=postgres' PUBLICATION everything",
            publisher.socket()
        ),
    );
    let chunks = "SELECT count(*) FROM docs_rag_chunks";
    let copied = time_until(&mut reader, chunks, 20);
    run(
        &mut writer,
        "INSERT INTO docs VALUES (21, 't', 'Applied.', 'en');
         UPDATE docs SET body = 'Changed far away.' WHERE id = 1;
         UPDATE docs SET id = 200 WHERE id = 2;
         DELETE FROM docs WHERE id = 3;",
    );
    let applied = time_until(
        &mut reader,
        "SELECT count(*) FROM docs_rag_chunks WHERE content IN ('Applied.', 'Changed far away.')
         OR source_id IN (3, 200)",
        3,
    );
    println!(
        "replicated rows are found after {} ms (copied) and {} ms (applied)",
        copied.as_millis(),
        applied.as_millis()
    );
    wait(&mut reader, "docs");
    assert_agree(&mut reader, 64);
    assert_eq!(count(&mut reader, chunks), 20);
    run(&mut writer, "TRUNCATE docs");
    time_until(&mut reader, chunks, 0);
    run(&mut reader, "DROP SUBSCRIPTION s");
}

/// A publisher may have no constraint that the key is not NULL.
#[test]
fn rows_without_a_key_do_not_stop_logical_replication() {
    let Some((subscriber, mut reader)) = start(&[]) else { return };
    run(
        &mut reader,
        "ALTER TABLE docs DROP CONSTRAINT docs_pkey;
         ALTER TABLE docs ALTER COLUMN id DROP NOT NULL;
         CREATE UNIQUE INDEX ON docs (id);",
    );
    let publisher = subscriber.beside(&["wal_level = logical"]);
    let mut writer = publisher.connect();
    run(
        &mut writer,
        "CREATE TABLE docs (id integer UNIQUE, title text, body text, lang text);
         ALTER TABLE docs REPLICA IDENTITY FULL;
         INSERT INTO docs VALUES (NULL, 't', 'Copied without a key.', 'en'), (1, 't', 'Copied.', 'en');
         CREATE PUBLICATION everything FOR ALL TABLES;",
    );
    run(
        &mut reader,
        &format!(
            "CREATE SUBSCRIPTION s CONNECTION 'host={} user=postgres dbname=postgres' PUBLICATION everything",
            publisher.socket()
        ),
    );
    let chunks = "SELECT count(*) FROM docs_rag_chunks";
    time_until(&mut reader, chunks, 1);
    run(
        &mut writer,
        "INSERT INTO docs VALUES (NULL, 't', 'Applied without a key.', 'en'), (2, 't', 'Applied.', 'en');
         UPDATE docs SET id = NULL WHERE id = 1;
         DELETE FROM docs WHERE body = 'Copied without a key.';
         INSERT INTO docs VALUES (3, 't', 'Applied last.', 'en');",
    );
    time_until(&mut reader, "SELECT count(*) FROM docs_rag_chunks WHERE source_id = 3", 1);
    wait(&mut reader, "docs");
    assert_eq!(count(&mut reader, "SELECT count(*) FROM docs"), 4);
    assert_eq!(
        count(&mut reader, "SELECT count(*) FROM docs_rag_chunks WHERE source_id IN (2, 3)"),
        2
    );
    assert_eq!(count(&mut reader, chunks), 2, "the chunk went with its key");
    let listed = "SELECT count(*) FROM rag.dead_letter WHERE key = '{NULL}' AND sqlstate = '22004'";
    assert_eq!(count(&mut reader, listed), 1);
    let log = subscriber.log();
    assert!(log.contains("WARNING:  column \"id\" of public.docs is NULL"), "{log}");
    run(&mut writer, "DELETE FROM docs WHERE id IS NULL");
    time_until(&mut reader, "SELECT count(*) FROM rag.dead_letter", 0);
    run(&mut reader, "DROP SUBSCRIPTION s");
}
