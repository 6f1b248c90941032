//! # Does anything hang?
//!
//! ```text
//! (what was begun when, by whom, and the processor time of that thread since) → what hangs
//! ```
//!
//! A thread that runs a batch, or has the files of a model in hand, says so here before and after.
//! The supervisor asks several times within the limit of its setting, and each time what is under
//! way is looked at. Something hangs
//!
//! * if its thread has used next to no processor time for as long as the limit, and was asleep each time: it
//!   waits for what never comes, such as a lock. A thread that waits for its turn on a processor, or for
//!   a disk, is late and does not hang;
//! * if it has gone on for [`ENDLESS`] times the limit, whatever it computes. What is larger than a
//!   usual batch may take as many times longer.
//!
//! It is the thread's own processor time that counts, since other threads compute for other models,
//! or look around for their clients. No other thread computes for it unseen: ONNX Runtime has the
//! thread that calls it take part in everything, and turn round and round while it waits for the
//! others.
//!
//! Time is counted from one question to the next, and a [`PARTS`]th of the limit at most for each
//! wait: where ragd was stopped for an hour, or the machine slept, nothing has hung for that hour.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Least number of looks before something hangs.
const PARTS: u32 = 5;

/// How many times the limit a computation of usual size may take.
const ENDLESS: u32 = 10;

/// A thread that has used less than one part in so many of the time has stood still.
const STILL: u32 = 10_000;

/// Padded tokens of a usual batch.
const USUAL_BATCH: usize = 1024;

/// The files of a model are read, hashed and made ready: that takes longer than a usual batch.
const LOADING: u32 = 10;

/// Characters of a model's name that are shown.
const LONGEST_NAME: usize = 100;

/// What is under way.
#[derive(Clone, Default)]
pub struct Heartbeat(Arc<Mutex<All>>);

#[derive(Default)]
struct All {
    next: u64,
    works: BTreeMap<u64, ThreadWork>,
}

struct ThreadWork {
    what: String,
    thread: Option<ObservedThread>,
    progress: ThreadProgress,
}

/// Something is under way until this is dropped.
pub struct RunningWork {
    heartbeat: Heartbeat,
    number: u64,
}

impl Heartbeat {
    /// Notes that this thread begins a batch of so many tokens, padding included.
    pub fn begin_batch(&self, model: &str, tokens: usize) -> RunningWork {
        let size = 1 + tokens / USUAL_BATCH;
        self.begin(format!("a batch of model \"{}\"", short(model)), size as u32)
    }

    /// Notes that this thread begins to look at the files of a model, and perhaps to load it.
    pub fn begin_loading(&self, model: &str) -> RunningWork {
        self.begin(format!("the loading of model \"{}\"", short(model)), LOADING)
    }

    fn begin(&self, what: String, size: u32) -> RunningWork {
        let thread = ObservedThread::current();
        let used = thread.as_ref().and_then(|thread| thread.clock.read());
        let progress = ThreadProgress::begin(Instant::now(), used, size);
        let mut all = self.all();
        let number = all.next;
        all.next += 1;
        all.works.insert(number, ThreadWork { what, thread, progress });
        RunningWork { heartbeat: self.clone(), number }
    }

    /// What hangs, in words, where nothing may stand still for longer than `limit`.
    ///
    /// Takes no lock that is held while something is under way.
    pub fn hang(&self, limit: Duration) -> Option<String> {
        let (now, mut hang) = (Instant::now(), None);
        for work in self.all().works.values_mut() {
            let used = work.thread.as_ref().and_then(|thread| thread.clock.read());
            let is_late = work.thread.as_ref().is_some_and(ObservedThread::is_late);
            if let Some(found) = work.progress.look(now, used, is_late, limit) {
                hang = Some(found.of(&work.what));
            }
        }
        hang
    }

    fn all(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunningWork {
    fn drop(&mut self) {
        self.heartbeat.all().works.remove(&self.number);
    }
}

/// A name that may be any user's invention must not fill the log.
fn short(name: &str) -> &str {
    name.char_indices().nth(LONGEST_NAME).map_or(name, |(end, _)| &name[..end])
}

/// How a work is getting on.
struct ThreadProgress {
    /// How many times longer than a usual batch it may go on.
    size: u32,
    /// When it was looked at.
    looked: Instant,
    /// How long it has gone on, as counted.
    taken: Duration,
    /// How long it has stood still, as counted.
    still: Duration,
    /// The processor time of its thread when it last moved.
    used: Option<Duration>,
}

/// How something hangs, and for how long.
#[derive(Debug, PartialEq, Eq)]
enum Hang {
    Still(Duration),
    Endless(Duration),
}

impl ThreadProgress {
    fn begin(now: Instant, used: Option<Duration>, size: u32) -> ThreadProgress {
        let (taken, still) = (Duration::ZERO, Duration::ZERO);
        ThreadProgress { size, looked: now, taken, still, used }
    }

    /// Counts the time until `now`. `used` is the processor time of the thread; where it is not
    /// known, the thread is taken to compute. So is one that `is_late`.
    fn look(
        &mut self,
        now: Instant,
        used: Option<Duration>,
        is_late: bool,
        limit: Duration,
    ) -> Option<Hang> {
        let passed = now.saturating_duration_since(self.looked).min(limit / PARTS);
        self.looked = now;
        self.taken += passed;
        self.still += passed;
        if is_late || self.has_moved(used) {
            self.still = Duration::ZERO;
            self.used = used;
        }
        if self.still >= limit {
            Some(Hang::Still(self.still))
        } else if self.taken >= limit.saturating_mul(ENDLESS.saturating_mul(self.size)) {
            Some(Hang::Endless(self.taken))
        } else {
            None
        }
    }

    fn has_moved(&self, used: Option<Duration>) -> bool {
        match (self.used, used) {
            (Some(before), Some(now)) => now.saturating_sub(before) > self.still / STILL,
            _ => true,
        }
    }
}

impl Hang {
    fn of(&self, what: &str) -> String {
        match self {
            Hang::Still(time) => format!("{what} has stood still for {} ms", time.as_millis()),
            Hang::Endless(time) => format!("{what} has gone on for {} ms", time.as_millis()),
        }
    }
}

/// A thread of this process at which others look.
struct ObservedThread {
    clock: Clock,
    number: libc::pid_t,
}

impl ObservedThread {
    fn current() -> Option<ObservedThread> {
        // SAFETY: asks for the number of this thread.
        let number = unsafe { libc::gettid() };
        Clock::of_this_thread().map(|clock| ObservedThread { clock, number })
    }

    /// Whether it waits for its turn on a processor or for a disk, as Linux says.
    fn is_late(&self) -> bool {
        let stat = std::fs::read(format!("/proc/self/task/{}/stat", self.number));
        stat.is_ok_and(|stat| is_late(&stat))
    }
}

/// Whether a thread runs, may run (`R`) or waits for a disk (`D`) by proc(5)'s `stat`, where the state stands
/// behind the name in brackets.
fn is_late(stat: &[u8]) -> bool {
    let name_end = stat.iter().rposition(|byte| *byte == b')');
    name_end.is_some_and(|end| matches!(stat.get(end + 2), Some(b'R' | b'D')))
}

/// The processor time of a thread, which others can read while it lives.
#[derive(Clone, Copy)]
struct Clock(libc::clockid_t);

impl Clock {
    fn of_this_thread() -> Option<Clock> {
        let mut clock = 0;
        // SAFETY: pthread_self is this thread, which is alive; the clock is a local variable.
        let status = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &mut clock) };
        (status == 0).then_some(Clock(clock))
    }

    fn read(self) -> Option<Duration> {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the time is a local variable. For a thread that is no more the call fails.
        let status = unsafe { libc::clock_gettime(self.0, &mut time) };
        (status == 0).then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const LIMIT: Duration = Duration::from_secs(10);

    /// What is found of a work of this size that is looked at after each of `waits`, a time and the
    /// processor time used in it: how often it was looked at, and how it hangs.
    fn check(size: u32, waits: &[(Duration, Duration)]) -> (usize, Option<Hang>) {
        let (mut now, mut used) = (Instant::now(), SECOND);
        let mut progress = ThreadProgress::begin(now, Some(used), size);
        for (number, (wait, computed)) in (1..).zip(waits) {
            now += *wait;
            used += *computed;
            if let Some(hang) = progress.look(now, Some(used), false, LIMIT) {
                return (number, Some(hang));
            }
        }
        (waits.len(), None)
    }

    #[test]
    fn what_stands_still_hangs_after_the_limit() {
        let nothing = (SECOND, Duration::ZERO);
        assert_eq!(check(1, &[nothing; 9]), (9, None));
        assert_eq!(check(1, &[nothing; 20]), (10, Some(Hang::Still(LIMIT))));
        // However large it is.
        assert_eq!(check(50, &[nothing; 20]).0, 10);
        // A thread that wakes for a moment and sleeps on has stood still, too.
        assert_eq!(check(1, &[(SECOND, Duration::from_micros(20)); 20]).0, 10);
    }

    #[test]
    fn what_computes_slowly_does_not() {
        // A thousandth of a processor.
        let little = (SECOND, Duration::from_millis(1));
        assert_eq!(check(1, &[little; 99]), (99, None));
        // A little now and then.
        let mut waits = [(SECOND, Duration::ZERO); 99];
        waits.iter_mut().step_by(9).for_each(|wait| wait.1 = Duration::from_millis(3));
        assert_eq!(check(1, &waits), (99, None));
    }

    #[test]
    fn what_computes_without_end_hangs_after_ten_times_the_limit() {
        let busy = (SECOND, SECOND);
        assert_eq!(check(1, &[busy; 200]), (100, Some(Hang::Endless(LIMIT * 10))));
        assert_eq!(check(3, &[busy; 400]), (300, Some(Hang::Endless(LIMIT * 30))));
    }

    #[test]
    fn a_long_sleep_of_all_counts_as_a_short_one() {
        let (night, nothing) = (Duration::from_secs(36_000), Duration::ZERO);
        assert_eq!(check(1, &[(night, nothing); 4]), (4, None));
        let mut waits = [(SECOND, nothing); 8];
        waits[3].0 = night;
        assert_eq!(check(1, &waits), (8, None));
        // Nothing is found out by asking often, either.
        assert_eq!(check(1, &[(Duration::ZERO, nothing); 1000]), (1000, None));
    }

    #[test]
    fn a_clock_that_cannot_be_read_makes_nothing_hang_before_its_time() {
        let mut now = Instant::now();
        let mut progress = ThreadProgress::begin(now, None, 1);
        let mut looks = 0;
        loop {
            (now, looks) = (now + SECOND, looks + 1);
            match progress.look(now, None, false, LIMIT) {
                Some(hang) => break assert_eq!(hang, Hang::Endless(LIMIT * 10)),
                None => assert!(looks < 100, "it never hangs"),
            }
        }
    }

    #[test]
    fn what_waits_for_a_processor_or_a_disk_is_late_and_does_not_hang() {
        let (mut now, used) = (Instant::now(), Some(SECOND));
        let mut progress = ThreadProgress::begin(now, used, 1);
        let looks = (1..).find(|_| {
            now += SECOND;
            progress.look(now, used, true, LIMIT).is_some()
        });
        assert_eq!(looks, Some(100));
        assert!(is_late(b"7 (a (thread) S) R 1"));
        assert!(is_late(b"7 (ragd) D 1"));
        assert!(!is_late(b"7 (R) S 1"));
        assert!(!is_late(b"7 (R"));
    }

    #[test]
    fn a_thread_that_waits_hangs_until_it_goes_on() {
        let heartbeat = Heartbeat::default();
        let limit = Duration::from_millis(50);
        assert_eq!(heartbeat.hang(limit), None);
        let ((begun, begins), (go_on, goes_on)) = (channel(), channel::<()>());
        let theirs = heartbeat.clone();
        let thread = thread::spawn(move || {
            let _under_way = theirs.begin_batch(&"m".repeat(1000), 1);
            begun.send(()).unwrap();
            goes_on.recv().unwrap();
        });
        begins.recv().unwrap();
        let end = Instant::now() + 60 * SECOND;
        let why = loop {
            assert!(Instant::now() < end, "it never hangs");
            thread::sleep(Duration::from_millis(5));
            if let Some(why) = heartbeat.hang(limit) {
                break why;
            }
        };
        let words = format!("a batch of model \"{}\" has stood still for ", "m".repeat(100));
        assert!(why.starts_with(&words), "{why}");
        go_on.send(()).unwrap();
        thread.join().unwrap();
        assert_eq!(heartbeat.hang(limit), None);
    }

    #[test]
    fn what_a_thread_computes_is_seen_by_others() {
        let (tell, told) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            tell.send(Clock::of_this_thread().unwrap()).unwrap();
            while !is_over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let clock = told.recv().unwrap();
        let (before, end) = (clock.read().unwrap(), Instant::now() + 60 * SECOND);
        while clock.read().unwrap() - before < Duration::from_millis(5) {
            assert!(Instant::now() < end, "the clock stands still");
            thread::sleep(Duration::from_millis(1));
        }
        stop.store(true, Ordering::Relaxed);
        thread.join().unwrap();
    }
}
