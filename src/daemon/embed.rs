//! The texts of one request, through the queue and back: to be embedded, or compared with a
//! question.
//!
//! A request may have a million texts. Only a window of them is tokenised and queued at any
//! time: wide enough that the queue finds texts of like length, narrow enough that memory
//! stays bounded. It is filled up when half of it is done, so that the model never waits.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use super::model::{EmbeddingOutput, ModelText};
use super::tokenizer::ModelTokenizer;
use super::worker::{Client, Done, ModelJob, ModelWorker};
use crate::error::{Error, ErrorKind, Result};
use crate::protocol::{Lane, MAX_FRAME, Response};
use crate::rerank::late_interaction::TokenQuery;

/// Texts of a request that are tokenised and queued at a time.
const WINDOW: usize = 512;

/// How often a handler looks whether its client has gone while the model works.
pub const LOOK: Duration = Duration::from_millis(50);

/// What goes through a model, and with what.
pub struct EmbedJob<'a> {
    /// The model's threads.
    pub worker: &'a ModelWorker,
    /// The model's tokenizer.
    pub tokenizer: &'a ModelTokenizer,
    /// How many numbers are read of each text.
    pub dimension: usize,
    /// What stands before each text.
    pub opening: Opening<'a>,
    /// What is read of the model's output for each text.
    pub reading: EmbeddingOutput,
    /// Which queue the texts wait in.
    pub lane: Lane,
    /// The texts to be embedded.
    pub texts: &'a [String],
    /// The client that waits for the vectors.
    pub client: Client,
}

/// What stands before a text.
#[derive(Clone, Copy)]
pub enum Opening<'a> {
    /// Some words of the model's own; often none.
    Prefix(&'a str),
    /// A question, with which the text makes a pair.
    Question(&'a str),
}

/// Embeds the texts; the answer is [`Response::Vectors`].
///
/// Gives an error of kind [`ErrorKind::DaemonLost`], which is never read, if the client has gone.
pub fn embed(job: &EmbedJob) -> Result<Response> {
    let EmbeddedTexts { values, tokens } = run(job)?;
    Ok(Response::Vectors { dimension: job.dimension as u32, values, tokens })
}

/// The scores of passages, and how many tokens they took. Fails as [`embed`] does.
pub fn score(job: &EmbedJob) -> Result<(Vec<f32>, u64)> {
    run(job).map(|EmbeddedTexts { values, tokens }| (values, tokens))
}

/// The vectors of the tokens of a question, as passages are compared with them, and how many tokens it has.
pub fn token_query(job: &EmbedJob, query: &str) -> Result<(TokenQuery, u64)> {
    let texts = [query.to_string()];
    let count = tokenise(job, query)?.tokens.len();
    let dimension = job.dimension;
    let job = EmbedJob {
        dimension: dimension * count,
        reading: EmbeddingOutput::Tokens,
        texts: &texts,
        client: job.client.clone(),
        ..*job
    };
    run(&job).map(|read| (TokenQuery::new(read.values, dimension), read.tokens))
}

/// What was read of the texts of a request, one after the other.
struct EmbeddedTexts {
    values: Vec<f32>,
    tokens: u64,
}

fn run(job: &EmbedJob) -> Result<EmbeddedTexts> {
    check_size(job.texts.len(), job.dimension)?;
    let mut window = EmbedRequestState::new(job);
    while !window.is_done() {
        window.fill_up()?;
        window.receive()?;
    }
    Ok(window.finish())
}

fn tokenise(job: &EmbedJob, text: &str) -> Result<ModelText> {
    let (tokens, second) = match job.opening {
        Opening::Prefix("") => (job.tokenizer.encode(text)?, None),
        Opening::Prefix(prefix) => (job.tokenizer.encode(&format!("{prefix}{text}"))?, None),
        Opening::Question(question) => {
            let (tokens, second) = job.tokenizer.encode_pair(question, text)?;
            (tokens, Some(second))
        }
    };
    Ok(ModelText { second: second.unwrap_or(tokens.len()), tokens, reading: job.reading.clone() })
}

/// An answer that can't be sent should fail before it is computed.
pub fn check_size(count: usize, dimension: usize) -> Result<()> {
    let bytes = count.saturating_mul(dimension).saturating_mul(size_of::<f32>());
    if bytes > MAX_FRAME - 64 {
        return Err(Error::new(
            ErrorKind::OutOfResources,
            format!(
                "{count} texts have vectors of {bytes} bytes, the limit of an answer is {MAX_FRAME}"
            ),
        )
        .hint("Embed fewer texts at a time."));
    }
    Ok(())
}

/// What tells the texts of a request from those of others in a queue.
pub fn next_owner() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A request in progress.
struct EmbedRequestState<'a> {
    job: &'a EmbedJob<'a>,
    owner: u64,
    reply: Sender<Done>,
    done: Receiver<Done>,
    /// The next text to be tokenised.
    next: usize,
    in_flight: usize,
    values: Vec<f32>,
    tokens: u64,
}

impl<'a> EmbedRequestState<'a> {
    fn new(job: &'a EmbedJob<'a>) -> Self {
        let (reply, done) = channel();
        EmbedRequestState {
            job,
            owner: next_owner(),
            reply,
            done,
            next: 0,
            in_flight: 0,
            values: vec![0.0; job.texts.len() * job.dimension],
            tokens: 0,
        }
    }

    fn is_done(&self) -> bool {
        self.next == self.job.texts.len() && self.in_flight == 0
    }

    /// Tokenises and queues texts if less than half of the window is in flight.
    fn fill_up(&mut self) -> Result<()> {
        if self.in_flight > WINDOW / 2 {
            return Ok(());
        }
        let end = self.job.texts.len().min(self.next + WINDOW - self.in_flight);
        let jobs = (self.next..end).map(|index| self.tokenise(index));
        let jobs = jobs.collect::<Result<Vec<_>>>()?;
        if jobs.is_empty() {
            return Ok(());
        }
        self.tokens += jobs.iter().map(|job| job.text.tokens.len() as u64).sum::<u64>();
        self.in_flight += jobs.len();
        self.next = end;
        self.job.worker.push(self.owner, self.job.lane, jobs);
        Ok(())
    }

    fn tokenise(&self, index: usize) -> Result<ModelJob> {
        let text = tokenise(self.job, &self.job.texts[index])?;
        let client = self.job.client.clone();
        Ok(ModelJob { index, text, client, reply: self.reply.clone() })
    }

    /// Waits for one text.
    fn receive(&mut self) -> Result<()> {
        loop {
            match self.done.recv_timeout(LOOK) {
                Ok(done) => return self.store(done),
                Err(RecvTimeoutError::Timeout) if self.job.client.is_alive() => {}
                Err(_) => return Err(Error::new(ErrorKind::DaemonLost, "the client has gone")),
            }
        }
    }

    fn store(&mut self, done: Done) -> Result<()> {
        let dimension = self.job.dimension;
        let place = &mut self.values[done.index * dimension..(done.index + 1) * dimension];
        place.copy_from_slice(&done.numbers?);
        self.in_flight -= 1;
        Ok(())
    }

    fn finish(mut self) -> EmbeddedTexts {
        EmbeddedTexts { values: std::mem::take(&mut self.values), tokens: self.tokens }
    }
}

/// A request that fails or whose client has gone leaves nothing in the queue.
impl Drop for EmbedRequestState<'_> {
    fn drop(&mut self) {
        if self.in_flight > 0 {
            self.job.worker.forget(self.owner);
        }
    }
}
