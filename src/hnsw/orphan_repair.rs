//! # adopt: does a link lead to every node of a graph that was built?
//!
//! Choosing the best neighbours can drop the last link to a node, and nodes that are linked at the
//! same time may not see each other. To each that nothing leads to, the nearest along the links that has room
//! links, or that can spare a link.

use std::collections::{HashSet, VecDeque};

use super::build::{ChunkMemory, GraphBuilder};
use super::pause::{Pause, paused};

impl<M: ChunkMemory> GraphBuilder<M> {
    /// Makes sure that a link leads to every node of every layer: to each that has none, a node near it
    /// with room links, or one that can spare a link. To be called once all is linked.
    pub fn adopt(&self, pause: Pause<'_>) {
        let highest = self.entry().map_or(0, |entry| entry.layer);
        let mut nodes: Vec<u32> = (0..self.added()).collect();
        for layer in 0..=highest {
            nodes.retain(|node| self.layer(*node) >= layer);
            self.adopt_in(&nodes, layer, pause);
        }
    }

    fn adopt_in(&self, nodes: &[u32], layer: u8, pause: Pause<'_>) {
        let mut incoming = vec![0u32; self.added() as usize];
        for node in paused(nodes, pause) {
            self.list(*node, layer).into_iter().for_each(|link| incoming[link as usize] += 1);
        }
        for orphan in paused(nodes, pause) {
            if incoming[*orphan as usize] == 0 {
                self.adopt_one(*orphan, nodes, layer, &mut incoming);
            }
        }
    }

    fn adopt_one(&self, orphan: u32, nodes: &[u32], layer: u8, incoming: &mut [u32]) {
        if self.list(orphan, layer).is_empty() {
            // It was linked at the same time as the layer's first node.
            let others: Vec<u32> = self.nearest_of(orphan, nodes);
            self.set_list(orphan, layer, &others);
            others.iter().for_each(|other| incoming[*other as usize] += 1);
        }
        // Where lists are short, the near ones may have no link to spare.
        let mut next = VecDeque::from(self.list(orphan, layer));
        let mut asked = HashSet::from([orphan]);
        while let Some(parent) = next.pop_front() {
            if asked.insert(parent) {
                if self.takes(parent, orphan, layer, incoming) {
                    return;
                }
                next.extend(self.list(parent, layer));
            }
        }
    }

    /// Makes `parent` link to an orphan, if it has room or a link to spare; whether it does.
    fn takes(&self, parent: u32, orphan: u32, layer: u8, incoming: &mut [u32]) -> bool {
        let mut links = self.list(parent, layer);
        if links.len() == self.shape.degree.most(layer) {
            let spare = links.iter().rposition(|link| incoming[*link as usize] > 1);
            let Some(spare) = spare else { return false };
            incoming[links.remove(spare) as usize] -= 1;
        }
        links.push(orphan);
        self.set_list(parent, layer, &links);
        incoming[orphan as usize] += 1;
        true
    }

    /// Of `nodes` the `m` nearest to this one.
    fn nearest_of(&self, node: u32, nodes: &[u32]) -> Vec<u32> {
        let distance =
            |other: u32| self.shape.space.distance(self.payload(node), self.payload(other));
        let others = nodes.iter().copied().filter(|other| *other != node);
        let mut others: Vec<(f32, u32)> = others.map(|other| (distance(other), other)).collect();
        others.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        others.into_iter().take(usize::from(self.shape.degree.m)).map(|(_, other)| other).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hnsw::build::heap::Heap;
    use crate::hnsw::columns::ColumnValues;
    use crate::hnsw::insert::InsertItem;
    use crate::hnsw::page::{Degree, EntryPoint, Filters, IndexShape, RowId};
    use crate::hnsw::space::{DistanceMetric, Elements, Space, Storage};

    #[test]
    fn nodes_without_links_are_adopted() {
        let space = Space { metric: DistanceMetric::L2, storage: Storage::Float32, dimensions: 1 };
        let degree = Degree { m: 2, ef_construction: 4 };
        let shape = IndexShape::new(space, degree, Filters::default()).unwrap();
        let builder = GraphBuilder::new(shape);
        for number in 0..40u16 {
            let payload = space.encode(Elements::Numbers(&[f32::from(number)])).unwrap().unwrap();
            let (row, values) =
                (RowId { block: 0, line: number + 1 }, ColumnValues::new(&shape, &[]));
            let item = InsertItem { row, payload, probe: None, residuals: None, values };
            builder.add(&item, 1, &mut Heap).unwrap();
        }
        builder.complete(&mut Heap).unwrap();
        builder.raise_entry(EntryPoint { node: 0, layer: 1 });
        builder.adopt(&mut || ());
        for layer in 0..=1 {
            let links: Vec<u32> = (0..40).flat_map(|node| builder.list(node, layer)).collect();
            assert!((0..40).all(|node| links.contains(&node)), "layer {layer}: {links:?}");
        }
    }
}
