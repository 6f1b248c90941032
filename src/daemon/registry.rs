//! # Which model does this request mean, and is it still the one that was registered?
//!
//! ```text
//! model reference → its manifest and digest, its tokenizer, the thread that runs it
//! ```
//!
//! A slot holds what is known of one ONNX file. Slots are locked one by one, so that loading a
//! large model delays only the requests that wait for it. Nothing is loaded before a request needs
//! it: cutting documents takes the tokenizer alone.
//!
//! A failure is not remembered: the next request tries again, since files come and go.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::digest::{Fingerprint, digest};
use super::heartbeat::Heartbeat;
use super::log;
use super::model::{ModelInMemory, OnnxModel};
use super::runtime::Runtime;
use super::static_model::StaticModel;
use super::tokenizer::ModelTokenizer;
use super::worker::{Beside, ModelWorker};
use crate::embed::manifest::{Manifest, ModelTask};
use crate::embed::reader::no_reader;
use crate::error::{Error, ErrorKind, Result};
use crate::lock::locked;
use crate::protocol::{ModelInfo, ModelRef};

/// How long the files of a model in use are trusted without a look at them.
const TRUST: Duration = Duration::from_secs(1);

/// Bytes of files that are read into memory a second time.
const LARGEST_TWICE: u64 = 512 << 20;

/// The models ragd knows.
pub struct Registry {
    runtime: Runtime,
    threads: usize,
    max_batch_tokens: usize,
    slots: Mutex<HashMap<ModelKey, Arc<Mutex<ModelSlot>>>>,
    heartbeat: Heartbeat,
}

/// A folder and an ONNX file in it, as they were asked for.
type ModelKey = (String, Option<String>);

/// What is known of a model.
#[derive(Default)]
struct ModelSlot {
    files: Option<Files>,
    tokenizer: Option<Arc<ModelTokenizer>>,
    loaded: Option<Arc<LoadedModel>>,
    reader: Option<Arc<LoadedModel>>,
}

/// A model's files at a moment.
struct Files {
    manifest: Arc<Manifest>,
    digest: String,
    fingerprint: Fingerprint,
    looked: Instant,
}

/// A model in memory, with all that it needs.
pub struct LoadedModel {
    /// The name it was first asked for by.
    pub name: String,
    /// What its files say.
    pub manifest: Arc<Manifest>,
    /// The model's tokenizer.
    pub tokenizer: Arc<ModelTokenizer>,
    /// The threads that run the model.
    pub worker: ModelWorker,
}

impl LoadedModel {
    /// The error where something is asked of it that it is not for; `why` goes on with what it is.
    pub fn wrong_task(&self, why: &str) -> Error {
        let message = format!("model \"{}\" is {} and {why}", self.name, self.manifest.task.noun());
        Error::new(ErrorKind::WrongObjectType, message)
    }
}

impl Registry {
    /// No models yet. Each will use `threads` threads and batches of up to
    /// `max_batch_tokens` tokens.
    pub fn new(runtime: Runtime, threads: usize, max_batch_tokens: usize) -> Registry {
        let (slots, heartbeat) = (Mutex::default(), Heartbeat::default());
        Registry { runtime, threads, max_batch_tokens, slots, heartbeat }
    }

    /// What a model's files say. Always looks at the files, and loads a table of static embeddings, whose numbers are
    /// looked at then: one that no text could be embedded with is not registered.
    ///
    /// Fails, like the others, as [`Manifest::read`] does, and with
    /// [`ErrorKind::FileCorrupted`] if the digest is another than the reference's; of static embeddings, also as
    /// [`StaticModel::load`] does.
    pub fn describe(&self, reference: &ModelRef) -> Result<ModelInfo> {
        let (info, is_table) = {
            let slot = self.slot(reference);
            let mut slot = lock(&slot);
            let _under_way = self.heartbeat.begin_loading(&reference.name);
            let files = slot.verify(reference, Duration::ZERO)?;
            (files.info(), files.manifest.table.is_some())
        };
        if is_table {
            // What is described must be what was loaded.
            let described = ModelRef { digest: Some(info.digest.clone()), ..reference.clone() };
            self.model(&described)?;
        }
        Ok(info)
    }

    /// The text of a model's calibration; `None` if it has none.
    pub fn calibration(&self, reference: &ModelRef) -> Result<Option<String>> {
        let slot = self.slot(reference);
        let mut slot = lock(&slot);
        let _under_way = self.heartbeat.begin_loading(&reference.name);
        let files = slot.verify(reference, TRUST)?;
        files.manifest.calibration.as_ref().map(|it| it.to_json()).transpose()
    }

    /// A model's tokenizer.
    pub fn tokenizer(&self, reference: &ModelRef) -> Result<Arc<ModelTokenizer>> {
        let slot = self.slot(reference);
        let mut slot = lock(&slot);
        let _under_way = self.heartbeat.begin_loading(&reference.name);
        slot.verify(reference, TRUST)?;
        slot.tokenizer()
    }

    /// A model that can embed. Loads it if need be.
    pub fn model(&self, reference: &ModelRef) -> Result<Arc<LoadedModel>> {
        self.loaded_part(
            reference,
            |slot| &mut slot.loaded,
            |slot| {
                let manifest = slot.manifest()?;
                self.load(slot, manifest, reference.name.clone())
            },
        )
    }

    /// The reader of an embedding model. Loads it if need be; fails with [`ErrorKind::Unsupported`] where
    /// the model has none.
    pub fn reader(&self, reference: &ModelRef) -> Result<Arc<LoadedModel>> {
        self.loaded_part(
            reference,
            |slot| &mut slot.reader,
            |slot| {
                let manifest = slot.manifest()?.reader();
                let manifest = manifest.ok_or_else(|| no_reader(&reference.name))?;
                let name = format!("{} (reader)", reference.name);
                // One that this version cannot run is not the same as none.
                self.load(slot, Arc::new(manifest), name).map_err(|error| match error.kind() {
                    ErrorKind::Unsupported => Error::new(ErrorKind::FileCorrupted, error.message()),
                    _ => error,
                })
            },
        )
    }

    /// What of a model is kept at `place` of its slot, made by `load` where it is not there.
    fn loaded_part(
        &self,
        reference: &ModelRef,
        place: fn(&mut ModelSlot) -> &mut Option<Arc<LoadedModel>>,
        load: impl FnOnce(&mut ModelSlot) -> Result<LoadedModel>,
    ) -> Result<Arc<LoadedModel>> {
        let slot = self.slot(reference);
        let mut slot = lock(&slot);
        let _under_way = self.heartbeat.begin_loading(&reference.name);
        slot.verify(reference, TRUST)?;
        if place(&mut slot).is_none() {
            let loaded = load(&mut slot)?;
            *place(&mut slot) = Some(Arc::new(loaded));
            // What was hashed must be what was loaded.
            slot.verify(reference, Duration::ZERO)?;
        }
        place(&mut slot).clone().ok_or_else(|| changed_while_loading(&reference.name))
    }

    /// The models in memory, and how many texts wait for them. Doesn't wait for models that
    /// are being loaded.
    pub fn loaded(&self) -> (Vec<String>, u64) {
        let slots: Vec<_> = locked(&self.slots).values().map(Arc::clone).collect();
        let in_slot = |slot: &Arc<Mutex<ModelSlot>>| {
            let slot = slot.try_lock().ok()?;
            Some([slot.loaded.clone(), slot.reader.clone()])
        };
        let loaded = slots.iter().filter_map(in_slot).flatten().flatten();
        let (mut names, waiting): (Vec<String>, Vec<u64>) =
            loaded.map(|model| (model.name.clone(), model.worker.waiting() as u64)).unzip();
        names.sort();
        (names, waiting.iter().sum())
    }

    /// What hangs, in words, where nothing may stand still for longer than `limit`: a batch, or a
    /// thread that has the files of a model in hand. Waits for no slot.
    pub fn hang(&self, limit: Duration) -> Option<String> {
        self.heartbeat.hang(limit)
    }

    fn slot(&self, reference: &ModelRef) -> Arc<Mutex<ModelSlot>> {
        let key = (reference.path.clone(), reference.file.clone());
        Arc::clone(locked(&self.slots).entry(key).or_default())
    }

    fn load(
        &self,
        slot: &mut ModelSlot,
        manifest: Arc<Manifest>,
        name: String,
    ) -> Result<LoadedModel> {
        let started = Instant::now();
        let tokenizer = slot.tokenizer()?;
        let pad = tokenizer.pad_token();
        let model = match &manifest.table {
            Some(layout) => {
                ModelInMemory::Table(StaticModel::load(&manifest, layout, &name, &tokenizer)?)
            }
            None => in_graph(&self.runtime, &manifest, &name, pad, self.threads)?,
        };
        let of_embedder = slot.files.as_ref().filter(|_| manifest.task == ModelTask::Embed);
        let beside = of_embedder.and_then(|files| self.beside(files, &name, pad));
        let worker =
            ModelWorker::start(model, beside, self.max_batch_tokens, self.heartbeat.clone())?;
        log::line(format!(
            "loaded model \"{name}\" from \"{}\" in {} ms",
            manifest.file_path().display(),
            started.elapsed().as_millis()
        ));
        Ok(LoadedModel { name, manifest, tokenizer, worker })
    }

    /// How a model is loaded once more, with a thread less; none where it does not embed, and so is
    /// not asked for little, where it is large, or where it is a table, whose batches are over at once.
    fn beside(&self, files: &Files, name: &str, pad: u32) -> Option<Beside> {
        let Files { manifest, fingerprint, .. } = files;
        let is_large = fingerprint.bytes() > LARGEST_TWICE;
        if manifest.task != ModelTask::Embed || is_large || manifest.table.is_some() {
            return None;
        }
        let (manifest, fingerprint) = (Arc::clone(manifest), fingerprint.clone());
        let (runtime, heartbeat) = (self.runtime.clone(), self.heartbeat.clone());
        let (name, threads) = (name.to_owned(), self.threads.saturating_sub(1).max(1));
        let load = move || {
            let _under_way = heartbeat.begin_loading(&name);
            let model = in_graph(&runtime, &manifest, &name, pad, threads)?;
            if Fingerprint::take(&manifest) != fingerprint {
                return Err(changed_while_loading(&name));
            }
            log::line(format!("loaded model \"{name}\" again, for questions beside batches"));
            Ok(model)
        };
        let max_batch_tokens = (self.max_batch_tokens * threads / self.threads.max(1)).max(1);
        Some(Beside { load: Box::new(load), max_batch_tokens })
    }
}

impl ModelSlot {
    /// Makes sure that the files are those the reference means. Looks at them if that was
    /// not done within `trust`, and always before it says that they are others.
    fn verify(&mut self, reference: &ModelRef, trust: Duration) -> Result<&Files> {
        let is_trusted = |files: &Files| files.looked.elapsed() < trust && files.are(reference);
        if !self.files.as_ref().is_some_and(is_trusted) {
            self.look(reference)?;
        }
        let files = self.files.as_ref().ok_or_else(|| changed_while_loading(&reference.name))?;
        if files.are(reference) { Ok(files) } else { Err(changed(reference, files)) }
    }

    /// Reads the files again if they were touched; if they are others than before, what was
    /// made of them goes.
    fn look(&mut self, reference: &ModelRef) -> Result<()> {
        if let Some(files) = &mut self.files
            && Fingerprint::take(&files.manifest) == files.fingerprint
        {
            files.looked = Instant::now();
            return Ok(());
        }
        let before = self.files.take();
        let read = Files::read(reference);
        let digest = read.as_ref().ok().map(|files| &files.digest);
        if digest != before.as_ref().map(|files| &files.digest) {
            self.reader = None;
            if self.loaded.take().is_some() {
                log::line(format!("model \"{}\" has changed on disk", reference.name));
            }
            self.tokenizer = None;
        }
        self.files = Some(read?);
        Ok(())
    }

    fn manifest(&self) -> Result<Arc<Manifest>> {
        match &self.files {
            Some(files) => Ok(Arc::clone(&files.manifest)),
            None => Err(Error::new(ErrorKind::Internal, "model was not looked at")),
        }
    }

    fn tokenizer(&mut self) -> Result<Arc<ModelTokenizer>> {
        if let Some(tokenizer) = &self.tokenizer {
            return Ok(Arc::clone(tokenizer));
        }
        let tokenizer = Arc::new(ModelTokenizer::read(&*self.manifest()?)?);
        Ok(Arc::clone(self.tokenizer.insert(tokenizer)))
    }
}

impl Files {
    fn read(reference: &ModelRef) -> Result<Files> {
        let read = || Manifest::read(&reference.path, reference.file.as_deref());
        let named = read()?;
        // Taken before the files are read: a change while they are shows at the next look. Which files there are is known
        // only from a first reading, which may have been of others, so what counts is read again.
        let (fingerprint, looked) = (Fingerprint::take(&named), Instant::now());
        let manifest = read()?;
        let files = |it: &Manifest| (it.folder.clone(), it.files.clone(), it.absent.clone());
        if files(&manifest) != files(&named) {
            return Err(changed_while_loading(&reference.name));
        }
        let digest = digest(&manifest)?;
        Ok(Files { manifest: Arc::new(manifest), digest, fingerprint, looked })
    }

    /// Whether these are the files that were registered, if any were.
    fn are(&self, reference: &ModelRef) -> bool {
        reference.digest.as_ref().is_none_or(|registered| *registered == self.digest)
    }

    fn info(&self) -> ModelInfo {
        let manifest = &self.manifest;
        ModelInfo {
            task: manifest.task,
            dimension: manifest.dimension,
            max_tokens: manifest.max_tokens,
            has_reader: manifest.reader.is_some(),
            pooling: manifest.pooling.name().to_string(),
            normalize: manifest.normalize,
            query_prefix: manifest.query_prefix.clone(),
            passage_prefix: manifest.passage_prefix.clone(),
            file: manifest.file.clone(),
            digest: self.digest.clone(),
        }
    }
}

/// A model that has a graph. Fails as [`OnnxModel::load`] does.
fn in_graph(
    runtime: &Runtime,
    manifest: &Manifest,
    name: &str,
    pad: u32,
    threads: usize,
) -> Result<ModelInMemory> {
    let model = OnnxModel::load(runtime, manifest, name, pad, threads)?;
    Ok(ModelInMemory::Graph(Box::new(model)))
}

fn changed(reference: &ModelRef, files: &Files) -> Error {
    Error::new(
        ErrorKind::FileCorrupted,
        format!("model \"{}\" has changed on disk since it was registered", reference.name),
    )
    .detail(format!(
        "The files in \"{}\" have the digest {}, registered was {}.",
        reference.path,
        files.digest,
        reference.digest.as_deref().unwrap_or_default()
    ))
    .hint("Register the new files under another name with rag_add_model, or put the old ones back.")
}

fn changed_while_loading(name: &str) -> Error {
    Error::new(ErrorKind::FileCorrupted, format!("model \"{name}\" changed while it was loaded"))
        .hint("Try again when its files are complete.")
}

fn lock(slot: &Mutex<ModelSlot>) -> MutexGuard<'_, ModelSlot> {
    locked(slot)
}
