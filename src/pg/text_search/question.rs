//! The words of a question, to be looked up each by itself.

use std::collections::HashSet;

use pgrx::{direct_function_call_as_datum, pg_sys};

use super::parsed::{ParsedWords, TextRole, lexeme};
use super::{MadeTsQuery, c_string};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::index::bm25::value::{Lexemes, places};
use crate::pg::index::hnsw::Detoasted;

/// A word of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionWord {
    /// The lexeme.
    pub lexeme: String,
    /// Where it stands, from 1, ascending; at least one place.
    pub places: Vec<u16>,
    /// Whether it stands for all that begin so.
    pub is_prefix: bool,
}

impl QuestionWord {
    /// As the text of a tsquery has it.
    fn quoted(&self) -> String {
        let rest = if self.is_prefix { ":*" } else { "" };
        quoted(&self.lexeme) + rest
    }
}

/// The words of `question`, in the order of their bytes.
pub fn question_words(config: pg_sys::Oid, question: &str) -> Result<Vec<QuestionWord>> {
    let parsed = ParsedWords::of(config, question, TextRole::Question);
    let prefixes: HashSet<Vec<u8>> = parsed
        .words()
        .iter()
        .filter(|word| u32::from(word.flags) & pg_sys::TSL_PREFIX != 0)
        .map(|word| lexeme(word).to_vec())
        .collect();
    // As of a text, a place is told once, and of a word no more than PostgreSQL keeps.
    // SAFETY: make_tsvector returns a tsvector.
    let all = unsafe { Detoasted::new(pg_sys::Datum::from(parsed.into_tsvector())) };
    let lexemes = Lexemes::new(all.bytes())?;
    let word = |at| {
        let (lexeme, positions) = lexemes.at(at)?;
        let is_prefix = prefixes.contains(lexeme);
        let lexeme = String::from_utf8_lossy(lexeme).into_owned();
        Ok(QuestionWord { lexeme, places: places(positions).collect(), is_prefix })
    };
    (0..lexemes.count()).map(word).collect()
}

/// The text of a tsquery that finds what has one of `words`; `None` where there are none. A word of two
/// places stands there twice, and counts so.
pub fn any_of(words: &[QuestionWord]) -> Option<String> {
    let each = words.iter().flat_map(|word| word.places.iter().map(|_| word.quoted()));
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| each.join(" | "))
}

/// A tsquery that finds what has one of the words of `question`.
pub fn question_to_tsquery(config: pg_sys::Oid, question: &str) -> Result<MadeTsQuery> {
    let text = any_of(&question_words(config, question)?).unwrap_or_default();
    let text = c_string(text)?;
    let argument = Some(pg_sys::Datum::from(text.as_ptr()));
    // SAFETY: tsqueryin takes a cstring.
    let datum = unsafe { direct_function_call_as_datum(pg_sys::tsqueryin, &[argument]) };
    let datum = datum.ok_or_else(|| Error::new(ErrorKind::Internal, "tsqueryin returns NULL"))?;
    Ok(MadeTsQuery(datum.cast_mut_ptr()))
}

/// A lexeme as the text of a tsquery has it.
pub fn quoted(lexeme: &str) -> String {
    format!("'{}'", lexeme.replace('\\', "\\\\").replace('\'', "''"))
}
