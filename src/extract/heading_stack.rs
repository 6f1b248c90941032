//! # heading_stack: which headings does a heading stand below?
//!
//! ```text
//! "## 2.3.0", then "### Added" → the second stands below the first;  then "## 2.2.0" → below neither
//! ```

use std::ops::Range;
use std::rc::Rc;

/// The level of a heading that no sign marks: it is below all others.
pub(super) const UNMARKED: usize = 7;

/// The headings above what is read, outermost first, each with its level.
#[derive(Debug, Default)]
pub(super) struct HeadingStack(Vec<(usize, Range<usize>)>);

impl HeadingStack {
    /// Goes on below a heading of a `level`, which is not kept if it has no range. Returns those that it stands below, the
    /// nearest first.
    pub fn enter(&mut self, level: usize, range: Option<Range<usize>>) -> Rc<[Range<usize>]> {
        self.0.retain(|(outer, _)| *outer < level);
        let above = self.0.iter().rev().map(|(_, range)| range.clone()).collect();
        self.0.extend(range.map(|range| (level, range)));
        above
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_stands_below_those_of_higher_levels() {
        let content = "Notes\n=====\n## 2.3.0\n### Added\n### Fixed\n## 2.2.0";
        let mut stack = HeadingStack::default();
        let mut above = |heading: &str| {
            let start = content.find(heading).expect("a heading");
            let range = start..start + heading.len();
            let above = stack.enter(level(content, &range), Some(range));
            above.iter().map(|it| &content[it.clone()]).collect::<Vec<_>>()
        };
        assert_eq!(above("Notes"), [""; 0]);
        assert_eq!(above("2.3.0"), ["Notes"]);
        assert_eq!(above("Added"), ["2.3.0", "Notes"]);
        assert_eq!(above("Fixed"), ["2.3.0", "Notes"]);
        assert_eq!(above("2.2.0"), ["Notes"]);
    }
}
