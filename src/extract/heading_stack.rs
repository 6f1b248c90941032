//! # heading_stack: which headings does a heading stand below?
//!
//! ```text
//! "## 2.3.0", then "### Added" → the second stands below the first;  then "## 2.2.0" → below neither
//! ```

use std::ops::Range;
use std::rc::Rc;

/// The level of a line that names a release and has no sign: it is below all headings with one.
pub(super) const RELEASE_LINE: usize = 7;

/// The level of a heading that no sign marks: it is below all others.
pub(super) const UNMARKED: usize = 8;

/// The headings above what is read, outermost first, each with its level.
#[derive(Debug, Default)]
pub(super) struct HeadingStack(Vec<(usize, Range<usize>)>);

impl HeadingStack {
    /// Goes on below a heading of a `level`, which is not kept if it has no range. Returns those that it stands below, the
    /// nearest first.
    pub fn enter(&mut self, level: usize, range: Option<Range<usize>>) -> Rc<[Range<usize>]> {
        self.0.retain(|(outer, _)| *outer < level);
        let above = self.all();
        self.0.extend(range.map(|range| (level, range)));
        above
    }

    /// All that are above what is read, the nearest first.
    pub fn all(&self) -> Rc<[Range<usize>]> {
        self.0.iter().rev().map(|(_, range)| range.clone()).collect()
    }
}

/// The level of the heading at `range` by its signs, which stand before it or on the line below.
pub(super) fn level(content: &str, range: &Range<usize>) -> usize {
    let before = content[..range.start].trim_end_matches([' ', '\t']);
    match before.len() - before.trim_end_matches('#').len() {
        0 if content[range.end..].trim_start().starts_with('=') => 1,
        0 => 2,
        signs => signs,
    }
}

/// Whether signs before the heading at `range` or a line below it mark it as one.
pub(super) fn is_marked(content: &str, range: &Range<usize>) -> bool {
    let before = content[..range.start].trim_end_matches([' ', '\t']);
    let below = content[range.end..].lines().nth(1).map(str::trim).unwrap_or_default();
    let is_line = !below.is_empty() && below.chars().all(|c| matches!(c, '=' | '-'));
    before.ends_with('#') || is_line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_stands_below_those_of_higher_levels() {
        let content = "Notes\n=====\n## 2.3.0\n### Added\n### Fixed\n## 2.2.0";
        let mut stack = HeadingStack::default();
        let text = |it: Rc<[Range<usize>]>| -> Vec<&str> {
            it.iter().map(|range| &content[range.clone()]).collect()
        };
        let mut above = |heading: &str| {
            let start = content.find(heading).expect("a heading");
            let range = start..start + heading.len();
            text(stack.enter(level(content, &range), Some(range)))
        };
        assert_eq!(above("Notes"), [""; 0]);
        assert_eq!(above("2.3.0"), ["Notes"]);
        assert_eq!(above("Added"), ["2.3.0", "Notes"]);
        assert_eq!(above("Fixed"), ["2.3.0", "Notes"]);
        assert_eq!(above("2.2.0"), ["Notes"]);
        assert_eq!(text(stack.all()), ["2.2.0", "Notes"]);
    }

    #[test]
    fn a_line_without_a_sign_stands_below_the_release_above_it() {
        let mut stack = HeadingStack::default();
        stack.enter(RELEASE_LINE, Some(0..1));
        assert_eq!(stack.enter(UNMARKED, Some(2..3)).first(), Some(&(0..1)));
        assert_eq!(stack.enter(UNMARKED, Some(4..5)).first(), Some(&(0..1)));
        assert_eq!(stack.enter(RELEASE_LINE, Some(6..7)).first(), None);
    }

    #[test]
    fn headings_with_signs_are_told_from_lines() {
        let content = "Notes\n=====\n## Added\nMore\n\n- one\nLess";
        let marked = |heading: &str| {
            let start = content.find(heading).expect("a heading");
            is_marked(content, &(start..start + heading.len()))
        };
        assert!(marked("Notes") && marked("Added") && !marked("More") && !marked("Less"));
    }
}
