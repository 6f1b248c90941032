//! Which lines are a paragraph, an item of a list or a table?

use super::layout::{LayoutBlock, LayoutKind, TextSegment};
use crate::text::script::is_chinese_or_japanese;

/// How far apart baselines on one line may be, in sizes of the letters.
const BASELINE: f32 = 0.45;

/// Rows that a table has at least.
const ROWS: usize = 3;

/// Segments side by side.
struct PdfLine {
    segments: Vec<TextSegment>,
    y: f32,
    size: f32,
}

impl PdfLine {
    fn left(&self) -> f32 {
        self.segments.first().map_or(0.0, |segment| segment.left)
    }

    fn right(&self) -> f32 {
        self.segments.last().map_or(0.0, |segment| segment.right)
    }

    fn text(&self) -> String {
        self.segments.iter().map(|segment| &*segment.text).collect::<Vec<_>>().join(" ")
    }
}

/// The blocks of a group of segments, from top to bottom.
pub fn blocks(segments: Vec<TextSegment>) -> Vec<LayoutBlock> {
    let lines = lines(segments);
    let pitch = pitch(&lines);
    let right = lines.iter().map(PdfLine::right).fold(f32::NEG_INFINITY, f32::max);
    let mut blocks: Vec<LayoutBlock> = Vec::new();
    let mut place = 0;
    while place < lines.len() {
        let rows = table_rows(&lines[place..]);
        if rows > 0 {
            blocks.push(table(&lines[place..place + rows]));
            place += rows;
            continue;
        }
        let line = &lines[place];
        let before = place.checked_sub(1).map(|before| &lines[before]);
        match (blocks.last_mut(), before) {
            (Some(block), Some(before))
                if !matches!(block.kind, LayoutKind::Table(_))
                    && goes_on(before, line, pitch, right) =>
            {
                join(&mut block.text, &line.text());
            }
            _ => blocks.push(begin(line)),
        }
        place += 1;
    }
    blocks
}

/// Segments with nearly the same baseline are one line.
fn lines(mut segments: Vec<TextSegment>) -> Vec<PdfLine> {
    segments.sort_by(|a, b| a.y.total_cmp(&b.y));
    let mut lines: Vec<PdfLine> = Vec::new();
    for segment in segments {
        match lines.last_mut() {
            Some(line) if segment.y - line.y <= BASELINE * line.size.min(segment.size) => {
                line.size = line.size.max(segment.size);
                line.segments.push(segment);
            }
            _ => {
                let (y, size) = (segment.y, segment.size);
                lines.push(PdfLine { segments: vec![segment], y, size });
            }
        }
    }
    lines.iter_mut().for_each(|line| line.segments.sort_by(|a, b| a.left.total_cmp(&b.left)));
    lines
}

/// The usual distance between lines, in sizes of the letters.
fn pitch(lines: &[PdfLine]) -> f32 {
    let mut steps: Vec<f32> = lines
        .windows(2)
        .filter(|two| is_same_size(&two[0], &two[1]))
        .map(|two| (two[1].y - two[0].y) / two[1].size)
        .filter(|step| *step < 3.0)
        .collect();
    steps.sort_by(f32::total_cmp);
    // Paragraphs are longer than they are many, so most steps are inside of one.
    steps.get(steps.len() / 3).copied().unwrap_or(1.2)
}

fn is_same_size(a: &PdfLine, b: &PdfLine) -> bool {
    (a.size - b.size).abs() <= 0.1 * a.size.max(b.size)
}

/// Whether `line` belongs to the paragraph of `before`. `right` is where full lines end.
fn goes_on(before: &PdfLine, line: &PdfLine, pitch: f32, right: f32) -> bool {
    let gap = (line.y - before.y) / line.size;
    let is_indented = line.left() - before.left() > 0.8 * line.size && !is_item(before);
    let is_short = right - before.right() > 0.25 * (right - before.left());
    let text = before.text();
    let ends = text.ends_with(['.', '!', '?', ':', '。', '！', '？']);
    is_same_size(before, line)
        && gap <= pitch * 1.3
        && !is_indented
        && !(is_short && ends)
        && !is_item(line)
}

fn is_item(line: &PdfLine) -> bool {
    marker(&line.text()).is_some()
}

/// The marker with which an item begins, as Markdown has it, and the length of what it was.
fn marker(text: &str) -> Option<(String, usize)> {
    let (first, _) = text.split_once(' ')?;
    let is_bullet = matches!(
        first,
        "•" | "‣"
            | "◦"
            | "▪"
            | "▸"
            | "●"
            | "○"
            | "■"
            | "·"
            | "–"
            | "-"
            | "*"
            | "\u{f0b7}"
            | "\u{f0a7}"
    );
    let digits = first.strip_suffix(['.', ')']).unwrap_or("");
    let is_number = (1..=3).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    match () {
        () if is_bullet => Some(("-".to_owned(), first.len())),
        () if is_number => Some((format!("{digits}."), first.len())),
        () => None,
    }
}

fn begin(line: &PdfLine) -> LayoutBlock {
    let text = line.text();
    let (kind, text) = match marker(&text) {
        Some((marker, length)) => {
            (LayoutKind::Item(marker), text[length..].trim_start().to_owned())
        }
        None => (LayoutKind::Paragraph, text),
    };
    LayoutBlock { kind, text, size: line.size }
}

/// Adds a line to a paragraph. A word that was cut at the end of the line becomes whole;
/// Chinese and Japanese have no spaces between lines.
fn join(text: &mut String, line: &str) {
    let last = text.chars().next_back();
    let before = text.chars().rev().nth(1);
    let first = line.chars().next();
    let is_cut = last == Some('-')
        && before.is_some_and(char::is_alphabetic)
        && first.is_some_and(char::is_lowercase);
    let has_no_space =
        last.is_some_and(is_chinese_or_japanese) && first.is_some_and(is_chinese_or_japanese);
    if is_cut {
        text.pop();
    } else if !has_no_space {
        text.push(' ');
    }
    text.push_str(line);
}

/// How many of the lines are rows of one table: each has the same number of cells, at least
/// two, one below the other.
fn table_rows(lines: &[PdfLine]) -> usize {
    let cells = lines.first().map_or(0, |line| line.segments.len());
    if cells < 2 {
        return 0;
    }
    let mut columns: Vec<(f32, f32)> = vec![(f32::INFINITY, f32::NEG_INFINITY); cells];
    let mut rows = 0;
    for line in lines.iter().take_while(|line| line.segments.len() == cells) {
        let mut wider = columns.clone();
        for (column, segment) in wider.iter_mut().zip(&line.segments) {
            let is_below = rows == 0 || segment.left < column.1 && segment.right > column.0;
            if !is_below {
                return enough(rows);
            }
            *column = (column.0.min(segment.left), column.1.max(segment.right));
        }
        if wider.windows(2).any(|two| two[0].1 >= two[1].0) {
            return enough(rows);
        }
        columns = wider;
        rows += 1;
    }
    enough(rows)
}

fn enough(rows: usize) -> usize {
    if rows >= ROWS { rows } else { 0 }
}

fn table(lines: &[PdfLine]) -> LayoutBlock {
    let cells = |line: &PdfLine| line.segments.iter().map(|segment| segment.text.clone()).collect();
    let rows = lines.iter().map(cells).collect();
    let size = lines.first().map_or(0.0, |line| line.size);
    LayoutBlock { kind: LayoutKind::Table(rows), text: String::new(), size }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(text: &str, left: f32, y: f32, size: f32) -> TextSegment {
        let right = left + text.chars().count() as f32 * size / 2.0;
        TextSegment { text: text.to_owned(), left, right, y, size }
    }

    /// Lines of one column, each with the distance to the one before it.
    fn check(lines: &[(&str, f32)], expected: &[&str]) {
        let mut y = 0.0;
        let mut segments = Vec::new();
        for (text, step) in lines {
            y += step;
            segments.push(segment(text, 0.0, y, 10.0));
        }
        let found = blocks(segments);
        let texts: Vec<String> = found
            .iter()
            .map(|block| match &block.kind {
                LayoutKind::Item(marker) => format!("{marker} {}", block.text),
                _ => block.text.clone(),
            })
            .collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn paragraphs() {
        let long = "a line of the usual length that";
        check(&[(long, 0.0), (long, 12.0), (long, 12.0)], &[&[long; 3].join(" ")]);
        check(
            &[(long, 0.0), (long, 12.0), (long, 20.0), (long, 12.0)],
            &[&[long; 2].join(" "), &[long; 2].join(" ")],
        );
        check(&[(long, 0.0), ("ends.", 12.0), (long, 12.0)], &[&format!("{long} ends."), long]);
        check(
            &[("a word that was hyphen-", 0.0), ("ated at the end of", 12.0)],
            &["a word that was hyphenated at the end of"],
        );
        check(&[("northern and East-", 0.0), ("West", 12.0)], &["northern and East- West"]);
        check(&[("日本語の文章は", 0.0), ("つながる", 12.0)], &["日本語の文章はつながる"]);
    }

    #[test]
    fn items() {
        check(
            &[("• one", 0.0), ("• two", 12.0), ("3) three", 12.0)],
            &["- one", "- two", "3. three"],
        );
        check(&[("1984 was a year", 0.0)], &["1984 was a year"]);
    }

    #[test]
    fn tables() {
        let row = |n: usize, cells: &[&str]| {
            let one = |(place, text): (usize, &&str)| {
                segment(text, place as f32 * 100.0, n as f32 * 12.0, 10.0)
            };
            cells.iter().enumerate().map(one).collect::<Vec<_>>()
        };
        let page = [row(0, &["Name", "Age"]), row(1, &["Ann", "42"]), row(2, &["Bob", "7"])];
        let found = blocks(page.concat());
        let rows = [["Name", "Age"], ["Ann", "42"], ["Bob", "7"]];
        let rows = rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].kind, LayoutKind::Table(rows));
        let found = blocks(page[..2].concat());
        assert_eq!(found[0].kind, LayoutKind::Paragraph);
    }
}
