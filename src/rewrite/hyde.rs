//! Hypothetical passages (HyDE, Gao et al., ACL 2023).
//!
//! A made-up answer is nearer to a real one than a question is. The passages are embedded as
//! documents are, and the vector that is looked for is the mean of theirs and the question's.
//! Their words are not looked for: a made-up name is found as well as a real one.

use super::{Lookup, Merge, Result, RewriteTask, Rewriting};
use crate::prompt::writer::Writer;

/// Longest passage, in characters; what is longer is cut.
const LONGEST: usize = 2000;

/// The question with passages that would answer it.
pub(super) fn rewrite(task: &RewriteTask<'_>, writer: &mut dyn Writer) -> Result<Rewriting> {
    let answer = writer.write(&task.messages()?)?;
    let passages = passages(&answer, task.number());
    if passages.is_empty() {
        return Ok(Rewriting::given_up(task.question, "no passage"));
    }
    let lookup = Lookup { text: task.question.to_owned(), passages };
    Ok(Rewriting::of(vec![lookup], Merge::Union))
}

/// At most `most` passages of `answer`, which stand between lines of dashes.
fn passages(answer: &str, most: usize) -> Vec<String> {
    let mut passages = vec![String::new()];
    for line in answer.lines() {
        let line = line.trim();
        let is_border = line.len() >= 3 && line.bytes().all(|byte| byte == b'-');
        match passages.last_mut() {
            _ if is_border => passages.push(String::new()),
            Some(last) if !line.starts_with("```") && last.len() < 4 * LONGEST => {
                *last += line;
                last.push('\n');
            }
            _ => {}
        }
        if passages.len() > most + 1 {
            break;
        }
    }
    passages
        .iter()
        .map(|passage| passage.trim().chars().take(LONGEST).collect::<String>())
        .filter(|passage| passage.chars().any(char::is_alphanumeric))
        .take(most)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(answer: &str, expected: &[&str]) {
        assert_eq!(passages(answer, 2), expected, "{answer:?}");
    }

    #[test]
    fn passages_are_told_apart() {
        check("Ink is black.\nIt is old.", &["Ink is black.\nIt is old."]);
        check("A.\n---\nB.\n-----\nC.", &["A.", "B."]);
        check("```\nA.\n```\n---\n\n---", &["A."]);
        check("", &[]);
        check("---\n ... \n---", &[]);
        check(&"x".repeat(5000), &[&"x".repeat(LONGEST)]);
        check(&"line\n".repeat(10_000), &[&"line\n".repeat(LONGEST / 5)]);
        check(&"---\n".repeat(10_000), &[]);
    }
}
