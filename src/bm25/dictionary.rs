//! # dictionary: where is this term's list?
//!
//! The terms of a segment in ascending order, in leaves of some two kilobytes, each term without
//! the bytes that it has in common with the one before. Above the leaves are branches of the same
//! form, with the shortest bytes that tell a leaf from the one before it, up to a single root: a
//! B-tree that is written once, from the left to the right.

use super::bits::{Bytes, put_number};
use super::page::ReadResult;
use super::segment::{SegmentReader, StreamKind};
use crate::pages::Store;

/// Bytes from which on a leaf or branch is full.
const FULL: usize = 2048;
/// Bytes of the largest: full but for one byte, and one term more.
const LARGEST: u64 = (FULL + 2 * super::LONGEST_LEXEME + 128) as u64;

/// Where a term's postings are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermLocation {
    /// Here: there is but one.
    Single {
        /// The number of the document in its segment.
        document: u32,
        /// How often the document has the term.
        frequency: u32,
    },
    /// In the lists of the segment.
    List {
        /// Where its blocks begin in the lists.
        position: u64,
        /// Bytes of the blocks.
        blocks: u64,
        /// Bytes of the entries, which follow them.
        entries: u64,
    },
}

/// What the dictionary says of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundTerm {
    /// How many documents have it.
    pub documents: u32,
    /// Where the postings are.
    pub place: TermLocation,
}

/// A leaf or branch that is being written.
#[derive(Debug, Default)]
struct DictionaryNode {
    bytes: Vec<u8>,
    /// What tells it from the one before it.
    first: Vec<u8>,
    last: Vec<u8>,
    entries: usize,
}

impl DictionaryNode {
    fn put_key(&mut self, key: &[u8]) {
        let shared = if self.entries == 0 { 0 } else { shared(&self.last, key) };
        put_number(&mut self.bytes, shared as u64);
        put_number(&mut self.bytes, (key.len() - shared) as u64);
        self.bytes.extend_from_slice(&key[shared..]);
        self.last.truncate(shared);
        self.last.extend_from_slice(&key[shared..]);
        self.entries += 1;
    }

    fn is_full(&self) -> bool {
        // Two at least, or levels would not become shorter.
        self.bytes.len() >= FULL && self.entries >= 2
    }
}

fn shared(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// The shortest beginning of `key` that comes after `before`.
fn separator<'a>(before: &[u8], key: &'a [u8]) -> &'a [u8] {
    &key[..(shared(before, key) + 1).min(key.len())]
}

/// Writes a dictionary. The caller writes the bytes that it gives to pages.
#[derive(Debug, Default)]
pub struct DictionaryWriter {
    /// The nodes that are being written, leaves first.
    levels: Vec<DictionaryNode>,
    terms: u64,
}

/// Takes bytes of the dictionary, and says where they are.
pub type Sink<'a, E> = &'a mut dyn FnMut(&[u8]) -> Result<u64, E>;

impl DictionaryWriter {
    /// How many terms there are.
    pub fn terms(&self) -> u64 {
        self.terms
    }

    /// Adds a term that comes after all before. The next list begins at `position`, whether it
    /// is this term's or a later one's.
    pub fn add<E>(
        &mut self,
        key: &[u8],
        found: &FoundTerm,
        position: u64,
        sink: Sink<'_, E>,
    ) -> Result<(), E> {
        if self.levels.is_empty() {
            self.levels.push(DictionaryNode::default());
        }
        if self.levels[0].is_full() {
            self.close(0, sink)?;
        }
        let leaf = &mut self.levels[0];
        if leaf.entries == 0 {
            leaf.first = separator(&leaf.last, key).to_vec();
            put_number(&mut leaf.bytes, position);
        }
        leaf.put_key(key);
        put_number(&mut leaf.bytes, u64::from(found.documents));
        match found.place {
            TermLocation::Single { document, frequency } => {
                put_number(&mut leaf.bytes, u64::from(document));
                put_number(&mut leaf.bytes, u64::from(frequency));
            }
            TermLocation::List { blocks, entries, .. } => {
                put_number(&mut leaf.bytes, blocks);
                put_number(&mut leaf.bytes, entries);
            }
        }
        self.terms += 1;
        Ok(())
    }

    /// Writes a node, and tells the one above.
    fn close<E>(&mut self, level: usize, sink: Sink<'_, E>) -> Result<(), E> {
        let (mut level, mut is_open) = (level, true);
        while is_open {
            let node = &mut self.levels[level];
            let position = sink(&node.bytes)?;
            let (first, bytes) = (std::mem::take(&mut node.first), node.bytes.len());
            node.bytes.clear();
            node.entries = 0;
            level += 1;
            if level == self.levels.len() {
                self.levels.push(DictionaryNode::default());
            }
            let above = &mut self.levels[level];
            if above.entries == 0 {
                above.first.clone_from(&first);
            }
            above.put_key(&first);
            put_number(&mut above.bytes, position);
            put_number(&mut above.bytes, bytes as u64);
            is_open = above.is_full();
        }
        Ok(())
    }

    /// Writes the rest. Gives where the root is, its bytes, and the levels below it.
    pub fn finish<E>(mut self, sink: Sink<'_, E>) -> Result<(u64, usize, usize), E> {
        let mut level = 0;
        while level + 1 < self.levels.len() {
            if self.levels[level].entries > 0 {
                self.close(level, sink)?;
            }
            level += 1;
        }
        let root = self.levels.pop().unwrap_or_default();
        Ok((sink(&root.bytes)?, root.bytes.len(), level))
    }
}

/// A leaf or branch that is being read. Keys ascend, or it ends with an error.
#[derive(Debug, Default)]
struct NodeReader {
    bytes: Vec<u8>,
    at: usize,
    key: Vec<u8>,
    expected: u64,
}

impl NodeReader {
    /// Goes on to the next key; `None` if the bytes make no sense.
    fn next_key(&mut self) -> Option<()> {
        let mut left = Bytes(&self.bytes[self.at..]);
        let shared = left.number()?;
        let added = left.number()?;
        let (shared, added) = (usize::try_from(shared).ok()?, usize::try_from(added).ok()?);
        if shared > self.key.len() || shared.saturating_add(added) > super::LONGEST_LEXEME {
            return None;
        }
        let added = left.take(added)?;
        self.key.truncate(shared);
        self.key.extend_from_slice(added);
        self.at = self.bytes.len() - left.0.len();
        Some(())
    }

    fn next_numbers(&mut self) -> Option<(u64, u64)> {
        let mut left = Bytes(&self.bytes[self.at..]);
        let numbers = (left.number()?, left.number()?);
        self.at = self.bytes.len() - left.0.len();
        Some(numbers)
    }

    fn begin_leaf(&mut self) -> Option<()> {
        let mut left = Bytes(&self.bytes);
        self.expected = left.number()?;
        self.at = self.bytes.len() - left.0.len();
        Some(())
    }

    fn next_found(&mut self) -> Option<FoundTerm> {
        let mut left = Bytes(&self.bytes[self.at..]);
        let documents = left.short()?;
        self.at = self.bytes.len() - left.0.len();
        let (one, other) = self.next_numbers()?;
        let place = match documents {
            0 => return None,
            1 => TermLocation::Single {
                document: u32::try_from(one).ok()?,
                frequency: u32::try_from(other).ok().filter(|frequency| *frequency > 0)?,
            },
            _ => {
                let position = self.expected;
                self.expected = position.checked_add(one)?.checked_add(other)?;
                TermLocation::List { position, blocks: one, entries: other }
            }
        };
        Some(FoundTerm { documents, place })
    }

    fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }
}

/// The terms of a segment, from one on.
#[derive(Debug)]
pub struct TermIterator {
    /// What of each branch down to the leaf is still to be read, the root first.
    branches: Vec<NodeReader>,
    leaf: NodeReader,
    /// The term before; terms ascend over leaves too.
    before: Option<Vec<u8>>,
}

impl TermIterator {
    /// Stands before the first term that is not before `from`.
    pub fn from<S: Store>(
        store: &S,
        segment: &SegmentReader,
        from: &[u8],
    ) -> ReadResult<TermIterator> {
        let mut terms =
            TermIterator { branches: Vec::new(), leaf: NodeReader::default(), before: None };
        let header = &segment.header;
        let root = (header.dictionary, u64::from(header.dictionary_bytes));
        terms.descend(store, segment, root, from)?;
        Ok(terms)
    }

    /// Reads down from a node to the leaf in which `from` would be.
    fn descend<S: Store>(
        &mut self,
        store: &S,
        segment: &SegmentReader,
        node: (u64, u64),
        from: &[u8],
    ) -> ReadResult<()> {
        let levels = segment.header.levels as usize;
        let mut node = node;
        while self.branches.len() < levels {
            let mut branch = read_node(store, segment, node)?;
            // The last child that does not begin after `from`, or the first.
            let (mut child, mut key_before) = (None, Vec::new());
            while !branch.is_at_end() {
                let at_before = branch.at;
                key_before.clone_from(&branch.key);
                if branch.next_key().is_none() {
                    return Err(segment.broken("a branch of the dictionary makes no sense").into());
                }
                if child.is_some() && branch.key[..] > *from {
                    (branch.at, branch.key) = (at_before, key_before);
                    break;
                }
                child = branch.next_numbers();
            }
            let broken = || segment.broken("a branch of the dictionary makes no sense");
            node = child.ok_or_else(broken)?;
            self.branches.push(branch);
        }
        self.leaf = read_node(store, segment, node)?;
        let is_empty = self.leaf.bytes.is_empty();
        if !is_empty && self.leaf.begin_leaf().is_none() {
            return Err(segment.broken("a leaf of the dictionary makes no sense").into());
        }
        Ok(())
    }

    /// The next term, in order.
    pub fn next<S: Store>(
        &mut self,
        store: &S,
        segment: &SegmentReader,
    ) -> ReadResult<Option<(&[u8], FoundTerm)>> {
        while self.leaf.is_at_end() {
            if !self.next_leaf(store, segment)? {
                return Ok(None);
            }
        }
        let found = self.leaf.next_key().and_then(|()| self.leaf.next_found());
        let Some(found) = found else {
            return Err(segment.broken("a leaf of the dictionary makes no sense").into());
        };
        let is_later = self.before.as_ref().is_none_or(|before| *before < self.leaf.key);
        if !is_later {
            return Err(segment.broken("the terms of a dictionary do not ascend").into());
        }
        let before = self.before.get_or_insert_default();
        before.clone_from(&self.leaf.key);
        Ok(Some((&self.leaf.key, found)))
    }

    fn next_leaf<S: Store>(&mut self, store: &S, segment: &SegmentReader) -> ReadResult<bool> {
        store.interrupted()?;
        while self.branches.last().is_some_and(NodeReader::is_at_end) {
            self.branches.pop();
        }
        let Some(branch) = self.branches.last_mut() else { return Ok(false) };
        let child = branch.next_key().and_then(|()| branch.next_numbers());
        let broken = || segment.broken("a branch of the dictionary makes no sense");
        self.descend(store, segment, child.ok_or_else(broken)?, &[])?;
        if self.leaf.is_at_end() {
            return Err(segment.broken("a leaf of the dictionary is empty").into());
        }
        Ok(true)
    }
}

fn read_node<S: Store>(
    store: &S,
    segment: &SegmentReader,
    node: (u64, u64),
) -> ReadResult<NodeReader> {
    let (position, bytes) = node;
    if bytes > LARGEST {
        return Err(segment.broken("a part of the dictionary is too long").into());
    }
    let mut cursor = NodeReader::default();
    segment.read(store, StreamKind::Dictionary, position, bytes as usize, &mut cursor.bytes)?;
    Ok(cursor)
}

/// What the dictionary says of a term, if it has it.
pub fn find<S: Store>(
    store: &S,
    segment: &SegmentReader,
    term: &[u8],
) -> ReadResult<Option<FoundTerm>> {
    let mut terms = TermIterator::from(store, segment, term)?;
    while let Some((key, found)) = terms.next(store, segment)? {
        if key >= term {
            return Ok((key == term).then_some(found));
        }
    }
    Ok(None)
}
