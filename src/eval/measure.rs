//! What is measured, under which name.

use std::cmp::Ordering;

/// A figure of retrieval or of answers, in the order in which figures are shown.
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
    /// How well what was read supports an answer: as well as its weakest claim.
    Faithfulness,
    /// Share of the claims of an answer that what was read supports.
    ClaimsSupported,
    /// How near an answer comes to the question, by cosine; 0 of an answer that there is none.
    AnswerRelevance,
    /// Whether an answer is an expected one.
    ExactMatch,
    /// How many tokens an answer shares with an expected one.
    TokenF1,
    /// The best cosine of an answer to an expected one.
    SemanticSimilarity,
    /// The last two together.
    AnswerCorrectness,
    /// Whether an answer holds an expected one.
    AnswerHolds,
    /// Share of the claims that what they cite supports.
    CitationRecall,
    /// Share of the citations that matter.
    CitationPrecision,
    /// How far in front what is of use stands among what was read.
    ContextPrecision,
    /// Share of what is needed that was read.
    ContextRecall,
    /// Whether it was answered that there is no answer.
    Abstention,
    /// Whether an answer was given that ought to be reviewed.
    NeedsReview,
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
    /// Milliseconds that an answer takes, retrieval included.
    AnswerLatency,
    /// Calls of a language model an answer makes.
    AnswerLlmCalls,
    /// Tokens that a language model reads and writes for an answer.
    AnswerLlmTokens,
}

impl Metric {
    /// The name that users read.
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
            Metric::Faithfulness => "faithfulness",
            Metric::ClaimsSupported => "claims_supported",
            Metric::AnswerRelevance => "answer_relevance",
            Metric::ExactMatch => "exact_match",
            Metric::TokenF1 => "token_f1",
            Metric::SemanticSimilarity => "semantic_similarity",
            Metric::AnswerCorrectness => "answer_correctness",
            Metric::AnswerHolds => "answer_holds",
            Metric::CitationRecall => "citation_recall",
            Metric::CitationPrecision => "citation_precision",
            Metric::ContextPrecision => "context_precision",
            Metric::ContextRecall => "context_recall",
            Metric::Abstention => "abstention",
            Metric::NeedsReview => "needs_review",
            Metric::LatencyMean => "latency_mean",
            Metric::LatencyP50 => "latency_p50",
            Metric::LatencyP95 => "latency_p95",
            Metric::LatencyP99 => "latency_p99",
            Metric::EmbeddingTokens => "embedding_tokens",
            Metric::LlmCalls => "llm_calls",
            Metric::LlmTokens => "llm_tokens",
            Metric::AnswerLatency => "answer_latency",
            Metric::AnswerLlmCalls => "answer_llm_calls",
            Metric::AnswerLlmTokens => "answer_llm_tokens",
        }
    }
}

/// A metric, of the first k results where it has a k.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Measure {
    /// The metric that is measured.
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
