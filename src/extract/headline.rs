//! # headline: which heading may a piece be shown with?
//!
//! ```text
//! "### Fixed" in a chunk that stands under "Changelog > 2.3.0 (2024-11-05) > Fixed" → "2.3.0 (2024-11-05)"
//! ```
//!
//! A section of Markdown is a chunk of its own, so the version that something was fixed in may stand in the path of the chunk's
//! headings alone. The path ends where the headings in the text of the chunk begin.

use std::borrow::Cow;
use std::ops::Range;

use super::ExtractPassage;
use super::heading_stack::is_marked;
use super::markup::plain;
use super::release::{is_release, release_name};
use super::unit::Unit;
use crate::chunk::HEADING_SEPARATOR;
use crate::text::words::words;

/// Where a heading stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Headline {
    /// In the text of the passage, in bytes.
    InText(Range<usize>),
    /// In the path of its headings, in bytes.
    InPath(Range<usize>),
}

impl Headline {
    /// What it says.
    pub fn text<'a>(&self, source: &ExtractPassage<'a>) -> Cow<'a, str> {
        match self {
            Headline::InText(range) => release_name(source.content, range),
            Headline::InPath(range) => {
                Cow::Borrowed(&source.heading.unwrap_or_default()[range.clone()])
            }
        }
    }

    /// Whether it is nothing but a version or a date.
    fn is_release(&self, source: &ExtractPassage) -> bool {
        is_release(&words(&plain(&self.text(source))))
    }
}

/// The headings above the one that `unit` stands under that are nothing but a version or a date, the nearest first.
pub(super) fn releases_above(unit: &Unit, source: &ExtractPassage) -> Vec<Headline> {
    let in_text = unit.above.iter().cloned().map(Headline::InText);
    let in_path = path_above(unit, source).into_iter().rev().map(Headline::InPath);
    in_text.chain(in_path).filter(|it| it.is_release(source)).collect()
}

/// The nearest heading that is nothing but a version or a date: the one that `unit` stands under, or one above that.
pub(super) fn nearest_release(unit: &Unit, source: &ExtractPassage) -> Option<Headline> {
    let under = unit.under.clone().map(Headline::InText);
    let own = under.filter(|it| it.is_release(source));
    own.or_else(|| releases_above(unit, source).into_iter().next())
}

/// The headings of the path that stand above all those in the text that `unit` stands under, the outermost first.
fn path_above(unit: &Unit, source: &ExtractPassage) -> Vec<Range<usize>> {
    let path = source.heading.unwrap_or_default();
    let mut titles = titles(path);
    let headings: Vec<&Range<usize>> = unit.above.iter().rev().chain(&unit.under).collect();
    let place = |heading: &&Range<usize>| {
        let own = words(&plain(&source.content[(*heading).clone()]));
        titles.iter().rposition(|title| {
            let title = words(&path[title.clone()]);
            !title.is_empty() && own.starts_with(&title)
        })
    };
    let known = headings.iter().find_map(place);
    match known {
        Some(at) => titles.truncate(at),
        None => {
            // A heading that is not of the path begins something else, or is a line that no sign marks and names the release.
            let begins_anew = |it: &&Range<usize>| {
                is_marked(source.content, it) || Headline::InText((*it).clone()).is_release(source)
            };
            if headings.iter().any(begins_anew) {
                titles.clear();
            }
        }
    }
    titles
}

/// The headings of `path`.
fn titles(path: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let title = |title: &str| {
        let range = start..start + title.len();
        start = range.end + HEADING_SEPARATOR.len();
        range
    };
    path.split(HEADING_SEPARATOR).map(title).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::units::units;

    /// What the releases above the last piece of `content` say.
    fn read(path: &str, content: &str) -> Vec<String> {
        let source = ExtractPassage { heading: Some(path), ..ExtractPassage::of(1, content) };
        let units = units(content);
        let unit = units.last().expect("a piece");
        releases_above(unit, &source).iter().map(|it| it.text(&source).into_owned()).collect()
    }

    #[test]
    fn the_path_tells_what_no_heading_of_the_text_does() {
        let path = "Changelog > 2.3.0 (2024-11-05) > Fixed";
        let version = ["2.3.0 (2024-11-05)"];
        assert_eq!(read(path, "### Fixed\n\n- The clock."), version);
        assert_eq!(read(path, "- The clock."), version);
        assert_eq!(read(path, "### Fixed\n\nToo dark?\nWe have a lamp now."), version);
        assert_eq!(read(path, "Lamps and clocks\n\n- The clock."), version);
        assert_eq!(read("2024 > 2.3.0 > Fixed", "- The clock."), ["2.3.0", "2024"]);
        for path in ["", "Changelog", "2.1 Installation > Fixed"] {
            assert_eq!(read(path, "### Fixed\n\n- The clock."), [""; 0], "{path}");
        }
    }

    #[test]
    fn a_heading_of_the_text_is_no_part_of_the_path_above_it() {
        let path = "Changelog > 2.3.0 (2024-11-05) > Fixed";
        let carried = "## 2.3.0 (2024-11-05)\n\n### Fixed\n\n- The clock.";
        assert_eq!(read(path, carried), ["2.3.0 (2024-11-05)"]);
        assert_eq!(read("2024 > 2.3.0", "## 2.3.0\n\n- The clock."), ["2024"]);
    }

    #[test]
    fn what_begins_anew_in_the_text_is_not_of_the_path() {
        let path = "Changelog > 2.3.0 (2024-11-05)";
        for content in [
            "## About us\n\n- Clocks.",
            "Begun.\n\nUs\n===\n\nClocks.",
            "Version 2.2 (2024-06-18)\n\n- The lamp.",
        ] {
            assert_eq!(read(path, content), [""; 0], "{content}");
        }
    }
}
