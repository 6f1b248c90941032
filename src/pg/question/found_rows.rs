//! Which rows of their tables the chunks of an answer are of.

use super::federation::FederatedSearch;
use crate::error::Result;
use crate::exact;
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::catalog::view;
use crate::pg::text_to_sql::FoundRows;
use crate::retrieve::Passage;
use crate::source::Source;
use crate::text_to_sql::found::FoundRow;

impl FederatedSearch {
    /// The rows of each table of which there are chunks among `sources`, in their order; not those on shards, whose tables
    /// are elsewhere.
    pub fn found_rows(&self, sources: &[Source]) -> Result<Vec<FoundRows>> {
        let passages: Vec<&Passage> = sources.iter().filter_map(Source::chunk).collect();
        let here = self.each_pipeline().filter(|it| !it.has_shards && !passages.is_empty());
        here.map(|pipeline| {
            let own = passages.iter().filter(|it| it.pipeline == pipeline.name);
            rows_of(pipeline, own.copied())
        })
        .collect()
    }
}

fn rows_of<'a>(
    pipeline: &Pipeline,
    passages: impl Iterator<Item = &'a Passage>,
) -> Result<FoundRows> {
    let shown = view::key_names(pipeline)?;
    let row = |passage: &Passage| {
        let key = key_values(&passage.source_key, &shown)?;
        Some(FoundRow { key, content: passage.content.clone() })
    };
    let rows = passages.filter_map(row).collect();
    Ok(FoundRows { source: pipeline.source.oid, key: view::source_key_names(pipeline), rows })
}

/// The values of a key that is told as one text, which of several columns is JSON by their names.
fn key_values(key: &str, names: &[String]) -> Option<Vec<String>> {
    if names.len() == 1 {
        return Some(vec![key.to_owned()]);
    }
    let members = exact::read(key).ok()?;
    let value = |name: &String| {
        let value = members.get(name)?;
        Some(exact::text(value).map_or_else(|| exact::written(value), str::to_owned))
    };
    names.iter().map(value).collect()
}
