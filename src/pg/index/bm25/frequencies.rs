//! In how many rows the words of queries are, as far as that is quickly found out.

use std::collections::HashMap;

use super::question::Bm25Question;
use crate::bm25::{Term, statistics};
use crate::error::Result;
use crate::pg::index::pages::Pages;

/// The share of the rows that a beginning of a word is taken for to be in: to know it, all
/// its postings would have to be read.
const PREFIX_SHARE: f64 = 0.02;

/// How many rows have each word of some queries.
pub struct Frequencies {
    words: HashMap<Vec<u8>, f64>,
    prefix: f64,
}

impl Frequencies {
    /// Looks all words up at once.
    pub fn of(pages: &Pages, questions: &[Bm25Question]) -> Result<Frequencies> {
        let mut words: Vec<Term> = questions.iter().flat_map(Bm25Question::terms).collect();
        words.retain(|term| !term.prefix);
        let found = statistics(pages, &words)?;
        let counted = found.frequencies.iter().map(|rows| *rows as f64);
        Ok(Frequencies {
            words: words.into_iter().map(|term| term.bytes).zip(counted).collect(),
            prefix: found.documents as f64 * PREFIX_SHARE,
        })
    }

    /// About how many rows have a word of these queries, or a word that begins so.
    pub fn get(&self, term: &Term) -> f64 {
        match term.prefix {
            true => self.prefix,
            false => self.words.get(&term.bytes).copied().unwrap_or_default(),
        }
    }
}
