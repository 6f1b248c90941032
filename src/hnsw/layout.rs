//! # layout: which page holds what?
//!
//! ```text
//! block → values, links, residual codes or slots          a slot → where its node has its links, and the rest
//! ```
//!
//! The links of nodes on the ground do not lie with the vectors. They change whenever a node is
//! inserted nearby, and vectors never do: so an insert changes few pages, and those that it changes
//! hold the links of many nodes. Values to filter by lie apart from both, see [`columns`](super::columns).
//!
//! Pages come in groups: first those with links, then those with residual codes, if the index has them
//! ([`residuals`](super::residuals)), and then those with the slots of these nodes. With filter
//! columns so many groups as fit follow a page with their values. What lies where follows from numbers
//! alone, so no page has to say it.
//!
//! Pages with nodes of the layers above, and with rows that have no place in the graph, need neither links nor
//! values of their own. Those that a build makes are in no group: they are left out of the count.

use std::ops::Range;

use super::page::NodePlace;

/// The most pages of a group that have slots.
const MOST_DATA_PAGES: u32 = 64;
/// The share of the room on pages with links and column pages that is used well enough, and how much less than the best
/// there is where there is nothing so good. A small index has the links of a whole group, so groups should be small.
const WELL_USED: f64 = 0.95;
const NEARLY: f64 = 0.05;

/// What a page is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockRole {
    /// Values of the filter columns of the groups that follow.
    Column,
    /// Links of the nodes on the pages that follow.
    Links,
    /// Residual codes of the nodes on the pages that follow.
    Residuals,
    /// Slots.
    Data,
}

/// What an index has on a page: the layout follows from it.
#[derive(Clone, Copy, Debug)]
pub struct PageCapacity {
    /// Slots of the ground layer for which there is room.
    pub slots: u32,
    /// Lists of links.
    pub lists: u32,
    /// Rows whose filter values fit on a column page; `None` without filter columns.
    pub values: Option<u32>,
    /// Entries of residual codes; `None` in an index without them.
    pub residuals: Option<u32>,
}

/// The order of the pages after block 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLayout {
    slots: u32,
    lists: u32,
    /// Entries of a page with residual codes; 0 without them.
    residuals: u32,
    /// Pages of a group with links, with residual codes, and with slots.
    link_pages: u32,
    residual_pages: u32,
    data_pages: u32,
    /// Groups that follow a column page; 0 without filter columns.
    covered: u32,
    apart: PagesApart,
}

/// Pages with slots that are in no group. They stand together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PagesApart {
    /// The first of them.
    pub first: u32,
    /// How many there are.
    pub count: u32,
}

impl PageLayout {
    /// The smallest groups that make good use of their pages with links and of column pages. A page has no more slots than a page has
    /// room for their filter values.
    #[must_use]
    pub fn new(capacity: PageCapacity) -> PageLayout {
        let PageCapacity { lists, values, residuals, .. } = capacity;
        let slots = values.map_or(capacity.slots, |values| capacity.slots.min(values));
        let most = values.map_or(MOST_DATA_PAGES, |values| (values / slots).min(MOST_DATA_PAGES));
        // Pages with links are those of one group, and a column page has the values of whole groups.
        let used = |pages: &u32| {
            let nodes = pages * slots;
            let filled = |a_page: u32| f64::from(nodes) / f64::from(nodes.next_multiple_of(a_page));
            let covered = |values| f64::from(values - values % nodes) / f64::from(values);
            filled(lists) * residuals.map_or(1.0, filled) * values.map_or(1.0, covered)
        };
        let data_pages = (1..=most)
            .find(|pages| used(pages) >= WELL_USED)
            .or_else(|| {
                let best = (1..=most).map(|pages| used(&pages)).fold(0.0, f64::max);
                (1..=most).find(|pages| used(pages) >= best - NEARLY)
            })
            .unwrap_or(1);
        let link_pages = (data_pages * slots).div_ceil(lists);
        let covered = values.map_or(0, |values| values / (data_pages * slots));
        let residual_pages = residuals.map_or(0, |it| (data_pages * slots).div_ceil(it));
        PageLayout {
            slots,
            lists,
            residuals: residuals.unwrap_or(0),
            link_pages,
            residual_pages,
            data_pages,
            covered,
            apart: PagesApart::default(),
        }
    }

    /// Pages of a group before those with slots.
    fn before_data(&self) -> u32 {
        self.link_pages + self.residual_pages
    }

    fn group(&self) -> u32 {
        self.before_data() + self.data_pages
    }

    /// Pages from one column page to the next; those of a group without filter columns.
    fn stretch(&self) -> u32 {
        u32::from(self.covered > 0) + self.covered.max(1) * self.group()
    }

    /// This layout with some pages that are in no group; `None` if there can be no such pages.
    #[must_use]
    pub fn with_apart(self, apart: PagesApart) -> Option<PageLayout> {
        let is_there = apart.first > 0 && apart.first.checked_add(apart.count).is_some();
        (is_there || apart == PagesApart::default()).then_some(PageLayout { apart, ..self })
    }

    /// The pages that are in no group.
    #[must_use]
    pub fn apart(&self) -> PagesApart {
        self.apart
    }

    /// Where a page would be if there were no pages apart; `None` for one of these, and for block 0.
    fn counted(&self, block: u32) -> Option<u32> {
        let PagesApart { first, count } = self.apart;
        match block {
            0 => None,
            _ if count == 0 || block < first => Some(block),
            _ if block < first + count => None,
            _ => Some(block - count),
        }
    }

    /// The page that would be this one if there were no pages apart.
    fn block(&self, counted: u32) -> u32 {
        match self.apart.count > 0 && counted >= self.apart.first {
            true => counted.saturating_add(self.apart.count),
            false => counted,
        }
    }

    /// The group within its stretch and the page within its group; `None` for column pages and pages apart.
    fn within(&self, counted: u32) -> Option<(u32, u32)> {
        let place = ((counted - 1) % self.stretch()).checked_sub(self.covered.min(1))?;
        Some((place / self.group(), place % self.group()))
    }

    /// What a block beyond block 0 is for.
    #[must_use]
    pub fn role(&self, block: u32) -> BlockRole {
        let Some(counted) = self.counted(block) else { return BlockRole::Data };
        match self.within(counted) {
            None => BlockRole::Column,
            Some((_, page)) if page < self.link_pages => BlockRole::Links,
            Some((_, page)) if page < self.before_data() => BlockRole::Residuals,
            Some(_) => BlockRole::Data,
        }
    }

    /// The block of the page that is the `rank`th, from 0, among those with slots in groups.
    #[must_use]
    pub fn data_block(&self, rank: u32) -> u32 {
        let covered = self.covered.max(1);
        let (group, page) = (rank / self.data_pages, rank % self.data_pages);
        let before = group / covered * self.stretch() + group % covered * self.group();
        self.block(1 + before + self.covered.min(1) + self.before_data() + page)
    }

    /// About how many pages with slots of groups there are among so many blocks.
    #[must_use]
    pub fn data_pages(&self, blocks: u32) -> u32 {
        let share = f64::from(self.covered.max(1) * self.data_pages) / f64::from(self.stretch());
        (f64::from(blocks.saturating_sub(self.apart.count)) * share) as u32
    }

    /// Where the links of a node on the ground lie: the page, and which of its lists. `None` where there can be no
    /// such node.
    #[must_use]
    pub fn links(&self, node: NodePlace) -> Option<NodePlace> {
        let (first, at) = self.of_group(node)?;
        Some(NodePlace { block: self.block(first + at / self.lists), slot: at % self.lists })
    }

    /// Where the residual codes of a node on the ground lie: the page, and which of its entries. `None` where there can
    /// be no such node, and in an index without residual codes.
    #[must_use]
    pub fn residuals(&self, node: NodePlace) -> Option<NodePlace> {
        let (first, at) = self.of_group(node).filter(|_| self.residuals > 0)?;
        let block = self.block(first + self.link_pages + at / self.residuals);
        Some(NodePlace { block, slot: at % self.residuals })
    }

    /// The first page of a node's group, as pages are counted, and which of the group's nodes it is.
    fn of_group(&self, node: NodePlace) -> Option<(u32, u32)> {
        let counted = self.counted(node.block)?;
        let (_, page) = self.within(counted)?;
        let data_page = page.checked_sub(self.before_data())?;
        let at = data_page * self.slots + node.slot;
        (node.slot < self.slots).then_some((counted - page, at))
    }

    /// Which nodes have their links or their residual codes on a page, counted over all slots of the ground in the order of
    /// their pages.
    #[must_use]
    pub fn nodes_beyond(&self, block: u32) -> Range<usize> {
        let Some(counted) = self.counted(block) else { return 0..0 };
        let Some((group, page)) = self.within(counted) else { return 0..0 };
        let groups = (counted - 1) / self.stretch() * self.covered.max(1) + group;
        let of_group = self.data_pages * self.slots;
        let (page, a_page) = match page.checked_sub(self.link_pages) {
            None => (page, self.lists),
            Some(page) => (page, self.residuals),
        };
        let (first, end) = (page * a_page, (page + 1) * a_page);
        let before = groups as usize * of_group as usize;
        before + first.min(of_group) as usize..before + end.min(of_group) as usize
    }

    /// Where the filter values of a node on the ground lie: the page, and which of its entries.
    #[must_use]
    pub fn values(&self, node: NodePlace) -> Option<NodePlace> {
        let counted = self.counted(node.block).filter(|_| self.covered > 0)?;
        let (group, page) = self.within(counted)?;
        let data_page = group * self.data_pages + page.checked_sub(self.before_data())?;
        let block = self.block(counted - (counted - 1) % self.stretch());
        Some(NodePlace { block, slot: data_page * self.slots + node.slot })
    }

    /// Entries of a column page.
    #[must_use]
    pub fn entries(&self) -> usize {
        (self.covered * self.data_pages * self.slots) as usize
    }

    /// The column pages among so many blocks.
    pub fn column_blocks(&self, blocks: u32) -> impl Iterator<Item = u32> + use<> {
        let layout = *self;
        let counted = blocks.saturating_sub(1);
        let counted = if self.covered > 0 { counted } else { 0 };
        let columns = (0..counted).step_by(self.stretch() as usize);
        columns.map(move |before| layout.block(before + 1)).take_while(move |it| *it < blocks)
    }

    /// The pages with slots whose filter values lie on a column page, in the order of its entries.
    pub fn covered_blocks(&self, column_block: u32) -> impl Iterator<Item = u32> + use<> {
        let layout = *self;
        let first = self.counted(column_block).unwrap_or(1) + 1;
        (0..self.covered * self.data_pages).map(move |rank| {
            let (group, page) = (rank / layout.data_pages, rank % layout.data_pages);
            layout.block(first + group * layout.group() + layout.before_data() + page)
        })
    }

    /// Whether there are pages with residual codes.
    #[must_use]
    pub fn has_residuals(&self) -> bool {
        self.residuals > 0
    }

    /// Slots of the ground on a page.
    #[must_use]
    pub fn slots(&self) -> u32 {
        self.slots
    }

    /// Lists of links on a page.
    #[must_use]
    pub fn lists(&self) -> u32 {
        self.lists
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        /// Every slot has links and values of its own, on pages that are for them.
        #[test]
        fn no_two_nodes_share_a_place(
            slots in 1u32..300,
            lists in 1u32..600,
            values in prop::option::of(1u32..4000),
            residuals in prop::option::of(1u32..400),
            (first, count) in (1u32..300, 0u32..80),
        ) {
            let apart = PagesApart { first, count };
            let layout = PageLayout::new(PageCapacity { slots, lists, values, residuals });
            let layout = layout.with_apart(apart).unwrap();
            let is_apart = |block: u32| (first..first + count).contains(&block);
            let slots = layout.slots();
            prop_assert!(slots > 0 && layout.entries() <= values.unwrap_or(0) as usize);
            let (mut links, mut entries, mut rank) = (HashMap::new(), HashMap::new(), 0u32);
            let mut codes = HashMap::new();
            for block in 1..400 {
                if layout.role(block) != BlockRole::Data || is_apart(block) {
                    prop_assert!(!is_apart(block) || layout.role(block) == BlockRole::Data);
                    prop_assert_eq!(layout.links(NodePlace { block, slot: 0 }), None);
                    continue;
                }
                prop_assert_eq!(layout.data_block(rank), block);
                for slot in 0..slots {
                    let node = NodePlace { block, slot };
                    let at = layout.links(node).unwrap();
                    prop_assert!(at.block < block && at.slot < lists);
                    prop_assert_eq!(layout.role(at.block), BlockRole::Links);
                    prop_assert_eq!(links.insert(at, node), None);
                    let number = rank as usize * slots as usize + slot as usize;
                    let of_page = layout.nodes_beyond(at.block);
                    prop_assert_eq!(of_page.start + at.slot as usize, number);
                    prop_assert!(of_page.contains(&number));
                    let of_codes = layout.residuals(node);
                    prop_assert_eq!(of_codes.is_some(), residuals.is_some());
                    if let (Some(at), Some(most)) = (of_codes, residuals) {
                        prop_assert!(at.block < block && at.slot < most);
                        prop_assert_eq!(layout.role(at.block), BlockRole::Residuals);
                        prop_assert_eq!(codes.insert(at, node), None);
                        let of_page = layout.nodes_beyond(at.block);
                        prop_assert_eq!(of_page.start + at.slot as usize, number);
                        prop_assert!(of_page.contains(&number));
                    }
                    let Some(at) = layout.values(node) else { prop_assert!(values.is_none()); continue };
                    prop_assert_eq!(layout.role(at.block), BlockRole::Column);
                    prop_assert!((at.slot as usize) < layout.entries());
                    prop_assert_eq!(entries.insert(at, node), None);
                    let covered = layout.covered_blocks(at.block).nth((at.slot / slots) as usize);
                    prop_assert_eq!(covered, Some(block));
                }
                rank += 1;
            }
            let columns: Vec<u32> = layout.column_blocks(400).collect();
            let expected = (1..400).filter(|block| layout.role(*block) == BlockRole::Column);
            prop_assert_eq!(columns, expected.collect::<Vec<u32>>());
        }
    }

    #[test]
    fn column_pages_are_full() {
        for (slots, values) in [(19, 460), (19, 900), (12, 460), (10, 4000), (5, 230)] {
            let layout = PageLayout::new(PageCapacity {
                slots,
                lists: 63,
                values: Some(values),
                residuals: None,
            });
            let links = f64::from(layout.data_pages * slots) / f64::from(layout.link_pages * 63);
            let entries = layout.entries() as f64 / f64::from(values);
            assert!(links >= 0.88 && entries >= 0.88, "{slots}, {values}: {links}, {entries}");
        }
    }

    #[test]
    fn pages_with_links_are_full() {
        for slots in 1..300 {
            let layout =
                PageLayout::new(PageCapacity { slots, lists: 63, values: None, residuals: None });
            let used = f64::from(layout.data_pages * slots) / f64::from(layout.link_pages * 63);
            assert!(used >= WELL_USED, "{slots}: {used}");
        }
    }
}
