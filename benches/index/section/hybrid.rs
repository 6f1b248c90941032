//! How long does a question of both kinds take: by its vector and by its words?
//!
//! ```text
//! make bench-index ARGS="hybrid --data clustered --dimension 384 --rows 1000000 --queries 300"
//! ```
//!
//! A table has a vector and a text in each row, and an index on each. A statement takes the fifty nearest by the one and
//! the fifty best by the other, and fuses them by their ranks. Recall is that of the ten nearest. The texts are generated,
//! with words as frequent as those of a language, and so are the questions. Ours alone: pgvector beside GIN takes
//! seconds for a question of frequent words, which `make bench-bm25` shows.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Instant;

use postgres::{Client, Statement};

use crate::Result;
use crate::bench::{Bench, EF};
use crate::report::Table;
use crate::search::Place;
use crate::side::Side;
use crate::table::{self, Vector};
use crate::texts::{KINDS, Kind, chunk};
use crate::truth::Wanted;

/// Of each index so many, and so many of both together.
const EACH: usize = 50;
const FUSED: usize = 10;
/// The constant of reciprocal rank fusion (Cormack and others, SIGIR 2009).
const RANK_CONSTANT: usize = 60;

const TABLE: &str = "hybrid_item";

pub fn run(bench: &mut Bench) -> Result<()> {
    for side in bench.sides.clone().iter().filter(|side| !side.is_pgvector()) {
        let mut client = bench.server.session()?;
        fill(bench, &mut client)?;
        build(bench, &mut client, side)?;
        let mut table = Table::new(["words asked for", "index", "p50 ms", "p99 ms"]);
        for kind in &KINDS {
            let statements = Statements::prepare(&mut client)?;
            for (name, statement) in statements.by_name() {
                let times = statement.times(bench, &mut client, kind)?;
                let [middle, slow] = [0.5, 0.99].map(|share| percentile(&times, share));
                let (middle, slow) = (format!("{middle:.2}"), format!("{slow:.2}"));
                table.row([kind.name.to_owned(), name.to_owned(), middle, slow]);
            }
        }
        bench.report.table(&table);
        table::drop(&mut client, TABLE)?;
    }
    Ok(())
}

/// The rows of the data set, each with a text.
fn fill(bench: &Bench, client: &mut Client) -> Result<()> {
    table::create(client, TABLE, &bench.data, 0..bench.data.len())?;
    client.batch_execute(
        "DROP TABLE IF EXISTS hybrid_text; CREATE UNLOGGED TABLE hybrid_text (id integer, tsv tsvector)",
    )?;
    let mut copy = client.copy_in("COPY hybrid_text FROM STDIN")?;
    for id in 0..bench.data.len() {
        writeln!(copy, "{id}\t{}", chunk(id as u64))?;
    }
    copy.finish()?;
    client.batch_execute(&format!(
        "ANALYZE hybrid_text; \
         CREATE TABLE hybrid_both AS SELECT i.*, t.tsv FROM {TABLE} i JOIN hybrid_text t USING (id); \
         DROP TABLE {TABLE}, hybrid_text; \
         ALTER TABLE hybrid_both RENAME TO {TABLE}"
    ))?;
    client.batch_execute(&format!("VACUUM (FREEZE, ANALYZE) {TABLE}"))?;
    Ok(())
}

fn build(bench: &mut Bench, client: &mut Client, side: &Side) -> Result<()> {
    let dense = table::index(client, side, TABLE, &[])?.as_secs_f64();
    let started = Instant::now();
    client.batch_execute(&format!("CREATE INDEX {TABLE}_words ON {TABLE} USING rag_bm25 (tsv)"))?;
    let lexical = started.elapsed().as_secs_f64();
    client.batch_execute(&format!("VACUUM (ANALYZE) {TABLE}"))?;
    let rows = bench.data.len();
    let truth = bench.truth(&Wanted::first(rows))?;
    let recall = bench.recall(&Place::new(side, TABLE), &truth)?;
    bench.report.note(&format!(
        "A table of {rows} rows; {} built in {dense:.0} s, rag_bm25 in {lexical:.0} s. With ef_search {EF} \
         the recall of the ten nearest is {recall:.3}.",
        side.name
    ));
    Ok(())
}

/// What is measured.
struct Statements {
    dense: Asked,
    lexical: Asked,
    fused: Asked,
}

/// A prepared statement, and which parameters it has.
struct Asked {
    statement: Statement,
    has_vector: bool,
    has_words: bool,
}

impl Statements {
    fn prepare(client: &mut Client) -> Result<Statements> {
        let ef = format!("SET enable_seqscan = off; SET rag_hnsw.ef_search = {EF}");
        client.batch_execute(&ef)?;
        let nearest = |vector: &str| {
            format!("SELECT id FROM {TABLE} ORDER BY embedding <=> {vector}::vector LIMIT {EACH}")
        };
        let best = |words: &str| {
            let words = format!("{words}::text::tsquery");
            format!(
                "SELECT id FROM {TABLE} WHERE tsv @@ {words} \
                 ORDER BY tsv <@> rag_bm25_query('{TABLE}_words', {words}) LIMIT {EACH}"
            )
        };
        let mut fused = String::from("WITH ");
        for (name, of) in [("dense", nearest("$1")), ("lexical", best("$2"))] {
            write!(
                fused,
                "{name} AS MATERIALIZED (SELECT id, row_number() OVER () AS rank FROM ({of}) found), "
            )?;
        }
        write!(
            fused,
            "both_lists AS (SELECT * FROM dense UNION ALL SELECT * FROM lexical) \
             SELECT id FROM both_lists GROUP BY id \
             ORDER BY sum(1.0::float8 / ({RANK_CONSTANT} + rank)) DESC, id LIMIT {FUSED}"
        )?;
        expect_both(client, &fused)?;
        let mut asked = |statement: &str, has_vector, has_words| -> Result<Asked> {
            Ok(Asked { statement: client.prepare(statement)?, has_vector, has_words })
        };
        Ok(Statements {
            dense: asked(&nearest("$1"), true, false)?,
            lexical: asked(&best("$1"), false, true)?,
            fused: asked(&fused, true, true)?,
        })
    }

    fn by_name(&self) -> [(&'static str, &Asked); 3] {
        [("rag_hnsw", &self.dense), ("rag_bm25", &self.lexical), ("both, fused", &self.fused)]
    }
}

impl Asked {
    /// Milliseconds of each query. Each is asked once before, to have its pages in memory.
    fn times(&self, bench: &Bench, client: &mut Client, kind: &Kind) -> Result<Vec<f64>> {
        let words = kind.questions(bench.settings.queries);
        let mut times = Vec::with_capacity(words.len());
        for (vector, words) in bench.data.queries().zip(&words) {
            let vector = Vector(vector);
            let both: [&(dyn postgres::types::ToSql + Sync); 2] = [&vector, words];
            let from = usize::from(!self.has_vector);
            let to = 1 + usize::from(self.has_words);
            let parameters = &both[from..to];
            client.query(&self.statement, parameters)?;
            let started = Instant::now();
            client.query(&self.statement, parameters)?;
            times.push(started.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        Ok(times)
    }
}

/// Both lists are answered by their indexes, or nothing was measured.
fn expect_both(client: &mut Client, fused: &str) -> Result<()> {
    let query = fused.replace("$1", &format!("(SELECT embedding FROM {TABLE} LIMIT 1)"));
    let rows = client.query(&format!("EXPLAIN {}", query.replace("$2", "'w5000 | w300'")), &[])?;
    let plan: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    for index in [format!("{TABLE}_index"), format!("{TABLE}_words")] {
        if !plan.iter().any(|line| line.contains(&index)) {
            return Err(format!("{index} is not used:\n{}", plan.join("\n")).into());
        }
    }
    Ok(())
}

/// The time below which a share of sorted times lies.
fn percentile(times: &[f64], share: f64) -> f64 {
    let last = times.len().saturating_sub(1);
    times.get((last as f64 * share).round() as usize).copied().unwrap_or(f64::NAN)
}
