//! Who may ask an index of texts.

use super::*;
use crate::documents::assert_fails;

#[test]
fn an_index_of_texts_answers_who_may_read_the_table() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(&format!("{TEXTS} {INDEX}")).unwrap();
    insert(&mut client, 1, 500).unwrap();
    client
        .batch_execute(
            "CREATE ROLE stranger; CREATE ROLE reader; GRANT SELECT ON docs, questions TO reader",
        )
        .unwrap();
    client.batch_execute("SET ROLE stranger").unwrap();
    let score = "SELECT to_tsvector('simple', 'w1 w2') <@> rag_bm25_query('docs_tsv', 'w1')";
    let denied = ["42501", "permission denied for the table of index \"docs_tsv\""];
    assert_fails(&mut client, score, &denied);
    assert_fails(&mut client, "SELECT * FROM rag_bm25_stats('docs_tsv')", &denied);
    assert_fails(&mut client, "SELECT * FROM rag_bm25_check('docs_tsv')", &denied);
    client.batch_execute("SET ROLE reader").unwrap();
    assert_exact_as_reader(&mut client);
}

/// A policy hides rows, whichever way they are found.
fn assert_exact_as_reader(client: &mut Client) {
    let before = by_index(client, ALL).len();
    client
        .batch_execute(
            "RESET ROLE; ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
        CREATE POLICY even ON docs USING (id % 2 = 0); SET ROLE reader",
        )
        .unwrap();
    let (found, expected) = (as_reader(client, BY_INDEX), as_reader(client, BY_TABLE));
    assert_eq!(found, expected);
    assert!(!found.is_empty() && found.len() < before, "{} of {before} texts", found.len());
    assert!(found.iter().all(|id| id % 2 == 0), "hidden texts were found");
}

/// The texts found with these settings. RESET ALL keeps the role.
fn as_reader(client: &mut Client, settings: &str) -> Vec<i64> {
    client.batch_execute(settings).unwrap();
    let mut ids: Vec<i64> = ranked(client, ALL).iter().map(|row| row.1).collect();
    client.batch_execute(BY_CHOICE).unwrap();
    ids.sort_unstable();
    ids
}
