//! An error in a statement that was given as a text: with its place in this text.

use std::cell::RefCell;
use std::ffi::{CString, c_void};
use std::panic::AssertUnwindSafe;

use pgrx::PgTryBuilder;
use pgrx::pg_sys::panic::CaughtError;
use pgrx::prelude::*;

use super::error::{code_text, raise_as, sqlstate_text};
use super::raised::Raised;
use crate::error::Error;

/// The SQLSTATE of limits that are settings, such as that of temporary files.
const LIMIT_EXCEEDED: &str = "53400";

/// Classes of SQLSTATEs that say nothing of the statement: the same one may run in a moment, or elsewhere.
const PASSING: [&str; 7] = ["08", "40", "53", "57", "58", "RG", "XX"];

/// An error in a statement that was given as a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementError {
    /// The SQLSTATE, five characters.
    pub sqlstate: String,
    /// What it says.
    pub message: String,
    /// Facts that would make the message too long.
    pub detail: Option<String>,
    /// What can be done about it.
    pub hint: Option<String>,
    /// Where in the statement it is, in characters from 1.
    pub position: Option<i32>,
    /// Whether it has passed a limit that was set for this statement, so that another may keep it.
    pub is_of_limit: bool,
}

impl StatementError {
    /// An error with one of PostgreSQL's codes.
    pub fn new(code: PgSqlErrorCode, message: impl Into<String>) -> Self {
        let (sqlstate, message) = (code_text(code as i32), message.into());
        StatementError {
            sqlstate,
            message,
            detail: None,
            hint: None,
            position: None,
            is_of_limit: false,
        }
    }

    /// Adds what can be done about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says that it has passed a limit that was set for this statement.
    #[must_use]
    pub fn of_limit(self) -> Self {
        StatementError { is_of_limit: true, ..self }
    }

    /// Whether it is about what the statement says, and not about the server or the moment.
    pub fn is_of_statement(&self) -> bool {
        !PASSING.contains(&&self.sqlstate[..2])
    }

    /// Whether another statement could do better.
    pub fn is_mendable(&self) -> bool {
        self.is_of_limit || self.is_of_statement() || self.sqlstate == LIMIT_EXCEEDED
    }

    /// What it says, and what can be done about it.
    pub fn told(&self) -> String {
        let hint = self.hint.as_ref().map(|hint| format!(". {hint}"));
        format!("{}{}", self.message, hint.unwrap_or_default())
    }

    /// Raises it as an error of PostgreSQL's that shows `statement` with the place in it.
    pub fn raise(self, statement: &str) -> ! {
        if let Some(position) = self.position {
            show_place(statement, position);
        }
        raise_as(&self.sqlstate, self.message, self.detail, self.hint)
    }

    fn caught(error: &CaughtError, raised: &Raised) -> Self {
        let (CaughtError::PostgresError(report)
        | CaughtError::ErrorReport(report)
        | CaughtError::RustPanic { ereport: report, .. }) = error;
        let (code, position) = raised.code_and_position(error).unzip();
        StatementError {
            sqlstate: code_text(code.unwrap_or(report.sql_error_code() as i32)),
            message: report.message().to_owned(),
            detail: report.detail().map(str::to_owned),
            hint: report.hint().map(str::to_owned),
            position: position.flatten(),
            is_of_limit: false,
        }
    }
}

impl From<Error> for StatementError {
    fn from(error: Error) -> Self {
        StatementError {
            sqlstate: sqlstate_text(error.kind()),
            message: error.message().to_owned(),
            detail: error.detail_text().map(str::to_owned),
            hint: error.hint_text().map(str::to_owned),
            position: None,
            is_of_limit: false,
        }
    }
}

/// Turns errors that PostgreSQL raises in `work` into values. What is left of a subtransaction must be rolled
/// back after one.
pub fn caught<T>(work: impl FnOnce() -> Result<T, StatementError>) -> Result<T, StatementError> {
    let raised = AssertUnwindSafe(Raised::noted());
    PgTryBuilder::new(AssertUnwindSafe(work))
        .catch_others(|error| Err(StatementError::caught(&error, &raised)))
        .execute()
}

/// What the next error is to show.
struct ShownPlace {
    statement: CString,
    position: i32,
    link: pg_sys::ErrorContextCallback,
}

thread_local! {
    static SHOWN: RefCell<Option<Box<ShownPlace>>> = const { RefCell::new(None) };
}

/// Has the error that is raised right after this show `statement` with a place in it, as errors within
/// functions do. What pgrx raises has no such fields; but PostgreSQL asks the links of its list of callbacks
/// while it makes an error, and whoever catches that puts the list back.
fn show_place(statement: &str, position: i32) {
    let statement = CString::new(statement).unwrap_or_default();
    SHOWN.with_borrow_mut(|shown| {
        // SAFETY: reads a variable of this process.
        let previous = unsafe { pg_sys::error_context_stack };
        let arg = std::ptr::null_mut();
        let link = pg_sys::ErrorContextCallback { previous, callback: Some(add_place), arg };
        let place = shown.insert(Box::new(ShownPlace { statement, position, link }));
        // SAFETY: the link stays where it is until the next error of this kind, long after this one has
        // been caught and the list put back.
        unsafe { pg_sys::error_context_stack = &raw mut place.link };
    });
}

/// Called while the error is made.
unsafe extern "C-unwind" fn add_place(_: *mut c_void) {
    SHOWN.with_borrow(|shown| {
        let Some(place) = shown else { return };
        // SAFETY: an error is being made, into which the text is copied.
        unsafe {
            pg_sys::internalerrposition(place.position);
            pg_sys::internalerrquery(place.statement.as_ptr());
        }
    });
}
