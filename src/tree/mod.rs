//! # tree: what does this document say as a whole?
//!
//! ```text
//! chunks with vectors → nodes, level by level up to the root │ texts → the sentences that stand for them
//! question → whether it asks for the whole
//! ```
//!
//! Trees as those of RAPTOR (Sarthi et al., ICLR 2024), one a document: neighbouring chunks that speak of the same
//! are summed up, neighbouring summaries again, and so on until one says what the document is about. [`grow`] says
//! which belong together, [`digest`] sums up without a model by quoting, and [`whole`] tells the questions that
//! such a summary answers better than a passage. [`written`] has a language model sum up instead. [`options`] says what
//! can be asked for.
//!
//! A tree over a corpus is one more of this kind: it stands on the roots of the documents' trees, which have been put in
//! an [`order`] in which neighbours are alike.
//!
//! RAPTOR clusters all chunks by Gaussian mixtures, wherever they stand. Runs of neighbours were chosen
//! here because a change in a document then changes its own runs and nothing else, because a run has a place that can be
//! shown, and because no random numbers are needed: the same chunks make the same tree.

pub mod digest;
pub mod grow;
pub mod options;
pub mod order;
mod segments;
pub mod whole;
pub mod written;

use std::ops::Range;

use sha2::{Digest, Sha256};

/// Most children of a node.
pub const FANOUT: usize = 8;

/// Most chunks of a document, or of a corpus, that has a tree.
pub const MOST_LEAVES: usize = 10_000;

/// By what a chunk or a node is recognised: the hash of its text, or of the hashes of its chunks.
pub type MemberHash = [u8; 32];

/// A chunk, as the tree is made of it.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeLeaf {
    /// The hash of its text.
    pub hash: MemberHash,
    /// Its vector.
    pub vector: Vec<f32>,
}

/// What a node is made of: a chunk, or a node of the level below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeChild {
    /// The hash of the chunk or node.
    pub hash: MemberHash,
    /// Which of the document's chunks it covers, from 0.
    pub leaves: Range<usize>,
}

/// A run of chunks that is summed up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeNode {
    /// The hash of the hashes of its chunks. A node whose chunks are the same is the same.
    pub hash: MemberHash,
    /// 1: its children are chunks; 2: they are such nodes, and so on.
    pub level: u32,
    /// Which of the document's chunks it covers, from 0.
    pub leaves: Range<usize>,
    /// What it is made of, in order: two to [`FANOUT`] of them, or one chunk that is all of a document.
    pub children: Vec<TreeChild>,
}

/// The hash of a node that covers chunks with these hashes.
#[must_use]
pub fn node_hash<'a>(leaves: impl IntoIterator<Item = &'a MemberHash>) -> MemberHash {
    let mut hash = Sha256::new();
    leaves.into_iter().for_each(|leaf| hash.update(leaf));
    hash.finalize().into()
}

#[cfg(test)]
mod tests;
