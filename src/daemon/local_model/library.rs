//! llama.cpp: a shared library that is loaded when the first local model is, and its C interface as far as it is used.
//!
//! The structures are those of `llama.h` of version 0.5, field by field. Nothing in C says that a library was
//! built from another header, so [`LlamaLibrary::load`] refuses every version but that one, and looks whether the default
//! parameters are what they should be.

// Fields of structures have their names in llama.h, which says what they mean.
#![allow(missing_docs)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL};

use crate::daemon::log;
use crate::error::{Error, ErrorKind, Result};
use crate::text::line::single_line;

/// The version of the library that the structures below belong to, without its last number.
pub const VERSION: &str = "0.5";

/// A token of a vocabulary.
pub type Token = i32;

/// `struct llama_model`, of which only addresses are seen.
#[repr(C)]
pub struct RawModel {
    _private: [u8; 0],
}

/// `struct llama_vocab`, likewise.
#[repr(C)]
pub struct RawVocabulary {
    _private: [u8; 0],
}

/// `struct llama_context`, likewise.
#[repr(C)]
pub struct RawContext {
    _private: [u8; 0],
}

/// `struct llama_memory_i`, likewise.
#[repr(C)]
pub struct RawMemory {
    _private: [u8; 0],
}

/// `struct llama_sampler`, likewise.
#[repr(C)]
pub struct RawSampler {
    _private: [u8; 0],
}

/// `struct llama_model_params`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ModelParameters {
    devices: *mut *mut c_void,
    tensor_buft_overrides: *const c_void,
    pub n_gpu_layers: i32,
    split_mode: c_int,
    load_mode: c_int,
    lazy_mode: c_int,
    main_gpu: i32,
    tensor_split: *const f32,
    progress_callback: Option<unsafe extern "C" fn(f32, *mut c_void) -> bool>,
    progress_callback_user_data: *mut c_void,
    kv_overrides: *const c_void,
    vocab_only: bool,
    pub check_tensors: bool,
    use_extra_bufts: bool,
    no_host: bool,
    no_alloc: bool,
    load_mtp: bool,
}

/// `struct llama_context_params`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ContextParameters {
    pub n_ctx: u32,
    pub n_batch: u32,
    pub n_ubatch: u32,
    pub n_seq_max: u32,
    n_rs_seq: u32,
    n_outputs_max: u32,
    n_outputs_max_per_seq: u32,
    pub n_threads: i32,
    pub n_threads_batch: i32,
    ctx_type: c_int,
    rope_scaling_type: c_int,
    pooling_type: c_int,
    attention_type: c_int,
    flash_attn_type: c_int,
    rope_freq_base: f32,
    rope_freq_scale: f32,
    yarn_ext_factor: f32,
    yarn_attn_factor: f32,
    yarn_beta_fast: f32,
    yarn_beta_slow: f32,
    yarn_orig_ctx: u32,
    defrag_thold: f32,
    cb_eval: Option<unsafe extern "C" fn(*mut c_void, bool, *mut c_void) -> bool>,
    cb_eval_user_data: *mut c_void,
    type_k: c_int,
    type_v: c_int,
    abort_callback: Option<Abort>,
    abort_callback_data: *mut c_void,
    embeddings: bool,
    offload_kqv: bool,
    no_perf: bool,
    op_offload: bool,
    swa_full: bool,
    kv_unified: bool,
    samplers: *mut c_void,
    n_samplers: usize,
    ctx_other: *mut RawContext,
}

/// `struct llama_sampler_chain_params`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ChainParameters {
    no_perf: bool,
}

/// `struct llama_batch`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawBatch {
    pub n_tokens: i32,
    pub token: *mut Token,
    pub embd: *mut f32,
    pub pos: *mut i32,
    pub n_seq_id: *mut i32,
    pub seq_id: *mut *mut i32,
    pub logits: *mut i8,
}

/// `struct llama_token_data`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TokenCandidate {
    pub id: Token,
    pub logit: f32,
    pub p: f32,
}

/// `struct llama_token_data_array`.
#[repr(C)]
pub struct RawCandidates {
    pub data: *mut TokenCandidate,
    pub size: usize,
    pub selected: i64,
    pub sorted: bool,
}

/// `ggml_abort_callback`.
pub type Abort = unsafe extern "C" fn(*mut c_void) -> bool;

/// Whether a batch is being stopped. What the library says meanwhile is no error, and is not passed on.
pub static IS_STOPPING: AtomicBool = AtomicBool::new(false);

/// `ggml_log_callback`.
type Log = unsafe extern "C" fn(c_int, *const c_char, *mut c_void);

/// The level of `ggml_log_level` from which on a message is an error; that of a continued line is above it.
const LEVEL_ERROR: c_int = 4;

/// Declares the functions that are used, and looks them up by their names.
macro_rules! functions {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of the library, by their names there.
        pub struct LlamaLibrary {
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            /// Kept, so that what the functions point to stays in memory.
            _library: Library,
        }

        impl LlamaLibrary {
            fn look_up(library: Library, path: &Path) -> Result<LlamaLibrary> {
                Ok(LlamaLibrary {
                    $($name: {
                        let name = concat!(stringify!($name), "\0");
                        // SAFETY: the type is that of llama.h; that the library was built from that header
                        // is looked at before a function other than llama_version is called.
                        let found = unsafe { library.get(name.as_bytes()) };
                        *found.map_err(|error| unavailable(path, &error.to_string()))?
                    },)*
                    _library: library,
                })
            }
        }
    };
}

functions! {
    llama_version: fn() -> *const c_char;
    llama_log_set: fn(Log, *mut c_void);
    llama_backend_init: fn();
    ggml_backend_load_all_from_path: fn(*const c_char);
    llama_model_default_params: fn() -> ModelParameters;
    llama_context_default_params: fn() -> ContextParameters;
    llama_sampler_chain_default_params: fn() -> ChainParameters;
    llama_model_load_from_file: fn(*const c_char, ModelParameters) -> *mut RawModel;
    llama_model_free: fn(*mut RawModel);
    llama_model_get_vocab: fn(*const RawModel) -> *const RawVocabulary;
    llama_model_n_ctx_train: fn(*const RawModel) -> i32;
    llama_model_has_encoder: fn(*const RawModel) -> bool;
    llama_init_from_model: fn(*mut RawModel, ContextParameters) -> *mut RawContext;
    llama_free: fn(*mut RawContext);
    llama_n_ctx_seq: fn(*const RawContext) -> u32;
    llama_get_memory: fn(*const RawContext) -> *mut RawMemory;
    llama_memory_clear: fn(*mut RawMemory, bool);
    llama_memory_seq_rm: fn(*mut RawMemory, i32, i32, i32) -> bool;
    llama_memory_seq_cp: fn(*mut RawMemory, i32, i32, i32, i32);
    llama_batch_init: fn(i32, i32, i32) -> RawBatch;
    llama_batch_free: fn(RawBatch);
    llama_set_abort_callback: fn(*mut RawContext, Option<Abort>, *mut c_void);
    llama_decode: fn(*mut RawContext, RawBatch) -> i32;
    llama_get_logits_ith: fn(*mut RawContext, i32) -> *mut f32;
    llama_vocab_n_tokens: fn(*const RawVocabulary) -> i32;
    llama_vocab_is_eog: fn(*const RawVocabulary, Token) -> bool;
    llama_vocab_is_control: fn(*const RawVocabulary, Token) -> bool;
    llama_vocab_get_text: fn(*const RawVocabulary, Token) -> *const c_char;
    llama_vocab_get_add_bos: fn(*const RawVocabulary) -> bool;
    llama_vocab_bos: fn(*const RawVocabulary) -> Token;
    llama_tokenize: fn(*const RawVocabulary, *const c_char, i32, *mut Token, i32, bool, bool) -> i32;
    llama_token_to_piece: fn(*const RawVocabulary, Token, *mut c_char, i32, i32, bool) -> i32;
    llama_sampler_chain_init: fn(ChainParameters) -> *mut RawSampler;
    llama_sampler_chain_add: fn(*mut RawSampler, *mut RawSampler);
    llama_sampler_init_penalties: fn(i32, i32, f32, f32, f32) -> *mut RawSampler;
    llama_sampler_init_top_k: fn(i32) -> *mut RawSampler;
    llama_sampler_init_top_p: fn(f32, usize) -> *mut RawSampler;
    llama_sampler_init_temp: fn(f32) -> *mut RawSampler;
    llama_sampler_init_dist: fn(u32) -> *mut RawSampler;
    llama_sampler_init_greedy: fn() -> *mut RawSampler;
    llama_sampler_init_grammar: fn(*const RawVocabulary, *const c_char, *const c_char) -> *mut RawSampler;
    llama_sampler_apply: fn(*mut RawSampler, *mut RawCandidates);
    llama_sampler_accept: fn(*mut RawSampler, Token);
    llama_sampler_free: fn(*mut RawSampler);
}

impl LlamaLibrary {
    /// Loads the library at `path`, and the best of the variants for processors that lie in its folder.
    ///
    /// Fails with [`ErrorKind::FileUnavailable`] where there is none, where it is none, and where it is of another
    /// version than [`VERSION`].
    pub fn load(path: &Path) -> Result<LlamaLibrary> {
        let path =
            std::fs::canonicalize(path).map_err(|error| unavailable(path, &error.to_string()))?;
        // SAFETY: loading runs the constructors of the library, which is what an administrator has named; this
        // process has nothing but it to lose.
        let opened = unsafe { Library::open(Some(&path), RTLD_LAZY | RTLD_LOCAL) };
        let library = opened.map_err(|error| unavailable(&path, &error.to_string()))?;
        let library = LlamaLibrary::look_up(library, &path)?;
        library.check_version(&path)?;
        // SAFETY: the callback is a function that takes what ggml_log_callback does, and lives as long as the process.
        unsafe { (library.llama_log_set)(forward, std::ptr::null_mut()) };
        library.load_backends(&path);
        Ok(library)
    }

    fn check_version(&self, path: &Path) -> Result<()> {
        // SAFETY: the function takes nothing and gives a static string.
        let version = unsafe { CStr::from_ptr((self.llama_version)()) }.to_string_lossy();
        let is_fit = version.trim_start_matches('v').strip_prefix(VERSION);
        if !is_fit.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) {
            return Err(unavailable(
                path,
                &format!("its version is {version}, and must be {VERSION}"),
            ));
        }
        // SAFETY: the functions take nothing and give a structure by value.
        let (model, context) =
            unsafe { ((self.llama_model_default_params)(), (self.llama_context_default_params)()) };
        let is_as_declared = context.n_ctx == 512
            && context.n_seq_max == 1
            && context.samplers.is_null()
            && context.n_samplers == 0
            && model.kv_overrides.is_null()
            && !model.vocab_only;
        match is_as_declared {
            true => Ok(()),
            false => Err(unavailable(path, "its parameters are not those of its version")),
        }
    }

    /// Loads the parts of the library that compute, from its own folder and not from wherever else they are sought.
    fn load_backends(&self, path: &Path) {
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_else(|| PathBuf::from("/"));
        let Ok(folder) = std::ffi::CString::new(folder.into_os_string().into_encoded_bytes())
        else {
            return;
        };
        // SAFETY: the string ends with a zero and outlives the call.
        unsafe {
            (self.ggml_backend_load_all_from_path)(folder.as_ptr());
            (self.llama_backend_init)();
        }
    }
}

/// Passes errors of the library on to the log. A text of a model's file may be in them.
unsafe extern "C" fn forward(level: c_int, text: *const c_char, _: *mut c_void) {
    if level != LEVEL_ERROR || text.is_null() || IS_STOPPING.load(Ordering::Relaxed) {
        return;
    }
    // SAFETY: the library gives a string that ends with a zero and lives as long as this call.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    let short: String = single_line(&text).chars().take(300).collect();
    if !short.is_empty() {
        log::line(format!("llama.cpp: {short}"));
    }
}

fn unavailable(path: &Path, why: &str) -> Error {
    let message = format!("cannot load llama.cpp from \"{}\": {why}", path.display());
    Error::new(ErrorKind::FileUnavailable, message).hint(format!(
        "Install libllama.so of version {VERSION} there (\"make llama install\" does), or point the setting \
         rag.llama_library at it."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_library_is_named() {
        let path = std::env::temp_dir().join(format!("pg_rag-no-llama-{}", std::process::id()));
        std::fs::write(&path, "text").unwrap();
        for path in [Path::new("/nowhere/libllama.so"), &path] {
            let error = LlamaLibrary::load(path).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::FileUnavailable);
            assert!(error.message().contains(path.to_str().unwrap()), "{error}");
            assert!(error.hint_text().unwrap().contains("rag.llama_library"));
        }
        std::fs::remove_file(path).unwrap();
    }
}
