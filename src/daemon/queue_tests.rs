//! The queue with numbers for texts and no model behind it.

use std::cell::RefCell;

use proptest::prelude::*;

use super::*;

/// A queue of names.
fn queue(budget: usize, entries: &[(Lane, u64, usize, &'static str)]) -> Queue<&'static str> {
    let mut queue = Queue::new(budget);
    for &(lane, owner, length, payload) in entries {
        queue.push(lane, Entry { owner, length, payload });
    }
    queue
}

fn names(batch: Vec<Entry<&'static str>>) -> Vec<&'static str> {
    batch.into_iter().map(|entry| entry.payload).collect()
}

fn next(queue: &mut Queue<&'static str>) -> Vec<&'static str> {
    names(queue.next_batch(|_| true))
}

use Lane::{Bulk, Query};

#[test]
fn queries_go_before_bulk_texts() {
    let mut queue = queue(100, &[(Bulk, 1, 10, "bulk"), (Query, 2, 10, "query")]);
    assert_eq!(next(&mut queue), ["query"]);
    assert_eq!(next(&mut queue), ["bulk"]);
    assert!(next(&mut queue).is_empty());
    assert!(queue.is_empty());
}

#[test]
fn the_budget_counts_padding() {
    let mut queue = queue(
        60,
        &[(Query, 1, 20, "a"), (Query, 2, 15, "b"), (Query, 3, 15, "c"), (Query, 4, 9, "d")],
    );
    assert_eq!(next(&mut queue), ["a", "b", "c"]);
    assert_eq!(next(&mut queue), ["d"]);
}

#[test]
fn a_text_over_the_budget_goes_alone() {
    let mut queue = queue(50, &[(Query, 1, 200, "long"), (Query, 2, 200, "longer")]);
    assert_eq!(next(&mut queue), ["long"]);
    assert_eq!(next(&mut queue), ["longer"]);
}

#[test]
fn a_short_query_does_not_wait_for_a_long_ones_padding() {
    let mut queue = queue(
        10_000,
        &[(Query, 1, 10, "first"), (Query, 2, 256, "long"), (Query, 3, 12, "second")],
    );
    assert_eq!(next(&mut queue), ["first", "second"]);
    assert_eq!(next(&mut queue), ["long"]);
}

#[test]
fn bulk_texts_go_by_length_across_requests() {
    let mut queue = queue(
        300,
        &[
            (Bulk, 1, 100, "a"),
            (Bulk, 1, 20, "b"),
            (Bulk, 2, 95, "c"),
            (Bulk, 2, 90, "d"),
            (Bulk, 2, 21, "e"),
        ],
    );
    assert_eq!(next(&mut queue), ["a", "c", "d"]);
    assert_eq!(next(&mut queue), ["e", "b"]);
}

#[test]
fn a_small_request_has_its_turn() {
    let mut queue = Queue::new(200);
    for _ in 0..1000 {
        queue.push(Bulk, Entry { owner: 1, length: 200, payload: "many" });
    }
    queue.push(Bulk, Entry { owner: 2, length: 5, payload: "one" });
    assert_eq!(next(&mut queue), ["many"]);
    assert_eq!(next(&mut queue), ["one"]);
}

#[test]
fn queries_without_end_let_a_bulk_batch_through() {
    let mut queue = queue(10, &[(Bulk, 1, 10, "bulk")]);
    let mut before = 0;
    loop {
        queue.push(Query, Entry { owner: 2, length: 10, payload: "query" });
        match next(&mut queue)[..] {
            ["query"] => before += 1,
            ["bulk"] => break,
            ref other => panic!("{other:?}"),
        }
        assert!(before <= MAX_QUERY_RUN);
    }
    assert_eq!(before, MAX_QUERY_RUN);
}

#[test]
fn whoever_has_gone_is_dropped_and_asked_once() {
    let mut queue = queue(
        1000,
        &[
            (Query, 1, 9, "gone"),
            (Query, 2, 9, "q"),
            (Bulk, 3, 80, "gone"),
            (Bulk, 3, 10, "gone"),
            (Bulk, 4, 12, "b"),
        ],
    );
    let asked = RefCell::new(Vec::new());
    let is_alive = |name: &&str| {
        asked.borrow_mut().push(name.to_string());
        *name != "gone"
    };
    assert_eq!(names(queue.next_batch(is_alive)), ["q"]);
    assert_eq!(asked.take(), ["gone", "q"]);
    assert_eq!(names(queue.next_batch(is_alive)), ["b"]);
    assert_eq!(asked.take(), ["gone", "b"]);
    assert!(queue.is_empty());
}

#[test]
fn the_dead_leave_no_empty_batch_before_the_living() {
    let mut queue = queue(1000, &[(Query, 1, 9, "gone"), (Bulk, 2, 80, "b")]);
    assert_eq!(names(queue.next_batch(|name| *name != "gone")), ["b"]);
}

#[test]
fn forgetting_takes_both_lanes() {
    let mut queue =
        queue(100, &[(Query, 1, 9, "x"), (Bulk, 1, 9, "x"), (Bulk, 2, 9, "y"), (Bulk, 1, 8, "x")]);
    queue.forget(1);
    assert_eq!(queue.len(), 1);
    assert_eq!(next(&mut queue), ["y"]);
}

proptest! {
    /// Whatever is pushed comes out once, in batches that keep to the budget and the lanes.
    #[test]
    fn every_text_comes_out_once(
        texts in prop::collection::vec((any::<bool>(), 0_u64..5, 1_usize..300), 0..200),
        budget in 1_usize..2000,
    ) {
        let mut queue = Queue::new(budget);
        for (number, &(query, owner, length)) in texts.iter().enumerate() {
            let lane = if query { Query } else { Bulk };
            queue.push(lane, Entry { owner, length, payload: (lane, number) });
        }
        let mut seen = vec![false; texts.len()];
        loop {
            let batch = queue.next_batch(|_| true);
            if batch.is_empty() {
                break;
            }
            let longest = batch.iter().map(|entry| entry.length).max().unwrap();
            prop_assert!(batch.len() == 1 || longest * batch.len() <= budget);
            for entry in &batch {
                prop_assert_eq!(entry.payload.0, batch[0].payload.0);
                prop_assert!(!std::mem::replace(&mut seen[entry.payload.1], true));
            }
        }
        prop_assert!(seen.into_iter().all(|seen| seen));
        prop_assert!(queue.is_empty());
    }

    /// Padding of a sorted bulk load stays under what the rule promises.
    #[test]
    fn little_is_padding(lengths in prop::collection::vec(64_usize..256, 500)) {
        let mut queue = Queue::new(1024);
        for &length in &lengths {
            queue.push(Bulk, Entry { owner: 1, length, payload: () });
        }
        let mut padded = 0;
        while !queue.is_empty() {
            let batch = queue.next_batch(|_| true);
            padded += batch.iter().map(|entry| entry.length).max().unwrap() * batch.len();
        }
        let real: usize = lengths.iter().sum();
        prop_assert!(padded * 100 <= real * 103, "{padded} for {real}");
    }
}
