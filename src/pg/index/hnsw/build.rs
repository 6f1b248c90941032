//! The callbacks of CREATE INDEX.
//!
//! The vectors are read by the session, and linked by threads of its own (`build_threads`),
//! in memory (`build_memory`).

use std::ffi::{c_char, c_void};

use pgrx::prelude::*;

use super::build_memory::BuildMemory;
use super::build_threads::Threads;
use super::filter::{self, FilterColumn};
use super::insert::{RowValues, chance, row_of};
use super::{opclass, options};
use crate::error::{Error, ErrorKind, Result};
use crate::hnsw::build::{GraphBuilder, bytes_of_a_node, layer_by_chance};
use crate::hnsw::page::{IndexShape, NodeState, RowId, VectorColumn};
use crate::hnsw::space::Space;
use crate::hnsw::write_out::write_out;
use crate::pg::index::new_pages::PageWriter;
use crate::pg::server::error::OrReport;
use crate::pg::server::raised::as_raised;
use crate::pg::server::reserve::Reserve;

/// The phases, as pg_stat_progress_create_index numbers them.
#[derive(Clone, Copy)]
enum HnswPhase {
    Load = 2,
    Link = 3,
    Write = 4,
}

/// The name of a phase; 1 is PostgreSQL's own "initializing".
#[pg_guard]
pub unsafe extern "C-unwind" fn ambuildphasename(phase: i64) -> *mut c_char {
    let name = match phase {
        1 => c"initializing",
        2 => c"loading and linking tuples",
        3 => c"linking tuples",
        4 => c"writing pages",
        _ => return std::ptr::null_mut(),
    };
    name.as_ptr().cast_mut()
}

fn enter(phase: HnswPhase) {
    progress(pg_sys::PROGRESS_CREATEIDX_SUBPHASE, phase as i64);
}

fn progress(parameter: u32, value: i64) {
    // SAFETY: sets a number in this session's entry.
    unsafe { pg_sys::pgstat_progress_update_param(parameter as i32, value) };
}

/// What an index is to hold.
#[derive(Clone, Copy)]
struct IndexPlan {
    column: VectorColumn,
    /// The shape of the index on its pages.
    shape: IndexShape,
    /// The shape of the graph in memory.
    build_shape: IndexShape,
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
        let plan = plan(index).or_report();
        let built = as_raised(None, || build(table, index, info, plan));
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
    unsafe {
        let plan = plan(index).or_report();
        let (builder, mut memory) = (GraphBuilder::new(plan.build_shape), BuildMemory::new(0));
        builder.complete(&mut memory).or_report();
        let writer = PageWriter::new(index, pg_sys::ForkNumber::INIT_FORKNUM);
        write_out(plan.column, plan.shape, &builder, &[], &mut || (), &mut |page| {
            writer.push(page)
        })
        .or_report();
        writer.log();
    }
}

/// # Safety
///
/// `index` is an open index of ours.
unsafe fn plan(index: pg_sys::Relation) -> Result<IndexPlan> {
    // SAFETY: by this function's contract.
    unsafe {
        let (column, metric) = opclass::of_index(index)?;
        let dimensions = dimensions(index)?;
        let chosen = options::chosen(index)?;
        let storage = chosen.storage(metric, dimensions)?;
        let space = Space { metric, storage, dimensions };
        let filters = filter::widths(&filter::columns(index)?)?;
        let mut shape = IndexShape::new(space, chosen.degree, filters)?;
        if chosen.has_residuals(&space, value_bytes(column, dimensions), may_toast(index))? {
            shape = shape.with_residuals();
        }
        let build_shape = shape.for_build();
        Ok(IndexPlan { column, shape, build_shape })
    }
}

/// Bytes of a vector in the table.
fn value_bytes(column: VectorColumn, dimensions: u32) -> u32 {
    match column {
        VectorColumn::Vector => 8 + 4 * dimensions,
        VectorColumn::HalfVector => 8 + 2 * dimensions,
        VectorColumn::Bit => 8 + dimensions.div_ceil(8),
    }
}

/// Whether PostgreSQL may move long values of the index's first column to TOAST.
///
/// # Safety
///
/// `index` is open.
unsafe fn may_toast(index: pg_sys::Relation) -> bool {
    // SAFETY: by this function's contract; an index has a column, with the storage of the table's.
    let storage = unsafe {
        let tuples = pgrx::PgTupleDesc::from_pg_unchecked((*index).rd_att);
        tuples.get(0).map(|it| it.attstorage as u8)
    };
    storage.is_some_and(|it| matches!(it, b'e' | b'x'))
}

/// # Safety
///
/// `index` is open.
unsafe fn dimensions(index: pg_sys::Relation) -> Result<u32> {
    // SAFETY: by this function's contract; an index has a column. A domain has the dimensions of what it is over.
    let (modifier, type_oid) = unsafe {
        let tuples = pgrx::PgTupleDesc::from_pg_unchecked((*index).rd_att);
        tuples.get(0).map_or((-1, pg_sys::InvalidOid), |it| {
            let mut modifier = it.type_mod();
            let base = pg_sys::getBaseTypeAndTypmod(it.atttypid, &mut modifier);
            (modifier, base)
        })
    };
    if type_oid == pg_sys::VARBITOID {
        let message = "column of the type varbit has values of more than one length";
        return Err(Error::new(ErrorKind::Unsupported, message)
            .hint("Use the type bit, or index an expression like (code::bit(64))."));
    }
    match u32::try_from(modifier) {
        Ok(dimensions) if dimensions > 0 => Ok(dimensions),
        _ => Err(Error::invalid("column does not have dimensions")
            .hint("Say how many: ALTER TABLE ... ALTER COLUMN ... TYPE vector(384), or index an expression like (embedding::vector(384)).")),
    }
}

/// A build under way, as the callback of the table's scan sees it.
struct HnswBuild<'a> {
    index: pg_sys::Relation,
    plan: IndexPlan,
    columns: Vec<FilterColumn>,
    builder: &'a GraphBuilder<BuildMemory>,
    memory: BuildMemory,
    threads: &'a mut Threads,
    reserve: Reserve,
    loose: Vec<(RowId, NodeState)>,
    index_tuples: f64,
}

/// # Safety
///
/// As for [`ambuild`].
unsafe fn build(
    table: pg_sys::Relation,
    index: pg_sys::Relation,
    info: *mut pg_sys::IndexInfo,
    plan: IndexPlan,
) -> Result<(f64, f64)> {
    // SAFETY: by this function's contract. The callback gets `build` for as long as the scan
    // of the table lasts.
    unsafe {
        let expected = expected_rows(table, &plan.shape.space);
        warn_of_little_memory(&plan.build_shape, expected);
        // Before threads are started, which would take it as room of their own.
        let reserve = Reserve::take()?;
        let builder = std::sync::Arc::new(GraphBuilder::new(plan.build_shape));
        let mut threads = Threads::start(&builder, expected);
        let mut build = HnswBuild {
            index,
            plan,
            columns: filter::columns(index)?,
            builder: &builder,
            memory: BuildMemory::new(allowed_bytes()),
            threads: &mut threads,
            reserve,
            loose: Vec::new(),
            index_tuples: 0.0,
        };
        enter(HnswPhase::Load);
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
        build.write_out()?;
        let index_tuples = build.index_tuples;
        PageWriter::new(index, pg_sys::ForkNumber::MAIN_FORKNUM).log();
        Ok((heap_tuples, index_tuples))
    }
}

/// `maintenance_work_mem`, in bytes.
fn allowed_bytes() -> usize {
    // SAFETY: a plain setting, in kB.
    unsafe { pg_sys::maintenance_work_mem as usize * 1024 }
}

/// # Safety
///
/// `table` is open.
unsafe fn expected_rows(table: pg_sys::Relation, space: &Space) -> f64 {
    // SAFETY: by this function's contract.
    unsafe {
        let (mut pages, mut rows, mut visible) = (0, 0.0, 0.0);
        pg_sys::estimate_rel_size(table, std::ptr::null_mut(), &mut pages, &mut rows, &mut visible);
        // Before the table has been analysed PostgreSQL takes a vector for a few bytes. What is
        // stored apart in TOAST does not count in the table's own pages.
        let bytes = 4.0 * f64::from(space.dimensions);
        let is_apart = bytes > f64::from(pg_sys::BLCKSZ) / 4.0;
        let most = f64::from(pages) * f64::from(pg_sys::BLCKSZ) / bytes;
        if is_apart || space.metric.is_of_bits() { rows } else { rows.min(most) }
    }
}

fn warn_of_little_memory(shape: &IndexShape, expected: f64) {
    let needed = expected * bytes_of_a_node(shape) as f64;
    if needed > allowed_bytes() as f64 {
        let megabytes = (needed * 1.1 / f64::from(1 << 20)).ceil();
        ereport!(
            NOTICE,
            PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION,
            format!(
                "a graph of about {expected:.0} vectors does not fit into maintenance_work_mem, a temporary file takes the rest"
            ),
            format!("With maintenance_work_mem = '{megabytes:.0}MB' all of it is in memory.")
        );
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
    // SAFETY: the state is the build that started the scan; values are of the index's columns.
    unsafe {
        let build = &mut *state.cast::<HnswBuild<'_>>();
        build.add(values, nulls, row_of(row)).or_report();
        build.index_tuples += 1.0;
    }
}

impl HnswBuild<'_> {
    /// # Safety
    ///
    /// There is a value for each column of the index, of the column's type.
    unsafe fn add(
        &mut self,
        values: *const pg_sys::Datum,
        nulls: *const bool,
        row: RowId,
    ) -> Result<()> {
        let given = RowValues { columns: &self.columns, values, nulls };
        let IndexPlan { column, build_shape, .. } = self.plan;
        // SAFETY: by this function's contract.
        let item = match unsafe { given.encode(row, column, &build_shape)? } {
            Ok(item) => item,
            Err(state) => {
                self.loose.push((row, state));
                return Ok(());
            }
        };
        let layer = layer_by_chance(chance()?, build_shape.degree.m);
        self.builder.add(&item, layer, &mut self.memory)?;
        self.reserve.look()?;
        progress(pg_sys::PROGRESS_CREATEIDX_TUPLES_DONE, i64::from(self.builder.linked()));
        Ok(())
    }

    /// Links what is left to be linked, and writes the pages.
    fn write_out(&mut self) -> Result<()> {
        enter(HnswPhase::Link);
        self.builder.complete(&mut self.memory)?;
        self.threads.finish(self.builder, &mut |linked| {
            progress(pg_sys::PROGRESS_CREATEIDX_TUPLES_DONE, i64::from(linked));
            check_for_interrupts!();
            self.reserve.look().or_report();
        })?;
        enter(HnswPhase::Write);
        let pause = &mut || {
            check_for_interrupts!();
            self.reserve.look().or_report();
        };
        self.builder.adopt(pause);
        // SAFETY: the index is open and empty.
        let writer = unsafe { PageWriter::new(self.index, pg_sys::ForkNumber::MAIN_FORKNUM) };
        let IndexPlan { column, shape, .. } = self.plan;
        write_out(column, shape, self.builder, &self.loose, pause, &mut |page| {
            check_for_interrupts!();
            self.reserve.look()?;
            writer.push(page)
        })
    }
}
