//! ONNX Runtime: a shared library that is loaded when the first model is.
//!
//! Loading it late keeps ragd able to answer (and to say what is missing) where the library
//! isn't installed.

use std::ffi::CStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ort::environment::Environment;
use ort::logging::LogLevel;

use super::log;
use crate::error::{Error, ErrorKind, Result};

/// A process has one; ONNX Runtime allows no more.
static ENVIRONMENT: Mutex<Option<Environment>> = Mutex::new(None);

/// What keeps recent builds of ONNX Runtime for Linux from reporting to their makers that and on which machine they run,
/// and from keeping an identifier of the machine and a queue of events in the home directory. They do so as the
/// environment is made, before their own switch for telemetry can be turned. The name differs between versions.
const NO_TELEMETRY: [&CStr; 2] = [c"ORT_DISABLE_TELEMETRY", c"ORT_TELEMETRY_DISABLED"];

/// Has ONNX Runtime report nothing to anybody. To be called as the process begins: `false` if it has other threads, which
/// may be reading the environment.
#[must_use]
pub fn refuse_telemetry() -> bool {
    let has_threads = fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() > 1);
    if has_threads {
        return false;
    }
    for name in NO_TELEMETRY {
        // SAFETY: setenv copies two texts that end with a NUL, and no thread reads the environment meanwhile.
        unsafe { libc::setenv(name.as_ptr(), c"1".as_ptr(), 1) };
    }
    true
}

/// Where the library is.
#[derive(Clone, Debug)]
pub struct Runtime {
    library: PathBuf,
}

impl Runtime {
    /// The library at `library`, not loaded yet.
    pub fn new(library: PathBuf) -> Runtime {
        Runtime { library }
    }

    /// The environment models run in; loads the library the first time.
    ///
    /// Fails with [`ErrorKind::FileUnavailable`] if the library isn't there or isn't one. The
    /// next call tries again, so that installing it is enough.
    pub fn environment(&self) -> Result<Environment> {
        let mut environment = ENVIRONMENT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(environment) = &*environment {
            return Ok(environment.clone());
        }
        let loaded = self.load()?;
        Ok(environment.insert(loaded).clone())
    }

    fn load(&self) -> Result<Environment> {
        // ort takes a relative path to be relative to the executable, hence the absolute one.
        let path = std::fs::canonicalize(&self.library)
            .map_err(|error| unavailable(&self.library, &error.to_string()))?;
        read(&path).map_err(|error| unavailable(&path, &error.to_string()))?;
        let environment = ort::init_from(&path)
            .map_err(|error| unavailable(&path, &error.to_string()))?
            .with_name("ragd")
            .with_telemetry(false)
            .with_logger(Arc::new(|level, _, _, _, message: &str| forward(level, message)))
            .build()
            .map_err(|error| unavailable(&path, &error.to_string()))?;
        environment.set_log_level(LogLevel::Error);
        log::line(format!("loaded ONNX Runtime from \"{}\"", path.display()));
        Ok(environment)
    }
}

/// Reads a library before it is loaded. The dynamic linker has one lock, which each new thread
/// takes too: with a disk that does not answer, no client could connect any more.
fn read(path: &Path) -> io::Result<()> {
    let mut file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    io::copy(&mut file, &mut io::sink()).map(drop)
}

fn forward(level: LogLevel, message: &str) {
    if level >= LogLevel::Error {
        log::line(format!("ONNX Runtime: {message}"));
    }
}

fn unavailable(path: &Path, why: &str) -> Error {
    let message = format!("cannot load ONNX Runtime from \"{}\": {why}", path.display());
    match kind_of_failure(why, ErrorKind::FileUnavailable) {
        ErrorKind::FileUnavailable => Error::new(ErrorKind::FileUnavailable, message).hint(
            "Install libonnxruntime.so 1.24 or later there (\"make install\" does), or point the \
             setting rag.onnxruntime_library at it.",
        ),
        kind => Error::new(kind, message),
    }
}

/// What ONNX Runtime, the dynamic linker and the system say where there is no memory, or no room for another thread. ONNX
/// Runtime has no status of its own for it.
const NO_ROOM: [&str; 5] = [
    "bad_alloc",
    "bad allocation",
    "Failed to allocate memory",
    "Cannot allocate memory",
    "Resource temporarily unavailable",
];

/// The kind of an error that says this: [`ErrorKind::OutOfResources`] where the machine has no more of something, which
/// says nothing about a file, and `otherwise` where it is about what was asked.
pub fn kind_of_failure(said: &str, otherwise: ErrorKind) -> ErrorKind {
    match NO_ROOM.iter().any(|words| said.contains(words)) {
        true => ErrorKind::OutOfResources,
        false => otherwise,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let error = Runtime::new("/nowhere/libonnxruntime.so".into()).load().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileUnavailable);
        assert!(error.message().contains("/nowhere/libonnxruntime.so"), "{error}");
        assert!(error.hint_text().unwrap().contains("rag.onnxruntime_library"));
    }

    #[test]
    fn want_of_memory_says_nothing_about_a_file() {
        for said in [
            "std::bad_alloc",
            "Non-zero status code returned while running MatMul node. Status Message: std::bad_alloc",
            "failed to map segment from shared object: Cannot allocate memory",
            "Failed to allocate memory for requested buffer of size 12884901888",
        ] {
            let kind = kind_of_failure(said, ErrorKind::FileCorrupted);
            assert_eq!(kind, ErrorKind::OutOfResources, "{said}");
            let error = unavailable(Path::new("/lib/libonnxruntime.so"), said);
            assert_eq!((error.kind(), error.hint_text()), (ErrorKind::OutOfResources, None));
        }
        let said = "Load model from model.onnx failed: Protobuf parsing failed.";
        let kind = kind_of_failure(said, ErrorKind::FileCorrupted);
        assert_eq!(kind, ErrorKind::FileCorrupted);
    }

    #[test]
    fn what_is_no_library_is_an_error() {
        let path = std::env::temp_dir().join(format!("pg_rag-no-library-{}", std::process::id()));
        std::fs::write(&path, "text").unwrap();
        let error = Runtime::new(path.clone()).load().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileUnavailable);
        std::fs::remove_file(path).unwrap();
    }
}
