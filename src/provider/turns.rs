//! Which role speaks when?
//!
//! ```text
//! messages → what the system says, then user and assistant in turns, the user first
//! ```
//!
//! Some protocols have a place of their own for what the system says, and refuse two messages
//! of one role behind each other. What is arranged in this way fits all protocols.

use crate::protocol::Message;

/// Stands before an answer to a question that is no longer there.
const LEFT_OUT: &str = "(Earlier messages are left out.)";

/// A conversation in the form that all protocols take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageTurns {
    /// What the system says.
    pub system: Option<String>,
    /// What is said in turns: "user" or "assistant" and a text.
    pub turns: Vec<(&'static str, String)>,
}

impl MessageTurns {
    /// Arranges `messages`. Where only the system speaks, the user says its words.
    pub fn of(messages: &[Message]) -> MessageTurns {
        let is_system = |message: &&Message| message.role == "system";
        let (system, others): (Vec<&Message>, Vec<&Message>) = messages.iter().partition(is_system);
        let system: Vec<&str> = system.iter().map(|message| message.content.as_str()).collect();
        let system = system.join("\n\n");
        let mut turns = Vec::new();
        others.iter().for_each(|message| say(&mut turns, role(message), &message.content));
        if turns.is_empty() {
            return MessageTurns { system: None, turns: vec![("user", system)] };
        }
        if turns[0].0 == "assistant" {
            turns.insert(0, ("user", LEFT_OUT.to_string()));
        }
        MessageTurns { system: (!system.is_empty()).then_some(system), turns }
    }

    /// Has the user say `text` at the end.
    pub fn add(&mut self, text: &str) {
        say(&mut self.turns, "user", text);
    }
}

fn role(message: &Message) -> &'static str {
    if message.role == "assistant" { "assistant" } else { "user" }
}

/// Adds `text`; the role that has just spoken goes on in the same turn.
fn say(turns: &mut Vec<(&'static str, String)>, role: &'static str, text: &str) {
    match turns.last_mut() {
        Some((last, said)) if *last == role => {
            said.push_str("\n\n");
            said.push_str(text);
        }
        _ => turns.push((role, text.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(messages: &[(&str, &str)], system: Option<&str>, turns: &[(&str, &str)]) {
        let message = |(role, content): &(&str, &str)| Message {
            role: role.to_string(),
            content: content.to_string(),
        };
        let messages: Vec<Message> = messages.iter().map(message).collect();
        let found = MessageTurns::of(&messages);
        let spoken: Vec<(&str, &str)> =
            found.turns.iter().map(|(role, text)| (*role, text.as_str())).collect();
        assert_eq!((found.system.as_deref(), spoken.as_slice()), (system, turns));
    }

    #[test]
    fn the_system_has_a_place_of_its_own() {
        check(&[("system", "a"), ("user", "b")], Some("a"), &[("user", "b")]);
        check(&[("user", "b"), ("system", "a"), ("system", "c")], Some("a\n\nc"), &[("user", "b")]);
        check(&[("system", "a")], None, &[("user", "a")]);
        check(&[], None, &[("user", "")]);
    }

    #[test]
    fn roles_take_turns_and_the_user_begins() {
        check(
            &[("user", "a"), ("user", "b"), ("assistant", "c"), ("tool", "d"), ("user", "e")],
            None,
            &[("user", "a\n\nb"), ("assistant", "c"), ("user", "d\n\ne")],
        );
        check(
            &[("assistant", "a"), ("user", "b")],
            None,
            &[("user", LEFT_OUT), ("assistant", "a"), ("user", "b")],
        );
    }
}
