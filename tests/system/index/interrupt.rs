//! Builds, scans, inserts and VACUUMs that are cancelled.

use super::*;
use crate::at_work::{RUNNING, Slow, assert_soon, cancelled};

/// Rows of the table whose build, scan and VACUUM take long enough to be interrupted.
const MANY: i64 = 30_000;

#[test]
fn slow_work_on_an_index_is_interrupted() {
    let Some(cluster) = Cluster::start(&["autovacuum = off", "max_wal_size = 4GB"]) else { return };
    let mut client = cluster.connect();
    // Without the primary key, so that VACUUM's only index is the one in question.
    let bare = "ALTER TABLE items DROP CONSTRAINT items_pkey;";
    client.batch_execute(&format!("{VECTORS} {bare}")).unwrap();
    insert(&mut client, 1, MANY).unwrap();
    for memory in ["64MB", "1MB"] {
        let build = format!("{} WITH (m = 32, ef_construction = 400)", INDEX.trim_end_matches(';'));
        client.batch_execute(&format!("SET maintenance_work_mem = '{memory}'")).unwrap();
        interrupt(&cluster, &mut client, &format!("build in {memory}"), (&build, BUILDING));
        let left = "SELECT count(*) FROM pg_class WHERE relname LIKE 'items\\_v%'";
        assert_eq!(count(&mut client, left), 0, "a cancelled build left something");
    }
    client.batch_execute("SET maintenance_work_mem = '256MB'").unwrap();
    client.batch_execute(INDEX).unwrap();
    interrupt_scan(&cluster, &mut client);
    interrupt_insert(&cluster, &mut client);
    interrupt_vacuum(&cluster, &mut client);
    assert!(recall(&mut client) >= RECALL, "recall in the end");
}

/// A build or a VACUUM is at work.
const BUILDING: &str =
    "SELECT count(*) FROM pg_stat_progress_create_index WHERE relid = 'items'::regclass";
const VACUUMING: &str = "SELECT count(*) FROM pg_stat_progress_vacuum
    WHERE relid = 'items'::regclass AND phase = 'vacuuming indexes'";

/// Cancels a statement half a second after it has begun, which it must survive, and asserts
/// that this takes effect at once.
fn interrupt(cluster: &Cluster, client: &mut Client, what: &str, slow: (&str, &'static str)) {
    let (statement, begun) = slow;
    assert_soon(what, cancelled(cluster, client, &Slow { statement, begun, later: 500 }));
}

fn interrupt_scan(cluster: &Cluster, client: &mut Client) {
    client.batch_execute(BY_INDEX).unwrap();
    // Each scan gives all rows, nearest first: the cancel comes in the middle of one.
    let scans =
        "/* slow */ SELECT count(n.id) FROM questions AS q CROSS JOIN generate_series(1, 100)
        CROSS JOIN LATERAL (SELECT i.id FROM items AS i ORDER BY i.v <-> q.v OFFSET 100) AS n";
    assert_plan(client, scans);
    interrupt(cluster, client, "scan", (scans, RUNNING));
    client.batch_execute(BY_CHOICE).unwrap();
}

fn interrupt_insert(cluster: &Cluster, client: &mut Client) {
    // Vectors that are there already, so that the time goes into the index.
    let rows = "/* slow */ INSERT INTO items SELECT -id, v FROM items, generate_series(1, 100)";
    for later in 0..8 {
        // Each time at another point of an insert.
        let insert = Slow { statement: rows, begun: RUNNING, later: 60 * later };
        assert_soon("insert", cancelled(cluster, client, &insert));
        let rows = count(client, "SELECT count(*) FROM items");
        assert_eq!(rows, MANY, "rows of a cancelled insert");
        assert_sound(client, "items_v", "after a cancelled insert");
    }
    client.batch_execute("VACUUM items").unwrap();
    assert_sound(client, "items_v", "after a cancelled insert and VACUUM");
}

fn interrupt_vacuum(cluster: &Cluster, client: &mut Client) {
    let mut times = 0;
    for (attempt, later) in [100, 30, 0].into_iter().enumerate() {
        let portion = format!("DELETE FROM items WHERE hashint8(id + {attempt}) % 3 = 0");
        client.batch_execute(&portion).unwrap();
        let vacuum = Slow { statement: "VACUUM items", begun: VACUUMING, later };
        match cancelled(cluster, client, &vacuum) {
            Some(took) => {
                times += 1;
                assert_soon("VACUUM", Some(took));
            }
            None => println!("VACUUM had ended before it was cancelled"),
        }
        assert_sound(client, "items_v", "after a cancelled VACUUM");
    }
    assert!(times > 0, "no VACUUM was cancelled");
    client.batch_execute("VACUUM items").unwrap();
    assert_sound(client, "items_v", "after the last VACUUM");
}
