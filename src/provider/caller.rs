//! One question to a provider, asked until there is an answer or none will come.
//!
//! ```text
//! (provider, question) → retries and pauses kept → answer, number of calls
//! ```
//!
//! What differs from protocol to protocol is a [`ProviderQuestion`]; limits, retries, pauses and the
//! hiding of keys are here, the same for all.
//!
//! A provider that is busy is left alone by calls that can wait: those of the lane [`Lane::Bulk`]
//! fail at once while its pause lasts, saying when to come back, so that no thread is held by
//! waiting and no limit is overrun again. A user who waits for one answer is worth another attempt,
//! so calls of [`Lane::Query`] are made in spite of a pause. What they hear is noted for the
//! others.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::call::{self, CallFailure, HttpCall, HttpReply, Incoming, Patience};
use super::circuit_breaker::Health;
use super::cooldown::ProviderId;
use super::errors::{CallPurpose, ErrorFormatter, asked_wait};
use super::host;
use super::key::ApiKey;
use super::limit::{NotAdmitted, Permit, TurnRequest};
use super::provider_state::ProviderMemory;
use super::retry::{self, CallAttempts, CallError, Policy, Remedy};
use super::stream::{Decoder, Hear, Listener, Streamed};
use super::support::ModelOfProvider;
use super::surrogate::mended_reply;
use crate::error::{Error, Result};
use crate::protocol::{Generated, Lane, ProviderConfig};

/// What is asked, in the words of a protocol.
pub trait ProviderQuestion {
    /// What a reply of success is read as.
    type Answer;

    /// The body of the request.
    fn encode(&self) -> Result<Vec<u8>>;

    /// Whether the question was changed so that this refusal cannot recur. Must come to an
    /// end.
    fn give_in(&mut self, reply: &HttpReply) -> bool;

    /// Reads a reply of success.
    fn read(
        &mut self,
        reply: &HttpReply,
        teller: &ErrorFormatter<'_>,
    ) -> std::result::Result<Self::Answer, CallError>;
}

/// What makes the calls of one request: the provider, the key, the task and the lane.
pub struct Caller<'a> {
    provider: &'a ProviderConfig,
    task: &'static CallPurpose,
    lane: Lane,
    memory: &'a ProviderMemory,
    url: String,
    key: ApiKey,
    id: ProviderId,
    /// What the last call says of the provider.
    health: Cell<Health>,
}

/// What an attempt may use up.
#[derive(Clone, Copy)]
struct AttemptScope<'a> {
    /// When it has to be over.
    until: Instant,
    /// Whether the client does not wait any more.
    gone: &'a dyn Fn() -> bool,
}

impl<'a> Caller<'a> {
    /// Fails if the address, the key or a limit of `provider` is unfit, or its host is not allowed.
    pub fn new(
        provider: &'a ProviderConfig,
        task: &'static CallPurpose,
        lane: Lane,
        memory: &'a ProviderMemory,
    ) -> Result<Self> {
        check_limits(provider)?;
        let url = call::endpoint(&provider.base_url, &task.path_of(&provider.model))?;
        host::check(provider, &url)?;
        let key = ApiKey::resolve(provider)?;
        let id = key.identity(provider);
        let health = Cell::new(Health::Unknown);
        Ok(Caller { provider, task, lane, memory, url, key, id, health })
    }

    /// Which provider is asked, for what is remembered of it.
    pub fn id(&self) -> ProviderId {
        self.id
    }

    /// Which model is asked for, for how it wants to be asked.
    pub fn whom(&self) -> ModelOfProvider {
        let ProviderConfig { api, model, .. } = self.provider.clone();
        ModelOfProvider { provider: self.id, api, model }
    }

    /// Asks, within the provider's limits; gives the answer and what it has taken.
    pub fn ask<Q: ProviderQuestion>(
        &self,
        question: &mut Q,
        gone: &dyn Fn() -> bool,
    ) -> Result<(Q::Answer, CallAttempts)> {
        self.insist(gone, |scope| self.attempt(question, scope))
    }

    /// Asks, within the provider's limits, for an answer that is passed to `hear` piece by piece
    /// while it is written; gives the whole answer and what it has taken. Once a piece has been
    /// passed on, nothing is asked again.
    pub fn listen<Q: Streamed>(
        &self,
        question: &mut Q,
        gone: &dyn Fn() -> bool,
        hear: &mut Hear<'_>,
    ) -> Result<(Generated, CallAttempts)> {
        self.insist(gone, |scope| self.attempt_to_listen(question, scope, hear))
    }

    /// Makes attempts until one succeeds or none will, and has it remembered whether the provider is
    /// there.
    fn insist<T>(
        &self,
        gone: &dyn Fn() -> bool,
        mut attempt: impl FnMut(AttemptScope<'_>) -> std::result::Result<T, CallError>,
    ) -> Result<(T, CallAttempts)> {
        let admitted = self.memory.attend(self.id);
        let mut attended = admitted.map_err(|left| self.teller().is_down(left).error)?;
        let policy = Policy {
            deadline: deadline(Instant::now(), self.provider.call_ms()),
            max_retries: self.provider.max_retries,
        };
        let outcome = retry::run(&policy, gone, |timeout| {
            self.health.set(Health::Unknown);
            attempt(AttemptScope { until: Instant::now() + timeout, gone })
        });
        attended.health = self.health.get();
        outcome
    }

    fn attempt<Q: ProviderQuestion>(
        &self,
        question: &mut Q,
        scope: AttemptScope<'_>,
    ) -> std::result::Result<Q::Answer, CallError> {
        let _permit = self.turn(scope)?;
        let mut incoming = self.call(question, scope, false)?;
        let reply = self.whole(&mut incoming, None, scope)?;
        self.judge(question, &reply)?;
        question.read(&reply, &self.teller())
    }

    fn attempt_to_listen<Q: Streamed>(
        &self,
        question: &mut Q,
        scope: AttemptScope<'_>,
        hear: &mut Hear<'_>,
    ) -> std::result::Result<Generated, CallError> {
        let teller = self.teller();
        let _permit = self.turn(scope)?;
        let mut incoming = self.call(question, scope, true)?;
        let patience = Patience { gone: scope.gone, until: self.first_word_by() };
        let head = incoming.head(&patience).map_err(|failure| self.failed(failure))?;
        if let Some(decoder) = Decoder::of(&head) {
            self.judge(question, &head)?;
            let mut reader = question.reader();
            let listener = Listener { incoming, decoder, teller, patience };
            return listener.listen(&mut *reader, hear);
        }
        // Refused, or answered all at once.
        let reply = self.whole(&mut incoming, Some(head), scope)?;
        self.judge(question, &reply)?;
        let generated = question.read(&reply, &teller)?;
        hear(&generated.text).map_err(lasting)?;
        Ok(generated)
    }

    /// Waits until the provider may be called.
    fn turn(&self, scope: AttemptScope<'_>) -> std::result::Result<Permit<'_>, CallError> {
        if let Some(left) = self.pause_to_keep() {
            return Err(self.teller().left_alone(left));
        }
        let wish = TurnRequest {
            provider: self.id,
            limits: &self.provider.limits,
            lane: self.lane,
            until: scope.until,
            gone: scope.gone,
        };
        self.memory.gate().enter(&wish).map_err(|refusal| match refusal {
            NotAdmitted::Gone => self.teller().failure(CallFailure::Gone),
            NotAdmitted::MinuteFull(wait) => self.teller().minute_full(wait),
            NotAdmitted::AllTaken(wait) => self.teller().all_taken(wait),
        })
    }

    fn call<Q: ProviderQuestion>(
        &self,
        question: &Q,
        scope: AttemptScope<'_>,
        stream: bool,
    ) -> std::result::Result<Incoming, CallError> {
        let call = HttpCall {
            url: self.url.clone(),
            headers: self.task.dialect.headers(self.provider, &self.key),
            body: question.encode().map_err(lasting)?,
            connect_timeout: Duration::from_millis(self.provider.connect_timeout_ms),
            timeout: scope.until.saturating_duration_since(Instant::now()),
            network: self.provider.network.clone(),
            stream,
        };
        Incoming::open(call).map_err(|failure| self.failed(failure))
    }

    /// All of a reply, of which the head may have come.
    fn whole(
        &self,
        incoming: &mut Incoming,
        head: Option<HttpReply>,
        scope: AttemptScope<'_>,
    ) -> std::result::Result<HttpReply, CallError> {
        let patience = Patience { gone: scope.gone, until: None };
        let head = head.map_or_else(|| incoming.head(&patience), Ok);
        let reply = head.and_then(|head| incoming.whole(head, &patience));
        reply.map(mended_reply).map_err(|failure| self.failed(failure))
    }

    /// Whether a reply is one of success; what is learned from it otherwise.
    fn judge<Q: ProviderQuestion>(
        &self,
        question: &mut Q,
        reply: &HttpReply,
    ) -> std::result::Result<(), CallError> {
        let teller = self.teller();
        self.health.set(if is_absent(reply) { Health::Down } else { Health::Up });
        if (200..300).contains(&reply.status) {
            self.memory.answered(&self.id);
            return Ok(());
        }
        Err(match self.note_pause(reply) {
            Some(pause) if self.lane != Lane::Query => teller.busy(reply, pause),
            _ if question.give_in(reply) => {
                CallError { remedy: Remedy::Changed, ..teller.refusal(reply) }
            }
            _ => teller.refusal(reply),
        })
    }

    fn failed(&self, failure: CallFailure) -> CallError {
        if let CallFailure::NoAnswer(_) | CallFailure::ConnectTimeout = failure {
            self.health.set(Health::Down);
        }
        self.teller().failure(failure)
    }

    fn teller(&self) -> ErrorFormatter<'_> {
        ErrorFormatter { provider: self.provider, key: &self.key, task: self.task }
    }

    fn first_word_by(&self) -> Option<Instant> {
        let wait = self.provider.limits.first_token_timeout_ms?;
        Some(deadline(Instant::now(), wait))
    }

    fn pause_to_keep(&self) -> Option<Duration> {
        match self.lane {
            Lane::Query => None,
            Lane::Fresh | Lane::Bulk => self.memory.pause_left(&self.id),
        }
    }

    /// How long the provider is left alone because of `reply`. A 503 alone is trouble, which
    /// retries are for; with a time it is a wish.
    fn note_pause(&self, reply: &HttpReply) -> Option<Duration> {
        let asked = asked_wait(reply);
        match (reply.status, asked) {
            (429 | 529, _) | (503, Some(_)) => Some(self.memory.refused(self.id, asked)),
            _ => None,
        }
    }
}

fn check_limits(provider: &ProviderConfig) -> Result<()> {
    let limits = &provider.limits;
    for (option, value) in [
        ("timeout", Some(provider.timeout_ms)),
        ("connect_timeout", Some(provider.connect_timeout_ms)),
        ("first_token_timeout", limits.first_token_timeout_ms),
    ] {
        if value == Some(0) {
            let name = &provider.name;
            return Err(Error::invalid(format!("{option} of provider \"{name}\" is 0 ms")));
        }
    }
    if limits.max_concurrency == Some(0) || limits.requests_per_minute == Some(0) {
        let name = &provider.name;
        return Err(Error::invalid(format!(
            "provider \"{name}\" may not be called at all: a limit is 0"
        )));
    }
    Ok(())
}

/// A limit too far away for a clock is as good as a year.
fn deadline(begun: Instant, timeout_ms: u64) -> Instant {
    let year = Duration::from_secs(365 * 24 * 3600);
    begun + Duration::from_millis(timeout_ms).min(year)
}

/// Whether the reply comes from something that stands before a provider which is not there. With a
/// time it is there and busy.
fn is_absent(reply: &HttpReply) -> bool {
    matches!(reply.status, 502..=504) && reply.retry_after.is_none()
}

fn lasting(error: Error) -> CallError {
    CallError { error, remedy: Remedy::None }
}
