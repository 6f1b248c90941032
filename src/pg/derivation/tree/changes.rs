//! Which documents have changed since their trees were made, which node is the root of each, and which nodes are part of
//! no tree any more: so that a run looks at what has changed and at nothing else.
//!
//! Whoever stores or deletes chunks leaves a mark, in the same transaction, and waits for nobody: marks are added, and
//! forgotten by their numbers by who has seen them. A node is deleted once it is no root and no node is made of it.

use std::collections::HashMap;

use serde_json::{Value as Json, json};

use super::lookup::{bytes, member};
use super::{DocumentTrees, KIND};
use crate::error::Result;
use crate::pg::catalog::derivation;
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::derivation::mentions::look_around;
use crate::pg::derivation::{counted, same_document};
use crate::pg::server::role::as_superuser;
use crate::pg::server::sql::{self, query, render};
use crate::tree::MemberHash;

/// What stands for the first chunk where all documents together are meant. Behind that of each document.
pub(super) const CORPUS: i64 = i64::MAX;

/// Candidates that are looked at together.
const CANDIDATES: usize = 1000;

/// A document that has changed.
pub(super) struct ChangedDocument {
    /// Its first chunk, which may be gone.
    pub(super) first_chunk: i64,
    /// The numbers of the changes.
    pub(super) changes: Vec<i64>,
}

/// A document whose tree is whole, or is to be none.
#[derive(Clone, Debug)]
pub struct SettledDocument {
    /// Its first chunk, which may be gone.
    pub(super) first_chunk: i64,
    /// The root of its tree; `None` where it has none.
    pub(super) root: Option<MemberHash>,
    /// The numbers of the changes that the tree follows.
    pub(super) changes: Vec<i64>,
    /// Of a corpus, where each document stands, by the hash of its key.
    pub(super) places: Vec<(Vec<u8>, f64)>,
}

/// Whether a pipeline has trees that follow its chunks. Trees that have just been committed count, also where the
/// transaction sees only what is older. To be called with a lock on the chunks that writers take.
pub fn are_followed(pipeline: i32) -> Result<bool> {
    Ok(sql::with_latest_snapshot(|| derivation::of(pipeline, KIND))?.is_some())
}

/// Leaves word that the chunks of documents have changed, which are known by their first chunks; for a pipeline whose
/// trees [follow](are_followed) them.
pub fn mark(pipeline: i32, first_chunks: &[i64]) -> Result<()> {
    if first_chunks.is_empty() {
        return Ok(());
    }
    let arguments = [pipeline.into(), first_chunks.to_vec().into()];
    as_superuser(|| sql::execute(query!(tree_change.mark), &arguments)).map(drop)
}

/// Leaves word that the documents of some chunks have changed. To be called as the owner of the chunks.
pub fn mark_documents_of(pipeline: &Pipeline, chunks: &[i64]) -> Result<()> {
    if chunks.is_empty() || !are_followed(pipeline.id)? {
        return Ok(());
    }
    mark(pipeline.id, &first_chunks_of(pipeline, chunks)?)
}

/// The root of the tree over the documents of a pipeline, as of when it was whole last, if there is one.
pub fn root_of_corpus(pipeline: &Pipeline) -> Result<Vec<Vec<u8>>> {
    roots_of(pipeline, &[CORPUS])
}

/// The roots of the trees of documents, which are known by their first chunks, as of when each tree was whole last.
pub fn roots_of(pipeline: &Pipeline, first_chunks: &[i64]) -> Result<Vec<Vec<u8>>> {
    let arguments = [pipeline.id.into(), first_chunks.to_vec().into()];
    as_superuser(|| {
        sql::rows(query!(tree_change.roots_of), &arguments, |row| sql::required(row.get(1)?))
    })
}

/// Whether one of some documents, which are known by their first chunks, has no tree and is still to get one.
pub fn are_unmade(pipeline: &Pipeline, first_chunks: &[i64]) -> Result<bool> {
    let arguments = [pipeline.id.into(), first_chunks.to_vec().into()];
    let found = as_superuser(|| {
        sql::rows(query!(tree_change.unmade), &arguments, |row| sql::required(row.get::<i32>(1)?))
    })?;
    Ok(!found.is_empty())
}

/// The first chunks of the documents of some chunks, which the caller may read.
pub fn first_chunks_of(pipeline: &Pipeline, chunks: &[i64]) -> Result<Vec<i64>> {
    let same_document = same_document(pipeline)?;
    let values =
        [("chunk_table", pipeline.chunk_table.sql.as_str()), ("same_document", &same_document)];
    let statement = render(query!(tree.first_chunks_of), &values);
    sql::rows(&statement, &[chunks.to_vec().into()], |row| sql::required(row.get(1)?))
}

/// Forgets what was known of trees that are taken away.
pub fn forget(pipeline: i32) -> Result<()> {
    let statements = [
        query!(tree_change.forget_changes),
        query!(tree_change.forget_roots),
        query!(tree_change.forget_places),
        query!(tree_change.forget_candidates),
    ];
    as_superuser(|| {
        statements.iter().try_for_each(|it| sql::execute(it, &[pipeline.into()]).map(drop))
    })
}

/// Has all documents be looked at where they are not known yet, or are to be summed up in another way than before; what
/// is to be remembered then.
pub(super) fn prepare(
    trees: &DocumentTrees,
    pipeline: &Pipeline,
    relation: &str,
) -> Result<Option<Json>> {
    let (template, llm) = trees.way();
    let mut wanted = json!({"template": template, "llm": llm});
    if trees.is_over_corpus {
        wanted["over"] = json!("corpus");
    }
    if trees.state.as_ref() == Some(&wanted) {
        return Ok(None);
    }
    // What a transaction marks that is not seen yet stays marked.
    as_superuser(|| match trees.state {
        None => forget(pipeline.id),
        Some(_) => {
            let arguments = [pipeline.id.into()];
            sql::execute(query!(tree_change.mark_rooted), &arguments).map(drop)
        }
    })?;
    if trees.state.is_none() {
        add_all_as_candidates(pipeline.id, relation)?;
    }
    let values = [("chunk_table", pipeline.chunk_table.sql.as_str())];
    let statement = render(query!(tree.first_chunks), &values);
    let mut documents = sql::rows(&statement, &[], |row| sql::required(row.get::<i64>(1)?))?;
    documents.extend(trees.is_over_corpus.then_some(CORPUS));
    mark(pipeline.id, &documents)?;
    Ok(Some(wanted))
}

/// At most `most` documents that have changed, behind the one with the first chunk `after`.
pub(super) fn changed(pipeline: i32, after: i64, most: i64) -> Result<Vec<ChangedDocument>> {
    let arguments = [pipeline.into(), after.into(), most.into()];
    let found = as_superuser(|| {
        sql::rows(query!(tree_change.changed), &arguments, |row| {
            Ok((sql::required(row.get(1)?)?, sql::required(row.get(2)?)?))
        })
    })?;
    let document = |(first_chunk, changes)| ChangedDocument { first_chunk, changes };
    Ok(found.into_iter().map(document).collect())
}

/// Whether another document than the corpus has changed.
pub(super) fn have_documents_changed(pipeline: i32) -> Result<bool> {
    let arguments = [pipeline.into(), CORPUS.into()];
    let found = as_superuser(|| {
        sql::rows(query!(tree_change.others), &arguments, |row| sql::required(row.get::<i32>(1)?))
    })?;
    Ok(!found.is_empty())
}

/// The documents that have a tree, by their first chunks, and their roots.
pub(super) fn rooted(pipeline: i32) -> Result<(Vec<i64>, Vec<Vec<u8>>)> {
    let arguments = [pipeline.into(), CORPUS.into()];
    let found = as_superuser(|| {
        sql::rows(query!(tree_change.rooted), &arguments, |row| {
            let first_chunk = sql::required(row.get::<i64>(1)?)?;
            Ok((first_chunk, sql::required(row.get::<Vec<u8>>(2)?)?))
        })
    })?;
    Ok(found.into_iter().unzip())
}

/// Where the documents of a corpus stand, by the hashes of their keys.
pub(super) fn places(pipeline: i32) -> Result<HashMap<Vec<u8>, f64>> {
    let found = as_superuser(|| {
        sql::rows(query!(tree_change.places), &[pipeline.into()], |row| {
            Ok((sql::required(row.get(1)?)?, sql::required(row.get(2)?)?))
        })
    })?;
    Ok(found.into_iter().collect())
}

/// How many documents have changed, as far as `most`.
pub(super) fn count(pipeline: i32, most: i64) -> Result<i64> {
    let arguments = [pipeline.into(), most.into()];
    as_superuser(|| counted(query!(tree_change.count), &arguments))
}

/// Has nodes be looked at that may be of no tree.
pub(super) fn add_candidates(pipeline: i32, nodes: &[MemberHash]) -> Result<()> {
    if nodes.is_empty() {
        return Ok(());
    }
    let arguments = [pipeline.into(), bytes(nodes).into()];
    as_superuser(|| sql::execute(query!(tree_change.add_candidates), &arguments)).map(drop)
}

/// Has all nodes that there are be looked at, some at a time.
fn add_all_as_candidates(pipeline: i32, relation: &str) -> Result<()> {
    let statement = render(query!(tree.nodes), &[("tree", relation)]);
    let mut last = Vec::new();
    loop {
        look_around();
        let arguments = [last.clone().into(), (CANDIDATES as i64).into()];
        let nodes = sql::rows(&statement, &arguments, |row| sql::required(row.get::<Vec<u8>>(1)?))?;
        let Some(behind) = nodes.last() else { return Ok(()) };
        last.clone_from(behind);
        let nodes = nodes.into_iter().map(member).collect::<Result<Vec<_>>>()?;
        add_candidates(pipeline, &nodes)?;
    }
}

/// Keeps the roots of documents whose trees are whole, and forgets that these have changed; where `is_over_corpus`, their
/// corpus has. To be called as the owner of the trees.
pub(super) fn settle(
    pipeline: i32,
    relation: &str,
    documents: &[&SettledDocument],
    is_over_corpus: bool,
) -> Result<()> {
    let Some((old, new)) = as_superuser(|| keep_roots(pipeline, documents))? else { return Ok(()) };
    let are_documents = documents.iter().any(|it| it.first_chunk != CORPUS);
    if is_over_corpus && are_documents && !(old.is_empty() && new.is_empty()) {
        mark(pipeline, &[CORPUS])?;
    }
    if let Some(corpus) = documents.iter().find(|it| it.first_chunk == CORPUS) {
        let (documents, places): (Vec<&[u8]>, Vec<f64>) =
            corpus.places.iter().map(|(document, place)| (document.as_slice(), *place)).unzip();
        let arguments = [pipeline.into(), documents.into(), places.into()];
        as_superuser(|| sql::execute(query!(tree_change.set_places), &arguments))?;
    }
    add_candidates(pipeline, &old)?;
    set_roots(relation, &new, true)
}

/// Keeps the roots of documents; those that have been roots of one of them, and those that are now.
fn keep_roots(
    pipeline: i32,
    documents: &[&SettledDocument],
) -> Result<Option<(Vec<MemberHash>, Vec<MemberHash>)>> {
    if documents.is_empty() {
        return Ok(None);
    }
    let first_chunks: Vec<i64> = documents.iter().map(|it| it.first_chunk).collect();
    let roots: Vec<Option<&[u8]>> =
        documents.iter().map(|it| it.root.as_ref().map(|root| root.as_slice())).collect();
    let arguments = [pipeline.into(), first_chunks.into(), roots.into()];
    let changed = sql::changed_rows(query!(tree_change.settle), &arguments, |row| {
        Ok((sql::required(row.get::<Vec<u8>>(1)?)?, sql::required(row.get::<bool>(2)?)?))
    })?;
    let seen: Vec<i64> = documents.iter().flat_map(|it| &it.changes).copied().collect();
    sql::execute(query!(tree_change.forget_seen), &[pipeline.into(), seen.into()])?;
    let (new, old): (Vec<_>, Vec<_>) = changed.into_iter().partition(|(_, is_new)| *is_new);
    let hashes = |rows: Vec<(Vec<u8>, bool)>| -> Result<Vec<MemberHash>> {
        rows.into_iter().map(|(hash, _)| member(hash)).collect()
    };
    Ok(Some((hashes(old)?, hashes(new)?)))
}

fn set_roots(relation: &str, nodes: &[MemberHash], are_roots: bool) -> Result<()> {
    if nodes.is_empty() {
        return Ok(());
    }
    let statement = render(query!(tree.set_roots), &[("tree", relation)]);
    sql::execute(&statement, &[bytes(nodes).into(), are_roots.into()]).map(drop)
}

/// Deletes the candidates that are part of no tree, and what only these were made of. To be called as the owner of the
/// trees.
pub(super) fn sweep(pipeline: i32, relation: &str) -> Result<()> {
    let candidates = as_superuser(|| {
        sql::rows(query!(tree_change.candidates), &[pipeline.into()], |row| {
            sql::required(row.get::<Vec<u8>>(1)?)
        })
    })?;
    let candidates = candidates.into_iter().map(member).collect::<Result<Vec<_>>>()?;
    if candidates.is_empty() {
        return Ok(());
    }
    for some in candidates.chunks(CANDIDATES) {
        sweep_from(pipeline, relation, some.to_vec())?;
    }
    let arguments = [pipeline.into()];
    as_superuser(|| sql::execute(query!(tree_change.forget_candidates), &arguments)).map(drop)
}

/// Deletes those of some nodes that are part of no tree; then of what these were made of, and so on.
fn sweep_from(pipeline: i32, relation: &str, mut nodes: Vec<MemberHash>) -> Result<()> {
    let statement = render(query!(tree.sweep), &[("tree", relation)]);
    while !nodes.is_empty() {
        look_around();
        let arguments = [pipeline.into(), bytes(&nodes).into()];
        let roots = as_superuser(|| {
            sql::rows(query!(tree_change.roots), &arguments, |row| {
                sql::required(row.get::<Vec<u8>>(1)?)
            })
        })?;
        let roots = roots.into_iter().map(member).collect::<Result<Vec<_>>>()?;
        nodes.retain(|node| !roots.contains(node));
        let below = sql::changed_rows(&statement, &[bytes(&nodes).into()], |row| {
            sql::required(row.get::<Vec<u8>>(1)?)
        })?;
        // What is left of them was a root, and is part of a larger tree.
        set_roots(relation, &nodes, false)?;
        nodes = below.into_iter().map(member).collect::<Result<_>>()?;
    }
    Ok(())
}
