//! What is read of the chunks that were found?
//!
//! ```text
//! chunks, best first → fewer → shorter → as many as fit → in order
//! ```

use super::budget::fitted;
use super::compress::{Compressed, CompressionTask, compressed};
use super::deduplication::{without_repeated_sentences, without_repeats};
use super::excerpt::Excerpt;
use super::headers::header;
use super::order::ordered;
use super::{ContextOptions, Means, Reading};
use crate::error::Result;
use crate::prompt::messages;
use crate::prompt::tokens::Counter;
use crate::retrieve::Passage;

/// What is asked, and how much can be read for it.
pub struct AssemblyJob<'a> {
    /// The question to be answered.
    pub question: &'a str,
    /// How chunks become what is read.
    pub options: &'a ContextOptions,
    /// Most tokens that they take; `None`: any number.
    pub budget: Option<usize>,
    /// Most tokens of them that a language model reads at once that sums up.
    pub call: Option<usize>,
    /// Something that grows with a chunk's time, where the order asks for it.
    pub time: &'a dyn Fn(&Passage) -> Option<i64>,
}

/// What is read of `passages`, which stand best first, in the order of their numbers.
pub fn assembled(
    passages: Vec<Passage>,
    job: &AssemblyJob<'_>,
    means: &mut Means<'_>,
) -> Result<Vec<Reading>> {
    let AssemblyJob { question, options, budget, call, time } = *job;
    let names = options.headers.as_deref();
    let whole = passages.into_iter().map(|passage| {
        let header = header(&passage, names);
        Excerpt::whole(passage, header)
    });
    let mut pieces = without_repeats(whole.collect(), options.dedupe_chunks);
    if options.dedupe_sentences {
        pieces = without_repeated_sentences(pieces);
    }
    let task = CompressionTask {
        question,
        compression: options.compression,
        ratio: options.compression_ratio,
        budget,
        call,
        max_summaries: options.max_summaries as usize,
    };
    let Compressed { mut pieces, mut overview } = compressed(pieces, &task, means)?;
    if let Some(budget) = budget {
        let left = after_overview(&mut overview, budget, means.counter)?;
        pieces = fitted(pieces, left, means.counter)?;
    }
    let pieces = ordered(pieces, options.order, |piece| time(&piece.passage));
    let mut readings: Vec<Reading> = pieces.into_iter().map(Excerpt::reading).collect();
    if let Some(first) = readings.first_mut() {
        first.overview = overview;
    }
    Ok(readings)
}

/// What is left of `budget` for the chunks. An overview that takes more than half is dropped.
fn after_overview(
    overview: &mut Option<String>,
    budget: usize,
    counter: &mut dyn Counter,
) -> Result<usize> {
    let Some(text) = overview.take() else { return Ok(budget) };
    let taken: usize = counter.count(&[messages::overview_as_sent(&text)])?.iter().sum();
    if taken > budget / 2 {
        return Ok(budget);
    }
    *overview = Some(text);
    Ok(budget - taken)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::compress::Compression;
    use super::super::compress::tests::{Scripted, passages};
    use super::super::deduplication::Dedupe;
    use super::super::order::ContextOrder;
    use super::*;
    use crate::prompt::tokens::tests::words;

    fn read(
        texts: &[&str],
        options: &ContextOptions,
        budget: Option<usize>,
        script: &mut Scripted,
    ) -> Vec<Reading> {
        let time = |passage: &Passage| passage.metadata["day"].as_i64();
        let job = AssemblyJob {
            question: "Where do visitors park?",
            options,
            budget,
            call: budget,
            time: &time,
        };
        script.with(|means| assembled(passages(texts), &job, means)).unwrap()
    }

    fn shown(readings: &[Reading]) -> Vec<&str> {
        readings.iter().map(|reading| reading.shown.as_str()).collect()
    }

    #[test]
    fn chunks_are_read_as_they_are_found() {
        let texts = ["Visitors park behind the mill.", "The gate closes at ten."];
        let script = &mut Scripted::default();
        let readings = read(&texts, &ContextOptions::default(), None, script);
        let whole: Vec<Reading> = passages(&texts).into_iter().map(Reading::whole).collect();
        assert_eq!(readings, whole);
        // Nothing was asked for.
        assert_eq!((script.counted, script.embedded, script.asked.len()), (0, 0, 0));
    }

    #[test]
    fn each_step_sees_what_the_one_before_has_left() {
        let texts =
            ["The gate closes.", "the  gate closes.", "Visitors park behind the mill.", "Last."];
        let options = ContextOptions { order: ContextOrder::UCurve, ..ContextOptions::default() };
        let script = &mut Scripted::default();
        let all = ["The gate closes.", "Last.", "Visitors park behind the mill."];
        assert_eq!(shown(&read(&texts, &options, None, script)), all);
        let keep = ContextOptions { dedupe_chunks: Dedupe::None, ..options.clone() };
        assert_eq!(read(&texts, &keep, None, script).len(), 4);
        assert_eq!(shown(&read(&texts, &options, Some(30), script)), [all[0], all[2]]);
    }

    #[test]
    fn order_is_by_time() {
        let options = ContextOptions {
            order: ContextOrder::Chronological,
            order_by: Some("day".to_owned()),
            headers: Some(vec!["day".to_owned()]),
            ..ContextOptions::default()
        };
        let mut found = passages(&["None.", "Third.", "First."]);
        for (passage, day) in found.iter_mut().zip([json!(null), json!(3), json!(1)]) {
            passage.metadata["day"] = day;
        }
        let time = |passage: &Passage| passage.metadata["day"].as_i64();
        let job =
            AssemblyJob { question: "q", options: &options, budget: None, call: None, time: &time };
        let script = &mut Scripted::default();
        let readings = script.with(|means| assembled(found, &job, means)).unwrap();
        assert_eq!(shown(&readings), ["First.", "Third.", "None."]);
        let header = |at: usize| readings[at].source().metadata;
        assert_eq!(header(0), [("day".to_owned(), "1".to_owned())]);
        assert_eq!(header(2), []);
    }

    proptest! {
        /// Whatever is chosen: it is from the chunk, it is not empty, it fits, and each chunk
        /// is read once.
        #[test]
        fn what_is_read_was_found(
            texts in prop::collection::vec("((the|gate|closes|at|ten|visitors|park)[ .\n]{1,2}){1,20}", 1..6),
            budget in prop::option::of(20_usize..100),
            compression in 0_usize..3,
            order in 0_usize..2,
            sentences: bool,
        ) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let options = ContextOptions {
                compression: [Compression::None, Compression::Truncate, Compression::Extractive][compression],
                order: [ContextOrder::Relevance, ContextOrder::UCurve][order],
                dedupe_chunks: Dedupe::Near,
                dedupe_sentences: sentences,
                ..ContextOptions::default()
            };
            let readings = read(&texts, &options, budget, &mut Scripted::default());
            let mut ids: Vec<i64> = readings.iter().map(|it| it.passage.chunk_id).collect();
            ids.sort_unstable();
            ids.dedup();
            prop_assert_eq!(ids.len(), readings.len());
            prop_assert!(!readings.is_empty());
            for Reading { passage, shown, .. } in &readings {
                prop_assert!(!shown.trim().is_empty());
                let parts = shown.split(super::super::excerpt::GAP).map(str::trim);
                prop_assert!(parts.clone().all(|part| passage.content.contains(part)));
            }
            let number = |at: usize| messages::as_sent(at + 1, &readings[at].source());
            let size: usize = (0..readings.len()).map(|at| words(&number(at))).sum();
            prop_assert!(budget.is_none_or(|budget| size <= budget));
        }
    }
}
