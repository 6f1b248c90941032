//! `rag_eval_load`: judged sets from JSON, or from files on the server.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use pgrx::prelude::*;
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::eval::load::{self, Loaded};
use crate::eval::qrels;
use crate::exact;
use crate::pg::catalog::evaluation;
use crate::pg::server::sql;

/// Longest file, in bytes.
const LONGEST: u64 = 256 << 20;

fn interrupt() {
    check_for_interrupts!();
}

/// Reads cases from JSON into a set; their number.
pub fn from_json(set: Option<&str>, data: Option<&Value>) -> Result<usize> {
    let null = || {
        Error::new(ErrorKind::NullNotAllowed, "data must not be NULL")
            .hint("For instance '[{\"question\": \"Who ...?\", \"relevant\": [\"17\"]}]'.")
    };
    store(set, load::from_json(data.ok_or_else(null)?, &mut interrupt)?)
}

/// Reads cases from a folder or a file into a set; their number.
///
/// What is JSON and not a path is read as that: an untyped literal arrives here.
pub fn from_path(set: Option<&str>, path: Option<&str>, split: Option<&str>) -> Result<usize> {
    let null = || {
        Error::new(ErrorKind::NullNotAllowed, "path must not be NULL")
            .hint("Name a folder with queries.jsonl and qrels.tsv, or a file of JSON lines.")
    };
    let path = path.ok_or_else(null)?;
    if path.trim_start().starts_with(['[', '{']) {
        let data = exact::read(path).map_err(|error| {
            Error::invalid(format!("data is not JSON: {error}"))
                .hint("It is an array of cases, such as [{\"question\": \"...\", \"relevant\": [\"1\"]}].")
        })?;
        return from_json(set, Some(&data));
    }
    check_may_read()?;
    if !path.starts_with('/') {
        return Err(Error::invalid(format!("path is not absolute: {path}"))
            .hint("The file is read on the server, as with COPY."));
    }
    store(set, files(Path::new(path), split)?)
}

fn store(set: Option<&str>, loaded: Loaded) -> Result<usize> {
    let null = || Error::new(ErrorKind::NullNotAllowed, "eval_set must not be NULL");
    let set = set.ok_or_else(null)?;
    if set.trim().is_empty() {
        return Err(Error::invalid("eval_set is empty").hint("Give the set a name."));
    }
    sql::refuse_if_read_only(c"rag_eval_load()");
    let mut labels = HashSet::new();
    if let Some(twice) = loaded.cases.iter().find(|case| !labels.insert(case.label.as_str())) {
        return Err(Error::invalid(format!("two cases are called \"{}\"", twice.label))
            .hint("Give each case an id or label of its own."));
    }
    evaluation::ensure_set(set)?;
    evaluation::replace_cases(set, &loaded.cases)?;
    if loaded.unjudged > 0 {
        notice!("{} questions without judgements were left out", loaded.unjudged);
    }
    Ok(loaded.cases.len())
}

/// A role that may COPY from a file of the server may read one here.
fn check_may_read() -> Result<()> {
    // SAFETY: reads the current role and the catalog.
    let may = unsafe {
        let role = pg_sys::Oid::from_u32(pg_sys::ROLE_PG_READ_SERVER_FILES);
        pg_sys::has_privs_of_role(pg_sys::GetUserId(), role)
    };
    if may {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Forbidden, "permission denied to read a file of the server").hint(
        "Only members of pg_read_server_files may do that. Anyone can give the data as jsonb.",
    ))
}

fn files(path: &Path, split: Option<&str>) -> Result<Loaded> {
    if !path.is_dir() {
        return match split {
            None => load::from_lines(&read(path)?, None, &mut interrupt),
            Some(_) => Err(Error::invalid("split is given, but the path is not a folder")
                .hint("Of a single file all is read.")),
        };
    }
    let spans = path.join("questions.jsonl");
    if split.is_none() && spans.is_file() {
        return load::from_lines(&read(&spans)?, None, &mut interrupt);
    }
    let (queries, judged) = beir(path, split)?;
    let judged = qrels::parse(&read(&judged)?)?;
    load::from_lines(&read(&queries)?, Some(&judged), &mut interrupt)
}

/// The files of a split: queries and judgements.
fn beir(folder: &Path, split: Option<&str>) -> Result<(PathBuf, PathBuf)> {
    let split = split.unwrap_or("");
    if !split.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-') {
        return Err(Error::invalid(format!("split is not a name: {split}"))
            .hint("For instance 'train', of qrels/train.tsv or qrels_train.tsv."));
    }
    let (queries, judged) = match split {
        "" => (
            vec!["queries.jsonl".to_owned()],
            vec!["qrels.tsv".to_owned(), "qrels/test.tsv".to_owned()],
        ),
        name => (
            vec![format!("queries_{name}.jsonl"), "queries.jsonl".to_owned()],
            vec![format!("qrels_{name}.tsv"), format!("qrels/{name}.tsv")],
        ),
    };
    Ok((one_of(folder, &queries)?, one_of(folder, &judged)?))
}

fn one_of(folder: &Path, names: &[String]) -> Result<PathBuf> {
    names.iter().map(|name| folder.join(name)).find(|path| path.is_file()).ok_or_else(|| {
        let message = format!("the folder {} has no {}", folder.display(), names.join(" and no "));
        Error::new(ErrorKind::FileUnavailable, message)
            .hint("A BEIR folder has queries.jsonl and qrels.tsv or qrels/test.tsv; of spans, questions.jsonl.")
    })
}

fn read(path: &Path) -> Result<String> {
    let unavailable = |why: String| {
        Error::new(ErrorKind::FileUnavailable, format!("cannot read {}: {why}", path.display()))
            .hint("The file is read on the database server, by the operating system user that runs it.")
    };
    let metadata = fs::metadata(path).map_err(|error| unavailable(error.to_string()))?;
    if !metadata.is_file() {
        return Err(unavailable("it is not a file".to_owned()));
    }
    if metadata.len() > LONGEST {
        let message = format!("{} has {} bytes", path.display(), metadata.len());
        return Err(Error::new(ErrorKind::DocumentLimit, message)
            .hint(format!("At most {LONGEST} bytes are read.")));
    }
    let bytes = fs::read(path).map_err(|error| unavailable(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Error::invalid(format!("{} is not UTF-8 at byte {at}", path.display()))
    })
}
