//! Rows of a pipeline that a question names by their keys.

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;

use super::Search;
use crate::error::Result;
use crate::extract::subject::key::{possible_composite_keys, possible_keys, possible_numbers};
use crate::pg::catalog::operator;
use crate::pg::catalog::view::ViewColumn;
use crate::pg::server::prepared;
use crate::pg::server::sql::{query, render, required};

/// Types of keys that a question can name: texts, and whole numbers.
const TEXTS: [pg_sys::Oid; 2] = [pg_sys::TEXTOID, pg_sys::VARCHAROID];
const NUMBERS: [pg_sys::Oid; 3] = [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID];

/// Most keys of several columns that are looked up, and most combinations of what the columns of one may be.
const MOST_KEYS: usize = 8;
const MOST_COMBINATIONS: usize = 16_384;

/// What the columns of a key may be: those of texts, and those of numbers.
struct KeyValues {
    texts: Vec<String>,
    numbers: Vec<i64>,
}

impl Search {
    /// The first chunks of the rows that `query` names by their keys, `most` at most: texts as they are written, and
    /// numbers right behind the name of the table, or behind a word such as "number" there. A key of several columns is
    /// named where each of its texts is, and beside them its number if it has one. Of each key that the question may name,
    /// one row comes before the second of any.
    pub(super) fn named_rows(&self, query: &str, most: usize) -> Result<Vec<i64>> {
        let keys = &self.columns.keys;
        let kinds: Vec<pg_sys::Oid> =
            keys.iter().map(|key| operator::base_type(key.type_oid)).collect();
        let possible = self.possible_values(query, &kinds);
        if possible.is_empty() {
            return Ok(Vec::new());
        }
        let is_named = |(n, key): (usize, &ViewColumn)| {
            let n = n.to_string();
            render(query!(tree.named_column), &[("key", &key.name), ("n", &n)])
        };
        let is_named = (1..).zip(keys).map(is_named).collect::<Vec<_>>().join(" AND ");
        let table = self.pipeline().chunk_table.sql.as_str();
        let values = [("chunk_table", table), ("is_named", &is_named)];
        let statement = render(query!(tree.named), &values);
        let mut found: Vec<Vec<i64>> = Vec::new();
        for values in &possible {
            let arguments: Vec<DatumWithOid<'_>> =
                kinds.iter().map(|kind| values.argument(*kind)).collect();
            found.push(prepared::rows_planned_for_values(&statement, &arguments, |row| {
                required(row.get::<i64>(1)?)
            })?);
        }
        let longest = found.iter().map(Vec::len).max().unwrap_or_default();
        let in_turn =
            (0..longest).flat_map(|place| found.iter().filter_map(move |it| it.get(place)));
        let mut named: Vec<i64> = Vec::new();
        for chunk_id in in_turn {
            if named.len() < most && !named.contains(chunk_id) {
                named.push(*chunk_id);
            }
        }
        Ok(named)
    }

    /// What the columns of a key, which are of these kinds, may be in `query`, for each key that it may name.
    fn possible_values(&self, query: &str, kinds: &[pg_sys::Oid]) -> Vec<KeyValues> {
        let count = |types: &[pg_sys::Oid]| kinds.iter().filter(|it| types.contains(it)).count();
        let (texts, numbers) = (count(&TEXTS), count(&NUMBERS));
        let possible = match (texts, numbers) {
            _ if texts + numbers < kinds.len() => Vec::new(),
            (1, 0) => vec![KeyValues { texts: possible_keys(query), numbers: Vec::new() }],
            (0, 1) => {
                let numbers = possible_numbers(query, &self.table_names());
                vec![KeyValues { texts: Vec::new(), numbers }]
            }
            (1.., 0 | 1) => {
                let keys = possible_composite_keys(query, &self.table_names(), numbers == 1);
                let values = keys.into_iter().map(|it| KeyValues {
                    texts: it.texts,
                    numbers: it.number.into_iter().collect(),
                });
                values.take(MOST_KEYS).collect()
            }
            _ => Vec::new(),
        };
        let is_looked_up =
            |it: &KeyValues| (1..=MOST_COMBINATIONS).contains(&it.combinations(kinds));
        possible.into_iter().filter(is_looked_up).collect()
    }
}

impl KeyValues {
    /// How many keys with columns of these kinds can be made of them.
    fn combinations(&self, kinds: &[pg_sys::Oid]) -> usize {
        let length = |kind: &pg_sys::Oid| match TEXTS.contains(kind) {
            true => self.texts.len(),
            false => self.numbers.len(),
        };
        kinds.iter().map(length).fold(1, usize::saturating_mul)
    }

    /// All that a column of this kind may be.
    fn argument(&self, kind: pg_sys::Oid) -> DatumWithOid<'static> {
        match TEXTS.contains(&kind) {
            true => self.texts.clone().into(),
            false => self.numbers.clone().into(),
        }
    }
}
