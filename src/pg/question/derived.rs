//! What was made of a pipeline's chunks beside them, for whoever asks: as the caller, who needs the right to read it.

use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::derivation::{self, DerivationKind, StoredDerivation};
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::server::role::{current_user, may_select};

/// What of `kind` was made of a pipeline's chunks; `None` if nothing was, or the caller may not read it.
pub fn readable(pipeline: &Pipeline, kind: DerivationKind) -> Result<Option<StoredDerivation>> {
    let stored = derivation::of(pipeline.id, kind)?;
    Ok(stored.filter(|it| may_select(it.relation.oid)))
}

/// What of `kind`, which users call `noun`, a question needs: an error if there is none, which says that the option
/// `example` makes one, or if the caller may not read it.
pub fn required(
    pipeline: &Pipeline,
    kind: DerivationKind,
    (noun, example): (&str, &str),
) -> Result<StoredDerivation> {
    let name = &pipeline.name;
    let Some(stored) = derivation::of(pipeline.id, kind)? else {
        let quoted = pgrx::spi::quote_literal(name);
        let message = format!("pipeline \"{name}\" has no {noun}");
        let made = if noun.ends_with('s') { "some" } else { "one" };
        return Err(Error::invalid(message).hint(format!(
            "SELECT rag_alter_pipeline({quoted}, options => '{example}') makes {made}."
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
