//! # union: which documents have any of these terms?
//!
//! ```text
//! lists of a segment → one list in memory, with the sums of the frequencies
//! ```
//!
//! For prefixes, which count as one term: only when all lists are read can one say how many
//! documents it has.

use super::dictionary::FoundTerm;
use super::list::ListReader;
use super::page::ReadResult;
use super::postings::Encoder;
use super::score::Term;
use super::segment::{Lengths, SegmentReader};
use crate::error::{Error, ErrorKind};
use crate::pages::Store;
use crate::spare;

/// Postings that are sorted, at most.
const MOST_SORTED: u64 = 1 << 24;
/// Documents of a segment for each of which a sum is kept, at most.
const MOST_SUMS: u32 = 1 << 25;
/// Sums are kept if there are more postings than one for so many documents.
const SPARSE: u64 = 16;
/// Postings between two looks whether the caller should stop.
const PATIENCE: usize = 1 << 16;

/// A list in memory, as a segment would have it.
#[derive(Debug)]
pub struct Union {
    /// How many documents it has; not 0.
    pub documents: u32,
    /// The blocks, one after the other, with slack behind them.
    pub blocks: Vec<u8>,
    /// The entries of the blocks.
    pub entries: Vec<u8>,
}

/// Makes one list of several.
pub fn unite<S: Store>(
    store: &S,
    segment: &SegmentReader,
    term: &Term,
    founds: &[FoundTerm],
) -> ReadResult<Union> {
    let total: u64 = founds.iter().map(|found| u64::from(found.documents)).sum();
    let documents = segment.header.documents;
    let is_sparse = total <= u64::from(documents) / SPARSE || total <= 1024;
    let mut encoding = Encoding { encoder: Encoder::default(), blocks: Vec::new() };
    let mut lengths = Lengths::default();
    if documents <= MOST_SUMS && !is_sparse {
        let mut sums = spare::filled(documents as usize, 0u32)?;
        each_posting(store, segment, founds, |document, frequency| {
            let sum = &mut sums[document as usize];
            *sum = sum.saturating_add(frequency);
        })?;
        for (document, sum) in (0..).zip(sums).filter(|(_, sum)| *sum > 0) {
            encoding.push(document, sum, lengths.get(store, segment, document)?);
        }
    } else if total <= MOST_SORTED {
        let mut postings: Vec<(u32, u32)> = Vec::new();
        let refused = |_| spare::refused(total as usize * size_of::<(u32, u32)>());
        postings.try_reserve_exact(total as usize).map_err(refused)?;
        each_posting(store, segment, founds, |document, frequency| {
            postings.push((document, frequency));
        })?;
        postings.sort_unstable();
        for same in postings.chunk_by(|a, b| a.0 == b.0) {
            let sum = same.iter().fold(0u32, |sum, (_, frequency)| sum.saturating_add(*frequency));
            encoding.push(same[0].0, sum, lengths.get(store, segment, same[0].0)?);
        }
    } else {
        return Err(too_many(term, total).into());
    }
    Ok(encoding.finish())
}

fn too_many(term: &Term, total: u64) -> Error {
    let prefix = String::from_utf8_lossy(&term.bytes);
    let message =
        format!("words that begin with \"{prefix}\" occur in too many documents: {total}");
    Error::new(ErrorKind::OutOfResources, message).hint("Use a longer prefix.")
}

/// Has `take` see the document and the frequency of each posting of some lists.
pub fn each_posting<S: Store>(
    store: &S,
    segment: &SegmentReader,
    founds: &[FoundTerm],
    mut take: impl FnMut(u32, u32),
) -> ReadResult<()> {
    let mut steps = 0;
    for found in founds {
        let mut list = ListReader::new(found);
        while let Some((document, frequency)) = list.next(store, segment)? {
            take(document, frequency);
            steps += 1;
            if steps % PATIENCE == 0 {
                store.interrupted()?;
            }
        }
    }
    Ok(())
}

struct Encoding {
    encoder: Encoder,
    blocks: Vec<u8>,
}

impl Encoding {
    fn push(&mut self, document: u32, frequency: u32, length: u32) {
        if self.encoder.is_full() {
            self.encoder.take_block(&mut self.blocks);
        }
        self.encoder.push(document, frequency, length);
    }

    fn finish(mut self) -> Union {
        self.encoder.take_block(&mut self.blocks);
        self.blocks.extend([0; super::bits::SLACK]);
        Union {
            documents: self.encoder.count() as u32,
            blocks: self.blocks,
            entries: self.encoder.entries().to_vec(),
        }
    }
}
