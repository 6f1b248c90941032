//! Watches the workers of a database while one of them is in a step for long.
//!
//! It runs no code of users and takes no place among the workers. If there is work that the others
//! have not in hand, and a place, it starts a worker for it. If a session wants to drop the
//! database, it ends the workers, since code of a user may hold one for as long as
//! `rag.document_timeout`, and in it nothing can look around.

use std::time::{Duration, Instant};

use pgrx::prelude::*;

use super::worker::{self, connect, handle_interrupts, handle_signals, is_database_wanted};
use crate::pg::ingest::queue;
use crate::pg::processes::registry::{self, WatcherLock, WorkerRole};
use crate::pg::server::role::as_superuser;
use crate::pg::server::sql::{self, query};
use crate::pg::server::transaction::Transactions;

/// Between two looks at the workers.
const LOOK_AROUND: Duration = Duration::from_millis(500);
/// It leaves after so long without anything to watch.
const PATIENCE: Duration = Duration::from_secs(5);
/// A worker that was started has found its work after so long, if it found a place.
const START_AGAIN: Duration = Duration::from_secs(2);

/// The main function of a watcher's process.
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn pg_rag_watcher_main(argument: pg_sys::Datum) {
    let (database, _) = registry::argument(argument);
    handle_signals();
    match WatcherLock::take(database) {
        Ok(Some(watch)) => {
            connect(database);
            live(&watch, database);
        }
        Ok(None) => {}
        Err(error) => log!("{error}"),
    }
}

fn live(watch: &WatcherLock, database: pg_sys::Oid) {
    let mut needed = Instant::now();
    let mut started: Option<Instant> = None;
    while needed.elapsed() < PATIENCE {
        handle_interrupts();
        if is_database_wanted() {
            end_workers();
            return;
        }
        if watch.is_needed() {
            needed = Instant::now();
            let is_due = started.is_none_or(|time| time.elapsed() >= START_AGAIN);
            if is_due && watch.has_room() && is_anything_left() {
                started = Some(Instant::now());
                // If there is no slot, it is tried again.
                drop(registry::start(database, WorkerRole::Deputy));
            }
        }
        worker::wait_latch(LOOK_AROUND);
    }
}

/// Whether there is something to do that no process has in hand.
fn is_anything_left() -> bool {
    let look = || {
        as_superuser(|| {
            Ok(queue::changed(None, &[])?.is_some() || !queue::workable_apart(None)?.is_empty())
        })
    };
    // What is out of order may have come right the next time.
    Transactions::OfWorker.run(look).unwrap_or(false)
}

/// Ends all workers of this database.
fn end_workers() {
    let end = || sql::execute(query!(worker.end_workers), &[]);
    if let Err(failure) = Transactions::OfWorker.run(end) {
        log!("pg_rag watcher: {}: {}", failure.sqlstate, failure.message);
    }
}
