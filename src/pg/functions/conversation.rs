//! `rag_conversation`, `rag_conversation_continue`, `rag_conversation_delete`.

use pgrx::Uuid;
use pgrx::prelude::*;

use crate::error::Error;
use crate::options;
use crate::pg::question::conversation;
use crate::pg::question::request::required_question;
use crate::pg::server::error::OrReport;
use crate::pg::server::json::Jsonb;
use crate::pg::server::sql;
use crate::rewrite::history::ToldHistory;

#[pg_extern(sql = false)]
fn rag_conversation(title: Option<&str>) -> Uuid {
    sql::refuse_if_read_only(c"rag_conversation()");
    conversation::begin(title).or_report()
}

#[pg_extern(sql = false)]
fn rag_conversation_continue(question: Option<&str>, history: Option<Jsonb>) -> Option<Uuid> {
    let read = |Jsonb(messages)| options::read::<ToldHistory>("history", messages, &[]);
    let question = required_question(question).or_report();
    let history =
        history.map(read).transpose().map_err(of_argument).or_report().unwrap_or_default();
    history.check("history").map_err(of_argument).or_report();
    conversation::continued(question, &history).or_report()
}

/// An error about the argument `history`, which is read as an option of that name is.
fn of_argument(error: Error) -> Error {
    let Some(rest) = error.message().strip_prefix("option ").map(str::to_owned) else {
        return error;
    };
    let named = Error::new(error.kind(), format!("argument {rest}"));
    match error.hint_text() {
        Some(hint) => named.hint(hint),
        None => named,
    }
}

#[pg_extern(sql = false)]
fn rag_conversation_delete(conversation: Uuid) -> bool {
    sql::refuse_if_read_only(c"rag_conversation_delete()");
    conversation::delete(conversation).or_report()
}
