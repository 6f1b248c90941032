//! Calls whose replies are kept, so that what stays as it is is not paid for twice.
//!
//! A reply is kept by all that was asked, but for what changes nothing about it: in which order a call has shown its
//! sources, and by which numbers. So a community whose chunks stay as they are is not asked about again, whatever becomes
//! of other communities.

use std::collections::BTreeSet;

use super::cited::renumbered;
use crate::prompt::messages::Message;
use crate::source::Source;

/// A call whose reply is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptCall {
    /// What is asked, with sources in an order of their own and numbered from 1.
    pub prompt: Vec<Message>,
    /// Name of the pipeline that all of the sources are of.
    pub pipeline: String,
    /// Primary keys of the chunks that the reply may speak of, ascending.
    pub chunks: Vec<i64>,
    /// Primary key of the chunk behind each number that the prompt may hold, from 1.
    pub numbered: Vec<i64>,
    /// The numbers that these sources have among all that are read.
    numbers: Vec<usize>,
}

impl KeptCall {
    /// A call that shows or goes back to `sources`, which the prompt numbers from 1 and the answer by `numbers`. `None` where
    /// it would not be noticed that one of them is gone: they are not all chunks of one pipeline in this database.
    pub fn new<'a>(
        prompt: Vec<Message>,
        numbers: Vec<usize>,
        sources: impl Iterator<Item = &'a Source>,
    ) -> Option<KeptCall> {
        let (mut pipeline, mut chunks) = (None::<&str>, BTreeSet::new());
        let mut numbered = Vec::with_capacity(numbers.len());
        for source in sources {
            let passage = source.chunk().filter(|it| it.shard.is_none())?;
            if *pipeline.get_or_insert(&passage.pipeline) != passage.pipeline {
                return None;
            }
            numbered.push(passage.chunk_id);
            chunks.extend(passage.parts.iter().copied().chain([passage.chunk_id]));
        }
        let (pipeline, chunks) = (pipeline?.to_owned(), chunks.into_iter().collect());
        Some(KeptCall { prompt, pipeline, chunks, numbered, numbers })
    }

    /// A reply that cites by the numbers of the answer, as it is kept.
    #[must_use]
    pub fn as_kept(&self, reply: &str) -> String {
        renumbered(reply, |number| {
            Some(self.numbers.iter().position(|known| *known == number)? + 1)
        })
    }

    /// A reply that was kept, with the numbers of this answer.
    #[must_use]
    pub fn as_told(&self, kept: &str) -> String {
        renumbered(kept, |number| self.numbers.get(number.checked_sub(1)?).copied())
    }
}
