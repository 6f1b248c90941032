//! `rag_redact` and `rag_redactions`.

use pgrx::prelude::*;

use crate::redact::redaction::{Redaction, ReplacedSpan};
use crate::text::character_counter::CharacterCounter;

type RedactionRow = (String, String, i32, i32);

#[pg_extern(sql = false)]
fn rag_redact(input: &str) -> String {
    redacted(input).0
}

#[pg_extern(sql = false)]
fn rag_redactions(
    input: &str,
) -> TableIterator<
    'static,
    (name!(placeholder, String), name!(kind, String), name!(start_char, i32), name!(end_char, i32)),
> {
    let mut counter = CharacterCounter::new(input);
    let rows = redacted(input).1.into_iter().map(|span| row(span, &mut counter));
    TableIterator::new(rows.collect::<Vec<_>>())
}

fn redacted(text: &str) -> (String, Vec<ReplacedSpan>) {
    let interrupt = &mut || {
        pgrx::check_for_interrupts!();
    };
    let mut redaction = Redaction::default();
    redaction.learn(text, interrupt);
    redaction.replace_with_spans(text, interrupt)
}

fn row(span: ReplacedSpan, counter: &mut CharacterCounter<'_>) -> RedactionRow {
    let ReplacedSpan { placeholder, range } = span;
    let kind = placeholder.kind.word().to_lowercase();
    let [start, end] = [range.start, range.end].map(|bytes| counter.count_to(bytes) as i32);
    (placeholder.to_string(), kind, start, end)
}
