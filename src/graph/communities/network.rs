//! A weighted undirected graph, in which nodes are numbers.

use super::NodeEdge;
use super::watch::InterruptWatch;

/// A weighted undirected graph.
///
/// It takes 32 bytes an edge and 32 bytes a node.
#[derive(Clone, Debug, Default)]
pub struct WeightedNetwork {
    /// Where the links of each node begin, and last where all end.
    begins: Vec<usize>,
    /// The neighbours of each node, by number, and the weights of the edges to them.
    links: Vec<(u32, f64)>,
    /// The weights of the edges from each node to itself.
    loops: Vec<f64>,
    /// The weights of all edges of each node; an edge to itself counts twice.
    strengths: Vec<f64>,
    total: f64,
}

impl WeightedNetwork {
    /// A graph with so many nodes and these edges. Weights of an edge that is given more than once are added up; an
    /// edge whose weight is not above 0 is none. `interrupt` is called from time to time and may unwind.
    ///
    /// While it is made it takes up to 80 bytes an edge.
    #[must_use]
    pub fn new(nodes: usize, edges: Vec<NodeEdge>, interrupt: &mut dyn FnMut()) -> WeightedNetwork {
        let watch = &mut InterruptWatch::new(interrupt);
        let mut loops = vec![0.0; nodes];
        let edges = merged(edges, watch);
        for edge in edges.iter().filter(|it| it.is_loop()) {
            loops[edge.ends.0 as usize] += edge.weight;
        }
        let (begins, links) = linked(nodes, edges.iter().filter(|it| !it.is_loop()), watch);
        let strength = |node: usize| {
            watch.step();
            let own = links[begins[node]..begins[node + 1]].iter().map(|(_, weight)| weight);
            own.sum::<f64>() + 2.0 * loops[node]
        };
        let strengths: Vec<f64> = (0..nodes).map(strength).collect();
        let total = strengths.iter().sum();
        WeightedNetwork { begins, links, loops, strengths, total }
    }

    /// How many nodes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.strengths.len()
    }

    /// Whether there is no node.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.strengths.is_empty()
    }

    /// How many edges there are between two nodes; those from a node to itself are not counted.
    #[must_use]
    pub fn edges(&self) -> usize {
        self.links.len() / 2
    }

    /// The other nodes that have an edge to `node`, by number, with the weights.
    #[must_use]
    pub fn links(&self, node: usize) -> &[(u32, f64)] {
        &self.links[self.begins[node]..self.begins[node + 1]]
    }

    /// The weight of all edges of `node`; one to itself counts twice.
    #[must_use]
    pub fn strength(&self, node: usize) -> f64 {
        self.strengths[node]
    }

    /// The weight of the edge from `node` to itself, 0 without one.
    #[must_use]
    pub fn own_weight(&self, node: usize) -> f64 {
        self.loops[node]
    }

    /// The strengths of all nodes together, which is twice the weight of all edges.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.total
    }

    /// The graph of the groups of its nodes, which have the numbers from 0 to before `groups`: edges within a group are
    /// one of the group to itself. `interrupt` is called from time to time and may unwind.
    #[must_use]
    pub fn aggregated(
        &self,
        group: &[u32],
        groups: usize,
        interrupt: &mut dyn FnMut(),
    ) -> WeightedNetwork {
        let own = |node: usize| NodeEdge::new(group[node], group[node], self.loops[node]);
        let others = |node: usize| {
            let later = self.links(node).iter().filter(move |(other, _)| *other as usize > node);
            later.map(move |(other, weight)| {
                NodeEdge::new(group[node], group[*other as usize], *weight)
            })
        };
        let edges = (0..self.len()).flat_map(|node| others(node).chain([own(node)]));
        let watch = &mut InterruptWatch::new(interrupt);
        let edges = edges.inspect(|_| watch.step()).collect();
        WeightedNetwork::new(groups, edges, interrupt)
    }

    /// The graph of some nodes and the edges among them; the first of `nodes` is number 0. `place` has room for all nodes
    /// and is `u32::MAX` everywhere, before and after. `interrupt` is called from time to time and may unwind.
    #[must_use]
    pub fn induced(
        &self,
        nodes: &[u32],
        place: &mut [u32],
        interrupt: &mut dyn FnMut(),
    ) -> WeightedNetwork {
        let watch = &mut InterruptWatch::new(interrupt);
        (0..).zip(nodes).for_each(|(at, node)| place[*node as usize] = at);
        let mut edges = Vec::new();
        for (at, node) in (0..).zip(nodes) {
            let node = *node as usize;
            edges.push(NodeEdge::new(at, at, self.loops[node]));
            let links = self.links(node).iter().inspect(|_| watch.step());
            let within = links.map(|(it, weight)| (place[*it as usize], weight));
            let later = within.filter(|(other, _)| *other != u32::MAX && *other > at);
            edges.extend(later.map(|(other, weight)| NodeEdge::new(at, other, *weight)));
        }
        nodes.iter().for_each(|node| place[*node as usize] = u32::MAX);
        WeightedNetwork::new(nodes.len(), edges, interrupt)
    }
}

/// The edges in order, each once and with the smaller number first.
fn merged(mut edges: Vec<NodeEdge>, watch: &mut InterruptWatch<'_>) -> Vec<NodeEdge> {
    edges.retain(|it| it.weight > 0.0 && it.weight.is_finite());
    edges.iter_mut().for_each(|it| it.ends = (it.ends.0.min(it.ends.1), it.ends.0.max(it.ends.1)));
    edges.sort_unstable_by(|a, b| {
        watch.step();
        a.ends.cmp(&b.ends)
    });
    edges.dedup_by(|next, kept| {
        watch.step();
        let is_same = next.ends == kept.ends;
        if is_same {
            kept.weight += next.weight;
        }
        is_same
    });
    edges
}

/// Where the links of each node begin, and the links: those of an edge at both of its ends.
fn linked<'a>(
    nodes: usize,
    edges: impl Iterator<Item = &'a NodeEdge> + Clone,
    watch: &mut InterruptWatch<'_>,
) -> (Vec<usize>, Vec<(u32, f64)>) {
    let mut begins = vec![0; nodes + 1];
    for NodeEdge { ends: (a, b), .. } in edges.clone() {
        watch.step();
        begins[*a as usize + 1] += 1;
        begins[*b as usize + 1] += 1;
    }
    for node in 0..nodes {
        begins[node + 1] += begins[node];
    }
    let (mut next, mut links) = (begins.clone(), vec![(0, 0.0); begins[nodes]]);
    for NodeEdge { ends: (a, b), weight } in edges {
        watch.step();
        for (from, to) in [(*a, *b), (*b, *a)] {
            links[next[from as usize]] = (to, *weight);
            next[from as usize] += 1;
        }
    }
    (begins, links)
}
