//! Where does a text stand that can be quoted?

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A text that can be quoted, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Original<'a> {
    /// The text.
    pub text: &'a str,
    /// Where all of it stands.
    pub place: Place,
}

/// Something in the database that a citation leads to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Place {
    /// Characters of a row's text.
    Chunk(ChunkSpan),
    /// A row, or a result of a relation.
    Row(RelationRow),
}

/// Characters of a row's text, and the chunk that has led to them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkSpan {
    /// Name of the pipeline whose chunk it is.
    pub pipeline: String,
    /// The shard of the pipeline that the row is on, as users call it; `None` where the row is here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Box<str>>,
    /// Primary key of the chunk.
    pub chunk_id: i64,
    /// Key of the row that the chunk was cut from, as text.
    pub source_key: String,
    /// Position of the chunk in that row's text, from 0.
    pub chunk_no: i32,
    /// First character in the row's text, counted in code points from 0.
    pub start_char: i32,
    /// One past the last character.
    pub end_char: i32,
}

/// A row of a relation. Its display is what a reader calls it: "orders 17".
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RelationRow {
    /// The relation, by a name that its reader understands.
    pub relation: String,
    /// Key of the row as text; `None` where a statement has computed something of many rows.
    pub key: Option<String>,
}

impl Original<'_> {
    /// Where the bytes `range` of the text stand.
    #[must_use]
    pub fn place_of(&self, range: Range<usize>) -> Place {
        let start = self.text[..range.start].chars().count();
        self.place.characters(start..start + self.text[range].chars().count())
    }

    /// The characters of the text that stand at `place`; `None` where they stand elsewhere. A row is
    /// quoted as a whole.
    #[must_use]
    pub fn characters_at(&self, place: &Place) -> Option<Range<usize>> {
        match (&self.place, place) {
            (Place::Chunk(own), Place::Chunk(other)) => own.offset_of(other),
            (Place::Row(own), Place::Row(other)) => {
                (own == other).then(|| 0..self.text.chars().count())
            }
            (Place::Chunk(_) | Place::Row(_), _) => None,
        }
    }
}

impl Place {
    /// Where these characters of what stands here are, counted from its beginning.
    #[must_use]
    pub fn characters(&self, range: Range<usize>) -> Place {
        match self {
            Place::Chunk(span) => {
                let at = |offset: usize| {
                    span.start_char.saturating_add(i32::try_from(offset).unwrap_or(i32::MAX))
                };
                let (start_char, end_char) = (at(range.start), at(range.end));
                Place::Chunk(ChunkSpan { start_char, end_char, ..span.clone() })
            }
            Place::Row(row) => Place::Row(row.clone()),
        }
    }

    /// The row and the characters of it, without the chunk, as a JSON object.
    #[must_use]
    pub fn in_row(&self) -> Value {
        match self {
            Place::Chunk(span) => {
                let mut place = json!({
                    "pipeline": span.pipeline,
                    "source_key": span.source_key,
                    "start_char": span.start_char,
                    "end_char": span.end_char,
                });
                if let Some(shard) = &span.shard {
                    place["shard"] = json!(shard);
                }
                place
            }
            Place::Row(row) => json!(row),
        }
    }
}

impl ChunkSpan {
    /// The row that the chunk is of: its pipeline, shard and key.
    #[must_use]
    pub fn row(&self) -> (&str, Option<&str>, &str) {
        (&self.pipeline, self.shard.as_deref(), &self.source_key)
    }

    /// The characters of this span that `inner` covers, if it lies within.
    fn offset_of(&self, inner: &ChunkSpan) -> Option<Range<usize>> {
        let is_same = self.chunk_id == inner.chunk_id && self.pipeline == inner.pipeline;
        let is_within = is_same && inner.end_char <= self.end_char;
        let offset = |at: i32| usize::try_from(at.checked_sub(self.start_char)?).ok();
        let range = offset(inner.start_char)?..offset(inner.end_char)?;
        (is_within && range.start <= range.end).then_some(range)
    }
}

impl fmt::Display for RelationRow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.relation)?;
        match &self.key {
            Some(key) => write!(formatter, " {key}"),
            None => Ok(()),
        }
    }
}
