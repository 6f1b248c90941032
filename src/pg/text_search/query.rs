//! A tsquery of what a user has written: PostgreSQL's own grammars, with our words.

use std::ffi::{CString, c_char, c_int};

use pgrx::prelude::*;

use super::parsed::{ParsedWords, TextRole, place};
use super::{MadeTsQuery, c_string};
use crate::error::Result;

/// What the signs in a query mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuerySyntax {
    /// As in PostgreSQL's to_tsquery: `&`, `|`, `!`, `<->`, `:*` and labels.
    Operators,
    /// As in websearch_to_tsquery: quotes, `or` and `-`.
    Web,
}

/// Makes a tsquery. Words that are written without a space between them follow each other in what is
/// found, as in a phrase.
///
/// An SQL error where it does not follow the syntax.
pub fn to_tsquery(config: pg_sys::Oid, query: &str, syntax: QuerySyntax) -> Result<MadeTsQuery> {
    // Only some locales know the wide space of East Asian keyboards.
    let query = query.replace('\u{3000}', " ");
    let query = c_string(query)?;
    let flags = match syntax {
        QuerySyntax::Operators => 0,
        QuerySyntax::Web => pg_sys::P_TSQ_WEB,
    };
    Ok(MadeTsQuery(parse(config, query, flags as c_int)))
}

fn parse(config: pg_sys::Oid, query: CString, flags: c_int) -> pg_sys::TSQuery {
    let text = query.as_ptr().cast_mut();
    let opaque = pg_sys::Datum::from(config);
    // SAFETY: the parser reads a text that ends with a NUL, and calls `push_words` with what it was given
    // and a state of its own.
    #[cfg(feature = "pg15")]
    unsafe {
        pg_sys::parse_tsquery(text, Some(push_words), opaque, flags)
    }
    // SAFETY: as above; without a context for soft errors it raises them.
    #[cfg(not(feature = "pg15"))]
    unsafe {
        pg_sys::parse_tsquery(text, Some(push_words), opaque, flags, std::ptr::null_mut())
    }
}

/// Tells the parser of which words an operand consists: PostgreSQL's pushval_morph, over our words.
///
/// # Safety
///
/// To be called by parse_tsquery, with the OID of a configuration as `config`.
#[pg_guard]
unsafe extern "C-unwind" fn push_words(
    config: pg_sys::Datum,
    state: pg_sys::TSQueryParserState,
    text: *mut c_char,
    length: c_int,
    weight: i16,
    prefix: bool,
) {
    // SAFETY: the parser gives an operand with its length, and a configuration is an OID.
    let (text, config) = unsafe {
        let bytes = std::slice::from_raw_parts(text.cast::<u8>(), length as usize);
        (String::from_utf8_lossy(bytes), pg_sys::Oid::from(config.value() as u32))
    };
    let parsed = ParsedWords::of(config, &text, TextRole::Query);
    let mut operand = PhraseOperand { state, weight, prefix, pushed: 0 };
    operand.push(&parsed);
}

/// An operand that becomes a phrase.
struct PhraseOperand {
    state: pg_sys::TSQueryParserState,
    weight: i16,
    prefix: bool,
    /// Places of the phrase that the parser knows already.
    pushed: usize,
}

impl PhraseOperand {
    fn push(&mut self, parsed: &ParsedWords) {
        let mut before = None;
        for words in parsed.words().chunk_by(|one, next| place(one) == place(next)) {
            let here = place(&words[0]);
            let left_out = before.map_or(0, |before| here.saturating_sub(before + 1));
            (0..left_out).for_each(|_| self.stop());
            self.variants(words);
            self.follows();
            before = Some(here);
        }
        if before.is_none() {
            return self.stop();
        }
        (0..parsed.places_behind()).for_each(|_| self.stop());
    }

    /// Words of one place: those of a variant are all wanted, and one of the variants.
    fn variants(&self, words: &[pg_sys::ParsedWord]) {
        for (at, variant) in words.chunk_by(|one, next| one.nvariant == next.nvariant).enumerate() {
            for (at, word) in variant.iter().enumerate() {
                self.word(word);
                if at > 0 {
                    self.operator(pg_sys::OP_AND, 0);
                }
            }
            if at > 0 {
                self.operator(pg_sys::OP_OR, 0);
            }
        }
    }

    fn word(&self, word: &pg_sys::ParsedWord) {
        let prefix = self.prefix || u32::from(word.flags) & pg_sys::TSL_PREFIX != 0;
        // SAFETY: the state is that of the running parser, and the word has so many bytes.
        unsafe {
            pg_sys::pushValue(self.state, word.word, c_int::from(word.len), self.weight, prefix);
        }
    }

    /// A place without a word, which the parser takes out again and reckons with.
    fn stop(&mut self) {
        // SAFETY: the state is that of the running parser.
        unsafe { pg_sys::pushStop(self.state) };
        self.follows();
    }

    fn follows(&mut self) {
        if self.pushed > 0 {
            self.operator(pg_sys::OP_PHRASE, 1);
        }
        self.pushed += 1;
    }

    fn operator(&self, operator: u32, distance: i16) {
        // SAFETY: the state is that of the running parser, which has been given the operands.
        unsafe { pg_sys::pushOperator(self.state, operator as i8, distance) };
    }
}
