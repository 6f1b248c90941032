//! How much longer does a table take that gets a graph, too?
//!
//! In each round some other documents become a pipeline without a graph and one with a graph by rules, each from
//! `rag_create_pipeline` until `rag_wait` returns. Who goes first changes.

use std::time::Duration;

use crate::backfill::{fill, fill_pipeline, start};
use crate::report::{Report, Table};
use crate::{Result, Settings, texts};

/// The options of both sides.
const OPTIONS: [&str; 2] = [
    r#"{"backfill": "background"}"#,
    r#"{"backfill": "background", "graph": {"entities": "rules"}}"#,
];

/// The least that is to be left of the rows a second.
const GOAL: f64 = 0.95;

pub fn run(settings: &Settings, report: &mut Report) -> Result<()> {
    let Some(documents) = texts::documents() else {
        report.note("skipped: no judged data; set PG_RAG_DATA");
        return Ok(());
    };
    let (_server, mut client) = start()?;
    let (mut took, mut mentions, mut rows) = ([Duration::ZERO; 2], 0, 0);
    let rounds = settings.rounds.unwrap_or(4);
    for (round, slice) in documents.chunks(settings.documents).take(rounds).enumerate() {
        fill(&mut client, slice)?;
        rows += slice.len();
        for side in [round % 2, 1 - round % 2] {
            let (filled, _) = fill_pipeline(&mut client, OPTIONS[side])?;
            took[side] += filled;
            if side == 1 {
                let count = "SELECT count(*) FROM paper_rag_chunks_mentions";
                mentions += client.query_one(count, &[])?.get::<_, i64>(0);
            }
            client.batch_execute("SELECT rag_drop_pipeline('paper')")?;
        }
    }
    report.note(&format!("{rows} documents of scifact in {rounds} rounds, {mentions} mentions."));
    let mut table = Table::new(["", "seconds", "rows/s", "ratio"]);
    for (name, side) in [("without a graph", took[0]), ("with a graph", took[1])] {
        let seconds = side.as_secs_f64();
        let ratio = took[0].as_secs_f64() / seconds;
        let rate = format!("{:.1}", rows as f64 / seconds);
        table.row([name.to_owned(), format!("{seconds:.2}"), rate, format!("{ratio:.3}")]);
    }
    report.table(&table);
    report.note(&format!("goal: {GOAL} of the rows a second without a graph"));
    Ok(())
}
