//! # score: how well does a document speak of a query?
//!
//! ```text
//! (statistics, settings, query, document) → score
//! ```
//!
//! BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009)
//! in the form of Lucene from version 8 on. For each term of the query
//!
//! ```text
//! weight * ln(1 + (N - df + 0.5) / (df + 0.5)) * tf / (tf + k1 * (1 - b + b * length / average))
//! ```
//!
//! without the factor `k1 + 1`, which is the same for all and changes no order. So a term gives
//! at most its weight times its idf.

use super::document::IndexedDocument;
use crate::error::{Error, Result};

/// A term of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// The lexeme, or what lexemes begin with.
    pub bytes: Vec<u8>,
    /// Whether all lexemes that begin so are meant. They count as one term: its frequency in a
    /// document is the sum of theirs, and its documents are those that have any of them.
    pub prefix: bool,
    /// How much the term counts; not negative.
    pub weight: f64,
}

impl Term {
    /// Whether a document's lexeme is meant.
    #[must_use]
    pub fn matches(&self, lexeme: &[u8]) -> bool {
        if self.prefix { lexeme.starts_with(&self.bytes) } else { lexeme == self.bytes }
    }

    /// How often it occurs in a document.
    #[must_use]
    pub fn frequency(&self, document: &IndexedDocument<'_>) -> u32 {
        let terms = document.terms();
        let start = terms.partition_point(|(lexeme, _)| *lexeme < &self.bytes[..]);
        let meant = terms[start..].iter().take_while(|(lexeme, _)| self.matches(lexeme));
        meant.fold(0, |sum, (_, frequency)| sum.saturating_add(*frequency))
    }
}

/// The two parameters of BM25.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bm25Settings {
    /// How slowly another occurrence of a term adds less; from 0 on.
    pub k1: f64,
    /// How much the length of a document counts; from 0 to 1.
    pub b: f64,
}

impl Default for Bm25Settings {
    /// What Lucene has: 1.2 and 0.75.
    fn default() -> Bm25Settings {
        Bm25Settings { k1: 1.2, b: 0.75 }
    }
}

impl Bm25Settings {
    /// Fails if the settings mean nothing.
    pub fn validate(&self) -> Result<()> {
        if !(self.k1.is_finite() && self.k1 >= 0.0) {
            return Err(Error::invalid(format!("k1 is {}, expected a number from 0 on", self.k1)));
        }
        if !(0.0..=1.0).contains(&self.b) {
            return Err(Error::invalid(format!("b is {}, expected a number from 0 to 1", self.b)));
        }
        Ok(())
    }
}

/// What scores depend on besides the document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// How many documents there are.
    pub documents: u64,
    /// The sum of their lengths.
    pub total_length: u64,
    /// In how many documents each term of the query occurs.
    pub frequencies: Vec<u64>,
}

impl Statistics {
    /// Statistics without an index: each term is as rare as the others, and texts are as long as a
    /// chunk.
    #[must_use]
    pub fn unknown(query: &[Term]) -> Statistics {
        Statistics { documents: 1000, total_length: 100_000, frequencies: vec![10; query.len()] }
    }
}

/// The factors of a score that are the same for all documents of a search.
#[derive(Clone, Debug)]
pub(super) struct Scorer {
    /// Weight times idf, for each term of the query.
    pub factors: Vec<f64>,
    /// k1 * (1 - b)
    constant: f64,
    /// k1 * b / average length
    slope: f64,
}

impl Scorer {
    pub fn new(statistics: &Statistics, settings: Bm25Settings, query: &[Term]) -> Scorer {
        let documents = statistics.documents as f64;
        let inverse_document_frequency = |df: u64| {
            let df = df as f64;
            ((documents - df).max(0.0) + 0.5) / (df + 0.5)
        };
        let factors = query
            .iter()
            .zip(statistics.frequencies.iter().copied().chain(std::iter::repeat(0)))
            .map(|(term, df)| term.weight * inverse_document_frequency(df).ln_1p())
            .collect();
        let average = match statistics.total_length {
            0 => f64::INFINITY,
            total => total as f64 / documents.max(1.0),
        };
        Scorer {
            factors,
            constant: settings.k1 * (1.0 - settings.b),
            slope: settings.k1 * settings.b / average,
        }
    }

    /// What a term of the query adds to the score of a document with this frequency and length.
    ///
    /// Written so that rounding keeps the order too: a higher frequency or a smaller length never
    /// gives less. What bounds promise rests on it.
    #[inline]
    pub fn part(&self, term: usize, frequency: u32, length: u32) -> f64 {
        let norm = self.constant + self.slope * f64::from(length);
        self.factors[term] / (1.0 + norm / f64::from(frequency))
    }
}

/// The score of one document; 0 if it has none of the terms.
#[must_use]
pub fn score(
    statistics: &Statistics,
    settings: Bm25Settings,
    query: &[Term],
    document: &IndexedDocument<'_>,
) -> f64 {
    let scorer = Scorer::new(statistics, settings, query);
    let terms = query.iter().enumerate();
    terms
        .map(|(index, term)| (index, term.frequency(document)))
        .filter(|(_, frequency)| *frequency > 0)
        .fold(0.0, |sum, (index, frequency)| sum + scorer.part(index, frequency, document.length()))
}
