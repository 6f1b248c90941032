//! Names in texts, as a token classifier of ragd finds them.

use super::client::{self, Watch};
use crate::error::Result;
use crate::pg::server::error::unexpected;
use crate::protocol::{Lane, ModelRef, Request, Response};
use crate::redact::labelled::for_model;
use crate::text::token_labels::LabelledSpan;

/// Texts sent to ragd in one request, so that cancel and memory stay bounded.
const TEXTS_A_REQUEST: usize = 256;

/// What each of these models takes for personal data in `texts`, text by text; for each text in the order of the models.
/// `watch` is called now and then meanwhile, and may end it by an error.
pub fn personal_data<'a>(
    models: impl IntoIterator<Item = &'a ModelRef>,
    texts: &[&str],
    watch: &mut Watch<'_>,
) -> Result<Vec<(String, Vec<LabelledSpan>)>> {
    let look = &mut || {
        pgrx::check_for_interrupts!();
    };
    let read: Vec<String> = texts.iter().map(|text| for_model(text, look)).collect();
    let mut found: Vec<(String, Vec<LabelledSpan>)> =
        texts.iter().map(|text| ((*text).to_owned(), Vec::new())).collect();
    for model in models {
        let named = names(model, Lane::Query, &read, watch)?;
        found.iter_mut().zip(named).for_each(|((_, all), more)| all.extend(more));
    }
    Ok(found)
}

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
