//! `rag_to_tsvector`, `rag_to_tsquery`, `rag_websearch_to_tsquery` and `rag_question_to_tsquery`.

use pgrx::prelude::*;

use crate::pg::server::error::OrReport;
use crate::pg::text_search::{
    MadeTsQuery, MadeTsVector, QuerySyntax, existing, question_to_tsquery, to_tsquery, to_tsvector,
};

#[pg_extern(sql = false)]
fn rag_to_tsvector(config: pg_sys::Oid, document: &str) -> MadeTsVector {
    existing(config).map(|config| to_tsvector(config, document)).or_report()
}

#[pg_extern(sql = false)]
fn rag_to_tsquery(config: pg_sys::Oid, query: &str) -> MadeTsQuery {
    existing(config)
        .and_then(|config| to_tsquery(config, query, QuerySyntax::Operators))
        .or_report()
}

#[pg_extern(sql = false)]
fn rag_websearch_to_tsquery(config: pg_sys::Oid, query: &str) -> MadeTsQuery {
    existing(config).and_then(|config| to_tsquery(config, query, QuerySyntax::Web)).or_report()
}

#[pg_extern(sql = false)]
fn rag_question_to_tsquery(config: pg_sys::Oid, question: &str) -> MadeTsQuery {
    existing(config).and_then(|config| question_to_tsquery(config, question)).or_report()
}
