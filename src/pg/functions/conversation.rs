//! `rag_conversation`, `rag_conversation_delete`.

use pgrx::Uuid;
use pgrx::prelude::*;

use crate::pg::question::conversation;
use crate::pg::server::error::OrReport;
use crate::pg::server::sql;

#[pg_extern(sql = false)]
fn rag_conversation(title: Option<&str>) -> Uuid {
    sql::refuse_if_read_only(c"rag_conversation()");
    conversation::begin(title).or_report()
}

#[pg_extern(sql = false)]
fn rag_conversation_delete(conversation: Uuid) -> bool {
    sql::refuse_if_read_only(c"rag_conversation_delete()");
    conversation::delete(conversation).or_report()
}
