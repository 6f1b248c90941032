//! What is relevant to a question, and how much.
//!
//! ```text
//! [{"source_key": "17", "grade": 2}, "18", {"no": 7, "year": 2024}]      rows of the source
//! [{"chunk_id": 5}, {"source_key": "17", "chunk_no": 0}]                 chunks
//! [{"source_key": "17", "start_char": 10, "end_char": 90}]               spans of documents
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::exact;
use crate::options;

/// How items are written, for hints.
const FORMS: &str = "An item is a source key, or an object with source_key (and perhaps chunk_no, \
                     or start_char and end_char) or chunk_id, and perhaps a grade.";

/// The members of an item that is no key.
const MEMBERS: [&str; 6] =
    ["source_key", "chunk_id", "chunk_no", "start_char", "end_char", "grade"];

/// Something that ought to be found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// A row of the source, by its key; see [`canonical_key`].
    Source(String),
    /// A chunk, by its number in the chunk table.
    Chunk(i64),
    /// A chunk, by its row and place.
    ChunkOf(String, i32),
    /// Characters of a row's content: key, first, one past the last.
    Span(String, i32, i32),
}

/// What the results of a ranking are, as far as judgements are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Rows of the source: of several chunks of a row the best counts.
    Source,
    /// Chunks of the source's rows.
    Chunk,
    /// Chunks, as far as they cover characters that are relevant.
    Span,
}

/// The relevant items of a case, all of one level, each once.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgements {
    level: Level,
    items: Vec<(Target, f64)>,
}

impl Default for Judgements {
    /// No item is relevant.
    fn default() -> Self {
        Judgements { level: Level::Source, items: Vec::new() }
    }
}

impl Judgements {
    /// Reads the items of a case. Those of grade 0 are left out.
    ///
    /// Fails if an item is not understood, or if they are of different levels.
    pub fn parse(relevant: &Value) -> Result<Judgements> {
        let Value::Array(items) = relevant else {
            return Err(not_understood(relevant, "not a list").hint(FORMS));
        };
        let mut targets = Vec::with_capacity(items.len());
        let mut level = None;
        for item in items {
            let (target, grade) = read(item)?;
            let own = target.level();
            if *level.get_or_insert(own) != own {
                return Err(Error::invalid(format!(
                    "relevant items name different kinds of things: {}",
                    exact::written(relevant)
                ))
                .hint("Judge a case by source keys, by chunks or by spans, not by several."));
            }
            targets.push((target, grade));
        }
        Ok(Judgements { level: level.unwrap_or(Level::Source), items: each_once(targets) })
    }

    /// The judgements with the keys that `shown` gives in place of theirs; it keeps those for which it gives none.
    #[must_use]
    pub fn with_keys(&self, mut shown: impl FnMut(&str) -> Option<String>) -> Judgements {
        let mut other = |key: &str| match shown(key) {
            Some(shown) => canonical_key(&shown),
            None => key.to_owned(),
        };
        let items = self.items.iter().map(|(target, grade)| {
            let target = match target {
                Target::Source(key) => Target::Source(other(key)),
                Target::Chunk(id) => Target::Chunk(*id),
                Target::ChunkOf(key, no) => Target::ChunkOf(other(key), *no),
                Target::Span(key, start, end) => Target::Span(other(key), *start, *end),
            };
            (target, *grade)
        });
        Judgements { level: self.level, items: each_once(items) }
    }

    /// What the items are.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The items with their grades, which are above 0.
    pub fn items(&self) -> &[(Target, f64)] {
        &self.items
    }

    /// The spans of each row, by its key, in no order.
    pub fn spans(&self) -> BTreeMap<&str, Vec<Range<i32>>> {
        let mut spans: BTreeMap<&str, Vec<Range<i32>>> = BTreeMap::new();
        for (target, _) in &self.items {
            if let Target::Span(key, start, end) = target {
                spans.entry(key).or_default().push(*start..*end);
            }
        }
        spans
    }
}

/// Each of the items once, with its best grade, if that is above 0.
fn each_once(items: impl IntoIterator<Item = (Target, f64)>) -> Vec<(Target, f64)> {
    let mut best: BTreeMap<Target, f64> = BTreeMap::new();
    for (target, grade) in items {
        let known = best.entry(target).or_default();
        *known = known.max(grade);
    }
    best.into_iter().filter(|(_, grade)| *grade > 0.0).collect()
}

impl Target {
    fn level(&self) -> Level {
        match self {
            Target::Source(_) => Level::Source,
            Target::Chunk(_) | Target::ChunkOf(..) => Level::Chunk,
            Target::Span(..) => Level::Span,
        }
    }
}

/// A source key such that equal keys are equal texts: the members of a composite key, which is a
/// JSON object, may come in any order, and 1.50 is 1.5 in it.
pub fn canonical_key(key: &str) -> String {
    match exact::read(key) {
        Ok(Value::Object(members)) => composite_key(&members),
        _ => key.to_owned(),
    }
}

fn composite_key(members: &Map<String, Value>) -> String {
    let without_scale = |value: &Value| match exact::number(value) {
        Some(digits) if digits.contains('.') && !digits.contains(['e', 'E']) => {
            exact::of_digits(digits.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => value.clone(),
    };
    let members = members.iter().map(|(name, value)| (name.clone(), without_scale(value)));
    exact::written(&Value::Object(members.collect()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JudgedItem {
    source_key: Option<Value>,
    chunk_id: Option<i64>,
    chunk_no: Option<i32>,
    start_char: Option<i32>,
    end_char: Option<i32>,
    grade: Option<f64>,
}

fn read(item: &Value) -> Result<(Target, f64)> {
    let members = match item {
        Value::Object(members) if !is_key(members) => members,
        key => return Ok((Target::Source(key_of(key)?), 1.0)),
    };
    let rounded = members.iter().map(|(name, value)| match name.as_str() {
        "source_key" => (name.clone(), value.clone()),
        _ => (name.clone(), exact::rounded(value)),
    });
    let parsed: JudgedItem = options::read("", Value::Object(rounded.collect()), &[])
        .map_err(|error| not_understood(item, error.message()).hint(FORMS))?;
    let grade = parsed.grade.unwrap_or(1.0);
    if !(0.0..=1e6).contains(&grade) {
        return Err(Error::invalid(format!("grade must be between 0 and 1000000: {grade}")));
    }
    Ok((target(item, &parsed)?, grade))
}

/// Whether an object is a composite key itself, as a search shows it: of several columns, none of which is called as a
/// member of an item, and with a single value each. What has one member is an item whose member is misspelt.
fn is_key(members: &Map<String, Value>) -> bool {
    members.len() > 1
        && !members.keys().any(|name| MEMBERS.contains(&name.as_str()))
        && members.values().all(|it| it.is_string() || it.is_number() || it.is_boolean())
}

fn target(item: &Value, parsed: &JudgedItem) -> Result<Target> {
    let key = parsed.source_key.as_ref().map(key_of).transpose()?;
    match (key, parsed.chunk_id, parsed.chunk_no, parsed.start_char, parsed.end_char) {
        (Some(key), None, None, None, None) => Ok(Target::Source(key)),
        (None, Some(id), None, None, None) => Ok(Target::Chunk(id)),
        (Some(key), None, Some(no), None, None) => Ok(Target::ChunkOf(key, no)),
        (Some(key), None, None, Some(start), Some(end)) if 0 <= start && start < end => {
            Ok(Target::Span(key, start, end))
        }
        (Some(_), None, None, Some(start), Some(end)) => Err(Error::invalid(format!(
            "a span must have start_char from 0 on and end_char after it: {start}, {end}"
        ))),
        _ => Err(not_understood(item, "it does not say which row, chunk or span").hint(FORMS)),
    }
}

fn key_of(value: &Value) -> Result<String> {
    match value {
        Value::Object(members) => Ok(composite_key(members)),
        _ => exact::number(value)
            .or_else(|| value.as_str().map(canonical_key))
            .ok_or_else(|| not_understood(value, "not a source key").hint(FORMS)),
    }
}

fn not_understood(item: &Value, why: &str) -> Error {
    let item = exact::written(item);
    Error::invalid(format!("relevant item {item} is not understood: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(relevant: Value, level: Level, items: &[(Target, f64)]) {
        let parsed = Judgements::parse(&relevant).unwrap();
        assert_eq!((parsed.level(), parsed.items()), (level, items), "{relevant}");
    }

    fn fails(relevant: Value, message: &str) {
        let error = Judgements::parse(&relevant).unwrap_err();
        assert!(error.message().contains(message), "{relevant}: {error}");
    }

    #[test]
    fn items_are_rows_chunks_or_spans() {
        let source = |key: &str| Target::Source(key.to_owned());
        check(json!([]), Level::Source, &[]);
        check(json!(["b", 7]), Level::Source, &[(source("7"), 1.0), (source("b"), 1.0)]);
        check(json!([{"source_key": "a", "grade": 2.5}]), Level::Source, &[(source("a"), 2.5)]);
        check(json!([{"chunk_id": 3}]), Level::Chunk, &[(Target::Chunk(3), 1.0)]);
        let of = Target::ChunkOf("a".to_owned(), 0);
        check(json!([{"source_key": "a", "chunk_no": 0}]), Level::Chunk, &[(of, 1.0)]);
        let span = Target::Span("a".to_owned(), 5, 9);
        let item = json!([{"source_key": "a", "start_char": 5, "end_char": 9}]);
        check(item, Level::Span, &[(span, 1.0)]);
    }

    #[test]
    fn an_item_named_twice_counts_once_with_its_best_grade() {
        let source = Target::Source("a".to_owned());
        let twice = json!(["a", {"source_key": "a", "grade": 3}, {"source_key": "a", "grade": 2}]);
        check(twice, Level::Source, &[(source, 3.0)]);
        check(json!([{"source_key": "a", "grade": 0}]), Level::Source, &[]);
    }

    #[test]
    fn composite_keys_are_objects_in_any_order() {
        let key = Target::Source(r#"{"No":1,"Site":"x"}"#.to_owned());
        check(
            json!([{"source_key": {"Site": "x", "No": 1}}]),
            Level::Source,
            &[(key.clone(), 1.0)],
        );
        check(json!([r#"{"Site": "x", "No": 1}"#]), Level::Source, &[(key.clone(), 1.0)]);
        check(json!([{"Site": "x", "No": 1}]), Level::Source, &[(key, 1.0)]);
    }

    #[test]
    fn numbers_of_keys_have_all_their_digits() {
        let check = |relevant: &str, key: &str, grade: f64| {
            let source = Target::Source(key.to_owned());
            check(exact::read(relevant).unwrap(), Level::Source, &[(source, grade)]);
        };
        check("[12345678901234567890123]", "12345678901234567890123", 1.0);
        check("[1.50]", "1.50", 1.0);
        check(r#"[{"source_key": 1.50, "grade": 2.50}]"#, "1.50", 2.5);
        let key = r#"{"n":1.5,"no":12345678901234567890123}"#;
        check(r#"[{"no": 12345678901234567890123, "n": 1.50}]"#, key, 1.0);
        check(r#"["{\"no\": 12345678901234567890123, \"n\": 1.50}"]"#, key, 1.0);
        check(r#"[{"source_key": {"no": 12345678901234567890123, "n": 1.5}}]"#, key, 1.0);
    }

    #[test]
    fn keys_are_replaced_by_those_that_are_shown() {
        let relevant = json!([{"source_key": "a", "grade": 2}, "b", "c"]);
        let shown = |key: &str| (key != "c").then(|| "x".to_owned());
        let items =
            [("c", 1.0), ("x", 2.0)].map(|(key, grade)| (Target::Source(key.into()), grade));
        assert_eq!(Judgements::parse(&relevant).unwrap().with_keys(shown).items(), items);
        let span = json!([{"source_key": "a", "start_char": 5, "end_char": 9}]);
        let replaced = Judgements::parse(&span).unwrap().with_keys(shown);
        assert_eq!(replaced.items(), [(Target::Span("x".to_owned(), 5, 9), 1.0)]);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        fails(json!({"source_key": "a"}), "not a list");
        fails(json!([null]), "not a source key");
        fails(json!([{"grade": 1}]), "which row, chunk or span");
        fails(json!([{"chunk_id": 1, "source_key": "a"}]), "which row, chunk or span");
        fails(json!([{"source": "a"}]), "unknown option \"source\"");
        fails(json!([{"id": 5, "grade": 2}]), "unknown option \"id\"");
        fails(json!([{"id": 5, "area": null}]), "unknown option");
        fails(json!([{"source_key": "a", "grade": -1}]), "grade must be between");
        fails(json!([{"source_key": "a", "start_char": 9, "end_char": 9}]), "a span must have");
        fails(json!(["a", {"chunk_id": 1}]), "different kinds");
    }
}
