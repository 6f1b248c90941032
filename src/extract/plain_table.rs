//! # plain_table: is this paragraph a table without bars?
//!
//! ```text
//! "Plan   Users  Price" above "Team   50     20 EUR" and other such lines, CSV, <table> → a header and rows
//! ```
//!
//! Lines of text may have gaps and commas at any place, and a list of labels and values looks like a table of two columns whose
//! first line is no header. So a table has a line below its header, or it has three columns and more, the header holds no digit, and
//! the rows are told from it by a column of numbers or by small letters. Its rows have as many cells as the header, and there
//! are two of them at least.

use std::collections::HashSet;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::blocks::{BlockKind, TextBlock, trim};
use super::cell::{CellBoundary, HtmlTag};
use super::fact_lines::lines;

/// Columns of a table that has no line below its header, and of one that has.
const FEWEST_COLUMNS: usize = 3;
const FEWEST_RULED_COLUMNS: usize = 2;

const FEWEST_ROWS: usize = 2;

/// Lines above the header and below the last row that are of the same paragraph, such as a title and a sum.
const MOST_BESIDE: usize = 1;

/// Longest name of a column, in characters and in words.
const LONGEST_NAME: usize = 30;
const MOST_NAME_WORDS: usize = 4;

/// What may part the cells of plain text, the most certain first.
const BOUNDARIES: [CellBoundary; 4] =
    [CellBoundary::Sign('\t'), CellBoundary::Sign(';'), CellBoundary::Gap, CellBoundary::Sign(',')];

/// A table within a paragraph, in bytes of the content.
struct PlainTable {
    whole: Range<usize>,
    columns: Range<usize>,
    rows: Vec<Range<usize>>,
    cells: CellBoundary,
}

/// `blocks` with the paragraphs that are tables, or hold some, as rows.
pub(super) fn with_tables(content: &str, blocks: &[TextBlock]) -> Vec<TextBlock> {
    let mut found = Vec::with_capacity(blocks.len());
    let mut rest = blocks;
    while let [block, below @ ..] = rest {
        rest = below;
        if let Some(table) = ruled(content, block, below) {
            put(&mut found, table);
            rest = &below[1..];
            continue;
        }
        if block.kind != BlockKind::Prose {
            found.push(block.clone());
            continue;
        }
        let mut start = block.range.start;
        for table in tables(content, &block.range) {
            prose(&mut found, content, start..table.whole.start);
            start = table.whole.end;
            put(&mut found, table);
        }
        prose(&mut found, content, start..block.range.end);
    }
    found
}

fn prose(found: &mut Vec<TextBlock>, content: &str, range: Range<usize>) {
    let range = trim(content, range);
    if !range.is_empty() {
        found.push(TextBlock::new(range, BlockKind::Prose));
    }
}

fn put(found: &mut Vec<TextBlock>, table: PlainTable) {
    let cells = table.cells;
    let block = |range, kind| TextBlock { cells, ..TextBlock::new(range, kind) };
    found.push(block(table.columns, BlockKind::Columns));
    found.extend(table.rows.into_iter().map(|row| block(row, BlockKind::Row)));
}

/// The tables in the paragraph at `range`.
fn tables(content: &str, range: &Range<usize>) -> Vec<PlainTable> {
    let tagged = tagged(content, range);
    if tagged.is_empty() { lined(content, range).into_iter().collect() } else { tagged }
}

/// The table whose header is `block`, if a line with as many gaps is drawn below that and the paragraph `below` has its rows.
fn ruled(content: &str, block: &TextBlock, below: &[TextBlock]) -> Option<PlainTable> {
    let next = below.first()?;
    let header = &content[block.range.clone()];
    let is_header = block.kind == BlockKind::Heading
        && matches!(next.kind, BlockKind::Prose | BlockKind::Heading)
        && !header.contains('\n');
    let cells = CellBoundary::Gap;
    let count = cells.cells(header).len();
    let drawn = content.get(block.range.end..next.range.start)?;
    let is_line = drawn.contains(['-', '=']) && cells.cells(drawn.trim()).len() == count;
    if !is_header || count < FEWEST_RULED_COLUMNS || !is_line {
        return None;
    }
    let rows = lines_of(content, &next.range);
    let are_rows = rows.len() >= FEWEST_ROWS
        && rows.iter().all(|it| cells.cells(&content[it.clone()]).len() == count);
    let whole = block.range.start..next.range.end;
    are_rows.then(|| PlainTable { whole, columns: block.range.clone(), rows, cells })
}

/// The table that the lines of the paragraph at `range` are.
fn lined(content: &str, range: &Range<usize>) -> Option<PlainTable> {
    let lines = lines_of(content, range);
    let above = 0..=MOST_BESIDE;
    BOUNDARIES.into_iter().find_map(|cells| {
        above.clone().find_map(|header| lined_by(content, lines.get(header..)?, cells))
    })
}

/// The table whose header is the first of `lines`.
fn lined_by(content: &str, lines: &[Range<usize>], cells: CellBoundary) -> Option<PlainTable> {
    let of = |line: &Range<usize>| cells.cells(&content[line.clone()]);
    let (columns, below) = lines.split_first()?;
    let names = of(columns);
    if names.len() < FEWEST_COLUMNS || content[columns.clone()].ends_with(['.', '!', '?', '。']) {
        return None;
    }
    let is_row = |line: &&Range<usize>| of(line).len() == names.len();
    let (rows, beside) = below.split_at(below.iter().take_while(is_row).count());
    let values: Vec<Vec<&str>> = rows.iter().map(of).collect();
    let is_table = rows.len() >= FEWEST_ROWS
        && beside.len() <= MOST_BESIDE
        && beside.iter().all(|line| of(line).len() == 1)
        && are_names(&names)
        && are_told_apart(&names, &values, cells);
    let whole = columns.start..rows.last()?.end;
    is_table.then(|| PlainTable { whole, columns: columns.clone(), rows: rows.to_vec(), cells })
}

/// Whether the cells of a header are short names without digits, each another one. The column of names may have none.
fn are_names(names: &[&str]) -> bool {
    let is_name = |name: &&str| {
        // "No." and not the end of a sentence.
        let ends = name.ends_with(['.', '!', '?', ',']) && name.contains(' ');
        name.contains(char::is_alphabetic)
            && !ends
            && !name.contains(|c: char| c.is_ascii_digit())
            && name.chars().count() <= LONGEST_NAME
            && name.unicode_words().count() <= MOST_NAME_WORDS
    };
    let named = if names[0].is_empty() { &names[1..] } else { names };
    let mut seen = HashSet::new();
    named.iter().all(is_name) && names.iter().all(|name| seen.insert(*name))
}

/// Whether the `rows` are none of `names`, too: a column has numbers, or the names are in capitals and others are not.
fn are_told_apart(names: &[&str], rows: &[Vec<&str>], cells: CellBoundary) -> bool {
    let is_value = |cell: &str| {
        let mut words = cell.unicode_words().filter(|it| it.starts_with(char::is_alphabetic));
        cell.contains(|c: char| c.is_ascii_digit()) && words.nth(1).is_none()
    };
    let has_values = |column: usize| {
        let cells = || rows.iter().map(move |row| row[column]);
        cells().all(|it| is_value(it) || matches!(it, "" | "-" | "–" | "—"))
            && cells().filter(|it| is_value(it)).nth(FEWEST_ROWS - 1).is_some()
    };
    let is_in_capitals =
        |it: &str| it.contains(char::is_uppercase) && !it.contains(char::is_lowercase);
    let are_capitals = names.iter().filter(|it| !it.is_empty()).all(|it| is_in_capitals(it));
    let has_small = rows.iter().flatten().any(|it| it.contains(char::is_lowercase));
    (1..names.len()).any(has_values)
        || are_capitals && has_small && cells != CellBoundary::Sign(',')
}

/// The tables of HTML in the paragraph at `range` of which the first row has nothing but names of columns.
fn tagged(content: &str, range: &Range<usize>) -> Vec<PlainTable> {
    let mut found = Vec::new();
    let mut open: Option<OpenTable> = None;
    for (at, _) in content[range.clone()].match_indices('<') {
        let at = range.start + at;
        let Some(tag) = HtmlTag::at(&content[at..range.end]) else { continue };
        let behind = at + tag.length;
        if tag.is("table") && !tag.is_end {
            open = Some(OpenTable { start: at, rows: Vec::new(), row: None });
        } else if let Some(table) = open.as_mut().filter(|_| tag.is("tr")) {
            table.end_row(at);
            table.row = (!tag.is_end).then_some(behind);
        } else if tag.is("table")
            && let Some(mut table) = open.take()
        {
            table.end_row(at);
            found.extend(table.closed(content, behind));
        }
    }
    found
}

/// A table of HTML that is read.
struct OpenTable {
    start: usize,
    /// What is inside of the tags of each row.
    rows: Vec<Range<usize>>,
    /// Where the row begins that is read.
    row: Option<usize>,
}

impl OpenTable {
    fn end_row(&mut self, at: usize) {
        self.rows.extend(self.row.take().map(|start| start..at));
    }

    /// The table up to its `end`, if it has a header and rows with as many cells.
    fn closed(self, content: &str, end: usize) -> Option<PlainTable> {
        let cells = CellBoundary::Tag;
        let count = |row: &Range<usize>| cells.cells(&content[row.clone()]).len();
        let (columns, rows) = self.rows.split_first()?;
        let header = &content[columns.clone()];
        let is_value = |at: usize| HtmlTag::at(&header[at..]).is_some_and(|it| it.is("td"));
        let columns_only = !header.match_indices('<').any(|(at, _)| is_value(at));
        let named = count(columns);
        let is_table = columns_only
            && named >= FEWEST_RULED_COLUMNS
            && rows.len() >= FEWEST_ROWS
            && rows.iter().all(|row| count(row) == named);
        let (columns, rows) = (columns.clone(), rows.to_vec());
        is_table.then_some(PlainTable { whole: self.start..end, columns, rows, cells })
    }
}

/// The lines at `range` that hold something, without white space around them.
fn lines_of(content: &str, range: &Range<usize>) -> Vec<Range<usize>> {
    let lines = lines(&content[range.clone()]).into_iter();
    lines.map(|it| range.start + it.start..range.start + it.end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::blocks::blocks;

    /// The blocks of `content`: rows with "=" before them, headers with "#", and others with what they are.
    fn read(content: &str) -> Vec<String> {
        let shown = |it: &TextBlock| {
            let text = &content[it.range.clone()];
            match it.kind {
                BlockKind::Columns => format!("# {}", it.cells.cells(text).join(" | ")),
                BlockKind::Row => format!("= {}", it.cells.cells(text).join(" | ")),
                kind => format!("{kind:?} {text}"),
            }
        };
        blocks(content).iter().map(shown).collect()
    }

    const ROWS: [&str; 3] = ["# Plan | Users | Price", "= Team | 50 | 20 EUR", "= Free | 3 | -"];

    #[test]
    fn lines_with_a_header_are_a_table() {
        for table in [
            "Plan   Users  Price\nTeam   50     20 EUR\nFree   3      -",
            "  Plan\tUsers\tPrice\n  Team\t50\t20 EUR\n  Free\t3\t-",
            "Plan;Users;Price\nTeam;50;20 EUR\nFree;3;-",
            "Plan, Users, Price\n\"Team\", 50, 20 EUR\nFree, 3, -",
            "Plan   Users  Price\n----   -----  -----\nTeam   50     20 EUR\nFree   3      -",
            "=====  =====  ======\nPlan   Users  Price\n=====  =====  ======\nTeam   50     20 EUR\nFree   3      -\n=====  =====  ======",
        ] {
            assert_eq!(read(table), ROWS, "{table}");
        }
        let titled = read(
            "Our prices\nPlan   Users  Price\nTeam   50     20 EUR\nFree   3      -\nAll with VAT",
        );
        assert_eq!(titled, ["Prose Our prices", ROWS[0], ROWS[1], ROWS[2], "Prose All with VAT"]);
        let capitals = "NAME   STATUS   OWNER\npump   running  ada\nlamp   stopped  bob";
        assert_eq!(read(capitals)[1], "= pump | running | ada");
        let two = "Name   Role\n-----  ----\nAnna   Chair\nBob    Treasurer";
        assert_eq!(read(two), ["# Name | Role", "= Anna | Chair", "= Bob | Treasurer"]);
    }

    #[test]
    fn cells_of_html_stand_under_the_first_row() {
        let rows = "<tr><th>Plan</th><th>Users</th><th>Price</th></tr>\n\
            <tr><td>Team</td><td>50</td><td>20 EUR</td></tr>\n<tr><th>Free</th><td>3</td><td>-</td></tr>";
        let page = format!(
            "<h2>Prices</h2>\n<table class=\"a\">\n<thead>{rows}\n</table>\n<p>With VAT.</p>"
        );
        let found = read(&page);
        assert_eq!(found[0], "Prose <h2>Prices</h2>");
        assert_eq!(found[1..4], ROWS);
        assert_eq!(found[4..], ["Prose <p>With VAT.</p>"]);
        for other in [
            rows.replace("th>", "td>"),
            rows.replace("<td>50</td>", ""),
            rows.lines().take(2).collect(),
        ] {
            let page = format!("<table>{other}</table>");
            assert!(read(&page)[0].starts_with("Prose <table>"), "{page}");
        }
    }

    #[test]
    fn other_lines_with_gaps_and_commas_stay_as_they_are() {
        for text in [
            "Name     Anna\nPhone    555\nAge      44",
            "Plan   Users  Price\nTeam   50     20 EUR",
            "East   2022   Ltd.\nTeam   50     20 EUR\nFree   3      -",
            "Plan   Users  Price\nTeam   50     20 EUR\nFree   3",
            "Plan   Plan   Price\nTeam   50     20 EUR\nFree   3      -",
            "It has.  Then so.  And on\nAda.  In 1912.  With\nBob.  In 1915.  Here",
            "Bread, butter, jam\nTea, milk, honey\nMilk, rice, eggs",
            "Anna, Main Street, Rome\nBob, 5 High Street, Oslo\nCy, 7 Low Street, Bonn",
            "He came, he saw, he won.\nIt was, in all, 3 days.\nThen, at last, 4 nights.",
        ] {
            assert_eq!(read(text), [format!("Prose {text}")]);
        }
        assert_eq!(read("# Plan   Users\nTeam   50\nFree   3")[0], "Heading Plan   Users");
    }
}
