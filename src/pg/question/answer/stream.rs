//! An answer is streamed while it is written.
//!
//! ```text
//! question → read → a language model begins → its pieces, one a row → what stands behind, as JSON
//! ```
//!
//! If an answer takes several calls, the last one, which makes the answer, is streamed; those
//! before it are made before the first row, but for those of an agent, of whose steps each is a row (`stepping`). Nothing that was streamed can be taken back, so the
//! answer is checked when it is complete, and the last row says what came of it. An answer that is
//! not written piece by piece is streamed sentence by sentence.
//!
//! What is kept from one row to the next is Rust's own: nothing of it lies in the memory of the call
//! in which a row is asked for.

mod stepping;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use pgrx::Uuid;
use serde_json::{Value, json};

use self::stepping::SteppingAnswer;
use super::abandoned::{self, AbandonedAnswer};
use super::checks::PassedOn;
use super::tools::last_request;
use super::write::{self, AnswerSoFar, FinalCall};
use super::{Answer, Draft, Writing, note_times};
use crate::answer::numbering::NumberedStream;
use crate::answer::strategy::agent;
use crate::error::Result;
use crate::pg::question::conversation::{self, Conversation};
use crate::pg::question::federation::FederatedSearch;
use crate::pg::question::trace_log;
use crate::pg::ragd::cache;
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::client::ReplyPieces;
use crate::pg::ragd::generate::{said, withhold, withhold_found};
use crate::pg::ragd::llm::Llm;
use crate::pg::ragd::trace::{self, TraceStep};
use crate::pg::ragd::usage::{self, Usage};
use crate::pg::server::error::unexpected;
use crate::pg::server::guc::TraceLevel;
use crate::pg::server::role::CallerRole;
use crate::prompt::messages::NO_ANSWER;
use crate::protocol::{GenerateRequest, Generated, Request, Response};
use crate::text::sentence::sentences;
use crate::verify::stream::SupportedStream;

/// The rows of an answer: its text in pieces, then one row of JSON.
pub struct AnswerStream {
    state: StreamState,
    /// Rows that are given before anything else is done: steps, and what is left of a piece.
    rows: VecDeque<String>,
    /// Whether nothing of the answer was given yet, whose first piece must not be taken for a step.
    begins: bool,
    /// Whether steps were given.
    follows_steps: bool,
    record: Option<Record>,
    turn: Option<ConversationTurn>,
    /// What became of other pipelines that were asked before.
    others: Vec<Value>,
    /// The role that has asked.
    role: CallerRole,
}

/// How the answer came about, which is to be kept.
pub struct Record {
    /// How much of it is kept.
    pub level: TraceLevel,
    /// The question, and how it was to be answered.
    pub asked: trace_log::TracedQuestion,
    /// What was done before the first row.
    pub steps: Vec<TraceStep>,
}

/// A question of a conversation, which is to be kept with its answer.
struct ConversationTurn {
    conversation: Conversation,
    question: String,
    standalone: String,
}

enum StreamState {
    /// An agent takes steps.
    Stepping(Box<SteppingAnswer>),
    /// A language model writes.
    Written(Box<StreamedAnswer>),
    /// It has ended, and so has what it has written.
    Ended(Box<StreamedAnswer>, Result<Generated>),
    /// The answer is there; these are left of it.
    Known { pieces: std::vec::IntoIter<String>, answer: Box<Answer>, told: String },
    /// All rows have been given.
    Over,
}

/// An answer that is being written.
struct StreamedAnswer {
    pieces: ReplyPieces,
    request: GenerateRequest,
    call: FinalCall,
    question: String,
    /// The name of the embedding model.
    model: String,
    writing: Writing,
    /// How models are called for it.
    context: CallContext,
    /// What the model has written so far.
    said: String,
    /// What has been made of it, as it was streamed.
    told: String,
    /// What is left of it where claims are removed.
    supported: Option<SupportedStream>,
    numbers: NumberedStream,
    times: Times,
    /// What the call has taken.
    used: Usage,
}

/// When the steps of the answer began, and how long was searched.
struct Times {
    begun: Instant,
    retrieving: Duration,
    asked: Instant,
    first_piece: Option<Instant>,
}

/// Answers `question` from the pipeline that `search` searches; the answer begins before it is
/// complete.
pub fn stream(question: &str, search: FederatedSearch, writing: Writing) -> Result<AnswerStream> {
    let provider = match &writing.llm {
        // What must have a form is told when it is known to have it, what no source says once it is marked, and what may
        // be kept back once it is not, if that is not seen before.
        Llm::Provider(llm)
            if writing.form.is_none()
                && !writing.own_knowledge
                && writing.trust.passed_on() != PassedOn::Checked =>
        {
            llm.config.clone()
        }
        _ => return super::ask(question, &search, &writing).map(AnswerStream::known),
    };
    if writing.strategy.name == agent::STRATEGY.name {
        let stepping = SteppingAnswer::new(question, search, writing, provider)?;
        return Ok(in_state(StreamState::Stepping(Box::new(stepping))));
    }
    let begun = Instant::now();
    let (so_far, retrieving) = write::begin(question, &search, &writing, &provider)?;
    let times = Times { begun, retrieving, asked: begun, first_piece: None };
    last_call(so_far, times, (question, &search), writing).map(in_state)
}

/// The answer where it is there, or else its last call, which begins.
fn last_call(
    so_far: AnswerSoFar,
    mut times: Times,
    (question, search): (&str, &FederatedSearch),
    writing: Writing,
) -> Result<StreamState> {
    let context = search.context;
    let models = (search.model(), context);
    let call = match so_far {
        AnswerSoFar::Known(draft) => {
            return checked(question, *draft, &writing, &times, models).map(StreamState::known);
        }
        AnswerSoFar::Asking(call) => *call,
    };
    let provider = writing.llm.provider_for("a stream")?;
    let request = last_request(provider, &call.pending, &writing, &context);
    times.asked = Instant::now();
    withhold(&request);
    if let Some(remembered) = cache::recalled(context.caching, &request) {
        withhold_found(&request.provider, Ok(&remembered));
        let draft = call.finish(Ok(said(remembered)), "", 0)?;
        return checked(question, draft, &writing, &times, models).map(StreamState::known);
    }
    let pieces = ReplyPieces::of(context.pipeline, &Request::GenerateStream(request.clone()))?;
    let (question, model) = (question.to_owned(), search.model().to_owned());
    let readings = call.pending.readings();
    let numbers = NumberedStream::of(readings.len());
    let supported = (writing.trust.passed_on() == PassedOn::Supported).then(|| {
        let texts = readings.iter().map(|it| it.source.checked_text().into_owned());
        SupportedStream::new(texts.collect())
    });
    let (said, told, used) = (String::new(), String::new(), Usage::default());
    #[rustfmt::skip]
    let written = StreamedAnswer { pieces, request, call, question, model, writing, context, said, told, supported, numbers, times, used };
    Ok(StreamState::Written(Box::new(written)))
}

impl AnswerStream {
    /// An answer that is there: in sentences, or in one piece where it has a form.
    pub fn known(answer: Answer) -> AnswerStream {
        in_state(StreamState::known(answer))
    }

    /// The answer, with what became of other pipelines that were asked before.
    pub fn beside(mut self, others: Vec<Value>) -> AnswerStream {
        self.others = others;
        self
    }

    /// The answer, to be kept with its trace (see [`Record`]) once all of it is streamed.
    pub fn recorded(mut self, record: Record) -> AnswerStream {
        if record.level != TraceLevel::Off {
            abandoned::follow_transaction();
        }
        self.record = Some(record);
        self
    }

    /// The answer, to be kept once all of it is streamed, as one to `question` in `conversation`,
    /// where the question means `standalone`.
    pub fn in_conversation(
        mut self,
        conversation: Conversation,
        question: &str,
        standalone: &str,
    ) -> AnswerStream {
        let (question, standalone) = (question.to_owned(), standalone.to_owned());
        self.turn = Some(ConversationTurn { conversation, question, standalone });
        self
    }

    /// What comes behind all that was written: the last row, or, where nothing of it was told, what is given instead.
    fn complete(
        &mut self,
        written: StreamedAnswer,
        reply: Result<Generated>,
    ) -> Option<Result<String>> {
        let is_recorded = self.record.as_ref().is_some_and(|it| it.level != TraceLevel::Off);
        let (told, is_held) = (written.told.clone(), written.supported.is_some());
        let (answer, steps) = match trace::recorded(is_recorded, || written.end(reply)) {
            Ok(ended) => ended,
            Err(error) => return Some(Err(error)),
        };
        if let Some(record) = &mut self.record {
            trace::go_on(&mut record.steps, steps);
        }
        if is_held && told.trim().is_empty() {
            self.state = StreamState::known(answer);
            return self.next();
        }
        Some(self.finish(&answer, &told))
    }

    /// The last row, with what is kept of the answer.
    fn finish(&mut self, answer: &Answer, told: &str) -> Result<String> {
        let record = self.record.take();
        let pipeline = record.as_ref().map(|it| it.asked.pipeline.clone());
        let trace = match record {
            Some(Record { level, asked, steps }) => trace_log::keep(level, &asked, answer, &steps)?,
            None => None,
        };
        if let Some(ConversationTurn { conversation, question, standalone }) = self.turn.take() {
            let (question, standalone) = (question.as_str(), standalone.as_str());
            let answer = answer.text.as_deref().unwrap_or(NO_ANSWER);
            conversation.append(&conversation::Turn { question, standalone, answer, trace })?;
        }
        let mut row = last_row(answer, trace, told);
        row["pipeline"] = json!(pipeline);
        if !self.others.is_empty() {
            row["usage"]["others"] = Value::Array(std::mem::take(&mut self.others));
        }
        Ok(row.to_string())
    }
}

/// The reader does not read on. That is seen where PostgreSQL frees its memory, so nothing may fail
/// here.
impl Drop for AnswerStream {
    fn drop(&mut self) {
        let state = std::mem::replace(&mut self.state, StreamState::Over);
        let record = self.record.take().filter(|it| it.level != TraceLevel::Off);
        let Some(mut record) = record else { return };
        let answer = match state {
            StreamState::Over => return,
            StreamState::Stepping(_) => left_of(String::new()),
            StreamState::Known { answer, .. } => *answer,
            // How much was written is not known, but that it was begun.
            StreamState::Written(written) => written.left(1, &mut record.steps),
            StreamState::Ended(written, _) => written.left(0, &mut record.steps),
        };
        abandoned::keep_at_commit(AbandonedAnswer { role: self.role.oid(), record, answer });
    }
}

impl Iterator for AnswerStream {
    type Item = Result<String>;

    fn next(&mut self) -> Option<Result<String>> {
        if let Some(row) = self.rows.pop_front() {
            return Some(Ok(row));
        }
        let mut written = match std::mem::replace(&mut self.state, StreamState::Over) {
            StreamState::Over => return None,
            StreamState::Stepping(stepping) => {
                return match self.step(*stepping) {
                    Ok(()) => self.next(),
                    Err(error) => Some(Err(error)),
                };
            }
            StreamState::Ended(written, reply) => return self.complete(*written, reply),
            StreamState::Known { mut pieces, answer, told } => {
                let Some(piece) = pieces.next() else { return Some(self.finish(&answer, &told)) };
                self.state = StreamState::Known { pieces, answer, told };
                return Some(Ok(self.apart(piece)));
            }
            StreamState::Written(written) => written,
        };
        let reply = loop {
            match written.next() {
                Ok(Response::Piece(piece)) if piece.is_empty() => {}
                Ok(Response::Piece(piece)) => {
                    self.state = StreamState::Written(written);
                    return Some(Ok(self.apart(piece)));
                }
                Ok(Response::Text(generated)) => break Ok(generated),
                Ok(other) => return Some(Err(unexpected(&other))),
                Err(error) => break Err(error),
            }
        };
        match written.rest() {
            rest if rest.trim().is_empty() => self.complete(*written, reply),
            rest => {
                self.state = StreamState::Ended(written, reply);
                Some(Ok(self.apart(rest)))
            }
        }
    }
}

impl StreamState {
    fn known(answer: Answer) -> StreamState {
        let text = answer.text.as_deref().unwrap_or_default();
        let pieces: Vec<String> = match answer.has_form {
            true => answer.text.iter().cloned().collect(),
            false => in_sentences(text).map(str::to_owned).collect(),
        };
        let told = pieces.concat();
        StreamState::Known { pieces: pieces.into_iter(), answer: Box::new(answer), told }
    }
}

impl StreamedAnswer {
    /// What comes next. Of a piece, what can be streamed, with sources counted anew; perhaps nothing.
    fn next(&mut self) -> Result<Response> {
        let before = usage::total();
        let response = self.pieces.next();
        self.used = self.used.plus(&usage::total().since(&before));
        match response {
            Ok(Response::Piece(piece)) => {
                self.times.first_piece.get_or_insert_with(Instant::now);
                self.said += &piece;
                let piece = match &mut self.supported {
                    Some(supported) => supported.push(&piece, &mut interrupt),
                    None => piece,
                };
                let piece = self.numbers.push(&piece);
                self.told += &piece;
                Ok(Response::Piece(piece))
            }
            other => other,
        }
    }

    /// What is left to be streamed once all is written.
    fn rest(&mut self) -> String {
        let supported = self.supported.as_mut();
        let supported = supported.map(|it| it.finish(&mut interrupt)).unwrap_or_default();
        let rest = self.numbers.push(&supported) + &self.numbers.finish();
        self.told += &rest;
        rest
    }

    /// Says to the trace what the call has taken so far.
    fn note_call(&self, how: &str, used: Usage) -> Result<Duration> {
        let took = self.times.asked.elapsed();
        let provider = &self.request.provider;
        let named = format!("{} {}, {how}", provider.name, provider.model);
        let note = || {
            trace::done("generate", named, took, used);
            Ok(took)
        };
        trace::step("write", || self.call.pending.step.to_owned(), note)
    }

    /// What there is of an answer whose reader does not read on. Its call ends with it, where it is one of
    /// the `calls` that are not counted yet.
    fn left(mut self, calls: u64, steps: &mut Vec<TraceStep>) -> Answer {
        let before = usage::total();
        self.pieces.give_up();
        let mut used = self.used.plus(&usage::total().since(&before));
        used.llm_calls = used.llm_calls.saturating_add(calls);
        let note = || self.note_call("in pieces, not read to the end", used);
        if let Ok((_, later)) = trace::recorded(true, note) {
            trace::go_on(steps, later);
        }
        left_of(self.told)
    }

    /// The answer, once all of it is there.
    fn end(self, reply: Result<Generated>) -> Result<Answer> {
        let took = self.note_call("in pieces", self.used)?;
        withhold_found(&self.request.provider, reply.as_ref());
        if let Ok(generated) = &reply {
            cache::remember(self.context.caching, &self.request, generated);
        }
        let took_ms = took.as_millis() as u64;
        let draft = self.call.finish(reply.map(said), &self.said, took_ms)?;
        checked(&self.question, draft, &self.writing, &self.times, (&self.model, self.context))
    }
}

/// The answer, with what its sources say of it.
fn checked(
    question: &str,
    draft: Draft,
    writing: &Writing,
    times: &Times,
    models: (&str, CallContext),
) -> Result<Answer> {
    let Times { begun, retrieving, first_piece, .. } = times;
    let writing_until = |time: Duration| time.saturating_sub(*retrieving);
    let took = begun.elapsed();
    let mut answer = super::judged(question, draft, writing, models)?;
    note_times(&mut answer, writing.llm.name(), *retrieving, writing_until(took));
    if let Some(first) = first_piece {
        let until = writing_until(first.duration_since(*begun));
        answer.usage["first_piece_ms"] = super::milliseconds(until);
    }
    Ok(answer)
}

/// What there is of an answer of which this was told and no more is known.
fn left_of(text: String) -> Answer {
    let none = || json!([]);
    Answer {
        text: Some(text),
        supported: None,
        confidence: None,
        citations: none(),
        context: none(),
        reading_order: Vec::new(),
        usage: json!({}),
        claims: none(),
        faithfulness: None,
        needs_review: false,
        is_kept_back: false,
        has_form: false,
    }
}

fn interrupt() {
    pgrx::check_for_interrupts!();
}

fn in_state(state: StreamState) -> AnswerStream {
    let role = CallerRole::current();
    let (rows, others) = (VecDeque::new(), Vec::new());
    let (begins, follows_steps) = (true, false);
    AnswerStream { state, rows, begins, follows_steps, record: None, turn: None, others, role }
}

/// `text` cut before each of its sentences but the first. A marker stays with the sentence before it.
fn in_sentences(text: &str) -> impl Iterator<Item = &str> {
    let starts = sentences(text).into_iter().skip(1).map(|range| range.start);
    let mut cuts: Vec<usize> = starts.filter(|start| !text[*start..].starts_with('[')).collect();
    cuts.push(text.len());
    let mut start = 0;
    let pieces = cuts.into_iter().map(move |end| &text[std::mem::replace(&mut start, end)..end]);
    pieces.filter(|piece| !piece.is_empty())
}

/// What `rag_answer_details` has beside the answer; and the answer where it is not what was
/// streamed.
fn last_row(answer: &Answer, trace: Option<Uuid>, told: &str) -> Value {
    let mut row = json!({
        "citations": answer.citations,
        "supported": answer.supported,
        "confidence": answer.confidence,
        "context": answer.context,
        "usage": answer.usage,
        "trace_id": trace.map(|id| id.to_string()),
        "claims": answer.claims,
        "faithfulness": answer.faithfulness,
        "needs_review": answer.needs_review,
    });
    if answer.text.as_deref().is_none_or(|text| text.trim() != told.trim()) {
        row["answer"] = json!(answer.text);
    }
    row
}
