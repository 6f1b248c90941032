//! What a graph says around a question, as far as what is read stands behind it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::graph::paths::EntityPath;
use crate::graph::paths::relations::RelationStep;
use crate::source::{RelationRow, Source, SourceId, StatementRows};

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

/// A path of which each edge is what a row says.
#[derive(Clone, Debug, PartialEq)]
pub struct PathOfRows {
    /// What the table of these rows is called.
    pub relation: String,
    /// The path.
    pub path: EntityPath,
}

/// What is said on paths over relations: each row that says something is a source, and each path a note that its rows prove
/// together. What a language model has read in a text is no source: that is the words of the text, and the note alone has its
/// predicate.
#[must_use]
pub fn related(paths: &[PathOfRows]) -> Surroundings {
    let mut said = Vec::new();
    let mut notes = Vec::new();
    for PathOfRows { relation, path } in paths {
        let mut proofs = Vec::new();
        for (statement, edge) in statements(path).into_iter().zip(&path.edges) {
            let key = Some(edge.proof.source_key.clone());
            let row = RelationRow { relation: relation.clone(), key };
            proofs.push(SourceId::Row(row.clone()));
            let words = edge.relation.as_ref().and_then(|it| it.words.clone());
            said.push((row, words.unwrap_or(statement)));
        }
        let words = statements(path).join(", ");
        notes.push(GraphNote {
            key: words.clone(),
            words,
            weight: path.score,
            proofs: vec![proofs],
        });
    }
    Surroundings { lists: vec![("Paths", joined(notes))], sources: saying_rows(said) }
}

/// Relations of what a question names in words, of which the first counts most; and which row of `table` says each, where a
/// column does. What a language model has read in a text is proven by the chunk with its words: `places` has the sources
/// of chunks, by the keys of these.
#[must_use]
pub fn stated(
    relations: &[RelationStep],
    table: &str,
    places: &HashMap<i64, SourceId>,
) -> (Vec<GraphNote>, Vec<(RelationRow, String)>) {
    let mut said = Vec::new();
    let mut notes = Vec::new();
    for (rank, RelationStep { from_name, to, relation, proof, .. }) in (1_u32..).zip(relations) {
        let predicate = &relation.predicate;
        let (subject, object) = match relation.is_inverse {
            true => (&to.name, from_name),
            false => (from_name, &to.name),
        };
        let source = match relation.words {
            Some(_) => places.get(&proof.chunk_id).cloned(),
            None => {
                let key = Some(proof.source_key.clone());
                let row = RelationRow { relation: table.to_owned(), key };
                said.push((row.clone(), format!("{subject} {predicate} {object}")));
                Some(SourceId::Row(row))
            }
        };
        let words = format!("{subject} — {predicate} → {object}");
        notes.push(GraphNote {
            key: words.clone(),
            words,
            weight: 1.0 / f64::from(rank),
            proofs: source.map(|it| vec![it]).into_iter().collect(),
        });
    }
    (joined(notes), said)
}

/// Rows as sources: each row once, with all that it says, and nothing of that twice.
#[must_use]
pub fn saying_rows(said: Vec<(RelationRow, String)>) -> Vec<Source> {
    let mut rows: Vec<(RelationRow, Vec<String>)> = Vec::new();
    for (row, content) in said {
        match rows.iter_mut().find(|(known, _)| *known == row) {
            Some((_, said)) if said.contains(&content) => {}
            Some((_, said)) => said.push(content),
            None => rows.push((row, vec![content])),
        }
    }
    let source = |(row, said): (RelationRow, Vec<String>)| {
        Source::Rows(StatementRows { row, content: said.join("\n") })
    };
    rows.into_iter().map(source).collect()
}

/// What the relations on a path say, each from its subject to its object.
fn statements(path: &EntityPath) -> Vec<String> {
    let pairs = path.entities.windows(2).zip(&path.edges);
    let said = pairs.map(|(pair, edge)| {
        let (from, to) = (pair[0].name.as_str(), pair[1].name.as_str());
        match &edge.relation {
            Some(it) if it.is_inverse => format!("{to} {} {from}", it.predicate),
            Some(it) => format!("{from} {} {to}", it.predicate),
            None => format!("{from}, {to}"),
        }
    });
    said.collect()
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
