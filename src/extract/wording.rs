//! # wording: how is the evidence put?
//!
//! ```text
//! evidence in reading order → "First sentence. Second one. [1] From elsewhere. [2]"
//! ```
//!
//! Sentences and rows run on in a paragraph; lists and code have lines of their own. Code stands between
//! fences whatever the format, as brackets in it are none of the answer's; who shows plain text indents it.

use std::ops::Range;

use serde::Deserialize;

use super::ExtractPassage;
use super::choice::ChosenUnit;
use super::markup::plain;
use super::part::{PartKind, UnitPart};
use super::title::is_title_line;
use super::unit::{Unit, joint};
use super::wrapping::ends_with_sentence;
use crate::text::marker::without_markers;
use crate::text::script::is_chinese_or_japanese;

/// Longest item, in characters, that stands in a line with others.
const LONGEST_INLINE_ITEM: usize = 40;

/// What an item ends with that needs no sign between it and the next one.
const SENTENCE_ENDS: [char; 12] = ['.', '!', '?', ';', ':', ',', '…', '。', '！', '？', '；', '：'];

/// What markup an answer has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerFormat {
    /// None: emphasis, links and tags of the sources are left out, and code is indented.
    #[default]
    Plain,
    /// That of the sources, and fences around code.
    Markdown,
}

/// The answer's text: what stands together in a passage is cited together.
pub(super) fn word(
    passages: &[ExtractPassage],
    chosen: &[ChosenUnit],
    format: AnswerFormat,
) -> String {
    let together = |one: &ChosenUnit, next: &ChosenUnit| {
        one.last + 1 == next.first && one.passage == next.passage
    };
    let mut answer = AnswerText::default();
    let mut headline = None;
    for group in chosen.chunk_by(together) {
        let passage = &passages[group[0].passage];
        answer.number = passage.number;
        // Where a piece is shown with its heading, one under another is, too, or it would be read under the first.
        let has_headline = group.iter().any(|it| it.is_headed);
        for (at, chosen) in group.iter().enumerate() {
            let mut pieces = pieces(chosen.unit, passage.content, format);
            let above = chosen.headline.filter(|_| has_headline);
            let above = above.map(|it| (chosen.passage, it));
            let is_new = above != headline && !chosen.begins_with_headline();
            if let Some((_, above)) = above.filter(|_| is_new) {
                let heading = above.text(passage);
                pieces = headed(quoted_sentence(heading.trim_end_matches(':'), format), pieces);
            }
            headline = above;
            let before = at.checked_sub(1).map(|it| group[it].unit.range().end);
            let start = chosen.unit.range().start;
            answer.is_unspaced = before.is_some_and(|it| is_unspaced(passage.content, it..start));
            let above = at.checked_sub(1).map(|it| group[it].unit);
            answer.is_titled = above.is_some_and(|it| is_titled(passage.content, it, chosen.unit));
            pieces.into_iter().for_each(|piece| answer.add(piece));
        }
        answer.cite();
    }
    answer.text
}

/// What is put on a page in one go.
enum TextPiece {
    /// Words that go on in the paragraph.
    Words(String),
    /// Those of an item, parted from another one.
    Item(String),
    /// Words with a line of their own beside others.
    Row(String),
    /// Lines below the words before them.
    List(String),
    /// A fenced block.
    Code(String),
}

/// The answer so far.
#[derive(Default)]
struct AnswerText {
    text: String,
    /// What the marker at the next end is to cite.
    words: String,
    /// The number that is cited.
    number: u32,
    /// Whether what is put next begins a paragraph.
    is_block: bool,
    /// Whether the words end with a row.
    ends_line: bool,
    /// Whether they end with an item.
    ends_item: bool,
    /// Whether a marker stands behind something of what is cited together.
    is_cited: bool,
    /// Whether no space parts what is put next from what stands before it, as in the source.
    is_unspaced: bool,
    /// Whether what stands before it is its title.
    is_titled: bool,
}

impl AnswerText {
    fn add(&mut self, piece: TextPiece) {
        match piece {
            TextPiece::Words(words) => {
                let joint = match (self.is_titled, self.is_unspaced) {
                    (true, _) if self.words.ends_with(is_chinese_or_japanese) => "：",
                    (true, _) => ": ",
                    (false, true) => "",
                    (false, false) => " ",
                };
                self.put(&words, joint);
            }
            TextPiece::Item(words) => {
                let is_open = self.ends_item && !self.words.ends_with(SENTENCE_ENDS);
                self.put(&words, if is_open { "; " } else { " " });
                self.ends_item = true;
            }
            TextPiece::Row(words) => {
                self.put(&words, "\n");
                self.ends_line = true;
            }
            TextPiece::List(lines) => {
                self.is_block |= self.words.is_empty();
                self.put(&lines, "\n");
                self.cite_words();
                self.is_block = true;
            }
            TextPiece::Code(code) => {
                self.cite_words();
                self.begin(true);
                self.text += &code;
                self.is_block = true;
            }
        }
    }

    /// Adds to what is cited next, behind `joint` or on a line of its own.
    fn put(&mut self, words: &str, joint: &str) {
        let ends_line = std::mem::take(&mut self.ends_line);
        (self.ends_item, self.is_unspaced, self.is_titled) = (false, false, false);
        if !self.words.is_empty() {
            self.words += if ends_line { "\n" } else { joint };
        }
        self.words += words;
    }

    /// Ends what is cited together. Code that no words announced has its marker below it.
    fn cite(&mut self) {
        self.cite_words();
        if !std::mem::take(&mut self.is_cited) {
            self.begin(true);
            self.text += &format!("[{}]", self.number);
        }
    }

    fn cite_words(&mut self) {
        let words = quoted(&std::mem::take(&mut self.words));
        if !words.is_empty() {
            self.begin(false);
            self.text += &format!("{words} [{}]", self.number);
            self.is_cited = true;
        }
    }

    /// Parts what comes from what stands there.
    fn begin(&mut self, is_block: bool) {
        if !self.text.is_empty() {
            self.text += if is_block || self.is_block { "\n\n" } else { " " };
        }
        self.is_block = false;
    }
}

/// Whether what lies between two sentences of `content` is no space: nothing, or the end of a line between two that
/// were written in Chinese or Japanese.
fn is_unspaced(content: &str, between: Range<usize>) -> bool {
    let Some(gap) = content.get(between.clone()) else { return false };
    let ends = content[..between.start].ends_with(is_chinese_or_japanese);
    let begins = content[between.end..].starts_with(is_chinese_or_japanese);
    ends && (gap.is_empty() || begins && gap.chars().all(|c| matches!(c, '\n' | '\r')))
}

/// Whether the piece `above` is a title on a line of its own, and `unit` the sentence below it.
fn is_titled(content: &str, above: &Unit, unit: &Unit) -> bool {
    let (title, below) = (above.range(), unit.range());
    let Some(gap) = content.get(title.end..below.start) else { return false };
    let before = content[..title.start].trim_end_matches([' ', '\t']);
    let is_own_line = (before.is_empty() || before.ends_with(['\n', '\r']))
        && gap.contains(['\n', '\r'])
        && !content[title.clone()].contains(['\n', '\r']);
    let is_text = |unit: &Unit| unit.parts.iter().all(|it| it.kind == PartKind::Sentence);
    let are_text = is_text(above) && above.parts.len() == 1 && is_text(unit);
    are_text && is_own_line && is_title_line(&content[title]) && ends_with_sentence(&content[below])
}

fn pieces(unit: &Unit, content: &str, format: AnswerFormat) -> Vec<TextPiece> {
    let is_plain = format == AnswerFormat::Plain;
    if unit.is_row() {
        let rows = unit.parts.iter().map(|part| part.words(content, is_plain));
        return rows.filter(|it| !it.is_empty()).map(TextPiece::Row).collect();
    }
    // Rows that a sentence announces are shown as a list.
    let is_listed = |part: &UnitPart| part.is_item() || part.is_row();
    let alike = |one: &UnitPart, next: &UnitPart| is_listed(one) == is_listed(next);
    let mut pieces = Vec::new();
    let mut words = String::new();
    for run in unit.parts.chunk_by(alike) {
        let said: Vec<String> = run.iter().map(|part| part.words(content, is_plain)).collect();
        let is_inline = run.iter().zip(&said).all(|(part, said)| part.is_inline(said));
        // One item alone is a sentence like others.
        if is_listed(&run[0]) && unit.parts.len() > 2 && !is_inline {
            flush(&mut words, &mut pieces);
            pieces.push(TextPiece::List(lines(run, &said, content)));
            continue;
        }
        for (at, (part, said)) in run.iter().zip(said).enumerate() {
            if let PartKind::Code(language) = &part.kind {
                flush(&mut words, &mut pieces);
                let language = language.clone().map_or("", |range| &content[range]);
                pieces.push(TextPiece::Code(fenced(&content[part.range.clone()], language)));
            } else {
                let index = at + usize::from(part.is_item());
                words += if words.is_empty() { "" } else { joint(&words, index) };
                words += &said;
            }
        }
    }
    if unit.parts.last().is_some_and(UnitPart::is_item) && !words.is_empty() {
        pieces.push(TextPiece::Item(std::mem::take(&mut words)));
    }
    flush(&mut words, &mut pieces);
    pieces
}

/// `pieces` behind the `heading` that says when or since which version that is so.
fn headed(heading: String, mut pieces: Vec<TextPiece>) -> Vec<TextPiece> {
    match pieces.first_mut() {
        Some(TextPiece::Words(words) | TextPiece::Item(words) | TextPiece::Row(words)) => {
            *words = format!("{heading}: {words}");
        }
        _ => pieces.insert(0, TextPiece::Words(format!("{heading}:"))),
    }
    pieces
}

fn flush(words: &mut String, pieces: &mut Vec<TextPiece>) {
    if !words.is_empty() {
        pieces.push(TextPiece::Words(std::mem::take(words)));
    }
}

impl UnitPart {
    fn is_item(&self) -> bool {
        matches!(self.kind, PartKind::Item(_))
    }

    fn is_row(&self) -> bool {
        matches!(self.kind, PartKind::Row(..))
    }

    /// Whether it stands in a line with other items, as `words`.
    pub(super) fn is_inline(&self, words: &str) -> bool {
        self.kind == PartKind::Item(None)
            && words.chars().count() <= LONGEST_INLINE_ITEM
            && !words.ends_with(['.', '!', ';'])
    }
}

/// Items with their markers, a line each.
fn lines(items: &[UnitPart], words: &[String], content: &str) -> String {
    let line = |(part, words): (&UnitPart, &String)| match &part.kind {
        PartKind::Item(Some(number)) => format!("{} {words}", &content[number.clone()]),
        _ => format!("- {words}"),
    };
    items.iter().zip(words).map(line).collect::<Vec<_>>().join("\n")
}

/// `code` as a block, without the indentation that all its lines have, behind a fence that it
/// doesn't hold.
fn fenced(code: &str, language: &str) -> String {
    let written = code.lines().filter(|line| !line.trim().is_empty());
    let indent = written.map(|line| line.len() - line.trim_start_matches(' ').len()).min();
    let lines = code.lines().map(|line| line.get(indent.unwrap_or_default()..).unwrap_or_default());
    let runs = code.split(|sign| sign != '`').map(str::len);
    let fence = "`".repeat(3.max(runs.max().unwrap_or_default() + 1));
    let lines = lines.collect::<Vec<_>>().join("\n");
    format!("{fence}{language}\n{}\n{fence}", lines.trim_end())
}

/// A sentence of a source as an answer quotes it in front of a marker.
pub(super) fn quoted_sentence(text: &str, format: AnswerFormat) -> String {
    match format {
        AnswerFormat::Plain => quoted(&plain(text)),
        AnswerFormat::Markdown => quoted(text),
    }
}

/// `text` without anything that a reader of citations could mistake: "[12]" becomes "(12)",
/// and backticks that don't pair become apostrophes, as what stands between backticks is
/// taken for code, and the citation might come to stand there.
pub(super) fn quoted(text: &str) -> String {
    let text = if text.matches('`').count().is_multiple_of(2) && !text.contains("``") {
        text.to_string()
    } else {
        text.replace('`', "'")
    };
    // So does all that follows a fence.
    let lines: Vec<&str> = text.split('\n').map(without_fences).collect();
    without_markers(&lines.join("\n"))
}

/// A line without the fences that it begins with, blanks between them included.
fn without_fences(line: &str) -> &str {
    let mut rest = line;
    while let Some(after) = rest.trim_start().strip_prefix("~~~") {
        rest = after.trim_start();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::marker::markers;

    #[test]
    fn evidence_never_opens_a_fence() {
        for (text, expected) in [
            ("~~~x", "x"),
            ("~~~~x", "~x"),
            ("~~~ ~~~x", "x"),
            (" ~~~~~~ \t~~~ x", "x"),
            ("~~~ ~~~", ""),
            ("x ~~~ y", "x ~~~ y"),
            ("x\n~~~y\nz", "x\ny\nz"),
        ] {
            assert_eq!(quoted(text), expected, "{text:?}");
            assert_eq!(markers(&format!("{} [1]", quoted(text))).len(), 1, "{text:?}");
        }
    }

    #[test]
    fn a_title_is_told_from_the_sentence_below_it() {
        let unit = |range: Range<usize>| {
            Unit::new(vec![UnitPart { range, kind: PartKind::Sentence }], None)
        };
        for (content, is_title) in [
            ("Manual de la caldera TermoPlus 24|\n\n|La presión es de 1,5 bar.", true),
            ("Bedienungsanleitung KV-300|\n|Die Lampe blinkt.", true),
            ("扫地机器人S8使用说明|\n\n|红灯闪烁表示尘盒已满。", true),
            ("It opens at nine.|\n\n|It closes at six.", false),
            ("Opening hours|\n\n|Monday 9-18", false),
            ("Opening hours| |It closes at six.", false),
            ("Opening\nhours|\n|It closes at six.", false),
        ] {
            let [title, gap, below] = content.split('|').collect::<Vec<_>>()[..] else {
                panic!("three parts: {content}")
            };
            let start = title.len() + gap.len();
            let (above, unit) = (unit(0..title.len()), unit(start..start + below.len()));
            assert_eq!(is_titled(&content.replace('|', ""), &above, &unit), is_title, "{content}");
        }
        let content = "It is so. Opening hours\n\nIt closes at six.";
        assert!(!is_titled(content, &unit(10..23), &unit(25..content.len())));
    }

    #[test]
    fn a_title_stands_before_a_colon() {
        for (title, sentence, expected) in [
            ("Manual 24", "La presión es alta.", "Manual 24: La presión es alta. [1]"),
            ("使用说明", "红灯闪烁。", "使用说明：红灯闪烁。 [1]"),
        ] {
            let mut answer = AnswerText { number: 1, ..AnswerText::default() };
            answer.add(TextPiece::Words(title.to_owned()));
            answer.is_titled = true;
            answer.add(TextPiece::Words(sentence.to_owned()));
            answer.cite();
            assert_eq!(answer.text, expected);
        }
    }

    #[test]
    fn sentences_are_parted_as_in_the_source() {
        for (text, expected) in [
            ("好。|次", true),
            ("好。|\n|次", true),
            ("好。| |次", false),
            ("好。|\n|Next", false),
            ("Good.|\n|Next", false),
            ("Good.|Next", false),
        ] {
            let content = text.replace('|', "");
            let (before, behind) = (text.find('|').unwrap(), text.rfind('|').unwrap() - 1);
            let between = before..behind.max(before);
            assert_eq!(is_unspaced(&content, between), expected, "{text:?}");
        }
    }
}
