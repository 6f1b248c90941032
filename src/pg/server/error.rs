//! From a stage's error to PostgreSQL's: the one table of SQLSTATEs.
//!
//! PostgreSQL has one for almost everything. Those of pg_rag's own are of the class RG: the SQL standard leaves classes
//! that begin with a digit from 5 to 9 or a letter from I to Z to implementations, and PostgreSQL's list has no RG.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

use super::raised::keep_code;
use super::transaction::Failure;
use crate::error::{Error, ErrorKind, Result};
use crate::scheduling::bisection::Cause;

/// The SQLSTATE of a spent budget of a role. PostgreSQL's 53400 is that of settings, and says nothing of who has to wait,
/// or may raise the limit.
pub const ROLE_BUDGET_SPENT: &str = "RG001";

/// Turns a failure into an SQL error.
pub trait OrReport<T> {
    /// The value, or an SQL error that ends the statement.
    fn or_report(self) -> T;
}

impl<T> OrReport<T> for Result<T> {
    fn or_report(self) -> T {
        self.unwrap_or_else(|error| report(&error))
    }
}

/// Keeps backtraces out of the details of errors, which go to clients: they name files of the machine
/// on which pg_rag was built. Where `RUST_BACKTRACE` is in the server's environment, pgrx adds one to
/// each error. Whether any are made is asked once in a process, so it is asked here.
///
/// To be called before there is another thread.
pub fn without_backtraces() {
    const DECIDES: &str = "RUST_LIB_BACKTRACE";
    let before = std::env::var_os(DECIDES);
    // SAFETY: nothing else reads or writes the environment, as there is no other thread.
    unsafe { std::env::set_var(DECIDES, "0") };
    drop(std::backtrace::Backtrace::capture());
    // SAFETY: as above.
    unsafe {
        match before {
            Some(value) => std::env::set_var(DECIDES, value),
            None => std::env::remove_var(DECIDES),
        }
    }
}

/// Raises `error` as an error of PostgreSQL's, with its SQLSTATE, detail and hint.
pub fn report(error: &Error) -> ! {
    let code = sqlstate(error.kind());
    if PgSqlErrorCode::from(code) as i32 != code {
        keep_code(code, error.message());
    }
    let [detail, hint] = [error.detail_text(), error.hint_text()].map(|it| it.map(str::to_owned));
    raise_packed(code, error.message().to_owned(), detail, hint)
}

/// A failure of SPI itself, which only a defect of pg_rag can cause: errors of the
/// statements are raised by PostgreSQL and never come back as values.
pub fn spi_failed(error: pgrx::spi::Error) -> Error {
    Error::new(ErrorKind::Internal, format!("statement failed: {error}"))
}

/// The SQLSTATE of a kind of error, packed.
fn sqlstate(kind: ErrorKind) -> i32 {
    let code = match kind {
        ErrorKind::RoleBudgetSpent => return packed(ROLE_BUDGET_SPENT),
        ErrorKind::InvalidParameter => PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE,
        ErrorKind::NullNotAllowed => PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED,
        ErrorKind::UndefinedObject => PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT,
        ErrorKind::DuplicateObject => PgSqlErrorCode::ERRCODE_DUPLICATE_OBJECT,
        ErrorKind::DuplicateRelation => PgSqlErrorCode::ERRCODE_DUPLICATE_TABLE,
        ErrorKind::WrongObjectType => PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE,
        ErrorKind::Ambiguous => PgSqlErrorCode::ERRCODE_AMBIGUOUS_PARAMETER,
        ErrorKind::Unsupported => PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
        ErrorKind::Forbidden => PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
        ErrorKind::DimensionMismatch => PgSqlErrorCode::ERRCODE_DATA_EXCEPTION,
        ErrorKind::FileUnavailable => PgSqlErrorCode::ERRCODE_UNDEFINED_FILE,
        ErrorKind::FileCorrupted | ErrorKind::ModelFailed => {
            PgSqlErrorCode::ERRCODE_CONFIG_FILE_ERROR
        }
        ErrorKind::DataCorrupted => PgSqlErrorCode::ERRCODE_PROTOCOL_VIOLATION,
        ErrorKind::DocumentUnreadable => PgSqlErrorCode::ERRCODE_DATA_EXCEPTION,
        ErrorKind::DocumentLimit => PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
        ErrorKind::IndexCorrupted => PgSqlErrorCode::ERRCODE_INDEX_CORRUPTED,
        ErrorKind::DaemonUnavailable => PgSqlErrorCode::ERRCODE_CANNOT_CONNECT_NOW,
        ErrorKind::DaemonLost | ErrorKind::DaemonHung => PgSqlErrorCode::ERRCODE_CONNECTION_FAILURE,
        ErrorKind::OutOfResources => PgSqlErrorCode::ERRCODE_INSUFFICIENT_RESOURCES,
        ErrorKind::ProviderRefused | ErrorKind::ProviderFailed | ErrorKind::ReplyMisfit => {
            PgSqlErrorCode::ERRCODE_EXTERNAL_ROUTINE_EXCEPTION
        }
        ErrorKind::ProviderTimeout => PgSqlErrorCode::ERRCODE_EXTERNAL_ROUTINE_INVOCATION_EXCEPTION,
        ErrorKind::SerializationFailure => PgSqlErrorCode::ERRCODE_T_R_SERIALIZATION_FAILURE,
        ErrorKind::NotInState => PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        // Class 53 is where programs that repeat statements look for what passes by itself.
        ErrorKind::ProviderBusy => PgSqlErrorCode::ERRCODE_INSUFFICIENT_RESOURCES,
        ErrorKind::Internal => PgSqlErrorCode::ERRCODE_INTERNAL_ERROR,
        ErrorKind::BudgetExceeded => PgSqlErrorCode::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
    };
    code as i32
}

/// Raises again what was caught.
pub fn raise(failure: &Failure) -> ! {
    if failure.cause == Cause::OverTime {
        super::time_limit::is_over_again();
    }
    let Failure { sqlstate, message, detail, hint, .. } = failure.clone();
    raise_as(&sqlstate, message, detail, hint)
}

/// Raises an error with this SQLSTATE, five characters.
pub fn raise_as(
    sqlstate: &str,
    message: String,
    detail: Option<String>,
    hint: Option<String>,
) -> ! {
    let code = packed(sqlstate);
    keep_code(code, &message);
    raise_packed(code, message, detail, hint)
}

/// Raises an error with this SQLSTATE, packed; one that pgrx does not know must have been kept.
fn raise_packed(code: i32, message: String, detail: Option<String>, hint: Option<String>) -> ! {
    let mut report = ErrorReport::new(PgSqlErrorCode::from(code), message, "pg_rag");
    if let Some(detail) = detail {
        report = report.set_detail(detail);
    }
    if let Some(hint) = hint {
        report = report.set_hint(hint);
    }
    report.report(PgLogLevel::ERROR);
    unreachable!("an ERROR does not return");
}

/// The SQLSTATE of a kind of error, five characters.
pub fn sqlstate_text(kind: ErrorKind) -> String {
    code_text(sqlstate(kind))
}

/// The five characters of an SQLSTATE, packed as PostgreSQL has them.
fn packed(sqlstate: &str) -> i32 {
    let bits = |byte: u8| i32::from(byte.wrapping_sub(b'0') & 0x3f);
    sqlstate.bytes().rev().fold(0, |code, byte| code << 6 | bits(byte))
}

/// The five characters of a packed SQLSTATE.
pub fn code_text(code: i32) -> String {
    (0..5).map(|place| char::from(b'0' + ((code >> (6 * place)) & 0x3f) as u8)).collect()
}

/// The error for an answer of ragd's that does not fit the request.
pub fn unexpected(response: &crate::protocol::Response) -> Error {
    let mut what = format!("{response:?}");
    what.truncate(what.char_indices().nth(100).map_or(what.len(), |(place, _)| place));
    Error::new(ErrorKind::Internal, "ragd's answer does not fit the request").detail(what)
}
