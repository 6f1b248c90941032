//! Documents of one request through the queue, to be cut where they come out of the model: into vectors, or
//! into what a [`reader`](super::reader) says of their places.
//!
//! `embed::late` says which windows a document goes through in and where its chunks are in them; here
//! they are tokenised, queued and read. So many windows are queued at a time that the queue finds some of
//! like length, and few enough that memory stays bounded.

use std::ops::Range;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};

use super::embed::{LOOK, check_size, next_owner};
use super::model::{EmbeddingOutput, ModelText};
use super::registry::LoadedModel;
use super::tokenizer::{ModelTokenizer, SpecialTokens};
use super::worker::{Client, Done, ModelJob, ModelWorker};
use crate::embed::manifest::ModelTask;
use crate::embed::pooling::Pooling;
use crate::embed::{EmbeddingKind, Spanned, late};
use crate::error::{Error, ErrorKind, Result};
use crate::protocol::{Lane, Response};

/// Windows that are queued at a time.
const WINDOWS: usize = 128;

/// Embeds the spans of documents, one vector a span; the answer is [`Response::Vectors`].
///
/// Fails with [`ErrorKind::Unsupported`] for a model whose vectors are not means over tokens, and as
/// [`embed`](super::embed::embed) does.
pub fn embed(
    model: &LoadedModel,
    lane: Lane,
    documents: &[Spanned],
    client: &Client,
) -> Result<Response> {
    check(model)?;
    let dimension = model.manifest.dimension as usize;
    let frame = model.tokenizer.frame(model.manifest.prefix(EmbeddingKind::Passage))?;
    let way = Way { frame, reading: EmbeddingOutput::Spans, with_frame: true, dimension };
    let (values, tokens) = run(model, lane, &way, documents, client)?;
    Ok(Response::Vectors { dimension: dimension as u32, values, tokens })
}

/// How documents go through a model.
pub struct Way {
    /// What stands around their tokens.
    pub frame: SpecialTokens,
    /// What is read of runs of tokens.
    pub reading: fn(Vec<Range<usize>>) -> EmbeddingOutput,
    /// Whether what stands around a document belongs to the spans at its ends.
    pub with_frame: bool,
    /// Numbers that are read of a span.
    pub dimension: usize,
}

/// The numbers of all spans, and how many tokens it took. Fails as [`embed`] does.
pub fn run(
    model: &LoadedModel,
    lane: Lane,
    way: &Way,
    documents: &[Spanned],
    client: &Client,
) -> Result<(Vec<f32>, u64)> {
    let count = documents.iter().map(|document| document.spans.len()).sum();
    check_size(count, way.dimension)?;
    let mut work = LateRequest::new(&model.worker, lane, way.dimension, client);
    for document in documents {
        queue(document, way, &model.tokenizer, &mut work)?;
    }
    work.finish()
}

fn check(model: &LoadedModel) -> Result<()> {
    let refuse = |why: String| {
        Err(Error::new(ErrorKind::Unsupported, format!("model \"{}\" {why}", model.name))
            .hint("Late chunking needs a model that takes the mean of its tokens' vectors."))
    };
    match (model.manifest.task, model.manifest.pooling) {
        (ModelTask::Embed, Pooling::Mean) => Ok(()),
        (ModelTask::Embed, other) => refuse(format!("pools by \"{}\"", other.name())),
        (task, _) => refuse(format!("is {} and gives no vectors", task.noun())),
    }
}

/// Queues the windows of a document.
fn queue(
    document: &Spanned,
    Way { frame, reading, with_frame, .. }: &Way,
    tokenizer: &ModelTokenizer,
    work: &mut LateRequest<'_>,
) -> Result<()> {
    let (ids, places) = tokenizer.encode_whole(&document.text)?;
    let first = work.make_room(document.spans.len());
    for window in late::windows(&places, &document.spans, frame.room) {
        let spans = window.parts.iter().map(|part| {
            let is_first = *with_frame && window.tokens.start + part.tokens.start == 0;
            let is_last = *with_frame && window.tokens.start + part.tokens.end == ids.len();
            frame.around(&part.tokens, window.tokens.len(), is_first, is_last)
        });
        let reading = reading(spans.collect());
        let tokens = frame.fill(&ids[window.tokens.clone()]);
        let chunks = window.parts.iter().map(|part| first + part.chunk).collect();
        let text = ModelText { second: tokens.len(), tokens, reading };
        work.push(Queued { text, chunks })?;
    }
    Ok(())
}

/// A window that is to go through the model.
pub struct Queued {
    /// What the model gets.
    pub text: ModelText,
    /// The chunks that it gives numbers for, by their places among all.
    pub chunks: Vec<usize>,
}

/// A request in progress.
pub struct LateRequest<'a> {
    worker: &'a ModelWorker,
    lane: Lane,
    client: &'a Client,
    owner: u64,
    reply: Sender<Done>,
    done: Receiver<Done>,
    waiting: Vec<Queued>,
    in_flight: usize,
    dimension: usize,
    values: Vec<f32>,
    tokens: u64,
}

impl<'a> LateRequest<'a> {
    /// One that waits in `lane` and gets `dimension` numbers a chunk.
    pub fn new(worker: &'a ModelWorker, lane: Lane, dimension: usize, client: &'a Client) -> Self {
        let (reply, done) = channel();
        LateRequest {
            worker,
            lane,
            client,
            owner: next_owner(),
            reply,
            done,
            waiting: Vec::new(),
            in_flight: 0,
            dimension,
            values: Vec::new(),
            tokens: 0,
        }
    }

    /// Makes room for the numbers of so many more chunks; the place of the first.
    pub fn make_room(&mut self, chunks: usize) -> usize {
        let first = self.values.len() / self.dimension;
        self.values.resize((first + chunks) * self.dimension, 0.0);
        first
    }

    /// Adds a window. Now and then all that wait go through the model.
    pub fn push(&mut self, queued: Queued) -> Result<()> {
        self.tokens += queued.text.tokens.len() as u64;
        self.waiting.push(queued);
        if self.waiting.len() < WINDOWS { Ok(()) } else { self.flush() }
    }

    /// The numbers of all chunks, and how many tokens have gone through the model.
    pub fn finish(mut self) -> Result<(Vec<f32>, u64)> {
        self.flush()?;
        Ok((std::mem::take(&mut self.values), self.tokens))
    }

    /// Has all that waits go through the model.
    fn flush(&mut self) -> Result<()> {
        let mut chunks = Vec::with_capacity(self.waiting.len());
        let jobs = self.waiting.drain(..).enumerate().map(|(index, queued)| {
            chunks.push(queued.chunks);
            let (client, reply) = (self.client.clone(), self.reply.clone());
            ModelJob { index, text: queued.text, client, reply }
        });
        let jobs: Vec<ModelJob> = jobs.collect();
        self.in_flight = jobs.len();
        self.worker.push(self.owner, self.lane, jobs);
        while self.in_flight > 0 {
            let Done { index, numbers } = self.receive()?;
            self.in_flight -= 1;
            self.store(&chunks[index], &numbers?);
        }
        Ok(())
    }

    fn receive(&self) -> Result<Done> {
        loop {
            match self.done.recv_timeout(LOOK) {
                Ok(done) => return Ok(done),
                Err(RecvTimeoutError::Timeout) if self.client.is_alive() => {}
                Err(_) => return Err(Error::new(ErrorKind::DaemonLost, "the client has gone")),
            }
        }
    }

    fn store(&mut self, chunks: &[usize], numbers: &[f32]) {
        for (chunk, vector) in chunks.iter().zip(numbers.chunks_exact(self.dimension)) {
            let place = chunk * self.dimension;
            self.values[place..place + self.dimension].copy_from_slice(vector);
        }
    }
}

/// A request that fails or whose client has gone leaves nothing in the queue.
impl Drop for LateRequest<'_> {
    fn drop(&mut self) {
        if self.in_flight > 0 {
            self.worker.forget(self.owner);
        }
    }
}

impl SpecialTokens {
    /// The tokens of a text between those that the model wants around it.
    pub fn fill(&self, ids: &[u32]) -> Vec<u32> {
        let tokens = [&self.before[..], ids, &self.after[..]].concat();
        // A model can't run on no tokens.
        if tokens.is_empty() { vec![self.pad_token] } else { tokens }
    }

    /// Which tokens a part of a window of `count` tokens is read from. At the beginning and the end of a
    /// document those around it belong to it, so that a document of one chunk has the vector that it has
    /// without all of this.
    fn around(
        &self,
        part: &Range<usize>,
        count: usize,
        is_first: bool,
        is_last: bool,
    ) -> Range<usize> {
        let before = self.before.len();
        let start = if is_first { 0 } else { before + part.start };
        let end = if is_last { before + count + self.after.len() } else { before + part.end };
        start..end.max(start + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_around_a_document_belongs_to_its_ends() {
        let frame = SpecialTokens { before: vec![1, 9], after: vec![2], room: 5, pad_token: 0 };
        assert_eq!(frame.fill(&[7, 8]), [1, 9, 7, 8, 2]);
        assert_eq!(frame.around(&(0..1), 3, true, false), 0..3);
        assert_eq!(frame.around(&(1..2), 3, false, false), 3..4);
        assert_eq!(frame.around(&(2..3), 3, false, true), 4..6);
        assert_eq!(frame.around(&(0..3), 3, true, true), 0..6);
        let bare = SpecialTokens { before: Vec::new(), after: Vec::new(), room: 5, pad_token: 3 };
        assert_eq!(bare.fill(&[]), [3]);
        assert_eq!(bare.around(&(0..0), 0, true, true), 0..1);
    }
}
