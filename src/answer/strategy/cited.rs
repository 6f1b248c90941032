//! The numbers that a text of an earlier call cites.

use std::collections::BTreeSet;

use crate::text::marker::{Marker, markers};

/// All numbers that the markers of `text` cite.
pub fn numbers(text: &str) -> BTreeSet<usize> {
    markers(text).into_iter().flat_map(|marker| marker.numbers).map(|it| it as usize).collect()
}

/// The text without the numbers that are not among `known`: the model that wrote it cannot have
/// seen these sources. What is left of a marker is written as [1][2].
pub fn only(text: &str, known: &BTreeSet<usize>) -> String {
    renumbered(text, |number| known.contains(&number).then_some(number))
}

/// The text with other numbers for its sources; without those for which `number` has none. A marker in which something
/// changes is written as [1][2].
pub fn renumbered(text: &str, number: impl Fn(usize) -> Option<usize>) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    for Marker { range, numbers } in markers(text) {
        let numbers: Vec<usize> = numbers.into_iter().map(|it| it as usize).collect();
        let left: Vec<usize> = numbers.iter().filter_map(|it| number(*it)).collect();
        if left == numbers {
            continue;
        }
        kept += &text[at..range.start];
        at = range.end;
        match left.is_empty() {
            true => kept.truncate(kept.trim_end_matches(' ').len()),
            false => left.iter().for_each(|number| kept += &format!("[{number}]")),
        }
    }
    kept += &text[at..];
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_numbers_go() {
        let check = |text: &str, expected: &str| {
            assert_eq!(only(text, &BTreeSet::from([1, 2, 4])), expected, "{text}");
        };
        check("A [1]. B [2, 4]. C [1-2].", "A [1]. B [2, 4]. C [1-2].");
        check("A [3]. B [9][1].", "A. B[1].");
        check("A [1-4], b.", "A [1][2][4], b.");
        check("`a[3]` b [3]", "`a[3]` b");
        check("", "");
    }

    #[test]
    fn numbers_are_exchanged_in_one_pass() {
        let check = |text: &str, expected: &str| {
            let number = |number: usize| [3, 2, 1].get(number.wrapping_sub(1)).copied();
            assert_eq!(renumbered(text, number), expected, "{text}");
        };
        check("A [1]. B [3, 1]. C [2].", "A [3]. B [1][3]. C [2].");
        check("A [4]. B [0][1].", "A. B[3].");
        check("`a[1]` b [1-2]", "`a[1]` b [3][2]");
    }

    #[test]
    fn numbers_are_listed_once() {
        assert_eq!(numbers("a [2] b [1-3][2]"), BTreeSet::from([1, 2, 3]));
    }
}
