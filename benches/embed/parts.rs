//! The tables.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pg_rag::embed::EmbeddingKind;
use pg_rag::protocol::{Lane, ModelRef};

use crate::Settings;
use crate::data::{Data, Set};
use crate::measure::{embed, ndcg_at_10, quantile, time};
use crate::plain::Plain;
use crate::ragd::{Installed, Ragd};

const BULK: (EmbeddingKind, Lane) = (EmbeddingKind::Passage, Lane::Bulk);
const QUERY: (EmbeddingKind, Lane) = (EmbeddingKind::Query, Lane::Query);

/// Queries this long at most count as short, in bytes.
const SHORT: usize = 60;

/// A load of passages: ragd against plain ONNX Runtime.
pub fn bulk(installed: &Installed, data: &Data, settings: &Settings) {
    let passages = texts(&data.read("scifact"), settings.passages);
    let model = installed.model(&settings.file);
    let (ragd, mut plain) = (installed.start(), Plain::load(installed, &model));
    let mut client = ragd.connect();
    embed(&mut client, &model, BULK, &passages[..8]);
    plain.embed(&passages[..8]);

    let (mut tokens, mut ours, mut theirs) = (0, Duration::ZERO, Duration::ZERO);
    for (round, slice) in passages.chunks(passages.len().div_ceil(settings.rounds)).enumerate() {
        // Who goes first changes, so that a drift of the machine's speed cancels out.
        for turn in [round % 2, 1 - round % 2] {
            if turn == 0 {
                let ((_, count), took) = time(|| embed(&mut client, &model, BULK, slice));
                ours += took;
                tokens += count;
            } else {
                theirs += time(|| plain.embed(slice)).1;
            }
        }
    }
    let rate = |took: Duration| tokens as f64 / took.as_secs_f64();
    println!("\nbulk: {} passages of scifact, {tokens} tokens", passages.len());
    println!("  ONNX Runtime   {:8.0} tokens/s", rate(theirs));
    println!("  ragd           {:8.0} tokens/s", rate(ours));
    println!("  ratio          {:8.3}          (goal: at least 0.95)", rate(ours) / rate(theirs));
    println!("  ragd resident  {:8.0} MB", megabytes(&ragd));
}

/// One short query after the other, with nobody else there.
///
/// The best turn is shown too: on a machine that does other things it says more than the
/// median of all.
pub fn query(installed: &Installed, data: &Data, settings: &Settings) {
    let queries = short_queries(data);
    let model = installed.model(&settings.file);
    let (ragd, mut plain) = (installed.start(), Plain::load(installed, &model));
    let mut client = ragd.connect();
    let (mut ours, mut theirs) = (Turns::default(), Turns::default());
    for turn in 0..settings.rounds * 8 {
        let slice = &queries[turn * TURN % (queries.len() - TURN)..][..TURN];
        theirs.take(slice, |query| {
            plain.embed(query);
        });
        ours.take(slice, |query| {
            embed(&mut client, &model, QUERY, query);
        });
    }
    println!("\nquery: {} short queries of squad_train_sample, one at a time", ours.all.len());
    println!("                  p50 ms    p99 ms  p50 of the best turn");
    theirs.print("ONNX Runtime");
    ours.print("ragd");
    println!(
        "  ragd over it  {:8.2}            {:8.2}    (goal: at most 0.5)",
        quantile(&mut ours.all, 0.5) - quantile(&mut theirs.all, 0.5),
        ours.best - theirs.best
    );
}

/// Queries in one turn.
const TURN: usize = 25;

/// The times of one side.
struct Turns {
    all: Vec<Duration>,
    best: f64,
}

impl Default for Turns {
    fn default() -> Self {
        Turns { all: Vec::new(), best: f64::INFINITY }
    }
}

impl Turns {
    /// Asks a few queries; the first ones only wake threads up.
    fn take(&mut self, queries: &[String], mut ask: impl FnMut(&[String])) {
        let times = queries.iter().map(|query| time(|| ask(std::slice::from_ref(query))).1);
        let mut times: Vec<Duration> = times.skip(5).collect();
        self.best = self.best.min(quantile(&mut times, 0.5));
        self.all.extend(times);
        // Threads of one side that still spin must not slow the other down.
        thread::sleep(Duration::from_millis(30));
    }

    fn print(&mut self, name: &str) {
        let (p50, p99) = (quantile(&mut self.all, 0.5), quantile(&mut self.all, 0.99));
        println!("  {name:12}  {p50:8.2}  {p99:8.2}  {:8.2}", self.best);
    }
}

/// Clients that ask one query after the other, all at once.
pub fn clients(installed: &Installed, data: &Data, settings: &Settings) {
    let queries = short_queries(data);
    let model = installed.model(&settings.file);
    let ragd = Arc::new(installed.start());
    embed(&mut ragd.connect(), &model, QUERY, &queries[..1]);
    println!("\nclients: short queries of squad_train_sample, {} s each", settings.seconds);
    println!("  clients  queries/s    p50 ms    p99 ms  resident MB");
    for count in [1, 8, 32] {
        let started = Instant::now();
        let end = started + Duration::from_secs(settings.seconds);
        let threads: Vec<_> = (0..count)
            .map(|number| {
                let (ragd, model) = (Arc::clone(&ragd), model.clone());
                let mine = queries[number * 60 % queries.len()..].to_vec();
                thread::spawn(move || ask_until(&ragd, &model, &mine, end))
            })
            .collect();
        let mut times: Vec<Duration> =
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        let rate = times.len() as f64 / started.elapsed().as_secs_f64();
        println!(
            "  {count:7}  {rate:9.0}  {:8.2}  {:8.2}  {:11.0}",
            quantile(&mut times, 0.5),
            quantile(&mut times, 0.99),
            megabytes(&ragd)
        );
    }
}

/// Batches of several sizes: what a load gains, what a query beside it loses.
pub fn budget(installed: &Installed, data: &Data, settings: &Settings) {
    let passages = texts(&data.read("scifact"), settings.passages);
    let queries = short_queries(data);
    let model = installed.model(&settings.file);
    let mut sizes = [256, 512, 1024, 2048, 4096, 8192].map(|budget| Size::start(installed, budget));
    for slice in passages.chunks(passages.len().div_ceil(settings.rounds)) {
        for size in &mut sizes {
            size.take(&model, slice, &queries);
        }
    }
    println!("\nbudget: {} passages of scifact, a query every 100 ms beside them", passages.len());
    println!("  tokens a batch  tokens/s  best turn  query p50 ms    p90 ms  resident MB");
    for size in &mut sizes {
        println!(
            "  {:14}  {:8.0}  {:9.0}  {:12.1}  {:8.1}  {:11.0}",
            size.budget,
            size.tokens as f64 / size.took.as_secs_f64(),
            size.best,
            quantile(&mut size.times, 0.5),
            quantile(&mut size.times, 0.9),
            megabytes(&size.ragd)
        );
    }
}

/// A ragd with batches of one size.
struct Size {
    budget: usize,
    ragd: Ragd,
    tokens: u64,
    took: Duration,
    best: f64,
    times: Vec<Duration>,
}

impl Size {
    fn start(installed: &Installed, budget: usize) -> Size {
        let argument = budget.to_string();
        let ragd = Ragd::start_with(installed.library(), &["--max-batch-tokens", &argument]);
        Size { budget, ragd, tokens: 0, took: Duration::ZERO, best: 0.0, times: Vec::new() }
    }

    fn take(&mut self, model: &ModelRef, passages: &[String], queries: &[String]) {
        let mut client = self.ragd.connect();
        embed(&mut client, model, BULK, &passages[..1]);
        let ((_, tokens), took) = time(|| embed(&mut client, model, BULK, passages));
        self.tokens += tokens;
        self.took += took;
        self.best = self.best.max(tokens as f64 / took.as_secs_f64());
        self.times.extend(query_beside(&self.ragd, model, passages, queries));
    }
}

/// The two files of the model: how fast, and how good.
pub fn quality(installed: &Installed, data: &Data) {
    println!("\nquality: exact search over whole sets");
    println!("  set                 file                    tokens/s   nDCG@10");
    for name in ["scifact", "squad_train_sample"] {
        let set = data.read(name);
        for file in ["onnx/model.onnx", "onnx/model_int8.onnx"] {
            let model = installed.model(file);
            let ragd = installed.start();
            let mut client = ragd.connect();
            embed(&mut client, &model, BULK, &["warm".to_string()]);
            let passages = texts(&set, usize::MAX);
            let ((passages, tokens), took) = time(|| embed(&mut client, &model, BULK, &passages));
            let queries: Vec<String> = set.queries.iter().map(|(_, text)| text.clone()).collect();
            let (queries, _) =
                embed(&mut client, &model, (EmbeddingKind::Query, Lane::Bulk), &queries);
            let dimension = queries.len() / set.queries.len();
            let ndcg = ndcg_at_10(&set, &queries, &passages, dimension);
            let rate = tokens as f64 / took.as_secs_f64();
            println!("  {:18}  {file:22}  {rate:8.0}  {ndcg:8.4}", set.name);
        }
    }
}

fn texts(set: &Set, count: usize) -> Vec<String> {
    set.passages.iter().take(count).map(|(_, text)| text.clone()).collect()
}

fn short_queries(data: &Data) -> Vec<String> {
    let queries = data.read("squad_train_sample").queries.into_iter().map(|(_, text)| text);
    queries.filter(|text| text.len() <= SHORT).collect()
}

/// The times of queries asked one after the other until `end`.
fn ask_until(ragd: &Ragd, model: &ModelRef, queries: &[String], end: Instant) -> Vec<Duration> {
    let mut client = ragd.connect();
    let mut times = Vec::new();
    for query in queries.iter().cycle() {
        if Instant::now() >= end {
            break;
        }
        times.push(time(|| embed(&mut client, model, QUERY, std::slice::from_ref(query))).1);
    }
    times
}

/// The times of queries asked while passages are loaded.
fn query_beside(
    ragd: &Ragd,
    model: &ModelRef,
    passages: &[String],
    queries: &[String],
) -> Vec<Duration> {
    let loading = AtomicBool::new(true);
    thread::scope(|scope| {
        let asker = scope.spawn(|| {
            let mut client = ragd.connect();
            let mut times = Vec::new();
            for query in queries.iter().cycle() {
                thread::sleep(Duration::from_millis(100));
                if !loading.load(Ordering::Relaxed) {
                    break;
                }
                let call = || embed(&mut client, model, QUERY, std::slice::from_ref(query));
                times.push(time(call).1);
            }
            times
        });
        embed(&mut ragd.connect(), model, BULK, passages);
        loading.store(false, Ordering::Relaxed);
        asker.join().unwrap()
    })
}

fn megabytes(ragd: &Ragd) -> f64 {
    ragd.resident() as f64 / 1e6
}
