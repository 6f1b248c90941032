//! What does a reader of this chunk alone not know?
//!
//! Which document it is from, and under which headings it stands; and, where a language model has
//! said so, in which connection. That is put before the text of the chunk when it is embedded and
//! when its words are indexed. The chunk stays what it is.

use super::HEADING_SEPARATOR;
use crate::text::format::TextFormat;
use crate::text::line::{LineKind, lines, single_line};

/// Longest context, in bytes: a page's worth of titles would leave no room for the text.
const LONGEST: usize = 256;

/// Tokens that a context has at most, nearly always.
pub const CONTEXT_TOKENS: u32 = 64;

/// The title of a document and the headings of a chunk as one line; `None` where there are
/// none. A title that is the first heading is there once.
#[must_use]
pub fn context(title: Option<&str>, heading: Option<&str>) -> Option<String> {
    let title = title.map(single_line).filter(|title| !title.is_empty());
    let heading = heading.map(single_line);
    let parts = match (title, heading) {
        (Some(title), Some(heading)) if is_first(&title, &heading) => vec![heading],
        (title, heading) => title.into_iter().chain(heading).collect(),
    };
    (!parts.is_empty()).then(|| shortened(parts.join(HEADING_SEPARATOR)))
}

/// The title of a text that names none otherwise: its first heading, if it is Markdown. A first comment of a program
/// is none.
#[must_use]
pub fn first_heading(document: &str) -> Option<String> {
    if TextFormat::of(document) != TextFormat::Markdown {
        return None;
    }
    let heading = lines(document)
        .filter(|line| line.kind == LineKind::Alone)
        .map(|line| document[line.range].trim())
        .find(|line| line.starts_with('#'))?;
    let title = heading.trim_matches('#').trim();
    (!title.is_empty()).then(|| title.to_owned())
}

/// What is embedded of a chunk: its context, what a language model says of its place, its text.
#[must_use]
pub fn in_context(context: Option<&str>, line: Option<&str>, content: &str) -> String {
    context.into_iter().chain(line).chain([content]).collect::<Vec<_>>().join("\n")
}

/// Whether the path `heading` begins with `title`.
fn is_first(title: &str, heading: &str) -> bool {
    let rest = heading.strip_prefix(title);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(HEADING_SEPARATOR))
}

/// `line`, cut to [`LONGEST`] between words; the end of a path says most.
fn shortened(line: String) -> String {
    if line.len() <= LONGEST {
        return line;
    }
    let from = line.ceil_char_boundary(line.len() - LONGEST);
    let tail = &line[from..];
    let word = tail.find(' ').map_or(tail, |space| &tail[space + 1..]);
    format!("… {word}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_and_headings() {
        let check = |title: Option<&str>, heading: Option<&str>, expected: Option<&str>| {
            assert_eq!(context(title, heading).as_deref(), expected, "{title:?}, {heading:?}");
        };
        check(None, None, None);
        check(Some(" \n"), None, None);
        check(Some("The\n mill"), None, Some("The mill"));
        check(None, Some("Mill > Wheel"), Some("Mill > Wheel"));
        check(Some("Mill"), Some("Mill > Wheel"), Some("Mill > Wheel"));
        check(Some("Mill"), Some("Mill"), Some("Mill"));
        check(Some("Mill"), Some("Mills > Wheel"), Some("Mill > Mills > Wheel"));
        check(Some("Manual"), Some("Wheel"), Some("Manual > Wheel"));
    }

    #[test]
    fn what_is_known_stands_before_the_text() {
        assert_eq!(in_context(None, None, "text"), "text");
        assert_eq!(in_context(Some("Mill"), None, "text"), "Mill\ntext");
        assert_eq!(in_context(None, Some("Of wheels."), "text"), "Of wheels.\ntext");
        assert_eq!(in_context(Some("Mill"), Some("Of wheels."), "text"), "Mill\nOf wheels.\ntext");
    }

    #[test]
    fn long_paths_lose_their_beginning() {
        let line = context(Some(&"é word ".repeat(100)), Some("The end")).unwrap_or_default();
        assert!(line.len() <= LONGEST + "… ".len() && line.ends_with("word > The end"), "{line}");
        assert!(line.starts_with("… "), "{line}");
    }

    #[test]
    fn the_first_heading_is_a_title() {
        let check = |document: &str, expected: Option<&str>| {
            assert_eq!(first_heading(document).as_deref(), expected, "title of {document:?}");
        };
        check("", None);
        check("text\n---\n| a |", None);
        check("text\n\n## The mill ##\n\n# Later", Some("The mill"));
        check("#hash\n# \n", None);
    }
}
