//! Conversations: what a question means that follows others.

use pgrx::Uuid;

use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::template;
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::generate::{Sampling, generate};
use crate::pg::ragd::llm::Llm;
use crate::pg::ragd::trace;
use crate::pg::server::role::{self, as_superuser};
use crate::pg::server::sql::query;
use crate::pg::server::{random, sql};
use crate::protocol::ProviderConfig;
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
    /// The conversation with this ID.
    pub fn find(id: &str) -> Result<Conversation> {
        let unknown = || {
            let message = format!("conversation \"{id}\" does not exist, or is of another role");
            Error::new(ErrorKind::UndefinedObject, message)
                .hint("Begin one with SELECT rag_conversation().")
        };
        let id = uuid(id).ok_or_else(unknown)?;
        let find = query!(conversation.find);
        // Also one that the statement under way has begun, and its turns.
        if sql::changed_rows(find, &[id.into()], |_| Ok(()))?.is_empty() {
            return Err(unknown());
        }
        let statement = query!(conversation.turns);
        let turns = sql::changed_rows(statement, &[id.into(), (TURNS as i32).into()], |row| {
            let (question, answer) = (sql::required(row.get(1)?)?, sql::required(row.get(2)?)?);
            Ok(condense::PastTurn { asked: sql::required(row.get(3)?)?, question, answer })
        })?;
        Ok(Conversation { id, turns })
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

    /// Adds a turn, of a conversation that was found as the caller.
    pub fn append(&self, turn: &Turn<'_>) -> Result<()> {
        let arguments = [
            self.id.into(),
            turn.question.into(),
            turn.standalone.into(),
            turn.answer.into(),
            turn.trace.into(),
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
