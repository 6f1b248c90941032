//! The index rag_hnsw in a server that crashes, is busy, is copied, restored and interrupted:
//! its structure stays sound, and it goes on finding what is nearest.

#[path = "index/buffers.rs"]
mod buffers;
#[path = "index/churn.rs"]
mod churn;
#[path = "index/crash.rs"]
mod crash;
#[path = "index/deletion.rs"]
mod deletion;
#[path = "index/dump.rs"]
mod dump;
#[path = "index/held.rs"]
mod held;
#[path = "index/interrupt.rs"]
mod interrupt;
#[path = "index/memory.rs"]
mod memory;
#[path = "index/row_filter.rs"]
mod row_filter;
#[path = "index/standby.rs"]
mod standby;

use std::collections::HashSet;

use postgres::{Client, Error};

use super::cluster::Cluster;
use super::documents::{count, describe};

/// What the node of a row that was not committed can lack: links to it, its values, and that walks
/// begin as high as it is. VACUUM removes it.
pub const HALF_INSERTED: [&str; 3] = ["unreachable", "no values", "wrong entry"];

/// Vectors that lie like those of texts: clusters, in them a few directions that matter, and
/// noise. The same number gives the same vector everywhere.
const VECTORS: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE FUNCTION noise(place bigint) RETURNS float8
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT hashint8extended(place, 1)::float8 / 9223372036854775808.0::float8
    $$;
    CREATE FUNCTION embedding(number bigint) RETURNS vector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT array_agg(sin(x * 0.7 + phase) + sin(x * 1.9 + phase * 2.3) + sin(x * 2.8 + phase * 3.1)
                         + 0.6 * (a * sin(x * 0.3) + b * cos(x * 1.1) + c * sin(x * 2.3))
                         + 0.2 * noise(number * 64 + d) ORDER BY d)::vector
        FROM (SELECT (number % 37)::float8 * 0.61 AS phase, noise(-3 * number) AS a,
                     noise(-3 * number - 1) AS b, noise(-3 * number - 2) AS c) AS drawn,
             (SELECT d, d::float8 AS x FROM generate_series(1, 64) AS d) AS places
    $$;
    CREATE TABLE items (id bigint PRIMARY KEY, v vector(64));
    CREATE TABLE questions (id bigint PRIMARY KEY, v vector(64));
    INSERT INTO questions SELECT i, embedding(1000000 + i) FROM generate_series(1, 100) AS i;";

/// The index that the tests ask.
const INDEX: &str = "CREATE INDEX items_v ON items USING rag_hnsw (v vector_l2_ops);";

/// Only the index gives the order, and it looks at enough to find nearly everything.
const BY_INDEX: &str = "
    SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off;
    SET rag_hnsw.ef_search = 100; SET jit = off;";

/// The order comes from sorting all rows.
const BY_TABLE: &str = "
    SET enable_indexscan = off; SET enable_seqscan = on; SET enable_sort = on; SET jit = off;";

/// Back to where a session begins.
const BY_CHOICE: &str = "RESET ALL;";

/// The ten nearest of each question.
const NEAREST: &str = "
    SELECT q.id, n.id FROM questions AS q
    CROSS JOIN LATERAL (SELECT i.id FROM items AS i ORDER BY i.v <-> q.v LIMIT 10) AS n";

/// Rows that are not found by their own vector.
const LOST: &str = "
    SELECT count(*) FROM items AS i
    WHERE i.id IS DISTINCT FROM (SELECT n.id FROM items AS n ORDER BY n.v <-> i.v LIMIT 1)";

/// Share of the nearest that an index must find.
const RECALL: f64 = 0.95;

/// Adds the rows from one number to another.
fn insert(client: &mut Client, first: i64, last: i64) -> Result<u64, Error> {
    let rows = "INSERT INTO items SELECT i, embedding(i) FROM generate_series($1::bigint, $2::bigint) AS i";
    client.execute(rows, &[&first, &last])
}

/// What [`NEAREST`] finds, in its order.
fn nearest(client: &mut Client) -> Vec<(i64, i64)> {
    let rows = client.query(NEAREST, &[]).unwrap_or_else(|error| panic!("{}", describe(&error)));
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

/// Share of the ten nearest that the index finds.
fn recall(client: &mut Client) -> f64 {
    client.batch_execute(BY_TABLE).unwrap();
    let exact = nearest(client);
    client.batch_execute(BY_CHOICE).unwrap();
    client.batch_execute(BY_INDEX).unwrap();
    assert_plan(client, NEAREST);
    let found: HashSet<(i64, i64)> = nearest(client).into_iter().collect();
    client.batch_execute(BY_CHOICE).unwrap();
    assert!(!exact.is_empty(), "nothing to find");
    exact.iter().filter(|pair| found.contains(pair)).count() as f64 / exact.len() as f64
}

/// Asserts that a query has its order from the index.
fn assert_plan(client: &mut Client, query: &str) {
    let rows = client.query(&format!("EXPLAIN (COSTS OFF) {query}"), &[]).unwrap();
    let lines: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    let plan = lines.join("\n");
    assert!(plan.contains("Index Scan using items_v") && plan.contains("Order By:"), "{plan}");
}

/// Asserts that an index's pages say what they should.
fn assert_sound(client: &mut Client, index: &str, when: &str) {
    assert_sound_but_for(&[], client, index, when);
}

/// The same, but for some kinds of problems.
fn assert_sound_but_for(kinds: &[&str], client: &mut Client, index: &str, when: &str) {
    let check = "SELECT p::text FROM rag_hnsw_check($1::text::regclass) AS p
        WHERE p.problem <> ALL ($2) LIMIT 20";
    let problems = client.query(check, &[&index, &kinds]).unwrap_or_else(|error| {
        panic!("{index} cannot be checked {when}: {}", describe(&error));
    });
    let problems: Vec<String> = problems.iter().map(|row| row.get(0)).collect();
    assert!(problems.is_empty(), "{index} {when}: {problems:#?}");
}

/// Asserts that the index finds the rows by their own vectors, but for one in a thousand at
/// most: the search is approximate; and that a scan to the end gives all. Gives their number.
fn assert_all_found(client: &mut Client, when: &str) -> i64 {
    assert_all_found_but_one_in(1000, client, when)
}

/// The same, but for one in `few` at most.
fn assert_all_found_but_one_in(few: i64, client: &mut Client, when: &str) -> i64 {
    client.batch_execute(BY_INDEX).unwrap();
    assert_plan(client, LOST);
    let lost = count(client, LOST);
    client.batch_execute(BY_CHOICE).unwrap();
    let rows = count(client, "SELECT count(*) FROM items");
    assert!(lost <= rows / few, "{lost} of {rows} rows are not found {when}");
    assert_all_given(client, rows, when);
    rows
}

fn size(client: &mut Client) -> i64 {
    count(client, "SELECT pg_relation_size('items_v')")
}

/// Asserts that a scan which is read to its end gives every row, once.
fn assert_all_given(client: &mut Client, rows: i64, when: &str) {
    client.batch_execute(BY_INDEX).unwrap();
    let all = "SELECT count(*) FROM (SELECT n.id FROM items AS n
        ORDER BY n.v <-> (SELECT v FROM questions WHERE id = 1)) AS given";
    let distinct = all.replace("count(*)", "count(DISTINCT id)");
    assert_plan(client, all);
    assert_eq!(count(client, all), rows, "rows given {when}");
    assert_eq!(count(client, &distinct), rows, "rows given {when}");
    client.batch_execute(BY_CHOICE).unwrap();
}
