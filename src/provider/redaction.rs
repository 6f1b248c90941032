//! What does a provider not get to read?
//!
//! ```text
//! a request → the same with placeholders for personal data → a reply with placeholders → one with the values
//! ```
//!
//! It is done where a request leaves for one provider, and undone where its reply comes: what is repeated, checked
//! against a schema, streamed or called as a tool is made of the values again, and nobody above has to think of it. A
//! reply that called tools goes back as it came, with placeholders in it, so the next request goes on with those.

use serde_json::Value;

use crate::error::Result;
use crate::protocol::{
    EmbedRequest, GenerateRequest, Generated, ProviderConfig, RedactionPolicy, RerankRequest,
    ToolUse,
};
use crate::redact::json;
use crate::redact::redaction::Redaction;

/// Has `write` answer `request` without its personal data, where its provider shall not have them, and puts them back.
pub fn around(
    request: &GenerateRequest,
    write: impl FnOnce(&GenerateRequest) -> Result<Generated>,
) -> Result<Generated> {
    if !hides(&request.provider) {
        return write(request);
    }
    let (sent, redaction) = without_pii(request);
    let mut generated = write(&sent)?;
    put_back(&mut generated, &redaction);
    Ok(generated)
}

/// As [`around`], with an answer that is told to `hear` in pieces. A placeholder is told whole.
pub fn around_stream(
    request: &GenerateRequest,
    hear: &mut dyn FnMut(&str) -> Result<()>,
    write: impl FnOnce(&GenerateRequest, &mut dyn FnMut(&str) -> Result<()>) -> Result<Generated>,
) -> Result<Generated> {
    if !hides(&request.provider) {
        return write(request, hear);
    }
    let (sent, redaction) = without_pii(request);
    let mut restorer = redaction.restorer();
    let mut tell = |text: String| if text.is_empty() { Ok(()) } else { hear(&text) };
    let mut generated = write(&sent, &mut |piece| tell(restorer.push(piece)))?;
    tell(restorer.finish())?;
    put_back(&mut generated, &redaction);
    Ok(generated)
}

/// The request with texts that its provider may read, each for itself: the vector of a text is to depend on no other.
pub fn to_embed(request: &EmbedRequest) -> EmbedRequest {
    let alone = |text: &String| {
        let mut redaction = Redaction::default();
        redaction.learn(text, &mut || {});
        redaction.replace(text, &mut || {})
    };
    EmbedRequest { texts: request.texts.iter().map(alone).collect(), ..request.clone() }
}

/// The request with texts that its provider may read. A value of the question has its placeholder in all passages; what
/// else a passage has is numbered for itself, so that no score depends on other passages.
pub fn to_rerank(request: &RerankRequest) -> RerankRequest {
    let mut redaction = Redaction::default();
    for text in std::iter::once(&request.query).chain(&request.passages) {
        redaction.learn(text, &mut || {});
    }
    let query = redaction.replace(&request.query, &mut || {});
    let passage = |text: &String| redaction.clone().replace(text, &mut || {});
    let passages = request.passages.iter().map(passage).collect();
    RerankRequest { provider: request.provider.clone(), query, passages }
}

/// Whether the provider shall have no personal data.
pub fn hides(provider: &ProviderConfig) -> bool {
    provider.special.redact == RedactionPolicy::Pii
}

fn without_pii(request: &GenerateRequest) -> (GenerateRequest, Redaction) {
    let mut sent = request.clone();
    let turns = request.tools.iter().flat_map(|tools| &tools.turns);
    let mut redaction = Redaction::from_earlier(turns.flat_map(|turn| &turn.reply.replaced));
    // A name that one text announces may stand in another one that does not.
    each_text(&mut sent, &mut |text| text.learned(&mut redaction));
    each_text(&mut sent, &mut |text| text.replaced(&mut redaction));
    (sent, redaction)
}

/// A text of a request.
enum SentText<'a> {
    Prose(&'a mut String),
    /// A document that has to stay one.
    Json(&'a mut String),
}

impl SentText<'_> {
    fn learned(self, redaction: &mut Redaction) {
        match self {
            SentText::Prose(text) => redaction.learn(text, &mut || {}),
            SentText::Json(text) => match serde_json::from_str::<Value>(text) {
                Ok(value) => json::learn(redaction, &value, &mut || {}),
                Err(_) => redaction.learn(text, &mut || {}),
            },
        }
    }

    fn replaced(self, redaction: &mut Redaction) {
        match self {
            SentText::Prose(text) => *text = redaction.replace(text, &mut || {}),
            SentText::Json(text) => match serde_json::from_str::<Value>(text) {
                Ok(mut value) => {
                    json::replace(redaction, &mut value, &mut || {});
                    *text = value.to_string();
                }
                Err(_) => *text = redaction.replace(text, &mut || {}),
            },
        }
    }
}

/// All that the provider reads of a request, in the order in which it does; of earlier replies nothing, since they are
/// its own words.
fn each_text(request: &mut GenerateRequest, see: &mut dyn FnMut(SentText<'_>)) {
    for message in &mut request.messages {
        see(SentText::Prose(&mut message.content));
    }
    request
        .tools
        .iter_mut()
        .flat_map(ToolUse::told_mut)
        .for_each(|text| see(SentText::Prose(text)));
    request.schema.iter_mut().for_each(|text| see(SentText::Json(text)));
    if let Some(used) = &mut request.tools {
        for tool in &mut used.tools {
            see(SentText::Prose(&mut tool.description));
            see(SentText::Json(&mut tool.parameters));
        }
        see(SentText::Json(&mut used.otherwise.schema));
    }
}

fn put_back(generated: &mut Generated, redaction: &Redaction) {
    generated.text = redaction.restore(&generated.text);
    if let Some(reply) = &mut generated.tools {
        for call in &mut reply.calls {
            call.arguments = redaction.restore(&call.arguments);
        }
        reply.replaced = redaction.replaced();
    }
}
