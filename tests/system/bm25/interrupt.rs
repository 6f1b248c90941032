//! Builds, scans, inserts and VACUUMs that are cancelled.

use super::*;
use crate::at_work::{RUNNING, Slow, assert_soon, cancelled};

/// Texts of the table whose build takes long enough to be interrupted.
const MANY: i64 = 40_000;

#[test]
fn slow_work_on_an_index_of_texts_is_interrupted() {
    let Some(cluster) = Cluster::start(&["autovacuum = off", "max_wal_size = 4GB"]) else { return };
    let mut client = cluster.connect();
    // Without the primary key, so that VACUUM's only index is the one in question.
    let bare = "ALTER TABLE docs DROP CONSTRAINT docs_pkey;";
    client.batch_execute(&format!("{TEXTS} {bare}")).unwrap();
    insert(&mut client, 1, MANY).unwrap();
    for memory in ["64MB", "1MB"] {
        client.batch_execute(&format!("SET maintenance_work_mem = '{memory}'")).unwrap();
        interrupt_build(&cluster, &mut client, &format!("build of texts in {memory}"));
        let left = "SELECT count(*) FROM pg_class WHERE relname LIKE 'docs\\_tsv%'";
        assert_eq!(count(&mut client, left), 0, "a cancelled build left something");
    }
    client.batch_execute("SET maintenance_work_mem = '64MB'").unwrap();
    client.batch_execute(INDEX).unwrap();
    interrupt_scan(&cluster, &mut client);
    interrupt_insert(&cluster, &mut client);
    interrupt_vacuum(&cluster, &mut client);
}

/// A build or a VACUUM is at work.
const BUILDING: &str =
    "SELECT count(*) FROM pg_stat_progress_create_index WHERE relid = 'docs'::regclass";
const VACUUMING: &str = "SELECT count(*) FROM pg_stat_progress_vacuum
    WHERE relid = 'docs'::regclass AND phase = 'vacuuming indexes'";

/// Cancels a build as late as the machine's speed allows.
fn interrupt_build(cluster: &Cluster, client: &mut Client, what: &str) {
    let took = [200, 100, 30, 0].into_iter().find_map(|later| {
        let build = Slow { statement: INDEX, begun: BUILDING, later };
        let took = cancelled(cluster, client, &build);
        if took.is_none() {
            client.batch_execute("DROP INDEX docs_tsv").unwrap();
        }
        took
    });
    assert_soon(what, took);
}

fn interrupt_scan(cluster: &Cluster, client: &mut Client) {
    client.batch_execute(BY_INDEX).unwrap();
    // Each scan gives all texts with a common word: the cancel comes in the middle of one.
    let scans =
        "/* slow */ SELECT count(n.id) FROM questions AS q CROSS JOIN generate_series(1, 100)
        CROSS JOIN LATERAL (SELECT d.id FROM docs AS d WHERE d.tsv @@ q.q
            ORDER BY d.tsv <@> rag_bm25_query('docs_tsv', q.q) OFFSET 100) AS n";
    assert_plan(client, scans);
    let slow = Slow { statement: scans, begun: RUNNING, later: 300 };
    assert_soon("scan of texts", cancelled(cluster, client, &slow));
    client.batch_execute(BY_CHOICE).unwrap();
}

fn interrupt_insert(cluster: &Cluster, client: &mut Client) {
    let rows = "/* slow */ INSERT INTO docs (id, body) SELECT -id, body FROM docs, generate_series(1, 100)";
    let slow = Slow { statement: rows, begun: RUNNING, later: 1500 };
    assert_soon("insert of texts", cancelled(cluster, client, &slow));
    let rows = count(client, "SELECT count(*) FROM docs");
    assert_eq!(rows, MANY, "rows of a cancelled insert");
    assert_exact(client, "after a cancelled insert");
    client.batch_execute("VACUUM docs").unwrap();
    assert_exact(client, "after a cancelled insert and VACUUM");
}

fn interrupt_vacuum(cluster: &Cluster, client: &mut Client) {
    for (attempt, later) in [50, 10, 0].into_iter().enumerate() {
        let portion = format!("DELETE FROM docs WHERE hashint8(id + {attempt}) % 3 = 0");
        client.batch_execute(&portion).unwrap();
        let vacuum = Slow { statement: "VACUUM docs", begun: VACUUMING, later };
        match cancelled(cluster, client, &vacuum) {
            Some(took) => assert_soon("VACUUM of texts", Some(took)),
            None => println!("VACUUM of texts had ended before it was cancelled"),
        }
        assert_exact(client, "after a cancelled VACUUM");
    }
    client.batch_execute("VACUUM docs").unwrap();
    assert_exact(client, "after the last VACUUM");
}
