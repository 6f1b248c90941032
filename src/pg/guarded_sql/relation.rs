//! The relations of a query.

use std::ffi::CStr;

use pgrx::PgList;
use pgrx::pg_sys::Oid;
use pgrx::prelude::*;

use crate::error::Result;
use crate::pg::server::prepared;
use crate::pg::server::role::LocalSettings;
use crate::pg::server::sql::{query, required, with_latest_snapshot};

/// The view that a subquery has come from.
///
/// # Safety
///
/// `entry` is a subquery of an analysed and rewritten query.
pub unsafe fn view_of(entry: &pg_sys::RangeTblEntry) -> Option<Oid> {
    if entry.relid != pg_sys::InvalidOid {
        return Some(entry.relid);
    }
    // SAFETY: by this function's contract. Until version 15 the first entry of a view's query is the view.
    unsafe {
        let first =
            *PgList::<pg_sys::RangeTblEntry>::from_pg((*entry.subquery).rtable).get_ptr(0)?;
        let is_view = first.rtekind == pg_sys::RTEKind::RTE_RELATION
            && first.relkind as u8 == pg_sys::RELKIND_VIEW;
        is_view.then_some(first.relid)
    }
}

/// The name of a relation with its schema, quoted where needed.
pub fn name(relation: Oid) -> String {
    // SAFETY: look-ups by OID; the names are NULL where it is gone.
    unsafe {
        let (schema, name) = (
            pg_sys::get_namespace_name(pg_sys::get_rel_namespace(relation)),
            pg_sys::get_rel_name(relation),
        );
        if name.is_null() {
            return relation.to_u32().to_string();
        }
        let quoted = pg_sys::quote_qualified_identifier(schema, name);
        CStr::from_ptr(quoted).to_string_lossy().into_owned()
    }
}

/// What inherits from these relations and is no partition of them, with its kind; and partitions that are
/// foreign tables.
pub fn inheriting(relations: &[Oid]) -> Result<Vec<(Oid, u8)>> {
    let found = catalog_rows(query!(guarded_sql.inheriting), relations, |row| {
        let kind = required(row.get::<String>(2)?)?.bytes().next().unwrap_or_default();
        Ok((required(row.get::<Oid>(1)?)?, kind, required(row.get::<bool>(3)?)?))
    })?;
    let named = found
        .into_iter()
        .filter(|(_, kind, is_part)| !is_part || *kind == pg_sys::RELKIND_FOREIGN_TABLE);
    Ok(named.map(|(oid, kind, _)| (oid, kind)).collect())
}

/// Functions of users that the planner may call for these relations.
pub fn called(relations: &[Oid]) -> Result<Vec<Oid>> {
    catalog_rows(query!(guarded_sql.called), relations, |row| required(row.get::<Oid>(1)?))
}

fn catalog_rows<T>(
    statement: &str,
    relations: &[Oid],
    map: impl FnMut(&pgrx::spi::SpiHeapTupleData<'_>) -> Result<T, pgrx::spi::Error>,
) -> Result<Vec<T>> {
    if relations.is_empty() {
        return Ok(Vec::new());
    }
    let mut settings = LocalSettings::new();
    settings.set(c"search_path", c"pg_catalog, pg_temp");
    with_latest_snapshot(|| prepared::rows(statement, &[relations.to_vec().into()], map))
}

/// Raises an error where the caller may not read what a query and those within it read.
///
/// # Safety
///
/// `query` is an analysed and rewritten query.
pub unsafe fn check_permissions(query: *mut pg_sys::Query) {
    // SAFETY: by this function's contract.
    #[cfg(feature = "pg15")]
    unsafe {
        pg_sys::ExecCheckRTPerms((*query).rtable, true);
    }
    // SAFETY: as above.
    #[cfg(not(feature = "pg15"))]
    unsafe {
        pg_sys::ExecCheckPermissions((*query).rtable, (*query).rteperminfos, true);
    }
}
