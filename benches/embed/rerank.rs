//! Passages read again.

use std::time::Duration;

use pg_rag::daemon::connection::ClientConnection;
use pg_rag::protocol::{ModelRef, Request, Response};

use crate::Settings;
use crate::data::Data;
use crate::measure::time;
use crate::plain::Plain;
use crate::ragd::Installed;

/// Passages a question.
const PASSAGES: usize = 50;

/// 50 passages of scifact for a question: late interaction in ragd, against plain ONNX Runtime
/// with question and passage as one text, as a cross-encoder of this size would read them.
pub fn rerank(installed: &Installed, data: &Data, settings: &Settings) {
    let set = data.read("scifact");
    let model = installed.model(&settings.file);
    let (ragd, mut plain) = (installed.start(), Plain::load(installed, &model));
    let mut client = ragd.connect();
    let passages: Vec<String> = set.passages.iter().map(|(_, text)| text.clone()).collect();
    call(&mut client, &model, "warm", &passages[..2]);
    plain.embed(&passages[..2]);
    let (mut ours, mut theirs) = (Duration::ZERO, Duration::ZERO);
    for (round, (_, query)) in set.queries.iter().take(settings.rounds).enumerate() {
        let slice = &passages[round * PASSAGES..][..PASSAGES];
        let pairs: Vec<String> = slice.iter().map(|text| format!("{query} {text}")).collect();
        for turn in [round % 2, 1 - round % 2] {
            match turn {
                0 => ours += time(|| call(&mut client, &model, query, slice)).1,
                _ => theirs += time(|| plain.embed(&pairs)).1,
            }
        }
    }
    let each = |took: Duration| took.as_secs_f64() * 1e3 / settings.rounds as f64;
    println!("\nrerank: {PASSAGES} passages of scifact a question, {} questions", settings.rounds);
    println!("  ONNX Runtime   {:8.0} ms", each(theirs));
    println!("  ragd           {:8.0} ms", each(ours));
    println!("  ratio          {:8.3}          (goal: at most 2.5)", each(ours) / each(theirs));
}

fn call(client: &mut ClientConnection, model: &ModelRef, query: &str, passages: &[String]) {
    let (model, query, passages) = (model.clone(), query.to_string(), passages.to_vec());
    match client.call(&Request::Rerank { model, query, passages }).unwrap() {
        Response::Scores { .. } => {}
        other => panic!("{other:?}"),
    }
}
