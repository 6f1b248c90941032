//! The keys of the rows that a transaction has changed, noted one after the other.
//!
//! This is done for each row that is written, so a key costs a copy of its bytes and little else:
//! keys stand in one buffer, and of those that come again soon only the first is kept.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// What stands before a length of bytes.
const LENGTH: usize = size_of::<u32>();

/// Sets of places in which a key that comes again is looked for, and places of a set.
const SETS: usize = 512;
const WAYS: usize = 2;

/// Most keys that are looked through one by one.
const FEW: usize = 16;

/// Bytes from which on keys are looked through for those that are there twice.
const LARGE: usize = 1 << 20;

/// A key that is being written.
#[derive(Debug, Default)]
pub struct KeyBuffer(Vec<u8>);

impl KeyBuffer {
    /// A key without columns.
    pub const fn new() -> Self {
        KeyBuffer(Vec::new())
    }

    /// Forgets the columns; what is allocated stays.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a column, which `write` appends.
    pub fn add(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.0.len();
        self.0.extend_from_slice(&[0; LENGTH]);
        write(&mut self.0);
        let length = (self.0.len() - start - LENGTH) as u32;
        self.0[start..start + LENGTH].copy_from_slice(&length.to_ne_bytes());
    }

    /// What has been written.
    pub fn key(&self) -> RowKey<'_> {
        RowKey(&self.0)
    }
}

/// What begins with its length in bytes, from the front of `rest`.
fn next<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<LENGTH>()?;
    let (taken, after) = after.split_at_checked(u32::from_ne_bytes(*length) as usize)?;
    *rest = after;
    Some(taken)
}

/// The key of a row: its columns, before each its length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowKey<'a>(&'a [u8]);

impl<'a> RowKey<'a> {
    /// The values of the columns, in order.
    pub fn columns(self) -> impl Iterator<Item = &'a [u8]> {
        let mut rest = self.0;
        std::iter::from_fn(move || next(&mut rest))
    }

    /// The columns as texts.
    pub fn texts(self) -> Vec<String> {
        self.columns().map(|column| String::from_utf8_lossy(column).into_owned()).collect()
    }
}

fn keys(mut bytes: &[u8]) -> impl Iterator<Item = RowKey<'_>> {
    std::iter::from_fn(move || next(&mut bytes).map(RowKey))
}

/// Keys in the order in which they came. One may be there more than once.
#[derive(Debug, Default)]
pub struct ChangedKeys {
    /// Keys, before each its length in bytes.
    bytes: Vec<u8>,
    count: usize,
    /// Which subtransaction noted the keys from where on.
    noted_by: Vec<(u32, usize)>,
    /// By hash, where the last keys begin that the last subtransaction noted, plus one.
    recent: Vec<[usize; WAYS]>,
    /// How many bytes there were when keys had last been looked through.
    looked_through: usize,
}

impl ChangedKeys {
    /// Notes a key for a subtransaction; those further in have higher numbers. A key without
    /// columns is no key.
    pub fn note(&mut self, RowKey(key): RowKey<'_>, by: u32) {
        if key.is_empty() {
            return;
        }
        if self.begin(by) {
            self.recent.clear();
        }
        if self.is_recent(key) {
            return;
        }
        self.append(key);
        if self.bytes.len() > LARGE.max(2 * self.looked_through) {
            self.look_through();
        }
    }

    /// How many there are; with those that are there more than once.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The keys of changed rows.
    pub fn iter(&self) -> impl Iterator<Item = RowKey<'_>> {
        keys(&self.bytes)
    }

    /// Each key once, with the outermost subtransaction that noted it.
    pub fn distinct(&self) -> HashMap<RowKey<'_>, u32> {
        let mut distinct = HashMap::new();
        for (by, range) in self.spans() {
            for key in keys(&self.bytes[range]) {
                let outermost = distinct.entry(key).or_insert(by);
                *outermost = by.min(*outermost);
            }
        }
        distinct
    }

    fn spans(&self) -> impl Iterator<Item = (u32, Range<usize>)> {
        let ends = self.noted_by.iter().skip(1).map(|(_, start)| *start);
        let ends = ends.chain([self.bytes.len()]);
        self.noted_by.iter().zip(ends).map(|((by, start), end)| (*by, *start..end))
    }

    /// What is appended now is of subtransaction `by`; whether what came before is of another.
    fn begin(&mut self, by: u32) -> bool {
        let is_another = self.noted_by.last().is_none_or(|(last, _)| *last != by);
        if is_another {
            self.noted_by.push((by, self.bytes.len()));
        }
        is_another
    }

    fn append(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(&(key.len() as u32).to_ne_bytes());
        self.bytes.extend_from_slice(key);
        self.count += 1;
    }

    /// Whether the key is one of the last; if not it is going to be.
    fn is_recent(&mut self, key: &[u8]) -> bool {
        if self.count < FEW {
            let start = self.noted_by.last().map_or(0, |(_, start)| *start);
            return keys(&self.bytes[start..]).any(|known| known.0 == key);
        }
        if self.recent.is_empty() {
            self.recent.resize(SETS, [0; WAYS]);
        }
        let set = &mut self.recent[hash(key) as usize % SETS];
        let key_at = |place: &usize| next(&mut self.bytes.get(place.checked_sub(1)?..)?);
        if set.iter().any(|place| key_at(place) == Some(key)) {
            return true;
        }
        set.rotate_right(1);
        set[0] = self.bytes.len() + 1;
        false
    }

    /// Keeps each key once.
    fn look_through(&mut self) {
        let mut known = HashSet::new();
        let mut kept = ChangedKeys::default();
        // The outermost come first, so what they noted stays theirs.
        let mut spans: Vec<_> = self.spans().collect();
        spans.sort_by_key(|(by, _)| *by);
        for (by, range) in spans {
            for RowKey(key) in keys(&self.bytes[range]) {
                if known.insert(key) {
                    kept.begin(by);
                    kept.append(key);
                }
            }
        }
        kept.looked_through = kept.bytes.len();
        *self = kept;
    }
}

/// FNV-1a (Fowler, Noll and Vo). The last bytes of a key change its low bits, so these are spread
/// over the high ones by the golden ratio (Knuth, TAOCP 3, 6.4).
fn hash(key: &[u8]) -> u32 {
    let hash = key.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(columns: &[&str]) -> KeyBuffer {
        let mut key = KeyBuffer::default();
        for column in columns {
            key.add(|bytes| bytes.extend_from_slice(column.as_bytes()));
        }
        key
    }

    fn texts(keys: &ChangedKeys) -> Vec<Vec<String>> {
        keys.iter().map(RowKey::texts).collect()
    }

    fn outermost(keys: &ChangedKeys) -> Vec<(String, u32)> {
        let distinct = keys.distinct();
        let mut found: Vec<_> =
            distinct.into_iter().map(|(key, by)| (key.texts().join("/"), by)).collect();
        found.sort();
        found
    }

    #[test]
    fn keys_come_as_they_were_noted() {
        let mut keys = ChangedKeys::default();
        assert!(keys.is_empty());
        keys.note(key(&["a", "", "ü"]).key(), 1);
        keys.note(key(&["7"]).key(), 1);
        keys.note(key(&[]).key(), 1);
        assert_eq!(texts(&keys), [vec!["a", "", "ü"], vec!["7"]]);
        assert_eq!(keys.len(), 2);
    }

    #[test]
    fn each_of_a_few_is_there_once() {
        let mut keys = ChangedKeys::default();
        for name in ["a", "b", "a", "c", "b"] {
            keys.note(key(&[name]).key(), 1);
        }
        assert_eq!(texts(&keys), [["a"], ["b"], ["c"]]);
    }

    #[test]
    fn the_bounds_of_columns_belong_to_a_key() {
        let mut keys = ChangedKeys::default();
        for columns in [&["ab", "c"], &["a", "bc"], &["ab", "c"]] {
            keys.note(key(columns).key(), 1);
        }
        assert_eq!(outermost(&keys), [("a/bc".to_owned(), 1), ("ab/c".to_owned(), 1)]);
    }

    #[test]
    fn rows_that_change_again_and_again_take_little_room() {
        let mut keys = ChangedKeys::default();
        for turn in 0..100_000 {
            keys.note(key(&[&(turn % 50).to_string()]).key(), 1);
        }
        // Three of them that fall into one set drive each other out.
        assert!(keys.len() < 10_000, "{}", keys.len());
        assert_eq!(keys.distinct().len(), 50);
    }

    #[test]
    fn many_rows_that_change_again_and_again_take_the_room_of_each() {
        let mut keys = ChangedKeys::default();
        for turn in 0..2_000_000_u32 {
            // More of them than are remembered, now in this subtransaction and now in that.
            keys.note(key(&[&(turn % 20_000).to_string()]).key(), 2 + turn / 300_000 % 2);
        }
        assert!(keys.bytes.len() <= 2 * LARGE, "{} bytes", keys.bytes.len());
        let distinct = keys.distinct();
        assert_eq!(distinct.len(), 20_000);
        assert!(distinct.values().all(|by| *by == 2));
    }

    #[test]
    fn a_key_belongs_to_the_outermost_that_noted_it() {
        let mut keys = ChangedKeys::default();
        for turn in 0..40 {
            keys.note(key(&[&turn.to_string()]).key(), 3);
        }
        keys.note(key(&["1"]).key(), 1);
        keys.note(key(&["2"]).key(), 5);
        let found = outermost(&keys);
        let by = |wanted: &str| found.iter().find(|(key, _)| key == wanted).map(|(_, by)| *by);
        assert_eq!((by("1"), by("2"), by("39")), (Some(1), Some(3), Some(3)));
        keys.look_through();
        assert_eq!(outermost(&keys), found);
    }

    #[test]
    fn looking_through_loses_nothing() {
        let mut keys = ChangedKeys::default();
        for number in 0..300_000 {
            keys.note(key(&[&number.to_string()]).key(), 1 + number % 3);
        }
        assert_eq!(keys.distinct().len(), 300_000);
    }
}
