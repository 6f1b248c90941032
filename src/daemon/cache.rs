//! What was made lately and may be wanted again: vectors of questions, and what language models
//! wrote.
//!
//! It is in ragd because all sessions share it here, whatever they may read or write. Each request
//! brings a key that says all of what an entry depends on, the role among it; entries of one key
//! are never found by another. What is kept is bounded, and forgotten with ragd.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use crate::embed::EmbeddingKind;
use crate::lock::locked;
use crate::protocol::{Note, RecalledText, VectorKey};
use crate::recent::Recent;
use crate::vector::cosine;

/// Most bytes of vectors.
const VECTORS: usize = 16 << 20;

/// Most bytes of texts, with the vectors by which some of them are found.
const TEXTS: usize = 32 << 20;

/// Longest text whose vector is kept, in bytes.
const LONGEST: usize = 8 << 10;

/// Texts that are kept for one key, the newest first.
const ALIKE: usize = 64;

/// Texts that one look finds at most. Who asks takes one only if its words fit, too, and the nearest may all be about
/// something else.
const FOUND: usize = 16;

/// What an entry takes besides its content, about, in bytes.
const ENTRY: usize = 200;

type CacheKey = [u8; 32];

/// Vectors and texts that are kept, and how often one was found.
pub struct Cache {
    vectors: Mutex<Recent<CacheKey, Vec<f32>>>,
    texts: Mutex<Recent<CacheKey, Vec<CachedText>>>,
    hits: AtomicU64,
}

struct CachedText {
    vector: Vec<f32>,
    text: String,
    until: Instant,
}

impl Default for Cache {
    fn default() -> Cache {
        Cache {
            vectors: Mutex::new(Recent::new(VECTORS)),
            texts: Mutex::new(Recent::new(TEXTS)),
            hits: AtomicU64::new(0),
        }
    }
}

impl Cache {
    /// The vector of a text, if it was made lately.
    pub fn vector(&self, key: &VectorKey) -> Option<Vec<f32>> {
        let found = locked(&self.vectors).get(&hash_of(key)).cloned();
        self.hits.fetch_add(u64::from(found.is_some()), Ordering::Relaxed);
        found
    }

    /// Keeps a vector, unless its text is long.
    pub fn keep_vector(&self, key: &VectorKey, vector: &[f32]) {
        if key.text.len() <= LONGEST {
            let bytes = size_of_val(vector) + ENTRY;
            locked(&self.vectors).put_sized(hash_of(key), vector.to_vec(), bytes);
        }
    }

    /// Keeps a text. One without a vector takes the place of the one before it.
    pub fn keep(&self, note: Note, now: Instant) {
        let Note { scope, vector, text, seconds } = note;
        let key = hash(&[scope.as_bytes()]);
        let mut texts = locked(&self.texts);
        let mut all = texts.take(&key).unwrap_or_default();
        all.retain(|kept| !vector.is_empty() && kept.until > now && kept.vector != vector);
        all.truncate(ALIKE - 1);
        let until = now + Duration::from_secs(u64::from(seconds));
        all.insert(0, CachedText { vector, text, until });
        let bytes = all.iter().map(|it| it.text.len() + size_of_val(&it.vector[..]) + ENTRY).sum();
        texts.put_sized(key, all, bytes);
    }

    /// Texts that were kept for `scope`: with an empty `vector` the one that has none; else those
    /// whose cosine with it is `at_least` so much, the nearest first.
    pub fn recall(
        &self,
        scope: &str,
        vector: &[f32],
        at_least: f32,
        now: Instant,
    ) -> Vec<RecalledText> {
        let mut texts = locked(&self.texts);
        let kept = texts.get(&hash(&[scope.as_bytes()])).map(Vec::as_slice).unwrap_or_default();
        let fresh = kept.iter().filter(|it| it.until > now && it.vector.len() == vector.len());
        let mut found: Vec<(f32, &CachedText)> = fresh
            .map(|it| {
                if vector.is_empty() { (1.0, it) } else { (cosine(vector, &it.vector) as f32, it) }
            })
            .filter(|(cosine, _)| *cosine >= at_least)
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let recalled = |(cosine, it): &(f32, &CachedText)| RecalledText {
            text: it.text.clone(),
            cosine: *cosine,
        };
        let found: Vec<RecalledText> = found.iter().take(FOUND).map(recalled).collect();
        self.hits.fetch_add(u64::from(!found.is_empty()), Ordering::Relaxed);
        found
    }

    /// Entries that are kept, and how often one was found.
    pub fn figures(&self) -> (u64, u64) {
        let vectors = locked(&self.vectors).len();
        let texts = locked(&self.texts).len();
        ((vectors + texts) as u64, self.hits.load(Ordering::Relaxed))
    }
}

fn hash_of(VectorKey { model, kind, text }: &VectorKey) -> CacheKey {
    let kind = match kind {
        EmbeddingKind::Query => b"query".as_slice(),
        EmbeddingKind::Passage => b"passage",
    };
    hash(&[model.as_bytes(), kind, text.as_bytes()])
}

/// Each part is preceded by its length, so that no two lists of parts are the same bytes.
fn hash(parts: &[&[u8]]) -> CacheKey {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(scope: &str, vector: &[f32], text: &str) -> Note {
        let (scope, text) = (scope.to_owned(), text.to_owned());
        Note { scope, vector: vector.to_vec(), text, seconds: 60 }
    }

    /// The texts that are found, the nearest first.
    fn texts(found: Vec<RecalledText>) -> Vec<String> {
        found.into_iter().map(|it| it.text).collect()
    }

    #[test]
    fn a_text_is_found_by_its_key_until_its_time_is_up() {
        let (cache, now) = (Cache::default(), Instant::now());
        cache.keep(note("a", &[], "one"), now);
        let one = RecalledText { text: "one".to_owned(), cosine: 1.0 };
        assert_eq!(cache.recall("a", &[], 0.0, now), [one]);
        assert!(cache.recall("b", &[], 0.0, now).is_empty());
        cache.keep(note("a", &[], "two"), now);
        assert_eq!(texts(cache.recall("a", &[], 0.0, now)), ["two"]);
        assert!(cache.recall("a", &[], 0.0, now + Duration::from_secs(60)).is_empty());
        assert_eq!(cache.figures(), (1, 2));
    }

    #[test]
    fn texts_are_found_by_what_is_near() {
        let (cache, now) = (Cache::default(), Instant::now());
        cache.keep(note("a", &[1.0, 0.0], "east"), now);
        cache.keep(note("a", &[0.0, 2.0], "north"), now);
        cache.keep(note("a", &[1.0, 1.0, 0.0], "elsewhere"), now);
        let found = |vector: &[f32], at_least| texts(cache.recall("a", vector, at_least, now));
        let cosines: Vec<f32> =
            cache.recall("a", &[0.0, 3.0], -1.0, now).iter().map(|it| it.cosine).collect();
        assert!(cosines[0] > 0.999 && cosines[1].abs() < 0.001, "{cosines:?}");
        assert_eq!(found(&[3.0, 0.1], 0.9), ["east"]);
        assert_eq!(found(&[2.0, 3.0], 0.5), ["north", "east"]);
        assert!(found(&[-1.0, 0.0], 0.5).is_empty());
        assert!(found(&[0.0, 0.0], 0.5).is_empty());
        assert!(cache.recall("b", &[1.0, 0.0], 0.0, now).is_empty());
        // The same vector again is the same question.
        cache.keep(note("a", &[1.0, 0.0], "still east"), now);
        assert_eq!(found(&[1.0, 0.0], 0.9), ["still east"]);
    }

    #[test]
    fn one_key_has_so_many_texts_and_no_more() {
        let (cache, now) = (Cache::default(), Instant::now());
        for number in 0..2 * ALIKE {
            cache.keep(note("a", &[number as f32 + 1.0, 1.0], &number.to_string()), now);
        }
        let oldest = locked(&cache.texts).get(&hash(&[b"a"])).map(|all| all.len());
        assert_eq!(oldest, Some(ALIKE));
    }

    #[test]
    fn vectors_are_those_of_a_model_a_kind_and_a_text() {
        let cache = Cache::default();
        let key = |model: &str, kind, text: &str| VectorKey {
            model: model.to_owned(),
            kind,
            text: text.to_owned(),
        };
        cache.keep_vector(&key("x", EmbeddingKind::Query, "text"), &[1.0]);
        let found = |model, kind, text: &str| cache.vector(&key(model, kind, text));
        assert_eq!(found("x", EmbeddingKind::Query, "text"), Some(vec![1.0]));
        assert_eq!(found("y", EmbeddingKind::Query, "text"), None);
        assert_eq!(found("x", EmbeddingKind::Passage, "text"), None);
        assert_eq!(found("x", EmbeddingKind::Query, "texts"), None);
        assert_eq!(found("xq", EmbeddingKind::Query, "ext"), None);
        let long = "x".repeat(LONGEST + 1);
        cache.keep_vector(&key("x", EmbeddingKind::Query, &long), &[1.0]);
        assert_eq!(found("x", EmbeddingKind::Query, &long), None);
    }
}
