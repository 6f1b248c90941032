//! Does row-level security hide rows of a table from the caller?
//!
//! A role that does not see all rows must not learn what is in the others: how frequent words are,
//! how many rows there are. A search of ours is the exception. It ranks by the statistics of all
//! rows, since without them each word would count the same, and shows nothing but the order of
//! visible rows.

use std::cell::Cell;

use pgrx::prelude::*;

use super::prepared;
use super::sql::required;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::server::sql::query;

thread_local! {
    static RANKED_BY: Cell<pg_sys::Oid> = const { Cell::new(pg_sys::InvalidOid) };
}

/// Whether there may be rows of `table` that the caller does not see. The chunks of a pipeline are
/// visible as their source is.
pub fn hides_rows(table: pg_sys::Oid) -> Result<bool> {
    ask(query!(row_security.hides_rows), table)
}

/// An error for a role that does not see all rows of `table`, unless statistics are for this
/// caller.
pub fn expect_figures(table: pg_sys::Oid, index: &str) -> Result<()> {
    if !ask(query!(row_security.hides_figures), table)? {
        return Ok(());
    }
    let message =
        format!("row-level security hides rows of the table of index \"{index}\" from the caller");
    Err(Error::new(ErrorKind::Forbidden, message)
        .hint("Figures of an index count all rows; ask as the owner of the table or a member of pg_read_all_stats."))
}

fn ask(statement: &str, table: pg_sys::Oid) -> Result<bool> {
    // Most callers are under no policy at all, and need no statement to find that out.
    // SAFETY: a look-up by OID as the current role.
    let found = unsafe { pg_sys::check_enable_rls(table, pg_sys::InvalidOid, true) };
    if found != pg_sys::CheckEnableRlsResult::RLS_ENABLED as i32 {
        return Ok(false);
    }
    let hidden = prepared::rows(statement, &[table.into()], |row| required(row.get::<bool>(1)?))?;
    Ok(hidden.contains(&true))
}

/// While it lives, a search of ours ranks by the statistics of an index, whatever the role.
pub struct RankingByIndex(pg_sys::Oid);

impl RankingByIndex {
    /// Ranks by the statistics of `index`, if it is one of `chunks`, the table that the catalog
    /// says is the pipeline's own. The pipeline's view may name another's index, since the view's
    /// owner may replace it, and would have functions of this owner called meanwhile.
    pub fn by(index: Option<pg_sys::Oid>, chunks: pg_sys::Oid) -> Self {
        let own = index.filter(|index| table_of(*index) == chunks);
        RankingByIndex(RANKED_BY.replace(own.unwrap_or(pg_sys::InvalidOid)))
    }
}

impl Drop for RankingByIndex {
    fn drop(&mut self) {
        // Errors unwind and come by here, too.
        RANKED_BY.set(self.0);
    }
}

/// Whether the caller may not see by `index` how frequent words are.
pub fn hides_statistics(index: pg_sys::Oid) -> Result<bool> {
    if RANKED_BY.get() == index {
        return Ok(false);
    }
    hides_rows(table_of(index))
}

/// The table of an index; invalid where that is gone.
pub fn table_of(index: pg_sys::Oid) -> pg_sys::Oid {
    // SAFETY: a look-up by OID.
    unsafe { pg_sys::IndexGetRelation(index, true) }
}
