//! `rag_graph`.

use pgrx::prelude::*;
use serde_json::{Value, json};

use crate::graph::paths::relations::SaidRelation;
use crate::graph::paths::{CoOccurrence, EntityPath, NameSpan, PathEdge};
use crate::graph::relations::PredicateChoice;
use crate::pg::question::entity_graph::{self, PathQuest};
use crate::pg::server::error::OrReport;
use crate::pg::server::json::Jsonb;
use crate::pg::server::options::names;

type PathRow = (i32, f64, Vec<String>, Jsonb);

#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)]
fn rag_graph(
    question: Option<&str>,
    pipeline: Option<&str>,
    hops: Option<i32>,
    k: Option<i32>,
    predicate: Option<Vec<Option<String>>>,
) -> TableIterator<
    'static,
    (name!(rank, i32), name!(score, f64), name!(entities, Vec<String>), name!(edges, Jsonb)),
> {
    let predicates = names("predicate", predicate).or_report();
    let predicates = predicates.map(PredicateChoice::read).transpose().or_report();
    let quest = PathQuest { text: question, pipeline, hops, most: k, predicates };
    let paths = entity_graph::paths(quest).or_report();
    TableIterator::new((1..).zip(paths).map(row))
}

fn row((rank, path): (i32, EntityPath)) -> PathRow {
    let EntityPath { score, entities, edges } = path;
    let names: Vec<String> = entities.into_iter().map(|it| it.name).collect();
    let pairs = names.windows(2).zip(&edges);
    let edges = pairs.map(|(pair, edge)| described(&pair[0], &pair[1], edge)).collect();
    (rank, score, names, Jsonb(Value::Array(edges)))
}

/// An edge between two entities.
fn described(from: &str, to: &str, edge: &PathEdge) -> Value {
    let CoOccurrence { source_key, chunk_id, chunk_no, from: here, to: there } = &edge.proof;
    let mut described = json!({
        "from": from,
        "to": to,
        "chunks": edge.chunks,
        "source_key": source_key,
        "chunk_id": chunk_id,
        "chunk_no": chunk_no,
        "from_span": span(here),
        "to_span": span(there),
    });
    if let Some(SaidRelation { predicate, is_inverse, method, span: said, .. }) = &edge.relation {
        described["predicate"] = json!(predicate);
        described["inverse"] = json!(is_inverse);
        described["method"] = json!(method);
        described["span"] = span(said);
    }
    described
}

/// A place in a document: the first character and one past the last.
fn span(span: &NameSpan) -> Value {
    span.map_or(Value::Null, |(start, end)| json!([start, end]))
}
