//! What is measured, under which name.

use std::cmp::Ordering;

/// A figure of retrieval, in the order in which figures are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// Normalised discounted cumulative gain, with the grade itself as the gain (Järvelin and
    /// Kekäläinen, ACM TOIS 2002; trec_eval's `ndcg_cut`).
    Ndcg,
    /// Share of the relevant items that are in the first k.
    Recall,
    /// Share of the first k that is relevant; places that stay empty are not.
    Precision,
    /// Whether anything relevant is in the first k.
    HitRate,
    /// Whether all that is relevant is in the first k.
    AllFound,
    /// One over the place of the first relevant result; 0 where it is beyond k.
    Mrr,
    /// Share of the relevant characters that the first k chunks cover.
    SpanRecall,
    /// Share of the characters of the first k chunks that is relevant.
    SpanPrecision,
    /// Whether one of the first k chunks holds an expected answer.
    AnswerFound,
    /// The best cosine of a sentence of the first k chunks to the question.
    ContextSimilarity,
    /// The best cosine of a sentence of the first k chunks to an expected answer.
    AnswerSimilarity,
    /// How much of the first k chunks a language model takes to be of use, from 0 to 1.
    ContextRelevance,
    /// Milliseconds that a retrieval takes, on average.
    LatencyMean,
    /// Milliseconds that half of the retrievals don't exceed.
    LatencyP50,
    /// Milliseconds that 95 % of the retrievals don't exceed.
    LatencyP95,
    /// Milliseconds that 99 % of the retrievals don't exceed.
    LatencyP99,
    /// Tokens a retrieval has embedded.
    EmbeddingTokens,
    /// Calls of a language model a retrieval makes.
    LlmCalls,
    /// Tokens that a language model reads and writes for a retrieval.
    LlmTokens,
}

impl Metric {
    /// As users read it.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Ndcg => "ndcg",
            Metric::Recall => "recall",
            Metric::Precision => "precision",
            Metric::HitRate => "hit_rate",
            Metric::AllFound => "all_found",
            Metric::Mrr => "mrr",
            Metric::SpanRecall => "span_recall",
            Metric::SpanPrecision => "span_precision",
            Metric::AnswerFound => "answer_found",
            Metric::ContextSimilarity => "context_similarity",
            Metric::AnswerSimilarity => "answer_similarity",
            Metric::ContextRelevance => "context_relevance",
            Metric::LatencyMean => "latency_mean",
            Metric::LatencyP50 => "latency_p50",
            Metric::LatencyP95 => "latency_p95",
            Metric::LatencyP99 => "latency_p99",
            Metric::EmbeddingTokens => "embedding_tokens",
            Metric::LlmCalls => "llm_calls",
            Metric::LlmTokens => "llm_tokens",
        }
    }
}

/// A metric, of the first k results where it has a k.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Measure {
    /// What is measured.
    pub metric: Metric,
    /// Over how many results.
    pub k: Option<u32>,
}

impl Measure {
    /// `metric` over the first `k` results.
    pub fn at(metric: Metric, k: u32) -> Measure {
        Measure { metric, k: Some(k) }
    }

    /// `metric` of the retrieval as a whole.
    pub fn of(metric: Metric) -> Measure {
        Measure { metric, k: None }
    }

    /// Its name in stored scores: `ndcg@10`, `latency_mean`.
    pub fn label(self) -> String {
        match self.k {
            Some(k) => format!("{}@{k}", self.metric.name()),
            None => self.metric.name().to_owned(),
        }
    }
}

impl PartialOrd for Measure {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Measure {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.metric, self.k).cmp(&(other.metric, other.k))
    }
}

/// What was measured of one case under one configuration. What is not defined for a case, such as
/// the recall where nothing is relevant, is not there.
pub type Scores = Vec<(Measure, f64)>;
