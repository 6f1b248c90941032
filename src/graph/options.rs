//! What a question can say of the graph: the option `retrieve.graph`.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::error::Result;
use crate::options::{keys, out_of_range};

/// The names that stand for the whole option.
const NAMES: [&str; 2] = ["auto", "off"];

/// Most chunks that a walk begins at.
const MOST_CHUNKS: u32 = 100;

/// Most that a walk counts.
const MOST_WEIGHT: f64 = 10.0;

/// Whether a search walks over the graph.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum GraphUse {
    /// Where the pipeline has one.
    #[default]
    Auto,
    /// It does not.
    Off,
    /// It does, in this way; an error where the pipeline has none.
    Walk(WalkOptions),
}

/// How a search walks.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WalkOptions {
    /// What the walk counts beside a chunk's own score, which is from 0 to 1; from 0 to 10.
    pub weight: f64,
    /// The best so many chunks of the search are where it begins.
    pub chunks: u32,
}

impl Default for WalkOptions {
    fn default() -> Self {
        WalkOptions { weight: 1.0, chunks: 5 }
    }
}

impl GraphUse {
    /// How a search walks over a graph that is there; `None` where it does not.
    #[must_use]
    pub fn walk(&self) -> Option<WalkOptions> {
        match self {
            GraphUse::Auto => Some(WalkOptions::default()),
            GraphUse::Off => None,
            GraphUse::Walk(options) => Some(*options),
        }
    }

    /// An error that names the first value out of its range.
    pub fn check(&self) -> Result<()> {
        let GraphUse::Walk(WalkOptions { weight, chunks }) = self else { return Ok(()) };
        if !(0.0..=MOST_WEIGHT).contains(weight) {
            let range = format!("between 0 and {MOST_WEIGHT}");
            return Err(out_of_range("retrieve.graph.weight", range, weight));
        }
        match (1..=MOST_CHUNKS).contains(chunks) {
            true => Ok(()),
            false => {
                let range = format!("between 1 and {MOST_CHUNKS}");
                Err(out_of_range("retrieve.graph.chunks", range, chunks))
            }
        }
    }
}

/// Reads a name, or an object that says how it is done.
struct NameOrWalk;

impl<'de> Visitor<'de> for NameOrWalk {
    type Value = GraphUse;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("\"auto\", \"off\" or an object")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<GraphUse, E> {
        match name {
            "auto" => Ok(GraphUse::Auto),
            "off" => Ok(GraphUse::Off),
            _ => Err(E::unknown_variant(name, &NAMES)),
        }
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<GraphUse, E> {
        Ok(GraphUse::Auto)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<GraphUse, A::Error> {
        WalkOptions::deserialize(MapAccessDeserializer::new(map)).map(GraphUse::Walk)
    }
}

impl<'de> Deserialize<'de> for GraphUse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<GraphUse, D::Error> {
        deserializer.deserialize_struct("graph", keys::<WalkOptions>(), NameOrWalk)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::options;

    fn read(option: Value) -> Result<GraphUse> {
        let read: GraphUse = options::read("graph", option, &[])?;
        read.check().map(|()| read)
    }

    #[test]
    fn a_name_or_an_object() {
        assert_eq!(read(json!("auto")).unwrap().walk(), Some(WalkOptions::default()));
        assert_eq!(read(json!(null)).unwrap(), GraphUse::Auto);
        assert_eq!(read(json!("off")).unwrap().walk(), None);
        let walk = WalkOptions { weight: 0.3, ..WalkOptions::default() };
        assert_eq!(read(json!({"weight": 0.3})).unwrap(), GraphUse::Walk(walk));
        assert_eq!(read(json!({})).unwrap(), GraphUse::Walk(WalkOptions::default()));
        let null = json!({"weight": null, "chunks": 3});
        let walk = WalkOptions { chunks: 3, ..WalkOptions::default() };
        assert_eq!(read(null).unwrap(), GraphUse::Walk(walk));
    }

    #[test]
    fn what_cannot_be_is_named() {
        let check = |option, message: &str| {
            assert_eq!(read(option).unwrap_err().message(), message);
        };
        check(json!("on"), "option \"graph\" cannot be \"on\"");
        check(json!(true), "option \"graph\" must be \"auto\", \"off\" or an object, not true");
        let message = "option \"graph\" must be \"auto\", \"off\" or an object, not an array";
        check(json!([null]), message);
        check(json!({"hops": null}), "unknown option \"hops\" of \"graph\"");
        check(json!({"hops": 2}), "unknown option \"hops\" of \"graph\"");
        check(
            json!({"weight": 10.5}),
            "option \"retrieve.graph.weight\" must be between 0 and 10, not 10.5",
        );
        check(
            json!({"chunks": 0}),
            "option \"retrieve.graph.chunks\" must be between 1 and 100, not 0",
        );
    }
}
