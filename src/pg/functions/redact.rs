//! `rag_redact` and `rag_redactions`.

use pgrx::prelude::*;

use crate::error::Result;
use crate::pg::catalog::model;
use crate::pg::ragd::classify;
use crate::pg::server::error::OrReport;
use crate::redact::redaction::{Redaction, ReplacedSpan};
use crate::text::character_counter::CharacterCounter;

type RedactionRow = (String, String, i32, i32);

#[pg_extern(sql = false)]
fn rag_redact(input: Option<&str>, model: Option<&str>) -> Option<String> {
    Some(redacted(input?, model).or_report().0)
}

#[pg_extern(sql = false)]
fn rag_redactions(
    input: Option<&str>,
    model: Option<&str>,
) -> TableIterator<
    'static,
    (name!(placeholder, String), name!(kind, String), name!(start_char, i32), name!(end_char, i32)),
> {
    let Some(input) = input else { return TableIterator::empty() };
    let mut counter = CharacterCounter::new(input);
    let spans = redacted(input, model).or_report().1;
    let rows = spans.into_iter().map(|span| row(span, &mut counter));
    TableIterator::new(rows.collect::<Vec<_>>())
}

/// `text` with placeholders for what the rules find in it, and the token classifier called `model`, if there is one.
fn redacted(text: &str, model: Option<&str>) -> Result<(String, Vec<ReplacedSpan>)> {
    let interrupt = &mut || {
        pgrx::check_for_interrupts!();
    };
    let mut redaction = Redaction::default();
    if let Some(model) = model.map(model::find_token_classifier).transpose()? {
        for (text, labelled) in classify::personal_data([&model], &[text], &mut || Ok(()))? {
            redaction.tell(text, labelled);
        }
    }
    redaction.learn(text, interrupt);
    Ok(redaction.replace_with_spans(text, interrupt))
}

fn row(span: ReplacedSpan, counter: &mut CharacterCounter<'_>) -> RedactionRow {
    let ReplacedSpan { placeholder, range } = span;
    let kind = placeholder.kind.word().to_lowercase();
    let [start, end] = [range.start, range.end].map(|bytes| counter.count_to(bytes) as i32);
    (placeholder.to_string(), kind, start, end)
}
