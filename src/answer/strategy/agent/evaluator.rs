//! Does the draft of an answer answer the question?
//!
//! A second call judges it with the sources before it. What it says is no instruction: it is a note, and what is done
//! about it the agent decides.

use serde_json::{Value, json};

use super::super::Desk;
use super::super::desk::note;
use super::action::StepPrompt;
use crate::context::step::{Material, Numbered};
use crate::error::Result;
use crate::prompt::object;
use crate::text::line::single_line;

/// The template in which a draft is judged, and what the call is called.
const TEMPLATE: &str = "evaluate";

/// The form of a judgement; the reason is written first.
const SCHEMA: &str = r#"{"type": "object", "properties": {"reason": {"type": "string"}, "complete": {"type": "boolean"}, "missing": {"type": "string"}}, "required": ["reason", "complete", "missing"], "additionalProperties": false}"#;

/// Longest text of what is missing, in characters.
const LONGEST: usize = 500;

/// What the evaluator misses in `draft`, which was written from `sources`; `None` where it misses nothing, the budget has
/// no room for it, or what it says is no judgement. Users see it in the usage.
pub fn missing(desk: &mut Desk<'_>, draft: &str, sources: &[Numbered]) -> Result<Option<String>> {
    let notes = [note(draft)];
    let sources = desk.newest(sources, &notes)?;
    let material = Material {
        question: desk.question,
        sources: &sources,
        notes: &notes,
        ..Material::default()
    };
    let messages = desk.prompt(TEMPLATE, material, &["question", "sources", "notes"])?;
    let asked = StepPrompt { messages, schema: Some(SCHEMA.to_owned()), tools: None };
    let Some(reply) = desk.prepare_in(TEMPLATE, asked)? else { return Ok(None) };
    let missing = read(&reply.text);
    let said = missing.as_deref().unwrap_or("nothing is missing");
    desk.announce(TEMPLATE, said);
    desk.tell("evaluation", json!({"complete": missing.is_none(), "missing": missing}));
    Ok(missing)
}

/// What a judgement says is missing.
fn read(reply: &str) -> Option<String> {
    let found = object::find(reply)?;
    if found.get("complete").and_then(Value::as_bool) != Some(false) {
        return None;
    }
    let missing = found.get("missing").and_then(Value::as_str).unwrap_or_default();
    let missing: String = single_line(missing).replace('\0', "").chars().take(LONGEST).collect();
    (!missing.is_empty()).then_some(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_judgement_counts() {
        let check = |reply: &str, expected: Option<&str>| {
            assert_eq!(read(reply).as_deref(), expected, "{reply}");
        };
        check(
            r#"{"reason": "r", "complete": false, "missing": " the year\n of Bruges"}"#,
            Some("the year of Bruges"),
        );
        check(r#"So: {"complete": false, "missing": "x"} indeed"#, Some("x"));
        check(r#"{"complete": true, "missing": "the year"}"#, None);
        check(r#"{"complete": false, "missing": " "}"#, None);
        check(r#"{"complete": "no", "missing": "x"}"#, None);
        check("The year is missing.", None);
        check("", None);
        let long = json!({"complete": false, "missing": "x".repeat(5000)}).to_string();
        assert_eq!(read(&long).unwrap().len(), LONGEST);
    }
}
