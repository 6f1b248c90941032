//! A question gets a query, and its rows.
//!
//! ```text
//! catalog   what the caller may read, as documents
//! examples  pairs of the past that the caller may see
//! found     documents that were found, as relations of a query
//! session   the language model that is asked, and guarded SQL that runs what it writes
//! sources   the rows, as an answer cites them
//! ```
//!
//! All that a prompt says is read as the caller, for each question anew.

mod catalog;
pub mod examples;
mod found;
mod session;
mod sources;

use std::collections::HashSet;

use pgrx::check_for_interrupts;
use pgrx::pg_sys::Oid;
use serde_json::{Value, json};

pub use self::catalog::{statement_name, within_search_path};
pub use self::found::FoundRows;
pub use self::session::SqlSession;
pub use self::sources::called;

use crate::account::tokens_of;
use crate::answer::strategy::{BudgetLedger, WantedSources};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::template;
use crate::pg::guarded_sql::{GuardScope, GuardedRows, relation_name};
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::llm::Llm;
use crate::pg::ragd::{hybrid_score, trace, usage};
use crate::pg::server::sql::query;
use crate::pg::server::{random, role, sql};
use crate::prompt::messages::Message;
use crate::source::Source;
use crate::text::lexical_score::{AskedWords, WeighedWords};
use crate::text_to_sql::asks;
use crate::text_to_sql::implied;
use crate::text_to_sql::lexical::words_of;
use crate::text_to_sql::linking::{LinkedSchema, all_fit, link};
use crate::text_to_sql::options::{SCREEN_TEMPLATE, SqlOptions};
use crate::text_to_sql::prompt::{SqlMaterial, VerifiedPair, messages, nonce_of};
use crate::text_to_sql::table::TableDocument;
use crate::text_to_sql::{SqlAttempt, SqlEnding, SqlTask, WrittenSql, write};

/// Tokens of rows for which the budget of an answer keeps room while a query is written.
const KEPT_FOR_ROWS: u64 = 500;

/// Longest question, in bytes: it is taken apart without a look for interrupts.
const LONGEST_QUESTION: usize = 64 << 10;

/// A question about the rows of tables.
pub struct SqlQuestion<'a> {
    /// What is asked; not empty.
    pub question: &'a str,
    /// The relations that may be read; `None`: all that the options allow.
    pub relations: Option<Vec<Option<Oid>>>,
    /// The language model; `None`: that of `rag.llm`.
    pub llm: Option<&'a str>,
    /// The options.
    pub options: SqlOptions,
}

/// What has become of a question.
pub struct SqlAnswer {
    /// The query that has run; `None` where there can be none.
    pub sql: Option<String>,
    /// Its rows.
    pub rows: Option<GuardedRows>,
    /// Why the query answers the question, or why there is none.
    pub reason: Option<String>,
    /// All queries that were tried.
    pub attempts: Value,
    /// Calls and tokens.
    pub usage: Value,
}

/// The query that answers a question, and its rows.
///
/// Fails where no language model can be asked, where the caller may read nothing, and where no query has run
/// in as many attempts as the options allow.
pub fn answer(asked: SqlQuestion<'_>) -> Result<SqlAnswer> {
    let SqlQuestion { question, relations, llm, options } = asked;
    check_question(question)?;
    let llm = Llm::or_default(llm)?;
    let provider = llm.provider_for("rag_sql").map_err(|error| {
        error.hint("CREATE SERVER ... FOREIGN DATA WRAPPER rag_llm, then SET rag.llm to its name.")
    })?;
    let options = match relations {
        Some(relations) => options.only(readable(relations)?)?,
        None => options,
    };
    let mut session = SqlSession::new(provider, &options);
    let read = SchemaInPrompt::read(question, Vec::new(), &options, session.is_screened())?;
    let mut ledger = BudgetLedger::new(options.budget.priced(usage::prices(provider))?);
    let done = read.write(&options, None, &mut ledger, &mut session)?;
    ledger.tell("llm", json!(provider.name));
    read.usage().into_iter().for_each(|(name, value)| ledger.tell(name, value));
    ended(done, ledger.usage("sql"))
}

/// Where the answer to `question` is to be looked for. Rows are wanted only where `options` name the tables or schemas
/// that may be read, so nobody's question goes to tables by surprise.
///
/// Fails where rows are wanted and the caller may not call `rag_sql`.
pub fn wanted_sources(question: &str, options: &SqlOptions) -> Result<WantedSources> {
    let is_allowed = options.guard.has_lists() && question.len() <= LONGEST_QUESTION;
    if !is_allowed || !asks::asks_for_figure(question) {
        return Ok(WantedSources::Documents);
    }
    trace::step("choose", String::new, || {
        let tables = catalog::tables(&GuardScope::of(&options.guard)?, false)?;
        let mut look = || {
            check_for_interrupts!();
        };
        let wanted = asks::wanted(question, &tables, &mut look);
        trace::remark(|| said_of(wanted).to_owned());
        if wanted != WantedSources::Documents {
            check_granted().map_err(|error| {
                error.hint(
                    "GRANT EXECUTE ON FUNCTION rag_sql TO the role, or name no tables and schemas in the option \"answer.sql\".",
                )
            })?;
        }
        Ok(wanted)
    })
}

/// What a trace says of a choice.
fn said_of(wanted: WantedSources) -> &'static str {
    match wanted {
        WantedSources::Documents => {
            "documents: a figure is asked for, but none of the tables is named"
        }
        WantedSources::Rows => "sql: a figure of tables is asked for",
        WantedSources::Both => "combined: a figure of tables is asked for, and what documents say",
    }
}

/// The rows of a query for a question that `rag_answer` is asked, as sources; none where there can be no query, or the
/// budget has no room for it beside the answer. The query may join the rows that were found. Users see the query in the
/// usage.
///
/// Fails as [`answer`] does, and where the caller may not call `rag_sql`; that no query runs is the error inside.
pub fn sources(
    (question, found): (&str, Vec<FoundRows>),
    options: &SqlOptions,
    ledger: &mut BudgetLedger,
    mut session: SqlSession<'_>,
) -> Result<Result<Vec<Source>>> {
    check_granted()?;
    check_question(question)?;
    let documents = found.iter().flat_map(|it| &it.rows).map(|it| tokens_of(it.content.len()));
    let kept = KEPT_FOR_ROWS + tokens_of(question.len()) + documents.sum::<u64>();
    let read = SchemaInPrompt::read(question, found, options, session.is_screened())?;
    session.name(read.with.clone());
    let kept = Some(kept);
    let WrittenSql { ending, attempts } = read.write(options, kept, ledger, &mut session)?;
    let sql = attempts.last().map(|last| last.sql.clone());
    match ending {
        SqlEnding::Ran { rows, .. } => {
            ledger.tell("sql", json!(sql));
            ledger.tell("truncated", json!(rows.is_truncated));
            Ok(Ok(sources::sources(&rows)))
        }
        SqlEnding::Unanswerable(reason) => {
            ledger.tell("reason", json!(reason));
            Ok(Ok(Vec::new()))
        }
        SqlEnding::Failed => Ok(Err(failed(&attempts))),
        SqlEnding::OverBudget => Ok(Ok(Vec::new())),
    }
}

/// The prompt in which [`sources`] has a query written.
pub fn first_prompt(
    question: &str,
    found: Vec<FoundRows>,
    options: &SqlOptions,
) -> Result<Vec<Message>> {
    check_granted()?;
    check_question(question)?;
    Ok(SchemaInPrompt::read(question, found, options, false)?.prompt)
}

/// Whether the caller may call `rag_sql`, which nobody may until it is granted.
pub fn is_granted() -> Result<bool> {
    let granted = query!(text_to_sql.may_execute);
    let granted =
        within_search_path(|| sql::rows(granted, &[], |row| sql::required(row.get::<bool>(1)?)))?;
    Ok(granted.contains(&true))
}

/// An error where the caller may not call `rag_sql`.
fn check_granted() -> Result<()> {
    match is_granted()? {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::Forbidden, "permission denied for function rag_sql")
            .hint("GRANT EXECUTE ON FUNCTION rag_sql TO the role.")),
    }
}

/// An error where a question is too long to be taken apart.
fn check_question(question: &str) -> Result<()> {
    if question.len() <= LONGEST_QUESTION {
        return Ok(());
    }
    let message = format!("question has {} bytes, more than {LONGEST_QUESTION}", question.len());
    Err(Error::new(ErrorKind::DocumentLimit, message))
}

/// The names of relations that a call names. An error where one is not there, or the caller may not read it.
fn readable(relations: Vec<Option<Oid>>) -> Result<Vec<String>> {
    let name = |relation: Option<Oid>| {
        let relation = relation.ok_or_else(|| {
            Error::new(ErrorKind::NullNotAllowed, "relations must not hold a NULL")
        })?;
        let name = relation_name(relation);
        match role::may_select(relation) {
            true => Ok(name),
            false if catalog::exists(relation) => {
                let message = format!("permission denied for relation {name}");
                Err(Error::new(ErrorKind::Forbidden, message))
            }
            false => {
                let message = format!("relation with the OID {} does not exist", relation.to_u32());
                Err(Error::new(ErrorKind::UndefinedObject, message))
            }
        }
    };
    relations.into_iter().map(name).collect()
}

/// What a prompt shows, and what there is.
struct SchemaInPrompt {
    tables: Vec<TableDocument>,
    linked: LinkedSchema,
    examples: Vec<VerifiedPair>,
    prompt: Vec<Message>,
    /// What asks whether there is a query, if it is asked.
    screen: Option<Vec<Message>>,
    /// A query of nothing, whose WITH has the documents that a query may name.
    with: Option<String>,
}

impl SchemaInPrompt {
    fn read(
        question: &str,
        found: Vec<FoundRows>,
        options: &SqlOptions,
        is_screened: bool,
    ) -> Result<SchemaInPrompt> {
        let scope = GuardScope::of(&options.guard)?;
        let mut tables =
            trace::found("tables", String::new, || catalog::tables(&scope, options.values))?;
        if tables.is_empty() {
            return Err(nothing_to_read());
        }
        implied::add(&mut tables, &mut || {
            check_for_interrupts!();
        });
        let relations = found::relations(&tables, found);
        let with = found::with_relations(&relations);
        let in_catalog = tables.len();
        tables.extend(relations.into_iter().map(|it| it.document));
        let asked = AskedWords::of(question);
        let link = || linked((question, &asked), &tables, in_catalog, options);
        let linked = trace::step("link", String::new, link)?;
        let examples = examples::chosen(question, options)?;
        let nonce = nonce_of(&linked.text);
        random::take_as_nonce(&nonce);
        let material = SqlMaterial {
            question,
            tables: &linked.text,
            examples: &examples,
            today: &sql::today()?,
            nonce: &nonce,
        };
        let prompt = messages(&template::find(&options.template)?, material)?;
        let screen = || {
            let material = SqlMaterial { examples: &[], ..material };
            messages(&template::find(SCREEN_TEMPLATE)?, material)
        };
        let screen = is_screened.then(screen).transpose()?;
        Ok(SchemaInPrompt { tables, linked, examples, prompt, screen, with })
    }

    /// Has queries written and run; `kept` are tokens of a later call, as in [`SqlTask`].
    fn write(
        &self,
        options: &SqlOptions,
        kept: Option<u64>,
        ledger: &mut BudgetLedger,
        session: &mut SqlSession<'_>,
    ) -> Result<WrittenSql<GuardedRows>> {
        let known = catalog::names(&self.tables);
        let (prompt, screen) = (self.prompt.clone(), self.screen.clone());
        let attempts = options.attempts;
        let task = SqlTask { prompt, screen, attempts, kept, known: &known, tables: &self.tables };
        write(&task, ledger, session)
    }

    /// What of it is told in the usage.
    fn usage(&self) -> Vec<(&'static str, Value)> {
        let examples: Vec<i64> = self.examples.iter().map(|pair| pair.id).collect();
        let shown = self.linked.tables.iter().map(|place| self.tables[*place].name.as_str());
        vec![
            ("tables_readable", json!(self.tables.len())),
            ("tables_shown", shown.collect::<Value>()),
            ("examples", json!(examples)),
        ]
    }
}

fn nothing_to_read() -> Error {
    let message = "there is no relation that a query may read";
    Error::new(ErrorKind::UndefinedObject, message).hint(
        "GRANT SELECT on tables to the role, or name others in relations or in the option \"guard\".",
    )
}

/// What is shown of the tables. Their scores are looked up only where not all fit. What stands behind those that are
/// `in_catalog` is shown before all others.
fn linked(
    (question, asked): (&str, &AskedWords),
    tables: &[TableDocument],
    in_catalog: usize,
    options: &SqlOptions,
) -> Result<LinkedSchema> {
    let room = options.schema_tokens as usize;
    let scores = match all_fit(tables, room) {
        true => vec![0.0; tables.len()],
        false => {
            let words: Vec<WeighedWords> = tables.iter().map(words_of).collect();
            let sentence = |place: usize| tables[place].sentence();
            let context = CallContext::query();
            let mut scores = hybrid_score::scores(question, asked, &words, &sentence, &context)?;
            let best = scores.iter().copied().fold(1.0, f64::max);
            scores.iter_mut().skip(in_catalog).for_each(|score| *score = 2.0 * best);
            scores
        }
    };
    let mut look = || {
        check_for_interrupts!();
    };
    let linked = link(tables, &scores, asked, room, &mut look);
    trace::rows(linked.tables.len());
    Ok(linked)
}

fn ended(done: WrittenSql<GuardedRows>, usage: Value) -> Result<SqlAnswer> {
    let WrittenSql { ending, attempts } = done;
    let (sql, rows, reason) = match ending {
        SqlEnding::Ran { rows, reason } => {
            (attempts.last().map(|last| last.sql.clone()), Some(rows), reason)
        }
        SqlEnding::Unanswerable(reason) => (None, None, Some(reason)),
        SqlEnding::Failed => return Err(failed(&attempts)),
        SqlEnding::OverBudget => return Err(over_budget(&attempts)),
    };
    let attempts = attempts.iter().map(SqlAttempt::to_json).collect();
    Ok(SqlAnswer { sql, rows, reason, attempts, usage })
}

fn failed(attempts: &[SqlAttempt]) -> Error {
    let message =
        format!("the language model wrote no query that runs in {} attempts", attempts.len());
    with_last(Error::new(ErrorKind::ProviderFailed, message), attempts).hint(
        "Comments on tables and columns, verified pairs (rag_sql_example) and fewer relations help; or raise the option \"attempts\".",
    )
}

fn over_budget(attempts: &[SqlAttempt]) -> Error {
    let message =
        format!("the budget is spent after {} attempts, and no query has run", attempts.len());
    with_last(Error::new(ErrorKind::BudgetExceeded, message), attempts)
        .hint("Raise the option \"budget\".")
}

/// With the last query and what is wrong with it.
fn with_last(error: Error, attempts: &[SqlAttempt]) -> Error {
    match attempts.last() {
        Some(SqlAttempt { sql, failure: Some(failure), .. }) => {
            error.detail(format!("Last query: {sql}\nIts error: {}", failure.said(sql)))
        }
        _ => error,
    }
}

/// Names of tables and columns, in lower case.
type KnownNames = HashSet<String>;
