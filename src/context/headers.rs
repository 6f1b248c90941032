//! What stands above a chunk's text?
//!
//! ```text
//! (passage, names) → heading; name: value; ...
//! ```
//!
//! Where the options don't say, the headings it stands under and all of its metadata.

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::retrieve::Passage;

/// What can be shown beside the metadata, and what each is.
pub const NAMES: [&str; 7] =
    ["heading", "source_key", "chunk_id", "chunk_no", "rank", "score", "similarity"];

/// What is said of a chunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkHeader {
    /// The headings it stands under.
    pub heading: Option<String>,
    /// Names and values, in order.
    pub values: Vec<(String, String)>,
}

/// What is said of `passage`: what `names` name, or the usual.
///
/// A column of the metadata goes before one of [`NAMES`]; what is NULL is not shown.
#[must_use]
pub fn header(passage: &Passage, names: Option<&[String]>) -> ChunkHeader {
    let Some(names) = names else {
        let metadata = passage.metadata.as_object().into_iter().flatten();
        let values = metadata.filter_map(|(name, value)| Some((name.clone(), text(value)?)));
        return ChunkHeader { heading: passage.heading.clone(), values: values.collect() };
    };
    let is_heading = |name: &String| name == "heading" && passage.metadata.get(name).is_none();
    let values = names.iter().filter(|name| !is_heading(name)).filter_map(|name| {
        let value = match passage.metadata.get(name) {
            Some(value) => text(value),
            None => own(passage, name),
        };
        Some((name.clone(), value?))
    });
    let heading = passage.heading.clone().filter(|_| names.iter().any(is_heading));
    ChunkHeader { heading, values: values.collect() }
}

/// An error where one of `names` is neither of [`NAMES`] nor of `columns`.
pub fn check(names: &[String], columns: &[String]) -> Result<()> {
    let is_known = |name: &&String| NAMES.contains(&name.as_str()) || columns.contains(name);
    match names.iter().find(|name| !is_known(name)) {
        None => Ok(()),
        Some(unknown) => {
            let message = format!(
                "option \"context.headers\" names \"{unknown}\", which is no column of metadata"
            );
            let mut hint = format!("Known headers: {}", NAMES.join(", "));
            if !columns.is_empty() {
                hint += &format!(", and the metadata: {}", columns.join(", "));
            }
            Err(Error::new(ErrorKind::UndefinedObject, message).hint(hint + "."))
        }
    }
}

fn own(passage: &Passage, name: &str) -> Option<String> {
    match name {
        "source_key" => Some(passage.source_key.clone()),
        "chunk_id" => Some(passage.chunk_id.to_string()),
        "chunk_no" => Some(passage.chunk_no.to_string()),
        "rank" => Some(passage.rank.to_string()),
        "score" => Some(format!("{:.3}", passage.rerank_score.unwrap_or(passage.score))),
        "similarity" => passage.similarity.map(|value| format!("{value:.3}")),
        _ => None,
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::excerpt::tests::passage;
    use super::*;

    fn named(names: &[&str]) -> ChunkHeader {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        header(&some(), Some(&names))
    }

    fn some() -> Passage {
        let metadata = json!({"lang": "en", "year": 2024, "author": null, "rank": "major"});
        let (heading, similarity) = (Some("Manual > Gates".to_owned()), Some(0.5));
        Passage { metadata, heading, similarity, score: 0.0421, ..passage("Text.") }
    }

    fn values(header: &ChunkHeader) -> Vec<(&str, &str)> {
        header.values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    #[test]
    fn heading_and_metadata_are_usual() {
        let header = header(&some(), None);
        assert_eq!(header.heading.as_deref(), Some("Manual > Gates"));
        assert_eq!(values(&header), [("lang", "en"), ("rank", "major"), ("year", "2024")]);
    }

    #[test]
    fn what_is_named_is_shown_in_its_order() {
        assert_eq!(named(&[]), ChunkHeader::default());
        let header = named(&["score", "year", "similarity", "author", "source_key"]);
        assert_eq!(header.heading, None);
        let expected =
            [("score", "0.042"), ("year", "2024"), ("similarity", "0.500"), ("source_key", "7")];
        assert_eq!(values(&header), expected);
        // The user's own column goes first.
        assert_eq!(values(&named(&["rank", "heading"])), [("rank", "major")]);
        assert!(named(&["heading"]).heading.is_some());
    }

    #[test]
    fn unknown_names_are_an_error() {
        let check = |name: &str, columns: &[String]| check(&[name.to_owned()], columns);
        assert!(check("score", &[]).is_ok());
        assert!(check("lang", &["lang".to_owned()]).is_ok());
        let error = check("colour", &["lang".to_owned()]).unwrap_err();
        assert_eq!(
            error.message(),
            "option \"context.headers\" names \"colour\", which is no column of metadata"
        );
        assert!(error.hint_text().unwrap().ends_with("similarity, and the metadata: lang."));
    }
}
