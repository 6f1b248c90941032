//! ragd as an embedder that remembers, so that a text met twice is embedded once, also by the next run.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use half::f16;
use pg_rag::daemon::connection::ClientConnection;
use pg_rag::embed::calibration::{CALIBRATION_FILE, Calibration};
use pg_rag::embed::reader::SpanScores;
use pg_rag::embed::{Embedder, EmbeddingKind, Spanned};
use pg_rag::error::{Error, ErrorKind, Result};
use pg_rag::protocol::{Lane, ModelRef, Request, Response};
use sha2::{Digest, Sha256};

use crate::ragd::{Installed, Ragd};

/// Texts in one request, and documents whose words are embedded.
const TEXTS_A_REQUEST: usize = 512;
const DOCUMENTS_A_REQUEST: usize = 64;

/// Where a model's reader is, in its folder.
const READER: &str = "onnx/reader_int8.onnx";

/// The model to measure, and a ragd for it; `None`, with a word, where it or ONNX Runtime is not installed.
pub fn start_to_measure() -> Option<(Installed, Ragd)> {
    let installed = Installed::to_measure()?;
    let ragd = installed.start();
    Some((installed, ragd))
}

/// The calibration in a file. Panics where there is none that can be read.
pub fn calibration_from(file: &Path) -> Calibration {
    let text = fs::read_to_string(file).unwrap_or_else(|it| panic!("{}: {it}", file.display()));
    Calibration::parse(&text).unwrap_or_else(|it| panic!("{}: {it}", file.display()))
}

/// An embedder with a memory.
pub struct Remembering {
    client: ClientConnection,
    model: ModelRef,
    /// The SHA-256 of the model's reader in hexadecimal digits; empty without one.
    reader: String,
    known: KnownVectors,
    /// Where new vectors are written.
    store: Option<BufWriter<File>>,
    /// What similarities mean.
    pub calibration: Calibration,
    /// Whether it says that it has no vectors of words.
    pub is_whole: bool,
    /// Tokens embedded so far.
    pub tokens: u64,
    /// Passages that the reader was given so far, those included of which it is known what it says.
    pub read: usize,
    /// How long it has waited for the reader so far.
    pub reading: Duration,
}

/// The vectors of texts that were embedded before.
type KnownVectors = HashMap<(Memory, String), Vec<Vec<f16>>>;

/// What the vectors of a text are.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Memory {
    Query,
    Passage,
    /// By the text of a document, whose spans are always the same.
    InPlace,
    /// What the reader says, by its digest, the question and the text of a passage, whose spans are always the same.
    SpanScores,
}

impl Remembering {
    /// One that keeps what it learns in the folder `vectors` beside that of the models.
    pub fn new(ragd: &Ragd, model: ModelRef) -> Remembering {
        let file = Path::new(&model.path).join(CALIBRATION_FILE);
        let calibration = match file.is_file() {
            true => calibration_from(&file),
            false => Calibration::generic().unwrap(),
        };
        let (known, store) = open(&store_of(&model));
        Remembering {
            client: ragd.connect(),
            reader: digest_of_reader(&model),
            model,
            known,
            store: Some(store),
            calibration,
            is_whole: false,
            tokens: 0,
            read: 0,
            reading: Duration::ZERO,
        }
    }

    /// Forgets all, so that the next call takes as long as in a session; from now on nothing is kept.
    pub fn forget(&mut self) {
        self.known.clear();
        self.store = None;
    }

    /// Embeds many texts, in requests of a moderate size.
    pub fn load(&mut self, texts: &[String], kind: EmbeddingKind, lane: Lane) {
        let memory = Memory::of(kind);
        let mut missing: Vec<String> = texts
            .iter()
            .filter(|text| !self.known.contains_key(&(memory, (*text).clone())))
            .cloned()
            .collect();
        missing.sort();
        missing.dedup();
        for texts in missing.chunks(TEXTS_A_REQUEST) {
            let (model, texts) = (self.model.clone(), texts.to_vec());
            let vectors = self.call(&Request::Embed { model, kind, lane, texts: texts.clone() });
            for (text, vector) in texts.into_iter().zip(vectors.unwrap()) {
                self.keep(memory, text, vec![vector]);
            }
        }
    }

    /// The vector of a text that was loaded.
    pub fn vector(&self, text: &str, kind: EmbeddingKind) -> Vec<f32> {
        let found = &self.known[&(Memory::of(kind), text.to_string())];
        found[0].iter().map(|number| number.to_f32()).collect()
    }

    fn call(&mut self, request: &Request) -> Result<Vec<Vec<f32>>> {
        let Response::Vectors { dimension, values, tokens } = self.client.call(request)? else {
            panic!("ragd did not answer with vectors");
        };
        self.tokens += tokens;
        Ok(values.chunks_exact(dimension as usize).map(<[f32]>::to_vec).collect())
    }

    fn keep(&mut self, memory: Memory, text: String, vectors: Vec<Vec<f32>>) {
        let half = |vector: &Vec<f32>| vector.iter().map(|it| f16::from_f32(*it)).collect();
        let vectors: Vec<Vec<f16>> = vectors.iter().map(half).collect();
        if let Some(store) = &mut self.store {
            write(store, memory, &text, &vectors);
        }
        self.known.insert((memory, text), vectors);
    }
}

impl Embedder for Remembering {
    fn embed(&mut self, texts: &[String], kind: EmbeddingKind) -> Result<Vec<Vec<f32>>> {
        self.load(texts, kind, Lane::Query);
        Ok(texts.iter().map(|text| self.vector(text, kind)).collect())
    }

    fn embed_in_place(&mut self, documents: &[Spanned]) -> Result<Vec<Vec<f32>>> {
        if self.is_whole {
            return Err(Error::new(ErrorKind::Unsupported, "only whole texts are embedded"));
        }
        let is_known = |text: &String| self.known.contains_key(&(Memory::InPlace, text.clone()));
        let missing: Vec<Spanned> =
            documents.iter().filter(|it| !is_known(&it.text)).cloned().collect();
        for documents in missing.chunks(DOCUMENTS_A_REQUEST) {
            let (model, documents, lane) = (self.model.clone(), documents.to_vec(), Lane::Query);
            let request = Request::EmbedInPlace { model, lane, documents: documents.clone() };
            let mut vectors = self.call(&request)?.into_iter();
            for document in documents {
                let own = vectors.by_ref().take(document.spans.len()).collect();
                self.keep(Memory::InPlace, document.text, own);
            }
        }
        let vectors =
            documents.iter().flat_map(|it| &self.known[&(Memory::InPlace, it.text.clone())]);
        Ok(vectors.map(|vector| vector.iter().map(|it| it.to_f32()).collect()).collect())
    }

    fn score_spans(&mut self, question: &str, passages: &[Spanned]) -> Result<Vec<SpanScores>> {
        self.read += passages.len();
        let head = format!("{}\0{question}\0", self.reader);
        let key = |it: &Spanned| (Memory::SpanScores, format!("{head}{}", it.text));
        // Where texts are cut in another way since, what is known is of other spans.
        let is_known = |it: &&Spanned| {
            self.known.get(&key(it)).is_some_and(|known| known.len() == it.spans.len())
        };
        let missing: Vec<Spanned> = passages.iter().filter(|it| !is_known(it)).cloned().collect();
        if !missing.is_empty() {
            let (model, question) = (self.model.clone(), question.to_owned());
            let (passages, lane) = (missing.clone(), Lane::Query);
            let request = Request::ScoreSpans { model, lane, question, passages };
            let started = Instant::now();
            let response = self.client.call(&request)?;
            self.reading += started.elapsed();
            let Response::SpanScores { scores, tokens } = response else {
                panic!("ragd did not answer with scores");
            };
            self.tokens += tokens;
            let mut scores = scores.iter().map(|it| it.numbers().to_vec());
            for passage in missing {
                let own = scores.by_ref().take(passage.spans.len()).collect();
                self.keep(Memory::SpanScores, key(&passage).1, own);
            }
        }
        let scores = |numbers: &Vec<f16>| {
            let numbers: Vec<f32> = numbers.iter().map(|it| it.to_f32()).collect();
            SpanScores::from_numbers(&numbers.try_into().unwrap())
        };
        Ok(passages.iter().flat_map(|it| self.known[&key(it)].iter().map(scores)).collect())
    }

    fn calibration(&mut self) -> Result<Calibration> {
        Ok(self.calibration.clone())
    }
}

impl Memory {
    const ALL: [Memory; 4] = [Memory::Query, Memory::Passage, Memory::InPlace, Memory::SpanScores];

    fn of(kind: EmbeddingKind) -> Memory {
        match kind {
            EmbeddingKind::Query => Memory::Query,
            EmbeddingKind::Passage => Memory::Passage,
        }
    }
}

/// Readers of one model have the same size, and mostly the same embedding model.
fn digest_of_reader(model: &ModelRef) -> String {
    let reader = fs::read(Path::new(&model.path).join(READER));
    let hexadecimal = |bytes: Vec<u8>| {
        let digest = Sha256::digest(bytes);
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    };
    reader.map_or_else(|_| String::new(), hexadecimal)
}

/// `vectors/NAME-FILE-BYTES` beside the folder of models: another file has another size, mostly.
fn store_of(model: &ModelRef) -> PathBuf {
    let folder = Path::new(&model.path);
    let file = model.file.as_deref().unwrap_or("model.onnx");
    let bytes = fs::metadata(folder.join(file)).map_or(0, |it| it.len());
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let vectors = folder.join("../../vectors");
    fs::create_dir_all(&vectors).unwrap();
    vectors.join(format!("{name}-{}-{bytes}", file.replace('/', "-")))
}

/// Reads a store to the last whole record, and opens it for more; one process at a time.
fn open(path: &Path) -> (KnownVectors, BufWriter<File>) {
    let file = OpenOptions::new().read(true).append(true).create(true).open(path).unwrap();
    file.lock().unwrap();
    let mut known = HashMap::new();
    let mut reader = BufReader::with_capacity(1 << 20, &file);
    let mut end = 0;
    while let Some((memory, text, vectors, bytes)) = read(&mut reader) {
        end += bytes;
        known.insert((memory, text), vectors);
    }
    // What an interrupted run has left.
    file.set_len(end).unwrap();
    (known, BufWriter::with_capacity(1 << 20, file))
}

fn write(store: &mut impl Write, memory: Memory, text: &str, vectors: &[Vec<f16>]) {
    let dimension = vectors.first().map_or(0, Vec::len);
    for number in [memory as u32, text.len() as u32, vectors.len() as u32, dimension as u32] {
        store.write_all(&number.to_le_bytes()).unwrap();
    }
    store.write_all(text.as_bytes()).unwrap();
    let numbers: Vec<u8> = vectors.iter().flatten().flat_map(|it| it.to_le_bytes()).collect();
    store.write_all(&numbers).unwrap();
}

/// A record and its length in bytes.
fn read(store: &mut impl Read) -> Option<(Memory, String, Vec<Vec<f16>>, u64)> {
    let mut header = [0; 16];
    store.read_exact(&mut header).ok()?;
    let number = |at: usize| u32::from_le_bytes(header[4 * at..4 * at + 4].try_into().unwrap());
    let [memory, length, count, dimension] = [0, 1, 2, 3].map(|at| number(at) as usize);
    let mut text = vec![0; length];
    store.read_exact(&mut text).ok()?;
    let mut numbers = vec![0; count * dimension * 2];
    store.read_exact(&mut numbers).ok()?;
    let numbers: Vec<f16> =
        numbers.chunks_exact(2).map(|it| f16::from_le_bytes([it[0], it[1]])).collect();
    let vectors = numbers.chunks_exact(dimension.max(1)).map(<[f16]>::to_vec).collect();
    let bytes = (header.len() + length + count * dimension * 2) as u64;
    Some((Memory::ALL[memory], String::from_utf8(text).ok()?, vectors, bytes))
}
