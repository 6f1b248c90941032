//! # columns: which rows does a filter keep?
//!
//! ```text
//! (column pages, conditions) → the set of nodes that meet all of them
//! ```
//!
//! An index can have columns beside the vector. Their values do not lie with the vectors but
//! together, on pages of their own: one value after the other, so that reading a million of
//! them takes about a millisecond. A scan with conditions reads them first. Then it knows how
//! many rows there are to find, and passes by all others without a look at their vectors.
//!
//! A value is a signed integer of 1 to 16 bytes in which values sort as the column's type
//! does, or, where the type has no such integer, a hash; the executor checks again.

use super::node_set::NodeSet;
use super::page::{self, HnswPageKind, NodePlace};
use super::shape::{IndexShape, MOST_FILTERS};
use crate::error::Result;
use crate::pages::HEADER_BYTES;
use crate::pages::{Page, Store, StoreMut};

/// In an entry's flags: there are values. The bits below say which are NULL.
const IS_THERE: u8 = 1 << MOST_FILTERS;

/// The values of one row, as they are kept: flags, then each value in its width.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnValues(Vec<u8>);

impl ColumnValues {
    /// The values of the filter columns, in their order; `None` is NULL.
    #[must_use]
    pub fn new(shape: &IndexShape, values: &[Option<i128>]) -> ColumnValues {
        let mut bytes = vec![IS_THERE];
        for (column, (width, value)) in shape.filters.widths().zip(values).enumerate() {
            if value.is_none() {
                bytes[0] |= 1 << column;
            }
            let value = value.unwrap_or_default();
            match width {
                1 => bytes.extend((value as i8).to_ne_bytes()),
                2 => bytes.extend((value as i16).to_ne_bytes()),
                4 => bytes.extend((value as i32).to_ne_bytes()),
                8 => bytes.extend((value as i64).to_ne_bytes()),
                _ => bytes.extend(value.to_ne_bytes()),
            }
        }
        ColumnValues(bytes)
    }

    /// The values whose bytes [`ColumnValues::bytes`] gave.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> ColumnValues {
        ColumnValues(bytes.to_vec())
    }

    /// Flags and values, as they are stored.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// What a filter asks of one column. A row meets it if its value lies in one of the ranges, or
/// is NULL where that is what is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnCondition {
    /// The filter column, from 0.
    pub column: usize,
    /// First and last value of each range, ascending.
    pub ranges: Vec<(i128, i128)>,
    /// Whether NULL meets it.
    pub takes_null: bool,
}

/// Keeps the values of a node. Fails with [`IndexCorrupted`](crate::error::ErrorKind::IndexCorrupted) if they are not those of the index's columns.
pub fn set_values<S: StoreMut>(
    store: &S,
    shape: &IndexShape,
    node: u32,
    values: &ColumnValues,
) -> Result<()> {
    let Some(at) = shape.layout.values(shape.place(node)) else { return Ok(()) };
    // They were made for the columns of the index, which its damaged first page may tell otherwise.
    if values.bytes().len() != shape.filters.bytes() {
        let (kept, made) = (shape.filters.bytes(), values.bytes().len());
        let what = format!("its rows have {kept} bytes of columns, and not {made}");
        return Err(page::corrupt(at.block, &what));
    }
    store
        .write(at.block, |page| {
            page::initialise_if_new(page, HnswPageKind::Column);
            put(shape, page, at.slot as usize, values.bytes());
            Ok(true)
        })
        .map(drop)
}

/// Writes an entry into a column page.
pub fn put(shape: &IndexShape, page: &mut Page, entry: usize, values: &[u8]) {
    page[HEADER_BYTES + entry] = values[0];
    let mut from = 1;
    for (column, width) in shape.filters.widths().enumerate() {
        let at = shape.column_offset(column) + entry * width;
        page[at..at + width].copy_from_slice(&values[from..from + width]);
        from += width;
    }
}

/// Entries of a column page that have values.
pub fn present<'a>(shape: &IndexShape, page: &'a Page) -> impl Iterator<Item = usize> + 'a {
    let flags = &page[HEADER_BYTES..HEADER_BYTES + shape.layout.entries()];
    flags.iter().enumerate().filter(|(_, flags)| **flags & IS_THERE != 0).map(|(entry, _)| entry)
}

/// The nodes that meet all conditions. Slots without a node may be among them.
pub fn matches<S: Store>(
    store: &S,
    shape: &IndexShape,
    conditions: &[ColumnCondition],
) -> Result<NodeSet> {
    let blocks = store.blocks()?;
    let mut nodes = NodeSet::below(shape.nodes_below(blocks))?;
    let mut keep = Vec::new();
    for block in shape.layout.column_blocks(blocks) {
        store.interrupted()?;
        store.read(block, |page| {
            if page::kind(page) == Some(HnswPageKind::Column) {
                select(shape, page, conditions, &mut keep);
                collect(shape, block, &keep, &mut nodes);
            }
        })?;
    }
    Ok(nodes)
}

/// Says of each entry of a page whether it meets the conditions.
fn select(shape: &IndexShape, page: &Page, conditions: &[ColumnCondition], keep: &mut Vec<bool>) {
    let flags = &page[HEADER_BYTES..HEADER_BYTES + shape.layout.entries()];
    keep.clear();
    keep.extend(flags.iter().map(|flags| flags & IS_THERE != 0));
    for condition in conditions {
        let Some(width) = shape.filters.widths().nth(condition.column) else { continue };
        let from = shape.column_offset(condition.column);
        let values = &page[from..from + width * shape.layout.entries()];
        let is_null = |flags: u8| flags >> condition.column & 1 == 1;
        macro_rules! test {
            ($integer:ty) => {{
                let ranges = within(condition, <$integer>::MIN.into(), <$integer>::MAX.into());
                let ranges: Vec<($integer, $integer)> = ranges
                    .into_iter()
                    .map(|(first, last)| (first as $integer, last as $integer))
                    .collect();
                let values = values.chunks_exact(size_of::<$integer>());
                let values = values.map(bytemuck::pod_read_unaligned::<$integer>);
                let rows = keep.iter_mut().zip(flags).zip(values);
                match ranges[..] {
                    [(first, last)] => rows.for_each(|((keep, flags), value)| {
                        let lies_within = (first <= value) & (value <= last) & !is_null(*flags);
                        *keep &= lies_within | (condition.takes_null & is_null(*flags));
                    }),
                    _ => rows.for_each(|((keep, flags), value)| {
                        *keep &= match is_null(*flags) {
                            true => condition.takes_null,
                            false => lies_in(&ranges, value),
                        }
                    }),
                }
            }};
        }
        match width {
            1 => test!(i8),
            2 => test!(i16),
            4 => test!(i32),
            8 => test!(i64),
            _ => test!(i128),
        }
    }
}

/// The parts of a condition's ranges that a value of the column can lie in.
fn within(condition: &ColumnCondition, least: i128, most: i128) -> Vec<(i128, i128)> {
    let clamped =
        condition.ranges.iter().map(|(first, last)| (*first.max(&least), *last.min(&most)));
    clamped.filter(|(first, last)| first <= last).collect()
}

/// Whether a value lies in one of some ascending ranges.
fn lies_in<T: Ord>(ranges: &[(T, T)], value: T) -> bool {
    let after = ranges.partition_point(|(first, _)| *first <= value);
    after > 0 && value <= ranges[after - 1].1
}

fn collect(shape: &IndexShape, column_block: u32, keep: &[bool], nodes: &mut NodeSet) {
    let slots = shape.slots(HnswPageKind::Ground) as usize;
    for (block, of_page) in shape.layout.covered_blocks(column_block).zip(keep.chunks(slots)) {
        let first = shape.node(NodePlace { block, slot: 0 });
        for (run, of_run) in (first..).step_by(NodeSet::RUN).zip(of_page.chunks(NodeSet::RUN)) {
            nodes.insert_run(run, bits(of_run));
        }
    }
}

/// At most 64 answers as the bits of a number, the first lowest. Without a branch for each,
/// which the processor could not foresee.
fn bits(answers: &[bool]) -> u64 {
    let mut eights = answers.chunks_exact(8);
    let mut bits = 0;
    let mut at = 0;
    for eight in &mut eights {
        // Eight bytes of 0 or 1; the product has them side by side in its highest byte.
        let bytes = eight.iter().rev().fold(0u64, |bytes, answer| bytes << 8 | u64::from(*answer));
        bits |= (bytes.wrapping_mul(0x0102_0408_1020_4080) >> 56) << at;
        at += 8;
    }
    let rest = eights.remainder().iter().rev();
    let rest = rest.fold(0u64, |bits, answer| bits << 1 | u64::from(*answer));
    if at < 64 { bits | rest << at } else { bits }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hnsw::page::Degree;
    use crate::hnsw::shape::Filters;
    use crate::hnsw::space::{DistanceMetric, Space, Storage};
    use crate::pages::PAGE_SIZE;
    use crate::pages::ram::RamStore;
    use proptest::prelude::*;

    fn shape() -> IndexShape {
        let space = Space { metric: DistanceMetric::L2, storage: Storage::Sq8, dimensions: 384 };
        let filters = Filters::new(&[4, 1, 16, 8, 2]).unwrap();
        IndexShape::new(space, Degree { m: 16, ef_construction: 64 }, filters).unwrap()
    }

    fn value() -> impl Strategy<Value = Option<i128>> {
        prop::option::weighted(0.8, -5i128..5)
    }

    fn condition() -> impl Strategy<Value = ColumnCondition> {
        let range = (-7i128..7, 0i128..4).prop_map(|(first, more)| (first, first + more));
        let far =
            prop::sample::select(vec![(i128::MIN, -2), (3, i128::MAX), (i128::MIN, i128::MAX)]);
        let ranges = prop_oneof![
            prop::collection::btree_set(-6i128..6, 0..4)
                .prop_map(|points| points.into_iter().map(|point| (point, point)).collect()),
            range.prop_map(|range| vec![range]),
            far.prop_map(|range| vec![range]),
        ];
        (0usize..5, ranges, any::<bool>())
            .prop_map(|(column, ranges, takes_null)| ColumnCondition { column, ranges, takes_null })
    }

    proptest! {
        #[test]
        fn rows_match_as_their_values_say(
            rows in prop::collection::vec(prop::collection::vec(value(), 5), 1..400),
            conditions in prop::collection::vec(condition(), 1..4),
        ) {
            let shape = shape();
            let store = RamStore::default();
            let last = rows.len() as u32 / shape.slots(HnswPageKind::Ground);
            for _ in 0..=shape.layout.data_block(last) {
                store.append(|_, page| *page = [0; PAGE_SIZE]).unwrap();
            }
            let slots = shape.slots(HnswPageKind::Ground);
            let node = |number: usize| {
                let number = number as u32;
                let block = shape.layout.data_block(number / slots);
                shape.node(NodePlace { block, slot: number % slots })
            };
            for (number, row) in rows.iter().enumerate() {
                set_values(&store, &shape, node(number), &ColumnValues::new(&shape, row)).unwrap();
            }
            let found = matches(&store, &shape, &conditions).unwrap();
            let meets = |row: &[Option<i128>], condition: &ColumnCondition| match row[condition.column] {
                None => condition.takes_null,
                Some(value) => condition.ranges.iter().any(|(first, last)| (*first..=*last).contains(&value)),
            };
            let expected: Vec<u32> = (0..rows.len())
                .filter(|number| conditions.iter().all(|condition| meets(&rows[*number], condition)))
                .map(node)
                .collect();
            prop_assert_eq!(found.iter().collect::<Vec<u32>>(), expected);
        }
    }
}
