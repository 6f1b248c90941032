//! Which entities are tied, and how strongly?

use super::NodeEdge;
use super::watch::InterruptWatch;
use crate::error::Result;
use crate::spare;

/// Pairs that are counted together, at least.
const PAIRS: usize = 1 << 20;

/// The edges among entities, each weighing as many chunks as name both of its ends. `chunks_of` are the chunks that name
/// each entity, each chunk once; an entity has the number of its place. `interrupt` is called from time to time and may
/// unwind.
///
/// The memory that is needed grows with the edges, not with how often they are met. Fails where there is not as much.
pub fn ties(chunks_of: &[Vec<i64>], interrupt: &mut dyn FnMut()) -> Result<Vec<NodeEdge>> {
    let mentions = chunks_of.iter().map(Vec::len).sum::<usize>();
    spare::check(mentions * size_of::<(i64, u32)>())?;
    let of_entity = |(entity, chunks): (u32, &Vec<i64>)| {
        chunks.iter().map(move |chunk| (*chunk, entity)).collect::<Vec<_>>()
    };
    let watch = &mut InterruptWatch::new(interrupt);
    let named = (0..).zip(chunks_of).flat_map(of_entity).inspect(|_| watch.step());
    let mut named: Vec<(i64, u32)> = named.collect();
    sort(&mut named, watch);
    let mut counted = CountedPairs::default();
    for of_chunk in named.chunk_by(|a, b| a.0 == b.0) {
        for (at, (_, from)) in of_chunk.iter().enumerate() {
            watch.step();
            counted.met.extend(of_chunk[at + 1..].iter().map(|(_, to)| (*from, *to)));
        }
        if counted.met.len() > counted.edges.len().max(PAIRS) {
            counted.add_up(watch)?;
        }
    }
    counted.add_up(watch)?;
    Ok(counted.edges)
}

fn sort<T: Ord>(all: &mut [T], watch: &mut InterruptWatch<'_>) {
    all.sort_unstable_by(|a, b| {
        watch.step();
        a.cmp(b)
    });
}

/// Pairs that are counted up to some point, and those that were met after it.
#[derive(Default)]
struct CountedPairs {
    /// In the order of their ends.
    edges: Vec<NodeEdge>,
    met: Vec<(u32, u32)>,
}

impl CountedPairs {
    fn add_up(&mut self, watch: &mut InterruptWatch<'_>) -> Result<()> {
        let most = self.edges.len() + self.met.len();
        spare::check(most * size_of::<NodeEdge>())?;
        sort(&mut self.met, watch);
        let new = self.met.chunk_by(|a, b| a == b);
        let new = new.map(|run| NodeEdge::new(run[0].0, run[0].1, run.len() as f64));
        let mut merged: Vec<NodeEdge> = Vec::with_capacity(most);
        let mut known = std::mem::take(&mut self.edges).into_iter().peekable();
        for mut edge in new {
            watch.step();
            while let Some(before) = known.next_if(|it| it.ends < edge.ends) {
                watch.step();
                merged.push(before);
            }
            if let Some(same) = known.next_if(|it| it.ends == edge.ends) {
                edge.weight += same.weight;
            }
            merged.push(edge);
        }
        merged.extend(known);
        self.edges = merged;
        self.met.clear();
        Ok(())
    }
}
