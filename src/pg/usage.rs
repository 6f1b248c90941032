//! What the calls of this session to ragd have taken: tokens that were embedded, calls of language
//! models and their tokens.
//!
//! Counted where all answers pass, so that whatever a retrieval asks for is part of it.

use std::cell::Cell;

use crate::daemon::protocol::Response;

thread_local! {
    static USED: Cell<Usage> = const { Cell::new(Usage::NONE) };
}

/// What has been used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens that went through an embedding model.
    pub embedding_tokens: u64,
    /// Calls of a language model, those that were made again included.
    pub llm_calls: u64,
    /// Tokens that a language model has read and written, as far as its provider says.
    pub llm_tokens: u64,
}

impl Usage {
    const NONE: Usage = Usage { embedding_tokens: 0, llm_calls: 0, llm_tokens: 0 };
}

/// Adds what `response` says.
pub fn note(response: &Response) {
    let mut used = USED.get();
    match response {
        Response::Vectors { tokens, .. } => used.embedding_tokens += tokens,
        Response::Text(generated) => {
            used.llm_calls += u64::from(generated.attempts);
            used.llm_tokens += generated.prompt_tokens.unwrap_or_default();
            used.llm_tokens += generated.completion_tokens.unwrap_or_default();
        }
        _ => {}
    }
    USED.set(used);
}

/// What has been used since the last call, for which counting begins anew.
pub fn take() -> Usage {
    USED.replace(Usage::NONE)
}
