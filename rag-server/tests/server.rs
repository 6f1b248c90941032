//! The program in front of a PostgreSQL with pg_rag.
//!
//! PG_RAG_TEST_DATABASE_URL names a database where a superuser may make another one; without it the tests say that they
//! are skipped.

#[path = "server/breaks.rs"]
mod breaks;
#[path = "server/encryption.rs"]
mod encryption;
#[path = "server/http.rs"]
mod http;
#[path = "server/lives.rs"]
mod lives;
#[path = "server/mcp.rs"]
mod mcp;
#[path = "server/search.rs"]
mod search;
mod support;
