//! # in memory: how is a graph walked while it is being built?

use std::sync::atomic::Ordering;

use super::super::graph::{AHEAD, Graph, Neighbor};
use super::super::page::RowId;
use super::super::space::Space;
use super::{ChunkMemory, GraphBuilder, NO_LINK};
use crate::error::Result;
use crate::vector::prefetch::prefetch;

/// The graph that is being built.
pub struct InMemory<'a, M: ChunkMemory> {
    /// Who builds it.
    pub builder: &'a GraphBuilder<M>,
    /// By what distances are measured.
    pub space: Space,
}

impl<M: ChunkMemory> Graph for InMemory<'_, M> {
    fn neighbours(&self, node: u32, layer: u8, into: &mut Vec<u32>) -> Result<()> {
        let links = self.builder.links(node, layer).iter().map(|link| link.load(Ordering::Relaxed));
        into.extend(links.take_while(|link| *link != NO_LINK));
        Ok(())
    }

    fn look(
        &self,
        probe: &[u8],
        nodes: &[u32],
        _layer: u8,
        seen: &mut dyn FnMut(Neighbor),
    ) -> Result<()> {
        let ask = |node: &u32| {
            let payload = self.builder.payload(*node);
            prefetch(payload.as_ptr(), payload.len());
        };
        nodes.iter().take(AHEAD).for_each(ask);
        for (index, node) in nodes.iter().enumerate() {
            nodes.get(index + AHEAD).into_iter().for_each(ask);
            let payload = self.builder.payload(*node);
            let distance = self.space.distance(probe, payload);
            let (row, fit) = (RowId::default(), self.space.fit(payload));
            seen(Neighbor { node: *node, row, is_live: true, distance, fit });
        }
        Ok(())
    }

    fn approach(&self, node: u32, layer: u8) {
        let links = self.builder.links(node, layer);
        prefetch(links.as_ptr().cast(), size_of_val(links));
    }

    fn below(&self, node: u32, _layer: u8) -> Result<Option<u32>> {
        Ok(Some(node))
    }

    fn interrupted(&self) -> Result<()> {
        Ok(())
    }
}
