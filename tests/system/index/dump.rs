//! An index that is dumped and restored.

use super::*;

#[test]
fn a_dump_brings_the_index_back() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut before = cluster.connect();
    let options = "
        CREATE INDEX items_v ON items USING rag_hnsw (v vector_l2_ops)
            WITH (m = 24, ef_construction = 96, storage = float16);
        CREATE INDEX items_half ON items
            USING rag_hnsw ((v::halfvec(64)) halfvec_cosine_ops) WHERE id % 2 = 0;";
    before.batch_execute(&format!("{VECTORS} {options}")).unwrap();
    insert(&mut before, 1, 2000).unwrap();
    before.batch_execute("CREATE DATABASE restored").unwrap();
    let dump = cluster.run("pg_dump", &["-h", &cluster.socket(), "-U", "postgres", "postgres"]);
    cluster.psql("restored", &dump);
    let mut after = cluster.connect_to("restored");
    assert_eq!(definitions(&mut after), definitions(&mut before));
    assert_sound(&mut after, "items_v", "after the restore");
    assert_sound(&mut after, "items_half", "after the restore");
    let share = recall(&mut after);
    println!("restored: recall {share:.4}");
    assert!(share >= RECALL, "recall {share}");
    insert(&mut after, 2001, 2100).unwrap();
    assert_eq!(assert_all_found(&mut after, "after the restore"), 2100);
    assert_sound(&mut after, "items_v", "after the restore and more rows");
}

/// The indexes as statements.
fn definitions(client: &mut Client) -> Vec<String> {
    let indexes = "SELECT indexdef FROM pg_indexes WHERE tablename = 'items' ORDER BY indexname";
    client.query(indexes, &[]).unwrap().iter().map(|row| row.get(0)).collect()
}
