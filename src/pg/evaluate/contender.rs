//! A configuration that is evaluated: it searches, and what it finds is scored.

use std::collections::HashMap;
use std::time::Instant;

use pgrx::JsonB;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::eval::configuration::{Arguments, Configuration, merged_filter};
use crate::eval::containment::holds_any;
use crate::eval::judgement::Level;
use crate::eval::measure::{Measure, Metric, Scores};
use crate::eval::score::{self, Found};
use crate::pg::catalog::evaluation::Case;
use crate::pg::functions;
use crate::pg::search::Search;
use crate::pg::usage::{self, Usage};
use crate::retrieve::{Passage, RetrieveOptions};

/// Where rows are judged and the greatest k is 10, so many times as many chunks are retrieved: of
/// the chunks of a row only the best counts.
const CHUNKS_A_ROW: u32 = 4;

/// Most chunks that are retrieved for a question.
const MOST: u32 = 10_000;

/// A configuration that is evaluated.
pub struct Contender<'a> {
    /// The arguments and their name.
    pub configuration: &'a Configuration,
    ks: &'a [u32],
    default_pipeline: Option<&'a str>,
    /// Of questions without a filter of their own, by the number of chunks.
    searches: HashMap<u32, Search>,
    pipeline: String,
}

/// What a search has given.
pub struct Searched {
    /// What was found, best first.
    pub passages: Vec<Passage>,
    /// The scores so far.
    pub scores: Scores,
    /// How long it took.
    pub milliseconds: f64,
}

impl<'a> Contender<'a> {
    /// Checks the arguments.
    pub fn new(
        configuration: &'a Configuration,
        default_pipeline: Option<&'a str>,
        ks: &'a [u32],
    ) -> Result<Self> {
        let mut contender = Contender {
            configuration,
            ks,
            default_pipeline,
            searches: HashMap::new(),
            pipeline: String::new(),
        };
        let depth = contender.depth(Level::Chunk);
        let search = contender.prepare(depth, None)?;
        contender.pipeline.clone_from(&search.pipeline.name);
        contender.searches.insert(depth, search);
        Ok(contender)
    }

    /// The pipeline it searches.
    pub fn pipeline(&self) -> &str {
        &self.pipeline
    }

    /// Asks the question of a case.
    pub fn search(&mut self, case: &Case) -> Result<Searched> {
        let depth = self.depth(case.judgements.level());
        let of_case;
        let search = match &case.filter {
            Some(filter) => {
                of_case = self.prepare(depth, Some(filter))?;
                &of_case
            }
            None => {
                if !self.searches.contains_key(&depth) {
                    let search = self.prepare(depth, None)?;
                    self.searches.insert(depth, search);
                }
                &self.searches[&depth]
            }
        };
        functions::forget_embeddings();
        usage::take();
        let started = Instant::now();
        let passages = search.run(&case.question)?;
        let milliseconds = started.elapsed().as_secs_f64() * 1e3;
        let mut scores = self.judged(case, &passages);
        costs(milliseconds, usage::take(), &mut scores);
        Ok(Searched { passages, scores, milliseconds })
    }

    /// How many chunks are retrieved.
    fn depth(&self, level: Level) -> u32 {
        let greatest = self.ks.last().copied().unwrap_or(1);
        match (self.configuration.arguments.k, level) {
            // What is out of range is refused by the search.
            (Some(k), _) => k.max(0) as u32,
            (None, Level::Source) => greatest.saturating_mul(CHUNKS_A_ROW).min(MOST),
            (None, Level::Chunk | Level::Span) => greatest,
        }
    }

    fn prepare(&self, depth: u32, filter: Option<&Value>) -> Result<Search> {
        let Arguments { pipeline, mode, rewrite, rerank, .. } = &self.configuration.arguments;
        let named = |error: Error| match error.detail_text() {
            None if !self.configuration.arguments.is_default() => {
                error.detail(format!("In the configuration \"{}\".", self.configuration.name))
            }
            _ => error,
        };
        functions::check_rewrite(rewrite.as_deref()).map_err(named)?;
        let options = self.configuration.arguments.options.clone().map(JsonB);
        let options: RetrieveOptions = functions::read_options(options).map_err(named)?;
        let filter = merged_filter(self.configuration.arguments.filter.as_ref(), filter);
        let pipeline = pipeline.as_deref().or(self.default_pipeline);
        let depth = Some(depth as i32);
        Search::new(pipeline, depth, mode.as_deref(), filter.map(JsonB), options)
            .and_then(|search| search.reranked_by(rerank.as_deref()))
            .map_err(named)
    }

    fn judged(&self, case: &Case, passages: &[Passage]) -> Scores {
        let found: Vec<Found<'_>> = passages
            .iter()
            .map(|it| {
                let chunk = (it.chunk_id, it.chunk_no);
                Found::new(&it.source_key, chunk, it.start_char..it.end_char, &it.content)
            })
            .collect();
        let mut scores = score::scores(&case.judgements, &found, self.ks);
        if !case.answers.is_empty() {
            let place = found.iter().position(|it| holds_any(it.content, &case.answers));
            scores.extend(self.ks.iter().map(|k| {
                let is_found = place.is_some_and(|place| place < *k as usize);
                (Measure::at(Metric::AnswerFound, *k), f64::from(u8::from(is_found)))
            }));
        }
        scores
    }
}

fn costs(milliseconds: f64, used: Usage, scores: &mut Scores) {
    let mut note = |metric, value| scores.push((Measure::of(metric), value));
    note(Metric::LatencyMean, milliseconds);
    note(Metric::EmbeddingTokens, used.embedding_tokens as f64);
    note(Metric::LlmCalls, used.llm_calls as f64);
    note(Metric::LlmTokens, used.llm_tokens as f64);
}
