//! pg_rag's own paths: a question told in pieces, its steps, the sources, and what people think of answers.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::request::JsonBody;
use super::{Caller, InFlight, Server};
use crate::document::{self, Document, Stretch};
use crate::failure::Failure;
use crate::question::{self, History, Piece, Question};
use crate::sse::{self, Frames};

/// Bytes of a document after which no more of it is sent.
const MOST_OF_A_SOURCE: i64 = 10 << 20;

/// Tells an answer as events: `step` with a step of an agent, `piece` with a text, at the end `details`, or `error`.
pub async fn ask(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Arc<Caller>>,
    JsonBody(question): JsonBody<Question>,
) -> Result<Response, Failure> {
    let in_flight = InFlight::new(&server);
    server.check_conversation(&question)?;
    let is_kept = question.converse && server.conversations;
    let history = History { is_kept, ..History::default() };
    let pieces = question::tell(&caller.database, question, history).await?;
    sse::response(pieces, Events, in_flight).await
}

struct Events;

impl Frames for Events {
    fn frames(&mut self, piece: Result<Piece, Failure>) -> String {
        match piece {
            Ok(Piece::Step(step)) => sse::frame(Some("step"), &step.to_string()),
            Ok(Piece::Text(text)) => sse::frame(Some("piece"), &json!({"text": text}).to_string()),
            Ok(Piece::Details(details)) => sse::frame(Some("details"), &details.to_string()),
            Err(failure) => sse::frame(Some("error"), &failure.body().to_string()),
        }
    }
}

/// The steps of an answer, as `rag_explain` has them.
pub async fn explain(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Arc<Caller>>,
    JsonBody(question): JsonBody<Question>,
) -> Result<Json<Value>, Failure> {
    // Its answer becomes a turn, too.
    server.check_conversation(&question)?;
    let steps = question::explain(&mut caller.database.lease().await?, question).await?;
    Ok(Json(json!({"steps": steps})))
}

/// Which document is wanted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    pipeline: String,
    source_key: String,
    #[serde(default)]
    start_char: u32,
}

/// A document in parts, with their places in it.
pub async fn source(
    Extension(caller): Extension<Arc<Caller>>,
    JsonBody(source): JsonBody<Source>,
) -> Result<Json<Document>, Failure> {
    let start = i32::try_from(source.start_char).unwrap_or(i32::MAX);
    let stretch = Stretch { start, most_bytes: MOST_OF_A_SOURCE };
    let mut lease = caller.database.lease().await?;
    let opened = document::open(&mut lease, &source.pipeline, &source.source_key, stretch);
    Ok(Json(opened.await?))
}

/// What somebody thinks of an answer.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feedback {
    trace_id: Uuid,
    score: f32,
    comment: Option<String>,
}

/// Keeps it.
pub async fn feedback(
    Extension(caller): Extension<Arc<Caller>>,
    JsonBody(feedback): JsonBody<Feedback>,
) -> Result<Json<Value>, Failure> {
    let Feedback { trace_id, score, comment } = feedback;
    let mut lease = caller.database.lease().await?;
    let sql = include_str!("../../sql/feedback.sql");
    lease
        .rows(sql, &[(&trace_id, Type::UUID), (&score, Type::FLOAT4), (&comment, Type::TEXT)])
        .await?;
    Ok(Json(json!({"trace_id": trace_id})))
}
