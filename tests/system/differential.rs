//! Both indexes against the table: the rows, their order, ctids and distances of a plan by the index
//! are those of a plan that reads the table and sorts.
//!
//! ```text
//! make differential FOR=600 SEED=7          for ten minutes, from a seed that an earlier run has printed
//! ```
//!
//! Tables, types, indexes, histories, conditions and queries are drawn from a seed. What differs is
//! reported with the statements that made it.

#[path = "differential/bm25.rs"]
mod bm25;
#[path = "differential/hnsw.rs"]
mod hnsw;

use std::time::{Duration, Instant};

use postgres::Client;

use super::cluster::Cluster;
use super::documents::describe;

/// Trials where no time is given.
const TRIALS: u64 = 12;

/// Only the index gives the order.
const BY_INDEX: &str = "
    SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off;
    SET enable_indexscan = on; SET jit = off;";

/// The order comes from sorting all rows.
const BY_TABLE: &str = "
    SET enable_seqscan = on; SET enable_sort = on; SET enable_bitmapscan = off;
    SET enable_indexscan = off; SET jit = off;";

/// Numbers drawn from a seed: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// A number from 0 on, below `end`.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }

    fn one_of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    /// For `setseed`.
    fn seed(&mut self) -> f64 {
        self.below(1 << 20) as f64 / f64::from(1 << 20)
    }
}

/// Runs trials until there are enough of them, or the time is over that `make differential` gives.
fn trials(mut trial: impl FnMut(Draw)) {
    let number = |name: &str| {
        let value = std::env::var(name).ok().filter(|value| !value.is_empty())?;
        Some(value.parse::<u64>().unwrap_or_else(|_| panic!("{name} is not a number: {value}")))
    };
    let seed = number("PG_RAG_DIFFERENTIAL_SEED").unwrap_or(20_260_731);
    let end =
        number("PG_RAG_DIFFERENTIAL_SECONDS").map(|it| Instant::now() + Duration::from_secs(it));
    let mut done = 0;
    while end.map_or(done < TRIALS, |end| Instant::now() < end) {
        // A trial can be repeated alone: each has a seed of its own.
        println!("differential trial: seed {}", seed + done);
        trial(Draw(seed + done));
        done += 1;
    }
}

/// A session that remembers its statements, to report them.
struct Session {
    client: Client,
    statements: Vec<String>,
}

impl Session {
    /// A session of a new server, with the extension and the functions of `setup`.
    fn begin(cluster: &Cluster, setup: &str) -> Session {
        let mut client = cluster.connect();
        client.batch_execute(setup).unwrap_or_else(|error| panic!("{}", describe(&error)));
        Session { client, statements: Vec::new() }
    }

    fn run(&mut self, statement: &str) {
        self.statements.push(format!("{statement};"));
        if let Err(error) = self.client.batch_execute(statement) {
            panic!("{}\n{}", describe(&error), self.script());
        }
    }

    fn query(&mut self, statement: &str) -> Vec<postgres::Row> {
        match self.client.query(statement, &[]) {
            Ok(rows) => rows,
            Err(error) => panic!("{}\n{statement};\n{}", describe(&error), self.script()),
        }
    }

    /// Fails unless the query has its order from the index.
    fn assert_plan(&mut self, query: &str, index: &str) {
        let lines = self.query(&format!("EXPLAIN (COSTS OFF) {query}"));
        let plan: Vec<String> = lines.iter().map(|row| row.get(0)).collect();
        let plan = plan.join("\n");
        let is_ordered = plan.contains(index) && plan.contains("Order By:");
        // Conditions that exclude each other.
        let is_empty = plan.contains("One-Time Filter: false");
        assert!(is_ordered || is_empty, "{plan}\n{query};\n{}", self.script());
    }

    /// Fails unless the pages of the index say what they should: `check` has no rows.
    fn assert_sound(&mut self, check: &str) {
        let problems = self.query(&format!("SELECT c::text FROM {check} AS c"));
        let problems: Vec<String> = problems.iter().map(|row| row.get(0)).collect();
        assert!(problems.is_empty(), "{problems:?}\n{}", self.script());
    }

    /// What has been done so far.
    fn script(&self) -> String {
        self.statements.join("\n")
    }
}
