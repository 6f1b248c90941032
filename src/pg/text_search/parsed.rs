//! The words of a text with their places, as PostgreSQL's tsearch/ts_utils.h has them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::mem::size_of;

use pgrx::pg_sys;

use crate::text::accent::without_accents;
use crate::text::bigram::{Bigram, TextPart, UnspacedRun, parts};
use crate::text::joined_name::{Stretch, joined_names, stretches};
use crate::text::lookup_form::{composed, typed};
use crate::text::number::{grouped_numbers, with_ascii_digits};

/// PostgreSQL's own parser, `default` in pg_ts_parser. A configuration with another one, such as that of
/// an extension for Chinese, knows how to cut a text, and is given it whole.
const DEFAULT_PARSER: u32 = 3722;

/// The last place that a tsvector can tell from others.
const LAST_PLACE: i32 = pg_sys::MAXENTRYPOS as i32 - 1;

/// Added to the variant of a word that stands for another spelling of the text: all words of one are wanted together.
const TYPED: u16 = 0x8000;
const AS_WRITTEN: u16 = 0x4000;

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
            parsed.add_numbers(text, role);
            return parsed;
        }
        let letters = composed(text);
        parsed.add(config, &letters, role);
        // Rows of before have the words as they were written then.
        if role != TextRole::Document && *letters != *text {
            let mut written = ParsedWords::with_room_for(text.len());
            written.add(config, text, role);
            // Where they stand decides for a phrase alone.
            if role == TextRole::Question || written.text.pos == parsed.text.pos {
                parsed.add_variants(0, &written, AS_WRITTEN);
                parsed.put_in_order(0, role);
            }
        }
        parsed
    }

    /// Adds the words of `text`, part by part.
    fn add(&mut self, config: pg_sys::Oid, text: &str, role: TextRole) {
        let interrupt = &mut || {
            pgrx::check_for_interrupts!();
        };
        for part in parts(text, interrupt) {
            pgrx::check_for_interrupts!();
            self.places_behind = 0;
            match part {
                TextPart::Spaced(text) => self.spaced(config, &text, role),
                TextPart::Unspaced(run) => self.unspaced(&run, role),
            }
        }
        self.add_numbers(text, role);
    }

    /// As PostgreSQL's to_tsvector reckons, a word for six bytes.
    pub(super) fn with_room_for(bytes: usize) -> ParsedWords {
        let most = MOST_BYTES / size_of::<pg_sys::ParsedWord>();
        let room = (bytes / 6).clamp(2, most);
        // SAFETY: palloc returns so many bytes, aligned for any type; none is read before it is written.
        let words = unsafe { pg_sys::palloc(room * size_of::<pg_sys::ParsedWord>()).cast() };
        let text = pg_sys::ParsedText { words, lenwords: room as i32, curwords: 0, pos: 0 };
        ParsedWords { text, places_behind: 0 }
    }

    /// What is found with and without its accents is asked for without them, so that a word counts once. So with digits of
    /// other scripts.
    fn spaced(&mut self, config: pg_sys::Oid, text: &str, role: TextRole) {
        let known = self.text.curwords as usize;
        match role {
            TextRole::Query => self.parse_spellings(config, text),
            TextRole::Document | TextRole::Question => self.parse_with_names(config, text),
        }
        for at in known..self.text.curwords as usize {
            pgrx::check_for_interrupts!();
            let word = &self.words()[at];
            let folded = std::str::from_utf8(lexeme(word)).ok().and_then(folded);
            let Some(folded) = folded else { continue };
            let (pos, flags) = (place(word), word.flags);
            match role {
                TextRole::Document => self.push(&folded, pos, flags),
                TextRole::Query | TextRole::Question => self.replace(at, &folded),
            }
        }
        self.put_in_order(known, role);
    }

    /// Adds what numbers may mean that are written with signs between their digits, in the place where each begins:
    /// "1,250.00" is found by 1250, too. A query asks for what is written.
    fn add_numbers(&mut self, text: &str, role: TextRole) {
        if role == TextRole::Query {
            return;
        }
        let numbers = grouped_numbers(text);
        if numbers.is_empty() {
            return;
        }
        let mut known: HashMap<String, Vec<u16>> = HashMap::new();
        for word in self.words() {
            let text = String::from_utf8_lossy(lexeme(word));
            let number = text.trim_start_matches(['-', '+']);
            if number.starts_with(|c: char| c.is_ascii_digit()) {
                known.entry(number.to_owned()).or_default().push(place(word));
            }
        }
        known.values_mut().for_each(|places| places.sort_unstable());
        let mut last = 0;
        for number in numbers {
            pgrx::check_for_interrupts!();
            let next = |word: &String| {
                let places = known.get(word)?;
                places.get(places.partition_point(|it| *it < last)).copied()
            };
            // A number in a tag or an address is no word.
            let Some(begin) = number.beginnings().iter().find_map(next) else { continue };
            last = begin;
            number.values.iter().for_each(|value| self.push(value, begin, 0));
        }
    }

    /// Adds the words that PostgreSQL's parser finds.
    fn parse(&mut self, config: pg_sys::Oid, text: &str) {
        let bytes = text.as_ptr().cast_mut().cast();
        // SAFETY: parsetext reads so many bytes, which are not of a constant to it only in its
        // declaration, and adds the words that it finds to a ParsedText with a palloc'd array.
        unsafe { pg_sys::parsetext(config, &raw mut self.text, bytes, text.len() as i32) };
    }

    /// Adds these and, in the places of those, the ones that it finds where the text is typed without accents: a stemmer
    /// takes such a word for another one. A stop word with accents stays one.
    pub(super) fn parse_spellings(&mut self, config: pg_sys::Oid, text: &str) {
        let (known, begin) = (self.text.curwords as usize, self.text.pos);
        self.parse(config, text);
        let Some(text) = typed(text) else { return };
        let mut others = ParsedWords::with_room_for(text.len());
        others.text.pos = begin;
        others.parse(config, &text);
        self.add_variants(known, &others, TYPED);
    }

    /// Adds those of `others` that are not among the words from `known` on, in places that have one, as a variant of
    /// what stands there.
    fn add_variants(&mut self, known: usize, others: &ParsedWords, variant: u16) {
        let new: Vec<pg_sys::ParsedWord> = {
            let own = self.words()[known..].iter();
            let own: HashSet<(u16, &[u8])> = own.map(|it| (place(it), lexeme(it))).collect();
            let places: HashSet<u16> = own.iter().map(|(place, _)| *place).collect();
            let is_new = |it: &&pg_sys::ParsedWord| {
                places.contains(&place(it)) && !own.contains(&(place(it), lexeme(it)))
            };
            others.words().iter().filter(is_new).copied().collect()
        };
        for word in new {
            pgrx::check_for_interrupts!();
            self.push_word(pg_sys::ParsedWord { nvariant: word.nvariant | variant, ..word });
        }
    }

    /// Puts the words of a query from `known` on in the order of their places, those of another spelling behind the
    /// others of their place, and leaves out spellings that say nothing new. In a tsvector they have an order anyway.
    fn put_in_order(&mut self, known: usize, role: TextRole) {
        if role != TextRole::Query {
            return;
        }
        let mut words = self.words()[known..].to_vec();
        words.sort_by_key(|word| (place(word), word.nvariant & (TYPED | AS_WRITTEN)));
        let mut kept: Vec<pg_sys::ParsedWord> = Vec::with_capacity(words.len());
        for variant in words.chunk_by(|a, b| place(a) == place(b) && a.nvariant == b.nvariant) {
            let here = kept.iter().filter(|it| place(it) == place(&variant[0]));
            let here: Vec<&[u8]> = here.map(lexeme).collect();
            let is_own = variant[0].nvariant & (TYPED | AS_WRITTEN) == 0;
            if is_own || variant.iter().any(|it| !here.contains(&lexeme(it))) {
                kept.extend_from_slice(variant);
            }
        }
        self.text.curwords = known as i32;
        kept.into_iter().for_each(|word| self.push_word(word));
    }

    /// Adds these and, in the place where a joined name begins, the name, its words and how else it is written.
    fn parse_with_names(&mut self, config: pg_sys::Oid, text: &str) {
        for stretch in stretches(text) {
            pgrx::check_for_interrupts!();
            let run = match stretch {
                Stretch::Plain(text) => {
                    self.parse_spellings(config, text);
                    continue;
                }
                Stretch::Joined(run) => run,
            };
            let known = self.text.curwords as usize;
            let begin = self.text.pos.saturating_add(1).clamp(1, LAST_PLACE) as u16;
            self.parse_spellings(config, run);
            let found = joined_names(run);
            let mut words = ParsedWords::with_room_for(run.len());
            words.parse_spellings(config, &found.words.join(" "));
            let words = words.words().iter().map(lexeme);
            for add in found.names.iter().map(String::as_bytes).chain(words) {
                if !self.words()[known..].iter().any(|it| lexeme(it) == add) {
                    self.push(&String::from_utf8_lossy(add), begin, 0);
                }
            }
            self.add_written(config, run, known, begin);
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

    pub(super) fn push(&mut self, text: &str, pos: u16, flags: u16) {
        // SAFETY: pnstrdup copies so many bytes and puts a NUL behind them.
        let word = unsafe { pg_sys::pnstrdup(text.as_ptr().cast(), text.len()) };
        self.push_word(pg_sys::ParsedWord {
            len: text.len() as u16,
            nvariant: 1,
            pos: pg_sys::ParsedWord__bindgen_ty_1 { pos },
            flags,
            word,
            alen: 0,
        });
    }

    /// Adds a word whose text is palloc'd, as those are that parsetext finds.
    fn push_word(&mut self, word: pg_sys::ParsedWord) {
        let all = &mut self.text;
        // SAFETY: `words` is a palloc'd array with room for `lenwords`, which is more than `curwords` when
        // it is written to.
        unsafe {
            if all.curwords == all.lenwords {
                all.lenwords *= 2;
                let bytes = all.lenwords as usize * size_of::<pg_sys::ParsedWord>();
                all.words = pg_sys::repalloc(all.words.cast(), bytes).cast();
            }
            all.words.add(all.curwords as usize).write(word);
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

/// A lexeme without its accents and with the digits of ASCII; `None` where that is the lexeme itself.
fn folded(lexeme: &str) -> Option<String> {
    let plain = without_accents(lexeme);
    let digits = match with_ascii_digits(plain.as_deref().unwrap_or(lexeme)) {
        Cow::Owned(digits) => Some(digits),
        Cow::Borrowed(_) => None,
    };
    digits.or(plain)
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
