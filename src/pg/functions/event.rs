//! `rag.forget_dropped`, `rag.follow_source`: what PostgreSQL calls after DDL.
//!
//! They run in everybody's DDL, so they look first whether a pipeline is concerned at all.

use pgrx::prelude::*;

use crate::error::Result;
use crate::pg::acting::{Acting, SUPERUSER};
use crate::pg::capture::noted;
use crate::pg::catalog::pipeline;
use crate::pg::error::OrReport;
use crate::pg::{create, intake, sql, triggers};

#[pg_extern(sql = false)]
fn rag_forget_dropped() {
    forget_dropped().or_report();
}

#[pg_extern(sql = false)]
fn rag_follow_source() {
    follow_source().or_report();
}

/// IDs of the pipelines that `statement` finds; none while the extension itself is being dropped.
fn concerned(statement: &str) -> Result<Vec<i32>> {
    match intake::table(c"pipeline") {
        Some(_) => sql::rows(statement, &[], |row| sql::required(row.get(1)?)),
        None => Ok(Vec::new()),
    }
}

/// Pipelines whose source has another owner now, and that owner, quoted.
fn given() -> Result<Vec<(i32, String)>> {
    if intake::table(c"pipeline").is_none() {
        return Ok(Vec::new());
    }
    sql::rows(include_str!("../../../sql/query/pipelines_to_give.sql"), &[], |row| {
        Ok((sql::required(row.get(1)?)?, sql::required(row.get(2)?)?))
    })
}

/// Pipelines whose partitions are others now, and whether rows may have come or gone with them.
fn altered() -> Result<Vec<(i32, bool)>> {
    if intake::table(c"pipeline").is_none() {
        return Ok(Vec::new());
    }
    sql::rows(include_str!("../../../sql/query/pipelines_altered.sql"), &[], |row| {
        Ok((sql::required(row.get(1)?)?, sql::required(row.get(2)?)?))
    })
}

fn forget_dropped() -> Result<()> {
    let _acting = Acting::as_role(SUPERUSER);
    for id in concerned(include_str!("../../../sql/query/pipelines_lost.sql"))? {
        // What is dropped here comes by here too.
        let Some(pipeline) = pipeline::by_id(id)? else { continue };
        if !create::undo(id)? {
            continue;
        }
        notice!("pipeline \"{}\" is dropped with what it was made of", pipeline.name);
    }
    for id in concerned(include_str!("../../../sql/query/pipelines_perhaps_smaller.sql"))? {
        intake::leave(id, intake::Kind::Gone)?;
        noted::wake_at_commit();
    }
    Ok(())
}

fn follow_source() -> Result<()> {
    if triggers::are_being_made() {
        return Ok(());
    }
    let _acting = Acting::as_role(SUPERUSER);
    for (id, owner) in given()? {
        let Some(pipeline) = pipeline::by_id(id)? else { continue };
        create::give_to(&pipeline, &owner)?;
    }
    for (id, has_other_rows) in altered()? {
        let Some(pipeline) = pipeline::by_id(id)? else { continue };
        triggers::cover_partitions(&pipeline)?;
        triggers::uncover_detached(&pipeline)?;
        if has_other_rows {
            intake::leave(id, intake::Kind::Missing)?;
            noted::wake_at_commit();
        }
    }
    Ok(())
}
