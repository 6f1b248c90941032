//! # marker: where does an answer cite?
//!
//! ```text
//! answer → markers [1], [2, 3], [1-3] with their places
//! ```
//!
//! Brackets in code are code: what stands in a fenced block or between backticks is skipped.

use std::collections::HashMap;
use std::ops::Range;

use super::fence::{closes, fence};

/// Longest number that is taken for a source, in digits.
const MAX_DIGITS: usize = 9;

/// Longest range that is written out. `[1900-2000]` is no list of sources.
const MAX_RANGE: u32 = 100;

/// A bracket with one or more numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Bytes of the answer, brackets included.
    pub range: Range<usize>,
    /// The numbers, in the order they are written; ranges written out.
    pub numbers: Vec<u32>,
}

/// The markers of `answer` outside of code, in order.
pub fn markers(answer: &str) -> Vec<Marker> {
    each_marker(answer).collect()
}

/// The markers of `answer` outside of code, in order, read as the iterator advances.
pub(crate) fn each_marker(answer: &str) -> impl Iterator<Item = Marker> {
    let mut skip = code(answer).into_iter().peekable();
    let mut is_code = move |at: usize| {
        while skip.next_if(|code| code.end <= at).is_some() {}
        skip.peek().is_some_and(|code| code.contains(&at))
    };
    let places = answer.match_indices('[').map(|(at, _)| at);
    let read = move |at: usize| {
        let (length, numbers) = parse(&answer[at..])?;
        Some(Marker { range: at..at + length, numbers })
    };
    places.filter(move |at| !is_code(*at)).filter_map(read)
}

/// `text` with its markers in parentheses: it cites nothing.
pub(crate) fn without_markers(text: &str) -> String {
    let mut safe = text.to_string();
    for marker in markers(text) {
        // Both brackets are one byte long, before and after.
        safe.replace_range(marker.range.start..marker.range.start + 1, "(");
        safe.replace_range(marker.range.end - 1..marker.range.end, ")");
    }
    safe
}

/// Reads a marker that `text` begins with: its length in bytes and its numbers.
fn parse(text: &str) -> Option<(usize, Vec<u32>)> {
    let mut rest = text.strip_prefix('[')?;
    let mut numbers = Vec::new();
    loop {
        let first = number(&mut rest)?;
        let last = if take(&mut rest, &['-', '\u{2010}', '\u{2011}', '\u{2013}', '\u{2014}']) {
            number(&mut rest)?
        } else {
            first
        };
        write_out(first, last, &mut numbers);
        if take(&mut rest, &[']']) {
            return Some((text.len() - rest.len(), numbers));
        }
        if !take(&mut rest, &[',', ';']) {
            return None;
        }
    }
}

fn number(rest: &mut &str) -> Option<u32> {
    let text = rest.trim_start_matches(' ');
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits > MAX_DIGITS {
        return None;
    }
    let number = text[..digits].parse().ok()?;
    *rest = &text[digits..];
    Some(number)
}

fn take(rest: &mut &str, any: &[char]) -> bool {
    match rest.trim_start_matches(' ').strip_prefix(any) {
        Some(after) => {
            *rest = after;
            true
        }
        None => false,
    }
}

fn write_out(first: u32, last: u32, numbers: &mut Vec<u32>) {
    if first <= last && last - first <= MAX_RANGE {
        numbers.extend(first..=last);
    } else {
        numbers.extend([first, last]);
    }
}

/// Byte ranges of fenced blocks and of spans between backticks, in order.
pub(crate) fn code(answer: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    // Where the paragraph begins that is being read, and the fence that is open.
    let mut paragraph = 0;
    let mut open: Option<(usize, &str)> = None;
    let mut at = 0;
    for line in answer.split_inclusive('\n') {
        let end = at + line.len();
        match open {
            Some((start, fence)) if closes(line, fence) => {
                found.push(start..end);
                open = None;
                paragraph = end;
            }
            Some(_) => {}
            None => {
                open = fence(line).map(|fence| (at, fence));
                if open.is_some() || line.trim().is_empty() {
                    spans(answer, paragraph..at, &mut found);
                    paragraph = end;
                }
            }
        }
        at = end;
    }
    match open {
        // A fence that is not closed holds the rest.
        Some((start, _)) => found.push(start..at),
        None => spans(answer, paragraph..at, &mut found),
    }
    found
}

/// Finds what stands between two equally long runs of backticks.
fn spans(answer: &str, paragraph: Range<usize>, found: &mut Vec<Range<usize>>) {
    let next = |at: usize| next_run(answer, at..paragraph.end);
    let first = next(paragraph.start);
    let runs: Vec<_> = std::iter::successors(first, |run| next(run.end)).collect();
    // From behind, so that the next run of each length is known.
    let mut next_of: HashMap<usize, usize> = HashMap::new();
    let mut closed_by: Vec<Option<usize>> =
        runs.iter().enumerate().rev().map(|(at, run)| next_of.insert(run.len(), at)).collect();
    closed_by.reverse();
    let mut at = 0;
    while at < runs.len() {
        // Where nothing closes it, it is a backtick and no more.
        if let Some(other) = closed_by[at] {
            found.push(runs[at].start..runs[other].end);
            at = other;
        }
        at += 1;
    }
}

fn next_run(answer: &str, within: Range<usize>) -> Option<Range<usize>> {
    let start = within.start + answer[within.clone()].find('`')?;
    let rest = &answer[start..within.end];
    Some(start..start + (rest.len() - rest.trim_start_matches('`').len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(answer: &str, expected: &[(&str, &[u32])]) {
        let found: Vec<(&str, Vec<u32>)> =
            markers(answer).into_iter().map(|it| (&answer[it.range], it.numbers)).collect();
        let expected: Vec<(&str, Vec<u32>)> =
            expected.iter().map(|(text, numbers)| (*text, numbers.to_vec())).collect();
        assert_eq!(found, expected, "{answer}");
    }

    #[test]
    fn lists_and_ranges() {
        check("A [1].", &[("[1]", &[1])]);
        check("A [2, 3] b[4;5].", &[("[2, 3]", &[2, 3]), ("[4;5]", &[4, 5])]);
        check("A [1][2] [ 3 ]", &[("[1]", &[1]), ("[2]", &[2]), ("[ 3 ]", &[3])]);
        check(
            "A [1-3] [2\u{2013}4, 7]",
            &[("[1-3]", &[1, 2, 3]), ("[2\u{2013}4, 7]", &[2, 3, 4, 7])],
        );
        check("A [3-1] [1-999999999]", &[("[3-1]", &[3, 1]), ("[1-999999999]", &[1, 999_999_999])]);
        check("A [0] [007]", &[("[0]", &[0]), ("[007]", &[7])]);
    }

    #[test]
    fn other_brackets_are_no_markers() {
        for text in ["[]", "[a]", "[1", "[1,]", "[,1]", "[1 2]", "[-1]", "[1-]", "[1.5]", "[^1]"] {
            check(text, &[]);
        }
        check("[12345678901]", &[]);
        check("[[1]]", &[("[1]", &[1])]);
        check("[\u{661}]", &[]);
    }

    #[test]
    fn code_is_skipped() {
        check("`a[1]` b [2]", &[("[2]", &[2])]);
        check("``a`[1]`` b [2]", &[("[2]", &[2])]);
        check("a ` b [1]", &[("[1]", &[1])]);
        check("a ` b [1]\n\nc ` d [2]", &[("[1]", &[1]), ("[2]", &[2])]);
        check("x [1]\n```rust\na[2] `\n```\ny [3] ` z", &[("[1]", &[1]), ("[3]", &[3])]);
        check("~~~\na[1]\n```\nb[2]\n~~~~\n[3]", &[("[3]", &[3])]);
        check("- x\n  ```\n  a[1]\n  ```\n  [2]", &[("[2]", &[2])]);
        check("```\na[1]", &[]);
        check("```a``` [1]", &[("[1]", &[1])]);
        check("` a `` b[1] ``` c `` d[2] ` e [3] `", &[("[3]", &[3])]);
    }

    proptest! {
        #[test]
        fn any_text_gives_markers_in_order(answer in "[\\[\\]0-9,;\\-–`~ \na]{0,60}|\\PC{0,40}") {
            let mut last = 0;
            for Marker { range, numbers } in markers(&answer) {
                prop_assert!(range.start >= last);
                prop_assert!(answer[range.clone()].starts_with('['));
                prop_assert!(answer[range.clone()].ends_with(']'));
                prop_assert!(!numbers.is_empty());
                last = range.end;
            }
        }
    }
}
