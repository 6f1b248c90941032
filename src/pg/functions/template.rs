//! `rag_template_set`, `rag_template_get`.

use pgrx::prelude::*;

use crate::pg::catalog::template;
use crate::pg::server::error::OrReport;
use crate::pg::server::options::present;
use crate::pg::server::sql;

#[pg_extern(sql = false)]
fn rag_template_set(name: Option<&str>, content: Option<&str>, description: Option<&str>) -> i32 {
    sql::refuse_if_read_only(c"rag_template_set()");
    let name = present("name", name).or_report();
    let content = present("content", content).or_report();
    template::set(name, content, description).or_report()
}

#[pg_extern(sql = false)]
fn rag_template_get(name: Option<&str>, version: Option<i32>) -> String {
    present("name", name).and_then(|name| template::content(name, version)).or_report()
}
