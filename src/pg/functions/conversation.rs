//! `rag_conversation`.

use pgrx::Uuid;
use pgrx::prelude::*;

use crate::pg::conversation;
use crate::pg::error::OrReport;
use crate::pg::sql;

#[pg_extern(sql = false)]
fn rag_conversation(title: Option<&str>) -> Uuid {
    sql::refuse_if_read_only(c"rag_conversation()");
    conversation::begin(title).or_report()
}
