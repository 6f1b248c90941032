//! Conversations: what a question means that follows others.

use std::collections::BTreeMap;

use pgrx::Uuid;
use pgrx::spi::SpiHeapTupleData;
use serde_json::json;

use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::template;
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::generate::{Sampling, generate};
use crate::pg::ragd::llm::Llm;
use crate::pg::ragd::trace;
use crate::pg::server::json::Jsonb;
use crate::pg::server::role::{self, as_superuser};
use crate::pg::server::sql::query;
use crate::pg::server::{random, sql};
use crate::protocol::ProviderConfig;
use crate::redact::PiiKind;
use crate::redact::withheld::WithheldValues;
use crate::rewrite::condense::{self, TEMPLATE, TURNS};
use crate::rewrite::follow_up::follow_up;

/// Longest question of a language model, in tokens.
const TOKENS: u32 = 300;

/// Begins a conversation of the current role; its ID.
pub fn begin(title: Option<&str>) -> Result<Uuid> {
    let id = random::uuid()?;
    let arguments = [id.into(), role::current_user().into(), title.into()];
    let statement = query!(conversation.insert);
    as_superuser(|| sql::execute(statement, &arguments))?;
    Ok(id)
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
    turns: Vec<condense::PastTurn>,
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
            Ok(condense::PastTurn { asked: sql::required(row.get(3)?)?, question, answer })
        };
        let turns = role::by_policies(|| sql::changed_rows(statement, &arguments, read))?;
        Ok(Conversation { id, turns, withheld: withheld.clone() })
    }

    /// `question` as it is understood without the conversation. `llm` writes it, if it can.
    pub fn condensed(&self, question: &str, llm: &Llm) -> Result<String> {
        if self.turns.is_empty() {
            return Ok(question.to_owned());
        }
        trace::step("condense", String::new, || {
            let condensed = match llm {
                Llm::Extractive => follow_up(&self.turns, question),
                Llm::Provider(llm) => self.ask(question, &llm.config)?,
            };
            trace::words(|| condensed.clone());
            Ok(condensed)
        })
    }

    /// What the model does not understand is looked up as it is.
    fn ask(&self, question: &str, llm: &ProviderConfig) -> Result<String> {
        let template = template::find(TEMPLATE)?;
        let messages = condense::messages(&template, &self.turns, question, &random::nonce()?)?;
        let answer =
            generate(llm, messages, Sampling::probable(Some(TOKENS)), &CallContext::query())?;
        Ok(condense::read(&answer.text).unwrap_or_else(|| question.to_owned()))
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

/// A UUID as it is written: 32 hexadecimal digits, with or without hyphens.
fn uuid(text: &str) -> Option<Uuid> {
    let digits: String = text.trim().chars().filter(|c| *c != '-').collect();
    let is_hexadecimal = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = u128::from_str_radix(&digits, 16).ok().filter(|_| is_hexadecimal)?;
    Some(Uuid::from_bytes(number.to_be_bytes()))
}
