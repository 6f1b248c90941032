//! The words of a chunk, as they stand in its tsvector.

use std::cmp::Ordering;

use pgrx::datum::FromDatum;
use pgrx::{IntoDatum, pg_sys};

use crate::error::Result;
use crate::pg::index::bm25::value::{Lexemes, places};
use crate::pg::index::hnsw::Detoasted;
use crate::pg::server::error::OrReport;
use crate::retrieve::proximity::IndexedText;

/// A copy of a tsvector. It is read where something of it is wanted: of most chunks that are few
/// of their words.
pub struct TsVector(Box<[u8]>);

impl FromDatum for TsVector {
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        _: pg_sys::Oid,
    ) -> Option<Self> {
        if is_null {
            return None;
        }
        // SAFETY: the datum is not NULL, and of the type that is asked for below.
        Some(TsVector(unsafe { Detoasted::new(datum) }.bytes().into()))
    }
}

// Nothing makes a tsvector of it. SPI asks here which type a column must have.
impl IntoDatum for TsVector {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        None
    }

    fn type_oid() -> pg_sys::Oid {
        pg_sys::TSVECTOROID
    }
}

impl TsVector {
    /// The place of a word among the lexemes, which are in the order of their bytes.
    fn find(&self, word: &[u8]) -> Result<Vec<u16>> {
        let lexemes = Lexemes::new(&self.0)?;
        let (mut low, mut high) = (0, lexemes.count());
        while low < high {
            let middle = low.midpoint(high);
            let (lexeme, positions) = lexemes.at(middle)?;
            match lexeme.cmp(word) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Ok(places(positions).collect()),
            }
        }
        Ok(Vec::new())
    }

    fn until(&self, last: u16) -> Result<Vec<(u16, &[u8])>> {
        let lexemes = Lexemes::new(&self.0)?;
        let mut found = Vec::new();
        for at in 0..lexemes.count() {
            let (lexeme, positions) = lexemes.at(at)?;
            let first = places(positions).take_while(|place| *place <= last);
            found.extend(first.map(|place| (place, lexeme)));
        }
        Ok(found)
    }
}

impl IndexedText for TsVector {
    fn places(&self, word: &[u8]) -> Vec<u16> {
        self.find(word).or_report()
    }

    fn opening(&self, last: u16) -> Vec<(u16, &[u8])> {
        self.until(last).or_report()
    }
}
