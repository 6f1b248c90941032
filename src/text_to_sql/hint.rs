//! # hint: what does a query say if PostgreSQL's own suggestion is followed?
//!
//! ```text
//! SELECT custmer FROM orders, "Perhaps you meant to reference the column "orders.customer"."
//!     → SELECT "orders"."customer" FROM orders
//! ```
//!
//! Small models misspell names of columns more than anything else, and PostgreSQL finds the right one by itself. Where
//! it names exactly one, that takes the place of the wrong one without another call of the model.

use super::failure::QueryFailure;

/// A column that is not there.
const NO_COLUMN: &str = "42703";

const BEFORE: &str = "Perhaps you meant to reference the column \"";
const AFTER: &str = "\".";

/// The query with the one column that the hint of its failure names; `None` where it names none, or two.
#[must_use]
pub fn followed(sql: &str, failure: &QueryFailure) -> Option<String> {
    if failure.sqlstate != NO_COLUMN {
        return None;
    }
    let named = failure.hint.as_deref()?.strip_prefix(BEFORE)?.strip_suffix(AFTER)?;
    let (table, column) = named.split_once('.')?;
    if named.contains('"') || column.contains('.') {
        return None;
    }
    let place = usize::try_from(failure.position?).ok()?.checked_sub(1)?;
    let (start, _) = sql.char_indices().nth(place)?;
    let length = reference_length(&sql[start..])?;
    let (before, after) = (&sql[..start], &sql[start + length..]);
    Some(format!("{before}\"{table}\".\"{column}\"{after}"))
}

/// The bytes of the name at the beginning of `text`, with what it is qualified by.
fn reference_length(text: &str) -> Option<usize> {
    let mut length = name_length(text)?;
    loop {
        let rest = &text[length..];
        let spaces = |text: &str| text.len() - text.trim_start().len();
        let dot = spaces(rest);
        let Some(behind) = rest[dot..].strip_prefix('.') else { return Some(length) };
        let gap = spaces(behind);
        let Some(next) = name_length(&behind[gap..]) else { return Some(length) };
        length += dot + 1 + gap + next;
    }
}

fn name_length(text: &str) -> Option<usize> {
    if let Some(quoted) = text.strip_prefix('"') {
        let mut rest = quoted.char_indices();
        while let Some((at, c)) = rest.next() {
            if c == '"' && !quoted[at + 1..].starts_with('"') {
                return Some(at + 2);
            }
            if c == '"' {
                rest.next();
            }
        }
        return None;
    }
    let begins = |c: char| c.is_alphabetic() || c == '_';
    let goes_on = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    text.starts_with(begins).then(|| text.find(|c| !goes_on(c)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sql: &str, wrong: &str, named: &str, expected: Option<&str>) {
        let at = sql.find(wrong).unwrap();
        let position = i32::try_from(sql[..at].chars().count() + 1).unwrap();
        let failure = QueryFailure {
            sqlstate: NO_COLUMN.to_owned(),
            hint: Some(format!("Perhaps you meant to reference the column {named}.")),
            position: Some(position),
            ..QueryFailure::default()
        };
        assert_eq!(followed(sql, &failure).as_deref(), expected, "{sql}");
    }

    #[test]
    fn the_one_column_that_is_named_takes_the_place() {
        check(
            "SELECT custmer FROM orders",
            "custmer",
            "\"orders.customer\"",
            Some("SELECT \"orders\".\"customer\" FROM orders"),
        );
        check(
            "SELECT 'größe', o . \"cust\"\"mer\"+1 FROM orders o",
            "o . ",
            "\"o.customer\"",
            Some("SELECT 'größe', \"o\".\"customer\"+1 FROM orders o"),
        );
        check("SELECT a.b.", "a.b.", "\"a.c\"", Some("SELECT \"a\".\"c\"."));
    }

    #[test]
    fn what_is_not_certain_is_left_to_the_model() {
        let sql = "SELECT custmer FROM orders";
        check(sql, "custmer", "\"a.customer\" or the column \"b.customer\"", None);
        check(sql, "custmer", "\"a.b.customer\"", None);
        check(sql, "custmer", "\"customer\"", None);
        let other = QueryFailure { sqlstate: "42601".to_owned(), ..QueryFailure::default() };
        assert_eq!(followed(sql, &other), None);
    }

    #[test]
    fn a_place_outside_of_the_query_is_none() {
        let failure = QueryFailure {
            sqlstate: NO_COLUMN.to_owned(),
            hint: Some(format!("{BEFORE}a.b{AFTER}")),
            ..QueryFailure::default()
        };
        for position in [None, Some(0), Some(-3), Some(100)] {
            let failure = QueryFailure { position, ..failure.clone() };
            assert_eq!(followed("SELECT 1", &failure), None);
        }
        assert_eq!(name_length("\"open"), None);
        assert_eq!(name_length("1"), None);
    }
}
