//! llama.cpp called directly, with nothing of ragd before it: what its own text is, and how fast it is by itself.

use std::path::Path;
use std::rc::Rc;

use pg_rag::daemon::local_model::context::{ContextSize, LlamaContext, MAX_BATCH};
use pg_rag::daemon::local_model::engine::{BatchToken, Decoded, LanguageModel};
use pg_rag::daemon::local_model::library::{LlamaLibrary, Token};
use pg_rag::daemon::local_model::model::LlamaModel;

use super::gguf::InstalledLlm;

/// llama.cpp in this process, with one sequence.
pub struct PlainLlama(LlamaContext);

/// A text, and how many tokens it has.
#[derive(Debug)]
pub struct PlainText {
    pub text: String,
    pub tokens: usize,
}

impl PlainLlama {
    /// The model of `llm` with a context of `size`.
    pub fn load(llm: &InstalledLlm, size: ContextSize) -> PlainLlama {
        let library = Rc::new(LlamaLibrary::load(llm.library()).expect("llama.cpp"));
        let model = LlamaModel::load(library, Path::new(&llm.file().path)).expect("a model");
        PlainLlama(LlamaContext::new(Rc::new(model), size).expect("a context"))
    }

    /// The tokens of `text`, in which control tokens may be written out.
    pub fn tokenize(&self, text: &str) -> Vec<Token> {
        self.0.tokenize(text).expect("tokens")
    }

    /// Forgets what was read and written.
    pub fn forget(&mut self) {
        self.0.forget_all();
    }

    /// Reads `tokens`, of which there is one at least, from place `begin` of the text on, in batches as large as they
    /// may be. Gives the row of the last one, which was asked for what follows.
    pub fn read(&mut self, tokens: &[Token], begin: usize) -> usize {
        let end = begin + tokens.len();
        let mut last = 0;
        for (number, chunk) in tokens.chunks(MAX_BATCH).enumerate() {
            let first = begin + number * MAX_BATCH;
            let place = |(at, token): (usize, &Token)| {
                let position = first + at;
                let is_asked = position + 1 == end;
                BatchToken { token: *token, position, sequence: 0, is_asked }
            };
            let batch: Vec<BatchToken> = chunk.iter().enumerate().map(place).collect();
            assert_eq!(self.0.decode(&batch, &|| false), Decoded::Done);
            last = batch.len() - 1;
        }
        last
    }

    /// The likeliest text after `prompt`, of at most so many tokens: always the token with the greatest logit.
    pub fn write(&mut self, prompt: &[Token], most: usize) -> PlainText {
        self.forget();
        let (mut bytes, mut tokens) = (Vec::new(), 0);
        let mut row = self.read(prompt, 0);
        while tokens < most {
            let token = self.likeliest(row);
            if self.0.is_end(token) {
                break;
            }
            bytes.extend(self.0.piece(token));
            row = self.read(&[token], prompt.len() + tokens);
            tokens += 1;
        }
        PlainText { text: String::from_utf8_lossy(&bytes).into_owned(), tokens }
    }

    fn likeliest(&mut self, row: usize) -> Token {
        let logits = self.0.logits(row).expect("logits");
        let mut likeliest = (0, f32::NEG_INFINITY);
        for (token, logit) in (0..).zip(logits) {
            if *logit > likeliest.1 {
                likeliest = (token, *logit);
            }
        }
        likeliest.0
    }
}
