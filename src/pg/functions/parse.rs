//! `rag_parse`.

use pgrx::prelude::*;
use serde::Deserialize;

use crate::parse::{ParseOptions, Part};
use crate::pg::ragd::parse::RemoteParser;
use crate::pg::server::error::OrReport;
use crate::pg::server::json::Jsonb;
use crate::pg::server::options;

type ParseRow = (i32, Option<i32>, Option<String>, String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ParseArguments {
    /// The encoding of text and HTML.
    encoding: Option<String>,
    /// The first page wanted.
    first_page: Option<u32>,
    /// The last page wanted.
    last_page: Option<u32>,
}

#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)]
fn rag_parse(
    document: Option<Vec<u8>>,
    mime: Option<String>,
    options: Option<Jsonb>,
) -> TableIterator<
    'static,
    (
        name!(part_no, i32),
        name!(page, Option<i32>),
        name!(heading, Option<String>),
        name!(content, String),
    ),
> {
    let options: ParseArguments = options::read(options).or_report();
    let ParseArguments { encoding, first_page, last_page } = options;
    let options = ParseOptions { encoding, first_page, last_page };
    let parser = RemoteParser { mime, options, keeps_pages: false };
    let parts = document.map_or(Ok(Vec::new()), |bytes| parser.parse_one(bytes)).or_report();
    TableIterator::new(parts.into_iter().enumerate().map(row))
}

fn row((number, part): (usize, Part)) -> ParseRow {
    (number as i32, part.page.map(|page| page as i32), part.heading, part.content)
}
