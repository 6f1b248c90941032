//! The types rag_bm25_query and rag.bm25_weighted_query: an index or statistics, and what is asked.

use pgrx::prelude::*;

use super::question::Bm25Question;
use crate::bm25::{Bm25Settings, Statistics};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::index::hnsw::Detoasted;

/// Columns of a rag.bm25_weighted_query; a rag_bm25_query has the first two of them.
const WEIGHTED: u16 = 3;

/// Numbers that stand before the frequencies of the words: k1, b, texts and the sum of their lengths.
const BEFORE_WORDS: usize = 4;

/// A value of one of the two types.
pub struct Bm25Query {
    /// Whose statistics count.
    pub weights: Bm25Weights,
    /// What is asked; `None` where it is NULL.
    pub question: Option<Bm25Question>,
}

/// By which statistics a query ranks.
#[derive(Clone)]
pub enum Bm25Weights {
    /// Those of an index.
    OfIndex(pg_sys::Oid),
    /// Those that came with the query, and the parameters of the formula.
    Given(Bm25Settings, Statistics),
}

impl Bm25Query {
    /// Reads a value.
    ///
    /// # Safety
    ///
    /// `datum` is of one of the two composite types, and not NULL.
    pub unsafe fn new(datum: pg_sys::Datum) -> Result<Bm25Query> {
        // SAFETY: by this function's contract it is a tuple with these columns; the copy of
        // one that was toasted goes with the memory context.
        let (index, query, statistics) = unsafe {
            let tuple: pg_sys::HeapTupleHeader =
                pg_sys::pg_detoast_datum(datum.cast_mut_ptr()).cast();
            let columns = (*tuple).t_infomask2 & pg_sys::HEAP_NATTS_MASK as u16;
            let is_weighted = columns == WEIGHTED;
            let third = is_weighted.then(|| column(tuple, WEIGHTED as i16));
            (column(tuple, 1), column(tuple, 2), third)
        };
        // SAFETY: the second column is a tsquery, and the third an array of numbers.
        let question = query.map(|query| unsafe { question(query) }).transpose()?;
        let weights = match (statistics, index) {
            (Some(statistics), _) => {
                // SAFETY: as above.
                let numbers = statistics.map(|it| unsafe { numbers(it) }).unwrap_or_default();
                given(&numbers, question.as_ref())?
            }
            (None, Some(index)) => Bm25Weights::OfIndex(pg_sys::Oid::from(index.value() as u32)),
            (None, None) => return Err(no_index()),
        };
        Ok(Bm25Query { weights, question })
    }
}

fn no_index() -> Error {
    Error::new(ErrorKind::NullNotAllowed, "rag_bm25_query names no index")
        .hint("Give the name of a rag_bm25 index: rag_bm25_query('docs_tsv_idx', query).")
}

/// The statistics in `numbers`: k1, b, texts, the sum of their lengths, and of each word of the question in how
/// many texts it is.
fn given(numbers: &[f64], question: Option<&Bm25Question>) -> Result<Bm25Weights> {
    let words = question.map_or(0, |question| question.terms().len());
    let is_whole = numbers.len() == BEFORE_WORDS + words || question.is_none();
    let is_count = |number: &f64| number.is_finite() && *number >= 0.0;
    let [k1, b, documents, total_length, frequencies @ ..] = numbers else {
        return Err(not_statistics(numbers, words));
    };
    let settings = Bm25Settings { k1: *k1, b: *b };
    if !is_whole || settings.validate().is_err() || !numbers[2..].iter().all(is_count) {
        return Err(not_statistics(numbers, words));
    }
    let statistics = Statistics {
        documents: *documents as u64,
        total_length: *total_length as u64,
        frequencies: frequencies.iter().map(|rows| *rows as u64).collect(),
    };
    Ok(Bm25Weights::Given(settings, statistics))
}

fn not_statistics(numbers: &[f64], words: usize) -> Error {
    let shown = &numbers[..numbers.len().min(8)];
    Error::invalid(format!("not the statistics of a query of {words} words: {shown:?}"))
        .hint("They are k1, b, the number of texts, the sum of their lengths, and of each word in how many texts it is.")
}

/// Reads a tsquery.
///
/// # Safety
///
/// `datum` is a tsquery that is not NULL.
pub unsafe fn question(datum: pg_sys::Datum) -> Result<Bm25Question> {
    // SAFETY: by this function's contract.
    let value = unsafe { Detoasted::new(datum) };
    Bm25Question::new(value.bytes())
}

/// The numbers of an array; none where one of them is NULL.
///
/// # Safety
///
/// `datum` is of the type double precision[], and not NULL.
unsafe fn numbers(datum: pg_sys::Datum) -> Vec<f64> {
    // SAFETY: by this function's contract.
    let numbers = unsafe { Vec::<Option<f64>>::from_datum(datum, false) };
    numbers.unwrap_or_default().into_iter().collect::<Option<_>>().unwrap_or_default()
}

/// # Safety
///
/// `tuple` is of a composite type with so many columns.
unsafe fn column(tuple: pg_sys::HeapTupleHeader, number: i16) -> Option<pg_sys::Datum> {
    let mut is_null = false;
    // SAFETY: by this function's contract.
    let datum = unsafe { pg_sys::GetAttributeByNum(tuple, number, &mut is_null) };
    (!is_null).then_some(datum)
}
