//! Questions about the project's own manual, which is technical Markdown with tables and code.

use std::fs;
use std::path::Path;

use pg_rag::chunk::{ChunkingMethod, ChunkingOptions, Tokenizer, chunk};
use pg_rag::embed::EmbeddingKind;
use pg_rag::error::{Error, ErrorKind, Result};
use pg_rag::extract::{Extract, ExtractPassage, extract};
use pg_rag::protocol::Lane;

use crate::Settings;
use crate::data::Source;
use crate::embedder::Remembering;
use crate::search::Index;

/// A question, and the parts that a right answer holds, in several wordings each.
struct Asked<'a> {
    text: &'a str,
    parts: Vec<Vec<&'a str>>,
}

/// How many answers were right, wrong and refused, and their length.
#[derive(Default)]
struct Outcomes {
    right: usize,
    wrong: usize,
    refused: usize,
    sentences: usize,
    characters: usize,
}

/// Asks all questions of `manual.txt`, and prints the answers and what is right of them.
pub fn ask_all(model: &Path, settings: &Settings, embedder: &mut Remembering) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let questions = fs::read_to_string(root.join("benches/answer/manual.txt")).unwrap();
    let passages = passages(&root.join("docs"), &HuggingFace::load(model));
    let texts: Vec<String> =
        passages.iter().map(|it| format!("{}. {}", it.title, it.text)).collect();
    embedder.load(&texts, EmbeddingKind::Passage, Lane::Bulk);
    let vectors: Vec<Vec<f32>> =
        texts.iter().map(|it| embedder.vector(it, EmbeddingKind::Passage)).collect();
    let index = Index::new(&passages, &vectors);
    let lines = questions.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let questions: Vec<Asked> = lines.map(Asked::read).collect();
    let texts: Vec<String> = questions.iter().map(|it| it.text.to_owned()).collect();
    embedder.load(&texts, EmbeddingKind::Query, Lane::Bulk);
    let mut halves = [Outcomes::default(), Outcomes::default()];
    for (at, asked) in questions.iter().enumerate() {
        let vector = embedder.vector(asked.text, EmbeddingKind::Query);
        let found = index.search(asked.text, &vector, &Default::default(), settings.k);
        let read: Vec<ExtractPassage> = (1..)
            .zip(&found)
            .map(|(number, found)| ExtractPassage {
                number,
                content: &passages[found.passage].text,
                lead: 0,
                heading: Some(&passages[found.passage].title),
                dense_similarity: Some(found.similarity),
            })
            .collect();
        let answer = extract(asked.text, &read, embedder, &settings.extract).unwrap();
        let outcome = halves[at % 2].add(asked, &answer);
        println!(
            "\n{} {} — {outcome}, {:.2}",
            if at % 2 == 0 { "fit " } else { "kept" },
            asked.text,
            answer.confidence
        );
        println!("{}", answer.answer);
    }
    for (name, outcomes) in ["to fit", "kept"].into_iter().zip(halves) {
        outcomes.print(name);
    }
}

impl<'a> Asked<'a> {
    fn read(line: &'a str) -> Asked<'a> {
        let (text, parts) = line.split_once('|').expect("a question and what it is to hold");
        let parts = parts.split(';').map(|part| part.trim().split('/').collect());
        Asked { text: text.trim(), parts: parts.collect() }
    }
}

impl Outcomes {
    fn add(&mut self, asked: &Asked, answer: &Extract) -> &'static str {
        if !answer.supported {
            self.refused += 1;
            return "refused";
        }
        self.sentences += answer.evidence.len();
        self.characters += answer.answer.chars().count();
        let is_held = |part: &Vec<&str>| part.iter().any(|wording| answer.answer.contains(wording));
        if asked.parts.iter().all(is_held) {
            self.right += 1;
            return "right";
        }
        self.wrong += 1;
        "wrong"
    }

    fn print(&self, name: &str) {
        let answered = (self.right + self.wrong).max(1) as f64;
        println!(
            "\n  {name:8} right {:3}  wrong {:3}  refused {:3}   {:.2} pieces and {:.0} characters on average",
            self.right,
            self.wrong,
            self.refused,
            self.sentences as f64 / answered,
            self.characters as f64 / answered,
        );
    }
}

/// The chunks of all pages, each with its headings as title.
fn passages(folder: &Path, tokenizer: &dyn Tokenizer) -> Vec<Source> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|it| it == "md"));
    files.sort();
    let options = ChunkingOptions { by: ChunkingMethod::Markdown, ..ChunkingOptions::default() };
    let pages = files.iter().flat_map(|file| {
        let page = fs::read_to_string(file).unwrap();
        chunk(&page, &options, tokenizer).unwrap()
    });
    pages.map(|it| Source { title: it.heading.unwrap_or_default(), text: it.content }).collect()
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
