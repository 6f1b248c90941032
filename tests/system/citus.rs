//! Tables that Citus manages: indexes in their shards, and pipelines that are refused.

use postgres::Client;

use super::cluster::Cluster;
use super::documents::{assert_fails, count};

const REFUSED: [&str; 3] = ["0A000", "is managed by Citus", "rag_hnsw"];

/// Citus wants to be loaded first, and to connect without TLS.
const CITUS: [&str; 4] = [
    "shared_preload_libraries = 'citus'",
    "wal_level = logical",
    "max_prepared_transactions = 20",
    "citus.node_conninfo = 'sslmode=disable'",
];

/// A coordinator and two workers, each of which has the other extensions.
fn distributed() -> Option<(Cluster, [Cluster; 2])> {
    let coordinator = Cluster::start_with_citus(&CITUS)?;
    let workers = [coordinator.beside(&CITUS), coordinator.beside(&CITUS)];
    for server in [&coordinator, &workers[0], &workers[1]] {
        let extensions = "CREATE EXTENSION citus; CREATE EXTENSION pg_rag CASCADE";
        server.connect().batch_execute(extensions).unwrap();
    }
    let mut client = coordinator.connect();
    let own = "SELECT citus_set_coordinator_host($1, 5432)";
    client.execute(own, &[&coordinator.socket()]).unwrap();
    for worker in &workers {
        client.execute("SELECT citus_add_node($1, 5432)", &[&worker.socket()]).unwrap();
    }
    Some((coordinator, workers))
}

/// The keys that a query finds, in its order.
fn keys(client: &mut Client, query: &str) -> Vec<i64> {
    client.query(query, &[]).unwrap().iter().map(|row| row.get(0)).collect()
}

/// The nearest of all shards by their indexes are the nearest of all rows, and so are the best texts. Of a shard with
/// few rows all would be looked at.
#[test]
fn each_shard_has_indexes_and_all_are_asked() {
    let Some((coordinator, _workers)) = distributed() else { return };
    let mut client = coordinator.connect();
    client
        .batch_execute(
            "SET citus.shard_count = 4;
             CREATE TABLE item (id bigint PRIMARY KEY, words tsvector, embedding vector(3));
             SELECT create_distributed_table('item', 'id');
             INSERT INTO item SELECT n, to_tsvector('simple', 'w' || n % 7 || ' w' || n % 11 || ' ' || repeat('x ', n % 13)),
                                     ARRAY[sin(n), cos(n * 1.7), sin(n * 0.3)]::real[]::vector
             FROM generate_series(1, 20000) AS n;",
        )
        .unwrap();
    // Citus sends workers the text that it got, and so fails where an index is not made by a statement of its own.
    for index in [
        "CREATE INDEX ON item USING rag_hnsw (embedding vector_cosine_ops)",
        "CREATE INDEX item_words ON item USING rag_bm25 (words)",
    ] {
        client.batch_execute(index).unwrap();
    }
    let searches = [
        ("rag_hnsw", "embedding <=> '[0.3,0.5,-0.8]'"),
        ("rag_bm25", "words <@> rag_bm25_query('item_words', 'w3 | w5')"),
    ];
    for (index, order) in searches {
        let query = format!("SELECT id FROM item ORDER BY {order}, id LIMIT 10");
        client
            .batch_execute("SET enable_indexscan = off; SET enable_incremental_sort = off")
            .unwrap();
        let exact = keys(&mut client, &query);
        client.batch_execute("RESET enable_indexscan; RESET enable_incremental_sort").unwrap();
        let plain = format!("SELECT id FROM item ORDER BY {order} LIMIT 10");
        let plan = client.query(&format!("EXPLAIN {plain}"), &[]).unwrap();
        let plan: Vec<String> = plan.iter().map(|line| line.get(0)).collect();
        let plan = plan.join("\n");
        assert!(
            plan.contains("Index Scan using item_") && plan.contains("Task Count: 4"),
            "{index}: {plan}"
        );
        let distance = |keys: &[i64]| {
            let list = keys.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
            format!("SELECT sum({order}) FROM item WHERE id IN ({list})")
        };
        let found = keys(&mut client, &plain);
        // Texts may score the same.
        let sums: Vec<f64> = [&exact, &found]
            .iter()
            .map(|keys| client.query_one(&distance(keys), &[]).unwrap().get(0))
            .collect();
        assert!((sums[0] - sums[1]).abs() < 1e-6, "{index}: {found:?}, not {exact:?}: {sums:?}");
    }
}

/// However Citus manages a table, a pipeline would miss its changes. The coordinator's other tables have pipelines.
#[test]
fn a_table_of_citus_has_no_pipeline() {
    let Some((coordinator, _workers)) = distributed() else { return };
    let mut client = coordinator.connect();
    let ways = [
        ("hashed", "SELECT create_distributed_table('hashed', 'id')"),
        ("everywhere", "SELECT create_reference_table('everywhere')"),
        ("managed", "SELECT citus_add_local_table_to_metadata('managed')"),
        ("tenant.docs", "SELECT citus_schema_distribute('tenant')"),
    ];
    client.batch_execute("CREATE SCHEMA tenant").unwrap();
    for (table, way) in ways {
        let create = format!("CREATE TABLE {table} (id bigint PRIMARY KEY, body text); {way};");
        client.batch_execute(&create).unwrap();
        let pipeline = format!("SELECT rag_create_pipeline('{table}', 'body')");
        assert_fails(&mut client, &pipeline, &REFUSED);
    }
    client
        .batch_execute(
            "CREATE TABLE here (id bigint PRIMARY KEY, body text);
             INSERT INTO here VALUES (1, 'The office opens at nine.');
             SELECT rag_create_pipeline('here', 'body', refresh => 'sync');
             INSERT INTO here VALUES (2, 'The garden is closed in winter.');",
        )
        .unwrap();
    assert_eq!(count(&mut client, "SELECT count(*) FROM here_rag"), 2);
    // A table with a pipeline is not distributed.
    assert_fails(&mut client, "SELECT create_distributed_table('here', 'id')", &["triggers"]);
    assert_eq!(
        count(&mut client, "SELECT count(*) FROM rag_retrieve('When is the garden closed?')"),
        2
    );
}

/// Also where Citus is not installed: its list of tables stands for it.
#[test]
fn a_table_in_the_list_of_citus_has_no_pipeline() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client
        .batch_execute(
            "CREATE EXTENSION pg_rag CASCADE;
             SET allow_system_table_mods = on;
             CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass);
             GRANT SELECT ON pg_catalog.pg_dist_partition TO PUBLIC;
             CREATE TABLE away (id bigint PRIMARY KEY, body text);
             CREATE TABLE here (id bigint PRIMARY KEY, body text);
             INSERT INTO pg_catalog.pg_dist_partition VALUES ('away');",
        )
        .unwrap();
    assert_fails(&mut client, "SELECT rag_create_pipeline('away', 'body')", &REFUSED);
    client.batch_execute("SELECT rag_create_pipeline('here', 'body')").unwrap();
}
