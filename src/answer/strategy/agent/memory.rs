//! What has an agent done so far?

use serde_json::{Value, json};

use super::action::AgentAction;

/// Longest step that is told of, in characters.
const LONGEST: usize = 2000;

/// What was asked, found and failed.
#[derive(Clone, Debug, Default)]
pub struct AgentMemory {
    steps: Vec<DoneStep>,
}

/// A step that was taken.
#[derive(Clone, Debug)]
struct DoneStep {
    key: String,
    action: &'static str,
    said: String,
    reason: String,
    outcome: String,
    end: StepEnd,
}

/// How a step has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepEnd {
    /// It was done.
    Done,
    /// It could not be done.
    Failed,
    /// It could not be done this time.
    Interrupted,
    /// It was not tried.
    Refused,
}

impl AgentMemory {
    /// Why this is not done again, if it is not: it was done or has failed. What was interrupted is tried once more.
    #[must_use]
    pub fn refusal(&self, action: &AgentAction) -> Option<String> {
        let key = action.key();
        let tried =
            |(_, step): &(usize, &DoneStep)| step.key == key && step.end != StepEnd::Refused;
        let tries: Vec<(usize, &DoneStep)> = (1..).zip(&self.steps).filter(tried).collect();
        let lasting = tries.iter().find(|(_, step)| step.end != StepEnd::Interrupted);
        let (number, step) = lasting.or(tries.get(1))?;
        Some(match step.end {
            StepEnd::Failed | StepEnd::Interrupted => {
                format!(
                    "that was step {number} already and {}; it was not done again",
                    step.outcome
                )
            }
            StepEnd::Done | StepEnd::Refused => {
                format!("that was step {number} already, so it was not done again")
            }
        })
    }

    /// Keeps a step, and what came of it; its number.
    pub fn keep(
        &mut self,
        action: &AgentAction,
        reason: &str,
        outcome: String,
        end: StepEnd,
    ) -> usize {
        let (key, said, reason) = (action.key(), action.to_string(), reason.to_owned());
        self.steps.push(DoneStep { key, action: action.name(), said, reason, outcome, end });
        self.steps.len()
    }

    /// How many steps there were.
    #[must_use]
    pub fn count(&self) -> usize {
        self.steps.len()
    }

    /// Each step as it is told in later prompts. One that is too long loses the end of what was done, not what came of it.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let note = |(number, step): (usize, &DoneStep)| {
            let DoneStep { said, reason, outcome, .. } = step;
            let why = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
            let (begin, end) = (format!("Step {number}: {said}"), format!("{why}: {outcome}"));
            let room = LONGEST.saturating_sub(end.chars().count()).max(LONGEST / 2);
            begin.chars().take(room).chain(end.chars()).take(LONGEST).collect()
        };
        (1..).zip(&self.steps).map(note).collect()
    }

    /// Each step as users see it, but for the first ones, `from` in number.
    #[must_use]
    pub fn told(&self, from: usize) -> Value {
        let told = |DoneStep { action, said, reason, outcome, .. }: &DoneStep| {
            let said: String = said.chars().take(LONGEST).collect();
            json!({"do": action, "what": said, "reason": reason, "outcome": outcome})
        };
        self.steps.iter().skip(from).map(told).collect()
    }
}

/// What is told of what was found: the numbers of the sources, and whatever else is to be said.
#[must_use]
pub fn found(numbers: &[usize], new: usize, note: Option<&str>) -> String {
    let listed: Vec<String> = numbers.iter().map(usize::to_string).collect();
    let found = match (numbers.len(), new) {
        (0, _) => note.map_or_else(|| "found nothing".to_owned(), str::to_owned),
        (_, 0) => format!("found nothing new, sources {}", listed.join(", ")),
        _ => format!("found sources {}", listed.join(", ")),
    };
    match note.filter(|_| !numbers.is_empty()) {
        Some(note) => format!("{found}; {note}"),
        None => found,
    }
}

#[cfg(test)]
mod tests {
    use super::super::action::AgentWalk;
    use super::super::action::{AgentSearch, ToolCall};
    use super::*;

    fn call(code: &str) -> AgentAction {
        let arguments = json!({ "code": code }).as_object().cloned().unwrap_or_default();
        AgentAction::Call(ToolCall { tool: "part".to_owned(), arguments })
    }

    fn search(question: &str) -> AgentAction {
        AgentAction::Search(AgentSearch { question: question.to_owned(), ..Default::default() })
    }

    #[test]
    fn a_step_is_known_again() {
        let mut memory = AgentMemory::default();
        let done = |number: usize| {
            Some(format!("that was step {number} already, so it was not done again"))
        };
        memory.keep(&search("Who is Eve?"), "", found(&[1, 2], 2, None), StepEnd::Done);
        assert_eq!(memory.refusal(&search("who  is EVE?")), done(1));
        let more =
            AgentSearch { question: "Who is Eve?".to_owned(), k: Some(9), ..Default::default() };
        assert_eq!(memory.refusal(&AgentAction::Search(more)), None);
        assert_eq!(
            memory.refusal(&AgentAction::Graph(AgentWalk {
                entity: "Who is Eve?".to_owned(),
                ..AgentWalk::default()
            })),
            None
        );
        memory.keep(&search("Who is Eve?"), "again", "known".to_owned(), StepEnd::Refused);
        assert_eq!(memory.keep(&call("AB1"), "", found(&[3], 1, None), StepEnd::Done), 3);
        assert_eq!(memory.refusal(&call("AB1")), done(3));
        assert_eq!(memory.refusal(&call("aB1")), None, "values are not folded");
        assert_eq!(memory.refusal(&search("Who is Eve?")), done(1));
    }

    #[test]
    fn what_was_interrupted_is_tried_once_more() {
        let mut memory = AgentMemory::default();
        memory.keep(&call("a"), "", "failed: division by zero".to_owned(), StepEnd::Failed);
        let why = "that was step 1 already and failed: division by zero; it was not done again";
        assert_eq!(memory.refusal(&call("a")).as_deref(), Some(why));
        memory.keep(&call("b"), "", "failed for now: too slow".to_owned(), StepEnd::Interrupted);
        assert_eq!(memory.refusal(&call("b")), None);
        memory.keep(&call("b"), "", "failed for now: still".to_owned(), StepEnd::Interrupted);
        let why = "that was step 3 already and failed for now: still; it was not done again";
        assert_eq!(memory.refusal(&call("b")).as_deref(), Some(why));
        memory.keep(&call("c"), "", "failed for now: too slow".to_owned(), StepEnd::Interrupted);
        memory.keep(&call("c"), "", found(&[1], 1, None), StepEnd::Done);
        assert!(memory.refusal(&call("c")).unwrap().starts_with("that was step 5 already, so"));
    }

    #[test]
    fn steps_are_told() {
        let mut memory = AgentMemory::default();
        memory.keep(&search("Who?"), "", found(&[1, 3], 2, None), StepEnd::Done);
        let sum = AgentAction::Calculate("1 + 1".to_owned());
        memory.keep(&sum, "a sum", "2".to_owned(), StepEnd::Done);
        assert_eq!(
            memory.notes(),
            ["Step 1: search \"Who?\": found sources 1, 3", "Step 2: calculate 1 + 1 (a sum): 2"]
        );
        assert_eq!(memory.told(0)[1]["reason"], "a sum");
        memory.keep(&search(&"x".repeat(5000)), "", String::new(), StepEnd::Done);
        assert_eq!(memory.notes()[2].len(), LONGEST);
        let draft = AgentAction::Answer("x".repeat(5000));
        memory.keep(&draft, "", "the evaluator misses: the year".to_owned(), StepEnd::Done);
        let note = memory.notes().remove(3);
        assert!(note.ends_with("xxx: the evaluator misses: the year"), "{note}");
        assert_eq!(note.len(), LONGEST);
    }

    #[test]
    fn what_was_found_is_told() {
        assert_eq!(found(&[], 0, None), "found nothing");
        assert_eq!(found(&[], 0, Some("returned no rows")), "returned no rows");
        assert_eq!(found(&[2, 1], 0, None), "found nothing new, sources 2, 1");
        assert_eq!(found(&[4], 1, Some("Eve, Adam")), "found sources 4; Eve, Adam");
    }
}
