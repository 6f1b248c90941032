//! The life of a pipeline's chunks: filled, indexed, and made anew beside the old ones.
//!
//! What can't be changed in place, such as the model, is changed by making a successor: a second
//! pipeline over the same source, without a name, with triggers, queue and tables of its own.
//! The old one answers until the successor is filled and indexed; then, in one transaction, the
//! successor gets its name and its relations' names, and the old one is dropped.

use super::fill;
use crate::error::Result;
use crate::pg::catalog::derivation::{self, StoredDerivation};
use crate::pg::catalog::grants::Grants;
use crate::pg::catalog::pipeline::{self, Pipeline, PipelineStage, RefreshMode};
use crate::pg::catalog::{relation, view};
use crate::pg::derivation::{extracted_relations, table as derived_table};
use crate::pg::pipeline::triggers;
use crate::pg::server::role::LocalSettings;
use crate::pg::server::sql::{self, query, render};

/// Indexes the vectors of a pipeline that has been filled, and has it take the place of the one
/// that it replaces.
///
/// To be called as a role that may create relations in the source's schema, as the source's owner
/// may not have to: nothing of what is done here runs code of that owner but as that owner.
/// Returns whether it was done; not while other processes are at work on it. Index and exchange are
/// two calls.
pub fn finish(id: i32) -> Result<bool> {
    if !pipeline::take(id)? {
        return Ok(false);
    }
    let Some(pipeline) = pipeline::by_id(id)? else { return Ok(true) };
    if pipeline.stage == PipelineStage::Filling {
        fill::build_index(&pipeline)?;
        pipeline::set_live(id)?;
        return Ok(true);
    }
    let Some(old) = pipeline.replaces else { return Ok(true) };
    if !pipeline::take_both(id, old)? {
        return Ok(false);
    }
    match pipeline::by_id(old)? {
        Some(old) => take_place(&pipeline, &old).map(|()| true),
        None => Ok(true),
    }
}

fn take_place(new: &Pipeline, old: &Pipeline) -> Result<()> {
    {
        // It takes longest, so it comes before the locks that others wait for.
        let mut settings = LocalSettings::new();
        settings.set(c"lock_timeout", c"200ms");
        extracted_relations::inherit_rest(new, old)?;
    }
    // First, since dropping a pipeline's relations drops the pipeline.
    let (made, replaced) = (derivation::all(new.id)?, derivation::all(old.id)?);
    pipeline::forget_replaced(new.id, old.id)?;
    let view = {
        // All later requests for a lock wait behind this one: better give up soon, before a session
        // is found to be in a deadlock, and try again.
        let mut settings = LocalSettings::new();
        settings.set(c"lock_timeout", c"200ms");
        settings.set_as_superuser(c"deadlock_timeout", c"100ms");
        let values = [
            ("view", old.view.sql.as_str()),
            ("chunk_table", &old.chunk_table.sql),
            ("source", &old.source.sql),
        ];
        let lock = render(query!(generation.lock_for_exchange), &values);
        sql::execute(&lock, &[])?;
        triggers::drop_all(old)?;
        // Those before the ones that they are made of.
        for one in replaced.iter().rev() {
            match made.iter().find(|it| it.kind == one.kind) {
                Some(it) => take_name("TABLE", &it.relation, &one.relation)?,
                None => derived_table::drop_table(&one.relation)?,
            }
        }
        let view = take_view(new, old)?;
        take_name("TABLE", &new.chunk_table, &old.chunk_table)?;
        let is_new = |it: &&StoredDerivation| replaced.iter().all(|one| one.kind != it.kind);
        made.iter().filter(is_new).try_for_each(|it| name_beside(new, it))?;
        take_name("VIEW", &new.content_view, &old.content_view)?;
        if old.refresh == RefreshMode::Sync {
            triggers::create_for_statement(new)?;
        }
        view
    };
    pipeline::take_name(new.id, old, view)
}

/// Calls a table after the chunks, by the name that they have by now.
fn name_beside(new: &Pipeline, made: &StoredDerivation) -> Result<()> {
    let name = relation::name_beside(new.chunk_table.oid, None, made.kind.table_label());
    let values = [("kind", "TABLE"), ("relation", &*made.relation.sql), ("name", &name)];
    sql::execute(&render(query!(generation.rename_relation), &values), &[]).map(drop)
}

/// Has the old view show the new chunks where its columns stay the same, since other views may use
/// it; otherwise the new view takes its name. The OID of the view that stays.
fn take_view(new: &Pipeline, old: &Pipeline) -> Result<pgrx::pg_sys::Oid> {
    let described = |oid| -> Result<Vec<(String, String)>> {
        let columns = view::columns(oid)?;
        Ok(columns.into_iter().map(|column| (column.name, column.sql_type)).collect())
    };
    if described(new.view.oid)? != described(old.view.oid)? {
        take_name("VIEW", &new.view, &old.view)?;
        return Ok(new.view.oid);
    }
    let statement = query!(generation.view_definition);
    let definition =
        sql::rows(statement, &[new.view.oid.into()], |row| sql::required(row.get::<String>(1)?))?;
    let values = [
        ("view", old.view.sql.as_str()),
        ("definition", definition.first().map_or("", String::as_str)),
    ];
    sql::execute(&render(query!(generation.replace_view), &values), &[])?;
    let values = [("view", new.view.sql.as_str())];
    sql::execute(&render(query!(relation.drop_view), &values), &[])?;
    Ok(old.view.oid)
}

/// Drops a relation of the old pipeline and gives its name, and what others may do with it, to the new
/// one's.
fn take_name(kind: &str, new: &pipeline::Relation, old: &pipeline::Relation) -> Result<()> {
    let statement = query!(relation.exists);
    let names =
        sql::rows(statement, &[old.oid.into()], |row| sql::required(row.get::<String>(1)?))?;
    let Some(name) = names.first() else { return Ok(()) };
    let template = match kind {
        "TABLE" => query!(relation.drop_table),
        _ => query!(relation.drop_view),
    };
    let key = if kind == "TABLE" { "chunk_table" } else { "view" };
    Grants::of(old.oid)?.give_on(new)?;
    relation::drop_if_there(template, old, &[(key, &old.sql)])?;
    let values = [("kind", kind), ("relation", &new.sql), ("name", name)];
    sql::execute(&render(query!(generation.rename_relation), &values), &[]).map(drop)
}
