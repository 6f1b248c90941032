//! # From tokens to vectors, without a graph
//!
//! ```text
//! (batch of token lists) → vectors of each
//! ```
//!
//! A model of static embeddings is a table, which is read as a whole. It takes neither ONNX Runtime nor more than
//! microseconds a text.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::PathBuf;

use half::f16;

use super::model::{EmbeddingOutput, ModelText, unsupported};
use super::tokenizer::ModelTokenizer;
use crate::embed::manifest::Manifest;
use crate::embed::pooling;
use crate::embed::static_table::{FloatType, IndexType, StaticTable, TableLayout, TableRows};
use crate::error::{Error, ErrorKind, Result};

/// Bytes that are read at once; a number of any type is not cut.
const AT_ONCE: usize = 1 << 20;

/// A table of vectors in memory.
pub struct StaticModel {
    name: String,
    table: StaticTable,
    normalize: bool,
}

impl StaticModel {
    /// Reads the table of `manifest`, which lies as `layout` says, for the tokens of `tokenizer`. `name` is the model's
    /// name for messages.
    ///
    /// Fails with [`ErrorKind::FileCorrupted`] where the tokenizer has other tokens than the table or the parts of the
    /// table do not fit each other or have numbers that no text could have a vector of, with [`ErrorKind::FileUnavailable`] where its file cannot be read, and with
    /// [`ErrorKind::OutOfResources`] where there is no memory for it.
    pub fn load(
        manifest: &Manifest,
        layout: &TableLayout,
        name: &str,
        tokenizer: &ModelTokenizer,
    ) -> Result<StaticModel> {
        let mut file = TableFile::open(manifest.file_path())?;
        let rows = file.rows(&layout.embeddings)?;
        let weights = layout.weights.as_ref().map(|it| file.weights(it)).transpose()?;
        let mapping = layout.mapping.as_ref().map(|it| file.mapping(it)).transpose()?;
        let table = StaticTable::new(manifest.dimension as usize, rows, weights, mapping);
        let table = table.map_err(|why| file.corrupted(&why))?;
        let (tokens, vocabulary) = (table.tokens(), tokenizer.vocabulary());
        if tokens != vocabulary {
            let why = format!("it has {tokens} tokens, and tokenizer.json {vocabulary}");
            return Err(file.corrupted(&why));
        }
        let table = table.with_unknown(tokenizer.unknown());
        Ok(StaticModel { name: name.to_owned(), table, normalize: manifest.normalize })
    }

    /// The name by which the model was loaded.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is read of each of a batch of texts, in their order.
    pub fn run(&self, batch: &[&ModelText]) -> Result<Vec<Vec<f32>>> {
        let read = batch.iter().map(|text| self.read(text)).collect::<Result<Vec<_>>>()?;
        for numbers in &read {
            pooling::check_finite(numbers, &self.name)?;
        }
        Ok(read)
    }

    fn read(&self, ModelText { tokens, reading, .. }: &ModelText) -> Result<Vec<f32>> {
        match reading {
            EmbeddingOutput::Pooled => Ok(self.vector(tokens)),
            EmbeddingOutput::Spans(spans) => {
                Ok(spans.iter().flat_map(|span| self.vector(&tokens[span.clone()])).collect())
            }
            EmbeddingOutput::Tokens => Ok(self.table.vectors(tokens)),
            EmbeddingOutput::Match(query) => Ok(vec![query.score(&self.table.vectors(tokens))]),
            EmbeddingOutput::Score
            | EmbeddingOutput::SpanScores(_)
            | EmbeddingOutput::Labels(_) => {
                Err(unsupported(&self.name, "is a table of vectors and gives nothing else"))
            }
        }
    }

    fn vector(&self, tokens: &[u32]) -> Vec<f32> {
        let mut vector = self.table.mean(tokens);
        if self.normalize {
            pooling::normalize(&mut vector);
        }
        vector
    }
}

/// The file of a table while it is read.
struct TableFile {
    path: PathBuf,
    file: File,
}

impl TableFile {
    fn open(path: PathBuf) -> Result<TableFile> {
        match File::open(&path) {
            Ok(file) => Ok(TableFile { path, file }),
            Err(error) => {
                let message = format!("cannot open \"{}\": {error}", path.display());
                Err(Error::new(ErrorKind::FileUnavailable, message))
            }
        }
    }

    fn rows(&mut self, (kind, place): &(FloatType, Range<u64>)) -> Result<TableRows> {
        match kind {
            FloatType::F16 => self.numbers(place, f16::from_le_bytes).map(TableRows::Half),
            FloatType::F32 => self.numbers(place, f32::from_le_bytes).map(TableRows::Single),
            FloatType::F64 => self.numbers(place, narrow).map(TableRows::Single),
        }
    }

    fn weights(&mut self, (kind, place): &(FloatType, Range<u64>)) -> Result<Vec<f32>> {
        match kind {
            FloatType::F16 => self.numbers(place, |bytes| f16::from_le_bytes(bytes).to_f32()),
            FloatType::F32 => self.numbers(place, f32::from_le_bytes),
            FloatType::F64 => self.numbers(place, narrow),
        }
    }

    fn mapping(&mut self, (kind, place): &(IndexType, Range<u64>)) -> Result<Vec<u32>> {
        let mut wrong = None;
        let mut row = |number: i64| {
            u32::try_from(number).unwrap_or_else(|_| {
                wrong.get_or_insert(number);
                u32::MAX
            })
        };
        let rows = match kind {
            IndexType::I32 => {
                self.numbers(place, |bytes| row(i64::from(i32::from_le_bytes(bytes))))?
            }
            IndexType::I64 => self.numbers(place, |bytes| row(i64::from_le_bytes(bytes)))?,
        };
        match wrong {
            None => Ok(rows),
            Some(number) => Err(self.corrupted(&format!("\"mapping\" names row {number}"))),
        }
    }

    /// The numbers at `place`, of `N` bytes each.
    fn numbers<T, const N: usize>(
        &mut self,
        place: &Range<u64>,
        mut decode: impl FnMut([u8; N]) -> T,
    ) -> Result<Vec<T>> {
        let mut left = (place.end - place.start) as usize;
        let mut numbers = Vec::new();
        numbers.try_reserve_exact(left / N).map_err(|_| self.too_large(left))?;
        self.file.seek(SeekFrom::Start(place.start)).map_err(|error| self.unreadable(&error))?;
        let mut buffer = vec![0; left.min(AT_ONCE)];
        while left > 0 {
            let part = &mut buffer[..left.min(AT_ONCE)];
            self.file.read_exact(part).map_err(|error| self.unreadable(&error))?;
            numbers.extend(part.as_chunks::<N>().0.iter().map(|bytes| decode(*bytes)));
            left -= part.len();
        }
        Ok(numbers)
    }

    fn corrupted(&self, why: &str) -> Error {
        let message = format!("cannot understand \"{}\": {why}", self.path.display());
        Error::new(ErrorKind::FileCorrupted, message)
    }

    fn unreadable(&self, error: &std::io::Error) -> Error {
        let message = format!("cannot read \"{}\": {error}", self.path.display());
        Error::new(ErrorKind::FileUnavailable, message)
    }

    fn too_large(&self, bytes: usize) -> Error {
        let message = format!("no memory for {bytes} bytes of \"{}\"", self.path.display());
        Error::new(ErrorKind::OutOfResources, message)
    }
}

fn narrow(bytes: [u8; 8]) -> f32 {
    f64::from_le_bytes(bytes) as f32
}
