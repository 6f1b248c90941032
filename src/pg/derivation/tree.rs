//! Trees: what runs of a document's chunks say, what runs of these say, and what the document says as a whole.
//!
//! Nodes are kept by the hash of what they cover, so a chunk that moves costs nothing, and a changed one as many
//! summaries as the tree has levels. They are made level by level: a summary of summaries waits for those.

use std::collections::{HashMap, HashSet};

use serde_json::Value as Json;

use super::mentions::look_around;
use super::table::{self, TableForm};
use super::{
    Derivation, DerivationItem, DerivedReply, DerivedText, UnembeddedText, check_refresh, counted,
    same_document,
};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::derivation::{self, DerivationKind};
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::catalog::view::content_columns;
use crate::pg::server::sql::{self, query, render};
use crate::pg::server::vector::Vector;
use crate::prompt::messages::Message;
use crate::tree::digest::{MOST_SENTENCES, QuotedSentence, digest, quotable, text_of};
use crate::tree::grow::grow;
use crate::tree::options::TreeOptions;
use crate::tree::{MOST_LEAVES, MemberHash, TreeChild, TreeLeaf, TreeNode};

const KIND: DerivationKind = DerivationKind::Tree;

/// What [`DerivedText::kind`] says of a summary.
const SUMMARY: &str = "summary";

/// Documents that are looked at together.
const DOCUMENTS: i64 = 16;

const FORM: TableForm = TableForm {
    label: c"tree",
    definition: query!(tree.create_table),
    leaves: ("leaves", "content_hash"),
    comments: query!(tree.comment_table),
};

/// Has `option` hold for a pipeline of the caller, and for its successor: an object, or `false` or null for no trees.
pub fn alter(pipeline: &Pipeline, option: &Json) -> Result<()> {
    let is_wanted = TreeOptions::read(option)?.is_some();
    if is_wanted {
        check_refresh(KIND, pipeline.refresh)?;
    }
    table::alter(pipeline, KIND, is_wanted.then_some(option), |one, option| {
        table::create_embedded(one, &FORM, KIND, option)
    })
}

/// Has a new pipeline, which has no chunks yet, keep what `option` says, if that is anything.
pub fn create_if_wanted(pipeline: &Pipeline, option: &Json) -> Result<()> {
    match TreeOptions::read(option)? {
        Some(_) => alter(pipeline, option),
        None => Ok(()),
    }
}

/// Gives a successor what the pipeline has whose place it is to take.
pub fn inherit(successor: &Pipeline, old: &Pipeline) -> Result<()> {
    match derivation::of(old.id, KIND)? {
        Some(it) => table::create_embedded(successor, &FORM, KIND, &it.options),
        None => Ok(()),
    }
}

/// The trees of a pipeline's documents.
pub struct DocumentTrees;

/// A node that is to be summed up, by the hashes of what it covers.
#[derive(Clone, Debug)]
pub struct TreeNodeText {
    level: u32,
    /// Whether it covers a whole document.
    is_root: bool,
    leaves: Vec<MemberHash>,
    children: Vec<MemberHash>,
    /// The sentences that sum it up, whose `leaf` is a place among the leaves.
    sentences: Vec<QuotedSentence>,
}

/// What sentences are there of the members of a level, by their hashes; a `leaf` is a place among the member's.
type Sentences = HashMap<MemberHash, Vec<QuotedSentence>>;

/// The tables that trees are made of.
struct TreeTables<'a> {
    chunk_table: &'a str,
    tree: &'a str,
    same_document: String,
}

impl<'a> TreeTables<'a> {
    fn of(pipeline: &'a Pipeline, tree: &'a str) -> Result<TreeTables<'a>> {
        let same_document = same_document(pipeline)?;
        Ok(TreeTables { chunk_table: &pipeline.chunk_table.sql, tree, same_document })
    }

    fn render(&self, template: &str) -> String {
        let values = [
            ("chunk_table", self.chunk_table),
            ("tree", self.tree),
            ("same_document", &self.same_document),
        ];
        render(template, &values)
    }

    /// The nodes of a document that are not there and can be made now, since their children are there.
    fn ready(&self, first_chunk: i64) -> Result<Vec<DerivationItem>> {
        let leaves = self.leaves(first_chunk)?;
        let mut among = |asked: &[MemberHash]| self.known(asked);
        let nodes = grow(&leaves, &mut among, &mut look_around)?;
        let hashes: Vec<MemberHash> = nodes.iter().map(|node| node.hash).collect();
        let there = self.known(&hashes)?;
        let mut seen = HashSet::new();
        let is_ready = |node: &&TreeNode| {
            let is_new = !there.contains(&node.hash) && seen.insert(node.hash);
            is_new && (node.level == 1 || node.children.iter().all(|it| there.contains(&it.hash)))
        };
        let ready: Vec<&TreeNode> = nodes.iter().filter(is_ready).collect();
        let of_chunks = self.of_chunks(members(&ready, true))?;
        let of_nodes = self.of_nodes(members(&ready, false))?;
        let item = |node: &TreeNode| {
            let sentences = if node.level == 1 { &of_chunks } else { &of_nodes };
            item(first_chunk, node, &leaves, sentences)
        };
        Ok(ready.into_iter().map(item).collect())
    }

    fn leaves(&self, first_chunk: i64) -> Result<Vec<TreeLeaf>> {
        let statement = self.render(query!(tree.leaves));
        let found = sql::rows(&statement, &[first_chunk.into()], |row| {
            let hash = sql::required(row.get::<Vec<u8>>(1)?)?;
            Ok((hash, sql::required(row.get::<Vec<f32>>(2)?)?))
        })?;
        let leaf = |(hash, vector)| Ok(TreeLeaf { hash: member(hash)?, vector });
        found.into_iter().map(leaf).collect()
    }

    /// Which of these nodes are there.
    fn known(&self, hashes: &[MemberHash]) -> Result<HashSet<MemberHash>> {
        let statement = self.render(query!(tree.known));
        let asked = bytes(hashes);
        let found =
            sql::rows(&statement, &[asked.into()], |row| sql::required(row.get::<Vec<u8>>(1)?))?;
        found.into_iter().map(member).collect()
    }

    /// The sentences of chunks with these hashes.
    fn of_chunks(&self, hashes: Vec<MemberHash>) -> Result<Sentences> {
        let statement = self.render(query!(tree.contents));
        let found = sql::rows(&statement, &[bytes(&hashes).into()], |row| {
            let hash = sql::required(row.get::<Vec<u8>>(1)?)?;
            Ok((hash, sql::required(row.get::<String>(2)?)?))
        })?;
        let sentences = |(hash, content): (_, String)| {
            Ok((member(hash)?, quotable(0, &content, &mut look_around)))
        };
        found.into_iter().map(sentences).collect()
    }

    /// The sentences of the summaries of these nodes.
    fn of_nodes(&self, hashes: Vec<MemberHash>) -> Result<Sentences> {
        let statement = self.render(query!(tree.sentences));
        let found = sql::rows(&statement, &[bytes(&hashes).into()], |row| {
            let leaf = sql::required(row.get::<i32>(2)?)? as usize - 1;
            let (start, end): (i32, i32) =
                (sql::required(row.get(3)?)?, sql::required(row.get(4)?)?);
            let chars = start as u32..end as u32;
            let sentence = QuotedSentence { leaf, chars, text: sql::required(row.get(5)?)? };
            Ok((sql::required(row.get::<Vec<u8>>(1)?)?, sentence))
        })?;
        let mut sentences = Sentences::new();
        for (hash, sentence) in found {
            sentences.entry(member(hash)?).or_default().push(sentence);
        }
        Ok(sentences)
    }
}

/// The children of some nodes, each once: of those of the lowest level, which are chunks, or of the others.
fn members(nodes: &[&TreeNode], are_chunks: bool) -> Vec<MemberHash> {
    let wanted = nodes.iter().filter(|node| (node.level == 1) == are_chunks);
    let children: HashSet<MemberHash> =
        wanted.flat_map(|node| &node.children).map(|child| child.hash).collect();
    children.into_iter().collect()
}

/// A node as the runner knows it: its key is the document's first chunk and the node's hash.
fn item(
    first_chunk: i64,
    node: &TreeNode,
    leaves: &[TreeLeaf],
    sentences: &Sentences,
) -> DerivationItem {
    let of_child = |child: &TreeChild| {
        let before = child.leaves.start - node.leaves.start;
        let found = sentences.get(&child.hash).cloned().unwrap_or_default();
        found.into_iter().map(move |it| QuotedSentence { leaf: before + it.leaf, ..it })
    };
    let possible: Vec<QuotedSentence> = node.children.iter().flat_map(of_child).collect();
    let text = TreeNodeText {
        level: node.level,
        is_root: node.leaves.len() == leaves.len(),
        leaves: leaves[node.leaves.clone()].iter().map(|leaf| leaf.hash).collect(),
        children: node.children.iter().map(|child| child.hash).collect(),
        sentences: digest(possible, MOST_SENTENCES, &mut look_around),
    };
    let key = [first_chunk.to_be_bytes().as_slice(), &node.hash].concat();
    DerivationItem { key, node: Some(Box::new(text)), ..DerivationItem::default() }
}

/// The first chunk that a key begins with; before the first key, one before all.
fn first_chunk(key: &[u8]) -> i64 {
    key.first_chunk().map_or(i64::MIN, |bytes| i64::from_be_bytes(*bytes))
}

/// The hash of the node, with which a key ends.
fn hash_in(key: &[u8]) -> &[u8] {
    key.last_chunk::<{ size_of::<MemberHash>() }>().map_or(key, |hash| hash.as_slice())
}

fn bytes(hashes: &[MemberHash]) -> Vec<&[u8]> {
    hashes.iter().map(MemberHash::as_slice).collect()
}

fn member(hash: Vec<u8>) -> Result<MemberHash> {
    hash.try_into().map_err(|hash: Vec<u8>| {
        let message = format!("hash of a chunk or node has {} bytes", hash.len());
        Error::new(ErrorKind::DataCorrupted, message)
    })
}

impl Derivation for DocumentTrees {
    /// All nodes of a document that can be made come together, so that there may be more than `most`.
    fn missing(
        &self,
        pipeline: &Pipeline,
        relation: &str,
        after: &[u8],
        most: i32,
    ) -> Result<Vec<DerivationItem>> {
        let tables = TreeTables::of(pipeline, relation)?;
        let statement = tables.render(query!(tree.unfinished));
        let (mut items, mut after) = (Vec::new(), first_chunk(after));
        while items.len() < most as usize {
            let arguments = [after.into(), DOCUMENTS.into(), (MOST_LEAVES as i64).into()];
            let documents =
                sql::rows(&statement, &arguments, |row| sql::required(row.get::<i64>(1)?))?;
            let Some(last) = documents.last() else { break };
            after = *last;
            for document in documents {
                look_around();
                items.extend(tables.ready(document)?);
            }
        }
        Ok(items)
    }

    fn count_missing(&self, pipeline: &Pipeline, relation: &str, most: i64) -> Result<i64> {
        let statement = TreeTables::of(pipeline, relation)?.render(query!(tree.count_unfinished));
        counted(&statement, &[most.into(), (MOST_LEAVES as i64).into()])
    }

    fn messages(&self, _: &DerivationItem, _: &str) -> Result<Vec<Message>> {
        Err(Error::new(ErrorKind::Internal, "no language model is asked about a tree"))
    }

    fn read(&self, _: &DerivationItem, _: &str) -> DerivedReply {
        DerivedReply::default()
    }

    fn composed(&self, item: &mut DerivationItem, _: &mut dyn FnMut()) -> Result<Vec<DerivedText>> {
        let sentences = item.node.as_ref().map(|node| text_of(&node.sentences));
        let text = |content| DerivedText { kind: SUMMARY.to_owned(), no: 1, content };
        Ok(sentences.filter(|it| !it.is_empty()).map(text).into_iter().collect())
    }

    fn keep(&self, relation: &str, made: &[(DerivationItem, Vec<DerivedText>)]) -> Result<()> {
        let insert = render(query!(tree.insert), &[("tree", relation)]);
        for (DerivationItem { key, node, .. }, texts) in made {
            let Some(TreeNodeText { level, leaves, children, sentences, .. }) = node.as_deref()
            else {
                continue;
            };
            let text = texts.first().map(|it| it.content.as_str());
            let numbers = |of: fn(&QuotedSentence) -> u32| -> Vec<i32> {
                sentences.iter().map(|it| of(it) as i32).collect()
            };
            let arguments = [
                hash_in(key).into(),
                (*level as i32).into(),
                bytes(leaves).into(),
                bytes(children).into(),
                text.into(),
                numbers(|it| it.leaf as u32 + 1).into(),
                numbers(|it| it.chars.start).into(),
                numbers(|it| it.chars.end).into(),
                (text.is_some() && leaves.len() > 1).into(),
            ];
            sql::execute(&insert, &arguments)?;
        }
        Ok(())
    }

    /// Documents are counted, by their roots.
    fn finished(&self, made: &[(DerivationItem, Vec<DerivedText>)]) -> usize {
        let is_root = |item: &DerivationItem| item.node.as_ref().is_some_and(|node| node.is_root);
        made.iter().filter(|(item, _)| is_root(item)).count()
    }

    /// A summary of one chunk is found by the chunk.
    fn whole(&self, item: &DerivationItem, text: &DerivedText) -> Option<String> {
        let covered = item.node.as_ref().map_or(0, |node| node.leaves.len());
        (covered > 1).then(|| text.content.clone())
    }

    fn unembedded(&self, _: &Pipeline, relation: &str, most: i32) -> Result<Vec<UnembeddedText>> {
        let statement = render(query!(tree.unembedded), &[("tree", relation)]);
        sql::rows(&statement, &[most.into()], |row| {
            let (key, content) =
                (sql::required(row.get(1)?)?, sql::required(row.get::<String>(2)?)?);
            let whole = content.clone();
            Ok(UnembeddedText {
                key,
                text: DerivedText { kind: SUMMARY.to_owned(), no: 1, content },
                whole,
            })
        })
    }

    fn put_vectors(
        &self,
        _: &Pipeline,
        relation: &str,
        embedded: &[(UnembeddedText, Option<Vec<f32>>)],
    ) -> Result<()> {
        let values = [("tree", relation), ("vector", &sql::vector_schema()?)];
        let arguments = [
            embedded.iter().map(|(it, _)| hash_in(&it.key)).collect::<Vec<_>>().into(),
            embedded.iter().map(|(_, it)| it.clone().map(Vector)).collect::<Vec<_>>().into(),
        ];
        sql::execute(&render(query!(tree.embed), &values), &arguments).map(drop)
    }

    fn forget_gone(&self, pipeline: &Pipeline, relation: &str) -> Result<()> {
        let keys = content_columns(pipeline)?.keys;
        let keys: Vec<String> = keys.iter().map(|key| format!("c.{}", key.name)).collect();
        let values = [
            ("chunk_table", pipeline.chunk_table.sql.as_str()),
            ("tree", relation),
            ("keys", &keys.join(", ")),
        ];
        let statement = render(query!(tree.forget_gone), &values);
        sql::execute(&statement, &[(MOST_LEAVES as i64).into()]).map(drop)
    }
}
