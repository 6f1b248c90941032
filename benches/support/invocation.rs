//! How a benchmark is invoked: with a command line, on judged data.

use std::fmt::Display;
use std::path::{Path, PathBuf};

/// The settings of a command line. If it could not be parsed, prints why and, after a semicolon, the `choices` that it has,
/// and ends the program with status 2.
pub fn settings_or_exit<T, E: Display>(parsed: Result<T, E>, choices: Option<&str>) -> T {
    parsed.unwrap_or_else(|error| {
        match choices {
            Some(choices) => eprintln!("{error}; {choices}"),
            None => eprintln!("{error}"),
        }
        std::process::exit(2)
    })
}

/// The folder of the judged data, which need not exist: `$PG_RAG_DATA`, by default `../shared/data`.
pub fn data_folder() -> PathBuf {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    std::env::var_os("PG_RAG_DATA").map_or_else(default, PathBuf::from)
}

/// The folder of the judged data, if its sets are there: if it has one called `scifact`.
pub fn judged_data() -> Option<PathBuf> {
    let folder = data_folder();
    folder.join("scifact").is_dir().then_some(folder)
}
