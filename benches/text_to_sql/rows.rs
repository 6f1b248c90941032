//! Does a query find what another does?
//!
//! As the authors of the set count: names and order of columns and the order of rows do not matter, and there may be columns
//! beside those that are expected.

use serde_json::Value;

/// What a query finds: a value for each row and column, as text, numbers with four digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRows(Vec<Vec<String>>);

impl FoundRows {
    /// The rows of JSON objects.
    pub fn of(rows: &[Value]) -> FoundRows {
        let values = |row: &Value| {
            let values = row.as_object().into_iter().flatten();
            values.map(|(_, value)| shown(value)).collect()
        };
        FoundRows(rows.iter().map(values).collect())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    fn columns(&self) -> usize {
        self.0.first().map_or(0, Vec::len)
    }

    /// Whether they have columns that `expected` has not.
    pub fn is_wider_than(&self, expected: &FoundRows) -> bool {
        self.columns() > expected.columns()
    }

    /// Whether some of its columns are `expected`, row by row.
    pub fn hold(&self, expected: &FoundRows) -> bool {
        if self.len() != expected.len() {
            return false;
        }
        let (own, wanted) = (sorted_columns(self), sorted_columns(expected));
        let like = |wanted: &Vec<&str>| -> Vec<usize> {
            (0..own.len()).filter(|&at| own[at] == *wanted).collect()
        };
        let candidates: Vec<Vec<usize>> = wanted.iter().map(like).collect();
        self.hold_by(expected, &candidates, &mut Vec::new())
    }

    /// Whether there is a choice of a column for each that is expected, after the `chosen` ones.
    fn hold_by(
        &self,
        expected: &FoundRows,
        candidates: &[Vec<usize>],
        chosen: &mut Vec<usize>,
    ) -> bool {
        let Some(next) = candidates.get(chosen.len()) else {
            let all: Vec<usize> = (0..expected.columns()).collect();
            return sorted_rows(self, chosen) == sorted_rows(expected, &all);
        };
        next.iter().any(|&column| {
            if chosen.contains(&column) {
                return false;
            }
            chosen.push(column);
            let is_found = self.hold_by(expected, candidates, chosen);
            chosen.pop();
            is_found
        })
    }

    /// The first rows, a line each.
    pub fn first(&self, most: usize) -> Vec<String> {
        self.0.iter().take(most).map(|row| row.join(" ")).collect()
    }
}

fn shown(value: &Value) -> String {
    match value.as_f64() {
        Some(number) => format!("{number:.4}"),
        None => value.to_string(),
    }
}

fn sorted_columns(rows: &FoundRows) -> Vec<Vec<&str>> {
    let column = |at: usize| {
        let mut values: Vec<&str> = rows.0.iter().map(|row| row[at].as_str()).collect();
        values.sort_unstable();
        values
    };
    (0..rows.columns()).map(column).collect()
}

fn sorted_rows<'a>(rows: &'a FoundRows, columns: &[usize]) -> Vec<Vec<&'a str>> {
    let row = |row: &'a Vec<String>| columns.iter().map(|&at| row[at].as_str()).collect();
    let mut sorted: Vec<Vec<&str>> = rows.0.iter().map(row).collect();
    sorted.sort_unstable();
    sorted
}
