//! What a language model may call by its provider's own protocol, and what came of its calls.
//!
//! ```text
//! messages, tools → reply with calls ─┐
//!     ▲                               │
//!     └── the reply and its results ◄─┘
//! ```
//!
//! A call is a wish: who offers tools looks at its name and arguments before anything is done.

use serde::{Deserialize, Serialize};

use super::messages::Message;
use crate::redact::redaction::ReplacedValue;

/// A tool that a language model may call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedTool {
    /// What it is called: at most 64 small letters, digits and underscores.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON schema of its arguments, an object.
    pub parameters: String,
}

impl OfferedTool {
    /// All that is sent of it, for its length.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        [&self.name, &self.description, &self.parameters].into_iter().map(String::as_str)
    }
}

/// A call of a tool, as a language model has written it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestedCall {
    /// What its result is told apart by; empty where the provider gives none.
    pub id: String,
    /// The name of a tool, which may be none of those that were offered.
    pub name: String,
    /// The arguments as JSON, which may be none.
    pub arguments: String,
}

/// What a reply calls for, to whom tools were offered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolReply {
    /// The calls, in the order in which they were written; none where the text is all there is.
    pub calls: Vec<RequestedCall>,
    /// The message with these calls as the provider wants it back, as JSON.
    pub verbatim: String,
    /// What stands for personal data in that message, where the provider does not get to read them; else nothing.
    pub replaced: Vec<ReplacedValue>,
}

/// A reply with calls, and what came of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolTurn {
    /// The reply.
    pub reply: ToolReply,
    /// What came of each call, in their order.
    pub results: Vec<String>,
}

/// What is asked where a provider knows no tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WithoutTools {
    /// The messages, which take the place of all others.
    pub messages: Vec<Message>,
    /// The JSON schema that the reply must fit.
    pub schema: String,
}

/// The tools of a call of a language model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUse {
    /// What may be called.
    pub tools: Vec<OfferedTool>,
    /// What was called behind the messages, oldest first.
    pub turns: Vec<ToolTurn>,
    /// What is asked where there are no tools.
    pub otherwise: WithoutTools,
}

impl ToolUse {
    /// All that is sent beside the messages, for its length.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let tools = self.tools.iter().flat_map(OfferedTool::texts);
        tools.chain(self.turns.iter().flat_map(ToolTurn::texts))
    }

    /// The bytes of all that is sent beside the messages.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.texts().map(str::len).sum()
    }

    /// All that the language model is told, to be changed: what came of its calls, and the messages that are sent
    /// where there are no tools.
    pub fn told_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let results = self.turns.iter_mut().flat_map(|turn| &mut turn.results);
        results.chain(self.otherwise.messages.iter_mut().map(|message| &mut message.content))
    }
}

impl ToolTurn {
    /// All that is sent of it, for its length.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.reply.verbatim).chain(&self.results).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_measured() {
        let text = |text: &str| text.to_owned();
        let tool = OfferedTool { name: text("a"), description: text("bc"), parameters: text("{}") };
        let reply = ToolReply { verbatim: text("[1]"), ..ToolReply::default() };
        let message = Message { role: text("user"), content: text("Which?") };
        let otherwise = WithoutTools { messages: vec![message], schema: text("{\"long\": 1}") };
        let turns = vec![ToolTurn { reply, results: vec![text("x"), text("yz")] }];
        let mut used = ToolUse { tools: vec![tool], turns, otherwise };
        assert_eq!(used.texts().collect::<Vec<_>>(), ["a", "bc", "{}", "[1]", "x", "yz"]);
        assert_eq!(used.bytes(), 11);
        assert_eq!(
            used.told_mut().map(|text| text.clone()).collect::<Vec<_>>(),
            ["x", "yz", "Which?"]
        );
    }
}
