//! What inserts and scans hold, and that they hold it no longer than they need it: others wait for it.

use std::thread;

use super::*;
use crate::cluster::wait_for;

/// Vectors of 8 kB, which lie in TOAST as they are.
const WIDE: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE TABLE wide (id bigint, v vector(2000));
    ALTER TABLE wide ALTER v SET STORAGE external;
    INSERT INTO wide SELECT i, (SELECT array_agg(sin(i * d) ORDER BY d) FROM generate_series(1, 2000) AS d)::vector
    FROM generate_series(1, 3) AS i;
    CREATE INDEX wide_v ON wide USING rag_hnsw (v vector_l2_ops);
    CREATE INDEX wide_id ON wide (id);";

/// The index of the table's TOAST.
const TOAST_INDEX: &str = "
    SELECT i.indexrelid::regclass::text FROM pg_index AS i
    JOIN pg_class AS c ON c.reltoastrelid = i.indrelid WHERE c.oid = 'wide'::regclass";

#[test]
fn an_insert_locks_the_index_after_it_has_its_vector() {
    let Some(cluster) = Cluster::start(&["autovacuum = off"]) else { return };
    let (mut client, mut holder, mut writer) =
        (cluster.connect(), cluster.connect(), cluster.connect());
    client.batch_execute(WIDE).unwrap();
    let index: String = client.query_one(TOAST_INDEX, &[]).unwrap().get(0);
    let process = count(&mut writer, "SELECT pg_backend_pid()::bigint");
    let mut holding = holder.transaction().unwrap();
    holding.batch_execute(&format!("REINDEX INDEX {index}")).unwrap();
    // The vector stays where it is, and the new version of the row gets a place in each index.
    let write = "UPDATE wide SET id = id + 10 WHERE id = 1";
    let written = thread::spawn(move || writer.execute(write, &[]));
    let waits = format!("SELECT count(*) FROM pg_locks WHERE pid = {process} AND NOT granted");
    assert!(wait_for(|| count(&mut client, &waits) == 1), "the vector was had at once");
    let held = format!("SELECT count(*) FROM pg_locks WHERE pid = {process} AND locktype = 'page'");
    assert_eq!(count(&mut client, &held), 0, "VACUUM would wait");
    holding.commit().unwrap();
    assert_eq!(written.join().expect("a session").unwrap(), 1);
    assert_sound(&mut client, "wide_v", "after the update");
}

#[test]
fn a_scan_at_its_end_holds_no_page_of_the_table() {
    let Some(cluster) = Cluster::start(&["autovacuum = off"]) else { return };
    let (mut client, mut reader) = (cluster.connect(), cluster.connect());
    client.batch_execute(&format!("{VECTORS} {INDEX}")).unwrap();
    insert(&mut client, 1, 100).unwrap();
    reader.batch_execute(BY_INDEX).unwrap();
    let query = "SELECT id FROM items ORDER BY v <-> (SELECT v FROM questions WHERE id = 1)";
    assert_plan(&mut reader, query);
    let mut reading = reader.transaction().unwrap();
    reading.batch_execute(&format!("DECLARE nearest CURSOR FOR {query}")).unwrap();
    assert_eq!(reading.query("FETCH ALL FROM nearest", &[]).unwrap().len(), 100);
    // It waits until nobody else uses a page that has rows to be frozen.
    client.batch_execute("SET statement_timeout = '20s'").unwrap();
    client.batch_execute("VACUUM (FREEZE) items").unwrap_or_else(|error| {
        panic!("{}", describe(&error));
    });
    reading.commit().unwrap();
}
