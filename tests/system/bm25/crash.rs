//! A server that crashes at any moment: what is left is sound, and nothing committed is lost.

use super::*;
use crate::at_work::{Crashing, crash_again_and_again};

#[test]
fn a_crash_loses_no_text() {
    let settings = ["autovacuum = off", "checkpoint_timeout = 30s", "max_wal_size = 128MB"];
    let Some(mut cluster) = Cluster::start(&settings) else { return };
    let mut client = cluster.connect();
    client.batch_execute(&format!("{TEXTS} {INDEX} {UNLOGGED}")).unwrap();
    insert(&mut client, 1, 500).unwrap();
    drop(client);
    let work = Crashing { unused: "SELECT 2 * (max(id) / 2 + 1) FROM docs", change: change_once };
    crash_again_and_again(&mut cluster, &work, assert_recovered);
}

/// A table that a crash empties.
const UNLOGGED: &str = "
    CREATE UNLOGGED TABLE fleeting (id bigint, tsv tsvector);
    CREATE INDEX fleeting_tsv ON fleeting USING rag_bm25 (tsv);";

/// One change: mostly of rows, now and then VACUUM, which also brings in what waits, and in the
/// session with odd numbers a build. A session deletes only rows with numbers like its own.
fn change_once(client: &mut Client, turn: i64, next: &mut i64) -> Result<(), Error> {
    let (session, rows) = (*next % 2, [1, 17, 140][turn as usize % 3]);
    let insert =
        "INSERT INTO docs SELECT i, prose(i) FROM generate_series($1::bigint, $2::bigint, 2) AS i";
    let delete = "DELETE FROM docs WHERE id IN
        (SELECT id FROM docs WHERE id % 2 = $1 ORDER BY hashint8(id + $2) LIMIT $3)";
    match (turn % 12, session) {
        (0..=5, _) => {
            client.execute(insert, &[&*next, &(*next + 2 * (rows - 1))])?;
            *next += 2 * rows;
        }
        (6..=8, _) => {
            let surplus = count_rows(client, session)? - KEPT;
            client.execute(delete, &[&session, &turn, &surplus.max(rows)])?;
        }
        (9, _) => client.batch_execute("VACUUM docs")?,
        (10, 1) => client.batch_execute("REINDEX INDEX CONCURRENTLY docs_tsv")?,
        (11, 1) => client.batch_execute("REINDEX INDEX docs_tsv")?,
        _ => client.batch_execute("INSERT INTO fleeting SELECT id, tsv FROM docs LIMIT 5")?,
    }
    Ok(())
}

/// Rows of a session beyond which it deletes more than it inserts.
const KEPT: i64 = 1500;

fn count_rows(client: &mut Client, session: i64) -> Result<i64, Error> {
    let rows = "SELECT count(*) FROM docs WHERE id % 2 = $1";
    Ok(client.query_one(rows, &[&session])?.get(0))
}

/// All indexes are sound, each text is found, and the work can go on. The number of texts.
fn assert_recovered(client: &mut Client, when: &str) -> i64 {
    // What REINDEX CONCURRENTLY left behind.
    let invalid = "SELECT i.indexrelid::regclass::text FROM pg_index AS i
        JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_am AS a ON a.oid = c.relam
        WHERE a.amname = 'rag_bm25' AND NOT i.indisvalid";
    for row in client.query(invalid, &[]).unwrap() {
        let index: String = row.get(0);
        client.batch_execute(&format!("DROP INDEX {index}")).unwrap();
    }
    assert_eq!(count(client, "SELECT count(*) FROM fleeting"), 0, "unlogged rows {when}");
    let fleeting = "INSERT INTO fleeting SELECT id, to_tsvector('simple', q::text) FROM questions";
    client.batch_execute(fleeting).unwrap();
    assert_sound(client, "fleeting_tsv", when);
    let rows = assert_exact(client, when);
    client.batch_execute("VACUUM docs").unwrap();
    assert_exact(client, &format!("{when} and VACUUM"));
    rows
}
