//! `rag.eval_floor`: below which values figures of an evaluation set may not fall.

use pgrx::prelude::*;
use pgrx::spi::SpiHeapTupleData;
use serde_json::{Value, json};

use super::evaluation;
use crate::error::{Error, Result};
use crate::eval::floor::MetricFloor;
use crate::eval::measure::{EvalMetric, Measure};
use crate::pg::server::json::Jsonb;
use crate::pg::server::role::{as_superuser, by_policies};
use crate::pg::server::sql::{self, query};

/// Longest name of a channel, in bytes.
const LONGEST_CHANNEL: usize = pg_sys::NAMEDATALEN as usize - 1;

/// Puts floors in the place of those that a set of the caller's has.
///
/// What is broken is told on `channel`, if there is one. Fails with an invalid parameter where that can be
/// no channel.
pub fn store(set: &str, floors: &[MetricFloor], channel: Option<&str>) -> Result<()> {
    let length = channel.map_or(1, str::len);
    if !(1..=LONGEST_CHANNEL).contains(&length) {
        let message = format!("channel must have 1 to {LONGEST_CHANNEL} bytes, not {length}");
        return Err(Error::invalid(message).hint("NULL is for none."));
    }
    let set = evaluation::resolve(Some(set))?;
    let row = |floor: &MetricFloor| {
        let Measure { metric, k } = floor.measure;
        json!({"metric": metric.name(), "k": k, "floor": floor.value})
    };
    let rows = Jsonb(Value::Array(floors.iter().map(row).collect()));
    as_superuser(|| {
        // Of two sessions that set floors, one after the other.
        let held =
            sql::changed_rows(query!(evaluation.set_lock), &[set.as_str().into()], |_| Ok(()))?;
        if held.is_empty() {
            return Err(evaluation::unknown(&set, &[]));
        }
        sql::execute(query!(evaluation.floors_delete), &[set.as_str().into()])?;
        let arguments = [set.as_str().into(), rows.into(), channel.into()];
        sql::execute(query!(evaluation.floors_insert), &arguments).map(drop)
    })
}

/// The floors of a set, and the channels on which it is told that they are broken. One of a metric that
/// this version does not know is left out: no run can break it.
pub fn of(set: &str) -> Result<Vec<(MetricFloor, Option<String>)>> {
    let read = |row: &SpiHeapTupleData<'_>| {
        let metric = sql::required(row.get::<String>(1)?)?;
        let k = row.get::<i32>(2)?.and_then(|k| u32::try_from(k).ok());
        Ok((metric, k, sql::required(row.get::<f64>(3)?)?, row.get::<String>(4)?))
    };
    let rows = by_policies(|| sql::rows(query!(evaluation.floors), &[set.into()], read))?;
    let floor = |(metric, k, value, channel): (String, _, _, _)| {
        let metric = EvalMetric::named(&metric).ok()?;
        Some((MetricFloor { measure: Measure { metric, k }, value }, channel))
    };
    Ok(rows.into_iter().filter_map(floor).collect())
}

/// Tells `payload` to who listens on `channel`, once the transaction is committed.
pub fn notify(channel: &str, payload: &str) -> Result<()> {
    sql::execute(query!(evaluation.notify), &[channel.into(), payload.into()]).map(drop)
}
