//! `rag_verify` and `rag_faithfulness`.

use pgrx::prelude::*;

use crate::verify::{Claim, faithfulness, verify};

type VerifyRow = (i32, String, String, f64, Option<i32>, Option<i32>, Option<i32>);

#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)]
fn rag_verify(
    answer: &str,
    context: Vec<Option<String>>,
) -> TableIterator<
    'static,
    (
        name!(claim_no, i32),
        name!(claim, String),
        name!(verdict, String),
        name!(score, f64),
        name!(context_no, Option<i32>),
        name!(start_char, Option<i32>),
        name!(end_char, Option<i32>),
    ),
> {
    TableIterator::new((1..).zip(checked(answer, &context)).map(row))
}

#[pg_extern(sql = false)]
fn rag_faithfulness(answer: &str, context: Vec<Option<String>>) -> f64 {
    faithfulness(&checked(answer, &context))
}

/// A context that is NULL holds nothing, but keeps its number.
fn checked(answer: &str, context: &[Option<String>]) -> Vec<Claim> {
    let contexts: Vec<&str> = context.iter().map(|text| text.as_deref().unwrap_or("")).collect();
    let interrupt = &mut || {
        pgrx::check_for_interrupts!();
    };
    verify(answer, &contexts, interrupt)
}

fn row((number, claim): (i32, Claim)) -> VerifyRow {
    let Claim { text, verdict, score, evidence, .. } = claim;
    let context = evidence.as_ref().map(|found| found.context as i32 + 1);
    let (start, end) =
        evidence.map(|found| (found.chars.start as i32, found.chars.end as i32)).unzip();
    (number, text, verdict.to_string(), score, context, start, end)
}
