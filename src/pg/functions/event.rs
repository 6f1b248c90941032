//! `rag.prepare_source`, `rag.forget_dropped`, `rag.follow_source`: what PostgreSQL calls before and
//! after DDL.
//!
//! They run in the DDL of all roles, so they look first whether a pipeline is concerned at all.

use std::ffi::CStr;

use pgrx::PgList;
use pgrx::prelude::*;
use pgrx::spi::quote_identifier;

use crate::error::Result;
use crate::pg::catalog::pipeline::{self, Pipeline};
use crate::pg::changes::{intake, noted};
use crate::pg::pipeline::readers::{self, Revocation};
use crate::pg::pipeline::remake::{self, TableAlteration};
use crate::pg::pipeline::table_change::TableChange;
use crate::pg::pipeline::{create, schema, shards, triggers};
use crate::pg::server::error::OrReport;
use crate::pg::server::role::{Acting, SUPERUSER};
use crate::pg::server::sql::{self, query};

#[pg_extern(sql = false)]
fn rag_prepare_source(fcinfo: pg_sys::FunctionCallInfo) {
    // SAFETY: of a function that is being called; the parse tree is that of the statement.
    let (alteration, is_revocation) = unsafe {
        let is_revocation = statement(fcinfo).is_some_and(|it| readers::are_revoked_by(it));
        (altered_columns(fcinfo), is_revocation)
    };
    prepare_source(alteration, is_revocation).or_report();
}

#[pg_extern(sql = false)]
fn rag_forget_dropped() {
    forget_dropped().or_report();
}

#[pg_extern(sql = false)]
fn rag_follow_source(fcinfo: pg_sys::FunctionCallInfo) {
    // SAFETY: of a function that is being called; the parse tree is that of the statement.
    let (revocation, change) = unsafe {
        let statement = statement(fcinfo);
        let change = statement.map(|it| TableChange::of(it)).unwrap_or_default();
        (statement.and_then(|it| Revocation::of(it)), change)
    };
    follow_source(revocation, &change).or_report();
}

fn prepare_source(alteration: Option<TableAlteration>, is_revocation: bool) -> Result<()> {
    if intake::table(c"pipeline").is_none() {
        return Ok(());
    }
    alteration.map_or(Ok(()), |it| remake::begin(&it))?;
    if is_revocation { readers::note_before() } else { Ok(()) }
}

/// The parse tree of the statement that has an event trigger called.
///
/// # Safety
///
/// `fcinfo` is the call of a function.
unsafe fn statement(fcinfo: pg_sys::FunctionCallInfo) -> Option<*const pg_sys::Node> {
    // SAFETY: by this function's contract; a node is read after its tag has been looked at.
    unsafe {
        let data = (*fcinfo).context.cast::<pg_sys::EventTriggerData>();
        let is_event = !data.is_null() && (*data).type_ == pg_sys::NodeTag::T_EventTriggerData;
        is_event.then(|| (*data).parsetree.cast_const()).filter(|tree| !tree.is_null())
    }
}

/// What the ALTER TABLE ahead of an event trigger is about to do to columns; `None` where it leaves
/// them as they are. The table is locked as it will be by the statement itself.
///
/// # Safety
///
/// `fcinfo` is the call of a function.
unsafe fn altered_columns(fcinfo: pg_sys::FunctionCallInfo) -> Option<TableAlteration> {
    // SAFETY: by this function's contract; nodes are read after their tag has been looked at.
    unsafe {
        let statement = statement(fcinfo)?;
        // ALTER TABLE RENAME has the same tag.
        if (*statement).type_ != pg_sys::NodeTag::T_AlterTableStmt {
            return None;
        }
        let statement = &*statement.cast::<pg_sys::AlterTableStmt>();
        let mut found = TableAlteration::default();
        for command in PgList::<pg_sys::AlterTableCmd>::from_pg(statement.cmds).iter_ptr() {
            note_command(&*command, &mut found);
        }
        if found.dropped.is_empty() && found.retyped.is_empty() {
            return None;
        }
        found.table = locked(statement.relation)?;
        Some(found)
    }
}

/// The table of this name, locked as for a change of its columns; `None` where it is not there or not
/// the caller's: the statement says so itself.
///
/// # Safety
///
/// `name` is of a parse tree.
unsafe fn locked(name: *const pg_sys::RangeVar) -> Option<pg_sys::Oid> {
    let missing_ok = pg_sys::RVROption::RVR_MISSING_OK;
    let none = pg_sys::NoLock as pg_sys::LOCKMODE;
    // SAFETY: by this function's contract; the others are look-ups and a lock of a number.
    unsafe {
        let find = || {
            let nobody = std::ptr::null_mut();
            pg_sys::RangeVarGetRelidExtended(name, none, missing_ok, None, nobody)
        };
        let mut found = find();
        loop {
            if found == pg_sys::InvalidOid || !is_own(found) {
                return None;
            }
            pg_sys::LockRelationOid(found, pg_sys::AccessExclusiveLock as pg_sys::LOCKMODE);
            // While it was waited for, another table may have taken its name.
            let again = find();
            if again == found {
                return Some(found);
            }
            found = again;
        }
    }
}

/// Whether the caller owns a table.
fn is_own(table: pg_sys::Oid) -> bool {
    // SAFETY: look-ups of a relation and of the session's role.
    unsafe {
        let role = pg_sys::GetUserId();
        #[cfg(feature = "pg15")]
        return pg_sys::pg_class_ownercheck(table, role);
        #[cfg(not(feature = "pg15"))]
        pg_sys::object_ownercheck(pg_sys::RelationRelationId, table, role)
    }
}

/// Adds what a part of an ALTER TABLE does to a column.
///
/// # Safety
///
/// `command` is of a parse tree.
unsafe fn note_command(command: &pg_sys::AlterTableCmd, found: &mut TableAlteration) {
    use pg_sys::AlterTableType::{AT_AlterColumnType, AT_DropColumn};
    if command.subtype != AT_DropColumn && command.subtype != AT_AlterColumnType {
        return;
    }
    // SAFETY: by this function's contract these commands have a name; the latter a definition.
    unsafe {
        let name = CStr::from_ptr(command.name).to_string_lossy().into_owned();
        if command.subtype == AT_DropColumn {
            found.dropped.push(name);
            return;
        }
        let definition = command.def.cast::<pg_sys::ColumnDef>();
        if !(*definition).raw_default.is_null() {
            found.converted.push(name.clone());
        }
        found.retyped.push(name);
    }
}

/// Tables that the statement has altered.
fn tables_altered() -> Result<Vec<pg_sys::Oid>> {
    let statement = query!(event.tables_altered);
    sql::rows(statement, &[], |row| sql::required(row.get(1)?))
}

/// IDs of the pipelines that `statement` finds; none while the extension itself is being dropped.
fn concerned(statement: &str) -> Result<Vec<i32>> {
    match intake::table(c"pipeline") {
        Some(_) => sql::rows(statement, &[], |row| sql::required(row.get(1)?)),
        None => Ok(Vec::new()),
    }
}

/// Pipelines whose source has another owner now, and that owner, without quotes.
fn given() -> Result<Vec<(i32, String)>> {
    if intake::table(c"pipeline").is_none() {
        return Ok(Vec::new());
    }
    sql::rows(query!(event.pipelines_to_give), &[], |row| {
        Ok((sql::required(row.get(1)?)?, sql::required(row.get(2)?)?))
    })
}

/// Pipelines whose partitions are others now, and whether rows may have come or gone with them.
fn altered() -> Result<Vec<(i32, bool)>> {
    if intake::table(c"pipeline").is_none() {
        return Ok(Vec::new());
    }
    sql::rows(query!(event.pipelines_altered), &[], |row| {
        Ok((sql::required(row.get(1)?)?, sql::required(row.get(2)?)?))
    })
}

/// Pipelines that have just lost something that they are made of.
fn lost() -> Result<Vec<i32>> {
    let mut lost = concerned(query!(event.pipelines_lost))?;
    if intake::table(c"shard").is_some() {
        lost.extend(concerned(query!(event.pipelines_without_shard))?);
    }
    Ok(lost)
}

fn forget_dropped() -> Result<()> {
    let _acting = Acting::as_role(SUPERUSER);
    let smaller = concerned(query!(event.pipelines_perhaps_smaller))?;
    for id in lost()? {
        // What is dropped here comes by here too.
        let Some(pipeline) = pipeline::by_id(id)? else { continue };
        if !create::undo(id)? {
            continue;
        }
        notice!("pipeline \"{}\" is dropped with what it was made of", pipeline.name);
    }
    for id in smaller {
        if pipeline::by_id(id)?.is_some() {
            intake::leave(id, intake::ChangeKind::Gone)?;
            noted::wake_at_commit();
        }
    }
    Ok(())
}

/// Whether the relations of a pipeline can be given to the owner of its source. Where they cannot, it is an error of the
/// statement that has given the source away; others, after one that called no event triggers, only say so.
fn may_own(pipeline: &Pipeline, owner: &str) -> Result<bool> {
    let Err(error) = schema::check_owner(pipeline, owner) else { return Ok(true) };
    if tables_altered()?.contains(&pipeline.source.oid) {
        return Err(error);
    }
    warning!("pipeline \"{}\" does not follow its source: {}", pipeline.name, error.message());
    Ok(false)
}

/// Has pipelines see to partitions that have come or gone.
fn follow_partitions(is_restored: bool) -> Result<()> {
    for (id, has_other_rows) in altered()? {
        let Some(pipeline) = pipeline::by_id(id)? else { continue };
        match is_restored {
            true => triggers::cover_restored_partitions(&pipeline)?,
            false => triggers::cover_partitions(&pipeline)?,
        }
        triggers::uncover_detached(&pipeline)?;
        if has_other_rows {
            intake::leave(id, intake::ChangeKind::Missing)?;
            noted::wake_at_commit();
        }
    }
    Ok(())
}

/// Whether the session restores a dump, by its own settings, as `rag.is_being_restored` has it.
fn is_being_restored() -> bool {
    // SAFETY: variables of the session.
    unsafe { !pg_sys::row_security && !pg_sys::check_function_bodies }
}

fn follow_source(revocation: Option<Revocation>, change: &TableChange) -> Result<()> {
    if triggers::are_being_made() {
        return Ok(());
    }
    let is_restored = is_being_restored();
    let _acting = Acting::as_role(SUPERUSER);
    if intake::table(c"pipeline").is_some() {
        revocation.map_or(Ok(()), Revocation::follow)?;
    }
    remake::end(tables_altered)?;
    // Now that each pipeline has its content view again.
    if intake::table(c"pipeline").is_some() {
        change.follow()?;
    }
    for (id, owner) in given()? {
        let Some(pipeline) = pipeline::by_id(id)? else { continue };
        if may_own(&pipeline, &owner)? {
            create::give_to(&pipeline, &quote_identifier(&owner))?;
        }
    }
    // A dump has the triggers of partitions, too. Its settings stay in a session that goes on after it.
    if !is_restored || change.moves_partitions {
        follow_partitions(is_restored)?;
    }
    match intake::table(c"shard") {
        Some(_) => shards::follow_grants(),
        None => Ok(()),
    }
}
