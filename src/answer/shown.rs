//! What readers are shown of the sources of an answer: names, places, quotes and links.

use serde_json::Value;

use super::checks::CheckOptions;
use crate::answer::citation::Citations;
use crate::answer::link;
use crate::answer::options::CiteOptions;
use crate::answer::style::{CitationStyle, Shown};
use crate::context::Reading;
use crate::error::{Error, ErrorKind, Result};
use crate::retrieve::Passage;

/// What a source is called.
fn label(cite: &CiteOptions, passage: &Passage) -> Result<String> {
    let named = match &cite.source_column {
        Some(name) => column(passage, "cite.source_column", name)?,
        None => None,
    };
    Ok(named.unwrap_or_else(|| passage.source_key.clone()))
}

/// Where a link to a source leads.
fn link_to(cite: &CiteOptions, passage: &Passage) -> Result<Option<String>> {
    let address = match (&cite.link_column, &cite.link_template) {
        (Some(name), _) => column(passage, "cite.link_column", name)?,
        (None, Some(template)) => link::filled(template, |name| value(passage, name))
            .map_err(|error| error.hint(format!("Known names: {}.", names(passage))))?,
        (None, None) => None,
    };
    Ok(address.and_then(|address| link::safe(&address)))
}

/// What is shown of each of `readings`; nothing in a style that shows nothing of them.
pub fn sources(
    found: &Citations,
    readings: &[Reading],
    options: &CheckOptions,
) -> Result<Vec<Shown>> {
    let shown = |(number, Reading { passage, .. }): (i32, &Reading)| {
        let quotes = found.citations.iter().filter(|citation| citation.marker == number);
        Ok(match options.cite().style {
            CitationStyle::Inline => Shown::default(),
            CitationStyle::Link => {
                Shown { link: link_to(options.cite(), passage)?, ..Shown::default() }
            }
            CitationStyle::Numeric | CitationStyle::Footnote => Shown {
                label: label(options.cite(), passage)?,
                place: place(passage),
                quotes: quotes.map(|citation| citation.quote.clone()).collect(),
                link: None,
            },
        })
    };
    (1..).zip(readings).map(shown).collect()
}

/// The headings that a chunk stands under, or its characters.
fn place(passage: &Passage) -> String {
    match passage.heading.as_deref().map(str::trim) {
        Some(heading) if !heading.is_empty() => heading.to_owned(),
        _ => format!("characters {}-{}", passage.start_char, passage.end_char),
    }
}

/// A metadata column as text; an error if the pipeline has none of that name.
fn column(passage: &Passage, option: &str, name: &str) -> Result<Option<String>> {
    match passage.metadata.get(name) {
        Some(value) => Ok(text(value)),
        None => Err(Error::new(
            ErrorKind::UndefinedObject,
            format!("option \"{option}\" names \"{name}\", which is no metadata column of the pipeline"),
        )
        .hint(match known(passage).as_slice() {
            [] => "The pipeline has none; rag_create_pipeline(..., metadata => ARRAY['url']) declares one.".to_owned(),
            known => format!("Metadata columns: {}.", known.join(", ")),
        })),
    }
}

fn known(passage: &Passage) -> Vec<String> {
    passage.metadata.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// Names of a link template that every pipeline has.
const NAMES: [&str; 5] = ["source_key", "chunk_id", "chunk_no", "start_char", "end_char"];

fn value(passage: &Passage, name: &str) -> link::LinkValue {
    let number = match name {
        "source_key" => return link::LinkValue::Text(passage.source_key.clone()),
        "chunk_id" => passage.chunk_id,
        "chunk_no" => passage.chunk_no.into(),
        "start_char" => passage.start_char.into(),
        "end_char" => passage.end_char.into(),
        _ => {
            return match passage.metadata.get(name) {
                Some(value) => text(value).map_or(link::LinkValue::Missing, link::LinkValue::Text),
                None => link::LinkValue::Unknown,
            };
        }
    };
    link::LinkValue::Text(number.to_string())
}

fn names(passage: &Passage) -> String {
    let own = NAMES.iter().map(|name| (*name).to_owned());
    own.chain(known(passage)).collect::<Vec<_>>().join(", ")
}
