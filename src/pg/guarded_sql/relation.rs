//! The relations of a query.

use std::ffi::{CStr, CString};

use pgrx::PgList;
use pgrx::pg_sys::Oid;
use pgrx::prelude::*;

use crate::error::Result;
use crate::pg::server::prepared;
use crate::pg::server::role::LocalSettings;
use crate::pg::server::sql::{qualified_name, query, required, with_latest_snapshot};

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

/// The name of a relation with its schema, quoted where needed; its number where it is gone.
pub fn name(relation: Oid) -> String {
    qualified_name(relation).unwrap_or_else(|| relation.to_u32().to_string())
}

/// A name, quoted where a statement needs it to be.
pub fn quoted(name: &str) -> String {
    let name = CString::new(name).unwrap_or_default();
    // SAFETY: a C string; what comes back is that string or one in the current memory context.
    unsafe {
        CStr::from_ptr(pg_sys::quote_identifier(name.as_ptr())).to_string_lossy().into_owned()
    }
}

/// Whether a relation may have others that inherit from it, or expressions in an index, a check, a statistic, a
/// generated column or a key of partitions. Most have none, and this is looked up in memory.
pub fn has_attached(relation: Oid) -> bool {
    // SAFETY: the analysis has locked the relation; its parts are those of an open relation, and the lists are
    // copies.
    unsafe {
        let open = pgrx::PgRelation::with_lock(relation, pg_sys::NoLock as pg_sys::LOCKMODE);
        let form = &*open.rd_rel;
        let has_expressions = (*open.rd_att).constr.as_ref().is_some_and(computes);
        let is_more = form.relhassubclass
            || form.relkind as u8 == pg_sys::RELKIND_PARTITIONED_TABLE
            || !pg_sys::RelationGetStatExtList(open.as_ptr()).is_null();
        has_expressions || is_more || {
            let indexes = pg_sys::RelationGetIndexList(open.as_ptr());
            PgList::<Oid>::from_pg(indexes).iter_oid().any(has_index_expression)
        }
    }
}

fn computes(constraints: &pg_sys::TupleConstr) -> bool {
    #[cfg(feature = "pg18")]
    let is_virtual = constraints.has_generated_virtual;
    #[cfg(not(feature = "pg18"))]
    let is_virtual = false;
    constraints.num_check > 0 || constraints.has_generated_stored || is_virtual
}

fn has_index_expression(index: Oid) -> bool {
    let cache = pg_sys::SysCacheIdentifier::INDEXRELID as i32;
    // SAFETY: a look-up by OID; the row is released after it has been looked at.
    unsafe {
        let row = pg_sys::SearchSysCache1(cache, index.into());
        if row.is_null() {
            return false;
        }
        let is_there = |column: u32| {
            let mut is_null = false;
            pg_sys::SysCacheGetAttr(cache, row, column as i16, &raw mut is_null);
            !is_null
        };
        let found =
            is_there(pg_sys::Anum_pg_index_indexprs) || is_there(pg_sys::Anum_pg_index_indpred);
        pg_sys::ReleaseSysCache(row);
        found
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

/// The primary keys of these relations: numbers of their columns.
pub fn primary_keys(relations: &[Oid]) -> Result<Vec<(Oid, Vec<i32>)>> {
    catalog_rows(query!(guarded_sql.primary_keys), relations, |row| {
        let numbers = required(row.get::<Vec<Option<i32>>>(2)?)?;
        Ok((required(row.get::<Oid>(1)?)?, numbers.into_iter().flatten().collect()))
    })
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
    // A few rows by their keys: the planner takes a recursion for a thousand, and would read whole catalogs.
    settings.set(c"plan_cache_mode", c"force_generic_plan");
    for other in [c"enable_seqscan", c"enable_hashjoin", c"enable_mergejoin", c"enable_bitmapscan"]
    {
        settings.set(other, c"off");
    }
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
