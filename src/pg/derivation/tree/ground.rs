//! What a tree stands on.

use std::ops::Range;

use crate::tree::{MemberHash, TreeLeaf};

/// What a tree stands on: the chunks of a document, or the documents of a corpus.
pub(super) struct TreeGround {
    /// The chunks, or the roots of the documents' trees.
    pub(super) leaves: Vec<TreeLeaf>,
    /// The chunks of each document; `None` where the leaves are chunks.
    documents: Option<Vec<Vec<MemberHash>>>,
    /// The level of the highest leaf; 0 where they are chunks.
    pub(super) level: u32,
    /// Where each document stands, by the hash of its key.
    pub(super) places: Vec<(Vec<u8>, f64)>,
}

impl TreeGround {
    /// The chunks of a document.
    pub(super) fn of_chunks(leaves: Vec<TreeLeaf>) -> TreeGround {
        TreeGround { leaves, documents: None, level: 0, places: Vec::new() }
    }

    /// Documents in their order, each with its chunks, whose highest root is of `level`.
    pub(super) fn of_documents(
        documents: Vec<(TreeLeaf, Vec<MemberHash>)>,
        level: u32,
        places: Vec<(Vec<u8>, f64)>,
    ) -> TreeGround {
        let (leaves, documents) = documents.into_iter().unzip();
        TreeGround { leaves, documents: Some(documents), level, places }
    }

    /// Whether the leaves are chunks.
    pub(super) fn are_chunks(&self) -> bool {
        self.documents.is_none()
    }

    /// The chunks that some neighbours among the leaves cover.
    pub(super) fn chunks(&self, leaves: Range<usize>) -> impl Iterator<Item = &MemberHash> {
        let own = self.documents.is_none().then(|| &self.leaves[leaves.clone()]);
        let documents = self.documents.as_ref().map(|all| &all[leaves]);
        let own = own.into_iter().flatten().map(|leaf| &leaf.hash);
        own.chain(documents.into_iter().flatten().flatten())
    }
}
