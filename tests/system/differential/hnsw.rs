//! rag_hnsw: vectors of each type under each metric and storage, with columns to filter by.

use std::collections::{HashMap, HashSet};

use super::super::cluster::Cluster;
use super::{BY_INDEX, BY_TABLE, Draw, Session, trials};

/// Vectors of three kinds: uniform, of lengths that differ by orders of magnitude, and few different ones.
const FUNCTIONS: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE FUNCTION numbers(dimensions int, kind text) RETURNS real[] LANGUAGE sql VOLATILE AS $$
        SELECT array_agg(
            CASE kind WHEN 'few' THEN floor(random() * 3) ELSE (random() - 0.3) * scale END)::real[]
        FROM generate_series(1, dimensions),
             (SELECT CASE kind WHEN 'lengths' THEN exp(random() * 4) ELSE 1 END AS scale) AS drawn
    $$;
    CREATE FUNCTION bits(length int) RETURNS text LANGUAGE sql VOLATILE AS $$
        SELECT string_agg((random() < 0.4)::int::text, '') FROM generate_series(1, length)
    $$;";

/// Types with their metrics: prefix and name of the operator class, operator.
const METRICS: [(&str, &[(&str, &str)]); 3] = [
    ("vector", &[("l2", "<->"), ("ip", "<#>"), ("cosine", "<=>"), ("l1", "<+>")]),
    ("halfvec", &[("l2", "<->"), ("ip", "<#>"), ("cosine", "<=>"), ("l1", "<+>")]),
    ("bit", &[("hamming", "<~>"), ("jaccard", "<%>")]),
];

/// What is drawn for a table and its index.
struct VectorTable {
    kind: &'static str,
    dimensions: usize,
    numbers: &'static str,
    operator: &'static str,
    class: String,
    options: String,
    /// The columns beside the vector in the index.
    columns: Vec<&'static str>,
    /// Neighbours a node is to have.
    m: usize,
}

impl VectorTable {
    fn draw(draw: &mut Draw) -> VectorTable {
        let (kind, metrics) = METRICS[draw.below(METRICS.len())];
        let (metric, operator) = metrics[draw.below(metrics.len())];
        let dimensions = 1 + draw.below(if kind == "bit" { 130 } else { 48 });
        let storage = match (kind, metric) {
            ("bit", _) => "auto",
            ("halfvec", _) => draw.one_of(&["auto", "float16", "sq8"]),
            (_, "l1") => draw.one_of(&["auto", "float32", "float16", "sq8"]),
            _ => draw.one_of(&["auto", "float32", "float16", "sq8", "binary"]),
        };
        let residuals = match (storage, metric) {
            ("sq8", "l2" | "ip" | "cosine") => draw.one_of(&["on", "on", "off"]),
            _ => "auto",
        };
        let m = [2, 4, 8, 16, 16, 16][draw.below(6)];
        let columns = ["a", "c", "t", "f"].into_iter().filter(|_| draw.one_in(2)).collect();
        VectorTable {
            kind,
            dimensions,
            numbers: draw.one_of(&["uniform", "lengths", "few"]),
            operator,
            class: format!("{kind}_{metric}_ops"),
            options: format!(
                "m = {m}, ef_construction = {}, storage = {storage}, residuals = {residuals}",
                4 * m
            ),
            columns,
            m,
        }
    }

    /// An expression for a vector.
    fn vector(&self) -> String {
        match self.kind {
            "bit" => format!("bits({})::bit({})", self.dimensions, self.dimensions),
            kind => format!("numbers({}, '{}')::{kind}", self.dimensions, self.numbers),
        }
    }

    fn create_table(&self) -> String {
        let VectorTable { kind, dimensions, .. } = self;
        format!(
            "DROP TABLE IF EXISTS items;
             CREATE TABLE items (id serial PRIMARY KEY, e {kind}({dimensions}), a int, c date, t text, f bool)"
        )
    }

    fn create_index(&self) -> String {
        let VectorTable { class, options, columns, .. } = self;
        let columns: String = columns.iter().map(|column| format!(", {column}")).collect();
        format!(
            "CREATE INDEX items_e ON items USING rag_hnsw (e {class}{columns}) WITH ({options})"
        )
    }

    /// A step in the life of the table.
    fn step(&self, draw: &mut Draw) -> String {
        let vector = self.vector();
        let (divisor, rest) = (2 + draw.below(5), draw.below(2));
        let rows = 1 + draw.below(600);
        let insert = format!(
            "INSERT INTO items (e, a, c, t, f) SELECT
                 CASE WHEN random() < 0.98 THEN {vector} END,
                 CASE WHEN random() < 0.9 THEN floor(random() * 10) END,
                 CASE WHEN random() < 0.9 THEN DATE '2026-01-01' + (random() * 20)::int END,
                 CASE WHEN random() < 0.9 THEN 'x' || floor(random() * 5) END,
                 CASE WHEN random() < 0.9 THEN random() < 0.5 END
             FROM generate_series(1, {rows}) AS i"
        );
        match draw.below(8) {
            0..3 => insert,
            3 => format!("DELETE FROM items WHERE id % {divisor} = {rest}"),
            4 => format!("UPDATE items SET e = {vector}, a = a + 1 WHERE id % {divisor} = {rest}"),
            5 => format!("BEGIN; {insert}; ROLLBACK"),
            6 => "INSERT INTO items (e, a, c, t, f) SELECT e, a, c, t, f FROM items ORDER BY id LIMIT 30".into(),
            _ => draw.one_of(&["VACUUM items", "VACUUM items", "REINDEX INDEX CONCURRENTLY items_e"]).into(),
        }
    }

    /// A query that asks for the nearest of the rows that meet some conditions.
    fn query(&self, draw: &mut Draw, probe: &str, limit: &str) -> String {
        let VectorTable { operator, .. } = self;
        let distance = format!("e {operator} '{probe}'");
        let conditions: Vec<String> = (0..draw.below(3)).map(|_| condition(draw)).collect();
        let conditions = match conditions.as_slice() {
            [] => "true".to_owned(),
            some => some.join(" AND "),
        };
        format!(
            "SELECT id, ctid::text, ({distance})::float8 FROM items WHERE {conditions}
             ORDER BY {distance} {limit}"
        )
    }
}

fn condition(draw: &mut Draw) -> String {
    let number = draw.below(11);
    match draw.below(12) {
        0 => format!("a = {number}"),
        1 => format!("a IN (1, 2, {number})"),
        2 => format!("a BETWEEN {} AND {number}::bigint", number / 2),
        3 => draw.one_of(&["a IS NULL", "a IS NOT NULL", "t IS NULL", "f IS NOT NULL"]).into(),
        4 => format!("c < DATE '2026-01-01' + {number}"),
        5 => format!("c >= DATE '2026-01-01' + {number}"),
        6 => format!("t = 'x{}'", number % 6),
        7 => format!("t = ANY ('{{x1,x{}}}')", number % 6),
        8 => draw.one_of(&["f", "NOT f"]).into(),
        9 => format!("(a = {number} OR c > DATE '2026-01-10')"),
        10 => format!("id % 3 = {}", number % 3),
        _ => format!("a <> {number}"),
    }
}

/// A row that a query gives.
#[derive(Clone, Debug, PartialEq)]
struct FoundVector {
    id: i32,
    ctid: String,
    distance: Option<f64>,
}

/// As PostgreSQL sorts: NaN after all numbers, NULL after that.
fn key(distance: Option<f64>) -> (bool, f64) {
    (distance.is_none(), distance.map_or(0.0, |it| if it.is_nan() { f64::INFINITY } else { it }))
}

fn found(session: &mut Session, query: &str) -> Vec<FoundVector> {
    let rows = session.query(query);
    rows.iter()
        .map(|row| FoundVector { id: row.get(0), ctid: row.get(1), distance: row.get(2) })
        .collect()
}

/// Neighbours that were found, of those that are there, in all queries of well-linked graphs.
#[derive(Default)]
struct Tally {
    found: usize,
    there: usize,
}

#[test]
fn rag_hnsw_finds_what_the_table_has() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut session = Session::begin(&cluster, FUNCTIONS);
    let mut tally = Tally::default();
    trials(|mut draw| {
        session.statements.clear();
        let table = VectorTable::draw(&mut draw);
        session.run(&table.create_table());
        session.run(&format!("SELECT setseed({})", draw.seed()));
        let created_at = draw.below(4);
        for step in 0..4 + draw.below(8) {
            if step == created_at {
                session.run(&table.create_index());
            }
            let statement = table.step(&mut draw);
            // There is no index to be made anew before it is made.
            if step >= created_at || !statement.starts_with("REINDEX") {
                session.run(&statement);
            }
            if step >= created_at && draw.one_in(2) {
                compare(&mut session, &table, &mut draw, &mut tally);
            }
        }
        compare(&mut session, &table, &mut draw, &mut tally);
        session.run("VACUUM items");
        // Above the ground layer, lists of two to seven links can't keep one to each of many equal vectors.
        let check = match table.m {
            ..8 => {
                "(SELECT * FROM rag_hnsw_check('items_e')
                  WHERE problem <> 'unreachable' OR detail LIKE '%layer 0')"
            }
            _ => "rag_hnsw_check('items_e')",
        };
        session.assert_sound(check);
        compare(&mut session, &table, &mut draw, &mut tally);
    });
    let recall = tally.found as f64 / tally.there as f64;
    println!("rag_hnsw against the table: recall {recall:.4} of {}", tally.there);
    assert!(recall > 0.95, "recall {recall}");
}

/// When a scan stops walking and reads the index: that changes what it costs, and no row.
fn bounds_of_a_scan(draw: &mut Draw) -> String {
    let nodes = draw.one_of(&["1", "100", "20000"]);
    let multiplier = draw.one_of(&["1", "1.5", "4"]);
    let memory = draw.one_of(&["64kB", "4MB"]);
    format!(
        "SET rag_hnsw.max_scan_tuples = {nodes}; SET rag_hnsw.scan_mem_multiplier = {multiplier};
        SET work_mem = '{memory}'"
    )
}

fn compare(session: &mut Session, table: &VectorTable, draw: &mut Draw, tally: &mut Tally) {
    let probe: String = session.query(&format!("SELECT {}::text", table.vector()))[0].get(0);
    session.run(&bounds_of_a_scan(draw));
    let limit = 1 + draw.below(60);
    for limit in ["".to_owned(), format!("LIMIT {limit}"), format!("LIMIT {limit} OFFSET 3")] {
        let query = table.query(draw, &probe, &limit);
        session.run(BY_TABLE);
        let expected = found(session, &query);
        let all = found(session, query.strip_suffix(&limit).unwrap());
        let all: HashMap<i32, FoundVector> = all.into_iter().map(|row| (row.id, row)).collect();
        session.run(BY_INDEX);
        session.assert_plan(&query, "items_e");
        for order in ["strict_order", "relaxed_order", "off"] {
            session.run(&format!("SET rag_hnsw.iterative_scan = {order}"));
            let given = found(session, &query);
            let told = |what: &str| format!("{what} ({order})\n{query};\n{}", session.script());
            if order != "relaxed_order" {
                let is_sorted = given.is_sorted_by(|a, b| key(a.distance) <= key(b.distance));
                assert!(is_sorted, "{}", told("rows out of order"));
            }
            if order == "relaxed_order" {
                assert_eq!(given.len(), expected.len(), "{}", told("rows are missing"));
            }
            let mut seen = HashSet::new();
            for row in &given {
                assert!(seen.insert(row.id), "{row:?}: {}", told("a row comes twice"));
                let same = all.get(&row.id);
                let is_same = same
                    .is_some_and(|it| it.ctid == row.ctid && key(it.distance) == key(row.distance));
                assert!(is_same, "{row:?}: {}", told(&format!("the table has {same:?}")));
            }
            if table.m >= 8 && order != "off" {
                let farthest = expected.last().map_or((false, 0.0), |row| key(row.distance));
                let near = given.iter().filter(|row| key(row.distance) <= farthest);
                tally.found += near.count().min(expected.len());
                tally.there += expected.len();
            }
        }
    }
}
