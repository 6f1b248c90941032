//! The columns beside the vector: their types, their values, and what a WHERE asks of them.

use pgrx::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::hnsw::columns::ColumnCondition;
use crate::hnsw::shape::Filters;

/// The place of the first filter column among an index's columns, from 1.
const FIRST: i16 = 2;

/// How the values of a type become integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FilterForm {
    /// The integer itself, of so many bytes. Dates and times are integers too.
    Integer(u8),
    /// The sixteen bytes, which sort like an unsigned integer.
    Uuid,
    /// The value's OID, which does not sort as the type does.
    Enum,
    /// A hash of the text.
    Text,
}

impl FilterForm {
    fn of(of_type: pg_sys::Oid) -> Option<FilterForm> {
        match of_type {
            pg_sys::BOOLOID => Some(FilterForm::Integer(1)),
            pg_sys::INT2OID => Some(FilterForm::Integer(2)),
            pg_sys::INT4OID | pg_sys::DATEOID => Some(FilterForm::Integer(4)),
            pg_sys::INT8OID | pg_sys::TIMESTAMPOID | pg_sys::TIMESTAMPTZOID => {
                Some(FilterForm::Integer(8))
            }
            pg_sys::UUIDOID => Some(FilterForm::Uuid),
            pg_sys::ANYENUMOID => Some(FilterForm::Enum),
            pg_sys::TEXTOID => Some(FilterForm::Text),
            _ => None,
        }
    }

    /// Bytes of a value.
    fn width(self) -> u8 {
        match self {
            FilterForm::Integer(width) => width,
            FilterForm::Enum => 4,
            FilterForm::Text => 8,
            FilterForm::Uuid => 16,
        }
    }

    /// # Safety
    ///
    /// `datum` is a value of this form's type, and not NULL.
    unsafe fn value(self, datum: pg_sys::Datum, collation: pg_sys::Oid) -> i128 {
        let bits = datum.value();
        match self {
            FilterForm::Integer(1) => i128::from(bits as i8),
            FilterForm::Integer(2) => i128::from(bits as i16),
            FilterForm::Integer(4) | FilterForm::Enum => i128::from(bits as i32),
            FilterForm::Integer(_) => i128::from(bits as i64),
            FilterForm::Uuid => {
                // SAFETY: a uuid is a pointer to sixteen bytes.
                let bytes = unsafe { datum.cast_mut_ptr::<[u8; 16]>().read_unaligned() };
                (u128::from_be_bytes(bytes) ^ 1 << 127) as i128
            }
            FilterForm::Text => {
                let function = pg_sys::Oid::from(pg_sys::F_HASHTEXTEXTENDED);
                let seed = pg_sys::Datum::from(0i64);
                // SAFETY: by this function's contract the datum is a text.
                let hash =
                    unsafe { pg_sys::OidFunctionCall2Coll(function, collation, datum, seed) };
                i128::from(hash.value() as i64)
            }
        }
    }
}

/// Whether a column of this type can stand beside the vector.
pub fn can_filter_by(of_type: pg_sys::Oid) -> bool {
    // SAFETY: look-ups in the catalog; the access method is there with the extension.
    unsafe {
        let method = pg_sys::get_am_oid(c"rag_hnsw".as_ptr(), true);
        method != pg_sys::InvalidOid
            && pg_sys::GetDefaultOpClass(of_type, method) != pg_sys::InvalidOid
    }
}

/// A column beside the vector.
#[derive(Clone, Copy, Debug)]
pub struct FilterColumn {
    form: FilterForm,
    collation: pg_sys::Oid,
}

/// The columns of an index that follow its vector.
///
/// # Safety
///
/// `index` is an open index of ours.
pub unsafe fn columns(index: pg_sys::Relation) -> Result<Vec<FilterColumn>> {
    // SAFETY: by this function's contract; both arrays have a place for each column.
    unsafe {
        let count = usize::from((*(*index).rd_index).indnkeyatts as u16);
        (1..count)
            .map(|place| {
                let of_type = *(*index).rd_opcintype.add(place);
                let form = FilterForm::of(of_type).ok_or_else(|| {
                    Error::new(ErrorKind::Unsupported, "a rag_hnsw index has one vector, in its first column")
                        .hint("Columns that follow it serve to filter: int2, int4, int8, bool, date, timestamp, timestamptz, uuid, text or an enum.")
                })?;
                Ok(FilterColumn { form, collation: *(*index).rd_indcollation.add(place) })
            })
            .collect()
    }
}

/// The widths of their values.
pub fn widths(columns: &[FilterColumn]) -> Result<Filters> {
    let widths: Vec<u8> = columns.iter().map(|column| column.form.width()).collect();
    Filters::new(&widths)
}

/// The values of a row, in the order of the columns.
///
/// # Safety
///
/// `values` and `nulls` have a place for each column of the index, the vector's first.
pub unsafe fn values(
    columns: &[FilterColumn],
    values: *const pg_sys::Datum,
    nulls: *const bool,
) -> Vec<Option<i128>> {
    let column = |(place, column): (usize, &FilterColumn)| {
        // SAFETY: by this function's contract.
        unsafe {
            let is_null = *nulls.add(place);
            (!is_null).then(|| column.form.value(*values.add(place), column.collation))
        }
    };
    (1..).zip(columns).map(column).collect()
}

/// What the keys of a scan ask of the filter columns. The executor checks again.
///
/// # Safety
///
/// `keys` are of a scan over the index with these columns.
pub unsafe fn conditions(
    columns: &[FilterColumn],
    keys: &[pg_sys::ScanKeyData],
) -> Vec<ColumnCondition> {
    let of_filters = keys.iter().filter(|key| key.sk_attno >= FIRST);
    of_filters
        .filter_map(|key| {
            let column = (key.sk_attno - FIRST) as usize;
            let described = columns.get(column)?;
            // SAFETY: by this function's contract.
            let (ranges, takes_null) = unsafe { asked(described, key)? };
            Some(ColumnCondition { column, ranges, takes_null })
        })
        .collect()
}

/// The ranges that are asked for, and whether NULL will do. `None` where the key can't be told from
/// the values.
///
/// # Safety
///
/// As for [`conditions`].
unsafe fn asked(
    column: &FilterColumn,
    key: &pg_sys::ScanKeyData,
) -> Option<(Vec<(i128, i128)>, bool)> {
    let has = |flag: u32| key.sk_flags & flag as i32 != 0;
    if has(pg_sys::SK_SEARCHNULL) {
        return Some((Vec::new(), true));
    }
    if has(pg_sys::SK_SEARCHNOTNULL) {
        return Some((vec![(i128::MIN, i128::MAX)], false));
    }
    if has(pg_sys::SK_ISNULL) {
        return Some((Vec::new(), false));
    }
    // The other side may be of another type, as int8 is beside a column of int4.
    let form = match key.sk_subtype {
        pg_sys::InvalidOid => column.form,
        other => FilterForm::of(other)?,
    };
    let range = |datum| {
        // SAFETY: the datum is of the key's type.
        let value = unsafe { form.value(datum, column.collation) };
        range(u32::from(key.sk_strategy), value)
    };
    let mut ranges: Vec<(i128, i128)> = match has(pg_sys::SK_SEARCHARRAY) {
        // SAFETY: by this function's contract.
        true => unsafe { of_elements(key.sk_argument, range) },
        false => range(key.sk_argument).into_iter().collect(),
    };
    ranges.sort_unstable();
    Some((merged(ranges), false))
}

/// What `of` makes of the values that are not NULL of an array.
///
/// # Safety
///
/// `array` is an array.
unsafe fn of_elements<T>(array: pg_sys::Datum, of: impl Fn(pg_sys::Datum) -> Option<T>) -> Vec<T> {
    // SAFETY: by this function's contract; deconstruct_array makes two arrays of `count`. What is made here is given
    // back: the memory is that of the query, and a scan may begin anew for each row of another table.
    unsafe {
        let given = array.cast_mut_ptr::<pg_sys::varlena>();
        let whole = pg_sys::pg_detoast_datum(given);
        let array = whole.cast::<pg_sys::ArrayType>();
        let (mut length, mut by_value, mut alignment) = (0, false, 0);
        let of_type = (*array).elemtype;
        pg_sys::get_typlenbyvalalign(of_type, &mut length, &mut by_value, &mut alignment);
        let (mut values, mut nulls, mut count) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
        pg_sys::deconstruct_array(
            array,
            of_type,
            i32::from(length),
            by_value,
            alignment,
            &mut values,
            &mut nulls,
            &mut count,
        );
        let there = (0..count as usize).filter(|place| !*nulls.add(*place));
        let made = there.filter_map(|place| of(*values.add(place))).collect();
        pg_sys::pfree(values.cast());
        pg_sys::pfree(nulls.cast());
        if whole != given {
            pg_sys::pfree(whole.cast());
        }
        made
    }
}

/// The values that stand in a relation to `value`; btree's strategy numbers.
fn range(strategy: u32, value: i128) -> Option<(i128, i128)> {
    match strategy {
        pg_sys::BTLessStrategyNumber => Some((i128::MIN, value.checked_sub(1)?)),
        pg_sys::BTLessEqualStrategyNumber => Some((i128::MIN, value)),
        pg_sys::BTGreaterEqualStrategyNumber => Some((value, i128::MAX)),
        pg_sys::BTGreaterStrategyNumber => Some((value.checked_add(1)?, i128::MAX)),
        _ => Some((value, value)),
    }
}

/// Ascending ranges without those that lie in the one before.
fn merged(ranges: Vec<(i128, i128)>) -> Vec<(i128, i128)> {
    let mut merged: Vec<(i128, i128)> = Vec::with_capacity(ranges.len());
    for (first, last) in ranges {
        match merged.last_mut() {
            Some(before) if first <= before.1 => before.1 = before.1.max(last),
            _ => merged.push((first, last)),
        }
    }
    merged
}
