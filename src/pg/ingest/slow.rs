//! What a worker signals while it is in one step for long: so others see to the other pipelines,
//! and to the worker itself where a session wants to drop the database.
//!
//! Nothing of the process itself can do that, which is perhaps in code of a user. So a timer does, in
//! whose handler only system calls can be made: it locks a byte of the workers' file, and wakes the
//! supervisor, which starts a watcher ([`super::watcher`]).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::pg::processes::registry::Alarm;
use crate::pg::processes::supervisor;
use crate::pg::server::timers::Timer;

/// A step that takes longer is a long one. The alarm of one that took less still comes, and wakes a worker
/// that waits: so it is longer than a worker waits before it leaves its place to others.
const LONG: Duration = Duration::from_millis(1500);

static ALARM: OnceLock<Alarm> = OnceLock::new();
static IS_GIVEN: AtomicBool = AtomicBool::new(false);

/// The steps of this worker.
pub struct Steps(Timer);

impl Steps {
    /// The steps of a worker that has a place and a connection.
    pub fn new(alarm: Alarm) -> Steps {
        // There is one place a process.
        let _ = ALARM.set(alarm);
        Steps(Timer::new(give_alarm))
    }

    /// Does one step, timed.
    pub fn take<T>(&self, step: impl FnOnce() -> T) -> T {
        self.0.start(LONG);
        let done = step();
        self.0.stop();
        if IS_GIVEN.swap(false, Ordering::Relaxed) {
            ALARM.get().copied().into_iter().for_each(Alarm::take_back);
        }
        done
    }
}

/// The timer's handler, called each second from then on.
unsafe extern "C-unwind" fn give_alarm() {
    IS_GIVEN.store(true, Ordering::Relaxed);
    if ALARM.get().is_some_and(|alarm| !alarm.give()) {
        supervisor::wake();
    }
}
