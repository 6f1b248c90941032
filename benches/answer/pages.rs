//! Pages of a manual, cut into chunks as the product does, and what a question finds of them.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use pg_rag::chunk::{ChunkingMethod, ChunkingOptions, Tokenizer, chunk};
use pg_rag::embed::EmbeddingKind;
use pg_rag::error::{Error, ErrorKind, Result};
use pg_rag::extract::ExtractPassage;
use pg_rag::parse::{ParseLimits, ParseOptions, parse};
use pg_rag::protocol::Lane;

use crate::data::Source;
use crate::embedder::Remembering;
use crate::search::Index;

/// The chunks of some pages, embedded.
pub struct EmbeddedPages {
    /// The chunks, each with its headings as title.
    pub passages: Vec<Source>,
    vectors: Vec<Vec<f32>>,
}

impl EmbeddedPages {
    /// Those of files of HTML or Markdown, cut by the tokens of the model in the folder `model`.
    pub fn of(files: &[PathBuf], model: &Path, embedder: &mut Remembering) -> EmbeddedPages {
        let passages = passages(files, &HuggingFace::load(model));
        let texts: Vec<String> =
            passages.iter().map(|it| format!("{}. {}", it.title, it.text)).collect();
        embedder.load(&texts, EmbeddingKind::Passage, Lane::Bulk);
        let vector = |it: &String| embedder.vector(it, EmbeddingKind::Passage);
        let vectors = texts.iter().map(vector).collect();
        EmbeddedPages { passages, vectors }
    }

    /// What can be searched.
    pub fn index(&self) -> Index<'_> {
        Index::new(&self.passages, &self.vectors)
    }

    /// The `k` best chunks for a question, as they are read.
    pub fn found<'a>(
        &'a self,
        index: &Index,
        (question, k): (&str, usize),
        embedder: &Remembering,
    ) -> Vec<ExtractPassage<'a>> {
        let vector = embedder.vector(question, EmbeddingKind::Query);
        let found = index.search(question, &vector, &HashSet::new(), k);
        let passages = (1..).zip(found).map(|(number, found)| {
            let Source { title, text, is_beginning } = &self.passages[found.passage];
            ExtractPassage {
                number,
                content: text,
                lead: 0,
                heading: Some(title),
                is_beginning: *is_beginning,
                dense_similarity: Some(found.similarity),
            }
        });
        passages.collect()
    }
}

/// The files of a folder that `is_page` says are pages, in folders inside it too.
pub fn files(folder: &Path, is_page: impl Fn(&str) -> bool + Copy) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.file_name().and_then(|name| name.to_str()) {
            _ if path.is_dir() => files.extend(self::files(&path, is_page)),
            Some(name) if is_page(name) => files.push(path),
            _ => {}
        }
    }
    files.sort();
    files
}

fn passages(files: &[PathBuf], tokenizer: &dyn Tokenizer) -> Vec<Source> {
    let options = ChunkingOptions { by: ChunkingMethod::Markdown, ..ChunkingOptions::default() };
    let mut passages = Vec::new();
    for file in files {
        for page in texts(file) {
            let chunks = chunk(&page, &options, tokenizer).unwrap();
            passages.extend(chunks.into_iter().map(|it| Source {
                title: it.heading.unwrap_or_default(),
                text: it.content,
                is_beginning: it.start_char == 0,
            }));
        }
    }
    passages
}

/// What a file says, as Markdown: HTML in parts, as `rag_parse` gives them.
fn texts(file: &Path) -> Vec<String> {
    let bytes = fs::read(file).unwrap();
    match file.extension().is_some_and(|it| it == "html") {
        false => vec![String::from_utf8(bytes).unwrap()],
        true => {
            let (options, limits) = (ParseOptions::default(), ParseLimits::default());
            let parts = parse(&bytes, Some("text/html"), &options, &limits).unwrap();
            parts.into_iter().map(|part| part.content).collect()
        }
    }
}

/// The model's own tokenizer.
struct HuggingFace(tokenizers::Tokenizer);

impl HuggingFace {
    fn load(model: &Path) -> HuggingFace {
        let mut tokenizer = tokenizers::Tokenizer::from_file(model.join("tokenizer.json")).unwrap();
        tokenizer.with_truncation(None).unwrap();
        tokenizer.with_padding(None);
        HuggingFace(tokenizer)
    }
}

impl Tokenizer for HuggingFace {
    fn token_spans(&self, text: &str) -> Result<Vec<(usize, usize)>> {
        let failed = |error: tokenizers::Error| Error::new(ErrorKind::Internal, error.to_string());
        Ok(self.0.encode(text, false).map_err(failed)?.get_offsets().to_vec())
    }

    fn special_tokens(&self) -> usize {
        2
    }
}
