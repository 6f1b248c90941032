//! What is measured, under which name.

use std::cmp::Ordering;

use crate::error::{Error, Result};
use crate::options::{hint_of_names, shortened};

/// Greatest k: most chunks that one call of `rag_retrieve` returns.
pub const GREATEST_K: u32 = 10_000;

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
    /// All metrics, in their order.
    pub const ALL: [EvalMetric; 36] = [
        EvalMetric::Ndcg,
        EvalMetric::Recall,
        EvalMetric::Precision,
        EvalMetric::HitRate,
        EvalMetric::AllFound,
        EvalMetric::Mrr,
        EvalMetric::SpanRecall,
        EvalMetric::SpanPrecision,
        EvalMetric::AnswerFound,
        EvalMetric::ContextSimilarity,
        EvalMetric::AnswerSimilarity,
        EvalMetric::ContextRelevance,
        EvalMetric::Faithfulness,
        EvalMetric::ClaimsSupported,
        EvalMetric::AnswerRelevance,
        EvalMetric::ExactMatch,
        EvalMetric::TokenF1,
        EvalMetric::SemanticSimilarity,
        EvalMetric::AnswerCorrectness,
        EvalMetric::AnswerHolds,
        EvalMetric::CitationRecall,
        EvalMetric::CitationPrecision,
        EvalMetric::ContextPrecision,
        EvalMetric::ContextRecall,
        EvalMetric::Abstention,
        EvalMetric::NeedsReview,
        EvalMetric::LatencyMean,
        EvalMetric::LatencyP50,
        EvalMetric::LatencyP95,
        EvalMetric::LatencyP99,
        EvalMetric::EmbeddingTokens,
        EvalMetric::LlmCalls,
        EvalMetric::LlmTokens,
        EvalMetric::AnswerLatency,
        EvalMetric::AnswerLlmCalls,
        EvalMetric::AnswerLlmTokens,
    ];

    /// The metric called `name`. Fails with an invalid parameter that names the known ones.
    pub fn named(name: &str) -> Result<EvalMetric> {
        let found = EvalMetric::ALL.into_iter().find(|it| it.name() == name);
        found.ok_or_else(|| {
            let known = EvalMetric::ALL.map(EvalMetric::name);
            Error::invalid(format!("unknown metric \"{}\"", shortened(name)))
                .hint(hint_of_names("metrics", name, &known))
        })
    }

    /// Whether it is measured over the first k results.
    pub fn has_k(self) -> bool {
        self <= EvalMetric::ContextRelevance
    }

    /// Whether it is measured of answers, which are made for nothing else.
    pub fn is_of_answers(self) -> bool {
        (EvalMetric::Faithfulness..=EvalMetric::NeedsReview).contains(&self)
            || self >= EvalMetric::AnswerLatency
    }

    /// Whether less of it is better: time, tokens, calls, and answers that somebody has to review.
    pub fn is_cost(self) -> bool {
        self == EvalMetric::NeedsReview || self >= EvalMetric::LatencyMean
    }

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

    /// What `label` names: `ndcg@10`, `faithfulness`, or `ndcg` with the k left open.
    ///
    /// Fails with an invalid parameter: for a metric that is not known, a k where the metric has none, and
    /// one that is not between 1 and 10000.
    pub fn named(label: &str) -> Result<Measure> {
        let Some((name, k)) = label.split_once('@') else {
            return EvalMetric::named(label).map(Measure::of);
        };
        let metric = EvalMetric::named(name)?;
        if !metric.has_k() {
            let message = format!("metric \"{name}\" has no k: \"{}\"", shortened(label));
            return Err(Error::invalid(message).hint(format!("Write \"{name}\".")));
        }
        match k.parse() {
            Ok(k @ 1..=GREATEST_K) => Ok(Measure::at(metric, k)),
            _ => Err(Error::invalid(format!(
                "the k of metric \"{name}\" must be between 1 and {GREATEST_K}, not \"{}\"",
                shortened(k)
            ))),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_metrics_are_listed_in_their_order() {
        assert!(EvalMetric::ALL.is_sorted());
        for metric in EvalMetric::ALL {
            assert_eq!(EvalMetric::named(metric.name()).unwrap(), metric);
        }
        let of = |is: fn(EvalMetric) -> bool| EvalMetric::ALL.into_iter().filter(move |it| is(*it));
        assert_eq!(of(EvalMetric::has_k).next_back(), Some(EvalMetric::ContextRelevance));
        assert_eq!(of(EvalMetric::is_of_answers).next(), Some(EvalMetric::Faithfulness));
        assert_eq!(of(EvalMetric::is_of_answers).count(), 17);
        assert_eq!(of(EvalMetric::is_cost).count(), 11);
    }

    #[test]
    fn measures_are_named_as_scores_are() {
        let check = |label: &str, measure: Measure| {
            assert_eq!(Measure::named(label).unwrap(), measure);
            assert_eq!(measure.label(), label);
        };
        check("ndcg@10", Measure::at(EvalMetric::Ndcg, 10));
        check("ndcg", Measure::of(EvalMetric::Ndcg));
        check("faithfulness", Measure::of(EvalMetric::Faithfulness));
    }

    #[test]
    fn what_is_no_measure_is_named() {
        let check = |label: &str, message: &str, hint: Option<&str>| {
            let error = Measure::named(label).unwrap_err();
            assert_eq!(error.message(), message);
            assert!(error.hint_text().unwrap_or_default().starts_with(hint.unwrap_or_default()));
        };
        let hint = "Did you mean \"ndcg\"? Known metrics: ndcg, recall, precision,";
        check("ndgc@10", "unknown metric \"ndgc\"", Some(hint));
        check("", "unknown metric \"\"", Some("Known metrics: ndcg,"));
        check("NDCG", "unknown metric \"NDCG\"", Some("Did you mean \"ndcg\"?"));
        let hint = "Write \"faithfulness\".";
        check("faithfulness@3", "metric \"faithfulness\" has no k: \"faithfulness@3\"", Some(hint));
        for k in ["0", "10001", "", "-1", "1.5", "10@10", "99999999999"] {
            let message =
                format!("the k of metric \"ndcg\" must be between 1 and 10000, not \"{k}\"");
            check(&format!("ndcg@{k}"), &message, None);
        }
    }
}
