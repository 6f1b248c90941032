//! # rerank: which of these passages answers the question best, on a second look?
//!
//! ```text
//! (question, passages) → one score a passage, greater is better
//! ```
//!
//! A search compares what was computed of a passage before the question was asked. A reranker reads
//! question and passage together, which costs a run of a model for each passage:
//!
//! * [`late_interaction`] compares the vectors of their tokens, by the embedding model that is
//!   there anyway;
//! * the reader of the embedding model, by which the built-in answerer finds sentences, says how likely a passage
//!   is to answer ([`reader`](crate::embed::reader));
//! * a cross-encoder is a model that was trained for nothing else ([`cross_encoder`]);
//! * a language model is asked for grades ([`judge`]).
//!
//! Running the models is ragd's business.

pub mod cross_encoder;
pub mod judge;
pub mod late_interaction;

/// The name of the reranker that every embedding model in a folder is.
pub const LATE_INTERACTION: &str = "late_interaction";

/// The name that stands for the reader of the embedding model.
pub const READER: &str = "reader";

/// The name that stands for the language model of `rag.llm`.
pub const LLM: &str = "llm";

/// The places of `scores`, best first; equal scores keep their order.
#[must_use]
pub fn order(scores: &[f32]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..scores.len()).collect();
    places.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    places
}

#[cfg(test)]
mod tests {
    use super::order;

    #[test]
    fn best_first_and_stable() {
        assert_eq!(order(&[0.1, 0.5, 0.1, 0.9]), [3, 1, 0, 2]);
        assert!(order(&[]).is_empty());
    }
}
