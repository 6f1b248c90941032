//! In which order are the chunks read?
//!
//! ```text
//! chunks, best first → the same chunks
//! ```
//!
//! Language models make most of what stands first and last (Liu et al., Lost in the Middle, TACL
//! 2024), so the best can be put there. What tells a story is told in its order.

use serde::Deserialize;

/// The order in which chunks are numbered and shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextOrder {
    /// The best first.
    #[default]
    Relevance,
    /// The best first, the second best last, and so on to the worst in the middle.
    UCurve,
    /// The oldest first.
    Chronological,
}

/// `items`, which stand best first, in `order`. `time` is something that grows with time; items
/// that have none come last, and of equals the better comes first.
#[must_use]
pub fn ordered<T>(
    mut items: Vec<T>,
    order: ContextOrder,
    time: impl Fn(&T) -> Option<i64>,
) -> Vec<T> {
    match order {
        ContextOrder::Relevance => items,
        ContextOrder::UCurve => u_curve(items),
        ContextOrder::Chronological => {
            items.sort_by_key(|item| time(item).map_or((true, 0), |time| (false, time)));
            items
        }
    }
}

fn u_curve<T>(items: Vec<T>) -> Vec<T> {
    let mut front = Vec::with_capacity(items.len());
    let mut back = Vec::new();
    for (place, item) in items.into_iter().enumerate() {
        if place % 2 == 0 { front.push(item) } else { back.push(item) }
    }
    front.extend(back.into_iter().rev());
    front
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_worst_stand_in_the_middle() {
        let order = |n: i64| ordered((1..=n).collect(), ContextOrder::UCurve, |_| None);
        assert!(order(0).is_empty());
        assert_eq!(order(1), [1]);
        assert_eq!(order(2), [1, 2]);
        assert_eq!(order(5), [1, 3, 5, 4, 2]);
        assert_eq!(order(6), [1, 3, 5, 6, 4, 2]);
    }

    #[test]
    fn what_has_no_time_comes_last() {
        let items = vec![("a", None), ("b", Some(3)), ("c", Some(-1)), ("d", None), ("e", Some(3))];
        let names = |order| -> Vec<&str> {
            ordered(items.clone(), order, |item| item.1).iter().map(|item| item.0).collect()
        };
        assert_eq!(names(ContextOrder::Chronological), ["c", "b", "e", "a", "d"]);
        assert_eq!(names(ContextOrder::Relevance), ["a", "b", "c", "d", "e"]);
    }

    proptest! {
        #[test]
        fn an_order_is_a_permutation(times in prop::collection::vec(prop::option::of(0_i64..9), 0..20)) {
            for order in [ContextOrder::Relevance, ContextOrder::UCurve, ContextOrder::Chronological] {
                let items: Vec<usize> = (0..times.len()).collect();
                let mut found = ordered(items.clone(), order, |at| times[*at]);
                if order != ContextOrder::UCurve {
                    let again = ordered(found.clone(), order, |at| times[*at]);
                    prop_assert_eq!(&again, &found);
                }
                found.sort_unstable();
                prop_assert_eq!(found, items);
            }
        }
    }
}
