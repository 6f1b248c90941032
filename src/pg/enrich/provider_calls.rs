//! Providers asked in the background, about one thing after the other.
//!
//! No user waits for the answers, so each call goes behind those of users: while its provider is
//! busy it fails with the time to wait, and the pipeline waits.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::embed::EmbeddingKind;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::activity;
use crate::pg::ragd::client::{self, Watch};
use crate::pg::ragd::embed::Embedding;
use crate::pg::server::error::unexpected;
use crate::pg::server::role::as_superuser;
use crate::pg::server::transaction::{Failure, Outcome, Transactions, caught};
use crate::prompt::messages::Message;
use crate::protocol::{GenerateRequest, Lane, ProviderConfig, Request, Response};
use crate::scheduling::one_by_one::{self, ItemReply, one_by_one};

/// Longest answer of a language model, in tokens; some think before they write.
const TOKENS: u32 = 2000;

/// A text that no provider can object to, in the place of what is asked about.
pub const HARMLESS: &str = "The library opens at nine in the morning.";

/// What came of the questions about things.
pub type ProviderReplies<T, A> = one_by_one::ItemReplies<T, A, Failure>;

/// After so many timeouts in a row, they are taken for a refusal of what was asked about.
const MOST_TIMEOUTS: u32 = 3;

/// How often in a row a provider took too long over a thing, by the thing's key. A call that times out
/// says nothing about what it was for, but one that always does would keep all others waiting.
#[derive(Default)]
struct Timeouts(HashMap<Vec<u8>, u32>);

impl Timeouts {
    fn counted<A>(&mut self, thing: &[u8], answer: Result<A>) -> Result<A> {
        match answer {
            Err(error) if error.kind() == ErrorKind::ProviderTimeout => {
                let count = self.0.entry(thing.to_vec()).or_default();
                *count += 1;
                match *count < MOST_TIMEOUTS {
                    true => Err(error),
                    false => Err(Error::new(ErrorKind::ProviderFailed, error.message())),
                }
            }
            other => {
                self.0.remove(thing);
                other
            }
        }
    }
}

thread_local! {
    /// The timeouts that this process has met.
    static TIMEOUTS: RefCell<Timeouts> = RefCell::default();
}

/// Asks about each of `things`, known by their `key`; about [`HARMLESS`] where `ask` gets nothing.
pub fn about_each<T, A>(
    things: Vec<T>,
    key: impl Fn(&T) -> &[u8],
    mut ask: impl FnMut(Option<&T>) -> Result<A>,
    is_unwanted: impl Fn() -> bool,
) -> ProviderReplies<T, A> {
    let mut ask_once = |thing: Option<&T>| {
        let answer = ask(thing);
        match thing {
            Some(thing) => TIMEOUTS.with_borrow_mut(|all| all.counted(key(thing), answer)),
            None => answer,
        }
    };
    one_by_one(things, |thing| reply(|| ask_once(thing)), is_unwanted)
}

/// What comes of a call of a provider. What the provider says may be about what it was asked.
fn reply<A>(call: impl FnOnce() -> Result<A>) -> ItemReply<A, Failure> {
    let of_provider = [ErrorKind::ProviderRefused, ErrorKind::ProviderFailed];
    let refusal = || match call() {
        Err(error) if of_provider.contains(&error.kind()) => Ok(Err(Failure::from(error))),
        other => other.map(Ok),
    };
    match caught(refusal) {
        Ok(Ok(answer)) => ItemReply::Answer(answer),
        Ok(Err(failure)) => ItemReply::Refused(failure),
        Err(failure) => ItemReply::Stopped(failure),
    }
}

/// What a language model writes.
pub fn written(
    provider: &ProviderConfig,
    messages: Vec<Message>,
    watch: &mut Watch<'_>,
) -> Result<String> {
    let request = GenerateRequest {
        provider: provider.clone(),
        messages,
        temperature: 0.0,
        max_tokens: Some(TOKENS),
        schema: None,
        lane: Lane::Bulk,
    };
    match client::call_and_watch(&Request::Generate(request), Some(watch))? {
        Response::Text(answer) => Ok(answer.text),
        other => Err(unexpected(&other)),
    }
}

/// Embeds the text of each of `things`: all together, and where that is refused each alone.
pub fn embedded<T>(
    embedding: &Embedding,
    things: Vec<T>,
    text: impl Fn(&T) -> String,
    watch: &mut Watch<'_>,
) -> ProviderReplies<T, Vec<f32>> {
    let texts: Vec<String> = things.iter().map(&text).collect();
    match reply(|| embedding.embed_and_watch(&texts, EmbeddingKind::Passage, watch)) {
        ItemReply::Answer(vectors) => ProviderReplies::all(things.into_iter().zip(vectors)),
        ItemReply::Stopped(failure) => ProviderReplies::none(failure),
        ItemReply::Refused(_) => {
            let mut alone = |thing: Option<&T>| {
                let text = thing.map_or_else(|| HARMLESS.to_owned(), &text);
                Ok(embedding
                    .embed_and_watch(&[text], EmbeddingKind::Passage, watch)?
                    .swap_remove(0))
            };
            one_by_one(things, |thing| reply(|| alone(thing)), || false)
        }
    }
}

/// What came of a step.
pub struct StepResult {
    /// How much was done.
    pub count: usize,
    /// Why something was refused.
    pub refused: Option<Failure>,
    /// Why the rest waits.
    pub stopped: Option<Failure>,
}

impl StepResult {
    /// How much was done; the failure for which the pipeline has to wait. One that is about a thing
    /// and not about the provider is noted, and the pipeline does not wait for it.
    pub fn settle(self, transactions: Transactions, id: i32) -> Outcome<usize> {
        match (self.stopped, self.refused) {
            (Some(failure), _) => Err(failure),
            (None, Some(failure)) => {
                let note = || activity::note_failure(id, 0, &failure.reason());
                transactions.run(|| as_superuser(note))?;
                Ok(self.count)
            }
            (None, None) => Ok(self.count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_always_times_out_is_refused_in_the_end() {
        let timeout = || Err::<(), Error>(Error::new(ErrorKind::ProviderTimeout, "too late"));
        let mut timeouts = Timeouts::default();
        let mut kind =
            |thing: &[u8], answer| timeouts.counted(thing, answer).map_err(|it| it.kind());
        assert_eq!(kind(b"a", timeout()), Err(ErrorKind::ProviderTimeout));
        assert_eq!(kind(b"a", timeout()), Err(ErrorKind::ProviderTimeout));
        assert_eq!(kind(b"b", timeout()), Err(ErrorKind::ProviderTimeout));
        assert_eq!(kind(b"a", timeout()), Err(ErrorKind::ProviderFailed));
        assert_eq!(kind(b"a", Ok(())), Ok(()));
        assert_eq!(kind(b"a", timeout()), Err(ErrorKind::ProviderTimeout), "no longer in a row");
    }
}
