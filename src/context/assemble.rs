//! What is read of the sources that were found?
//!
//! ```text
//! sources, best first → fewer → shorter → as many as fit → in order
//! ```

use super::budget::{fitted, sizes};
use super::compress::{Compressed, CompressionTask, compressed};
use super::deduplication::{without_repeated_sentences, without_repeats};
use super::excerpt::Excerpt;
use super::headers::header;
use super::order::ordered;
use super::{ContextOptions, Means, Reading};
use crate::error::Result;
use crate::prompt::messages;
use crate::prompt::tokens::Counter;
use crate::source::Source;

/// What is asked, and how much can be read for it.
pub struct AssemblyJob<'a> {
    /// The question to be answered.
    pub question: &'a str,
    /// How sources become what is read.
    pub options: &'a ContextOptions,
    /// Most tokens that they take; `None`: any number.
    pub budget: Option<usize>,
    /// Most tokens of them that a language model reads at once that sums up.
    pub call: Option<usize>,
    /// Something that grows with a source's time, where the order asks for it.
    pub time: &'a dyn Fn(&Source) -> Option<i64>,
}

/// What is read of `sources`, which stand best first, in the order of their numbers.
pub fn assembled(
    sources: Vec<Source>,
    job: &AssemblyJob<'_>,
    means: &mut Means<'_>,
) -> Result<Vec<Reading>> {
    let AssemblyJob { question, options, budget, call, time } = *job;
    let names = options.headers.as_deref();
    let whole = sources.into_iter().map(|source| {
        let header = header(&source, names);
        Excerpt::whole(source, header)
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
    let mut repeats = options.repeat_best;
    if let Some(budget) = budget {
        let mut left = after_overview(&mut overview, budget, means.counter)?;
        if repeats {
            let again = again(&pieces, left, means.counter)?;
            repeats = again.is_some();
            left -= again.unwrap_or_default();
        }
        pieces = fitted(pieces, left, means.counter)?;
    }
    let ranked = pieces.into_iter().enumerate().collect();
    let pieces =
        ordered(ranked, options.order, |(_, piece): &(usize, Excerpt)| time(&piece.source));
    let reading = |(rank, piece): (usize, Excerpt)| Reading {
        repeats: repeats && rank == 0,
        ..piece.reading()
    };
    let mut readings: Vec<Reading> = pieces.into_iter().map(reading).collect();
    // At the end it stands already.
    if let Some(last) = readings.last_mut() {
        last.repeats = false;
    }
    if let Some(first) = readings.first_mut() {
        first.overview = overview;
    }
    Ok(readings)
}

/// What is left of `budget` for the sources. An overview that takes more than half is dropped.
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

/// The tokens of the best of `pieces`, which is to be read twice; `None` where both together would take more than
/// half of the `budget`.
fn again(pieces: &[Excerpt], budget: usize, counter: &mut dyn Counter) -> Result<Option<usize>> {
    let best = &pieces[..pieces.len().min(1)];
    let taken: usize = sizes(best, pieces.len(), counter)?.iter().sum();
    Ok((taken <= budget / 4).then_some(taken))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::compress::Compression;
    use super::super::compress::tests::{Scripted, chunks};
    use super::super::deduplication::Dedupe;
    use super::super::order::ContextOrder;
    use super::*;
    use crate::prompt::tokens::tests::words;
    use crate::retrieve::Passage;
    use crate::source::tests::{one_of_each, passage};

    fn read(
        texts: &[&str],
        options: &ContextOptions,
        budget: Option<usize>,
        script: &mut Scripted,
    ) -> Vec<Reading> {
        let time = |source: &Source| source.metadata()?["day"].as_i64();
        let job = AssemblyJob {
            question: "Where do visitors park?",
            options,
            budget,
            call: budget,
            time: &time,
        };
        script.with(|means| assembled(chunks(texts), &job, means)).unwrap()
    }

    fn chunk_ids(readings: &[Reading]) -> Vec<i64> {
        readings.iter().filter_map(|reading| Some(reading.source.chunk()?.chunk_id)).collect()
    }

    #[test]
    fn sources_of_all_kinds_are_read_and_can_be_cut() {
        let read = |budget| {
            let options = ContextOptions::default();
            let time = |_: &Source| None;
            let job =
                AssemblyJob { question: "q", options: &options, budget, call: None, time: &time };
            let script = &mut Scripted::default();
            script.with(|means| assembled(one_of_each().into(), &job, means)).unwrap()
        };
        let texts =
            ["Visitors park behind it.", "Both welcome dogs.", "status: shipped\ntotal: 49.90"];
        assert_eq!(shown(&read(None)), texts);
        let sent: String = (1..)
            .zip(read(None))
            .map(|(at, it)| messages::as_sent(at, &it.prompt_source()))
            .collect();
        assert!(sent.contains("Heading: Opening hours\nBoth welcome"), "{sent}");
        assert!(
            sent.contains("Heading: orders\nstatus: shipped\ntotal: 49.90\n<<<end 3"),
            "{sent}"
        );
        assert_eq!(shown(&read(Some(words(&sent) - 1)))[..2], texts[..2]);
        assert_ne!(shown(&read(Some(words(&sent) - 1))).get(2), Some(&texts[2]));
    }

    fn shown(readings: &[Reading]) -> Vec<&str> {
        readings.iter().map(|reading| reading.shown.as_str()).collect()
    }

    #[test]
    fn chunks_are_read_as_they_are_found() {
        let texts = ["Visitors park behind the mill.", "The gate closes at ten."];
        let script = &mut Scripted::default();
        let readings = read(&texts, &ContextOptions::default(), None, script);
        let whole: Vec<Reading> = chunks(&texts).into_iter().map(Reading::whole).collect();
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
    fn the_best_is_read_twice_within_the_budget() {
        let texts = ["Visitors park.", "The gate closes.", "The mill is old."];
        let options = ContextOptions { repeat_best: true, ..ContextOptions::default() };
        let script = &mut Scripted::default();
        let mut repeats = |options: &ContextOptions, budget| -> Vec<bool> {
            let readings = read(&texts, options, budget, script);
            let sent =
                (1..).zip(&readings).map(|(at, it)| messages::as_sent(at, &it.prompt_source()));
            let size: usize = sent.map(|text| words(&text)).sum();
            assert!(budget.is_none_or(|budget| size <= budget));
            readings.iter().map(|reading| reading.repeats).collect()
        };
        assert_eq!(repeats(&options, None), [true, false, false]);
        assert_eq!(repeats(&options, Some(60)), [true, false, false]);
        // What would be left for others is too little.
        assert_eq!(repeats(&options, Some(45)), [false, false, false]);
        assert_eq!(repeats(&ContextOptions::default(), None), [false, false, false]);
        let by_time = ContextOptions {
            order: ContextOrder::Chronological,
            order_by: Some("day".to_owned()),
            ..options
        };
        assert_eq!(repeats(&by_time, None), [true, false, false]);
    }

    #[test]
    fn order_is_by_time() {
        let options = ContextOptions {
            order: ContextOrder::Chronological,
            order_by: Some("day".to_owned()),
            headers: Some(vec!["day".to_owned()]),
            ..ContextOptions::default()
        };
        let days = [("None.", json!(null)), ("Third.", json!(3)), ("First.", json!(1))];
        let found = days.map(|(text, day)| {
            Source::Chunk(Passage { metadata: json!({ "day": day }), ..passage(text) })
        });
        let time = |source: &Source| source.metadata()?["day"].as_i64();
        let job =
            AssemblyJob { question: "q", options: &options, budget: None, call: None, time: &time };
        let script = &mut Scripted::default();
        let readings = script.with(|means| assembled(found.into(), &job, means)).unwrap();
        assert_eq!(shown(&readings), ["First.", "Third.", "None."]);
        let header = |at: usize| readings[at].prompt_source().metadata;
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
            let mut ids: Vec<i64> = chunk_ids(&readings);
            ids.sort_unstable();
            ids.dedup();
            prop_assert_eq!(ids.len(), readings.len());
            prop_assert!(!readings.is_empty());
            for Reading { source, shown, .. } in &readings {
                prop_assert!(!shown.trim().is_empty());
                let parts = shown.split(super::super::excerpt::GAP).map(str::trim);
                prop_assert!(parts.clone().all(|part| source.content().contains(part)));
            }
            let number = |at: usize| messages::as_sent(at + 1, &readings[at].prompt_source());
            let size: usize = (0..readings.len()).map(|at| words(&number(at))).sum();
            prop_assert!(budget.is_none_or(|budget| size <= budget));
        }
    }
}
