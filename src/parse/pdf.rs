//! PDF: glyphs at places on pages, from which words, lines, columns and tables are found.
//!
//! ```text
//! glyphs.rs   what is drawn where         layout.rs  glyphs → lines → blocks in reading order
//! columns.rs  what is read before what    lines.rs   lines → paragraphs, items and tables
//! running.rs  lines that all pages share  headings.rs  which blocks are headings
//! ```
//!
//! A PDF rarely says what is a heading, so size decides: a short block in larger letters than
//! most of the document. There is no text recognition: a scanned page has no text, unless a
//! scanner has put invisible text behind its picture.

mod columns;
mod glyphs;
mod headings;
mod layout;
mod lines;
mod running;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};

use super::writer::MarkdownWriter;
use super::{ParseLimits, Part, beyond, check_text, damaged, unreadable};
use crate::error::{Error, Result};
use crate::text::line::single_line;
use glyphs::PageReader;
use headings::Sizes;
use layout::{LayoutBlock, LayoutKind};

/// What damaged documents are called in messages.
const NAME: &str = "PDF";

/// Reads the pages in `wanted`, counted from 0.
pub fn parse(document: &[u8], wanted: Range<usize>, limits: &ParseLimits) -> Result<Vec<Part>> {
    let data: Arc<Vec<u8>> = Arc::new(document.to_vec());
    let pdf = Pdf::new(data).map_err(cannot_load)?;
    let count = pdf.pages().len();
    if count == 0 {
        return Err(damaged(NAME, "it has no pages"));
    }
    let wanted = wanted.start.min(count)..wanted.end.min(count);
    if wanted.len() > limits.pages {
        let limit = limits.pages;
        return Err(beyond(format!("document has {count} pages, the limit is {limit} at a time"))
            .hint("Ask for some of them, with the options first_page and last_page."));
    }
    let reader = PageReader::new(&pdf);
    let mut pages = Vec::with_capacity(wanted.len());
    let mut length = 0;
    for number in wanted.clone() {
        let glyphs = reader.read(number, limits.text.saturating_sub(length))?;
        let blocks = layout::blocks(glyphs);
        length += blocks.iter().map(|block| block.text_length()).sum::<usize>();
        check_text(length, limits)?;
        pages.push(blocks);
    }
    running::remove(&mut pages);
    Ok(write(pages, wanted.start, limits))
}

/// One part a page. A page that begins in the middle of a section has the heading before it.
fn write(pages: Vec<Vec<LayoutBlock>>, first: usize, limits: &ParseLimits) -> Vec<Part> {
    let sizes = Sizes::of(&pages);
    let mut last: Option<String> = None;
    let mut parts = Vec::with_capacity(pages.len());
    for (number, blocks) in pages.into_iter().enumerate() {
        let mut writer = MarkdownWriter::new(limits.text);
        let mut heading = last.clone();
        for (place, block) in blocks.iter().enumerate() {
            let level = sizes.level(block);
            write_block(&mut writer, block, level);
            if level.is_some() {
                last = Some(single_line(&block.text));
            }
            if place == 0 && level.is_some() || heading.is_none() && number == 0 {
                heading = last.clone();
            }
        }
        let page = Some((first + number + 1) as u32);
        parts.push(Part { page, heading, content: writer.into_text() });
    }
    parts
}

fn write_block(writer: &mut MarkdownWriter, block: &LayoutBlock, level: Option<u8>) {
    match (&block.kind, level) {
        (LayoutKind::Item(number), Some(level)) if number != "-" => {
            writer.heading(level, &format!("{number} {}", block.text));
        }
        (_, Some(level)) => writer.heading(level, &block.text),
        (LayoutKind::Table(rows), None) => writer.table(rows),
        (LayoutKind::Item(marker), None) => {
            writer.open_item(marker);
            writer.paragraph(&block.text);
            writer.close();
            return;
        }
        (LayoutKind::Paragraph, None) => writer.paragraph(&block.text),
    }
    writer.end_list();
}

fn cannot_load(error: LoadPdfError) -> Error {
    match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => {
            unreadable("PDF document is encrypted and needs a password")
                .hint("Store it without a password.")
        }
        LoadPdfError::Decryption(why) => {
            unreadable(format!("PDF document is encrypted in a way that cannot be read: {why:?}"))
                .hint("Store it without encryption.")
        }
        LoadPdfError::Invalid => damaged(NAME, "it has no readable structure"),
    }
}
