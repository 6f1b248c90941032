//! `rag_summary`.

use pgrx::prelude::*;

use crate::pg::question::document_summary::{self, SummaryLine};
use crate::pg::server::error::OrReport;

type SummaryRow = (i32, String, Option<i64>, Option<i32>, Option<i32>, Option<i32>);

#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)]
fn rag_summary(
    source_key: Option<&str>,
    pipeline: Option<&str>,
) -> TableIterator<
    'static,
    (
        name!(no, i32),
        name!(content, String),
        name!(chunk_id, Option<i64>),
        name!(chunk_no, Option<i32>),
        name!(start_char, Option<i32>),
        name!(end_char, Option<i32>),
    ),
> {
    let lines = document_summary::lines(source_key, pipeline).or_report();
    TableIterator::new(lines.into_iter().map(row))
}

fn row(line: SummaryLine) -> SummaryRow {
    let SummaryLine { no, content, chunk_id, chunk_no, start_char, end_char } = line;
    (no as i32, content, chunk_id, chunk_no, start_char, end_char)
}
