//! DOCX: a zip archive with the document's body, its styles and its lists in XML.
//!
//! ```text
//! archive.rs  the files inside        styles.rs  which style is a heading, which a list
//! xml.rs      elements as events      body.rs    paragraphs, lists and tables, in order
//! ```
//!
//! Text that was deleted under change tracking, hidden text, field codes, comments, headers
//! and footers are left out; footnotes follow the paragraph that refers to them.

mod archive;
mod body;
mod styles;
mod xml;

#[cfg(test)]
mod tests;

use super::writer::MarkdownWriter;
use super::{ParseLimits, Part, check_text, damaged};
use crate::error::Result;
use archive::Archive;
use body::{Body, FootNotes};
use styles::Styles;

/// What damaged documents are called in messages.
const NAME: &str = "DOCX";

/// Whether the archive, whole or not, has the parts of a text document.
pub fn is_docx(document: &[u8]) -> bool {
    match Archive::open(document, usize::MAX) {
        Ok(archive) => archive.has("[Content_Types].xml") && archive.has_below("word/"),
        Err(_) => {
            // The names of a zip's files also stand before each of them.
            let name = b"word/document.xml";
            document.windows(name.len()).any(|window| window == name)
        }
    }
}

/// Reads a DOCX document into its parts.
pub fn parse(document: &[u8], limits: &ParseLimits) -> Result<Vec<Part>> {
    let mut archive = Archive::open(document, limits.unzipped)?;
    let main = archive.main_document()?;
    let folder = main.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let mut beside = |name: &str| archive.read_if_there(&format!("{folder}/{name}"));
    let styles = Styles::read(&beside("styles.xml")?, &beside("numbering.xml")?, limits)?;
    let mut notes = FootNotes::default();
    for name in ["footnotes.xml", "endnotes.xml"] {
        notes.read(&beside(name)?, &styles, limits)?;
    }
    let text = archive
        .read_if_there(&main)?
        .ok_or_else(|| damaged(NAME, format!("there is no \"{main}\" in it")))?;
    let mut writer = MarkdownWriter::new(limits.text);
    Body::new(&styles, &notes, &mut writer).read(&text, limits)?;
    if writer.is_full() {
        check_text(usize::MAX, limits)?;
    }
    Ok(writer.into_parts(None))
}
