//! `rag_answer_stream`.

use pgrx::JsonB;
use pgrx::prelude::*;

use super::answer::Wish;
use crate::pg::error::OrReport;

#[pg_extern(sql = false)]
#[allow(clippy::too_many_arguments)]
fn rag_answer_stream(
    question: Option<&str>,
    pipeline: Option<&str>,
    strategy: Option<&str>,
    k: Option<i32>,
    mode: Option<&str>,
    filter: Option<JsonB>,
    llm: Option<&str>,
    options: Option<JsonB>,
) -> SetOfIterator<'static, String> {
    let wish = Wish { pipeline, strategy, k, mode, filter, llm, options };
    let telling = wish.tell(question).or_report();
    SetOfIterator::new(telling.map(OrReport::or_report))
}
