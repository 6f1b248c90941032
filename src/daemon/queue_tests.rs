//! The queue with numbers for texts and no model behind it.

use std::cell::RefCell;

use proptest::prelude::*;

use super::*;

/// A text of role 0.
fn text<T>(owner: u64, length: usize, payload: T) -> Entry<T> {
    Entry { owner, role: 0, length, preemptions: 0, payload }
}

/// A queue of names.
fn queue(budget: usize, entries: &[(Lane, u64, usize, &'static str)]) -> Queue<&'static str> {
    let mut queue = Queue::new(budget);
    for &(lane, owner, length, payload) in entries {
        queue.push(lane, text(owner, length, payload));
    }
    queue
}

fn names(batch: Batch<&'static str>) -> Vec<&'static str> {
    batch.entries.into_iter().map(|entry| entry.payload).collect()
}

fn next(queue: &mut Queue<&'static str>) -> Vec<&'static str> {
    names(queue.next_batch(|_| true))
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
        for entry in queue.next_batch(|_| true).entries {
            *had.entry(format!("{:?}", entry.payload)).or_insert(0) += 1;
        }
    }
    assert!(had.values().all(|had| *had >= 50), "{had:?}");
    assert!(had["Fresh"] > had["Bulk"], "{had:?}");
}

#[test]
fn a_batch_gives_way_to_what_would_go_before_it() {
    let batch = |lane| queue(256, &[(lane, 1, 200, "a")]).next_batch(|_| true).standing();
    assert!(batch(Bulk).gives_way_to(Query, 0, 20));
    assert!(!batch(Bulk).gives_way_to(Query, 0, 51), "it is not much shorter");
    assert!(!batch(Bulk).gives_way_to(Fresh, 0, 20));
    assert!(!batch(Bulk).gives_way_to(Bulk, 7, 20));
    assert!(!batch(Fresh).gives_way_to(Query, 7, 20), "somebody waits for that, too");
    assert!(batch(Query).gives_way_to(Query, 7, 20));
    assert!(!batch(Query).gives_way_to(Query, 7, 100), "it is not much shorter");
    assert!(!batch(Query).gives_way_to(Query, 0, 20), "it is of the same role");
}

#[test]
fn a_batch_gives_way_only_so_often_and_not_when_it_is_due() {
    let mut queue = queue(10, &[(Bulk, 1, 10, "bulk")]);
    for round in 0..=MOST_PREEMPTIONS {
        let batch = queue.next_batch(|_| true);
        assert_eq!(batch.standing().gives_way_to(Query, 0, 1), round < MOST_PREEMPTIONS);
        queue.put_back(batch);
    }
    let mut queue = self::queue(10, &[(Bulk, 1, 10, "bulk")]);
    for _ in 0..PATIENCE_OF_BULK {
        queue.push(Query, text(2, 10, "query"));
        assert_eq!(next(&mut queue), ["query"]);
    }
    let due = queue.next_batch(|_| true);
    assert!(!due.standing().gives_way_to(Query, 0, 1));
    queue.put_back(due);
    queue.push(Query, text(2, 10, "query"));
    assert_eq!(next(&mut queue), ["bulk"], "it is still due");
}

#[test]
fn questions_do_not_keep_bulk_out_by_preempting_it() {
    let mut queue = queue(80, &[]);
    (0..100).for_each(|_| {
        queue.push(Bulk, text(1, 80, "bulk"));
    });
    let mut in_vain = 0;
    loop {
        let batch = queue.next_batch(|_| true);
        if batch.lane == Bulk && !queue.preempts(&batch.standing(), Query, 0, 1) {
            break;
        }
        in_vain += usize::from(batch.lane == Bulk);
        if batch.lane == Bulk {
            queue.put_back(batch);
        }
        queue.push(Query, text(2, 1, "query"));
    }
    assert!((1..=PATIENCE_OF_BULK).contains(&in_vain), "{in_vain}");
}

#[test]
fn a_batch_of_questions_goes_on_where_another_is_not_next() {
    let mut queue = queue(256, &[(Query, 1, 256, "long")]);
    let batch = queue.next_batch(|_| true).standing();
    assert!(!queue.preempts(&batch, Query, 0, 20), "it is of the same role");
    assert!(queue.preempts(&batch, Query, 7, 20), "it has had nothing yet");
    for _ in 0..30 {
        queue.push(
            Query,
            Entry { owner: 2, role: 7, length: 256, preemptions: 0, payload: "other" },
        );
        assert_eq!(next(&mut queue), ["other"]);
    }
    assert!(!queue.preempts(&batch, Query, 7, 20), "it has had much more");
}

#[test]
fn requests_of_a_role_take_turns_in_the_line() {
    let mut queue =
        queue(10, &[(Query, 1, 10, "many"), (Query, 1, 10, "many"), (Query, 2, 10, "one")]);
    assert_eq!(next(&mut queue), ["many"]);
    assert_eq!(next(&mut queue), ["one"]);
    assert_eq!(next(&mut queue), ["many"]);
}

#[test]
fn what_was_put_back_is_next() {
    for lane in [Query, Fresh, Bulk] {
        let all = [(lane, 1, 9, "a"), (lane, 2, 9, "b"), (lane, 3, 9, "c")];
        let mut queue = queue(9, &all);
        let mut order = Vec::new();
        for _ in 0..3 {
            let first = queue.next_batch(|_| true);
            let name = first.entries[0].payload;
            queue.put_back(first);
            assert_eq!(queue.len(), 3 - order.len());
            assert_eq!(next(&mut queue), [name], "{lane:?}");
            order.push(name);
        }
        assert_eq!(order, ["a", "b", "c"], "{lane:?}");
    }
}

/// Eight sessions of role 1 with long texts, and then a short one of role 2.
fn crowd(lane: Lane) -> Queue<&'static str> {
    let mut queue = Queue::new(256);
    for owner in 0..8 {
        for _ in 0..100 {
            queue.push(
                lane,
                Entry { owner, role: 1, length: 256, preemptions: 0, payload: "crowd" },
            );
        }
    }
    assert_eq!(next(&mut queue), ["crowd"]);
    queue.push(lane, Entry { owner: 9, role: 2, length: 20, preemptions: 0, payload: "other" });
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
                queue.push(
                    lane,
                    Entry { owner: 9, role: 2, length: 64, preemptions: 0, payload: "other" },
                );
            }
            for entry in queue.next_batch(|_| true).entries {
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
        texts in prop::collection::vec((0_usize..3, 0_u64..5, 1_usize..300), 0..200),
        budget in 1_usize..2000,
    ) {
        let mut queue = Queue::new(budget);
        for (number, &(lane, owner, length)) in texts.iter().enumerate() {
            let lane = [Query, Fresh, Bulk][lane];
            let role = owner as u32 % 2;
            queue.push(lane, Entry { owner, role, length, preemptions: 0, payload: (lane, number) });
        }
        let mut seen = vec![false; texts.len()];
        loop {
            let batch = queue.next_batch(|_| true).entries;
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
            let batch = queue.next_batch(|_| true).entries;
            padded += batch.iter().map(|entry| entry.length).max().unwrap() * batch.len();
        }
        let real: usize = lengths.iter().sum();
        prop_assert!(padded * 100 <= real * 103, "{padded} for {real}");
    }
}
