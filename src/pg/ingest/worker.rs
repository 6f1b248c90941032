//! A pipeline worker: a background worker with a connection to one database.
//!
//! It does what there is to do and then waits on its latch, which the next commit that changes a
//! source sets. Once a second it looks whether a session wants to drop the database, which its
//! connection would prevent. After a minute without work it leaves; the next commit starts another.

use std::ffi::CStr;
use std::time::{Duration, Instant};

use pgrx::prelude::*;

use super::slow::Steps;
use crate::pg::changes::intake;
use crate::pg::ingest::batch::{Runner, RunnerStep};
use crate::pg::ingest::queue;
use crate::pg::processes::registry::{self, WorkerRole, WorkerSlot};
use crate::pg::processes::supervisor;
use crate::pg::server::role::{self, Acting, SUPERUSER};
use crate::pg::server::time_limit;
use crate::pg::server::transaction::{Failure, Outcome, Transactions};

/// Between two looks whether a session needs the database empty.
const LOOK_AROUND: Duration = Duration::from_secs(1);
/// Between two looks for work without being woken: for what PREPARE TRANSACTION left, and the like.
const LOOK_FOR_WORK: Duration = Duration::from_secs(10);
/// A worker without work for so long leaves.
const PATIENCE: Duration = Duration::from_secs(60);
/// A worker that other databases wait for leaves after so much work.
const SHIFT: Duration = Duration::from_secs(5);
/// Full batches without a rest from which on another worker is worth its start.
const MUCH: u32 = 2;

/// Settings of a worker, whatever is set for its database. What it does can be done again: so it
/// does not wait for the disk at each of its commits, nor for long for a lock, with all other
/// pipelines behind it, and if it is in a deadlock with a session, it is the one that finds out.
/// It reads contents through views. Minor versions that do not have a setting pass it by.
const SETTINGS: &[(&CStr, &CStr)] = &[
    (c"search_path", c"pg_catalog, pg_temp"),
    (c"row_security", c"on"),
    (c"restrict_nonsystem_relation_kind", c""),
    (c"synchronous_commit", c"off"),
    (c"default_transaction_read_only", c"off"),
    (c"default_transaction_isolation", c"read committed"),
    (c"statement_timeout", c"0"),
    (c"lock_timeout", c"2s"),
    (c"deadlock_timeout", c"50ms"),
    (c"idle_in_transaction_session_timeout", c"0"),
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    (c"transaction_timeout", c"0"),
];

/// The main function of a worker's process.
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn pg_rag_worker_main(argument: pg_sys::Datum) {
    let (database, role) = registry::argument(argument);
    handle_signals();
    match WorkerSlot::take(database, role) {
        Ok(Some(place)) => {
            connect(database);
            time_limit::begin();
            role::work_for_owners();
            registry::mark_active(database);
            PipelineWorker::new(place, database, role).live();
        }
        Ok(None) => {}
        Err(error) => log!("{error}"),
    }
}

/// Has the process end as a session does.
pub fn handle_signals() {
    // SAFETY: as a background worker does that is to end like a session: `die` has waits and
    // statements end at once.
    unsafe {
        #[cfg(not(feature = "pg18"))]
        use pg_sys::pqsignal as set;
        #[cfg(feature = "pg18")]
        use pg_sys::pqsignal_be as set;
        set(pg_sys::SIGTERM as i32, Some(unguarded::die));
        set(pg_sys::SIGHUP as i32, Some(unguarded::SignalHandlerForConfigReload));
        pg_sys::BackgroundWorkerUnblockSignals();
    }
}

/// PostgreSQL's own signal handlers, which raise nothing.
mod unguarded {
    unsafe extern "C-unwind" {
        pub fn die(signal: i32);
        pub fn SignalHandlerForConfigReload(signal: i32);
    }
}

/// Connects to the database that is the process's for its life.
pub fn connect(database: pg_sys::Oid) {
    // SAFETY: called once; the database of a worker is fixed. The settings are constants.
    unsafe {
        pg_sys::BackgroundWorkerInitializeConnectionByOid(database, pg_sys::InvalidOid, 0);
        for (name, value) in SETTINGS {
            if pg_sys::GetConfigOption(name.as_ptr(), true, false).is_null() {
                continue;
            }
            pg_sys::SetConfigOption(
                name.as_ptr(),
                value.as_ptr(),
                pg_sys::GucContext::PGC_SUSET,
                pg_sys::GucSource::PGC_S_OVERRIDE,
            );
        }
    }
}

/// Why a worker waits.
enum Wait {
    /// It waits for work.
    Idle,
    /// It waits for work, but no longer than until something can be tried again.
    Later(Duration),
    /// It waits for something that is out of order.
    Passing(Duration),
}

struct PipelineWorker {
    place: WorkerSlot,
    database: pg_sys::Oid,
    role: WorkerRole,
    runner: Runner,
    steps: Steps,
    last_work: Instant,
    began: Instant,
    /// Full batches since there was nothing to do.
    full: u32,
    helper_started: Option<Instant>,
}

impl PipelineWorker {
    fn new(place: WorkerSlot, database: pg_sys::Oid, role: WorkerRole) -> PipelineWorker {
        let now = Instant::now();
        let runner = Runner::new(Transactions::OfWorker, None, is_database_wanted);
        let runner = match role {
            WorkerRole::Leader => runner,
            WorkerRole::Helper => runner.without_derivations(),
            WorkerRole::Deputy => runner.apart(),
        };
        let steps = Steps::new(place.alarm());
        PipelineWorker {
            place,
            database,
            role,
            runner,
            steps,
            last_work: now,
            began: now,
            full: 0,
            helper_started: None,
        }
    }

    fn live(mut self) {
        let mut leaves = false;
        while !leaves {
            handle_interrupts();
            if is_database_wanted() || !matches!(self.has_extension(), Ok(true)) {
                break;
            }
            report_activity(true);
            let step = self.steps.take(|| self.runner.step());
            report_activity(false);
            leaves = match step {
                Ok(RunnerStep::Worked { is_full, .. }) => self.worked(is_full),
                Ok(RunnerStep::Idle) => self.wait(&Wait::Idle),
                Ok(RunnerStep::Later(time)) => self.wait(&Wait::Later(time)),
                Ok(RunnerStep::Passing(failure)) | Err(failure) => {
                    log_failure(&failure);
                    if self.is_in_the_way() {
                        break;
                    }
                    self.wait(&Wait::Passing(LOOK_AROUND))
                }
            };
            leaves = leaves && self.may_leave();
        }
        if self.role == WorkerRole::Leader {
            registry::unmark_active(self.database);
        }
        self.place.give_back();
    }

    fn has_extension(&self) -> Outcome<bool> {
        Transactions::OfWorker.run(|| Ok(intake::table(c"queue").is_some()))
    }

    /// Whether this worker has the place that ragd needs, without which it can do nothing. Then the
    /// database gets in line, and the session that calls ragd next, or commits, starts the worker.
    fn is_in_the_way(&self) -> bool {
        let is_alone = supervisor::start().is_err() && matches!(supervisor::runs(), Ok(false));
        if is_alone && self.role == WorkerRole::Leader {
            registry::put_in_line(self.database, LOOK_FOR_WORK);
        }
        is_alone
    }

    /// Whether to leave after work.
    fn worked(&mut self, is_full: bool) -> bool {
        let now = Instant::now();
        self.last_work = now;
        self.full += u32::from(is_full);
        let is_due = self.helper_started.is_none_or(|time| time.elapsed() >= LOOK_AROUND);
        if self.full >= MUCH && self.role == WorkerRole::Leader && is_due {
            self.helper_started = Some(now);
            // If there is no room, one worker does it all.
            drop(registry::start(self.database, WorkerRole::Helper));
        }
        self.began.elapsed() >= SHIFT && registry::others_wait(self.database)
    }

    /// Waits until there is something to do; whether to leave instead.
    fn wait(&mut self, wait: &Wait) -> bool {
        if self.role != WorkerRole::Leader || is_database_wanted() {
            return true;
        }
        self.full = 0;
        let (longest, is_done) = match wait {
            Wait::Passing(time) => (*time, false),
            Wait::Later(time) => (time_to_work().unwrap_or(LOOK_FOR_WORK).min(*time), false),
            Wait::Idle => {
                let next = time_to_work();
                (next.unwrap_or(LOOK_FOR_WORK), next.is_none())
            }
        };
        // What others see of the tables' statistics is up to date while nothing changes.
        // SAFETY: called outside a transaction.
        unsafe { pg_sys::pgstat_report_stat(true) };
        let end = Instant::now() + longest.min(LOOK_FOR_WORK);
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return is_done && self.last_work.elapsed() >= PATIENCE;
            }
            let was_woken = wait_latch(left.min(LOOK_AROUND));
            handle_interrupts();
            if is_database_wanted() || !matches!(self.has_extension(), Ok(true)) {
                return true;
            }
            // Also where it was woken: then it gets in line itself.
            if registry::others_wait(self.database) && self.last_work.elapsed() >= LOOK_AROUND {
                return true;
            }
            // What is out of order does not get better by being woken.
            if was_woken && !matches!(wait, Wait::Passing(_)) {
                return false;
            }
        }
    }

    /// A session that commits now may still think that it has woken this worker: so the lock goes
    /// first, and then there is one last look.
    fn may_leave(&mut self) -> bool {
        if self.role != WorkerRole::Leader || is_database_wanted() {
            return true;
        }
        self.place.stop_leading();
        if registry::others_wait(self.database) {
            if let Some(time) = time_to_work() {
                registry::put_in_line(self.database, time);
            }
            return true;
        }
        match self.steps.take(|| self.runner.step()) {
            Ok(RunnerStep::Idle) if time_to_work().is_none() => true,
            _ => !self.place.lead_again(),
        }
    }
}

/// How long it takes until there is something to do; `None` where nothing waits.
fn time_to_work() -> Option<Duration> {
    let seconds = Transactions::OfWorker.run(|| {
        let _acting = Acting::as_role(SUPERUSER);
        queue::next_time()
    });
    match seconds {
        Ok(seconds) => {
            seconds.map(|it| Duration::try_from_secs_f64(it.max(0.01)).unwrap_or(LOOK_FOR_WORK))
        }
        // What is out of order may have come right by then.
        Err(_) => Some(LOOK_FOR_WORK),
    }
}

/// Ends the process if that was asked for, and reads the configuration if that has changed.
pub fn handle_interrupts() {
    check_for_interrupts!();
    // SAFETY: called between two transactions, as background workers do.
    unsafe {
        if pg_sys::ConfigReloadPending != 0 {
            pg_sys::ConfigReloadPending = 0;
            pg_sys::ProcessConfigFile(pg_sys::GucContext::PGC_SIGHUP);
        }
    }
}

/// Waits for the latch; whether it was set.
pub fn wait_latch(time: Duration) -> bool {
    let events = pg_sys::WL_LATCH_SET | pg_sys::WL_TIMEOUT | pg_sys::WL_EXIT_ON_PM_DEATH;
    // SAFETY: MyLatch is this process's own.
    unsafe {
        let happened = pg_sys::WaitLatch(
            pg_sys::MyLatch,
            events as i32,
            time.as_millis().max(1) as _,
            pg_sys::PG_WAIT_EXTENSION,
        );
        pg_sys::ResetLatch(pg_sys::MyLatch);
        happened & pg_sys::WL_LATCH_SET as i32 != 0
    }
}

/// Whether a session holds a lock on the database that keeps new sessions out: the database is
/// about to be dropped, renamed, moved or copied, which waits for all others to leave.
pub fn is_database_wanted() -> bool {
    let outcome = Transactions::OfWorker.run(|| {
        // What sessions lock as they begin. There is no function for it before PostgreSQL 18.
        let object = pg_sys::LOCKTAG {
            // Of no database: it is shared.
            locktag_field1: 0,
            locktag_field2: pg_sys::DatabaseRelationId.to_u32(),
            // SAFETY: a variable of the server, set once a process.
            locktag_field3: unsafe { pg_sys::MyDatabaseId }.to_u32(),
            locktag_field4: 0,
            locktag_type: pg_sys::LockTagType::LOCKTAG_OBJECT as u8,
            locktag_lockmethodid: pg_sys::DEFAULT_LOCKMETHOD as u8,
        };
        // SAFETY: in a transaction, whose end gives the lock back.
        let lock =
            unsafe { pg_sys::LockAcquire(&object, pg_sys::RowExclusiveLock as i32, false, true) };
        Ok(lock != pg_sys::LockAcquireResult::LOCKACQUIRE_NOT_AVAIL)
    });
    !matches!(outcome, Ok(true))
}

fn report_activity(is_running: bool) {
    use pg_sys::BackendState::{STATE_IDLE, STATE_RUNNING};
    // SAFETY: reports this process's own state; the text is a constant.
    unsafe {
        match is_running {
            true => {
                pg_sys::pgstat_report_activity(STATE_RUNNING, c"embedding changed rows".as_ptr())
            }
            false => {
                pg_sys::pgstat_report_stat(false);
                pg_sys::pgstat_report_activity(STATE_IDLE, std::ptr::null());
            }
        }
    }
}

fn log_failure(failure: &Failure) {
    log!("pg_rag worker: {}: {}", failure.sqlstate, failure.message);
}
