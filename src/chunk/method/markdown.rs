//! Markdown blocks under their headings.
//!
//! Each heading begins a section, and no chunk reaches from one section into another, so
//! that the heading of a chunk is exact. A heading line belongs to the chunk that begins its
//! section. One that has no text of its own before a deeper heading is carried into the
//! section of that one; a chunk of nothing but a heading would be found and say nothing. So is what no reader sees, such
//! as front matter, whose title stands above all headings.
//!
//! Within a section the units are blocks with what they announce, then blocks, list items, table rows and blocks of a
//! quotation, then those nested deeper, then lines of code and HTML, then sentences.
//! pulldown-cmark finds them.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::{CutPlan, Section, skip_white_space};
use crate::chunk::HEADING_SEPARATOR;
use crate::text::fence::looks_like_fence;
use crate::text::line::{LineKind, ends_with_colon, ends_with_strong_line, lines, single_line};
use crate::text::preamble::Preamble;
use crate::text::sentence::sentences;

/// Longest title of one heading in a path, in characters. Each chunk repeats its path.
const LONGEST_TITLE: usize = 200;

/// What documents in the wild use beyond CommonMark.
const DIALECT: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_FOOTNOTES)
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_HEADING_ATTRIBUTES)
    .union(Options::ENABLE_YAML_STYLE_METADATA_BLOCKS)
    .union(Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS);

/// Sections by headings; in them blocks, items, nested items, lines of code, sentences.
pub(super) fn plan(document: &str) -> CutPlan {
    // A byte order mark would hide a heading or front matter on the first line.
    let skipped = document.len() - document.trim_start_matches('\u{feff}').len();
    let mut outline = MarkdownOutline::new(document);
    for (event, range) in Parser::new_ext(&document[skipped..], DIALECT).into_offset_iter() {
        outline.read(event, range.start + skipped..range.end + skipped);
    }
    outline.into_plan()
}

/// What the events of the parser add up to.
struct MarkdownOutline<'a> {
    document: &'a str,
    // Result
    headings: Vec<MarkdownHeading>,
    levels: [Vec<usize>; LEVELS],
    // Position
    /// Blocks that are open.
    depth: usize,
    /// The block that comes next has only its parent's marker before it.
    first_child: bool,
    /// The last block at depth 0 was a heading.
    after_heading: bool,
    /// The title of the heading that is open.
    title: Option<String>,
}

/// Kinds of units, largest first.
const LEVELS: usize = 6;
const BLOCK: usize = 0;
/// A block that the one before it announces with a colon, or as a line in bold that stands alone.
const ANNOUNCED: usize = 1;
const ITEM: usize = 2;
const NESTED: usize = 3;
const LINE: usize = 4;
const SENTENCE: usize = 5;

/// A heading that begins a section.
struct MarkdownHeading {
    range: Range<usize>,
    /// 1 for the outermost; 0 is the title of front matter.
    level: usize,
    title: String,
}

impl<'a> MarkdownOutline<'a> {
    fn new(document: &'a str) -> Self {
        MarkdownOutline {
            document,
            headings: Vec::new(),
            levels: Default::default(),
            depth: 0,
            first_child: false,
            after_heading: false,
            title: None,
        }
    }

    /// Takes in one event of the parser.
    fn read(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::HtmlBlock) if self.depth == 0 && self.html_heading(&range) => {
                self.depth += 1
            }
            Event::Start(tag) if is_block(&tag) => self.open(&tag, range),
            Event::End(tag) if is_block_end(tag) => self.close(tag, range),
            Event::Rule => self.add_block(range.start),
            Event::Text(text) | Event::Code(text) => self.add_to_title(&text),
            Event::SoftBreak => self.add_to_title(" "),
            Event::HardBreak => {
                self.add_to_title(" ");
                self.add(LINE, range.end);
            }
            _ => {}
        }
    }

    fn open(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Heading { .. } if self.depth == 0 => self.title = Some(String::new()),
            _ => self.add_block(range.start),
        }
        match tag {
            Tag::CodeBlock(CodeBlockKind::Fenced(_)) => self.add_lines(range, 2),
            Tag::CodeBlock(CodeBlockKind::Indented) => self.add_lines(range, 1),
            Tag::HtmlBlock | Tag::MetadataBlock(_) => {
                self.add_lines(range.clone(), 1);
                self.add_sentences(range);
            }
            _ if self.depth == 0 => self.add_sentences(range),
            _ => {}
        }
        self.depth += 1;
        self.first_child = matches!(
            tag,
            Tag::BlockQuote(_)
                | Tag::List(_)
                | Tag::Item
                | Tag::Table(_)
                | Tag::FootnoteDefinition(_)
        );
    }

    /// Takes a block of HTML that begins with a heading, such as `<h1 align="center">Title</h1>`, for that; false if it
    /// is none.
    fn html_heading(&mut self, block: &Range<usize>) -> bool {
        let Some(HtmlHeading { level, title, length }) =
            html_heading(&self.document[block.clone()])
        else {
            return false;
        };
        let range = block.start..block.start + length;
        self.headings.push(MarkdownHeading { range, level, title: shortened(&title) });
        self.after_heading = true;
        true
    }

    fn close(&mut self, tag: TagEnd, range: Range<usize>) {
        self.depth = self.depth.saturating_sub(1);
        // A table's head is not left alone: no place before the first row.
        self.first_child = tag == TagEnd::TableHead;
        if self.depth > 0 {
            return;
        }
        if let TagEnd::Heading(level) = tag
            && let Some(title) = self.title.take()
        {
            let level = level as usize;
            self.headings.push(MarkdownHeading { range, level, title: shortened(&title) });
            self.after_heading = true;
        }
    }

    /// A block, item or row begins at `start`.
    fn add_block(&mut self, start: usize) {
        let before = &self.document[..start];
        let is_announced =
            ends_with_colon(before) || self.depth == 0 && ends_with_strong_line(before);
        let level = match (self.depth, is_announced) {
            // Between a heading and what follows is no better place than between sentences.
            (0, _) if self.after_heading => SENTENCE,
            (0, true) => ANNOUNCED,
            (0, false) => BLOCK,
            (_, true) => LINE,
            (1, false) => ITEM,
            (_, false) => NESTED,
        };
        if self.depth == 0 {
            self.after_heading = false;
        }
        if !self.first_child {
            self.add(level, start);
        }
        self.first_child = false;
    }

    /// The lines of code or HTML begin units, without the first `skip` and a closing fence.
    fn add_lines(&mut self, range: Range<usize>, skip: usize) {
        for line in lines(&self.document[range.clone()]).skip(skip) {
            let is_fence = looks_like_fence(&self.document[range.clone()][line.range.clone()]);
            if line.kind != LineKind::Blank && !is_fence {
                self.add(LINE, range.start + line.range.start);
            }
        }
    }

    fn add_sentences(&mut self, range: Range<usize>) {
        for sentence in sentences(&self.document[range.clone()]) {
            self.levels[SENTENCE].push(range.start + sentence.start);
        }
    }

    /// A unit of `level` begins at `start`, or before it where only markers of quotations
    /// and white space are between it and the beginning of the line.
    fn add(&mut self, level: usize, start: usize) {
        let before = &self.document[..start];
        let marker = before.len() - before.trim_end_matches([' ', '\t', '>']).len();
        let line_start = start - marker;
        let is_line = line_start == 0 || self.document[..line_start].ends_with(['\n', '\r']);
        let from = if is_line { line_start } else { start };
        self.levels[level].push(skip_white_space(self.document, from));
    }

    fn add_to_title(&mut self, text: &str) {
        self.first_child = false;
        if let Some(title) = &mut self.title {
            title.push_str(text);
        }
    }

    fn into_plan(mut self) -> CutPlan {
        let sections = self.sections();
        // A carried heading begins no section, and cutting before it is as bad as after.
        self.levels[SENTENCE].extend(self.headings.iter().map(|heading| heading.range.start));
        for level in &mut self.levels {
            level.sort_unstable();
            level.dedup();
        }
        CutPlan { sections, levels: self.levels.into(), scopes: Vec::new(), whole_words: true }
    }

    /// The text before the first heading, then one section a heading.
    fn sections(&self) -> Vec<Section> {
        let preamble = Preamble::of(self.document);
        let root = preamble.title.map(|title| MarkdownHeading {
            range: 0..preamble.length,
            level: 0,
            title: shortened(title),
        });
        let mut path: Vec<&MarkdownHeading> = root.iter().collect();
        let first = self.headings.first().map_or(self.document.len(), |h| h.range.start);
        let is_seen = preamble.length < first || self.headings.is_empty();
        let mut sections = Vec::new();
        if is_seen {
            sections.push(Section { range: 0..first, heading: joined(&path) });
        }
        let mut start = if is_seen { first } else { 0 };
        for (number, heading) in self.headings.iter().enumerate() {
            path.retain(|outer| outer.level < heading.level);
            path.push(heading);
            let next = self.headings.get(number + 1);
            let end = next.map_or(self.document.len(), |next| next.range.start);
            let is_empty = self.document[heading.range.end..end].trim().is_empty();
            if is_empty && next.is_some_and(|next| next.level > heading.level) {
                continue;
            }
            sections.push(Section { range: start..end, heading: joined(&path) });
            start = end;
        }
        sections
    }
}

/// A heading in HTML.
struct HtmlHeading {
    level: usize,
    title: String,
    /// Bytes to the end of its last tag.
    length: usize,
}

/// The heading that a block of HTML begins with; `None` where it begins with something else or the heading has no text.
fn html_heading(block: &str) -> Option<HtmlHeading> {
    let inside = block.strip_prefix("<h").or_else(|| block.strip_prefix("<H"))?;
    let level = inside.chars().next()?.to_digit(10).filter(|it| (1..=6).contains(it))? as usize;
    inside[1..].starts_with(['>', ' ', '\n', '\t']).then_some(())?;
    let end = ["</h", "</H"].iter().filter_map(|tag| block.find(tag)).min()?;
    let length = end + block[end..].find('>')? + 1;
    let mut title = String::new();
    for piece in block[..end].split('<').skip(1) {
        title += piece.split_once('>').map_or("", |(_, text)| text);
    }
    let title = single_line(&title);
    (!title.is_empty()).then_some(HtmlHeading { level, title, length })
}

/// The titles of `path`, outermost first; those that are empty are left out, and of the title of front matter and
/// the first heading the shorter one where the other holds it.
fn joined(path: &[&MarkdownHeading]) -> Option<String> {
    let mut titles: Vec<&str> = path
        .iter()
        .map(|heading| heading.title.as_str())
        .filter(|title| !title.is_empty())
        .collect();
    if let ([root, ..], [title, first, ..]) = (path, &titles[..])
        && root.level == 0
    {
        let (title, first) = (title.to_lowercase(), first.to_lowercase());
        if title.contains(&first) {
            titles.remove(1);
        } else if first.contains(&title) {
            titles.remove(0);
        }
    }
    (!titles.is_empty()).then(|| titles.join(HEADING_SEPARATOR))
}

/// `title` on one line, at most [`LONGEST_TITLE`] characters.
fn shortened(title: &str) -> String {
    let line = single_line(title);
    if line.chars().nth(LONGEST_TITLE).is_none() {
        return line;
    }
    let kept: String = line.chars().take(LONGEST_TITLE - 1).collect();
    kept.trim_end().to_owned() + "…"
}

/// Whether `tag` opens a block.
fn is_block(tag: &Tag<'_>) -> bool {
    is_block_end(tag.to_end())
}

/// Whether `tag` closes a block: everything but inline marks and a table's cells.
fn is_block_end(tag: TagEnd) -> bool {
    matches!(
        tag,
        TagEnd::Paragraph
            | TagEnd::Heading(_)
            | TagEnd::BlockQuote(_)
            | TagEnd::CodeBlock
            | TagEnd::HtmlBlock
            | TagEnd::List(_)
            | TagEnd::Item
            | TagEnd::FootnoteDefinition
            | TagEnd::Table
            | TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::MetadataBlock(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sections of `document` begin with the lines and have the headings `expected`.
    fn check_sections(document: &str, expected: &[(&str, Option<&str>)]) {
        let plan = plan(document);
        let found: Vec<_> = plan
            .sections
            .iter()
            .map(|section| (&document[section.range.clone()], section.heading.as_deref()))
            .filter(|(text, _)| !text.trim().is_empty())
            .map(|(text, heading)| (text.lines().next().unwrap_or(""), heading))
            .collect();
        assert_eq!(found, expected, "sections of {document:?}");
    }

    /// With its places marked by their level's digit, `document` reads `expected`.
    fn check_places(document: &str, expected: &str) {
        let plan = plan(document);
        let mut marked = String::new();
        for (at, character) in document.char_indices() {
            let level = plan.levels.iter().position(|level| level.contains(&at));
            if let (Some(level), true) = (level, at > 0) {
                marked.push_str(["⓪", "①", "②", "③", "④", "⑤"][level]);
            }
            marked.push(character);
        }
        assert_eq!(marked, expected, "places in {document:?}");
    }

    #[test]
    fn sections() {
        check_sections("", &[]);
        check_sections("text", &[("text", None)]);
        check_sections("intro\n\n# A\ntext", &[("intro", None), ("# A", Some("A"))]);
        check_sections(
            "# A\na\n## B\nb\n### C\nc\n## D\nd\n# E\ne",
            &[
                ("# A", Some("A")),
                ("## B", Some("A > B")),
                ("### C", Some("A > B > C")),
                ("## D", Some("A > D")),
                ("# E", Some("E")),
            ],
        );
        check_sections("A\n===\na\n\nB\n---\nb", &[("A", Some("A")), ("B", Some("A > B"))]);
        check_sections("# A\r\n\r\na\r\n## B\r\nb", &[("# A", Some("A")), ("## B", Some("A > B"))]);
        check_sections(
            "# A *b* `c` [d](e) {#id}\nx",
            &[("# A *b* `c` [d](e) {#id}", Some("A b c d"))],
        );
        check_sections("\u{feff}# A\na", &[("\u{feff}# A", Some("A"))]);
        check_sections("#\na\n## B\nb", &[("#", None), ("## B", Some("B"))]);
    }

    #[test]
    fn a_heading_without_text_is_carried() {
        check_sections("# A\n\n## B\n\nb", &[("# A", Some("A > B"))]);
        check_sections(
            "# A\n## B\n### C\nc\n## D\nd",
            &[("# A", Some("A > B > C")), ("## D", Some("A > D"))],
        );
        check_sections(
            "# A\n# B\nb\n## C",
            &[("# A", Some("A")), ("# B", Some("B")), ("## C", Some("B > C"))],
        );
    }

    #[test]
    fn front_matter_is_carried_and_its_title_stands_above_all_headings() {
        check_sections(
            "---\ntitle: x\n---\n# A\na\n## B\nb",
            &[("---", Some("x > A")), ("## B", Some("x > A > B"))],
        );
        check_sections(
            "---\ntitle: encode (directive)\n---\n<script>\nx\n</script>\n\n# Encode\n\na\n\n## B\n\nb",
            &[("---", Some("encode (directive)")), ("## B", Some("encode (directive) > B"))],
        );
        check_sections(
            "---\ntitle: x\n---\n\na\n\n## B\nb",
            &[("---", Some("x")), ("## B", Some("x > B"))],
        );
        check_sections("---\ntitle: x\n---\n\n# The X\n\na", &[("---", Some("The X"))]);
        check_sections("---\ntitle: x\n---\n", &[("---", Some("x"))]);
        check_sections("<!-- c -->\n# A\na", &[("<!-- c -->", Some("A"))]);
    }

    #[test]
    fn what_only_looks_like_a_heading() {
        check_sections("```sh\n# comment\n```\ntext", &[("```sh", None)]);
        check_sections("> # quoted\n> text", &[("> # quoted", None)]);
        check_sections("<div>\n# no\n</div>\n\ntext", &[("<div>", None)]);
    }

    #[test]
    fn places() {
        check_places("One. Two.\n\nThree", "One. ⑤Two.\n\n⓪Three");
        check_places("# A\n\nOne.\n\nTwo", "# A\n\n⑤One.\n\n⓪Two");
        check_places("- a\n- b\n  - c\n  - d", "- a\n②- b\n  ③- c\n  ③- d");
        check_places("x\n\n- a\n\n  b\n- c", "x\n\n⓪- a\n\n  ③b\n②- c");
        check_places("> a\n>\n> b", "> a\n>\n②> b");
        check_places("```\na\nb\nc\n```", "```\na\n④b\n④c\n```");
        check_places("|a|b|\n|-|-|\n|c|d|\n|e|f|", "|a|b|\n⑤|-|-|\n⑤|c|d|\n②|e|f|");
        check_places("a  \nb", "a  \n④b");
        check_places("a\n\n**B?**\n\nc\n\n**D.**\n\ne", "a\n\n⓪**B?**\n\n①c\n\n⓪**D.**\n\n⓪e");
        check_places("a\n\n***\n\nb", "a\n\n⓪***\n\n⓪b");
    }

    #[test]
    fn headings_of_html() {
        check_sections(
            "<h1 align=\"center\">\n<img src=\"a.svg\">\nA <b>tool</b>\n</h1>\n\na\n\n<h3 name=\"b\">B?</h3>\n\nb",
            &[
                ("<h1 align=\"center\">", Some("A tool")),
                ("<h3 name=\"b\">B?</h3>", Some("A tool > B?")),
            ],
        );
        for text in [
            "<h1><img></h1>\n\ntext",
            "<hr>\n\ntext",
            "<h7>x</h7>\n\ntext",
            "<h1>x\n\ntext",
            "<header>x</header>",
        ] {
            check_sections(text, &[(text.lines().next().unwrap(), None)]);
        }
    }

    #[test]
    fn what_is_announced_stays_with_its_announcement() {
        check_places("One.\n\nTwo:\n\n- a\n- b", "One.\n\n⓪Two:\n\n①- a\n②- b");
        check_places(
            "Run **this:**\n\n```\na\nb\n```\n\nx",
            "Run **this:**\n\n①```\na\n④b\n```\n\n⓪x",
        );
        check_places("- a:\n  - b\n  - c", "- a:\n  ④- b\n  ③- c");
    }

    #[test]
    fn long_titles_are_shortened() {
        let plan = plan(&format!("# {}\ntext", "word ".repeat(1000)));
        let heading = plan.sections[0].heading.as_deref().unwrap_or("");
        assert!(heading.ends_with("word…"), "{heading}");
        assert!(heading.chars().count() <= LONGEST_TITLE);
    }
}
