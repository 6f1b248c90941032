//! What PostgreSQL says of a query that does not run, and what of it is told.
//!
//! A message may name what the caller has no right on: PostgreSQL suggests columns whoever asks, and a function's
//! error may hold values of rows. So what is told to a model or a user has only names that the query has
//! itself, or that the caller may read.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

/// What takes the place of what is not told.
const UNTOLD: &str = "...";

/// The SQLSTATE of a right that is missing.
pub const NO_RIGHT: &str = "42501";

/// The SQLSTATE of a column that is not there.
pub const NO_COLUMN: &str = "42703";

/// The SQLSTATE of a relation that is not there, or has another name in this query.
pub const NO_RELATION: &str = "42P01";

/// The SQLSTATE of a column that several tables have.
pub const AMBIGUOUS: &str = "42702";

/// SQLSTATEs of names that are not there, or of several.
const NAMES: [&str; 3] = [NO_COLUMN, NO_RELATION, AMBIGUOUS];

/// SQLSTATEs of a query whose form is wrong, whatever the tables hold: its syntax, groups, aliases, types and
/// casts. Those of data, as a division by zero, are of class 22.
const FORM: [&str; 8] = ["42601", "42803", "42712", "42804", "42846", "42883", "42P10", "42P20"];

/// Characters of a query that are shown of the place of an error.
const NEAR: usize = 40;

/// Why a query does not run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryFailure {
    /// The SQLSTATE, five characters; empty where no query was written.
    pub sqlstate: String,
    /// What it says.
    pub message: String,
    /// Facts that would make the message too long.
    pub detail: Option<String>,
    /// What can be done about it.
    pub hint: Option<String>,
    /// Where in the query it is, in characters from 1.
    pub position: Option<i32>,
}

impl QueryFailure {
    /// Without names that neither `sql` has nor `known`, which are in lower case.
    #[must_use]
    pub fn told(&self, sql: &str, known: &HashSet<String>) -> QueryFailure {
        let sql = sql.to_lowercase();
        let names = ToldNames { sql: &sql, known };
        let message = match self.message.strip_prefix("permission denied for ") {
            Some(what) if !names.has_last_word(what) => "permission denied".to_owned(),
            _ => names.veiled(&self.message),
        };
        let veiled = |text: &Option<String>| text.as_deref().map(|text| names.veiled(text));
        let (detail, hint) = (veiled(&self.detail), veiled(&self.hint));
        let (sqlstate, position) = (self.sqlstate.clone(), self.position);
        QueryFailure { sqlstate, message, detail, hint, position }
    }

    /// Whether a column or a table is not what the query calls it.
    #[must_use]
    pub fn is_of_names(&self) -> bool {
        NAMES.contains(&self.sqlstate.as_str())
    }

    /// The column that is not there, without what qualifies it.
    #[must_use]
    pub fn missing_column(&self) -> Option<&str> {
        let named = self.message.strip_prefix("column ")?.strip_suffix(" does not exist")?;
        let name = named.rsplit('.').next().unwrap_or(named).trim_matches('"');
        (self.sqlstate == NO_COLUMN && !name.is_empty()).then_some(name)
    }

    /// Whether more than one table has a column of that name.
    #[must_use]
    pub fn is_ambiguous(&self) -> bool {
        self.sqlstate == AMBIGUOUS
    }

    /// Whether it says nothing of what the tables hold.
    #[must_use]
    pub fn is_of_form(&self) -> bool {
        let is_of_alias = self.sqlstate == NO_RELATION && !self.message.starts_with("relation ");
        FORM.contains(&self.sqlstate.as_str()) || self.sqlstate.starts_with("22") || is_of_alias
    }

    /// All of it in a paragraph, with the place in `sql`.
    #[must_use]
    pub fn said(&self, sql: &str) -> String {
        let mut said = self.message.clone();
        if !self.sqlstate.is_empty() {
            said += &format!(" (SQLSTATE {})", self.sqlstate);
        }
        if let Some(near) = self.position.and_then(|position| near(sql, position)) {
            said += &format!(", near \"{near}\"");
        }
        for more in [&self.detail, &self.hint].into_iter().flatten() {
            said += &format!(". {}", more.trim_end_matches('.'));
        }
        said
    }

    /// Members of a JSON object; what there is not is left out.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        let members = [
            ("sqlstate", (!self.sqlstate.is_empty()).then(|| json!(self.sqlstate))),
            ("message", Some(json!(self.message))),
            ("detail", self.detail.as_ref().map(|it| json!(it))),
            ("hint", self.hint.as_ref().map(|it| json!(it))),
            ("position", self.position.map(|it| json!(it))),
        ];
        members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

/// What of `sql` stands at a place, on one line.
fn near(sql: &str, position: i32) -> Option<String> {
    let before = usize::try_from(position).ok()?.checked_sub(1)?;
    let near: String = sql.chars().skip(before).take(NEAR).collect();
    let near = crate::text::line::single_line(&near);
    (!near.is_empty()).then_some(near)
}

/// Names that may be told.
struct ToldNames<'a> {
    /// The query, in lower case.
    sql: &'a str,
    known: &'a HashSet<String>,
}

impl ToldNames<'_> {
    /// The text with only such names between double quotes, and where a word is that of something in a schema, or a
    /// function.
    fn veiled(&self, text: &str) -> String {
        let mut veiled = String::with_capacity(text.len());
        for (at, part) in text.split('"').enumerate() {
            match at % 2 {
                0 => veiled += &self.without_qualified(part),
                _ if self.is_told(part) => veiled += &format!("\"{part}\""),
                _ => veiled += &format!("\"{UNTOLD}\""),
            }
        }
        veiled
    }

    fn without_qualified(&self, text: &str) -> String {
        let word = |word: &str| {
            let bare = word.trim_end_matches(['.', ',', ';', ':']);
            let name = bare.split('(').next().unwrap_or_default();
            let is_qualified = name.contains('.') || !name.is_empty() && name.len() < bare.len();
            let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
            match is_qualified && is_name && !self.is_told(name) {
                true => format!("{UNTOLD}{}", &word[bare.len()..]),
                false => word.to_owned(),
            }
        };
        text.split(' ').map(word).collect::<Vec<_>>().join(" ")
    }

    /// Whether what stands in quotes is of the query, or each of its parts is a known name.
    fn is_told(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let is_known = |part: &str| self.known.contains(part) || holds_word(self.sql, part);
        self.sql.contains(&name) || name.split('.').all(is_known)
    }

    fn has_last_word(&self, text: &str) -> bool {
        let last = text.rsplit(' ').next().unwrap_or_default().to_lowercase();
        self.known.contains(&last) || holds_word(self.sql, &last)
    }
}

/// Whether `text` has `word`, and not only as a part of another.
fn holds_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    !word.is_empty()
        && text.match_indices(word).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + word.len()..]);
            !before.ends_with(is_part) && !after.starts_with(is_part)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(sql: &str, failure: QueryFailure) -> String {
        let known = HashSet::from(["orders".to_owned(), "customer".to_owned()]);
        failure.told(sql, &known).said(sql)
    }

    fn check(sql: &str, message: &str, hint: Option<&str>, expected: &str) {
        let (message, hint) = (message.to_owned(), hint.map(str::to_owned));
        let sqlstate = "42703".to_owned();
        let failure = QueryFailure { sqlstate, message, hint, ..QueryFailure::default() };
        assert_eq!(told(sql, failure), expected);
    }

    #[test]
    fn names_of_the_query_and_of_what_may_be_read_are_told() {
        check(
            "SELECT custmer FROM orders AS o",
            "column \"custmer\" does not exist",
            Some("Perhaps you meant to reference the column \"o.customer\"."),
            "column \"custmer\" does not exist (SQLSTATE 42703). Perhaps you meant to reference the column \"o.customer\"",
        );
        check(
            "SELECT o.custmer FROM orders AS o",
            "column o.custmer does not exist",
            None,
            "column o.custmer does not exist (SQLSTATE 42703)",
        );
    }

    #[test]
    fn other_names_and_values_are_not() {
        check(
            "SELECT salry FROM staff",
            "column \"salry\" does not exist",
            Some("Perhaps you meant to reference the column \"staff.salary\"."),
            "column \"salry\" does not exist (SQLSTATE 42703). Perhaps you meant to reference the column \"...\"",
        );
        check(
            "SELECT name::int FROM customers",
            "invalid input syntax for type integer: \"Ada Lovelace\"",
            None,
            "invalid input syntax for type integer: \"...\" (SQLSTATE 42703)",
        );
        check(
            "SELECT 1 FROM v",
            "permission denied for table hidden",
            None,
            "permission denied (SQLSTATE 42703)",
        );
        check(
            "SELECT 1 FROM hidden",
            "permission denied for table hidden",
            None,
            "permission denied for table hidden (SQLSTATE 42703)",
        );
        check(
            "SELECT 1 FROM v",
            "function secret.f(integer) is volatile, so it costs 12.5 (over 3)",
            None,
            "function ... is volatile, so it costs 12.5 (over 3) (SQLSTATE 42703)",
        );
    }

    #[test]
    fn the_place_of_an_error_is_shown() {
        let failure = QueryFailure {
            sqlstate: "42601".to_owned(),
            message: "syntax error".to_owned(),
            position: Some(8),
            ..QueryFailure::default()
        };
        let sql = "SELECT größe,,\n  1 FROM t";
        assert_eq!(failure.said(sql), "syntax error (SQLSTATE 42601), near \"größe,, 1 FROM t\"");
        let outside = QueryFailure { position: Some(900), ..failure };
        assert_eq!(outside.said(sql), "syntax error (SQLSTATE 42601)");
    }

    #[test]
    fn the_column_that_is_missing_is_known() {
        let check = |message: &str, expected: Option<&str>| {
            let (sqlstate, message) = (NO_COLUMN.to_owned(), message.to_owned());
            let failure = QueryFailure { sqlstate, message, ..QueryFailure::default() };
            assert_eq!(failure.missing_column(), expected);
        };
        check("column \"Custmer\" does not exist", Some("Custmer"));
        check("column o.custmer does not exist", Some("custmer"));
        check("column reference \"id\" is ambiguous", None);
        let other = QueryFailure {
            message: "column \"a\" does not exist".to_owned(),
            ..QueryFailure::default()
        };
        assert_eq!(other.missing_column(), None);
    }

    #[test]
    fn a_word_within_another_is_not_that_word() {
        assert!(holds_word("select a.id from a", "id"));
        assert!(!holds_word("select idle from a", "id"));
        assert!(!holds_word("select idle from a", ""));
    }
}
