//! `rag_hnsw_check`, `rag_hnsw_stats`, `rag_hnsw_prewarm`: an index looked at from outside.

use pgrx::prelude::*;

use crate::error::Result;
use crate::hnsw::build::bytes_of_a_node;
use crate::hnsw::check::{GraphFigures, check};
use crate::hnsw::page::HnswPageKind;
use crate::hnsw::slots::read_meta;
use crate::pages::Store;
use crate::pg::index::opened_index::OpenedIndex;
use crate::pg::index::pages::Pages;
use crate::pg::server::error::OrReport;

fn opened(index: pg_sys::Oid) -> Result<OpenedIndex> {
    OpenedIndex::for_figures(index, c"rag_hnsw")
}

#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)]
fn rag_hnsw_check(
    index: pg_sys::Oid,
) -> TableIterator<
    'static,
    (name!(problem, String), name!(block, i64), name!(slot, i32), name!(detail, String)),
> {
    let (problems, _) = opened(index).and_then(|index| check(&index.pages())).or_report();
    TableIterator::new(problems.into_iter().map(|found| {
        (found.problem.to_owned(), i64::from(found.block), found.slot as i32, found.detail)
    }))
}

#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)]
fn rag_hnsw_stats(
    index: pg_sys::Oid,
) -> TableIterator<
    'static,
    (
        name!(rows, i64),
        name!(dead, i64),
        name!(free, i64),
        name!(layers, Vec<i64>),
        name!(degrees, Vec<i64>),
        name!(storage, String),
        name!(dimensions, i32),
        name!(m, i32),
        name!(ef_construction, i32),
        name!(ground_bytes, i64),
        name!(link_bytes, i64),
        name!(upper_bytes, i64),
        name!(loose_bytes, i64),
        name!(filter_bytes, i64),
        name!(residual_bytes, i64),
        name!(build_memory, i64),
    ),
> {
    TableIterator::once(stats(index).or_report())
}

type Stats =
    (i64, i64, i64, Vec<i64>, Vec<i64>, String, i32, i32, i32, i64, i64, i64, i64, i64, i64, i64);

fn stats(index: pg_sys::Oid) -> Result<Stats> {
    let index = opened(index)?;
    let pages = index.pages();
    let shape = read_meta(&pages)?.shape;
    let (_, figures) = check(&pages)?;
    let GraphFigures { live, dead, loose, free, .. } = figures;
    let signed = |numbers: Vec<u64>| numbers.into_iter().map(|number| number as i64).collect();
    let bytes =
        |kind: HnswPageKind| (figures.pages[kind as usize] * u64::from(pg_sys::BLCKSZ)) as i64;
    Ok((
        (live + loose) as i64,
        dead as i64,
        free[HnswPageKind::Ground as usize] as i64,
        signed(figures.layers.clone()),
        signed(figures.degrees.clone()),
        shape.space.storage.name().to_owned(),
        shape.space.dimensions as i32,
        i32::from(shape.degree.m),
        i32::from(shape.degree.ef_construction),
        bytes(HnswPageKind::Ground),
        bytes(HnswPageKind::Links),
        bytes(HnswPageKind::Upper),
        bytes(HnswPageKind::Loose),
        bytes(HnswPageKind::Column),
        bytes(HnswPageKind::Residuals),
        (live * bytes_of_a_node(&shape.for_build()) as u64) as i64,
    ))
}

#[pg_extern(sql = false)]
fn rag_hnsw_prewarm(index: pg_sys::Oid) -> i64 {
    // How many pages there are, every role can see.
    OpenedIndex::new(index, c"rag_hnsw").and_then(|index| prewarm(&index.pages())).or_report()
}

fn prewarm(pages: &Pages) -> Result<i64> {
    let blocks = pages.blocks()?;
    for block in 0..blocks {
        pages.interrupted()?;
        pages.prefetch((block + 8).min(blocks - 1), 0, 0);
        pages.read(block, |_| ())?;
    }
    Ok(i64::from(blocks))
}
