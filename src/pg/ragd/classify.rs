//! Names in texts, as a token classifier of ragd finds them.

use super::client::{self, Watch};
use crate::error::Result;
use crate::pg::server::error::unexpected;
use crate::protocol::{Lane, ModelRef, Request, Response};
use crate::text::token_labels::LabelledSpan;

/// Texts sent to ragd in one request, so that cancel and memory stay bounded.
const TEXTS_A_REQUEST: usize = 256;

/// The names that `model` finds in each of `texts`, which wait in `lane`; `watch` is called now and then meanwhile, and may
/// end it by an error.
pub fn names(
    model: &ModelRef,
    lane: Lane,
    texts: &[String],
    watch: &mut Watch<'_>,
) -> Result<Vec<Vec<LabelledSpan>>> {
    let mut names = Vec::with_capacity(texts.len());
    for texts in texts.chunks(TEXTS_A_REQUEST) {
        let request = Request::ClassifyTokens { model: model.clone(), lane, texts: texts.to_vec() };
        match client::call_and_watch(0, &request, Some(&mut *watch))? {
            Response::Names(found) if found.len() == texts.len() => names.extend(found),
            other => return Err(unexpected(&other)),
        }
    }
    Ok(names)
}
