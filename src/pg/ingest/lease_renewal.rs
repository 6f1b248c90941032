//! A pipeline's texts become vectors, however long that takes.
//!
//! A provider that is asked for many texts may answer some of the calls and be busy for the others.
//! A process that then began with the first text again would pay for it again, and come to no end
//! where a document has more chunks than the provider embeds at a time. So what it has embedded is
//! kept until the rows in hand are done, also by a session that has to come back later.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::time::Instant;

use super::queue;
use crate::embed::{Embedder, EmbeddingKind, Spanned};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::pipeline;
use crate::pg::ragd::client::Watch;
use crate::pg::ragd::embed::Embedding;
use crate::pg::server::role::as_superuser;
use crate::pg::server::transaction::Transactions;
use crate::pipeline::{Vectors, content_hash};

thread_local! {
    /// Vectors that are kept, by the ID of the pipeline.
    static KEPT: RefCell<HashMap<i32, KeptVectors>> = RefCell::new(HashMap::new());
}

/// Vectors of passages, by the hash of their text.
#[derive(Debug)]
pub struct KeptVectors {
    pipeline: i32,
    model: String,
    vectors: Vectors,
}

impl KeptVectors {
    /// What was put back for `pipeline`, if `model` has embedded it; it is handed out once.
    pub fn of(pipeline: i32, model: &str) -> KeptVectors {
        let kept = KEPT.with_borrow_mut(|all| all.remove(&pipeline));
        let nothing = || KeptVectors { pipeline, model: model.to_owned(), vectors: Vectors::new() };
        kept.filter(|kept| kept.model == model).unwrap_or_else(nothing)
    }

    /// Keeps the vectors for the next attempt.
    pub fn put_back(self) {
        if !self.vectors.is_empty() {
            KEPT.with_borrow_mut(|all| all.insert(self.pipeline, self));
        }
    }

    /// The `texts` that have no vector, equal ones once.
    fn missing(&self, texts: &[String]) -> Vec<String> {
        let mut wanted = HashSet::new();
        let is_missing = |text: &&String| {
            let hash = content_hash(text);
            !self.vectors.contains_key(&hash) && wanted.insert(hash)
        };
        texts.iter().filter(is_missing).cloned().collect()
    }

    /// Adds the vectors of the first of `texts`.
    fn add(&mut self, texts: &[String], vectors: Vec<Vec<f32>>) {
        self.vectors.extend(texts.iter().map(|text| content_hash(text)).zip(vectors));
    }

    /// The vectors of `texts`, which must all have one.
    fn vectors(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let missing = || Error::new(ErrorKind::Internal, "a text has not been embedded");
        let vector =
            |text: &String| self.vectors.get(&content_hash(text)).cloned().ok_or_else(missing);
        texts.iter().map(vector).collect()
    }
}

/// Embeds, and keeps the lease while that takes long.
pub struct LeaseRenewingEmbedder<'a> {
    /// What embeds the texts.
    pub inner: &'a mut Embedding,
    /// What it has embedded already.
    pub kept: &'a mut KeptVectors,
    /// What keeps the lease.
    pub watch: LeaseWatch,
}

/// Keeps the lease of rows in hand while something takes long.
#[derive(Clone, Copy)]
pub struct LeaseWatch {
    /// How the lease is renewed.
    pub transactions: Transactions,
    /// The pipeline whose rows these are.
    pub pipeline: i32,
    /// The number of the lease.
    pub lease: i64,
    /// When the lease was renewed.
    pub renewed: Instant,
    /// Whether another process waits for this one to leave.
    pub is_unwanted: fn() -> bool,
}

impl LeaseRenewingEmbedder<'_> {
    /// Has `work` done, with something to look after meanwhile.
    fn watched<T>(
        &mut self,
        work: impl FnOnce(&Embedding, &mut Watch<'_>) -> Result<T>,
    ) -> Result<T> {
        let LeaseRenewingEmbedder { inner, watch, .. } = self;
        work(inner, &mut || watch.look())
    }
}

impl LeaseWatch {
    /// Renews the lease where that is due. An error where this process is to leave.
    pub fn look(&mut self) -> Result<()> {
        let LeaseWatch { transactions, pipeline, lease, renewed, is_unwanted } = self;
        if is_unwanted() {
            let message =
                "worker is leaving because another session needs exclusive access to the database";
            return Err(Error::new(ErrorKind::NotInState, message));
        }
        if renewed.elapsed().as_secs_f64() > queue::RENEW_AFTER {
            let renew = || {
                as_superuser(|| match pipeline::hold(*pipeline)? {
                    Some(_) => queue::renew(*pipeline, *lease),
                    None => Ok(()),
                })
            };
            // If it can't be kept, the rows are embedded once more by another process.
            drop(transactions.run(renew));
            *renewed = Instant::now();
        }
        Ok(())
    }
}

impl Embedder for LeaseRenewingEmbedder<'_> {
    fn embed(&mut self, texts: &[String], kind: EmbeddingKind) -> Result<Vec<Vec<f32>>> {
        if !self.inner.is_remote() || kind != EmbeddingKind::Passage {
            return self.watched(|embedding, watch| embedding.embed_and_watch(texts, kind, watch));
        }
        let new = self.kept.missing(texts);
        let mut vectors = Vec::new();
        let embedded = self
            .watched(|embedding, watch| embedding.add_and_watch(&new, kind, watch, &mut vectors));
        self.kept.add(&new, vectors);
        embedded?;
        self.kept.vectors(texts)
    }

    fn embed_in_place(&mut self, documents: &[Spanned]) -> Result<Vec<Vec<f32>>> {
        self.watched(|embedding, watch| embedding.embed_in_place_and_watch(documents, Some(watch)))
    }
}

#[cfg(feature = "pg_test")]
mod tests {
    use pgrx::pg_extern;

    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[pg_extern]
    fn what_was_embedded_before_a_failure_is_not_embedded_again() {
        let all = texts(&["one", "two", "one", "three"]);
        let mut kept = KeptVectors::of(1, "m");
        let new = kept.missing(&all);
        assert_eq!(new, texts(&["one", "two", "three"]));
        kept.add(&new, vec![vec![1.0], vec![2.0]]);
        assert!(kept.vectors(&all).is_err());
        kept.put_back();

        assert_eq!(KeptVectors::of(2, "m").missing(&all).len(), 3);
        let mut kept = KeptVectors::of(1, "m");
        let new = kept.missing(&all);
        assert_eq!(new, texts(&["three"]));
        kept.add(&new, vec![vec![3.0]]);
        let vectors = [[1.0], [2.0], [1.0], [3.0]].map(|vector| vector.to_vec());
        assert_eq!(kept.vectors(&all).unwrap(), vectors);
        // Handed out, and done with.
        assert_eq!(KeptVectors::of(1, "m").missing(&all).len(), 3);
    }

    #[pg_extern]
    fn what_another_model_has_embedded_is_not_kept() {
        let mut kept = KeptVectors::of(3, "m");
        kept.add(&texts(&["one"]), vec![vec![1.0]]);
        kept.put_back();
        assert_eq!(KeptVectors::of(3, "n").missing(&texts(&["one"])).len(), 1);
    }
}
