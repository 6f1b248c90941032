//! The files in the archive.

use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use super::xml::{Xml, XmlTag};
use super::{NAME, damaged};
use crate::error::Result;
use crate::parse::{ParseLimits, beyond, encoding, unreadable};

/// A ZIP archive that is open for reading.
pub struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    /// Bytes that a file may have when it is unzipped.
    limit: usize,
}

impl<'a> Archive<'a> {
    /// Reads the list of files.
    pub fn open(document: &'a [u8], limit: usize) -> Result<Archive<'a>> {
        let zip = ZipArchive::new(Cursor::new(document)).map_err(cannot_read)?;
        Ok(Archive { zip, limit })
    }

    /// Whether there is a file called `name`.
    pub fn has(&self, name: &str) -> bool {
        self.zip.index_for_name(name).is_some()
    }

    /// Whether a file's name begins with `folder`.
    pub fn has_below(&self, folder: &str) -> bool {
        self.zip.file_names_raw().any(|name| name.starts_with(folder.as_bytes()))
    }

    /// The name of the file with the document's body: mostly, but not always,
    /// `word/document.xml`.
    pub fn main_document(&mut self) -> Result<String> {
        let usual = "word/document.xml".to_owned();
        let Some(relations) = self.read_if_there("_rels/.rels")? else { return Ok(usual) };
        let mut xml = Xml::new(&relations, ParseLimits::default().depth);
        while let Some(tag) = xml.next_tag()? {
            let XmlTag::Start(element) = tag else { continue };
            let kind = element.attribute("Type").unwrap_or_default();
            if element.name() == "Relationship" && kind.ends_with("/officeDocument") {
                let target = element.attribute("Target").unwrap_or_default();
                return Ok(target.trim_start_matches('/').to_owned());
            }
        }
        Ok(usual)
    }

    /// The text of the file called `name`, if it is there.
    ///
    /// What the archive says about the length is not believed: reading stops at the limit.
    pub fn read_if_there(&mut self, name: &str) -> Result<Option<String>> {
        let file = match self.zip.by_name(name) {
            Ok(file) => file,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(error) => return Err(cannot_read(error)),
        };
        let limit = self.limit;
        let mut bytes = Vec::new();
        file.take(limit as u64 + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| damaged(NAME, format!("\"{name}\": {error}")))?;
        if bytes.len() > limit {
            let message = format!("\"{name}\" in the document unzips to more than {limit} bytes");
            return Err(beyond(message));
        }
        encoding::decode(&bytes, None)
            .map(Some)
            .map_err(|_| damaged(NAME, format!("\"{name}\" is no text")))
    }
}

fn cannot_read(error: ZipError) -> crate::error::Error {
    match error {
        ZipError::InvalidPassword | ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => {
            unreadable("DOCX document is encrypted").hint("Save it without a password.")
        }
        other => damaged(NAME, other),
    }
}
