//! How often are the rows those of a person's query, and how often is a question refused that has no answer?

use std::time::Instant;

use postgres::Client;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::outcome::{Asked, Ending, Endings, Log};
use crate::questions::Questions;
use crate::report::{Report, Table};
use crate::rows::FoundRows;
use crate::settings::{Part, Settings};
use crate::{Result, model, session, share};

/// What is aimed at: right with one attempt, right with all, and wrong.
const GOALS: &str = "goals for the 40 questions of the set basic: 24 right with one attempt and 34 with three, at most 1 wrong";

pub fn measure(
    cluster: &Cluster,
    questions: &Questions,
    settings: &Settings,
    report: &mut Report,
) -> Result<()> {
    report.heading("Execution accuracy");
    if !model::prepare(cluster, questions, settings)? {
        report.note(
            "skipped: no llama.cpp or no model; make bench-text-to-sql GGUF=/path/model.gguf",
        );
        return Ok(());
    }
    let mut log = Log::new(settings.log.as_deref())?;
    if settings.measures(Part::Accuracy) {
        accuracy(cluster, questions, settings, &mut log, report)?;
    }
    if settings.measures(Part::Refusals) {
        refusals(cluster, questions, settings, &mut log, report)?;
    }
    Ok(())
}

fn accuracy(
    cluster: &Cluster,
    questions: &Questions,
    settings: &Settings,
    log: &mut Log,
    report: &mut Report,
) -> Result<()> {
    let mut halves = [Endings::default(), Endings::default()];
    for (number, judged) in questions.some(settings) {
        let mut client = session(cluster, &judged.database)?;
        let expected: Vec<FoundRows> = judged
            .queries()
            .iter()
            .flatten()
            .filter_map(|query| rows(&mut client, query))
            .collect();
        if expected.is_empty() {
            continue;
        }
        let asked = ask(&mut client, &judged.question, &judged.instructions, settings)?;
        let ending = asked.ending(&expected);
        halves[number % 2].count(ending, asked.is_wider_than(&expected), asked.seconds);
        log.add(judged, &asked, ending, &expected)?;
    }
    show(report, &halves, settings);
    Ok(())
}

/// With the halves apart, as words were chosen by what went wrong with the odd ones.
fn show(report: &mut Report, [even, odd]: &[Endings; 2], settings: &Settings) {
    let all = even.with(odd);
    let mut table = Table::new(["ending", "odd numbers", "even numbers", "all"]);
    let mut row = |name: &str, of: &dyn Fn(&Endings) -> usize| {
        let cell = |it: &Endings| share(of(it), it.asked());
        table.row([name.to_owned(), cell(odd), cell(even), cell(&all)]);
    };
    row("right with the first query", &|it| it.of(Ending::RightAtOnce));
    row(&format!("right within {} attempts", settings.attempts), &Endings::right);
    row("... of these with columns beside those of a person's query", &|it| it.wider);
    row("other rows than a person's query", &|it| it.of(Ending::Wrong));
    row("refused", &|it| it.of(Ending::Refused));
    row("no query that runs", &|it| it.of(Ending::Failed));
    report.table(&table);
    report.note(&format!("{:.1} seconds per question", all.seconds()));
    report.note(GOALS);
}

fn refusals(
    cluster: &Cluster,
    questions: &Questions,
    settings: &Settings,
    log: &mut Log,
    report: &mut Report,
) -> Result<()> {
    let (mut asked, mut refused) = ([0, 0], [0, 0]);
    for (number, judged) in questions.without_answer(settings) {
        let mut client = session(cluster, &judged.database)?;
        let reply = ask(&mut client, &judged.question, "", settings)?;
        let ending = reply.ending(&[]);
        asked[number % 2] += 1;
        refused[number % 2] += usize::from(ending == Ending::Refused);
        log.add(judged, &reply, ending, &[])?;
    }
    let parts = [("all", 2), ("odd numbers", 1), ("even numbers", 0)];
    for (name, half) in parts {
        let sum = |counts: [usize; 2]| counts.get(half).copied().unwrap_or(counts[0] + counts[1]);
        let share = share(sum(refused), sum(asked));
        report.note(&format!("refused of those without an answer, {name}: {share}"));
    }
    Ok(())
}

fn ask(
    client: &mut Client,
    question: &str,
    instructions: &str,
    settings: &Settings,
) -> Result<Asked> {
    let mut options = json!({"attempts": settings.attempts, "max_rows": 10_000, "timeout": 30});
    options.as_object_mut().into_iter().for_each(|it| it.extend(settings.options.clone()));
    let question = format!("{question} {instructions}");
    let query = "SELECT sql, rows::text, reason, attempts::text, usage::text
                 FROM rag_sql($1, llm => 'writer', options => $2::text::jsonb)";
    let begun = Instant::now();
    let found = client.query_one(query, &[&question.trim(), &options.to_string()]);
    let seconds = begun.elapsed().as_secs_f64();
    let row = match found {
        Ok(row) => row,
        Err(error) => return Ok(Asked::failed(&error, seconds)),
    };
    let parsed = |column: usize| -> Result<Value> {
        let text: Option<String> = row.get(column);
        Ok(text.map_or(Ok(Value::Null), |text| serde_json::from_str(&text))?)
    };
    let rows = parsed(1)?.as_array().map(|rows| FoundRows::of(rows));
    let (sql, reason) = (row.get(0), row.get(2));
    let (attempts, usage) = (parsed(3)?, parsed(4)?);
    Ok(Asked { rows, sql, reason, attempts, usage, seconds })
}

/// The rows of a person's query; `None` where it does not run.
fn rows(client: &mut Client, query: &str) -> Option<FoundRows> {
    let found = client
        .query("SELECT data::text FROM rag_sql_run($1, 10000, timeout => '30 s')", &[&query])
        .ok()?;
    let row = |row: &postgres::Row| serde_json::from_str::<Value>(row.get(0)).ok();
    let rows: Option<Vec<Value>> = found.iter().map(row).collect();
    Some(FoundRows::of(&rows?))
}
