//! Which statements does a session ask again and again?
//!
//! Those of a search: the pipeline, its columns, the words of the question, the candidates. Each runs
//! for some microseconds and takes ten times that to be parsed, have its views expanded and be
//! planned. So a session keeps them prepared. PostgreSQL's plan cache sees to it that what has become
//! stale by DDL, another role or another search path is made anew.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::rc::Rc;

use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use pgrx::spi::{OwnedPreparedStatement, SpiClient, SpiHeapTupleData};

use super::error::spi_failed;
use super::sql::connect;
use crate::error::Result;
use crate::recent::Recent;

/// Statements that a session keeps. A search has about a dozen, and each pipeline and each shape of a
/// filter makes three of them others.
const KEPT: usize = 48;

/// A statement, with the types of its parameters: another `CREATE EXTENSION vector` is another type.
#[derive(PartialEq, Eq, Hash)]
struct StatementKey {
    types: Vec<pg_sys::Oid>,
    statement: String,
}

type PreparedStatements = Recent<StatementKey, Rc<OwnedPreparedStatement>>;

thread_local! {
    // Never dropped: at the end of the process PostgreSQL's memory is no longer there to be freed.
    static STATEMENTS: ManuallyDrop<RefCell<PreparedStatements>> =
        ManuallyDrop::new(RefCell::new(Recent::new(KEPT)));
}

/// The rows of a statement that will be asked again, each through `map`, as
/// [`rows`](super::sql::rows) of `sql.rs` gives them.
pub fn rows<T>(
    statement: &str,
    arguments: &[DatumWithOid<'_>],
    mut map: impl FnMut(&SpiHeapTupleData<'_>) -> Result<T, pgrx::spi::Error>,
) -> Result<Vec<T>> {
    connect(statement, |client| {
        let prepared = prepared(client, statement, arguments)?;
        let table = client.select(&*prepared, None, arguments)?;
        table.into_iter().map(|row| map(&row)).collect::<Result<_, _>>()
    })
    .map_err(spi_failed)
}

/// The rows of a statement that will be asked again, each through `map`, planned for these very
/// values: how many rows are wanted and what a filter leaves of them decides which index is used.
pub fn rows_planned_for_values<T>(
    statement: &str,
    arguments: &[DatumWithOid<'_>],
    map: impl FnMut(&SpiHeapTupleData<'_>) -> Result<T, pgrx::spi::Error>,
) -> Result<Vec<T>> {
    let _until_done = CustomPlans::begin();
    rows(statement, arguments, map)
}

/// The statement from memory, or prepared. It lives as long as a call runs it, also where another
/// takes its place meanwhile.
fn prepared(
    client: &SpiClient<'_>,
    statement: &str,
    arguments: &[DatumWithOid<'_>],
) -> Result<Rc<OwnedPreparedStatement>, pgrx::spi::Error> {
    let types = arguments.iter().map(DatumWithOid::oid).collect();
    let key = StatementKey { types, statement: statement.to_owned() };
    let known = STATEMENTS.with(|kept| kept.borrow_mut().get(&key).map(Rc::clone));
    if let Some(known) = known {
        return Ok(known);
    }
    let types: Vec<PgOid> = key.types.iter().map(|oid| PgOid::from(*oid)).collect();
    let made = Rc::new(client.prepare(statement, &types)?.keep());
    let longest_unused = STATEMENTS.with(|kept| kept.borrow_mut().put(key, Rc::clone(&made)));
    // Freed by PostgreSQL, now that the list is no longer borrowed.
    drop(longest_unused);
    Ok(made)
}

/// While it lives, `plan_cache_mode` is that of plans for the values at hand.
struct CustomPlans(std::ffi::c_int);

impl CustomPlans {
    fn begin() -> Self {
        // SAFETY: a setting of this process, which the plan cache reads when it chooses a plan.
        unsafe {
            let before = pg_sys::plan_cache_mode;
            pg_sys::plan_cache_mode =
                pg_sys::PlanCacheMode::PLAN_CACHE_MODE_FORCE_CUSTOM_PLAN as std::ffi::c_int;
            CustomPlans(before)
        }
    }
}

impl Drop for CustomPlans {
    fn drop(&mut self) {
        // SAFETY: as above. Errors unwind and come by here, too.
        unsafe { pg_sys::plan_cache_mode = self.0 };
    }
}
