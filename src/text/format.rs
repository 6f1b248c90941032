//! # format: what is this text written in?
//!
//! ```text
//! text → prose, Markdown, HTML or source code
//! ```
//!
//! A guess for whoever does not say. It looks at the lines with which a text begins and asks for marks that
//! hardly stand in anything else; where there are none, the text is prose, which is read as it stands.

use super::fence::looks_like_fence;
use super::line::with_line_feeds;
use super::preamble::Preamble;
use super::word_list::list_has;

/// Bytes from the beginning of a text that are looked at, and a little more to the end of a line.
const LOOKED_AT: usize = 64 * 1024;

/// Most characters of a title that is underlined.
const LONGEST_TITLE: usize = 120;

/// Bytes of an address that are looked at.
const LONGEST_ADDRESS: usize = 200;

/// What a text is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// Plain text.
    Prose,
    /// Markdown, or what shares its headings, such as reStructuredText.
    Markdown,
    /// HTML: a page, or a piece of one.
    Html,
    /// Source code.
    Code,
}

impl TextFormat {
    /// What `text` seems to be written in.
    #[must_use]
    pub fn of(text: &str) -> TextFormat {
        let text = with_line_feeds(beginning(text.trim_start_matches('\u{feff}')));
        let text = &*text;
        let tag = first_tag(text).to_ascii_lowercase();
        let is_markdown = || is_markdown(text);
        match () {
            () if Preamble::of(text).title.is_some() => TextFormat::Markdown,
            () if list_has(PAGE_TAGS, &tag) => TextFormat::Html,
            () if is_code(text) => TextFormat::Code,
            () if is_markdown() => TextFormat::Markdown,
            () if list_has(PIECE_TAGS, &tag) => TextFormat::Html,
            () => TextFormat::Prose,
        }
    }
}

/// As much of `text` as is looked at: whole lines, where there are any.
fn beginning(text: &str) -> &str {
    if text.len() <= LOOKED_AT {
        return text;
    }
    let most = text.floor_char_boundary(LOOKED_AT);
    text[..most].rsplit_once('\n').map_or(&text[..most], |(lines, _)| lines)
}

/// The name of the tag with which `text` begins, after comments and declarations; else "".
fn first_tag(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let end = match rest {
            _ if rest.starts_with("<!--") => rest.find("-->").map(|end| end + 3),
            _ if rest.starts_with("<?xml") => rest.find("?>").map(|end| end + 2),
            _ => None,
        };
        match end {
            Some(end) => rest = rest[end..].trim_start(),
            None => break,
        }
    }
    let Some(tag) = rest.strip_prefix('<') else { return "" };
    let length = tag.find(|c: char| c.is_whitespace() || c == '>' || c == '/');
    &tag[..length.unwrap_or(tag.len())]
}

/// Tags with which only a document begins.
const PAGE_TAGS: &str = "!doctype html head body title meta frameset";

/// Tags with which a piece of HTML begins, and Markdown may.
const PIECE_TAGS: &str = "a article b blockquote br center div dl em font footer form h1 h2 h3 h4 h5 h6 header hr i \
    img link main nav ol p pre script section span strong style table ul";

/// Whether most lines are such as only programs have.
fn is_code(text: &str) -> bool {
    if text.starts_with("#!") && !text.starts_with("#![") {
        return true;
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let (mut all, mut code) = (0_usize, 0_usize);
    for line in lines {
        if looks_like_fence(line) {
            return false;
        }
        all += 1;
        code += usize::from(is_code_line(line));
    }
    all >= 3 && code * 5 >= all * 3
}

fn is_code_line(line: &str) -> bool {
    let is_call = || line.ends_with(')') && line.contains('(') && !line.contains(". ");
    let is_assignment = || {
        let name = line.split_once(" = ").map(|(name, _)| name);
        name.is_some_and(|name| name.split_whitespace().count() <= 3)
    };
    line.ends_with([';', '{', '}'])
        || [");", "},", "):", "):"].iter().any(|end| line.ends_with(end))
        || BEGINNINGS.iter().any(|beginning| line.starts_with(beginning))
        || is_call()
        || is_assignment()
}

/// How lines of programs begin, and those of prose hardly.
#[rustfmt::skip]
const BEGINNINGS: &[&str] = &[
    "//", "/*", "*/", "#include", "#define", "#if", "#endif", "#[", "@", "import ", "def ", "class ", "elif ", "else:",
    "try:", "except", "return ", "self.", "fn ", "pub ", "impl ", "let ", "const ", "var ", "func ", "package ",
    "function ", "export ", "public ", "private ", "protected ", "static ", "typedef ", "struct ", "\"\"\"", "if (", "for (",
];

/// Whether one line is such as only Markdown has, or several are such as it often has.
fn is_markdown(text: &str) -> bool {
    let mut marks = MarkdownMarks::default();
    let mut before = "";
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let next = lines.peek().copied().unwrap_or_default();
        marks.add(before, line, next);
        before = line;
    }
    marks.suffice()
}

/// What of Markdown was met.
#[derive(Default)]
struct MarkdownMarks {
    /// Lines such as no other text has.
    sure: usize,
    /// Lines `# Title`, but several one below the other: those are comments of settings.
    headings: usize,
    /// Items of lists, and those that go on in a further line.
    items: usize,
    wrapped_items: usize,
    links: usize,
    fences: usize,
}

impl MarkdownMarks {
    fn add(&mut self, before: &str, line: &str, next: &str) {
        let shown = line.trim();
        self.fences += usize::from(looks_like_fence(shown));
        self.links += usize::from(has_link(shown));
        if is_heading(line) {
            let is_alone = before.trim().is_empty() && next.trim().is_empty();
            self.sure += usize::from(is_alone);
            self.headings += usize::from(!is_heading(before) && !is_heading(next));
        }
        self.sure += usize::from(is_underline(before, shown) || is_table_rule(before, shown));
        if is_item(shown) {
            self.items += 1;
            let goes_on = next.starts_with([' ', '\t']) && !next.trim().is_empty();
            self.wrapped_items += usize::from(goes_on && !is_item(next.trim()));
        }
    }

    fn suffice(&self) -> bool {
        self.sure > 0
            || self.fences >= 2
            || self.links > 0
            || self.headings >= 2
            || self.items >= 2 && self.wrapped_items > 0
    }
}

/// `# Title`, up to six of them.
fn is_heading(line: &str) -> bool {
    let title = line.trim_start_matches('#');
    (1..=6).contains(&(line.len() - title.len()))
        && title.starts_with(' ')
        && title.contains(char::is_alphanumeric)
}

/// Whether `line` underlines the title `title`.
fn is_underline(title: &str, line: &str) -> bool {
    let title = title.trim();
    let (drawn, length) = (line.chars().count(), title.chars().count());
    let is_drawn = line.chars().all(|c| c == '=') || line.chars().all(|c| c == '-');
    is_drawn
        && drawn >= 3
        && (1..=LONGEST_TITLE).contains(&length)
        && drawn * 2 >= length
        && title.contains(char::is_alphanumeric)
        && !title.contains('|')
}

/// Whether `line` is drawn under the names of columns: `|---|:--|`.
fn is_table_rule(columns: &str, line: &str) -> bool {
    columns.contains('|')
        && line.contains('|')
        && line.contains("--")
        && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

/// Whether a link to an address stands in `line`: `[text](https://…)`, `[text](#place)`, `[text](page.md)`.
fn has_link(line: &str) -> bool {
    let is_address = |rest: &str| {
        let rest = &rest[..rest.floor_char_boundary(LONGEST_ADDRESS)];
        let address = rest.split([')', ' ']).next().unwrap_or_default();
        let has_ending = address.rsplit_once('.').is_some_and(|(_, ending)| !ending.is_empty());
        address.starts_with(['#', '/', '.', '<']) || address.contains("://") || has_ending
    };
    line.match_indices("](").any(|(at, sign)| is_address(&line[at + sign.len()..]))
}

fn is_item(line: &str) -> bool {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = (1..=3).contains(&(line.len() - number.len()));
    ["- ", "* ", "+ "].iter().any(|sign| line.starts_with(sign))
        || is_numbered && [". ", ") "].iter().any(|sign| number.starts_with(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: TextFormat) {
        assert_eq!(TextFormat::of(text), expected, "format of {text:?}");
    }

    #[test]
    fn prose() {
        for text in [
            "",
            "One sentence. Another one.",
            "A paragraph.\n\nAnd another; with a dash - and more.",
            "Dear Ada,\n\nthank you.\n\n- Charles",
            "He said (I think) that.\nThen he left.\nNobody knows why.",
            "Prices: 5 EUR, 6 EUR\n- a\n- b",
            "a,b,c\n1,2,3\n4,5,6",
            "[1] See the first source (p. 4).",
            "# one comment\nport = 1",
            "<person> is a placeholder.",
            "2026-01-01 12:00 started\n2026-01-01 12:01 ended",
        ] {
            check(text, TextFormat::Prose);
        }
    }

    #[test]
    fn markdown() {
        for text in [
            "# Title\n\ntext",
            "# Title\r\rtext",
            "text\n\n## Title\n\ntext",
            "# A\ntext\n# B\ntext",
            "Title\n=====\n\ntext",
            "Title\n-----\ntext",
            "Run this:\n\n```\nmake\n```",
            "| a | b |\n|---|---|\n| 1 | 2 |",
            "See [the list](https://example.org/list).",
            "See [below](#below) and [there](there.md).",
            "- one item that\n  goes on\n- another",
            "<h1 align=\"center\">Tool</h1>\n\n## Use\n\ntext",
            "\u{feff}# Title\n\ntext",
            "---\ntitle: x\n---\n\n# Title\n\ntext",
            "+++\ntitle = \"x\"\n+++\n\ntext",
        ] {
            check(text, TextFormat::Markdown);
        }
    }

    #[test]
    fn html() {
        for text in [
            "<!DOCTYPE html><title>x</title>",
            "<?xml version='1.0'?>\n<!-- c --><HTML>",
            "<p>A piece</p>",
            "\u{feff}<div class=\"a\">text</div>",
        ] {
            check(text, TextFormat::Html);
        }
    }

    #[test]
    fn code() {
        for text in [
            "#!/bin/sh\n# Comment\n\necho",
            "fn main() {\n    let a = 1;\n}\n",
            "# Comment\n\nimport os\n\ndef main():\n    return os.getcwd()\n",
            "#include <stdio.h>\n\n// Comment\nint main(void) {\n    return 0;\n}\n",
            "SELECT a\nFROM b;\nSELECT c;\nSELECT d;",
        ] {
            check(text, TextFormat::Code);
        }
        check("Call it:\n\n```\nfn main() {\n}\n```\n", TextFormat::Markdown);
    }

    #[test]
    fn long_texts_take_no_time() {
        check(&"a".repeat(10_000_000), TextFormat::Prose);
        check(&"](".repeat(1_000_000), TextFormat::Prose);
        check(&"<!--".repeat(1_000_000), TextFormat::Prose);
    }
}
