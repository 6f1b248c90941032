//! # Whose turn is it?
//!
//! ```text
//! (clients that wait, what each has had) → which is next
//! ```
//!
//! Start-time fair queueing (Goyal, Vin, Cheng: *Start-time Fair Queuing*, 1997, section II): each
//! client has a virtual time, which grows by what is done for it, and the one with the least is
//! next. A client that comes, or comes back, begins at the time of the one that is being served, or
//! so much before it as there is credit: none saves up more turns by staying away, and none that
//! has not had its share waits for more than what is just being done.
//!
//! Nothing here knows of time, threads or what is done.

use std::collections::HashMap;
use std::hash::Hash;

/// What each client has had, in any unit.
#[derive(Debug)]
pub struct Shares<K> {
    /// How far behind a client that comes may begin, by what it has not had.
    credit: u64,
    /// The virtual time of clients that have no whole credit.
    ahead: HashMap<K, u64>,
    /// The virtual time of the client that was last served.
    now: u64,
}

impl<K> Default for Shares<K> {
    fn default() -> Self {
        Shares::with_credit(0)
    }
}

impl<K> Shares<K> {
    /// No client has had anything. One that comes back after a while has so much at once before it
    /// shares with others: else what needs several turns would be done no faster than for a client
    /// that always wants some.
    #[must_use]
    pub fn with_credit(credit: u64) -> Self {
        // No client is behind zero.
        Shares { credit, ahead: HashMap::new(), now: credit }
    }
}

impl<K: Copy + Eq + Hash> Shares<K> {
    /// Which of the clients that wait is next; the first of those that have had equally little. It
    /// stays its turn until it is charged.
    pub fn next(&mut self, waiting: impl IntoIterator<Item = K>) -> Option<K> {
        let next = waiting.into_iter().min_by_key(|who| self.time(*who))?;
        self.now = self.now.max(self.time(next));
        Some(next)
    }

    /// Notes that so much is done for a client, whether it was its turn or not.
    pub fn charge(&mut self, who: K, cost: u64) {
        let time = self.time(who).saturating_add(cost);
        let least = self.least();
        self.ahead.retain(|_, ahead| *ahead > least);
        self.ahead.insert(who, time);
    }

    fn time(&self, who: K) -> u64 {
        self.ahead.get(&who).copied().unwrap_or_default().max(self.least())
    }

    /// The virtual time of a client that comes.
    fn least(&self) -> u64 {
        self.now.saturating_sub(self.credit)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn equals_take_turns_and_the_first_begins() {
        let mut shares = Shares::default();
        let mut order = Vec::new();
        for _ in 0..4 {
            let next = shares.next(["a", "b"]).unwrap();
            shares.charge(next, 5);
            order.push(next);
        }
        assert_eq!(order, ["a", "b", "a", "b"]);
        assert_eq!(shares.next([]), None);
    }

    #[test]
    fn who_needs_much_gets_fewer_turns() {
        let mut shares = Shares::default();
        let mut had = HashMap::from([("long", 0), ("short", 0)]);
        for _ in 0..110 {
            let next = shares.next(["long", "short"]).unwrap();
            let cost = if next == "long" { 100 } else { 10 };
            shares.charge(next, cost);
            *had.get_mut(next).unwrap() += cost;
        }
        assert!(had["long"].abs_diff(had["short"]) <= 100, "{had:?}");
    }

    #[test]
    fn who_comes_is_next_and_has_saved_nothing_up() {
        let mut shares = Shares::default();
        for _ in 0..1000 {
            assert_eq!(shares.next(["old"]), Some("old"));
            shares.charge("old", 7);
        }
        let mut order = Vec::new();
        for _ in 0..6 {
            let next = shares.next(["old", "new"]).unwrap();
            shares.charge(next, 7);
            order.push(next);
        }
        assert_eq!(order, ["new", "old", "new", "old", "new", "old"]);
    }

    #[test]
    fn who_comes_has_what_he_is_given_credit_for() {
        let mut shares = Shares::with_credit(30);
        let mut turns = |count: usize, waiting: &[&'static str]| {
            let mut order = Vec::new();
            for _ in 0..count {
                let next = shares.next(waiting.iter().copied()).unwrap();
                shares.charge(next, 10);
                order.push(next);
            }
            order
        };
        assert!(turns(100, &["old"]).iter().all(|it| *it == "old"));
        assert_eq!(turns(4, &["new", "old"])[..3], ["new", "new", "new"]);
        let then = turns(20, &["new", "old"]);
        assert_eq!(then.iter().filter(|it| **it == "new").count(), 10, "{then:?}");
    }

    #[test]
    fn nothing_is_kept_of_who_has_fallen_behind() {
        let mut shares = Shares::default();
        for who in 0..100 {
            shares.charge(who, 3);
        }
        assert_eq!(shares.ahead.len(), 100);
        for _ in 0..2 {
            assert_eq!(shares.next([7]), Some(7));
            shares.charge(7, 3);
        }
        assert_eq!(shares.ahead.len(), 1);
    }

    proptest! {
        /// Two clients that always wait have had the same, but for one turn of each (Theorem 1 of
        /// the paper).
        #[test]
        fn shares_are_fair(costs in prop::collection::vec((1_u64..100, 1_u64..100), 1..200)) {
            let mut shares = Shares::default();
            let mut had = [0_u64; 2];
            for (one, other) in costs {
                let next = shares.next([0, 1]).unwrap();
                let cost = if next == 0 { one } else { other };
                shares.charge(next, cost);
                had[next] += cost;
                prop_assert!(had[0].abs_diff(had[1]) <= 200);
            }
        }
    }
}
