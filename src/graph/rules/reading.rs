//! The words of a text, and the runs among them that may be names.

use std::collections::HashSet;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::sides::{is_head, means_of};
use crate::graph::name::{is_dotted, with_signs, without_possessive};
use crate::text::function_word::is_function_word_of;
use crate::text::language::NaturalLanguage;
use crate::text::sentence::sentences_interruptibly;
use crate::text::word_list::list_has;

/// Small words that may stand within a name.
const CONNECTORS: [&str; 25] = [
    "of", "the", "and", "de", "la", "von", "van", "der", "in", "for", "on", "at", "du", "del",
    "le", "al", "el", "&", "to", "des", "di", "da", "do", "dos", "bin",
];

/// Those of names in German, where the others stand between any two nouns.
const GERMAN_CONNECTORS: [&str; 5] = ["von", "van", "de", "zu", "der"];

/// Those that stand between two names as well.
const JOINING: [&str; 8] = ["and", "in", "for", "on", "at", "to", "the", "al"];

/// Letters of the longest word that may be an article.
const LONGEST_ARTICLE: usize = 3;

/// Words with capitals of the longest sentence without small letters that may be a name and not shouted.
const LONGEST_IN_CAPITALS: usize = 4;

/// Most connectors that follow each other: "University of the Arts".
const MOST_CONNECTORS: usize = 2;

/// Abbreviations before names, which their full stop does not part.
const BEFORE_NAMES: [&str; 19] = [
    "Dr", "Mr", "Mrs", "Ms", "Mx", "Prof", "St", "Gen", "Lt", "Col", "Sgt", "Capt", "Rev", "Hon",
    "Mt", "Gov", "Sen", "Rep", "Fr",
];

/// Words that begin sentences and no names, beside function words; in lower case.
const STARTERS: &str = "\
    yes no not ok okay hello thanks please note see also although because before both but during every finally \
    however furthermore moreover therefore thus hence additionally meanwhile nevertheless instead otherwise \
    yesterday today tomorrow recently later earlier currently originally initially eventually once since until \
    unless upon via per while whereas whether despite unlike like besides according based given following \
    here there now then again still yet many most much several another others none nobody everyone someone \
    mr mrs ms mx dr prof chapter section figure";

/// Small words that may stand behind one that means "of".
const ARTICLES: [&str; 5] = ["the", "der", "la", "le", "el"];

/// A word of a text.
struct NameToken<'a> {
    /// As it is written, without a possessive ending, and with signs that are of it.
    text: &'a str,
    start: usize,
    /// The number of its sentence.
    sentence: usize,
}

/// A sentence of a text.
struct NameSentence {
    place: Range<usize>,
    /// Whether it has small letters: without them capitals say nothing.
    has_small: bool,
    /// Whether it has none, but many words with capitals.
    is_shouted: bool,
}

/// The words of a text.
pub struct NameTokens<'a> {
    text: &'a str,
    language: Option<NaturalLanguage>,
    tokens: Vec<NameToken<'a>>,
    sentences: Vec<NameSentence>,
    /// Words that stand with a capital within a sentence, and words that stand without one.
    inner: HashSet<&'a str>,
    lower: HashSet<&'a str>,
}

/// A run of tokens, by the numbers of its first and its last.
#[derive(Clone, Debug)]
pub struct NameRun {
    /// The number of the first token.
    pub first: usize,
    /// The number of the last one.
    pub last: usize,
}

/// Where a word with a capital stands with the signs that are of it, and another one without a possessive ending: C++, Notepad++,
/// .NET. A full stop in front of a word with small letters is that of a sentence.
fn written_word(text: &str, start: usize, word: &str) -> Range<usize> {
    let bare = without_possessive(word);
    if bare.len() < word.len() || !word.contains(char::is_uppercase) {
        return start..start + bare.len();
    }
    let place = with_signs(text, start..start + word.len());
    let is_short = word.chars().count() < 2 || word.contains(char::is_lowercase);
    if is_short { start..place.end } else { place }
}

/// Whether a word may stand within a name without being of it.
pub fn is_connector(word: &str) -> bool {
    CONNECTORS.contains(&word)
}

impl<'a> NameTokens<'a> {
    /// Reads `text`, which is of this language.
    pub fn of(
        text: &'a str,
        language: Option<NaturalLanguage>,
        interrupt: &mut dyn FnMut(),
    ) -> Self {
        let (mut tokens, mut sentences) = (Vec::new(), Vec::new());
        for place in sentences_interruptibly(text, interrupt) {
            interrupt();
            let (sentence, first) = (sentences.len(), tokens.len());
            let words = text[place.clone()].unicode_word_indices();
            tokens.extend(words.map(|(at, word)| {
                let written = written_word(text, place.start + at, word);
                NameToken { text: &text[written.clone()], start: written.start, sentence }
            }));
            let has_small = text[place.clone()].contains(char::is_lowercase);
            let has_capital = |token: &&NameToken<'_>| token.text.contains(char::is_uppercase);
            let capitals = tokens[first..].iter().filter(has_capital).count();
            let is_shouted = !has_small && capitals > LONGEST_IN_CAPITALS;
            sentences.push(NameSentence { place, has_small, is_shouted });
        }
        let (mut inner, mut lower) = (HashSet::new(), HashSet::new());
        for at in 0..tokens.len() {
            let NameToken { text, .. } = tokens[at];
            if text.starts_with(char::is_lowercase) {
                lower.insert(text);
            } else if at > 0 && tokens[at - 1].sentence == tokens[at].sentence {
                inner.insert(text);
            }
        }
        NameTokens { text, language, tokens, sentences, inner, lower }
    }

    /// All runs of words with capitals, without words at their beginning that are of no name.
    pub fn runs(&self) -> Vec<NameRun> {
        let (mut runs, mut at) = (Vec::new(), 0);
        while at < self.tokens.len() {
            let is_shouted = self.sentences[self.tokens[at].sentence].is_shouted;
            if is_shouted || !(self.is_capital(at) || self.is_year(at)) {
                at += 1;
                continue;
            }
            let last = self.last_of_run(at);
            runs.extend(self.without_head(NameRun { first: at, last }));
            at = last + 1;
        }
        runs
    }

    /// The parts of a run that may be names by themselves, without what is no part of a name at their beginnings: a
    /// year and what follows it, what stands between small words that may join two names, and of each of these, or of the whole,
    /// what stands on both sides of an "of" or "&" between two names.
    pub fn parts(&self, run: &NameRun) -> Vec<NameRun> {
        let (mut parts, mut first) = (Vec::new(), run.first);
        if self.is_year(first) {
            parts.push(NameRun { first, last: first });
            first += 1;
        }
        let mut at = first;
        while at <= run.last {
            let small = (at..=run.last).take_while(|at| is_connector(self.written(*at))).count();
            let joins = |at: usize| JOINING.contains(&self.written(at));
            if small > 0 && at > first && (at..at + small).all(joins) {
                parts.push(NameRun { first, last: at - 1 });
                first = at + small;
            }
            at += small.max(1);
        }
        if first > run.first && first <= run.last {
            parts.push(NameRun { first, last: run.last });
        }
        let sides: Vec<NameRun> = match parts.as_slice() {
            [] => self.sides(run),
            parts => parts.iter().flat_map(|part| self.sides(part)).collect(),
        };
        parts.extend(sides);
        let is_part = |part: &NameRun| part.last - part.first < run.last - run.first;
        parts.into_iter().filter(is_part).filter_map(|part| self.without_head(part)).collect()
    }

    /// The names on both sides of each place in a run where one is said to be of the other, or that it is beside it.
    fn sides(&self, run: &NameRun) -> Vec<NameRun> {
        let (mut sides, mut rest) = (Vec::new(), run.clone());
        while let Some([left, right]) = self.divided(&rest) {
            sides.extend([left, right.clone()]);
            rest = right;
        }
        sides
    }

    /// The two sides of the first such place.
    fn divided(&self, run: &NameRun) -> Option<[NameRun; 2]> {
        // Words of names so far, up to the two that are needed.
        let mut words = 1;
        let mut at = run.first + 1;
        while at <= run.last {
            let small = (at..=run.last).take_while(|at| is_connector(self.written(*at))).count();
            let right = NameRun { first: at + small, last: run.last };
            if words > 1 && self.divides(at, small, &right) {
                return Some([NameRun { first: run.first, last: at - 1 }, right]);
            }
            words += usize::from(small == 0 && !self.is_glued(at));
            at += small.max(1);
        }
        None
    }

    /// Whether two names stand beside so many small words from `at` on, of which the right one is this run.
    fn divides(&self, at: usize, small: usize, right: &NameRun) -> bool {
        if right.first > right.last {
            return false;
        }
        let is_long = (right.first + 1..=right.last).any(|at| !self.is_glued(at));
        if small == 0 {
            return is_long && self.between(at).trim() == "&";
        }
        let words: Vec<&str> = (at..at + small).map(|at| self.written(at)).collect();
        let is_of = |word: &str| means_of(word, self.language);
        let is_alone = words.iter().all(|word| is_of(word) || ARTICLES.contains(word));
        // In other languages the word stands in the names of persons, too.
        let is_clear = is_long || words.contains(&"of");
        is_alone
            && is_clear
            && words.iter().any(|word| is_of(word))
            && !is_head(&self.written(at - 1).to_lowercase())
    }

    /// Whether a word is one with the one before it: Jean-Paul.
    fn is_glued(&self, at: usize) -> bool {
        !self.between(at).contains(char::is_whitespace)
    }

    /// What stands between a token, which is not the first, and the one before it.
    fn between(&self, at: usize) -> &'a str {
        &self.text[self.end(at - 1)..self.tokens[at].start]
    }

    /// A run without its first word, where that may be an article of another language.
    pub fn without_article(&self, run: &NameRun) -> Option<NameRun> {
        let is_short = self.written(run.first).chars().count() <= LONGEST_ARTICLE;
        let rest = NameRun { first: run.first + 1, last: run.last };
        if run.last > run.first && is_short { self.without_head(rest) } else { None }
    }

    /// Whether a run is taken for a name: any of several words, and a single word as this module's parent says.
    pub fn is_name(&self, run: &NameRun) -> bool {
        let at = run.first;
        if run.last > at || self.is_year(at) || self.is_marked(at) {
            return true;
        }
        if self.is_stop(at) || self.language == Some(NaturalLanguage::German) {
            return false;
        }
        let word = self.written(at);
        if self.is_title(at) {
            return true;
        }
        let is_common = self.lower.contains(word.to_lowercase().as_str());
        !is_common && (!self.is_first(at) || self.inner.contains(word))
    }

    /// Where a run stands in the text, in bytes.
    pub fn place(&self, run: &NameRun) -> Range<usize> {
        self.tokens[run.first].start..self.end(run.last)
    }

    /// A token as it is written, without a possessive ending, and with signs that are of it.
    pub fn written(&self, at: usize) -> &'a str {
        self.tokens[at].text
    }

    fn end(&self, at: usize) -> usize {
        self.tokens[at].start + self.tokens[at].text.len()
    }

    /// The last word with a capital that a run goes on to.
    fn last_of_run(&self, first: usize) -> usize {
        let mut last = first;
        loop {
            let mut next = last + 1;
            while next <= last + MOST_CONNECTORS && self.joins(next) && self.is_connector_here(next)
            {
                next += 1;
            }
            if !self.joins(next) || !self.is_capital(next) {
                return last;
            }
            last = next;
        }
    }

    /// The run without what is no part of a name at its beginning; `None` if nothing is left.
    fn without_head(&self, run: NameRun) -> Option<NameRun> {
        let is_of_name = |at: &usize| {
            let is_only = *at == run.last;
            let is_common = !is_only
                && self.is_first(*at)
                && self.lower.contains(self.written(*at).to_lowercase().as_str());
            let is_word = self.is_capital(*at) || self.is_year(*at);
            is_word && (self.is_marked(*at) || !self.is_stop(*at) && !is_common)
        };
        let first = (run.first..=run.last).find(is_of_name)?;
        Some(NameRun { first, ..run })
    }

    /// Whether a token goes on with the one before it.
    fn joins(&self, at: usize) -> bool {
        let (Some(before), Some(token)) =
            (self.tokens.get(at.wrapping_sub(1)), self.tokens.get(at))
        else {
            return false;
        };
        if before.sentence != token.sentence {
            return false;
        }
        let between = self.between(at);
        match between.trim() {
            "" => !between.is_empty(),
            "-" | "\u{2010}" | "\u{2011}" => between.trim() == between,
            "&" => true,
            "." => {
                let is_initial = before.text.chars().count() == 1 || is_dotted(before.text);
                is_initial && self.is_capital(at - 1) || BEFORE_NAMES.contains(&before.text)
            }
            _ => false,
        }
    }

    fn is_connector_here(&self, at: usize) -> bool {
        let word = self.written(at);
        match self.language {
            Some(NaturalLanguage::German) => GERMAN_CONNECTORS.contains(&word),
            _ => is_connector(word),
        }
    }

    fn is_first(&self, at: usize) -> bool {
        at == 0 || self.tokens[at - 1].sentence != self.tokens[at].sentence
    }

    /// Whether a single word is all that its sentence has, which is the first one or a heading.
    fn is_title(&self, at: usize) -> bool {
        let sentence = self.tokens[at].sentence;
        let is_alone = self.is_first(at)
            && self.tokens.get(at + 1).is_none_or(|next| next.sentence != sentence);
        let is_heading = self.text[self.sentences[sentence].place.clone()].starts_with('#');
        is_alone && (sentence == 0 || is_heading)
    }

    /// Whether a word has a capital, perhaps inside: "iPhone".
    fn is_capital(&self, at: usize) -> bool {
        self.written(at).contains(char::is_uppercase)
    }

    /// Whether a word has capitals beside its first letter, or a sign, or stands for words: NATO, PostgreSQL, C++, U.S. Where
    /// all letters are capitals, none says anything.
    fn is_marked(&self, at: usize) -> bool {
        let word = self.written(at);
        let has_small = self.sentences[self.tokens[at].sentence].has_small;
        let has_sign = word.ends_with(['+', '#']);
        has_small
            && (has_sign || word.chars().skip(1).any(char::is_uppercase))
            && !word.contains(['\'', '\u{2019}'])
    }

    fn is_year(&self, at: usize) -> bool {
        let word = self.written(at).as_bytes();
        word.len() == 4
            && word.iter().all(u8::is_ascii_digit)
            && (word[0] == b'1' || word[0] == b'2' && word[1] <= b'1')
    }

    /// Whether a word is of no name, such as "The", "I'm" or "However".
    fn is_stop(&self, at: usize) -> bool {
        let word = self.written(at).to_lowercase();
        let bare = word.split(['\'', '\u{2019}']).next().unwrap_or_default();
        let is_function = |word: &str| is_function_word_of(word, self.language);
        is_function(&word)
            || bare.len() < word.len() && is_function(bare)
            || list_has(STARTERS, &word)
    }
}
