//! Work that is done in several transactions, with none open in between.

use std::panic::AssertUnwindSafe;

use std::time::Duration;

use pgrx::PgTryBuilder;
use pgrx::pg_sys::panic::CaughtError;
use pgrx::prelude::*;

use super::error::{ROLE_BUDGET_SPENT, code_text, sqlstate_text};
use super::raised::Raised;
use super::time_limit;
use crate::error::{Error, ErrorKind, Result};
use crate::scheduling::bisection::Cause;

/// An error as it is kept in a table.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The error's SQLSTATE, five characters.
    pub sqlstate: String,
    /// The message of the error.
    pub message: String,
    /// Its detail, if it has one.
    pub detail: Option<String>,
    /// Its hint, if it has one.
    pub hint: Option<String>,
    /// What it is about.
    pub cause: Cause,
    /// How long to wait before the next attempt, if the other side said so.
    pub retry_after: Option<Duration>,
}

impl Failure {
    /// Whether another session had a lock that was not waited for.
    pub fn is_lock_taken(&self) -> bool {
        self.sqlstate == code_text(PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE as i32)
    }

    /// Whether two sessions waited for one another's locks.
    pub fn is_deadlock(&self) -> bool {
        self.sqlstate == code_text(PgSqlErrorCode::ERRCODE_T_R_DEADLOCK_DETECTED as i32)
    }

    /// Whether the server, or its machine, had no more of what was needed, or failed: memory, a disk, a slot. So is a spent
    /// budget of the role: it lasts as long as a full disk does.
    pub fn is_of_system(&self) -> bool {
        let is_of_class = |class: &str| self.sqlstate.starts_with(class);
        is_of_class("53") || is_of_class("58") || self.sqlstate == ROLE_BUDGET_SPENT
    }

    /// Whether the statement was cancelled, and not by a time limit of ours.
    pub fn is_cancel(&self) -> bool {
        let code = code_text(PgSqlErrorCode::ERRCODE_QUERY_CANCELED as i32);
        self.sqlstate == code && self.cause != Cause::OverTime
    }

    /// The failure of a row whose worker has ended while it had no other row in hand.
    pub fn of_ended_worker() -> Failure {
        Failure {
            sqlstate: code_text(PgSqlErrorCode::ERRCODE_ADMIN_SHUTDOWN as i32),
            message: "the worker that had this row in hand ended".to_owned(),
            detail: None,
            hint: None,
            cause: Cause::Row,
            retry_after: None,
        }
    }
}

/// What an error of this kind is about.
fn cause_of(kind: ErrorKind) -> Cause {
    use ErrorKind::{
        BudgetExceeded, DaemonHung, DaemonLost, DaemonUnavailable, FileCorrupted, FileUnavailable,
        ModelFailed, NotInState, OutOfResources, ProviderBusy, ProviderFailed, ProviderTimeout,
        ReplyMisfit, RoleBudgetSpent, SerializationFailure,
    };
    match kind {
        // ragd may hang on the row, a model compute nothing for it, or a provider refuse it; or it is they that are out of
        // order.
        ProviderFailed | ReplyMisfit | DaemonHung | ModelFailed => Cause::Provider,
        // No row has files: these are of the server, of ragd and of models. What is wrong with a document has kinds of its
        // own.
        FileUnavailable | FileCorrupted => Cause::Passing,
        DaemonLost | DaemonUnavailable | OutOfResources => Cause::Passing,
        ProviderBusy | ProviderTimeout | BudgetExceeded | RoleBudgetSpent => Cause::Passing,
        NotInState | SerializationFailure => Cause::Passing,
        _ => Cause::Row,
    }
}

/// What an error of PostgreSQL's with this SQLSTATE, packed, is about. A content expression may raise any of them: the pipeline of
/// one that does waits, and no other.
fn cause_of_code(code: i32) -> Cause {
    use PgSqlErrorCode::{
        ERRCODE_CONFIGURATION_LIMIT_EXCEEDED, ERRCODE_DISK_FULL, ERRCODE_INSUFFICIENT_RESOURCES,
        ERRCODE_IO_ERROR, ERRCODE_LOCK_NOT_AVAILABLE, ERRCODE_OUT_OF_MEMORY,
        ERRCODE_QUERY_CANCELED, ERRCODE_SYSTEM_ERROR, ERRCODE_T_R_DEADLOCK_DETECTED,
        ERRCODE_T_R_SERIALIZATION_FAILURE, ERRCODE_TOO_MANY_CONNECTIONS,
    };
    if code_text(code) == ROLE_BUDGET_SPENT {
        return Cause::Passing;
    }
    match PgSqlErrorCode::from(code) {
        ERRCODE_LOCK_NOT_AVAILABLE
        | ERRCODE_QUERY_CANCELED
        | ERRCODE_T_R_DEADLOCK_DETECTED
        | ERRCODE_T_R_SERIALIZATION_FAILURE => Cause::Passing,
        // The server, or the machine, has no more of something.
        ERRCODE_INSUFFICIENT_RESOURCES
        | ERRCODE_DISK_FULL
        | ERRCODE_OUT_OF_MEMORY
        | ERRCODE_TOO_MANY_CONNECTIONS
        | ERRCODE_CONFIGURATION_LIMIT_EXCEEDED => Cause::Passing,
        // Of the same class are files that are missing, which an expression may read for a row.
        ERRCODE_SYSTEM_ERROR | ERRCODE_IO_ERROR => Cause::Passing,
        _ => Cause::Row,
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure {
            sqlstate: sqlstate_text(error.kind()),
            message: error.message().to_owned(),
            detail: error.detail_text().map(str::to_owned),
            hint: error.hint_text().map(str::to_owned),
            cause: cause_of(error.kind()),
            retry_after: error.retry_delay(),
        }
    }
}

impl Failure {
    fn caught(error: &CaughtError, raised: &Raised) -> Self {
        let (CaughtError::PostgresError(report)
        | CaughtError::ErrorReport(report)
        | CaughtError::RustPanic { ereport: report, .. }) = error;
        if time_limit::was_over() {
            return Failure::over_time();
        }
        let code = raised.code_and_position(error).map(|(code, _)| code);
        let code = code.unwrap_or(report.sql_error_code() as i32);
        Failure {
            sqlstate: code_text(code),
            message: report.message().to_owned(),
            detail: report.detail().map(str::to_owned),
            hint: report.hint().map(str::to_owned),
            cause: cause_of_code(code),
            retry_after: None,
        }
    }

    /// Whatever the code of the user made of its cancel.
    fn over_time() -> Self {
        Failure {
            sqlstate: code_text(PgSqlErrorCode::ERRCODE_QUERY_CANCELED as i32),
            message: time_limit::message(),
            cause: Cause::OverTime,
            ..Failure::of_ended_worker()
        }
    }
}

/// What [`caught`] and [`Transactions::run`] return.
pub type Outcome<T> = Result<T, Failure>;

/// Turns errors that PostgreSQL raises in `work` into values. What is left of a transaction must be
/// rolled back after one.
pub fn caught<T>(work: impl FnOnce() -> Result<T>) -> Outcome<T> {
    let raised = AssertUnwindSafe(Raised::noted());
    PgTryBuilder::new(AssertUnwindSafe(|| work().map_err(Failure::from)))
        .catch_others(|error| Err(Failure::caught(&error, &raised)))
        .execute()
}

/// Whether all statements of the transaction see what had been committed before the first one: it is
/// REPEATABLE READ or SERIALIZABLE. Locks and triggers are those of the present all the same.
pub fn has_one_snapshot() -> bool {
    // SAFETY: reads a variable of this process.
    unsafe { pg_sys::XactIsoLevel >= pg_sys::XACT_REPEATABLE_READ as i32 }
}

/// Whether the session applies what has been done elsewhere, as logical replication does: what fails there is tried again
/// and again, and nothing behind it is applied.
pub fn applies_changes() -> bool {
    // SAFETY: reads a variable of this process.
    unsafe { pg_sys::SessionReplicationRole == pg_sys::SESSION_REPLICATION_ROLE_REPLICA as i32 }
}

/// By which process transactions are begun and ended.
#[derive(Clone, Copy)]
pub enum Transactions {
    /// A background worker: no transaction is open, so each piece of work has its own.
    OfWorker,
    /// A procedure that may commit: a transaction is always open.
    OfProcedure,
}

impl Transactions {
    /// Does `work` in a transaction of its own, which is rolled back where it fails.
    pub fn run<T>(self, work: impl FnOnce() -> Result<T>) -> Outcome<T> {
        match self {
            Transactions::OfWorker => in_worker(work),
            Transactions::OfProcedure => in_procedure(work),
        }
    }
}

fn in_worker<T>(work: impl FnOnce() -> Result<T>) -> Outcome<T> {
    let outcome = caught(|| {
        // SAFETY: as every background worker does; no transaction is open.
        unsafe {
            pg_sys::SetCurrentStatementStartTimestamp();
            pg_sys::StartTransactionCommand();
            keep_extension();
            pg_sys::PushActiveSnapshot(pg_sys::GetTransactionSnapshot());
        }
        let done = work()?;
        // SAFETY: ends what was begun above.
        unsafe {
            pg_sys::PopActiveSnapshot();
            pg_sys::CommitTransactionCommand();
        }
        Ok(done)
    });
    if outcome.is_err() {
        // SAFETY: ends whatever is left of the transaction; without one it does nothing.
        unsafe { pg_sys::AbortCurrentTransaction() };
    }
    outcome
}

/// Has the commit of the open transaction wait until it is on disk, whatever `synchronous_commit` says.
pub fn force_sync_commit() {
    // SAFETY: sets a variable of the transaction.
    unsafe { pg_sys::ForceSyncCommit() };
}

/// Has DROP EXTENSION, or an upgrade, wait for the end of the transaction before it locks anything of
/// the extension's: what it locks one by one, in an order of its own, the work wants in another.
fn keep_extension() {
    // SAFETY: a lock of a number, held by the transaction; the extension may be gone. The launcher
    // is connected to no database.
    unsafe {
        if pg_sys::MyDatabaseId == pg_sys::InvalidOid {
            return;
        }
        let extension = pg_sys::get_extension_oid(c"pg_rag".as_ptr(), true);
        if extension != pg_sys::InvalidOid {
            // COMMENT ON EXTENSION, with which an upgrade begins, conflicts with it, too.
            let mode = pg_sys::ShareLock as pg_sys::LOCKMODE;
            pg_sys::LockDatabaseObject(pg_sys::ExtensionRelationId, extension, 0, mode);
        }
    }
}

/// Does `work` with a connection to SPI that can commit.
///
/// Fails in a transaction block, or a function: there it can't.
pub fn non_atomic<T>(
    call: pg_sys::FunctionCallInfo,
    procedure: &str,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    // SAFETY: the context of a CALL says whether it may commit; the connection is closed again,
    // or by the abort after an error.
    unsafe {
        let context = (*call).context.cast::<pg_sys::CallContext>();
        let is_call = !context.is_null()
            && (*context).type_ == pg_sys::NodeTag::T_CallContext
            && !(*context).atomic;
        if !is_call {
            let message = format!("{procedure} commits, and can't run inside a transaction block");
            return Err(Error::new(ErrorKind::NotInState, message)
                .hint("CALL it on its own, not between BEGIN and COMMIT and not in a function."));
        }
        pg_sys::SPI_connect_ext(pg_sys::SPI_OPT_NONATOMIC as i32);
        let done = work();
        pg_sys::SPI_finish();
        done
    }
}

/// The procedure's own transaction can't be rolled back and left, so the work is done in a
/// subtransaction.
fn in_procedure<T>(work: impl FnOnce() -> Result<T>) -> Outcome<T> {
    let outcome = in_subtransaction(|| {
        keep_extension();
        // SAFETY: after a commit there is none, and values that are stored apart want one. It is
        // popped again, or by the rollback.
        unsafe { pg_sys::PushActiveSnapshot(pg_sys::GetTransactionSnapshot()) };
        let done = work()?;
        // SAFETY: pushed above.
        unsafe { pg_sys::PopActiveSnapshot() };
        Ok(done)
    });
    // SAFETY: called with the procedure's own, non-atomic connection on top.
    unsafe { pg_sys::SPI_commit() };
    outcome
}

/// Does `work` in a subtransaction, which is rolled back where it fails.
pub fn in_subtransaction<T>(work: impl FnOnce() -> Result<T>) -> Outcome<T> {
    // SAFETY: the memory context and the resource owner are put back, as PL/pgSQL does for a
    // block with EXCEPTION.
    unsafe {
        let (context, owner) = (pg_sys::CurrentMemoryContext, pg_sys::CurrentResourceOwner);
        pg_sys::BeginInternalSubTransaction(std::ptr::null());
        pg_sys::MemoryContextSwitchTo(context);
        let outcome = caught(work);
        match &outcome {
            Ok(_) => pg_sys::ReleaseCurrentSubTransaction(),
            Err(_) => pg_sys::RollbackAndReleaseCurrentSubTransaction(),
        }
        pg_sys::MemoryContextSwitchTo(context);
        pg_sys::CurrentResourceOwner = owner;
        outcome
    }
}

/// Does `work` in a subtransaction that is rolled back whatever comes of it, with all settings, locks and
/// notifications. What `work` returns must not lie in the subtransaction's memory.
///
/// `work` must not unwind: it catches errors itself.
pub fn rolled_back<T>(work: impl FnOnce() -> T) -> T {
    // SAFETY: as in `in_subtransaction`.
    unsafe {
        let (context, owner) = (pg_sys::CurrentMemoryContext, pg_sys::CurrentResourceOwner);
        pg_sys::BeginInternalSubTransaction(std::ptr::null());
        pg_sys::MemoryContextSwitchTo(context);
        let done = work();
        pg_sys::RollbackAndReleaseCurrentSubTransaction();
        pg_sys::MemoryContextSwitchTo(context);
        pg_sys::CurrentResourceOwner = owner;
        done
    }
}

/// Has the open subtransaction write nothing but temporary tables, whatever is set in it later. It ends with
/// the subtransaction.
pub fn read_only() {
    // SAFETY: a variable of the transaction's state, which each level puts back at its end. Inside a
    // subtransaction PostgreSQL refuses to switch it off again.
    unsafe { pg_sys::XactReadOnly = true };
}

/// Until when what a statement reads was written: the first transaction that had not ended when it began, or had not begun.
/// It counts for as long as PostgreSQL's numbers of transactions do, which is two thousand million of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Horizon(u32);

/// The first number that a transaction has; those below it stand for what has always been seen.
const FIRST_TRANSACTION: u32 = 3;

impl Horizon {
    /// That of the statement under way, however long it has been running; `None` where there is none.
    pub fn of_statement() -> Option<Horizon> {
        // SAFETY: looks at the snapshot on top of the stack, which is there.
        unsafe {
            let is_there = pg_sys::ActiveSnapshotSet();
            is_there.then(|| Horizon(u32::from((*pg_sys::GetActiveSnapshot()).xmin)))
        }
    }

    /// The number of the transaction, as it is kept.
    pub fn as_number(self) -> i64 {
        i64::from(self.0)
    }

    /// What [`as_number`](Self::as_number) has said.
    pub fn from_number(number: i64) -> Horizon {
        Horizon(number as u32)
    }

    /// Whether what the transaction `writer` has written was certainly seen.
    pub fn has_seen(self, writer: i64) -> bool {
        let writer = writer as u32;
        writer < FIRST_TRANSACTION || (writer.wrapping_sub(self.0) as i32) < 0
    }
}

/// Whether rows can be written now.
pub fn can_write() -> bool {
    // SAFETY: variables and states of the session.
    unsafe { !pg_sys::XactReadOnly && !pg_sys::RecoveryInProgress() && !pg_sys::IsInParallelMode() }
}

#[cfg(feature = "pg_test")]
mod tests {
    use super::*;

    #[pg_extern]
    fn a_horizon_lies_between_transactions_whose_numbers_begin_anew() {
        let horizon = Horizon::from_number(5);
        assert!(
            horizon.has_seen(4) && horizon.has_seen(i64::from(u32::MAX)) && horizon.has_seen(2)
        );
        assert!(!horizon.has_seen(5) && !horizon.has_seen(6));
        let last = Horizon::from_number(i64::from(u32::MAX));
        assert!(last.has_seen(i64::from(u32::MAX) - 1) && !last.has_seen(4));
        assert_eq!(Horizon::from_number(last.as_number()), last);
        assert!(Horizon::of_statement().is_some());
    }
}
