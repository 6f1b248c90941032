//! One question to a provider, asked until there is an answer or none will come.
//!
//! ```text
//! (provider, question) → retries and pauses kept → answer, number of calls
//! ```
//!
//! What differs from protocol to protocol is a [`Question`]; limits, retries, pauses and the
//! hiding of keys are here, the same for all.
//!
//! A provider that is busy is left alone by who can wait: calls of the lane
//! [`Lane::Bulk`] fail at once while its pause lasts, saying when to come back, so that no
//! thread is held by waiting and no limit is overrun again. A person who waits for one answer
//! is worth another attempt, so calls of [`Lane::Query`] are made in spite of a pause. What
//! they hear is noted for the others.

use std::time::{Duration, Instant};

use super::call::{self, Call, Reply};
use super::key::Key;
use super::memory::Memory;
use super::pause::ProviderId;
use super::retry::{self, Policy, Remedy, Trouble};
use super::trouble::{Task, Teller, asked_wait};
use crate::daemon::protocol::{Lane, ProviderConfig};
use crate::error::{Error, Result};

/// What is asked, in the words of a protocol.
pub trait Question {
    /// What comes back.
    type Answer;

    /// The body of the request.
    fn encode(&self) -> Result<Vec<u8>>;

    /// Whether the question was changed so that this refusal cannot recur. Must come to an
    /// end.
    fn give_in(&mut self, reply: &Reply) -> bool;

    /// Reads a reply of success.
    fn read(
        &mut self,
        reply: &Reply,
        teller: &Teller<'_>,
    ) -> std::result::Result<Self::Answer, Trouble>;
}

/// Who asks whom, for what.
pub struct Caller<'a> {
    provider: &'a ProviderConfig,
    task: &'static Task,
    lane: Lane,
    memory: &'a Memory,
    url: String,
    key: Key,
    id: ProviderId,
}

impl<'a> Caller<'a> {
    /// Fails if the address, the key or a limit of `provider` is unfit.
    pub fn new(
        provider: &'a ProviderConfig,
        task: &'static Task,
        lane: Lane,
        memory: &'a Memory,
    ) -> Result<Self> {
        check_limits(provider)?;
        let url = call::endpoint(&provider.base_url, task.path)?;
        let key = Key::resolve(provider)?;
        let id = key.identity(&provider.base_url);
        Ok(Caller { provider, task, lane, memory, url, key, id })
    }

    /// Asks, within the provider's limits; gives the answer and the number of calls.
    pub fn ask<Q: Question>(
        &self,
        question: &mut Q,
        gone: &dyn Fn() -> bool,
    ) -> Result<(Q::Answer, u32)> {
        let policy = Policy {
            deadline: deadline(Instant::now(), self.provider.timeout_ms),
            max_retries: self.provider.max_retries,
        };
        retry::run(&policy, gone, |timeout| self.attempt(question, timeout, gone))
    }

    fn attempt<Q: Question>(
        &self,
        question: &mut Q,
        timeout: Duration,
        gone: &dyn Fn() -> bool,
    ) -> std::result::Result<Q::Answer, Trouble> {
        let teller = Teller { provider: self.provider, key: &self.key, task: self.task };
        if let Some(left) = self.pause_to_keep() {
            return Err(teller.left_alone(left));
        }
        let call = self.call(question.encode().map_err(lasting)?, timeout);
        let reply = call::post(call, gone).map_err(|failure| teller.failure(failure))?;
        if (200..300).contains(&reply.status) {
            self.memory.answered(&self.id);
            return question.read(&reply, &teller);
        }
        Err(match self.note_pause(&reply) {
            Some(pause) if self.lane == Lane::Bulk => teller.busy(&reply, pause),
            _ if question.give_in(&reply) => {
                Trouble { remedy: Remedy::Changed, ..teller.refusal(&reply) }
            }
            _ => teller.refusal(&reply),
        })
    }

    fn call(&self, body: Vec<u8>, timeout: Duration) -> Call {
        Call {
            url: self.url.clone(),
            key: self.key.clone(),
            body,
            connect_timeout: Duration::from_millis(self.provider.connect_timeout_ms),
            timeout,
        }
    }

    fn pause_to_keep(&self) -> Option<Duration> {
        match self.lane {
            Lane::Bulk => self.memory.pause_left(&self.id),
            Lane::Query => None,
        }
    }

    /// How long the provider is left alone because of `reply`. A 503 alone is trouble, which
    /// retries are for; with a time it is a wish.
    fn note_pause(&self, reply: &Reply) -> Option<Duration> {
        let asked = asked_wait(reply);
        match (reply.status, asked) {
            (429, _) | (503, Some(_)) => Some(self.memory.refused(self.id, asked)),
            _ => None,
        }
    }
}

fn check_limits(provider: &ProviderConfig) -> Result<()> {
    for (option, value) in
        [("timeout", provider.timeout_ms), ("connect_timeout", provider.connect_timeout_ms)]
    {
        if value == 0 {
            let name = &provider.name;
            return Err(Error::invalid(format!("{option} of provider \"{name}\" is 0 ms")));
        }
    }
    Ok(())
}

/// A limit too far away for a clock is as good as a year.
fn deadline(begun: Instant, timeout_ms: u64) -> Instant {
    let year = Duration::from_secs(365 * 24 * 3600);
    begun + Duration::from_millis(timeout_ms).min(year)
}

fn lasting(error: Error) -> Trouble {
    Trouble { error, remedy: Remedy::None }
}
