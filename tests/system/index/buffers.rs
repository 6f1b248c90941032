//! VACUUM reads an index through the few buffers that it has been given, and leaves the others to sessions.

use super::*;

#[test]
fn vacuum_reads_vectors_through_its_own_buffers() {
    check(
        "CREATE TABLE things (id integer PRIMARY KEY, v vector(1000));
         INSERT INTO things SELECT i, (SELECT array_agg(sin(i * d * 0.37) ORDER BY d) FROM generate_series(1, 1000) AS d)::vector
             FROM generate_series(1, 800) AS i;
         CREATE INDEX things_index ON things USING rag_hnsw (v vector_l2_ops) WITH (storage = float32, m = 8)",
    );
}

/// The row that is gone is not in the index: all that is read of a segment is which rows it has, most of the index where a
/// row has one word.
#[test]
fn vacuum_reads_texts_through_its_own_buffers() {
    check(
        "CREATE TABLE things (id integer PRIMARY KEY, tsv tsvector);
         INSERT INTO things SELECT i, 'word:1'::tsvector FROM generate_series(1, 500000) AS i;
         INSERT INTO things VALUES (0, NULL);
         CREATE INDEX things_index ON things USING rag_bm25 (tsv);
         DELETE FROM things WHERE id = 0",
    );
}

/// Vacuums `things` in a server that has nothing in its buffers yet: few pages of the index come into those of all.
fn check(setup: &str) {
    let Some(mut cluster) = Cluster::start(&["autovacuum = off"]) else { return };
    let mut client = cluster.connect();
    if count(&mut client, "SELECT current_setting('server_version_num')::bigint") < 160_000 {
        println!("skipped: this version of PostgreSQL does not say which buffers are read into");
        return;
    }
    client.batch_execute("CREATE EXTENSION pg_rag CASCADE").unwrap();
    client.batch_execute(setup).unwrap_or_else(|error| panic!("{}", describe(&error)));
    client.batch_execute("CREATE TABLE nothing (LIKE things INCLUDING INDEXES)").unwrap();
    drop(client);
    cluster.stop("INT");
    cluster.boot();
    let mut client = cluster.connect();
    let pages = count(&mut client, "SELECT pg_relation_size('things_index') / 8192");
    assert!(pages > 250, "an index of {pages} pages says nothing");
    // What VACUUM reads of the catalog is read before.
    let vacuum = |table| format!("VACUUM (INDEX_CLEANUP on, PARALLEL 0) {table}");
    client.batch_execute(&vacuum("nothing")).unwrap();
    let (before, of_index) = (reads(&mut client, "normal"), reads_of_index(&mut client));
    client.batch_execute(&vacuum("things")).unwrap();
    let beside = reads(&mut client, "normal") - before;
    let of_index = reads_of_index(&mut client) - of_index;
    println!("of {pages} pages {of_index} are read; {beside} pages come into the buffers of all");
    assert!(of_index > pages / 2, "{of_index} of {pages} pages of the index are read");
    assert!(beside < pages / 4, "{beside} reads beside the ring, of {pages} pages");
    // Where nothing has changed since, there is nothing to look for.
    let before = reads_of_index(&mut client);
    client.batch_execute(&vacuum("things")).unwrap();
    let again = reads_of_index(&mut client) - before;
    assert!(again < pages / 4, "{again} of {pages} pages of the index are read again");
}

/// How many pages of the index sessions have read from files, into whatever buffers.
fn reads_of_index(client: &mut Client) -> i64 {
    client.batch_execute("SELECT pg_stat_force_next_flush()").unwrap();
    let reads =
        "SELECT idx_blks_read FROM pg_statio_all_indexes WHERE indexrelname = 'things_index'";
    count(client, reads)
}

/// How often sessions have read from files into such buffers.
fn reads(client: &mut Client, context: &str) -> i64 {
    client.batch_execute("SELECT pg_stat_force_next_flush()").unwrap();
    let reads = "SELECT sum(reads)::bigint FROM pg_stat_io
        WHERE backend_type = 'client backend' AND object = 'relation' AND context = $1";
    client.query_one(reads, &[&context]).unwrap().get(0)
}
