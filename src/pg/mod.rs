//! Everything that knows PostgreSQL.
//!
//! The folders stand on each other in this order, and none uses one below it in this list. `functions`
//! decode their arguments, call another folder, and encode the result. SQL text is not here but in
//! `sql/`; [`server::sql`] reads it.

mod server;

mod index;

mod text_search;

mod guarded_sql;

mod catalog;

mod processes;

mod ragd;

mod text_to_sql;

mod agent_tools;

mod changes;

mod derivation;

mod pipeline;

mod ingest;

mod question;

mod evaluate;

mod functions;

#[cfg(feature = "pg_test")]
#[path = "../../pgrx-tests/mod.rs"]
mod tests;

use pgrx::prelude::*;

::pgrx::pg_module_magic!(name, version);

/// Runs once in each process that loads the library.
#[pg_guard]
pub extern "C-unwind" fn _PG_init() {
    server::error::without_backtraces();
    server::guc::define();
    index::hnsw::register_options();
    index::hnsw::register_scan_nodes();
    index::sort_distances::register();
    #[cfg(feature = "pg18")]
    index::explain::register();
    processes::supervisor::register_at_boot();
    processes::launcher::register_at_boot();
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
pgrx::extension_sql_file!("../../sql/install/shard.sql", name = "shard", requires = ["pipeline"]);
pgrx::extension_sql_file!("../../sql/install/queue.sql", name = "queue", requires = ["shard"]);
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
    "../../sql/install/text_to_sql.sql",
    name = "text_to_sql",
    requires = ["conversation"]
);
pgrx::extension_sql_file!(
    "../../sql/install/agent.sql",
    name = "agent",
    requires = ["text_to_sql"]
);
pgrx::extension_sql_file!("../../sql/install/cascade.sql", name = "cascade", requires = ["agent"]);
pgrx::extension_sql_file!("../../sql/install/status.sql", name = "status", requires = ["cascade"]);
pgrx::extension_sql_file!("../../sql/install/wrapper.sql", name = "wrapper", requires = ["status"]);
