//! # as_written: how would the passage write what is asked?
//!
//! ```text
//! "Wer muss ab 1250 € die Schluessel abgeben?", "… ab 1.250,00 € … Schlüssel …" → "Wer muss ab 1.250,00 € die Schlüssel abgeben?"
//! ```
//!
//! A reader takes a number that is written otherwise for another one, and a word without its accents for one that it does not
//! know: that of the default model gives the sentence with the answer log odds of 0.2 if it is asked for "Schluessel", and of
//! 5.6 for "Schlüssel". So the question is read with what the passage has in the place of such words.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use crate::text::bigram::is_unspaced;
use crate::text::number::is_same_number;
use crate::text::number_run::sure_runs;
use crate::text::spelling::{is_typed_alike, plain};
use crate::text::words::{Word, each_word, word_places};

/// Words of a question that are looked for.
const MOST_WORDS: usize = 64;

/// A word or number of a text.
struct SpelledWord {
    /// Where it stands, in bytes.
    bytes: Range<usize>,
    /// As it is compared.
    folded: String,
    is_number: bool,
}

impl SpelledWord {
    /// What of a word of `text` has to be in another text for that to have it. The digits of other scripts are other digits
    /// to a reader.
    fn spelling<'a>(&'a self, text: &'a str) -> &'a str {
        if self.is_number { &text[self.bytes.clone()] } else { &self.folded }
    }
}

/// `question` with the spelling of `passage` for numbers that it writes otherwise, and for words that are typed without
/// accents in one of the two.
pub(super) fn as_written<'a>(question: &'a str, passage: &str) -> Cow<'a, str> {
    let asked = spelled(question, MOST_WORDS);
    let found = spelled(passage, usize::MAX);
    let known: HashSet<&str> = found.iter().map(|it| it.spelling(passage)).collect();
    let is_missing = |it: &&SpelledWord| !known.contains(it.spelling(question));
    let missing: Vec<&SpelledWord> = asked.iter().filter(is_missing).collect();
    if missing.is_empty() {
        return question.into();
    }
    // Where both have accents, a word without any is another word: "ou" is not "où".
    let may_lack_accents = are_plain(&asked) || are_plain(&found);
    let is_same = |own: &SpelledWord, other: &&SpelledWord| match (own.is_number, other.is_number) {
        (true, true) => is_same_number(&own.folded, &other.folded),
        (false, false) => may_lack_accents && is_typed_alike(&own.folded, &other.folded),
        _ => false,
    };
    let mut written = String::with_capacity(question.len());
    let mut end = 0;
    for word in missing {
        let Some(other) = found.iter().find(|other| is_same(word, other)) else { continue };
        written += &question[end..word.bytes.start];
        written += &passage[other.bytes.clone()];
        end = word.bytes.end;
    }
    match end {
        0 => question.into(),
        _ => (written + &question[end..]).into(),
    }
}

/// Whether no word has an accent.
fn are_plain(words: &[SpelledWord]) -> bool {
    words.iter().all(|it| it.folded.is_ascii() || plain(&it.folded) == it.folded)
}

/// The first `most` words of `text` and its numbers, as many words as they may have, without characters of scripts that put no
/// spaces between words.
fn spelled(text: &str, most: usize) -> Vec<SpelledWord> {
    let places: Vec<(usize, &str)> = word_places(text).take(most).collect();
    let runs = sure_runs(text, &places);
    let word = |(at, word): (usize, Word)| {
        let (start, own) = places[at];
        let next = runs.partition_point(|run| run.words.end <= at);
        match runs.get(next).filter(|run| run.words.start <= at) {
            Some(run) if run.words.start < at => None,
            Some(run) => {
                let (last, end) = places[run.words.end - 1];
                let bytes = start..last + end.len();
                Some(SpelledWord { bytes, folded: run.written.clone(), is_number: true })
            }
            None if own.starts_with(is_unspaced) && !word.is_number => None,
            None => Some(SpelledWord {
                bytes: start..start + own.len(),
                is_number: word.folded.starts_with(|c: char| c.is_ascii_digit()),
                folded: word.folded,
            }),
        }
    };
    each_word(text).take(most).enumerate().filter_map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_written_as_the_passage_is() {
        for (question, passage, expected) in [
            ("Who signs from $1250 on?", "From $1,250.00 on", "Who signs from $1,250.00 on?"),
            ("Wer zahlt 1.250,00 €?", "Sie zahlt 1 250 € am 1.", "Wer zahlt 1 250 €?"),
            ("Qui signe 1 250 € ?", "Elle signe 1250 €", "Qui signe 1250 € ?"),
            ("12000円は誰？", "手数料は１万２千円です", "１万２千円は誰？"),
            ("Who paid $36,000?", "They paid $ 36, 000 then", "Who paid $36, 000?"),
            ("नियम 47 क्या है?", "नियम ४७", "नियम ४७ क्या है?"),
            ("Wo liegen die Schluessel?", "Die Schlüssel liegen", "Wo liegen die Schlüssel?"),
            ("kirmizi isik neden yaniyor?", "Kırmızı ışık", "Kırmızı ışık neden yaniyor?"),
            ("Wo ist die Straße?", "Die Strasse ist dort", "Wo ist die Strasse?"),
            ("που ειναι το κλειδι;", "Το κλειδί είναι", "που είναι το κλειδί;"),
        ] {
            assert_eq!(as_written(question, passage), expected);
        }
    }

    #[test]
    fn what_is_another_word_stays() {
        for (question, passage) in [
            ("Who signs from $1350 on?", "From $1,250.00 on"),
            ("Who signs from $1250 on?", "From 1250 on, not $1,250.00"),
            ("Café ou thé ?", "Où est le café ?"),
            ("Ou est le thé ?", "Où est le café ?"),
            ("数据库的端口？", "數據庫"),
            ("", "Die Schlüssel"),
            ("Wo liegen die Schlüssel?", ""),
        ] {
            assert!(matches!(as_written(question, passage), Cow::Borrowed(it) if it == question));
        }
    }
}
