//! The words of a text with their places, as PostgreSQL's tsearch/ts_utils.h has them.

use std::mem::size_of;

use pgrx::pg_sys;

use crate::text::accent::without_accents;
use crate::text::bigram::{Bigram, TextPart, UnspacedRun, parts};
use crate::text::joined_name::{Stretch, joined_names, stretches};

/// PostgreSQL's own parser, `default` in pg_ts_parser. A configuration with another one, such as that of
/// an extension for Chinese, knows how to cut a text, and is given it whole.
const DEFAULT_PARSER: u32 = 3722;

/// The last place that a tsvector can tell from others.
const LAST_PLACE: i32 = pg_sys::MAXENTRYPOS as i32 - 1;

/// The most that palloc gives at once, MaxAllocSize.
const MOST_BYTES: usize = 0x3FFF_FFFF;

/// What the words of a text are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextRole {
    /// To be found.
    Document,
    /// To find what has its words as they are.
    Query,
    /// To find what has any of its words.
    Question,
}

/// The words of a text. What it points to belongs to the memory context in which it was made.
pub struct ParsedWords {
    text: pg_sys::ParsedText,
    /// Places behind the last word that belong to a run of characters.
    places_behind: usize,
}

impl ParsedWords {
    /// Parses `text`, which holds no NUL.
    pub fn of(config: pg_sys::Oid, text: &str, role: TextRole) -> ParsedWords {
        let mut parsed = ParsedWords::with_room_for(text.len());
        if !has_default_parser(config) {
            parsed.spaced(config, text, role);
            return parsed;
        }
        let interrupt = &mut || {
            pgrx::check_for_interrupts!();
        };
        for part in parts(text, interrupt) {
            pgrx::check_for_interrupts!();
            parsed.places_behind = 0;
            match part {
                TextPart::Spaced(text) => parsed.spaced(config, &text, role),
                TextPart::Unspaced(run) => parsed.unspaced(&run, role),
            }
        }
        parsed
    }

    /// As PostgreSQL's to_tsvector reckons, a word for six bytes.
    fn with_room_for(bytes: usize) -> ParsedWords {
        let most = MOST_BYTES / size_of::<pg_sys::ParsedWord>();
        let room = (bytes / 6).clamp(2, most);
        // SAFETY: palloc returns so many bytes, aligned for any type; none is read before it is written.
        let words = unsafe { pg_sys::palloc(room * size_of::<pg_sys::ParsedWord>()).cast() };
        let text = pg_sys::ParsedText { words, lenwords: room as i32, curwords: 0, pos: 0 };
        ParsedWords { text, places_behind: 0 }
    }

    /// What is found with and without its accents is asked for without them, so that a word counts once.
    fn spaced(&mut self, config: pg_sys::Oid, text: &str, role: TextRole) {
        let known = self.text.curwords as usize;
        match role {
            TextRole::Query => self.parse(config, text),
            TextRole::Document | TextRole::Question => self.parse_with_names(config, text),
        }
        for at in known..self.text.curwords as usize {
            pgrx::check_for_interrupts!();
            let word = &self.words()[at];
            let folded = std::str::from_utf8(lexeme(word)).ok().and_then(without_accents);
            let Some(folded) = folded else { continue };
            let (pos, flags) = (place(word), word.flags);
            match role {
                TextRole::Document => self.push(&folded, pos, flags),
                TextRole::Query | TextRole::Question => self.replace(at, &folded),
            }
        }
    }

    /// Adds the words that PostgreSQL's parser finds.
    fn parse(&mut self, config: pg_sys::Oid, text: &str) {
        let bytes = text.as_ptr().cast_mut().cast();
        // SAFETY: parsetext reads so many bytes, which are not of a constant to it only in its
        // declaration, and adds the words that it finds to a ParsedText with a palloc'd array.
        unsafe { pg_sys::parsetext(config, &raw mut self.text, bytes, text.len() as i32) };
    }

    /// Adds these and, in the place where a joined name begins, the name and its words.
    fn parse_with_names(&mut self, config: pg_sys::Oid, text: &str) {
        for stretch in stretches(text) {
            pgrx::check_for_interrupts!();
            let run = match stretch {
                Stretch::Plain(text) => {
                    self.parse(config, text);
                    continue;
                }
                Stretch::Joined(run) => run,
            };
            let known = self.text.curwords as usize;
            let begin = self.text.pos.saturating_add(1).clamp(1, LAST_PLACE) as u16;
            self.parse(config, run);
            let found = joined_names(run);
            let mut words = ParsedWords::with_room_for(run.len());
            words.parse(config, &found.words.join(" "));
            let words = words.words().iter().map(lexeme);
            for add in found.names.iter().map(String::as_bytes).chain(words) {
                if !self.words()[known..].iter().any(|it| lexeme(it) == add) {
                    self.push(&String::from_utf8_lossy(add), begin, 0);
                }
            }
        }
    }

    /// In a query the last character of a run says nothing that the pair before it does not, and one that
    /// stands alone is the beginning of whatever a document has of it.
    fn unspaced(&mut self, run: &UnspacedRun, role: TextRole) {
        for bigram in run.bigrams() {
            pgrx::check_for_interrupts!();
            self.text.pos = self.text.pos.saturating_add(1);
            let pos = self.text.pos.min(LAST_PLACE) as u16;
            match (bigram, role) {
                (Bigram::Pair(text), _) | (Bigram::Last(text), TextRole::Document) => {
                    self.push(text, pos, 0);
                }
                (Bigram::Last(text), _) if run.is_single() => {
                    self.push(text, pos, pg_sys::TSL_PREFIX as u16);
                }
                (Bigram::Last(_), _) => self.places_behind = 1,
            }
        }
    }

    fn push(&mut self, text: &str, pos: u16, flags: u16) {
        let all = &mut self.text;
        // SAFETY: `words` is a palloc'd array with room for `lenwords`, which is more than `curwords` when
        // it is written to; the word is a palloc'd copy with a NUL behind it, as parsetext makes them.
        unsafe {
            if all.curwords == all.lenwords {
                all.lenwords *= 2;
                let bytes = all.lenwords as usize * size_of::<pg_sys::ParsedWord>();
                all.words = pg_sys::repalloc(all.words.cast(), bytes).cast();
            }
            all.words.add(all.curwords as usize).write(pg_sys::ParsedWord {
                len: text.len() as u16,
                nvariant: 1,
                pos: pg_sys::ParsedWord__bindgen_ty_1 { pos },
                flags,
                word: pg_sys::pnstrdup(text.as_ptr().cast(), text.len()),
                alen: 0,
            });
        }
        all.curwords += 1;
    }

    fn replace(&mut self, at: usize, text: &str) {
        // SAFETY: the first `curwords` items of the array have been written; the copy is as in `push`.
        unsafe {
            let word = &mut *self.text.words.add(at);
            word.len = text.len() as u16;
            word.word = pg_sys::pnstrdup(text.as_ptr().cast(), text.len());
        }
    }

    /// The words of a query by their places, and of one place by their variants.
    pub fn words(&self) -> &[pg_sys::ParsedWord] {
        // SAFETY: the first `curwords` items of the array have been written.
        unsafe { std::slice::from_raw_parts(self.text.words, self.text.curwords as usize) }
    }

    /// Places between the last word and whatever would follow.
    pub fn places_behind(&self) -> usize {
        self.places_behind
    }

    /// A tsvector of them.
    pub fn into_tsvector(mut self) -> pg_sys::TSVector {
        // SAFETY: the words are palloc'd one by one, and nobody reads them any more.
        unsafe { pg_sys::make_tsvector(&raw mut self.text) }
    }
}

/// The bytes of a word.
pub fn lexeme(word: &pg_sys::ParsedWord) -> &[u8] {
    // SAFETY: a word points to so many bytes.
    unsafe { std::slice::from_raw_parts(word.word.cast(), word.len.into()) }
}

/// The place of a word, from 1.
pub fn place(word: &pg_sys::ParsedWord) -> u16 {
    // SAFETY: a word has a place until make_tsvector puts a list of them there.
    unsafe { word.pos.pos }
}

fn has_default_parser(config: pg_sys::Oid) -> bool {
    // SAFETY: the cache has an entry for each configuration, and raises an error where there is none;
    // it is read before anything could change it.
    unsafe { (*pg_sys::lookup_ts_config_cache(config)).prsId.to_u32() == DEFAULT_PARSER }
}
