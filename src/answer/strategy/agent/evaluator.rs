//! Does the draft of an answer answer the question?
//!
//! A second call judges it with the sources before it. What it says is no instruction: it is a note, and what is done
//! about it the agent decides.

use serde_json::{Value, json};

use super::super::Desk;
use super::super::desk::note;
use super::action::StepPrompt;
use crate::context::step::{Material, Numbered};
use crate::error::{ErrorKind, Result};
use crate::prompt::{object, place};
use crate::text::line::single_line;

/// The template in which a draft is judged, and what the call is called.
const TEMPLATE: &str = "evaluate";

/// The form of a judgement; the reason is written first.
const SCHEMA: &str = r#"{"type": "object", "properties": {"reason": {"type": "string"}, "complete": {"type": "boolean"}, "missing": {"type": "string"}}, "required": ["reason", "complete", "missing"], "additionalProperties": false}"#;

/// Longest text of what is missing, in characters.
const LONGEST: usize = 500;

/// What the evaluator misses in `draft`, which was written from `sources`; `None` where it misses nothing, the budget has
/// no room for it, its call fails, or what it says is no judgement. Users see it in the usage.
pub fn missing(desk: &mut Desk<'_>, draft: &str, sources: &[Numbered]) -> Result<Option<String>> {
    let notes = [note(draft)];
    let sources = desk.newest(sources, &notes)?;
    let material = Material {
        question: desk.question,
        sources: &sources,
        notes: &notes,
        ..Material::default()
    };
    let messages = desk.prompt(place::EVALUATE, material)?;
    let asked = StepPrompt { messages, schema: Some(SCHEMA.to_owned()), tools: None };
    let reply = match desk.prepare_in(TEMPLATE, asked) {
        // The answer is there, whatever becomes of a second opinion.
        Err(error) if may_fail(error.kind()) => {
            desk.announce(TEMPLATE, error.message());
            return Ok(None);
        }
        reply => reply?,
    };
    let Some(reply) = reply else { return Ok(None) };
    let SecondOpinion { complete, missing } = read(&reply.text);
    let said = match (missing.as_deref(), complete) {
        (Some(missing), _) => missing,
        (None, Some(true)) => "nothing is missing",
        (None, _) => "that is no judgement",
    };
    desk.announce(TEMPLATE, said);
    desk.tell("evaluation", json!({"complete": complete, "missing": missing}));
    Ok(missing)
}

fn may_fail(kind: ErrorKind) -> bool {
    kind.is_of_provider() || kind == ErrorKind::RoleBudgetSpent
}

/// What an evaluator says, as far as it says anything.
#[derive(Debug, Default, PartialEq)]
struct SecondOpinion {
    complete: Option<bool>,
    /// What is missing, where the answer is not complete.
    missing: Option<String>,
}

fn read(reply: &str) -> SecondOpinion {
    let found = object::find(reply).unwrap_or_default();
    let complete = found.get("complete").and_then(Value::as_bool);
    let missing = found.get("missing").and_then(Value::as_str).unwrap_or_default();
    let missing: String = single_line(missing).replace('\0', "").chars().take(LONGEST).collect();
    let is_clear = complete == Some(false) && !missing.is_empty();
    SecondOpinion { complete, missing: is_clear.then_some(missing) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_judgement_counts() {
        let check = |reply: &str, complete: Option<bool>, missing: Option<&str>| {
            let missing = missing.map(str::to_owned);
            assert_eq!(read(reply), SecondOpinion { complete, missing }, "{reply}");
        };
        check(
            r#"{"reason": "r", "complete": false, "missing": " the year\n of Bruges"}"#,
            Some(false),
            Some("the year of Bruges"),
        );
        check(r#"So: {"complete": false, "missing": "x"} indeed"#, Some(false), Some("x"));
        check(r#"{"complete": true, "missing": "the year"}"#, Some(true), None);
        check(r#"{"complete": false, "missing": " "}"#, Some(false), None);
        check(r#"{"complete": "no", "missing": "x"}"#, None, None);
        check("The year is missing.", None, None);
        check("", None, None);
        let long = json!({"complete": false, "missing": "x".repeat(5000)}).to_string();
        assert_eq!(read(&long).missing.unwrap().len(), LONGEST);
    }
}
