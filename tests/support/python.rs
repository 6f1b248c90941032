//! The cache's Python, with which tests make small models.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A script of this folder, to be run with arguments, and the folder of `all-minilm-l6-v2`. `None`,
/// with a word, where Python or the model is not there.
pub fn script(name: &str) -> Option<(Command, PathBuf)> {
    let cache = std::env::var_os("PG_RAG_CACHE").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache/pg_rag"),
        PathBuf::from,
    );
    let (python, model) = (cache.join("python/bin/python"), cache.join("models/all-minilm-l6-v2"));
    if !python.is_file() || !model.is_dir() {
        println!("skipped: no Python or no model under {}", cache.display());
        return None;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support");
    let mut command = Command::new(python);
    command.arg(folder.join(name)).stdin(Stdio::piped()).stdout(Stdio::piped());
    Some((command, model))
}
