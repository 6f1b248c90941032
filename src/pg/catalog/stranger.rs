//! Whose code would a search run?
//!
//! A pipeline's view and policies are its owner's, who may have replaced them, and what they call
//! runs as the role that reads. A role that names a pipeline has chosen to trust its owner, as one
//! that names a view has. Where the pipeline was not named, a search is made only if it runs no
//! code of other roles.

use pgrx::pg_sys;
use pgrx::spi::SpiHeapTupleData;

use super::pipeline::{Pipeline, Relation};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::server::function_owners::SuperusersFunctions;
use crate::pg::server::role::{LocalSettings, by_policies, role_name, table_owner};
use crate::pg::server::sql::{qualified_name, query};
use crate::pg::server::{prepared, sql};

/// An error where a search in `pipeline`, which the caller has not named, may run code of a role
/// that the caller has no reason to trust. What the search reads is locked, so that it stays as it
/// is; tables beside the chunks are read by the names that `derived` has. Some of what the planner
/// looks at cannot be locked, so functions of others are refused as long as what is returned lives.
pub fn check(pipeline: &Pipeline, derived: &[&Relation]) -> Result<Option<SuperusersFunctions>> {
    // In the order in which a question locks them.
    for relation in [&pipeline.view, &pipeline.chunk_table, &pipeline.source] {
        lock(relation.oid);
    }
    sql::with_latest_snapshot(|| stored_beside(pipeline.id))?.into_iter().for_each(lock);
    if sql::with_latest_snapshot(|| is_trusted(pipeline.id))? {
        check_names(pipeline, derived)?;
        return Ok(None);
    }
    let alone = SuperusersFunctions::alone();
    if !sql::with_latest_snapshot(|| says(query!(stranger.runs_no_code), pipeline.id))? {
        return Err(refused(pipeline));
    }
    check_names(pipeline, derived)?;
    Ok(Some(alone))
}

/// An error where tables beside the chunks of `pipeline`, which are locked, are no longer called what they were when
/// their names were read: another table may have taken the name.
pub fn check_names(pipeline: &Pipeline, derived: &[&Relation]) -> Result<()> {
    let is_named = |it: &&Relation| qualified_name(it.oid).is_some_and(|name| name == it.sql);
    match derived.iter().all(is_named) {
        true => Ok(()),
        false => {
            let message =
                format!("tables of pipeline \"{}\" were renamed meanwhile", pipeline.name);
            Err(Error::new(ErrorKind::SerializationFailure, message).hint("Repeat the question."))
        }
    }
}

fn lock(relation: pg_sys::Oid) {
    // SAFETY: takes a lock that ends with the transaction; the relation may be gone, which the statement that reads it
    // says.
    unsafe { pg_sys::LockRelationOid(relation, pg_sys::AccessShareLock as i32) };
}

/// Whether a search in a pipeline runs no code of roles that the caller does not trust.
pub fn runs_no_code(pipeline: i32) -> Result<bool> {
    Ok(is_trusted(pipeline)? || says(query!(stranger.runs_no_code), pipeline)?)
}

/// Whether the caller trusts all owners of what a search in a pipeline reads.
pub fn is_trusted(pipeline: i32) -> Result<bool> {
    says(query!(stranger.is_trusted), pipeline)
}

fn says(statement: &str, pipeline: i32) -> Result<bool> {
    let said = looked_up(statement, pipeline, |row| row.get::<bool>(1))?;
    Ok(said.contains(&Some(true)))
}

/// The tables beside the chunks of a pipeline that searches read.
fn stored_beside(pipeline: i32) -> Result<Vec<pg_sys::Oid>> {
    let found = looked_up(query!(stranger.stored_beside), pipeline, |row| row.get(1))?;
    Ok(found.into_iter().flatten().collect())
}

fn looked_up<T>(
    statement: &str,
    pipeline: i32,
    read: impl FnMut(&SpiHeapTupleData<'_>) -> Result<T, pgrx::spi::Error>,
) -> Result<Vec<T>> {
    let mut settings = LocalSettings::new();
    settings.set(c"search_path", c"pg_catalog, pg_temp");
    // Planned once: the values don't matter, and planning takes ten times as long.
    settings.set(c"plan_cache_mode", c"force_generic_plan");
    by_policies(|| prepared::rows(statement, &[pipeline.into()], read))
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
