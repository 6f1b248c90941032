//! The index rag_bm25 in a server that crashes, is busy, is copied, restored and interrupted: its
//! structure stays sound, and it ranks as the operator does without it.

#[path = "bm25/churn.rs"]
mod churn;
#[path = "bm25/crash.rs"]
mod crash;
#[path = "bm25/dump.rs"]
mod dump;
#[path = "bm25/interrupt.rs"]
mod interrupt;
#[path = "bm25/pieces.rs"]
mod pieces;
#[path = "bm25/rights.rs"]
mod rights;
#[path = "bm25/snapshot.rs"]
mod snapshot;
#[path = "bm25/standby.rs"]
mod standby;

use std::collections::BTreeSet;

use postgres::{Client, Error};

use super::cluster::Cluster;
use super::documents::{count, describe};

/// Texts whose words are as frequent as those of a language: the word of rank n occurs about
/// 1/n times as often as the first. Some texts are so long that they have pages of the index to
/// themselves. The same number gives the same text everywhere.
const TEXTS: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE FUNCTION draw(place bigint) RETURNS float8
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT 0.5 + hashint8extended(place, 7)::float8 / 18446744073709551616.0::float8
    $$;
    CREATE FUNCTION prose(number bigint) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT string_agg('w' || floor(exp(ln(3000) * draw(number * 128 + n)))::int, ' ' ORDER BY n)
            || CASE number % 199 WHEN 77 THEN
                (SELECT string_agg(' x' || n * number, '') FROM generate_series(1, 3000) AS n)
            ELSE '' END
        FROM generate_series(1, 5 + (number % 50)::int) AS n
    $$;
    CREATE TABLE docs (
        id   bigint PRIMARY KEY,
        body text,
        tsv  tsvector GENERATED ALWAYS AS (to_tsvector('simple', body)) STORED
    );
    CREATE TABLE questions (id bigint PRIMARY KEY, q tsquery);
    INSERT INTO questions
        SELECT i, ('w' || 1 + i % 7 || '|w' || 10 + i * 3 || '|w' || 200 + i * 17)::tsquery
        FROM generate_series(1, 60) AS i;";

/// The index that the tests ask.
const INDEX: &str = "CREATE INDEX docs_tsv ON docs USING rag_bm25 (tsv);";

/// Only the index gives the order.
const BY_INDEX: &str = "
    SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off; SET jit = off;";

/// The order comes from sorting all rows.
const BY_TABLE: &str = "
    SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_seqscan = on;
    SET enable_sort = on; SET jit = off;";

/// Back to where a session begins.
const BY_CHOICE: &str = "RESET ALL;";

/// The best ten of each question, with their scores.
const BEST: &str = "
    SELECT q.id, n.id, n.score FROM questions AS q
    CROSS JOIN LATERAL (
        SELECT d.id, d.tsv <@> rag_bm25_query('docs_tsv', q.q) AS score
        FROM docs AS d WHERE d.tsv @@ q.q
        ORDER BY d.tsv <@> rag_bm25_query('docs_tsv', q.q) LIMIT 10) AS n";

/// All texts with one of the commonest words, which most texts have.
const ALL: &str = "
    SELECT 0::bigint, d.id, d.tsv <@> rag_bm25_query('docs_tsv', 'w1 | w2 | w3 | w4')
    FROM docs AS d WHERE d.tsv @@ 'w1 | w2 | w3 | w4'
    ORDER BY d.tsv <@> rag_bm25_query('docs_tsv', 'w1 | w2 | w3 | w4')";

/// Adds the texts from one number to another.
fn insert(client: &mut Client, first: i64, last: i64) -> Result<u64, Error> {
    let rows =
        "INSERT INTO docs SELECT i, prose(i) FROM generate_series($1::bigint, $2::bigint) AS i";
    client.execute(rows, &[&first, &last])
}

/// A row of [`BEST`] or [`ALL`].
type Ranked = (i64, i64, f64);

fn ranked(client: &mut Client, query: &str) -> Vec<Ranked> {
    let rows = client.query(query, &[]).unwrap_or_else(|error| panic!("{}", describe(&error)));
    rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect()
}

/// What a query finds by the index.
fn by_index(client: &mut Client, query: &str) -> Vec<Ranked> {
    client.batch_execute(BY_INDEX).unwrap();
    assert_plan(client, query);
    let found = ranked(client, query);
    client.batch_execute(BY_CHOICE).unwrap();
    found
}

/// What a query finds without any index.
fn by_table(client: &mut Client, query: &str) -> Vec<Ranked> {
    client.batch_execute(BY_TABLE).unwrap();
    let found = ranked(client, query);
    client.batch_execute(BY_CHOICE).unwrap();
    found
}

/// Asserts that a query has its order from the index.
fn assert_plan(client: &mut Client, query: &str) {
    let rows = client.query(&format!("EXPLAIN (COSTS OFF) {query}"), &[]).unwrap();
    let lines: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    let plan = lines.join("\n");
    assert!(plan.contains("Index Scan using docs_tsv") && plan.contains("Order By:"), "{plan}");
}

/// Asserts that an index's pages say what they should.
fn assert_sound(client: &mut Client, index: &str, when: &str) {
    let check = "SELECT problem FROM rag_bm25_check($1::text::regclass) LIMIT 20";
    let problems = client.query(check, &[&index]).unwrap_or_else(|error| {
        panic!("{index} cannot be checked {when}: {}", describe(&error));
    });
    let problems: Vec<String> = problems.iter().map(|row| row.get(0)).collect();
    assert!(problems.is_empty(), "{index} {when}: {problems:#?}");
}

/// Asserts that the index is sound, gives each text that matches, once, and ranks as the operator
/// does without it. How many texts there are.
fn assert_exact(client: &mut Client, when: &str) -> i64 {
    assert_sound(client, "docs_tsv", when);
    for query in [BEST, ALL] {
        let (found, expected) = (by_index(client, query), by_table(client, query));
        assert_alike(&found, &expected, when);
    }
    let ids = |ranked: Vec<Ranked>| -> BTreeSet<i64> { ranked.iter().map(|row| row.1).collect() };
    let (found, expected) = (by_index(client, ALL), by_table(client, ALL));
    assert_eq!(found.len(), expected.len(), "texts found {when}");
    assert_eq!(ids(found), ids(expected), "texts found {when}");
    count(client, "SELECT count(*) FROM docs")
}

/// Asserts that two rankings have the same scores at each place. Texts of the same score may have
/// changed their places.
fn assert_alike(found: &[Ranked], expected: &[Ranked], when: &str) {
    assert!(!expected.is_empty(), "nothing to find {when}");
    assert_eq!(found.len(), expected.len(), "texts found {when}");
    let differ = |(found, expected): &(&Ranked, &Ranked)| {
        found.0 != expected.0 || (found.2 - expected.2).abs() > 1e-9 || found.2 >= 0.0
    };
    let first = found.iter().zip(expected).find(differ);
    assert!(first.is_none(), "{when}: found and expected {first:?}");
}
