//! A tiny embedding model for tests that computes without end where a text has the word "endless".

use std::path::Path;

use super::python;

/// Makes the model in `target`. False, with a word, where there is no Python for it.
pub fn make(target: &Path) -> bool {
    let Some((mut command, _)) = python::script("endless_model.py") else { return false };
    assert!(command.arg(target).status().expect("Python starts").success());
    true
}
