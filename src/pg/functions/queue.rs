//! `rag_wait`, `rag_pause`, `rag_resume`, `rag_retry`, `rag_run`.

use std::time::{Duration, Instant};

use pgrx::datum::Interval;
use pgrx::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::derivation;
use crate::pg::catalog::pipeline::{self, Pipeline, RefreshMode, owned};
use crate::pg::catalog::view;
use crate::pg::changes::noted;
use crate::pg::derivation::extracted_relations;
use crate::pg::ingest::batch::{Runner, RunnerStep};
use crate::pg::ingest::fill::FillProgress;
use crate::pg::ingest::queue;
use crate::pg::processes::registry;
use crate::pg::ragd::client;
use crate::pg::server::error::{OrReport, raise};
use crate::pg::server::interval;
use crate::pg::server::role::as_superuser;
use crate::pg::server::sql;
use crate::pg::server::transaction::{Transactions, non_atomic};

/// How often `rag_wait` looks.
const LOOK: Duration = Duration::from_millis(10);
/// How often it makes sure that there is a worker.
const WAKE: Duration = Duration::from_millis(500);
/// For so long there may be no slot for a worker: another process has perhaps just taken it for
/// that worker.
const NO_SLOT: Duration = Duration::from_secs(3);

#[pg_extern(sql = false)]
fn rag_wait(pipeline: Option<&str>, timeout: Option<Interval>) -> bool {
    let timeout = duration(timeout).or_report();
    let waited = || -> Result<bool> {
        let pipelines = waited_for(pipeline)?;
        let is_done = wait(&pipelines, timeout)?;
        if is_done {
            sql::with_latest_snapshot(|| pipelines.iter().try_for_each(|it| remark_on_unmade(it)))?;
        }
        Ok(is_done)
    };
    waited().or_report()
}

#[pg_extern(sql = false)]
fn rag_pause(pipeline: Option<&str>) -> String {
    sql::refuse_if_read_only(c"rag_pause()");
    set_paused(pipeline, true).or_report()
}

#[pg_extern(sql = false)]
fn rag_resume(pipeline: Option<&str>) -> String {
    sql::refuse_if_read_only(c"rag_resume()");
    let name = set_paused(pipeline, false).or_report();
    noted::wake_at_commit();
    name
}

#[pg_extern(sql = false)]
fn rag_retry(pipeline: Option<&str>, key: Option<&str>) -> i64 {
    sql::refuse_if_read_only(c"rag_retry()");
    let retried =
        pipeline::owned_and_held(pipeline).and_then(|pipeline| retry(&pipeline, key)).or_report();
    noted::wake_at_commit();
    retried
}

#[pg_extern(sql = false)]
fn rag_run(pipeline: Option<&str>, fcinfo: pg_sys::FunctionCallInfo) {
    sql::refuse_if_read_only(c"rag_run()");
    let pipeline = owned(pipeline).or_report();
    non_atomic(fcinfo, "rag_run", || run(&pipeline)).or_report();
}

fn duration(interval: Option<Interval>) -> Result<Duration> {
    let Some(interval) = interval else { return Ok(Duration::MAX) };
    interval::timeout(&interval)
}

/// Has workers leave a pipeline alone, or see to it again; its name.
fn set_paused(pipeline: Option<&str>, is_paused: bool) -> Result<String> {
    let pipeline = owned(pipeline)?;
    pipeline::set_paused(pipeline.id, is_paused)?;
    Ok(pipeline.name)
}

/// Names of the pipelines that are waited for: the one called `name`, the only one, or all that workers
/// see to. A NOTICE says what is not waited for.
fn waited_for(name: Option<&str>) -> Result<Vec<String>> {
    let names = match name {
        None => pipeline::names()?,
        Some(_) => Vec::new(),
    };
    if names.len() < 2 {
        let pipeline = pipeline::resolve(name)?;
        remark_on_own_changes(&pipeline);
        return Ok(vec![pipeline.name]);
    }
    let mut waited_for = Vec::new();
    for name in names {
        let pipeline = pipeline::resolve(Some(&name))?;
        match pipeline.refresh.has_workers() && !pipeline.is_paused {
            true => {
                remark_on_own_changes(&pipeline);
                waited_for.push(name);
            }
            false => {
                notice!("pipeline \"{name}\" is paused or refreshed manually, and not waited for")
            }
        }
    }
    Ok(waited_for)
}

fn remark_on_own_changes(pipeline: &Pipeline) {
    if pipeline.refresh == RefreshMode::Async && noted::has_keys(pipeline.id) {
        let name = &pipeline.name;
        notice!("pipeline \"{name}\" finds what this transaction has changed once it is committed");
    }
}

/// Says what of a pipeline is still being made and has not been waited for.
fn remark_on_unmade(name: &str) -> Result<()> {
    let unmade = match pipeline::resolve(Some(name)) {
        Ok(pipeline) => derivation::unfinished(pipeline.id)?,
        Err(error) if error.kind() == ErrorKind::UndefinedObject => return Ok(()),
        Err(error) => return Err(error),
    };
    if !unmade.is_empty() {
        let kinds = unmade.join(", ");
        notice!(
            "pipeline \"{name}\" finds all chunks, and what is made of them in the background is not waited for: {kinds}"
        );
    }
    Ok(())
}

fn wait(pipelines: &[String], timeout: Duration) -> Result<bool> {
    // SAFETY: reads the clock.
    let now = unsafe { pg_sys::GetCurrentTimestamp() };
    let time = TimestampWithTimeZone::try_from(now)
        .map_err(|_| Error::new(ErrorKind::Internal, "the clock is out of range"))?;
    let (begun, mut woken, mut in_vain) = (Instant::now(), None::<Instant>, None::<Instant>);
    let mut left = pipelines;
    loop {
        // One after the other: what the first one has to find, it has found for good.
        while let Some((first, others)) = left.split_first() {
            match sql::with_latest_snapshot(|| as_superuser(|| has_pending(first, time))) {
                Ok(true) => break,
                Ok(false) => left = others,
                // Dropped meanwhile, which is nothing to one that waits for all.
                Err(error) if error.kind() == ErrorKind::UndefinedObject && pipelines.len() > 1 => {
                    left = others;
                }
                Err(error) => return Err(error),
            }
        }
        if left.is_empty() || begun.elapsed() >= timeout {
            return Ok(left.is_empty());
        }
        if woken.is_none_or(|time| time.elapsed() >= WAKE) {
            match registry::wake() {
                Ok(()) => in_vain = None,
                Err(error) if in_vain.is_some_and(|since| since.elapsed() >= NO_SLOT) => {
                    return Err(error);
                }
                Err(_) => in_vain = in_vain.or_else(|| Some(Instant::now())),
            }
            woken = Some(Instant::now());
        }
        let rest = timeout.saturating_sub(begun.elapsed());
        client::pause(LOOK.min(rest).max(Duration::from_millis(1)));
    }
}

/// Whether something that changed before `time` can't be found yet, or a generation is being made.
/// The pipeline is looked up each time: another may have taken its place.
fn has_pending(name: &str, time: TimestampWithTimeZone) -> Result<bool> {
    let pipeline = pipeline::resolve(Some(name))?;
    let successor = pipeline::successor(pipeline.id)?;
    if successor.is_none() && !queue::is_pending(pipeline.id, time)? {
        return Ok(false);
    }
    let refused = |why: &str, hint: String| {
        let message = format!("pipeline \"{name}\" {why}");
        Err(Error::new(ErrorKind::NotInState, message).hint(hint))
    };
    let quoted = pgrx::spi::quote_literal(name);
    match (pipeline.refresh, pipeline.is_paused) {
        (RefreshMode::Manual, _) => refused(
            "is refreshed manually, and no worker embeds its rows",
            format!("CALL rag_run({quoted})."),
        ),
        (_, true) => refused("is paused", format!("Go on with rag_resume({quoted}).")),
        (_, false) => Ok(true),
    }
}

/// Tries failed rows again and, without a key, has the texts read again about which no reply could be; how many.
fn retry(pipeline: &Pipeline, key: Option<&str>) -> Result<i64> {
    let texts = key.map_or_else(|| extracted_relations::ask_again(pipeline), |_| Ok(0))?;
    let key = key.map(|key| view::key_parts(pipeline, key)).transpose()?;
    Ok(texts + as_superuser(|| queue::retry(pipeline.id, key))?)
}

/// Does all there is to do now, each batch in transactions of its own.
fn run(pipeline: &Pipeline) -> Result<()> {
    let mut runner = Runner::new(Transactions::OfProcedure, Some(pipeline.id), || false);
    let mut progress = FillProgress::start(&pipeline.name);
    loop {
        match runner.step() {
            Ok(RunnerStep::Worked { rows, .. }) => progress.advance(rows, 0),
            Ok(RunnerStep::Idle) => return Ok(()),
            Ok(RunnerStep::Later(time)) => client::pause(time.max(Duration::from_millis(1))),
            Ok(RunnerStep::Passing(failure)) | Err(failure) => raise(&failure),
        }
    }
}
