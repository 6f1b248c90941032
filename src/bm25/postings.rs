//! # postings: which documents have this term, and how often?
//!
//! ```text
//! (document, frequency)... → blocks, and for each what is the most it can score
//! ```
//!
//! A list is cut into blocks of 128. Beside the blocks there is an entry for each: its last
//! document, its bytes, and its *frontier*: those pairs of frequency and length that no other
//! posting of the block surpasses in both. The best score in a block is that of a pair of its
//! frontier, whatever k1, b and the average length are, because a score grows with the frequency
//! and falls with the length. Ding and Suel ("Faster top-k document retrieval using block-max
//! indexes", SIGIR 2011) store one score a block; Lucene stores pairs, as is done here.

use super::bits::{Bytes, SLACK, bits_of, pack, packed_bytes, put_number, unpack};

/// Postings of a full block.
pub const BLOCK: usize = 128;
/// Bytes of the largest block, with slack for unpacking.
pub const LARGEST_BLOCK: usize = 2 + 2 * 4 * BLOCK + SLACK;
/// Most pairs of a frontier. Where there are more, neighbours are replaced by one that surpasses
/// both.
pub const MOST_PAIRS: usize = 6;
/// Bytes of the largest entry.
pub const LARGEST_ENTRY: usize = 5 + 5 + 1 + MOST_PAIRS * 10;

/// A pair of frequency and length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    /// How often the document has the term.
    pub frequency: u32,
    /// The document's length, in word positions.
    pub length: u32,
}

/// Pairs of which none surpasses another; ascending in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frontier {
    pairs: [Pair; MOST_PAIRS],
    count: usize,
}

impl Frontier {
    /// The pairs, ascending.
    #[must_use]
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs[..self.count]
    }

    /// The frontier of one posting.
    #[must_use]
    pub fn of(pair: Pair) -> Frontier {
        let mut frontier = Frontier { count: 1, ..Frontier::default() };
        frontier.pairs[0] = pair;
        frontier
    }

    /// The frontier of the postings of a block, which has some.
    #[must_use]
    pub fn of_all(postings: impl Iterator<Item = Pair>) -> Frontier {
        let mut best: Vec<Pair> = Vec::with_capacity(16);
        for new in postings {
            let surpasses = |a: &Pair, b: &Pair| a.frequency >= b.frequency && a.length <= b.length;
            if !best.iter().any(|old| surpasses(old, &new)) {
                best.retain(|old| !surpasses(&new, old));
                best.push(new);
            }
        }
        best.sort_unstable_by_key(|pair| pair.frequency);
        while best.len() > MOST_PAIRS {
            // Where it costs least: the two become one with the frequency of the one and the
            // length of the other.
            let gap = |at: &usize| best[at + 1].length - best[*at].length;
            let at = (0..best.len() - 1).min_by_key(gap).unwrap_or(0);
            best[at].frequency = best[at + 1].frequency;
            best.remove(at + 1);
        }
        let mut frontier = Frontier { count: best.len(), ..Frontier::default() };
        frontier.pairs[..best.len()].copy_from_slice(&best);
        frontier
    }

    fn put(&self, bytes: &mut Vec<u8>) {
        bytes.push(self.count as u8);
        let mut before = Pair::default();
        for pair in self.pairs() {
            put_number(bytes, u64::from(pair.frequency - before.frequency));
            put_number(bytes, u64::from(pair.length - before.length));
            before = *pair;
        }
    }

    #[inline]
    fn get(bytes: &mut Bytes<'_>) -> Option<Frontier> {
        let count = bytes.take(1)?[0] as usize;
        let mut frontier = Frontier { count, ..Frontier::default() };
        let mut before = Pair::default();
        for pair in frontier.pairs.get_mut(..count)? {
            pair.frequency = before.frequency.checked_add(bytes.short()?)?;
            pair.length = before.length.checked_add(bytes.short()?)?;
            before = *pair;
        }
        Some(frontier)
    }
}

/// What is known of a block without decoding it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockEntry {
    /// The number of its last document.
    pub last: u32,
    /// How many bytes it has.
    pub bytes: usize,
    /// The pairs of it that no other surpasses.
    pub frontier: Frontier,
}

impl BlockEntry {
    /// Reads the next entry. `before` is the last document of the block before, `u32::MAX` if
    /// there is none.
    #[inline]
    pub fn get(bytes: &mut Bytes<'_>, before: u32) -> Option<BlockEntry> {
        let last = after(before, bytes.short()?)?;
        let size = bytes.short()? as usize;
        let frontier = Frontier::get(bytes)?;
        let fits = size + SLACK <= LARGEST_BLOCK && frontier.count > 0;
        fits.then_some(BlockEntry { last, bytes: size, frontier })
    }

    fn put(&self, bytes: &mut Vec<u8>, before: u32) {
        put_number(bytes, u64::from(gap(before, self.last)));
        put_number(bytes, self.bytes as u64);
        self.frontier.put(bytes);
    }
}

/// The document that comes `gap` documents later than the next one.
#[inline]
fn after(before: u32, gap: u32) -> Option<u32> {
    let document = u64::from(before.wrapping_add(1)) + u64::from(gap);
    u32::try_from(document).ok().filter(|document| *document != u32::MAX)
}

fn gap(before: u32, document: u32) -> u32 {
    document.wrapping_sub(before).wrapping_sub(1)
}

/// A block that has been decoded: its documents and the frequency of the term in each.
#[derive(Clone, Debug)]
pub struct DecodedBlock {
    documents: [u32; BLOCK],
    frequencies: [u32; BLOCK],
    count: usize,
}

impl Default for DecodedBlock {
    fn default() -> DecodedBlock {
        DecodedBlock { documents: [0; BLOCK], frequencies: [0; BLOCK], count: 0 }
    }
}

impl DecodedBlock {
    /// The block of one posting.
    pub fn of(document: u32, frequency: u32) -> DecodedBlock {
        let mut block = DecodedBlock { count: 1, ..DecodedBlock::default() };
        (block.documents[0], block.frequencies[0]) = (document, frequency);
        block
    }

    /// The numbers of its documents, ascending.
    #[inline]
    pub fn documents(&self) -> &[u32] {
        &self.documents[..self.count]
    }

    /// How often the documents have the term, in their order.
    #[inline]
    pub fn frequencies(&self) -> &[u32] {
        &self.frequencies[..self.count]
    }

    /// How many bytes a block of `count` takes that begins with these two.
    pub fn size(first: u8, second: u8, count: usize) -> usize {
        2 + packed_bytes(count, u32::from(first)) + packed_bytes(count, u32::from(second))
    }

    /// Decodes a block of `count` postings, with slack behind it. `before` is the last document
    /// of the block before. `None` if it can't be a block.
    pub fn decode(&mut self, bytes: &[u8], count: usize, before: u32) -> Option<()> {
        self.count = count;
        let (gap_bits, frequency_bits) = (u32::from(*bytes.first()?), u32::from(*bytes.get(1)?));
        let documents = self.documents.get_mut(..count)?;
        unpack(&bytes[2..], gap_bits, documents)?;
        let start = 2 + packed_bytes(count, gap_bits);
        let frequencies = &mut self.frequencies[..count];
        unpack(&bytes[start..], frequency_bits, frequencies)?;
        let mut document = u64::from(before.wrapping_add(1));
        for gap in documents.iter_mut() {
            document += u64::from(*gap);
            *gap = document as u32;
            document += 1;
        }
        // The sums above can't overflow, and the last one is the largest.
        if document > u64::from(u32::MAX) {
            return None;
        }
        frequencies.iter_mut().for_each(|frequency| *frequency = frequency.wrapping_add(1).max(1));
        Some(())
    }
}

/// Turns postings into blocks and entries.
#[derive(Debug, Default)]
pub struct Encoder {
    block: DecodedBlock,
    gaps: Vec<u32>,
    lengths: Vec<u32>,
    last: Option<u32>,
    entries: Vec<u8>,
    count: u64,
}

impl Encoder {
    /// Begins a new list.
    pub fn begin(&mut self) {
        (self.block.count, self.last, self.count) = (0, None, 0);
        self.entries.clear();
        self.lengths.clear();
    }

    /// How many postings the list has.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The entries of the blocks that are complete.
    pub fn entries(&self) -> &[u8] {
        &self.entries
    }

    /// The posting of a list that has but one.
    pub fn single(&self) -> Option<(u32, u32)> {
        (self.count == 1).then(|| (self.block.documents[0], self.block.frequencies[0]))
    }

    /// Whether the list is too short for a whole block, of which there are no bytes.
    pub fn is_full(&self) -> bool {
        self.block.count == BLOCK
    }

    /// Adds a posting of a later document than the ones before. If [`Encoder::is_full`], the
    /// block is to be taken first.
    pub fn push(&mut self, document: u32, frequency: u32, length: u32) {
        let at = self.block.count;
        self.block.documents[at] = document;
        self.block.frequencies[at] = frequency;
        self.lengths.push(length);
        self.block.count += 1;
        self.count += 1;
    }

    /// Appends the postings that wait as a block, if there are any.
    pub fn take_block(&mut self, bytes: &mut Vec<u8>) {
        let (start, count) = (bytes.len(), self.block.count);
        let before = self.last.unwrap_or(u32::MAX);
        let documents = self.block.documents();
        let Some(last) = documents.last().copied() else { return };
        self.gaps.clear();
        let mut previous = before;
        for document in documents {
            self.gaps.push(gap(previous, *document));
            previous = *document;
        }
        let pairs = self.block.frequencies().iter().zip(&self.lengths);
        let frontier = Frontier::of_all(
            pairs.map(|(frequency, length)| Pair { frequency: *frequency, length: *length }),
        );
        let frequencies = &mut self.block.frequencies[..count];
        frequencies.iter_mut().for_each(|frequency| *frequency -= 1);
        let (gap_bits, frequency_bits) = (bits_of(&self.gaps), bits_of(frequencies));
        bytes.extend([gap_bits as u8, frequency_bits as u8]);
        pack(bytes, &self.gaps, gap_bits);
        pack(bytes, frequencies, frequency_bits);
        let entry = BlockEntry { last, bytes: bytes.len() - start, frontier };
        entry.put(&mut self.entries, before);
        self.last = Some(last);
        self.block.count = 0;
        self.lengths.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_list_is_read_as_written(
            postings in prop::collection::btree_map(0u32..u32::MAX, (1u32.., any::<u32>()), 1..400),
        ) {
            let mut encoder = Encoder::default();
            let mut blocks = Vec::new();
            encoder.begin();
            for (document, (frequency, length)) in &postings {
                if encoder.is_full() {
                    encoder.take_block(&mut blocks);
                }
                encoder.push(*document, *frequency, *length);
            }
            encoder.take_block(&mut blocks);
            blocks.extend([0; SLACK]);

            let (mut entries, mut start, mut before) = (Bytes(encoder.entries()), 0, u32::MAX);
            let mut block = DecodedBlock::default();
            let all: Vec<_> = postings.into_iter().collect();
            for part in all.chunks(BLOCK) {
                let entry = BlockEntry::get(&mut entries, before).unwrap();
                let size = DecodedBlock::size(blocks[start], blocks[start + 1], part.len());
                prop_assert_eq!(size, entry.bytes);
                block.decode(&blocks[start..], part.len(), before).unwrap();
                let read = block.documents().iter().zip(block.frequencies());
                for ((document, (frequency, length)), (d, f)) in part.iter().zip(read) {
                    prop_assert_eq!((document, frequency), (d, f));
                    let surpassed = entry.frontier.pairs().iter()
                        .any(|pair| pair.frequency >= *frequency && pair.length <= *length);
                    prop_assert!(surpassed);
                }
                before = entry.last;
                start += entry.bytes;
            }
            prop_assert!(entries.0.is_empty());
        }

        #[test]
        fn random_bytes_are_no_block(bytes in prop::collection::vec(any::<u8>(), 0..1100)) {
            let mut block = DecodedBlock::default();
            for count in [0, 1, 7, 128, 129] {
                let _ = block.decode(&bytes, count, 5);
                prop_assert!(block.documents.len() == BLOCK);
            }
            let _ = BlockEntry::get(&mut Bytes(&bytes), 3);
        }
    }
}
