//! `rag_answer_stream`.

use pgrx::prelude::*;

use crate::pg::question::request::QuestionRequest;
use crate::pg::server::error::OrReport;
use crate::pg::server::json::ExactJsonb;
use crate::request::QuestionArguments;

#[pg_extern(sql = false)]
#[allow(clippy::too_many_arguments)]
fn rag_answer_stream(
    question: Option<&str>,
    pipeline: Option<&str>,
    strategy: Option<&str>,
    k: Option<i32>,
    mode: Option<&str>,
    filter: Option<ExactJsonb>,
    llm: Option<&str>,
    options: Option<ExactJsonb>,
) -> SetOfIterator<'static, String> {
    let filter = filter.map(|ExactJsonb(filter)| filter);
    let arguments =
        QuestionArguments { k, mode, filter, llm, strategy, ..QuestionArguments::default() };
    let request = QuestionRequest { pipeline, arguments, options, conditions: None };
    let stream = request.stream(question).or_report();
    SetOfIterator::new(stream.map(OrReport::or_report))
}
