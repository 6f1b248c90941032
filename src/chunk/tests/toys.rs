//! Tokenizers in small.

use crate::chunk::Tokenizer;
use crate::error::Result;

/// One token for each match of a rule; what `chunk` has to cope with, in small.
pub(super) struct Toy {
    pub(super) name: &'static str,
    pub(super) split: fn(&str) -> Vec<(usize, usize)>,
    pub(super) special: usize,
    pub(super) splits_at_white_space: bool,
}

impl Tokenizer for Toy {
    fn token_spans(&self, text: &str) -> Result<Vec<(usize, usize)>> {
        Ok((self.split)(text))
    }

    fn special_tokens(&self) -> usize {
        self.special
    }

    fn splits_at_white_space(&self) -> bool {
        self.splits_at_white_space
    }
}

pub(super) const TOYS: &[Toy] = &[
    Toy { name: "characters", split: characters, special: 0, splits_at_white_space: false },
    Toy { name: "words", split: words, special: 2, splits_at_white_space: true },
    Toy { name: "words, checked", split: words, special: 2, splits_at_white_space: false },
    Toy { name: "graphemes", split: graphemes, special: 1, splits_at_white_space: false },
    Toy { name: "word pieces", split: word_pieces, special: 2, splits_at_white_space: true },
    Toy { name: "pairs", split: pairs, special: 2, splits_at_white_space: false },
    Toy { name: "bytes", split: bytes, special: 2, splits_at_white_space: false },
];

fn characters(text: &str) -> Vec<(usize, usize)> {
    text.char_indices().map(|(at, c)| (at, at + c.len_utf8())).collect()
}

fn words(text: &str) -> Vec<(usize, usize)> {
    let offset = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
    text.split_whitespace().map(|word| (offset(word), offset(word) + word.len())).collect()
}

fn graphemes(text: &str) -> Vec<(usize, usize)> {
    use unicode_segmentation::UnicodeSegmentation;
    text.grapheme_indices(true).map(|(at, g)| (at, at + g.len())).collect()
}

/// Like WordPiece: up to four characters a token, but a word over 100 characters is unknown
/// and one token, and control characters have none.
fn word_pieces(text: &str) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    for (start, end) in words(text) {
        let word = &text[start..end];
        if word.chars().count() > 100 {
            spans.push((start, end));
            continue;
        }
        let known: Vec<_> = word.char_indices().filter(|(_, c)| !c.is_control()).collect();
        for piece in known.chunks(4) {
            let (last, character) = piece[piece.len() - 1];
            spans.push((start + piece[0].0, start + last + character.len_utf8()));
        }
    }
    spans
}

/// Like byte pair encoding: where a pair begins depends on all of the text before, white
/// space is part of tokens, and the text's beginning is a token of its own.
fn pairs(text: &str) -> Vec<(usize, usize)> {
    let mut spans = vec![(0, 0)];
    let mut open: Option<(usize, char)> = None;
    for (at, character) in text.char_indices() {
        let end = at + character.len_utf8();
        match open.take() {
            Some((start, first)) if !(first as u32 + character as u32).is_multiple_of(3) => {
                spans.push((start, end));
            }
            Some((start, _)) => {
                spans.push((start, at));
                open = Some((at, character));
            }
            None => open = Some((at, character)),
        }
    }
    spans.extend(open.map(|(start, _)| (start, text.len())));
    spans
}

fn bytes(text: &str) -> Vec<(usize, usize)> {
    (0..text.len()).map(|at| (at, at + 1)).collect()
}
