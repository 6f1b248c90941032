//! # cell: where is a row of a table cut into cells?
//!
//! ```text
//! "Team | 50", "Team   50", "Team;50", "<td>Team</td><td>50</td>" → "Team", "50"
//! ```

/// Longest tag of HTML, in bytes.
const LONGEST_TAG: usize = 1000;

/// What parts the cells of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum CellBoundary {
    /// Bars that no backslash and no backticks keep, as in Markdown.
    #[default]
    Bar,
    /// Two spaces or more, or tabs: columns are aligned.
    Gap,
    /// One sign, which cells between quotation marks may hold.
    Sign(char),
    /// Tags of HTML.
    Tag,
}

impl CellBoundary {
    /// The cells of `row`, without white space and without quotation marks around one of CSV.
    pub fn cells(self, row: &str) -> Vec<&str> {
        match self {
            CellBoundary::Bar => at_bars(row),
            CellBoundary::Gap => at_gaps(row),
            CellBoundary::Sign(sign) => at_signs(row, sign),
            CellBoundary::Tag => at_tags(row),
        }
    }
}

fn at_bars(row: &str) -> Vec<&str> {
    let (mut cells, mut start, mut is_code) = (Vec::new(), 0, false);
    for (at, sign) in row.char_indices() {
        match sign {
            '`' => is_code = !is_code && row[at + 1..].contains('`'),
            '|' if !is_code && !row[..at].ends_with('\\') => {
                cells.push(row[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    cells.push(row[start..].trim());
    cells
}

fn at_gaps(row: &str) -> Vec<&str> {
    // Both are looked for in one go: where one of them is missing, the other may be found many times.
    let is_gap = |text: &str| text.starts_with('\t') || text.starts_with("  ");
    let gap = |text: &str| {
        let mut spaces = text.match_indices([' ', '\t']).map(|(at, _)| at);
        spaces.find(|at| is_gap(&text[*at..]))
    };
    let (mut cells, mut rest) = (Vec::new(), row.trim());
    while let Some(at) = gap(rest) {
        cells.push(rest[..at].trim_end());
        rest = rest[at..].trim_start();
    }
    cells.push(rest);
    cells
}

fn at_signs(row: &str, sign: char) -> Vec<&str> {
    let (mut cells, mut start, mut is_quoted) = (Vec::new(), 0, false);
    for (at, c) in row.char_indices() {
        let before = &row[start..at];
        if c == '"' && (is_quoted || before.trim_end().is_empty() || before.ends_with('"')) {
            is_quoted = !is_quoted;
        } else if c == sign && !is_quoted {
            cells.push(unquoted(before));
            start = at + c.len_utf8();
        }
    }
    cells.push(unquoted(&row[start..]));
    cells
}

/// A cell without white space and quotation marks around it.
fn unquoted(cell: &str) -> &str {
    let cell = cell.trim();
    let inside = cell.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    inside.unwrap_or(cell).trim()
}

fn at_tags(row: &str) -> Vec<&str> {
    let (mut cells, mut open) = (Vec::new(), None);
    for (at, _) in row.match_indices('<') {
        let Some(tag) = HtmlTag::at(&row[at..]).filter(HtmlTag::is_of_cell) else { continue };
        if let Some(start) = open.take() {
            cells.push(row[start..at].trim());
        }
        open = (!tag.is_end).then_some(at + tag.length);
    }
    if let Some(start) = open {
        cells.push(row[start..].trim());
    }
    cells
}

/// A tag that a text begins with.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HtmlTag<'a> {
    /// As it is written.
    pub name: &'a str,
    /// Whether it ends an element.
    pub is_end: bool,
    /// In bytes.
    pub length: usize,
}

impl<'a> HtmlTag<'a> {
    /// The tag with which `text` begins. Only so many bytes are looked at, as text can be full of tags that don't end.
    pub fn at(text: &'a str) -> Option<HtmlTag<'a>> {
        let text = &text[..text.floor_char_boundary(LONGEST_TAG)];
        let inside = text.strip_prefix('<')?;
        let bare = inside.strip_prefix('/').unwrap_or(inside);
        let end = bare.find(|c: char| !c.is_ascii_alphanumeric())?;
        let is_tag = end > 0 && bare[end..].starts_with([' ', '\t', '\n', '\r', '>', '/']);
        let length = text.find('>').filter(|_| is_tag)? + 1;
        Some(HtmlTag { name: &bare[..end], is_end: bare.len() < inside.len(), length })
    }

    /// Whether its element is called so, in small letters.
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    fn is_of_cell(&self) -> bool {
        self.is("td") || self.is("th")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_cut_at_what_parts_their_cells() {
        use CellBoundary::{Bar, Gap, Sign, Tag};
        for (boundary, row, cells) in [
            (Bar, "Team | 50 |  ", &["Team", "50", ""][..]),
            (Bar, "`a|b` \\| c | d", &["`a|b` \\| c", "d"]),
            (Gap, "  Heating / water   1,2 EUR\t m²  ", &["Heating / water", "1,2 EUR", "m²"]),
            (Gap, "", &[""]),
            (Sign(';'), "Team;; 50", &["Team", "", "50"]),
            (
                Sign(','),
                "\"Team, large\",\"a \"\"b\"\", c\",5\"",
                &["Team, large", "a \"\"b\"\", c", "5\""],
            ),
            (Sign(','), "\"\",x", &["", "x"]),
            (Sign('\t'), "Team\t50", &["Team", "50"]),
            (
                Tag,
                "<th scope=\"row\">Team</th>\n <TD>50 <b>users</b></TD>",
                &["Team", "50 <b>users</b>"],
            ),
            (Tag, "<td>Team<td>50", &["Team", "50"]),
            (Tag, "<thead>Team</thead>", &[]),
        ] {
            assert_eq!(boundary.cells(row), cells, "{row}");
        }
    }

    #[test]
    fn tags_are_told_from_other_signs() {
        let tag = HtmlTag::at("</TR >rest");
        assert_eq!(tag, Some(HtmlTag { name: "TR", is_end: true, length: 6 }));
        assert!(tag.is_some_and(|it| it.is("tr") && !it.is("t")));
        for text in ["", "<", "<>", "< td>", "<td", "<a-b>", "td>"] {
            assert_eq!(HtmlTag::at(text), None, "{text}");
        }
    }

    #[test]
    fn gaps_and_quotation_marks_take_no_time() {
        assert_eq!(CellBoundary::Gap.cells(&"a  ".repeat(500_000)).len(), 500_000);
        assert_eq!(CellBoundary::Gap.cells(&"a\t".repeat(500_000)).len(), 500_000);
        let row = " ".repeat(500_000) + &"\"x".repeat(500_000);
        assert_eq!(CellBoundary::Sign(',').cells(&row).len(), 1);
    }

    #[test]
    fn tags_that_do_not_end_take_no_time() {
        for text in ["<td ", "<", "</td", "<td>"] {
            let found = CellBoundary::Tag.cells(&text.repeat(200_000)).len();
            assert!(found <= 200_000, "{text}");
        }
    }
}
