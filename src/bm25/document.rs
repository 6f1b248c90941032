//! # document: what does the index see of a row?

use crate::error::{Error, Result};
use crate::pages::RowId;

/// Bytes of the longest lexeme; PostgreSQL's tsvector has none longer than 2,046.
pub const LONGEST_LEXEME: usize = 2048;

/// A row of the table, as the index sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedDocument<'a> {
    row: RowId,
    length: u32,
    terms: Vec<(&'a [u8], u32)>,
}

impl<'a> IndexedDocument<'a> {
    /// A row, the number of its word positions, and its lexemes with their frequencies, in any
    /// order. A lexeme given twice has the sum of its frequencies; one of frequency 0 is left out.
    pub fn new(
        row: RowId,
        length: u32,
        terms: impl IntoIterator<Item = (&'a [u8], u32)>,
    ) -> Result<IndexedDocument<'a>> {
        let mut terms: Vec<(&[u8], u32)> =
            terms.into_iter().filter(|(_, frequency)| *frequency > 0).collect();
        if let Some((lexeme, _)) = terms.iter().find(|(it, _)| it.len() > LONGEST_LEXEME) {
            let message = format!(
                "a lexeme of {} bytes is too long for a rag_bm25 index, which takes {LONGEST_LEXEME}",
                lexeme.len()
            );
            return Err(Error::invalid(message));
        }
        if !terms.is_sorted() {
            terms.sort_unstable();
        }
        terms.dedup_by(|later, kept| {
            let is_same = later.0 == kept.0;
            if is_same {
                kept.1 = kept.1.saturating_add(later.1);
            }
            is_same
        });
        Ok(IndexedDocument { row, length, terms })
    }

    /// The row of the table.
    #[must_use]
    pub fn row(&self) -> RowId {
        self.row
    }

    /// How many word positions it has.
    #[must_use]
    pub fn length(&self) -> u32 {
        self.length
    }

    /// Its lexemes, ascending and distinct, with their frequencies.
    #[must_use]
    pub fn terms(&self) -> &[(&'a [u8], u32)] {
        &self.terms
    }
}
