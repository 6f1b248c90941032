//! # Several texts through one model: which tokens go into the next batch?
//!
//! ```text
//! calls → a sequence each → batches: the next token of each text that is written, then tokens of prompts
//! ```
//!
//! Batches are put together anew for each step (continuous batching; Yu et al., "Orca", OSDI 2022): a text that has come
//! to its end makes room at once, and a prompt that is read delays those that are written by no more than
//! [`STEP`]. What a sequence has in its cache stays there when its text is done: the next prompt that begins alike is read
//! from where it differs.
//!
//! The engine knows the model by the trait [`LanguageModel`] alone, so that its decisions are tested without one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::characters::whole_characters;
use super::given_up::GivenUpCalls;
pub use super::language_model::{BatchToken, Decoded, LanguageModel};
use super::library::Token;
use crate::error::{Error, ErrorKind, Result};
use crate::prompt::sampling::SamplingParameters;
use crate::protocol::Lane;

/// How long a step may take beside others, about.
const STEP: Duration = Duration::from_millis(100);

/// How long a step may take that is for one text alone: larger batches are a little faster. Where that text is given up,
/// the step is stopped.
const LONE_STEP: Duration = Duration::from_millis(250);

/// Fewest tokens of a prompt that go into a step.
const LEAST_CHUNK: usize = 32;

/// A text that is wanted.
#[derive(Clone, Debug)]
pub struct WritingCall {
    /// By what the call is known.
    pub id: u64,
    /// Whether a person waits.
    pub lane: Lane,
    /// What the text goes on from, as the model's template has it.
    pub prompt: String,
    /// How tokens are chosen.
    pub sampling: SamplingParameters,
    /// What chance begins with.
    pub seed: u32,
    /// Longest text, in tokens.
    pub max_tokens: usize,
    /// The grammar that the text must fit (GBNF), if any.
    pub grammar: Option<String>,
}

/// What the engine says of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum WritingEvent {
    /// This was written; more is to come.
    Piece {
        /// The call.
        id: u64,
        /// Whole characters.
        text: String,
    },
    /// The text is done.
    Done {
        /// The call.
        id: u64,
        /// "stop", or "length" where there was no room for more.
        finish_reason: &'static str,
        /// What was read and written.
        tokens: WrittenTokens,
    },
    /// There is no text, or no more of it.
    Failed {
        /// The call.
        id: u64,
        /// Why.
        error: Error,
    },
}

/// How much was read and written for a text, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrittenTokens {
    /// Of the prompt.
    pub prompt: usize,
    /// Of the prompt, those that were in the cache already.
    pub cached: usize,
    /// Of the text.
    pub completion: usize,
}

/// A text under way.
struct ActiveCall<S> {
    call: WritingCall,
    prompt: Vec<Token>,
    sampler: S,
    tokens: WrittenTokens,
    /// The token that was chosen last and is not in the cache yet.
    chosen: Option<Token>,
    /// Bytes at the end that are no whole character yet.
    rest: Vec<u8>,
}

/// A sequence of the cache.
struct SequenceSlot<S> {
    /// What the cache has of it.
    cached: Vec<Token>,
    active: Option<ActiveCall<S>>,
    /// When it was used last, by the engine's count.
    used: u64,
}

/// Calls that wait, calls under way, and the cache.
pub struct WritingEngine<M: LanguageModel> {
    model: M,
    slots: Vec<SequenceSlot<M::Sampler>>,
    waiting: Vec<WritingCall>,
    events: Vec<WritingEvent>,
    given_up: Arc<GivenUpCalls>,
    /// Tokens of prompts that go through the model within [`STEP`], as far as is known.
    chunk: usize,
    count: u64,
}

impl<M: LanguageModel> WritingEngine<M> {
    /// An engine that has so many texts under way at once, at least one.
    pub fn new(model: M, sequences: usize) -> WritingEngine<M> {
        let slot = |_| SequenceSlot { cached: Vec::new(), active: None, used: 0 };
        let slots = (0..sequences.max(1)).map(slot).collect();
        let chunk = LEAST_CHUNK.min(model.batch_tokens());
        let (waiting, events, given_up) = (Vec::new(), Vec::new(), Arc::default());
        WritingEngine { model, slots, waiting, events, given_up, chunk, count: 0 }
    }

    /// From now on stops a batch that is for calls in `given_up` alone.
    pub fn heed(&mut self, given_up: Arc<GivenUpCalls>) {
        self.given_up = given_up;
    }

    /// Tokens that a text can have, what it goes on from included.
    pub fn context_tokens(&self) -> usize {
        self.model.context_tokens()
    }

    /// Takes a call. It begins as soon as a sequence is free: those of a lane in the order in which they came.
    pub fn add(&mut self, call: WritingCall) {
        let before = |other: &WritingCall| rank(other.lane) <= rank(call.lane);
        let at = self.waiting.partition_point(before);
        self.waiting.insert(at, call);
    }

    /// Gives a call up. Nothing more is said of it.
    pub fn cancel(&mut self, id: u64) {
        self.given_up.forget(id);
        self.waiting.retain(|call| call.id != id);
        for slot in &mut self.slots {
            if slot.active.as_ref().is_some_and(|active| active.call.id == id) {
                slot.active = None;
            }
        }
    }

    /// Whether there is nothing to do.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.slots.iter().all(|slot| slot.active.is_none())
    }

    /// Sends one batch through the model, and gives what there is to say since the last step.
    pub fn step(&mut self) -> Vec<WritingEvent> {
        self.admit();
        let batch = self.batch();
        if !batch.is_empty() {
            let begun = Instant::now();
            let (calls, given_up) = (self.calls_of(&batch), Arc::clone(&self.given_up));
            let decoded = self.model.decode(&batch, &|| given_up.have_all(&calls));
            match decoded {
                Decoded::Done => {
                    self.learn_speed(&batch, begun.elapsed());
                    self.take_up(&batch);
                }
                Decoded::Stopped => self.stop(&batch),
                Decoded::NoRoom | Decoded::Failed(_) => self.fail(decoded),
            }
        }
        std::mem::take(&mut self.events)
    }

    fn admit(&mut self) {
        while let Some(at) = self.next_waiting() {
            let call = self.waiting.remove(at);
            let id = call.id;
            if let Err(error) = self.begin(call) {
                self.events.push(WritingEvent::Failed { id, error });
            }
        }
    }

    /// The first call for which there is a sequence. One is left free of what no person waits for.
    fn next_waiting(&self) -> Option<usize> {
        let free = self.slots.iter().filter(|slot| slot.active.is_none()).count();
        let bulk = |call: &WritingCall| call.lane == Lane::Bulk;
        let needed = |call: &WritingCall| if bulk(call) && self.slots.len() > 1 { 2 } else { 1 };
        self.waiting.iter().position(|call| free >= needed(call))
    }

    fn begin(&mut self, call: WritingCall) -> Result<()> {
        let prompt = self.model.tokenize(&call.prompt)?;
        let room = self.model.context_tokens();
        if prompt.is_empty() || prompt.len() >= room {
            return Err(too_long(prompt.len(), room));
        }
        let sampler = self.model.sampler(&call.sampling, call.seed, call.grammar.as_deref())?;
        let sequence = self.place(&prompt);
        self.count += 1;
        let slot = &mut self.slots[sequence];
        // The last token of a prompt is always read: what follows it has to be known.
        let shared = common_prefix(&slot.cached, &prompt).min(prompt.len() - 1);
        let shared = if self.model.forget(sequence, shared) { shared } else { 0 };
        if shared == 0 {
            self.model.forget(sequence, 0);
        }
        slot.cached.truncate(shared);
        slot.used = self.count;
        let tokens = WrittenTokens { prompt: prompt.len(), cached: shared, completion: 0 };
        slot.active =
            Some(ActiveCall { call, prompt, sampler, tokens, chosen: None, rest: Vec::new() });
        Ok(())
    }

    /// The free sequence that a prompt is read in: the one that has the most of it, if that is at least half of what it has;
    /// else the one that was used the longest ago, so that prompts with different beginnings that take turns are not read anew
    /// each time. Where another has clearly more than that, what it has is copied.
    fn place(&mut self, prompt: &[Token]) -> usize {
        let shared = |slot: &SequenceSlot<M::Sampler>| common_prefix(&slot.cached, prompt);
        let is_alike = |slot: &SequenceSlot<M::Sampler>| {
            let shared = shared(slot);
            shared > 0 && 2 * shared >= slot.cached.len()
        };
        let free = self.slots.iter().enumerate().filter(|(_, slot)| slot.active.is_none());
        let best = free.max_by_key(|(_, slot)| {
            (if is_alike(slot) { shared(slot) } else { 0 }, std::cmp::Reverse(slot.used))
        });
        let Some((sequence, own)) = best.map(|(at, slot)| (at, shared(slot))) else { return 0 };
        let others = self.slots.iter().enumerate().map(|(at, slot)| (shared(slot), at));
        if let Some((more, from)) = others.max()
            && more > own + LEAST_CHUNK
        {
            self.model.copy(from, sequence);
            self.slots[sequence].cached = self.slots[from].cached.clone();
        }
        sequence
    }

    /// First the next token of each text that is written, then prompts, those that a person waits for first.
    fn batch(&self) -> Vec<BatchToken> {
        let mut batch = Vec::new();
        for (sequence, slot) in self.slots.iter().enumerate() {
            if let Some(token) = slot.active.as_ref().and_then(|active| active.chosen) {
                batch.push(BatchToken {
                    token,
                    position: slot.cached.len(),
                    sequence,
                    is_asked: true,
                });
            }
        }
        let room = self.model.batch_tokens() - batch.len();
        let lone = self.slots.iter().filter(|slot| slot.active.is_some()).count() == 1;
        let times = if lone { LONE_STEP.as_millis() / STEP.as_millis() } else { 1 };
        let mut left = (self.chunk * times as usize).min(room);
        for sequence in self.readers() {
            let slot = &self.slots[sequence];
            let Some(active) = &slot.active else { continue };
            let begin = slot.cached.len();
            let end = active.prompt.len().min(begin + left);
            batch.extend((begin..end).map(|position| BatchToken {
                token: active.prompt[position],
                position,
                sequence,
                is_asked: position + 1 == active.prompt.len(),
            }));
            left -= end - begin;
        }
        batch
    }

    /// The sequences whose prompts are not read to their end, in the order in which they are.
    fn readers(&self) -> Vec<usize> {
        let reads = |slot: &SequenceSlot<M::Sampler>| {
            let active =
                slot.active.as_ref().filter(|active| slot.cached.len() < active.prompt.len());
            active.map(|active| (rank(active.call.lane), slot.used))
        };
        let reading = self.slots.iter().enumerate();
        let mut readers: Vec<_> =
            reading.filter_map(|(at, slot)| Some((reads(slot)?, at))).collect();
        readers.sort_unstable();
        readers.into_iter().map(|(_, at)| at).collect()
    }

    fn learn_speed(&mut self, batch: &[BatchToken], took: Duration) {
        // A few tokens take as long as one: they say nothing of many.
        if batch.len() < LEAST_CHUNK {
            return;
        }
        let fitting = batch.len() as f64 * STEP.as_secs_f64() / took.as_secs_f64().max(1e-6);
        self.chunk = (fitting as usize).clamp(LEAST_CHUNK, self.model.batch_tokens());
    }

    /// Notes what the cache has now, and chooses the tokens that were asked for.
    fn take_up(&mut self, batch: &[BatchToken]) {
        for token in batch {
            self.slots[token.sequence].cached.push(token.token);
        }
        for (row, token) in batch.iter().enumerate().filter(|(_, token)| token.is_asked) {
            let room = self.model.context_tokens();
            let slot = &mut self.slots[token.sequence];
            let Some(active) = &mut slot.active else { continue };
            let outcome = active.go_on(&mut self.model, row, slot.cached.len(), room);
            let id = active.call.id;
            if !outcome.text.is_empty() {
                self.events.push(WritingEvent::Piece { id, text: outcome.text });
            }
            match outcome.end {
                None => continue,
                Some(Ok(finish_reason)) => {
                    let tokens = active.tokens;
                    self.events.push(WritingEvent::Done { id, finish_reason, tokens });
                }
                Some(Err(error)) => self.events.push(WritingEvent::Failed { id, error }),
            }
            slot.active = None;
        }
    }

    /// The calls that a batch has tokens of.
    fn calls_of(&self, batch: &[BatchToken]) -> Vec<u64> {
        let call = |sequence: usize| Some(self.slots[sequence].active.as_ref()?.call.id);
        sequences(batch).into_iter().filter_map(call).collect()
    }

    /// Gives up the calls of a batch that was stopped, and takes what the cache has of it out again.
    fn stop(&mut self, batch: &[BatchToken]) {
        for sequence in sequences(batch) {
            let slot = &mut self.slots[sequence];
            slot.active = None;
            if !self.model.forget(sequence, slot.cached.len()) {
                self.model.forget(sequence, 0);
                slot.cached.clear();
            }
        }
    }

    /// After a batch that the library did not take it is not known what the cache has: all calls under way have failed.
    fn fail(&mut self, decoded: Decoded) {
        self.model.forget_all();
        for slot in &mut self.slots {
            slot.cached.clear();
            if let Some(active) = slot.active.take() {
                let (id, error) = (active.call.id, not_decoded(decoded));
                self.events.push(WritingEvent::Failed { id, error });
            }
        }
    }
}

/// What became of a text in a step.
struct TextAdvance {
    text: String,
    end: Option<Result<&'static str>>,
}

impl<S> ActiveCall<S> {
    /// Chooses the next token after the one at `row`; the cache has `cached` tokens of `room`.
    fn go_on<M>(&mut self, model: &mut M, row: usize, cached: usize, room: usize) -> TextAdvance
    where
        M: LanguageModel<Sampler = S>,
    {
        let token = match model.sample(row, &mut self.sampler) {
            Ok(token) => token,
            Err(error) => return TextAdvance { text: String::new(), end: Some(Err(error)) },
        };
        if model.is_end(token) {
            return TextAdvance { text: self.last_text(), end: Some(Ok("stop")) };
        }
        self.tokens.completion += 1;
        self.rest.extend(model.piece(token));
        let text = whole_characters(&mut self.rest);
        // With this token the sequence is full.
        if self.tokens.completion >= self.call.max_tokens || cached + 1 >= room {
            return TextAdvance { text: text + &self.last_text(), end: Some(Ok("length")) };
        }
        self.chosen = Some(token);
        TextAdvance { text, end: None }
    }

    fn last_text(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.rest)).into_owned()
    }
}

/// The sequences that a batch has tokens of, each once.
fn sequences(batch: &[BatchToken]) -> Vec<usize> {
    let mut sequences: Vec<usize> = batch.iter().map(|token| token.sequence).collect();
    sequences.sort_unstable();
    sequences.dedup();
    sequences
}

fn common_prefix(left: &[Token], right: &[Token]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

/// Lower goes first.
fn rank(lane: Lane) -> u8 {
    match lane {
        Lane::Query => 0,
        Lane::Fresh => 1,
        Lane::Bulk => 2,
    }
}

fn too_long(tokens: usize, room: usize) -> Error {
    if tokens == 0 {
        return Error::invalid("a prompt of a local model must not be empty");
    }
    let message =
        format!("the prompt has {tokens} tokens, and the model reads {room}, its answer included");
    Error::new(ErrorKind::ProviderRefused, message).hint(
        "Give it fewer or shorter chunks (\"context\": {\"max_tokens\": …}), or the server a larger num_ctx.",
    )
}

fn not_decoded(decoded: Decoded) -> Error {
    let message = match decoded {
        Decoded::Failed(code) => format!("llama.cpp has failed with code {code}"),
        _ => "llama.cpp found no room for a batch".to_owned(),
    };
    Error::new(ErrorKind::ProviderFailed, message)
}

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
