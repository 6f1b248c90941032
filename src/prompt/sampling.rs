//! # sampling: how does a language model choose the next token?
//!
//! ```text
//! (preset, what is said beside it) → temperature, top_p, top_k, penalties
//! ```

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::options::out_of_range;

/// How a language model chooses the next token. `None`: as the model does where nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SamplingParameters {
    /// What the logits are divided by, from 0 to 2; 0 is the most repeatable.
    pub temperature: f32,
    /// The most probable tokens are chosen from that have this probability together (Holtzman et al., ICLR
    /// 2020, section 3.1), above 0 up to 1.
    pub top_p: Option<f32>,
    /// So many of the most probable tokens are chosen from (Fan et al., ACL 2018), from 1.
    pub top_k: Option<u32>,
    /// What a token loses of its logit for each time that it was written, from -2 to 2.
    pub frequency_penalty: Option<f32>,
    /// What a token loses of its logit once it was written, from -2 to 2.
    pub presence_penalty: Option<f32>,
}

/// Parameters that go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SamplingPreset {
    /// The most probable reply.
    Factual,
    /// Varied words, of those that are probable.
    Balanced,
    /// Words that are not expected, too.
    Creative,
    /// One of the others, by what the question asks for: `answer::preset` knows which. Where nothing is asked, the first.
    Auto,
}

/// What options say of sampling.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SamplingOptions {
    /// What holds where nothing else is said.
    pub preset: Option<SamplingPreset>,
    /// See [`SamplingParameters::temperature`].
    pub temperature: Option<f32>,
    /// See [`SamplingParameters::top_p`].
    pub top_p: Option<f32>,
    /// See [`SamplingParameters::top_k`].
    pub top_k: Option<u32>,
    /// See [`SamplingParameters::frequency_penalty`].
    pub frequency_penalty: Option<f32>,
    /// See [`SamplingParameters::presence_penalty`].
    pub presence_penalty: Option<f32>,
}

/// An error where a reply may have no token; `group` stands before the name of the option, such as "answer.".
pub fn check_max_tokens(group: &str, most: Option<u32>) -> Result<()> {
    match most {
        Some(0) => Err(out_of_range(&format!("{group}max_tokens"), "at least 1", 0)),
        _ => Ok(()),
    }
}

impl SamplingParameters {
    /// With this temperature, and the rest as the model does it.
    #[must_use]
    pub fn of_temperature(temperature: f32) -> SamplingParameters {
        SamplingParameters { temperature, ..SamplingParameters::default() }
    }
}

impl SamplingPreset {
    /// Its parameters. None has penalties or a `top_k`, which some providers don't know.
    fn parameters(self) -> SamplingParameters {
        let (temperature, top_p) = match self {
            SamplingPreset::Factual | SamplingPreset::Auto => (0.0, None),
            SamplingPreset::Balanced => (0.4, Some(0.9)),
            SamplingPreset::Creative => (0.9, Some(0.95)),
        };
        SamplingParameters { temperature, top_p, ..SamplingParameters::default() }
    }
}

impl fmt::Display for SamplingPreset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SamplingPreset::Factual => "factual",
            SamplingPreset::Balanced => "balanced",
            SamplingPreset::Creative => "creative",
            SamplingPreset::Auto => "auto",
        })
    }
}

impl SamplingOptions {
    /// The parameters: those of the preset, by default `factual`, but for what is said beside it.
    ///
    /// Fails with an invalid parameter that names the first option out of its range; `group` stands before
    /// its name, as in "answer.".
    pub fn parameters(&self, group: &str) -> Result<SamplingParameters> {
        let preset = self.preset.unwrap_or(SamplingPreset::Factual).parameters();
        let within = |name: &str, value: Option<f32>, least: f32, most: f32| match value {
            Some(value) if !(least..=most).contains(&value) => {
                let range = format!("between {least} and {most}");
                Err(out_of_range(&format!("{group}{name}"), range, value))
            }
            value => Ok(value),
        };
        if let Some(top_p) = self.top_p.filter(|top_p| !(*top_p > 0.0 && *top_p <= 1.0)) {
            return Err(out_of_range(&format!("{group}top_p"), "above 0 and at most 1", top_p));
        }
        if self.top_k == Some(0) {
            return Err(out_of_range(&format!("{group}top_k"), "1 or more", 0));
        }
        let temperature = within("temperature", self.temperature, 0.0, 2.0)?;
        Ok(SamplingParameters {
            temperature: temperature.unwrap_or(preset.temperature),
            top_p: self.top_p.or(preset.top_p),
            top_k: self.top_k,
            frequency_penalty: within("frequency_penalty", self.frequency_penalty, -2.0, 2.0)?,
            presence_penalty: within("presence_penalty", self.presence_penalty, -2.0, 2.0)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_goes_before_the_preset() {
        let creative = Some(SamplingPreset::Creative);
        let options = SamplingOptions { preset: creative, ..SamplingOptions::default() };
        let parameters = options.parameters("").unwrap();
        assert_eq!((parameters.temperature, parameters.top_p), (0.9, Some(0.95)));
        let options = SamplingOptions { temperature: Some(0.2), top_k: Some(5), ..options };
        let expected = SamplingParameters { temperature: 0.2, top_k: Some(5), ..parameters };
        assert_eq!(options.parameters("").unwrap(), expected);
        assert_eq!(
            SamplingOptions::default().parameters("").unwrap(),
            SamplingParameters::default()
        );
    }

    #[test]
    fn the_first_that_is_out_of_its_range_is_named() {
        let none = SamplingOptions::default();
        for (options, message) in [
            (
                SamplingOptions { temperature: Some(2.5), ..none },
                "option \"answer.temperature\" must be between 0 and 2, not 2.5",
            ),
            (
                SamplingOptions { temperature: Some(f32::NAN), ..none },
                "option \"answer.temperature\" must be between 0 and 2, not NaN",
            ),
            (
                SamplingOptions { top_p: Some(0.0), ..none },
                "option \"answer.top_p\" must be above 0 and at most 1, not 0",
            ),
            (
                SamplingOptions { top_k: Some(0), ..none },
                "option \"answer.top_k\" must be 1 or more, not 0",
            ),
            (
                SamplingOptions { frequency_penalty: Some(-3.0), ..none },
                "option \"answer.frequency_penalty\" must be between -2 and 2, not -3",
            ),
            (
                SamplingOptions { presence_penalty: Some(2.1), ..none },
                "option \"answer.presence_penalty\" must be between -2 and 2, not 2.1",
            ),
        ] {
            assert_eq!(options.parameters("answer.").unwrap_err().message(), message);
        }
    }
}
