//! Token starts of a text whose words can be tokenized one by one.
//!
//! Texts repeat their words, and documents of one table repeat each other's. So each word is
//! tokenized once, and a hash table remembers where its tokens begin. New words are handed
//! to the tokenizer many at a time, as calls are expensive.

use std::collections::HashMap;

use super::Tokenizer;
use crate::error::Result;

/// Bytes tokenized in one go: enough to make the cost of a call small, little enough that
/// what tokenizers keep a token (about 200 bytes) stays in the cache of the processor.
pub(super) const STRETCH: usize = 16 * 1024;

/// Most bytes of words that are kept for the next document.
const MOST_BYTES: usize = 8 << 20;

/// White space that separates words for every tokenizer that splits at white space.
///
/// Form feed, vertical tab and next line are not among it: BERT takes them for control
/// characters, drops them, and so joins the words on both sides.
pub(super) fn is_separator(character: char) -> bool {
    character.is_whitespace() && !matches!(character, '\u{b}' | '\u{c}' | '\u{85}')
}

/// The words met so far and their tokens.
///
/// Belongs to one tokenizer: with another one it would give wrong counts. Kept from one
/// document to the next, it makes short documents as fast as a long one.
#[derive(Default)]
pub struct WordMemo {
    // Known words
    /// Numbers of the words, in order of first occurrence.
    numbers: HashMap<Box<str>, u32>,
    /// Bytes of the words.
    bytes: usize,
    /// For each number, where its part of `inner` ends; it begins where the one before ends.
    inner_ends: Vec<u32>,
    /// Token starts relative to their word.
    inner: Vec<u32>,
    // Work to do
    /// New words, which have no `inner_ends` yet, a line each.
    pending: String,
    /// Where the lines end.
    pending_ends: Vec<usize>,
    /// Offset and number of the words since the last flush.
    occurrences: Vec<(u32, u32)>,
}

/// Token starts of a text, and the places within words where it was cut to be tokenized.
pub(super) type StartsAndSeams = (Vec<u32>, Vec<usize>);

impl WordMemo {
    /// Where the tokens of `text` begin; words longer than [`STRETCH`] have seams.
    pub(super) fn starts(
        &mut self,
        text: &str,
        tokenizer: &dyn Tokenizer,
    ) -> Result<StartsAndSeams> {
        self.prepare();
        let (mut starts, mut seams) = (Vec::new(), Vec::new());
        for word in text.split(is_separator).filter(|word| !word.is_empty()) {
            let mut start = word.as_ptr() as usize - text.as_ptr() as usize;
            let end = start + word.len();
            while end - start > STRETCH {
                let cut = text.floor_char_boundary(start + STRETCH);
                self.add(start, &text[start..cut]);
                seams.push(cut);
                start = cut;
            }
            self.add(start, &text[start..end]);
            if self.pending.len() >= STRETCH {
                self.flush(tokenizer, &mut starts)?;
            }
        }
        self.flush(tokenizer, &mut starts)?;
        Ok((starts, seams))
    }

    /// Forgets everything if there is too much of it, or if the tokenizer failed the last
    /// time and left words without tokens.
    fn prepare(&mut self) {
        let is_complete = self.inner_ends.len() == self.numbers.len();
        if self.bytes > MOST_BYTES || !is_complete {
            *self = WordMemo::default();
        }
        self.occurrences.clear();
    }

    /// Takes in the word at byte `offset` of the text.
    fn add(&mut self, offset: usize, word: &str) {
        let number = match self.numbers.get(word) {
            Some(&number) => number,
            None => self.add_new(word),
        };
        self.occurrences.push((offset as u32, number));
    }

    /// Gives `word` a number.
    fn add_new(&mut self, word: &str) -> u32 {
        let number = self.numbers.len() as u32;
        self.numbers.insert(word.into(), number);
        self.bytes += word.len();
        self.pending.push_str(word);
        self.pending_ends.push(self.pending.len());
        self.pending.push('\n');
        number
    }

    /// Tokenizes the new words and adds the token starts of all since the last flush.
    fn flush(&mut self, tokenizer: &dyn Tokenizer, starts: &mut Vec<u32>) -> Result<()> {
        self.learn(tokenizer)?;
        for (offset, number) in self.occurrences.drain(..) {
            let number = number as usize;
            let first = number.checked_sub(1).map_or(0, |before| self.inner_ends[before]);
            let inner = &self.inner[first as usize..self.inner_ends[number] as usize];
            starts.extend(inner.iter().map(|inner| offset + inner));
        }
        Ok(())
    }

    /// Tokenizes the new words.
    fn learn(&mut self, tokenizer: &dyn Tokenizer) -> Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let mut spans = tokenizer.token_spans(&self.pending)?.into_iter().peekable();
        let mut start = 0;
        for end in self.pending_ends.drain(..) {
            let mut last = 0;
            while let Some((at, _)) = spans.next_if(|&(at, _)| at <= end) {
                // Normalization may report tokens of one character out of order.
                last = last.max(at.saturating_sub(start));
                self.inner.push(last as u32);
            }
            self.inner_ends.push(self.inner.len() as u32);
            start = end + 1;
        }
        self.pending.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    /// One token a character but for spaces; fails at "!".
    struct Letters;

    impl Tokenizer for Letters {
        fn token_spans(&self, text: &str) -> Result<Vec<(usize, usize)>> {
            if text.contains('!') {
                return Err(Error::invalid("no"));
            }
            let visible = text.char_indices().filter(|(_, c)| !c.is_whitespace());
            Ok(visible.map(|(at, c)| (at, at + c.len_utf8())).collect())
        }

        fn special_tokens(&self) -> usize {
            0
        }
    }

    #[test]
    fn words_are_remembered() {
        let mut memo = WordMemo::default();
        for text in ["", "ab", "ab c  ab\nc", " c é ab "] {
            let expected: Vec<u32> =
                Letters.token_spans(text).unwrap().into_iter().map(|(at, _)| at as u32).collect();
            assert_eq!(memo.starts(text, &Letters).unwrap(), (expected, vec![]), "{text:?}");
        }
        assert_eq!(memo.numbers.len(), 3);
    }

    #[test]
    fn a_failure_leaves_nothing_behind() {
        let mut memo = WordMemo::default();
        assert!(memo.starts("a !b c", &Letters).is_err());
        assert_eq!(memo.starts("a c", &Letters).unwrap().0, [0, 2]);
    }

    #[test]
    fn long_words_have_seams() {
        let word = "é".repeat(STRETCH);
        let (starts, seams) = WordMemo::default().starts(&word, &Letters).unwrap();
        assert_eq!((starts.len(), seams), (STRETCH, vec![STRETCH]));
    }
}
