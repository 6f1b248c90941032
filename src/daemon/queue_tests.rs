//! The queue with numbers for texts and no model behind it.

use std::cell::RefCell;

use proptest::prelude::*;

use super::*;

/// A text of role 0.
fn text<T>(owner: u64, length: usize, payload: T) -> QueueEntry<T> {
    QueueEntry { owner, role: 0, length, payload }
}

/// A queue of names.
fn queue(budget: usize, entries: &[(Lane, u64, usize, &'static str)]) -> Queue<&'static str> {
    let mut queue = Queue::new(budget);
    for &(lane, owner, length, payload) in entries {
        queue.push(lane, text(owner, length, payload));
    }
    queue
}

fn names(batch: TextBatch<&'static str>) -> Vec<&'static str> {
    batch.entries.into_iter().map(|entry| entry.payload).collect()
}

fn next(queue: &mut Queue<&'static str>) -> Vec<&'static str> {
    names(queue.next_batch(true, |_| true))
}

use Lane::{Bulk, Fresh, Query};

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
        queue.push(Bulk, text(1, 200, "many"));
    }
    queue.push(Bulk, text(2, 5, "one"));
    assert_eq!(next(&mut queue), ["many"]);
    assert_eq!(next(&mut queue), ["one"]);
}

#[test]
fn fresh_texts_go_between_queries_and_bulk() {
    let all = [(Bulk, 1, 10, "bulk"), (Fresh, 2, 10, "fresh"), (Query, 3, 10, "query")];
    let mut queue = queue(100, &all);
    assert_eq!(next(&mut queue), ["query"]);
    assert_eq!(next(&mut queue), ["fresh"]);
    assert_eq!(next(&mut queue), ["bulk"]);
}

#[test]
fn lanes_without_end_let_those_below_through() {
    let pairs = [
        (Query, Bulk, PATIENCE_OF_BULK),
        (Query, Fresh, PATIENCE_OF_FRESH),
        (Fresh, Bulk, PATIENCE_OF_BULK),
    ];
    for (above, below, patience) in pairs {
        let mut queue = queue(10, &[(below, 1, 10, "below")]);
        let mut before = 0;
        loop {
            queue.push(above, text(2, 10, "above"));
            match next(&mut queue)[..] {
                ["above"] => before += 1,
                ["below"] => break,
                ref other => panic!("{other:?}"),
            }
            assert!(before <= patience);
        }
        assert_eq!(before, patience, "{above:?} and {below:?}");
    }
}

#[test]
fn short_batches_count_less_than_full_ones() {
    let mut queue = queue(80, &[(Bulk, 1, 80, "bulk")]);
    let mut before = 0;
    loop {
        queue.push(Query, text(2, 1, "query"));
        match next(&mut queue)[..] {
            ["query"] => before += 1,
            _ => break,
        }
    }
    assert_eq!(before, PATIENCE_OF_BULK * LEAST_OF_A_BATCH);
}

#[test]
fn all_lanes_go_on_when_all_are_full() {
    let mut queue = Queue::new(10);
    let mut had = std::collections::BTreeMap::new();
    for _ in 0..300 {
        for (owner, lane) in [(1, Query), (2, Fresh), (3, Bulk)] {
            queue.push(lane, text(owner, 10, lane));
        }
        for entry in queue.next_batch(true, |_| true).entries {
            *had.entry(format!("{:?}", entry.payload)).or_insert(0) += 1;
        }
    }
    assert!(had.values().all(|had| *had >= 50), "{had:?}");
    assert!(had["Fresh"] > had["Bulk"], "{had:?}");
}

#[test]
fn short_queries_go_beside_a_long_batch() {
    let all = [
        (Query, 1, SHORT + 1, "long"),
        (Bulk, 2, 10, "bulk"),
        (Fresh, 3, 10, "fresh"),
        (Query, 4, SHORT, "short"),
        (Query, 5, 10, "shorter"),
    ];
    let mut queue = queue(1000, &all);
    assert!(queue.has_short());
    assert_eq!(names(queue.next_short_batch(|_| true)), ["short"]);
    assert_eq!(names(queue.next_short_batch(|_| true)), ["shorter"]);
    assert!(!queue.has_short());
    assert!(queue.next_short_batch(|_| true).entries.is_empty());
    assert_eq!(next(&mut queue), ["long"]);
    assert_eq!(queue.len(), 2);
}

#[test]
fn bulk_goes_where_it_is_taken() {
    let all = [(Bulk, 1, 100, "a"), (Bulk, 1, 100, "b"), (Fresh, 3, 10, "fresh")];
    let mut queue = queue(1000, &all);
    assert_eq!(names(queue.next_bulk_batch(100, |_| true)), ["a"]);
    assert!(queue.has_some(false));
    assert_eq!(names(queue.next_batch(false, |_| true)), ["fresh"]);
    assert!(queue.has_bulk() && queue.has_some(true) && !queue.has_some(false));
    assert!(queue.next_batch(false, |_| true).entries.is_empty());
    assert_eq!(names(queue.next_bulk_batch(1000, |_| true)), ["b"]);
    assert!(!queue.has_bulk() && !queue.has_some(true));
}

#[test]
fn bulk_that_goes_elsewhere_is_not_due() {
    let mut queue = queue(10, &[]);
    (0..100).for_each(|_| queue.push(Bulk, text(1, 10, "bulk")));
    for _ in 0..3 * PATIENCE_OF_BULK {
        queue.push(Query, text(2, 10, "query"));
        assert_eq!(names(queue.next_batch(false, |_| true)), ["query"]);
    }
    assert_eq!(names(queue.next_bulk_batch(10, |_| true)), ["bulk"]);
    queue.push(Query, text(2, 10, "query"));
    assert_eq!(next(&mut queue), ["query"]);
}

#[test]
fn whoever_asked_short_queries_and_has_gone_is_dropped() {
    let mut queue = queue(1000, &[(Query, 1, 9, "gone"), (Query, 2, 9, "here")]);
    assert_eq!(names(queue.next_short_batch(|name| *name != "gone")), ["here"]);
    assert!(queue.is_empty());
}

#[test]
fn roles_share_what_goes_beside_a_long_batch() {
    let mut queue = Queue::new(256);
    let short = |role, payload| QueueEntry { owner: u64::from(role), role, length: SHORT, payload };
    (0..50).for_each(|_| queue.push(Query, short(1, "many")));
    assert_eq!(names(queue.next_short_batch(|_| true)), ["many"]);
    queue.push(Query, short(2, "other"));
    assert_eq!(names(queue.next_short_batch(|_| true)), ["other"]);
}

#[test]
fn short_queries_are_known_from_what_they_need_not_wait_for() {
    let is_short = |lane, length| {
        queue(1000, &[(lane, 1, length, "a")]).next_batch(true, |_| true).is_of_short_queries()
    };
    assert!(is_short(Query, SHORT));
    assert!(!is_short(Query, SHORT + 1));
    assert!(!is_short(Fresh, 1) && !is_short(Bulk, 1));
}

#[test]
fn requests_of_a_role_take_turns_in_the_line() {
    let mut queue =
        queue(10, &[(Query, 1, 10, "many"), (Query, 1, 10, "many"), (Query, 2, 10, "one")]);
    assert_eq!(next(&mut queue), ["many"]);
    assert_eq!(next(&mut queue), ["one"]);
    assert_eq!(next(&mut queue), ["many"]);
}

/// Eight sessions of role 1 with long texts, and then a short one of role 2.
fn crowd(lane: Lane) -> Queue<&'static str> {
    let mut queue = Queue::new(256);
    for owner in 0..8 {
        for _ in 0..100 {
            queue.push(lane, QueueEntry { owner, role: 1, length: 256, payload: "crowd" });
        }
    }
    assert_eq!(next(&mut queue), ["crowd"]);
    queue.push(lane, QueueEntry { owner: 9, role: 2, length: 20, payload: "other" });
    queue
}

#[test]
fn a_role_waits_for_one_batch_of_anothers_crowd() {
    for lane in [Query, Fresh, Bulk] {
        assert_eq!(next(&mut crowd(lane)), ["other"], "{lane:?}");
    }
}

#[test]
fn roles_have_equal_shares_of_a_lane() {
    for lane in [Query, Bulk] {
        let mut queue = crowd(lane);
        let mut had = [0; 3];
        for _ in 0..150 {
            while queue.len() < 900 {
                queue.push(lane, QueueEntry { owner: 9, role: 2, length: 64, payload: "other" });
            }
            for entry in queue.next_batch(true, |_| true).entries {
                had[entry.role as usize] += entry.length;
            }
        }
        assert!(had[1].abs_diff(had[2]) <= 2 * 256, "{lane:?}: {had:?}");
    }
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
    assert_eq!(names(queue.next_batch(true, is_alive)), ["q"]);
    assert_eq!(asked.take(), ["gone", "q"]);
    assert_eq!(names(queue.next_batch(true, is_alive)), ["b"]);
    assert_eq!(asked.take(), ["gone", "b"]);
    assert!(queue.is_empty());
}

#[test]
fn the_dead_leave_no_empty_batch_before_the_living() {
    let mut queue = queue(1000, &[(Query, 1, 9, "gone"), (Bulk, 2, 80, "b")]);
    assert_eq!(names(queue.next_batch(true, |name| *name != "gone")), ["b"]);
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
        texts in prop::collection::vec((0_usize..3, 0_u64..5, 1_usize..300), 0..200),
        budget in 1_usize..2000,
    ) {
        let mut queue = Queue::new(budget);
        for (number, &(lane, owner, length)) in texts.iter().enumerate() {
            let lane = [Query, Fresh, Bulk][lane];
            let role = owner as u32 % 2;
            queue.push(lane, QueueEntry { owner, role, length, payload: (lane, number) });
        }
        let mut seen = vec![false; texts.len()];
        loop {
            let batch = queue.next_batch(true, |_| true).entries;
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
            queue.push(Bulk, text(1, length, ()));
        }
        let mut padded = 0;
        while !queue.is_empty() {
            let batch = queue.next_batch(true, |_| true).entries;
            padded += batch.iter().map(|entry| entry.length).max().unwrap() * batch.len();
        }
        let real: usize = lengths.iter().sum();
        prop_assert!(padded * 100 <= real * 103, "{padded} for {real}");
    }
}
