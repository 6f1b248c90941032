//! Does a worker that is always at work grow?
//!
//! Fifty rows a second are inserted, each committed by itself, and once a second the memory that
//! each process has for itself is read: RssAnon, since shared buffers count as resident too, and
//! grow with every page that a process touches for the first time. The first half of the time is
//! for caches to fill; the slope is that of the second half. A single step there looks like a
//! slope, so sizes in between are printed too; with 150 seconds the steps are over by half-time.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use postgres::Client;

use crate::figures::slope;
use crate::report::{Report, Table};
use crate::{Result, Server, Settings, process, texts};

/// How long rows are inserted where nothing else is asked for.
const TIME: Duration = Duration::from_secs(60);

const ROWS_A_SECOND: u32 = 50;

const SETUP: &str = "
    CREATE TABLE note (id integer PRIMARY KEY, content text NOT NULL);
    SELECT rag_create_pipeline('note', 'content')";

const WORKERS: &str = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'pg_rag worker'";

/// Kilobytes of a process by the seconds since the start.
type Samples = BTreeMap<(&'static str, u32), Vec<(f64, f64)>>;

pub fn run(settings: &Settings, report: &mut Report) -> Result<()> {
    let time = settings.time.unwrap_or(TIME);
    let server = Server::start(&[])?;
    let mut client = server.session();
    client.batch_execute(SETUP)?;
    client.batch_execute("SELECT rag_embed('the model is loaded by this')")?;
    let is_over = AtomicBool::new(false);
    let mut inserter = server.session();
    let (samples, inserted) = thread::scope(|scope| {
        let inserting = scope.spawn(|| insert(&mut inserter, &is_over));
        let samples = watch(&server, &mut client, time);
        is_over.store(true, Ordering::SeqCst);
        (samples, inserting.join())
    });
    let inserted = inserted.map_err(|_| "the inserts ended early")??;
    let left: i64 = client
        .query_one("SELECT pending_rows + unqueued_changes FROM rag.pipeline_status", &[])?
        .get(0);
    let seconds = time.as_secs();
    report.note(&format!(
        "{inserted} notes of two sentences in {seconds} seconds, {:.0} a second; {left} waited at the end.",
        f64::from(inserted) / seconds as f64
    ));
    show(report, &samples?, time);
    Ok(())
}

/// Inserts at an even pace until it is over; how many rows.
fn insert(client: &mut Client, is_over: &AtomicBool) -> Result<i32> {
    let insert = client.prepare("INSERT INTO note VALUES ($1, $2)")?;
    let (started, mut id) = (Instant::now(), 0);
    while !is_over.load(Ordering::SeqCst) {
        client.execute(&insert, &[&id, &texts::note(id as usize)])?;
        id += 1;
        let due = Duration::from_secs(1) * id as u32 / ROWS_A_SECOND;
        thread::sleep(due.saturating_sub(started.elapsed()));
    }
    Ok(id)
}

fn watch(server: &Server, client: &mut Client, time: Duration) -> Result<Samples> {
    let mut samples = Samples::new();
    let started = Instant::now();
    for second in 1.. {
        let due = Duration::from_secs(second);
        if due > time {
            break;
        }
        thread::sleep(due.saturating_sub(started.elapsed()));
        let workers = client.query(WORKERS, &[])?;
        let workers = workers.iter().map(|row| ("worker", row.get::<_, i32>(0) as u32));
        let ragd = process::ragd(server.cluster.postmaster_pid()).map(|ragd| ("ragd", ragd));
        for (name, process) in workers.chain(ragd) {
            if let Some(kilobytes) = anonymous(process) {
                let point = (started.elapsed().as_secs_f64(), kilobytes);
                samples.entry((name, process)).or_default().push(point);
            }
        }
    }
    Ok(samples)
}

/// What a process has for itself, in kilobytes; `None` where it has gone.
fn anonymous(process: u32) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    line.trim().split(' ').next()?.parse().ok()
}

fn show(report: &mut Report, samples: &Samples, time: Duration) {
    let head =
        ["process", "seconds seen", "first kB", "half-way kB", "last kB", "kB a minute", "ratio"];
    let mut table = Table::new(head);
    let half = time.as_secs_f64() / 2.0;
    for ((name, process), points) in samples {
        let later: Vec<(f64, f64)> = points.iter().filter(|(x, _)| *x >= half).copied().collect();
        let size = |point: Option<&(f64, f64)>| point.map_or(f64::NAN, |(_, y)| *y);
        let sizes = [points.first(), later.first(), points.last()].map(size);
        let [first, middle, last] =
            sizes.map(|size| if size.is_nan() { String::new() } else { format!("{size:.0}") });
        let growth = slope(&later).map(|a_second| format!("{:+.1}", 60.0 * a_second));
        let ratio = if sizes[1].is_nan() {
            String::new()
        } else {
            format!("{:.3} ×", sizes[2] / sizes[1])
        };
        let seen = points.len().to_string();
        let name = format!("{name} {process}");
        table.row([name, seen, first, middle, last, growth.unwrap_or_default(), ratio]);
    }
    report.table(&table);
    for ((name, process), points) in samples {
        report.note(&format!("{name} {process}, kB in tenths of its time: {}", tenths(points)));
    }
    report
        .note("The slope is by least squares over the second half; the ratio is last to half-way.");
}

/// Sizes now and then: they tell a steady growth from a single step.
fn tenths(points: &[(f64, f64)]) -> String {
    let step = points.len().div_ceil(10).max(1);
    let sizes = points.iter().step_by(step).chain(points.last());
    sizes.map(|(_, size)| format!("{size:.0}")).collect::<Vec<_>>().join(" ")
}
