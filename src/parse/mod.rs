//! # parse: what does this document say?
//!
//! ```text
//! (bytes, MIME type or none, options, limits) → parts: Markdown-like text
//! ```
//!
//! [`format`] finds out what the bytes are, one file a format reads them, and `writer` puts
//! what was read into Markdown: headings as `# ...`, lists with their markers, tables with
//! bars. So the chunking method `markdown` finds in a PDF what it finds in a README.
//!
//! A part is what a citation can point at:
//!
//! * of a PDF, a page: there is one part a page, also where the page has no text;
//! * of Markdown, HTML and DOCX, a section under a heading of the highest level in use, and
//!   the text before the first one;
//! * of plain text, all of it.
//!
//! Parts stand in the order of the document and lose nothing between them. A section keeps
//! its heading as its first line. Where the document has a single heading of the highest
//! level, its title, there is a single part: the chunks inside have their own paths.
//!
//! The documents are not trusted. Each limit of [`ParseLimits`] is held while reading, nesting is walked
//! with bounded stacks, entities are not expanded, and a library that panics becomes an error. What
//! can't be bounded here, time and memory inside the libraries, is the business of the process in
//! which ragd runs this.

#[cfg(feature = "parse")]
mod docx;
#[cfg(feature = "parse")]
mod encoding;
#[cfg(feature = "parse")]
mod format;
#[cfg(feature = "parse")]
mod html;
#[cfg(feature = "parse")]
mod markdown;
#[cfg(feature = "parse")]
mod pdf;
#[cfg(feature = "parse")]
mod section;
#[cfg(feature = "parse")]
mod writer;

#[cfg(all(test, feature = "parse"))]
mod tests;

use serde::{Deserialize, Serialize};

#[cfg(feature = "parse")]
use crate::error::Result;
use crate::error::{Error, ErrorKind};
#[cfg(feature = "parse")]
use format::Format;

/// One page or section of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The page, counted from 1; `None` where the format has no pages.
    pub page: Option<u32>,
    /// The heading under which the part begins, else the document's title.
    pub heading: Option<String>,
    /// Markdown-like text. Line ends are `\n`; there are no other control characters but
    /// tabs in plain text.
    pub content: String,
}

/// What the caller knows about a document, or wants of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParseOptions {
    /// The encoding of text and HTML, by a name of the WHATWG's; `None`: found out.
    pub encoding: Option<String>,
    /// The first page wanted of a PDF, counted from 1.
    pub first_page: Option<u32>,
    /// The last page wanted of a PDF; a document may have fewer.
    pub last_page: Option<u32>,
}

/// How much a document may be, and may become.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParseLimits {
    /// Bytes of the document.
    pub document: usize,
    /// Bytes of text in all its parts.
    pub text: usize,
    /// Bytes of one unzipped file inside the document.
    pub unzipped: usize,
    /// Pages of a document.
    pub pages: usize,
    /// Levels of elements inside elements.
    pub depth: usize,
}

impl Default for ParseLimits {
    fn default() -> ParseLimits {
        ParseLimits {
            document: 256 << 20,
            text: 128 << 20,
            unzipped: 256 << 20,
            pages: 10_000,
            depth: 512,
        }
    }
}

impl ParseLimits {
    /// Fails with [`ErrorKind::DocumentLimit`] if a document of `size` bytes is too long.
    pub fn check_document(&self, size: usize) -> crate::error::Result<()> {
        if size <= self.document {
            return Ok(());
        }
        let limit = self.document;
        Err(beyond(format!("document has {size} bytes, the limit is {limit}")))
    }
}

/// Reads `document`.
///
/// A document without any text has no parts, but for PDF, which has its pages. Fails with
/// [`ErrorKind::InvalidParameter`] if `mime` is unknown or contradicts the bytes, or an option
/// is wrong; with [`ErrorKind::DocumentUnreadable`] if the document is damaged, encrypted or of
/// a format that isn't read; and with [`ErrorKind::DocumentLimit`] if a limit is reached.
#[cfg(feature = "parse")]
pub fn parse(
    document: &[u8],
    mime: Option<&str>,
    options: &ParseOptions,
    limits: &ParseLimits,
) -> Result<Vec<Part>> {
    limits.check_document(document.len())?;
    let read = || read(document, mime, options, limits);
    let parts = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(gave_up()))?;
    let length = parts.iter().map(|part| part.content.len()).sum();
    check_text(length, limits)?;
    Ok(parts)
}

#[cfg(feature = "parse")]
fn read(
    document: &[u8],
    mime: Option<&str>,
    options: &ParseOptions,
    limits: &ParseLimits,
) -> Result<Vec<Part>> {
    let found = format::find(document, mime, options.encoding.as_deref())?;
    let pages = page_range(options, found.format)?;
    match found.format {
        Format::Text => Ok(section::whole(&found.text)),
        Format::Markdown => Ok(markdown::parse(&found.text)),
        Format::Html => html::parse(&found.text, limits),
        Format::Docx => docx::parse(document, limits),
        Format::Pdf => pdf::parse(document, pages, limits),
    }
}

/// The pages wanted, from and to, counted from 0; all of them where nothing is said.
#[cfg(feature = "parse")]
fn page_range(options: &ParseOptions, format: Format) -> Result<std::ops::Range<usize>> {
    let wanted = options.first_page.is_some() || options.last_page.is_some();
    if wanted && format != Format::Pdf {
        let message = "options first_page and last_page apply to PDF, and this document is not one";
        return Err(Error::invalid(message));
    }
    let first = options.first_page.unwrap_or(1) as usize;
    let last = options.last_page.map_or(usize::MAX, |page| page as usize);
    if first == 0 || last < first {
        return Err(Error::invalid(format!("there are no pages from {first} to {last}"))
            .hint("Pages are counted from 1."));
    }
    Ok(first - 1..last)
}

/// Fails if `length` bytes are more text than there may be.
#[cfg(feature = "parse")]
fn check_text(length: usize, limits: &ParseLimits) -> Result<()> {
    if length <= limits.text {
        return Ok(());
    }
    let limit = limits.text;
    Err(beyond(format!("document has more than the limit of {limit} bytes of text")))
}

/// The document can't be read, and never will be as it is.
#[cfg(feature = "parse")]
fn unreadable(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::DocumentUnreadable, message)
}

/// A library panicked, as none should.
#[cfg(feature = "parse")]
fn gave_up() -> Error {
    unreadable("document is damaged: its parser gave up")
        .hint("Open it in the program that made it and save it again.")
}

/// The document is no longer what its program wrote.
#[cfg(feature = "parse")]
fn damaged(format: &str, why: impl std::fmt::Display) -> Error {
    unreadable(format!("{format} document is damaged: {why}"))
        .hint("Open it in the program that made it and save it again.")
}

/// Elements are nested more than `limit` deep.
#[cfg(feature = "parse")]
fn too_deep(limit: usize) -> Error {
    beyond(format!("elements are nested more than {limit} deep"))
        .hint("Open the document in the program that made it and save it again.")
}

/// The document is more than it may be.
fn beyond(message: String) -> Error {
    Error::new(ErrorKind::DocumentLimit, message).hint("Split the document.")
}
