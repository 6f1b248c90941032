//! How many characters do spans have in common?
//!
//! Spans are sorted and merged first, so that a character counts once however many spans hold it.

use std::ops::Range;

/// Spans that hold the same characters as `spans`, in order and without touching each other; empty
/// spans are left out.
pub fn merged(mut spans: Vec<Range<i32>>) -> Vec<Range<i32>> {
    spans.retain(|span| span.start < span.end);
    spans.sort_by_key(|span| span.start);
    let mut merged: Vec<Range<i32>> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}

/// How many characters merged spans have.
pub fn length(spans: &[Range<i32>]) -> i64 {
    spans.iter().map(|span| i64::from(span.end) - i64::from(span.start)).sum()
}

/// How many characters are in both of two lists of merged spans.
pub fn common(a: &[Range<i32>], b: &[Range<i32>]) -> i64 {
    let (mut i, mut j, mut sum) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (start, end) = (a[i].start.max(b[j].start), a[i].end.min(b[j].end));
        sum += (i64::from(end) - i64::from(start)).max(0);
        match a[i].end < b[j].end {
            true => i += 1,
            false => j += 1,
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::slice::from_ref;

    use proptest::prelude::*;

    use super::*;

    /// The characters one by one.
    fn characters(spans: &[Range<i32>]) -> BTreeSet<i32> {
        spans.iter().cloned().flatten().collect()
    }

    fn spans() -> impl Strategy<Value = Vec<Range<i32>>> {
        proptest::collection::vec(
            (0..60, 0..20).prop_map(|(start, length)| start..start + length),
            0..9,
        )
    }

    proptest! {
        #[test]
        fn merged_spans_are_in_order_and_hold_the_same(spans in spans()) {
            let merged = merged(spans.clone());
            prop_assert!(merged.windows(2).all(|two| two[0].end < two[1].start));
            prop_assert_eq!(characters(&merged), characters(&spans));
            prop_assert_eq!(length(&merged), characters(&spans).len() as i64);
        }

        #[test]
        fn common_characters_are_counted_as_one_by_one(a in spans(), b in spans()) {
            let naive = characters(&a).intersection(&characters(&b)).count();
            prop_assert_eq!(common(&merged(a), &merged(b)), naive as i64);
        }
    }

    #[test]
    fn the_longest_spans_do_not_overflow() {
        let all = 0..i32::MAX;
        assert_eq!(common(from_ref(&all), from_ref(&all)), i64::from(i32::MAX));
        assert_eq!(length(&[all]), i64::from(i32::MAX));
    }
}
