//! What was made of a pipeline's chunks beside them, for whoever asks: as the caller, who needs the right to read it.

use serde_json::Value as Json;

use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::derivation::{self, DerivationKind, StoredDerivation};
use crate::pg::catalog::pipeline::{Pipeline, RefreshMode};
use crate::pg::server::role::{current_user, may_select};

/// The options that make something for a pipeline with this option `graph`, if it has one, and leave that as it is.
pub type MakingOptions = fn(graph: Option<&Json>) -> String;

/// What of `kind` was made of a pipeline's chunks; `None` if nothing was, or the caller may not read it.
pub fn readable(pipeline: &Pipeline, kind: DerivationKind) -> Result<Option<StoredDerivation>> {
    let stored = derivation::of(pipeline.id, kind)?;
    Ok(stored.filter(|it| may_select(it.relation.oid)))
}

/// What of `kind`, which users call `noun`, a question needs: an error if there is none, which says that these options
/// make one, or if the caller may not read it.
pub fn required(
    pipeline: &Pipeline,
    kind: DerivationKind,
    (noun, making): (&str, MakingOptions),
) -> Result<StoredDerivation> {
    let name = &pipeline.name;
    let Some(stored) = derivation::of(pipeline.id, kind)? else {
        let graph = derivation::of(pipeline.id, DerivationKind::Mentions)?.map(|it| it.options);
        let quoted = pgrx::spi::quote_literal(name);
        let options = pgrx::spi::quote_literal(making(graph.as_ref()));
        // What is made in the background no statement waits for.
        let is_late = kind.is_written() && pipeline.refresh == RefreshMode::Sync;
        let refresh = if is_late { "refresh => 'async', " } else { "" };
        let made = if noun.ends_with('s') { "some" } else { "one" };
        let message = format!("pipeline \"{name}\" has no {noun}");
        return Err(Error::invalid(message).hint(format!(
            "SELECT rag_alter_pipeline({quoted}, {refresh}options => {options}) makes {made}."
        )));
    };
    if may_select(stored.relation.oid) {
        return Ok(stored);
    }
    let message = format!("permission denied for the {noun} of pipeline \"{name}\"");
    let role = pgrx::spi::quote_identifier(current_user());
    Err(Error::new(ErrorKind::Forbidden, message)
        .hint(format!("GRANT SELECT ON {} TO {role}.", stored.relation.sql)))
}
