//! What a statement has done to tables that its event does not tell: partitions and children that come or go, and columns
//! that are computed otherwise or have got another name.

use std::ffi::CStr;

use pgrx::PgList;
use pgrx::prelude::*;
use pgrx::spi::quote_identifier;

use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::{pipeline, view};
use crate::pg::changes::{intake, noted};
use crate::pg::derivation::column_relations::changes::follow_rename;
use crate::pg::server::sql::{self, query, required};

/// What a CREATE TABLE or an ALTER TABLE has done.
#[derive(Debug, Default)]
pub struct TableChange {
    /// Whether a partition has come or gone. Dumps attach partitions before there is any pipeline.
    pub moves_partitions: bool,
    /// Whether a table has become the child of another.
    has_parent: bool,
    /// Generated columns that have got another expression.
    recomputed: Vec<String>,
    /// The name of a column before and now.
    renamed: Option<(String, String)>,
}

impl TableChange {
    /// What `statement` has done; nothing where it is another one.
    ///
    /// # Safety
    ///
    /// `statement` is a parse tree, or NULL.
    pub unsafe fn of(statement: *const pg_sys::Node) -> TableChange {
        let mut found = TableChange::default();
        // SAFETY: by this function's contract; nodes are read after their tag has been looked at.
        unsafe {
            if statement.is_null() {
                return found;
            }
            match (*statement).type_ {
                pg_sys::NodeTag::T_CreateStmt => {
                    let statement = &*statement.cast::<pg_sys::CreateStmt>();
                    found.moves_partitions = !statement.partbound.is_null();
                    found.has_parent = !statement.inhRelations.is_null();
                }
                // What it makes is told by its own event alone.
                pg_sys::NodeTag::T_CreateSchemaStmt => found.has_parent = true,
                pg_sys::NodeTag::T_CreateForeignTableStmt => {
                    let statement = &*statement.cast::<pg_sys::CreateForeignTableStmt>();
                    found.has_parent = !statement.base.inhRelations.is_null();
                    found.moves_partitions = !statement.base.partbound.is_null();
                }
                // It has the tag of ALTER TABLE.
                pg_sys::NodeTag::T_RenameStmt => {
                    let statement = &*statement.cast::<pg_sys::RenameStmt>();
                    if statement.renameType == pg_sys::ObjectType::OBJECT_COLUMN {
                        found.renamed = Some((text(statement.subname), text(statement.newname)));
                    }
                }
                pg_sys::NodeTag::T_AlterTableStmt => {
                    let statement = &*statement.cast::<pg_sys::AlterTableStmt>();
                    let commands = PgList::<pg_sys::AlterTableCmd>::from_pg(statement.cmds);
                    commands.iter_ptr().for_each(|command| found.note(&*command));
                }
                _ => {}
            }
        }
        found
    }

    /// Adds what a part of an ALTER TABLE has done.
    ///
    /// # Safety
    ///
    /// `command` is of a parse tree.
    unsafe fn note(&mut self, command: &pg_sys::AlterTableCmd) {
        use pg_sys::AlterTableType::{
            AT_AddInherit, AT_AttachPartition, AT_DetachPartition, AT_DetachPartitionFinalize,
        };
        let moving = [AT_AttachPartition, AT_DetachPartition, AT_DetachPartitionFinalize];
        self.moves_partitions |= moving.contains(&command.subtype);
        self.has_parent |= command.subtype == AT_AddInherit;
        #[cfg(any(feature = "pg17", feature = "pg18"))]
        if command.subtype == pg_sys::AlterTableType::AT_SetExpression {
            // SAFETY: by this function's contract; such a command has the name of a column.
            self.recomputed.push(unsafe { text(command.name) });
        }
    }

    /// Refuses a child of a source, has what is kept of columns follow their names, and has rows looked at whose columns have
    /// other values now. To be called as a superuser, after the statement.
    pub fn follow(&self) -> Result<()> {
        if self.has_parent {
            check_no_source_has_child()?;
        }
        if let Some((before, now)) = &self.renamed {
            let tables = sql::rows(query!(event.tables_altered_and_below), &[], |row| {
                required(row.get::<pg_sys::Oid>(1)?)
            })?;
            follow_rename(&tables, before, now)?;
        }
        match self.recomputed.as_slice() {
            [] => Ok(()),
            columns => look_at_all_rows(columns),
        }
    }
}

/// A name of a parse tree.
///
/// # Safety
///
/// `name` is a C string.
unsafe fn text(name: *const std::ffi::c_char) -> String {
    // SAFETY: by this function's contract.
    unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
}

fn check_no_source_has_child() -> Result<()> {
    let found = sql::rows(query!(event.sources_with_new_child), &[], |row| {
        required(row.get::<String>(1)?)
    })?;
    let Some(source) = found.first() else { return Ok(()) };
    let message = format!("{source} is the source of a pipeline and cannot have child tables");
    Err(Error::new(ErrorKind::Unsupported, message)
        .detail("The triggers of a table do not fire for its children's rows.")
        .hint("Use a partitioned table, or a pipeline for each of the tables."))
}

fn look_at_all_rows(columns: &[String]) -> Result<()> {
    let found =
        sql::rows(query!(event.pipelines_recomputed), &[], |row| required(row.get::<i32>(1)?))?;
    for id in found {
        let Some(pipeline) = pipeline::by_id(id)? else { continue };
        let read = view::source_dependencies(&pipeline)?;
        let reads = |column: &String| {
            read.as_ref().is_none_or(|read| read.contains(&quote_identifier(column)))
        };
        if columns.iter().any(reads) {
            intake::leave(id, intake::ChangeKind::All)?;
            noted::wake_at_commit();
        }
    }
    Ok(())
}
