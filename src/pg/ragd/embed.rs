//! Vectors of texts, from a model of ragd or one behind a provider.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use pgrx::prelude::*;
use sha2::{Digest, Sha256};

use crate::embed::calibration::Calibration;
use crate::embed::reader::SpanScores;
use crate::embed::{Embedder, EmbeddingKind, Spanned};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::model::{self, RegisteredModel};
use crate::pg::ragd::calibration::calibration_of;
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::client::Watch;
use crate::pg::ragd::{client, provider, trace, usage};
use crate::pg::server::error::unexpected;
use crate::protocol::{EmbedRequest, Lane, ProviderConfig, Request, Response, VectorKey};
use crate::recent::Recent;

/// Texts sent to ragd in one request, so that cancel and memory stay bounded.
const TEXTS_A_REQUEST: usize = 256;

/// Bytes of these texts, unless a single one is longer: a request is copied and encoded without a look at interrupts.
const BYTES_A_REQUEST: usize = 4 << 20;

/// Results that a session remembers. A STABLE function in ORDER BY is called once a row of
/// the limit, or of the table: all but the first call end here.
const REMEMBERED: usize = 64;

/// Longest text whose vector ragd remembers for all sessions, in bytes.
const LONGEST_SHARED: usize = 8192;

thread_local! {
    static MEMO: RefCell<Recent<MemoKey, Vec<f32>>> = RefCell::new(Recent::new(REMEMBERED));
    /// When the statement began in which nothing is to be remembered that others have asked.
    static ALONE: Cell<i64> = const { Cell::new(i64::MIN) };
}

#[derive(PartialEq, Eq, Hash)]
struct MemoKey {
    model: RegisteredModel,
    /// What decides its vectors; for a model behind a provider, that may change at any time.
    identity: String,
    kind: EmbeddingKind,
    /// The hash of the text, which may be long.
    text: [u8; 32],
}

/// A model, seen from a session: one of ragd's, or one behind a provider.
pub struct Embedding {
    model: RegisteredModel,
    /// How the current role reaches the provider, if the model is behind one.
    provider: Option<ProviderConfig>,
    context: CallContext,
}

impl Embedding {
    /// The model called `model`, or that of `rag.embedding_model`.
    ///
    /// Fails, for a model behind a server, if the current role may not use that server.
    pub fn with_model(model: Option<&str>, context: CallContext) -> Result<Self> {
        let model = model::find(model)?;
        let config = |remote: &model::Remote| {
            provider::embedding_config(&remote.server, Some(&remote.model))
        };
        let provider = model.remote.as_ref().map(config).transpose()?;
        Ok(Embedding { model, provider, context })
    }

    /// Whether a model finds the personal data that its provider does not get to read.
    pub fn redacts_by_model(&self) -> bool {
        self.provider.as_ref().is_some_and(|it| it.special.redact_model.is_some())
    }

    fn request(&self, texts: &[String], kind: EmbeddingKind) -> Request {
        let (lane, texts) = (self.context.lane, texts.to_vec());
        match self.provider.clone() {
            None => Request::Embed { model: self.model.reference.clone(), kind, lane, texts },
            Some(provider) => {
                let dimension = u32::try_from(self.model.dimension).ok();
                Request::EmbedRemotely(EmbedRequest { provider, dimension, lane, kind, texts })
            }
        }
    }

    /// What decides the vectors of the model.
    fn identity(&self) -> String {
        match self.request(&[], EmbeddingKind::Query) {
            Request::EmbedRemotely(request) => request.identity(),
            _ => self.model.reference.identity(),
        }
    }

    /// Embeds many texts, with something to look after meanwhile.
    pub fn embed_and_watch(
        &self,
        texts: &[String],
        kind: EmbeddingKind,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<Vec<f32>>> {
        self.embed_all(texts, kind, Some(watch))
    }

    /// Embeds places of documents, with something to look after meanwhile. Only the models of ragd can.
    pub fn embed_in_place_and_watch(
        &self,
        documents: &[Spanned],
        mut watch: Option<&mut Watch<'_>>,
    ) -> Result<Vec<Vec<f32>>> {
        let mut vectors = Vec::new();
        for documents in documents.chunks(TEXTS_A_REQUEST) {
            let request = self.request_in_place(documents)?;
            let count = documents.iter().map(|it| it.spans.len()).sum();
            self.add(&request, count, watch.as_deref_mut(), &mut vectors)?;
        }
        Ok(vectors)
    }

    fn check_in_place(&self) -> Result<()> {
        if self.provider.is_none() {
            return Ok(());
        }
        let message = format!(
            "model \"{}\" is behind a server, which gives no vectors of tokens",
            self.model.reference.name
        );
        Err(Error::new(ErrorKind::Unsupported, message)
            .hint("Late chunking needs a model in a folder."))
    }

    fn request_in_place(&self, documents: &[Spanned]) -> Result<Request> {
        self.check_in_place()?;
        let (model, lane) = (self.model.reference.clone(), self.context.lane);
        Ok(Request::EmbedInPlace { model, lane, documents: documents.to_vec() })
    }

    fn embed_all(
        &self,
        texts: &[String],
        kind: EmbeddingKind,
        watch: Option<&mut Watch<'_>>,
    ) -> Result<Vec<Vec<f32>>> {
        let mut vectors = Vec::with_capacity(texts.len());
        self.add_all(texts, kind, watch, &mut vectors)?;
        Ok(vectors)
    }

    /// Adds the vectors of many texts to `vectors`, with something to look after meanwhile. Where
    /// that fails, those of the first texts may be there.
    pub fn add_and_watch(
        &self,
        texts: &[String],
        kind: EmbeddingKind,
        watch: &mut Watch<'_>,
        vectors: &mut Vec<Vec<f32>>,
    ) -> Result<()> {
        self.add_all(texts, kind, Some(watch), vectors)
    }

    /// The vector of a question, if this session remembers it. It is for whoever needs that once more for a request for
    /// which it was embedded: nothing is done, so there is no step in the trace and no cache hit.
    pub fn recalled(&self, question: &str) -> Option<Vec<f32>> {
        recall(&self.memo_key(&self.identity(), EmbeddingKind::Query, question))
    }

    /// Whether the model is behind a provider.
    pub fn is_remote(&self) -> bool {
        self.provider.is_some()
    }

    /// The name of the model.
    pub fn name(&self) -> &str {
        &self.model.reference.name
    }

    fn add_all(
        &self,
        texts: &[String],
        kind: EmbeddingKind,
        mut watch: Option<&mut Watch<'_>>,
        vectors: &mut Vec<Vec<f32>>,
    ) -> Result<()> {
        let mut rest = texts;
        while !rest.is_empty() {
            let (texts, others) = rest.split_at(most_at_once(rest));
            let request = self.request(texts, kind);
            self.add(&request, texts.len(), watch.as_deref_mut(), vectors)?;
            rest = others;
        }
        Ok(())
    }

    /// Adds the vectors that `request` asks for, `count` of them, to `vectors`; fewer where it fails.
    fn add(
        &self,
        request: &Request,
        count: usize,
        watch: Option<&mut Watch<'_>>,
        vectors: &mut Vec<Vec<f32>>,
    ) -> Result<()> {
        let is_whole =
            |length: usize, dimension: u32| length == dimension as usize * count && dimension > 0;
        let is_part =
            |length: usize, dimension: u32| length < dimension as usize * count && dimension > 0;
        let (dimension, values, outcome) =
            match client::call_and_watch(self.context.pipeline, request, watch)? {
                Response::Vectors { dimension, values, .. }
                    if is_whole(values.len(), dimension) =>
                {
                    (dimension, values, Ok(()))
                }
                Response::SomeVectors { dimension, values, error, .. }
                    if is_part(values.len(), dimension) =>
                {
                    (dimension, values, Err(error))
                }
                other => return Err(unexpected(&other)),
            };
        vectors.extend(values.chunks_exact(dimension as usize).map(<[f32]>::to_vec));
        outcome
    }
}

impl Embedder for Embedding {
    fn embed(&mut self, texts: &[String], kind: EmbeddingKind) -> Result<Vec<Vec<f32>>> {
        let name = || self.model.reference.name.clone();
        trace::found("embed", name, || self.embed_or_recall(texts, kind))
    }

    fn embed_in_place(&mut self, documents: &[Spanned]) -> Result<Vec<Vec<f32>>> {
        self.check_in_place()?;
        let name = || self.model.reference.name.clone();
        trace::step("embed", name, || {
            trace::rows(documents.len());
            self.embed_in_place_and_watch(documents, None)
        })
    }

    fn score_spans(&mut self, question: &str, passages: &[Spanned]) -> Result<Vec<SpanScores>> {
        if self.provider.is_some() {
            let message = format!("model \"{}\" is behind a server", self.model.reference.name);
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        let name = || self.model.reference.name.clone();
        trace::step("reader", name, || {
            trace::rows(passages.len());
            let mut scores = Vec::new();
            for passages in passages.chunks(TEXTS_A_REQUEST) {
                scores.extend(self.score_some(question, passages)?);
            }
            Ok(scores)
        })
    }

    fn calibration(&mut self) -> Result<Calibration> {
        if self.provider.is_some() {
            return Calibration::generic();
        }
        calibration_of(&self.model.reference)
    }
}

impl Embedding {
    fn score_some(&self, question: &str, passages: &[Spanned]) -> Result<Vec<SpanScores>> {
        let spans: usize = passages.iter().map(|it| it.spans.len()).sum();
        let request = Request::ScoreSpans {
            model: self.model.reference.clone(),
            lane: self.context.lane,
            question: question.to_owned(),
            passages: passages.to_vec(),
        };
        match client::call_for(self.context.pipeline, &request)? {
            Response::SpanScores { scores, .. } if scores.len() == spans => Ok(scores),
            other => Err(unexpected(&other)),
        }
    }

    /// Vectors of `texts`. A text by itself, and questions for which a user waits, come from memory where this session
    /// has asked for them lately. The others are embedded together, each once.
    fn embed_or_recall(&self, texts: &[String], kind: EmbeddingKind) -> Result<Vec<Vec<f32>>> {
        let are_questions = kind == EmbeddingKind::Query && self.context.lane == Lane::Query;
        if texts.len() != 1 && !are_questions {
            return self.embed_all(texts, kind, None);
        }
        let identity = self.identity();
        let key = |text: &str| self.memo_key(&identity, kind, text);
        let recalled = |text: &str| -> Option<Vec<f32>> {
            // Texts may be long, and are hashed.
            check_for_interrupts!();
            let vector = recall(&key(text))?;
            usage::note_cache_hit();
            Some(vector)
        };
        let make = |missing: &[String]| -> Result<Vec<Vec<f32>>> {
            let shared = match missing {
                [text] => self.recall_shared(&identity, kind, text)?,
                _ => None,
            };
            let made = match shared {
                Some(vector) => vec![vector],
                None => self.embed_all(missing, kind, None)?,
            };
            // More than there is room for would push out each other and all that was asked for before.
            if missing.len() <= REMEMBERED {
                for (text, vector) in missing.iter().zip(&made) {
                    remember(key(text), vector);
                }
            }
            Ok(made)
        };
        recalled_or_made(texts, recalled, make)
    }

    fn memo_key(&self, identity: &str, kind: EmbeddingKind, text: &str) -> MemoKey {
        let (model, identity) = (self.model.clone(), identity.to_owned());
        MemoKey { model, identity, kind, text: hash_of(text) }
    }

    /// The vector of a text that any session has asked for lately, which ragd remembers.
    fn recall_shared(
        &self,
        identity: &str,
        kind: EmbeddingKind,
        text: &str,
    ) -> Result<Option<Vec<f32>>> {
        let is_alone = ALONE.get() == statement_start();
        if self.context.lane != Lane::Query || text.len() > LONGEST_SHARED || is_alone {
            return Ok(None);
        }
        let (model, text) = (identity.to_owned(), text.to_owned());
        match client::call(&Request::RecallVector(VectorKey { model, kind, text }))? {
            Response::Vectors { values, .. } => {
                usage::note_cache_hit();
                Ok(Some(values))
            }
            _ => Ok(None),
        }
    }
}

/// Forgets all embeddings that this session remembers, and has the statement under way ask ragd for
/// none that others have asked for: what is measured is to be done.
pub fn forget_embeddings() {
    MEMO.with_borrow_mut(Recent::clear);
    ALONE.set(statement_start());
}

/// How many of `texts`, of which there is one at least, are sent in one request.
fn most_at_once(texts: &[String]) -> usize {
    let mut bytes = 0;
    let fitting = texts.iter().take(TEXTS_A_REQUEST).take_while(|text| {
        bytes += text.len();
        bytes <= BYTES_A_REQUEST
    });
    fitting.count().max(1)
}

fn statement_start() -> i64 {
    // SAFETY: reads the session's state.
    unsafe { pg_sys::GetCurrentStatementStartTimestamp() }
}

fn recall(key: &MemoKey) -> Option<Vec<f32>> {
    MEMO.with_borrow_mut(|memo| memo.get(key).cloned())
}

fn remember(key: MemoKey, vector: &[f32]) {
    MEMO.with_borrow_mut(|memo| memo.put(key, vector.to_vec()));
}

fn hash_of(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// The vectors of `texts`, in their order: those that `recall` has, and those that `make` makes of the other texts,
/// each of which it gets once.
fn recalled_or_made(
    texts: &[String],
    mut recall: impl FnMut(&str) -> Option<Vec<f32>>,
    make: impl FnOnce(&[String]) -> Result<Vec<Vec<f32>>>,
) -> Result<Vec<Vec<f32>>> {
    let mut vectors: HashMap<&str, Option<Vec<f32>>> = HashMap::new();
    let mut missing: Vec<String> = Vec::new();
    for text in texts {
        vectors.entry(text.as_str()).or_insert_with(|| {
            let recalled = recall(text);
            if recalled.is_none() {
                missing.push(text.clone());
            }
            recalled
        });
    }
    if !missing.is_empty() {
        for (text, vector) in missing.iter().zip(make(&missing)?) {
            if let Some(place) = vectors.get_mut(text.as_str()) {
                *place = Some(vector);
            }
        }
    }
    Ok(texts.iter().filter_map(|text| vectors.get(text.as_str())?.clone()).collect())
}

#[cfg(feature = "pg_test")]
mod tests {
    use super::*;
    use crate::protocol::{ModelRef, ModelTask};

    fn key(name: &str, kind: EmbeddingKind, text: &str) -> MemoKey {
        let name = name.to_owned();
        let reference = ModelRef { name, path: "/models".to_owned(), file: None, digest: None };
        let task = ModelTask::Embed;
        let (remote, pooling) = (None, None);
        let model =
            RegisteredModel { reference, remote, task, dimension: 1, max_tokens: 8, pooling };
        MemoKey { model, identity: String::new(), kind, text: hash_of(text) }
    }

    #[pg_extern]
    fn another_model_or_kind_is_another_vector() {
        remember(key("m", EmbeddingKind::Query, "text"), &[1.0]);
        assert_eq!(recall(&key("m", EmbeddingKind::Query, "text")), Some(vec![1.0]));
        assert_eq!(recall(&key("m", EmbeddingKind::Passage, "text")), None);
        assert_eq!(recall(&key("n", EmbeddingKind::Query, "text")), None);
    }

    #[pg_extern]
    fn another_server_or_length_is_another_vector() {
        let at = |server: &str, dimension| {
            let remote = model::Remote { server: server.to_owned(), model: "m".to_owned() };
            let mut key = key("far", EmbeddingKind::Query, "text");
            (key.model.remote, key.model.dimension) = (Some(remote), dimension);
            key
        };
        remember(at("a", 3), &[1.0]);
        assert_eq!(recall(&at("a", 3)), Some(vec![1.0]));
        assert_eq!(recall(&at("b", 3)), None);
        assert_eq!(recall(&at("a", 4)), None);
        assert_eq!(recall(&MemoKey { identity: "another way".to_owned(), ..at("a", 3) }), None);
    }

    #[pg_extern]
    fn a_request_has_few_texts_and_few_bytes() {
        let check = |length: usize, count: usize, expected: usize| {
            let texts = vec!["x".repeat(length); count];
            assert_eq!(most_at_once(&texts), expected, "{count} texts of {length} bytes");
        };
        check(10, 1, 1);
        check(10, 255, 255);
        check(10, 20_000, TEXTS_A_REQUEST);
        check(BYTES_A_REQUEST / 4, 20, 4);
        check(BYTES_A_REQUEST + 1, 2, 1);
        check(0, 300, TEXTS_A_REQUEST);
    }

    #[pg_extern]
    fn a_long_text_is_remembered_by_all_that_it_says() {
        let long = "x".repeat(100_000);
        remember(key("m", EmbeddingKind::Query, &long), &[1.0]);
        assert_eq!(recall(&key("m", EmbeddingKind::Query, &long)), Some(vec![1.0]));
        assert_eq!(recall(&key("m", EmbeddingKind::Query, &(long + "y"))), None);
    }

    #[pg_extern]
    fn what_is_not_remembered_is_made_once_and_in_order() {
        let texts = ["a", "b", "a", "c", "b"].map(str::to_owned);
        let recall = |text: &str| (text == "b").then(|| vec![2.0_f32]);
        let make = |missing: &[String]| {
            assert_eq!(missing, ["a", "c"]);
            Ok(vec![vec![1.0_f32], vec![3.0]])
        };
        let expected: Vec<Vec<f32>> = [1.0, 2.0, 1.0, 3.0, 2.0].map(|it| vec![it]).to_vec();
        assert_eq!(recalled_or_made(&texts, recall, make).ok(), Some(expected));
    }

    #[pg_extern]
    fn nothing_is_made_where_all_is_remembered() {
        let make = |_: &[String]| Err(Error::new(ErrorKind::Internal, "it is asked for"));
        let texts = ["a", "b"].map(str::to_owned);
        let both = recalled_or_made(&texts, |_| Some(vec![1.0]), make);
        assert_eq!(both.ok(), Some(vec![vec![1.0_f32], vec![1.0]]));
        assert_eq!(recalled_or_made(&[], |_| None, make).ok(), Some(Vec::new()));
        assert!(recalled_or_made(&texts, |_| None, make).is_err());
    }
}
