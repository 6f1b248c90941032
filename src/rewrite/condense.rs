//! What does a question mean that follows others?
//!
//! ```text
//! (what was asked and answered, question, language model) → a question that stands alone
//! ```
//!
//! "How long is it valid?" cannot be looked up. A language model writes it with what "it" stands
//! for. Without one, [`follow_up`](super::follow_up) takes over words of the question before it.

use crate::error::Result;
use crate::prompt::list;
use crate::prompt::messages::{self, Message, PromptSource};
use crate::prompt::template::Template;

/// The template in which a language model is asked.
pub const TEMPLATE: &str = "condense";

/// Turns that are read, the last ones.
pub const TURNS: usize = 6;

/// Longest part of an answer that is read, in characters.
const LONGEST_ANSWER: usize = 1000;

/// A question and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastTurn {
    /// The question as it was asked.
    pub asked: String,
    /// The question, as it stands alone.
    pub question: String,
    /// The text of the answer.
    pub answer: String,
}

/// The messages in which a language model is asked. `nonce` is as in [`crate::prompt::messages::messages`].
pub fn messages(
    template: &Template,
    turns: &[PastTurn],
    question: &str,
    nonce: &str,
) -> Result<Vec<Message>> {
    let last = &turns[turns.len().saturating_sub(TURNS)..];
    let said: Vec<PromptSource> = last.iter().map(source).collect();
    messages::history_messages(template, question, &said, nonce)
}

fn source(PastTurn { question, answer, .. }: &PastTurn) -> PromptSource {
    let shown: String = answer.chars().take(LONGEST_ANSWER).collect();
    let more = if shown.len() < answer.len() { " [...]" } else { "" };
    let shown = shown.trim_end();
    PromptSource {
        content: format!("Question: {question}\nAnswer: {shown}{more}"),
        ..PromptSource::default()
    }
}

/// What a language model wrote, if it is a question that can be looked up.
#[must_use]
pub fn read(answer: &str) -> Option<String> {
    list::questions(answer, "", 1).into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(question: &str, answer: &str) -> PastTurn {
        PastTurn {
            asked: question.to_owned(),
            question: question.to_owned(),
            answer: answer.to_owned(),
        }
    }

    fn shipped() -> Template {
        let script = include_str!("../../sql/install/conversation.sql");
        let content = script.split("$template$").nth(1).expect("the template");
        Template::parse(TEMPLATE, content).expect("a template")
    }

    #[test]
    fn a_model_reads_the_last_turns_between_lines_of_their_own() {
        let turns: Vec<PastTurn> = (0..9)
            .map(|number| turn(&format!("Question {number}?"), &format!("{number} ").repeat(999)))
            .collect();
        let messages = messages(&shipped(), &turns, "And then?", "7f3a").unwrap();
        let roles: Vec<&str> = messages.iter().map(|message| message.role.as_str()).collect();
        assert_eq!(roles, ["system", "user"]);
        let user = &messages[1].content;
        assert!(!user.contains("Question 2?") && user.contains("Question 3?"), "{user}");
        assert!(user.contains("8 [...]") && user.ends_with("Question: And then?"), "{user}");
        assert_eq!(user.matches("<<<end").count(), TURNS);
        assert!(
            messages[0].content.contains("7f3a") && !messages[0].content.contains("Question 8")
        );
    }

    #[test]
    fn what_a_model_says_is_a_question_or_nothing() {
        for (answer, expected) in [
            ("How long is the link valid?", Some("How long is the link valid?")),
            ("\n1. How long is the link valid?\nMore.\n", Some("How long is the link valid?")),
            ("", None),
            (" \n ", None),
        ] {
            assert_eq!(read(answer).as_deref(), expected, "{answer}");
        }
    }
}
