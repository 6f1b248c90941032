//! What a language model has written lately, remembered by ragd for all sessions.
//!
//! An answer depends on the messages that the model got to read, and these hold all that the
//! caller's own retrieval found. So the messages are the key, with the role and the provider: a
//! role that may not see a row has other messages, a row that changes makes other messages, and so
//! does a new version of a template. Nothing has to be thrown away when something changes.

use std::collections::BTreeMap;

use pgrx::pg_sys;
use serde::{Deserialize, Serialize};

use super::{client, usage};
use crate::error::Result;
use crate::pg::server::guc::{self, Caching};
use crate::pg::server::random;
use crate::protocol::{
    GenerateRequest, Generated, Note, ProviderConfig, RecalledText, Request, Response, ToolReply,
    ToolUse,
};
use crate::redact::PiiKind;

/// What is remembered of a reply that is more than a text.
#[derive(Serialize, Deserialize)]
struct RememberedReply {
    text: String,
    /// What it called.
    tools: Option<ToolReply>,
    /// What a model has found that was not sent: where the reply is given again, none looks for it.
    withheld: BTreeMap<String, PiiKind>,
}

/// What was written for `request` lately, or what `write` writes now.
pub fn written(
    caching: Caching,
    request: &GenerateRequest,
    write: impl FnOnce() -> Result<Generated>,
) -> Result<Generated> {
    if let Some(known) = recalled(caching, request) {
        return Ok(known);
    }
    let generated = write()?;
    remember(caching, request, &generated);
    Ok(generated)
}

/// What was written for each of `requests` lately, in their order; `write` gets those whose answers
/// are not remembered, and gives as many results.
pub fn all_written(
    caching: Caching,
    requests: Vec<GenerateRequest>,
    write: impl FnOnce(Vec<GenerateRequest>) -> Result<Vec<Result<Generated>>>,
) -> Result<Vec<Result<Generated>>> {
    let known: Vec<Option<Generated>> =
        requests.iter().map(|request| recalled(caching, request)).collect();
    let is_new = |(request, known): (GenerateRequest, &Option<Generated>)| {
        known.is_none().then_some(request)
    };
    let new: Vec<GenerateRequest> = requests.into_iter().zip(&known).filter_map(is_new).collect();
    let made = if new.is_empty() { Vec::new() } else { write(new.clone())? };
    for (request, generated) in new.iter().zip(&made) {
        if let Ok(generated) = generated {
            remember(caching, request, generated);
        }
    }
    let mut made = made.into_iter();
    Ok(known.into_iter().filter_map(|known| known.map(Ok).or_else(|| made.next())).collect())
}

/// What was written for `request` lately, if it is remembered.
pub fn recalled(caching: Caching, request: &GenerateRequest) -> Option<Generated> {
    if caching == Caching::Off {
        return None;
    }
    let kept = recall(&of_caller(&blind(request)), &[], 0.0).into_iter().next()?.text;
    let RememberedReply { text, tools, withheld } = match is_text(request) {
        true => RememberedReply { text: kept, tools: None, withheld: BTreeMap::new() },
        false => serde_json::from_str(&kept).ok()?,
    };
    usage::note_cache_hit();
    Some(Generated {
        text,
        tools,
        finish_reason: "stop".to_owned(),
        prompt_tokens: Some(0),
        cached_tokens: None,
        completion_tokens: Some(0),
        attempts: 0,
        withheld,
    })
}

/// Whether a reply to `request` is remembered as its text alone: it calls nothing, and no model finds names for it.
fn is_text(request: &GenerateRequest) -> bool {
    request.tools.is_none() && request.provider.special.redact_model.is_none()
}

/// Remembers what was written. What was cut short is worth another try; what holds a mark of this
/// call means nothing later.
pub fn remember(caching: Caching, request: &GenerateRequest, generated: &Generated) {
    let is_whole = caching != Caching::Off && generated.finish_reason == "stop";
    if !is_whole {
        return;
    }
    let Generated { text, tools, withheld, .. } = generated.clone();
    let kept = match is_text(request) {
        true => text,
        // Texts can always be written.
        false => {
            serde_json::to_string(&RememberedReply { text, tools, withheld }).unwrap_or_default()
        }
    };
    if !random::has_nonce(&kept) {
        keep(of_caller(&blind(request)), Vec::new(), kept);
    }
}

/// A key that no other caller has: with the database and the role.
pub fn of_caller(key: &str) -> String {
    // SAFETY: variables of the session.
    let (database, role) = unsafe { (pg_sys::MyDatabaseId, pg_sys::GetUserId()) };
    format!("{} {} {key}", database.to_u32(), role.to_u32())
}

/// All that is known of a server, but for the time that is left; of a key, where it is.
pub fn named(provider: &ProviderConfig) -> String {
    let mut provider = provider.clone();
    provider.limits.within_ms = None;
    format!("{provider:?}")
}

/// All that a request says, but for its random marks and the time that is left; of a key it says only where it is.
fn blind(request: &GenerateRequest) -> String {
    let mut request = request.clone();
    request.provider.limits.within_ms = None;
    let said = request.messages.iter_mut().map(|message| &mut message.content);
    for text in said.chain(request.tools.iter_mut().flat_map(ToolUse::told_mut)) {
        *text = random::without_nonces(text);
    }
    format!("{request:?}")
}

/// What was kept for `scope`, the nearest to `vector` first. What cannot be asked is not there.
pub fn recall(scope: &str, vector: &[f32], at_least: f32) -> Vec<RecalledText> {
    let (scope, vector) = (scope.to_owned(), vector.to_vec());
    match client::call(&Request::Recall { scope, vector, at_least }) {
        Ok(Response::Recalled(found)) => found,
        _ => Vec::new(),
    }
}

/// Keeps `text`. Nothing is lost where that fails but time.
pub fn keep(scope: String, vector: Vec<f32>, text: String) {
    let seconds = guc::cache_ttl();
    drop(client::call(&Request::Remember(Note { scope, vector, text, seconds })));
}
