//! Many questions in one call, beside as many calls.

use std::time::Instant;

use crate::Result;
use crate::cluster::Cluster;
use crate::percentile;
use crate::report::{Report, Table, gain};

/// Questions of a round.
const QUESTIONS: usize = 100;

/// Rounds, each with questions of its own.
const ROUNDS: usize = 5;

/// Asks new questions in turns: some in one call, and as many one by one.
pub fn measure(cluster: &Cluster, questions: &[String], report: &mut Report) -> Result<()> {
    let mut client = cluster.connect();
    let one = client.prepare("SELECT chunk_id, content FROM rag_retrieve($1, k => 10)")?;
    let all = client.prepare("SELECT chunk_id, content FROM rag_retrieve_batch($1, k => 10)")?;
    let (mut singly, mut together, mut found) = (Vec::new(), Vec::new(), [0, 0]);
    for round in 0..ROUNDS {
        let [first, second] = [0, 1].map(|half| new_questions(questions, 2 * round + half));
        let started = Instant::now();
        for question in &first {
            found[0] += client.query(&one, &[question])?.len();
        }
        singly.push(per_question(started));
        let started = Instant::now();
        found[1] += client.query(&all, &[&second])?.len();
        together.push(per_question(started));
    }
    let mut table = Table::new(["ms a question", "p50", "", "found"]);
    let (base, batch) = (percentile(&singly, 0.5), percentile(&together, 0.5));
    let mean = |found: usize| format!("{:.1}", found as f64 / (ROUNDS * QUESTIONS) as f64);
    let none = gain(Some(base), base, false);
    table.row(["one by one".to_owned(), format!("{base:.2}"), none, mean(found[0])]);
    let gained = gain(Some(base), batch, true);
    table.row(["rag_retrieve_batch".to_owned(), format!("{batch:.2}"), gained, mean(found[1])]);
    report.table(&table);
    Ok(())
}

/// Questions that nobody has asked: a word with the number of the round makes other texts of them.
fn new_questions(questions: &[String], round: usize) -> Vec<String> {
    let texts = questions.iter().cycle().skip(round * QUESTIONS).take(QUESTIONS);
    texts.map(|question| format!("{question} In round {round}?")).collect()
}

fn per_question(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1000.0 / QUESTIONS as f64
}
