//! Whose code would a search run?
//!
//! A pipeline's view and policies are its owner's, who may have replaced them, and what they call
//! runs as the role that reads. A role that names a pipeline has chosen to trust its owner, as one
//! that names a view has. Where the pipeline was not named, a search is made only if it runs no
//! code of other roles.

use pgrx::pg_sys;

use super::pipeline::Pipeline;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::server::role::{LocalSettings, role_name, table_owner};
use crate::pg::server::sql::query;
use crate::pg::server::{prepared, sql};

/// An error where a search in `pipeline`, which the caller has not named, may run code of a role
/// that the caller has no reason to trust. What the search reads is locked, so that it stays as it
/// is.
pub fn check(pipeline: &Pipeline) -> Result<()> {
    // In the order in which a question locks them.
    for relation in [&pipeline.view, &pipeline.chunk_table, &pipeline.source] {
        // SAFETY: takes a lock that ends with the transaction; the relation may be gone, which the
        // statement that reads it says.
        unsafe { pg_sys::LockRelationOid(relation.oid, pg_sys::AccessShareLock as i32) };
    }
    match sql::with_latest_snapshot(|| runs_no_code(pipeline.id))? {
        true => Ok(()),
        false => Err(refused(pipeline)),
    }
}

/// Whether a search in a pipeline runs no code of roles that the caller does not trust.
pub fn runs_no_code(pipeline: i32) -> Result<bool> {
    let mut settings = LocalSettings::new();
    settings.set(c"search_path", c"pg_catalog, pg_temp");
    // Planned once: the values don't matter, and planning takes ten times as long.
    settings.set(c"plan_cache_mode", c"force_generic_plan");
    let says = |statement: &str| -> Result<bool> {
        let found = prepared::rows(statement, &[pipeline.into()], |row| {
            sql::required(row.get::<bool>(1)?)
        })?;
        Ok(found.contains(&true))
    };
    Ok(says(query!(stranger.is_trusted))? || says(query!(stranger.runs_no_code))?)
}

fn refused(pipeline: &Pipeline) -> Error {
    let (name, owner) = (&pipeline.name, role_name(table_owner(pipeline.source.oid)));
    let message = format!(
        "pipeline \"{name}\" is not asked unless it is named, as it may run code of role \"{owner}\""
    );
    Error::new(ErrorKind::Forbidden, message).hint(format!(
        "Add pipeline => '{}' if you trust that role with your rights.",
        name.replace('\'', "''")
    ))
}
