//! `rag_forget_replies`.

use pgrx::prelude::*;

use crate::pg::catalog::{kept_reply, pipeline};
use crate::pg::server::error::OrReport;
use crate::pg::server::sql;

#[pg_extern(sql = false)]
fn rag_forget_replies(pipeline: Option<&str>) -> i64 {
    sql::refuse_if_read_only(c"rag_forget_replies()");
    let pipeline = pipeline::owned(pipeline).or_report();
    kept_reply::forget(pipeline.id).or_report() as i64
}
