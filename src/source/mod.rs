//! # source: what may an answer cite?
//!
//! ```text
//! Source → text to read, originals to quote and to check against, an ID, a label
//! ```
//!
//! A [`Source`] is shown to a language model, cited by its number, and compared with what the answer
//! says. What is shown and what is cited need not be the same text: a summary may be written by a
//! language model, so it is read, and quoted and checked by the chunks it was made of. Each source
//! has such [`Original`]s, texts that no model wrote, and each of them knows its [`Place`] in the
//! database. Nothing downstream asks which kind a source is.
//!
//! A new kind is a variant here; the compiler then names the methods of this file that it needs.

mod place;

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use place::{ChunkSpan, Original, Place, RelationRow};

use crate::retrieve::Passage;

/// What stands between two originals where they are read as one text.
const SEPARATOR: &str = "\n\n";

/// Something that an answer can cite. Its JSON is what users are told about it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
// Nearly all are chunks, so a box around them would save nothing.
#[allow(clippy::large_enum_variant)]
pub enum Source {
    /// A chunk that retrieval has found.
    Chunk(Passage),
    /// A text that sums up chunks.
    Summary(Summary),
    /// What a SQL statement has returned.
    Rows(StatementRows),
}

/// A text that sums up chunks: a node of a tree, or a community of a graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Primary key of the summary.
    pub summary_id: i64,
    /// What it is about, in a few words.
    pub title: Option<String>,
    /// The text, as it is read.
    pub content: String,
    /// Cosine similarity to the question, where it was measured.
    pub similarity: Option<f64>,
    /// The chunks it was made of, or of many those that it quotes, the most relevant first; at least one. They are what is quoted, so
    /// there is no citation of a summary that does not lead to a row.
    pub leaves: Vec<Leaf>,
    /// How many rows it sums up.
    #[serde(skip)]
    pub documents: u32,
    /// Whether the question names the row that it sums up by its key.
    #[serde(skip)]
    pub is_named: bool,
}

/// A chunk that a summary was made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Leaf {
    /// Where it stands.
    #[serde(flatten)]
    pub span: ChunkSpan,
    /// Its text, an exact substring of the row's.
    #[serde(skip)]
    pub content: String,
    /// The sentences of it that stand for what is summed up.
    #[serde(skip)]
    pub quoted: Vec<LeafQuote>,
}

/// A sentence of a chunk that stands for what a summary sums up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafQuote {
    /// Its place among those of the summary.
    pub no: i64,
    /// Where it stands in the text of the chunk, in characters from 0.
    pub chars: Range<u32>,
}

/// A row, or a computed result, of a SQL statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StatementRows {
    /// The row.
    #[serde(flatten)]
    pub row: RelationRow,
    /// Its columns and their values, as they are read and quoted.
    pub content: String,
}

/// What tells a source from all others. It stays what it is from one question to the
/// next, and when the pipeline's chunks are made anew.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceId {
    /// Characters of a row's text, whichever chunk led to them.
    Chunk {
        /// Name of the pipeline.
        pipeline: String,
        /// The shard of the pipeline that the row is on; `None` where it is here.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shard: Option<Box<str>>,
        /// Key of the row.
        source_key: String,
        /// First character, from 0.
        start_char: i32,
        /// One past the last character.
        end_char: i32,
    },
    /// A summary, by its primary key.
    Summary(i64),
    /// A row of a relation, by its key.
    Row(RelationRow),
    /// A result that is no row of a relation, by its text.
    Result(String),
}

impl SourceId {
    /// The ID of a chunk.
    #[must_use]
    pub fn of_chunk(passage: &Passage) -> SourceId {
        SourceId::Chunk {
            pipeline: passage.pipeline.clone(),
            shard: passage.shard.clone(),
            source_key: passage.source_key.clone(),
            start_char: passage.start_char,
            end_char: passage.end_char,
        }
    }
}

impl StatementRows {
    /// A result with its columns in order, a line each; NULL is not listed.
    #[must_use]
    pub fn new(row: RelationRow, columns: &[(&str, Option<&str>)]) -> StatementRows {
        let line = |(name, value): &(&str, Option<&str>)| Some(format!("{name}: {}", (*value)?));
        let lines: Vec<String> = columns.iter().filter_map(line).collect();
        StatementRows { row, content: lines.join("\n") }
    }
}

impl Source {
    /// The ID, by which a source is recognised.
    #[must_use]
    pub fn id(&self) -> SourceId {
        match self {
            Source::Chunk(passage) => SourceId::of_chunk(passage),
            Source::Summary(summary) => SourceId::Summary(summary.summary_id),
            Source::Rows(rows) if rows.row.key.is_none() => SourceId::Result(rows.content.clone()),
            Source::Rows(rows) => SourceId::Row(rows.row.clone()),
        }
    }

    /// The text that a model or a reader gets to read.
    #[must_use]
    pub fn content(&self) -> &str {
        match self {
            Source::Chunk(passage) => &passage.content,
            Source::Summary(summary) => &summary.content,
            Source::Rows(rows) => &rows.content,
        }
    }

    /// What stands above the text: the title of its row and headings, the title of a summary, or the relation of rows.
    #[must_use]
    pub fn heading(&self) -> Option<&str> {
        match self {
            Source::Chunk(passage) => passage.context.as_deref().or(passage.heading.as_deref()),
            Source::Summary(summary) => summary.title.as_deref(),
            Source::Rows(rows) => Some(&rows.row.relation),
        }
    }

    /// What the text goes on with that stands before it in its document, such as the header of a table.
    #[must_use]
    pub fn lead(&self) -> Option<&str> {
        match self {
            Source::Chunk(passage) => passage.lead.as_deref(),
            Source::Summary(_) | Source::Rows(_) => None,
        }
    }

    /// The metadata columns that the pipeline declares; `None` for what is not of one row of it.
    #[must_use]
    pub fn metadata(&self) -> Option<&Value> {
        match self {
            Source::Chunk(passage) => Some(&passage.metadata),
            Source::Summary(_) | Source::Rows(_) => None,
        }
    }

    /// The cosine similarity to the question, where it was measured.
    #[must_use]
    pub fn similarity(&self) -> Option<f64> {
        match self {
            Source::Chunk(passage) => passage.similarity,
            Source::Summary(summary) => summary.similarity,
            Source::Rows(_) => None,
        }
    }

    /// The chunk, for what only chunks have.
    #[must_use]
    pub fn chunk(&self) -> Option<&Passage> {
        match self {
            Source::Chunk(passage) => Some(passage),
            Source::Summary(_) | Source::Rows(_) => None,
        }
    }

    /// A property beside the metadata, such as "source_key" or "score", as text; `None` where the
    /// source has none of that name.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<String> {
        match (self, name) {
            (Source::Chunk(passage), _) => property_of_chunk(passage, name),
            (Source::Summary(_), "similarity") => Some(format!("{:.3}", self.similarity()?)),
            (Source::Rows(rows), "source_key") => rows.row.key.clone(),
            (Source::Summary(_) | Source::Rows(_), _) => None,
        }
    }

    /// What readers call the source.
    #[must_use]
    pub fn label(&self) -> String {
        match self {
            Source::Chunk(passage) => passage.source_key.clone(),
            Source::Summary(summary) => match &summary.title {
                Some(title) => title.clone(),
                None => format!("summary {}", summary.summary_id),
            },
            Source::Rows(rows) => rows.row.to_string(),
        }
    }

    /// Where in what the label names the text stands: headings or characters of a row, the rows
    /// behind a summary.
    #[must_use]
    pub fn position(&self) -> String {
        match self {
            Source::Chunk(passage) => match passage.heading.as_deref().map(str::trim) {
                Some(heading) if !heading.is_empty() => heading.to_owned(),
                _ => format!("characters {}-{}", passage.start_char, passage.end_char),
            },
            Source::Summary(summary) => summary.rows(),
            Source::Rows(_) => String::new(),
        }
    }

    /// The texts that the source stands on. They are what is quoted and what answers are checked
    /// against.
    #[must_use]
    pub fn originals(&self) -> Vec<Original<'_>> {
        match self {
            Source::Chunk(passage) => {
                vec![Original { text: &passage.content, place: Place::Chunk(span_of(passage)) }]
            }
            Source::Summary(summary) => summary.leaves.iter().map(Leaf::original).collect(),
            Source::Rows(rows) => {
                vec![Original { text: &rows.content, place: Place::Row(rows.row.clone()) }]
            }
        }
    }

    /// The originals as one text, with which claims of an answer are compared.
    #[must_use]
    pub fn checked_text(&self) -> Cow<'_, str> {
        match self.originals().as_slice() {
            [one] => Cow::Borrowed(one.text),
            originals => {
                let texts: Vec<&str> = originals.iter().map(|original| original.text).collect();
                Cow::Owned(texts.join(SEPARATOR))
            }
        }
    }

    /// Where these characters of [`checked_text`](Source::checked_text) stand. Of characters of
    /// several originals it is those of the first.
    #[must_use]
    pub fn place(&self, chars: Range<usize>) -> Option<Place> {
        self.numbered_originals().into_iter().find_map(|(start, original)| {
            let length = original.text.chars().count();
            let begins = (start..start + length).contains(&chars.start);
            let own = chars.start.saturating_sub(start)..chars.end.min(start + length) - start;
            begins.then(|| original.place.characters(own))
        })
    }

    /// The characters of [`checked_text`](Source::checked_text) that stand at `place`.
    #[must_use]
    pub fn characters(&self, place: &Place) -> Option<Range<usize>> {
        self.numbered_originals().into_iter().find_map(|(start, original)| {
            let own = original.characters_at(place)?;
            Some(start + own.start..start + own.end)
        })
    }

    /// The originals, each with the number of characters before it in the checked text.
    fn numbered_originals(&self) -> Vec<(usize, Original<'_>)> {
        let mut start = 0;
        let mut numbered = Vec::new();
        for original in self.originals() {
            let length = original.text.chars().count();
            numbered.push((start, original));
            start += length + SEPARATOR.len();
        }
        numbered
    }
}

impl Summary {
    /// The keys of the rows behind it, each once.
    fn rows(&self) -> String {
        let mut keys: Vec<&str> = Vec::new();
        for leaf in &self.leaves {
            let key = leaf.span.source_key.as_str();
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        format!("from {}", keys.join(", "))
    }
}

impl Leaf {
    fn original(&self) -> Original<'_> {
        Original { text: &self.content, place: Place::Chunk(self.span.clone()) }
    }
}

/// Where a chunk stands.
#[must_use]
pub fn span_of(passage: &Passage) -> ChunkSpan {
    ChunkSpan {
        pipeline: passage.pipeline.clone(),
        shard: passage.shard.clone(),
        chunk_id: passage.chunk_id,
        source_key: passage.source_key.clone(),
        chunk_no: passage.chunk_no,
        start_char: passage.start_char,
        end_char: passage.end_char,
    }
}

fn property_of_chunk(passage: &Passage, name: &str) -> Option<String> {
    match name {
        "pipeline" => Some(passage.pipeline.clone()),
        "shard" => passage.shard.as_deref().map(str::to_owned),
        "source_key" => Some(passage.source_key.clone()),
        "chunk_id" => Some(passage.chunk_id.to_string()),
        "chunk_no" => Some(passage.chunk_no.to_string()),
        "start_char" => Some(passage.start_char.to_string()),
        "end_char" => Some(passage.end_char.to_string()),
        "rank" => Some(passage.rank.to_string()),
        "score" => Some(format!("{:.3}", passage.rerank_score.unwrap_or(passage.score))),
        "similarity" => passage.similarity.map(|value| format!("{value:.3}")),
        _ => None,
    }
}

#[cfg(test)]
pub mod tests;
