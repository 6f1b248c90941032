//! What travels with the calls that are made for a question.

use crate::pg::server::guc::{self, Caching};
use crate::protocol::Lane;

/// On whose account models are called, in which line the calls wait, and which replies are given
/// again. It is made where a question or a batch begins and handed down to each call, so that whoever
/// goes on with an answer later, as a stream does, has it at hand.
#[derive(Clone, Copy, Debug)]
pub struct CallContext {
    /// ID of the pipeline that is charged; 0: none.
    pub pipeline: i32,
    /// The line in which calls wait.
    pub lane: Lane,
    /// Which replies of language models are given again.
    pub caching: Caching,
}

impl CallContext {
    /// Calls in `lane` that are charged to no pipeline, with replies given again as `rag.cache` says.
    pub fn in_lane(lane: Lane) -> CallContext {
        CallContext { pipeline: 0, lane, caching: guc::cache() }
    }

    /// Calls for which a user waits.
    pub fn query() -> CallContext {
        CallContext::in_lane(Lane::Query)
    }

    /// Calls that wait behind those for whose answers users wait.
    pub fn bulk() -> CallContext {
        CallContext::in_lane(Lane::Bulk)
    }

    /// These calls, charged to the pipeline with this ID.
    #[must_use]
    pub fn for_pipeline(self, pipeline: i32) -> CallContext {
        CallContext { pipeline, ..self }
    }

    /// These calls with another policy for replies, where `caching` names one.
    #[must_use]
    pub fn with_caching(self, caching: Option<Caching>) -> CallContext {
        CallContext { caching: caching.unwrap_or(self.caching), ..self }
    }
}
