//! # graph: what do texts name, and which of them are tied by a name?
//!
//! ```text
//! chunk → mentions │ (the best chunks, what they name) → chunks that name the same │ entity → paths
//! ```
//!
//! A graph without a language model: nodes are chunks and the entities that they name, and an edge is a mention, with
//! its exact place. An [`EntityExtractor`] finds mentions: [`rules`] reads capitals, and [`ner`] takes what a model has found.
//! [`walk`] goes from the best chunks of a search over their entities to other chunks, and [`paths`] from an
//! entity over chunks, or over [`relations`] that rows say, to others: from which ones [`asked`] says. [`options`] says what a
//! question may ask for.
//!
//! Entities have no rows of their own: an entity is what mentions with the same normal form ([`name`]) have in
//! common, so that nothing is left of one when its last mention goes, and nobody waits for a row that all share.

pub mod asked;
pub mod communities;
pub mod name;
pub mod ner;
pub mod options;
pub mod paths;
pub mod relations;
pub mod rules;
pub mod walk;

use std::collections::BTreeMap;
use std::ops::Range;

use relations::extract::ExtractChoice;
use relations::{ColumnRelation, ColumnRelations};
use serde::Deserialize;
use serde_json::Value as Json;

use crate::error::{Error, Result};
use crate::options as json_options;
use crate::text::token_labels::LabelledSpan;

/// Most entities of a chunk, the first ones. More are no text that speaks of them but a list.
pub const MOST_ENTITIES: usize = 64;

/// A text that may name entities.
#[derive(Clone, Copy, Debug, Default)]
pub struct NamingText<'a> {
    /// Title and headings, joined by ` > `.
    pub context: Option<&'a str>,
    /// The text of the chunk.
    pub content: &'a str,
    /// The names that a model has found in it, in the order of their places; none where no model reads it.
    pub names: &'a [LabelledSpan],
}

/// An entity that a chunk names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityMention {
    /// Its normal form, by which it is recognised ([`name::normal_form`]).
    pub norm: String,
    /// The normal form of the long name that it is short for, where the chunk says so.
    pub alias_of: Option<String>,
    /// What it is, as the model calls it that has found it; `None` where none did.
    pub kind: Option<String>,
    /// How often the chunk names it; its title counts twice.
    pub count: u32,
    /// Its first place in the content, in characters from 0; `None` where title or headings alone name it.
    pub span: Option<Range<u32>>,
}

/// Finds the entities that texts name.
///
/// What it finds in a text depends on this text alone, and not on others or on when it is asked: so mentions
/// of a chunk are right as long as its text is the same.
pub trait EntityExtractor {
    /// The entities of a chunk, each once, in the order of their first places; at most [`MOST_ENTITIES`].
    /// `interrupt` is called from time to time and may unwind.
    fn mentions(&self, text: &NamingText<'_>, interrupt: &mut dyn FnMut()) -> Vec<EntityMention>;

    /// What a question may name, generously: what is not in the graph is not found there. The normal form, and
    /// how the question writes it.
    fn asked(&self, question: &str, interrupt: &mut dyn FnMut()) -> Vec<(String, String)>;
}

/// The way in which entities are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtractorKind {
    /// By capital letters and the like, as [`rules`] says.
    Rules,
    /// By a model for token classification, as [`ner`] says.
    Ner,
}

impl ExtractorKind {
    /// The extractor itself.
    #[must_use]
    pub fn extractor(self) -> &'static dyn EntityExtractor {
        match self {
            ExtractorKind::Rules => &rules::RuleExtractor,
            ExtractorKind::Ner => &ner::NerExtractor,
        }
    }
}

/// What a pipeline's option `graph` asks for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntityOptions {
    /// How entities are found.
    pub entities: ExtractorKind,
    /// The registered model that finds them, where a model does.
    #[serde(default)]
    pub ner_model: Option<String>,
    /// By metadata column, what it says of its row or of another column.
    #[serde(default)]
    pub relations: BTreeMap<String, ColumnRelation>,
    /// By metadata column that refers to another table, the column of that table by which its rows are called.
    #[serde(default)]
    pub names: BTreeMap<String, String>,
    /// What a language model extracts of texts, if one is to; where nothing is said, what holds already.
    #[serde(default)]
    pub extract: ExtractChoice,
}

impl EntityOptions {
    /// What the option says; `None` where it is false or null and there is to be no graph.
    ///
    /// Fails with an invalid parameter that names the key.
    pub fn read(option: &Json) -> Result<Option<EntityOptions>> {
        match option {
            Json::Null | Json::Bool(false) => Ok(None),
            Json::Object(_) => {
                let read: EntityOptions = json_options::read("graph", option.clone(), &[])?;
                read.check_model()?;
                read.column_relations().map_or(Ok(()), |it| it.check())?;
                read.extract.wanted().map_or(Ok(()), |it| it.check())?;
                Ok(Some(read))
            }
            other => {
                let shown = json_options::shortened(&other.to_string());
                Err(Error::invalid(format!("graph cannot be {shown}"))
                    .hint("It is false, or an object such as {\"entities\": \"rules\"}."))
            }
        }
    }

    /// Whether these find the same entities as `other`, whatever columns and texts say of them.
    #[must_use]
    pub fn finds_as(&self, other: &EntityOptions) -> bool {
        (self.entities, &self.ner_model) == (other.entities, &other.ner_model)
    }

    /// An error unless a model is named where one is to find entities, and only there.
    fn check_model(&self) -> Result<()> {
        match (self.entities, &self.ner_model) {
            (ExtractorKind::Rules, None) | (ExtractorKind::Ner, Some(_)) => Ok(()),
            (ExtractorKind::Ner, None) => {
                Err(Error::invalid("option \"graph.entities\" \"ner\" needs the key \"ner_model\"")
                    .hint("Name a token classifier that rag_add_model has registered."))
            }
            (ExtractorKind::Rules, Some(_)) => {
                Err(Error::invalid("option \"graph.ner_model\" is for \"entities\": \"ner\""))
            }
        }
    }

    /// What columns say; `None` where none does.
    #[must_use]
    pub fn column_relations(&self) -> Option<ColumnRelations> {
        let EntityOptions { relations, names, .. } = self;
        let of = || ColumnRelations { relations: relations.clone(), names: names.clone() };
        (!relations.is_empty()).then(of)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pipeline_says_how_entities_are_found() {
        let rules = EntityOptions::read(&json!({"entities": "rules"})).unwrap().unwrap();
        assert_eq!((rules.entities, rules.column_relations()), (ExtractorKind::Rules, None));
        let option = json!({"entities": "rules", "relations": {"author_id": "written_by"}});
        let relations = EntityOptions::read(&option).unwrap().unwrap().column_relations();
        assert_eq!(relations.unwrap().columns().collect::<Vec<_>>(), ["author_id"]);
        assert_eq!(EntityOptions::read(&json!(false)), Ok(None));
        assert_eq!(EntityOptions::read(&Json::Null), Ok(None));
        let ner = EntityOptions::read(&json!({"entities": "ner", "ner_model": "m"})).unwrap();
        let ner = ner.unwrap();
        assert_eq!((ner.entities, ner.ner_model.as_deref()), (ExtractorKind::Ner, Some("m")));
        let extract = |extract: Json| {
            let option = json!({"entities": "rules", "extract": extract});
            EntityOptions::read(&option).unwrap().unwrap().extract
        };
        assert_eq!(extract(json!(false)), ExtractChoice::Dropped);
        assert_eq!(extract(json!(null)), ExtractChoice::Kept);
        assert_eq!(rules.extract, ExtractChoice::Kept);
        assert!(extract(json!({"llm": "writer"})).wanted().is_some());
        assert!(extract(json!({"llm": "writer", "predicates": null})).wanted().is_some());
    }

    #[test]
    fn what_does_not_say_how_entities_are_found_is_an_error() {
        let check = |option, message: &str, hint: Option<&str>| {
            let error = EntityOptions::read(&option).unwrap_err();
            assert_eq!((error.message(), error.hint_text()), (message, hint));
        };
        check(
            json!(true),
            "graph cannot be true",
            Some("It is false, or an object such as {\"entities\": \"rules\"}."),
        );
        check(
            json!({"entities": "ner"}),
            "option \"graph.entities\" \"ner\" needs the key \"ner_model\"",
            Some("Name a token classifier that rag_add_model has registered."),
        );
        check(
            json!({"entities": "rules", "ner_model": "m"}),
            "option \"graph.ner_model\" is for \"entities\": \"ner\"",
            None,
        );
        check(json!({}), "option \"graph\" needs the key \"entities\"", None);
        check(
            json!({"entities": "llm"}),
            "option \"graph.entities\" cannot be \"llm\"",
            Some("Known values: rules, ner."),
        );
        check(
            json!({"entities": "rules", "hops": 2}),
            "unknown option \"hops\" of \"graph\"",
            Some("Known options: entities, ner_model, relations, names, extract."),
        );
        check(
            json!({"entities": "rules", "relations": {"a": 1}}),
            "option \"graph.relations.a\" must be a predicate or an object, not 1",
            None,
        );
        check(
            json!({"entities": "rules", "extract": {"model": "x"}}),
            "unknown option \"model\" of \"graph.extract\"",
            Some("Known options: llm, template, predicates."),
        );
        check(
            json!({"entities": "rules", "extract": {"predicates": [null]}}),
            "option \"graph.extract.predicates[0]\" must be a string, not null",
            None,
        );
        check(
            json!({"entities": "rules", "extract": true}),
            "option \"graph.extract\" must be false or an object, not true",
            None,
        );
        check(
            json!({"entities": "rules", "extract": {"predicates": ["*"]}}),
            "predicate of \"graph.extract.predicates[0]\" cannot be \"*\"",
            Some("A predicate has a letter or digit, and * stands for all predicates."),
        );
        check(
            json!({"entities": "rules", "relations": {"a": " "}}),
            "predicate of \"graph.relations.a\" must have 1 to 120 bytes, not 1",
            None,
        );
    }
}
