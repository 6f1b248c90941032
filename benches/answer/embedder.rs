//! ragd as an embedder that remembers, so that a sentence met twice is embedded once.

use std::collections::HashMap;

use pg_rag::daemon::connection::ClientConnection;
use pg_rag::embed::{Embedder, EmbeddingKind, Spanned};
use pg_rag::error::Result;
use pg_rag::protocol::{Lane, ModelRef, Request, Response};

use crate::ragd::Ragd;

/// An embedder with a memory.
pub struct Remembering {
    client: ClientConnection,
    model: ModelRef,
    known: HashMap<(EmbeddingKind, String), Vec<f32>>,
    /// By the text of a document, whose spans are always the same.
    in_place: HashMap<String, Vec<Vec<f32>>>,
    /// Tokens embedded so far.
    pub tokens: u64,
}

impl Remembering {
    pub fn new(ragd: &Ragd, model: ModelRef) -> Remembering {
        Remembering {
            client: ragd.connect(),
            model,
            known: HashMap::new(),
            in_place: HashMap::new(),
            tokens: 0,
        }
    }

    /// Forgets all, so that the next call takes as long as in a session.
    pub fn forget(&mut self) {
        self.known.clear();
        self.in_place.clear();
    }

    /// Embeds many texts, in requests of a moderate size.
    pub fn load(&mut self, texts: &[String], kind: EmbeddingKind, lane: Lane) {
        let mut missing: Vec<String> = texts
            .iter()
            .filter(|text| !self.known.contains_key(&(kind, (*text).clone())))
            .cloned()
            .collect();
        missing.sort();
        missing.dedup();
        for texts in missing.chunks(2048) {
            let (model, texts) = (self.model.clone(), texts.to_vec());
            let request = Request::Embed { model, kind, lane, texts: texts.clone() };
            let Response::Vectors { values, tokens, .. } = self.client.call(&request).unwrap()
            else {
                panic!("ragd did not answer with vectors");
            };
            self.tokens += tokens;
            let vectors = values.chunks_exact(values.len() / texts.len());
            for (text, vector) in texts.into_iter().zip(vectors) {
                self.known.insert((kind, text), vector.to_vec());
            }
        }
    }

    /// The vector of a text that was loaded.
    pub fn vector(&self, text: &str, kind: EmbeddingKind) -> &[f32] {
        &self.known[&(kind, text.to_string())]
    }
}

impl Embedder for Remembering {
    fn embed(&mut self, texts: &[String], kind: EmbeddingKind) -> Result<Vec<Vec<f32>>> {
        self.load(texts, kind, Lane::Query);
        Ok(texts.iter().map(|text| self.vector(text, kind).to_vec()).collect())
    }

    fn embed_in_place(&mut self, documents: &[Spanned]) -> Result<Vec<Vec<f32>>> {
        let is_missing = |document: &&Spanned| !self.in_place.contains_key(&document.text);
        let missing: Vec<Spanned> = documents.iter().filter(is_missing).cloned().collect();
        if !missing.is_empty() {
            let (model, lane) = (self.model.clone(), Lane::Query);
            let request = Request::EmbedInPlace { model, lane, documents: missing.clone() };
            let Response::Vectors { dimension, values, tokens } = self.client.call(&request)?
            else {
                panic!("ragd did not answer with vectors");
            };
            self.tokens += tokens;
            let mut vectors = values.chunks_exact(dimension as usize).map(<[f32]>::to_vec);
            for document in missing {
                let own = vectors.by_ref().take(document.spans.len()).collect();
                self.in_place.insert(document.text, own);
            }
        }
        Ok(documents.iter().flat_map(|document| self.in_place[&document.text].clone()).collect())
    }
}
