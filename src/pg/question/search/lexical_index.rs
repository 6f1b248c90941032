//! The rag_bm25 index of the chunks that a pipeline's view shows.
//!
//! A new generation of chunks may take the place of the old at any moment, and the snapshot of a
//! statement may be older than that. So the index is looked up where the executor will look for
//! the chunks, in the view's rule, under a lock of the view that is held from then on and for
//! which the exchange has to wait.

use std::ffi::CStr;

use pgrx::PgList;
use pgrx::prelude::*;

/// Locks `view` against an exchange, and gives the index of the words of its chunks: of the table
/// that it shows beside `source`. `None` where that has none, as in pipelines that are older than
/// the access method.
pub fn lexical_index(view: pg_sys::Oid, source: pg_sys::Oid) -> Option<pg_sys::Oid> {
    // SAFETY: a relation is opened by its OID, if it is still there, and closed; the lock stays.
    unsafe {
        let relation = pg_sys::try_relation_open(view, pg_sys::AccessShareLock as i32);
        if relation.is_null() {
            return None;
        }
        let tables = tables_shown(relation);
        pg_sys::relation_close(relation, pg_sys::NoLock as i32);
        let chunks = tables.into_iter().filter(|table| ![view, source].contains(table));
        chunks.filter_map(|table| index_of(table)).next()
    }
}

/// The tables of a view.
///
/// # Safety
///
/// `view` must be open.
unsafe fn tables_shown(view: pg_sys::Relation) -> Vec<pg_sys::Oid> {
    let mut tables = Vec::new();
    // SAFETY: the rules of an open relation, and what stands in them.
    unsafe {
        let rules = (*view).rd_rules;
        if rules.is_null() {
            return tables;
        }
        for at in 0..(*rules).numLocks as usize {
            let rule = *(*rules).rules.add(at);
            for query in PgList::<pg_sys::Query>::from_pg((*rule).actions).iter_ptr() {
                let entries = PgList::<pg_sys::RangeTblEntry>::from_pg((*query).rtable);
                let is_table = |it: &*mut pg_sys::RangeTblEntry| {
                    (**it).rtekind == pg_sys::RTEKind::RTE_RELATION
                };
                tables.extend(entries.iter_ptr().filter(is_table).map(|entry| (*entry).relid));
            }
        }
    }
    tables
}

/// The valid rag_bm25 index of a chunk table's words.
///
/// # Safety
///
/// Within a transaction.
unsafe fn index_of(table: pg_sys::Oid) -> Option<pg_sys::Oid> {
    // SAFETY: as above.
    unsafe {
        let relation = pg_sys::try_relation_open(table, pg_sys::AccessShareLock as i32);
        if relation.is_null() {
            return None;
        }
        let indexes = PgList::<pg_sys::Oid>::from_pg(pg_sys::RelationGetIndexList(relation));
        let found = indexes.iter_oid().find(|index| is_lexical(*index));
        pg_sys::relation_close(relation, pg_sys::NoLock as i32);
        found
    }
}

/// Whether an index is one of rag_bm25 over the column `tsv`, complete and ready.
///
/// # Safety
///
/// Its table must be locked.
unsafe fn is_lexical(index: pg_sys::Oid) -> bool {
    // SAFETY: an index is opened by its OID, and closed; its description has a key column.
    unsafe {
        let relation = pg_sys::try_index_open(index, pg_sys::AccessShareLock as i32);
        if relation.is_null() {
            return false;
        }
        let described = (*relation).rd_index;
        let method = pg_sys::get_am_name((*(*relation).rd_rel).relam);
        let column = (&raw const (*described).indkey.values).cast::<i16>().read();
        let name = pg_sys::get_attname((*described).indrelid, column, true);
        let is_ours = !method.is_null()
            && CStr::from_ptr(method) == c"rag_bm25"
            && !name.is_null()
            && CStr::from_ptr(name) == c"tsv"
            && (*described).indisvalid
            && pg_sys::RelationGetIndexPredicate(relation).is_null();
        pg_sys::index_close(relation, pg_sys::NoLock as i32);
        is_ours
    }
}
