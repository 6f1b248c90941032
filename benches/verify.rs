//! # Does the verifier tell faithful answers from others?
//!
//! ```text
//! cargo bench --bench verify
//! ```
//!
//! `faith_begin` is the BEGIN benchmark: replies that four models gave to a question and a text,
//! with people's judgement whether the text says what the reply says. The weights were fitted to
//! its development part. Printed is the area under the ROC curve (the probability that a faithful
//! reply scores higher than another) beside that of plain word overlap, then what the verdicts say,
//! what a score means, and the time of a reply.
//!
//! Hardly a text there has numbers as tokenizers and the extraction from pages leave them, "98. 7" and
//! "$ 36, 000". So the texts that have decimals or groups of digits are rewritten so, and the replies
//! are compared with both. It also counts the faithful replies that are still supported after one digit
//! of a number in them is changed.
//!
//! The data is in `$PG_RAG_DATA` (default `../shared/data`). Where it is missing, that is said and
//! no more.

#[path = "support/invocation.rs"]
#[allow(dead_code)]
mod invocation;

use std::collections::HashSet;
use std::time::Instant;

use invocation::data_folder;
use pg_rag::verify::{Verdict, faithfulness, verify};
use serde::Deserialize;
use unicode_segmentation::UnicodeSegmentation;

#[derive(Deserialize)]
struct Row {
    context: String,
    response: String,
    faithful: Option<bool>,
    split: String,
}

fn main() {
    let file = data_folder().join("faith_begin/faithfulness.jsonl");
    let Ok(text) = std::fs::read_to_string(&file) else {
        println!("skipped: no judged data \"faith_begin\"; set PG_RAG_DATA");
        return;
    };
    let rows: Vec<Row> =
        text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect();
    println!("| part | replies | faithful | word overlap | verifier | ratio of errors |");
    println!("|---|---|---|---|---|---|");
    for part in ["dev", "test", "all"] {
        let chosen = rows
            .iter()
            .filter(|row| row.faithful.is_some() && (part == "all" || row.split == part));
        let chosen: Vec<&Row> = chosen.collect();
        let truth: Vec<bool> = chosen.iter().map(|row| row.faithful == Some(true)).collect();
        let plain = auroc(&chosen.iter().map(|row| overlap(row)).collect::<Vec<_>>(), &truth);
        let ours = auroc(&chosen.iter().map(|row| score(row)).collect::<Vec<_>>(), &truth);
        let faithful = truth.iter().filter(|is| **is).count();
        println!(
            "| {part} | {} | {faithful} | {plain:.4} | {ours:.4} | {:.2} |",
            chosen.len(),
            (1.0 - ours) / (1.0 - plain)
        );
    }
    split_numbers(&rows);
    verdicts(&rows);
    calibration(&rows);
    let begun = Instant::now();
    let sum: f64 = rows.iter().map(score).sum();
    let each = begun.elapsed().as_secs_f64() / rows.len() as f64;
    println!("\n{:.0} µs a reply, mean score {:.3}", each * 1e6, sum / rows.len() as f64);
}

fn score(row: &Row) -> f64 {
    score_of(&row.response, &row.context)
}

fn score_of(response: &str, context: &str) -> f64 {
    faithfulness(&verify(response, &[context], &mut || {}))
}

/// What is told of replies where the numbers of the text are split, beside the text as it is.
fn split_numbers(rows: &[Row]) {
    let has_number = |text: &str| (0..text.len()).any(|at| parts_number(text, at));
    let judged = rows.iter().filter(|row| row.faithful.is_some() && has_number(&row.context));
    let judged: Vec<&Row> = judged.collect();
    let both: Vec<&Row> = judged.iter().copied().filter(|row| has_number(&row.response)).collect();
    println!("\n| such numbers in | replies | faithful | text as it is | its numbers split |");
    println!("|---|---|---|---|---|");
    for (name, chosen) in [("the text", &judged), ("text and reply", &both)] {
        let truth: Vec<bool> = chosen.iter().map(|row| row.faithful == Some(true)).collect();
        let scores = |of: &dyn Fn(&Row) -> String| -> Vec<f64> {
            chosen.iter().map(|row| score_of(&row.response, &of(row))).collect()
        };
        let faithful = truth.iter().filter(|is| **is).count();
        let [plain, split] =
            [scores(&|row| row.context.clone()), scores(&|row| split(&row.context))]
                .map(|scores| auroc(&scores, &truth));
        println!("| {name} | {} | {faithful} | {plain:.4} | {split:.4} |", chosen.len());
    }
    println!("\n| faithful replies with such numbers | replies | supported | numbers split |");
    println!("|---|---|---|---|");
    let faithful: Vec<&Row> = both.into_iter().filter(|row| row.faithful == Some(true)).collect();
    for (name, changed) in [("as they are", false), ("with another number", true)] {
        let supported = |of: &dyn Fn(&Row) -> String| {
            let reply = |row: &Row| match changed {
                true => with_another_number(&row.response),
                false => row.response.clone(),
            };
            faithful.iter().filter(|row| score_of(&reply(row), &of(row)) >= 0.5).count()
        };
        let (plain, split) =
            (supported(&|row| row.context.clone()), supported(&|row| split(&row.context)));
        println!("| {name} | {} | {plain} | {split} |", faithful.len());
    }
}

/// `text` with a space behind each point before decimals and each comma before three digits, and behind "$".
fn split(text: &str) -> String {
    let mut split = String::with_capacity(text.len() + 16);
    for (at, sign) in text.char_indices() {
        split.push(sign);
        let is_amount = sign == '$' && text[at + 1..].starts_with(|c: char| c.is_ascii_digit());
        if is_amount || parts_number(text, at) {
            split.push(' ');
        }
    }
    split
}

/// Whether the character at this byte is the point before decimals, or the comma before three digits.
fn parts_number(text: &str, at: usize) -> bool {
    let Some(sign @ ("." | ",")) = text.get(at..at + 1) else { return false };
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
    let before = &text[text[..at].trim_end_matches(is_part).len()..at];
    let behind = &text[at + 1..];
    let digits = behind.len() - behind.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = &behind[digits..];
    // More points are those of a version or of a date.
    let goes_on = rest.starts_with('.') && rest[1..].starts_with(|c: char| c.is_ascii_digit());
    let is_number = before.ends_with(|c: char| c.is_ascii_digit()) && !before.contains('.');
    match sign {
        "," => is_number && digits == 3,
        _ => is_number && (1..=2).contains(&digits) && !goes_on,
    }
}

/// `text` with another digit at the beginning of its first number that is grouped or has decimals.
fn with_another_number(text: &str) -> String {
    let Some(at) = (0..text.len()).find(|at| parts_number(text, *at)) else { return text.into() };
    let start = text[..at].trim_end_matches(|c: char| c.is_ascii_digit() || c == ',').len();
    let is_digit = |c: char| c.is_ascii_digit();
    let start = start + text[start..at].find(is_digit).unwrap_or_default();
    let digit = if text[start..].starts_with('7') { "3" } else { "7" };
    format!("{}{digit}{}", &text[..start], &text[start + 1..])
}

/// What is told of the replies of the test part.
fn verdicts(rows: &[Row]) {
    println!("\n| test part | all claims supported | a claim contradicted | else |");
    println!("|---|---|---|---|");
    for truth in [true, false] {
        let mut counts = [0usize; 3];
        for row in rows.iter().filter(|row| row.split == "test" && row.faithful == Some(truth)) {
            let claims = verify(&row.response, &[&row.context], &mut || {});
            let any = |verdict| claims.iter().any(|claim| claim.verdict == verdict);
            let kind = match (any(Verdict::Contradicted), any(Verdict::Unsupported)) {
                (true, _) => 1,
                (false, true) => 2,
                (false, false) => 0,
            };
            counts[kind] += 1;
        }
        let name = if truth { "faithful" } else { "not faithful" };
        println!("| {name} | {} | {} | {} |", counts[0], counts[1], counts[2]);
    }
}

/// What part of the test part's replies of each score is faithful, if a reply was as likely to be
/// faithful as not: a score can be taken for a probability if both columns agree.
fn calibration(rows: &[Row]) {
    let judged = rows.iter().filter(|row| row.split == "test");
    let judged = judged.filter_map(|row| Some((score(row), row.faithful?)));
    let judged: Vec<(f64, bool)> = judged.collect();
    let all = |truth: bool| judged.iter().filter(|(_, faithful)| *faithful == truth).count() as f64;
    let weight = [0.5 / all(false), 0.5 / all(true)];
    println!("\n| test part, score | replies | mean score | faithful |");
    println!("|---|---|---|---|");
    let mut error = 0.0;
    for (low, high) in BINS.iter().zip(&BINS[1..]) {
        let inside: Vec<_> = judged.iter().filter(|(it, _)| low <= it && it < high).collect();
        let (mut all, mut mean, mut faithful) = (0.0, 0.0, 0.0);
        for (score, truth) in &inside {
            let weight = weight[usize::from(*truth)];
            all += weight;
            mean += weight * score;
            faithful += if *truth { weight } else { 0.0 };
        }
        if all > 0.0 {
            println!(
                "| {low} to {high} | {} | {:.3} | {:.3} |",
                inside.len(),
                mean / all,
                faithful / all
            );
            error += (mean - faithful).abs();
        }
    }
    println!("\nexpected calibration error {error:.3}");
}

/// Bounds of scores.
const BINS: [f64; 9] = [0.0, 0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 1.01];

/// Part of the reply's words that stand in the context.
fn overlap(row: &Row) -> f64 {
    let context = row.context.to_lowercase();
    let known: HashSet<&str> = context.unicode_words().collect();
    let response = row.response.to_lowercase();
    let words: Vec<&str> = response.unicode_words().collect();
    let held = words.iter().filter(|word| known.contains(*word)).count();
    held as f64 / words.len().max(1) as f64
}

/// The area under the ROC curve; of equal scores half counts.
fn auroc(scores: &[f64], truth: &[bool]) -> f64 {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*a].total_cmp(&scores[*b]));
    let positives = truth.iter().filter(|is| **is).count() as f64;
    let negatives = truth.len() as f64 - positives;
    let (mut at, mut ranks) = (0, 0.0);
    while at < order.len() {
        let equal = order[at..].iter().take_while(|one| scores[**one] == scores[order[at]]).count();
        let rank = at as f64 + (equal as f64 + 1.0) / 2.0;
        ranks += rank * order[at..at + equal].iter().filter(|one| truth[**one]).count() as f64;
        at += equal;
    }
    (ranks - positives * (positives + 1.0) / 2.0) / (positives * negatives)
}
