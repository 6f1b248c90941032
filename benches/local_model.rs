//! # What does a local model lose on the way through ragd?
//!
//! ```text
//! make bench-local-model                        SmolLM2-135M of make test-llm
//! make bench-local-model GGUF=/path/model.gguf  another one
//! ```
//!
//! Beside each other, on the same cores and with as many threads: llama.cpp called in a loop, as its own bench does (a
//! prompt in batches of 512 tokens, then one token after another, of which nothing is chosen or turned into text), and a
//! call of a session to ragd, which passes it on to the process of the model: chat template, tokens, sampling, text and
//! both sockets included. Each is run five times in turn, and the best of each counts: what the machine does beside makes a
//! run slower, never faster.

#[allow(dead_code)]
#[path = "../tests/support/gguf.rs"]
mod gguf;
#[allow(dead_code)]
#[path = "../tests/support/plain_llama.rs"]
mod plain_llama;
#[allow(dead_code)]
#[path = "../tests/support/ragd.rs"]
mod ragd;

use std::thread;
use std::time::{Duration, Instant};

use pg_rag::daemon::connection::ClientConnection;
use pg_rag::daemon::local_model::context::ContextSize;
use pg_rag::daemon::local_model::library::Token;

use gguf::{InstalledLlm, generate};
use plain_llama::PlainLlama;
use ragd::Ragd;

const RUNS: usize = 5;

/// Tokens of a prompt and of a text, about.
const READ: usize = 512;
const WRITTEN: u32 = 128;

/// Sessions that write at once.
const SESSIONS: usize = 4;

const STORY: &str = "The miller carried the last sack of flour down to the river, where a boat was waiting for the \
    market in the town below. ";

fn main() {
    let Some(llm) = InstalledLlm::find() else { return };
    let threads = thread::available_parallelism().map_or(1, |it| it.get());
    let ragd = llm.start_with(&["--llama-threads", &threads.to_string()]);
    let mut client = ragd.connect();
    let mut plain = PlainLoop::load(&llm, threads);
    generate(&mut client, llm.request("Hello", 1)).expect("a text");
    let mut ours = Figures::default();
    let mut theirs = Figures::default();
    for run in 0..RUNS {
        theirs.best(plain.measure());
        ours.best(through_ragd(&mut client, &llm, run));
    }
    let model = llm.file().path.rsplit('/').next().unwrap_or_default().to_owned();
    println!("{model}, {threads} threads, tokens a second, best of {RUNS}\n");
    println!("| work | llama.cpp in a loop | through ragd | ratio |");
    println!("|---|---|---|---|");
    row(&format!("reading, {READ} tokens"), theirs.reading, ours.reading);
    row(&format!("writing, {WRITTEN} tokens"), theirs.writing, ours.writing);
    let (alone, together) = sessions(&ragd, &llm);
    println!("\n| sessions | tokens a second of all of them | ratio |");
    println!("|---|---|---|");
    println!("| 1 | {alone:.1} | |");
    println!("| {SESSIONS} | {together:.1} | {:.2} |", together / alone);
    let (first, second) = same_beginning(&mut client, &llm);
    println!("\n| prompt | until its text |");
    println!("|---|---|");
    println!("| of {READ} tokens | {} ms |", first.as_millis());
    println!("| the same with another question at its end | {} ms |", second.as_millis());
}

fn row(work: &str, theirs: f64, ours: f64) {
    println!("| {work} | {theirs:.1} | {ours:.1} | {:.2} |", ours / theirs);
}

/// Tokens a second.
#[derive(Clone, Copy, Default)]
struct Figures {
    reading: f64,
    writing: f64,
}

impl Figures {
    fn best(&mut self, other: Figures) {
        self.reading = self.reading.max(other.reading);
        self.writing = self.writing.max(other.writing);
    }
}

/// llama.cpp in this process, and what it reads.
struct PlainLoop {
    llama: PlainLlama,
    prompt: Vec<Token>,
}

impl PlainLoop {
    fn load(llm: &InstalledLlm, threads: usize) -> PlainLoop {
        let size = ContextSize { tokens: 4096, sequences: SESSIONS, threads };
        let llama = PlainLlama::load(llm, size);
        let prompt = llama.tokenize(&STORY.repeat(READ / 16))[..READ].to_vec();
        PlainLoop { llama, prompt }
    }

    fn measure(&mut self) -> Figures {
        self.llama.forget();
        let begun = Instant::now();
        self.llama.read(&self.prompt, 0);
        let reading = READ as f64 / begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        for (at, token) in self.prompt[..WRITTEN as usize].iter().enumerate() {
            self.llama.read(&[*token], READ + at);
        }
        Figures { reading, writing: f64::from(WRITTEN) / begun.elapsed().as_secs_f64() }
    }
}

/// A question whose beginning no other has, with about so many tokens before it.
fn question(number: usize, tokens: usize) -> String {
    let words = STORY.repeat(tokens / 24);
    format!("Story number {number}: {words}\n\nTell the story once more, with all details.")
}

/// The time of a text of at most so many tokens, how many it has, and those of its prompt.
fn timed(
    client: &mut ClientConnection,
    llm: &InstalledLlm,
    question: &str,
    most: u32,
) -> (Duration, u64, u64) {
    let begun = Instant::now();
    let text = generate(client, llm.request(question, most)).expect("a text");
    let tokens = |count: Option<u64>| count.unwrap_or_default();
    (begun.elapsed(), tokens(text.completion_tokens), tokens(text.prompt_tokens))
}

fn through_ragd(client: &mut ClientConnection, llm: &InstalledLlm, run: usize) -> Figures {
    let question = question(run, READ);
    let (first, _, read) = timed(client, llm, &question, 1);
    // What was read is kept, so this is the time of one token, and the other that of as many more.
    let (one, _, _) = timed(client, llm, &question, 1);
    let (all, written, _) = timed(client, llm, &question, WRITTEN + 1);
    Figures {
        reading: read as f64 / first.as_secs_f64(),
        writing: written.saturating_sub(1) as f64 / all.saturating_sub(one).as_secs_f64(),
    }
}

/// Tokens a second of one session, and of several at once together.
fn sessions(ragd: &Ragd, llm: &InstalledLlm) -> (f64, f64) {
    let speed = |sessions: usize| {
        let asked: Vec<String> = (0..sessions).map(|session| question(100 + session, 64)).collect();
        for question in &asked {
            timed(&mut ragd.connect(), llm, question, 1);
        }
        let begun = Instant::now();
        let written: u64 = thread::scope(|scope| {
            let threads: Vec<_> = asked
                .iter()
                .map(|question| {
                    scope.spawn(move || timed(&mut ragd.connect(), llm, question, WRITTEN).1)
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("a text")).sum()
        });
        written as f64 / begun.elapsed().as_secs_f64()
    };
    let best = |sessions| (0..RUNS).map(|_| speed(sessions)).fold(0.0, f64::max);
    (best(1), best(SESSIONS))
}

/// How long one token takes after a long prompt, and after the same one with another end.
fn same_beginning(client: &mut ClientConnection, llm: &InstalledLlm) -> (Duration, Duration) {
    let question = question(1000, READ);
    let (first, _, _) = timed(client, llm, &question, 1);
    let (second, _, _) = timed(client, llm, &format!("{question} In verse."), 1);
    (first, second)
}
