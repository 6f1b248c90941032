//! Whether a call that failed is made again, and when.
//!
//! ```text
//! (failure, attempts so far, time left) → wait this long, or give up
//! ```
//!
//! Only what may pass by itself is tried again: the provider is busy (429), in trouble (500,
//! 502, 503, 504), or the connection failed before the first byte of an answer. The wait
//! doubles each time, and a random part of it keeps sessions that failed together from
//! coming back together. A provider that says when to come back is believed.
//!
//! A wait that would outlast the overall limit is not begun: the caller learns at once what
//! it would learn later.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::call::POLL;
use crate::error::{Bill, Error, ErrorKind, Result};
use crate::scheduling::backoff::Backoff;

/// Waits that nobody asked for.
const WAITS: Backoff = Backoff::doubling(FIRST_WAIT, LONGEST_WAIT);
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(8);

/// How long and how often a call may be made.
pub struct Policy {
    /// When there must be an answer.
    pub deadline: Instant,
    /// Calls after the first.
    pub max_retries: u32,
}

/// Why an attempt failed.
pub struct CallError {
    /// What the caller learns if nothing else is tried.
    pub error: Error,
    /// What to do about it.
    pub remedy: Remedy,
}

impl CallError {
    /// The trouble of a call that the provider has answered, with a bill for one call: the tokens
    /// `read` and `written` for it, `None` where they are not known.
    pub fn billed(self, read: Option<u64>, written: Option<u64>) -> CallError {
        CallError { error: self.error.with_bill(Some(Bill::new(1, read, written))), ..self }
    }
}

/// What an answer has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallAttempts {
    /// Calls, that of the answer among them.
    pub calls: u32,
    /// What those before it have to be paid for, if one has.
    pub wasted: Option<Bill>,
}

/// What may help after a failed attempt.
pub enum Remedy {
    /// Nothing helps.
    None,
    /// Trying again; after so long, if the provider says.
    Retry(Option<Duration>),
    /// Trying again at once, with the request changed so that this failure cannot recur.
    Changed,
}

/// Calls `attempt` until it succeeds, fails for good, or `policy` ends it; gives the result and
/// what it has taken. `attempt` gets the time that is left.
pub fn run<T>(
    policy: &Policy,
    gone: &dyn Fn() -> bool,
    mut attempt: impl FnMut(Duration) -> std::result::Result<T, CallError>,
) -> Result<(T, CallAttempts)> {
    let mut attempts = 0;
    let mut retries = 0;
    let mut bill: Option<Bill> = None;
    loop {
        attempts += 1;
        let trouble = match attempt(time_left(policy)) {
            Ok(value) => return Ok((value, CallAttempts { calls: attempts, wasted: bill })),
            Err(trouble) => trouble,
        };
        bill = [bill, trouble.error.bill()].into_iter().flatten().reduce(Bill::plus);
        let trouble = CallError { error: trouble.error.with_bill(bill), ..trouble };
        let asked = match trouble.remedy {
            Remedy::None => return Err(told(trouble.error, attempts)),
            Remedy::Changed => continue,
            Remedy::Retry(asked) => asked,
        };
        let pause = wait(retries, asked, random());
        if retries >= policy.max_retries || pause >= time_left(policy) {
            return Err(told(trouble.error, attempts));
        }
        retries += 1;
        sleep(pause, gone)?;
    }
}

/// The error of a call that no client waits for any more.
pub fn given_up() -> Error {
    Error::new(ErrorKind::ProviderFailed, "call was given up because its session has gone")
}

/// What the header `Retry-After` asks for: a number of seconds or a date.
pub fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        // Some providers send fractions. What is no duration is no wish.
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or(Duration::ZERO))
}

/// How long to wait before retry number `retry`, counted from 0; `random` is in 0..1.
fn wait(retry: u32, asked: Option<Duration>, random: f64) -> Duration {
    match asked {
        // All callers got the same moment; a little later is still polite.
        Some(asked) => asked.saturating_add(FIRST_WAIT.mul_f64(random / 2.0)),
        None => WAITS.at_most(retry, random),
    }
}

fn time_left(policy: &Policy) -> Duration {
    policy.deadline.saturating_duration_since(Instant::now())
}

fn told(error: Error, attempts: u32) -> Error {
    if attempts < 2 { error } else { error.detail(format!("The call was made {attempts} times.")) }
}

fn sleep(pause: Duration, gone: &dyn Fn() -> bool) -> Result<()> {
    let until = Instant::now() + pause;
    loop {
        if gone() {
            return Err(given_up());
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        thread::sleep(left.min(POLL));
    }
}

/// A number in 0..1. The standard library seeds its hash maps well enough for a jitter.
pub fn random() -> f64 {
    (RandomState::new().build_hasher().finish() >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(limit: Duration, max_retries: u32) -> Policy {
        Policy { deadline: Instant::now() + limit, max_retries }
    }

    fn trouble(remedy: Remedy) -> CallError {
        CallError { error: Error::new(ErrorKind::ProviderFailed, "busy"), remedy }
    }

    fn soon() -> Remedy {
        Remedy::Retry(Some(Duration::ZERO))
    }

    #[test]
    fn waits_double_up_to_a_limit() {
        let millis = |retry| wait(retry, None, 1.0).as_millis();
        assert_eq!([0, 1, 2, 3, 4, 5, 40].map(millis), [500, 1000, 2000, 4000, 8000, 8000, 8000]);
        assert_eq!(wait(0, None, 0.0).as_millis(), 250);
    }

    #[test]
    fn an_asked_wait_is_never_shortened() {
        let asked = Duration::from_secs(20);
        assert_eq!(wait(0, Some(asked), 0.0), asked);
        assert!(wait(0, Some(asked), 0.99) < asked + Duration::from_millis(250));
        assert_eq!(wait(3, Some(Duration::MAX), 0.5), Duration::MAX);
    }

    #[test]
    fn random_spreads() {
        let drawn: Vec<f64> = (0..200).map(|_| random()).collect();
        assert!(drawn.iter().all(|r| (0.0..1.0).contains(r)));
        assert!(drawn.iter().any(|r| *r < 0.3) && drawn.iter().any(|r| *r > 0.7));
    }

    #[test]
    fn retry_after_reads_seconds_and_dates() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        let read = |value| retry_after(value, now);
        assert_eq!(read("120"), Some(Duration::from_secs(120)));
        assert_eq!(read(" 0.5 "), Some(Duration::from_millis(500)));
        assert_eq!(read("Sun, 06 Nov 1994 08:50:07 GMT"), Some(Duration::from_secs(30)));
        assert_eq!(read("Sunday, 06-Nov-94 08:49:47 GMT"), Some(Duration::from_secs(10)));
        assert_eq!(read("Sun Nov  6 08:49:38 1994"), Some(Duration::from_secs(1)));
        assert_eq!(read("Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
        for nonsense in ["", "-1", "soon", "1e400", "NaN", "inf"] {
            assert_eq!(read(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn success_counts_every_call() {
        let mut outcomes = vec![Ok("text"), Err(Remedy::Changed), Err(soon()), Err(soon())];
        let done = run(&policy(Duration::from_secs(9), 2), &|| false, |_| {
            outcomes.pop().unwrap().map_err(trouble)
        });
        assert_eq!(done.unwrap(), ("text", CallAttempts { calls: 4, wasted: None }));
    }

    #[test]
    fn success_has_the_bill_of_what_was_in_vain() {
        let mut outcomes = vec![
            Ok("text"),
            Err(trouble(Remedy::Changed).billed(None, Some(3))),
            Err(trouble(soon())),
            Err(trouble(soon()).billed(Some(10), Some(2))),
        ];
        let done = run(&policy(Duration::from_secs(9), 5), &|| false, |_| outcomes.pop().unwrap());
        let wasted = Some(Bill { calls: 2, uncounted: 1, input: 10, output: 5 });
        assert_eq!(done.unwrap(), ("text", CallAttempts { calls: 4, wasted }));
    }

    #[test]
    fn retries_end_with_the_last_error() {
        let mut calls = 0;
        let done = run(&policy(Duration::from_secs(9), 2), &|| false, |_| {
            calls += 1;
            Err::<(), _>(trouble(soon()))
        });
        let error = done.unwrap_err();
        assert_eq!((calls, error.message()), (3, "busy"));
        assert_eq!(error.detail_text(), Some("The call was made 3 times."));
    }

    #[test]
    fn a_lasting_failure_is_not_repeated() {
        let mut calls = 0;
        let done = run(&policy(Duration::from_secs(9), 5), &|| false, |_| {
            calls += 1;
            Err::<(), _>(trouble(Remedy::None))
        });
        assert_eq!((calls, done.unwrap_err().detail_text()), (1, None));
    }

    #[test]
    fn the_last_error_has_the_bill_of_all_attempts() {
        let mut outcomes = vec![
            trouble(Remedy::None),
            trouble(soon()).billed(None, Some(3)),
            trouble(soon()).billed(Some(10), Some(2)),
        ];
        let done = run(&policy(Duration::from_secs(9), 5), &|| false, |_| {
            Err::<(), _>(outcomes.pop().unwrap())
        });
        let bill = Bill { calls: 2, uncounted: 1, input: 10, output: 5 };
        assert_eq!(done.unwrap_err().bill(), Some(bill));
    }

    #[test]
    fn a_wait_beyond_the_deadline_is_not_begun() {
        let begun = Instant::now();
        let done = run(&policy(Duration::from_secs(30), 5), &|| false, |_| {
            Err::<(), _>(trouble(Remedy::Retry(Some(Duration::from_secs(60)))))
        });
        assert_eq!(done.unwrap_err().message(), "busy");
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    }

    #[test]
    fn a_wait_ends_when_nobody_waits() {
        let begun = Instant::now();
        let gone = || begun.elapsed() > Duration::from_millis(60);
        let done = run(&policy(Duration::from_secs(60), 5), &gone, |_| {
            Err::<(), _>(trouble(Remedy::Retry(Some(Duration::from_secs(20)))))
        });
        assert_eq!(done.unwrap_err(), given_up());
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    }
}
