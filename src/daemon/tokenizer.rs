//! # What are the tokens of this text?
//!
//! A model's own `tokenizer.json`, as two questions: which numbers does the model get
//! ([`ModelTokenizer::encode`]), and where do the tokens lie in the text
//! ([`Tokenizer::token_spans`])?
//!
//! Both would cost memory of about 100 times the text if asked of a whole document at once,
//! because the library keeps where each byte came from. So long texts are looked at in pieces.
//!
//! Every text is brought into the form of [`CanonicalText`] before. The tokenizers of most models do part of that, and none all
//! of it: that of the default model knows half-width letters and composes no Korean. Places are those of the text as it
//! was written.

use std::path::Path;

use tokenizers::models::ModelWrapper;
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::processors::PostProcessorWrapper;
use tokenizers::tokenizer::PostProcessor;
use tokenizers::{TruncationDirection, utils::parallelism};

use crate::chunk::Tokenizer;
use crate::embed::manifest::Manifest;
use crate::embed::static_table::NO_TOKEN;
use crate::error::{Error, ErrorKind, Result};
use crate::text::canonical::CanonicalText;

/// Bytes of a document that are tokenised at once.
const PIECE: usize = 64 * 1024;

/// Bytes a token has at most in most texts; only a first guess.
const BYTES_PER_TOKEN: usize = 16;

/// Tokens of a question that a reader gets: more is no question, and leaves no room for the passage.
const MOST_OF_QUESTION: usize = 128;

/// The tokens of a text, and where each lies in it, in bytes.
pub type Whole = (Vec<u32>, Vec<(usize, usize)>);

/// What a model wants around the tokens of a text.
pub struct SpecialTokens {
    /// Before them: special tokens, and those of a prefix.
    pub before: Vec<u32>,
    /// After them: special tokens.
    pub after: Vec<u32>,
    /// How many tokens of a text have room between them, one at least.
    pub room: usize,
    /// The token that fills short texts up.
    pub pad_token: u32,
}

/// A model's tokenizer.
pub struct ModelTokenizer {
    inner: tokenizers::Tokenizer,
    special: usize,
    max_tokens: usize,
    pad_token: u32,
    /// Whether tokens are the same when a text is cut before a space.
    cuts_cleanly: bool,
}

impl ModelTokenizer {
    /// Reads the tokenizer of a model. Texts of one with a table get no special tokens, and where
    /// nothing is in them, [`NO_TOKEN`]. Fails as [`ModelTokenizer::from_file`] does.
    pub fn read(manifest: &Manifest) -> Result<Self> {
        let (path, pad_token) = (manifest.tokenizer_path(), manifest.pad_token);
        let tokenizer = Self::from_file(&path, manifest.max_tokens, pad_token)?;
        Ok(if manifest.table.is_some() { tokenizer.without_special_tokens() } else { tokenizer })
    }

    /// Reads a `tokenizer.json`. Texts are cut to `max_tokens`, special tokens included;
    /// `pad_token` is used where the file names none.
    ///
    /// Fails with [`ErrorKind::FileCorrupted`] if it can't be understood or leaves no room
    /// for a text.
    pub fn from_file(path: &Path, max_tokens: u32, pad_token: u32) -> Result<Self> {
        parallelism::set_parallelism(false);
        let mut inner = tokenizers::Tokenizer::from_file(path)
            .map_err(|error| corrupted(path, &error.to_string()))?;
        let pad_token = inner.get_padding().map_or(pad_token, |padding| padding.pad_id);
        inner.with_padding(None);
        inner.with_truncation(None).map_err(|error| corrupted(path, &error.to_string()))?;
        let special = inner.get_post_processor().map_or(0, |last| last.added_tokens(false));
        let max_tokens = max_tokens as usize;
        if max_tokens <= special {
            let why = format!("{special} special tokens leave no room in {max_tokens}");
            return Err(corrupted(path, &why));
        }
        let mut tokenizer =
            ModelTokenizer { inner, special, max_tokens, pad_token, cuts_cleanly: false };
        tokenizer.cuts_cleanly = tokenizer.try_cuts()?;
        Ok(tokenizer)
    }

    fn without_special_tokens(mut self) -> Self {
        self.inner.with_post_processor(None::<PostProcessorWrapper>);
        ModelTokenizer { special: 0, pad_token: NO_TOKEN, ..self }
    }

    /// The token that fills short texts up.
    pub fn pad_token(&self) -> u32 {
        self.pad_token
    }

    /// The greatest number of a token, and one more.
    pub fn vocabulary(&self) -> usize {
        let numbers = self.inner.get_vocab(true).into_values();
        numbers.max().map_or(0, |greatest| greatest as usize + 1)
    }

    /// The token of what the vocabulary does not have. As for model2vec, a vocabulary with
    /// probabilities (Unigram) has none: the vector of its token counts like any other.
    pub fn unknown(&self) -> Option<u32> {
        let token: &str = match self.inner.get_model() {
            ModelWrapper::BPE(model) => model.get_unk_token().as_deref()?,
            ModelWrapper::WordPiece(model) => &model.unk_token,
            ModelWrapper::WordLevel(model) => &model.unk_token,
            ModelWrapper::Unigram(_) => return None,
        };
        self.inner.token_to_id(token)
    }

    /// The numbers the model gets for a text: special tokens around it, cut to the model's
    /// longest input. There is always one at least.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>> {
        let room = self.max_tokens - self.special;
        self.finish(self.encode_head(text, room)?, room)
    }

    /// The numbers a reranker gets for two texts, special tokens around and between them, and
    /// where those of the second begin. The longer text is cut first.
    pub fn encode_pair(&self, first: &str, second: &str) -> Result<(Vec<u32>, usize)> {
        let special = self.inner.get_post_processor().map_or(0, |last| last.added_tokens(true));
        let room = self.max_tokens.saturating_sub(special).max(2);
        let (mut first, mut second) =
            (self.encode_head(first, room)?, self.encode_head(second, room)?);
        // Two long texts get half each, and the longer one the odd token.
        let half = if first.len() > second.len() { room.div_ceil(2) } else { room / 2 };
        let share = half.max(room.saturating_sub(second.len()));
        first.truncate(first.len().min(share), 0, TruncationDirection::Right);
        let rest = room - first.len();
        second.truncate(second.len().min(rest), 0, TruncationDirection::Right);
        let whole = self.inner.post_process(first, Some(second), true).map_err(cannot_tokenize)?;
        let begin = whole.get_type_ids().iter().position(|kind| *kind == 1);
        match whole.get_ids() {
            [] => Ok((vec![self.pad_token], 1)),
            ids => Ok((ids.to_vec(), begin.unwrap_or(ids.len()))),
        }
    }

    /// All tokens of a text, however long, without special ones, and where each lies.
    pub fn encode_whole(&self, text: &str) -> Result<Whole> {
        let mut whole: Whole = Default::default();
        let mut start = 0;
        while start < text.len() {
            let end = if self.cuts_cleanly { next_cut(text, start, PIECE) } else { text.len() };
            let ids = self.piece_spans(&text[start..end], start, &mut whole.1)?;
            whole.0.extend_from_slice(ids.get_ids());
            start = end;
        }
        Ok(whole)
    }

    /// What stands around the tokens of a text that has this prefix.
    pub fn frame(&self, prefix: &str) -> Result<SpecialTokens> {
        let probe = self.inner.encode_fast("a", true).map_err(cannot_tokenize)?;
        let is_text: Vec<bool> =
            probe.get_special_tokens_mask().iter().map(|it| *it == 0).collect();
        let first = is_text.iter().position(|it| *it).unwrap_or(is_text.len());
        let last = is_text.iter().rposition(|it| *it).map_or(is_text.len(), |last| last + 1);
        let mut before = probe.get_ids()[..first].to_vec();
        let prefix = CanonicalText::of(prefix).text;
        before.extend_from_slice(
            self.inner.encode_fast(&*prefix, false).map_err(cannot_tokenize)?.get_ids(),
        );
        let after = probe.get_ids()[last..].to_vec();
        let room = self.max_tokens.saturating_sub(before.len() + after.len()).max(1);
        Ok(SpecialTokens { before, after, room, pad_token: self.pad_token })
    }

    /// What stands around the tokens of a passage that is read with `question`, of which no more than
    /// [`MOST_OF_QUESTION`] tokens are read, nor more than half of what the model takes.
    pub fn frame_of_pair(&self, question: &str) -> Result<SpecialTokens> {
        let probe = self.inner.encode_fast(("a", "a"), true).map_err(cannot_tokenize)?;
        let (ids, parts) = (probe.get_ids(), probe.get_sequence_ids());
        let of = |part: usize| {
            let first = parts.iter().position(|it| *it == Some(part)).unwrap_or(ids.len());
            let last =
                parts.iter().rposition(|it| *it == Some(part)).map_or(first, |last| last + 1);
            (first, last)
        };
        let ((first, behind_first), (second, behind_second)) = (of(0), of(1));
        let most = MOST_OF_QUESTION.min(self.max_tokens / 2);
        let encoding = self.encode_head(question, most)?;
        let question = &encoding.get_ids()[..encoding.len().min(most)];
        let before = [&ids[..first], question, &ids[behind_first..second]].concat();
        let after = ids[behind_second..].to_vec();
        let room = self.max_tokens.saturating_sub(before.len() + after.len()).max(1);
        Ok(SpecialTokens { before, after, room, pad_token: self.pad_token })
    }

    /// The tokens of a text without special ones: all of them, or more than `room`.
    fn encode_head(&self, text: &str, room: usize) -> Result<tokenizers::Encoding> {
        let mut window = (room * BYTES_PER_TOKEN).max(1024);
        loop {
            let head = head(text, window);
            let form = CanonicalText::of(head).text;
            let encoding = self.inner.encode_fast(&*form, false).map_err(cannot_tokenize)?;
            // Tokens near the cut may be other ones than in the whole text, so a part is
            // taken for the whole only if it gives twice the tokens that are kept.
            if head.len() == text.len() || encoding.len() >= 2 * room {
                return Ok(encoding);
            }
            window *= 4;
        }
    }

    fn finish(&self, mut encoding: tokenizers::Encoding, room: usize) -> Result<Vec<u32>> {
        encoding.truncate(room, 0, TruncationDirection::Right);
        encoding.set_overflowing(Vec::new());
        let whole = self.inner.post_process(encoding, None, true).map_err(cannot_tokenize)?;
        match whole.get_ids() {
            // Nothing of the text and no special tokens: a model can't run on no tokens.
            [] => Ok(vec![self.pad_token]),
            ids => Ok(ids.to_vec()),
        }
    }

    /// Tokenises a piece that starts at byte `start` of its document, and adds its spans.
    fn piece_spans(
        &self,
        piece: &str,
        start: usize,
        spans: &mut Vec<(usize, usize)>,
    ) -> Result<tokenizers::Encoding> {
        let form = CanonicalText::of(piece);
        let encoding = self.inner.encode(&*form.text, false).map_err(cannot_tokenize)?;
        spans.reserve(encoding.len());
        for &(from, to) in encoding.get_offsets() {
            // A token that a normaliser made of nothing has no place; it counts where it stands.
            let from = floor_boundary(&form.text, from.min(form.text.len()));
            let to = ceil_boundary(&form.text, to.clamp(from, form.text.len()));
            let place = form.written(from..to);
            spans.push((start + place.start, start + place.end));
        }
        Ok(encoding)
    }

    /// Tries whether cutting before a space changes tokens; some tokenizers put a mark in
    /// front of every text.
    fn try_cuts(&self) -> Result<bool> {
        let text = "Alpha beta, gamma: delta epsilon.\nZeta 12 x";
        let mut whole = Vec::new();
        self.piece_spans(text, 0, &mut whole)?;
        for (cut, _) in text.match_indices([' ', '\n']) {
            let mut pieces = Vec::new();
            self.piece_spans(&text[..cut], 0, &mut pieces)?;
            self.piece_spans(&text[cut..], cut, &mut pieces)?;
            if pieces != whole {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Tokenizer for ModelTokenizer {
    fn token_spans(&self, text: &str) -> Result<Vec<(usize, usize)>> {
        let mut spans = Vec::with_capacity(text.len() / 4);
        let mut start = 0;
        while start < text.len() {
            let end = if self.cuts_cleanly { next_cut(text, start, PIECE) } else { text.len() };
            self.piece_spans(&text[start..end], start, &mut spans)?;
            start = end;
        }
        Ok(spans)
    }

    fn special_tokens(&self) -> usize {
        self.special
    }

    /// BERT's pre-tokenizer splits at white space and drops it.
    fn splits_at_white_space(&self) -> bool {
        matches!(self.inner.get_pre_tokenizer(), Some(PreTokenizerWrapper::BertPreTokenizer(_)))
    }
}

/// The first `window` bytes, or a few less or more so that no word is cut.
fn head(text: &str, window: usize) -> &str {
    if window >= text.len() { text } else { &text[..next_cut(text, 0, window)] }
}

/// Where a piece that starts at `start` and has about `size` bytes may end: before a white
/// space that stands alone between two letters or digits, or at the end of the text.
///
/// A text without such a place within `size` further bytes is cut at any character that is not
/// within a word of ASCII letters or digits. Scripts without spaces are cut that way, which at
/// worst makes two tokens of one.
fn next_cut(text: &str, start: usize, size: usize) -> usize {
    let bytes = text.as_bytes();
    let goal = start + size;
    if goal >= bytes.len() {
        return bytes.len();
    }
    let limit = (goal + size).min(bytes.len() - 1);
    let is_good = |at: &usize| {
        matches!(bytes[*at], b' ' | b'\n')
            && bytes[*at - 1].is_ascii_alphanumeric()
            && bytes[*at + 1].is_ascii_alphanumeric()
    };
    (goal..limit).find(is_good).unwrap_or_else(|| word_end(text, limit))
}

/// The first place from `at` on that is not inside a word.
fn word_end(text: &str, at: usize) -> usize {
    let at = ceil_boundary(text, at);
    let rest = &text[at..];
    let inside = |c: char| c.is_alphanumeric() && c.is_ascii();
    rest.find(|c: char| !inside(c)).map_or(text.len(), |offset| at + offset)
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

fn cannot_tokenize(error: tokenizers::Error) -> Error {
    Error::new(ErrorKind::Internal, format!("cannot tokenize: {error}"))
}

fn corrupted(path: &Path, why: &str) -> Error {
    let message = format!("cannot understand \"{}\": {why}", path.display());
    Error::new(ErrorKind::FileCorrupted, message)
}

#[cfg(test)]
#[path = "tokenizer_tests.rs"]
mod tests;
