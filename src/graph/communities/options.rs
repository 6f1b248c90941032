//! What a pipeline's option `communities` can say.

use serde::Deserialize;
use serde_json::Value as Json;

use super::hierarchy::HierarchySettings;
use super::leiden::LeidenSettings;
use crate::error::{Error, Result};
use crate::options::{self as json_options, out_of_range};

/// Most members that a bound of sizes can name.
const MOST_MEMBERS: u32 = 1_000_000;

/// What a pipeline's option `communities` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CommunityOptions {
    /// The resolution of the modularity, above 0: above 1 there are more and smaller communities.
    pub resolution: f64,
    /// Fewest entities of a community, from 2.
    pub min_size: u32,
    /// Entities beyond which a community is divided again.
    pub max_size: u32,
    /// Share of the mentions, from 0 to 1, up to which may be new or gone before communities are made again.
    pub tolerance: f64,
    /// What the random numbers begin with.
    pub seed: u32,
}

impl Default for CommunityOptions {
    fn default() -> Self {
        CommunityOptions { resolution: 1.0, min_size: 3, max_size: 50, tolerance: 0.01, seed: 0 }
    }
}

impl CommunityOptions {
    /// Whether communities will do that were made of `made_from` mentions, where `changed` ones are new or gone since then.
    /// Those that were made of none will not do once there is any.
    #[must_use]
    pub fn will_do(&self, made_from: i64, changed: i64) -> bool {
        changed == 0 || changed as f64 <= self.tolerance * made_from as f64
    }

    /// What the option says; `None` where it is false or null and there are to be no communities.
    ///
    /// Fails with an invalid parameter that names the key.
    pub fn read(option: &Json) -> Result<Option<CommunityOptions>> {
        match option {
            Json::Null | Json::Bool(false) => Ok(None),
            Json::Object(_) => {
                let read: CommunityOptions =
                    json_options::read("communities", option.clone(), &[])?;
                read.check().map(|()| Some(read))
            }
            other => {
                let shown = json_options::shortened(&other.to_string());
                Err(Error::invalid(format!("communities cannot be {shown}"))
                    .hint("It is false, or an object such as {\"max_size\": 50}."))
            }
        }
    }

    fn check(&self) -> Result<()> {
        let CommunityOptions { resolution, min_size, max_size, tolerance, .. } = *self;
        if !(0.001..=1000.0).contains(&resolution) {
            let range = "between 0.001 and 1000";
            return Err(out_of_range("communities.resolution", range, resolution));
        }
        if !(2..=MOST_MEMBERS).contains(&min_size) {
            let range = format!("between 2 and {MOST_MEMBERS}");
            return Err(out_of_range("communities.min_size", range, min_size));
        }
        if !(min_size..=MOST_MEMBERS).contains(&max_size) {
            let range = format!("between min_size, {min_size}, and {MOST_MEMBERS}");
            let error = out_of_range("communities.max_size", range, max_size);
            // Who says only how small a community may be has not thought of the other bound.
            return Err(match max_size == CommunityOptions::default().max_size {
                true => error.hint(format!("{max_size} is its default: name max_size as well.")),
                false => error,
            });
        }
        match (0.0..=1.0).contains(&tolerance) {
            true => Ok(()),
            false => Err(out_of_range("communities.tolerance", "between 0 and 1", tolerance)),
        }
    }

    /// How communities are found.
    #[must_use]
    pub fn settings(&self) -> HierarchySettings {
        HierarchySettings {
            leiden: LeidenSettings { resolution: self.resolution, seed: self.seed.into() },
            min_size: self.min_size as usize,
            max_size: self.max_size as usize,
        }
    }
}
