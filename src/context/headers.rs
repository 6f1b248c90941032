//! What stands above a source's text?
//!
//! ```text
//! (source, names) → heading; name: value; ...
//! ```
//!
//! Where the options don't say, the headings it stands under and all of its metadata.

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::source::Source;

/// What can be shown beside the metadata, and what each is.
pub const NAMES: [&str; 8] =
    ["heading", "pipeline", "source_key", "chunk_id", "chunk_no", "rank", "score", "similarity"];

/// What is said of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkHeader {
    /// The headings it stands under.
    pub heading: Option<String>,
    /// Names and values, in order.
    pub values: Vec<(String, String)>,
}

/// What is said of `source`: what `names` name, or the usual.
///
/// A column of the metadata goes before one of [`NAMES`]; what is NULL is not shown.
#[must_use]
pub fn header(source: &Source, names: Option<&[String]>) -> ChunkHeader {
    let heading = source.heading().map(str::to_owned);
    let Some(names) = names else {
        let metadata = source.metadata().and_then(Value::as_object).into_iter().flatten();
        let values = metadata.filter_map(|(name, value)| Some((name.clone(), text(value)?)));
        return ChunkHeader { heading, values: values.collect() };
    };
    let column = |name: &String| source.metadata().and_then(|columns| columns.get(name));
    let is_heading = |name: &String| name == "heading" && column(name).is_none();
    let values = names.iter().filter(|name| !is_heading(name)).filter_map(|name| {
        let value = match column(name) {
            Some(value) => text(value),
            None => property(source, name),
        };
        Some((name.clone(), value?))
    });
    let heading = heading.filter(|_| names.iter().any(is_heading));
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

fn property(source: &Source, name: &str) -> Option<String> {
    NAMES.contains(&name).then(|| source.property(name)).flatten()
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

    use super::*;
    use crate::retrieve::Passage;
    use crate::source::tests::{one_of_each, passage};

    fn named(names: &[&str]) -> ChunkHeader {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        header(&some(), Some(&names))
    }

    fn some() -> Source {
        let metadata = json!({"lang": "en", "year": 2024, "author": null, "rank": "major"});
        let (heading, similarity) = (Some("Manual > Gates".into()), Some(0.5));
        Source::Chunk(Passage { metadata, heading, similarity, score: 0.0421, ..passage("Text.") })
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
    fn sources_without_metadata_show_what_they_have() {
        let [_, summary, row] = one_of_each();
        let names = ["heading", "source_key", "lang"].map(str::to_owned);
        assert_eq!(header(&summary, None).heading.as_deref(), Some("Opening hours"));
        assert_eq!(values(&header(&summary, Some(&names))), []);
        assert_eq!(header(&row, None).heading.as_deref(), Some("orders"));
        assert_eq!(values(&header(&row, Some(&names))), [("source_key", "17")]);
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
