//! Below which values may figures not fall, and which have fallen?
//!
//! ```text
//! {"ndcg@10": 0.7, "faithfulness": 0.9}, figures of a run → floors that are broken
//! ```

use serde::Serialize;
use serde_json::Value;

use super::measure::Measure;
use super::summary::Figure;
use crate::error::{Error, ErrorKind, Result};
use crate::options::shortened;

/// Most floors of a set.
const MOST: usize = 100;

/// Longest name in a payload, in bytes of JSON: a notification has less than 8000 in all, two of which
/// are names.
const LONGEST_NAME: usize = 3000;

/// Stands for the end of a name that is too long.
const ELLIPSIS: &str = "...";

/// The least that a figure may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricFloor {
    /// The figure. Where its metric has a k and none is said, it is that of the greatest k of a run.
    pub measure: Measure,
    /// The least value, from 0 to 1.
    pub value: f64,
}

/// A figure that is below its floor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BrokenFloor {
    /// What was measured, with its k.
    pub measure: Measure,
    /// Its value.
    pub value: f64,
    /// The floor.
    pub floor: f64,
}

/// Reads floors: an object of numbers by measures, such as `{"ndcg@10": 0.7}`.
///
/// Fails with an invalid parameter, which names the measure: one that is not known, one of which less is
/// better, a value that is not between 0 and 1, and more than 100 floors.
pub fn parse(floors: &Value) -> Result<Vec<MetricFloor>> {
    let Value::Object(members) = floors else {
        let shown = shortened(&floors.to_string());
        return Err(Error::invalid(format!("floors is not a JSON object: {shown}"))
            .hint("For instance '{\"ndcg@10\": 0.7, \"faithfulness\": 0.9}'."));
    };
    if members.len() > MOST {
        let count = members.len();
        return Err(Error::invalid(format!("{count} floors are more than {MOST}")));
    }
    members.iter().map(|(label, value)| floor(label, value)).collect()
}

fn floor(label: &str, value: &Value) -> Result<MetricFloor> {
    let measure = Measure::named(label)?;
    if measure.metric.is_cost() {
        return Err(Error::invalid(format!("metric \"{label}\" can have no floor"))
            .hint("Less of it is better. A query of rag.eval_summary finds what is too much."));
    }
    match value.as_f64() {
        Some(value) if (0.0..=1.0).contains(&value) => Ok(MetricFloor { measure, value }),
        _ => {
            let shown = shortened(&value.to_string());
            let message =
                format!("the floor of \"{label}\" must be a number from 0 to 1, not {shown}");
            Err(Error::invalid(message))
        }
    }
}

/// The floors below which figures of the configuration `configuration` are, in their order. What was
/// not measured breaks no floor.
pub fn broken(
    floors: &[MetricFloor],
    figures: &[Figure],
    configuration: usize,
) -> Vec<BrokenFloor> {
    let own = || figures.iter().filter(move |figure| figure.configuration == configuration);
    let is_meant = |floor: Measure, it: Measure| {
        it.metric == floor.metric && (floor.k.is_none() || it.k == floor.k)
    };
    let of_floor = |floor: &MetricFloor| {
        let meant = own().filter(|figure| is_meant(floor.measure, figure.measure));
        let figure = meant.max_by_key(|figure| figure.measure.k)?;
        let Figure { measure, value, .. } = *figure;
        (value < floor.value).then_some(BrokenFloor { measure, value, floor: floor.value })
    };
    floors.iter().filter_map(of_floor).collect()
}

/// What a notification says of a broken floor.
#[derive(Clone, Copy, Debug)]
pub struct FloorAlert<'a> {
    /// Name of the evaluation set.
    pub set: &'a str,
    /// Name of the configuration.
    pub configuration: &'a str,
    /// Number of the run.
    pub run: i64,
    /// What was measured.
    pub broken: BrokenFloor,
}

#[derive(Serialize)]
struct AlertPayload<'a> {
    set: &'a str,
    configuration: &'a str,
    metric: &'a str,
    k: Option<u32>,
    value: f64,
    floor: f64,
    run: i64,
}

impl FloorAlert<'_> {
    /// The alert as a JSON object on one line, with less than 8000 bytes: names that are too long end
    /// with three dots. Fails with an internal error where a figure is no number.
    pub fn payload(&self) -> Result<String> {
        let FloorAlert { run, broken: BrokenFloor { measure, value, floor }, .. } = *self;
        let [set, configuration] = [self.set, self.configuration].map(fitting);
        let (metric, k) = (measure.metric.name(), measure.k);
        let (set, configuration) = (set.as_str(), configuration.as_str());
        let payload = AlertPayload { set, configuration, metric, k, value, floor, run };
        serde_json::to_string(&payload).map_err(|error| {
            Error::new(ErrorKind::Internal, format!("an alert cannot be written: {error}"))
        })
    }
}

/// As much of `name` as is allowed in a payload.
fn fitting(name: &str) -> String {
    let mut room = LONGEST_NAME;
    let end = name.char_indices().find(|(_, sign)| {
        let length = written(*sign);
        let fits = length <= room;
        room = room.saturating_sub(length);
        !fits
    });
    match end {
        None => name.to_owned(),
        Some((end, _)) => name[..end].to_owned() + ELLIPSIS,
    }
}

/// Bytes that a character takes in JSON.
fn written(sign: char) -> usize {
    match sign {
        '"' | '\\' => 2,
        ..' ' => 6,
        other => other.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::eval::measure::EvalMetric;

    fn figure(configuration: usize, label: &str, value: f64) -> Figure {
        let measure = Measure::named(label).unwrap();
        let (low, high, cases, contrast) = (value, value, 3, None);
        Figure { configuration, measure, value, low, high, cases, contrast }
    }

    #[test]
    fn figures_are_held_against_floors() {
        let figures = [
            figure(0, "ndcg@1", 0.5),
            figure(0, "ndcg@10", 0.7),
            figure(0, "mrr@5", 0.2),
            figure(0, "faithfulness", 0.9),
            figure(1, "ndcg@1", 0.1),
        ];
        let check = |floors: Value, expected: &[(&str, f64, f64)]| {
            let found = broken(&parse(&floors).unwrap(), &figures, 0);
            let found: Vec<(String, f64, f64)> =
                found.iter().map(|it| (it.measure.label(), it.value, it.floor)).collect();
            let found: Vec<(&str, f64, f64)> = found
                .iter()
                .map(|(label, value, floor)| (label.as_str(), *value, *floor))
                .collect();
            assert_eq!(found, expected, "{floors}");
        };
        check(json!({}), &[]);
        // What is as high as its floor breaks none.
        check(json!({"ndcg@10": 0.7, "faithfulness": 0.9, "mrr": 0}), &[]);
        check(json!({"ndcg@10": 0.71, "ndcg@1": 0.4}), &[("ndcg@10", 0.7, 0.71)]);
        // The greatest k is meant where none is said.
        check(json!({"ndcg": 0.6}), &[]);
        check(json!({"mrr": 1, "ndcg": 0.8}), &[("mrr@5", 0.2, 1.0), ("ndcg@10", 0.7, 0.8)]);
        // What was not measured breaks none.
        check(json!({"ndcg@3": 1, "token_f1": 1}), &[]);
    }

    #[test]
    fn what_is_no_floor_is_named() {
        let check = |floors: Value, message: &str, hint: &str| {
            let error = parse(&floors).unwrap_err();
            assert_eq!(error.message(), message, "{floors}");
            assert!(error.hint_text().unwrap_or_default().starts_with(hint), "{error:?}");
        };
        let of = |value: &str| {
            format!("the floor of \"ndcg\" must be a number from 0 to 1, not {value}")
        };
        check(json!([]), "floors is not a JSON object: []", "For instance");
        check(
            json!({"ndgc": 0.7}),
            "unknown metric \"ndgc\"",
            "Did you mean \"ndcg\"? Known metrics:",
        );
        check(
            json!({"latency_p95": 0.7}),
            "metric \"latency_p95\" can have no floor",
            "Less of it",
        );
        check(json!({"ndcg": 70}), &of("70"), "");
        check(json!({"ndcg": -0.1}), &of("-0.1"), "");
        check(json!({"ndcg": "0.7"}), &of("\"0.7\""), "");
        check(json!({"ndcg": null}), &of("null"), "");
        let many = (1..=101).map(|k| (format!("ndcg@{k}"), json!(0.5))).collect();
        check(Value::Object(many), "101 floors are more than 100", "");
    }

    #[test]
    fn a_payload_is_json_and_short() {
        let alert = |set: &str| {
            let measure = Measure::at(EvalMetric::Ndcg, 10);
            let broken = BrokenFloor { measure, value: 0.5, floor: 0.7 };
            FloorAlert { set, configuration: set, run: i64::MAX, broken }.payload().unwrap()
        };
        assert_eq!(
            alert("help"),
            "{\"set\":\"help\",\"configuration\":\"help\",\"metric\":\"ndcg\",\"k\":10,\
             \"value\":0.5,\"floor\":0.7,\"run\":9223372036854775807}"
        );
        for sign in ["x", "\u{1}", "\"", "\\", "ж", "漢", "😀", "\u{7f}", "\n"] {
            let name = sign.repeat(5000);
            let payload = alert(&name);
            assert!(payload.len() < 7000, "{sign:?}: {} bytes", payload.len());
            let read: Value = serde_json::from_str(&payload).unwrap();
            let begin = read["set"].as_str().unwrap().strip_suffix(ELLIPSIS).unwrap();
            assert!(name.starts_with(begin) && begin.len() > 400, "{sign:?}");
        }
        let fits = "x".repeat(LONGEST_NAME);
        assert!(alert(&fits).contains(&format!("\"{fits}\"")));
    }
}
