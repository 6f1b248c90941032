//! # space: which pages are free?
//!
//! Free pages are a chain, used from its head on and lengthened at its tail, so that a page is
//! reused as late as can be. What becomes free is always a whole chain, a segment's or that of a
//! pending list, and is put at the end by changing one link. So freed pages keep their content
//! and their number until they are used again, and searches that still read them are not
//! disturbed.

use super::number_set::NumberSet;
use super::page::{
    self, Bm25Meta, Bm25PageKind, Chain, DirectoryEntry, MOST_ENTRIES, change_meta, content_mut,
    corrupt, new_number, read_meta,
};
use crate::error::{Error, ErrorKind, Result};
use crate::pages::{InPassing, PAGE_SIZE, Page, Store, StoreMut};

/// Takes the free page at the head and has it filled; `false` if there is none, if another session
/// has taken it meanwhile, or if `fill` refuses.
pub fn reuse<S: StoreMut>(
    store: &S,
    head: u32,
    fill: impl FnOnce(&mut Bm25Meta, &mut Page) -> Result<bool>,
) -> Result<bool> {
    if head == 0 || head >= store.blocks()? {
        return Err(corrupt(0, "a free page that does not exist"));
    }
    store.write_two(0, head, |first, page| {
        let mut meta = Bm25Meta::read(first)?;
        if meta.free.head != head || meta.free.pages == 0 {
            return Ok(false);
        }
        if page::is(page, Bm25PageKind::First) || meta.is_in_use(page::number(page)) {
            return Err(corrupt(head, "a page is free and in use"));
        }
        meta.free.head = page::next(page);
        meta.free.pages -= 1;
        if meta.free.pages == 0 || meta.free.head == 0 {
            meta.free = Chain::default();
        }
        let is_filled = fill(&mut meta, page)?;
        if is_filled {
            meta.write(first);
        }
        Ok(is_filled)
    })
}

/// Writes a page that is stamped already, to a free page or at the end. Under the structure lock.
pub fn place<S: StoreMut>(store: &S, new: &Page) -> Result<u32> {
    place_if(store, new, |_| true)?.ok_or_else(|| corrupt(0, "no page is to be had"))
}

/// Writes a page that is stamped already, to a free page or at the end; `None`, and nothing is
/// written, if the index is not `is_wanted` any more. Without the structure lock, `is_wanted` has
/// to check that the number of the page is in use: otherwise another process might take the page
/// for lost, or be reading the chain that it was in.
pub fn place_if<S: StoreMut>(
    store: &S,
    new: &Page,
    is_wanted: impl Fn(&Bm25Meta) -> bool,
) -> Result<Option<u32>> {
    let copy = |page: &mut Page| {
        let header = crate::pages::HEADER_BYTES;
        page[header..].copy_from_slice(&new[header..]);
    };
    loop {
        store.interrupted()?;
        let meta = read_meta(store)?;
        if !is_wanted(&meta) {
            return Ok(None);
        }
        if meta.free.pages == 0 {
            return store.append(|_, page| copy(page)).map(Some);
        }
        let fill = |meta: &mut Bm25Meta, page: &mut Page| {
            let is_still = is_wanted(meta);
            if is_still {
                copy(page);
            }
            Ok(is_still)
        };
        if reuse(store, meta.free.head, fill)? {
            return Ok(Some(meta.free.head));
        }
    }
}

/// Makes a change visible: these segments and perhaps the sealed list are gone, and new ones are there.
pub fn publish<S: StoreMut>(
    store: &S,
    gone: &[u64],
    with_sealed: bool,
    new: impl IntoIterator<Item = DirectoryEntry>,
) -> Result<()> {
    change_meta(store, |meta| {
        meta.changes += 1;
        for entry in &mut meta.entries {
            entry.is_retired |= gone.contains(&entry.chain.number);
        }
        if with_sealed {
            let chain = std::mem::take(&mut meta.sealed);
            meta.entries.push(DirectoryEntry {
                chain,
                is_retired: true,
                ..DirectoryEntry::default()
            });
        }
        meta.entries.extend(new);
        if meta.entries.len() > MOST_ENTRIES {
            let message = "a rag_bm25 index has too many segments that can't be merged";
            return Err(Error::new(ErrorKind::OutOfResources, message)
                .hint("VACUUM the table, or use several indexes on partitions."));
        }
        Ok(true)
    })?;
    release(store)
}

/// Puts the pages of what is gone among the free ones. Under the structure lock.
pub fn release<S: StoreMut>(store: &S) -> Result<()> {
    loop {
        store.interrupted()?;
        let meta = read_meta(store)?;
        let Some(entry) = meta.entries.iter().find(|entry| entry.is_retired) else {
            return Ok(());
        };
        let chain = entry.chain;
        if chain.pages == 0 {
            change_meta(store, |meta| Ok(forget(meta, chain)))?;
        } else if meta.free.pages == 0 {
            change_meta(store, |meta| {
                let is_still = meta.free.pages == 0;
                if is_still {
                    meta.free = Chain { number: 0, ..chain };
                }
                Ok(is_still && forget(meta, chain))
            })?;
        } else {
            lengthen(store, meta.free.tail, chain)?;
        }
    }
}

fn lengthen<S: StoreMut>(store: &S, tail: u32, chain: Chain) -> Result<()> {
    if tail == 0 || tail >= store.blocks()? {
        return Err(corrupt(0, "a free page that does not exist"));
    }
    store
        .write_two(0, tail, |first, page| {
            let mut meta = Bm25Meta::read(first)?;
            if meta.free.pages == 0 || meta.free.tail != tail {
                return Ok(false);
            }
            if meta.is_in_use(page::number(page)) {
                return Err(corrupt(tail, "a page is free and in use"));
            }
            page::set_next(page, chain.head);
            meta.free.tail = chain.tail;
            meta.free.pages = meta.free.pages.saturating_add(chain.pages);
            let is_there = forget(&mut meta, chain);
            meta.write(first);
            Ok(is_there)
        })
        .map(drop)
}

fn forget(meta: &mut Bm25Meta, chain: Chain) -> bool {
    let before = meta.entries.len();
    meta.entries.retain(|entry| !(entry.is_retired && entry.chain == chain));
    meta.entries.len() < before
}

/// Puts the pages of a chain into a set. Fails at the first that is not what it should be.
pub fn mark_chain<S: Store>(
    store: &S,
    chain: Chain,
    expected: impl Fn(&Page) -> bool,
    set: &mut NumberSet,
) -> Result<()> {
    let mut block = chain.head;
    let blocks = store.blocks()?;
    for place in 0..chain.pages {
        store.interrupted()?;
        if block == 0 || block >= blocks {
            return Err(corrupt(block, "a chain of pages leads nowhere"));
        }
        if !set.insert(block) {
            return Err(corrupt(block, "a page is in two places"));
        }
        let (is_right, next) = store.read(block, |page| (expected(page), page::next(page)))?;
        if !is_right {
            return Err(corrupt(block, "a page in a chain belongs to something else"));
        }
        if place + 1 == chain.pages && block != chain.tail {
            return Err(corrupt(block, "a chain of pages has another end"));
        }
        block = next;
    }
    Ok(())
}

/// How many pages are accounted for.
#[must_use]
pub fn accounted(meta: &Bm25Meta) -> u64 {
    let chains = [meta.pending, meta.sealed, meta.free];
    let entries = meta.entries.iter().map(|entry| entry.chain);
    1 + chains.into_iter().chain(entries).map(|chain| u64::from(chain.pages)).sum::<u64>()
}

/// Finds pages that belong to nothing after a crash or an error. Under the structure lock, without
/// which no segments are made; inserts may go on. Gives how many there were.
pub fn sweep<S: StoreMut>(store: &S) -> Result<u32> {
    let before = read_meta(store)?;
    let blocks = store.blocks()?;
    if accounted(&before) >= u64::from(blocks) {
        return Ok(0);
    }
    // Free pages are taken out of use first, or one could be used while the set is made.
    let number = new_number(store)?;
    let (mut meta, mut before_free) = (before, 0);
    change_meta(store, |now| {
        before_free = now.free.pages;
        now.free = Chain::default();
        meta = now.clone();
        Ok(true)
    })?;
    let mut set = NumberSet::below(blocks);
    for chain in
        [meta.pending, meta.sealed].into_iter().chain(meta.entries.iter().map(|it| it.chain))
    {
        let store = InPassing(store);
        mark_chain(&store, chain, |page| page::number(page) == chain.number, &mut set)?;
    }
    let mut freed = 0;
    for block in (1..blocks).filter(|block| !set.contains(*block)) {
        store.interrupted()?;
        freed += u32::from(free(store, block, number)?);
    }
    Ok(freed.saturating_sub(before_free))
}

/// Puts a page that is not used at the head of the free ones.
fn free<S: StoreMut>(store: &S, block: u32, number: u64) -> Result<bool> {
    store.write_two(0, block, |first, page| {
        let mut meta = Bm25Meta::read(first)?;
        if meta.is_in_use(page::number(page)) {
            // An insert has got it meanwhile.
            return Ok(false);
        }
        content_mut(page).fill(0);
        page::stamp(page, Bm25PageKind::Free, number, meta.free.head);
        meta.free.head = block;
        meta.free.pages += 1;
        if meta.free.pages == 1 {
            meta.free.tail = block;
        }
        meta.write(first);
        Ok(true)
    })
}

/// A page of zeros.
#[must_use]
pub fn blank() -> Box<Page> {
    Box::new([0; PAGE_SIZE])
}
