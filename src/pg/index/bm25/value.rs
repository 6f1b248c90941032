//! What a tsvector holds: lexemes, how often each occurs, and where.
//!
//! The layout is that of PostgreSQL's tsearch/ts_type.h. What does not fit it is an error.

use pgrx::pg_sys;

use crate::bm25::IndexedDocument;
use crate::error::{Error, ErrorKind, Result};
use crate::pages::RowId;
use crate::pg::index::hnsw::Detoasted;

/// Looks at a tsvector as a document.
///
/// # Safety
///
/// `datum` is a tsvector that is not NULL.
pub unsafe fn with_document<T>(
    datum: pg_sys::Datum,
    row: RowId,
    look: impl FnOnce(&IndexedDocument<'_>) -> Result<T>,
) -> Result<T> {
    // SAFETY: by this function's contract.
    let value = unsafe { Detoasted::new(datum) };
    let lexemes = Lexemes::new(value.bytes())?;
    let terms = lexemes.iter().collect::<Result<Vec<_>>>()?;
    let length = terms.iter().fold(0u32, |sum, (_, count)| sum.saturating_add(*count));
    look(&IndexedDocument::new(row, length, terms)?)
}

/// Bytes of a lexeme's entry.
const ENTRY: usize = 4;

/// The bits of a position that are not its label.
const PLACE: u16 = 0x3FFF;

/// The lexemes of a tsvector, in its own order, which is that of their bytes.
pub struct Lexemes<'a> {
    entries: &'a [u8],
    /// The lexemes' bytes and positions, from a place divisible by four on.
    texts: &'a [u8],
}

impl<'a> Lexemes<'a> {
    /// Reads a tsvector's bytes after its length word; an error where they are damaged.
    pub fn new(body: &'a [u8]) -> Result<Lexemes<'a>> {
        let count = number(body, 0).ok_or_else(damaged)? as usize;
        let end = count.checked_mul(ENTRY).and_then(|bytes| bytes.checked_add(ENTRY));
        let end = end.filter(|end| *end <= body.len()).ok_or_else(damaged)?;
        Ok(Lexemes { entries: &body[ENTRY..end], texts: &body[end..] })
    }

    /// How many lexemes there are.
    pub fn count(&self) -> usize {
        self.entries.len() / ENTRY
    }

    /// A lexeme, and how often it occurs: its positions, or once where it has none.
    fn get(&self, at: usize) -> Result<(&'a [u8], u32)> {
        let (text, positions) = self.at(at)?;
        Ok((text, (positions.len() as u32 / 2).max(1)))
    }

    /// A lexeme, and its positions as they lie there, for [`places`].
    pub fn at(&self, at: usize) -> Result<(&'a [u8], &'a [u8])> {
        let entry = number(self.entries, at * ENTRY).ok_or_else(damaged)?;
        let LexemeEntry { has_positions, length, offset } = LexemeEntry::new(entry);
        let end = offset + length;
        let text = self.texts.get(offset..end).ok_or_else(damaged)?;
        if !has_positions {
            return Ok((text, &[]));
        }
        let at = end.next_multiple_of(2);
        let bytes = self.texts.get(at..at + 2).ok_or_else(damaged)?;
        let length = 2 * usize::from(u16::from_ne_bytes([bytes[0], bytes[1]]));
        Ok((text, self.texts.get(at + 2..at + 2 + length).ok_or_else(damaged)?))
    }

    /// The lexemes in their order.
    fn iter(&self) -> impl Iterator<Item = Result<(&'a [u8], u32)>> {
        (0..self.count()).map(|place| self.get(place))
    }
}

/// Positions from 1, ascending, of how they lie in a tsvector.
pub fn places(positions: &[u8]) -> impl Iterator<Item = u16> {
    positions.chunks_exact(2).map(|bytes| u16::from_ne_bytes([bytes[0], bytes[1]]) & PLACE)
}

/// The bit field WordEntry.
struct LexemeEntry {
    has_positions: bool,
    length: usize,
    offset: usize,
}

impl LexemeEntry {
    #[cfg(target_endian = "little")]
    fn new(bits: u32) -> LexemeEntry {
        LexemeEntry {
            has_positions: bits & 1 != 0,
            length: (bits >> 1 & 0x7FF) as usize,
            offset: (bits >> 12) as usize,
        }
    }

    #[cfg(target_endian = "big")]
    fn new(bits: u32) -> LexemeEntry {
        LexemeEntry {
            has_positions: bits >> 31 != 0,
            length: (bits >> 20 & 0x7FF) as usize,
            offset: (bits & 0xF_FFFF) as usize,
        }
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

fn damaged() -> Error {
    Error::new(ErrorKind::Internal, "a tsvector does not have the form that PostgreSQL gives it")
}
