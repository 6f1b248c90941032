//! What a scan looks for, and what it finds.

use super::columns::ColumnCondition;
use super::page::RowId;
use super::space::Payload;

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

/// A row that a scan found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearRow {
    /// How near it is, as far as a walk knows.
    pub nearness: Nearness,
    /// The row.
    pub row: RowId,
    /// Its node on the ground; 0 where it has none.
    pub node: u32,
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
