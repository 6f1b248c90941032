//! `rag_answer_stream`.

use pgrx::prelude::*;

use crate::pg::question::request::AnswerRequest;
use crate::pg::server::error::OrReport;
use crate::pg::server::json::Jsonb;

#[pg_extern(sql = false)]
#[allow(clippy::too_many_arguments)]
fn rag_answer_stream(
    question: Option<&str>,
    pipeline: Option<&str>,
    strategy: Option<&str>,
    k: Option<i32>,
    mode: Option<&str>,
    filter: Option<Jsonb>,
    llm: Option<&str>,
    options: Option<Jsonb>,
) -> SetOfIterator<'static, String> {
    let request = AnswerRequest { pipeline, strategy, k, mode, filter, llm, options };
    let stream = request.stream(question).or_report();
    SetOfIterator::new(stream.map(OrReport::or_report))
}
