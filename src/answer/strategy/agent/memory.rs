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
    is_repeat: bool,
}

impl AgentMemory {
    /// The number of the step in which this was done, from 1; `None` if it was not.
    #[must_use]
    pub fn known(&self, action: &AgentAction) -> Option<usize> {
        let key = action.key();
        self.steps.iter().position(|it| it.key == key && !it.is_repeat).map(|place| place + 1)
    }

    /// Keeps a step, and what came of it.
    pub fn keep(&mut self, action: &AgentAction, reason: &str, outcome: String) {
        let is_repeat = self.known(action).is_some();
        let (key, said, reason) = (action.key(), action.to_string(), reason.to_owned());
        let step = DoneStep { key, action: action.name(), said, reason, outcome, is_repeat };
        self.steps.push(step);
    }

    /// Each step as it is told in later prompts.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let note = |(number, step): (usize, &DoneStep)| {
            let DoneStep { said, reason, outcome, .. } = step;
            let why = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
            let note = format!("Step {number}: {said}{why}: {outcome}");
            note.chars().take(LONGEST).collect()
        };
        (1..).zip(&self.steps).map(note).collect()
    }

    /// Each step as users see it.
    #[must_use]
    pub fn told(&self) -> Value {
        let told = |DoneStep { action, said, reason, outcome, .. }: &DoneStep| {
            let said: String = said.chars().take(LONGEST).collect();
            json!({"do": action, "what": said, "reason": reason, "outcome": outcome})
        };
        self.steps.iter().map(told).collect()
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
    use super::super::action::{AgentSearch, ToolCall};
    use super::*;

    fn search(question: &str) -> AgentAction {
        AgentAction::Search(AgentSearch { question: question.to_owned(), ..Default::default() })
    }

    #[test]
    fn a_step_is_known_again() {
        let mut memory = AgentMemory::default();
        memory.keep(&search("Who is Eve?"), "", found(&[1, 2], 2, None));
        assert_eq!(memory.known(&search("who  is EVE?")), Some(1));
        let more =
            AgentSearch { question: "Who is Eve?".to_owned(), k: Some(9), ..Default::default() };
        assert_eq!(memory.known(&AgentAction::Search(more)), None);
        assert_eq!(memory.known(&AgentAction::Graph("Who is Eve?".to_owned())), None);
        let call = |code: &str| {
            let arguments = json!({ "code": code }).as_object().cloned().unwrap_or_default();
            AgentAction::Call(ToolCall { tool: "part".to_owned(), arguments })
        };
        memory.keep(&search("Who is Eve?"), "again", "known".to_owned());
        memory.keep(&call("AB1"), "", found(&[3], 1, None));
        assert_eq!(memory.known(&call("AB1")), Some(3));
        assert_eq!(memory.known(&call("aB1")), None, "values are not folded");
        assert_eq!(memory.known(&search("Who is Eve?")), Some(1));
    }

    #[test]
    fn steps_are_told() {
        let mut memory = AgentMemory::default();
        memory.keep(&search("Who?"), "", found(&[1, 3], 2, None));
        memory.keep(&AgentAction::Calculate("1 + 1".to_owned()), "a sum", "2".to_owned());
        assert_eq!(
            memory.notes(),
            ["Step 1: search \"Who?\": found sources 1, 3", "Step 2: calculate 1 + 1 (a sum): 2"]
        );
        assert_eq!(memory.told()[1]["reason"], "a sum");
        memory.keep(&search(&"x".repeat(5000)), "", String::new());
        assert_eq!(memory.notes()[2].len(), LONGEST);
    }

    #[test]
    fn what_was_found_is_told() {
        assert_eq!(found(&[], 0, None), "found nothing");
        assert_eq!(found(&[], 0, Some("returned no rows")), "returned no rows");
        assert_eq!(found(&[2, 1], 0, None), "found nothing new, sources 2, 1");
        assert_eq!(found(&[4], 1, Some("Eve, Adam")), "found sources 4; Eve, Adam");
    }
}
