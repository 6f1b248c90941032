//! What of a protocol does a model of a server know?
//!
//! ```text
//! (server and model, now) → what it has lately accepted, after it had refused something else
//! ```
//!
//! A server that knows no JSON schema, or no tools, says so to the first question with one, and is asked more
//! modestly. For a while the next questions are asked as modestly at once, so that not each of them
//! takes two calls. After that it is tried again: servers are updated.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::cooldown::ProviderId;

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
pub struct AcceptedManners<M>(HashMap<ModelOfProvider, (M, Instant)>);

impl<M> Default for AcceptedManners<M> {
    fn default() -> Self {
        AcceptedManners(HashMap::new())
    }
}

impl<M: Copy> AcceptedManners<M> {
    /// How `asked` is to be asked at `now`; `None`: it has refused nothing.
    pub fn of(&self, asked: &ModelOfProvider, now: Instant) -> Option<M> {
        let known = self.0.get(asked).filter(|(_, since)| now < *since + REMEMBERED);
        known.map(|(manner, _)| *manner)
    }

    /// Notes at `now` that `asked` was asked in that `manner`, after it had refused another.
    pub fn accepted(&mut self, asked: ModelOfProvider, manner: M, now: Instant) {
        self.0.retain(|_, (_, since)| now < *since + REMEMBERED);
        self.0.insert(asked, (manner, now));
    }
}

#[cfg(test)]
mod tests {
    use super::super::schema::Manner;
    use super::*;

    fn asked(model: &str) -> ModelOfProvider {
        ModelOfProvider { provider: [1; 32], api: "openai".into(), model: model.into() }
    }

    #[test]
    fn a_refusal_is_remembered_for_a_while() {
        let (mut manners, now) = (AcceptedManners::default(), Instant::now());
        assert_eq!(manners.of(&asked("m"), now), None);
        manners.accepted(asked("m"), Manner::Json, now);
        manners.accepted(asked("n"), Manner::Words, now + Duration::from_secs(1));
        let last = now + REMEMBERED - Duration::from_secs(1);
        assert_eq!(manners.of(&asked("m"), last), Some(Manner::Json));
        assert_eq!(manners.of(&asked("n"), last), Some(Manner::Words));
        assert_eq!(manners.of(&asked("o"), last), None);
        assert_eq!(manners.of(&asked("m"), now + REMEMBERED), None);
        manners.accepted(asked("o"), Manner::Json, now + 2 * REMEMBERED);
        assert_eq!(manners.0.len(), 1, "old ones are forgotten");
    }
}
