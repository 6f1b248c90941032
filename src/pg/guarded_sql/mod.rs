//! How does a statement run that a model or a stranger has written?
//!
//! ```text
//! text → one raw SELECT → analysed and rewritten → looked at, node by node → planned → looked at → run
//!        parse.rs                                  inspection.rs             execute.rs
//! ```
//!
//! All of it happens in a subtransaction that may not write and is rolled back whatever comes of it, under
//! limits of time and memory ([`session`]). What is looked at is what runs: no text is analysed twice.

mod data_type;
mod enforcement;
mod execute;
mod function;
mod inspection;
mod key;
mod nodes;
mod parse;
mod relation;
mod rows;
mod scope;
mod session;
mod walk;

use std::ffi::{CStr, CString};
use std::time::Duration;

use pgrx::PgList;
use pgrx::prelude::*;
use serde_json::Value;

pub use self::function::{may_execute, signature as function_signature};
pub use self::key::ResultKey;
pub use self::relation::{name as relation_name, quoted};
pub use self::rows::GuardedRows;
pub use self::scope::GuardScope;
pub use self::walk::{NodeVisitor, raw_children};

use self::enforcement::Enforcement;
use self::inspection::Inspection;
use crate::error::{Error, ErrorKind, Result};
use crate::guarded_sql::limits::StatementLimits;
use crate::guarded_sql::options::GuardOptions;
use crate::guarded_sql::{Problem, ProblemKind, refusal};
use crate::pg::server::statement_error::StatementError;

/// Most bytes of a statement: its grammar is read without a look for interrupts.
const LONGEST: usize = 1 << 20;

/// For how long a statement may be looked at that is not to run.
const CHECK_TIME: Duration = Duration::from_secs(10);

/// What the caller asks of a statement that runs.
pub struct GuardedRequest<'a> {
    /// The statement.
    pub sql: Option<&'a str>,
    /// Most rows.
    pub max_rows: i32,
    /// The longest time.
    pub timeout: Duration,
    /// The planner's total cost, above which it does not run.
    pub max_cost: f64,
    /// The options, as [`options`] reads them.
    pub options: &'a GuardOptions,
    /// Whether it is to be found out which rows of which relation the rows are.
    pub wants_keys: bool,
    /// A query of the extension's own, the relations of whose WITH the statement may name.
    pub with: Option<&'a str>,
}

/// A query that has been looked at.
struct CheckedQuery {
    query: *mut pg_sys::Query,
    problems: Vec<Problem>,
    /// Relations that the statement itself names, each once, in its order.
    named: Vec<pg_sys::Oid>,
    /// Whether it reads a relation of the WITH that was added.
    reads_added: bool,
    calls_listed: bool,
}

/// The options of guarded SQL. Fails with an invalid parameter.
pub fn options(options: Value) -> Result<GuardOptions> {
    crate::options::read::<GuardOptions>("", options, &[])?.checked()
}

/// What is wrong with a statement; nothing: it may run. An error in it is a problem of its own.
///
/// Fails where an option names what is not there, and where the look at it is given up.
pub fn check(sql: Option<&str>, options: &GuardOptions) -> Result<Vec<Problem>, StatementError> {
    let statement = statement(sql)?;
    let scope = GuardScope::of(options)?;
    let limits = session::limits(CHECK_TIME, options);
    let mut problems = Vec::new();
    let outcome = session::guarded(limits, || {
        let checked = look_at(&statement, None, &scope)?;
        problems.extend(checked.problems);
        Ok(())
    });
    match outcome {
        Err(error) if error.is_of_statement() => {
            problems.push(enforcement::take_refused().unwrap_or_else(|| problem_of(error)));
        }
        other => other?,
    }
    Ok(problems)
}

/// The rows of a statement, if there is nothing wrong with it.
pub fn run(request: GuardedRequest<'_>) -> Result<GuardedRows, StatementError> {
    let GuardedRequest { timeout, max_cost, max_rows, options, wants_keys, with, .. } = request;
    let limits = StatementLimits {
        max_rows: usize::try_from(max_rows).unwrap_or(0),
        timeout,
        max_cost,
        max_plan_rows: options.max_plan_rows,
        max_bytes: options.max_bytes as usize,
    };
    let limits = limits.checked(max_rows)?;
    let statement = statement(request.sql)?;
    let with = with.map(CString::new).transpose().map_err(|_| Error::invalid("sql has a zero"))?;
    let scope = GuardScope::of(options)?;
    session::guarded(session::limits(timeout, options), || {
        let checked = look_at(&statement, with.as_deref(), &scope)?;
        if let Some(refused) = refusal(&checked.problems) {
            return Err(refused.into());
        }
        let keys = match wants_keys {
            // SAFETY: the query of this subtransaction, before the planner changes it.
            true => unsafe { key::result_keys(checked.query) }?,
            false => Vec::new(),
        };
        // What a function does in turn is for whoever has named it.
        let _enforced = (!checked.calls_listed).then(|| Enforcement::begin(scope.functions()));
        // SAFETY: the query of this subtransaction, just looked at.
        let rows = unsafe { execute::rows(checked.query, &statement, limits) }?;
        let CheckedQuery { named: relations, reads_added, .. } = checked;
        Ok(GuardedRows { relations, reads_added, keys, ..rows })
    })
}

/// An error of its first problem where a statement may not run.
pub fn ensure(sql: Option<&str>, options: &GuardOptions) -> Result<(), StatementError> {
    let problems = check(sql, options)?;
    let Some(refused) = refusal(&problems) else { return Ok(()) };
    let sqlstate = problems.into_iter().next().and_then(|first| first.sqlstate);
    let refused = StatementError::from(refused);
    Err(StatementError { sqlstate: sqlstate.unwrap_or(refused.sqlstate), ..refused })
}

fn statement(sql: Option<&str>) -> Result<CString> {
    let sql = sql.ok_or_else(|| Error::new(ErrorKind::NullNotAllowed, "sql must not be NULL"))?;
    if sql.len() > LONGEST {
        let message = format!("sql has {} bytes, more than {LONGEST}", sql.len());
        return Err(Error::new(ErrorKind::DocumentLimit, message));
    }
    CString::new(sql).map_err(|_| Error::invalid("sql has a zero"))
}

/// Reads, analyses and looks at a statement, which may name the relations of the WITH of another. Raises what PostgreSQL
/// finds wrong with it.
fn look_at(
    text: &CStr,
    with: Option<&CStr>,
    scope: &GuardScope,
) -> Result<CheckedQuery, StatementError> {
    let nothing = |problems| CheckedQuery {
        query: std::ptr::null_mut(),
        problems,
        named: Vec::new(),
        reads_added: false,
        calls_listed: false,
    };
    let raw = match parse::one_query(text) {
        Ok(raw) => raw,
        Err(problems) => return Ok(nothing(problems)),
    };
    // SAFETY: the tree of one query, which nobody else has.
    let added = with.map(|with| unsafe { parse::add_relations(raw.tree, with) });
    // SAFETY: a tree of the grammar's, which nobody else has.
    let query = unsafe { analysed(raw.tree, text, scope) };
    let Some(query) = query else {
        let detail = "the statement is no single query after rules";
        return Ok(nothing(vec![Problem::new(ProblemKind::NotAQuery, "", detail)]));
    };
    let mut inspection = Inspection::new(scope, text, &raw.relations);
    // SAFETY: the query that has just been made.
    unsafe { inspection.query(query) };
    inspection.attached()?;
    if inspection.problems.is_empty() {
        // SAFETY: queries of the tree.
        inspection.queries.iter().for_each(|it| unsafe { relation::check_permissions(*it) });
    }
    let Inspection { problems, named_by_author: named, calls_listed, .. } = inspection;
    // SAFETY: the query that has just been made.
    let reads_added = added.is_some_and(|names| unsafe { parse::reads_any(query, &names) });
    Ok(CheckedQuery { query, problems, named, reads_added, calls_listed })
}

/// The one query that the analysis and the rewriter make of a statement. Constants become values here, and
/// values of some types are checked by functions, so that these are held to the rules.
///
/// # Safety
///
/// `tree` is a raw statement of `text`.
unsafe fn analysed(
    tree: *mut pg_sys::RawStmt,
    text: &CStr,
    scope: &GuardScope,
) -> Option<*mut pg_sys::Query> {
    let _enforced = Enforcement::begin(scope.functions());
    // SAFETY: by this function's contract; there are no parameters.
    let queries = unsafe {
        let made = pg_sys::pg_analyze_and_rewrite_fixedparams(
            tree,
            text.as_ptr(),
            std::ptr::null(),
            0,
            std::ptr::null_mut(),
        );
        PgList::<pg_sys::Query>::from_pg(made)
    };
    queries.get_ptr(0).filter(|_| queries.len() == 1)
}

fn problem_of(error: StatementError) -> Problem {
    let kind = match error.sqlstate.as_str() {
        "42501" => ProblemKind::Permission,
        _ => ProblemKind::Error,
    };
    let StatementError { sqlstate, message, detail, hint, position, .. } = error;
    let detail = match detail {
        Some(detail) => format!("{message} ({detail})"),
        None => message,
    };
    let node = String::new();
    Problem { kind, node, detail, hint, position, sqlstate: Some(sqlstate) }
}

impl From<crate::guarded_sql::Refusal> for StatementError {
    fn from(refused: crate::guarded_sql::Refusal) -> Self {
        let crate::guarded_sql::Refusal { message, detail, hint, position } = refused;
        let code = PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE;
        StatementError { detail, hint, position, ..StatementError::new(code, message) }
    }
}

/// The rows of a statement, or the error that it ends with.
pub fn run_or_report(request: GuardedRequest<'_>) -> GuardedRows {
    let statement = request.sql.unwrap_or_default();
    run(request).unwrap_or_else(|error| error.raise(statement))
}

/// What is wrong with a statement, or the error with which the look at it ends.
pub fn check_or_report(sql: Option<&str>, options: &GuardOptions) -> Vec<Problem> {
    check(sql, options).unwrap_or_else(|error| error.raise(sql.unwrap_or_default()))
}
