//! Several texts of language models at once, for one session.
//!
//! A strategy that asks about each source by itself would wait as often as there are sources.
//! Here some of its calls are in flight together. They are given up together as well, when the
//! session goes away.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::worker::Client;
use crate::error::{Error, ErrorKind, Result};
use crate::lock::locked;
use crate::protocol::{GenerateMany, GenerateOutcome, GenerateRequest, Generated};
use crate::provider::client_aid::ClientAid;
use crate::provider::{self, ProviderMemory};

/// Most calls of one request that are in flight.
const AT_ONCE: usize = 8;

/// The stack of a thread that waits for a call.
const STACK: usize = 1 << 20;

/// What becomes of each of the texts, in their order.
///
/// After a call has failed for good, those that were not begun are not made, and fail alike.
pub fn generate_many(
    many: &GenerateMany,
    memory: &ProviderMemory,
    aid: &dyn ClientAid,
    client: &Client,
) -> Vec<GenerateOutcome> {
    let call = |request: &GenerateRequest| {
        provider::generate(request, memory, aid, &|| !client.is_alive())
    };
    all(many, &call)
}

/// Does the work of [`generate_many`]; `call` makes a call.
fn all(
    many: &GenerateMany,
    call: &(impl Fn(&GenerateRequest) -> Result<Generated> + Sync),
) -> Vec<GenerateOutcome> {
    let begun = Instant::now();
    let next = AtomicUsize::new(0);
    let hopeless: Mutex<Option<Error>> = Mutex::new(None);
    let done: Mutex<Vec<Option<GenerateOutcome>>> = Mutex::new(vec![None; many.requests.len()]);
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(request) = many.requests.get(at) else { return };
            let before = locked(&hopeless).clone();
            let outcome = match before {
                Some(error) => Err(error),
                None => within(request, many.within_ms, begun.elapsed()).and_then(|it| call(&it)),
            };
            if let Err(error) = &outcome
                && error.kind() != ErrorKind::ProviderTimeout
            {
                // The calls that are not made cost nothing, and have kept nothing from a provider.
                locked(&hopeless).get_or_insert_with(|| error.clone().without_call());
            }
            if let Some(place) = locked(&done).get_mut(at) {
                *place = Some(outcome);
            }
        }
    };
    thread::scope(|scope| {
        // This thread works, too, so that without any other it only takes longer.
        for _ in 1..many.requests.len().min(AT_ONCE) {
            let thread = thread::Builder::new().name("ragd-call".to_owned()).stack_size(STACK);
            if thread.spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    let missing = || Err(Error::new(ErrorKind::Internal, "a call was not made"));
    done.into_iter().map(|outcome| outcome.unwrap_or_else(missing)).collect()
}

/// `request` with no more time than is left.
fn within(
    request: &GenerateRequest,
    within_ms: Option<u64>,
    took: Duration,
) -> Result<GenerateRequest> {
    let mut request = request.clone();
    if let Some(within) = within_ms {
        let left = within.saturating_sub(took.as_millis() as u64);
        if left == 0 {
            let message = format!("there was no time for a call within {within} ms");
            return Err(Error::new(ErrorKind::ProviderTimeout, message));
        }
        request.provider.limits.within_ms = Some(left);
    }
    Ok(request)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::error::Bill;
    use crate::protocol::ProviderConfig;

    fn many(count: usize, within_ms: Option<u64>) -> GenerateMany {
        let request = |number: usize| {
            let model = number.to_string();
            GenerateRequest::empty(ProviderConfig { model, ..ProviderConfig::unreachable() })
        };
        GenerateMany { requests: (0..count).map(request).collect(), within_ms }
    }

    fn said(request: &GenerateRequest) -> Generated {
        Generated {
            text: request.provider.model.clone(),
            finish_reason: "stop".into(),
            prompt_tokens: None,
            cached_tokens: None,
            completion_tokens: None,
            attempts: 1,
            tools: None,
            withheld: Default::default(),
        }
    }

    #[test]
    fn the_order_is_kept_and_no_more_than_eight_are_in_flight() {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let call = |request: &GenerateRequest| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            // However late the second comes, the first is still there.
            let begun = Instant::now();
            while most.load(Ordering::SeqCst) < 2 && begun.elapsed() < Duration::from_secs(10) {
                thread::sleep(Duration::from_millis(1));
            }
            let number: u64 = request.provider.model.parse().unwrap();
            thread::sleep(Duration::from_millis(20 - number % 20));
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(said(request))
        };
        let done = all(&many(30, None), &call);
        let texts: Vec<String> = done.into_iter().map(|it| it.unwrap().text).collect();
        assert_eq!(texts, (0..30).map(|n| n.to_string()).collect::<Vec<_>>());
        let most = most.load(Ordering::SeqCst);
        assert!((2..=AT_ONCE).contains(&most), "{most}");
        assert!(all(&many(0, None), &call).is_empty());
    }

    #[test]
    fn after_a_failure_no_call_is_begun() {
        let calls = AtomicUsize::new(0);
        let call = |_: &GenerateRequest| {
            calls.fetch_add(1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(20));
            Err(Error::new(ErrorKind::ProviderRefused, "no"))
        };
        let done = all(&many(50, None), &call);
        assert!(done.iter().all(|it| it.as_ref().unwrap_err().message() == "no"));
        assert_eq!(done.len(), 50);
        assert!(calls.load(Ordering::SeqCst) <= AT_ONCE, "{calls:?}");
    }

    #[test]
    fn only_calls_that_were_made_have_a_bill_and_withheld_texts() {
        let bill = Some(Bill::new(1, Some(7), None));
        let call = |_: &GenerateRequest| {
            thread::sleep(Duration::from_millis(20));
            let withheld = BTreeMap::from([("a@b.de".to_owned(), "EMAIL".to_owned())]);
            let error = Error::new(ErrorKind::ProviderFailed, "no");
            Err(error.with_bill(bill).with_withheld(withheld))
        };
        let done = all(&many(50, None), &call);
        let errors = done.iter().map(|it| it.as_ref().unwrap_err());
        let left: Vec<_> = errors.map(|error| (error.bill(), error.withheld().count())).collect();
        let made = left.iter().filter(|it| **it == (bill, 1)).count();
        assert!((1..=AT_ONCE).contains(&made), "{made}");
        assert_eq!(left.iter().filter(|it| **it == (None, 0)).count(), 50 - made, "{left:?}");
    }

    #[test]
    fn the_time_is_that_of_all() {
        let call = |request: &GenerateRequest| {
            assert!(request.provider.allowed_ms() <= 900 && request.provider.timeout_ms == 1000);
            thread::sleep(Duration::from_millis(500));
            Ok(said(request))
        };
        let done = all(&many(40, Some(900)), &call);
        let made = done.iter().filter(|it| it.is_ok()).count();
        assert!((1..=2 * AT_ONCE).contains(&made), "{made}");
        let late = done.iter().filter_map(|it| it.as_ref().err());
        assert!(late.into_iter().all(|error| error.kind() == ErrorKind::ProviderTimeout));
    }
}
