//! From glyphs to blocks of text in reading order.
//!
//! Glyphs that stand on one line without a wide gap are a segment. `columns` puts segments
//! into an order, and `lines` makes paragraphs of them.

use super::columns;
use super::glyphs::Glyph;
use super::lines;

/// A gap between glyphs that is a space, in sizes of the letters.
const SPACE: f32 = 0.2;

/// A gap that ends a segment: the space between columns, or between the cells of a table.
const GUTTER: f32 = 0.9;

/// How far apart baselines on one line may be: an index is lower, and an exponent higher.
const BASELINE: f32 = 0.45;

/// Letters on one line, close together.
#[derive(Clone, Debug, PartialEq)]
pub struct TextSegment {
    /// The text of the letters.
    pub text: String,
    /// Its left end, in points.
    pub left: f32,
    /// Its right end, in points.
    pub right: f32,
    /// Where its baseline is, in points; grows downwards.
    pub y: f32,
    /// The size of its letters.
    pub size: f32,
}

/// Lines that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct LayoutBlock {
    /// What the block is.
    pub kind: LayoutKind,
    /// Its text, on one line; of a table nothing.
    pub text: String,
    /// The size of its letters.
    pub size: f32,
}

/// What a block is.
#[derive(Clone, Debug, PartialEq)]
pub enum LayoutKind {
    /// Running text.
    Paragraph,
    /// An item of a list, with its marker.
    Item(String),
    /// A table: rows of cells.
    Table(Vec<Vec<String>>),
}

impl LayoutBlock {
    /// Bytes of its text.
    pub fn text_length(&self) -> usize {
        match &self.kind {
            LayoutKind::Table(rows) => rows.iter().flatten().map(String::len).sum(),
            _ => self.text.len(),
        }
    }
}

/// The blocks of a page. Text that runs in another direction than most comes last.
pub fn blocks(glyphs: Vec<Glyph>) -> Vec<LayoutBlock> {
    let mut turns: [Vec<Glyph>; 4] = Default::default();
    for glyph in glyphs {
        turns[usize::from(glyph.turn % 4)].push(glyph);
    }
    turns.sort_by_key(|glyphs| std::cmp::Reverse(glyphs.len()));
    turns.into_iter().flat_map(blocks_of_one_direction).collect()
}

fn blocks_of_one_direction(glyphs: Vec<Glyph>) -> Vec<LayoutBlock> {
    let segments = segments(glyphs);
    columns::arrange(segments).into_iter().flat_map(lines::blocks).collect()
}

/// Glyphs to segments, from top to bottom and from left to right.
fn segments(mut glyphs: Vec<Glyph>) -> Vec<TextSegment> {
    glyphs.sort_by(|a, b| a.y.total_cmp(&b.y));
    let mut segments = Vec::new();
    let mut rest = &mut glyphs[..];
    while let Some(first) = rest.first() {
        let (y, size) = (first.y, first.size);
        let length = rest
            .iter()
            .position(|glyph| glyph.y - y > BASELINE * size.max(glyph.size))
            .unwrap_or(rest.len());
        let (line, after) = rest.split_at_mut(length);
        line.sort_by(|a, b| a.x.total_cmp(&b.x));
        push_segments(line, &mut segments);
        rest = after;
    }
    segments
}

/// Cuts one line into segments.
fn push_segments(line: &[Glyph], segments: &mut Vec<TextSegment>) {
    let mut open: Vec<&Glyph> = Vec::new();
    let mut right = f32::NEG_INFINITY;
    let mut last: Option<&Glyph> = None;
    for glyph in line.iter().filter(|glyph| glyph.text != " ") {
        if last.is_some_and(|last| is_same(last, glyph)) {
            continue;
        }
        let wide = GUTTER * last.map_or(glyph.size, |last| last.size.max(glyph.size));
        if last.is_some() && glyph.x - right > wide {
            segments.extend(segment(&open, line));
            open.clear();
        }
        right = if open.is_empty() { glyph.x } else { right }.max(glyph.x + glyph.width);
        open.push(glyph);
        last = Some(glyph);
    }
    segments.extend(segment(&open, line));
}

/// Whether the second glyph was drawn over the first, to make it look bold.
fn is_same(a: &Glyph, b: &Glyph) -> bool {
    a.text == b.text && (b.x - a.x).abs() < 0.3 * a.width && (b.y - a.y).abs() < 0.3 * a.size
}

fn segment(glyphs: &[&Glyph], line: &[Glyph]) -> Option<TextSegment> {
    let first = glyphs.first()?;
    let tallest = glyphs.iter().max_by(|a, b| a.size.total_cmp(&b.size))?;
    let right = glyphs.iter().map(|glyph| glyph.x + glyph.width).fold(first.x, f32::max);
    let words = words(glyphs, line);
    (!words.trim().is_empty()).then(|| TextSegment {
        text: words.trim().to_owned(),
        left: first.x,
        right,
        y: tallest.y,
        size: tallest.size,
    })
}

/// The text of glyphs in a row: a space for a gap, and where there is one on the line.
fn words(glyphs: &[&Glyph], line: &[Glyph]) -> String {
    let mut spaces = line.iter().filter(|glyph| glyph.text == " ").map(|glyph| glyph.x).peekable();
    let mut pieces: Vec<String> = Vec::with_capacity(glyphs.len());
    let mut right = f32::INFINITY;
    for glyph in glyphs {
        let middle = glyph.x + glyph.width / 2.0;
        let mut has_space = glyph.x - right > SPACE * glyph.size;
        while spaces.next_if(|space| *space < middle).is_some() {
            has_space |= right.is_finite();
        }
        if has_space && pieces.last().is_some_and(|last| last != " ") {
            pieces.push(" ".to_owned());
        }
        pieces.push(glyph.text.clone());
        right = glyph.x + glyph.width;
    }
    in_reading_direction(pieces)
}

/// Hebrew and Arabic letters stand in the order in which they are seen, from left to right.
/// They are read from the right, but numbers and foreign words in them are not.
fn in_reading_direction(mut pieces: Vec<String>) -> String {
    let from_right = pieces.iter().filter(|piece| piece.chars().any(is_from_right)).count();
    let letters = pieces.iter().filter(|piece| piece.chars().any(char::is_alphabetic)).count();
    if from_right * 2 <= letters || from_right == 0 {
        return pieces.concat();
    }
    pieces.reverse();
    let runs_left =
        |piece: &String| piece.chars().any(|c| c.is_alphanumeric() && !is_from_right(c));
    let mut start = 0;
    while start < pieces.len() {
        let mut end = start;
        let mut kept = start;
        while end < pieces.len() && !pieces[end].chars().any(is_from_right) {
            end += 1;
            if runs_left(&pieces[end - 1]) {
                kept = end;
            }
        }
        let begins = (start..kept).find(|place| runs_left(&pieces[*place])).unwrap_or(kept);
        pieces[begins..kept].reverse();
        start = end + 1;
    }
    pieces.concat()
}

fn is_from_right(character: char) -> bool {
    matches!(character, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}')
        && character.is_alphabetic()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Glyphs of `text` from `x` on, half as wide as they are high.
    fn glyphs(text: &str, x: f32, y: f32, size: f32) -> Vec<Glyph> {
        let one = |(number, character): (usize, char)| Glyph {
            text: character.to_string(),
            x: x + number as f32 * size / 2.0,
            y,
            width: size / 2.0,
            size,
            turn: 0,
        };
        text.chars().enumerate().map(one).collect()
    }

    fn check(glyphs: Vec<Vec<Glyph>>, expected: &[&str]) {
        let found = segments(glyphs.concat());
        let texts: Vec<&str> = found.iter().map(|segment| &*segment.text).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn words_and_segments() {
        check(vec![glyphs("two words", 0.0, 0.0, 10.0)], &["two words"]);
        check(vec![glyphs("a", 0.0, 0.0, 10.0), glyphs("b", 8.0, 0.0, 10.0)], &["a b"]);
        check(vec![glyphs("a", 0.0, 0.0, 10.0), glyphs("b", 5.5, 0.0, 10.0)], &["ab"]);
        check(vec![glyphs("a", 0.0, 0.0, 10.0), glyphs("b", 30.0, 0.0, 10.0)], &["a", "b"]);
        check(vec![glyphs("b", 0.0, 20.0, 10.0), glyphs("a", 0.0, 0.0, 10.0)], &["a", "b"]);
        check(vec![glyphs("x", 0.0, 0.0, 10.0), glyphs("2", 5.0, -3.5, 7.0)], &["x2"]);
    }

    #[test]
    fn what_is_drawn_twice_is_read_once() {
        check(vec![glyphs("bold", 0.0, 0.0, 10.0), glyphs("bold", 0.4, 0.1, 10.0)], &["bold"]);
        check(vec![glyphs("  ", 0.0, 0.0, 10.0)], &[]);
    }

    #[test]
    fn right_to_left() {
        // As seen, from left to right: the words and letters are in reverse order.
        let seen: String = "שלום 42 עולם".chars().rev().collect();
        let seen = seen.replace("24", "42");
        check(vec![glyphs(&seen, 0.0, 0.0, 10.0)], &["שלום 42 עולם"]);
    }
}
