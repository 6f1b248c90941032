//! The tables.

use std::time::Duration;

use crate::ask::{Asked, Timed};

/// How often the answer is there.
pub fn quality(asked: &[Asked]) {
    let share = |is: fn(&Asked) -> bool| {
        asked.iter().filter(|one| is(one)).count() as f64 / asked.len() as f64
    };
    let sentences: usize = asked.iter().map(|one| one.sentences).sum();
    println!("  passage retrieved            {:.3}", share(|one| one.retrieved));
    println!("  answer in the best sentence  {:.3}", share(|one| one.in_best));
    println!(
        "  answer in the evidence       {:.3}   {:.2} sentences on average",
        share(|one| one.in_evidence),
        sentences as f64 / asked.len() as f64
    );
    println!("  answerable or not, AUROC     {:.3}", area(asked));
}

/// How well questions are told apart from those whose passage does not hold the answer.
pub fn adversarial(asked: &[Asked], others: &[f32]) {
    if !others.is_empty() {
        let with: Vec<f32> = asked.iter().map(|one| one.with).collect();
        println!("  not in its passage, AUROC    {:.3}", area_of(&with, others));
    }
}

/// Wrong refusals against unanswerable questions that are caught.
pub fn curve(asked: &[Asked]) {
    let with = sorted(asked.iter().map(|one| one.with));
    println!("  wrongly refused     caught  threshold");
    for refused in [0.01, 0.02, 0.05, 0.10, 0.15, 0.20, 0.30] {
        let threshold = quantile(&with, refused);
        let caught = asked.iter().filter(|one| one.without < threshold).count();
        println!("  {refused:15.2}  {:9.3}  {threshold:9.3}", caught as f64 / asked.len() as f64);
    }
}

/// What an answer takes, after the search. Median and p95 of each line are of its own times: the slowest answers need
/// not be those that are read longest.
pub fn cost(timed: &[Timed]) {
    let line = |what: &str, time: fn(&Timed) -> Duration| {
        let times = sorted(timed.iter().map(|one| time(one).as_secs_f32() * 1e3));
        let [median, p95] = [0.5, 0.95].map(|share| quantile(&times, share));
        println!("  {what:28} {median:.1} ms, p95 {p95:.1} ms");
    };
    line("an answer, median", |one| one.whole);
    if timed.iter().any(|one| !one.reading.is_zero()) {
        line("  of which the reader's", |one| one.reading);
    }
    line("  of which not the model's", |one| one.own);
    let tokens: u64 = timed.iter().map(|one| one.tokens).sum();
    println!("  tokens embedded, mean        {}", tokens / timed.len().max(1) as u64);
}

fn area(asked: &[Asked]) -> f64 {
    let with: Vec<f32> = asked.iter().map(|one| one.with).collect();
    let without: Vec<f32> = asked.iter().map(|one| one.without).collect();
    area_of(&with, &without)
}

/// The probability that one of `with` is given more confidence than one of `without`.
pub fn area_of(with: &[f32], without: &[f32]) -> f64 {
    let without = sorted(without.iter().copied());
    let below = |confidence: f32| {
        let less = without.partition_point(|other| *other < confidence);
        let equal = without.partition_point(|other| *other <= confidence) - less;
        less as f64 + equal as f64 / 2.0
    };
    let sum: f64 = with.iter().map(|one| below(*one)).sum();
    sum / (with.len() * without.len()) as f64
}

/// The value below which a share of sorted values lies; no number where there are none.
fn quantile(sorted: &[f32], share: f64) -> f32 {
    let at = (sorted.len() as f64 * share) as usize;
    sorted.get(at).or(sorted.last()).copied().unwrap_or(f32::NAN)
}

fn sorted(values: impl Iterator<Item = f32>) -> Vec<f32> {
    let mut values: Vec<f32> = values.collect();
    values.sort_by(f32::total_cmp);
    values
}
