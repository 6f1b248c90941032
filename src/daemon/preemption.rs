//! Preemption: a run of a model ends before its time, so that a query does not wait for it.

use std::sync::Arc;

use ort::session::{HasSelectedOutputs, RunOptions};

/// Has the run of a model that is under way end without a result; for any thread.
#[derive(Clone)]
pub struct Preemption(Arc<Options>);

/// The options of all runs of a model.
struct Options(RunOptions<HasSelectedOutputs>);

// SAFETY: they are not Sync for the sake of outputs that are allocated beforehand, of which there are none
// by the contract of `Preemption::of`. One thread runs the model; what others do is to set a flag, which ONNX
// Runtime is made for.
unsafe impl Sync for Options {}

impl Preemption {
    /// What ends the runs with these options, in which no output is allocated beforehand.
    pub fn of(options: RunOptions<HasSelectedOutputs>) -> Preemption {
        Preemption(Arc::new(Options(options)))
    }

    /// What to run the model with.
    pub fn options(&self) -> &RunOptions<HasSelectedOutputs> {
        &self.0.0
    }

    /// Ends the run, if there is one, and those that come until [`Preemption::clear`]. A run that cannot be
    /// ended goes on.
    pub fn set(&self) {
        let _ = self.options().terminate();
    }

    /// Lets the model run again.
    pub fn clear(&self) -> ort::Result<()> {
        self.options().unterminate()
    }
}
