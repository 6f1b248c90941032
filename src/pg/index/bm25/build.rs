//! The callbacks of CREATE INDEX.

use std::ffi::{c_char, c_void};

use pgrx::prelude::*;

use super::value;
use crate::bm25::{self, IndexBuilder};
use crate::error::Result;
use crate::pg::index::hnsw::row_of;
use crate::pg::index::new_pages::{NewPages, PageWriter, TemporaryPages};
use crate::pg::server::error::OrReport;
use crate::pg::server::raised::as_raised;
use crate::pg::server::reserve::Reserve;

/// The phases, as pg_stat_progress_create_index numbers them.
#[derive(Clone, Copy)]
enum Bm25Phase {
    Load = 2,
    Write = 3,
}

/// The name of a phase; 1 is PostgreSQL's own "initializing".
#[pg_guard]
pub unsafe extern "C-unwind" fn ambuildphasename(phase: i64) -> *mut c_char {
    let name = match phase {
        1 => c"initializing",
        2 => c"loading tuples",
        3 => c"writing pages",
        _ => return std::ptr::null_mut(),
    };
    name.as_ptr().cast_mut()
}

fn progress(parameter: u32, value: i64) {
    // SAFETY: sets a number in this session's entry.
    unsafe { pg_sys::pgstat_progress_update_param(parameter as i32, value) };
}

fn enter(phase: Bm25Phase) {
    progress(pg_sys::PROGRESS_CREATEIDX_SUBPHASE, phase as i64);
}

/// Builds an index over the rows of a table.
#[pg_guard]
pub unsafe extern "C-unwind" fn ambuild(
    table: pg_sys::Relation,
    index: pg_sys::Relation,
    info: *mut pg_sys::IndexInfo,
) -> *mut pg_sys::IndexBuildResult {
    // SAFETY: PostgreSQL passes an open table, an empty index over it, and its description.
    unsafe {
        let built = as_raised(None, || build(table, index, info));
        let (heap_tuples, index_tuples) = built.or_report();
        let result: *mut pg_sys::IndexBuildResult =
            pg_sys::palloc0(size_of::<pg_sys::IndexBuildResult>()).cast();
        (*result).heap_tuples = heap_tuples;
        (*result).index_tuples = index_tuples;
        result
    }
}

/// Makes the INIT fork of an unlogged index: an empty index.
#[pg_guard]
pub unsafe extern "C-unwind" fn ambuildempty(index: pg_sys::Relation) {
    // SAFETY: PostgreSQL passes an open index whose INIT fork is empty.
    let writer = unsafe { PageWriter::new(index, pg_sys::ForkNumber::INIT_FORKNUM) };
    writer.push(&bm25::first_page()).or_report();
    writer.log();
}

/// A build under way, as the callback of the table's scan sees it.
struct Bm25Build<'a> {
    builder: IndexBuilder<'a, TemporaryPages>,
    reserve: Reserve,
    added: i64,
}

/// # Safety
///
/// As for [`ambuild`].
unsafe fn build(
    table: pg_sys::Relation,
    index: pg_sys::Relation,
    info: *mut pg_sys::IndexInfo,
) -> Result<(f64, f64)> {
    // SAFETY: by this function's contract. The callback gets `build` for as long as the scan
    // of the table lasts. The setting is in kB.
    unsafe {
        let memory = pg_sys::maintenance_work_mem as usize * 1024;
        let pages = NewPages::new(index);
        bm25::create(&pages)?;
        let scratch = TemporaryPages::new();
        let builder = IndexBuilder::new(&scratch, memory);
        let mut build = Bm25Build { builder, reserve: Reserve::take()?, added: 0 };
        enter(Bm25Phase::Load);
        let heap_tuples = pg_sys::table_index_build_scan(
            table,
            index,
            info,
            true,
            true,
            Some(add_row),
            (&raw mut build).cast(),
            std::ptr::null_mut(),
        );
        enter(Bm25Phase::Write);
        let documents = build.builder.finish(&pages)?;
        pages.log();
        Ok((heap_tuples, documents as f64))
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn add_row(
    _index: pg_sys::Relation,
    row: pg_sys::ItemPointer,
    values: *mut pg_sys::Datum,
    nulls: *mut bool,
    _is_alive: bool,
    state: *mut c_void,
) {
    // SAFETY: the state is the build that started the scan; the value is of the index's column.
    unsafe {
        if *nulls {
            return;
        }
        let build = &mut *state.cast::<Bm25Build<'_>>();
        value::with_document(*values, row_of(row), |document| build.builder.add(document))
            .and_then(|()| build.reserve.look())
            .or_report();
        build.added += 1;
        progress(pg_sys::PROGRESS_CREATEIDX_TUPLES_DONE, build.added);
    }
}
