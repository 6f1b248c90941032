//! What was said before a question, where a program has kept it and tells it?
//!
//! ```text
//! messages in the shape of OpenAI's → questions with their answers, as a conversation keeps them
//! ```
//!
//! A question is a message of the user that an answer of the assistant follows at once. Chats hold more than that:
//! questions that were cancelled, answers in several messages, greetings. A conversation of the database has nothing of it
//! either, so both come to the same turns.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::condense::PastTurn;
use super::follow_up::follow_up;
use crate::error::{Error, Result};
use crate::exact;
use crate::options::out_of_range;

/// Messages that are taken, those of no turn among them.
const MOST_MESSAGES: usize = 10_000;

/// Turns that are read, the last ones. A language model reads fewer; without one, a name is handed on from turn to turn.
const MOST_TURNS: usize = 50;

/// Longest part of an earlier question that is read, in characters.
const LONGEST_QUESTION: usize = 10_000;

/// Characters of the title of a conversation that begins with a question.
const TITLE: usize = 200;

/// White space that does not count around a text. The statement `continued` of `sql/query/conversation.sql` takes the same
/// away from what was kept.
const SPACE: [char; 4] = [' ', '\n', '\t', '\r'];

const USER: &str = "user";
const ASSISTANT: &str = "assistant";

/// Messages before a question, oldest first, of which each has a `role` and a `content`; other members are not read.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct ToldHistory(Vec<Map<String, Value>>);

impl ToldHistory {
    /// An error that names the first message that is none, or says that they are too many. `name` is that of the option or
    /// argument.
    pub fn check(&self, name: &str) -> Result<()> {
        if self.0.len() > MOST_MESSAGES {
            let most = format!("an array of at most {MOST_MESSAGES} messages");
            let error = out_of_range(name, most, self.0.len());
            return Err(error.hint("Leave out the oldest ones: the last 50 questions are read."));
        }
        let mut messages = self.0.iter().enumerate();
        messages.try_for_each(|(at, message)| check_message(message, || format!("{name}[{at}]")))
    }

    /// Questions and their answers, oldest first. A question without an answer is left out, and so is an answer to no
    /// question.
    pub fn said(&self) -> impl DoubleEndedIterator<Item = (&str, &str)> {
        self.0.windows(2).filter_map(|pair| {
            let [question, answer] = pair else { return None };
            let (question, answer) = (said_by(question, USER)?, said_by(answer, ASSISTANT)?);
            (!question.trim().is_empty()).then_some((question, answer))
        })
    }

    /// The last turns, oldest first, each with its question as it was asked.
    #[must_use]
    pub fn turns(&self) -> Vec<PastTurn> {
        let turn = |(asked, answer): (&str, &str)| {
            let asked: String = asked.chars().take(LONGEST_QUESTION).collect();
            PastTurn { question: asked.clone(), asked, answer: answer.to_owned() }
        };
        let mut turns: Vec<PastTurn> = self.said().rev().take(MOST_TURNS).map(turn).collect();
        turns.reverse();
        turns
    }
}

/// The turns, each with its question as it is looked up behind those before it, where no language model writes it.
#[must_use]
pub fn standing_alone(turns: &[PastTurn]) -> Vec<PastTurn> {
    let mut past: Vec<PastTurn> = Vec::with_capacity(turns.len());
    for turn in turns {
        let question = follow_up(&past, &turn.asked);
        past.push(PastTurn { question, ..turn.clone() });
    }
    past
}

/// What a conversation is called that begins with this question: the beginning of it.
#[must_use]
pub fn title(question: &str) -> String {
    bare(question).chars().take(TITLE).collect()
}

/// The text without white space around it, as texts of two histories are compared.
#[must_use]
pub fn bare(text: &str) -> &str {
    text.trim_matches(SPACE)
}

/// What `message` says, if it is of `role`.
fn said_by<'a>(message: &'a Map<String, Value>, role: &str) -> Option<&'a str> {
    let is_theirs = message.get("role").and_then(Value::as_str) == Some(role);
    message.get("content").and_then(Value::as_str).filter(|_| is_theirs)
}

fn check_message(message: &Map<String, Value>, place: impl Fn() -> String) -> Result<()> {
    let wrong = |key: &str, expected: &str| match message.get(key) {
        None => Error::invalid(format!("option \"{}\" needs the key \"{key}\"", place())),
        Some(value) => out_of_range(&format!("{}.{key}", place()), expected, shown(value)),
    };
    let role = message.get("role").and_then(Value::as_str);
    if role != Some(USER) && role != Some(ASSISTANT) {
        return Err(wrong("role", "\"user\" or \"assistant\"").hint(
            "Leave other messages out. Instructions belong in a template, which the option \"answer.template\" names.",
        ));
    }
    match message.get("content") {
        Some(Value::String(_)) => Ok(()),
        _ => Err(wrong("content", "a string").hint(
            "For instance [{\"role\": \"user\", \"content\": \"When is it sent?\"}, {\"role\": \"assistant\", \"content\": \"On Mondays.\"}].",
        )),
    }
}

/// A value as an error shows it.
fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        other => exact::written(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::options::read;

    fn history(messages: Value) -> ToldHistory {
        read("history", messages, &[]).unwrap()
    }

    fn user(content: &str) -> Value {
        json!({"role": "user", "content": content})
    }

    fn assistant(content: &str) -> Value {
        json!({"role": "assistant", "content": content})
    }

    #[test]
    fn a_question_and_what_follows_it_at_once_are_a_turn() {
        let check = |messages: Value, expected: &[(&str, &str)]| {
            let history = history(messages);
            history.check("history").unwrap();
            assert_eq!(history.said().collect::<Vec<_>>(), expected, "{history:?}");
        };
        check(json!([]), &[]);
        check(json!([user("When?")]), &[]);
        check(json!([assistant("Welcome.")]), &[]);
        check(json!([user("When?"), assistant("At nine.")]), &[("When?", "At nine.")]);
        check(
            json!([
                assistant("Welcome."),
                user("Wher"),
                user("Where?"),
                assistant("In Bremen."),
                assistant("At the harbour."),
                user(" "),
                assistant("What do you mean?"),
                user("Why?"),
                assistant(""),
            ]),
            &[("Where?", "In Bremen."), ("Why?", "")],
        );
        // What else clients keep of a message.
        let more =
            json!({"role": "assistant", "content": "At nine.", "refusal": null, "tool_calls": []});
        check(json!([user("When?"), more]), &[("When?", "At nine.")]);
    }

    #[test]
    fn what_is_no_message_is_named_with_its_place() {
        let check = |messages: Value, message: &str| {
            let read = read::<ToldHistory>("history", messages, &[]);
            let error = read.and_then(|it| it.check("history")).unwrap_err();
            assert_eq!(error.message(), message);
        };
        check(json!("When?"), "option \"history\" must be an array, not \"When?\"");
        check(json!({"role": "user"}), "option \"history\" must be an array, not an object");
        check(json!([1]), "option \"history[0]\" must be an object, not 1");
        check(json!([["user", "When?"]]), "option \"history[0]\" must be an object, not an array");
        check(json!([null]), "option \"history[0]\" must be an object, not null");
        let second = |message: Value| json!([user("When?"), message]);
        check(
            second(json!({"role": "system", "content": "Be brief."})),
            "option \"history[1].role\" must be \"user\" or \"assistant\", not \"system\"",
        );
        check(
            second(json!({"role": 1, "content": "Be brief."})),
            "option \"history[1].role\" must be \"user\" or \"assistant\", not 1",
        );
        check(second(json!({"content": "a"})), "option \"history[1]\" needs the key \"role\"");
        check(second(json!({"role": "user"})), "option \"history[1]\" needs the key \"content\"");
        for (content, shown) in [
            (json!(null), "null"),
            (json!(9.5), "9.5"),
            (json!([{"type": "text", "text": "a"}]), "an array"),
            (json!({}), "an object"),
        ] {
            check(
                second(json!({"role": "user", "content": content})),
                &format!("option \"history[1].content\" must be a string, not {shown}"),
            );
        }
    }

    #[test]
    fn more_messages_than_a_chat_has_are_refused() {
        let of = |count: usize| history(json!(vec![user("When?"); count])).check("history");
        assert!(of(MOST_MESSAGES).is_ok());
        let error = of(MOST_MESSAGES + 1).unwrap_err();
        let expected = "option \"history\" must be an array of at most 10000 messages, not 10001";
        assert_eq!(error.message(), expected);
    }

    #[test]
    fn an_error_about_a_role_says_where_instructions_belong() {
        let history = history(json!([{"role": "developer", "content": "Be brief."}]));
        let error = history.check("answer.history").unwrap_err();
        assert!(error.hint_text().unwrap().contains("answer.template"), "{error:?}");
        assert!(error.message().starts_with("option \"answer.history[0].role\""), "{error}");
    }

    #[test]
    fn older_turns_and_the_ends_of_long_questions_are_left_out() {
        let messages: Vec<Value> = (0..MOST_TURNS + 9)
            .flat_map(|number| [user(&format!("Question {number}?")), assistant("Yes.")])
            .collect();
        let turns = history(json!(messages)).turns();
        assert_eq!(turns.len(), MOST_TURNS);
        assert_eq!(turns[0].asked, "Question 9?");
        assert_eq!(turns[MOST_TURNS - 1].question, format!("Question {}?", MOST_TURNS + 8));
        let long = history(json!([user(&"é".repeat(LONGEST_QUESTION + 1)), assistant("Yes.")]));
        assert_eq!(long.turns()[0].asked.chars().count(), LONGEST_QUESTION);
    }

    /// What a conversation would have kept of the questions, which the built-in answerer has looked up.
    #[test]
    fn questions_stand_alone_as_those_of_a_conversation_do() {
        let asked = [
            "How long is the warranty of the K100?",
            "And how long does its battery last?",
            "What about the S200?",
            "Why?",
        ];
        let mut kept: Vec<PastTurn> = Vec::new();
        let mut messages = Vec::new();
        for question in asked {
            let turns = history(json!(messages)).turns();
            let told = follow_up(&standing_alone(&turns), question);
            let standalone = follow_up(&kept, question);
            assert_eq!(told, standalone, "{question}");
            messages.extend([user(question), assistant("Two years.")]);
            kept.push(PastTurn {
                asked: question.to_owned(),
                question: standalone,
                answer: "Two years.".to_owned(),
            });
        }
        assert_eq!(kept[2].question, "S200 And how long does its battery last?");
        assert_eq!(standing_alone(&history(json!(messages)).turns()), kept);
    }

    #[test]
    fn a_title_is_the_beginning_of_a_question() {
        assert_eq!(title(" \r\n\tWhen?\n"), "When?");
        assert_eq!(title("\u{a0}When?"), "\u{a0}When?");
        assert_eq!(title(&"é".repeat(300)).chars().count(), TITLE);
    }
}
