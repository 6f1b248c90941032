//! Rows that a cursor fetches from the index without an order, in several pieces, while another session inserts,
//! updates, deletes and vacuums. They come as they are in the table.

use postgres::{IsolationLevel, Transaction};

use super::*;

/// Texts at first. Most have one of the commonest words, and of these an index scan reads 1,024 at once.
const MANY: i64 = 8000;

/// The conditions of cursors: words that are looked up, and one for which all rows are.
const CONDITIONS: [&str; 2] = ["w1 | w2 | w3 | w4", "!w2999"];

#[test]
fn a_cursor_gives_each_row_once_whatever_is_written_meanwhile() {
    let Some(cluster) = Cluster::start(&["autovacuum = off"]) else { return };
    let (mut client, mut writer) = (cluster.connect(), cluster.connect());
    client.batch_execute(&format!("{TEXTS} {INDEX}")).unwrap();
    insert(&mut client, 1, MANY).unwrap();
    let mut rounds = 0;
    for (number, condition) in (0i64..).zip(CONDITIONS) {
        // VACUUM may remove these while the cursor is open, and others get their places.
        let delete = "DELETE FROM docs WHERE hashint8(id + $1) % 4 = 0";
        client.execute(delete, &[&number]).unwrap();
        let isolated = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead);
        let mut transaction = isolated.start().unwrap();
        let query = format!("SELECT id FROM docs WHERE tsv @@ '{condition}'");
        plan_by(&mut transaction, BY_TABLE);
        let expected = ids(&mut transaction, &format!("{query} ORDER BY ctid"));
        plan_by(&mut transaction, &format!("SET enable_indexscan = on; {BY_INDEX}"));
        assert_plain_scan(&mut transaction, &query);
        transaction.batch_execute(&format!("DECLARE texts CURSOR FOR {query}")).unwrap();
        let mut found = Vec::new();
        loop {
            let fetched = ids(&mut transaction, "FETCH 700 FROM texts");
            if fetched.is_empty() {
                break;
            }
            found.extend(fetched);
            rounds += 1;
            write_round(&mut writer, rounds).unwrap_or_else(|error| panic!("{}", describe(&error)));
        }
        transaction.commit().unwrap();
        assert!(found.len() > 3 * 1024, "{condition}: {} rows", found.len());
        assert_eq!(found, expected, "{condition}");
        assert_exact(&mut client, "after a cursor");
    }
}

/// Applies settings of the planner until the end of the transaction.
fn plan_by(transaction: &mut Transaction<'_>, settings: &str) {
    transaction.batch_execute(&settings.replace("SET ", "SET LOCAL ")).unwrap();
}

fn ids(transaction: &mut Transaction<'_>, statement: &str) -> Vec<i64> {
    let rows = transaction.query(statement, &[]);
    let rows = rows.unwrap_or_else(|error| panic!("{statement}: {}", describe(&error)));
    rows.iter().map(|row| row.get(0)).collect()
}

/// Asserts that rows come from the index one after the other, and not in order of their scores.
fn assert_plain_scan(transaction: &mut Transaction<'_>, query: &str) {
    let rows = transaction.query(&format!("EXPLAIN (COSTS OFF) {query}"), &[]).unwrap();
    let lines: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    let plan = lines.join("\n");
    assert!(plan.starts_with("Index Scan using docs_tsv") && !plan.contains("Order By:"), "{plan}");
}

/// Changes rows before and after those that the cursor has fetched, and has segments made, merged and rewritten.
fn write_round(writer: &mut Client, round: i64) -> Result<(), Error> {
    insert(writer, MANY + round * 1000, MANY + round * 1000 + 500)?;
    // Another text each time: where it stays the same, the index keeps the place of the first version (HOT), which is not that of
    // the row.
    let update = "UPDATE docs SET body = prose(id + $1) WHERE hashint8(id + $1) % 17 = 0";
    writer.execute(update, &[&round])?;
    writer.execute("DELETE FROM docs WHERE hashint8(id - $1) % 31 = 0", &[&round])?;
    // What nobody has ever seen is removed at once, whatever snapshots there are, and its places are used again.
    let undone = "INSERT INTO docs SELECT -i, prose(i) FROM generate_series(1, 300) AS i";
    writer.batch_execute(&format!("BEGIN; {undone}; ROLLBACK"))?;
    writer.batch_execute("VACUUM (INDEX_CLEANUP on, TRUNCATE off) docs")
}
