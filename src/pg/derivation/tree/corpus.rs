//! What the tree over all documents stands on: their roots, in an order in which neighbours are alike.

use std::collections::{HashMap, HashSet};

use super::changes;
use super::ground::TreeGround;
use super::lookup::{TreeTables, member};
use crate::error::Result;
use crate::pg::catalog::view::content_columns;
use crate::pg::derivation::counted;
use crate::pg::derivation::mentions::look_around;
use crate::pg::server::sql::{self, query, render};
use crate::tree::order;
use crate::tree::{MOST_LEAVES, MemberHash, TreeLeaf};

/// A row of `documents` of tree.sql.
type CorpusRow = (Vec<u8>, Vec<u8>, i32, Vec<u8>, Vec<f32>, bool);

/// A document as a corpus is made of it.
struct CorpusDocument {
    /// The hash of its key.
    key: Vec<u8>,
    root: MemberHash,
    level: i32,
    chunks: Vec<MemberHash>,
    /// Its vector, or none where it has none.
    vector: Vec<f32>,
    /// Whether the vector is still to come.
    is_unembedded: bool,
}

impl TreeTables<'_> {
    /// The documents, in order; none where there is no tree over them, since it is not wanted, there are too many, or all say
    /// the same. `None` where one has changed or is not embedded, which comes first.
    pub(super) fn corpus(&self) -> Result<Option<TreeGround>> {
        if changes::have_documents_changed(self.pipeline.id)? {
            return Ok(None);
        }
        let nothing = || Ok(Some(TreeGround::of_documents(Vec::new(), 0, Vec::new())));
        let chunks = self.render(query!(tree.chunks));
        let chunks = counted(&chunks, &[(MOST_LEAVES as i64 + 1).into()])?;
        if !self.is_over_corpus || chunks > MOST_LEAVES as i64 {
            return nothing();
        }
        let documents = self.documents()?;
        if documents.iter().any(|it| it.is_unembedded) {
            return Ok(None);
        }
        let level = documents.iter().map(|it| it.level).max().unwrap_or_default();
        let (documents, places) = in_order(documents, &changes::places(self.pipeline.id)?);
        // Whoever says the same is there once.
        let mut seen = HashSet::new();
        let distinct = documents.into_iter().filter(|it| seen.insert(it.root));
        let leaves: Vec<_> =
            distinct.map(|it| (TreeLeaf { hash: it.root, vector: it.vector }, it.chunks)).collect();
        match leaves.len() {
            0 | 1 => nothing(),
            _ => Ok(Some(TreeGround::of_documents(leaves, level as u32, places))),
        }
    }

    fn documents(&self) -> Result<Vec<CorpusDocument>> {
        let keys = content_columns(self.pipeline)?.keys;
        let texts: Vec<String> = keys.iter().map(|key| format!("c.{}::text", key.name)).collect();
        let texts = texts.join(", ");
        let values = [self.values().as_slice(), &[("key_texts", &texts)]].concat();
        let statement = render(query!(tree.documents), &values);
        let (first_chunks, roots) = changes::rooted(self.pipeline.id)?;
        let found = sql::rows(&statement, &[first_chunks.into(), roots.into()], |row| {
            let (key, root) = (sql::required(row.get(1)?)?, sql::required(row.get(2)?)?);
            let (level, chunks) = (sql::required(row.get(3)?)?, sql::required(row.get(4)?)?);
            let vector = row.get::<Vec<f32>>(5)?.unwrap_or_default();
            Ok((key, root, level, chunks, vector, sql::required(row.get(6)?)?))
        })?;
        let document = |(key, root, level, chunks, vector, is_unembedded): CorpusRow| {
            let chunks = chunks.as_chunks().0.to_vec();
            Ok(CorpusDocument { key, root: member(root)?, level, chunks, vector, is_unembedded })
        };
        let mut documents =
            found.into_iter().map(document).collect::<Result<Vec<CorpusDocument>>>()?;
        let dimension = documents.iter().map(|it| it.vector.len()).max().unwrap_or_default();
        documents.iter_mut().for_each(|it| it.vector.resize(dimension, 0.0));
        Ok(documents)
    }
}

/// Documents in their order, and the places that make it.
fn in_order(
    documents: Vec<CorpusDocument>,
    known: &HashMap<Vec<u8>, f64>,
) -> (Vec<CorpusDocument>, Vec<(Vec<u8>, f64)>) {
    let kept: Vec<Option<f64>> = documents.iter().map(|it| known.get(&it.key).copied()).collect();
    let vectors: Vec<&[f32]> = documents.iter().map(|it| it.vector.as_slice()).collect();
    let places = order::places(&kept, &vectors, &mut look_around);
    let mut placed: Vec<(CorpusDocument, f64)> = documents.into_iter().zip(places).collect();
    placed.sort_by(|a, b| a.1.total_cmp(&b.1));
    let places = placed.iter().map(|(it, place)| (it.key.clone(), *place)).collect();
    (placed.into_iter().map(|(it, _)| it).collect(), places)
}
