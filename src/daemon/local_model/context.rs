//! What a model keeps of the texts that it is reading and writing: keys and values of attention, a sequence a text.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::atomic::Ordering;

use super::engine::{BatchToken, Decoded, LanguageModel};
use super::library::{IS_STOPPING, RawBatch, RawContext, Token};
use super::model::LlamaModel;
use super::sampler::LlamaSampler;
use crate::error::{Error, ErrorKind, Result};
use crate::prompt::sampling::SamplingParameters;

/// Most tokens that go through the model at once.
pub const MAX_BATCH: usize = 512;

/// How large a context is, and who works on it.
#[derive(Clone, Copy, Debug)]
pub struct ContextSize {
    /// Tokens that a sequence can have; read and written ones together.
    pub tokens: usize,
    /// Sequences that go on side by side.
    pub sequences: usize,
    /// Threads that compute.
    pub threads: usize,
}

/// A context of a model; freed when dropped.
pub struct LlamaContext {
    model: Rc<LlamaModel>,
    raw: NonNull<RawContext>,
    batch: RawBatch,
}

impl LlamaContext {
    /// A context of `size`. Fails with [`ErrorKind::OutOfResources`] where there is no memory for it.
    pub fn new(model: Rc<LlamaModel>, size: ContextSize) -> Result<LlamaContext> {
        let library = model.library();
        let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        let threads = i32::try_from(size.threads).unwrap_or(i32::MAX);
        // SAFETY: the function gives a structure by value.
        let mut parameters = unsafe { (library.llama_context_default_params)() };
        parameters.n_ctx = number(size.tokens.saturating_mul(size.sequences));
        parameters.n_seq_max = number(size.sequences);
        parameters.n_batch = number(MAX_BATCH);
        parameters.n_ubatch = number(MAX_BATCH);
        parameters.n_threads = threads;
        parameters.n_threads_batch = threads;
        // SAFETY: the model is loaded, and lives as long as the context, which holds it.
        let raw = unsafe { (library.llama_init_from_model)(model.as_ptr(), parameters) };
        let raw = NonNull::new(raw).ok_or_else(|| no_memory(size))?;
        // SAFETY: the function takes numbers; the arrays are freed with the context.
        let batch = unsafe { (library.llama_batch_init)(MAX_BATCH as i32, 0, 1) };
        let context = LlamaContext { model, raw, batch };
        match context.batch.token.is_null() || context.batch.seq_id.is_null() {
            true => Err(no_memory(size)),
            false => Ok(context),
        }
    }

    fn fill(&mut self, tokens: &[BatchToken]) {
        for (at, token) in tokens.iter().enumerate() {
            // SAFETY: the arrays of the batch have MAX_BATCH places, and `at` is below that: the caller checks it.
            // Each `seq_id` is an array of one place.
            unsafe {
                *self.batch.token.add(at) = token.token;
                *self.batch.pos.add(at) = token.position as i32;
                *self.batch.n_seq_id.add(at) = 1;
                **self.batch.seq_id.add(at) = token.sequence as i32;
                *self.batch.logits.add(at) = i8::from(token.is_asked);
            }
        }
        self.batch.n_tokens = tokens.len() as i32;
    }
}

impl LlamaContext {
    /// The model's number for each token of the vocabulary, as the one behind place `row` of the last batch, which was asked.
    pub fn logits(&mut self, row: usize) -> Result<&[f32]> {
        let (library, raw) = (self.model.library(), self.raw.as_ptr());
        // SAFETY: the context lives; for a row that was not asked for the library gives NULL.
        let logits = unsafe { (library.llama_get_logits_ith)(raw, row as i32) };
        if logits.is_null() {
            return Err(Error::new(ErrorKind::Internal, "llama.cpp has no logits of a token"));
        }
        // SAFETY: a row has as many numbers as the vocabulary has tokens, and stays until the next decode, which takes
        // the context mutably, as this does.
        Ok(unsafe { std::slice::from_raw_parts(logits, self.model.vocabulary_size()) })
    }
}

impl LanguageModel for LlamaContext {
    type Sampler = LlamaSampler;

    fn context_tokens(&self) -> usize {
        // SAFETY: the context lives.
        unsafe { (self.model.library().llama_n_ctx_seq)(self.raw.as_ptr()) as usize }
    }

    fn batch_tokens(&self) -> usize {
        MAX_BATCH
    }

    fn tokenize(&self, prompt: &str) -> Result<Vec<Token>> {
        self.model.tokenize(prompt)
    }

    fn piece(&self, token: Token) -> Vec<u8> {
        self.model.piece(token)
    }

    fn is_end(&self, token: Token) -> bool {
        self.model.is_end(token)
    }

    fn sampler(
        &self,
        how: &SamplingParameters,
        seed: u32,
        grammar: Option<&str>,
    ) -> Result<LlamaSampler> {
        LlamaSampler::new(Rc::clone(&self.model), how, seed, grammar)
    }

    fn decode(&mut self, tokens: &[BatchToken], stops: &(dyn Fn() -> bool + Sync)) -> Decoded {
        if tokens.len() > MAX_BATCH {
            return Decoded::NoRoom;
        }
        self.fill(tokens);
        let (library, raw) = (self.model.library(), self.raw.as_ptr());
        let data = (&raw const stops).cast_mut().cast::<c_void>();
        // SAFETY: the context lives, and the batch was filled up to its number of tokens. The library has the address of
        // `stops` only as long as this block, and `stops` lives longer.
        let code = unsafe {
            (library.llama_set_abort_callback)(raw, Some(is_stopped), data);
            let code = (library.llama_decode)(raw, self.batch);
            (library.llama_set_abort_callback)(raw, None, std::ptr::null_mut());
            code
        };
        IS_STOPPING.store(false, Ordering::Relaxed);
        match code {
            0 => Decoded::Done,
            1 => Decoded::NoRoom,
            2 => Decoded::Stopped,
            code => Decoded::Failed(code),
        }
    }

    fn sample(&mut self, row: usize, sampler: &mut LlamaSampler) -> Result<Token> {
        sampler.choose(self.logits(row)?)
    }

    fn forget(&mut self, sequence: usize, from: usize) -> bool {
        // SAFETY: the context lives, and its memory with it; -1 is the end.
        unsafe {
            let memory = (self.model.library().llama_get_memory)(self.raw.as_ptr());
            (self.model.library().llama_memory_seq_rm)(memory, sequence as i32, from as i32, -1)
        }
    }

    fn copy(&mut self, from: usize, to: usize) {
        // SAFETY: as above. The whole of a sequence is copied: parts of one cannot be where each has cells of its own.
        unsafe {
            let memory = (self.model.library().llama_get_memory)(self.raw.as_ptr());
            (self.model.library().llama_memory_seq_rm)(memory, to as i32, -1, -1);
            (self.model.library().llama_memory_seq_cp)(memory, from as i32, to as i32, -1, -1);
        }
    }

    fn forget_all(&mut self) {
        // SAFETY: as above.
        unsafe {
            let memory = (self.model.library().llama_get_memory)(self.raw.as_ptr());
            (self.model.library().llama_memory_clear)(memory, true);
        }
    }
}

impl Drop for LlamaContext {
    fn drop(&mut self) {
        // SAFETY: both were made by the library and are used no more.
        unsafe {
            (self.model.library().llama_batch_free)(self.batch);
            (self.model.library().llama_free)(self.raw.as_ptr());
        }
    }
}

/// Whether the batch under way is to be stopped, as the function says whose reference stands at `data`.
unsafe extern "C" fn is_stopped(data: *mut c_void) -> bool {
    // SAFETY: `decode` gives the address of such a reference, and waits for the library, which asks from its own threads.
    let stops = unsafe { *data.cast::<&(dyn Fn() -> bool + Sync)>() };
    let is_stopped = stops();
    if is_stopped {
        IS_STOPPING.store(true, Ordering::Relaxed);
    }
    is_stopped
}

fn no_memory(size: ContextSize) -> Error {
    let ContextSize { tokens, sequences, .. } = size;
    let message = format!("there is no memory for {sequences} texts of {tokens} tokens each");
    Error::new(ErrorKind::OutOfResources, message)
        .hint("Give the server a smaller num_ctx, or more memory with rag.llama_memory.")
}
