//! What is done on this machine for the client of a call, while the call is made?

use std::time::Duration;

use super::schema::{SchemaCheck, Unlimited};
use crate::error::{Error, ErrorKind, Result};
use crate::protocol::{Lane, ModelRef};
use crate::text::token_labels::LabelledSpan;

/// Texts in which names are to be found before they are sent.
pub struct NameSearch<'a> {
    /// The token classifier that finds them.
    pub model: &'a ModelRef,
    /// Which queue the texts wait in.
    pub lane: Lane,
    /// The texts.
    pub texts: &'a [String],
    /// How long it may take.
    pub within: Duration,
}

/// Finds names in texts by a token classifier.
pub trait NameFinder: Sync {
    /// The names in each text, in the order of their places.
    ///
    /// Fails with [`ErrorKind::ProviderTimeout`] where it takes longer than it may, and where the model cannot be run or is
    /// no token classifier.
    fn names(&self, search: &NameSearch<'_>) -> Result<Vec<Vec<LabelledSpan>>>;
}

/// Checks forms and finds names.
pub trait ClientAid: SchemaCheck + NameFinder {}

impl<T: SchemaCheck + NameFinder> ClientAid for T {}

impl NameFinder for Unlimited {
    /// Always fails: there is no model.
    fn names(&self, _: &NameSearch<'_>) -> Result<Vec<Vec<LabelledSpan>>> {
        Err(Error::new(ErrorKind::NotInState, "no token classifiers are run here"))
    }
}
