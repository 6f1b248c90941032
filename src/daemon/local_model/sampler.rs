//! How the next token of a text is chosen from what the model gives for each.

use std::ffi::CString;
use std::ptr::NonNull;
use std::rc::Rc;

use super::library::{LlamaLibrary, RawCandidates, RawSampler, Token, TokenCandidate};
use super::model::LlamaModel;
use crate::error::{Error, ErrorKind, Result};
use crate::prompt::sampling::SamplingParameters;

/// Tokens back to which a repetition is one.
const PENALTY_WINDOW: i32 = 256;

/// The rule of a grammar from which a text is made.
const ROOT: &std::ffi::CStr = c"root";

/// Chooses the tokens of one text.
pub struct LlamaSampler {
    chain: OwnedSampler,
    grammar: Option<OwnedSampler>,
    candidates: Vec<TokenCandidate>,
    /// Kept: samplers read its vocabulary.
    _model: Rc<LlamaModel>,
}

/// A sampler of the library; freed when dropped.
struct OwnedSampler {
    library: Rc<LlamaLibrary>,
    raw: NonNull<RawSampler>,
}

impl LlamaSampler {
    /// Chooses as `how` says, with a temperature of 0 the likeliest; else by chance, as `seed` has it. With a
    /// `grammar` (GBNF, from its rule `root`) nothing but what fits is chosen.
    ///
    /// Fails with [`ErrorKind::InvalidParameter`] where the library does not take the grammar.
    pub fn new(
        model: Rc<LlamaModel>,
        how: &SamplingParameters,
        seed: u32,
        grammar: Option<&str>,
    ) -> Result<LlamaSampler> {
        let chain = chain(&model, how, seed)?;
        let grammar = grammar.map(|text| grammar_of(&model, text)).transpose()?;
        Ok(LlamaSampler { chain, grammar, candidates: Vec::new(), _model: model })
    }

    /// The next token, by the model's number for each of the vocabulary.
    pub fn choose(&mut self, logits: &[f32]) -> Result<Token> {
        self.list(logits);
        let mut token = self.chain.pick(&mut self.candidates)?;
        if let Some(grammar) = &self.grammar
            && !grammar.allows(token)
        {
            // It is seldom so, and looking at the whole vocabulary takes longer than the model does.
            self.list(logits);
            if let Some(grammar) = &self.grammar {
                grammar.apply(&mut self.candidates);
            }
            self.candidates.retain(|candidate| candidate.logit.is_finite());
            if self.candidates.is_empty() {
                return Err(Error::new(ErrorKind::Internal, "the grammar allows no token"));
            }
            token = self.chain.pick(&mut self.candidates)?;
        }
        self.chain.accept(token);
        if let Some(grammar) = &self.grammar {
            grammar.accept(token);
        }
        Ok(token)
    }

    fn list(&mut self, logits: &[f32]) {
        self.candidates.clear();
        let candidates =
            logits.iter().zip(0..).map(|(logit, id)| TokenCandidate { id, logit: *logit, p: 0.0 });
        self.candidates.extend(candidates);
    }
}

impl OwnedSampler {
    fn new(library: &Rc<LlamaLibrary>, raw: *mut RawSampler) -> Option<OwnedSampler> {
        NonNull::new(raw).map(|raw| OwnedSampler { library: Rc::clone(library), raw })
    }

    fn apply(&self, candidates: &mut Vec<TokenCandidate>) -> i64 {
        let mut array = RawCandidates {
            data: candidates.as_mut_ptr(),
            size: candidates.len(),
            selected: -1,
            sorted: false,
        };
        // SAFETY: the array has `size` candidates; the library changes, reorders and shortens it in its place.
        unsafe { (self.library.llama_sampler_apply)(self.raw.as_ptr(), &mut array) };
        candidates.truncate(array.size);
        array.selected
    }

    fn pick(&self, candidates: &mut Vec<TokenCandidate>) -> Result<Token> {
        let selected = usize::try_from(self.apply(candidates)).ok();
        let chosen = selected.and_then(|at| candidates.get(at)).map(|candidate| candidate.id);
        chosen.ok_or_else(|| Error::new(ErrorKind::Internal, "llama.cpp has chosen no token"))
    }

    fn allows(&self, token: Token) -> bool {
        let mut one = vec![TokenCandidate { id: token, logit: 1.0, p: 0.0 }];
        self.apply(&mut one);
        one.first().is_some_and(|candidate| candidate.logit.is_finite())
    }

    fn accept(&self, token: Token) {
        // SAFETY: the sampler lives, and the token is one that it allows.
        unsafe { (self.library.llama_sampler_accept)(self.raw.as_ptr(), token) };
    }

    /// Puts `next` behind what the chain has; it then belongs to the chain.
    fn add(&self, next: *mut RawSampler) -> Result<()> {
        let next = NonNull::new(next).ok_or_else(no_sampler)?;
        // SAFETY: both live, and `next` is in no other chain.
        unsafe { (self.library.llama_sampler_chain_add)(self.raw.as_ptr(), next.as_ptr()) };
        Ok(())
    }
}

impl Drop for OwnedSampler {
    fn drop(&mut self) {
        // SAFETY: the sampler is in no chain, and used no more; those of a chain are freed with it.
        unsafe { (self.library.llama_sampler_free)(self.raw.as_ptr()) };
    }
}

/// Penalties first, then the narrowing, then the temperature, then the choice: the library's own order.
fn chain(model: &LlamaModel, how: &SamplingParameters, seed: u32) -> Result<OwnedSampler> {
    let library = model.library();
    let frequency = how.frequency_penalty.unwrap_or(0.0);
    let presence = how.presence_penalty.unwrap_or(0.0);
    let vocabulary = i32::try_from(model.vocabulary_size()).unwrap_or(i32::MAX);
    // SAFETY: the functions take numbers and give samplers that are added to the chain at once.
    unsafe {
        let raw =
            (library.llama_sampler_chain_init)((library.llama_sampler_chain_default_params)());
        let chain = OwnedSampler::new(library, raw).ok_or_else(no_sampler)?;
        if frequency != 0.0 || presence != 0.0 {
            let init = library.llama_sampler_init_penalties;
            chain.add(init(vocabulary, PENALTY_WINDOW, 1.0, frequency, presence))?;
        }
        if how.temperature <= 0.0 {
            chain.add((library.llama_sampler_init_greedy)())?;
            return Ok(chain);
        }
        if let Some(top_k) = how.top_k {
            chain.add((library.llama_sampler_init_top_k)(
                i32::try_from(top_k).unwrap_or(i32::MAX),
            ))?;
        }
        if let Some(top_p) = how.top_p {
            chain.add((library.llama_sampler_init_top_p)(top_p, 1))?;
        }
        chain.add((library.llama_sampler_init_temp)(how.temperature))?;
        chain.add((library.llama_sampler_init_dist)(seed))?;
        Ok(chain)
    }
}

fn grammar_of(model: &LlamaModel, text: &str) -> Result<OwnedSampler> {
    let library = model.library();
    let refused =
        || Error::invalid("llama.cpp does not take the grammar that was made of the schema");
    let text = CString::new(text).map_err(|_| refused())?;
    let init = library.llama_sampler_init_grammar;
    // SAFETY: both strings end with a zero and outlive the call; the vocabulary lives as long as the model.
    let raw = unsafe { init(model.vocabulary(), text.as_ptr(), ROOT.as_ptr()) };
    OwnedSampler::new(library, raw).ok_or_else(refused)
}

fn no_sampler() -> Error {
    Error::new(ErrorKind::OutOfResources, "llama.cpp has no memory for a sampler")
}
