//! `rag.daemon_status`.

use pgrx::prelude::*;

use crate::pg::ragd::client;
use crate::pg::server::error::{OrReport, report, unexpected};
use crate::protocol::{Request, Response};

#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)]
fn rag_daemon_status() -> TableIterator<
    'static,
    (
        name!(pid, i32),
        name!(version, String),
        name!(models, Vec<String>),
        name!(waiting, i64),
        name!(remembered, i64),
        name!(cache_hits, i64),
    ),
> {
    match client::call(&Request::Status).or_report() {
        Response::Status(status) => TableIterator::once((
            status.pid as i32,
            status.version,
            status.models,
            status.waiting as i64,
            status.remembered as i64,
            status.cache_hits as i64,
        )),
        other => report(&unexpected(&other)),
    }
}
