//! How right are inner products of vectors of unequal lengths?
//!
//! By the product the nearest of most vectors are the same long ones, so a graph can lead to
//! these only. The vectors are generated here, whatever data the other sections have; recall is
//! that of the twenty largest products, against a scan of the table.

use postgres::Client;

use crate::Result;
use crate::bench::Bench;
use crate::clustered::Random;
use crate::data::Dataset;
use crate::report::Table;
use crate::side::Side;
use crate::table::{self, Vector};

/// Rows that a query asks for.
const NEAREST: usize = 20;

const QUERIES: usize = 200;

/// Values of `ef_search`.
const EF: [u32; 3] = [40, 100, 400];

/// How elements and lengths are drawn.
#[derive(Clone, Copy)]
enum Drawn {
    /// Elements from 0 to 1.
    Uniform,
    /// Normal elements.
    Normal,
    /// Normal elements, times a number whose logarithm is normal with a deviation of one half.
    LogNormal,
}

const SETS: [(Drawn, usize, usize); 5] = [
    (Drawn::Uniform, 3, 10_000),
    (Drawn::Uniform, 16, 10_000),
    (Drawn::Uniform, 16, 50_000),
    (Drawn::Normal, 16, 10_000),
    (Drawn::LogNormal, 64, 20_000),
];

/// The rows that a query should find, for each query.
type Answers = Vec<Vec<i32>>;

pub fn run(bench: &mut Bench) -> Result<()> {
    let mut table = Table::new(["vectors", "index", "ef 40", "ef 100", "ef 400", "problems"]);
    for (drawn, dimension, rows) in SETS {
        let data = generate(drawn, dimension, rows);
        println!("  {}", data.name);
        for (side, cells) in bench.each(|bench, side| measure(bench, side.clone(), &data)) {
            let [near, wide, widest, problems] = cells;
            table.row([data.name.clone(), side.name, near, wide, widest, problems]);
        }
    }
    bench.report.table(&table);
    Ok(())
}

/// The recall of an index at each value of `ef_search`, and what is wrong with it.
fn measure(bench: &mut Bench, side: Side, data: &Dataset) -> Result<[String; 4]> {
    let name = format!("product_{}", side.slug);
    let mut client = bench.server.session()?;
    table::create(&mut client, &name, data, 0..data.len())?;
    let right = answers(&mut client, &name, data)?;
    table::index(&mut client, &side.clone().of_products(), &name, &[])?;
    client.batch_execute("SET enable_seqscan = off")?;
    let mut recalls = Vec::new();
    for ef in EF {
        client.batch_execute(&side.set_ef(ef))?;
        recalls.push(format!("{:.4}", recall(&right, &answers(&mut client, &name, data)?)));
    }
    let problems = match side.is_pgvector() {
        true => String::new(),
        false => problems(&mut client, &name)?.to_string(),
    };
    table::drop(&mut client, &name)?;
    recalls.push(problems);
    Ok(recalls.try_into().map_err(|_| "not a recall for each ef_search")?)
}

fn answers(client: &mut Client, table: &str, data: &Dataset) -> Result<Answers> {
    let query = format!("SELECT id FROM {table} ORDER BY embedding <#> $1 LIMIT {NEAREST}");
    let query = client.prepare(&query)?;
    let mut answers = Answers::new();
    for vector in data.queries() {
        let rows = client.query(&query, &[&Vector(vector)])?;
        answers.push(rows.iter().map(|row| row.get(0)).collect());
    }
    Ok(answers)
}

fn recall(right: &Answers, found: &Answers) -> f64 {
    let hits = right
        .iter()
        .zip(found)
        .map(|(right, found)| found.iter().filter(|id| right.contains(id)).count());
    hits.sum::<usize>() as f64 / (right.len() * NEAREST) as f64
}

fn problems(client: &mut Client, table: &str) -> Result<i64> {
    let check = format!("SELECT count(*) FROM rag_hnsw_check('{table}_index')");
    Ok(client.query_one(&check, &[])?.get(0))
}

fn generate(drawn: Drawn, dimension: usize, rows: usize) -> Dataset {
    let mut random = Random::of(dimension as u64);
    let mut draw = |count: usize| {
        let vectors = (0..count).flat_map(|_| vector(drawn, dimension, &mut random));
        vectors.collect::<Vec<f32>>()
    };
    let name = name(drawn, dimension, rows);
    let (likeness, rows, queries) = (vec![0; rows], draw(rows), draw(QUERIES));
    Dataset { name, fingerprint: 0, dimension, rows, queries, likeness }
}

fn vector(drawn: Drawn, dimension: usize, random: &mut Random) -> Vec<f32> {
    let length = match drawn {
        Drawn::LogNormal => (0.5 * random.normal()).exp(),
        _ => 1.0,
    };
    let element = |_| match drawn {
        Drawn::Uniform => random.fraction() as f32,
        _ => length * random.normal(),
    };
    (0..dimension).map(element).collect()
}

fn name(drawn: Drawn, dimension: usize, rows: usize) -> String {
    let elements = match drawn {
        Drawn::Uniform => "uniform",
        Drawn::Normal => "normal",
        Drawn::LogNormal => "normal x lognormal",
    };
    format!("{elements} {rows}x{dimension}")
}
