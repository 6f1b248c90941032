//! Groups of sources are answered from at once; the answer that is surest of itself is taken.

use std::collections::BTreeSet;

use serde_json::Value;

use super::cited::only;
use super::{AnswerStrategy, Desk, StrategyResult};
use crate::context::step::Material;
use crate::error::Result;
use crate::prompt::messages::is_no_answer;
use crate::prompt::{object, place};

/// Sources in a call.
const GROUP: u32 = 1;

/// `map_rerank`.
pub static STRATEGY: AnswerStrategy = AnswerStrategy {
    name: "map_rerank",
    description: "answers from each group of sources separately, in parallel, and returns the \
        answer with the highest score",
    calls: "1 per group of group_size (1) sources, in parallel",
    options: &["group_size"],
    is_for_extractive: false,
    reads_in_groups: true,
    answer,
};

fn answer(desk: &mut Desk<'_>) -> Result<StrategyResult> {
    let sources = desk.found()?;
    let size = desk.options.group_size.unwrap_or(GROUP) as usize;
    let groups = desk.groups(&sources, size)?;
    let mut prompts = Vec::with_capacity(groups.len());
    for group in &groups {
        let material = Material { question: desk.question, sources: group, ..Material::default() };
        prompts.push(desk.prompt(place::MAP_RERANK, material)?);
    }
    let replies = desk.write_all("answer", prompts)?;
    let mut best: Option<(String, f64)> = None;
    for (reply, group) in replies.into_iter().zip(groups) {
        let Some((text, score)) = reply.as_deref().and_then(read) else { continue };
        // Of equals the one whose source was found to be better.
        if best.as_ref().is_none_or(|(_, known)| score > *known) {
            let known: BTreeSet<usize> = group.iter().map(|one| one.number).collect();
            best = Some((only(&text, &known), score));
        }
    }
    Ok(best.map_or(StrategyResult::Nothing, |(text, _)| StrategyResult::Answer(text)))
}

/// An answer and its score, from 0 to 100, 0 where none can be read; `None` where there is no
/// answer.
fn read(reply: &str) -> Option<(String, f64)> {
    let (text, score) = of_object(reply).unwrap_or_else(|| of_lines(reply));
    let text = text.trim();
    let text = strip(text, "answer:").unwrap_or(text).trim();
    let score = if score.is_finite() { score.clamp(0.0, 100.0) } else { 0.0 };
    (!text.is_empty() && !is_no_answer(text)).then(|| (text.to_owned(), score))
}

fn of_object(reply: &str) -> Option<(String, f64)> {
    let Value::Object(members) = object::find(reply)? else { return None };
    let score = members.get("score")?;
    let score = score.as_f64().or_else(|| number(score.as_str()?)).unwrap_or_default();
    Some((members.get("answer")?.as_str()?.to_owned(), score))
}

/// The lines before the last one that begins with "Score", and the number in that.
fn of_lines(reply: &str) -> (String, f64) {
    let lines: Vec<&str> = reply.lines().collect();
    match lines.iter().rposition(|line| score_of(line).is_some()) {
        Some(at) => {
            let score = score_of(lines[at]).and_then(number).unwrap_or_default();
            (lines[..at].join("\n"), score)
        }
        None => (reply.to_owned(), 0.0),
    }
}

/// What follows "Score" at the beginning of a line.
fn score_of(line: &str) -> Option<&str> {
    strip(line.trim_start_matches(['*', '#', '-', ' ']), "score")
}

/// The first number of a text.
fn number(text: &str) -> Option<f64> {
    let numbers = text.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    numbers.map(|it| it.trim_matches('.')).find(|it| !it.is_empty())?.parse().ok()
}

/// What follows `word`, in whatever letters, at the beginning of `text`.
fn strip<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let head = text.get(..word.len())?;
    head.eq_ignore_ascii_case(word).then(|| &text[word.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_read_as_models_write_them() {
        let check = |reply: &str, text: &str, score: f64| {
            assert_eq!(read(reply), Some((text.to_owned(), score)), "{reply}");
        };
        check("At noon [1].\nScore: 80", "At noon [1].", 80.0);
        check("Answer: At noon [1].\n\n**Score:** 85/100", "At noon [1].", 85.0);
        check("{\"answer\": \"At noon [1].\", \"score\": \"90\"}", "At noon [1].", 90.0);
        check("```json\n{\"score\": 70, \"answer\": \"a\"}\n```", "a", 70.0);
        check("Score two goals.\nScore: 7.5.", "Score two goals.", 7.5);
        check("At noon.", "At noon.", 0.0);
        check("a\nScore: high", "a", 0.0);
        check("a\nscore: 99999", "a", 100.0);
        for nothing in ["", "Score: 9", "I don't know: the sources do not say.\nScore: 0"] {
            assert_eq!(read(nothing), None, "{nothing}");
        }
    }
}
