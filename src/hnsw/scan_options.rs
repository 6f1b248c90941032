//! # scan options: how does a scan search?

/// How a scan searches.
#[derive(Clone, Copy, Debug)]
pub struct ScanOptions {
    /// How many nearest nodes the first walk finds.
    pub ef_search: usize,
    /// Whether the scan goes on after the first walk.
    pub is_iterative: bool,
    /// Nodes met after which the walk gives way to the sweep.
    pub max_scan_tuples: usize,
    /// Bytes for the walk, and for what a sweep sorts.
    pub memory: usize,
    /// The share of the rows that the caller is expected to keep.
    pub share_kept: f64,
}
