//! A configuration that is evaluated: it searches, and what it finds is scored.

use std::collections::HashMap;
use std::time::Instant;

use serde_json::Value;

use super::answer::AnswerJudge;
use crate::error::{Error, Result};
use crate::eval::configuration::{Configuration, merged_filter};
use crate::eval::containment::holds_any;
use crate::eval::judgement::{Judgements, Level};
use crate::eval::measure::{EvalMetric, GREATEST_K, Measure, Scores};
use crate::eval::score::{self, RankedChunk};
use crate::pg::catalog::evaluation::Case;
use crate::pg::question::options::CallOptions;
use crate::pg::question::request::QuestionRequest;
use crate::pg::question::route::ChosenPipeline;
use crate::pg::question::search::Search;
use crate::pg::question::{rewrite, route};
use crate::pg::ragd::embed;
use crate::pg::ragd::usage::{self, Usage};
use crate::pg::server::json::ExactJsonb;
use crate::request::{QuestionArguments, WrittenOptions};
use crate::retrieve::Passage;
use crate::rewrite::route::AUTO;

/// Where rows are judged and the greatest k is 10, so many times as many chunks are retrieved: of
/// the chunks of a row only the best counts.
const CHUNKS_A_ROW: u32 = 4;

/// A configuration that is evaluated.
pub struct CandidateConfiguration<'a> {
    /// The arguments and their name.
    pub configuration: &'a Configuration,
    ks: &'a [u32],
    default_pipeline: Option<&'a str>,
    call: CallOptions,
    /// Searches for questions without a filter of their own, by the number of chunks and the
    /// pipeline.
    searches: HashMap<(u32, ChosenPipeline), Search>,
    pipeline: String,
}

/// What a search has given.
pub struct Searched {
    /// What was found, best first.
    pub passages: Vec<Passage>,
    /// What is relevant, by keys as the search shows them.
    pub judgements: Judgements,
    /// The scores so far.
    pub scores: Scores,
    /// How long it took.
    pub milliseconds: f64,
    /// The answer's text, where answers were wanted.
    pub answer: Option<String>,
    /// What the search has used, or what the answer has, where answers were wanted.
    pub used: Usage,
}

impl<'a> CandidateConfiguration<'a> {
    /// Looks up what the configuration names.
    pub fn new(
        configuration: &'a Configuration,
        default_pipeline: Option<&'a str>,
        ks: &'a [u32],
    ) -> Result<Self> {
        let mut contender = CandidateConfiguration {
            configuration,
            ks,
            default_pipeline,
            call: CallOptions::of(WrittenOptions::default(), configuration.options.clone())?,
            searches: HashMap::new(),
            pipeline: AUTO.to_owned(),
        };
        let pipeline = contender.pipeline_named();
        route::refuse_several(pipeline, "an evaluation")?;
        if !route::is_open(pipeline, &contender.call.options.retrieve) {
            let pipeline = ChosenPipeline::by_caller(pipeline);
            let depth = contender.depth(Level::Chunk);
            let search = contender.prepare(depth, &pipeline, None)?;
            contender.pipeline.clone_from(&search.pipeline().name);
            contender.searches.insert((depth, pipeline), search);
        }
        Ok(contender)
    }

    fn pipeline_named(&self) -> Option<&str> {
        self.configuration.pipeline.as_deref().or(self.default_pipeline)
    }

    /// The pipeline it searches; 'auto' where that depends on the question.
    pub fn pipeline(&self) -> &str {
        &self.pipeline
    }

    /// Asks the question of a case.
    pub fn search(&mut self, case: &Case) -> Result<Searched> {
        let before = begin_anew();
        let started = Instant::now();
        let pipeline = route::pipeline_for(self.pipeline_named(), &case.question, &self.call)?;
        let routed = started.elapsed();
        let depth = self.depth(case.judgements.level());
        let of_case;
        let search = match &case.filter {
            Some(filter) => {
                of_case = self.prepare(depth, &pipeline, Some(filter))?;
                &of_case
            }
            None => {
                let key = (depth, pipeline);
                if !self.searches.contains_key(&key) {
                    let search = self.prepare(depth, &key.1, None)?;
                    self.searches.insert(key.clone(), search);
                }
                &self.searches[&key]
            }
        };
        let started = Instant::now();
        let passages = search.run(&case.question)?;
        let milliseconds = (routed + started.elapsed()).as_secs_f64() * 1e3;
        let used = usage::total().since(&before);
        let judgements = case.judgements.with_keys(|key| search.shown_key(key));
        let mut scores = self.judged(case, &judgements, &passages);
        costs(milliseconds, used, &mut scores);
        Ok(Searched { passages, judgements, scores, milliseconds, answer: None, used })
    }

    /// Has the question of a case answered, and adds what `judge` says of the answer.
    pub fn answer(&self, case: &Case, judge: &AnswerJudge, searched: &mut Searched) -> Result<()> {
        let request = QuestionRequest {
            pipeline: self.pipeline_named(),
            arguments: QuestionArguments::default(),
            options: Some(ExactJsonb(self.configuration.answer_options()?.into_json())),
            conditions: case.filter.clone(),
        };
        let before = begin_anew();
        let started = Instant::now();
        let answer = request
            .answer(Some(&case.question))
            .map_err(|error| named(self.configuration, error))?;
        let milliseconds = started.elapsed().as_secs_f64() * 1e3;
        searched.used = usage::total().since(&before);
        answer_costs(milliseconds, searched.used, &mut searched.scores);
        searched.scores.extend(judge.scores(case, &searched.judgements, &answer)?);
        searched.answer = answer.text;
        Ok(())
    }

    /// How many chunks are retrieved.
    fn depth(&self, level: Level) -> u32 {
        let greatest = self.ks.last().copied().unwrap_or(1);
        match (self.configuration.k(), level) {
            // A default of the pipeline says how many are read, and here it is counted how many are found.
            (Some(k), _) => k.max(0) as u32,
            (None, Level::Source) => greatest.saturating_mul(CHUNKS_A_ROW).min(GREATEST_K),
            (None, Level::Chunk | Level::Span) => greatest,
        }
    }

    fn prepare(
        &self,
        depth: u32,
        pipeline: &ChosenPipeline,
        filter: Option<&Value>,
    ) -> Result<Search> {
        let search = || {
            let searched = pipeline.searched()?;
            let mut asked = self.call.of_pipeline(&searched.pipeline, searched.is_named)?;
            let own = asked.options.retrieve.filter.take();
            asked.options.retrieve.filter = merged_filter(own.as_ref(), filter);
            asked.options.k = Some(depth as i32);
            Search::new(searched, &asked, depth as i32)
        };
        search().map_err(|error| named(self.configuration, error))
    }

    fn judged(&self, case: &Case, judgements: &Judgements, passages: &[Passage]) -> Scores {
        let found: Vec<RankedChunk<'_>> = passages
            .iter()
            .map(|it| {
                let chunk = (it.chunk_id, it.chunk_no);
                RankedChunk::new(&it.source_key, chunk, it.start_char..it.end_char, &it.content)
            })
            .collect();
        let mut scores = score::scores(judgements, &found, self.ks);
        if !case.answers.is_empty() {
            let place = found.iter().position(|it| holds_any(it.content, &case.answers));
            scores.extend(self.ks.iter().map(|k| {
                let is_found = place.is_some_and(|place| place < *k as usize);
                (Measure::at(EvalMetric::AnswerFound, *k), f64::from(u8::from(is_found)))
            }));
        }
        scores
    }
}

/// Forgets what would make the next question cheaper than it is; what has been used so far.
fn begin_anew() -> Usage {
    embed::forget_embeddings();
    rewrite::forget();
    usage::total()
}

/// Says which configuration an error is about, unless it has a detail already.
fn named(configuration: &Configuration, error: Error) -> Error {
    match error.detail_text() {
        None if !configuration.is_default() => {
            error.detail(format!("In the configuration \"{}\".", configuration.name))
        }
        _ => error,
    }
}

fn answer_costs(milliseconds: f64, used: Usage, scores: &mut Scores) {
    let mut note = |metric, value| scores.push((Measure::of(metric), value));
    note(EvalMetric::AnswerLatency, milliseconds);
    note(EvalMetric::AnswerLlmCalls, used.llm_calls as f64);
    note(EvalMetric::AnswerLlmTokens, used.llm_tokens as f64);
}

fn costs(milliseconds: f64, used: Usage, scores: &mut Scores) {
    let mut note = |metric, value| scores.push((Measure::of(metric), value));
    note(EvalMetric::LatencyMean, milliseconds);
    note(EvalMetric::EmbeddingTokens, used.embedding_tokens as f64);
    note(EvalMetric::LlmCalls, used.llm_calls as f64);
    note(EvalMetric::LlmTokens, used.llm_tokens as f64);
}
