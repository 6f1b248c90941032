//! `rag.shard_statistics`, `rag.shard_candidates`, `rag.database_number`: what another database asks that has a pipeline
//! of this one as a shard.

use pgrx::prelude::*;

use crate::pg::question::search::{database_number, own_candidates, own_statistics};
use crate::pg::server::error::OrReport;
use crate::pg::server::json::Jsonb;

#[pg_extern(sql = false)]
fn rag_shard_statistics(fcinfo: pg_sys::FunctionCallInfo) -> Vec<f64> {
    // SAFETY: the function is STRICT, and declared with an integer, a bigint and a tsquery.
    unsafe {
        let arguments = (*fcinfo).args.as_slice(3);
        let (pipeline, database) = (arguments[0].value.value() as i32, arguments[1].value.value());
        own_statistics(pipeline, database as i64, arguments[2].value).or_report()
    }
}

#[pg_extern(sql = false)]
fn rag_shard_candidates(pipeline: i32, database: i64, view: Jsonb, request: &[u8]) -> Vec<u8> {
    own_candidates(pipeline, database, &view.0, request).or_report()
}

#[pg_extern(sql = false)]
fn rag_database_number() -> i64 {
    database_number()
}
