//! The two stories, told once over the stages: how a document gets in, and how a question
//! gets its answer.

use std::collections::{HashMap, HashSet};

use sha2::{Digest, Sha256};

use crate::chunk::Chunk;
use crate::embed::{Embedder, Kind};
use crate::error::{Error, ErrorKind, Result};

/// SHA-256 of a chunk's text.
pub type ContentHash = [u8; 32];

/// Vectors by the hash of their text.
pub type Vectors = HashMap<ContentHash, Vec<f32>>;

/// A source row: its key as text, one value a key column, and its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The key's values.
    pub key: Vec<String>,
    /// What it says; `None` where the content is NULL.
    pub content: Option<Content>,
}

/// What a document says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// As text.
    Text(String),
    /// As a file: PDF, DOCX, HTML and the like.
    File(Vec<u8>),
}

impl Document {
    /// Bytes of the content.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.content {
            Some(Content::Text(text)) => text.len(),
            Some(Content::File(bytes)) => bytes.len(),
            None => 0,
        }
    }
}

/// A chunk as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredChunk {
    /// Position in the list of documents, from 0.
    pub document: usize,
    /// Position in the document, from 0.
    pub chunk_no: i32,
    /// Text, span, size, heading.
    pub chunk: Chunk,
    /// Hash of the text.
    pub hash: ContentHash,
    /// Embedding of the text.
    pub vector: Vec<f32>,
}

/// Reads files.
pub trait Reader {
    /// The text of each file.
    fn read(&mut self, files: Vec<Vec<u8>>) -> Result<Vec<String>>;
}

/// Cuts documents.
pub trait Chunker {
    /// One list of chunks a document.
    fn chunk(&mut self, documents: &[String]) -> Result<Vec<Vec<Chunk>>>;
}

/// Keeps chunks.
pub trait ChunkStore {
    /// Vectors that the chunks of these documents have now, by the hash of their text.
    fn known_vectors(&mut self, documents: &[Document]) -> Result<Vectors>;

    /// Puts `chunks` in the place of all that these documents had.
    fn replace(&mut self, documents: &[Document], chunks: &[StoredChunk]) -> Result<()>;
}

/// The stages through which a document gets in.
pub struct Stages<'a> {
    /// Reads files.
    pub reader: &'a mut dyn Reader,
    /// Cuts texts.
    pub chunker: &'a mut dyn Chunker,
    /// Embeds chunks.
    pub embedder: &'a mut dyn Embedder,
}

/// Documents cut and embedded, not stored yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prepared {
    /// All chunks of the documents.
    pub chunks: Vec<StoredChunk>,
    /// Texts that had to be embedded; the others had a vector already.
    pub embedded: usize,
    /// Tokens of those texts.
    pub tokens: usize,
}

/// Cuts documents and embeds what is new in them.
///
/// A chunk whose text is in `vectors` keeps that vector, and equal texts are embedded once.
pub fn prepare(
    documents: &[Document],
    mut vectors: Vectors,
    stages: &mut Stages<'_>,
) -> Result<Prepared> {
    let texts = texts(documents, stages.reader)?;
    let pieces = hashed(stages.chunker.chunk(&texts)?);
    let (embedded, tokens) = embed_missing(&pieces, &mut vectors, stages.embedder)?;
    let chunks = pieces
        .into_iter()
        .map(|piece| {
            let vector = vectors.get(&piece.hash).cloned().ok_or_else(no_vector)?;
            let Piece { document, chunk_no, chunk, hash } = piece;
            Ok(StoredChunk { document, chunk_no, chunk, hash, vector })
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(Prepared { chunks, embedded, tokens })
}

/// Cuts documents, embeds what is new in them, and stores the chunks.
pub fn ingest(
    documents: &[Document],
    stages: &mut Stages<'_>,
    store: &mut dyn ChunkStore,
) -> Result<Prepared> {
    let known = store.known_vectors(documents)?;
    let prepared = prepare(documents, known, stages)?;
    store.replace(documents, &prepared.chunks)?;
    Ok(prepared)
}

/// The text of each document; of those that are files, what the reader makes of them.
fn texts(documents: &[Document], reader: &mut dyn Reader) -> Result<Vec<String>> {
    let file = |document: &Document| match &document.content {
        Some(Content::File(bytes)) => Some(bytes.clone()),
        _ => None,
    };
    let files: Vec<Vec<u8>> = documents.iter().filter_map(file).collect();
    let mut read = if files.is_empty() { Vec::new() } else { reader.read(files)? }.into_iter();
    let text = |document: &Document| match &document.content {
        Some(Content::Text(text)) => text.clone(),
        Some(Content::File(_)) => read.next().unwrap_or_default(),
        None => String::new(),
    };
    Ok(documents.iter().map(text).collect())
}

struct Piece {
    document: usize,
    chunk_no: i32,
    chunk: Chunk,
    hash: ContentHash,
}

fn hashed(chunks: Vec<Vec<Chunk>>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (document, chunks) in chunks.into_iter().enumerate() {
        for (chunk_no, chunk) in chunks.into_iter().enumerate() {
            let hash = Sha256::digest(chunk.content.as_bytes()).into();
            pieces.push(Piece { document, chunk_no: chunk_no as i32, chunk, hash });
        }
    }
    pieces
}

fn embed_missing(
    pieces: &[Piece],
    vectors: &mut Vectors,
    embedder: &mut dyn Embedder,
) -> Result<(usize, usize)> {
    let mut wanted = HashSet::new();
    let missing: Vec<&Piece> = pieces
        .iter()
        .filter(|piece| !vectors.contains_key(&piece.hash) && wanted.insert(piece.hash))
        .collect();
    let texts: Vec<String> = missing.iter().map(|piece| piece.chunk.content.clone()).collect();
    if texts.is_empty() {
        return Ok((0, 0));
    }
    let made = embedder.embed(&texts, Kind::Passage)?;
    vectors.extend(missing.iter().map(|piece| piece.hash).zip(made));
    let tokens = missing.iter().map(|piece| piece.chunk.token_count as usize).sum();
    Ok((texts.len(), tokens))
}

fn no_vector() -> Error {
    Error::new(ErrorKind::Internal, "the model returned fewer vectors than it got texts")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cuts at spaces.
    struct Words;

    impl Chunker for Words {
        fn chunk(&mut self, documents: &[String]) -> Result<Vec<Vec<Chunk>>> {
            let chunk = |word: &str| Chunk {
                content: word.to_owned(),
                start_char: 0,
                end_char: word.chars().count() as u32,
                token_count: 1,
                heading: None,
            };
            Ok(documents.iter().map(|text| text.split_whitespace().map(chunk).collect()).collect())
        }
    }

    /// Counts what it embeds; a text's vector is its length.
    #[derive(Default)]
    struct Lengths(Vec<String>);

    impl Embedder for Lengths {
        fn embed(&mut self, texts: &[String], _kind: Kind) -> Result<Vec<Vec<f32>>> {
            self.0.extend_from_slice(texts);
            Ok(texts.iter().map(|text| vec![text.len() as f32]).collect())
        }
    }

    #[derive(Default)]
    struct Memory(Vec<StoredChunk>);

    impl ChunkStore for Memory {
        fn known_vectors(&mut self, _: &[Document]) -> Result<Vectors> {
            Ok(self.0.iter().map(|chunk| (chunk.hash, chunk.vector.clone())).collect())
        }

        fn replace(&mut self, _: &[Document], chunks: &[StoredChunk]) -> Result<()> {
            self.0 = chunks.to_vec();
            Ok(())
        }
    }

    /// Reads what is between two bytes.
    struct Middle;

    impl Reader for Middle {
        fn read(&mut self, files: Vec<Vec<u8>>) -> Result<Vec<String>> {
            let middle = |file: Vec<u8>| String::from_utf8_lossy(&file[1..file.len() - 1]).into();
            Ok(files.into_iter().map(middle).collect())
        }
    }

    fn document(content: Option<&str>) -> Document {
        Document {
            key: vec!["1".into()],
            content: content.map(|text| Content::Text(text.to_owned())),
        }
    }

    fn run(documents: &[Document], embedder: &mut Lengths, store: &mut Memory) -> Prepared {
        let mut stages = Stages { reader: &mut Middle, chunker: &mut Words, embedder };
        ingest(documents, &mut stages, store).unwrap()
    }

    #[test]
    fn only_new_text_is_embedded() {
        let (mut embedder, mut store) = (Lengths::default(), Memory::default());
        let mut run_one = |text| {
            let done = run(&[document(text)], &mut embedder, &mut store);
            (done.chunks.len(), done.embedded, done.tokens)
        };
        assert_eq!(run_one(Some("a bb a ccc")), (4, 3, 3));
        assert_eq!(run_one(Some("a bb dddd ccc")), (4, 1, 1));
        assert_eq!(run_one(None), (0, 0, 0));
        assert_eq!(embedder.0, ["a", "bb", "ccc", "dddd"]);
        assert_eq!(store.0, []);
    }

    #[test]
    fn chunks_know_their_document_place_and_vector() {
        let (mut embedder, mut store) = (Lengths::default(), Memory::default());
        let documents = [document(Some("a bb")), document(Some("ccc"))];
        run(&documents, &mut embedder, &mut store);
        let places: Vec<_> =
            store.0.iter().map(|c| (c.document, c.chunk_no, c.vector[0] as i32)).collect();
        assert_eq!(places, [(0, 0, 1), (0, 1, 2), (1, 0, 3)]);
    }

    #[test]
    fn files_are_read_and_texts_are_not() {
        let (mut embedder, mut store) = (Lengths::default(), Memory::default());
        let file =
            Document { key: vec!["2".into()], content: Some(Content::File(b"<inside>".to_vec())) };
        let documents = [document(Some("<text>")), file, document(None)];
        run(&documents, &mut embedder, &mut store);
        assert_eq!(embedder.0, ["<text>", "inside"]);
    }
}
