//! What does an error of postgres_fdw say of a shard: is it lost, and the transaction with it?

use std::panic::AssertUnwindSafe;

use pgrx::PgTryBuilder;
use pgrx::pg_sys::panic::CaughtError;

use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::catalog::shard::Shard;
use crate::pg::server::error::{code_text, raise, raise_as};
use crate::pg::server::raised::Raised;
use crate::pg::server::transaction::in_subtransaction;

/// The SQLSTATE of postgres_fdw where a connection cannot be made.
const NO_CONNECTION: &str = "08001";

/// The SQLSTATE of a statement that was ended, such as by `statement_timeout` of the other server.
const STATEMENT_ENDED: &str = "57014";

/// A shard that did not answer.
pub(super) struct LostShard {
    sqlstate: String,
    /// What was heard instead of an answer.
    pub message: String,
    detail: Option<String>,
}

/// Does `work`, and gives as a value that a shard did not answer. After that the error must be raised again, since the
/// transaction is as PostgreSQL has left it.
pub(super) fn noticing_loss<T>(work: impl FnOnce() -> Result<T>) -> Result<Result<T>, LostShard> {
    // What is kept of an error that is not raised again goes with this.
    let _raised = AssertUnwindSafe(Raised::noted());
    PgTryBuilder::new(AssertUnwindSafe(|| Ok(work())))
        .catch_others(|error| match LostShard::of(&error) {
            Some(lost) => Err(lost),
            None => error.rethrow(),
        })
        .execute()
}

/// Does `work` in a subtransaction, and gives as a value that a shard did not answer; then it is rolled back.
pub(super) fn attempt<T>(work: impl FnOnce() -> Result<T>) -> Result<Result<T>, LostShard> {
    let mut lost = None;
    let outcome = in_subtransaction(|| {
        noticing_loss(work).map_err(|it| {
            let message = it.message.clone();
            lost = Some(it);
            Error::new(ErrorKind::Internal, message)
        })
    });
    match (outcome, lost) {
        (Ok(done), _) => Ok(done),
        (Err(_), Some(lost)) => Err(lost),
        (Err(failure), None) => raise(&failure),
    }
}

/// Whether an error says that a server is not there: no connection, one that is just being ended, or a statement that
/// took it too long. What was cancelled here does not come from postgres_fdw's `function` that reports what it was told.
fn is_loss(sqlstate: &str, function: Option<&str>) -> bool {
    let is_told = function.is_some_and(|name| name.starts_with("pgfdw_report"));
    sqlstate.starts_with("08")
        || sqlstate.starts_with("57P0")
        || sqlstate == STATEMENT_ENDED && is_told
}

impl LostShard {
    fn of(error: &CaughtError) -> Option<LostShard> {
        // Our own errors have such codes, too, where ragd does not answer.
        let CaughtError::PostgresError(report) = error else { return None };
        let sqlstate = code_text(report.sql_error_code() as i32);
        is_loss(&sqlstate, report.function_name()).then(|| LostShard {
            sqlstate,
            message: report.message().to_owned(),
            detail: report.detail().map(str::to_owned),
        })
    }

    /// Whether the transaction had begun on the server: its part there cannot be committed, and so it cannot. Where a
    /// connection cannot be made, nothing has begun, and a statement that was ended leaves the connection as it was.
    pub fn ends_transaction(&self) -> bool {
        ![NO_CONNECTION, STATEMENT_ENDED].contains(&&*self.sqlstate)
    }

    /// Raises it as an error that says which of `shards` it was, as far as that is known.
    pub fn raise(&self, shards: &[&Shard], pipeline: &Pipeline, hint: &str) -> ! {
        let is_named = |shard: &&&Shard| {
            shards.len() == 1 || self.message.contains(&format!("\"{}\"", shard.server))
        };
        let named: Vec<String> = shards.iter().filter(is_named).map(|it| it.name()).collect();
        let which = match named.as_slice() {
            [] => {
                let all: Vec<String> = shards.iter().map(|shard| shard.name()).collect();
                format!("one of the shards {}", all.join(", "))
            }
            named => format!("shard \"{}\"", named.join("\", \"")),
        };
        let name = &pipeline.name;
        let detail = match &self.detail {
            Some(detail) => format!("{}: {detail}", self.message),
            None => self.message.clone(),
        };
        let message = format!("{which} of pipeline \"{name}\" does not answer");
        raise_as(&self.sqlstate, message, Some(detail), Some(hint.to_owned()))
    }
}

#[cfg(feature = "pg_test")]
mod tests {
    use pgrx::prelude::*;

    use super::*;
    use crate::pg::server::sql;

    /// With a SQLSTATE that only its author knows.
    const RAISE: &str = "DO $$BEGIN RAISE EXCEPTION 'not on Sundays'
        USING ERRCODE = 'UX007', DETAIL = 'It is Sunday.', HINT = 'Ask on Monday.'; END$$";

    #[pg_extern]
    fn what_is_no_loss_keeps_its_sqlstate_detail_and_hint() {
        let outcome = in_subtransaction(|| {
            let done = noticing_loss(|| sql::execute(RAISE, &[]).map(drop));
            done.unwrap_or_else(|lost| Err(Error::new(ErrorKind::Internal, lost.message)))
        });
        let failure = outcome.expect_err("a failure");
        assert_eq!((&*failure.sqlstate, &*failure.message), ("UX007", "not on Sundays"));
        let more = (failure.detail.as_deref(), failure.hint.as_deref());
        assert_eq!(more, (Some("It is Sunday."), Some("Ask on Monday.")));
    }

    #[pg_extern]
    fn a_connection_that_is_lost_is_a_loss() {
        let raise = RAISE.replace("UX007", "08006");
        let lost = attempt(|| sql::execute(&raise, &[]).map(drop)).expect_err("a loss");
        assert_eq!((&*lost.sqlstate, &*lost.message), ("08006", "not on Sundays"));
        assert_eq!(lost.detail.as_deref(), Some("It is Sunday."));
        assert!(lost.ends_transaction());
    }
}
