//! What does a provider not get to read?
//!
//! ```text
//! a request → the same with placeholders for personal data → a reply with placeholders → one with the values
//! ```
//!
//! It is done where a request leaves for one provider, and undone where its reply comes: what is repeated, checked
//! against a schema, streamed or called as a tool is made of the values again, and nobody above has to think of it. A
//! reply that called tools goes back as it came, with placeholders in it, so the next request goes on with those. What other
//! replies are made into is sent without the values that earlier calls of the answer had. The session keeps these, so each
//! reply, and the error of each call that fails, says which values its request had that no earlier one had.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::client_aid::{NameFinder, NameSearch};
use super::retry::given_up;
use crate::error::{Error, ErrorKind, Result};
use crate::protocol::{
    EmbedRequest, GenerateRequest, Generated, Lane, ProviderConfig, RedactionPolicy, RerankRequest,
    ToolUse,
};
use crate::redact::PiiKind;
use crate::redact::json;
use crate::redact::labelled::for_model;
use crate::redact::redaction::Redaction;
use crate::text::token_labels::LabelledSpan;

/// What takes personal data out of requests.
pub struct Redactor<'a> {
    /// What finds names by a model, where a provider has one.
    pub names: &'a dyn NameFinder,
    /// Whether the client has left; then the work is given up.
    pub gone: &'a dyn Fn() -> bool,
}

impl Redactor<'_> {
    /// Has `write` answer `request` without its personal data, where its provider shall not have them, and puts them back.
    /// Fails before anything is sent where the client leaves, or where the provider has a model for it that cannot say what
    /// they are within the time that the call may take.
    pub fn around(
        &self,
        request: &GenerateRequest,
        write: impl FnOnce(&GenerateRequest) -> Result<Generated>,
    ) -> Result<Generated> {
        if !hides(&request.provider) {
            return write(request);
        }
        let (sent, redaction) = self.without_pii(request)?;
        let found = |error| with_found(error, &redaction, &request.provider);
        let mut generated = write(&sent).map_err(found)?;
        put_back(&mut generated, &redaction, &request.provider);
        Ok(generated)
    }

    /// As [`around`](Redactor::around), with an answer that is told to `hear` in pieces. A placeholder is told whole.
    pub fn around_stream(
        &self,
        request: &GenerateRequest,
        hear: &mut dyn FnMut(&str) -> Result<()>,
        write: impl FnOnce(&GenerateRequest, &mut dyn FnMut(&str) -> Result<()>) -> Result<Generated>,
    ) -> Result<Generated> {
        if !hides(&request.provider) {
            return write(request, hear);
        }
        let (sent, redaction) = self.without_pii(request)?;
        let mut restorer = redaction.restorer();
        let mut tell = |text: String| if text.is_empty() { Ok(()) } else { hear(&text) };
        let written = write(&sent, &mut |piece| tell(restorer.push(piece)));
        let found = |error| with_found(error, &redaction, &request.provider);
        let mut generated = written.map_err(found)?;
        tell(restorer.finish())?;
        put_back(&mut generated, &redaction, &request.provider);
        Ok(generated)
    }

    /// The request with texts that its provider may read, each for itself: the vector of a text is to depend on no other.
    /// Fails as [`around`](Redactor::around) does.
    pub fn to_embed(&self, request: &EmbedRequest) -> Result<EmbedRequest> {
        let mut provider = request.provider.clone();
        let labelled = self.labelled(&mut provider, request.lane, &request.texts)?;
        let alone = |(text, labelled): (&String, &Vec<LabelledSpan>), look: &mut dyn FnMut()| {
            let mut redaction = Redaction::default();
            redaction.tell(text.clone(), labelled.clone());
            redaction.learn(text, look);
            redaction.replace(text, look)
        };
        let texts = || request.texts.iter().zip(&labelled);
        let texts = unless_gone(self.gone, |look| texts().map(|it| alone(it, look)).collect())?;
        Ok(EmbedRequest { provider, texts, ..request.clone() })
    }

    /// The request with texts that its provider may read, and the values that it had and no earlier request. A value of the
    /// question has its placeholder in all passages; what else a passage has is numbered for itself, so that no score depends
    /// on other passages. Fails as [`around`](Redactor::around) does.
    pub fn to_rerank(
        &self,
        request: &RerankRequest,
    ) -> Result<(RerankRequest, BTreeMap<String, PiiKind>)> {
        let mut provider = request.provider.clone();
        let texts = std::iter::once(&request.query).chain(&request.passages);
        let texts: Vec<String> = texts.cloned().collect();
        let labelled = self.labelled(&mut provider, Lane::Query, &texts)?;
        unless_gone(self.gone, |look| {
            let mut redaction = Redaction::default();
            know_withheld(&mut redaction, &request.provider);
            for (text, labelled) in texts.iter().zip(labelled) {
                redaction.tell(text.clone(), labelled);
                redaction.learn(text, look);
            }
            let query = redaction.replace(&request.query, look);
            let passage = |text: &String| redaction.replace_alone(text, look);
            let passages = request.passages.iter().map(passage).collect();
            let found = newly_found(&redaction, &request.provider);
            (RerankRequest { provider, query, passages }, found)
        })
    }

    fn without_pii(&self, request: &GenerateRequest) -> Result<(GenerateRequest, Redaction)> {
        let mut sent = request.clone();
        let turns = request.tools.iter().flat_map(|tools| &tools.turns);
        let mut redaction = Redaction::from_earlier(turns.flat_map(|turn| &turn.reply.replaced));
        know_withheld(&mut redaction, &request.provider);
        if request.provider.special.redact_model.is_some() {
            let mut texts = BTreeSet::new();
            each_text(&mut sent, &mut |text| text.each(&mut |it| texts.extend([it.clone()])));
            let texts: Vec<String> = texts.into_iter().collect();
            let labelled = self.labelled(&mut sent.provider, request.lane, &texts)?;
            texts.into_iter().zip(labelled).for_each(|(text, it)| redaction.tell(text, it));
        }
        unless_gone(self.gone, |look| {
            // A name that one text announces may stand in another one that does not.
            each_text(&mut sent, &mut |text| text.learned(&mut redaction, look));
            each_text(&mut sent, &mut |text| text.replaced(&mut redaction, look));
        })?;
        Ok((sent, redaction))
    }

    /// What the model of `provider` finds in each of these texts, nothing where it has none. The time that it takes is
    /// taken from that of the call; where none is left, nothing is called.
    fn labelled(
        &self,
        provider: &mut ProviderConfig,
        lane: Lane,
        texts: &[String],
    ) -> Result<Vec<Vec<LabelledSpan>>> {
        let Some(model) = &provider.special.redact_model else {
            return Ok(vec![Vec::new(); texts.len()]);
        };
        let begun = Instant::now();
        let read: Vec<String> = unless_gone(self.gone, |look| {
            texts.iter().map(|text| for_model(text, look)).collect()
        })?;
        let within = Duration::from_millis(provider.allowed_ms());
        let search = NameSearch { model, lane, texts: &read, within };
        let found = self.names.names(&search).map_err(|error| match error.kind() {
            ErrorKind::ProviderTimeout => not_sent(error.hint(more_time(provider)), &provider.name),
            _ => not_sent(error, &provider.name),
        })?;
        if found.len() != texts.len() {
            let message = "a token classifier has not read all that was to be sent";
            return Err(Error::new(ErrorKind::Internal, message));
        }
        let took = begun.elapsed();
        spend(provider, took).map_err(|error| not_sent(error, &provider.name))?;
        Ok(found)
    }
}

/// Has what earlier calls have not sent be known.
fn know_withheld(redaction: &mut Redaction, provider: &ProviderConfig) {
    for (value, kind) in provider.special.withheld.values() {
        redaction.know(&value, kind);
    }
}

/// The values of a call that no earlier one has had, whether they stand in what is sent or not.
fn newly_found(redaction: &Redaction, provider: &ProviderConfig) -> BTreeMap<String, PiiKind> {
    let known = provider.special.withheld.values();
    let new = redaction.learned().filter(|(value, _)| !known.contains_key(*value));
    new.map(|(value, kind)| (value.to_owned(), kind)).collect()
}

/// The error of a call, which says which of its values are new.
fn with_found(error: Error, redaction: &Redaction, provider: &ProviderConfig) -> Error {
    with_values(error, &newly_found(redaction, provider))
}

/// The error, which says also that these values were kept from the provider.
pub fn with_values(error: Error, values: &BTreeMap<String, PiiKind>) -> Error {
    let texts = values.iter().map(|(value, kind)| (value.clone(), kind.word().to_owned()));
    error.with_withheld(texts.collect())
}

/// Takes the time for which the model of `provider` has looked for personal data from that of the call under way. Fails with
/// [`ErrorKind::ProviderTimeout`] where none is left.
fn spend(provider: &mut ProviderConfig, took: Duration) -> Result<()> {
    provider.special.redact_took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    if provider.call_ms() > 0 {
        return Ok(());
    }
    let message = format!("its redact_model took all of {}", provider.timeout_in_words());
    Err(Error::new(ErrorKind::ProviderTimeout, message).hint(more_time(provider)))
}

/// What can be done where the model of `provider` takes all of the time of a call.
fn more_time(provider: &ProviderConfig) -> String {
    format!("Raise {}, or register a smaller token classifier.", provider.limit_to_raise())
}

/// The error of a model that should have found personal data for the server `name`.
fn not_sent(error: Error, name: &str) -> Error {
    let message = format!("nothing was sent to provider \"{name}\": {}", error.message());
    let hint = error.hint_text().map(str::to_owned);
    let told = Error::new(error.kind(), message);
    hint.map_or(told.clone(), |hint| told.hint(hint))
}

/// Whether the provider shall have no personal data.
pub fn hides(provider: &ProviderConfig) -> bool {
    provider.special.redact == RedactionPolicy::Pii
}

/// What is thrown where nobody waits any more: rules return no errors.
struct ClientLeft;

/// Does `work`, which looks at texts and calls what it is given every 4 KiB of them.
fn unless_gone<T>(gone: &dyn Fn() -> bool, work: impl FnOnce(&mut dyn FnMut()) -> T) -> Result<T> {
    let mut look = || {
        if gone() {
            resume_unwind(Box::new(ClientLeft));
        }
    };
    // What the work has made is dropped with it.
    let done = catch_unwind(AssertUnwindSafe(|| work(&mut look)));
    done.map_err(|thrown| match thrown.downcast::<ClientLeft>() {
        Ok(_) => given_up(),
        Err(thrown) => resume_unwind(thrown),
    })
}

/// A text of a request.
enum SentText<'a> {
    Prose(&'a mut String),
    /// A JSON schema, whose form has to stay.
    Schema(&'a mut String),
}

impl SentText<'_> {
    fn learned(self, redaction: &mut Redaction, look: &mut dyn FnMut()) {
        self.each(&mut |text| redaction.learn(text, look));
    }

    fn replaced(self, redaction: &mut Redaction, look: &mut dyn FnMut()) {
        self.each(&mut |text| *text = redaction.replace(text, look));
    }

    /// Has `see` see the texts in it, and keeps what it makes of them.
    fn each(self, see: &mut dyn FnMut(&mut String)) {
        match self {
            SentText::Prose(text) => see(text),
            SentText::Schema(text) => match serde_json::from_str::<Value>(text) {
                Ok(mut schema) => {
                    json::each_text_of_schema(&mut schema, see);
                    *text = schema.to_string();
                }
                Err(_) => see(text),
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
    request.schema.iter_mut().for_each(|text| see(SentText::Schema(text)));
    if let Some(used) = &mut request.tools {
        for tool in &mut used.tools {
            see(SentText::Prose(&mut tool.description));
            see(SentText::Schema(&mut tool.parameters));
        }
        see(SentText::Schema(&mut used.otherwise.schema));
    }
}

/// Puts the values back into a reply, which says which of them are new.
fn put_back(generated: &mut Generated, redaction: &Redaction, provider: &ProviderConfig) {
    generated.text = redaction.restore(&generated.text);
    generated.withheld = newly_found(redaction, provider);
    if let Some(reply) = &mut generated.tools {
        for call in &mut reply.calls {
            call.arguments = redaction.restore(&call.arguments);
        }
        reply.replaced = redaction.replaced();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::call::CallFailure;
    use crate::provider::errors::{CallPurpose, ErrorFormatter};
    use crate::provider::key::ApiKey;
    use crate::provider::openai::DIALECT;

    const TASK: &CallPurpose = &CallPurpose {
        dialect: &DIALECT,
        path: "",
        answer: "an answer",
        model: "option model",
        too_long: "",
    };

    #[test]
    fn the_time_of_the_model_is_that_of_the_call() {
        let mut provider = ProviderConfig { timeout_ms: 60_000, ..ProviderConfig::unreachable() };
        assert_eq!(provider.call_ms(), 60_000);
        spend(&mut provider, Duration::from_millis(59_100)).unwrap();
        assert_eq!((provider.call_ms(), provider.timeout_ms), (900, 60_000));
        let key = ApiKey::default();
        let late = ErrorFormatter { provider: &provider, key: &key, task: TASK }
            .failure(CallFailure::Timeout);
        let expected =
            "did not answer within timeout of 60000 ms, of which redact_model took 59100 ms";
        assert!(late.error.message().ends_with(expected), "{}", late.error);
        provider.limits.within_ms = Some(59_200);
        assert_eq!(provider.call_ms(), 100);
        let late = ErrorFormatter { provider: &provider, key: &key, task: TASK }
            .failure(CallFailure::Timeout);
        let expected = "did not answer within the 59200 ms that budget.seconds leaves to this call, with timeout of 60000 ms, \
             of which redact_model took 59100 ms";
        assert!(late.error.message().ends_with(expected), "{}", late.error);
        assert_eq!(late.error.hint_text(), Some("Raise budget.seconds of the answer."));
        let told = not_sent(spend(&mut provider, Duration::from_millis(59_200)).unwrap_err(), "p");
        let expected = "its redact_model took all of the 59200 ms that budget.seconds leaves to this call, with timeout of 60000 ms";
        assert!(told.message().ends_with(expected), "{told}");
        let expected =
            "Raise budget.seconds of the answer, or register a smaller token classifier.";
        assert_eq!(told.hint_text(), Some(expected));
        provider.limits.within_ms = None;
        for took in [60_000, 60_001, u64::MAX] {
            let error = spend(&mut provider, Duration::from_millis(took)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ProviderTimeout);
            let told = not_sent(error, "p");
            let expected = "nothing was sent to provider \"p\": its redact_model took all of timeout of 60000 ms";
            assert_eq!(told.message(), expected);
            assert!(told.hint_text().is_some_and(|it| it.starts_with("Raise timeout of server")));
        }
    }

    #[test]
    fn work_for_nobody_is_given_up() {
        let text = "a@b.de ".repeat(10_000);
        let done = |gone: bool| {
            unless_gone(&|| gone, |look| Redaction::default().replace(&text, look).len())
        };
        assert!(done(false).is_ok());
        assert_eq!(done(true).unwrap_err().message(), given_up().message());
    }
}
