//! # How long does rag_bm25's index take, without PostgreSQL?
//!
//! ```text
//! cargo bench --no-default-features --bench lexical [-- DOCUMENTS]
//! ```
//!
//! Documents of about forty words of a Zipf vocabulary, in runs about one subject, in memory:
//! how long building, inserting and vacuuming take, and how long the first ten hits of a query,
//! beside all hits, which is what an index without bounds would have to score.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use pg_rag::bm25::{
    Bm25Search, Bm25Settings, IndexBuilder, IndexedDocument, Inserted, Merging, Term, create,
    figures, flush, insert, vacuum,
};
use pg_rag::pages::ram::RamStore;
use pg_rag::pages::{PAGE_SIZE, RowId};

/// Documents, if no number is given.
const DOCUMENTS: u32 = 1_000_000;
const VOCABULARY: u32 = 300_000;
/// Documents that follow each other and have a subject in common.
const RUN: u32 = 50;
/// Memory of a build, as PostgreSQL's maintenance_work_mem by default.
const MEMORY: usize = 64 << 20;
/// Of so many times the shortest is shown.
const ROUNDS: usize = 15;

const QUERIES: [(&str, &[&str]); 9] = [
    ("the commonest word", &["w0"]),
    ("a common word", &["w20"]),
    ("two of the commonest", &["w1", "w2"]),
    ("two common words", &["w20", "w30"]),
    ("common and rare", &["w3", "w20000"]),
    ("five words", &["w5", "w50", "w500", "w5000", "w50000"]),
    ("ten words", &["w9", "w14", "w33", "w71", "w150", "w340", "w700", "w1500", "w3100", "w9000"]),
    ("a rare word", &["w100000"]),
    ("a prefix, w123...", &["w123*"]),
];

fn main() {
    let argument = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let documents = argument.unwrap_or(DOCUMENTS);
    let (store, scratch) = (RamStore::default(), RamStore::default());
    create(&store).expect("an empty store");
    let mut corpus = Corpus::default();

    let mut spent = Duration::ZERO;
    let mut builder = IndexBuilder::new(&scratch, MEMORY);
    for number in 0..documents {
        let words = corpus.next(number);
        let start = Instant::now();
        builder.add(&document(number, &words)).expect("room");
        spent += start.elapsed();
    }
    let start = Instant::now();
    builder.finish(&store).expect("room");
    let finish = start.elapsed();
    println!("build of {documents} documents: {:.1?}, of it {finish:.1?} to merge", spent + finish);
    say_size(&store);
    for (name, words) in QUERIES {
        measure(&store, name, words);
    }

    let more = documents / 10;
    let mut slowest = Duration::ZERO;
    let mut spent = Duration::ZERO;
    for number in documents..documents + more {
        let words = corpus.next(number);
        let document = document(number, &words);
        let start = Instant::now();
        match insert(&store, &document).expect("an index") {
            Inserted::Done => {}
            Inserted::FlushDue => flush(&store, Merging::Quick).expect("an index"),
        }
        slowest = slowest.max(start.elapsed());
        spent += start.elapsed();
    }
    println!("{more} inserts: {:.1?} each, the slowest {slowest:.1?}", spent / more.max(1));
    say_size(&store);
    QUERIES.iter().for_each(|(name, words)| measure(&store, name, words));

    let start = Instant::now();
    let report = vacuum(&store, &mut |row| row.line % 10 == 3).expect("an index");
    println!("vacuum of {} rows of {}: {:.1?}", report.removed, report.left, start.elapsed());
    say_size(&store);
}

fn say_size(store: &RamStore) {
    let figures = figures(store).expect("an index");
    let used: u64 = figures.segments.iter().map(|segment| u64::from(segment.pages)).sum();
    let postings: u64 = figures.segments.iter().map(|segment| segment.postings).sum();
    let bytes = used * PAGE_SIZE as u64;
    println!(
        "  {} segments, {} MB in use, {} MB in all, {:.2} bytes a posting",
        figures.segments.len(),
        bytes >> 20,
        (u64::from(figures.pages) * PAGE_SIZE as u64) >> 20,
        bytes as f64 / postings.max(1) as f64
    );
}

fn measure(store: &RamStore, name: &str, words: &[&str]) {
    let query: Vec<Term> = words
        .iter()
        .map(|word| Term {
            bytes: word.trim_end_matches('*').as_bytes().to_vec(),
            prefix: word.ends_with('*'),
            weight: 1.0,
        })
        .collect();
    let run = |expected: usize, hits: usize| {
        let start = Instant::now();
        let mut search =
            Bm25Search::new(query.clone(), Bm25Settings::default(), expected).expect("a query");
        for _ in 0..hits {
            search.next(store).expect("an index");
        }
        (start.elapsed(), search.effort())
    };
    let mut times: Vec<Duration> = (0..ROUNDS).map(|_| run(10, 10).0).collect();
    times.sort_unstable();
    let effort = run(10, 10).1;
    let (all, _) = run(1 << 20, 1);
    println!(
        "  {name:<22} ten best {:>9.1?}, all {all:>9.1?}; {:>6} of {:>6} blocks, {:>6} scored",
        times[0],
        effort.decoded,
        effort.decoded + effort.skipped,
        effort.scored
    );
}

fn document<'a>(number: u32, words: &'a HashMap<String, u32>) -> IndexedDocument<'a> {
    let length = words.values().sum();
    let terms = words.iter().map(|(word, frequency)| (word.as_bytes(), *frequency));
    let row = RowId { block: number / 50, line: (number % 50) as u16 + 1 };
    IndexedDocument::new(row, length, terms).expect("short words")
}

/// Documents without end, the same in each run.
struct Corpus {
    state: u64,
    subject: [u32; 12],
}

impl Default for Corpus {
    fn default() -> Corpus {
        Corpus { state: 88_172_645_463_325_252, subject: [0; 12] }
    }
}

impl Corpus {
    fn share(&mut self) -> f64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A word by Zipf's law: the `n`th is met with a probability like `1 / n`.
    fn word(&mut self) -> u32 {
        (f64::from(VOCABULARY).powf(self.share()) - 1.0) as u32
    }

    fn next(&mut self, number: u32) -> HashMap<String, u32> {
        if number.is_multiple_of(RUN) {
            self.subject = std::array::from_fn(|_| self.word());
        }
        let length = 20 + (self.share() * 40.0) as u32;
        let mut words = HashMap::new();
        for _ in 0..length {
            let word = match self.share() < 0.3 {
                true => self.subject[(self.share() * 12.0) as usize],
                false => self.word(),
            };
            *words.entry(format!("w{word}")).or_default() += 1;
        }
        words
    }
}
