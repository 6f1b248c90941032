//! How is a provider told to sample, and what is left out where it refuses?
//!
//! ```text
//! (parameters, names in the protocol) → members of a body;  refusal → without what it names
//! ```

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::prompt::sampling::SamplingParameters;

/// A parameter of sampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SamplingParameter {
    /// [`SamplingParameters::top_k`]
    TopK,
    /// [`SamplingParameters::frequency_penalty`]
    FrequencyPenalty,
    /// [`SamplingParameters::presence_penalty`]
    PresencePenalty,
    /// [`SamplingParameters::top_p`]
    TopP,
    /// [`SamplingParameters::temperature`]
    Temperature,
}

/// What the parameters are called that a protocol has.
pub type SamplingNames = &'static [(SamplingParameter, &'static str)];

/// The parameters as pg_rag calls them, and most protocols do.
pub const SAMPLING_NAMES: SamplingNames = &[
    (SamplingParameter::Temperature, "temperature"),
    (SamplingParameter::TopP, "top_p"),
    (SamplingParameter::TopK, "top_k"),
    (SamplingParameter::FrequencyPenalty, "frequency_penalty"),
    (SamplingParameter::PresencePenalty, "presence_penalty"),
];

/// The parameters of a request, without those that the provider has refused.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestedSampling {
    names: SamplingNames,
    /// In the order in which they are given up where a refusal names several.
    values: Vec<(SamplingParameter, Value)>,
}

impl RequestedSampling {
    /// What is asked of a provider whose protocol, `api`, has these `names`.
    ///
    /// Fails where a parameter has no name there, and where the temperature is none.
    pub fn new(
        parameters: &SamplingParameters,
        names: SamplingNames,
        api: &str,
    ) -> Result<RequestedSampling> {
        check_temperature(parameters.temperature)?;
        let given = [
            (SamplingParameter::TopK, parameters.top_k.map(Value::from)),
            (SamplingParameter::FrequencyPenalty, parameters.frequency_penalty.map(short)),
            (SamplingParameter::PresencePenalty, parameters.presence_penalty.map(short)),
            (SamplingParameter::TopP, parameters.top_p.map(short)),
            (SamplingParameter::Temperature, Some(short(parameters.temperature))),
        ];
        let given = given.into_iter().filter_map(|(parameter, value)| Some((parameter, value?)));
        let values: Vec<_> = given.collect();
        let unknown = values.iter().find(|(it, _)| name_in(names, *it).is_none());
        match unknown.and_then(|(it, _)| name_in(SAMPLING_NAMES, *it)) {
            Some(unknown) => {
                let message = format!("the api \"{api}\" has no parameter \"{unknown}\"");
                Err(Error::new(ErrorKind::Unsupported, message)
                    .hint(format!("Leave out the option \"{unknown}\", or name another provider.")))
            }
            None => Ok(RequestedSampling { names, values }),
        }
    }

    /// The members of a body that say it.
    pub fn members(&self) -> impl Iterator<Item = (String, Value)> {
        let member = |(parameter, value): &(SamplingParameter, Value)| {
            Some((name_in(self.names, *parameter)?.to_owned(), value.clone()))
        };
        self.values.iter().filter_map(member)
    }

    /// Leaves out a parameter that `said`, a refusal in small letters, names; whether there is one. Each
    /// can be left out once.
    pub fn give_up(&mut self, said: &str) -> bool {
        let is_named = |(parameter, _): &(SamplingParameter, Value)| {
            let names = [name_in(self.names, *parameter), name_in(SAMPLING_NAMES, *parameter)];
            // Cohere's "p" and "k" are letters of any text.
            let mut names = names.into_iter().flatten().filter(|name| name.len() > 1);
            names.any(|name| said.contains(&name.to_lowercase()))
        };
        let refused = self.values.iter().position(is_named);
        refused.map(|at| self.values.remove(at)).is_some()
    }
}

impl Serialize for RequestedSampling {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.members())
    }
}

fn name_in(names: SamplingNames, parameter: SamplingParameter) -> Option<&'static str> {
    names.iter().find(|(it, _)| *it == parameter).map(|(_, name)| *name)
}

/// `number` without the digits that only its binary form has: 0.2 and not 0.20000000298.
fn short(number: f32) -> Value {
    number
        .to_string()
        .parse::<f64>()
        .ok()
        .and_then(serde_json::Number::from_f64)
        .map_or(Value::Null, Value::Number)
}

/// Fails if `temperature` is none.
pub fn check_temperature(temperature: f32) -> Result<()> {
    if temperature.is_finite() && temperature >= 0.0 {
        return Ok(());
    }
    Err(Error::invalid(format!("temperature {temperature} is not 0 or more")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn all() -> SamplingParameters {
        SamplingParameters {
            temperature: 0.7,
            top_p: Some(0.9),
            top_k: Some(40),
            frequency_penalty: Some(0.5),
            presence_penalty: Some(-0.5),
        }
    }

    #[test]
    fn what_a_refusal_names_is_left_out_one_by_one() {
        let mut sampling = RequestedSampling::new(&all(), SAMPLING_NAMES, "openai").unwrap();
        let left = |sampling: &RequestedSampling| {
            json!(sampling.members().collect::<serde_json::Map<_, _>>())
        };
        assert!(sampling.give_up("`temperature` and `top_p` cannot both be specified"));
        assert!(sampling.give_up("unrecognized request argument supplied: top_k"));
        assert!(!sampling.give_up("unrecognized request argument supplied: top_k"));
        let expected =
            json!({"temperature": 0.7, "frequency_penalty": 0.5, "presence_penalty": -0.5});
        assert_eq!(left(&sampling), expected);
        assert!(!sampling.give_up("the prompt is too long"));
    }

    #[test]
    fn a_parameter_that_a_protocol_has_not_is_an_error() {
        let few: SamplingNames =
            &[(SamplingParameter::Temperature, "temperature"), (SamplingParameter::TopP, "p")];
        let error = RequestedSampling::new(&all(), few, "few").unwrap_err();
        assert_eq!(error.message(), "the api \"few\" has no parameter \"top_k\"");
        let plain = SamplingParameters { temperature: 0.7, top_p: Some(0.9), ..Default::default() };
        let mut sampling = RequestedSampling::new(&plain, few, "few").unwrap();
        assert!(!sampling.give_up("the prompt is too long"));
        assert!(sampling.give_up("top_p is not known"));
    }
}
