//! What is this line?
//!
//! Just enough of layout and Markdown for plain text: where a sentence or paragraph cannot
//! go on to the next line. The `markdown` strategy has a real parser.

use std::borrow::Cow;
use std::ops::Range;

use super::fence::looks_like_fence;
use super::length::is_within;
use super::script::are_joined;

/// A line and what it is.
pub(crate) struct Line {
    /// Byte range in the text, without the line end.
    pub range: Range<usize>,
    /// What the line is.
    pub kind: LineKind,
}

/// The kinds of lines that matter for cutting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// Only white space.
    Blank,
    /// Goes on from the line before and to the next.
    Text,
    /// Begins something new and goes on to the next line: a list item.
    Item,
    /// Stands alone: heading, rule, table row, fence.
    Alone,
}

/// `text` on one line: each run of white space is one space, and none is at the ends. The end of a line within text of a script that
/// puts no space there is nothing.
pub(crate) fn single_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let mut rest = text.trim();
    loop {
        let (word, behind) = rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()));
        line += word;
        rest = behind.trim_start();
        if rest.is_empty() {
            return line;
        }
        let is_line_end = behind[..behind.len() - rest.len()].contains(['\n', '\r']);
        if !(is_line_end && is_joined(&line, rest)) {
            line.push(' ');
        }
    }
}

/// Whether nothing stands for the end of the line between `before` and `after`.
pub(crate) fn is_joined(before: &str, after: &str) -> bool {
    let characters = before.chars().next_back().zip(after.chars().next());
    characters.is_some_and(|(before, after)| are_joined(before, after))
}

/// `text` with words whole that were parted at the end of a line by a hyphen of typesetters: by U+2010, as man does it, or a soft
/// hyphen. A word with an ordinary hyphen there may be written with it, and what stands before "and" goes on in another word.
pub(crate) fn without_line_hyphens(text: &str) -> Cow<'_, str> {
    if !text.contains(LINE_HYPHENS) {
        return Cow::Borrowed(text);
    }
    let mut whole = String::new();
    for line in text.lines() {
        let rest = line.trim_start();
        let word = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let is_parted = rest.starts_with(char::is_lowercase)
            && !CONJUNCTIONS.contains(&word)
            && whole.strip_suffix(LINE_HYPHENS).is_some_and(|it| it.ends_with(char::is_lowercase));
        if is_parted {
            whole.pop();
        } else if !whole.is_empty() {
            whole.push('\n');
        }
        whole += if is_parted { line.trim() } else { line.trim_end() };
    }
    Cow::Owned(whole)
}

/// Words before which a hyphen stands for a word that comes later, as in "nineteenth- and twentieth-century".
const CONJUNCTIONS: [&str; 14] =
    ["and", "or", "to", "und", "oder", "bzw", "bis", "et", "ou", "y", "o", "e", "en", "of"];

/// Hyphens that stand at the end of a line within a word.
const LINE_HYPHENS: [char; 2] = ['\u{2010}', '\u{ad}'];

/// Bytes between a colon and what it announces: emphasis, blank lines and markers of quotations.
const LONGEST_GAP: usize = 64;

/// Whether `text` ends with a colon, be it emphasised: what follows is announced by it.
pub(crate) fn ends_with_colon(text: &str) -> bool {
    let end = &text[text.ceil_char_boundary(text.len().saturating_sub(LONGEST_GAP))..];
    let is_gap = |c: char| c.is_whitespace() || matches!(c, '>' | '*' | '_');
    end.trim_end_matches(is_gap).ends_with([':', '：'])
}

/// The [`length`](super::length) of the longest line in bold that stands above what follows.
const LONGEST_STRONG_LINE: usize = 200;

/// What `line` says, if all of it stands between one pair of signs of strong emphasis and it is short.
pub(crate) fn strong_line(line: &str) -> Option<&str> {
    let sign = ["**", "__"].into_iter().find(|sign| line.starts_with(sign))?;
    let said = line.strip_prefix(sign)?.strip_suffix(sign)?;
    let is_one =
        !said.contains(sign) && !said.contains('\n') && said.contains(char::is_alphanumeric);
    (is_one && is_within(said, LONGEST_STRONG_LINE)).then(|| said.trim())
}

/// Whether the last paragraph of `text` is a line in bold that ends like no sentence, or is a question: it stands above what
/// follows.
pub(crate) fn ends_with_strong_line(text: &str) -> bool {
    let text = text.trim_end();
    let (before, line) = text.rsplit_once('\n').unwrap_or(("", text));
    let above = before.trim_end_matches([' ', '\t', '\r']);
    let is_alone = above.is_empty() || above.ends_with('\n');
    let is_said =
        |said: &str| said.ends_with(['.', '!', ',', ';', '。', '！', '，', '；', '।', '۔']);
    is_alone && strong_line(line.trim()).is_some_and(|said| !is_said(said))
}

/// The lines of `text`, ended by LF, CR LF or CR.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line> {
    line_ranges(text).map(move |range| Line { kind: kind_of(&text[range.clone()]), range })
}

/// Byte ranges of the lines of `text`, ended by LF, CR LF or CR, without their ends.
pub(crate) fn line_ranges(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        if start >= text.len() {
            return None;
        }
        let rest = &text.as_bytes()[start..];
        let length = rest.iter().position(|&b| b == b'\n' || b == b'\r').unwrap_or(rest.len());
        let range = start..start + length;
        start = range.end + if rest[length..].starts_with(b"\r\n") { 2 } else { 1 };
        Some(range)
    })
}

/// `text` with LF at the end of each line that ends with CR alone, for whoever knows no other end of a line, as `str::lines` and
/// parsers of Markdown. Every other byte is the same.
pub(crate) fn with_line_feeds(text: &str) -> Cow<'_, str> {
    let is_alone = |at: usize| !text[at + 1..].starts_with('\n');
    if !text.match_indices('\r').any(|(at, _)| is_alone(at)) {
        return Cow::Borrowed(text);
    }
    let mut whole = String::with_capacity(text.len());
    let mut start = 0;
    for (at, _) in text.match_indices('\r').filter(|(at, _)| is_alone(*at)) {
        whole += &text[start..at];
        whole.push('\n');
        start = at + 1;
    }
    whole += &text[start..];
    Cow::Owned(whole)
}

/// What the line `line` is, seen alone.
fn kind_of(line: &str) -> LineKind {
    let content = line.trim();
    let Some(first) = content.chars().next() else { return LineKind::Blank };
    match first {
        '#' if is_heading(content) => LineKind::Alone,
        '|' => LineKind::Alone,
        '`' | '~' if looks_like_fence(content) => LineKind::Alone,
        '=' | '-' | '*' | '_' | '+' if is_rule(content) => LineKind::Alone,
        '-' | '*' | '+' | '•' | '‣' | '–' if is_bullet(content) => LineKind::Item,
        '0'..='9' if is_number(content) => LineKind::Item,
        _ => LineKind::Text,
    }
}

/// The length of what makes `line` a list item, in bytes: the space before its bullet or number, and the one behind
/// it. Of another line, that of the space before its text.
pub(crate) fn item_sign(line: &str) -> usize {
    let indented = line.len() - line.trim_start().len();
    if kind_of(line) != LineKind::Item {
        return indented;
    }
    let rest = &line[indented..];
    let bullet = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let text = rest[bullet..].trim_start();
    line.len() - text.len()
}

/// Whether the line is an ATX heading.
fn is_heading(content: &str) -> bool {
    let rest = content.trim_start_matches('#');
    content.len() - rest.len() <= 6 && (rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// A thematic break or the underline of a setext heading.
fn is_rule(content: &str) -> bool {
    content.len() >= 3 && content.chars().all(|c| matches!(c, '=' | '-' | '*' | '_' | '+' | ' '))
}

/// A bullet with something after it.
fn is_bullet(content: &str) -> bool {
    content.chars().nth(1).is_some_and(char::is_whitespace)
}

/// A number of up to three digits and a delimiter: "12." or "3)". Longer ones are rather the
/// year at the end of a sentence that was wrapped.
fn is_number(content: &str) -> bool {
    let digits = content.bytes().take(4).take_while(u8::is_ascii_digit).count();
    let rest = &content[digits..];
    digits <= 3 && rest.starts_with(['.', ')']) && rest[1..].starts_with([' ', '\t'])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of `text` have `kinds`.
    fn check(text: &str, kinds: &[LineKind]) {
        let found: Vec<LineKind> = lines(text).map(|line| line.kind).collect();
        assert_eq!(found, kinds, "lines of {text:?}");
    }

    #[test]
    fn signs_of_items() {
        let check = |line: &str, sign: &str| assert_eq!(&line[..item_sign(line)], sign, "{line:?}");
        check("- a b", "- ");
        check("  12.  a b", "  12.  ");
        check("  a b", "  ");
        check("**a** b", "");
        check("", "");
    }

    #[test]
    fn a_line_in_bold_stands_above_what_follows_if_it_is_short_and_no_sentence() {
        for text in ["**Lost keys**", "a\n\n** Lost? **\n\n", "a\r\n\r\n__Lost__\r\n", "**借书？**"]
        {
            assert!(ends_with_strong_line(text), "{text:?}");
        }
        let long = format!("**{}**", "word ".repeat(100));
        for text in [
            "",
            "****",
            "*****",
            "Lost keys",
            "a\n**Lost**",
            "**Lost** keys",
            "**Lost** and **found**",
            "**Keep out.**",
            "**借书，**",
            &long,
        ] {
            assert!(!ends_with_strong_line(text), "{text:?}");
        }
        assert_eq!(strong_line("** Lost **"), Some("Lost"));
    }

    #[test]
    fn lines_are_joined_as_their_script_wants() {
        for (text, expected) in [
            ("", ""),
            (" one \t two\nthree\r\n", "one two three"),
            ("借书\n期限为两周，\r\n  逾期每日", "借书期限为两周，逾期每日"),
            ("洗ってくだ\rさい。", "洗ってください。"),
            ("影印每张\n2元。", "影印每张2元。"),
            ("他说“好。”\n然后", "他说“好。”然后"),
            ("图书馆 周一\n休馆", "图书馆 周一休馆"),
            ("打开\nPostgreSQL", "打开 PostgreSQL"),
            ("한국\n사람", "한국 사람"),
            ("ห้ามสูบ\nบุหรี่ ใน", "ห้ามสูบบุหรี่ ใน"),
        ] {
            assert_eq!(single_line(text), expected, "{text:?}");
        }
    }

    #[test]
    fn every_end_of_a_line_can_be_a_line_feed() {
        for (text, expected) in [
            ("a\nb\r\nc", "a\nb\r\nc"),
            ("# a\r\rb\r", "# a\n\nb\n"),
            ("\r", "\n"),
            ("a\r\r\nb\rö", "a\n\r\nb\nö"),
            ("", ""),
        ] {
            assert_eq!(with_line_feeds(text), expected, "{text:?}");
        }
    }

    #[test]
    fn kinds() {
        use LineKind::*;
        check("", &[]);
        check("a\nb\rc\r\nd", &[Text, Text, Text, Text]);
        check("a\n\n \t\r\nb", &[Text, Blank, Blank, Text]);
        check("# a\n####### b\n#c\n#", &[Alone, Text, Text, Alone]);
        check("---\n- - -\n===\n--\n-- a", &[Alone, Alone, Alone, Text, Text]);
        check("- a\n* a\n+ a\n-a\n• a\n**a**", &[Item, Item, Item, Text, Item, Text]);
        check("1. a\n12) a\n2017. a\n1.5 a\n1.", &[Item, Item, Text, Text, Text]);
        check("| a | b |\n```rust\n~~~", &[Alone, Alone, Alone]);
    }
}
