//! `rag_to_tsvector`, `rag_to_tsquery`, `rag_websearch_to_tsquery` and `rag_question_to_tsquery`.

use pgrx::prelude::*;

use crate::pg::server::error::OrReport;
use crate::pg::text_search::{
    self, MadeTsQuery, MadeTsVector, QuerySyntax, question_to_tsquery, to_tsquery,
};

#[pg_extern(sql = false)]
fn rag_to_tsvector(config: pg_sys::Oid, document: &str) -> MadeTsVector {
    text_search::to_tsvector(config, document)
}

#[pg_extern(sql = false)]
fn rag_to_tsquery(config: pg_sys::Oid, query: &str) -> MadeTsQuery {
    to_tsquery(config, query, QuerySyntax::Operators).or_report()
}

#[pg_extern(sql = false)]
fn rag_websearch_to_tsquery(config: pg_sys::Oid, query: &str) -> MadeTsQuery {
    to_tsquery(config, query, QuerySyntax::Web).or_report()
}

#[pg_extern(sql = false)]
fn rag_question_to_tsquery(config: pg_sys::Oid, question: &str) -> MadeTsQuery {
    question_to_tsquery(config, question).or_report()
}
