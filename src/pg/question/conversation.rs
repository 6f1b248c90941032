//! Conversations: what a question means that follows others.

use std::collections::BTreeMap;

use pgrx::Uuid;
use pgrx::spi::SpiHeapTupleData;
use serde_json::json;

use crate::answer::options::AnswerOptions;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::template;
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::generate::{Sampling, generate};
use crate::pg::ragd::llm::Llm;
use crate::pg::ragd::trace;
use crate::pg::server::json::Jsonb;
use crate::pg::server::role::{self, as_superuser};
use crate::pg::server::sql::query;
use crate::pg::server::transaction::can_write;
use crate::pg::server::{random, sql};
use crate::protocol::ProviderConfig;
use crate::redact::PiiKind;
use crate::redact::withheld::WithheldValues;
use crate::rewrite::condense::{self, PastTurn, TEMPLATE, TURNS};
use crate::rewrite::follow_up::follow_up;
use crate::rewrite::history::{ToldHistory, bare, standing_alone, title};

/// Longest question of a language model, in tokens.
const TOKENS: u32 = 300;

/// Turns of a history that a conversation is looked for by, the last ones: a longer one is not found again.
const MOST_COMPARED: usize = 1000;

/// Begins a conversation of the current role; its ID.
pub fn begin(title: Option<&str>) -> Result<Uuid> {
    let id = random::uuid()?;
    let arguments = [id.into(), role::current_user().into(), title.into()];
    let statement = query!(conversation.insert);
    as_superuser(|| sql::execute(statement, &arguments))?;
    Ok(id)
}

/// The conversation of the current role in which just what `history` says was said last, or a new one, which begins with
/// `question`; `None` where nothing can be written.
pub fn continued(question: &str, history: &ToldHistory) -> Result<Option<Uuid>> {
    if !can_write() {
        return Ok(None);
    }
    match found(history)? {
        Some(id) => Ok(Some(id)),
        None => begin(Some(&title(question))).map(Some),
    }
}

fn found(history: &ToldHistory) -> Result<Option<Uuid>> {
    let said =
        history.said().map(|(asked, answer)| (bare(asked).to_owned(), bare(answer).to_owned()));
    let mut said: Vec<(String, String)> = said.rev().take(MOST_COMPARED).collect();
    said.reverse();
    let (asked, answers): (Vec<String>, Vec<String>) = said.into_iter().unzip();
    if asked.is_empty() {
        return Ok(None);
    }
    let titles: Vec<String> = asked.iter().map(|question| title(question)).collect();
    let arguments = [role::current_role().into(), titles.into(), asked.into(), answers.into()];
    let statement = query!(conversation.continued);
    // Also one that the statement under way has begun, and its turns.
    let found = role::by_policies(|| {
        sql::changed_rows(statement, &arguments, |row| sql::required(row.get::<Uuid>(1)?))
    })?;
    Ok(found.into_iter().next())
}

/// Deletes a conversation of the caller's with its turns; whether it was there.
pub fn delete(id: Uuid) -> Result<bool> {
    let arguments = [role::current_role().into(), id.into()];
    let statement = query!(conversation.delete);
    Ok(as_superuser(|| sql::execute(statement, &arguments))? > 0)
}

/// A conversation that the caller may go on with.
pub struct Conversation {
    id: Uuid,
    turns: Vec<PastTurn>,
    /// What is kept from the provider that is asked now, and was kept from those of the turns.
    withheld: WithheldValues,
}

/// A question in a conversation.
pub struct Turn<'a> {
    /// The question as it was asked.
    pub question: &'a str,
    /// The question as it was looked up.
    pub standalone: &'a str,
    /// What was answered.
    pub answer: &'a str,
    /// The ID of its trace.
    pub trace: Option<Uuid>,
}

impl Conversation {
    /// The conversation with this ID. What was kept from providers in its last turns is added to `withheld`.
    pub fn find(id: &str, withheld: &WithheldValues) -> Result<Conversation> {
        let unknown = || {
            let message = format!("conversation \"{id}\" does not exist, or is of another role");
            Error::new(ErrorKind::UndefinedObject, message)
                .hint("Begin one with SELECT rag_conversation().")
        };
        let id = uuid(id).ok_or_else(unknown)?;
        let find = query!(conversation.find);
        // Also one that the statement under way has begun, and its turns.
        let is_seen = || sql::changed_rows(find, &[id.into()], |_| Ok(()));
        if role::by_policies(is_seen)?.is_empty() {
            return Err(unknown());
        }
        let statement = query!(conversation.turns);
        let arguments = [id.into(), (TURNS as i32).into()];
        let read = |row: &SpiHeapTupleData<'_>| {
            let (question, answer) = (sql::required(row.get(1)?)?, sql::required(row.get(2)?)?);
            if let Some(Jsonb(values)) = row.get(4)? {
                // What is none of these was written by nobody here.
                let values: BTreeMap<String, PiiKind> =
                    serde_json::from_value(values).unwrap_or_default();
                withheld.add(values);
            }
            Ok(PastTurn { asked: sql::required(row.get(3)?)?, question, answer })
        };
        let turns = role::by_policies(|| sql::changed_rows(statement, &arguments, read))?;
        Ok(Conversation { id, turns, withheld: withheld.clone() })
    }

    /// Adds a turn, of a conversation that was found as the caller; with what of its texts was kept from a provider, so that
    /// it is kept from those of later turns.
    pub fn append(&self, turn: &Turn<'_>) -> Result<()> {
        let withheld = self.withheld.within(&[turn.question, turn.standalone, turn.answer]);
        let withheld = (!withheld.is_empty()).then(|| Jsonb(json!(withheld)));
        let arguments = [
            self.id.into(),
            turn.question.into(),
            turn.standalone.into(),
            turn.answer.into(),
            turn.trace.into(),
            withheld.into(),
        ];
        let statement = query!(conversation.turn_insert);
        as_superuser(|| sql::execute(statement, &arguments)).map(drop)
    }
}

/// What was said before a question.
pub enum SaidBefore {
    /// The turns of a conversation.
    Kept(Conversation),
    /// Turns that the caller has told, to which none is added.
    Told(Vec<PastTurn>),
}

impl SaidBefore {
    /// What the options of a call say was said before; `None`: nothing. What was kept from providers in the last turns of a
    /// conversation is added to `withheld`.
    pub fn find(options: &AnswerOptions, withheld: &WithheldValues) -> Result<Option<SaidBefore>> {
        match (&options.conversation, &options.history) {
            (Some(id), _) => Ok(Some(SaidBefore::Kept(Conversation::find(id, withheld)?))),
            (None, Some(history)) => Ok(Some(SaidBefore::Told(history.turns()))),
            (None, None) => Ok(None),
        }
    }

    /// The conversation, to which a turn is to be added.
    pub fn kept(self) -> Option<Conversation> {
        match self {
            SaidBefore::Kept(conversation) => Some(conversation),
            SaidBefore::Told(_) => None,
        }
    }

    /// `question` as it is understood without what was said before. `llm` writes it, if it can.
    pub fn condensed(&self, question: &str, llm: &Llm) -> Result<String> {
        let (SaidBefore::Kept(Conversation { turns, .. }) | SaidBefore::Told(turns)) = self;
        if turns.is_empty() {
            return Ok(question.to_owned());
        }
        trace::step("condense", String::new, || {
            let condensed = match (llm, self) {
                (Llm::Provider(llm), _) => condensed_by(&llm.config, turns, question)?,
                (Llm::Extractive, SaidBefore::Kept(_)) => follow_up(turns, question),
                (Llm::Extractive, SaidBefore::Told(_)) => {
                    follow_up(&standing_alone(turns), question)
                }
            };
            trace::words(|| condensed.clone());
            Ok(condensed)
        })
    }
}

/// The question as the language model `llm` writes it. What the model does not understand is looked up as it is.
fn condensed_by(llm: &ProviderConfig, turns: &[PastTurn], question: &str) -> Result<String> {
    let template = template::find(TEMPLATE)?;
    let messages = condense::messages(&template, turns, question, &random::nonce()?)?;
    let sampling = Sampling::probable(Some(TOKENS));
    let answer = generate(llm, messages, sampling, &CallContext::query())?;
    Ok(condense::read(&answer.text).unwrap_or_else(|| question.to_owned()))
}

/// A UUID as it is written: 32 hexadecimal digits, with or without hyphens.
fn uuid(text: &str) -> Option<Uuid> {
    let digits: String = text.trim().chars().filter(|c| *c != '-').collect();
    let is_hexadecimal = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = u128::from_str_radix(&digits, 16).ok().filter(|_| is_hexadecimal)?;
    Some(Uuid::from_bytes(number.to_be_bytes()))
}
