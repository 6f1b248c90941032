//! A question, and the two ways to have it answered: at once and in pieces.

use std::time::Duration;

use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use tokio_postgres::types::{Json, ToSql, Type};
use tokio_postgres::{Row, Transaction};
use uuid::Uuid;

use crate::database::{Database, Lease, Parameter, TimeLimits};
use crate::failure::{Failure, with_causes};
use crate::members::{AsWritten, Options, or_default, write};

/// What may take too long.
const ANSWER: &str = "the answer";
/// How many pieces wait for a slow reader before the database does.
const PIECES: usize = 1024;
/// Members that the last row of a told answer has.
const OF_DETAILS: [&str; 4] = ["citations", "supported", "usage", "trace_id"];

/// A question with the arguments of `rag_answer`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// What is asked.
    pub question: String,
    /// The pipeline; none where there is just one.
    pub pipeline: Option<String>,
    /// In how many calls a language model writes the answer.
    pub strategy: Option<String>,
    /// How many chunks are read.
    pub k: Option<i32>,
    /// `dense`, `lexical` or `hybrid`.
    pub mode: Option<String>,
    /// Conditions over the metadata.
    pub filter: Option<AsWritten>,
    /// Who writes.
    pub llm: Option<String>,
    /// Options of a question.
    #[serde(default, deserialize_with = "or_default")]
    pub options: Options,
    /// The conversation that it is part of.
    pub conversation: Option<Uuid>,
    /// Whether a conversation begins with it, where it is part of none.
    #[serde(default, deserialize_with = "or_default")]
    pub converse: bool,
}

/// What was said before a question, as far as its client knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// Questions and their answers, oldest first.
    pub turns: Vec<(String, String)>,
    /// Whether the database keeps the question with its answer: in the conversation in which just these were asked and
    /// answered, or in a new one.
    pub is_kept: bool,
}

impl History {
    /// The turns as messages, as the option `answer.history` has them.
    fn messages(&self) -> Vec<Value> {
        let message = |role: &str, content: &str| json!({"role": role, "content": content});
        let turns = self.turns.iter();
        turns
            .flat_map(|(asked, told)| [message("user", asked), message("assistant", told)])
            .collect()
    }
}

/// A part of a told answer.
#[derive(Debug)]
pub enum Piece {
    /// A step that an agent has taken, before the first words.
    Step(Value),
    /// Words of the answer.
    Text(String),
    /// What `rag_answer_details` has beside the answer; the last part.
    Details(Value),
}

impl Question {
    /// The options with the conversation among them, or where there is none, with what was said before.
    fn all_options(&self, history: &History) -> Json<Options> {
        let mut options = self.options.clone();
        if let Some(conversation) = self.conversation {
            options.change_answer(|answer| {
                answer.insert("conversation".to_owned(), write(&conversation));
            });
        } else if !history.turns.is_empty() && !self.says_what_was_said() {
            options.change_answer(|answer| {
                answer.insert("history".to_owned(), write(&history.messages()));
            });
        }
        Json(options)
    }

    fn parameters<'a>(&'a self, options: &'a Json<Options>) -> [&'a (dyn ToSql + Sync); 8] {
        let Self { question, pipeline, strategy, k, mode, filter, llm, .. } = self;
        [question, pipeline, strategy, k, mode, filter, llm, options]
    }

    fn typed<'a>(&'a self, options: &'a Json<Options>) -> Vec<Parameter<'a>> {
        self.parameters(options).into_iter().zip(TYPES).collect()
    }

    /// Whether its conversation is to be found or begun.
    fn is_to_be_placed(&self, history: &History) -> bool {
        history.is_kept && self.conversation.is_none() && !self.says_what_was_said()
    }

    /// Whether it says which conversation it is part of.
    pub fn names_conversation(&self) -> bool {
        self.conversation.is_some() || self.options.says_of_answer("conversation")
    }

    /// Whether its options say what was said before.
    fn says_what_was_said(&self) -> bool {
        ["conversation", "history"].into_iter().any(|name| self.options.says_of_answer(name))
    }
}

/// The types of [`Question::parameters`].
const TYPES: [Type; 8] = [
    Type::TEXT,
    Type::TEXT,
    Type::TEXT,
    Type::INT4,
    Type::TEXT,
    Type::JSONB,
    Type::TEXT,
    Type::JSONB,
];

/// Answers a question as a whole: the columns of `rag_answer_details` as an object, and `conversation` where there is
/// one.
pub async fn answer(
    lease: &mut Lease,
    mut question: Question,
    history: &History,
) -> Result<Value, Failure> {
    one_value(lease, include_str!("../sql/answer.sql"), &mut question, history).await
}

/// The steps of an answer, an array with the columns of `rag_explain`.
pub async fn explain(lease: &mut Lease, mut question: Question) -> Result<Value, Failure> {
    one_value(lease, include_str!("../sql/explain.sql"), &mut question, &History::default()).await
}

/// One statement, in one transaction with the conversation that it begins.
async fn one_value(
    lease: &mut Lease,
    sql: &str,
    question: &mut Question,
    history: &History,
) -> Result<Value, Failure> {
    let longest = lease.limits().answer;
    let answered = async {
        if !question.is_to_be_placed(history) {
            return alone(lease, sql, question, history).await;
        }
        let transaction = lease.begin().await?;
        place(&transaction, question, history).await?;
        let options = question.all_options(history);
        let row = transaction.query_typed_one(sql, &question.typed(&options)).await?;
        transaction.commit().await?;
        read(&row)
    };
    // Where it takes too long, the lease stays busy, which cancels the statement.
    let answered = timeout(longest, answered).await.map_err(|_| too_long(ANSWER, longest))?;
    lease.done(answered.as_ref().err());
    let mut answered = answered?;
    add_conversation(&mut answered, question);
    Ok(answered)
}

/// A statement alone is a transaction, too, and is on its way to the database once and not three times.
async fn alone(
    lease: &mut Lease,
    sql: &str,
    question: &Question,
    history: &History,
) -> Result<Value, Failure> {
    let options = question.all_options(history);
    let rows = lease.rows(sql, &question.typed(&options)).await?;
    let row = rows.first().ok_or_else(|| Failure::unavailable("the database gave no answer"))?;
    read(row)
}

/// The JSON of an answer. PostgreSQL has larger numbers and deeper JSON than this program reads.
fn read(row: &Row) -> Result<Value, Failure> {
    row.try_get(0).map_err(|error| {
        let message = format!("the answer cannot be read: {}", with_causes(&error));
        Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    })
}

/// What is said of something, such as "the answer", that is not there in time: 504.
pub fn too_long(what: &str, longest: Duration) -> Failure {
    let message = format!("{what} took longer than {} s", longest.as_secs());
    Failure::new(StatusCode::GATEWAY_TIMEOUT, "timeout", message)
        .hint("ask with a smaller k, or start rag-server with a larger --timeout")
}

fn add_conversation(details: &mut Value, question: &Question) {
    if let (Some(details), Some(conversation)) = (details.as_object_mut(), question.conversation) {
        details.insert("conversation".to_owned(), json!(conversation));
    }
}

/// Finds the conversation that the question goes on with, or begins one, where it is to be kept and something can be
/// written.
async fn place(
    transaction: &Transaction<'_>,
    question: &mut Question,
    history: &History,
) -> Result<(), Failure> {
    if !question.is_to_be_placed(history) {
        return Ok(());
    }
    let sql = include_str!("../sql/conversation_continue.sql");
    let said = Json(history.messages());
    let parameters: [Parameter<'_>; 2] = [(&question.question, Type::TEXT), (&said, Type::JSONB)];
    let row = transaction.query_typed_one(sql, &parameters).await?;
    question.conversation = row.get(0);
    Ok(())
}

/// What is said of an answer that its reader has left unread for too long.
fn too_slow(longest: Duration) -> Failure {
    let message = format!(
        "the answer was broken off, since it was not read: the database has waited {} s for that",
        longest.as_secs()
    );
    Failure::new(StatusCode::REQUEST_TIMEOUT, "timeout", message)
        .hint("read events as they come, or start rag-server with a larger --reader-timeout")
}

/// Has a question answered in pieces. The channel ends with the details or with an error. If it is closed, the
/// statement is cancelled.
pub async fn tell(
    database: &std::sync::Arc<Database>,
    question: Question,
    history: History,
) -> Result<mpsc::Receiver<Result<Piece, Failure>>, Failure> {
    let mut lease = database.lease().await?;
    let (sender, receiver) = mpsc::channel(PIECES);
    let TimeLimits { answer: longest, reader } = lease.limits();
    tokio::spawn(async move {
        let told = tokio::select! {
            // The lease is dropped in the middle of its statement, which cancels it.
            () = sender.closed() => return,
            told = timeout(longest, tell_all(&mut lease, question, &history, &sender)) => told,
        };
        let Ok(told) = told else {
            drop(lease);
            let _ = sender.send(Err(too_long(ANSWER, longest))).await;
            return;
        };
        match told {
            Err(Untold::Failed(failure)) => {
                lease.done(Some(&failure));
                drop(lease);
                let _ = sender.send(Err(failure)).await;
            }
            Err(Untold::TooSlow) => {
                drop(lease);
                let _ = sender.send(Err(too_slow(reader))).await;
            }
            Ok(details) => {
                lease.done(None);
                drop(lease);
                let _ = sender.send(Ok(Piece::Details(details))).await;
            }
        }
    });
    Ok(receiver)
}

/// Why an answer was not told to its end.
enum Untold {
    Failed(Failure),
    TooSlow,
}

impl<E: Into<Failure>> From<E> for Untold {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// Sends all pieces and returns the details, which are sent when the transaction is over and the lease free.
///
/// A row that looks like the details is held back until it is known that nothing follows: a text could look like them,
/// too. Other rows are sent as they come.
async fn tell_all(
    lease: &mut Lease,
    mut question: Question,
    history: &History,
    sender: &mpsc::Sender<Result<Piece, Failure>>,
) -> Result<Value, Untold> {
    let mut patience = lease.limits().reader;
    let transaction = lease.begin().await?;
    place(&transaction, &mut question, history).await?;
    let options = question.all_options(history);
    let sql = include_str!("../sql/answer_stream.sql");
    let portal = transaction.bind(sql, &question.parameters(&options)).await?;
    let mut held: Option<(String, Value)> = None;
    let mut may_be_step = true;
    while let Some(row) = transaction.query_portal(&portal, 1).await?.first() {
        if let Some((text, _)) = held.take() {
            send(sender, Piece::Text(text), &mut patience).await?;
        }
        let text: String = row.get(0);
        let step = if may_be_step { step(&text) } else { None };
        may_be_step = step.is_some();
        match (step, details(&text)) {
            (Some(step), _) => send(sender, Piece::Step(step), &mut patience).await?,
            (None, Some(details)) => held = Some((text, details)),
            (None, None) => send(sender, Piece::Text(text), &mut patience).await?,
        }
    }
    transaction.commit().await?;
    let mut details = held.map_or_else(|| json!({}), |(_, details)| details);
    add_conversation(&mut details, &question);
    Ok(details)
}

/// Sends a piece. The time that it waits for the reader is taken from `patience`.
async fn send(
    sender: &mpsc::Sender<Result<Piece, Failure>>,
    piece: Piece,
    patience: &mut Duration,
) -> Result<(), Untold> {
    let began = Instant::now();
    let sent = sender.send_timeout(Ok(piece), *patience).await;
    *patience = patience.saturating_sub(began.elapsed());
    sent.map_err(|_| Untold::TooSlow)
}

/// The step of an agent, if a row is one. Rows are steps until the first that is none.
fn step(text: &str) -> Option<Value> {
    if !text.starts_with('{') {
        return None;
    }
    let Value::Object(mut row) = serde_json::from_str(text).ok()? else { return None };
    row.remove("step").filter(|step| step.is_object() && row.is_empty())
}

/// The details, if a row may be them.
fn details(text: &str) -> Option<Value> {
    if !text.starts_with('{') {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    OF_DETAILS.iter().all(|member| value.get(member).is_some()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOWEST_READER: Duration = Duration::from_secs(30);

    #[test]
    fn a_conversation_joins_the_options() {
        let mut question = Question { conversation: Some(Uuid::nil()), ..Question::default() };
        let history = History {
            turns: vec![("When?".to_owned(), "At nine.".to_owned())],
            ..History::default()
        };
        let options = |question: &Question| {
            let options = serde_json::to_value(question.all_options(&history)).unwrap();
            assert!(options["answer"].get("history").is_none(), "the conversation knows it");
            options
        };
        assert_eq!(options(&question)["answer"]["conversation"], Uuid::nil().to_string());
        question.options = serde_json::from_value(json!({"answer": {"top_p": 1}, "k": 3})).unwrap();
        let all = options(&question);
        assert_eq!((&all["k"], &all["answer"]["top_p"]), (&json!(3), &json!(1)));
        question.options = serde_json::from_value(json!({"answer": "wrong"})).unwrap();
        assert_eq!(options(&question)["answer"], "wrong");
    }

    #[test]
    fn only_the_last_row_looks_like_details() {
        let row = r#"{"citations": [], "supported": true, "usage": {}, "trace_id": null}"#;
        assert!(details(row).is_some());
        assert!(details("{\"citations\": []}").is_none());
        assert!(details("{ is no JSON").is_none());
        assert!(details("The office opens at nine. [1]").is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn the_waits_for_a_slow_reader_are_counted_together() {
        let (sender, mut pieces) = mpsc::channel(1);
        let piece = || Piece::Text("a".to_owned());
        let mut patience = SLOWEST_READER;
        assert!(send(&sender, piece(), &mut patience).await.is_ok());
        assert_eq!(patience, SLOWEST_READER);
        // Nobody waits while there is room; later a piece is read each time, but after more than half of the time.
        let reader = tokio::spawn(async move {
            for _ in 0..2 {
                tokio::time::sleep(SLOWEST_READER * 2 / 3).await;
                assert!(pieces.recv().await.unwrap().is_ok());
            }
        });
        assert!(send(&sender, piece(), &mut patience).await.is_ok());
        assert!(patience < SLOWEST_READER / 2, "{patience:?}");
        let late = send(&sender, piece(), &mut patience).await;
        assert!(matches!(late, Err(Untold::TooSlow)));
        assert_eq!(patience, Duration::ZERO);
        reader.await.unwrap();
    }

    #[test]
    fn only_an_object_of_a_step_alone_is_a_step() {
        assert_eq!(step(r#"{"step": {"do": "search"}}"#), Some(json!({"do": "search"})));
        for row in [
            "{",
            "The office opens at nine.",
            r#"{"step": 1}"#,
            r#"{"step": {}, "a": 1}"#,
            r#"[{"step": {}}]"#,
            "{}",
        ] {
            assert_eq!(step(row), None, "{row}");
        }
    }

    #[test]
    fn a_history_joins_the_options_unless_they_say_what_was_said() {
        let turn = ("When?".to_owned(), "At nine.".to_owned());
        let history = |is_kept: bool| History { turns: vec![turn.clone()], is_kept };
        let messages = json!([{"role": "user", "content": "When?"}, {"role": "assistant", "content": "At nine."}]);
        let check = |options: Value, expected: Value, is_placed: bool| {
            let options = serde_json::from_value(options).unwrap();
            let question = Question { options, ..Question::default() };
            let all = question.all_options(&history(false));
            assert_eq!(serde_json::to_value(all).unwrap(), expected);
            assert!(!question.is_to_be_placed(&history(false)));
            assert_eq!(question.is_to_be_placed(&history(true)), is_placed, "{expected}");
        };
        check(json!({}), json!({"answer": {"history": messages}}), true);
        let unsaid = json!({"answer": {"conversation": null, "history": null, "top_p": 1}});
        let said = json!({"answer": {"conversation": null, "history": messages, "top_p": 1}});
        check(unsaid, said, true);
        for own in [json!({"conversation": "5"}), json!({"history": []})] {
            let options = json!({ "answer": own });
            check(options.clone(), options, false);
        }
        let nothing = Question::default().all_options(&History::default());
        assert_eq!(serde_json::to_value(nothing).unwrap(), json!({}));
    }

    #[test]
    fn an_unknown_member_is_refused() {
        let read = serde_json::from_value::<Question>(json!({"question": "a", "pipline": "b"}));
        assert!(read.unwrap_err().to_string().contains("pipline"));
    }

    #[test]
    fn a_filter_stays_as_it_was_written() {
        let filter = r#"{"id": 89490200001234567890, "price": 0.10000000000000000001, "n": 1e400}"#;
        let text = format!(r#"{{"question": "a", "filter": {filter}}}"#);
        let question: Question = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&question.filter).unwrap(), filter);
        let nothing: Question = serde_json::from_str(
            r#"{"question": "a", "filter": null, "options": null, "converse": null}"#,
        )
        .unwrap();
        assert!(nothing.filter.is_none() && !nothing.converse);
    }
}
