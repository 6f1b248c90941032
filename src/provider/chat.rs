//! How is a model asked to write, and what did it say?
//!
//! ```text
//! (messages, limits, schema or tools) → body of a request
//! (a reply, or its events)            → text or calls of tools, why it ends, tokens read and written
//! ```
//!
//! A protocol is a [`ChatProtocol`]: how the body looks, and where in a reply and in the events of a
//! streamed one the text stands. All else is here, the same for all. The reason for which a text
//! ends is given in the words of OpenAI's protocol: "stop", "length", "content_filter".

use std::marker::PhantomData;

use serde_json::Value;

use super::call::HttpReply;
use super::caller::{Caller, ProviderQuestion};
use super::errors::{CallPurpose, ErrorFormatter, error_message, explanation};
use super::provider_state::ProviderMemory;
use super::retry::{CallAttempts, CallError, Remedy};
use super::sampling::{RequestedSampling, SAMPLING_NAMES, SamplingNames};
use super::schema::{Manner, ResponseFormat};
use super::stream::{EventReader, Hear, Streamed};
use super::support::ModelOfProvider;
use super::tools::{self, ToolRefusal};
use super::turns::MessageTurns;
use crate::account::tokens_of;
use crate::error::{Error, ErrorKind, Result};
use crate::exact;
use crate::protocol::{
    GenerateRequest, Generated, ProviderConfig, RequestedCall, ToolReply, ToolUse,
};

/// What a reply should be, in messages.
pub const ANSWER: &str = "a chat completion";

/// Where a language model is named.
pub const MODEL: &str = "model";

/// What can be done about a prompt that is too long.
pub const TOO_LONG: &str =
    "The prompt is longer than the model reads. Give it fewer or shorter chunks.";

/// The words of a protocol.
pub trait ChatProtocol {
    /// What a whole reply is asked with.
    const TASK: &'static CallPurpose;
    /// What a stream is asked with.
    const STREAM: &'static CallPurpose;
    /// What the parameters of sampling are called.
    const SAMPLING: SamplingNames = SAMPLING_NAMES;

    /// The body of a request.
    fn body(asked: &ChatQuestion<'_>) -> Value;

    /// Notes what a whole reply says, whose numbers are as [`exact::read`] reads them. `Err`: why it is none.
    fn whole(reply: &Value, heard: &mut Heard) -> std::result::Result<(), String>;

    /// Notes what an event of a streamed reply says.
    fn event(event: &Value, heard: &mut Heard);
}

/// What is asked, ready to be put into a protocol's words.
pub struct ChatQuestion<'a> {
    /// The provider that is asked.
    pub provider: &'a ProviderConfig,
    /// What was said so far.
    pub turns: MessageTurns,
    /// How the model chooses its words.
    pub sampling: RequestedSampling,
    /// Longest answer in tokens.
    pub max_tokens: Option<u32>,
    /// The form that the answer must have.
    pub form: Option<ResponseFormat>,
    /// What may be called, and was called before.
    pub tools: Option<&'a ToolUse>,
    /// Whether tools were offered and refused.
    refused: Option<ToolRefusal>,
    /// Whether the answer should come in pieces.
    pub stream: bool,
}

impl<'a> ChatQuestion<'a> {
    /// Fails if the temperature or the schema of `request` is none, and where the protocol has no name for how
    /// the model is to choose its words.
    pub fn new(request: &'a GenerateRequest, names: SamplingNames, stream: bool) -> Result<Self> {
        let sampling = RequestedSampling::new(&request.sampling, names, &request.provider.api)?;
        Ok(ChatQuestion {
            provider: &request.provider,
            turns: MessageTurns::of(&request.messages),
            sampling,
            max_tokens: request.max_tokens,
            form: form_of(request)?,
            tools: request.tools.as_ref(),
            refused: None,
            stream,
        })
    }

    /// Asks for what takes the place of tools, if there are any.
    fn forgo_tools(&mut self) -> Result<()> {
        if let Some(used) = self.tools.take() {
            self.turns = MessageTurns::of(&used.otherwise.messages);
            self.form = Some(ResponseFormat::new(&used.otherwise.schema)?);
        }
        Ok(())
    }

    /// Whether `reply` refuses tools, so that the question goes on without them.
    fn give_in_tools(&mut self, reply: &HttpReply) -> bool {
        if self.tools.is_none() {
            return false;
        }
        self.refused = ToolRefusal::of(reply);
        self.refused.is_some() && self.forgo_tools().is_ok()
    }

    /// The request with its form, if it has one, asked for in that `manner`.
    fn in_manner(mut self, manner: Manner) -> Self {
        if let Some(form) = self.form.as_mut().filter(|form| form.manner != manner) {
            form.manner = manner;
            self.turns.add(&form.instruction());
        }
        self
    }

    /// The schema, if the provider is still thought to know what one is.
    pub fn schema(&self) -> Option<&Value> {
        self.form.as_ref().filter(|form| form.manner == Manner::Schema).map(|form| &form.schema)
    }

    /// Whether JSON is asked for, of whatever schema.
    pub fn is_json(&self) -> bool {
        self.form.as_ref().is_some_and(|form| form.manner == Manner::Json)
    }

    /// Whether the question was changed so that this refusal cannot recur.
    fn give_in(&mut self, reply: &HttpReply) -> bool {
        let said = explanation(&reply.body).to_lowercase();
        let is_of_request = matches!(reply.status, 400 | 422);
        if is_of_request && self.sampling.give_up(&said) || self.give_in_tools(reply) {
            return true;
        }
        if !is_of_request {
            return false;
        }
        let Some(form) = self.form.as_mut() else { return false };
        let gave_in = form.give_in(&said);
        if gave_in && form.manner == Manner::Json {
            self.turns.add(&form.instruction());
        }
        gave_in
    }
}

/// What was heard so far.
#[derive(Debug, Default)]
pub struct Heard {
    /// The text that was written so far.
    pub text: String,
    /// Why it ended, once it has: "stop", "length", "content_filter", or the provider's word.
    pub finish_reason: Option<String>,
    /// Why nothing may be said about this, if the provider says so.
    pub blocked: Option<String>,
    /// Tokens that were read, if the provider has said.
    pub prompt_tokens: Option<u64>,
    /// Tokens among these that were cached, if the provider has said.
    cached_tokens: Option<u64>,
    /// Tokens that were written, if the provider has said.
    pub completion_tokens: Option<u64>,
    /// What is called, where tools were offered.
    tools: Option<ToolReply>,
}

impl Heard {
    /// What is heard where tools were `offered`, or not.
    fn offered(offered: bool) -> Heard {
        Heard { tools: offered.then(ToolReply::default), ..Heard::default() }
    }

    /// Whether tools were offered.
    pub fn is_offered_tools(&self) -> bool {
        self.tools.is_some()
    }

    /// Notes the calls of a reply, and the message with them as it is to be sent back, if tools were offered.
    pub fn calls(&mut self, calls: Vec<RequestedCall>, verbatim: &Value) {
        if let Some(heard) = &mut self.tools {
            *heard = tools::reply(calls, verbatim);
        }
    }

    /// Notes the counts that stand at these places of `value`, where there are any.
    pub fn count(&mut self, value: &Value, read: &str, written: &str) {
        let number = |place: &str| value.pointer(place).and_then(Value::as_u64);
        self.counted(number(read), number(written));
    }

    /// Notes these counts, where there are any.
    pub fn counted(&mut self, read: Option<u64>, written: Option<u64>) {
        self.prompt_tokens = read.map(credible).or(self.prompt_tokens);
        self.completion_tokens = written.map(credible).or(self.completion_tokens);
    }

    /// Notes how many of the tokens that were read are `cached`, if the provider says so. In a stream the number only grows.
    pub fn cached(&mut self, cached: Option<u64>) {
        self.cached_tokens = cached.max(self.cached_tokens);
    }

    fn tell(&mut self, teller: &ErrorFormatter<'_>) -> std::result::Result<Generated, CallError> {
        // PostgreSQL's text cannot hold it, and no model means it.
        let text = std::mem::take(&mut self.text).replace('\0', "");
        let finish_reason = self.finish_reason.take().unwrap_or_default();
        let tools = self.tools.take();
        if text.trim().is_empty() && tools.as_ref().is_none_or(|it| it.calls.is_empty()) {
            let silence = self.silence(&finish_reason, teller);
            return Err(silence.billed(self.prompt_tokens, self.completion_tokens));
        }
        Ok(Generated {
            text,
            finish_reason,
            prompt_tokens: self.prompt_tokens,
            cached_tokens: credibly_cached(self.cached_tokens, self.prompt_tokens),
            completion_tokens: self.completion_tokens,
            attempts: 0,
            tools,
            withheld: Default::default(),
        })
    }

    fn silence(&self, finish_reason: &str, teller: &ErrorFormatter<'_>) -> CallError {
        match (&self.blocked, finish_reason) {
            (Some(why), _) => teller.silence(
                &format!("it was blocked: {why}"),
                Some("The provider's own filter refuses the prompt or the answer."),
            ),
            (None, "length") => teller.silence(
                "its finish_reason is \"length\"",
                Some("The model used up its tokens before it wrote. Raise max_tokens."),
            ),
            (None, reason) => teller.silence(&format!("its finish_reason is \"{reason}\""), None),
        }
    }
}

/// Has the provider of `request` write, in the words of `P`.
pub fn generate<P: ChatProtocol>(
    request: &GenerateRequest,
    memory: &ProviderMemory,
    gone: &dyn Fn() -> bool,
) -> Result<Generated> {
    let mut asked = ChatQuestion::new(request, P::SAMPLING, false)?;
    let caller = Caller::new(&request.provider, P::TASK, request.lane, memory)?;
    let whom = caller.whom();
    if !memory.may_have_tools(&whom) {
        asked.forgo_tools()?;
    }
    let asked = asked.in_manner(memory.manner(&whom));
    let mut chat = ChatCall::<P> { asked, protocol: PhantomData };
    let (generated, effort) = caller.ask(&mut chat, gone)?;
    learn(memory, whom, chat.asked.form.as_ref(), chat.asked.refused);
    Ok(reckoned(generated, effort, request))
}

/// The form that the answer to `request` must have; none where tools are offered, which it may call instead.
pub fn form_of(request: &GenerateRequest) -> Result<Option<ResponseFormat>> {
    let schema = request.schema.as_deref().filter(|_| request.tools.is_none());
    schema.map(ResponseFormat::new).transpose()
}

/// Has it remembered what a model has accepted in the end, after it had refused something else.
pub fn learn(
    memory: &ProviderMemory,
    whom: ModelOfProvider,
    form: Option<&ResponseFormat>,
    refused: Option<ToolRefusal>,
) {
    if refused == Some(ToolRefusal::All) {
        memory.note_no_tools(whom.clone());
    }
    if let Some(form) = form.filter(|form| form.is_general) {
        memory.note_manner(whom, form.manner);
    }
}

/// Has a provider write an answer as a stream, and passes each piece of it to `hear` as it arrives.
/// Gives the whole answer with its tokens at the end.
pub fn generate_stream<P: ChatProtocol + 'static>(
    request: &GenerateRequest,
    memory: &ProviderMemory,
    gone: &dyn Fn() -> bool,
    hear: &mut Hear<'_>,
) -> Result<Generated> {
    let mut chat = ChatCall::<P> {
        asked: ChatQuestion::new(request, P::SAMPLING, true)?,
        protocol: PhantomData,
    };
    let caller = Caller::new(&request.provider, P::STREAM, request.lane, memory)?;
    let (generated, effort) = caller.listen(&mut chat, gone, hear)?;
    Ok(reckoned(generated, effort, request))
}

/// `generated` with what it has taken. What the calls before the last one have read and written in vain
/// has to be paid for as well; what the provider has not counted is estimated then.
pub fn reckoned(
    generated: Generated,
    effort: CallAttempts,
    request: &GenerateRequest,
) -> Generated {
    let attempts = effort.calls;
    let Some(wasted) = effort.wasted else { return Generated { attempts, ..generated } };
    let sent = tokens_of(request.bytes());
    let said = generated.written();
    let read = generated.prompt_tokens.unwrap_or(sent).saturating_add(wasted.input_of(sent));
    Generated {
        attempts,
        prompt_tokens: Some(read),
        completion_tokens: Some(said.saturating_add(wasted.output)),
        ..generated
    }
}

/// A request that a provider write.
pub struct ChatCall<'a, P> {
    asked: ChatQuestion<'a>,
    protocol: PhantomData<P>,
}

impl<P: ChatProtocol> ProviderQuestion for ChatCall<'_, P> {
    type Answer = Generated;

    fn encode(&self) -> Result<Vec<u8>> {
        // Earlier replies go back with the numbers that came.
        Ok(exact::written(&P::body(&self.asked)).into_bytes())
    }

    fn give_in(&mut self, reply: &HttpReply) -> bool {
        self.asked.give_in(reply)
    }

    fn read(
        &mut self,
        reply: &HttpReply,
        teller: &ErrorFormatter<'_>,
    ) -> std::result::Result<Generated, CallError> {
        let value = teller.read_exact(reply)?;
        if let Some(trouble) = reported(&value, teller) {
            return Err(trouble);
        }
        let mut heard = Heard::offered(self.asked.tools.is_some());
        P::whole(&value, &mut heard).map_err(|why| teller.nonsense(&why, reply))?;
        heard.tell(teller)
    }
}

impl<P: ChatProtocol + 'static> Streamed for ChatCall<'_, P> {
    fn reader(&self) -> Box<dyn EventReader> {
        Box::new(Events::<P>::default())
    }
}

/// Reads the events of a streamed reply in the words of `P`.
pub struct Events<P> {
    heard: Heard,
    protocol: PhantomData<P>,
}

impl<P> Default for Events<P> {
    fn default() -> Self {
        Events { heard: Heard::default(), protocol: PhantomData }
    }
}

impl<P: ChatProtocol> EventReader for Events<P> {
    fn read(
        &mut self,
        data: &str,
        teller: &ErrorFormatter<'_>,
    ) -> std::result::Result<Option<String>, CallError> {
        let event: Value = teller.read_event(data)?;
        if let Some(trouble) = reported(&event, teller) {
            return Err(match self.heard.text.len() {
                0 => trouble,
                length => trouble.billed(self.heard.prompt_tokens, Some(tokens_of(length))),
            });
        }
        let before = self.heard.text.len();
        P::event(&event, &mut self.heard);
        let added = self.heard.text[before..].replace('\0', "");
        Ok((!added.is_empty()).then_some(added))
    }

    fn finish(&mut self, teller: &ErrorFormatter<'_>) -> std::result::Result<Generated, CallError> {
        if self.heard.finish_reason.is_none() && self.heard.blocked.is_none() {
            return Err(teller.broke_off(self.heard.text.len()));
        }
        self.heard.tell(teller)
    }

    fn is_done(&self) -> bool {
        self.heard.finish_reason.is_some()
    }
}

/// The error that `value` reports, in a reply or an event of success.
fn reported(value: &Value, teller: &ErrorFormatter<'_>) -> Option<CallError> {
    let error = value.get("error").filter(|error| !error.is_null())?;
    let trouble = teller.reported(&error_message(value)?);
    Some(match is_passing(error) {
        true => CallError { remedy: Remedy::Retry(None), ..trouble },
        false => trouble,
    })
}

/// Whether an error is the provider's own, which it may get over.
fn is_passing(error: &Value) -> bool {
    ["/type", "/status"].iter().any(|place| {
        let word = error.pointer(place).and_then(Value::as_str);
        matches!(word, Some("overloaded_error" | "api_error" | "UNAVAILABLE" | "INTERNAL"))
    })
}

/// A count of tokens as a provider names it, or the most that a call can have: sums of them are to
/// stay sums.
pub fn credible(tokens: u64) -> u64 {
    tokens.min(u32::MAX.into())
}

/// `cached` tokens of `read` ones: no more than were read.
pub fn credibly_cached(cached: Option<u64>, read: Option<u64>) -> Option<u64> {
    cached.map(|cached| cached.min(read.unwrap_or_default()))
}

/// A body as it is sent.
pub fn encode(body: &Value) -> Result<Vec<u8>> {
    serde_json::to_vec(body).map_err(|error| {
        Error::new(ErrorKind::Internal, format!("cannot encode a request: {error}"))
    })
}

/// The words of `reason`, as `known` translates them.
pub fn translated(reason: &str, known: &[(&str, &str)]) -> String {
    let found = known.iter().find(|(theirs, _)| *theirs == reason);
    found.map_or(reason, |(_, ours)| ours).to_string()
}

/// The texts of `parts` that are for the reader: those whose `type` is "text" or that have none.
pub fn texts(parts: &Value) -> String {
    let parts = parts.as_array().map(Vec::as_slice).unwrap_or_default();
    let is_said = |part: &&Value| part.get("type").is_none_or(|kind| kind == "text");
    parts.iter().filter(is_said).filter_map(|part| part.get("text")?.as_str()).collect()
}

#[cfg(test)]
#[path = "chat_tests.rs"]
mod tests;
