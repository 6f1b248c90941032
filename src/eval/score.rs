//! How well does one ranking do on one case?
//!
//! A ranking is first reduced to what counts ([`Judgements::level`]): where rows are judged, only the
//! best chunk of a row has a place, as usual where passages are found for documents. Then each
//! place has a gain, the grade of the item found there, and each item a place.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use super::coverage;
use super::judgement::{Judgements, Level, Target, canonical_key};
use super::measure::{EvalMetric, Measure, Scores};

/// A chunk that was found.
#[derive(Clone, Debug)]
pub struct RankedChunk<'a> {
    /// Key of its row; see [`canonical_key`].
    pub source_key: String,
    /// Its number in the chunk table.
    pub chunk_id: i64,
    /// Its place in the document, from 0.
    pub chunk_no: i32,
    /// Its characters in the document, from 0.
    pub chars: Range<i32>,
    /// The text of the chunk.
    pub content: &'a str,
}

impl<'a> RankedChunk<'a> {
    /// A chunk of the row that `source_key` names as retrieval does.
    pub fn new(source_key: &str, chunk: (i64, i32), chars: Range<i32>, content: &'a str) -> Self {
        let (chunk_id, chunk_no) = chunk;
        RankedChunk { source_key: canonical_key(source_key), chunk_id, chunk_no, chars, content }
    }
}

/// The scores of `found`, best first, at each of `ks`; none where nothing is relevant.
pub fn scores(judgements: &Judgements, found: &[RankedChunk<'_>], ks: &[u32]) -> Scores {
    if judgements.items().is_empty() {
        return Scores::new();
    }
    let mut scores = Scores::new();
    let ranking = JudgedRanking::new(judgements, found);
    for &k in ks {
        ranking.score(k, &mut scores);
        if judgements.level() == Level::Span {
            spans_at(judgements, found, k, &mut scores);
        }
    }
    scores
}

/// How useful what was read is, as RAGAS defines it: the mean of the precision at each place where
/// something useful stands.
///
/// 0 where nothing is useful.
pub fn context_precision(useful: &[bool]) -> f64 {
    let (mut found, mut sum) = (0.0, 0.0);
    for (place, _) in useful.iter().enumerate().filter(|(_, useful)| **useful) {
        found += 1.0;
        sum += found / (place + 1) as f64;
    }
    if found > 0.0 { sum / found } else { 0.0 }
}

/// The precision of a context of which `judgements` say what is useful, and the share of what is
/// relevant that it holds; `None` where nothing is relevant.
pub fn context(judgements: &Judgements, found: &[RankedChunk<'_>]) -> Option<(f64, f64)> {
    if judgements.items().is_empty() {
        return None;
    }
    let ranking = JudgedRanking::new(judgements, found);
    let useful: Vec<bool> = ranking.gains.iter().map(|gain| *gain > 0.0).collect();
    let recall = match ranking.level {
        Level::Span => {
            let mut scores = Scores::new();
            spans_at(judgements, found, found.len() as u32, &mut scores);
            let recall = scores.iter().find(|(it, _)| it.metric == EvalMetric::SpanRecall);
            recall.map_or(0.0, |(_, recall)| *recall)
        }
        Level::Source | Level::Chunk => ranking.places.len() as f64 / ranking.ideal.len() as f64,
    };
    Some((context_precision(&useful), recall))
}

/// What a ranking is worth, place by place.
struct JudgedRanking {
    /// The grade of what is at each place; 0 where that is not relevant.
    gains: Vec<f64>,
    /// The place from 0 of each item that was found, by the item's number.
    places: BTreeMap<usize, usize>,
    /// The grades of all items, best first.
    ideal: Vec<f64>,
    level: Level,
}

impl JudgedRanking {
    fn new(judgements: &Judgements, found: &[RankedChunk<'_>]) -> JudgedRanking {
        let (mut gains, mut places) = (Vec::new(), BTreeMap::new());
        let mut seen = HashSet::new();
        for chunk in found {
            if judgements.level() == Level::Source && !seen.insert(&chunk.source_key) {
                continue;
            }
            let mut gain = 0.0f64;
            for (item, (target, grade)) in judgements.items().iter().enumerate() {
                if is_at(target, chunk) {
                    gain = gain.max(*grade);
                    places.entry(item).or_insert(gains.len());
                }
            }
            gains.push(gain);
        }
        let mut ideal: Vec<f64> = judgements.items().iter().map(|(_, grade)| *grade).collect();
        ideal.sort_by(|a, b| b.total_cmp(a));
        JudgedRanking { gains, places, ideal, level: judgements.level() }
    }

    fn score(&self, k: u32, scores: &mut Scores) {
        let mut note = |metric, value| scores.push((Measure::at(metric, k), value));
        let size = k as usize;
        let first = &self.gains[..size.min(self.gains.len())];
        let relevant = first.iter().filter(|gain| **gain > 0.0).count();
        note(EvalMetric::Precision, relevant as f64 / size as f64);
        note(EvalMetric::HitRate, f64::from(u8::from(relevant > 0)));
        note(EvalMetric::Mrr, reciprocal_rank(first));
        // How many chunks hold all that is relevant depends on where documents are cut, so the
        // ideal ranking of spans is not known; and a reference may be covered in part.
        if self.level != Level::Span {
            let count = self.places.values().filter(|place| **place < size).count();
            let recall = count as f64 / self.ideal.len() as f64;
            note(EvalMetric::Recall, recall);
            note(EvalMetric::AllFound, f64::from(u8::from(count == self.ideal.len())));
            note(EvalMetric::Ndcg, gain(first) / gain(&self.ideal[..size.min(self.ideal.len())]));
        }
    }
}

fn is_at(target: &Target, chunk: &RankedChunk<'_>) -> bool {
    match target {
        Target::Source(key) => *key == chunk.source_key,
        Target::Chunk(id) => *id == chunk.chunk_id,
        Target::ChunkOf(key, no) => *key == chunk.source_key && *no == chunk.chunk_no,
        Target::Span(key, start, end) => {
            *key == chunk.source_key && *start < chunk.chars.end && chunk.chars.start < *end
        }
    }
}

fn reciprocal_rank(gains: &[f64]) -> f64 {
    let first = gains.iter().position(|gain| *gain > 0.0);
    first.map_or(0.0, |place| 1.0 / (place + 1) as f64)
}

/// Discounted cumulative gain: each gain divided by the binary logarithm of its place from 2.
fn gain(gains: &[f64]) -> f64 {
    gains.iter().enumerate().map(|(place, gain)| gain / (place as f64 + 2.0).log2()).sum()
}

/// What the first k chunks cover of the references, and how much of them is that.
fn spans_at(judgements: &Judgements, found: &[RankedChunk<'_>], k: u32, scores: &mut Scores) {
    let mut covered: BTreeMap<&str, Vec<Range<i32>>> = BTreeMap::new();
    for chunk in found.iter().take(k as usize) {
        covered.entry(&chunk.source_key).or_default().push(chunk.chars.clone());
    }
    let covered: BTreeMap<&str, _> =
        covered.into_iter().map(|(key, spans)| (key, coverage::merged(spans))).collect();
    let (mut wanted, mut common) = (0, 0);
    for (key, spans) in judgements.spans() {
        let spans = coverage::merged(spans);
        wanted += coverage::length(&spans);
        common += covered.get(key).map_or(0, |covered| coverage::common(&spans, covered));
    }
    let read: i64 = covered.values().map(|spans| coverage::length(spans)).sum();
    let share = |part: i64, whole: i64| if whole > 0 { part as f64 / whole as f64 } else { 0.0 };
    scores.push((Measure::at(EvalMetric::SpanRecall, k), share(common, wanted)));
    scores.push((Measure::at(EvalMetric::SpanPrecision, k), share(common, read)));
    scores.push((Measure::at(EvalMetric::AllFound, k), f64::from(u8::from(common == wanted))));
}

#[cfg(test)]
#[path = "score_tests.rs"]
mod tests;
