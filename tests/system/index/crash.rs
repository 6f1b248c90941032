//! A server that crashes at any moment: what is left is sound, and nothing committed is lost.

use super::*;
use crate::at_work::{Crashing, crash_again_and_again};

#[test]
fn a_crash_loses_nothing() {
    let settings = ["autovacuum = off", "checkpoint_timeout = 30s", "max_wal_size = 128MB"];
    let Some(mut cluster) = Cluster::start(&settings) else { return };
    let mut client = cluster.connect();
    client.batch_execute(&format!("{VECTORS} {INDEX} {UNLOGGED}")).unwrap();
    insert(&mut client, 1, 500).unwrap();
    drop(client);
    let work = Crashing { unused: "SELECT 2 * (max(id) / 2 + 1) FROM items", change: change_once };
    crash_again_and_again(&mut cluster, &work, assert_recovered);
}

/// A table that a crash empties.
const UNLOGGED: &str = "
    CREATE UNLOGGED TABLE fleeting (id bigint, v vector(64));
    CREATE INDEX fleeting_v ON fleeting USING rag_hnsw (v vector_l2_ops);";

/// One change: mostly of rows, now and then VACUUM, and in the session with odd numbers a
/// build. A session deletes only rows with numbers like its own.
fn change_once(client: &mut Client, turn: i64, next: &mut i64) -> Result<(), Error> {
    let (session, rows) = (*next % 2, [1, 7, 40][turn as usize % 3]);
    let insert = "INSERT INTO items SELECT i, embedding(i) FROM generate_series($1::bigint, $2::bigint, 2) AS i";
    let delete = "DELETE FROM items WHERE id IN
        (SELECT id FROM items WHERE id % 2 = $1 ORDER BY hashint8(id + $2) LIMIT $3)";
    match (turn % 12, session) {
        (0..=5, _) => {
            client.execute(insert, &[&*next, &(*next + 2 * (rows - 1))])?;
            *next += 2 * rows;
        }
        (6..=8, _) => {
            let surplus = count_rows(client, session)? - KEPT;
            client.execute(delete, &[&session, &turn, &surplus.max(rows)])?;
        }
        (9, _) => client.batch_execute("VACUUM items")?,
        (10, 1) => client.batch_execute("REINDEX INDEX CONCURRENTLY items_v")?,
        (11, 1) => client.batch_execute(BUILDS[turn as usize / 12 % BUILDS.len()])?,
        _ => client.batch_execute("INSERT INTO fleeting SELECT id, v FROM items LIMIT 5")?,
    }
    Ok(())
}

/// Rows of a session beyond which it deletes more than it inserts.
const KEPT: i64 = 600;

/// Builds, mostly of an index beside the one that is asked.
const BUILDS: [&str; 4] = [
    "CREATE INDEX items_v2 ON items USING rag_hnsw (v vector_cosine_ops)",
    "REINDEX INDEX items_v2",
    "DROP INDEX items_v2",
    "REINDEX INDEX items_v",
];

fn count_rows(client: &mut Client, session: i64) -> Result<i64, Error> {
    let rows = "SELECT count(*) FROM items WHERE id % 2 = $1";
    Ok(client.query_one(rows, &[&session])?.get(0))
}

/// All indexes are sound, each row is found, and the work can go on. The number of rows.
fn assert_recovered(client: &mut Client, when: &str) -> i64 {
    let indexes = "SELECT i.indexrelid::regclass::text, i.indisready, i.indisvalid
        FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
        JOIN pg_am AS a ON a.oid = c.relam WHERE a.amname = 'rag_hnsw' ORDER BY 1";
    let mut valid_indexes = Vec::new();
    for row in client.query(indexes, &[]).unwrap() {
        let (index, ready, valid): (String, bool, bool) = (row.get(0), row.get(1), row.get(2));
        // REINDEX CONCURRENTLY leaves an empty file behind if it has not begun to build.
        if ready {
            assert_sound_but_for(&HALF_INSERTED, client, &index, when);
        }
        // What a build left behind, or what the next turns would build again.
        if !valid || index == "items_v2" {
            client.batch_execute(&format!("DROP INDEX {index}")).unwrap();
        } else {
            valid_indexes.push(index);
        }
    }
    assert_eq!(valid_indexes, ["fleeting_v", "items_v"], "{when}");
    assert_eq!(count(client, "SELECT count(*) FROM fleeting"), 0, "unlogged rows {when}");
    client.batch_execute("INSERT INTO fleeting SELECT id, v FROM questions LIMIT 20").unwrap();
    assert_sound(client, "fleeting_v", when);
    let rows = assert_all_found(client, when);
    client.batch_execute("VACUUM (INDEX_CLEANUP on) items").unwrap();
    assert_sound(client, "items_v", &format!("{when} and VACUUM"));
    rows
}
