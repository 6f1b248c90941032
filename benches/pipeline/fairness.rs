//! Does the work of one role keep another one waiting?
//!
//! Role `bench_b` asks a small pipeline one question after the other, none of which was asked before,
//! and beside that inserts a row, and has a short text read, now and then. First it is alone. Then
//! role `bench_a` fills a large pipeline in the background, embeds arrays of texts, asks with long
//! texts, or has documents read that no time is enough for. At the end `bench_b` is alone once more:
//! what differs from the beginning is the machine's doing.
//!
//! A phase goes on for its time, and until all that was begun in it has ended. Otherwise rows that
//! wait for long would not be counted.
//!
//! Filling a pipeline is compared with `rag_embed` of the same kind of texts: alone, and beside the
//! questions, which want their share of the processor, too.

mod filling;
mod load;
mod probe;

use std::thread;
use std::time::Duration;

use crate::report::{Report, Table};
use crate::{Result, Server, Settings, texts};

use filling::Filling;
use load::{Load, Sessions, Work};
use probe::{Measured, Probe, Times};

/// How long a phase takes where nothing else is asked for.
const TIME: Duration = Duration::from_secs(20);

/// The roles, and whose work it is that `bench_b` waits for.
const ROLES: &str = "
    CREATE ROLE bench_a LOGIN;
    CREATE ROLE bench_b LOGIN;
    GRANT CREATE ON SCHEMA public TO bench_a, bench_b";

/// What goes on while `bench_b` is measured.
struct Phase {
    name: &'static str,
    beside: Beside,
}

enum Beside {
    Nothing,
    Filling,
    Sessions(&'static Load),
}

/// The first one is what the others are compared with.
static PHASES: [Phase; 6] = [
    Phase { name: "idle", beside: Beside::Nothing },
    Phase { name: "backfill", beside: Beside::Filling },
    Phase { name: "bulk rag_embed", beside: Beside::Sessions(&load::BULK) },
    Phase { name: "long queries", beside: Beside::Sessions(&load::LONG_QUERIES) },
    Phase { name: "hostile PDFs", beside: Beside::Sessions(&load::HOSTILE_PDFS) },
    Phase { name: "idle again", beside: Beside::Nothing },
];

/// What came of a phase.
struct Outcome {
    phase: &'static Phase,
    measured: Measured,
    /// What was done beside it.
    work: Option<Work>,
}

pub fn run(settings: &Settings, report: &mut Report) -> Result<()> {
    let Some(documents) = texts::documents() else {
        report.note("skipped: no judged data; set PG_RAG_DATA");
        return Ok(());
    };
    let time = settings.time.unwrap_or(TIME);
    let server = Server::start(&[])?;
    server.session().batch_execute(ROLES)?;
    let rows = load::prepare(&server, &documents, time)?;
    let mut probe = Probe::start(&server, &documents)?;
    report.note(&format!(
        "{} s a phase; bench_b asks {} documents of scifact, bench_a has {rows}.",
        time.as_secs(),
        probe::ROWS
    ));
    probe.settle()?;
    let embedded = Sessions::begin(&server, &load::ALONE);
    thread::sleep(time);
    let embedded = embedded.end(&server)?;
    let filled = Filling::begin(&server)?;
    thread::sleep(time);
    let filled = filled.end(&server)?;
    let mut outcomes = Vec::new();
    for phase in &PHASES {
        probe.settle()?;
        outcomes.push(phase.run(&server, &mut probe, time)?);
    }
    show_times(report, &outcomes);
    report.note(&format!("rag_embed alone: {}", embedded.said));
    report.note(&format!("backfill alone: {}", filled.said));
    show_troubles(report, &outcomes);
    show_rates(report, [&embedded, &filled], &outcomes);
    Ok(())
}

impl Phase {
    fn run(&'static self, server: &Server, probe: &mut Probe, time: Duration) -> Result<Outcome> {
        let (measured, work) = match self.beside {
            Beside::Nothing => (probe.measure(time)?, None),
            Beside::Filling => {
                let filling = Filling::begin(server)?;
                (probe.measure(time)?, Some(filling.end(server)?))
            }
            Beside::Sessions(load) => {
                let sessions = Sessions::begin(server, load);
                (probe.measure(time)?, Some(sessions.end(server)?))
            }
        };
        Ok(Outcome { phase: self, measured, work })
    }
}

impl Outcome {
    /// The phases in which `bench_a` did something.
    fn loaded(all: &[Outcome]) -> impl Iterator<Item = &Outcome> {
        all.iter().filter(|outcome| outcome.work.is_some())
    }

    /// The tokens that were embedded a second beside it.
    fn rate(all: &[Outcome], name: &str) -> Option<f64> {
        all.iter().find(|outcome| outcome.phase.name == name)?.work.as_ref()?.tokens_a_second
    }
}

fn show_times(report: &mut Report, outcomes: &[Outcome]) {
    let head = [
        "phase, ms: p50 / p99",
        "retrieve",
        "p50 to idle",
        "answer",
        "p50 to idle",
        "questions",
        "fresh row",
        "rows",
        "rag_parse",
    ];
    let mut table = Table::new(head);
    let idle = &outcomes[0].measured;
    for Outcome { phase, measured, .. } in outcomes {
        let Measured { retrieve, answer, fresh, parse } = measured;
        table.row([
            phase.name.to_owned(),
            both(retrieve),
            format!("{:.2} ×", retrieve.p50() / idle.retrieve.p50()),
            both(answer),
            format!("{:.2} ×", answer.p50() / idle.answer.p50()),
            (retrieve.count() + answer.count()).to_string(),
            both(fresh),
            fresh.count().to_string(),
            both(parse),
        ]);
    }
    report.table(&table);
    show_goals(report, outcomes);
}

fn both(times: &Times) -> String {
    format!("{:.1} / {:.1}", times.p50(), times.p99())
}

/// The phase that is furthest from each goal.
fn show_goals(report: &mut Report, outcomes: &[Outcome]) {
    let idle = &outcomes[0].measured;
    let worst = |figure: &dyn Fn(&Measured) -> f64| {
        Outcome::loaded(outcomes)
            .map(|outcome| (figure(&outcome.measured), outcome.phase.name))
            .max_by(|(one, _), (other, _)| one.total_cmp(other))
            .unwrap_or((f64::NAN, "nothing"))
    };
    let (fresh, beside) = worst(&|measured| measured.fresh.p99());
    report.note(&format!("fresh row, p99: {fresh:.0} ms beside {beside} (goal: under 1000 ms)"));
    let (question, beside) = worst(&|measured| {
        let retrieve = measured.retrieve.p50() / idle.retrieve.p50();
        retrieve.max(measured.answer.p50() / idle.answer.p50())
    });
    report
        .note(&format!("question, p50: {question:.2} of idle beside {beside} (goal: at most 1.5)"));
}

/// What was done beside the questions, and what failed.
fn show_troubles(report: &mut Report, outcomes: &[Outcome]) {
    for Outcome { phase, measured, work } in outcomes {
        if let Some(work) = work {
            report.note(&format!("{}: {}", phase.name, work.said));
        }
        let Measured { retrieve, answer, fresh, parse } = measured;
        let kinds = [
            ("questions to rag_retrieve", retrieve),
            ("questions to rag_answer", answer),
            ("fresh rows", fresh),
            ("calls of rag_parse", parse),
        ];
        for (kind, times) in kinds {
            if let Some(trouble) = times.trouble() {
                report.note(&format!("{}: of {} {kind} {trouble}", phase.name, times.count()));
            }
        }
    }
}

fn show_rates(report: &mut Report, [embedded, filled]: [&Work; 2], outcomes: &[Outcome]) {
    let embedding = [embedded.tokens_a_second, Outcome::rate(outcomes, "bulk rag_embed")];
    let filling = [filled.tokens_a_second, Outcome::rate(outcomes, "backfill")];
    let ratio = [0, 1].map(|at| Some(filling[at]? / embedding[at]?));
    let mut table = Table::new(["tokens/s", "alone", "beside the questions"]);
    let sides = [
        ("rag_embed; 1 session alone, 4 beside", embedding, 0),
        ("backfill", filling, 0),
        ("ratio", ratio, 3),
    ];
    for (name, figures, digits) in sides {
        let [alone, beside] = figures.map(|figure| match figure {
            Some(figure) => format!("{figure:.digits$}"),
            None => "too few batches".to_owned(),
        });
        table.row([name.to_owned(), alone, beside]);
    }
    report.table(&table);
    let [alone, beside] = ratio.map(|ratio| ratio.unwrap_or(f64::NAN));
    report.note(&format!(
        "backfill over rag_embed: {alone:.2} alone, {beside:.2} beside the questions (goal: at least 0.85)"
    ));
}
