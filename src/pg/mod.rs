//! Everything that knows PostgreSQL.
//!
//! Functions decode their arguments, call a stage or ragd, and encode the result. SQL
//! text is not here but in `sql/`; [`sql`] reads it.

mod acting;
mod alter;
mod am;
mod ask;
mod asking;
mod batch;
mod beside;
mod bm25;
mod buffer_hints;
mod cache;
mod capture;
mod catalog;
mod chunk_store;
mod client;
mod content;
mod conversation;
mod create;
mod drain;
mod error;
mod evaluate;
#[cfg(feature = "pg18")]
mod explain;
mod functions;
mod generation;
mod grants;
mod guc;
mod index_am;
mod ingest;
mod install;
mod intake;
mod json;
mod locking;
mod new_pages;
mod opened_index;
mod pages;
mod prepared;
mod provider;
mod queue;
mod random;
mod remake;
mod renewing;
mod represent;
mod rerank;
mod reserve;
mod rewrite;
mod rounds;
mod route;
mod row_security;
mod search;
mod situate;
mod sql;
mod time_limit;
mod timers;
mod trace;
mod transaction;
mod triggers;
mod usage;
mod vector;
mod wait_event;
mod worker;

#[cfg(feature = "pg_test")]
#[path = "../../pgrx-tests/mod.rs"]
mod tests;

use pgrx::prelude::*;

::pgrx::pg_module_magic!(name, version);

/// Runs once in each process that loads the library.
#[pg_guard]
pub extern "C-unwind" fn _PG_init() {
    error::without_backtraces();
    guc::define();
    am::register_options();
    #[cfg(feature = "pg18")]
    explain::register();
    worker::supervisor::register_at_boot();
    worker::launcher::register_at_boot();
}

// The installation script, in the order of its dependencies.
pgrx::extension_sql_file!("../../sql/install/schema.sql", name = "schema", bootstrap);
pgrx::extension_sql_file!("../../sql/install/index.sql", name = "index", requires = ["schema"]);
pgrx::extension_sql_file!("../../sql/install/bm25.sql", name = "bm25", requires = ["schema"]);
pgrx::extension_sql_file!("../../sql/install/model.sql", name = "model", requires = ["schema"]);
pgrx::extension_sql_file!(
    "../../sql/install/pipeline.sql",
    name = "pipeline",
    requires = ["model"]
);
pgrx::extension_sql_file!("../../sql/install/queue.sql", name = "queue", requires = ["pipeline"]);
pgrx::extension_sql_file!(
    "../../sql/install/function.sql",
    name = "function",
    requires = ["queue"]
);
pgrx::extension_sql_file!(
    "../../sql/install/template.sql",
    name = "template",
    requires = ["function"]
);
pgrx::extension_sql_file!(
    "../../sql/install/context.sql",
    name = "context",
    requires = ["template"]
);
pgrx::extension_sql_file!(
    "../../sql/install/strategy.sql",
    name = "strategy",
    requires = ["context"]
);
pgrx::extension_sql_file!("../../sql/install/eval.sql", name = "eval", requires = ["strategy"]);
pgrx::extension_sql_file!("../../sql/install/usage.sql", name = "usage", requires = ["eval"]);
pgrx::extension_sql_file!("../../sql/install/trace.sql", name = "trace", requires = ["usage"]);
pgrx::extension_sql_file!(
    "../../sql/install/conversation.sql",
    name = "conversation",
    requires = ["trace"]
);
pgrx::extension_sql_file!(
    "../../sql/install/cascade.sql",
    name = "cascade",
    requires = ["conversation"]
);
pgrx::extension_sql_file!("../../sql/install/status.sql", name = "status", requires = ["cascade"]);
pgrx::extension_sql_file!("../../sql/install/wrapper.sql", name = "wrapper", requires = ["status"]);
