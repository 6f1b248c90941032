//! # relations: what do the columns of a row, and its text, say of two entities?
//!
//! ```text
//! (which columns say what, a row) → subject –predicate→ object ← (a text, what a language model says of it)
//! ```
//!
//! A mention says that a chunk names an entity; a relation says what one entity is to another, by a name, its predicate.
//! A database has many of them before anybody reads a text: a foreign key is one, and so is a column. Which columns say
//! something, and what, is written in the option `graph` of a pipeline ([`ColumnRelations`]). What texts say a language
//! model may [`extract`], and what a question asks for one may [`pick`]; [`foremost`] tells without one which are worth telling.

pub mod extract;
pub mod foremost;
pub mod pick;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use unicode_segmentation::UnicodeSegmentation;

use super::name::{LONGEST, value_form, whole_form, with_signs};
use super::paths::NamedEntity;
use crate::error::{Error, Result};

/// Longest value of a column that is looked at, in bytes: what is longer would become a name only where most of it is no letter.
pub const LONGEST_VALUE: usize = 4 * LONGEST;

/// Elements of an array that are objects of a relation, the first ones.
pub const MOST_ELEMENTS: usize = 256;

/// Stands for all predicates.
const ALL: &str = "*";

/// Words of a question that are looked at for names, and of a name among them.
const MOST_WORDS: usize = 64;
const WORDS_OF_NAME: usize = 5;

/// Signs around a phrase of a question that are looked at, on each side.
const MOST_SIGNS: usize = 8;

/// What a column says: the subject is the row, or what another column names, and the object is its own value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ColumnRelation {
    /// What the subject is to the object, such as `written_by`.
    pub predicate: String,
    /// The column that names the subject; `None`: the row itself is the subject.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

/// What the columns of a pipeline's metadata say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnRelations {
    /// By column, or by the columns of a foreign key with commas between them, what it says.
    pub relations: BTreeMap<String, ColumnRelation>,
    /// By column, or columns, that refer to another table, the column of that table by which its rows are called.
    #[serde(default)]
    pub names: BTreeMap<String, String>,
}

impl ColumnRelations {
    /// The columns that are read, each once, in the order of their names.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        let subjects = self.relations.values().filter_map(|it| it.subject.as_ref());
        let all = self.relations.keys().chain(subjects).chain(self.names.keys());
        all.map(String::as_str).collect::<std::collections::BTreeSet<_>>().into_iter()
    }

    /// The column of the other table by which the rows are called to which these columns refer, in whatever order both
    /// are written.
    #[must_use]
    pub fn naming(&self, columns: &str) -> Option<&str> {
        let sorted = |key: &str| {
            let mut parts: Vec<String> = parts(key).map(str::to_owned).collect();
            parts.sort_unstable();
            parts
        };
        let same = || self.names.iter().find(|(key, _)| sorted(key) == sorted(columns));
        self.names.get(columns).or_else(|| Some(same()?.1)).map(String::as_str)
    }

    /// What they say where each column has the name that `by_now` gives it. Columns of which it knows nothing keep theirs.
    #[must_use]
    pub fn renamed(&self, by_now: impl Fn(&str) -> Option<String>) -> ColumnRelations {
        let part = |part: &str| by_now(part).unwrap_or_else(|| part.to_owned());
        let name = |known: &str| {
            let several = || parts(known).map(part).collect::<Vec<_>>().join(", ");
            by_now(known).unwrap_or_else(several)
        };
        let relation = |(column, it): (&String, &ColumnRelation)| {
            let subject = it.subject.as_deref().map(&name);
            (name(column), ColumnRelation { predicate: it.predicate.clone(), subject })
        };
        let naming = |(column, by): (&String, &String)| (name(column), by.clone());
        ColumnRelations {
            relations: self.relations.iter().map(relation).collect(),
            names: self.names.iter().map(naming).collect(),
        }
    }

    /// What they say without the columns that are gone, each as it is written, or the columns of a foreign key together: a
    /// relation that needs them is gone, too.
    #[must_use]
    pub fn without(&self, is_gone: impl Fn(&str) -> bool) -> ColumnRelations {
        let mut left = self.clone();
        left.relations
            .retain(|key, it| !is_gone(key) && !it.subject.as_deref().is_some_and(&is_gone));
        left.names.retain(|key, _| !is_gone(key));
        left
    }

    /// An error that names the first predicate that is none.
    pub fn check(&self) -> Result<()> {
        self.relations.iter().try_for_each(|(column, it)| {
            check_predicate(&format!("graph.relations.{column}"), &it.predicate)
        })
    }
}

/// The names of columns that stand in one key of the options, as in `tenant_id, author_id`: a single one, where it has no
/// comma.
pub fn parts(key: &str) -> impl Iterator<Item = &str> {
    key.split(',').map(str::trim)
}

/// An error where the predicate that stands at the key `key` of options is none: it has 1 to [`LONGEST`] bytes and a letter or
/// digit.
fn check_predicate(key: &str, predicate: &str) -> Result<()> {
    if predicate.trim().is_empty() || predicate.len() > LONGEST {
        return Err(Error::invalid(format!(
            "predicate of \"{key}\" must have 1 to {LONGEST} bytes, not {}",
            predicate.len()
        )));
    }
    match predicate.chars().any(char::is_alphanumeric) {
        true => Ok(()),
        false => Err(Error::invalid(format!("predicate of \"{key}\" cannot be \"{predicate}\""))
            .hint("A predicate has a letter or digit, and * stands for all predicates.")),
    }
}

/// The predicates over which paths go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PredicateChoice {
    /// All that there are.
    All,
    /// These.
    Named(Vec<String>),
}

impl PredicateChoice {
    /// The predicates of the argument `predicate`; `*` stands for all. Fails with an invalid parameter where it has none.
    pub fn read(names: Vec<String>) -> Result<PredicateChoice> {
        if names.iter().any(|name| name == ALL) {
            return Ok(PredicateChoice::All);
        }
        match names.is_empty() {
            false => Ok(PredicateChoice::Named(names)),
            true => Err(Error::invalid("predicate is empty").hint(
                "Name some, as in ARRAY['uses', 'works_on'], or all of them with ARRAY['*'].",
            )),
        }
    }

    /// The predicates; `None`: all.
    #[must_use]
    pub fn names(&self) -> Option<Vec<&str>> {
        match self {
            PredicateChoice::All => None,
            PredicateChoice::Named(names) => Some(names.iter().map(String::as_str).collect()),
        }
    }
}

/// What a question may name, however it is written: the phrases of up to five of its first 64 words, the longer ones of a
/// place first, each with and without the signs around it. Most of them are no names: which are, what there is in a graph says.
#[must_use]
pub fn phrases(question: &str) -> Vec<NamedEntity> {
    let place = |(at, word): (usize, &str)| with_signs(question, at..at + word.len());
    let words: Vec<Range<usize>> =
        question.unicode_word_indices().take(MOST_WORDS).map(place).collect();
    let mut phrases = Vec::new();
    for first in 0..words.len() {
        for count in (1..=WORDS_OF_NAME.min(words.len() - first)).rev() {
            let phrase = words[first].start..words[first + count - 1].end;
            let around = with_all_signs(question, phrase.clone());
            let mut found: Vec<NamedEntity> = named(&question[phrase]).into_iter().collect();
            add_new(&mut found, possible(&question[around]));
            phrases.extend(found);
        }
    }
    phrases
}

/// A phrase of a question with all signs that touch it, but for those that end a sentence or are put around names.
fn with_all_signs(question: &str, phrase: Range<usize>) -> Range<usize> {
    let is_around = |sign: char| "\"'“”„‘’‚«»‹›(),;:!?…。、，；：！？.".contains(sign);
    let touches = |sign: &char| !sign.is_alphanumeric() && !sign.is_whitespace();
    let bytes = |signs: &[char]| signs.iter().map(|sign| sign.len_utf8()).sum::<usize>();
    let before = question[..phrase.start].chars().rev().take(MOST_SIGNS).take_while(touches);
    let behind = question[phrase.end..].chars().take(MOST_SIGNS).take_while(touches);
    let [mut before, mut behind] = [before.collect::<Vec<char>>(), behind.collect()];
    for signs in [&mut before, &mut behind] {
        while signs.last().is_some_and(|sign| is_around(*sign)) {
            signs.pop();
        }
    }
    phrase.start - bytes(&before)..phrase.end + bytes(&behind)
}

fn add_new(found: &mut Vec<NamedEntity>, others: Vec<NamedEntity>) {
    for other in others {
        if found.iter().all(|known| known.norm != other.norm) {
            found.push(other);
        }
    }
}

/// The entity that a value names; `None` where it is too long for a name, or has no letter or digit.
#[must_use]
pub fn named(value: &str) -> Option<NamedEntity> {
    entity(value, value_form)
}

/// The entity that a row is which is called by its key: of two keys that differ in more than capitals and accents there are
/// two.
#[must_use]
pub fn keyed(row: &str) -> Option<NamedEntity> {
    entity(row, whole_form)
}

/// The entities that somebody may mean who writes a name so: what has the name, and a row that is called so by its key.
#[must_use]
pub fn possible(name: &str) -> Vec<NamedEntity> {
    let mut found: Vec<NamedEntity> = named(name).into_iter().collect();
    add_new(&mut found, keyed(name).into_iter().collect());
    found
}

fn entity(value: &str, form: impl Fn(&str) -> String) -> Option<NamedEntity> {
    let name = value.trim();
    if name.len() > LONGEST_VALUE {
        return None;
    }
    let norm = form(name);
    (!norm.is_empty() && norm.len() <= LONGEST).then(|| NamedEntity { norm, name: name.to_owned() })
}

/// Reads a predicate, or an object that says more.
struct PredicateOrObject;

/// The object, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenColumnRelation {
    predicate: String,
    #[serde(default)]
    subject: Option<String>,
}

impl<'de> Visitor<'de> for PredicateOrObject {
    type Value = ColumnRelation;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a predicate or an object")
    }

    fn visit_str<E: serde::de::Error>(self, predicate: &str) -> Result<ColumnRelation, E> {
        Ok(ColumnRelation { predicate: predicate.to_owned(), subject: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ColumnRelation, A::Error> {
        let written = WrittenColumnRelation::deserialize(MapAccessDeserializer::new(map))?;
        Ok(ColumnRelation { predicate: written.predicate, subject: written.subject })
    }
}

impl<'de> Deserialize<'de> for ColumnRelation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ColumnRelation, D::Error> {
        deserializer.deserialize_any(PredicateOrObject)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_column_says_a_predicate_of_its_row_or_of_another_column() {
        let written = json!({
            "relations": {"author_id": "written_by", "project_id": {"predicate": "worked_on", "subject": "engineer_id"}},
            "names": {"engineer_id": "full_name"},
        });
        let read: ColumnRelations = serde_json::from_value(written).unwrap();
        assert_eq!(read.relations["author_id"].predicate, "written_by");
        assert_eq!(read.relations["project_id"].subject.as_deref(), Some("engineer_id"));
        assert_eq!(read.columns().collect::<Vec<_>>(), ["author_id", "engineer_id", "project_id"]);
        assert!(read.check().is_ok());
        // What is kept is read again.
        assert_eq!(serde_json::from_value::<ColumnRelations>(json!(read)).unwrap(), read);
    }

    #[test]
    fn columns_of_one_key_get_their_names_each() {
        let written = json!({
            "relations": {"tenant, author": "written_by", "a, b": {"predicate": "uses", "subject": "author,tenant"}},
            "names": {"tenant, author": "name"},
        });
        let read: ColumnRelations = serde_json::from_value(written).unwrap();
        let renamed = read.renamed(|name| match name {
            "tenant" => Some("tenant_id".to_owned()),
            // A column may be called so, and is one then.
            "a, b" => Some("c".to_owned()),
            _ => None,
        });
        let expected = json!({
            "relations": {"tenant_id, author": {"predicate": "written_by"}, "c": {"predicate": "uses", "subject": "author, tenant_id"}},
            "names": {"tenant_id, author": "name"},
        });
        assert_eq!(json!(renamed), expected);
        assert_eq!(read.naming("author,tenant"), Some("name"));
        assert_eq!(read.naming("author"), None);
        assert_eq!(parts("a").collect::<Vec<_>>(), ["a"]);
        assert_eq!(parts(" a ,b").collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn a_predicate_has_a_name() {
        let check = |predicate: &str, message: &str| {
            let relation = ColumnRelation { predicate: predicate.to_owned(), subject: None };
            let relations = [("a".to_owned(), relation)].into();
            let wanted = ColumnRelations { relations, ..ColumnRelations::default() };
            assert_eq!(wanted.check().unwrap_err().message(), message);
        };
        let message = "predicate of \"graph.relations.a\" must have 1 to 120 bytes, not";
        check("", &format!("{message} 0"));
        check(" ", &format!("{message} 1"));
        check(&"p".repeat(121), &format!("{message} 121"));
        check(ALL, "predicate of \"graph.relations.a\" cannot be \"*\"");
    }

    #[test]
    fn predicates_are_some_or_all() {
        let read = |names: &[&str]| {
            PredicateChoice::read(names.iter().map(|it| (*it).to_owned()).collect())
        };
        assert_eq!(read(&["uses", "knows"]).unwrap().names(), Some(vec!["uses", "knows"]));
        assert_eq!(read(&["uses", "*"]).unwrap().names(), None);
        assert_eq!(read(&[]).unwrap_err().message(), "predicate is empty");
    }

    #[test]
    fn phrases_of_a_question_are_looked_up() {
        let norms = |question: &str| -> Vec<String> {
            phrases(question).into_iter().map(|it| it.norm).collect()
        };
        assert_eq!(
            norms("Who uses libzstd?"),
            ["who uses libzstd", "who uses", "who", "uses libzstd", "uses", "libzstd"]
        );
        assert_eq!(norms(""), Vec::<String>::new());
        assert_eq!(norms("?!"), Vec::<String>::new());
        assert_eq!(norms("东京 is big").last().map(String::as_str), Some("big"));
        // The signs around a phrase may be of a name, or of a key.
        assert_eq!(norms("C++?"), ["c++"]);
        assert_eq!(norms("(A-)."), ["a", "a-"]);
        assert_eq!(norms("is -5"), ["is -5", "is", "-5"]);
        assert!(norms("Who leads the project ACME-1?").contains(&"project acme-1".to_owned()));
        assert!(norms("Who leads the project ACME-1?").contains(&"project acme 1".to_owned()));
        assert!(norms("is it \"50%\"?").contains(&"50%".to_owned()));
        assert!(phrases(&"word ".repeat(1_000_000)).len() <= MOST_WORDS * WORDS_OF_NAME);
    }

    #[test]
    fn values_are_names_unless_they_are_texts() {
        let check = |value: &str, expected: Option<(&str, &str)>| {
            let found = named(value);
            let found = found.as_ref().map(|it| (it.norm.as_str(), it.name.as_str()));
            assert_eq!(found, expected, "{value}");
        };
        check(" Ada Lovelace ", Some(("ada lovelace", "Ada Lovelace")));
        check("17", Some(("17", "17")));
        check("", None);
        check("?!", None);
        check(&"word ".repeat(30), None);
        check(&format!("a{}", " ".repeat(1000)), Some(("a", "a")));
        check(&format!("a{}b", " ".repeat(1000)), None);
        check("C++", Some(("c++", "C++")));
        check("A-", Some(("a-", "A-")));
        check("-1.50", Some(("-1.50", "-1.50")));
    }

    #[test]
    fn rows_with_two_keys_are_two() {
        let norm = |row: &str| keyed(row).map(|it| it.norm);
        assert_eq!(norm(" engineer  1 ").as_deref(), Some("engineer 1"));
        assert_ne!(norm("engineer a-b"), norm("engineer a b"));
        assert_ne!(norm("engineer ''"), norm("engineer ???"));
        assert_eq!(norm("???"), None);
        let norms: Vec<String> = possible("Engineer a-b").into_iter().map(|it| it.norm).collect();
        assert_eq!(norms, ["engineer a b", "engineer a-b"]);
        assert_eq!(possible("Ada").len(), 1);
        assert!(possible("???").is_empty());
    }

    #[test]
    fn what_needs_a_column_that_is_gone_is_gone() {
        let written = json!({
            "relations": {"a": "is", "b": {"predicate": "uses", "subject": "a"}, "c, d": "by", "e": "in"},
            "names": {"c, d": "name", "e": "title"},
        });
        let read: ColumnRelations = serde_json::from_value(written).unwrap();
        let left = |gone: &str| read.without(|key| parts(key).any(|it| it == gone));
        let keys = |left: &ColumnRelations| left.relations.keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&left("a")), ["c, d", "e"]);
        assert_eq!(left("a").names, read.names);
        assert_eq!(keys(&left("d")), ["a", "b", "e"]);
        assert_eq!(left("d").names.keys().collect::<Vec<_>>(), ["e"]);
        assert_eq!(left("x"), read);
    }
}
