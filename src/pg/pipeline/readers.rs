//! Readers that a source has lost, who are then no readers of what is made of it.

use std::ffi::CStr;

use pgrx::PgList;
use pgrx::prelude::*;

use crate::error::Result;
use crate::pg::catalog::pipeline::{self, Pipeline};
use crate::pg::derivation::table as derived_table;
use crate::pg::server::sql::{self, query, render, required};

/// What a REVOKE of SELECT has been about.
pub struct Revocation {
    tables: Vec<pg_sys::Oid>,
    /// Schemas all tables of which it was about.
    schemas: Vec<String>,
    /// Roles; 0 is PUBLIC.
    grantees: Vec<pg_sys::Oid>,
    /// Whether those to whom these roles had granted it have lost it, too.
    is_cascading: bool,
}

impl Revocation {
    /// What `statement` takes away, if it is a REVOKE of the right to read tables.
    ///
    /// # Safety
    ///
    /// `statement` is a parse tree, or NULL.
    pub unsafe fn of(statement: *const pg_sys::Node) -> Option<Revocation> {
        // SAFETY: by this function's contract; nodes are read after their tag has been looked at. What is not there
        // any more is 0 for a table, and left out for a role.
        unsafe {
            if statement.is_null() || (*statement).type_ != pg_sys::NodeTag::T_GrantStmt {
                return None;
            }
            let statement = &*statement.cast::<pg_sys::GrantStmt>();
            let is_of_tables = statement.objtype == pg_sys::ObjectType::OBJECT_TABLE;
            if statement.is_grant || !is_of_tables || !is_of_reading(statement.privileges) {
                return None;
            }
            let table = |name: *mut pg_sys::RangeVar| {
                let (none, missing_ok) =
                    (pg_sys::NoLock as pg_sys::LOCKMODE, pg_sys::RVROption::RVR_MISSING_OK);
                let nobody = std::ptr::null_mut();
                pg_sys::RangeVarGetRelidExtended(name, none, missing_ok, None, nobody)
            };
            let role = |role: *mut pg_sys::RoleSpec| match (*role).roletype {
                pg_sys::RoleSpecType::ROLESPEC_PUBLIC => Some(pg_sys::InvalidOid),
                _ => Some(pg_sys::get_rolespec_oid(role, true))
                    .filter(|it| *it != pg_sys::InvalidOid),
            };
            let (mut tables, mut schemas) = (Vec::new(), Vec::new());
            match statement.targtype {
                pg_sys::GrantTargetType::ACL_TARGET_OBJECT => {
                    let named = PgList::<pg_sys::RangeVar>::from_pg(statement.objects);
                    tables.extend(named.iter_ptr().map(table));
                }
                pg_sys::GrantTargetType::ACL_TARGET_ALL_IN_SCHEMA => {
                    let named = PgList::<pg_sys::String>::from_pg(statement.objects);
                    let name = |it: *mut pg_sys::String| CStr::from_ptr((*it).sval);
                    schemas.extend(named.iter_ptr().map(|it| name(it).to_string_lossy().into()));
                }
                _ => return None,
            }
            let grantees = PgList::<pg_sys::RoleSpec>::from_pg(statement.grantees);
            let grantees = grantees.iter_ptr().filter_map(role).collect();
            let is_cascading = statement.behavior == pg_sys::DropBehavior::DROP_CASCADE;
            Some(Revocation { tables, schemas, grantees, is_cascading })
        }
    }

    /// Takes the chunks, and what is beside them, from roles that may no longer read the source. To be called as a
    /// superuser, after the statement.
    pub fn follow(self) -> Result<()> {
        let Revocation { tables, schemas, grantees, is_cascading } = self;
        let arguments = [tables.into(), grantees.into(), schemas.into(), is_cascading.into()];
        let lost = sql::rows(query!(grants.lost_readers), &arguments, |row| {
            Ok((required(row.get::<i32>(1)?)?, required(row.get::<String>(2)?)?))
        })?;
        lost.into_iter().try_for_each(|(id, grantees)| match pipeline::by_id(id)? {
            Some(pipeline) => revoke(&pipeline, &grantees),
            None => Ok(()),
        })
    }
}

/// Whether SELECT is among the privileges of a statement, all of them where it names none.
///
/// # Safety
///
/// `privileges` is of a parse tree.
unsafe fn is_of_reading(privileges: *mut pg_sys::List) -> bool {
    // SAFETY: by this function's contract; a privilege without a name stands for all.
    unsafe {
        let privileges = PgList::<pg_sys::AccessPriv>::from_pg(privileges);
        let is_select = |it: *mut pg_sys::AccessPriv| {
            let name = (*it).priv_name;
            name.is_null() || CStr::from_ptr(name).to_bytes().eq_ignore_ascii_case(b"select")
        };
        privileges.is_empty() || privileges.iter_ptr().any(is_select)
    }
}

fn revoke(pipeline: &Pipeline, grantees: &str) -> Result<()> {
    let own = [&pipeline.chunk_table, &pipeline.content_view, &pipeline.view];
    let beside = derived_table::of(pipeline)?;
    let relations: Vec<&str> = own.into_iter().chain(&beside).map(|it| it.sql.as_str()).collect();
    let values = [("relations", &*relations.join(", ")), ("grantees", grantees)];
    sql::execute(&render(query!(grants.revoke_select), &values), &[]).map(drop)
}
