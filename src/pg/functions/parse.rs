//! `rag_parse`.

use pgrx::prelude::*;
use serde::Deserialize;

use super::options;
use crate::chunk::FORM_FEED;
use crate::error::Result;
use crate::parse::{Limits, ParseOptions, Part};
use crate::pg::error::{OrReport, unexpected};
use crate::pg::json::Jsonb;
use crate::pg::{client, guc};
use crate::pipeline::{File, Reader};
use crate::protocol::{Document, ParseOutcome, Request, Response};

type Row = (i32, Option<i32>, Option<String>, String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
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
    let options: Options = options::read(options).or_report();
    let Options { encoding, first_page, last_page } = options;
    let options = ParseOptions { encoding, first_page, last_page };
    let parser = RemoteParser { mime, options, keeps_pages: false };
    let parts = document.map_or(Ok(Vec::new()), |bytes| parser.parse_one(bytes)).or_report();
    TableIterator::new(parts.into_iter().enumerate().map(row))
}

fn row((number, part): (usize, Part)) -> Row {
    (number as i32, part.page.map(|page| page as i32), part.heading, part.content)
}

/// Has ragd read documents.
#[derive(Default)]
pub struct RemoteParser {
    /// The documents' MIME type; `None`: found out from the bytes of each, or known of it.
    pub mime: Option<String>,
    /// How they are read.
    pub options: ParseOptions,
    /// Whether the pages of a document can be told apart in its text.
    pub keeps_pages: bool,
}

/// A file that can't be read is an error of the whole request: its row has to be found.
impl Reader for RemoteParser {
    fn read(&mut self, files: Vec<File>) -> Result<Vec<String>> {
        let documents = files.into_iter().map(|file| Document {
            bytes: file.bytes,
            mime: file.mime.map(str::to_owned).or_else(|| self.mime.clone()),
        });
        let outcomes = self.parse(documents.collect())?.into_iter();
        outcomes.map(|parts| Ok(self.joined(parts?))).collect()
    }
}

impl RemoteParser {
    /// Parts as one text. A page that has no text is a page all the same.
    fn joined(&self, parts: Vec<Part>) -> String {
        let by_page = self.keeps_pages && parts.iter().all(|part| part.page.is_some());
        let texts = parts.into_iter().map(|part| part.content);
        let texts: Vec<String> = texts.filter(|text| by_page || !text.is_empty()).collect();
        match by_page {
            true => texts.join(&format!("\n{FORM_FEED}")),
            false => texts.join("\n\n"),
        }
    }

    /// Reads `documents` in one request, each within `rag.parse_timeout`.
    ///
    /// A document that can't be read is an inner error, and the others are read all the same.
    /// Fails as a whole where ragd can't be asked, or all together are too long for a request.
    pub fn parse(&self, documents: Vec<Document>) -> Result<Vec<ParseOutcome>> {
        let count = documents.len();
        let request = Request::Parse {
            documents,
            options: self.options.clone(),
            timeout_ms: guc::parse_timeout().as_millis() as u64,
        };
        match client::call(&request)? {
            Response::Parts(outcomes) if outcomes.len() == count => Ok(outcomes),
            other => Err(unexpected(&other)),
        }
    }

    /// Reads one document. One that is too long is not sent at all.
    pub fn parse_one(&self, document: Vec<u8>) -> Result<Vec<Part>> {
        Limits::default().check_document(document.len())?;
        // One document has one outcome; parse() has made sure of that.
        let document = Document { bytes: document, mime: self.mime.clone() };
        self.parse(vec![document])?.pop().unwrap_or(Ok(Vec::new()))
    }
}
