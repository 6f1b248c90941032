//! # retrieve: which chunks speak of this question?
//!
//! ```text
//! (question, mode, k, filter) → passages, best first
//! ```
//!
//! Two statements (`dense` and `lexical` of `sql/query/retrieve.sql`) put candidates forward. What
//! becomes of them is said here: [`fusion`] makes one list of two, and [`proximity`] tells it how
//! the question's words stand in a text; [`merge`] makes one list of what several lookups found,
//! [`walked`] adds what a walk over the graph came to, [`rank`] has age count and leaves out what says nothing new
//! ([`diversity`]), and [`expansion`] puts the text around each chunk back. [`lead`] finds what
//! one goes on with that begins in the middle of a table. [`federation`] makes one list of what several pipelines found,
//! and [`shard_search`] of what the shards of one did.

pub mod diversity;
pub mod expansion;
pub mod federation;
pub mod filter;
pub mod fusion;
pub mod lead;
pub mod merge;
pub mod options;
pub mod proximity;
pub mod rank;
pub mod shard_search;
pub mod shingles;
pub mod value;
pub mod walked;

use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use options::RetrieveOptions;

use crate::error::{Error, Result};

/// Which side of the search is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchMode {
    /// The nearest vectors.
    Dense,
    /// The texts with matching words.
    Lexical,
    /// Both, as [`fusion`] says.
    Hybrid,
}

impl FromStr for SearchMode {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "dense" => Ok(SearchMode::Dense),
            "lexical" => Ok(SearchMode::Lexical),
            "hybrid" => Ok(SearchMode::Hybrid),
            _ => Err(Error::invalid(format!("unknown retrieval mode \"{name}\""))
                .hint("Known modes: dense, lexical, hybrid.")),
        }
    }
}

/// A chunk that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Passage {
    /// Place in the result, from 1, best first.
    pub rank: i32,
    /// What the order is by; its scale depends on the mode.
    pub score: f64,
    /// Name of the pipeline that has found it.
    pub pipeline: String,
    /// The shard of the pipeline that its row is on, as users call it; `None` where the row is here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<Box<str>>,
    /// Key of the source row as text; of a composite key, a JSON object.
    pub source_key: String,
    /// Primary key of the chunk.
    pub chunk_id: i64,
    /// Position in its document, from 0.
    pub chunk_no: i32,
    /// The text of the chunk.
    pub content: String,
    /// First character in the document, from 0.
    pub start_char: i32,
    /// One past the last character.
    pub end_char: i32,
    /// What it goes on with that stands before it: the header of a table, the sentence that announces a list.
    #[serde(skip)]
    pub lead: Option<Box<str>>,
    /// Primary keys of the other chunks of its row of which its text, or what it goes on with, is made.
    #[serde(skip)]
    pub parts: Box<[i64]>,
    /// Headings it stands under.
    pub heading: Option<Box<str>>,
    /// Its title and headings where the pipeline is contextual, and what else is said of its place in the document.
    #[serde(skip)]
    pub context: Option<Box<str>>,
    /// The declared metadata columns.
    pub metadata: serde_json::Value,
    /// Those as PostgreSQL writes them: its numbers keep their scale, as 49.90 does.
    #[serde(skip)]
    pub written_metadata: Box<str>,
    /// Cosine similarity to the question, where the question was embedded.
    pub similarity: Option<f64>,
    /// How well its words match by the pipeline's index, greater is better; `None` where that is not known.
    #[serde(skip)]
    pub lexical: Option<f64>,
    /// Place among the nearest vectors, from 1.
    pub dense_rank: Option<i32>,
    /// Place among the matching texts, from 1.
    pub lexical_rank: Option<i32>,
    /// What the reranker gave, where one has read the chunk.
    pub rerank_score: Option<f64>,
    /// The entities over which a walk came to it from other chunks or the question, as they are written there, the
    /// most important first; `None` where none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<Box<[String]>>,
}

impl Passage {
    /// What tells its row from the others of its pipeline: the shard that it is on, and its key there.
    #[must_use]
    pub fn row(&self) -> (Option<&str>, &str) {
        (self.shard.as_deref(), &self.source_key)
    }

    /// Whether its text has all of the text of `other` in it, since it spans that in the same document.
    #[must_use]
    pub fn covers(&self, other: &Passage) -> bool {
        let is_same = self.pipeline == other.pipeline && self.row() == other.row();
        let spans = self.start_char <= other.start_char && other.end_char <= self.end_char;
        is_same && (spans || self.chunk_id == other.chunk_id)
    }
}

/// A passage on its way through the ranking, with what is not returned.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The passage that is returned.
    pub passage: Passage,
    /// Its vector; empty where it is not needed.
    pub vector: Vec<f32>,
    /// Days since the time of the recency column; `None` where it is NULL or not asked for.
    pub age: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::{Hit, Passage};

    /// A hit with a chunk of its own.
    pub fn hit(chunk_id: i64, score: f64) -> Hit {
        let passage = Passage {
            rank: 0,
            score,
            pipeline: "docs".to_owned(),
            shard: None,
            source_key: "1".to_owned(),
            chunk_id,
            chunk_no: 0,
            content: String::new(),
            start_char: 0,
            end_char: 0,
            lead: None,
            parts: Box::default(),
            heading: None,
            context: None,
            metadata: serde_json::json!({}),
            written_metadata: "{}".into(),
            similarity: None,
            lexical: None,
            dense_rank: None,
            lexical_rank: None,
            rerank_score: None,
            via: None,
        };
        Hit { passage, vector: Vec::new(), age: None }
    }

    #[test]
    fn a_passage_covers_what_lies_within_it() {
        let at = |chunk_id, start_char, end_char| {
            let Hit { passage, .. } = hit(chunk_id, 1.0);
            Passage { start_char, end_char, ..passage }
        };
        let long = at(1, 10, 90);
        assert!(long.covers(&at(2, 10, 30)) && long.covers(&at(3, 80, 90)));
        assert!(!long.covers(&at(2, 9, 30)) && !long.covers(&at(3, 80, 91)));
        // The chunk that it is, whatever was joined with it elsewhere.
        assert!(long.covers(&at(1, 0, 100)));
        let elsewhere = Passage { source_key: "2".to_owned(), ..at(1, 10, 30) };
        assert!(!long.covers(&elsewhere));
        assert!(!long.covers(&Passage { pipeline: "other".to_owned(), ..at(1, 10, 30) }));
        assert!(!long.covers(&Passage { shard: Some("srv1.docs".into()), ..at(2, 10, 30) }));
    }
}
