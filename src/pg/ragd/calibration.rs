//! What was fitted to a model of ragd.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use crate::embed::calibration::{Calibration, RetrievalWeights};
use crate::error::Result;
use crate::pg::ragd::client;
use crate::pg::server::error::unexpected;
use crate::protocol::{ModelRef, Request, Response};
use crate::recent::Recent;

/// Models whose weights a session remembers. Other files than those registered are refused by ragd, and of what comes
/// with the package a session keeps what it began with.
const REMEMBERED: usize = 64;

/// How long a session does without weights that could not be looked up.
const AGAIN_AFTER: Duration = Duration::from_secs(60);

thread_local! {
    static MISSING: RefCell<Recent<ModelRef, Instant>> = RefCell::new(Recent::new(REMEMBERED));
    static WEIGHTS: RefCell<Recent<ModelRef, RetrievalWeights>> =
        RefCell::new(Recent::new(REMEMBERED));
}

/// What the file of `model` says, or the generic calibration where it has none. Fails as ragd does, where the files of the
/// model are missing or others than registered.
pub fn calibration_of(model: &ModelRef) -> Result<Calibration> {
    match client::call(&Request::Calibrate(model.clone()))? {
        Response::Calibration(Some(text)) => Calibration::parse(&text),
        Response::Calibration(None) => Calibration::generic(),
        other => Err(unexpected(&other)),
    }
}

/// How much the similarities of `model` count in a search. ragd is asked once in a session; fails then as
/// [`calibration_of`] does.
pub fn retrieval_weights(model: &ModelRef) -> Result<RetrievalWeights> {
    if let Some(known) = remembered(model) {
        return Ok(known);
    }
    let weights = calibration_of(model)?.retrieval.unwrap_or_default();
    WEIGHTS.with_borrow_mut(|it| it.put(model.clone(), weights));
    Ok(weights)
}

/// As [`retrieval_weights`], for a search that asks ragd for nothing else, such as one by a vector of the caller's: where
/// the weights cannot be looked up now, what is built in holds.
pub fn retrieval_weights_or_usual(model: &ModelRef) -> RetrievalWeights {
    if let Some(known) = remembered(model) {
        return known;
    }
    let is_missing = |since: &Instant| since.elapsed() < AGAIN_AFTER;
    if MISSING.with_borrow_mut(|it| it.get(model).is_some_and(is_missing)) {
        return RetrievalWeights::default();
    }
    retrieval_weights(model).unwrap_or_else(|_| {
        MISSING.with_borrow_mut(|it| it.put(model.clone(), Instant::now()));
        RetrievalWeights::default()
    })
}

fn remembered(model: &ModelRef) -> Option<RetrievalWeights> {
    WEIGHTS.with_borrow_mut(|it| it.get(model).copied())
}
