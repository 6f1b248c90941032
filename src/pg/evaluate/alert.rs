//! What is said where a figure of a run is below its floor.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

use crate::error::Result;
use crate::eval::floor::{self, BrokenFloor, FloorAlert};
use crate::eval::summary::Figure;
use crate::options::shortened;
use crate::pg::catalog::eval_floor;

/// Warns of each floor of `set` that the first configuration of a run breaks, and tells it on the floor's
/// channel. That is the configuration that the others are compared with: they may be worse.
pub fn of_run(set: &str, run: i64, configuration: &str, figures: &[Figure]) -> Result<()> {
    for (floor, channel) in eval_floor::of(set)? {
        for broken in floor::broken(&[floor], figures, 0) {
            let alert = FloorAlert { set, configuration, run, broken };
            warn(&alert);
            if let Some(channel) = &channel {
                eval_floor::notify(channel, &alert.payload()?)?;
            }
        }
    }
    Ok(())
}

fn warn(alert: &FloorAlert<'_>) {
    let FloorAlert { set, configuration, run, broken } = *alert;
    let BrokenFloor { measure, value, floor } = broken;
    let (measure, set) = (measure.label(), shortened(set));
    let message =
        format!("{measure} of evaluation set \"{set}\" is {value}, below its floor {floor}");
    let detail = format!("Run {run}, configuration \"{}\".", shortened(configuration));
    ErrorReport::new(PgSqlErrorCode::ERRCODE_WARNING, message, "pg_rag")
        .set_detail(detail)
        .report(PgLogLevel::WARNING);
}
