//! # markup: how does this text read without Markdown and HTML?
//!
//! ```text
//! "**5–7 days**, see [the list](https://…)" → "5–7 days, see the list"
//! ```
//!
//! Whether a passage is Markdown is not known, so what may be meant as it stands is left alone: signs
//! within words (`a*b*c`), names between underscores (`__init__`), and what stands in angle brackets but
//! is no element of HTML (`<user>`).

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{BrokenLink, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};

use crate::text::line::single_line;
use crate::text::marker::markers;
use crate::text::script::{is_han, is_kana};
use crate::text::word_list::list_has;

/// What the text is read behind, so that it is a paragraph whatever it begins with.
const GUARD: &str = "x ";

/// Longest tag of HTML, in bytes.
const LONGEST_TAG: usize = 1000;

/// One line of `text` without inline Markdown and HTML.
///
/// Code that holds brackets with a number keeps its backticks: they tell it from a citation.
pub(super) fn plain(text: &str) -> String {
    if !text.contains(['*', '_', '`', '[', '<', '&', '~', '\\']) {
        return text.to_owned();
    }
    let text = without_strong_signs(without_open_sign(text));
    let source = format!("{GUARD}{text}");
    let mut named = |link: BrokenLink| {
        is_reference(&source, &link).then(|| (CowStr::from("#"), CowStr::from("")))
    };
    let options = Options::ENABLE_STRIKETHROUGH;
    let parser = Parser::new_with_broken_link_callback(&source, options, Some(&mut named));
    let mut reader = MarkupReader { source: &source, text: String::new(), in_images: 0 };
    for (event, range) in parser.into_offset_iter() {
        reader.read(event, range);
    }
    let words = reader.text.strip_prefix(GUARD.trim_end()).unwrap_or(&reader.text);
    single_line(words)
}

/// `text` without the one sign of strong emphasis that has no other: a sentence that is cut out of several between signs has the
/// first of them, or the last.
fn without_open_sign(text: &str) -> &str {
    if text.matches("**").count() != 1 {
        return text;
    }
    // "**kwargs" is a name.
    let begins = |it: &&str| it.starts_with(|c: char| c.is_alphabetic() && !c.is_lowercase());
    let ends = |it: &&str| it.ends_with(['.', '!', '?', ':', '。', '！', '？', '؟', '।']);
    let begun = text.strip_prefix("**").filter(begins);
    begun.or_else(|| text.strip_suffix("**").filter(ends)).unwrap_or(text)
}

/// `text` without the asterisks around what stands between others of Chinese and Japanese. CommonMark tells by spaces and
/// punctuation where emphasis begins and ends, which these languages have none of there.
fn without_strong_signs(text: &str) -> Cow<'_, str> {
    let is_unspaced = |c: char| is_kana(c) || is_han(c);
    let parts: Vec<&str> = text.split("**").collect();
    let are_pairs = parts.len() > 2 && parts.len() % 2 == 1;
    let is_inside = |part: &&str| !part.is_empty() && part.trim() == *part;
    let is_meant = are_pairs
        && text.contains(is_unspaced)
        && !text.contains('`')
        && parts.iter().skip(1).step_by(2).all(is_inside);
    if is_meant { Cow::Owned(parts.concat()) } else { Cow::Borrowed(text) }
}

/// Whether this stands in brackets as a whole and is neither a sentence nor a section or an option of a file, as what is said in
/// the place of a picture ("[screenshot of the menu]").
pub(super) fn is_name_of_picture(text: &str) -> bool {
    let inside = text.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    inside.is_some_and(|it| {
        it.trim().contains(' ')
            && !it.contains(['[', ']', ':', '='])
            && !it.starts_with('-')
            && !it.ends_with(['.', '!', '?', '。', '！', '？'])
    })
}

/// The parts of `text` between the tags of HTML that part paragraphs, headings, items and rows, in bytes.
pub(super) fn between_block_tags(text: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices('<') {
        if at >= start
            && let Some(length) = block_tag(&text[at..])
        {
            parts.push(start..at);
            start = at + length;
        }
    }
    parts.push(start..text.len());
    parts
}

/// Length of the tag that `text` begins with, if that parts what is read one after the other. Only so
/// many bytes are looked at, as text can be full of tags that don't end.
fn block_tag(text: &str) -> Option<usize> {
    const PARTING: &str = "article aside blockquote body dd div dl dt footer h1 h2 h3 h4 h5 h6 header hr li main nav \
        ol p pre section table tbody tfoot thead title tr ul";
    let text = &text[..text.floor_char_boundary(LONGEST_TAG)];
    let inside = text.strip_prefix('<')?;
    let inside = inside.strip_prefix('/').unwrap_or(inside);
    let end = inside.find(|c: char| !c.is_ascii_alphanumeric())?;
    let is_tag = inside[end..].starts_with(['>', ' ', '/', '\n', '\t']);
    let parts = PARTING.split(' ').any(|name| name.eq_ignore_ascii_case(&inside[..end]));
    (is_tag && parts).then(|| text.find('>').map(|at| at + 1))?
}

/// What has been read of a text.
struct MarkupReader<'a> {
    source: &'a str,
    text: String,
    in_images: usize,
}

impl MarkupReader<'_> {
    fn read(&mut self, event: Event, range: Range<usize>) {
        match event {
            Event::Start(Tag::Image { .. }) => self.in_images += 1,
            Event::End(TagEnd::Image) => self.in_images = self.in_images.saturating_sub(1),
            // A picture says nothing here, and what is said in its place names it at best.
            _ if self.in_images > 0 => {}
            Event::Text(text) => self.text += &text,
            Event::Code(code) if markers(&code).is_empty() => self.text += &code,
            Event::Code(_) => self.text += &self.source[range],
            Event::InlineHtml(tag) => self.text += &without_tag(&tag),
            Event::SoftBreak | Event::HardBreak => self.text.push(' '),
            Event::Start(Tag::Emphasis) | Event::End(TagEnd::Emphasis) => self.keep(range, 1),
            Event::Start(Tag::Strong) | Event::End(TagEnd::Strong) => self.keep(range, 2),
            Event::Start(Tag::Strikethrough) | Event::End(TagEnd::Strikethrough) => {
                let signs = self.source[range.clone()].chars().take_while(|c| *c == '~').count();
                self.keep(range, signs.min(2));
            }
            _ => {}
        }
    }

    /// Keeps the `signs` around `range`, which would be left out, where they may be meant as they stand.
    fn keep(&mut self, range: Range<usize>, signs: usize) {
        let inside = &self.source[range.start + signs..range.end - signs];
        let is_in_word = self.source[..range.start].ends_with(char::is_alphanumeric)
            || self.source[range.end..].starts_with(char::is_alphanumeric);
        let is_name = signs == 2
            && self.source[range.clone()].starts_with('_')
            && !inside.contains(char::is_whitespace);
        if is_in_word || is_name {
            self.text += &self.source[range.start..range.start + signs];
        }
    }
}

/// Whether this is a link `[text][name]` whose address stands elsewhere, and no place in code.
fn is_reference(source: &str, link: &BrokenLink) -> bool {
    let before = source[..link.span.start].chars().next_back();
    link.link_type == LinkType::Reference
        && before.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '"'))
        && link.reference.contains(char::is_alphabetic)
}

/// What stands for the tag `tag` in plain text: a space for what parts text, nothing for what
/// only shows it differently, and the tag for what is none of HTML.
fn without_tag(tag: &str) -> String {
    let inside = tag.trim_start_matches(['<', '/']);
    let end = inside.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(inside.len());
    let name = inside[..end].to_ascii_lowercase();
    match () {
        () if tag.starts_with("<!--") || list_has(INLINE_ELEMENTS, &name) => String::new(),
        () if list_has(BLOCK_ELEMENTS, &name) => " ".to_owned(),
        () => tag.to_owned(),
    }
}

const INLINE_ELEMENTS: &str = "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark \
    q rp rt ruby s samp small span strike strong sub sup time tt u var wbr";

const BLOCK_ELEMENTS: &str = "address article aside blockquote br button caption center dd details dialog div dl \
    dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr iframe img input legend li main nav ol \
    option p picture pre section select source summary table tbody td textarea tfoot th thead tr ul video";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn markup_is_left_out() {
        for (text, expected) in [
            ("**5–7 business days**, or *less*.", "5–7 business days, or less."),
            ("~~DHL~~ is not used; `4.90 EUR` is paid.", "DHL is not used; 4.90 EUR is paid."),
            (
                "See [the list](https://example.org/a_b_c) of [carriers][2c].",
                "See the list of carriers.",
            ),
            ("![build](https://example.org/b.svg) It builds.", "It builds."),
            ("[![build](https://example.org/b.svg)](https://example.org) It builds.", "It builds."),
            ("<https://example.org/a_b> has it.", "https://example.org/a_b has it."),
            (
                "<p>The <b>museum</b> opens at&nbsp;10&nbsp;am<br>daily.</p>",
                "The museum opens at 10 am daily.",
            ),
            ("Press <kbd>Q</kbd><!-- or not -->.", "Press Q."),
            ("A \\*star\\* stays.", "A *star* stays."),
            ("1986. A good year", "1986. A good year"),
            ("你的**FastAPI**应用", "你的FastAPI应用"),
            ("**Be careful.", "Be careful."),
            ("It is hot.**", "It is hot."),
            ("- 5 degrees", "- 5 degrees"),
            ("", ""),
        ] {
            assert_eq!(plain(text), expected, "{text}");
        }
    }

    #[test]
    fn what_may_be_meant_stays() {
        for text in [
            "2 * 3 * 4 = 24",
            "**kwargs are passed on.",
            "**2 squares a number.",
            "a*b*c and snake_case_name",
            "Call __init__ first.",
            "SELECT * FROM t WHERE a < b AND c > d",
            "psql -U <user> <database>",
            "The first[7] was a monk [2, 3].",
            "Use `argv[1]` here.",
            "m[i][j] is read.",
            "a ` tick",
        ] {
            assert_eq!(plain(text), text);
        }
    }

    #[test]
    fn tags_part_what_stands_on_lines_of_its_own() {
        let parts = |text: &'static str| -> Vec<&str> {
            between_block_tags(text).into_iter().map(|range| &text[range]).collect()
        };
        assert_eq!(
            parts("<h1>Museum</h1><p class=\"a\">Open <b>daily</b>.</P>"),
            ["", "Museum", "", "Open <b>daily</b>.", ""]
        );
        for text in ["a < b", "psql <p>", "<person>", "<p", "<>", ""] {
            let expected: Vec<&str> =
                if text == "psql <p>" { vec!["psql ", ""] } else { vec![text] };
            assert_eq!(parts(text), expected);
        }
    }

    #[test]
    fn tags_that_do_not_end_take_no_time() {
        for text in ["<p ", "<", "</p", "<p a=<"] {
            let text = text.repeat(500_000);
            assert_eq!(between_block_tags(&text), vec![0..text.len()]);
        }
    }

    proptest! {
        #[test]
        fn words_stay(words in prop::collection::vec("[a-zA-Z0-9äöü好.,;:?()-]{1,8}", 0..20)) {
            let text = words.join(" ");
            prop_assert_eq!(plain(&text), text);
        }

        #[test]
        fn any_text_is_read(text in "[a-z <>\\[\\]()*_`~&;/!\\\\\"=0-9-]{0,60}") {
            let read = plain(&text);
            prop_assert!(read.len() <= text.len() + 8, "{read}");
            prop_assert!(!read.contains('\n'));
        }
    }
}
