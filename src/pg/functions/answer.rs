//! `rag_answer`, `rag_answer_details`, `rag_prompt`.

use pgrx::Uuid;
use pgrx::prelude::*;

use crate::pg::question::request::{QuestionRequest, TracedAnswer};
use crate::pg::server::error::OrReport;
use crate::pg::server::json::{ExactJsonb, Jsonb};
use crate::request::QuestionArguments;

#[pg_extern(sql = false)]
#[allow(clippy::too_many_arguments)]
fn rag_answer(
    question: Option<&str>,
    pipeline: Option<&str>,
    strategy: Option<&str>,
    k: Option<i32>,
    mode: Option<&str>,
    filter: Option<ExactJsonb>,
    llm: Option<&str>,
    options: Option<ExactJsonb>,
) -> Option<String> {
    let filter = filter.map(|ExactJsonb(filter)| filter);
    let arguments =
        QuestionArguments { k, mode, filter, llm, strategy, ..QuestionArguments::default() };
    let request = QuestionRequest { pipeline, arguments, options, conditions: None };
    request.traced_answer(question, false).or_report().answer.text
}

#[pg_extern(sql = false)]
#[allow(clippy::too_many_arguments, clippy::type_complexity)]
fn rag_answer_details(
    question: Option<&str>,
    pipeline: Option<&str>,
    strategy: Option<&str>,
    k: Option<i32>,
    mode: Option<&str>,
    filter: Option<ExactJsonb>,
    llm: Option<&str>,
    options: Option<ExactJsonb>,
) -> TableIterator<
    'static,
    (
        name!(answer, Option<String>),
        name!(supported, Option<bool>),
        name!(confidence, Option<f32>),
        name!(citations, Jsonb),
        name!(context, Jsonb),
        name!(usage, Jsonb),
        name!(trace_id, Option<Uuid>),
        name!(claims, Jsonb),
        name!(faithfulness, Option<f32>),
        name!(needs_review, bool),
        name!(pipeline, String),
    ),
> {
    let filter = filter.map(|ExactJsonb(filter)| filter);
    let arguments =
        QuestionArguments { k, mode, filter, llm, strategy, ..QuestionArguments::default() };
    let request = QuestionRequest { pipeline, arguments, options, conditions: None };
    let TracedAnswer { answer: it, pipeline, trace_id, .. } =
        request.traced_answer(question, false).or_report();
    let (citations, context) = (Jsonb(it.citations), Jsonb(it.context));
    let (usage, claims) = (Jsonb(it.usage), Jsonb(it.claims));
    let (faithfulness, needs_review) = (it.faithfulness, it.needs_review);
    let (text, supported, confidence) = (it.text, it.supported, it.confidence);
    #[rustfmt::skip]
    let row = (text, supported, confidence, citations, context, usage, trace_id, claims, faithfulness, needs_review, pipeline);
    TableIterator::once(row)
}

#[pg_extern(sql = false)]
#[allow(clippy::too_many_arguments)]
fn rag_prompt(
    question: Option<&str>,
    pipeline: Option<&str>,
    strategy: Option<&str>,
    k: Option<i32>,
    mode: Option<&str>,
    filter: Option<ExactJsonb>,
    llm: Option<&str>,
    options: Option<ExactJsonb>,
) -> TableIterator<'static, (name!(role, String), name!(content, String))> {
    let filter = filter.map(|ExactJsonb(filter)| filter);
    let arguments =
        QuestionArguments { k, mode, filter, llm, strategy, ..QuestionArguments::default() };
    let request = QuestionRequest { pipeline, arguments, options, conditions: None };
    let messages = request.prompt(question).or_report();
    TableIterator::new(messages.into_iter().map(|message| (message.role, message.content)))
}
