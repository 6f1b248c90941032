//! HTML: what a reader of the page would read.
//!
//! The page is parsed as browsers do it. Where it marks its main content (`main`), the rest
//! is left out; else all of the body counts but navigation, forms' controls, scripts and what
//! is hidden. Style sheets are not read: a page that hides by class shows everything here.

mod descriptions;
mod tree;

use super::writer::MarkdownWriter;
use super::{ParseLimits, Part, check_text, too_deep};
use crate::error::Result;
use crate::text::line::single_line;
use tree::{Element, NodeContent, NodeId, Tree};

/// Elements that are left out with all that is in them.
const UNSEEN: &[&str] = &[
    "audio", "button", "canvas", "datalist", "embed", "head", "iframe", "input", "map", "math",
    "menu", "meter", "nav", "noscript", "object", "option", "progress", "rp", "rt", "script",
    "select", "style", "svg", "template", "textarea", "title", "video",
];

/// Elements that stand on lines of their own.
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "body",
    "caption",
    "center",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "hgroup",
    "hr",
    "html",
    "legend",
    "li",
    "main",
    "p",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
];

/// Widest cell that counts as more than one.
const WIDEST_CELL: usize = 64;

/// Reads an HTML page into its parts.
pub fn parse(text: &str, limits: &ParseLimits) -> Result<Vec<Part>> {
    let tree = Tree::new(text, limits.depth);
    if tree.is_too_deep {
        return Err(too_deep(limits.depth));
    }
    let title = tree.find("title").map(|node| single_line(&flat_text(&tree, node, Flat::All)));
    let mut reader = HtmlReader {
        tree: &tree,
        writer: MarkdownWriter::new(limits.text),
        line: String::new(),
        term: String::new(),
    };
    let start = tree.find("main").filter(|node| is_seen(&tree, *node)).unwrap_or(tree.root());
    reader.read_children(start);
    reader.end_line();
    if reader.writer.is_full() {
        check_text(usize::MAX, limits)?;
    }
    Ok(reader.writer.into_parts(title.as_deref().filter(|title| !title.is_empty())))
}

/// Walks through the page and writes it. Recursion is as deep as the page, which is limited.
struct HtmlReader<'a> {
    tree: &'a Tree,
    writer: MarkdownWriter,
    /// Text since the last block ended.
    line: String,
    /// The terms that the next paragraph describes, where it is the first of a description.
    term: String,
}

impl HtmlReader<'_> {
    fn read_children(&mut self, node: NodeId) {
        for &child in self.tree.children(node) {
            match self.tree.content(child) {
                NodeContent::Text(text) => push_collapsed(&mut self.line, text),
                NodeContent::Element(element) if !is_unseen(element) => self.read(child, element),
                _ => {}
            }
        }
    }

    fn read(&mut self, node: NodeId, element: &Element) {
        match element.name() {
            "br" => self.line.push('\n'),
            "img" => push_collapsed(&mut self.line, element.attribute("alt").unwrap_or("")),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.read_heading(node, element.name()),
            "pre" | "listing" | "xmp" => self.read_code(node),
            "ul" | "ol" => self.read_list(node, element),
            "blockquote" => self.read_quotation(node),
            "table" if is_data(self.tree, node) => self.read_table(node),
            "dl" => self.read_descriptions(node),
            "dd" => self.read_item(node, "-"),
            name if BLOCKS.contains(&name) => self.read_block(node),
            _ => self.read_children(node),
        }
    }

    /// Writes the text that was met outside of other blocks.
    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if self.term.is_empty() || line.trim().is_empty() {
            return self.writer.paragraph(&line);
        }
        let term = std::mem::take(&mut self.term);
        let is_ended = term.ends_with(|end: char| ":：.。?？!！؟".contains(end));
        let between = if is_ended { " " } else { ": " };
        self.writer.paragraph(&format!("{term}{between}{}", line.trim_start()));
    }

    /// Ends the paragraph before a block that is none; a term whose description begins with it stands alone.
    fn end_paragraph(&mut self) {
        self.end_line();
        let term = std::mem::take(&mut self.term);
        self.writer.paragraph(&term);
    }

    fn read_block(&mut self, node: NodeId) {
        self.end_line();
        self.read_children(node);
        self.end_line();
    }

    fn read_heading(&mut self, node: NodeId, name: &str) {
        self.end_paragraph();
        let level = name.as_bytes().last().map_or(1, |digit| digit - b'0');
        self.writer.heading(level, &flat_text(self.tree, node, Flat::Seen));
    }

    fn read_code(&mut self, node: NodeId) {
        self.end_paragraph();
        self.writer.code(&flat_text(self.tree, node, Flat::Code));
    }

    fn read_list(&mut self, node: NodeId, element: &Element) {
        self.end_paragraph();
        let start = element.attribute("start").and_then(|start| start.trim().parse().ok());
        let mut number: i32 = start.unwrap_or(1);
        for &child in self.tree.children(node) {
            match self.tree.element(child) {
                Some(item) if item.name() == "li" && !is_unseen(item) => {
                    let value = item.attribute("value").and_then(|value| value.trim().parse().ok());
                    number = value.unwrap_or(number);
                    let is_ordered = element.name() == "ol";
                    let marker = if is_ordered { format!("{number}.") } else { "-".to_owned() };
                    self.read_item(child, &marker);
                    number = number.saturating_add(1);
                }
                Some(other) if !is_unseen(other) => self.read(child, other),
                _ => {}
            }
        }
        self.end_line();
        self.writer.end_list();
    }

    fn read_item(&mut self, node: NodeId, marker: &str) {
        self.end_paragraph();
        self.writer.open_item(marker);
        self.read_children(node);
        self.end_line();
        self.writer.close();
    }

    fn read_quotation(&mut self, node: NodeId) {
        self.end_paragraph();
        self.writer.open_quotation();
        self.read_children(node);
        self.end_line();
        self.writer.close();
    }

    fn read_table(&mut self, node: NodeId) {
        self.end_paragraph();
        let mut rows = Vec::new();
        for part in parts_of_table(self.tree, node) {
            match self.tree.name(part) {
                "caption" => self.writer.paragraph(&flat_text(self.tree, part, Flat::Seen)),
                _ => rows.push(cells(self.tree, part)),
            }
        }
        self.writer.table(&rows);
    }
}

/// Whether neither the element nor its attributes keep it from being read.
fn is_unseen(element: &Element) -> bool {
    let style = || {
        let style = element.attribute("style")?.to_ascii_lowercase();
        let style: String = style.split_whitespace().collect();
        Some(style.contains("display:none") || style.contains("visibility:hidden"))
    };
    let role = element.attribute("role").unwrap_or("").trim();
    UNSEEN.contains(&element.name())
        || element.attribute("hidden").is_some()
        || element.attribute("aria-hidden").is_some_and(|value| value.trim() == "true")
        || ["navigation", "menu", "menubar", "search"].contains(&role)
        || element.name() == "dialog" && element.attribute("open").is_none()
        || style().unwrap_or(false)
}

fn is_seen(tree: &Tree, node: NodeId) -> bool {
    tree.element(node).is_some_and(|element| !is_unseen(element))
}

/// `text` with one space for white space, none at the beginning of a line.
fn push_collapsed(line: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            ' ' | '\t' | '\n' | '\r' | '\x0c' | '\u{a0}' => {
                if !line.is_empty() && !line.ends_with([' ', '\n']) {
                    line.push(' ');
                }
            }
            // Marks for line breaking are no part of a word.
            '\u{ad}' | '\u{200b}' | '\u{feff}' => {}
            _ => line.push(character),
        }
    }
}

/// What of a subtree becomes one text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flat {
    /// Everything in it.
    All,
    /// What is seen, blocks apart by spaces.
    Seen,
    /// What is seen, as it is.
    Code,
}

/// The text below `node`, in one piece.
fn flat_text(tree: &Tree, node: NodeId, how: Flat) -> String {
    let mut text = String::new();
    flatten(tree, node, how, &mut text);
    text
}

fn flatten(tree: &Tree, node: NodeId, how: Flat, text: &mut String) {
    for &child in tree.children(node) {
        match tree.content(child) {
            NodeContent::Text(found) if how == Flat::Seen => push_collapsed(text, found),
            NodeContent::Text(found) => text.push_str(found),
            NodeContent::Element(element) if how != Flat::All && is_unseen(element) => {}
            NodeContent::Element(element) => {
                let name = element.name();
                let is_block = BLOCKS.contains(&name) || ["ul", "ol", "pre"].contains(&name);
                let apart = if how == Flat::Code { "\n" } else { " " };
                if name == "br" || is_block && !text.is_empty() {
                    text.push_str(apart);
                }
                if name == "img" && how == Flat::Seen {
                    text.push_str(element.attribute("alt").unwrap_or(""));
                }
                flatten(tree, child, how, text);
                if is_block && how == Flat::Seen {
                    text.push(' ');
                }
            }
            NodeContent::Other => {}
        }
    }
}

/// The caption and the rows of a table, those of its inner tables not.
fn parts_of_table(tree: &Tree, table: NodeId) -> Vec<NodeId> {
    let mut parts = Vec::new();
    for &child in tree.children(table).iter().filter(|child| is_seen(tree, **child)) {
        match tree.name(child) {
            "tr" | "caption" => parts.push(child),
            "thead" | "tbody" | "tfoot" => {
                let rows = tree.children(child).iter();
                parts.extend(rows.filter(|row| tree.name(**row) == "tr" && is_seen(tree, **row)));
            }
            _ => {}
        }
    }
    parts
}

/// The texts of a row's cells. A cell that spans columns is followed by empty ones.
fn cells(tree: &Tree, row: NodeId) -> Vec<String> {
    let mut texts = Vec::new();
    for &child in tree.children(row) {
        let Some(cell) = tree.element(child).filter(|cell| !is_unseen(cell)) else { continue };
        if !["td", "th"].contains(&cell.name()) {
            continue;
        }
        texts.push(flat_text(tree, child, Flat::Seen));
        let span = cell.attribute("colspan").and_then(|span| span.trim().parse::<usize>().ok());
        let more = span.unwrap_or(1).clamp(1, WIDEST_CELL) - 1;
        texts.extend(std::iter::repeat_n(String::new(), more));
    }
    texts
}

/// Whether a table holds data, and is not there to lay out the page: it has heads, or rows and
/// columns of plain cells.
fn is_data(tree: &Tree, table: NodeId) -> bool {
    let rows = parts_of_table(tree, table);
    let mut widest = 0;
    for &row in &rows {
        let cells = tree.children(row);
        if cells.iter().any(|cell| tree.name(*cell) == "th") {
            return true;
        }
        widest = widest.max(cells.iter().filter(|cell| tree.name(**cell) == "td").count());
        if cells.iter().any(|cell| has_structure(tree, *cell)) {
            return false;
        }
    }
    rows.len() >= 2 && widest >= 2
}

/// Whether there are headings, lists, tables or the like in a cell.
fn has_structure(tree: &Tree, cell: NodeId) -> bool {
    let inner = ["h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "table", "pre", "form", "article"];
    let mut waiting = vec![cell];
    while let Some(node) = waiting.pop() {
        if inner.contains(&tree.name(node)) {
            return true;
        }
        waiting.extend(tree.children(node));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn check(page: &str, expected: &str) {
        let parts = parse(page, &ParseLimits::default()).unwrap();
        let texts: Vec<&str> = parts.iter().map(|part| &*part.content).collect();
        assert_eq!(texts.join("\n\n"), expected, "text of {page}");
    }

    #[test]
    fn blocks_and_lines() {
        check("", "");
        check("<p>One <b>bo</b>ld\n  word.<p>Two", "One bold word.\n\nTwo");
        check("a<div>b<div>c</div></div>d", "a\n\nb\n\nc\n\nd");
        check("<p>a<br>b<br/>c</p>", "a\nb\nc");
        check("<p>x&nbsp;&lt;y&gt; &amp; so&shy;ft</p>", "x <y> & soft");
        check("<h1>A <i>b</i></h1><p>c<h3>D</h3>e", "# A b\n\nc\n\n### D\n\ne");
        check("<pre>\n  a\n   b &lt;\n</pre>", "```\n  a\n   b <\n```");
        check("<blockquote><p>a<p>b</blockquote>c", "> a\n\n> b\n\nc");
        check("<p># no</p><p>&lt;!-- x</p>", "\\# no\n\n\\<!-- x");
        check("<img alt='a cat'> sleeps", "a cat sleeps");
        check("<dd>D", "- D");
    }

    #[test]
    fn lists() {
        check(
            "<p>x<ul><li>a<ul><li>b</ul><li><p>c</p><p>d</p></ul>y",
            "x\n\n- a\n  - b\n- c\n\n  d\n\ny",
        );
        check("<ol start=3><li>a<li value=7>b<li>c</ol>", "3. a\n7. b\n8. c");
        check("<ol start='x'><li>a</ol>", "1. a");
    }

    #[test]
    fn tables() {
        check(
            "<table><caption>C</caption><tr><th>a<th>b<tr><td>1<td><p>2</p><p>3|4</p></table>",
            "C\n\n| a | b |\n| --- | --- |\n| 1 | 2 3\\|4 |",
        );
        check(
            "<table><tr><td colspan=2>a<td>b<tr><td>1<td>2<td>3</table>",
            "| a |  | b |\n| --- | --- | --- |\n| 1 | 2 | 3 |",
        );
        check("<table><tr><td><h2>A</h2>b<td>c</table>", "## A\n\nb\n\nc");
        check("<table><tr><td>only</table>", "only");
        check("<table><tr><th>x<th>y</table>", "| x | y |\n| --- | --- |");
        check("<table><tr><th colspan=99999999999999999999>x</table>", "| x |\n| --- |");
    }

    #[test]
    fn what_nobody_sees() {
        for hidden in [
            "<script>x()</script>",
            "<style>p {}</style>",
            "<nav><ul><li>Home</ul></nav>",
            "<menu><li>Cut</menu>",
            "<div role=navigation>Home</div>",
            "<p hidden>x</p>",
            "<p style='color: red; DISPLAY : none'>x</p>",
            "<span style='visibility:hidden'>x</span>",
            "<div aria-hidden='true'>x</div>",
            "<template><p>x</p></template>",
            "<noscript>x</noscript>",
            "<select><option>x</select>",
            "<button>x</button>",
            "<svg><text>x</text></svg>",
            "<dialog>x</dialog>",
            "<!-- x -->",
            "<iframe src=x>x</iframe>",
            "<textarea>x</textarea>",
        ] {
            check(&format!("<p>a</p>{hidden}<p>b</p>"), "a\n\nb");
        }
        check("<header>Site</header><main><p>a</main><footer>c</footer>", "a");
    }

    #[test]
    fn sections_and_titles() {
        let page = "<title> The\nsite </title><p>intro<h2>A</h2>a<h3>B</h3>b<h2>C</h2>c";
        let parts = parse(page, &ParseLimits::default()).unwrap();
        let headings: Vec<_> = parts.iter().map(|part| part.heading.as_deref()).collect();
        assert_eq!(headings, [Some("The site"), Some("A"), Some("C")]);
        assert_eq!(parts[1].content, "## A\n\na\n\n### B\n\nb");
        assert!(parts.iter().all(|part| part.page.is_none()));
    }

    #[test]
    fn depth_is_limited() {
        let limits = ParseLimits { depth: 50, ..ParseLimits::default() };
        assert!(parse(&"<div>".repeat(40), &limits).is_ok());
        for tag in ["<div>", "<b>", "<table><tr><td>", "<ul><li>", "<svg>"] {
            let error = parse(&tag.repeat(200_000), &limits).unwrap_err();
            assert_eq!(error.message(), "elements are nested more than 50 deep");
        }
    }

    #[test]
    fn text_is_limited() {
        let limits = ParseLimits { text: 1000, ..ParseLimits::default() };
        assert!(parse(&"<p>0123456789".repeat(1000), &limits).is_err());
    }
}
