//! Markdown: it is its own text, and is only taken apart at its headings.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::Part;
use super::section::{self, Heading};
use crate::text::line::single_line;

/// The sections of `text`. Front matter belongs to the text before the first heading.
pub fn parse(text: &str) -> Vec<Part> {
    section::split(text, &headings(text), None)
}

/// The headings that stand in no list or quotation.
fn headings(text: &str) -> Vec<Heading> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_HEADING_ATTRIBUTES;
    let (mut found, mut open, mut depth) = (Vec::new(), None::<Heading>, 0_usize);
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                open =
                    Some(Heading { start: range.start, level: rank(level), title: String::new() });
                depth += 1;
            }
            Event::Start(_) => depth += 1,
            Event::End(TagEnd::Heading(_)) if depth == 1 => {
                depth = 0;
                found.extend(
                    open.take()
                        .map(|heading| Heading { title: single_line(&heading.title), ..heading }),
                );
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Text(words) | Event::Code(words) => {
                open.iter_mut().for_each(|heading| heading.title.push_str(&words));
            }
            Event::SoftBreak | Event::HardBreak => {
                open.iter_mut().for_each(|heading| heading.title.push(' '));
            }
            _ => {}
        }
    }
    found
}

fn rank(level: HeadingLevel) -> u8 {
    level as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(Option<&str>, &str)]) {
        let parts = parse(text);
        let found: Vec<(Option<&str>, &str)> =
            parts.iter().map(|part| (part.heading.as_deref(), &*part.content)).collect();
        assert_eq!(found, expected, "parts of {text:?}");
    }

    #[test]
    fn sections() {
        check("", &[]);
        check("text", &[(None, "text")]);
        check("# A\n\na\n\n## B\n\nb", &[(Some("A"), "# A\n\na\n\n## B\n\nb")]);
        check(
            "intro\n\n# A\na\n\n# B\nb\n",
            &[(None, "intro"), (Some("A"), "# A\na"), (Some("B"), "# B\nb")],
        );
        check("## A\na\n## B\nb", &[(Some("A"), "## A\na"), (Some("B"), "## B\nb")]);
        check("A *b*\n=====\na", &[(Some("A b"), "A *b*\n=====\na")]);
        check("#\na", &[(None, "#\na")]);
    }

    #[test]
    fn what_only_looks_like_a_heading() {
        check(
            "```\n# no\n```\n\n> # no\n\n- # no",
            &[(None, "```\n# no\n```\n\n> # no\n\n- # no")],
        );
        check(
            "---\ntitle: x\n---\n\n# A\na",
            &[(None, "---\ntitle: x\n---"), (Some("A"), "# A\na")],
        );
    }
}
