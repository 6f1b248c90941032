//! Which call to a provider is next?
//!
//! ```text
//! (provider, limits, calls that wait, now) → now, after so long, or when another call ends
//! ```
//!
//! Limits hold for all sessions together: so many calls at a time, so many that begin within any 60
//! seconds. A call of the queries' lane waits in line, as long as it has time. A bulk call does not
//! wait: it fails with the time to come back, so that it holds no thread, and it goes behind the
//! line.
//!
//! What is counted belongs to an address, a key and an owner, as pauses do: servers with the same ones
//! share the count, and each compares it with limits of its own. Calls without a limit are not counted.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::call::POLL;
use super::cooldown::ProviderId;
use crate::protocol::{CallLimits, Lane};

/// The time within which the calls of `requests_per_minute` may begin.
const MINUTE: Duration = Duration::from_secs(60);

/// When a bulk call is worth repeating that found all places taken: a guess, as calls take seconds.
const TAKEN: Duration = Duration::from_secs(1);

/// Whether a call may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnOutcome {
    /// Yes; the call counts from now on.
    Now,
    /// When the oldest call is so far back.
    After(Duration),
    /// When a call ends, or one that is further ahead in line has begun.
    Later,
}

/// The place of one in a line.
type Ticket = u64;

/// The calls of all providers that have limits.
#[derive(Default)]
struct LimitedCalls {
    loads: HashMap<ProviderId, Load>,
    last_ticket: Ticket,
}

#[derive(Default)]
struct Load {
    running: u32,
    /// When the calls of the last minute began, oldest first.
    begun: VecDeque<Instant>,
    /// The calls that wait, first come first.
    line: VecDeque<Ticket>,
}

impl LimitedCalls {
    /// A place at the end of the line.
    fn queue(&mut self, provider: ProviderId) -> Ticket {
        self.last_ticket += 1;
        self.loads.entry(provider).or_default().line.push_back(self.last_ticket);
        self.last_ticket
    }

    /// Gives a place in line up.
    fn leave(&mut self, provider: &ProviderId, ticket: Ticket) {
        if let Some(load) = self.loads.get_mut(provider) {
            load.line.retain(|waiting| *waiting != ticket);
        }
        self.forget(provider);
    }

    /// Whether it is the turn of the call that has `ticket`, or of one without a ticket.
    fn turn(
        &mut self,
        provider: ProviderId,
        limits: &CallLimits,
        ticket: Option<Ticket>,
        now: Instant,
    ) -> TurnOutcome {
        let load = self.loads.entry(provider).or_default();
        while load.begun.front().is_some_and(|begun| *begun + MINUTE <= now) {
            load.begun.pop_front();
        }
        let is_first = match load.line.front() {
            Some(first) => ticket == Some(*first),
            None => true,
        };
        if !is_first || limits.max_concurrency.is_some_and(|most| load.running >= most) {
            return TurnOutcome::Later;
        }
        if let Some(wait) = load.minute_full(limits.requests_per_minute, now) {
            return TurnOutcome::After(wait);
        }
        load.running += 1;
        load.begun.push_back(now);
        load.line.pop_front();
        TurnOutcome::Now
    }

    /// A call has ended.
    fn ended(&mut self, provider: &ProviderId) {
        if let Some(load) = self.loads.get_mut(provider) {
            load.running = load.running.saturating_sub(1);
        }
    }

    /// Nothing is kept of a provider that has had no call within a minute.
    fn forget(&mut self, provider: &ProviderId) {
        let is_idle =
            |load: &Load| load.running == 0 && load.begun.is_empty() && load.line.is_empty();
        if self.loads.get(provider).is_some_and(is_idle) {
            self.loads.remove(provider);
        }
    }
}

impl Load {
    /// How long until another call may begin; `None`: it may now.
    fn minute_full(&self, most: Option<u32>, now: Instant) -> Option<Duration> {
        let most = most? as usize;
        let behind = self.begun.len().checked_sub(most)?;
        let oldest = self.begun.get(behind)?;
        Some((*oldest + MINUTE).saturating_duration_since(now))
    }
}

/// Where calls wait for their turn.
#[derive(Default)]
pub struct Gate {
    limits: Mutex<LimitedCalls>,
    ended: Condvar,
}

/// A call that counts as long as this lives.
pub struct Permit<'a> {
    /// Nothing where the call is not counted.
    counted: Option<(&'a Gate, ProviderId)>,
}

/// Why a call is not made in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAdmitted {
    /// The client does not wait any more.
    Gone,
    /// So many calls have begun within a minute; the next may begin after so long.
    MinuteFull(Duration),
    /// So many calls are running; perhaps one ends within so long.
    AllTaken(Duration),
}

/// A call that wants its turn.
pub struct TurnRequest<'a> {
    /// The provider that is to be called.
    pub provider: ProviderId,
    /// The provider's limits.
    pub limits: &'a CallLimits,
    /// Whether it waits in line.
    pub lane: Lane,
    /// How long it waits.
    pub until: Instant,
    /// Whether the client does not wait any more.
    pub gone: &'a dyn Fn() -> bool,
}

impl Gate {
    /// Waits for a turn.
    pub fn enter(&self, request: &TurnRequest<'_>) -> Result<Permit<'_>, NotAdmitted> {
        let CallLimits { max_concurrency, requests_per_minute, .. } = request.limits;
        if max_concurrency.is_none() && requests_per_minute.is_none() {
            return Ok(Permit { counted: None });
        }
        match request.lane {
            Lane::Fresh | Lane::Bulk => self.try_once(request),
            Lane::Query => {
                let ticket = self.locked().queue(request.provider);
                let outcome = self.wait_in_line(request, ticket);
                self.locked().leave(&request.provider, ticket);
                outcome
            }
        }
    }

    fn try_once(&self, request: &TurnRequest<'_>) -> Result<Permit<'_>, NotAdmitted> {
        match self.locked().turn(request.provider, request.limits, None, Instant::now()) {
            TurnOutcome::Now => Ok(self.permit(request.provider)),
            TurnOutcome::After(wait) => Err(NotAdmitted::MinuteFull(wait)),
            TurnOutcome::Later => Err(NotAdmitted::AllTaken(TAKEN)),
        }
    }

    fn wait_in_line(
        &self,
        request: &TurnRequest<'_>,
        ticket: Ticket,
    ) -> Result<Permit<'_>, NotAdmitted> {
        loop {
            let mut limits = self.locked();
            let now = Instant::now();
            let left = request.until.saturating_duration_since(now);
            let wait = match limits.turn(request.provider, request.limits, Some(ticket), now) {
                TurnOutcome::Now => return Ok(self.permit(request.provider)),
                TurnOutcome::After(wait) if wait > left => {
                    return Err(NotAdmitted::MinuteFull(wait));
                }
                TurnOutcome::After(wait) => wait,
                TurnOutcome::Later if left.is_zero() => return Err(NotAdmitted::AllTaken(TAKEN)),
                TurnOutcome::Later => left,
            };
            // A waiter that panicked left nothing half done.
            drop(
                self.ended
                    .wait_timeout(limits, wait.min(POLL))
                    .unwrap_or_else(PoisonError::into_inner),
            );
            if (request.gone)() {
                return Err(NotAdmitted::Gone);
            }
        }
    }

    fn permit(&self, provider: ProviderId) -> Permit<'_> {
        Permit { counted: Some((self, provider)) }
    }

    fn locked(&self) -> MutexGuard<'_, LimitedCalls> {
        self.limits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if let Some((gate, provider)) = self.counted.take() {
            gate.locked().ended(&provider);
            gate.ended.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    const A: ProviderId = [1; 32];
    const B: ProviderId = [2; 32];

    fn seconds(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    fn limits(at_a_time: Option<u32>, a_minute: Option<u32>) -> CallLimits {
        CallLimits {
            max_concurrency: at_a_time,
            requests_per_minute: a_minute,
            ..CallLimits::default()
        }
    }

    #[test]
    fn so_many_run_at_a_time() {
        let (mut all, now, two) = (LimitedCalls::default(), Instant::now(), limits(Some(2), None));
        let bulk = |all: &mut LimitedCalls, provider| all.turn(provider, &two, None, now);
        assert_eq!(bulk(&mut all, A), TurnOutcome::Now);
        assert_eq!(bulk(&mut all, A), TurnOutcome::Now);
        assert_eq!(bulk(&mut all, A), TurnOutcome::Later);
        assert_eq!(bulk(&mut all, B), TurnOutcome::Now);
        all.ended(&A);
        assert_eq!(bulk(&mut all, A), TurnOutcome::Now);
        assert_eq!(bulk(&mut all, A), TurnOutcome::Later);
    }

    #[test]
    fn so_many_begin_within_any_minute() {
        let (mut all, start, three) =
            (LimitedCalls::default(), Instant::now(), limits(None, Some(3)));
        let mut at = |second: f64| all.turn(A, &three, None, start + seconds(second));
        assert_eq!([at(0.0), at(10.0), at(20.0)], [TurnOutcome::Now; 3]);
        assert_eq!(at(30.0), TurnOutcome::After(seconds(30.0)));
        assert_eq!(at(59.0), TurnOutcome::After(seconds(1.0)));
        assert_eq!(at(60.0), TurnOutcome::Now);
        assert_eq!(at(60.0), TurnOutcome::After(seconds(10.0)));
        assert_eq!(at(200.0), TurnOutcome::Now);
    }

    #[test]
    fn a_lower_limit_waits_for_more_of_the_old_calls() {
        let (mut all, start) = (LimitedCalls::default(), Instant::now());
        for second in 0..10 {
            let now = start + seconds(f64::from(second));
            assert_eq!(all.turn(A, &limits(None, Some(10)), None, now), TurnOutcome::Now);
        }
        let now = start + seconds(10.0);
        assert_eq!(
            all.turn(A, &limits(None, Some(2)), None, now),
            TurnOutcome::After(seconds(58.0))
        );
    }

    #[test]
    fn the_line_is_kept_and_bulk_goes_behind_it() {
        let (mut all, now, one) = (LimitedCalls::default(), Instant::now(), limits(Some(1), None));
        assert_eq!(all.turn(A, &one, None, now), TurnOutcome::Now);
        let (first, second) = (all.queue(A), all.queue(A));
        all.ended(&A);
        assert_eq!(all.turn(A, &one, None, now), TurnOutcome::Later);
        assert_eq!(all.turn(A, &one, Some(second), now), TurnOutcome::Later);
        assert_eq!(all.turn(A, &one, Some(first), now), TurnOutcome::Now);
        all.leave(&A, second);
        all.ended(&A);
        assert_eq!(all.turn(A, &one, None, now), TurnOutcome::Now);
    }

    #[test]
    fn nothing_is_kept_of_who_gave_up() {
        let mut all = LimitedCalls::default();
        let ticket = all.queue(A);
        all.leave(&A, ticket);
        assert!(all.loads.is_empty());
    }

    fn request<'a>(
        limits: &'a CallLimits,
        lane: Lane,
        gone: &'a dyn Fn() -> bool,
    ) -> TurnRequest<'a> {
        TurnRequest { provider: A, limits, lane, until: Instant::now() + seconds(30.0), gone }
    }

    #[test]
    fn a_wait_ends_in_time_or_when_nobody_waits() {
        let (gate, one) = (Gate::default(), limits(Some(1), None));
        let stays = || false;
        let held = gate.enter(&request(&one, Lane::Query, &stays)).unwrap_or_else(|_| panic!());
        let begun = Instant::now();
        let until = begun + seconds(0.3);
        let late = gate.enter(&TurnRequest { until, ..request(&one, Lane::Query, &stays) }).err();
        assert_eq!(late, Some(NotAdmitted::AllTaken(TAKEN)));
        assert!(begun.elapsed() >= seconds(0.29) && begun.elapsed() < seconds(10.0));
        assert_eq!(
            gate.enter(&request(&one, Lane::Bulk, &stays)).err(),
            Some(NotAdmitted::AllTaken(TAKEN))
        );
        assert_eq!(
            gate.enter(&request(&one, Lane::Query, &|| true)).err(),
            Some(NotAdmitted::Gone)
        );
        drop(held);
        assert!(gate.enter(&request(&one, Lane::Bulk, &stays)).is_ok());
    }

    #[test]
    fn a_wait_beyond_the_time_is_not_begun() {
        let (gate, one) = (Gate::default(), limits(None, Some(1)));
        drop(gate.enter(&request(&one, Lane::Query, &|| false)));
        let begun = Instant::now();
        let refused = gate.enter(&request(&one, Lane::Query, &|| false)).err();
        assert!(matches!(refused, Some(NotAdmitted::MinuteFull(wait)) if wait > seconds(50.0)));
        assert!(begun.elapsed() < seconds(10.0));
    }

    #[test]
    fn many_threads_never_run_more_than_allowed() {
        let gate = Arc::new(Gate::default());
        let (running, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let threads: Vec<_> = (0..12)
            .map(|_| {
                let (gate, running, most) = (gate.clone(), running.clone(), most.clone());
                thread::spawn(move || {
                    let three = limits(Some(3), None);
                    let request = request(&three, Lane::Query, &|| false);
                    let _permit = gate.enter(&request).unwrap_or_else(|_| panic!("no turn"));
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    // However late the third comes, the first is still there.
                    let begun = Instant::now();
                    while most.load(Ordering::SeqCst) < 3 && begun.elapsed() < seconds(20.0) {
                        thread::sleep(Duration::from_millis(1));
                    }
                    thread::sleep(Duration::from_millis(10));
                    running.fetch_sub(1, Ordering::SeqCst);
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!((most.load(Ordering::SeqCst), running.load(Ordering::SeqCst)), (3, 0));
    }
}
