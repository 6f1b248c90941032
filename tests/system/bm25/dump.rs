//! An index of texts that is dumped and restored.

use super::*;

#[test]
fn a_dump_brings_the_index_of_texts_back() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut before = cluster.connect();
    let others = "
        CREATE INDEX docs_expression ON docs USING rag_bm25 (to_tsvector('english', body))
            WHERE id % 2 = 0;
        CREATE VIEW found AS SELECT id, tsv <@> rag_bm25_query('docs_tsv', 'w5') AS score FROM docs;";
    before.batch_execute(&format!("{TEXTS} {INDEX} {others}")).unwrap();
    insert(&mut before, 1, 2000).unwrap();
    before.batch_execute("CREATE DATABASE restored").unwrap();
    let dump = cluster.run("pg_dump", &["-h", &cluster.socket(), "-U", "postgres", "postgres"]);
    cluster.psql("restored", &dump);
    let mut after = cluster.connect_to("restored");
    assert_eq!(definitions(&mut after), definitions(&mut before));
    assert_sound(&mut after, "docs_expression", "after the restore");
    assert_eq!(assert_exact(&mut after, "after the restore"), 2000);
    assert_alike(&by_table(&mut after, BEST), &by_table(&mut before, BEST), "after the restore");
    assert_eq!(count(&mut after, "SELECT count(*) FROM found WHERE score < 0"), {
        count(&mut before, "SELECT count(*) FROM docs WHERE tsv @@ 'w5'")
    });
    insert(&mut after, 2001, 2100).unwrap();
    assert_eq!(assert_exact(&mut after, "after the restore and more texts"), 2100);
}

/// The indexes as statements.
fn definitions(client: &mut Client) -> Vec<String> {
    let indexes = "SELECT indexdef FROM pg_indexes WHERE tablename = 'docs' ORDER BY indexname";
    client.query(indexes, &[]).unwrap().iter().map(|row| row.get(0)).collect()
}
