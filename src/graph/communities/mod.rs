//! # communities: which entities belong together?
//!
//! ```text
//! entities and their chunks → a network → communities, level by level → who is a member of which
//! chunks that were found, the communities of what they name → which communities are read, and which chunks of them
//! ```
//!
//! The communities of GraphRAG (Edge et al., 2024) without a language model: entities are tied by the chunks that name
//! both ([`ties`]), and communities are found among them by [`leiden`], several times where the network is not large
//! ([`ensemble`]), and divided again where they are large ([`hierarchy`]). [`membership`] says what has changed since
//! the last time, so that a community with the members that it had stays what it was. Nothing is written of a community
//! before somebody asks, as in LazyGraphRAG: [`rank`] chooses communities by the chunks that a question has found.
//! [`options`] says what can be asked for.

pub mod ensemble;
pub mod hierarchy;
pub mod leiden;
pub mod membership;
pub mod network;
pub mod options;
pub mod rank;
mod settle;
pub mod ties;
mod watch;

/// An edge of a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeEdge {
    /// The numbers of its nodes, which may be the same.
    pub ends: (u32, u32),
    /// How much it counts, above 0.
    pub weight: f64,
}

impl NodeEdge {
    /// An edge between two nodes.
    #[must_use]
    pub fn new(from: u32, to: u32, weight: f64) -> NodeEdge {
        NodeEdge { ends: (from, to), weight }
    }

    /// Whether it leads from a node to itself.
    #[must_use]
    pub fn is_loop(&self) -> bool {
        self.ends.0 == self.ends.1
    }
}

#[cfg(test)]
mod tests;
