//! Scores beside writers: what is shown is what the rows are ordered by.

use super::Cluster;

/// Ten texts of different lengths that all have the word.
const TEXTS: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE TABLE notes (
        id   bigint PRIMARY KEY,
        tsv  tsvector NOT NULL
    );
    INSERT INTO notes
        SELECT n, to_tsvector('simple', 'apple' || repeat(' pear', n::int)) FROM generate_series(1, 10) AS n;
    CREATE INDEX notes_tsv ON notes USING rag_bm25 (tsv);";

/// The scan looks at the first row, the operator not before the second.
const LATE: &str = "
    SELECT id, CASE WHEN id > 1 THEN tsv <@> rag_bm25_query('notes_tsv', 'apple') END FROM notes
    ORDER BY tsv <@> rag_bm25_query('notes_tsv', 'apple')";

/// What makes the word common, and the texts long.
const MANY: &str = "
    INSERT INTO notes
        SELECT n, to_tsvector('simple', 'apple' || repeat(' plum', 50)) FROM generate_series(11, 500) AS n";

#[test]
fn scores_are_those_of_the_scan_whatever_is_written_meanwhile() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(TEXTS).unwrap();
    client.batch_execute("SET enable_seqscan = off; SET enable_sort = off").unwrap();
    let plan = client.query(&format!("EXPLAIN {LATE}"), &[]).unwrap();
    assert!(plan.iter().any(|row| row.get::<_, &str>(0).contains("notes_tsv")), "{plan:?}");
    let row = |row: &postgres::Row| (row.get::<_, i64>(0), row.get::<_, Option<f64>>(1));
    let before: Vec<_> = client.query(LATE, &[]).unwrap().iter().map(row).collect();
    assert_eq!(before.len(), 10);

    let mut writer = cluster.connect();
    let mut transaction = client.transaction().unwrap();
    transaction.batch_execute(&format!("DECLARE c CURSOR FOR {LATE}")).unwrap();
    let mut found: Vec<_> =
        transaction.query("FETCH 1 FROM c", &[]).unwrap().iter().map(row).collect();
    writer.batch_execute(MANY).unwrap();
    found.extend(transaction.query("FETCH ALL FROM c", &[]).unwrap().iter().map(row));
    found.retain(|(id, _)| *id <= 10);
    assert_eq!(found, before);
    transaction.commit().unwrap();

    // A new statement sees what was written.
    let after: Vec<_> = client.query(LATE, &[]).unwrap().iter().map(row).collect();
    assert_eq!(after.len(), 500);
    let score =
        |rows: &[(i64, Option<f64>)]| rows.iter().find(|(id, _)| *id == 2).and_then(|it| it.1);
    assert_ne!(score(&after), score(&before));
}
