//! What happens while a question is answered, step by step.
//!
//! Where something is done it says so with [`step`], which costs a look at a variable as long as
//! nothing is recorded. Steps may be inside of others; the figures of each are its own, without
//! those of the steps in it, so that they can be added up.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::usage::{self, Usage};
use crate::error::Result;
use crate::protocol::ModelRef;

thread_local! {
    static RECORDER: RefCell<Option<Recorder>> = const { RefCell::new(None) };
}

/// The step that all others are in.
const ANSWER: &str = "answer";

/// A step that was done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceStep {
    /// How many steps it is in.
    pub depth: usize,
    /// What kind of step it is.
    pub stage: &'static str,
    /// With what: names of models, ways, modes. No words of users or documents.
    pub detail: String,
    /// Words of users, if it has to do with some.
    pub text: Option<String>,
    /// How many rows, texts or the like came out, where that means something.
    pub rows: Option<usize>,
    /// How long it took, in milliseconds.
    pub ms: f64,
    /// Tokens, calls and cost that it took.
    pub usage: Usage,
    /// Whether a server was to be called from which personal data are kept.
    pub hides_pii: bool,
    /// The models that find personal data for these servers.
    pub redact_models: Vec<ModelRef>,
    /// The longest time that a call to one of the servers with such a model may take.
    pub redact_within: Duration,
}

#[derive(Default)]
struct Recorder {
    steps: Vec<TraceStep>,
    open: Vec<Open>,
    /// Whether a step says how many calls are left to be made.
    counts_calls: bool,
}

/// A step that is under way.
struct Open {
    place: usize,
    started: Instant,
    before: Usage,
    /// What the steps in it have taken.
    inner_ms: f64,
    inner: Usage,
}

/// Does `work`, and returns the steps in it as well, if they are `wanted`.
pub fn recorded<T>(wanted: bool, work: impl FnOnce() -> Result<T>) -> Result<(T, Vec<TraceStep>)> {
    if !wanted {
        return Ok((work()?, Vec::new()));
    }
    let recording = Recording(RECORDER.replace(Some(Recorder::default())));
    let done = step(ANSWER, String::new, work)?;
    let steps = RECORDER.with_borrow_mut(|it| it.take().map(|it| it.steps).unwrap_or_default());
    drop(recording);
    Ok((done, steps))
}

/// What was recorded before, which goes on when this is dropped: at the end, or by an error.
struct Recording(Option<Recorder>);

impl Drop for Recording {
    fn drop(&mut self) {
        RECORDER.replace(self.0.take());
    }
}

/// Does `work`, which is a step.
pub fn step<T>(
    stage: &'static str,
    detail: impl FnOnce() -> String,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    if !is_recording() {
        return work();
    }
    begin(stage, detail());
    let done = work();
    end();
    done
}

/// Has steps say how many calls of a language model are left to be made, for which replies that are kept are looked up.
pub fn count_calls() {
    RECORDER.with_borrow_mut(|recorder| {
        if let Some(recorder) = recorder {
            recorder.counts_calls = true;
        }
    });
}

/// Whether steps say how many calls are left.
pub fn counts_calls() -> bool {
    RECORDER.with_borrow(|recorder| recorder.as_ref().is_some_and(|it| it.counts_calls))
}

/// How many steps are under way.
pub fn depth() -> usize {
    RECORDER.with_borrow(|recorder| recorder.as_ref().map_or(0, |it| it.open.len()))
}

/// Ends all steps but the first `depth`, which an error has left.
pub fn close(depth: usize) {
    while self::depth() > depth {
        end();
    }
}

/// Does `work`, which is a step that finds something.
pub fn found<T>(
    stage: &'static str,
    detail: impl FnOnce() -> String,
    work: impl FnOnce() -> Result<Vec<T>>,
) -> Result<Vec<T>> {
    step(stage, detail, || {
        let found = work()?;
        rows(found.len());
        Ok(found)
    })
}

/// Says that something was done beside the steps under way, which took so long and used so much.
pub fn done(stage: &'static str, detail: String, took: Duration, usage: Usage) {
    RECORDER.with_borrow_mut(|recorder| {
        let Some(Recorder { steps, open, .. }) = recorder else { return };
        let (depth, ms) = (open.len(), took.as_secs_f64() * 1e3);
        steps.push(TraceStep { depth, stage, detail, ms, usage, ..TraceStep::default() });
    });
}

/// Adds to the steps of an answer those of its end, which was recorded later.
pub fn go_on(steps: &mut Vec<TraceStep>, later: Vec<TraceStep>) {
    let mut later = later.into_iter();
    let Some(end) = later.next() else { return };
    if let Some(whole) = steps.first_mut() {
        whole.ms += end.ms;
        whole.usage = whole.usage.plus(&end.usage);
        whole.hides_pii |= end.hides_pii;
        whole.redact_models.extend(end.redact_models);
        whole.redact_within = whole.redact_within.max(end.redact_within);
    }
    steps.extend(later);
}

/// Says how many rows came out of the step under way.
pub fn rows(count: usize) {
    in_step(|step| step.rows = Some(count));
}

/// Says more of the step under way, but no words of users or documents.
pub fn remark(remark: impl FnOnce() -> String) {
    in_step(|step| {
        if !step.detail.is_empty() {
            step.detail += ", ";
        }
        step.detail += &remark();
    });
}

/// Says of which words the step under way is.
pub fn words(words: impl FnOnce() -> String) {
    in_step(|step| step.text = Some(words()));
}

/// Says that the step under way has to do with a server from which personal data are kept, as far as the rules and `model`
/// find them; `within` is how long a call to it may take.
pub fn hides_pii(model: Option<&ModelRef>, within: Duration) {
    in_step(|step| {
        step.hides_pii = true;
        if model.is_some() {
            step.redact_within = step.redact_within.max(within);
        }
        let is_new = |model: &&ModelRef| !step.redact_models.contains(model);
        let new = model.filter(is_new).cloned();
        step.redact_models.extend(new);
    });
}

/// Whether steps are recorded.
pub fn is_recording() -> bool {
    RECORDER.with_borrow(Option::is_some)
}

fn in_step(say: impl FnOnce(&mut TraceStep)) {
    RECORDER.with_borrow_mut(|recorder| {
        let Some(Recorder { steps, open, .. }) = recorder else { return };
        if let Some(step) = open.last().and_then(|it| steps.get_mut(it.place)) {
            say(step);
        }
    });
}

fn begin(stage: &'static str, detail: String) {
    RECORDER.with_borrow_mut(|recorder| {
        let Some(Recorder { steps, open, .. }) = recorder else { return };
        let (place, depth) = (steps.len(), open.len());
        steps.push(TraceStep { depth, stage, detail, ..TraceStep::default() });
        let (started, before) = (Instant::now(), usage::total());
        open.push(Open { place, started, before, inner_ms: 0.0, inner: Usage::default() });
    });
}

fn end() {
    RECORDER.with_borrow_mut(|recorder| {
        let Some(Recorder { steps, open, .. }) = recorder else { return };
        let Some(done) = open.pop() else { return };
        let ms = done.started.elapsed().as_secs_f64() * 1e3;
        let usage = usage::total().since(&done.before);
        if let Some(step) = steps.get_mut(done.place) {
            step.ms = (ms - done.inner_ms).max(0.0);
            step.usage = usage.since(&done.inner);
        }
        if let Some(outer) = open.last_mut() {
            outer.inner_ms += ms;
            outer.inner = outer.inner.plus(&usage);
        }
    });
}

impl TraceStep {
    /// As it is kept; without words of users if it `is_full`, no words are left out.
    pub fn to_json(&self, is_full: bool) -> Value {
        let TraceStep { depth, stage, detail, text, rows, ms, usage, .. } = self;
        let mut json = json!({
            "stage": stage,
            "depth": depth,
            "detail": detail,
            "rows": rows,
            "ms": (ms * 1e3).round() / 1e3,
            "tokens": usage.tokens(),
            "cached_tokens": usage.cached_tokens,
            "cache_hits": usage.cache_hits,
            "cost": usage.cost,
        });
        if let (true, Some(text)) = (is_full, text) {
            json["text"] = json!(text);
        }
        json
    }

    /// What there is to say of it, in a line.
    pub fn said(&self) -> String {
        let mut said = self.detail.clone();
        if self.usage.cache_hits > 0 {
            said += if said.is_empty() { "remembered" } else { ", remembered" };
        }
        if let Some(text) = &self.text {
            said += if said.is_empty() { "" } else { ": " };
            said += text;
        }
        said
    }
}
