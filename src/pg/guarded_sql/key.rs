//! Which rows of which relation are the rows of a result?
//!
//! PostgreSQL notes of each column of a result from which column of a relation it comes unchanged. Where these are a
//! primary key, a row of the result can be called by it.

use pgrx::PgList;
use pgrx::pg_sys::Oid;
use pgrx::prelude::*;

use super::relation;
use crate::error::Result;

/// Columns of a result that are the primary key of a relation. Several rows may have the same key, as after a join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultKey {
    /// The relation.
    pub relation: Oid,
    /// Places of the columns, in the order of the key.
    pub columns: Vec<usize>,
}

/// A column of a result that is one of a relation.
struct ColumnOrigin {
    relation: Oid,
    number: i32,
    place: usize,
}

/// The keys that are among the columns of a query, those of its first columns first; none where it makes rows of
/// several others.
///
/// # Safety
///
/// `query` is an analysed and rewritten query.
pub unsafe fn result_keys(query: *mut pg_sys::Query) -> Result<Vec<ResultKey>> {
    // SAFETY: by this function's contract.
    let origins = unsafe {
        if combines_rows(&*query) {
            return Ok(Vec::new());
        }
        origins(&*query)
    };
    let mut relations: Vec<Oid> = Vec::new();
    for origin in &origins {
        if !relations.contains(&origin.relation) {
            relations.push(origin.relation);
        }
    }
    let known = relation::primary_keys(&relations)?;
    let key = |relation: Oid| {
        let (_, numbers) = known.iter().find(|(known, _)| *known == relation)?;
        let place = |number: &i32| {
            let mut own = origins.iter().filter(|it| it.relation == relation);
            own.find(|it| it.number == *number).map(|it| it.place)
        };
        let columns = numbers.iter().map(place).collect::<Option<Vec<usize>>>()?;
        Some(ResultKey { relation, columns })
    };
    Ok(relations.into_iter().filter_map(key).collect())
}

fn combines_rows(query: &pg_sys::Query) -> bool {
    let is_set = query.hasAggs || query.hasTargetSRFs || !query.setOperations.is_null();
    let lists = [query.groupClause, query.groupingSets, query.distinctClause];
    is_set || lists.into_iter().any(|list| !list.is_null())
}

/// The columns that come from one of a relation.
///
/// # Safety
///
/// `query` is an analysed query.
unsafe fn origins(query: &pg_sys::Query) -> Vec<ColumnOrigin> {
    // SAFETY: by this function's contract its list has target entries.
    let entries = unsafe { PgList::<pg_sys::TargetEntry>::from_pg(query.targetList) };
    // SAFETY: as above.
    let entries = entries.iter_ptr().map(|entry| unsafe { &*entry }).filter(|it| !it.resjunk);
    let origin = |(place, entry): (usize, &pg_sys::TargetEntry)| ColumnOrigin {
        relation: entry.resorigtbl,
        number: i32::from(entry.resorigcol),
        place,
    };
    let all = entries.enumerate().map(origin);
    all.filter(|it| it.relation != pg_sys::InvalidOid).collect()
}
