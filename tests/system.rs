//! Whole servers: what happens when something is killed, missing, full, cancelled or restored.
//!
//! ```text
//! PG_RAG_PG_CONFIG=.../bin/pg_config cargo test --test system
//! ```
//!
//! The extension must be installed in that PostgreSQL (`make install`), and in the older one of
//! PG_RAG_OLD_PG_CONFIG for the test of pg_upgrade. Each test starts
//! servers of its own in a temporary folder, reached over a unix socket there and nowhere
//! else. Times are printed, and held against limits generous enough for a busy machine.

#[path = "system/agent.rs"]
mod agent;
#[path = "system/answer.rs"]
mod answer;
#[path = "system/at_work.rs"]
mod at_work;
#[path = "system/bm25.rs"]
mod bm25;
#[path = "system/callable.rs"]
mod callable;
#[path = "system/called_tools.rs"]
mod called_tools;
#[path = "system/cancel.rs"]
mod cancel;
#[path = "system/citus.rs"]
mod citus;
#[path = "system/cluster.rs"]
mod cluster;
#[path = "system/communities.rs"]
mod communities;
#[path = "system/concurrency.rs"]
mod concurrency;
#[path = "system/crash.rs"]
mod crash;
#[path = "support/cross_encoder.rs"]
mod cross_encoder;
#[path = "system/damage.rs"]
mod damage;
#[path = "system/default_model.rs"]
mod default_model;
#[path = "system/derivation.rs"]
mod derivation;
#[path = "system/differential.rs"]
mod differential;
#[path = "system/documents.rs"]
mod documents;
#[path = "system/dump.rs"]
mod dump;
#[path = "support/embedder.rs"]
mod embedder;
#[path = "support/endless_model.rs"]
mod endless_model;
#[path = "system/evaluation.rs"]
mod evaluation;
#[path = "system/families.rs"]
mod families;
#[path = "system/filtered_scan.rs"]
mod filtered_scan;
#[path = "system/fuzz.rs"]
mod fuzz;
#[path = "system/graph.rs"]
mod graph;
#[path = "system/graph_changes.rs"]
mod graph_changes;
#[path = "system/graph_policies.rs"]
mod graph_policies;
#[path = "system/guarded_sql.rs"]
mod guarded_sql;
#[path = "system/heartbeat.rs"]
mod heartbeat;
#[path = "system/hostile.rs"]
mod hostile;
#[path = "support/http_server.rs"]
mod http_server;
#[path = "support/https_server.rs"]
mod https_server;
#[path = "system/index.rs"]
mod index;
#[path = "system/interrupt.rs"]
mod interrupt;
#[path = "system/kept_replies.rs"]
mod kept_replies;
#[path = "system/large.rs"]
mod large;
#[path = "system/leak.rs"]
mod leak;
#[path = "system/lifetime.rs"]
mod lifetime;
#[path = "system/local_model.rs"]
mod local_model;
#[path = "system/local_strategy.rs"]
mod local_strategy;
#[path = "system/manual.rs"]
mod manual;
#[path = "system/model.rs"]
mod model;
#[path = "system/ner.rs"]
mod ner;
#[path = "system/offered.rs"]
mod offered;
#[path = "system/operations.rs"]
mod operations;
#[path = "system/outage.rs"]
mod outage;
#[path = "system/pipeline.rs"]
mod pipeline;
#[path = "system/process.rs"]
mod process;
#[path = "system/provider.rs"]
mod provider;
#[path = "support/python.rs"]
mod python;
#[path = "support/random.rs"]
mod random;
#[path = "system/redact.rs"]
mod redact;
#[path = "system/relations.rs"]
mod relations;
#[path = "system/represent.rs"]
mod represent;
#[path = "system/rerank.rs"]
mod rerank;
#[path = "system/rewrite.rs"]
mod rewrite;
#[path = "system/roles.rs"]
mod roles;
#[path = "system/shard_cluster.rs"]
mod shard_cluster;
#[path = "system/shard_mishaps.rs"]
mod shard_mishaps;
#[path = "system/shards.rs"]
mod shards;
#[path = "system/situate.rs"]
mod situate;
#[path = "system/standby.rs"]
mod standby;
#[allow(dead_code)]
#[path = "support/static_table.rs"]
mod static_table;
#[path = "system/strangers.rs"]
mod strangers;
#[path = "system/strategy.rs"]
mod strategy;
#[path = "system/stream.rs"]
mod stream;
#[path = "system/text_to_sql.rs"]
mod text_to_sql;
#[allow(dead_code)]
#[path = "support/tiny_e5.rs"]
mod tiny_e5;
#[path = "support/tiny_families.rs"]
mod tiny_families;
#[path = "support/token_classifier.rs"]
mod token_classifier;
#[path = "system/tree.rs"]
mod tree;
#[path = "system/tree_corpus.rs"]
mod tree_corpus;
#[path = "system/tree_found.rs"]
mod tree_found;
#[path = "system/tree_written.rs"]
mod tree_written;
#[path = "system/trust.rs"]
mod trust;
#[path = "system/update.rs"]
mod update;
#[path = "system/upgrade.rs"]
mod upgrade;
