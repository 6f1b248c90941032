//! Every question, with its passages, without them, and of those that speak of its subject alone.

use std::collections::HashSet;

use pg_rag::embed::EmbeddingKind;
use pg_rag::extract::{ExtractObservation, ExtractOptions, ExtractPassage, extract, observe};
use pg_rag::protocol::Lane;

use crate::data::{Half, Judged, Purpose, Set};
use crate::embedder::Remembering;
use crate::search::{Found, Index};

/// Passages that are read for an answer.
const K: usize = 6;

/// A model and the sets that it has embedded.
pub struct Model {
    pub embedder: Remembering,
    pub sets: Vec<FitSet>,
}

/// A set, embedded, and what each of its questions finds.
pub struct FitSet {
    pub name: String,
    pub set: Set,
    pub asked: Vec<Asked>,
}

/// What a question finds.
pub struct Asked {
    pub question: usize,
    pub with: Vec<Found>,
    /// Without the passages that answer it; nothing where none does.
    pub without: Vec<Found>,
}

/// What was observed of a question.
pub struct Observed {
    pub is_answerable: bool,
    pub with: Option<ExtractObservation>,
    /// Of each of its pieces, whether it holds the answer.
    pub is_right: Vec<bool>,
    pub without: Option<ExtractObservation>,
    /// Where only the first passage of each is read, as in a table of one row, with whether it answers.
    pub alone: Vec<(ExtractObservation, bool)>,
}

/// Reads sets, embeds them, and searches for their questions.
pub fn load(names: &[String], most: usize, embedder: &mut Remembering) -> Vec<FitSet> {
    let read = |name: &String| match Set::read(name, Half::Both, most) {
        Some(set) => Some(FitSet::load(name, set, embedder)),
        None => {
            println!("skipped: no judged data \"{name}\"; set PG_RAG_DATA");
            None
        }
    };
    names.iter().filter_map(read).collect()
}

impl FitSet {
    fn load(name: &str, set: Set, embedder: &mut Remembering) -> FitSet {
        let passages: Vec<String> = set
            .passages
            .iter()
            .map(|passage| match passage.title.is_empty() {
                true => passage.text.clone(),
                false => format!("{}. {}", passage.title, passage.text),
            })
            .collect();
        let questions: Vec<String> = set.questions.iter().map(|it| it.text.clone()).collect();
        embedder.load(&passages, EmbeddingKind::Passage, Lane::Bulk);
        embedder.load(&questions, EmbeddingKind::Query, Lane::Bulk);
        let vectors: Vec<Vec<f32>> =
            passages.iter().map(|text| embedder.vector(text, EmbeddingKind::Passage)).collect();
        let index = Index::new(&set.passages, &vectors);
        let search = |(at, question): (usize, &Judged)| {
            let vector = embedder.vector(&question.text, EmbeddingKind::Query);
            let find = |hidden: &HashSet<usize>| index.search(&question.text, &vector, hidden, K);
            let without = if question.is_answerable { find(&question.gold) } else { Vec::new() };
            Asked { question: at, with: find(&HashSet::new()), without }
        };
        let asked = set.questions.iter().enumerate().map(search).collect();
        eprintln!("{name}: {} questions, {} passages", set.questions.len(), set.passages.len());
        FitSet { name: name.to_owned(), set, asked }
    }

    /// Observes the questions that are fitted to: those for the weights of a reader, or those for the others.
    pub fn observe(&self, embedder: &mut Remembering) -> Vec<Observed> {
        let is_read = embedder.calibration.reader.is_some();
        let is_fitted = |it: &&Asked| match is_read {
            true => self.question(it).purpose == Purpose::Weighed,
            false => self.question(it).is_fitted,
        };
        self.asked.iter().filter(is_fitted).map(|it| self.observe_one(it, embedder)).collect()
    }

    fn observe_one(&self, asked: &Asked, embedder: &mut Remembering) -> Observed {
        let question = self.question(asked);
        // What stopping leaves unread would look as if nothing was to be said of it.
        let options = ExtractOptions { sure: f32::INFINITY, ..ExtractOptions::default() };
        let mut observe = |found: &[Found]| {
            observe(&question.text, &self.passages(found), embedder, &options).unwrap()
        };
        let (with, without) = (observe(&asked.with), observe(&asked.without));
        let pieces = with.iter().flat_map(|it| &it.pieces);
        let is_right = |piece: &pg_rag::extract::ObservedPiece| {
            let found = &asked.with[piece.evidence.passage];
            question.gold.contains(&found.passage)
                && self.holds(question, found, piece.evidence.bytes.clone())
        };
        let is_right = pieces.map(is_right).collect();
        let alone = [&asked.with, &asked.without].into_iter().filter_map(|found| {
            let first = found.first()?;
            let answers = question.is_answerable && question.gold.contains(&first.passage);
            Some((observe(std::slice::from_ref(first))?, answers))
        });
        let alone = alone.collect();
        Observed { is_answerable: question.is_answerable, with, is_right, without, alone }
    }

    /// Whether a place in what was found holds an answer.
    pub fn holds(&self, question: &Judged, found: &Found, bytes: std::ops::Range<usize>) -> bool {
        let text = self.set.passages[found.passage].text[bytes].to_lowercase();
        question.answers.iter().any(|answer| text.contains(answer))
    }

    /// The question itself.
    pub fn question(&self, asked: &Asked) -> &Judged {
        &self.set.questions[asked.question]
    }

    /// An answer from what was found.
    pub fn answer(
        &self,
        asked: &Asked,
        found: &[Found],
        (embedder, options): (&mut Remembering, &ExtractOptions),
    ) -> pg_rag::extract::Extract {
        let question = &self.question(asked).text;
        extract(question, &self.passages(found), embedder, options).unwrap()
    }

    fn passages(&self, found: &[Found]) -> Vec<ExtractPassage<'_>> {
        let passage = |(number, found): (u32, &Found)| ExtractPassage {
            number,
            content: &self.set.passages[found.passage].text,
            lead: 0,
            heading: Some(&self.set.passages[found.passage].title),
            is_beginning: self.set.passages[found.passage].is_beginning,
            dense_similarity: Some(found.similarity),
        };
        (1..).zip(found).map(passage).collect()
    }
}
