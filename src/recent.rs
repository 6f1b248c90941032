//! What was used last, as much of it as there is room for.
//!
//! A session keeps prepared statements, vectors and replies of language models in such lists, and ragd
//! what all sessions share. Room is counted in entries, or in whatever unit the sizes of the entries
//! are given in.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::sync::Arc;

/// The entries that were used last. Finding one is a use of it.
#[derive(Debug)]
pub struct Recent<K, V> {
    entries: HashMap<Arc<K>, RecentEntry<V>>,
    /// Keys by the time of their last use.
    order: BTreeMap<u64, Arc<K>>,
    clock: u64,
    size: usize,
    room: usize,
}

#[derive(Debug)]
struct RecentEntry<V> {
    value: V,
    size: usize,
    used: u64,
}

impl<K: Hash + Eq, V> Recent<K, V> {
    /// An empty list whose entries may have the size `room` together.
    #[must_use]
    pub fn new(room: usize) -> Self {
        Recent { entries: HashMap::new(), order: BTreeMap::new(), clock: 0, size: 0, room }
    }

    /// The value of `key`, which is now the last one used.
    pub fn get(&mut self, key: &K) -> Option<&V> {
        let entry = self.entries.get_mut(key)?;
        if let Some(key) = self.order.remove(&entry.used) {
            self.clock += 1;
            entry.used = self.clock;
            self.order.insert(self.clock, key);
        }
        Some(&entry.value)
    }

    /// Removes the value of `key`.
    pub fn take(&mut self, key: &K) -> Option<V> {
        let entry = self.entries.remove(key)?;
        self.order.remove(&entry.used);
        self.size -= entry.size;
        Some(entry.value)
    }

    /// Keeps a value of size 1, as [`put_sized`](Self::put_sized) does: the room of a list without other
    /// sizes is a number of entries.
    pub fn put(&mut self, key: K, value: V) -> Vec<V> {
        self.put_sized(key, value, 1)
    }

    /// Keeps a value in the place of the one that `key` had. Those that have not been used for the longest
    /// time make room. A value larger than all the room is not kept.
    ///
    /// Returns the values that are not, or no longer, kept, so that the caller decides when to drop them.
    pub fn put_sized(&mut self, key: K, value: V, size: usize) -> Vec<V> {
        let mut dropped: Vec<V> = self.take(&key).into_iter().collect();
        if size > self.room {
            dropped.push(value);
            return dropped;
        }
        while self.size + size > self.room {
            let Some((_, oldest)) = self.order.first_key_value() else { break };
            let oldest = Arc::clone(oldest);
            dropped.extend(self.take(&oldest));
        }
        let key = Arc::new(key);
        self.clock += 1;
        self.order.insert(self.clock, Arc::clone(&key));
        self.entries.insert(key, RecentEntry { value, size, used: self.clock });
        self.size += size;
        dropped
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.order.clear();
        self.size = 0;
    }

    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_was_used_of_late_is_kept() {
        let mut recent = Recent::new(3);
        for number in 0..3 {
            assert!(recent.put(number, number * 10).is_empty());
        }
        assert_eq!(recent.get(&0), Some(&0));
        // One more: the longest unused goes, which is 1 since 0 was asked for again.
        assert_eq!(recent.put(3, 30), [10]);
        assert_eq!(recent.get(&0), Some(&0));
        assert_eq!(recent.get(&1), None);
        assert_eq!(recent.get(&2), Some(&20));
        assert_eq!(recent.len(), 3);
    }

    #[test]
    fn a_value_takes_the_place_of_the_one_before_it() {
        let mut recent = Recent::new(2);
        recent.put("a", 1);
        recent.put("b", 2);
        assert_eq!(recent.put("a", 3), [1]);
        assert_eq!((recent.get(&"a").copied(), recent.len()), (Some(3), 2));
        assert_eq!((recent.take(&"a"), recent.get(&"a").copied()), (Some(3), None));
        assert_eq!((recent.take(&"a"), recent.len()), (None, 1));
    }

    #[test]
    fn what_is_larger_than_all_the_room_is_not_kept() {
        let mut recent = Recent::new(10);
        recent.put_sized("a", 1, 4);
        recent.put_sized("b", 2, 6);
        assert_eq!(recent.put_sized("c", 3, 11), [3]);
        assert_eq!(recent.len(), 2);
        // Not even where it replaces something.
        assert_eq!(recent.put_sized("b", 4, 11), [2, 4]);
        assert_eq!((recent.get(&"a").copied(), recent.get(&"b").copied()), (Some(1), None));
        assert_eq!(recent.put_sized("d", 5, 10), [1]);
    }

    #[test]
    fn after_clear_there_is_all_the_room_again() {
        let mut recent = Recent::new(10);
        recent.put_sized("a", 1, 10);
        recent.clear();
        assert!(recent.is_empty() && recent.get(&"a").is_none());
        assert!(recent.put_sized("b", 2, 10).is_empty());
    }

    proptest! {
        /// Whatever is asked and kept, it is what a list of entries by their last use gives, and
        /// never more than has room.
        #[test]
        fn the_longest_unused_goes_first(
            steps in proptest::collection::vec((0u8..12, 0usize..50, any::<bool>()), 0..200),
        ) {
            let mut recent = Recent::new(100);
            let mut naive: Vec<(u8, usize)> = Vec::new();
            for (key, size, puts) in steps {
                let place = naive.iter().position(|(known, _)| *known == key);
                let before = place.map(|place| naive.remove(place));
                if puts {
                    let mut gone: Vec<usize> = before.iter().map(|(_, size)| *size).collect();
                    naive.insert(0, (key, size));
                    while naive.iter().map(|(_, size)| size).sum::<usize>() > 100 {
                        gone.extend(naive.pop().map(|(_, size)| size));
                    }
                    prop_assert_eq!(recent.put_sized(key, size, size), gone);
                } else {
                    let found = recent.get(&key).copied();
                    prop_assert_eq!(found, before.map(|(_, size)| size));
                    naive.splice(0..0, before);
                }
                prop_assert_eq!(recent.size, naive.iter().map(|(_, size)| size).sum::<usize>());
                prop_assert_eq!(recent.len(), naive.len());
                prop_assert_eq!(recent.order.len(), naive.len());
            }
        }
    }
}
