//! How is a language model asked for steps: as tools of its provider, or as JSON?
//!
//! ```text
//! prompt, then reply with calls, results, reply with calls, results, ...   │  as tools
//! prompt with notes                                                       │  as JSON, and where there are no tools
//! ```
//!
//! Both are sent with each call, so that a provider that refuses tools is asked for JSON at once. A reply that comes as
//! JSON is read as such, and from then on JSON is all that is asked for.

use serde_json::{Map, Value};

use super::super::tools::ModelReply;
use super::action::{AgentOffers, StepPrompt};
use super::reply::{self, AgentReply};
use super::{as_tools, offered};
use crate::prompt::messages::Message;
use crate::prompt::object;
use crate::prompt::tools::{OfferedTool, ToolReply, ToolTurn, ToolUse, WithoutTools};

/// What was said so far, and what may be said.
pub struct AgentConversation {
    /// The steps as a prompt for JSON has them, a line each.
    pub actions: String,
    schema: String,
    /// The steps as tools; `None`: JSON is asked for.
    tools: Option<Vec<OfferedTool>>,
    begun: Option<BegunConversation>,
}

/// A conversation with tools.
struct BegunConversation {
    messages: Vec<Message>,
    turns: Vec<ToolTurn>,
}

impl AgentConversation {
    /// One in which nothing was said; `with_tools` where steps may be offered as tools.
    #[must_use]
    pub fn new(offers: &AgentOffers, with_tools: bool) -> AgentConversation {
        AgentConversation {
            actions: offered::described(offers),
            schema: offered::schema(offers),
            tools: with_tools.then(|| as_tools::tools(offers)),
            begun: None,
        }
    }

    /// Whether it has to begin, or to begin anew, with a prompt that names no actions.
    #[must_use]
    pub fn wants_beginning(&self) -> bool {
        self.tools.is_some() && self.begun.is_none()
    }

    /// Begins with these messages.
    pub fn begin(&mut self, messages: Vec<Message>) {
        self.begun = Some(BegunConversation { messages, turns: Vec::new() });
    }

    /// Forgets what was said.
    pub fn forget(&mut self) {
        self.begun = None;
    }

    /// What is asked next: as tools, if there are any, and else the `plain` messages, for JSON.
    #[must_use]
    pub fn asked(&self, plain: Vec<Message>) -> StepPrompt {
        let schema = self.schema.clone();
        match (&self.tools, &self.begun) {
            (Some(tools), Some(BegunConversation { messages, turns })) => {
                let otherwise = WithoutTools { messages: plain, schema };
                let used = ToolUse { tools: tools.clone(), turns: turns.clone(), otherwise };
                StepPrompt { messages: messages.clone(), schema: None, tools: Some(used) }
            }
            _ => StepPrompt { messages: plain, schema: Some(schema), tools: None },
        }
    }

    /// What a reply wants. `read` is how many sources have been read.
    pub fn read(&mut self, said: &ModelReply, offers: &AgentOffers, read: usize) -> AgentReply {
        match &said.tools {
            Some(called) if !called.calls.is_empty() => {
                reply::read_calls(said.text.trim(), called, offers, read)
            }
            Some(_) if !is_json(&said.text) => AgentReply::answer(said.text.trim()),
            _ => {
                self.tools = None;
                AgentReply::of_json(reply::read(&said.text, offers, read))
            }
        }
    }

    /// Adds a reply with calls, and what came of each.
    pub fn add(&mut self, reply: ToolReply, results: Vec<String>) {
        if let Some(begun) = &mut self.begun {
            begun.turns.push(ToolTurn { reply, results });
        }
    }

    /// The definitions of the tools, for their length; empty where there are none.
    #[must_use]
    pub fn definitions(&self) -> String {
        let texts = self.tools.iter().flatten().flat_map(OfferedTool::texts);
        texts.collect::<Vec<_>>().join("\n")
    }

    /// All that was said, for its length.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        let begun = self.begun.iter();
        let said =
            begun.clone().flat_map(|it| &it.messages).map(|message| message.content.as_str());
        let called = begun.flat_map(|it| &it.turns).flat_map(ToolTurn::texts);
        said.chain(called).map(str::to_owned).collect()
    }
}

/// Whether a text has a step as JSON has it, which some models write whatever they are offered, or is an object as a
/// whole, as a call that is written as text is.
fn is_json(text: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(text.trim()).is_ok()
        || object::find(text).is_some_and(|found| found.get("step").is_some_and(Value::is_object))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_object_is_an_answer() {
        for (text, expected) in [
            ("A [1].", false),
            ("Write {\"a\": 1} there [1].", false),
            (" {\"name\": \"search\", \"arguments\": {}}\n", true),
            ("```json\n{\"reason\": \"r\", \"step\": {\"do\": \"open\"}}\n```", true),
            ("[1]", false),
        ] {
            assert_eq!(is_json(text), expected, "{text}");
        }
    }

    #[test]
    fn definitions_are_those_of_the_tools() {
        let offers = AgentOffers::default();
        let found = AgentConversation::new(&offers, true).definitions();
        assert!(found.contains("calculate") && found.contains("\"expression\""), "{found}");
        assert_eq!(AgentConversation::new(&offers, false).definitions(), "");
    }
}
