//! # shown: what is a reader told of each source?
//!
//! ```text
//! (sources, what is cited of them, options) → labels, positions, quotes and links
//! ```

use serde_json::Value;

use super::citation::Citations;
use super::link::{self, LinkValue};
use super::options::CiteOptions;
use super::style::{CitationStyle, Shown};
use crate::error::{Error, ErrorKind, Result};
use crate::source::Source;

/// Names of a link template that every pipeline has.
const NAMES: [&str; 6] =
    ["pipeline", "source_key", "chunk_id", "chunk_no", "start_char", "end_char"];

/// What is shown of each of `sources`, in their order; nothing in a style that shows nothing of
/// them.
///
/// Fails where the options name a metadata column that the pipeline does not have.
pub fn shown(found: &Citations, sources: &[&Source], cite: &CiteOptions) -> Result<Vec<Shown>> {
    let are_of_several = of_several(sources);
    let of_source = |(number, source): (i32, &&Source)| {
        Ok(match cite.style {
            CitationStyle::Inline => Shown::default(),
            CitationStyle::Link => Shown { link: link_to(cite, source)?, ..Shown::default() },
            CitationStyle::Numeric | CitationStyle::Footnote => Shown {
                label: label(cite, source, are_of_several)?,
                place: source.position(),
                quotes: quotes(found, number),
                link: None,
            },
        })
    };
    (1..).zip(sources).map(of_source).collect()
}

fn quotes(found: &Citations, number: i32) -> Vec<String> {
    let own = found.citations.iter().filter(|citation| citation.marker == number);
    own.map(|citation| citation.quote.clone()).collect()
}

/// Whether the chunks among `sources` are of more than one pipeline, so that a key alone names no row.
fn of_several(sources: &[&Source]) -> bool {
    let mut pipelines = sources.iter().filter_map(|it| Some(&it.chunk()?.pipeline));
    let first = pipelines.next();
    pipelines.any(|other| Some(other) != first)
}

fn label(cite: &CiteOptions, source: &Source, are_of_several: bool) -> Result<String> {
    let named = match &cite.source_column {
        Some(name) => column(source, "cite.source_column", name)?,
        None => None,
    };
    let own = || match source.chunk().filter(|_| are_of_several) {
        Some(chunk) => format!("{} {}", chunk.pipeline, source.label()),
        None => source.label(),
    };
    Ok(named.unwrap_or_else(own))
}

fn link_to(cite: &CiteOptions, source: &Source) -> Result<Option<String>> {
    let address = match (&cite.link_column, &cite.link_template) {
        (Some(name), _) => column(source, "cite.link_column", name)?,
        (None, Some(template)) => link::filled(template, |name| link_value(source, name))
            .map_err(|error| error.hint(known_names(&columns(source))))?,
        (None, None) => None,
    };
    Ok(address.and_then(|address| link::safe(&address)))
}

/// A metadata column as text; an error if the pipeline has none of that name. A source that is not
/// one row of the pipeline has no columns, and that is no error of the caller.
fn column(source: &Source, option: &str, name: &str) -> Result<Option<String>> {
    let Some(metadata) = source.metadata() else { return Ok(None) };
    match metadata.get(name) {
        Some(value) => Ok(text(value)),
        None => Err(Error::new(
            ErrorKind::UndefinedObject,
            format!("option \"{option}\" names \"{name}\", which is no metadata column of the pipeline"),
        )
        .hint(match columns(source).as_slice() {
            [] => "The pipeline has none; rag_create_pipeline(..., metadata => ARRAY['url']) declares one.".to_owned(),
            known => format!("Metadata columns: {}.", known.join(", ")),
        })),
    }
}

/// What a name of a link template stands for. Names of metadata are unknown only where there is
/// metadata.
fn link_value(source: &Source, name: &str) -> LinkValue {
    // Columns may have been called so before pipelines were named.
    let is_column =
        name == "pipeline" && source.metadata().is_some_and(|it| it.get(name).is_some());
    if NAMES.contains(&name) && !is_column {
        return source.property(name).map_or(LinkValue::Missing, LinkValue::Text);
    }
    match source.metadata().map(|metadata| metadata.get(name)) {
        Some(None) => LinkValue::Unknown,
        Some(Some(value)) => text(value).map_or(LinkValue::Missing, LinkValue::Text),
        None => LinkValue::Missing,
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn columns(source: &Source) -> Vec<String> {
    let metadata = source.metadata().and_then(Value::as_object).into_iter().flatten();
    metadata.map(|(name, _)| name.clone()).collect()
}

fn known_names(columns: &[String]) -> String {
    let known: Vec<&str> = NAMES.into_iter().chain(columns.iter().map(String::as_str)).collect();
    format!("Known names: {}.", known.join(", "))
}

/// An error where a link template names what no source of a pipeline with these `columns` of metadata has.
pub fn check_link_template(template: &str, columns: &[String]) -> Result<()> {
    let value = |name: &str| match NAMES.contains(&name) || columns.iter().any(|it| it == name) {
        true => LinkValue::Text(String::new()),
        false => LinkValue::Unknown,
    };
    link::filled(template, value).map(drop).map_err(|error| error.hint(known_names(columns)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::citation::citations;
    use super::super::style::styled;
    use super::*;
    use crate::retrieve::Passage;
    use crate::source::tests::{one_of_each, order, passage};

    const ANSWER: &str =
        "It costs 49.90 in total [3]. The tower opens at ten [2]. Park behind it [1].";

    fn told(cite: &CiteOptions, sources: &[Source], answer: &str) -> Result<String> {
        let sources: Vec<&Source> = sources.iter().collect();
        let found = citations(answer, &sources, &mut || {});
        Ok(styled(answer, cite.style, &shown(&found, &sources, cite)?).text)
    }

    fn check(cite: &CiteOptions, expected: &str) {
        assert_eq!(told(cite, &one_of_each(), ANSWER).unwrap(), expected);
    }

    #[test]
    fn a_link_template_names_what_sources_have() {
        let check = |template: &str| check_link_template(template, &["url".to_owned()]);
        check("https://h/{pipeline}/{source_key}?{url}#{chunk_no}").unwrap();
        let error = check("https://h/{source_key}/{nope}").unwrap_err();
        assert_eq!(error.message(), "link_template has the unknown name \"nope\"");
        let known =
            "Known names: pipeline, source_key, chunk_id, chunk_no, start_char, end_char, url.";
        assert_eq!(error.hint_text(), Some(known));
        assert!(check("https://h/{url").unwrap_err().message().contains("not closed"));
    }

    #[test]
    fn each_kind_is_cited_by_its_label() {
        let cite = |style| CiteOptions { style, ..CiteOptions::default() };
        check(
            &cite(CitationStyle::Numeric),
            "It costs 49.90 in total [1]. The tower opens at ten [2]. Park behind it [3].\n\n\
             [1] orders 17\n[2] Opening hours, from row 70, row 71\n[3] 7, characters 0-24",
        );
        check(
            &cite(CitationStyle::Footnote),
            "It costs 49.90 in total [^1]. The tower opens at ten [^2]. Park behind it [^3].\n\n\
             [^1]: \"status: shipped total: 49.90\" (orders 17)\n\
             [^2]: \"The tower opens at ten.\" (Opening hours, from row 70, row 71)\n\
             [^3]: \"Visitors park behind it.\" (7, characters 0-24)",
        );
    }

    #[test]
    fn where_chunks_are_of_several_pipelines_they_are_named() {
        let other = Passage { pipeline: "tickets".to_owned(), ..passage("It costs 5.") };
        let sources = [Source::Chunk(passage("Park behind it.")), Source::Chunk(other), order()];
        let numeric = CiteOptions { style: CitationStyle::Numeric, ..CiteOptions::default() };
        let told = told(&numeric, &sources, "Park behind it [1]. It costs 5 [2][3].").unwrap();
        let listed = "[1] docs 7, characters 0-15\n[2] tickets 7, characters 0-11\n[3] orders 17";
        assert!(told.ends_with(listed), "{told}");
        let link_template = Some("https://h/{pipeline}/{source_key}".to_owned());
        let cite =
            CiteOptions { style: CitationStyle::Link, link_template, ..CiteOptions::default() };
        let linked = super::link_to(&cite, &sources[1]).unwrap();
        assert_eq!(linked.as_deref(), Some("https://h/tickets/7"));
    }

    #[test]
    fn what_has_no_such_value_has_no_link() {
        let link_template = Some("https://h/{source_key}".to_owned());
        let cite =
            CiteOptions { style: CitationStyle::Link, link_template, ..CiteOptions::default() };
        check(
            &cite,
            "It costs 49.90 in total [[1]](https://h/17). The tower opens at ten [2]. \
             Park behind it [[3]](https://h/7).",
        );
    }

    #[test]
    fn columns_are_those_of_chunks() {
        let named = Passage { metadata: json!({"name": "Mill", "year": null}), ..passage("Text.") };
        let [_, summary, row] = one_of_each();
        let sources = [Source::Chunk(named), summary, row];
        let cite = |name: &str| CiteOptions {
            style: CitationStyle::Numeric,
            source_column: Some(name.to_owned()),
            ..CiteOptions::default()
        };
        let told = |name| told(&cite(name), &sources, "[1] [3]");
        assert!(told("name").unwrap().ends_with("[1] Mill, characters 0-5\n[2] orders 17"));
        assert!(told("year").unwrap().contains("[1] 7, characters 0-5"));
        let error = told("colour").unwrap_err();
        assert_eq!(
            error.message(),
            "option \"cite.source_column\" names \"colour\", which is no metadata column of the pipeline"
        );
        assert_eq!(error.hint_text(), Some("Metadata columns: name, year."));
    }
}
