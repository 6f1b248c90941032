//! Which format is this? By its name, by its first bytes, by what is in the archive.

use super::encoding;
use super::unreadable;
use crate::error::{Error, Result};
use crate::text::format::TextFormat;

/// The formats that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Markdown,
    Html,
    Pdf,
    Docx,
}

/// Each format's MIME types; the first one is what messages say.
const TYPES: &[(Format, &[&str])] = &[
    (Format::Text, &["text/plain"]),
    (Format::Markdown, &["text/markdown", "text/x-markdown"]),
    (Format::Html, &["text/html", "application/xhtml+xml"]),
    (Format::Pdf, &["application/pdf", "application/x-pdf"]),
    (Format::Docx, &["application/vnd.openxmlformats-officedocument.wordprocessingml.document"]),
];

/// A document whose format is known.
#[derive(Debug)]
pub struct DetectedFormat {
    /// The format of the document.
    pub format: Format,
    /// The document as text; empty where the format is a binary one.
    pub text: String,
}

/// What bytes are that aren't text.
enum Binary {
    Known(Format),
    Other(&'static str),
}

/// Finds out what `document` is.
///
/// `mime` decides between formats of text, which can't be told apart with certainty, and must
/// agree with the bytes otherwise. An encoding is taken from `charset`, from a parameter of
/// `mime`, or found.
pub fn find(document: &[u8], mime: Option<&str>, charset: Option<&str>) -> Result<DetectedFormat> {
    let named = mime.map(named).transpose()?;
    let declared = charset.map(str::to_owned).or_else(|| mime.and_then(charset_of));
    let declared = declared.as_deref().map(encoding::by_label).transpose()?;
    match (binary(document), named) {
        (Some(Binary::Known(found)), None) => {
            Ok(DetectedFormat { format: found, text: String::new() })
        }
        (Some(Binary::Known(found)), Some(named)) if found == named => {
            Ok(DetectedFormat { format: found, text: String::new() })
        }
        (Some(Binary::Known(found)), Some(named)) => Err(contradiction(name(found), named)),
        (Some(Binary::Other(found)), Some(named)) => Err(contradiction(found, named)),
        (Some(Binary::Other(found)), None) => Err(not_read(found)),
        (None, Some(named @ (Format::Pdf | Format::Docx))) => {
            Err(contradiction("something else", named))
        }
        (None, named) => {
            let text = encoding::decode(document, declared)?;
            let format = named.unwrap_or_else(|| of_text(&text));
            Ok(DetectedFormat { format, text })
        }
    }
}

/// The format that `mime` names; parameters and case don't matter.
fn named(mime: &str) -> Result<Format> {
    let bare = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    TYPES
        .iter()
        .find(|(_, types)| types.contains(&&*bare))
        .map(|(format, _)| *format)
        .ok_or_else(|| Error::invalid(format!("unknown document type \"{mime}\"")).hint(known()))
}

/// The value of the parameter `charset`.
fn charset_of(mime: &str) -> Option<String> {
    let parameters = mime.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    let mut charsets = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    charsets.next().map(|(_, value)| value.trim().trim_matches(['"', '\'']).to_owned())
}

fn name(format: Format) -> &'static str {
    TYPES.iter().find(|(known, _)| *known == format).map_or("", |(_, types)| types[0])
}

fn known() -> String {
    let names: Vec<&str> = TYPES.iter().map(|(_, types)| types[0]).collect();
    format!("The types are {}.", names.join(", "))
}

fn contradiction(found: &str, named: Format) -> Error {
    let named = name(named);
    Error::invalid(format!("document is not {named} but {found}"))
        .hint("Leave mime out, or give the type that the document has.")
}

fn not_read(found: &str) -> Error {
    let error = unreadable(format!("document is {found}, which cannot be parsed"));
    if found == OLE {
        return error.hint(
            "A DOCX with a password is one, and so is a DOC; save it as DOCX without a password.",
        );
    }
    error.hint(known())
}

/// Compound files of Microsoft's, in which everything can be.
const OLE: &str = "application/x-ole-storage";

/// What the bytes are, if their beginning says that they aren't text.
fn binary(document: &[u8]) -> Option<Binary> {
    if is_pdf(document) {
        return Some(Binary::Known(Format::Pdf));
    }
    if document.starts_with(b"PK\x03\x04") || document.starts_with(b"PK\x05\x06") {
        let is_docx = super::docx::is_docx(document);
        let docx = Binary::Known(Format::Docx);
        return Some(if is_docx { docx } else { Binary::Other("application/zip") });
    }
    if document.starts_with(&[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]) {
        return Some(Binary::Other(OLE));
    }
    let kind = infer::get(document)?;
    let is_text = kind.matcher_type() == infer::MatcherType::Text;
    (!is_text && !encoding::is_utf8_text(document)).then(|| Binary::Other(kind.mime_type()))
}

/// `%PDF-` at the beginning; or near it, as the specification's readers allow, if the end is
/// that of a PDF too.
fn is_pdf(document: &[u8]) -> bool {
    let head = &document[..document.len().min(1024)];
    let tail = &document[document.len().saturating_sub(2048)..];
    let has = |bytes: &[u8], word: &[u8]| bytes.windows(word.len()).any(|window| window == word);
    head.trim_ascii_start().starts_with(b"%PDF-")
        || has(head, b"%PDF-") && has(tail, b"startxref") && has(tail, b"%%EOF")
}

/// Text, Markdown or HTML? Source code is text.
fn of_text(text: &str) -> Format {
    match TextFormat::of(text) {
        TextFormat::Html => Format::Html,
        TextFormat::Markdown => Format::Markdown,
        TextFormat::Prose | TextFormat::Code => Format::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn check(document: &[u8], expected: Format) {
        assert_eq!(find(document, None, None).unwrap().format, expected);
        assert_eq!(find(document, Some(name(expected)), None).unwrap().format, expected);
    }

    #[test]
    fn formats_of_text() {
        check(b"", Format::Text);
        check(b"Just words.", Format::Text);
        check(b"#!/bin/sh\n# a comment\necho", Format::Text);
        check(b"# one\n# two\nx = 1\n", Format::Text);
        check(b"# Title\n\nText", Format::Markdown);
        check(b"Intro\n\n## Part\n\nText", Format::Markdown);
        check(b"<p align=\"center\">x</p>\n\n# Title\n\nText", Format::Markdown);
        check(b"<!DOCTYPE html><title>x</title>", Format::Html);
        check(b"\xef\xbb\xbf <?xml version='1.0'?>\n<!-- c --><HTML>", Format::Html);
        check(b"<p>A piece</p>", Format::Html);
        check(b"<h1>x</h1>", Format::Html);
        check(b"a < b and <p>", Format::Text);
        check(b"<unknown>x</unknown>", Format::Text);
        check(
            "\u{feff}<html>"
                .encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect::<Vec<_>>()
                .as_slice(),
            Format::Html,
        );
    }

    #[test]
    fn formats_of_bytes() {
        assert_eq!(find(b"%PDF-1.4\n", None, None).unwrap().format, Format::Pdf);
        let late = [&b"junk\n%PDF-1.4\n"[..], b"startxref 0 %%EOF"].concat();
        assert_eq!(find(&late, None, None).unwrap().format, Format::Pdf);
        check(b"A file that begins with %PDF- is a PDF.", Format::Text);
    }

    #[test]
    fn names() {
        for name in ["TEXT/HTML", " text/html ; charset=utf-8", "application/xhtml+xml"] {
            assert_eq!(find(b"x", Some(name), None).unwrap().format, Format::Html);
        }
        assert_eq!(find(b"<html>", Some("text/plain"), None).unwrap().format, Format::Text);
        let found = find(b"\xe4", Some("text/plain; charset=\"ISO-8859-5\""), None).unwrap();
        assert_eq!(found.text, "ф");
        assert_eq!(find(b"\xe4", Some("text/plain"), Some("koi8-r")).unwrap().text, "Д");
    }

    fn check_error(document: &[u8], mime: Option<&str>, kind: ErrorKind, words: &str) {
        let error = find(document, mime, None).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains(words), "{error}");
        assert!(error.hint_text().is_some(), "{error}");
    }

    #[test]
    fn what_is_refused() {
        use ErrorKind::{DocumentUnreadable, InvalidParameter};
        check_error(b"x", Some("application/msword"), InvalidParameter, "\"application/msword\"");
        check_error(b"x", Some(""), InvalidParameter, "unknown document type \"\"");
        check_error(b"x", Some("application/pdf"), InvalidParameter, "not application/pdf");
        check_error(b"%PDF-1.7", Some("text/plain"), InvalidParameter, "but application/pdf");
        check_error(b"\x89PNG\r\n\x1a\n\0\0", Some("text/html"), InvalidParameter, "image/png");
        check_error(b"\x89PNG\r\n\x1a\n\0\0", None, DocumentUnreadable, "image/png");
        check_error(b"PK\x03\x04rest", None, DocumentUnreadable, "application/zip");
        check_error(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", None, DocumentUnreadable, "ole");
        check_error(b"\0\x01\x02\x03\xff", None, DocumentUnreadable, "no text");
        check_error(b"x", Some("text/plain; charset=klingon"), InvalidParameter, "klingon");
    }
}
