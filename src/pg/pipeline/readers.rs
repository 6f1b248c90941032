//! Readers that a source has lost, who are then no readers of what is made of it.
//!
//! A right to read what is made of a source comes with the right to read the source, and goes with it, whoever has given it.
//! Who loses the source by a REVOKE is not said by the statement alone: CASCADE takes it from those to whom others had
//! passed it on, and a role may have it from PUBLIC or from a role that it is a member of. So it is noted before the
//! statement who could read both. A role that could not read the source keeps what it was given of the chunks alone.

use std::cell::RefCell;
use std::ffi::CStr;

use pgrx::PgList;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

use crate::error::Result;
use crate::pg::catalog::pipeline::{self, Pipeline, Relation};
use crate::pg::derivation::table as derived_table;
use crate::pg::server::role::{Acting, SUPERUSER, as_role};
use crate::pg::server::sql::{self, query, render, required};

thread_local! {
    /// The pipelines, and the roles, 0 for PUBLIC, that could read the source and what is made of it before the REVOKE that
    /// has begun last. One that another event trigger runs notes all of them again, as nothing has been revoked yet.
    static BEFORE: RefCell<Vec<(i32, pg_sys::Oid)>> = const { RefCell::new(Vec::new()) };
}

/// What a REVOKE of SELECT has been about.
pub struct Revocation {
    tables: Vec<pg_sys::Oid>,
    /// Schemas all tables of which it was about.
    schemas: Vec<String>,
    /// Roles; 0 is PUBLIC.
    grantees: Vec<pg_sys::Oid>,
    /// The role whose statement it was.
    by: pg_sys::Oid,
}

/// A role that may not read the source of a pipeline any more.
struct LostReader {
    pipeline: i32,
    role: pg_sys::Oid,
    /// The name of the role, quoted, or PUBLIC.
    name: String,
}

/// What another role than the owner of a relation has given roles to read.
struct PassedGrant {
    /// The relation, and the column in parentheses, or nothing.
    relation: String,
    column: String,
    /// Who has given it, and the name of that role, quoted.
    grantor: pg_sys::Oid,
    grantor_name: String,
    /// To whom, as in a statement.
    grantees: String,
    /// Whether the grantor can take it back.
    is_in_reach: bool,
}

/// The statement, if it is a REVOKE of the right to read tables.
///
/// # Safety
///
/// `statement` is a parse tree, or NULL.
unsafe fn revocation<'a>(statement: *const pg_sys::Node) -> Option<&'a pg_sys::GrantStmt> {
    // SAFETY: by this function's contract; the node is read after its tag has been looked at.
    unsafe {
        if statement.is_null() || (*statement).type_ != pg_sys::NodeTag::T_GrantStmt {
            return None;
        }
        let statement = &*statement.cast::<pg_sys::GrantStmt>();
        let is_of_tables = statement.objtype == pg_sys::ObjectType::OBJECT_TABLE;
        let takes = !statement.is_grant && is_of_tables && is_of_reading(statement.privileges);
        takes.then_some(statement)
    }
}

/// Whether a statement takes away the right to read tables.
///
/// # Safety
///
/// `statement` is a parse tree, or NULL.
pub unsafe fn are_revoked_by(statement: *const pg_sys::Node) -> bool {
    // SAFETY: by this function's contract.
    unsafe { revocation(statement) }.is_some()
}

/// Notes who can read both a source and what is made of it. To be called before a statement that takes such rights away.
pub fn note_before() -> Result<()> {
    let _acting = Acting::as_role(SUPERUSER);
    let readers = sql::rows(query!(grants.readers_of_both), &[], |row| {
        Ok((required(row.get::<i32>(1)?)?, required(row.get::<pg_sys::Oid>(2)?)?))
    })?;
    BEFORE.set(readers);
    Ok(())
}

impl Revocation {
    /// What `statement` takes away, if it is a REVOKE of the right to read tables.
    ///
    /// # Safety
    ///
    /// `statement` is a parse tree, or NULL.
    pub unsafe fn of(statement: *const pg_sys::Node) -> Option<Revocation> {
        // SAFETY: by this function's contract; nodes are of the kinds that such a statement has. What is not there any more
        // is 0 for a table, and left out for a role.
        unsafe {
            let statement = revocation(statement)?;
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
            Some(Revocation { tables, schemas, grantees, by: pg_sys::GetUserId() })
        }
    }

    /// Takes the chunks, and what is beside them, from roles that may no longer read the source. To be called as a
    /// superuser, after the statement.
    pub fn follow(self) -> Result<()> {
        let lost = self.lost()?;
        for lost in lost.chunk_by(|one, next| one.pipeline == next.pipeline) {
            if let Some(pipeline) = pipeline::by_id(lost[0].pipeline)? {
                revoke(&pipeline, lost)?;
            }
        }
        Ok(())
    }

    /// The roles that have lost sources, those of a pipeline one after the other. They do not count any more as such that could
    /// read them.
    fn lost(self) -> Result<Vec<LostReader>> {
        let Revocation { tables, schemas, grantees, by } = self;
        let before = BEFORE.take();
        let (pipelines, roles): (Vec<i32>, Vec<pg_sys::Oid>) = before.iter().copied().unzip();
        let arguments = [
            tables.into(),
            grantees.into(),
            schemas.into(),
            pipelines.into(),
            roles.into(),
            by.into(),
        ];
        let lost = sql::rows(query!(grants.lost_readers), &arguments, |row| {
            let (pipeline, role) = (required(row.get(1)?)?, required(row.get(2)?)?);
            Ok(LostReader { pipeline, role, name: required(row.get(3)?)? })
        })?;
        let reads = |(pipeline, role): &(i32, pg_sys::Oid)| {
            !lost.iter().any(|one| (one.pipeline, one.role) == (*pipeline, *role))
        };
        BEFORE.set(before.into_iter().filter(reads).collect());
        Ok(lost)
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

fn revoke(pipeline: &Pipeline, lost: &[LostReader]) -> Result<()> {
    let own = [&pipeline.chunk_table, &pipeline.content_view, &pipeline.view];
    let beside = derived_table::of(pipeline)?;
    let relations: Vec<&Relation> = own.into_iter().chain(&beside).collect();
    let named: Vec<&str> = relations.iter().map(|it| it.sql.as_str()).collect();
    let grantees: Vec<&str> = lost.iter().map(|it| it.name.as_str()).collect();
    revoke_select("", &named.join(", "), &grantees.join(", "))?;
    let relations: Vec<pg_sys::Oid> = relations.iter().map(|it| it.oid).collect();
    revoke_passed_on(&relations, &lost.iter().map(|it| it.role).collect::<Vec<_>>())
}

/// Takes what others than the owner have given, each as the role that has: PostgreSQL lets no other do it, not even a
/// superuser. What is out of reach stays, and a warning says so.
fn revoke_passed_on(relations: &[pg_sys::Oid], roles: &[pg_sys::Oid]) -> Result<()> {
    let mut tried: Vec<(String, pg_sys::Oid)> = Vec::new();
    loop {
        // What is taken takes with it what was given on, so it is looked each time what is left.
        let left = passed_on(relations, roles)?;
        let is_new = |it: &PassedGrant| !tried.contains(&(it.place(), it.grantor));
        let Some(grant) = left.into_iter().find(is_new) else { return Ok(()) };
        tried.push((grant.place(), grant.grantor));
        match grant.is_in_reach {
            true => as_role(grant.grantor, || grant.take_back())?,
            false => grant.warn(),
        }
    }
}

fn passed_on(relations: &[pg_sys::Oid], roles: &[pg_sys::Oid]) -> Result<Vec<PassedGrant>> {
    let arguments = [relations.to_vec().into(), roles.to_vec().into()];
    sql::rows(query!(grants.given_by_others), &arguments, |row| {
        Ok(PassedGrant {
            relation: required(row.get(1)?)?,
            column: required(row.get(2)?)?,
            grantor: required(row.get(3)?)?,
            grantor_name: required(row.get(4)?)?,
            grantees: required(row.get(5)?)?,
            is_in_reach: required(row.get(6)?)?,
        })
    })
}

fn revoke_select(column: &str, relations: &str, grantees: &str) -> Result<()> {
    let values = [("column", column), ("relations", relations), ("grantees", grantees)];
    sql::execute(&render(query!(grants.revoke_select), &values), &[]).map(drop)
}

impl PassedGrant {
    /// The relation, and the column if it is about one, in words.
    fn place(&self) -> String {
        format!("{}{}", self.relation, self.column)
    }

    /// To be done as the role that has given it.
    fn take_back(&self) -> Result<()> {
        revoke_select(&self.column, &self.relation, &self.grantees)
    }

    fn warn(&self) {
        let PassedGrant { grantor_name, grantees, .. } = self;
        let message =
            format!("{grantees} can still read {}, granted by {grantor_name}", self.place());
        ErrorReport::new(PgSqlErrorCode::ERRCODE_WARNING, message, "pg_rag")
            .set_detail("Only that role could take it back, and it may not use the schema, or has the rights of the owner and acts as that.")
            .set_hint(format!("Revoke it from {grantor_name} with CASCADE."))
            .report(PgLogLevel::WARNING);
    }
}
