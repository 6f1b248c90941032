//! Writes Markdown: the text of HTML, DOCX and PDF in the marks that the chunker knows.
//!
//! Only what would be taken for a heading, a code fence or raw HTML at the beginning of a line
//! is escaped: words are to be read by a model and searched for, so they stay as they are.

use super::Part;
use super::section::{self, Heading};
use crate::text::fence::looks_like_fence;
use crate::text::line::single_line;

/// Levels of lists and quotations that are indented. A document with hundreds of levels would
/// otherwise be mostly indentation.
const INDENTED: usize = 8;

/// Columns of a table, beyond which cells are left out.
const COLUMNS: usize = 256;

/// A document under construction.
pub struct MarkdownWriter {
    // Result
    text: String,
    headings: Vec<Heading>,
    // Position
    containers: Vec<Container>,
    /// The block that comes next begins a list that stands in no other.
    new_list: bool,
    // Limit
    room: usize,
}

/// A list item or a quotation.
struct Container {
    /// Before the first line of the item; taken by the first block.
    marker: Option<String>,
    /// Before all other lines.
    indent: String,
}

impl MarkdownWriter {
    /// Nothing is written any more after `room` bytes: [`MarkdownWriter::is_full`].
    pub fn new(room: usize) -> MarkdownWriter {
        MarkdownWriter {
            text: String::new(),
            headings: Vec::new(),
            containers: Vec::new(),
            new_list: true,
            room,
        }
    }

    /// Whether there was more to write than room.
    pub fn is_full(&self) -> bool {
        self.text.len() > self.room
    }

    /// A heading; `level` counts from 1. In a list or quotation it is a paragraph.
    pub fn heading(&mut self, level: u8, title: &str) {
        let title = single_line(title);
        if title.is_empty() {
            return;
        }
        if !self.containers.is_empty() {
            self.block(&escaped(&title));
            return;
        }
        let level = level.clamp(1, 6);
        let marks = "#".repeat(usize::from(level));
        let length = marks.len() + 1 + title.len();
        self.block(&format!("{marks} {title}"));
        let start = self.text.len().saturating_sub(length);
        self.headings.push(Heading { start, level, title });
    }

    /// A paragraph; lines of `text` stay lines.
    pub fn paragraph(&mut self, text: &str) {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        self.block(&lines.map(escaped).collect::<Vec<_>>().join("\n"));
    }

    /// Text whose white space matters.
    pub fn code(&mut self, text: &str) {
        let text = text.trim_end();
        let text = text.strip_prefix('\n').unwrap_or(text);
        if text.is_empty() {
            return;
        }
        let mut fence = "```".to_owned();
        while text.contains(&fence) && fence.len() < 16 {
            fence.push('`');
        }
        self.block(&format!("{fence}\n{text}\n{fence}"));
    }

    /// A table, the first row of which is its head.
    pub fn table(&mut self, rows: &[Vec<String>]) {
        let is_empty = |row: &Vec<String>| row.iter().all(|cell| cell.trim().is_empty());
        let rows: Vec<&Vec<String>> = rows.iter().filter(|row| !is_empty(row)).collect();
        let columns = rows.iter().map(|row| row.len()).max().unwrap_or(0).min(COLUMNS);
        let Some((head, body)) = rows.split_first() else { return };
        let mut lines = vec![row(head, columns), format!("|{}", " --- |".repeat(columns))];
        lines.extend(body.iter().map(|cells| row(cells, 0)));
        self.block(&lines.join("\n"));
    }

    /// Begins an item, to be closed with [`MarkdownWriter::close`]. `marker` is `-`, `1.` or the like.
    pub fn open_item(&mut self, marker: &str) {
        let indent = " ".repeat(marker.len() + 1);
        self.open(Some(format!("{marker} ")), &indent);
    }

    /// Begins a level of a list of which only the indentation is seen, to be closed with
    /// [`MarkdownWriter::close`].
    pub fn open_level(&mut self) {
        self.open(None, "  ");
    }

    /// Begins a quotation, to be closed with [`MarkdownWriter::close`].
    pub fn open_quotation(&mut self) {
        self.open(None, "> ");
    }

    fn open(&mut self, marker: Option<String>, indent: &str) {
        let is_deep = self.containers.len() >= INDENTED;
        let indent = if is_deep { "" } else { indent }.to_owned();
        self.containers.push(Container { marker, indent });
    }

    /// Ends the innermost item or quotation.
    pub fn close(&mut self) {
        self.containers.pop();
    }

    /// Ends a list: the next one is separated from it.
    pub fn end_list(&mut self) {
        self.new_list |= self.containers.is_empty();
    }

    /// One block, apart from the one before it by a blank line, unless both are items.
    fn block(&mut self, text: &str) {
        if text.is_empty() || self.is_full() {
            return;
        }
        let is_item = self.containers.iter().any(|container| container.marker.is_some());
        if !self.text.is_empty() {
            let apart = if is_item && !self.new_list { "\n" } else { "\n\n" };
            self.text.push_str(apart);
        }
        self.new_list = self.containers.is_empty();
        let indents: String = self.containers.iter().map(|c| c.indent.as_str()).collect();
        let mut first = String::new();
        for container in &mut self.containers {
            let marker = container.marker.take();
            first.push_str(marker.as_deref().unwrap_or(&container.indent));
        }
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.text.push('\n');
            }
            let before = if number == 0 { &first } else { &indents };
            self.text.push_str(if line.is_empty() { before.trim_end() } else { before });
            self.text.push_str(line);
        }
    }

    /// The sections of what was written; see [`section::split`].
    pub fn into_parts(self, title: Option<&str>) -> Vec<Part> {
        section::split(&self.text, &self.headings, title)
    }

    /// The text that was written.
    pub fn into_text(self) -> String {
        self.text
    }
}

/// The cells of one line, at least `columns`.
fn row(cells: &[String], columns: usize) -> String {
    let mut line = "|".to_owned();
    for number in 0..cells.len().min(COLUMNS).max(columns) {
        let cell = cells.get(number).map_or("", String::as_str);
        line.push(' ');
        line.push_str(&single_line(cell).replace('|', "\\|"));
        line.push_str(" |");
    }
    line
}

/// `line` so that it begins no heading, code or raw HTML, and underlines nothing.
fn escaped(line: &str) -> String {
    let marks = line.bytes().take_while(|byte| *byte == b'#').count();
    let begins_heading =
        (1..=6).contains(&marks) && line[marks..].chars().next().is_none_or(char::is_whitespace);
    let underlines = |mark: char| line.trim_end().chars().all(|c| c == mark);
    let begins_block = looks_like_fence(line) || line.starts_with('<');
    if begins_heading || begins_block || underlines('=') || underlines('-') {
        format!("\\{line}")
    } else {
        line.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(write: impl FnOnce(&mut MarkdownWriter), expected: &str) {
        let mut writer = MarkdownWriter::new(10_000);
        write(&mut writer);
        assert_eq!(writer.into_text(), expected);
    }

    fn rows(cells: &[&[&str]]) -> Vec<Vec<String>> {
        cells.iter().map(|row| row.iter().map(|cell| cell.to_string()).collect()).collect()
    }

    #[test]
    fn blocks() {
        check(
            |writer| {
                writer.heading(1, " A\n title ");
                writer.paragraph("one\n\n two ");
                writer.paragraph(" \n");
                writer.heading(9, "deep");
                writer.code("  x\n\n  y\n");
            },
            "# A title\n\none\ntwo\n\n###### deep\n\n```\n  x\n\n  y\n```",
        );
        check(|writer| writer.code("a ``` b"), "````\na ``` b\n````");
    }

    #[test]
    fn lists() {
        check(
            |writer| {
                writer.paragraph("before");
                writer.open_item("-");
                writer.paragraph("a");
                writer.paragraph("more\nlines");
                writer.open_item("10.");
                writer.paragraph("b");
                writer.close();
                writer.close();
                writer.open_item("-");
                writer.paragraph("c");
                writer.close();
                writer.end_list();
                writer.open_item("-");
                writer.paragraph("d");
                writer.close();
                writer.end_list();
                writer.paragraph("after");
            },
            "before\n\n- a\n\n  more\n  lines\n  10. b\n- c\n\n- d\n\nafter",
        );
        check(
            |writer| {
                writer.open_quotation();
                writer.paragraph("a\nb");
                writer.heading(1, "c");
                writer.close();
            },
            "> a\n> b\n\n> c",
        );
    }

    #[test]
    fn tables() {
        let cells = rows(&[&["a", "b|c"], &["d"], &["", ""], &["e", "f\ng"]]);
        check(|writer| writer.table(&cells), "| a | b\\|c |\n| --- | --- |\n| d |\n| e | f g |");
        check(|writer| writer.table(&[]), "");
        let wide = vec![vec!["x".to_owned(); 1000]];
        let mut writer = MarkdownWriter::new(100_000);
        writer.table(&wide);
        assert_eq!(writer.into_text().matches('x').count(), COLUMNS);
    }

    #[test]
    fn marks_of_markdown_are_escaped_at_the_beginning() {
        for (line, expected) in [
            ("# no", "\\# no"),
            ("#", "\\#"),
            ("#hash", "#hash"),
            ("####### seven", "####### seven"),
            ("---", "\\---"),
            ("===", "\\==="),
            ("--- x", "--- x"),
            ("```", "\\```"),
            ("<pre>", "\\<pre>"),
            ("a # b < c", "a # b < c"),
        ] {
            check(|writer| writer.paragraph(line), expected);
        }
    }

    #[test]
    fn room_is_kept() {
        let mut writer = MarkdownWriter::new(100);
        (0..1000).for_each(|_| writer.paragraph("0123456789"));
        assert!(writer.is_full());
        assert!(writer.into_text().len() < 130);
    }

    #[test]
    fn deep_lists_are_not_all_indentation() {
        let mut writer = MarkdownWriter::new(1 << 20);
        (0..500).for_each(|_| writer.open_item("-"));
        writer.paragraph("x");
        writer.paragraph("y");
        assert!(writer.into_text().len() < 1100);
    }
}
