//! The settings: those under `rag.` here, those of the indexes in [`indexes`].

mod indexes;

use std::ffi::CString;

use pgrx::prelude::*;
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, PostgresGucEnum};

pub use self::indexes::{
    IterativeScan, bm25_b, bm25_k1, hnsw_ef_search, hnsw_iterative_scan, hnsw_max_scan_tuples,
    hnsw_scan_mem_multiplier,
};
use crate::answer::options::AnswerCache;
use crate::protocol::{HostRules, PrivateHosts};

/// What is kept of how an answer came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PostgresGucEnum)]
pub enum TraceLevel {
    /// Nothing is kept.
    #[name = c"off"]
    Off,
    /// Figures are kept, without any text.
    #[name = c"summary"]
    Summary,
    /// Figures and texts are kept.
    #[name = c"full"]
    Full,
}

/// Which answers of language models are given again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PostgresGucEnum)]
pub enum Caching {
    /// No answer is given again.
    #[name = c"off"]
    Off,
    /// Answers to the same messages are given again.
    #[name = c"exact"]
    Exact,
    /// Answers to questions that mean the same are given again, too.
    #[name = c"semantic"]
    Semantic,
}

impl Caching {
    /// The name that users write.
    pub fn name(self) -> &'static str {
        match self {
            Caching::Off => "off",
            Caching::Exact => "exact",
            Caching::Semantic => "semantic",
        }
    }
}

impl From<AnswerCache> for Caching {
    fn from(cache: AnswerCache) -> Caching {
        match cache {
            AnswerCache::Off => Caching::Off,
            AnswerCache::Exact => Caching::Exact,
            AnswerCache::Semantic => Caching::Semantic,
        }
    }
}

static EMBEDDING_MODEL: GucSetting<Option<CString>> =
    GucSetting::<Option<CString>>::new(Some(c"multilingual-e5-small"));
static RELATIONS_SCHEMA: GucSetting<Option<CString>> =
    GucSetting::<Option<CString>>::new(Some(c""));
static LLM: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c"extractive"));
static MIN_CONFIDENCE: GucSetting<f64> = GucSetting::<f64>::new(-1.0);
static PARSE_TIMEOUT: GucSetting<i32> = GucSetting::<i32>::new(30_000);
static ALLOW_PRIVATE_HOSTS: GucSetting<PrivateHostsSetting> =
    GucSetting::<PrivateHostsSetting>::new(PrivateHostsSetting::Loopback);
static ALLOWED_HOSTS: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c""));
static INFERENCE_THREADS: GucSetting<i32> = GucSetting::<i32>::new(0);
static ONNXRUNTIME_LIBRARY: GucSetting<Option<CString>> =
    GucSetting::<Option<CString>>::new(Some(c""));
static LLAMA_LIBRARY: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c""));
static LLAMA_THREADS: GucSetting<i32> = GucSetting::<i32>::new(0);
static LLAMA_MEMORY: GucSetting<i32> = GucSetting::<i32>::new(8192);
static RAGD_PATH: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c""));
static MAX_WORKERS: GucSetting<i32> = GucSetting::<i32>::new(2);
static DOCUMENT_TIMEOUT: GucSetting<i32> = GucSetting::<i32>::new(60_000);
static MAX_ATTEMPTS: GucSetting<i32> = GucSetting::<i32>::new(5);
static RAGD_HEARTBEAT_TIMEOUT: GucSetting<i32> = GucSetting::<i32>::new(10_000);
static RAGD_START_TIMEOUT: GucSetting<i32> = GucSetting::<i32>::new(10_000);

static TRACE: GucSetting<TraceLevel> = GucSetting::<TraceLevel>::new(TraceLevel::Off);

static CACHE: GucSetting<Caching> = GucSetting::<Caching>::new(Caching::Off);
static CACHE_TTL: GucSetting<i32> = GucSetting::<i32>::new(3600);

/// Makes the settings known and reserves their prefix.
pub fn define() {
    define_for_users();
    define_for_operations();
    define_for_administrators();
    define_for_local_models();
    define_for_providers();
    indexes::define();
    // SAFETY: the arguments are constant C strings.
    unsafe {
        pg_sys::MarkGUCPrefixReserved(c"rag".as_ptr());
        pg_sys::MarkGUCPrefixReserved(c"rag_hnsw".as_ptr());
    }
}

/// The values of `rag.allow_private_hosts`.
#[derive(Clone, Copy, PostgresGucEnum)]
enum PrivateHostsSetting {
    #[name = c"none"]
    None,
    #[name = c"loopback"]
    Loopback,
    #[name = c"all"]
    All,
}

fn define_for_providers() {
    GucRegistry::define_enum_guc(
        c"rag.allow_private_hosts",
        c"Private addresses that providers may have.",
        c"none, loopback (the machine itself) or all.",
        &ALLOW_PRIVATE_HOSTS,
        GucContext::Suset,
        GucFlags::default(),
    );
    GucRegistry::define_string_guc(
        c"rag.allowed_hosts",
        c"Hosts that providers may have, separated by commas.",
        c"*.example.com stands for all subdomains of example.com. Empty: all hosts.",
        &ALLOWED_HOSTS,
        GucContext::Suset,
        GucFlags::default(),
    );
}

fn define_for_users() {
    GucRegistry::define_string_guc(
        c"rag.embedding_model",
        c"Embedding model of rag_embed, rag_chunk and of new pipelines.",
        c"A name from rag.model.",
        &EMBEDDING_MODEL,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_string_guc(
        c"rag.relations_schema",
        c"Schema in which the tables and views of new pipelines are made.",
        c"Empty: the schema of the source table.",
        &RELATIONS_SCHEMA,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_string_guc(
        c"rag.llm",
        c"Language model that writes answers: 'extractive' or a foreign server of the wrapper rag_llm.",
        c"The built-in 'extractive' answers with the best sentences of the documents.",
        &LLM,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_float_guc(
        c"rag.min_confidence",
        c"Confidence below which rag_answer says that it does not know.",
        c"From 0 to 1; -1 takes the measured default.",
        &MIN_CONFIDENCE,
        -1.0,
        1.0,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"rag.parse_timeout",
        c"Maximum time that rag_parse may spend on a document.",
        c"",
        &PARSE_TIMEOUT,
        1,
        3_600_000,
        GucContext::Userset,
        GucFlags::UNIT_MS,
    );
}

fn define_for_operations() {
    GucRegistry::define_enum_guc(
        c"rag.trace",
        c"How much of each answer is traced in rag.trace_log: off, summary or full.",
        c"summary: figures; full: question, answer and other texts too.",
        &TRACE,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_enum_guc(
        c"rag.cache",
        c"Which replies of language models are served from the cache: off, exact or semantic.",
        c"exact: for the same messages; semantic: also for questions with the same meaning.",
        &CACHE,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"rag.cache_ttl",
        c"Time for which a reply of a language model stays in the cache.",
        c"",
        &CACHE_TTL,
        1,
        2_592_000,
        GucContext::Userset,
        GucFlags::UNIT_S,
    );
}

fn define_for_local_models() {
    GucRegistry::define_string_guc(
        c"rag.llama_library",
        c"Path of the llama.cpp library, which runs local language models.",
        c"Empty: the one installed with the extension.",
        &LLAMA_LIBRARY,
        GucContext::Sighup,
        GucFlags::SUPERUSER_ONLY,
    );
    GucRegistry::define_int_guc(
        c"rag.llama_threads",
        c"Threads with which a local language model computes.",
        c"0 takes the number of cores, at most 16. They stand back behind all other processes.",
        &LLAMA_THREADS,
        0,
        256,
        GucContext::Sighup,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"rag.llama_memory",
        c"Most memory of a local language model.",
        c"The file of the model, which is mapped, is not counted.",
        &LLAMA_MEMORY,
        256,
        1 << 24,
        GucContext::Sighup,
        GucFlags::UNIT_MB,
    );
}

fn define_for_administrators() {
    GucRegistry::define_int_guc(
        c"rag.max_workers",
        c"Maximum number of pipeline workers of the server, over all databases.",
        c"Each takes one of max_worker_processes. 0 starts none.",
        &MAX_WORKERS,
        0,
        1000,
        GucContext::Sighup,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"rag.max_attempts",
        c"Attempts at embedding a row before it goes to rag.dead_letter.",
        c"Outages of ragd or of a provider do not count.",
        &MAX_ATTEMPTS,
        1,
        100,
        GucContext::Sighup,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"rag.document_timeout",
        c"Maximum time that the content expression, or a trigger on the chunk table, may take in a worker.",
        c"For a row, or for a batch of rows, which is then tried row by row. 0: no limit.",
        &DOCUMENT_TIMEOUT,
        0,
        i32::MAX,
        GucContext::Sighup,
        GucFlags::UNIT_MS,
    );
    GucRegistry::define_int_guc(
        c"rag.inference_threads",
        c"Threads ragd uses for one batch.",
        c"0 takes the number of cores, at most 4.",
        &INFERENCE_THREADS,
        0,
        256,
        GucContext::Sighup,
        GucFlags::default(),
    );
    GucRegistry::define_string_guc(
        c"rag.onnxruntime_library",
        c"Path of the ONNX Runtime library.",
        c"Empty: the one installed with the extension.",
        &ONNXRUNTIME_LIBRARY,
        GucContext::Sighup,
        GucFlags::SUPERUSER_ONLY,
    );
    GucRegistry::define_string_guc(
        c"rag.ragd_path",
        c"Path of the ragd executable.",
        c"Empty: the one installed with the extension.",
        &RAGD_PATH,
        GucContext::Sighup,
        GucFlags::SUPERUSER_ONLY,
    );
    GucRegistry::define_int_guc(
        c"rag.ragd_heartbeat_timeout",
        c"Time after which a ragd that does not answer, or whose model makes no progress, is restarted.",
        c"0 never restarts ragd.",
        &RAGD_HEARTBEAT_TIMEOUT,
        0,
        3_600_000,
        GucContext::Sighup,
        GucFlags::UNIT_MS,
    );
    GucRegistry::define_int_guc(
        c"rag.ragd_start_timeout",
        c"Maximum time that a call waits for ragd to start.",
        c"",
        &RAGD_START_TIMEOUT,
        100,
        600_000,
        GucContext::Userset,
        GucFlags::UNIT_MS,
    );
}

/// `rag.max_workers`: the most pipeline workers of a server.
pub fn max_workers() -> i32 {
    MAX_WORKERS.get()
}

/// `rag.max_attempts`: how often a row is tried.
pub fn max_attempts() -> i32 {
    MAX_ATTEMPTS.get()
}

/// `rag.document_timeout`; none if it is zero.
pub fn document_timeout() -> std::time::Duration {
    std::time::Duration::from_millis(DOCUMENT_TIMEOUT.get() as u64)
}

/// `rag.allow_private_hosts` and `rag.allowed_hosts`: which hosts may be called.
pub fn host_rules() -> HostRules {
    let private = match ALLOW_PRIVATE_HOSTS.get() {
        PrivateHostsSetting::None => PrivateHosts::None,
        PrivateHostsSetting::Loopback => PrivateHosts::Loopback,
        PrivateHostsSetting::All => PrivateHosts::All,
    };
    let list = text(&ALLOWED_HOSTS);
    let rules = list.split(',').map(str::trim).filter(|rule| !rule.is_empty());
    HostRules { private, allowed: rules.map(str::to_owned).collect() }
}

/// `rag.embedding_model`: the model of calls and new pipelines that name none.
pub fn embedding_model() -> String {
    text(&EMBEDDING_MODEL)
}

/// `rag.llm`: `extractive` or the foreign server that writes answers where a call names none.
pub fn llm() -> String {
    text(&LLM)
}

/// `rag.relations_schema`, without quotes; empty for the schema of the source, and in a function with SECURITY DEFINER: whoever
/// calls that has set it, and the function's owner would make relations there.
pub fn relations_schema() -> String {
    // SAFETY: a variable of the session.
    match unsafe { pgrx::pg_sys::InLocalUserIdChange() } {
        true => String::new(),
        false => text(&RELATIONS_SCHEMA),
    }
}

/// `rag.min_confidence`; `None` where the measured default holds.
pub fn min_confidence() -> Option<f32> {
    let value = MIN_CONFIDENCE.get();
    (value >= 0.0).then_some(value as f32)
}

/// `rag.trace`: what is kept of how an answer came about.
pub fn trace() -> TraceLevel {
    TRACE.get()
}

/// `rag.cache`: which answers of language models are given again.
pub fn cache() -> Caching {
    CACHE.get()
}

/// `rag.cache_ttl`: how long answers are kept, in seconds.
pub fn cache_ttl() -> u32 {
    CACHE_TTL.get() as u32
}

/// `rag.parse_timeout`: the longest time that `rag_parse` takes for a document.
pub fn parse_timeout() -> std::time::Duration {
    std::time::Duration::from_millis(PARSE_TIMEOUT.get() as u64)
}

/// `rag.inference_threads`, with 0 resolved.
pub fn inference_threads() -> usize {
    match INFERENCE_THREADS.get() {
        0 => std::thread::available_parallelism().map_or(1, |cores| cores.get().min(4)),
        threads => threads as usize,
    }
}

/// `rag.onnxruntime_library`, with the default resolved.
pub fn onnxruntime_library() -> String {
    non_empty(&ONNXRUNTIME_LIBRARY).unwrap_or_else(|| {
        format!("{}/pg_rag/libonnxruntime.so", super::install::library_directory())
    })
}

/// How local language models are run.
#[derive(PartialEq, Eq)]
pub struct LlamaSettings {
    /// `rag.llama_library`, with the default resolved.
    pub library: String,
    /// `rag.llama_threads`, with 0 resolved.
    pub threads: usize,
    /// `rag.llama_memory`, in bytes.
    pub memory: u64,
}

/// The settings of local language models.
pub fn llama() -> LlamaSettings {
    let usual = || format!("{}/pg_rag/llama/libllama.so", super::install::library_directory());
    let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get().min(16));
    LlamaSettings {
        library: non_empty(&LLAMA_LIBRARY).unwrap_or_else(usual),
        threads: match LLAMA_THREADS.get() {
            0 => cores(),
            threads => threads as usize,
        },
        memory: (LLAMA_MEMORY.get() as u64) << 20,
    }
}

/// `rag.ragd_path`, with the default resolved.
pub fn ragd_path() -> String {
    non_empty(&RAGD_PATH)
        .unwrap_or_else(|| format!("{}/pg_rag/ragd", super::install::library_directory()))
}

/// `rag.ragd_heartbeat_timeout`, 100 ms at least; `None` where ragd may hang for ever.
pub fn ragd_heartbeat_timeout() -> Option<std::time::Duration> {
    let milliseconds = RAGD_HEARTBEAT_TIMEOUT.get() as u64;
    (milliseconds > 0).then(|| std::time::Duration::from_millis(milliseconds.max(100)))
}

/// `rag.ragd_start_timeout`: how long a session waits for ragd to start.
pub fn ragd_start_timeout() -> std::time::Duration {
    std::time::Duration::from_millis(RAGD_START_TIMEOUT.get() as u64)
}

fn text(setting: &GucSetting<Option<CString>>) -> String {
    setting.get().map(|value| value.to_string_lossy().into_owned()).unwrap_or_default()
}

fn non_empty(setting: &GucSetting<Option<CString>>) -> Option<String> {
    Some(text(setting)).filter(|value| !value.is_empty())
}
