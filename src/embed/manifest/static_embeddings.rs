//! What does a folder of static embeddings say about them?
//!
//! model2vec writes such a folder: `config.json` of the type "model2vec", `tokenizer.json`, and a table of vectors.
//! `modules.json`, which it writes for sentence-transformers, says nothing that is not in `config.json`.

use serde_json::Value;

use super::{
    CONFIG, DEFAULT_MAX_TOKENS, Folder, Manifest, ModelTask, PROMPTS, TOKENIZER, max_tokens, prompt,
};
use crate::embed::model_file::{corrupted, unsupported};
use crate::embed::pooling::Pooling;
use crate::embed::static_table::NO_TOKEN;
use crate::error::Result;

/// What `config.json` calls such a model.
const MODEL_TYPE: &str = "model2vec";

/// The file of the table where none is named.
const TABLE: &str = "model.safetensors";

/// How the name of a table ends.
const ENDING: &str = ".safetensors";

/// Whether the folder is one of static embeddings. A configuration that cannot be read is none, and named in its turn.
pub(super) fn are_in(files: &Folder) -> bool {
    files.peek(CONFIG).is_some_and(|config| config["model_type"] == MODEL_TYPE)
}

/// Reads a folder of static embeddings, with the table `file` or the usual one. Fails as [`Manifest::read`] does.
pub(super) fn read(mut files: Folder, file: Option<&str>) -> Result<Manifest> {
    let file = file.unwrap_or(TABLE).to_owned();
    let path = files.require(&file)?;
    if !file.ends_with(ENDING) {
        return Err(unsupported(&path, "the format")
            .hint(format!("Static embeddings of model2vec are read from their table, {TABLE}.")));
    }
    let table = Folder::table(&path)?;
    files.require(TOKENIZER)?;
    let config = files.require_json(CONFIG)?;
    let normalize = match &config["normalize"] {
        Value::Null => false,
        Value::Bool(normalize) => *normalize,
        _ => {
            let why = "\"normalize\" is neither true nor false";
            return Err(corrupted(&files.path.join(CONFIG), why));
        }
    };
    let prompts = files.json(PROMPTS)?.unwrap_or(Value::Null);
    // A table reads any number of tokens. model2vec itself reads as many as this unless told otherwise.
    let max_tokens = max_tokens(&mut files, &config)?.min(DEFAULT_MAX_TOKENS as u32);
    let calibration = files.calibration()?.map(Box::new);
    Ok(Manifest {
        task: ModelTask::Embed,
        entailment: None,
        labels: None,
        dimension: table.dimension,
        max_tokens,
        pad_token: NO_TOKEN,
        pooling: Pooling::Mean,
        normalize,
        query_prefix: prompt(&prompts, &["query"]),
        passage_prefix: prompt(&prompts, &["document", "passage", "corpus"]),
        reader: None,
        calibration,
        folder: files.path,
        file,
        table: Some(table),
        files: files.used,
        absent: files.absent,
    })
}
