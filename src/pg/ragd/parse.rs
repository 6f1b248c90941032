//! Documents read by ragd.

use super::client;
use crate::chunk::FORM_FEED;
use crate::error::Result;
use crate::parse::{ParseLimits, ParseOptions, Part};
use crate::pg::server::error::unexpected;
use crate::pg::server::guc;
use crate::pipeline::{File, FileReader};
use crate::protocol::{FileDocument, ParseOutcome, Request, Response};

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

impl FileReader for RemoteParser {
    fn read(&mut self, files: Vec<File>) -> Result<Vec<Result<String>>> {
        let documents = files.into_iter().map(|file| FileDocument {
            bytes: file.bytes,
            mime: file.mime.map(str::to_owned).or_else(|| self.mime.clone()),
        });
        let outcomes = self.parse(documents.collect())?.into_iter();
        Ok(outcomes.map(|parts| parts.map(|parts| self.joined(parts))).collect())
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
    pub fn parse(&self, documents: Vec<FileDocument>) -> Result<Vec<ParseOutcome>> {
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
        ParseLimits::default().check_document(document.len())?;
        // One document has one outcome; parse() has made sure of that.
        let document = FileDocument { bytes: document, mime: self.mime.clone() };
        self.parse(vec![document])?.pop().unwrap_or(Ok(Vec::new()))
    }
}
