//! A standby that is asked while the primary writes.

use super::*;
use crate::at_work::{PRIMARY, assert_replayed, read_meanwhile};

#[test]
fn a_standby_ranks_as_the_primary_does() {
    let Some(primary) = Cluster::start(&PRIMARY) else { return };
    let mut writer = primary.connect();
    let fleeting = "CREATE UNLOGGED TABLE fleeting (tsv tsvector);
        CREATE INDEX fleeting_tsv ON fleeting USING rag_bm25 (tsv);";
    writer.batch_execute(&format!("{TEXTS} {INDEX} {fleeting}")).unwrap();
    insert(&mut writer, 1, 2000).unwrap();
    let standby = primary.standby();
    let reads = read_meanwhile(&standby, read, || {
        (1..=5).for_each(|round| write_round(&mut writer, round));
    });
    let mut reader = standby.connect();
    assert_replayed(&mut writer, &mut reader);
    assert_exact(&mut writer, "on the primary");
    assert_exact(&mut reader, "on the standby");
    let (one, other) = (by_index(&mut writer, BEST), by_index(&mut reader, BEST));
    assert_alike(&other, &one, "on the standby");
    crate::documents::assert_fails(
        &mut reader,
        "SELECT ''::tsvector <@> rag_bm25_query('fleeting_tsv', 'w1')",
        &["0A000", "is unlogged and can't be read during recovery"],
    );
    println!("standby: {reads} reads of 60 questions while the primary wrote");
}

/// Asks a standby once. Any error is a defect.
fn read(client: &mut Client) {
    client.batch_execute(BY_INDEX).unwrap();
    assert_plan(client, BEST);
    assert_eq!(ranked(client, BEST).len(), 600, "rows found by the standby");
}

/// Inserts row by row, deletes, vacuums, fills the gaps, and once builds anew.
fn write_round(client: &mut Client, round: i64) {
    for id in 0..100 {
        insert(client, round * 10_000 + id, round * 10_000 + id).unwrap();
    }
    insert(client, round * 10_000 + 100, round * 10_000 + 700).unwrap();
    client.execute("DELETE FROM docs WHERE hashint8(id + $1) % 3 = 0", &[&round]).unwrap();
    client.batch_execute("VACUUM docs").unwrap();
    insert(client, round * 10_000 + 1000, round * 10_000 + 1300).unwrap();
    if round == 3 {
        client.batch_execute("REINDEX INDEX CONCURRENTLY docs_tsv").unwrap();
    }
}
