//! `rag_add_tool`, `rag_drop_tool`.

use pgrx::prelude::*;

use crate::pg::agent_tools::registry;
use crate::pg::server::error::OrReport;
use crate::pg::server::options::present;
use crate::pg::server::sql;

#[pg_extern(sql = false)]
fn rag_add_tool(name: Option<&str>, function: Option<pg_sys::Oid>, description: Option<&str>) {
    sql::refuse_if_read_only(c"rag_add_tool()");
    let name = present("name", name).or_report();
    let function = present("function", function).or_report();
    let description = present("description", description).or_report();
    registry::add(name, function, description).or_report();
}

#[pg_extern(sql = false)]
fn rag_drop_tool(name: Option<&str>) -> bool {
    sql::refuse_if_read_only(c"rag_drop_tool()");
    registry::remove(present("name", name).or_report()).or_report()
}
