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
        let threshold = with[((with.len() as f64 * refused) as usize).min(with.len() - 1)];
        let caught = asked.iter().filter(|one| one.without < threshold).count();
        println!("  {refused:15.2}  {:9.3}  {threshold:9.3}", caught as f64 / asked.len() as f64);
    }
}

/// Of the questions with like confidence, how many could be answered.
pub fn calibration(asked: &[Asked]) {
    println!("  confidence  questions  answerable");
    for tenth in 0..10 {
        let within = |confidence: &f32| ((confidence * 10.0) as usize).min(9) == tenth;
        let with = asked.iter().filter(|one| within(&one.with)).count();
        let without = asked.iter().filter(|one| within(&one.without)).count();
        println!(
            "  {:.1} to {:.1}  {:9}  {:10.3}",
            tenth as f64 / 10.0,
            (tenth + 1) as f64 / 10.0,
            with + without,
            with as f64 / (with + without).max(1) as f64
        );
    }
}

/// What an answer takes, after the search.
pub fn cost(timed: &[Timed]) {
    let tokens: u64 = timed.iter().map(|one| one.tokens).sum();
    let median = |time: fn(&Timed) -> Duration| {
        let times = sorted(timed.iter().map(|one| time(one).as_secs_f32() * 1e3));
        times[times.len() / 2]
    };
    println!(
        "  an answer, median            {:.1} ms, of which {:.1} ms are not the model's; {} tokens embedded",
        median(|one| one.whole),
        median(|one| one.own),
        tokens / timed.len() as u64
    );
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

fn sorted(values: impl Iterator<Item = f32>) -> Vec<f32> {
    let mut values: Vec<f32> = values.collect();
    values.sort_by(f32::total_cmp);
    values
}
