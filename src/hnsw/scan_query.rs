//! # scan query: what does a scan look for, and what does it give?

use super::columns::ColumnCondition;
use super::page::RowId;
use super::space::Payload;

/// What a scan has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanEffort {
    /// Nodes whose neighbours were looked at.
    pub nodes: u64,
    /// Distances to what the index holds.
    pub distances: u64,
}

impl ScanEffort {
    /// Adds the effort of another scan.
    pub fn add(&mut self, other: ScanEffort) {
        self.nodes += other.nodes;
        self.distances += other.distances;
    }
}

/// How near a row is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Nearness {
    /// The operator's value is not below this.
    Bound(f64),
    /// The operator gives NaN.
    Undirected,
    /// The vector is NULL.
    Null,
}

/// What a scan looks for, and where.
#[derive(Clone, Debug)]
pub struct ScanQuery {
    /// The probe that rows should be near to.
    pub probe: Probe,
    /// What the rows must meet, all of it.
    pub conditions: Vec<ColumnCondition>,
}

/// What should be near.
#[derive(Clone, Debug)]
pub enum Probe {
    /// What is near this.
    Vector(Payload),
    /// Anything: the probe is NULL, or has no direction, and no row is nearer than another.
    Anything(Nearness),
}

/// A row that a scan gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScannedRow {
    /// How near it is.
    pub nearness: Nearness,
    /// The row of the table.
    pub row: RowId,
    /// The node with which it was met; [`NONE`](super::shape::NONE) where that is not remembered.
    pub node: u32,
}
