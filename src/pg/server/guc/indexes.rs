//! The settings of the indexes.

use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, PostgresGucEnum};

/// Whether a scan of an index of vectors goes on after its first search, by pgvector's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PostgresGucEnum)]
pub enum IterativeScan {
    /// It ends.
    #[name = c"off"]
    Off,
    /// It goes on, and what it finds too late is left out.
    #[name = c"strict_order"]
    StrictOrder,
    /// It goes on, and what it finds too late comes out of order.
    #[name = c"relaxed_order"]
    RelaxedOrder,
}

impl IterativeScan {
    /// Whether a scan goes on.
    pub fn is_iterative(self) -> bool {
        self != IterativeScan::Off
    }

    /// Whether what comes too late is left out.
    pub fn is_strict(self) -> bool {
        self != IterativeScan::RelaxedOrder
    }
}

static HNSW_EF_SEARCH: GucSetting<i32> = GucSetting::<i32>::new(40);
static HNSW_ITERATIVE_SCAN: GucSetting<IterativeScan> =
    GucSetting::<IterativeScan>::new(IterativeScan::StrictOrder);
static HNSW_MAX_SCAN_TUPLES: GucSetting<i32> = GucSetting::<i32>::new(20_000);
static HNSW_SCAN_MEM_MULTIPLIER: GucSetting<f64> = GucSetting::<f64>::new(1.0);

static BM25_K1: GucSetting<f64> = GucSetting::<f64>::new(0.9);
static BM25_B: GucSetting<f64> = GucSetting::<f64>::new(0.4);

/// Defines them.
pub fn define() {
    define_for_hnsw();
    define_for_bm25();
}

fn define_for_hnsw() {
    GucRegistry::define_int_guc(
        c"rag_hnsw.ef_search",
        c"Size of the dynamic candidate list for a search.",
        c"Higher values improve recall and cost time.",
        &HNSW_EF_SEARCH,
        1,
        10_000,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_enum_guc(
        c"rag_hnsw.iterative_scan",
        c"Whether a scan continues after its first search.",
        c"off: a scan returns at most rag_hnsw.ef_search rows. strict_order: it continues, and leaves out rows that it finds too late. relaxed_order: it returns these out of order.",
        &HNSW_ITERATIVE_SCAN,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"rag_hnsw.max_scan_tuples",
        c"Number of visited nodes after which a scan stops following links and reads the index sequentially.",
        c"",
        &HNSW_MAX_SCAN_TUPLES,
        1,
        i32::MAX,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_float_guc(
        c"rag_hnsw.scan_mem_multiplier",
        c"Memory of a scan, as a multiple of work_mem.",
        c"",
        &HNSW_SCAN_MEM_MULTIPLIER,
        1.0,
        1000.0,
        GucContext::Userset,
        GucFlags::default(),
    );
}

fn define_for_bm25() {
    GucRegistry::define_float_guc(
        c"rag.bm25_k1",
        c"Term frequency saturation of BM25.",
        c"0 ignores repeated words; higher values let repetitions count for longer.",
        &BM25_K1,
        0.0,
        1000.0,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_float_guc(
        c"rag.bm25_b",
        c"Length normalization of BM25.",
        c"From 0 (none) to 1 (full).",
        &BM25_B,
        0.0,
        1.0,
        GucContext::Userset,
        GucFlags::default(),
    );
}

/// Size of the dynamic candidate list for a search.
pub fn hnsw_ef_search() -> usize {
    HNSW_EF_SEARCH.get() as usize
}

/// Whether a scan continues after its first search.
pub fn hnsw_iterative_scan() -> IterativeScan {
    HNSW_ITERATIVE_SCAN.get()
}

/// Nodes met after which a scan reads the index in order.
pub fn hnsw_max_scan_tuples() -> usize {
    HNSW_MAX_SCAN_TUPLES.get() as usize
}

/// Memory of a scan, in multiples of `work_mem`.
pub fn hnsw_scan_mem_multiplier() -> f64 {
    HNSW_SCAN_MEM_MULTIPLIER.get()
}

/// Term frequency saturation of BM25.
pub fn bm25_k1() -> f64 {
    BM25_K1.get()
}

/// How much a text's length counts in a BM25 score.
pub fn bm25_b() -> f64 {
    BM25_B.get()
}
