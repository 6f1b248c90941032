//! The body: paragraphs, items of lists and tables in order.
//!
//! Paragraphs can stand in paragraphs (text boxes) and tables in tables, so what is open lies
//! on stacks. An inner paragraph is written before the one around it.

use std::collections::HashMap;

use super::styles::{LIST_LEVELS, Mark, ParagraphStyle, Styles};
use super::xml::{Start, Xml, XmlTag};
use crate::error::Result;
use crate::parse::ParseLimits;
use crate::parse::writer::MarkdownWriter;

/// Elements that are left out with all that is in them.
const UNSEEN: &[&str] =
    &["del", "moveFrom", "instrText", "delText", "Fallback", "sectPr", "rPrChange", "pPrChange"];

/// Footnotes and endnotes by their numbers.
#[derive(Default)]
pub struct FootNotes(HashMap<String, String>);

impl FootNotes {
    /// Reads `footnotes.xml` or `endnotes.xml`, where it is there.
    pub fn read(
        &mut self,
        text: &Option<String>,
        styles: &Styles,
        limits: &ParseLimits,
    ) -> Result<()> {
        let Some(text) = text else { return Ok(()) };
        let nothing = FootNotes::default();
        let mut writer = MarkdownWriter::new(limits.text);
        let mut body = Body::new(styles, &nothing, &mut writer);
        body.found = Some(Vec::new());
        body.read(text, limits)?;
        self.0.extend(body.found.unwrap_or_default());
        Ok(())
    }
}

/// What is being read, and where it goes.
pub struct Body<'a> {
    styles: &'a Styles,
    notes: &'a FootNotes,
    writer: &'a mut MarkdownWriter,
    // Open elements
    paragraphs: Vec<Paragraph>,
    tables: Vec<Table>,
    /// Depth inside an element that is left out.
    unseen: usize,
    in_text: bool,
    in_paragraph_properties: bool,
    in_run_properties: bool,
    is_hidden: bool,
    // Progress
    has_title: bool,
    /// The last number of each level of each list.
    numbers: HashMap<String, [i32; LIST_LEVELS]>,
    /// Notes, where notes are what is read: the number and the text.
    found: Option<Vec<(String, String)>>,
}

#[derive(Default)]
struct Paragraph {
    text: String,
    style: Option<String>,
    own: ParagraphStyle,
    notes: Vec<String>,
}

#[derive(Default)]
struct Table {
    rows: Vec<Vec<String>>,
    /// Cells that begin in this one, at least.
    span: usize,
    /// Whether the cell goes on from the row above.
    continues: bool,
}

impl<'a> Body<'a> {
    /// Nothing has been read yet.
    pub fn new(
        styles: &'a Styles,
        notes: &'a FootNotes,
        writer: &'a mut MarkdownWriter,
    ) -> Body<'a> {
        Body {
            styles,
            notes,
            writer,
            paragraphs: Vec::new(),
            tables: Vec::new(),
            unseen: 0,
            in_text: false,
            in_paragraph_properties: false,
            in_run_properties: false,
            is_hidden: false,
            has_title: false,
            numbers: HashMap::new(),
            found: None,
        }
    }

    /// Reads `text` and writes it.
    pub fn read(&mut self, text: &str, limits: &ParseLimits) -> Result<()> {
        let mut xml = Xml::new(text, limits.depth);
        while let Some(tag) = xml.next_tag()? {
            match tag {
                XmlTag::Start(element) if self.unseen > 0 || UNSEEN.contains(&element.name()) => {
                    self.unseen += 1;
                }
                XmlTag::End(_) if self.unseen > 0 => self.unseen -= 1,
                XmlTag::Start(element) => self.start(&element),
                XmlTag::End(name) => self.end(&name),
                XmlTag::Text(text) if self.in_text && !self.is_hidden => self.push(&text),
                XmlTag::Text(_) => {}
            }
            if self.writer.is_full() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn start(&mut self, element: &Start<'_>) {
        match element.name() {
            "p" => self.paragraphs.push(Paragraph::default()),
            "pPr" => self.in_paragraph_properties = true,
            "rPr" => self.in_run_properties = true,
            "r" => self.is_hidden = false,
            "t" => self.in_text = true,
            "vanish" if !self.in_paragraph_properties => self.is_hidden = element.is_on(),
            "tab" if !self.in_paragraph_properties => self.push(" "),
            "br" | "cr" => self.push("\n"),
            "noBreakHyphen" => self.push("-"),
            "footnoteReference" | "endnoteReference" => {
                self.refer(&element.attribute("id").unwrap_or_default());
            }
            "footnote" | "endnote" => self.begin_note(element),
            "tbl" => self.tables.push(Table::default()),
            "tr" => self.in_table(|table| table.rows.push(Vec::new())),
            "tc" => self.in_table(Table::begin_cell),
            "gridSpan" => {
                let span = element.value().and_then(|value| value.parse::<usize>().ok());
                self.in_table(|table| table.span = span.unwrap_or(1).clamp(1, 64));
            }
            "vMerge" => {
                let continues = element.value().is_none_or(|value| value == "continue");
                self.in_table(|table| table.continues = continues);
            }
            name => self.start_property(name, element),
        }
    }

    /// What says how a paragraph looks.
    fn start_property(&mut self, name: &str, element: &Start<'_>) {
        if !self.in_paragraph_properties || self.in_run_properties {
            return;
        }
        if let Some(paragraph) = self.paragraphs.last_mut() {
            match name {
                "pStyle" => paragraph.style = element.value(),
                _ => paragraph.own.read(element),
            }
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "p" => self.end_paragraph(),
            "pPr" => self.in_paragraph_properties = false,
            "rPr" => self.in_run_properties = false,
            "r" => self.is_hidden = false,
            "t" => self.in_text = false,
            "tc" => self.in_table(Table::end_cell),
            "tbl" => self.end_table(),
            _ => {}
        }
    }

    fn push(&mut self, text: &str) {
        if self.is_hidden {
            return;
        }
        if let Some(paragraph) = self.paragraphs.last_mut() {
            let seen = text.chars().filter(|c| !matches!(c, '\u{ad}' | '\u{200b}' | '\u{feff}'));
            paragraph.text.extend(seen.map(|c| if c == '\u{a0}' { ' ' } else { c }));
        }
    }

    fn in_table(&mut self, change: impl FnOnce(&mut Table)) {
        if let Some(table) = self.tables.last_mut() {
            change(table);
        }
    }

    fn refer(&mut self, number: &str) {
        if !self.notes.0.contains_key(number) {
            return;
        }
        self.push(&format!("[^{number}]"));
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.notes.push(number.to_owned());
        }
    }

    /// Separators between text and notes are notes too, of a type of their own.
    fn begin_note(&mut self, element: &Start<'_>) {
        let is_text = element.attribute("type").is_none_or(|kind| kind == "normal");
        let number = element.attribute("id").filter(|_| is_text).unwrap_or_default();
        self.found.iter_mut().for_each(|found| found.push((number.clone(), String::new())));
    }

    fn end_paragraph(&mut self) {
        let Some(paragraph) = self.paragraphs.pop() else { return };
        if let Some(found) = &mut self.found {
            found.last_mut().into_iter().for_each(|(_, note)| append(note, &paragraph.text));
        } else if let Some(cell) = self.open_cell() {
            append(cell, &paragraph.text);
        } else {
            self.write(&paragraph);
        }
        for number in paragraph.notes {
            let note = self.notes.0.get(&number).cloned().unwrap_or_default();
            let note = format!("[^{number}]: {}", note.trim());
            match self.open_cell() {
                Some(cell) => append(cell, &note),
                None => self.writer.paragraph(&note),
            }
        }
    }

    fn open_cell(&mut self) -> Option<&mut String> {
        self.tables.last_mut()?.rows.last_mut()?.last_mut()
    }

    fn write(&mut self, paragraph: &Paragraph) {
        let style = self.styles.of(paragraph.style.as_deref(), paragraph.own.clone());
        if paragraph.text.trim().is_empty() {
            return;
        }
        match style.level {
            Some(level) if level != ParagraphStyle::TEXT => {
                self.writer.end_list();
                // Under a title the headings are one level deeper.
                self.has_title |= level == 0;
                let level = if self.has_title { level.saturating_add(1) } else { level };
                self.writer.heading(level.max(1), &paragraph.text);
            }
            _ => match &style.list {
                Some(list) => self.write_item(list, style.list_level.unwrap_or(0), &paragraph.text),
                None => {
                    self.writer.end_list();
                    self.writer.paragraph(&paragraph.text);
                }
            },
        }
    }

    fn write_item(&mut self, list: &str, level: usize, text: &str) {
        let level = level.min(LIST_LEVELS - 1);
        let marker = match self.styles.mark(list, level) {
            Mark::None => {
                self.writer.end_list();
                return self.writer.paragraph(text);
            }
            Mark::Bullet => "-".to_owned(),
            Mark::Number(start) => format!("{}.", self.count(list, level, start)),
        };
        // Levels above the item have their indentation only.
        (0..level).for_each(|_| self.writer.open_level());
        self.writer.open_item(&marker);
        self.writer.paragraph(text);
        (0..=level).for_each(|_| self.writer.close());
    }

    /// The number of an item; the levels below begin anew.
    fn count(&mut self, list: &str, level: usize, start: i32) -> i32 {
        let numbers = self.numbers.entry(list.to_owned()).or_insert([i32::MIN; LIST_LEVELS]);
        let last = &mut numbers[level];
        *last = if *last == i32::MIN { start } else { last.saturating_add(1) };
        let number = *last;
        numbers[level + 1..].fill(i32::MIN);
        number
    }

    /// A table of one column is a frame, and its cells are paragraphs.
    fn end_table(&mut self) {
        let Some(table) = self.tables.pop() else { return };
        if let Some(cell) = self.open_cell() {
            table.rows.iter().flatten().for_each(|inner| append(cell, inner));
            return;
        }
        self.writer.end_list();
        if table.rows.iter().all(|row| row.len() <= 1) {
            table.rows.iter().flatten().for_each(|cell| self.writer.paragraph(cell));
        } else {
            self.writer.table(&table.rows);
        }
    }
}

impl Table {
    fn begin_cell(&mut self) {
        (self.span, self.continues) = (1, false);
        self.rows.last_mut().into_iter().for_each(|row| row.push(String::new()));
    }

    fn end_cell(&mut self) {
        let Some(row) = self.rows.last_mut() else { return };
        if self.continues {
            row.last_mut().into_iter().for_each(String::clear);
        }
        row.extend(std::iter::repeat_n(String::new(), self.span.saturating_sub(1)));
        (self.span, self.continues) = (1, false);
    }
}

/// Adds `more` as lines of its own.
fn append(text: &mut String, more: &str) {
    if !text.is_empty() && !more.trim().is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}
