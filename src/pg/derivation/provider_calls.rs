//! What comes of a provider's calls in the background.
//!
//! No user waits for the answers, so each call goes behind those of users: while its provider is
//! busy it fails with the time to wait, and the pipeline waits.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::embed::EmbeddingKind;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::ragd::client::{PendingReply, Watch};
use crate::pg::ragd::embed::Embedding;
use crate::pg::server::error::unexpected;
use crate::pg::server::transaction::{Failure, Outcome, caught};
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

/// How often in a row a provider took too long over an item, by the item's key. A call that times out
/// says nothing about what it was for, but one that always does would keep all others waiting.
#[derive(Default)]
struct Timeouts(HashMap<Vec<u8>, u32>);

impl Timeouts {
    fn counted<A>(&mut self, item: &[u8], answer: Result<A>) -> Result<A> {
        match answer {
            Err(error) if error.kind() == ErrorKind::ProviderTimeout => {
                let count = self.0.entry(item.to_vec()).or_default();
                *count += 1;
                match *count < MOST_TIMEOUTS {
                    true => Err(error),
                    false => Err(Error::new(ErrorKind::ProviderFailed, error.message())),
                }
            }
            other => {
                self.0.remove(item);
                other
            }
        }
    }
}

thread_local! {
    /// The timeouts that this process has met.
    static TIMEOUTS: RefCell<Timeouts> = RefCell::default();
}

/// Has a language model write on the account of `pipeline`, and does not wait for it.
pub fn begin(
    pipeline: i32,
    provider: &ProviderConfig,
    messages: Vec<Message>,
) -> Outcome<PendingReply> {
    let request = GenerateRequest {
        provider: provider.clone(),
        messages,
        sampling: Default::default(),
        max_tokens: Some(TOKENS),
        schema: None,
        tools: None,
        lane: Lane::Bulk,
    };
    caught(|| PendingReply::of(pipeline, &Request::Generate(request)))
}

/// What a language model has written about the item with this key; `None`: about [`HARMLESS`].
pub fn taken(reply: PendingReply, item: Option<&[u8]>) -> ItemReply<String, Failure> {
    reply_of(|| {
        let written = match reply.take() {
            Ok(Response::Text(answer)) => Ok(answer.text),
            Ok(other) => Err(unexpected(&other)),
            Err(error) => Err(error),
        };
        match item {
            Some(item) => TIMEOUTS.with_borrow_mut(|all| all.counted(item, written)),
            None => written,
        }
    })
}

/// What comes of a call of a provider, or of a model of ragd's. What it says may be about what it was asked.
fn reply_of<A>(call: impl FnOnce() -> Result<A>) -> ItemReply<A, Failure> {
    let is_said = |kind: ErrorKind| {
        matches!(kind, ErrorKind::ProviderRefused | ErrorKind::ModelFailed) || kind.is_of_answer()
    };
    let refusal = || match call() {
        Err(error) if is_said(error.kind()) => Ok(Err(Failure::from(error))),
        other => other.map(Ok),
    };
    match caught(refusal) {
        Ok(Ok(answer)) => ItemReply::Answer(answer),
        Ok(Err(failure)) => ItemReply::Refused(failure),
        Err(failure) => ItemReply::Stopped(failure),
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
    match reply_of(|| embedding.embed_and_watch(&texts, EmbeddingKind::Passage, watch)) {
        ItemReply::Answer(vectors) => ProviderReplies::all(things.into_iter().zip(vectors)),
        ItemReply::Stopped(failure) => ProviderReplies::none(failure),
        ItemReply::Refused(_) => {
            let mut alone = |thing: Option<&T>| {
                let text = thing.map_or_else(|| HARMLESS.to_owned(), &text);
                Ok(embedding
                    .embed_and_watch(&[text], EmbeddingKind::Passage, watch)?
                    .swap_remove(0))
            };
            one_by_one(things, |thing| reply_of(|| alone(thing)))
        }
    }
}

#[cfg(feature = "pg_test")]
mod tests {
    use pgrx::pg_extern;

    use super::*;

    #[pg_extern]
    fn what_always_times_out_is_refused_in_the_end() {
        let timeout = || Err::<(), Error>(Error::new(ErrorKind::ProviderTimeout, "too late"));
        let mut timeouts = Timeouts::default();
        let mut kind = |item: &[u8], answer| timeouts.counted(item, answer).map_err(|it| it.kind());
        assert_eq!(kind(b"a", timeout()), Err(ErrorKind::ProviderTimeout));
        assert_eq!(kind(b"a", timeout()), Err(ErrorKind::ProviderTimeout));
        assert_eq!(kind(b"b", timeout()), Err(ErrorKind::ProviderTimeout));
        assert_eq!(kind(b"a", timeout()), Err(ErrorKind::ProviderFailed));
        assert_eq!(kind(b"a", Ok(())), Ok(()));
        assert_eq!(kind(b"a", timeout()), Err(ErrorKind::ProviderTimeout), "no longer in a row");
    }
}
