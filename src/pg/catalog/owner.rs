//! Which role a pipeline belongs to: the owner of its source.

use super::pipeline::Pipeline;
use crate::pg::server::role::as_owner_of;
use crate::pg::server::time_limit;

/// Does `work` as the owner of a pipeline's source: what is of users may run code of theirs. In a worker
/// it has the time of a document.
pub fn as_owner<T>(pipeline: &Pipeline, work: impl FnOnce() -> T) -> T {
    let _acting = as_owner_of(pipeline.source.oid);
    time_limit::limited(work)
}

/// Does `work` that looks at all rows of the source or all chunks as the owner of the source. In a
/// worker it has the more time the more rows there are.
pub fn as_owner_of_all<T>(pipeline: &Pipeline, work: impl FnOnce() -> T) -> T {
    let _acting = as_owner_of(pipeline.source.oid);
    time_limit::limited_by_rows(&[pipeline.source.oid, pipeline.chunk_table.oid], work)
}
