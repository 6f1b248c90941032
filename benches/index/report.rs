//! Tables for the terminal, and the same as Markdown.

use std::error::Error;
use std::path::PathBuf;

/// What was found so far.
pub struct Report {
    markdown: String,
    /// To stand below the next table.
    remarks: Vec<String>,
    file: Option<PathBuf>,
}

/// A table: a head and rows of as many cells.
pub struct Table {
    rows: Vec<Vec<String>>,
}

/// What went wrong, with what is behind it: an error of the client says by itself only that the server has refused something.
pub fn whole(error: &(dyn Error + 'static)) -> String {
    let behind = error.source().map_or_else(String::new, |it| format!(": {it}"));
    format!("{error}{behind}")
}

impl Report {
    pub fn new(file: Option<PathBuf>) -> Report {
        Report { markdown: String::new(), remarks: Vec::new(), file }
    }

    /// Begins a section.
    pub fn heading(&mut self, title: &str) {
        println!("\n{title}");
        self.markdown += &format!("\n## {title}\n\n");
    }

    /// A line of text.
    pub fn note(&mut self, text: &str) {
        println!("  {text}");
        self.markdown += &format!("{text}\n\n");
    }

    /// A line of text below the next table, or at the section's end.
    pub fn remark(&mut self, text: String) {
        self.remarks.push(text);
    }

    /// A table; none where there are no rows.
    pub fn table(&mut self, table: &Table) {
        if table.rows.len() > 1 {
            println!();
            table.aligned().iter().for_each(|line| println!("  {line}"));
            println!();
            self.markdown += &table.markdown();
        }
        self.give_remarks();
    }

    fn give_remarks(&mut self) {
        for remark in std::mem::take(&mut self.remarks) {
            self.note(&remark);
        }
    }

    /// Ends a section, and writes the file, if one was asked for. Failing to write ends nothing.
    pub fn save(&mut self) {
        self.give_remarks();
        let Some(file) = &self.file else { return };
        if let Err(error) = std::fs::write(file, self.markdown.trim_start()) {
            eprintln!("{}: {error}", file.display());
        }
    }
}

impl Table {
    pub fn new<const N: usize>(head: [&str; N]) -> Table {
        Table { rows: vec![head.map(str::to_owned).to_vec()] }
    }

    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.to_vec());
    }

    /// Names at the left, numbers at the right.
    fn aligned(&self) -> Vec<String> {
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max();
        let widths: Vec<usize> = (0..self.rows[0].len()).filter_map(width).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).enumerate().map(|(at, (cell, width))| match at {
                0 => format!("{cell:width$}"),
                _ => format!("{cell:>width$}"),
            });
            cells.collect::<Vec<_>>().join("  ")
        };
        self.rows.iter().map(line).collect()
    }

    fn markdown(&self) -> String {
        let rule = "|---".to_owned() + &"|---:".repeat(self.rows[0].len() - 1) + "|\n";
        let line = |row: &Vec<String>| format!("| {} |\n", row.join(" | "));
        let body: String = self.rows[1..].iter().map(line).collect();
        line(&self.rows[0]) + &rule + &body + "\n"
    }
}

/// How many times better `ours` is, where less is better; nothing for the side that the
/// others are compared with, or where that side has no figure.
pub fn gain(theirs: Option<f64>, ours: f64, is_ours: bool) -> String {
    match theirs {
        Some(theirs) if is_ours => format!("{:.2} ×", theirs / ours),
        _ => String::new(),
    }
}
