//! What can be said about a search, and within which limits: the group `retrieve` of the options of a
//! question.

use std::fmt;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::SearchMode;
use crate::embed::calibration::RetrievalWeights;
use crate::error::{Error, Result};
use crate::graph::options::GraphUse;
use crate::options::out_of_range;
use crate::rewrite::RewriteOptions;
use crate::rewrite::route::Route;
use crate::tree::options::TreeUse;

/// How chunks are found and ranked.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RetrieveOptions {
    /// Which side of the search is asked; `None`: both.
    pub mode: Option<SearchMode>,
    /// Conditions on the metadata, an object.
    pub filter: Option<Value>,
    /// How the question is rewritten.
    pub rewrite: RewriteOptions,
    /// What reads the candidates again: 'late_interaction', 'reader', 'llm' or the name of a model; `None` or
    /// 'none': nothing does.
    pub rerank: Option<String>,
    /// Least cosine similarity between question and chunk.
    pub threshold: Option<f64>,
    /// Chunks that each side puts forward.
    pub candidates: u32,
    /// How the two sides become one list; `None`: `rrf` if `rrf_k` is given, else `combined`.
    pub fusion: Option<Fusion>,
    /// The constant of reciprocal rank fusion (Cormack et al., SIGIR 2009); `None`: 60.
    pub rrf_k: Option<u32>,
    /// How scores are made comparable before they are added.
    pub normalize: Normalize,
    /// Share of the vectors' side in the weighted sum, from 0 to 1; `None`: what suits the model.
    pub dense_weight: Option<f64>,
    /// How much it counts in the fusion how close the words of the question are in a text: from 0, not at all, to 1,
    /// as `true` says it, too; `None`: what suits the model.
    #[serde(deserialize_with = "flag_or_share")]
    pub closeness: Option<f64>,
    /// What was fitted to the model that is searched by; no option says it.
    #[serde(skip)]
    pub fitted: RetrievalWeights,
    /// Whether a walk over the pipeline's graph adds chunks that name what the best ones name.
    pub graph: GraphUse,
    /// Whether summaries of the pipeline's trees are read for an answer beside what is found.
    pub tree: TreeUse,
    /// Summaries of each level that are followed from the roots down; `None`: summaries are chosen by the chunks that are
    /// found, whatever their level.
    pub tree_beam: Option<u32>,
    /// Chunks that are read again by the reranker.
    pub rerank_candidates: u32,
    /// Share of the reranker in the score, from 0 to 1; `None`: what suits the reranker.
    pub rerank_weight: Option<f64>,
    /// Share of relevance against novelty in maximal marginal relevance, from 0 to 1.
    pub mmr: Option<f64>,
    /// By which column, and how much, newer rows are ranked higher.
    pub recency: Option<Recency>,
    /// Least likeness at which two chunks say the same; 1: only equal texts do.
    pub dedupe: Option<f64>,
    /// What this likeness is; `None`: the cosine similarity.
    pub dedupe_by: Option<Likeness>,
    /// Most chunks of one source row.
    pub per_source: Option<u32>,
    /// Chunks before and after each one that are returned with it.
    pub neighbours: u32,
    /// What of the document is returned around each chunk.
    pub expand: Option<Expand>,
    /// Chunks that were on earlier pages and are passed over; `None`: there are no pages.
    pub offset: Option<u64>,
    /// How the pipeline `auto` is chosen.
    pub route: Option<Route>,
    /// Whether the shards of a pipeline that answer are enough.
    pub partial: bool,
}

/// How two lists become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fusion {
    /// The sum of the reciprocals of the places.
    Rrf,
    /// The weighted sum of the normalised scores.
    Weighted,
    /// The sum of these two, with a small constant for the places.
    Combined,
}

/// How scores are made comparable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Normalize {
    /// The least becomes 0, the greatest 1.
    Minmax,
    /// The mean becomes 0, the standard deviation 1.
    Zscore,
}

/// How alike two chunks are, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Likeness {
    /// The cosine similarity of their vectors: they mean the same.
    Cosine,
    /// The resemblance of their runs of three words: they are copies.
    Shingles,
}

impl Likeness {
    /// From where on two chunks say the same, unless the options say otherwise.
    ///
    /// Two texts of 100 words that differ in 5 here and there share 0.73 of the shingles.
    #[must_use]
    pub fn threshold(self) -> f64 {
        match self {
            Likeness::Cosine => 0.95,
            Likeness::Shingles => 0.7,
        }
    }
}

/// How much newer is better.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recency {
    /// A metadata column that holds a date or a time.
    pub column: String,
    /// After so many days a chunk counts half.
    pub half_life: f64,
    /// Share of the age in the score, from 0 to 1.
    #[serde(default = "Recency::default_weight")]
    pub weight: f64,
}

impl Recency {
    fn default_weight() -> f64 {
        0.3
    }
}

/// What of the document is returned around a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expand {
    /// Nothing around the chunk is returned.
    None,
    /// The chunks beside it that stand under the same heading.
    Section,
    /// All chunks of its parent, in pipelines whose strategy makes such.
    Parent,
}

/// Most chunks that each side puts forward, and so most that all pages have.
pub const MOST_CANDIDATES: u32 = 100_000;

/// Most chunks on either side that are part of the same parent: the longest parent there may be,
/// in the smallest chunks.
pub const MOST_CHILDREN: u32 = 1_000_000;

/// Most chunks on either side that an expansion adds.
pub const MOST_NEIGHBOURS: u32 = 20;

/// Share of the vectors' side in the weighted sum, for models that nothing was fitted to.
const DENSE_WEIGHT: f64 = 0.7;

impl Default for RetrieveOptions {
    fn default() -> Self {
        RetrieveOptions {
            mode: None,
            filter: None,
            rewrite: RewriteOptions::default(),
            rerank: None,
            threshold: None,
            candidates: 100,
            fusion: None,
            rrf_k: None,
            normalize: Normalize::Zscore,
            dense_weight: None,
            closeness: None,
            fitted: RetrievalWeights::default(),
            graph: GraphUse::default(),
            tree: TreeUse::default(),
            tree_beam: None,
            rerank_candidates: 50,
            rerank_weight: None,
            mmr: None,
            recency: None,
            dedupe: None,
            dedupe_by: None,
            per_source: None,
            neighbours: 0,
            expand: None,
            offset: None,
            route: None,
            partial: false,
        }
    }
}

impl RetrieveOptions {
    /// What reads the candidates again, if anything does.
    #[must_use]
    pub fn reranker(&self) -> Option<&str> {
        self.rerank.as_deref().filter(|name| *name != "none")
    }

    /// How the two sides become one list.
    #[must_use]
    pub fn fusion(&self) -> Fusion {
        let implied = if self.rrf_k.is_some() { Fusion::Rrf } else { Fusion::Combined };
        self.fusion.unwrap_or(implied)
    }

    /// Share of the vectors' side in the weighted sum, from 0 to 1.
    #[must_use]
    pub fn dense_weight(&self) -> f64 {
        self.dense_weight.or(self.fitted.dense_weight).unwrap_or(DENSE_WEIGHT)
    }

    /// How much it counts in the fusion how close the words of the question are in a text, from 0 to 1.
    #[must_use]
    pub fn closeness(&self) -> f64 {
        self.closeness.or(self.fitted.closeness).unwrap_or(1.0)
    }

    /// Whether the words of the candidates are looked at, and not only counted.
    #[must_use]
    pub fn looks_closer(&self) -> bool {
        self.closeness() > 0.0 && self.fusion() == Fusion::Combined
    }

    /// Whether a search of both sides goes by what was fitted to its model.
    #[must_use]
    pub fn is_left_to_model(&self) -> bool {
        let is_said = self.dense_weight.is_some()
            && (self.closeness.is_some() || self.fusion() != Fusion::Combined);
        self.mode.is_none_or(|mode| mode == SearchMode::Hybrid)
            && self.fusion() != Fusion::Rrf
            && !is_said
    }

    /// The constant of reciprocal rank fusion.
    #[must_use]
    pub fn rrf_k(&self) -> u32 {
        self.rrf_k.unwrap_or(60)
    }

    /// Whether more chunks than are wanted must be looked at, because some may be left out or
    /// change places.
    #[must_use]
    pub fn is_choosy(&self) -> bool {
        self.threshold.is_some()
            || self.mmr.is_some()
            || self.recency.is_some()
            || self.dedupe().is_some()
            || self.per_source.is_some()
    }

    /// Whether the vectors of the chunks are compared with each other.
    #[must_use]
    pub fn compares_chunks(&self) -> bool {
        let by_vectors = matches!(self.dedupe(), Some((Likeness::Cosine, least)) if least < 1.0);
        self.mmr.is_some() || by_vectors
    }

    /// When two chunks say the same, if those that repeat others are left out.
    #[must_use]
    pub fn dedupe(&self) -> Option<(Likeness, f64)> {
        let by = self.dedupe_by.or(self.dedupe.map(|_| Likeness::Cosine))?;
        Some((by, self.dedupe.unwrap_or(by.threshold())))
    }

    /// How many chunks on either side an expansion reads.
    #[must_use]
    pub fn reach(&self) -> u32 {
        match self.expand {
            Some(Expand::Section) => MOST_NEIGHBOURS,
            Some(Expand::Parent) => MOST_CHILDREN,
            Some(Expand::None) | None => self.neighbours,
        }
    }

    /// How many chunks are passed over.
    #[must_use]
    pub fn passed_over(&self) -> usize {
        self.offset.and_then(|offset| usize::try_from(offset).ok()).unwrap_or(0)
    }

    /// An error where a page of `k` chunks ends behind the candidates, all of which are ranked for each page.
    pub fn check_page(&self, k: u32) -> Result<()> {
        self.check_page_of(k, self.candidates.into())
    }

    /// An error where a page of `k` chunks ends behind `candidates`, those of all searches whose findings become one list.
    pub fn check_page_of(&self, k: u32, candidates: u64) -> Result<()> {
        let Some(offset) = self.offset else { return Ok(()) };
        let end = offset.saturating_add(k.into());
        if end <= candidates {
            return Ok(());
        }
        let message = format!(
            "a page of {k} at offset {offset} is beyond the {candidates} candidates of the search"
        );
        Err(Error::invalid(message).hint(match end <= MOST_CANDIDATES.into() {
            true => format!(
                "Ask for all pages with {{\"retrieve\": {{\"candidates\": {end}}}}} or more."
            ),
            false => format!("All pages together have at most {MOST_CANDIDATES} chunks."),
        }))
    }

    /// An error that names the first value out of its range.
    pub fn check(&self) -> Result<()> {
        if let Some(threshold) = self.threshold.filter(|t| !(-1.0..=1.0).contains(t)) {
            return Err(out_of_range("retrieve.threshold", "between -1 and 1", threshold)
                .hint("It is the least cosine similarity between question and chunk."));
        }
        whole("candidates", self.candidates, 1, MOST_CANDIDATES)?;
        whole("rerank_candidates", self.rerank_candidates, 1, 1000)?;
        whole("neighbours", self.neighbours, 0, MOST_NEIGHBOURS)?;
        self.per_source.map_or(Ok(()), |most| whole("per_source", most, 1, 10_000))?;
        self.tree_beam.map_or(Ok(()), |beam| whole("tree_beam", beam, 1, 10_000))?;
        share("dense_weight", self.dense_weight)?;
        share("closeness", self.closeness)?;
        share("rerank_weight", self.rerank_weight)?;
        share("mmr", self.mmr)?;
        share("dedupe", self.dedupe)?;
        if let Some(offset) = self.offset.filter(|it| *it > MOST_CANDIDATES.into()) {
            let range = format!("between 0 and {MOST_CANDIDATES}");
            return Err(out_of_range("retrieve.offset", range, offset));
        }
        if self.neighbours > 0 && self.expand.is_some_and(|expand| expand != Expand::None) {
            return Err(Error::invalid(
                "the options \"retrieve.neighbours\" and \"retrieve.expand\" exclude each other",
            ));
        }
        if self.rrf_k.is_some() && self.fusion() != Fusion::Rrf {
            return Err(Error::invalid(
                "the option \"retrieve.rrf_k\" is for the fusion \"rrf\" alone",
            ));
        }
        self.rewrite.check()?;
        self.graph.check()?;
        self.recency.as_ref().map_or(Ok(()), Recency::check)
    }
}

impl Recency {
    fn check(&self) -> Result<()> {
        share("recency.weight", Some(self.weight))?;
        match self.half_life > 0.0 && self.half_life <= 1e6 {
            true => Ok(()),
            false => {
                let range = "above 0 and at most 1000000 days";
                Err(out_of_range("retrieve.recency.half_life", range, self.half_life))
            }
        }
    }
}

/// Reads a number, for which `true` stands for 1 and `false` for 0.
struct FlagOrShare;

impl Visitor<'_> for FlagOrShare {
    type Value = f64;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("true, false or a number")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<f64, E> {
        Ok(f64::from(u8::from(flag)))
    }

    fn visit_f64<E>(self, share: f64) -> Result<f64, E> {
        Ok(share)
    }

    fn visit_i64<E>(self, share: i64) -> Result<f64, E> {
        Ok(share as f64)
    }

    fn visit_u64<E>(self, share: u64) -> Result<f64, E> {
        Ok(share as f64)
    }
}

fn flag_or_share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    deserializer.deserialize_any(FlagOrShare).map(Some)
}

fn whole(name: &str, value: u32, least: u32, most: u32) -> Result<()> {
    match (least..=most).contains(&value) {
        true => Ok(()),
        false => {
            let range = format!("between {least} and {most}");
            Err(out_of_range(&format!("retrieve.{name}"), range, value))
        }
    }
}

fn share(name: &str, value: Option<f64>) -> Result<()> {
    match value {
        Some(value) if !(0.0..=1.0).contains(&value) => {
            Err(out_of_range(&format!("retrieve.{name}"), "between 0 and 1", value))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(options: serde_json::Value) -> RetrieveOptions {
        serde_json::from_value(options).unwrap()
    }

    #[test]
    fn rrf_k_means_rrf() {
        assert_eq!(read(json!({})).fusion(), Fusion::Combined);
        assert_eq!(read(json!({"rrf_k": 10})).fusion(), Fusion::Rrf);
        assert_eq!(read(json!({"fusion": "rrf"})).rrf_k(), 60);
    }

    #[test]
    fn one_fusion_looks_closer() {
        assert!(read(json!({})).looks_closer());
        assert!(!read(json!({"closeness": false})).looks_closer());
        assert!(!read(json!({"rrf_k": 10})).looks_closer());
    }

    #[test]
    fn closeness_is_a_flag_or_a_share() {
        for (written, expected) in
            [(json!(true), 1.0), (json!(false), 0.0), (json!(0), 0.0), (json!(0.5), 0.5)]
        {
            let options = read(json!({"closeness": written}));
            assert_eq!(options.closeness(), expected);
            assert_eq!(options.looks_closer(), expected > 0.0);
        }
        let error = crate::options::read::<RetrieveOptions>("", json!({"closeness": "on"}), &[]);
        let expected = "option \"closeness\" must be true, false or a number, not \"on\"";
        assert_eq!(error.unwrap_err().message(), expected);
    }

    #[test]
    fn what_is_said_wins_over_what_was_fitted_and_that_over_what_is_built_in() {
        let fitted = RetrievalWeights {
            dense_weight: Some(0.25),
            closeness: Some(0.0),
            late_interaction_weight: None,
        };
        let check = |options: serde_json::Value, expected: (f64, f64), is_left: bool| {
            let options = RetrieveOptions { fitted, ..read(options) };
            assert_eq!((options.dense_weight(), options.closeness()), expected);
            assert_eq!(options.is_left_to_model(), is_left);
        };
        check(json!({}), (0.25, 0.0), true);
        check(json!({"dense_weight": 0.5}), (0.5, 0.0), true);
        check(json!({"closeness": true}), (0.25, 1.0), true);
        check(json!({"closeness": 0.5, "dense_weight": 0.5}), (0.5, 0.5), false);
        check(json!({"fusion": "weighted", "dense_weight": 0.5}), (0.5, 0.0), false);
        check(json!({"fusion": "weighted"}), (0.25, 0.0), true);
        check(json!({"rrf_k": 10}), (0.25, 0.0), false);
        check(json!({"mode": "dense"}), (0.25, 0.0), false);
        let built_in = RetrieveOptions::default();
        assert_eq!((built_in.dense_weight(), built_in.closeness()), (0.7, 1.0));
    }

    #[test]
    fn repeats_are_told_by_vectors_or_words() {
        let told = |options| read(options).dedupe();
        assert_eq!(told(json!({})), None);
        assert_eq!(told(json!({"dedupe": 0.9})), Some((Likeness::Cosine, 0.9)));
        assert_eq!(told(json!({"dedupe_by": "shingles"})), Some((Likeness::Shingles, 0.7)));
        let words = read(json!({"dedupe": 0.5, "dedupe_by": "shingles"}));
        assert_eq!(words.dedupe(), Some((Likeness::Shingles, 0.5)));
        assert!(words.is_choosy() && !words.compares_chunks());
    }

    #[test]
    fn a_reranker_can_be_taken_away() {
        assert_eq!(read(json!({})).reranker(), None);
        assert_eq!(read(json!({"rerank": "none"})).reranker(), None);
        assert_eq!(read(json!({"rerank": "llm"})).reranker(), Some("llm"));
    }

    #[test]
    fn a_page_lies_within_the_candidates() {
        let check = |options, k, hint: Option<&str>| {
            let error = read(options).check_page(k).err();
            let said = error.map(|it| it.hint_text().unwrap_or_default().to_owned());
            assert_eq!(said.as_deref(), hint);
        };
        check(json!({}), 10_000, None);
        check(json!({"offset": 0}), 100, None);
        check(json!({"offset": 90}), 10, None);
        let more = "Ask for all pages with {\"retrieve\": {\"candidates\": 101}} or more.";
        check(json!({"offset": 91}), 10, Some(more));
        check(json!({"offset": 91, "candidates": 101}), 10, None);
        assert!(read(json!({"offset": 91, "candidates": 1})).check_page_of(10, 101).is_ok());
        assert!(read(json!({"offset": 92})).check_page_of(10, 101).is_err());
        let most = "All pages together have at most 100000 chunks.";
        check(json!({"offset": 100_000, "candidates": 100_000}), 1, Some(most));
    }

    #[test]
    fn what_is_out_of_range_is_named() {
        let check = |options, message: &str| {
            let error = read(options).check().unwrap_err();
            assert!(error.message().contains(message), "{error} does not say {message}");
        };
        check(
            json!({"threshold": 1.5}),
            "option \"retrieve.threshold\" must be between -1 and 1, not 1.5",
        );
        check(
            json!({"candidates": 0}),
            "option \"retrieve.candidates\" must be between 1 and 100000, not 0",
        );
        check(json!({"rerank_candidates": 1001}), "\"retrieve.rerank_candidates\" must be");
        check(
            json!({"tree_beam": 0}),
            "option \"retrieve.tree_beam\" must be between 1 and 10000, not 0",
        );
        check(
            json!({"neighbours": 21}),
            "option \"retrieve.neighbours\" must be between 0 and 20, not 21",
        );
        check(json!({"per_source": 0}), "\"retrieve.per_source\" must be");
        check(
            json!({"dense_weight": -0.1}),
            "option \"retrieve.dense_weight\" must be between 0 and 1, not -0.1",
        );
        check(
            json!({"closeness": 1.5}),
            "option \"retrieve.closeness\" must be between 0 and 1, not 1.5",
        );
        check(json!({"rerank_weight": 2}), "\"retrieve.rerank_weight\" must be");
        check(json!({"mmr": 1.1}), "\"retrieve.mmr\" must be");
        check(json!({"dedupe": 7}), "\"retrieve.dedupe\" must be");
        check(json!({"neighbours": 1, "expand": "section"}), "exclude each other");
        check(
            json!({"offset": 5_000_000_000_u64}),
            "option \"retrieve.offset\" must be between 0 and 100000, not 5000000000",
        );
        check(json!({"fusion": "weighted", "rrf_k": 1}), "is for the fusion \"rrf\" alone");
        check(
            json!({"recency": {"column": "a", "half_life": 0}}),
            "option \"retrieve.recency.half_life\" must be above 0",
        );
        check(
            json!({"recency": {"column": "a", "half_life": 1, "weight": 2}}),
            "option \"retrieve.recency.weight\" must be between 0 and 1, not 2",
        );
        check(
            json!({"rewrite": {"n": 0}}),
            "option \"retrieve.rewrite.n\" must be between 1 and 10, not 0",
        );
        assert!(RetrieveOptions::default().check().is_ok());
    }
}
