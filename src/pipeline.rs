//! The two stories, told once over the stages: how a document gets in, and how a question
//! gets its answer.

use std::collections::{HashMap, HashSet};

use sha2::{Digest, Sha256};

use crate::chunk::Chunk;
use crate::chunk::context::{context, first_heading, in_context};
use crate::embed::{Embedder, EmbeddingKind, Spanned};
use crate::error::{Error, ErrorKind, Result};
use crate::text::token_labels::LabelledSpan;

/// SHA-256 of what the vector of a chunk depends on.
pub type ContentHash = [u8; 32];

/// SHA-256 of what is known of a chunk's place: its row, its context, its text and its neighbours'.
pub type PlaceHash = [u8; 32];

/// What language models have said of places.
pub type Lines = HashMap<PlaceHash, String>;

/// Vectors by the hash of their text.
pub type Vectors = HashMap<ContentHash, Vec<f32>>;

/// A source row: its key as text, one value a key column, and its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The values of the key's columns, as text.
    pub key: Vec<String>,
    /// What it is called, where the pipeline says what that is.
    pub title: Option<String>,
    /// What it says; `None` where the content is NULL.
    pub content: Option<Content>,
}

/// What a document says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A text as it is.
    Text(String),
    /// As an HTML page.
    Html(String),
    /// As a file: PDF, DOCX, HTML and the like.
    File(Vec<u8>),
}

/// What has to be read before it is a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// Its MIME type; `None`: found out from the bytes.
    pub mime: Option<&'static str>,
}

/// The MIME type of [`Content::Html`].
const HTML: &str = "text/html; charset=utf-8";

impl Document {
    /// Bytes of the content.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.content {
            Some(Content::Text(text) | Content::Html(text)) => text.len(),
            Some(Content::File(bytes)) => bytes.len(),
            None => 0,
        }
    }

    /// The content as a file, if it is not a text yet.
    fn file(&self) -> Option<File> {
        match &self.content {
            Some(Content::File(bytes)) => Some(File { bytes: bytes.clone(), mime: None }),
            Some(Content::Html(text)) => {
                Some(File { bytes: text.clone().into_bytes(), mime: Some(HTML) })
            }
            Some(Content::Text(_)) | None => None,
        }
    }
}

/// A chunk as it is stored, with its place among the documents.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredChunk {
    /// Position in the list of documents, from 0.
    pub document: usize,
    /// Position in the document, from 0.
    pub chunk_no: i32,
    /// Text, span, size, heading.
    pub chunk: Chunk,
    /// What is said before the text where it is embedded and its words are indexed.
    pub context: Option<String>,
    /// What a language model says of its place, which is said after that.
    pub line: Option<String>,
    /// By what that is kept; `None` where no model is asked.
    pub place: Option<PlaceHash>,
    /// Hash of context, line and text; where chunks are embedded in place, of the document and the place.
    pub hash: ContentHash,
    /// Embedding of context and text, or of the text in its place.
    pub vector: Vec<f32>,
    /// What a model has found that it names; `None` where none has read it now.
    pub names: Option<FoundNames>,
}

/// The names in a text, as a model has found them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundNames {
    /// The name of the model.
    pub model: String,
    /// Where they stand, and what they are, in the order of their places.
    pub names: Vec<LabelledSpan>,
}

/// Reads the text of files.
pub trait FileReader {
    /// The text of each file, or why it cannot be read.
    fn read(&mut self, files: Vec<File>) -> Result<Vec<Result<String>>>;
}

/// Cuts documents into chunks.
pub trait Chunker {
    /// One list of chunks a document. Some ways of cutting compare sentences, which `embedder`
    /// turns into vectors.
    fn chunk(
        &mut self,
        documents: &[String],
        embedder: &mut dyn Embedder,
    ) -> Result<Vec<Vec<Chunk>>>;
}

/// Keeps what language models have said of places.
pub trait LineStore {
    /// The lines that are there, by place.
    fn lines(&mut self, places: &[PlaceHash]) -> Result<Lines>;
}

/// Finds out what chunks name.
pub trait EntityNamer {
    /// Sets [`StoredChunk::names`] of those chunks of these documents of which it is not known already.
    fn name(&mut self, documents: &[Document], chunks: &mut [StoredChunk]) -> Result<()>;
}

/// Keeps chunks and their vectors.
pub trait ChunkStore {
    /// Vectors that the chunks of these documents have now, by the hash of their text.
    fn known_vectors(&mut self, documents: &[Document]) -> Result<Vectors>;

    /// Puts `chunks` in the place of all that these documents had.
    fn replace(&mut self, documents: &[Document], chunks: &[StoredChunk]) -> Result<()>;
}

/// The stages through which a document gets in.
pub struct Stages<'a> {
    /// Reads the text of files.
    pub reader: &'a mut dyn FileReader,
    /// Cuts texts into chunks.
    pub chunker: &'a mut dyn Chunker,
    /// Embeds texts and chunks.
    pub embedder: &'a mut dyn Embedder,
    /// Whether title and headings are embedded with each chunk.
    pub contextual: bool,
    /// What language models have said of places, where that is embedded, too.
    pub lines: Option<&'a mut dyn LineStore>,
    /// Whether a document is embedded as a whole and cut afterwards.
    pub late: bool,
    /// What finds out what chunks name, where a model does.
    pub namer: Option<&'a mut dyn EntityNamer>,
}

/// Documents cut and embedded, not stored yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prepared {
    /// All chunks of the documents.
    pub chunks: Vec<StoredChunk>,
    /// Texts that had to be embedded; the others had a vector already.
    pub embedded: usize,
    /// Tokens of the texts that were embedded.
    pub tokens: usize,
}

/// Cuts documents and embeds what is new in them.
///
/// A chunk whose text and context are in `vectors` keeps that vector, and equal ones are
/// embedded once. Where documents are embedded as a whole, it keeps it if nothing in its document has
/// changed.
pub fn prepare(
    documents: &[Document],
    mut vectors: Vectors,
    stages: &mut Stages<'_>,
) -> Result<Prepared> {
    let texts = texts(documents, stages.reader)?;
    let chunks = stages.chunker.chunk(&texts, stages.embedder)?;
    let titles = match stages.contextual {
        true => Some(titles(documents, &texts)),
        false => None,
    };
    let mut pieces = pieces(chunks, titles.as_deref());
    if let Some(store) = &mut stages.lines {
        place(&mut pieces, documents, *store)?;
    }
    hash(&mut pieces);
    let wholes =
        if stages.late { wholes(documents, &texts, stages.contextual) } else { Vec::new() };
    if stages.late {
        hash_in_place(&mut pieces, &wholes);
    }
    let missing = missing(&pieces, &vectors);
    let made = match stages.late {
        true => embed_in_place(&missing, &wholes, stages.embedder)?,
        false => embed_alone(&missing, stages.embedder)?,
    };
    let embedded = missing.len();
    let tokens = missing.iter().map(|piece| piece.chunk.token_count as usize).sum();
    vectors.extend(missing.iter().map(|piece| piece.hash).zip(made));
    let mut chunks = pieces
        .into_iter()
        .map(|piece| {
            let vector = vectors.get(&piece.hash).cloned().ok_or_else(no_vector)?;
            Ok(piece.with_vector(vector))
        })
        .collect::<Result<Vec<_>>>()?;
    if let Some(namer) = &mut stages.namer {
        namer.name(documents, &mut chunks)?;
    }
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

/// The text of each document; of those that are files, what the reader makes of them. Fails where that is nothing, and says
/// for which row.
pub fn texts(documents: &[Document], reader: &mut dyn FileReader) -> Result<Vec<String>> {
    let files: Vec<File> = documents.iter().filter_map(Document::file).collect();
    let mut read = if files.is_empty() { Vec::new() } else { reader.read(files)? }.into_iter();
    let text = |document: &Document| match &document.content {
        Some(Content::Text(text)) => Ok(text.clone()),
        Some(Content::File(_) | Content::Html(_)) => {
            read.next().unwrap_or(Ok(String::new())).map_err(|error| of_row(error, document))
        }
        None => Ok(String::new()),
    };
    documents.iter().map(text).collect()
}

/// Says which row an error is about; a document that is chunked alone has no key.
fn of_row(error: Error, document: &Document) -> Error {
    if document.key.is_empty() {
        return error;
    }
    error.fact(format!("It is about the row with the key ({}).", document.key.join(", ")))
}

/// What each document is called.
fn titles(documents: &[Document], texts: &[String]) -> Vec<Option<String>> {
    let title = |(document, text): (&Document, &String)| {
        document.title.clone().or_else(|| first_heading(text))
    };
    documents.iter().zip(texts).map(title).collect()
}

struct PreparedPiece {
    document: usize,
    chunk_no: i32,
    chunk: Chunk,
    context: Option<String>,
    line: Option<String>,
    place: Option<PlaceHash>,
    hash: ContentHash,
}

impl PreparedPiece {
    /// What is embedded of the chunk.
    fn whole(&self) -> String {
        in_context(self.context.as_deref(), self.line.as_deref(), &self.chunk.content)
    }

    fn with_vector(self, vector: Vec<f32>) -> StoredChunk {
        let PreparedPiece { document, chunk_no, chunk, context, line, place, hash } = self;
        let names = None;
        StoredChunk { document, chunk_no, chunk, context, line, place, hash, vector, names }
    }
}

/// All chunks, in the context of their documents' titles if there are any.
fn pieces(chunks: Vec<Vec<Chunk>>, titles: Option<&[Option<String>]>) -> Vec<PreparedPiece> {
    let mut pieces = Vec::new();
    for (document, chunks) in chunks.into_iter().enumerate() {
        for (chunk_no, chunk) in chunks.into_iter().enumerate() {
            let context = titles
                .and_then(|titles| context(titles[document].as_deref(), chunk.heading.as_deref()));
            let (chunk_no, line, place, hash) = (chunk_no as i32, None, None, [0; 32]);
            pieces.push(PreparedPiece { document, chunk_no, chunk, context, line, place, hash });
        }
    }
    pieces
}

/// Has pieces know their places, and what has been said of them.
fn place(
    pieces: &mut [PreparedPiece],
    documents: &[Document],
    store: &mut dyn LineStore,
) -> Result<()> {
    let places: Vec<PlaceHash> =
        (0..pieces.len()).map(|number| place_of(pieces, number, documents)).collect();
    let known = if places.is_empty() { Lines::new() } else { store.lines(&places)? };
    for (piece, place) in pieces.iter_mut().zip(places) {
        piece.line = known.get(&place).cloned();
        piece.place = Some(place);
    }
    Ok(())
}

/// The place of the piece with this number.
///
/// The row's key is part of it, since others may not see what is said of this row. The rest of the
/// document is not: a change in it would have all of its chunks asked about again.
fn place_of(pieces: &[PreparedPiece], number: usize, documents: &[Document]) -> PlaceHash {
    let own = &pieces[number];
    let neighbour = |number: Option<usize>| {
        let near = pieces.get(number?)?;
        (near.document == own.document).then_some(near.chunk.content.as_str())
    };
    let context = own.context.as_deref();
    let near = [neighbour(number.checked_sub(1)), neighbour(Some(number + 1))];
    let texts = [context, Some(&own.chunk.content), near[0], near[1]];
    let keys = documents[own.document].key.iter().map(|value| Some(value.as_str()));
    let mut hash = Sha256::new();
    for text in texts.into_iter().chain(keys) {
        // Lengths keep texts apart that follow each other.
        let length = text.map_or(u64::MAX, |text| text.len() as u64);
        hash.update(length.to_le_bytes());
        hash.update(text.unwrap_or_default());
    }
    hash.finalize().into()
}

fn hash(pieces: &mut [PreparedPiece]) {
    for piece in pieces {
        piece.hash = content_hash(&piece.whole());
    }
}

/// The hash of what is embedded of a chunk by itself.
#[must_use]
pub fn content_hash(whole: &str) -> ContentHash {
    Sha256::digest(whole.as_bytes()).into()
}

/// A document as it is embedded whole.
struct Whole {
    /// Its title, if it has one and that counts, and its text.
    text: String,
    /// Where the text begins, in bytes.
    start: usize,
}

fn wholes(documents: &[Document], texts: &[String], contextual: bool) -> Vec<Whole> {
    let whole = |(document, text): (&Document, &String)| {
        let title = document.title.as_deref().filter(|_| contextual);
        let whole = in_context(context(title, None).as_deref(), None, text);
        Whole { start: whole.len() - text.len(), text: whole }
    };
    documents.iter().zip(texts).map(whole).collect()
}

/// Has the hash of a piece say what its vector depends on: the whole document, and where in it it is.
fn hash_in_place(pieces: &mut [PreparedPiece], wholes: &[Whole]) {
    let hashes: Vec<_> = wholes.iter().map(|it| Sha256::digest(it.text.as_bytes())).collect();
    for piece in pieces {
        let place = [piece.chunk.start_char, piece.chunk.end_char].map(u32::to_le_bytes);
        let hash = Sha256::new().chain_update(hashes[piece.document]).chain_update(place.concat());
        piece.hash = hash.finalize().into();
    }
}

/// The pieces that have no vector yet, equal ones once.
fn missing<'a>(pieces: &'a [PreparedPiece], vectors: &Vectors) -> Vec<&'a PreparedPiece> {
    let mut wanted = HashSet::new();
    let is_missing =
        |piece: &&PreparedPiece| !vectors.contains_key(&piece.hash) && wanted.insert(piece.hash);
    pieces.iter().filter(is_missing).collect()
}

/// Embeds each piece by itself, in its context.
fn embed_alone(pieces: &[&PreparedPiece], embedder: &mut dyn Embedder) -> Result<Vec<Vec<f32>>> {
    let texts: Vec<String> = pieces.iter().map(|piece| piece.whole()).collect();
    if texts.is_empty() { Ok(Vec::new()) } else { embedder.embed(&texts, EmbeddingKind::Passage) }
}

/// Embeds the documents of the pieces, which stand document after document, and of each what the pieces
/// are in it.
fn embed_in_place(
    pieces: &[&PreparedPiece],
    wholes: &[Whole],
    embedder: &mut dyn Embedder,
) -> Result<Vec<Vec<f32>>> {
    let of_document = |pieces: &[&PreparedPiece]| {
        let whole = &wholes[pieces[0].document];
        let ends = |piece: &&PreparedPiece| [piece.chunk.start_char, piece.chunk.end_char];
        let places = byte_offsets(&whole.text[whole.start..], pieces.iter().flat_map(ends));
        let span = |pair: &[usize]| whole.start + pair[0]..whole.start + pair[1];
        Spanned { text: whole.text.clone(), spans: places.chunks_exact(2).map(span).collect() }
    };
    let documents: Vec<Spanned> =
        pieces.chunk_by(|a, b| a.document == b.document).map(of_document).collect();
    if documents.is_empty() { Ok(Vec::new()) } else { embedder.embed_in_place(&documents) }
}

/// The places of characters of a text, in bytes. One that is not there is its end.
fn byte_offsets(text: &str, chars: impl Iterator<Item = u32>) -> Vec<usize> {
    let mut wanted: Vec<(usize, u32)> = chars.enumerate().collect();
    let mut offsets = vec![text.len(); wanted.len()];
    wanted.sort_by_key(|(_, at)| *at);
    let mut wanted = wanted.into_iter().peekable();
    for (number, (offset, _)) in text.char_indices().enumerate() {
        while let Some((place, _)) = wanted.next_if(|(_, at)| *at as usize == number) {
            offsets[place] = offset;
        }
        if wanted.peek().is_none() {
            break;
        }
    }
    offsets
}

fn no_vector() -> Error {
    Error::new(ErrorKind::Internal, "the model returned fewer vectors than it got texts")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cuts at spaces, a word a chunk.
    struct Words;

    impl Chunker for Words {
        fn chunk(&mut self, documents: &[String], _: &mut dyn Embedder) -> Result<Vec<Vec<Chunk>>> {
            let chunk = |word: &str| Chunk {
                content: word.to_owned(),
                start_char: 0,
                end_char: word.chars().count() as u32,
                token_count: 1,
                heading: None,
                parent: None,
            };
            Ok(documents.iter().map(|text| text.split_whitespace().map(chunk).collect()).collect())
        }
    }

    /// Counts what it embeds; a text's vector is its length.
    #[derive(Default)]
    struct Lengths(Vec<String>);

    impl Embedder for Lengths {
        fn embed(&mut self, texts: &[String], _kind: EmbeddingKind) -> Result<Vec<Vec<f32>>> {
            self.0.extend_from_slice(texts);
            Ok(texts.iter().map(|text| vec![text.len() as f32]).collect())
        }

        /// For each span its length and that of its document.
        fn embed_in_place(&mut self, documents: &[Spanned]) -> Result<Vec<Vec<f32>>> {
            let of = |it: &Spanned| -> Vec<Vec<f32>> {
                self.0.extend(it.spans.iter().map(|span| it.text[span.clone()].to_owned()));
                let length = it.text.len() as f32;
                it.spans.iter().map(|span| vec![span.len() as f32, length]).collect()
            };
            Ok(documents.iter().flat_map(of).collect())
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

    /// What it cannot read.
    const BROKEN: &[u8] = b"broken";

    impl FileReader for Middle {
        fn read(&mut self, files: Vec<File>) -> Result<Vec<Result<String>>> {
            let middle = |File { bytes, mime }: File| {
                if bytes == BROKEN {
                    return Err(Error::new(ErrorKind::DocumentUnreadable, "it is broken"));
                }
                let text = String::from_utf8_lossy(&bytes[1..bytes.len() - 1]).into_owned();
                Ok(mime.map_or(text.clone(), |mime| format!("{text}:{}", mime.len())))
            };
            Ok(files.into_iter().map(middle).collect())
        }
    }

    fn document(content: Option<&str>) -> Document {
        Document {
            key: vec!["1".into()],
            title: None,
            content: content.map(|text| Content::Text(text.to_owned())),
        }
    }

    fn run(documents: &[Document], embedder: &mut Lengths, store: &mut Memory) -> Prepared {
        run_as(documents, embedder, store, false)
    }

    fn run_as(
        documents: &[Document],
        embedder: &mut Lengths,
        store: &mut Memory,
        contextual: bool,
    ) -> Prepared {
        let (reader, chunker) = (&mut Middle, &mut Words);
        let (lines, late, namer) = (None, false, None);
        let mut stages = Stages { reader, chunker, embedder, contextual, lines, late, namer };
        ingest(documents, &mut stages, store).unwrap()
    }

    #[test]
    fn a_file_that_cannot_be_read_is_known_by_its_row() {
        let file = |key: &str, bytes: &[u8]| Document {
            key: vec![key.to_owned(), "en".to_owned()],
            title: None,
            content: Some(Content::File(bytes.to_vec())),
        };
        let documents = [file("7", b"<whole>"), document(None), file("8", BROKEN)];
        assert_eq!(texts(&documents[..2], &mut Middle).unwrap(), ["whole", ""]);
        let error = texts(&documents, &mut Middle).unwrap_err();
        assert_eq!(error.detail_text(), Some("It is about the row with the key (8, en)."));
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
        let of = |content| Document { content: Some(content), ..document(None) };
        let file = of(Content::File(b"<inside>".to_vec()));
        let page = of(Content::Html("<page>".to_owned()));
        let documents = [document(Some("<text>")), file, document(None), page];
        run(&documents, &mut embedder, &mut store);
        assert_eq!(embedder.0, ["<text>", "inside", "page:24"]);
    }

    #[test]
    fn a_chunk_is_embedded_in_its_context() {
        let (mut embedder, mut store) = (Lengths::default(), Memory::default());
        let titled = |title: &str| Document {
            title: Some(title.to_owned()),
            ..document(Some("wheel mill"))
        };
        let mut run_one = |document: Document| {
            let done = run_as(&[document], &mut embedder, &mut store, true);
            let contexts = done.chunks.iter().map(|chunk| chunk.context.clone());
            (done.embedded, contexts.flatten().collect::<Vec<_>>().join(","))
        };
        assert_eq!(run_one(titled("Mill")), (2, "Mill,Mill".to_owned()));
        assert_eq!(run_one(titled("Mill")), (0, "Mill,Mill".to_owned()));
        assert_eq!(run_one(titled("Kiln")), (2, "Kiln,Kiln".to_owned()));
        assert_eq!(run_one(document(Some("wheel"))), (1, String::new()));
        assert_eq!(embedder.0[..3], ["Mill\nwheel", "Mill\nmill", "Kiln\nwheel"]);
        assert_eq!(embedder.0[4], "wheel");
        assert_eq!(store.0[0].chunk.content, "wheel");
    }

    /// What was said of places.
    #[derive(Default)]
    struct Said(Lines);

    impl LineStore for Said {
        fn lines(&mut self, places: &[PlaceHash]) -> Result<Lines> {
            let known = |place: &PlaceHash| Some((*place, self.0.get(place)?.clone()));
            Ok(places.iter().filter_map(known).collect())
        }
    }

    fn run_said(documents: &[Document], said: &mut Said) -> (Prepared, Vec<String>) {
        let (reader, chunker) = (&mut Middle, &mut Words);
        let mut embedder = Lengths::default();
        let (contextual, late, lines) = (true, false, Some(said as &mut dyn LineStore));
        let mut stages = Stages {
            reader,
            chunker,
            embedder: &mut embedder,
            contextual,
            lines,
            late,
            namer: None,
        };
        let prepared = prepare(documents, Vectors::new(), &mut stages).unwrap();
        (prepared, embedder.0)
    }

    #[test]
    fn what_was_said_of_a_place_is_embedded_with_it() {
        let mut said = Said::default();
        let titled = |text: &str| Document { title: Some("Mill".into()), ..document(Some(text)) };
        let (before, embedded) = run_said(&[titled("a bb ccc")], &mut said);
        assert_eq!(embedded, ["Mill\na", "Mill\nbb", "Mill\nccc"]);
        let place = before.chunks[1].place.unwrap();
        said.0.insert(place, "Of wheels.".to_owned());
        let (after, embedded) = run_said(&[titled("a bb ccc")], &mut said);
        assert_eq!(embedded, ["Mill\na", "Mill\nOf wheels.\nbb", "Mill\nccc"]);
        let StoredChunk { chunk, context, line, hash, .. } = &after.chunks[1];
        assert_eq!((chunk.content.as_str(), context.as_deref()), ("bb", Some("Mill")));
        assert_eq!(line.as_deref(), Some("Of wheels."));
        assert_eq!(*hash, content_hash("Mill\nOf wheels.\nbb"));
    }

    #[test]
    fn a_place_is_known_by_its_row_and_its_neighbours() {
        let places = |documents: &[Document]| -> Vec<PlaceHash> {
            let (prepared, _) = run_said(documents, &mut Said::default());
            prepared.chunks.iter().map(|chunk| chunk.place.unwrap()).collect()
        };
        let before = places(&[document(Some("a b c d e f g"))]);
        let after = places(&[document(Some("a b c D e f g"))]);
        let changed: Vec<usize> = (0..7).filter(|at| before[*at] != after[*at]).collect();
        assert_eq!(changed, [2, 3, 4], "the changed one and those beside it");
        // What is at the end of one document is not beside the beginning of the next.
        let two = places(&[document(Some("a b c")), document(Some("d e f g"))]);
        assert_eq!(two[..2], before[..2]);
        assert_ne!(two[2], before[2]);
        let other = Document { key: vec!["2".into()], ..document(Some("a b c d e f g")) };
        assert!(places(&[other]).iter().all(|place| !before.contains(place)));
        let titled = Document { title: Some("Mill".into()), ..document(Some("a b c d e f g")) };
        assert!(places(&[titled]).iter().all(|place| !before.contains(place)));
    }

    /// Names the chunks that are words of capitals alone.
    struct Capitals;

    impl EntityNamer for Capitals {
        fn name(&mut self, documents: &[Document], chunks: &mut [StoredChunk]) -> Result<()> {
            for chunk in chunks {
                assert!(chunk.document < documents.len() && !chunk.vector.is_empty());
                let word = &chunk.chunk.content;
                let name = LabelledSpan { place: 0..word.len(), kind: "X".to_owned() };
                let names = word.chars().all(char::is_uppercase).then_some(name);
                let (model, names) = ("m".to_owned(), names.into_iter().collect());
                chunk.names = Some(FoundNames { model, names });
            }
            Ok(())
        }
    }

    #[test]
    fn chunks_are_stored_with_what_they_name() {
        let (mut embedder, mut store) = (Lengths::default(), Memory::default());
        let (reader, chunker, embedder) = (&mut Middle, &mut Words, &mut embedder);
        let (contextual, lines, late, mut capitals) = (false, None, false, Capitals);
        let namer = Some(&mut capitals as &mut dyn EntityNamer);
        let mut stages = Stages { reader, chunker, embedder, contextual, lines, late, namer };
        ingest(&[document(Some("a BB"))], &mut stages, &mut store).unwrap();
        let found = |chunk: &StoredChunk| chunk.names.as_ref().unwrap().names.len();
        assert_eq!(store.0.iter().map(found).collect::<Vec<_>>(), [0, 1]);
    }

    /// Cuts at spaces, and says where.
    struct Places;

    impl Chunker for Places {
        fn chunk(&mut self, documents: &[String], _: &mut dyn Embedder) -> Result<Vec<Vec<Chunk>>> {
            let of = |text: &String| {
                let mut start = 0;
                let mut next = |word: &str| {
                    let end = start + word.chars().count() as u32;
                    let (start_char, content) = (start, word.to_owned());
                    start = end + 1;
                    let (heading, parent) = (None, None);
                    Chunk { content, start_char, end_char: end, token_count: 1, heading, parent }
                };
                text.split(' ').map(&mut next).collect()
            };
            Ok(documents.iter().map(of).collect())
        }
    }

    #[test]
    fn a_chunk_is_embedded_in_its_place() {
        let (mut embedder, mut store) = (Lengths::default(), Memory::default());
        let mut run_one = |documents: &[Document]| {
            let (reader, chunker) = (&mut Middle, &mut Places);
            let embedder = &mut embedder;
            let (contextual, late, lines) = (true, true, None);
            let namer = None;
            let mut stages = Stages { reader, chunker, embedder, contextual, lines, late, namer };
            let done = ingest(documents, &mut stages, &mut store).unwrap();
            let vectors = done.chunks.into_iter().map(|chunk| chunk.vector).collect::<Vec<_>>();
            (done.embedded, vectors)
        };
        let one = document(Some("mühle rad mühle"));
        let titled = Document { title: Some("Mühle".to_owned()), ..one.clone() };
        let vectors = vec![vec![6.0, 17.0], vec![3.0, 17.0], vec![6.0, 17.0]];
        // The same word in another place is another chunk, the same document is embedded once.
        assert_eq!(run_one(&[one.clone(), one.clone()]), (3, [&vectors[..], &vectors].concat()));
        assert_eq!(run_one(&[one]), (0, vectors));
        // Whatever changes in a document changes all of its chunks, and its title is part of it.
        assert_eq!(run_one(&[document(Some("mühle rad"))]).0, 2);
        let (embedded, vectors) = run_one(&[document(None), titled]);
        assert_eq!((embedded, &vectors[1]), (4, &vec![6.0, 24.0]));
        assert_eq!(embedder.0[..3], ["mühle", "rad", "mühle"]);
    }

    #[test]
    fn characters_have_places() {
        assert_eq!(byte_offsets("aüb", [3, 0, 2, 1, 9, 2].into_iter()), [4, 0, 3, 1, 4, 3]);
        assert_eq!(byte_offsets("", [0].into_iter()), [0]);
    }
}
