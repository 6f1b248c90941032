//! Which nodes of a tree can be made now, and of what.

use std::collections::{HashMap, HashSet};

use pgrx::pg_sys::Oid;

use super::changes::{CORPUS, ChangedDocument, SettledDocument};
use super::ground::TreeGround;
use super::{DocumentTrees, TreeNodeText};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::derivation::mentions::look_around;
use crate::pg::derivation::{DerivationItem, same_document};
use crate::pg::server::sql::{self, query, render};
use crate::prompt::messages::PromptSource;
use crate::text::code::open_fences;
use crate::tree::digest::{MOST_SENTENCES, QuotedSentence, digest, is_makeshift, quotable};
use crate::tree::grow::grow;
use crate::tree::written;
use crate::tree::{MOST_LEAVES, MemberHash, TreeChild, TreeLeaf, TreeNode, node_hash};

/// What sentences are there of the members of a level, by their hashes; a `leaf` is a place among the member's.
type Sentences = HashMap<MemberHash, Vec<QuotedSentence>>;

/// What the members of a level say.
#[derive(Default)]
struct MemberTexts {
    sentences: Sentences,
    /// The whole texts, where a language model reads them.
    passages: HashMap<MemberHash, PromptSource>,
}

/// The tables that trees are made of.
pub(super) struct TreeTables<'a> {
    pub(super) pipeline: &'a Pipeline,
    source: Oid,
    chunk_table: &'a str,
    tree: &'a str,
    same_document: String,
    /// In which template, and by which language model, nodes are to be written.
    way: (Option<&'a str>, Option<&'a str>),
    pub(super) is_over_corpus: bool,
}

impl<'a> TreeTables<'a> {
    pub(super) fn of(
        pipeline: &'a Pipeline,
        tree: &'a str,
        trees: &'a DocumentTrees,
    ) -> Result<TreeTables<'a>> {
        let same_document = same_document(pipeline)?;
        let chunk_table = &pipeline.chunk_table.sql;
        let source = pipeline.source.oid;
        let (way, is_over_corpus) = (trees.way(), trees.is_over_corpus);
        Ok(TreeTables { pipeline, source, chunk_table, tree, same_document, way, is_over_corpus })
    }

    pub(super) fn render(&self, template: &str) -> String {
        render(template, &self.values())
    }

    pub(super) fn values(&self) -> [(&str, &str); 3] {
        [
            ("chunk_table", self.chunk_table),
            ("tree", self.tree),
            ("same_document", &self.same_document),
        ]
    }

    /// What is to be made of a document that has changed, or that its tree is whole: one of these at least. Of the corpus
    /// nothing as long as there is something to be made of a document.
    pub(super) fn items(&self, changed: ChangedDocument) -> Result<Vec<DerivationItem>> {
        let ChangedDocument { first_chunk, changes } = changed;
        let ground = match first_chunk {
            CORPUS => self.corpus()?,
            _ => Some(TreeGround::of_chunks(self.leaves(first_chunk)?)),
        };
        let Some(ground) = ground else { return Ok(Vec::new()) };
        let has_tree = (1..=MOST_LEAVES).contains(&ground.leaves.len());
        let ready = if has_tree { self.ready(first_chunk, &ground)? } else { Vec::new() };
        if !ready.is_empty() {
            return Ok(ready);
        }
        let root = has_tree.then(|| node_hash(ground.leaves.iter().map(|leaf| &leaf.hash)));
        let key = first_chunk.to_be_bytes().to_vec();
        let places = ground.places;
        let settled = Some(SettledDocument { first_chunk, root, changes, places });
        Ok(vec![DerivationItem { key, settled, ..DerivationItem::default() }])
    }

    /// The nodes of a tree that are not there and can be made now, since their children are there.
    fn ready(&self, first_chunk: i64, ground: &TreeGround) -> Result<Vec<DerivationItem>> {
        let mut among = |asked: &[MemberHash]| self.known(asked);
        let nodes = grow(&ground.leaves, &mut among, &mut look_around)?;
        let hashes: Vec<MemberHash> = nodes.iter().map(|node| node.hash).collect();
        let there = self.made(&hashes)?;
        let mut seen = HashSet::new();
        let is_ready = |node: &&TreeNode| {
            let is_new = !there.contains(&node.hash) && seen.insert(node.hash);
            is_new && (node.level == 1 || node.children.iter().all(|it| there.contains(&it.hash)))
        };
        let ready: Vec<&TreeNode> = nodes.iter().filter(is_ready).collect();
        let (of_chunks, of_nodes): (Vec<_>, Vec<_>) =
            ready.iter().copied().partition(|node| ground.are_chunks() && node.level == 1);
        let of_chunks = self.of_chunks(members(&of_chunks), first_chunk)?;
        let of_nodes = self.of_nodes(members(&of_nodes))?;
        let item = |node: &TreeNode| {
            let is_of_chunks = ground.are_chunks() && node.level == 1;
            item(first_chunk, node, ground, if is_of_chunks { &of_chunks } else { &of_nodes })
        };
        Ok(ready.into_iter().map(item).collect())
    }

    /// The chunks of a document, or one more than a tree may have.
    fn leaves(&self, first_chunk: i64) -> Result<Vec<TreeLeaf>> {
        let statement = self.render(query!(tree.leaves));
        let arguments = [first_chunk.into(), (MOST_LEAVES as i64 + 1).into()];
        let found = sql::rows(&statement, &arguments, |row| {
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

    /// Which of these nodes are there, made in the way in which they are to be.
    fn made(&self, hashes: &[MemberHash]) -> Result<HashSet<MemberHash>> {
        let statement = self.render(query!(tree.made));
        let arguments = [bytes(hashes).into(), self.way.0.into(), self.way.1.into()];
        let found = sql::rows(&statement, &arguments, |row| sql::required(row.get::<Vec<u8>>(1)?))?;
        found.into_iter().map(member).collect()
    }

    /// What chunks of a document with these hashes say.
    fn of_chunks(&self, hashes: Vec<MemberHash>, first_chunk: i64) -> Result<MemberTexts> {
        if hashes.is_empty() {
            return Ok(MemberTexts::default());
        }
        let open = self.open_fences(first_chunk)?;
        let statement = self.render(query!(tree.contents));
        let arguments = [bytes(&hashes).into(), self.source.into()];
        let found = sql::rows(&statement, &arguments, |row| {
            let hash = sql::required(row.get::<Vec<u8>>(1)?)?;
            Ok((hash, sql::required(row.get::<String>(2)?)?, row.get::<String>(3)?))
        })?;
        let mut texts = MemberTexts::default();
        for (hash, content, heading) in found {
            let hash = member(hash)?;
            let open = open.get(&hash).map(String::as_str);
            texts.sentences.insert(hash, quotable(0, &content, open, &mut look_around));
            if self.way.0.is_some() {
                texts.passages.insert(hash, written::passage(heading, &content));
            }
        }
        Ok(texts)
    }

    /// The fences of code that are open where chunks of a document begin, by the hashes of those in which one is.
    fn open_fences(&self, first_chunk: i64) -> Result<HashMap<MemberHash, String>> {
        let statement = self.render(query!(tree.fenced));
        let chunks = sql::rows(&statement, &[first_chunk.into()], |row| {
            let hash = sql::required(row.get::<Vec<u8>>(1)?)?;
            let start = sql::required(row.get::<i32>(2)?)?;
            Ok((hash, start as u32, row.get::<String>(3)?.unwrap_or_default()))
        })?;
        let pieces: Vec<(u32, &str)> =
            chunks.iter().map(|(_, start, content)| (*start, content.as_str())).collect();
        let mut open = HashMap::new();
        for ((hash, ..), fence) in chunks.iter().zip(open_fences(&pieces)) {
            if let Some(fence) = fence {
                open.insert(member(hash.clone())?, fence.to_owned());
            }
        }
        Ok(open)
    }

    /// What the summaries of these nodes say.
    fn of_nodes(&self, hashes: Vec<MemberHash>) -> Result<MemberTexts> {
        let passages = match self.way.0 {
            Some(_) => self.summaries(&hashes)?,
            None => HashMap::new(),
        };
        Ok(MemberTexts { sentences: self.quoted(&hashes)?, passages })
    }

    fn summaries(&self, hashes: &[MemberHash]) -> Result<HashMap<MemberHash, PromptSource>> {
        let statement = self.render(query!(tree.summaries));
        let found = sql::rows(&statement, &[bytes(hashes).into()], |row| {
            let hash = sql::required(row.get::<Vec<u8>>(1)?)?;
            Ok((hash, sql::required(row.get::<String>(2)?)?))
        })?;
        let passage =
            |(hash, content): (_, String)| Ok((member(hash)?, written::passage(None, &content)));
        found.into_iter().map(passage).collect()
    }

    /// The sentences that stand for what these nodes cover.
    fn quoted(&self, hashes: &[MemberHash]) -> Result<Sentences> {
        let statement = self.render(query!(tree.sentences));
        let found = sql::rows(&statement, &[bytes(hashes).into()], |row| {
            let leaf = sql::required(row.get::<i32>(2)?)? as usize - 1;
            let (start, end): (i32, i32) =
                (sql::required(row.get(3)?)?, sql::required(row.get(4)?)?);
            let (chars, text) = (start as u32..end as u32, sql::required(row.get::<String>(5)?)?);
            let is_makeshift = is_makeshift(&text);
            let sentence = QuotedSentence { leaf, chars, text, is_makeshift };
            Ok((sql::required(row.get::<Vec<u8>>(1)?)?, sentence))
        })?;
        let mut sentences = Sentences::new();
        for (hash, sentence) in found {
            sentences.entry(member(hash)?).or_default().push(sentence);
        }
        Ok(sentences)
    }
}

/// The children of some nodes, each once.
fn members(nodes: &[&TreeNode]) -> Vec<MemberHash> {
    let children: HashSet<MemberHash> =
        nodes.iter().flat_map(|node| &node.children).map(|child| child.hash).collect();
    children.into_iter().collect()
}

/// A node as the runner knows it: its key is the document's first chunk and the node's hash.
fn item(
    first_chunk: i64,
    node: &TreeNode,
    ground: &TreeGround,
    texts: &MemberTexts,
) -> DerivationItem {
    let of_child = |child: &TreeChild| {
        let before = ground.chunks(node.leaves.start..child.leaves.start).count();
        let found = texts.sentences.get(&child.hash).cloned().unwrap_or_default();
        found.into_iter().map(move |it| QuotedSentence { leaf: before + it.leaf, ..it })
    };
    let possible: Vec<QuotedSentence> = node.children.iter().flat_map(of_child).collect();
    let passages = node.children.iter().filter_map(|child| texts.passages.get(&child.hash));
    let text = TreeNodeText {
        level: ground.level + node.level,
        is_root: node.leaves.len() == ground.leaves.len(),
        documents: if ground.are_chunks() { 1 } else { node.leaves.len() },
        leaves: ground.chunks(node.leaves.clone()).copied().collect(),
        children: node.children.iter().map(|child| child.hash).collect(),
        sentences: digest(possible, MOST_SENTENCES, &mut look_around),
        passages: passages.cloned().collect(),
    };
    let key = [first_chunk.to_be_bytes().as_slice(), &node.hash].concat();
    DerivationItem { key, node: Some(Box::new(text)), ..DerivationItem::default() }
}

/// The first chunk that a key begins with; before the first key, one before all.
pub(super) fn first_chunk(key: &[u8]) -> i64 {
    key.first_chunk().map_or(i64::MIN, |bytes| i64::from_be_bytes(*bytes))
}

/// The hash of the node, with which a key ends.
pub(super) fn hash_in(key: &[u8]) -> &[u8] {
    key.last_chunk::<{ size_of::<MemberHash>() }>().map_or(key, |hash| hash.as_slice())
}

pub(super) fn bytes(hashes: &[MemberHash]) -> Vec<&[u8]> {
    hashes.iter().map(MemberHash::as_slice).collect()
}

pub(super) fn member(hash: Vec<u8>) -> Result<MemberHash> {
    hash.try_into().map_err(|hash: Vec<u8>| {
        let message = format!("hash of a chunk or node has {} bytes", hash.len());
        Error::new(ErrorKind::DataCorrupted, message)
    })
}
