//! # text_to_sql: which query answers this question?
//!
//! ```text
//! relations that the caller may read → linking → prompt → a language model's query → run
//!                                                   ▲                                 │ error
//!                                                   └─────────── what is wrong ◄──────┘
//! ```
//!
//! `asks` says whether a question wants rows at all, `implied` finds keys that nobody has declared, `linking` chooses
//! what is shown of the relations, `found` is a relation of documents that a search has found beside them, `prompt` puts
//! it into words, and [`write`] has a language model say, if it is a small one, whether there is a query, and write and
//! correct a query until one runs. Who asks the model and runs queries comes in as a [`SqlHost`]. A query that is planned
//! and runs ends the work: whether its rows are what was meant, no second call knows better.
//!
//! A query is nothing but a text here. What it may do is decided where it runs.

mod ambiguous;
pub mod asks;
mod bridge;
mod columns;
pub mod failure;
pub mod found;
mod hint;
pub mod implied;
pub mod lexical;
pub mod linking;
pub mod options;
pub mod prompt;
mod reference;
pub mod reply;
pub mod table;

use std::collections::HashSet;

use serde_json::{Value, json};

use self::failure::{NO_RIGHT, QueryFailure};
use self::reply::{ReplyForm, SqlReply};
use self::table::TableDocument;
use crate::answer::strategy::{BudgetLedger, Limits, ModelReply, estimate_all};
use crate::error::{Error, ErrorKind, Result};
use crate::prompt::messages::Message;

/// How often a query of the model is mended as PostgreSQL says: each place of a wrong name is one.
const MOST_HINTS: usize = 6;

/// Why a question has no answer whose query reads nothing.
const READS_NOTHING: &str = "The query that was written reads no table.";

/// What has a query written.
pub struct SqlTask<'a> {
    /// The prompt.
    pub prompt: Vec<Message>,
    /// The prompt that asks first whether there is a query, if one does.
    pub screen: Option<Vec<Message>>,
    /// Most queries that the language model writes.
    pub attempts: u32,
    /// Tokens of the prompt of a later call for which the budget keeps room.
    pub kept: Option<u64>,
    /// Names of tables and columns that the caller may read, in lower case.
    pub known: &'a HashSet<String>,
    /// The relations that the caller may read.
    pub tables: &'a [TableDocument],
}

/// Asks a language model and runs queries.
pub trait SqlHost {
    /// What comes of a query.
    type Rows;

    /// What the language model replies, in this form.
    fn ask(&mut self, prompt: &[Message], form: ReplyForm, limits: Limits) -> Result<ModelReply>;

    /// The rows of a query, or why it does not run. What no other query could mend does not come back.
    fn run(&mut self, sql: &str) -> Result<Self::Rows, QueryFailure>;

    /// Whether these rows come from anywhere: else the query holds them itself, and they are the model's own words.
    fn has_read(&self, rows: &Self::Rows) -> bool;

    /// Milliseconds since the question was asked.
    fn elapsed_ms(&self) -> u64;
}

/// What has become of a question.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenSql<R> {
    /// How it ended.
    pub ending: SqlEnding<R>,
    /// All queries that were tried, in order.
    pub attempts: Vec<SqlAttempt>,
}

/// How the work at a question ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SqlEnding<R> {
    /// A query has run, which is the last attempt.
    Ran {
        /// Its rows.
        rows: R,
        /// Why it answers the question, as the model says.
        reason: Option<String>,
    },
    /// The model says that the tables cannot answer the question, and why.
    Unanswerable(String),
    /// No query has run in as many attempts as there may be.
    Failed,
    /// The budget has no room for another call.
    OverBudget,
}

/// A query that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlAttempt {
    /// The query; empty where the reply had none.
    pub sql: String,
    /// Who wrote it.
    pub by: QueryAuthor,
    /// Why it did not run; `None`: it did.
    pub failure: Option<QueryFailure>,
}

/// Who has written a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryAuthor {
    /// The language model.
    Model,
    /// The language model, but for what PostgreSQL's error says to mend.
    Hint,
}

impl SqlAttempt {
    /// As users see it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let by = match self.by {
            QueryAuthor::Model => "model",
            QueryAuthor::Hint => "hint",
        };
        let mut json = json!({"sql": self.sql, "by": by});
        if let (Some(failure), Some(members)) = (&self.failure, json.as_object_mut()) {
            members.extend(failure.to_json());
        }
        json
    }
}

/// Has queries written until one runs, with calls that `ledger` grants and counts.
///
/// Fails where the language model cannot be asked.
pub fn write<H: SqlHost>(
    task: &SqlTask<'_>,
    ledger: &mut BudgetLedger,
    host: &mut H,
) -> Result<WrittenSql<H::Rows>> {
    let mut work = SqlWork { task, host, ledger, attempts: Vec::new() };
    let ending = work.ending()?;
    Ok(WrittenSql { ending, attempts: work.attempts })
}

/// The work at a question.
struct SqlWork<'a, H> {
    task: &'a SqlTask<'a>,
    host: &'a mut H,
    ledger: &'a mut BudgetLedger,
    attempts: Vec<SqlAttempt>,
}

impl<H: SqlHost> SqlWork<'_, H> {
    fn ending(&mut self) -> Result<SqlEnding<H::Rows>> {
        let mut prompt = self.task.prompt.clone();
        if let Some(asked) = &self.task.screen {
            let reply = self.ask(asked, ReplyForm::Screen)?;
            let Some(reply) = reply else { return Ok(SqlEnding::OverBudget) };
            if let Some(reason) = reply::refusal(&reply) {
                return Ok(SqlEnding::Unanswerable(reason));
            }
        }
        let mut form = ReplyForm::QueryOrRefusal;
        for _ in 0..self.task.attempts {
            let Some(reply) = self.ask(&prompt, form)? else { return Ok(SqlEnding::OverBudget) };
            match reply::read(&reply) {
                SqlReply::Unanswerable(reason) => return Ok(SqlEnding::Unanswerable(reason)),
                SqlReply::Unreadable => {
                    self.tried(
                        String::new(),
                        QueryAuthor::Model,
                        Some(prompt::unreadable_failure()),
                    );
                    prompt.extend(prompt::unreadable(&reply));
                }
                SqlReply::Query { sql, reason } => match self.run(sql) {
                    Some(rows) if self.host.has_read(&rows) => {
                        return Ok(SqlEnding::Ran { rows, reason });
                    }
                    Some(_) => return Ok(SqlEnding::Unanswerable(READS_NOTHING.to_owned())),
                    None => {
                        form = self.form_of_repair();
                        prompt.extend(self.repair(&reply, form));
                    }
                },
            }
        }
        Ok(SqlEnding::Failed)
    }

    /// What the model replies; `None` where the budget is spent. A reply that has not that form is empty.
    fn ask(&mut self, prompt: &[Message], form: ReplyForm) -> Result<Option<String>> {
        let size = estimate_all(prompt);
        let begun = self.host.elapsed_ms();
        let (granted, limits) = self.ledger.grant(&[size], self.task.kept, begun);
        if granted == 0 {
            return Ok(None);
        }
        let reply = self.host.ask(prompt, form, limits).or_else(|error| match error.kind() {
            ErrorKind::ReplyMisfit => Ok(misfit(&error)),
            _ => Err(error),
        });
        let took = self.host.elapsed_ms().saturating_sub(begun);
        let is_late = limits.timeout_ms.is_some_and(|limit| took >= limit);
        Ok(self.ledger.note(form.step(), reply, size, is_late)?.map(|reply| reply.text))
    }

    /// The rows of a query, or of one that is mended as PostgreSQL's errors say; `None` where none runs.
    fn run(&mut self, sql: String) -> Option<H::Rows> {
        let (mut sql, mut by) = (sql, QueryAuthor::Model);
        for _ in 0..=MOST_HINTS {
            let failure = match self.host.run(&sql) {
                Ok(rows) => {
                    self.tried(sql, by, None);
                    return Some(rows);
                }
                Err(failure) => failure,
            };
            if by == QueryAuthor::Hint && failure.sqlstate == NO_RIGHT {
                self.forget_hint();
                return None;
            }
            let told = failure.told(&sql, self.task.known);
            let is_told = told.hint == failure.hint;
            let follow = || hint::followed(&sql, &failure, self.task.tables);
            let next = is_told.then(follow).flatten();
            self.tried(sql, by, Some(told));
            (sql, by) = (next?, QueryAuthor::Hint);
        }
        None
    }

    fn tried(&mut self, sql: String, by: QueryAuthor, failure: Option<QueryFailure>) {
        self.attempts.push(SqlAttempt { sql, by, failure });
    }

    /// PostgreSQL suggests what there is, whoever asks; here it was something that the caller may not read.
    fn forget_hint(&mut self) {
        if let Some(failure) = self.attempts.last_mut().and_then(|it| it.failure.as_mut()) {
            failure.hint = None;
        }
    }

    /// Whether the next reply may say that there is no query: not where the error is one of the query's form, which says
    /// nothing of what the tables hold, nor where some table has the column that the query takes from another, or two have it.
    fn form_of_repair(&self) -> ReplyForm {
        let failure = self.attempts.last().and_then(|it| it.failure.as_ref());
        let is_elsewhere = |failure: &QueryFailure| {
            let missing = failure.missing_column();
            let meant = missing.and_then(|it| columns::MeantColumn::of(it, self.task.tables));
            meant.is_some_and(|it| it.is_exact)
        };
        match failure.is_some_and(|it| it.is_of_form() || it.is_ambiguous() || is_elsewhere(it)) {
            true => ReplyForm::Query,
            false => ReplyForm::QueryOrRefusal,
        }
    }

    fn repair(&self, reply: &str, form: ReplyForm) -> Vec<Message> {
        let Some(SqlAttempt { sql, by, failure: Some(failure) }) = self.attempts.last() else {
            return Vec::new();
        };
        let said = || columns::said(sql, failure.missing_column(), self.task.tables);
        let columns = failure.is_of_names().then(said).flatten();
        let is_followed = *by == QueryAuthor::Hint;
        prompt::repair(reply, (sql, failure), is_followed, columns.as_deref(), form).into()
    }
}

/// What is noted of a reply in another form, such as one that is cut short: that there was one.
fn misfit(error: &Error) -> ModelReply {
    let bill = error.bill().unwrap_or_default();
    ModelReply {
        prompt_tokens: Some(bill.input),
        completion_tokens: Some(bill.output),
        attempts: bill.calls,
        ..ModelReply::default()
    }
}

#[cfg(test)]
mod tests;
