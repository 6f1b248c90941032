//! What is measured, under which name.

use std::cmp::Ordering;

/// A figure of retrieval or of answers, in the order in which figures are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EvalMetric {
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

impl EvalMetric {
    /// The name that users read.
    pub fn name(self) -> &'static str {
        match self {
            EvalMetric::Ndcg => "ndcg",
            EvalMetric::Recall => "recall",
            EvalMetric::Precision => "precision",
            EvalMetric::HitRate => "hit_rate",
            EvalMetric::AllFound => "all_found",
            EvalMetric::Mrr => "mrr",
            EvalMetric::SpanRecall => "span_recall",
            EvalMetric::SpanPrecision => "span_precision",
            EvalMetric::AnswerFound => "answer_found",
            EvalMetric::ContextSimilarity => "context_similarity",
            EvalMetric::AnswerSimilarity => "answer_similarity",
            EvalMetric::ContextRelevance => "context_relevance",
            EvalMetric::Faithfulness => "faithfulness",
            EvalMetric::ClaimsSupported => "claims_supported",
            EvalMetric::AnswerRelevance => "answer_relevance",
            EvalMetric::ExactMatch => "exact_match",
            EvalMetric::TokenF1 => "token_f1",
            EvalMetric::SemanticSimilarity => "semantic_similarity",
            EvalMetric::AnswerCorrectness => "answer_correctness",
            EvalMetric::AnswerHolds => "answer_holds",
            EvalMetric::CitationRecall => "citation_recall",
            EvalMetric::CitationPrecision => "citation_precision",
            EvalMetric::ContextPrecision => "context_precision",
            EvalMetric::ContextRecall => "context_recall",
            EvalMetric::Abstention => "abstention",
            EvalMetric::NeedsReview => "needs_review",
            EvalMetric::LatencyMean => "latency_mean",
            EvalMetric::LatencyP50 => "latency_p50",
            EvalMetric::LatencyP95 => "latency_p95",
            EvalMetric::LatencyP99 => "latency_p99",
            EvalMetric::EmbeddingTokens => "embedding_tokens",
            EvalMetric::LlmCalls => "llm_calls",
            EvalMetric::LlmTokens => "llm_tokens",
            EvalMetric::AnswerLatency => "answer_latency",
            EvalMetric::AnswerLlmCalls => "answer_llm_calls",
            EvalMetric::AnswerLlmTokens => "answer_llm_tokens",
        }
    }
}

/// A metric, of the first k results where it has a k.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Measure {
    /// The metric that is measured.
    pub metric: EvalMetric,
    /// Over how many results.
    pub k: Option<u32>,
}

impl Measure {
    /// `metric` over the first `k` results.
    pub fn at(metric: EvalMetric, k: u32) -> Measure {
        Measure { metric, k: Some(k) }
    }

    /// `metric` of the retrieval as a whole.
    pub fn of(metric: EvalMetric) -> Measure {
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
