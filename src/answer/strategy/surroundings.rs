//! What a graph says around a question, as far as what is read stands behind it.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{Source, SourceId};

/// Most names or paths that a list tells of.
const MOST_NAMES: usize = 20;

/// Something that a graph says.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphNote {
    /// By what it is recognised: of an entity, the normal form.
    pub key: String,
    /// How it is told.
    pub words: String,
    /// How much it counts beside others of its list; greater is better.
    pub weight: f64,
    /// Sets of sources, each of which proves it as a whole.
    pub proofs: Vec<Vec<SourceId>>,
}

/// What is around a question in a graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// What the graph says: lists, each under what it is a list of, the best first.
    pub lists: Vec<(&'static str, Vec<GraphNote>)>,
    /// What was found, and what stands behind the lists.
    pub sources: Vec<Source>,
}

impl Surroundings {
    /// What the graph says in words: of each list what the sources prove that are `read`, up to 20 of it.
    #[must_use]
    pub fn told(&self, read: &BTreeSet<SourceId>) -> Vec<String> {
        let is_proven = |note: &&GraphNote| {
            note.proofs.iter().any(|proof| proof.iter().all(|source| read.contains(source)))
        };
        let told = |(what, notes): &(&str, Vec<GraphNote>)| {
            let proven = notes.iter().filter(is_proven).map(|it| it.words.as_str());
            let words: Vec<&str> = proven.take(MOST_NAMES).collect();
            (!words.is_empty()).then(|| format!("{what}: {}", words.join("; ")))
        };
        self.lists.iter().filter_map(told).collect()
    }
}

/// The notes, the best first; those with the same key are one, in the words of the first.
#[must_use]
pub fn joined(notes: Vec<GraphNote>) -> Vec<GraphNote> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut all: Vec<GraphNote> = Vec::new();
    for note in notes {
        match places.get(&note.key).and_then(|at| all.get_mut(*at)) {
            Some(same) => {
                same.weight += note.weight;
                same.proofs.extend(note.proofs);
            }
            None => {
                places.insert(note.key.clone(), all.len());
                all.push(note);
            }
        }
    }
    all.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    all
}
