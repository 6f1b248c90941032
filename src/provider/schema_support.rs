//! How does a server want to be asked for the form of an answer?
//!
//! ```text
//! (server and model, now) → in its protocol's own way, or as it has lately accepted
//! ```
//!
//! A server that knows no JSON schema says so to the first question in that way, and is asked more
//! modestly. For a while the next questions are asked as modestly at once, so that not each of them
//! takes two calls. After that it is tried again: servers are updated.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::cooldown::ProviderId;
use super::schema::Manner;

/// How long a refusal is remembered.
const REMEMBERED: Duration = Duration::from_secs(600);

/// A model of a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModelOfProvider {
    /// Which provider, and by which key and way.
    pub provider: ProviderId,
    /// The protocol in which it is asked.
    pub api: String,
    /// What the model is called there.
    pub model: String,
}

/// What all of them have accepted.
#[derive(Default)]
pub struct SchemaSupport(HashMap<ModelOfProvider, (Manner, Instant)>);

impl SchemaSupport {
    /// How `asked` is to be asked at `now`.
    pub fn of(&self, asked: &ModelOfProvider, now: Instant) -> Manner {
        let known = self.0.get(asked).filter(|(_, since)| now < *since + REMEMBERED);
        known.map_or(Manner::Schema, |(manner, _)| *manner)
    }

    /// Notes at `now` that `asked` was asked in that `manner`, after it had refused another.
    pub fn accepted(&mut self, asked: ModelOfProvider, manner: Manner, now: Instant) {
        self.0.retain(|_, (_, since)| now < *since + REMEMBERED);
        self.0.insert(asked, (manner, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(model: &str) -> ModelOfProvider {
        ModelOfProvider { provider: [1; 32], api: "openai".into(), model: model.into() }
    }

    #[test]
    fn a_refusal_is_remembered_for_a_while() {
        let (mut manners, now) = (SchemaSupport::default(), Instant::now());
        assert_eq!(manners.of(&asked("m"), now), Manner::Schema);
        manners.accepted(asked("m"), Manner::Json, now);
        manners.accepted(asked("n"), Manner::Words, now + Duration::from_secs(1));
        let last = now + REMEMBERED - Duration::from_secs(1);
        assert_eq!(manners.of(&asked("m"), last), Manner::Json);
        assert_eq!(manners.of(&asked("n"), last), Manner::Words);
        assert_eq!(manners.of(&asked("o"), last), Manner::Schema);
        assert_eq!(manners.of(&asked("m"), now + REMEMBERED), Manner::Schema);
        manners.accepted(asked("o"), Manner::Json, now + 2 * REMEMBERED);
        assert_eq!(manners.0.len(), 1, "old ones are forgotten");
    }
}
