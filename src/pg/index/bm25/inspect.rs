//! `rag_bm25_check` and `rag_bm25_stats`: an index looked at from outside.

use pgrx::prelude::*;

use super::lock::StructureLock;
use crate::bm25::{IndexFigures, IndexProblem, check, figures};
use crate::error::Result;
use crate::pg::index::opened_index::OpenedIndex;
use crate::pg::server::error::OrReport;

fn opened(index: pg_sys::Oid) -> Result<OpenedIndex> {
    OpenedIndex::for_figures(index, c"rag_bm25")
}

/// Looks at everything, while no other session makes or drops segments.
fn problems(index: pg_sys::Oid) -> Result<Vec<IndexProblem>> {
    let index = opened(index)?;
    // SAFETY: the index is open until the end of this function.
    let _lock = unsafe { StructureLock::take(index.relation()) };
    check(&index.pages()).map(|(problems, _)| problems)
}

#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)]
fn rag_bm25_check(
    index: pg_sys::Oid,
) -> TableIterator<'static, (name!(problem, String), name!(block, i64), name!(detail, String))> {
    let problems = problems(index).or_report().into_iter();
    TableIterator::new(
        problems.map(|found| (found.problem.to_owned(), i64::from(found.block), found.detail)),
    )
}

#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)]
fn rag_bm25_stats(
    index: pg_sys::Oid,
) -> TableIterator<
    'static,
    (
        name!(documents, i64),
        name!(average_length, Option<f64>),
        name!(terms, i64),
        name!(segments, i32),
        name!(pending, i64),
        name!(pages, i64),
        name!(free_pages, i64),
    ),
> {
    let figures = opened(index).and_then(|index| figures(&index.pages()));
    TableIterator::once(stats(&figures.or_report()))
}

fn stats(figures: &IndexFigures) -> (i64, Option<f64>, i64, i32, i64, i64, i64) {
    let documents = figures.documents;
    let average = figures.total_length as f64 / documents as f64;
    (
        documents as i64,
        (documents > 0).then_some(average),
        figures.segments.iter().map(|segment| segment.terms as i64).sum(),
        figures.segments.len() as i32,
        figures.pending_documents as i64,
        i64::from(figures.pages),
        i64::from(figures.free_pages) + i64::from(figures.lost_pages),
    )
}
