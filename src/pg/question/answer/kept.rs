//! Replies of language models that are kept with the pipeline whose chunks they speak of.
//!
//! The key of a reply is all that was asked, and the chunks in it are those that the caller's own retrieval has found. So
//! whoever finds a reply could have had it written as well, whatever its role, and none is found once a chunk has changed.

use sha2::{Digest, Sha256};

use super::Writing;
use crate::answer::strategy::{KeptCall, ModelReply};
use crate::error::Result;
use crate::pg::catalog::kept_reply::{self, NewReply, ReplyKey};
use crate::pg::question::federation::FederatedSearch;
use crate::pg::ragd::trace;
use crate::pg::server::error::raise;
use crate::pg::server::random;
use crate::pg::server::transaction::{self, Horizon, in_subtransaction};
use crate::prompt::messages::Message;
use crate::protocol::{ProviderConfig, RedactionPolicy};
use crate::scheduling::bisection::Cause;

/// The replies that one answer may find and add.
pub struct KeptReplies {
    /// Names and IDs of the pipelines of which some are kept.
    pipelines: Vec<(String, i32)>,
    /// SHA-256 of who writes; `None` where nothing is written and it does not matter who has.
    writer: Option<Vec<u8>>,
}

impl KeptReplies {
    /// Those for an answer that `provider` writes, or of anybody where there is none. None at all where personal data are
    /// not sent to the provider: in a reply they stand again, and what is withheld from it is not kept elsewhere.
    pub fn of(
        search: &FederatedSearch,
        writing: &Writing,
        provider: Option<&ProviderConfig>,
    ) -> KeptReplies {
        let redacts = provider.is_some_and(|it| it.special.redact != RedactionPolicy::Nothing);
        let pipelines = search.each_pipeline().filter(|_| !redacts);
        let writer = provider.map(|provider| digest(&identity(provider, writing)));
        KeptReplies { pipelines: pipelines.map(|it| (it.name.clone(), it.id)).collect(), writer }
    }

    /// What was replied to `call` before.
    pub fn find(&self, call: &KeptCall) -> Result<Option<String>> {
        let Some(key) = self.key(call) else { return Ok(None) };
        Ok(kept_reply::find(&key)?.map(|reply| call.as_told(&reply)))
    }

    /// Keeps what was replied. What was cut short is worth another try; what holds a mark of this call means nothing later.
    /// A transaction with one snapshot for all keeps nothing, since others that do would make it fail. Replies are paid for,
    /// so where they cannot be kept the answer goes on without; an error where it was cancelled or is over its time.
    pub fn keep<'a>(
        &self,
        replies: impl Iterator<Item = (&'a KeptCall, &'a ModelReply)>,
    ) -> Result<()> {
        if !transaction::can_write() || transaction::has_one_snapshot() {
            return Ok(());
        }
        let Some(seen) = Horizon::of_statement() else { return Ok(()) };
        let new: Vec<NewReply> =
            replies.filter_map(|(call, reply)| self.new_reply(call, reply)).collect();
        if new.is_empty() {
            return Ok(());
        }
        match in_subtransaction(|| kept_reply::keep(&new, seen)) {
            Ok(()) => Ok(()),
            Err(failure) if failure.is_cancel() || failure.cause == Cause::OverTime => {
                raise(&failure)
            }
            Err(failure) => {
                trace::remark(|| format!("replies are not kept: error {}", failure.sqlstate));
                Ok(())
            }
        }
    }

    /// What is kept of a reply to `call`, if it is.
    fn new_reply(&self, call: &KeptCall, reply: &ModelReply) -> Option<NewReply> {
        let ModelReply { text, finish_reason, .. } = reply;
        let is_whole = finish_reason == "stop" && !text.trim().is_empty() && !text.contains('\0');
        let key = self.key(call).filter(|_| is_whole && !random::has_nonce(text))?;
        Some(NewReply { key, chunks: call.chunks.clone(), text: call.as_kept(text.trim()) })
    }

    /// The key of `call`. The chunks are part of it beside the prompt, as which a template could show anything.
    fn key(&self, call: &KeptCall) -> Option<ReplyKey> {
        let pipeline = self.pipelines.iter().find(|(name, _)| *name == call.pipeline)?.1;
        let said = call
            .prompt
            .iter()
            .map(|Message { role, content }| (role.as_str(), random::without_nonces(content)));
        let asked = (&call.chunks, &call.numbered, said.collect::<Vec<_>>());
        Some(ReplyKey {
            pipeline,
            prompt: digest(&format!("{asked:?}")),
            writer: self.writer.clone(),
        })
    }
}

/// What of a provider and of how it is asked decides what it replies, as text; not how it is reached.
fn identity(provider: &ProviderConfig, writing: &Writing) -> String {
    let ProviderConfig { name, api, base_url, model, special, network, .. } = provider;
    let of_model = (&special.num_ctx, &special.file);
    let (sampling, max_tokens) = (&writing.sampling, writing.max_tokens);
    let owner = network.owner;
    format!("{:?}", (name, api, base_url, model, of_model, owner, sampling, max_tokens))
}

fn digest(text: &str) -> Vec<u8> {
    Sha256::digest(text).to_vec()
}
