//! What a pipeline may be.

use crate::chunk::ChunkingOptions;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::model;

/// An error where the model does not read chunks of that size.
pub fn check_chunk_size(chunking: &ChunkingOptions, model: &model::RegisteredModel) -> Result<()> {
    let (longest, name) = (chunking.longest(), chunking.name_of_longest());
    if longest as i32 <= model.max_tokens {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "chunks of {longest} tokens are longer than the {} that model \"{}\" reads",
        model.max_tokens, model.reference.name
    ))
    .hint(format!("Set {name} to {} or less, or choose another model.", model.max_tokens)))
}

/// An error where documents are to be embedded as a whole by a model that can't do that.
pub fn check_late(late: bool, model: &model::RegisteredModel) -> Result<()> {
    let name = &model.reference.name;
    let why = match (&model.remote, model.pooling.as_deref()) {
        _ if !late => return Ok(()),
        (None, Some("mean")) => return Ok(()),
        (Some(_), _) => {
            format!("model \"{name}\" is behind a server, which gives no vectors of tokens")
        }
        (None, pooling) => {
            format!("model \"{name}\" pools by \"{}\"", pooling.unwrap_or("nothing"))
        }
    };
    Err(Error::new(ErrorKind::Unsupported, why).hint(
        "Late chunking needs a model in a folder that takes the mean of its tokens' vectors.",
    ))
}

/// An error where a title is given that would not be used.
pub fn check_title(contextual: bool, title: Option<&str>) -> Result<()> {
    match title {
        Some(title) if !contextual => {
            Err(Error::invalid(format!("title \"{title}\" is given without contextual"))
                .hint("Add \"contextual\": true to the options."))
        }
        _ => Ok(()),
    }
}
