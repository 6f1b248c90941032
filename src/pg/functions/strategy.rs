//! `rag.strategies`, which `rag.strategy` shows.

use pgrx::prelude::*;

use crate::answer::strategy;

#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)]
fn strategies() -> TableIterator<
    'static,
    (
        name!(name, &'static str),
        name!(description, &'static str),
        name!(calls, &'static str),
        name!(options, Vec<&'static str>),
    ),
> {
    let rows = strategy::ALL.into_iter().map(|it| {
        let options = ["budget"].iter().chain(it.options).copied().collect();
        (it.name, it.description, it.calls, options)
    });
    TableIterator::new(rows)
}
