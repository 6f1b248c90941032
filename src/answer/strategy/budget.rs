//! How much an answer may take.
//!
//! A call is made only if there is room for it. Where a step prepares an answer that is still to
//! be written, room for that one call is kept, so that a small budget gives a plain answer and
//! not none. Tokens are estimated beforehand, four characters each, and counted afterwards as the
//! provider counts them.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::tools::{Limits, ModelReply};
use crate::error::{Error, ErrorKind, Result};
use crate::options::out_of_range;
use crate::prompt::messages::Message;

/// Calls of an answer, where nothing else is said.
const USUAL_CALLS: u32 = 32;

/// Shortest reply for which a call is made, in tokens.
const SHORTEST_REPLY: u64 = 64;

/// Shortest time for which a call is made.
const SHORTEST_MS: u64 = 50;

/// Characters of a token, about.
const CHARACTERS: u64 = 4;

/// Limits of one answer; `None`: there is none, or the usual one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Calls of the language model; 32 if nothing is said.
    pub calls: Option<u32>,
    /// Tokens that it reads and writes.
    pub tokens: Option<u64>,
    /// Seconds, from the beginning of the retrieval.
    pub seconds: Option<f64>,
    /// Money, in the currency of the prices.
    pub cost: Option<f64>,
    /// Price of a million tokens that are read; that of `rag.price` if nothing is said.
    pub input_price: Option<f64>,
    /// Price of a million tokens that the provider has cached, likewise; without any, that of tokens that are read.
    pub cached_price: Option<f64>,
    /// Price of a million tokens that are written, likewise.
    pub output_price: Option<f64>,
}

/// What a million tokens cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenPrices {
    /// Of those that are read.
    pub input: f64,
    /// Of those among them that the provider has cached.
    pub cached: f64,
    /// Of those that are written.
    pub output: f64,
}

/// A limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReachedLimit {
    /// The limit of calls.
    Calls,
    /// The limit of tokens.
    Tokens,
    /// The limit of seconds.
    Seconds,
    /// The limit of money.
    Cost,
}

impl Budget {
    /// An error for a limit that is none; `name` is what the option with the budget is called.
    pub fn check(&self, name: &str) -> Result<()> {
        let is_positive = |value: &f64| value.is_finite() && *value > 0.0;
        let is_price = |value: &f64| value.is_finite() && *value >= 0.0;
        let option = |limit: &str| format!("{name}.{limit}");
        let wrong =
            |limit: &str, value: String| out_of_range(&option(limit), "greater than 0", value);
        if self.calls == Some(0) {
            return Err(wrong("calls", "0".to_owned()));
        }
        if self.tokens == Some(0) {
            return Err(wrong("tokens", "0".to_owned()));
        }
        for (name, value) in [("seconds", self.seconds), ("cost", self.cost)] {
            if let Some(value) = value.filter(|value| !is_positive(value)) {
                return Err(wrong(name, value.to_string()));
            }
        }
        for (name, value) in [
            ("input_price", self.input_price),
            ("cached_price", self.cached_price),
            ("output_price", self.output_price),
        ] {
            if let Some(value) = value.filter(|value| !is_price(value)) {
                return Err(out_of_range(&option(name), "0 or more", value));
            }
        }
        Ok(())
    }

    /// The budget with the prices `known` where it has none of its own. With a price of its own for what is read, that
    /// holds for cached tokens too, unless they have one. Fails if it has a cost and no prices.
    pub fn priced(self, known: Option<TokenPrices>) -> Result<Budget> {
        let cached_price = self.cached_price.or(self.input_price).or(known.map(|it| it.cached));
        let input_price = self.input_price.or(known.map(|it| it.input));
        let output_price = self.output_price.or(known.map(|it| it.output));
        let has_prices = input_price.is_some() && output_price.is_some();
        match self.cost.is_some() && !has_prices {
            true => Err(Error::invalid("the budget has a cost and no prices").hint(
                "Add a row for the server and its model to rag.price, or input_price and output_price to the budget, for a million tokens each.",
            )),
            false => Ok(Budget { input_price, cached_price, output_price, ..self }),
        }
    }

    /// What it costs to read `read` tokens, of which `cached` were cached, and to write `written` tokens.
    fn price(&self, read: u64, cached: u64, written: u64) -> f64 {
        let cached = cached.min(read);
        let of = |price: Option<f64>, tokens: u64| price.unwrap_or_default() * tokens as f64;
        let all = of(self.input_price, read - cached)
            + of(self.cached_price.or(self.input_price), cached)
            + of(self.output_price, written);
        all / 1e6
    }
}

/// What has been spent of a budget.
#[derive(Clone, Debug, Default)]
pub struct BudgetLedger {
    budget: Budget,
    calls: u32,
    attempts: u32,
    /// Tokens read and written, as the provider says.
    said: Counts,
    /// Tokens read and written, with estimates where the provider says nothing.
    read: u64,
    written: u64,
    finish_reason: Option<String>,
    steps: Vec<(&'static str, u32)>,
    stopped_by: Option<ReachedLimit>,
    /// What else users get to see.
    told: Vec<(&'static str, Value)>,
}

#[derive(Clone, Debug, Default)]
struct Counts {
    read: Option<u64>,
    cached: Option<u64>,
    written: Option<u64>,
}

/// About how many tokens a text has.
pub fn estimate(text: &str) -> u64 {
    (text.chars().count() as u64).div_ceil(CHARACTERS)
}

/// About how many tokens messages have.
pub fn estimate_all(messages: &[Message]) -> u64 {
    messages.iter().map(|message| estimate(&message.content) + 4).sum()
}

impl BudgetLedger {
    /// The ledger of a budget of which nothing is spent.
    pub fn new(budget: Budget) -> BudgetLedger {
        BudgetLedger { budget, ..BudgetLedger::default() }
    }

    /// Calls that may still be made.
    pub fn calls_left(&self) -> u32 {
        self.budget.calls.unwrap_or(USUAL_CALLS).saturating_sub(self.calls)
    }

    /// Calls that may be made in all.
    pub fn calls_allowed(&self) -> u32 {
        self.budget.calls.unwrap_or(USUAL_CALLS)
    }

    /// How many of the calls may be made, the first ones, whose prompts have about so many
    /// tokens, and what each may take. `kept` are the tokens of the prompt of a later call for
    /// which room is to be left.
    pub fn grant(&mut self, prompts: &[u64], kept: Option<u64>, now_ms: u64) -> (usize, Limits) {
        let calls = self.calls_left().saturating_sub(u32::from(kept.is_some())) as usize;
        let mut granted = prompts.len().min(calls);
        if granted < prompts.len() {
            self.stop(ReachedLimit::Calls);
        }
        let timeout_ms = self.time_left(kept.is_some(), now_ms);
        if granted > 0 && timeout_ms.is_some_and(|left| left < SHORTEST_MS) {
            self.stop(ReachedLimit::Seconds);
            granted = 0;
        }
        let mut room = None;
        while granted > 0 {
            match self.room(&prompts[..granted], kept) {
                Ok(found) => {
                    room = found;
                    break;
                }
                Err(limit) => {
                    self.stop(limit);
                    granted -= 1;
                }
            }
        }
        let max_tokens = room.map(|room| u32::try_from(room).unwrap_or(u32::MAX));
        (granted, Limits { max_tokens, timeout_ms })
    }

    /// Milliseconds that are left for calls at `now_ms`, all of them or, if the call only prepares
    /// the answer (`keeps`), half; `None` without a limit.
    pub fn time_left(&self, keeps: bool, now_ms: u64) -> Option<u64> {
        let end = (self.budget.seconds? * 1000.0) as u64;
        let left = end.saturating_sub(now_ms);
        Some(if keeps { left / 2 } else { left })
    }

    /// Whether there is time at `now_ms` for something that prepares the answer.
    pub fn has_time(&mut self, now_ms: u64) -> bool {
        let is_over = self.time_left(true, now_ms).is_some_and(|left| left < SHORTEST_MS);
        if is_over {
            self.stop(ReachedLimit::Seconds);
        }
        !is_over
    }

    /// How long the reply to each of `prompts` may be, in tokens; an error where that is too
    /// short.
    fn room(&self, prompts: &[u64], kept: Option<u64>) -> Result<Option<u64>, ReachedLimit> {
        let read = prompts.iter().sum::<u64>() + kept.unwrap_or_default();
        let later = if kept.is_some() { SHORTEST_REPLY } else { 0 };
        let count = prompts.len() as u64;
        let enough = |room: u64, limit| if room < SHORTEST_REPLY { Err(limit) } else { Ok(room) };
        let of_tokens = match self.budget.tokens {
            Some(most) => {
                let spent = self.read.saturating_add(self.written);
                let left = most.saturating_sub(spent.saturating_add(read + later));
                Some(enough(left / count, ReachedLimit::Tokens)?)
            }
            None => None,
        };
        let of_cost = match self.budget.cost {
            Some(most) => {
                let spent = self.cost(read, later);
                let token = self.budget.output_price.unwrap_or_default() / 1e6;
                // A float that is too great becomes the greatest integer, a negative one 0.
                match token > 0.0 {
                    true => {
                        Some(enough(((most - spent) / token) as u64 / count, ReachedLimit::Cost)?)
                    }
                    false if spent <= most => None,
                    false => return Err(ReachedLimit::Cost),
                }
            }
            None => None,
        };
        Ok(match (of_tokens, of_cost) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        })
    }

    /// What has been spent, with so many more tokens read and written.
    fn cost(&self, read: u64, written: u64) -> f64 {
        let (read, written) =
            (self.read.saturating_add(read), self.written.saturating_add(written));
        self.budget.price(read, self.said.cached.unwrap_or_default(), written)
    }

    /// Counts a call and gives the reply. A call that took all the time it was given is over,
    /// and no error.
    pub fn note(
        &mut self,
        step: &'static str,
        reply: Result<ModelReply>,
        prompt: u64,
        is_late: bool,
    ) -> Result<Option<ModelReply>> {
        self.calls += 1;
        match self.steps.last_mut() {
            Some((last, count)) if *last == step => *count += 1,
            _ => self.steps.push((step, 1)),
        }
        let reply = match reply {
            Err(error) if is_late && error.kind() == ErrorKind::ProviderTimeout => {
                self.read = self.read.saturating_add(prompt);
                self.stop(ReachedLimit::Seconds);
                return Ok(None);
            }
            reply => reply?,
        };
        let add = |sum: &mut Option<u64>, count: Option<u64>| {
            let added = |sum: u64| sum.saturating_add(count.unwrap_or_default());
            *sum = sum.or(count.map(|_| 0)).map(added);
        };
        add(&mut self.said.read, reply.prompt_tokens);
        add(&mut self.said.cached, reply.cached_tokens);
        add(&mut self.said.written, reply.completion_tokens);
        let called = reply.tools.as_ref().map_or(0, |it| estimate(&it.verbatim));
        let written = reply.completion_tokens.unwrap_or_else(|| estimate(&reply.text) + called);
        self.read = self.read.saturating_add(reply.prompt_tokens.unwrap_or(prompt));
        self.written = self.written.saturating_add(written);
        self.attempts += reply.attempts;
        self.finish_reason = Some(reply.finish_reason.clone());
        Ok(Some(reply))
    }

    /// Has users see this beside what calls took.
    pub fn tell(&mut self, name: &'static str, value: Value) {
        self.told.push((name, value));
    }

    fn stop(&mut self, limit: ReachedLimit) {
        self.stopped_by.get_or_insert(limit);
    }

    /// What users get to see of the budget's use, as JSON.
    pub fn usage(&self, strategy: &str) -> Value {
        let steps: Vec<Value> =
            self.steps.iter().map(|(step, calls)| json!({"step": step, "calls": calls})).collect();
        let mut usage = Map::from_iter([
            ("strategy".to_owned(), json!(strategy)),
            ("calls".to_owned(), json!(self.calls)),
            ("steps".to_owned(), json!(steps)),
            ("prompt_tokens".to_owned(), json!(self.said.read)),
            ("completion_tokens".to_owned(), json!(self.said.written)),
            ("finish_reason".to_owned(), json!(self.finish_reason)),
            ("attempts".to_owned(), json!(self.attempts)),
        ]);
        usage.extend(self.told.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        if let Some(cached) = self.said.cached {
            usage.insert("cached_tokens".to_owned(), json!(cached));
        }
        if let Some(limit) = self.stopped_by {
            usage.insert("stopped_by".to_owned(), json!(limit.name()));
        }
        if self.budget.input_price.is_some() || self.budget.output_price.is_some() {
            let cost = self.cost(0, 0);
            usage.insert("cost".to_owned(), json!(cost));
        }
        usage.into()
    }
}

impl ReachedLimit {
    /// As the member of a budget is called.
    fn name(self) -> &'static str {
        match self {
            ReachedLimit::Calls => "calls",
            ReachedLimit::Tokens => "tokens",
            ReachedLimit::Seconds => "seconds",
            ReachedLimit::Cost => "cost",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(budget: Value) -> BudgetLedger {
        let budget: Budget = serde_json::from_value(budget).unwrap();
        budget.check("answer.budget").unwrap();
        BudgetLedger::new(budget.priced(None).unwrap())
    }

    fn reply(read: Option<u64>, written: Option<u64>) -> Result<ModelReply> {
        Ok(ModelReply {
            text: "x".repeat(40),
            finish_reason: "stop".into(),
            prompt_tokens: read,
            cached_tokens: None,
            completion_tokens: written,
            attempts: 1,
            tools: None,
        })
    }

    #[test]
    fn without_limits_there_are_32_calls_of_any_length() {
        let mut ledger = ledger(json!({}));
        assert_eq!(ledger.grant(&[1_000_000; 40], None, 1 << 40), (32, Limits::default()));
        assert_eq!(ledger.grant(&[10; 32], Some(10), 0).0, 31);
        assert_eq!(ledger.usage("compact")["stopped_by"], "calls");
    }

    #[test]
    fn a_call_is_kept_for_the_answer() {
        let mut ledger = ledger(json!({"calls": 2}));
        assert_eq!(ledger.grant(&[10], Some(10), 0).0, 1);
        ledger.note("grade", reply(Some(10), Some(5)), 9, false).unwrap();
        assert!(ledger.usage("s").get("stopped_by").is_none());
        assert_eq!(ledger.grant(&[10], Some(10), 0).0, 0);
        assert_eq!(ledger.grant(&[10], None, 0).0, 1);
        ledger.note("answer", reply(Some(20), Some(7)), 9, false).unwrap();
        assert_eq!(ledger.grant(&[10], None, 0).0, 0);
        assert_eq!(
            ledger.usage("s"),
            json!({
                "strategy": "s", "calls": 2, "prompt_tokens": 30, "completion_tokens": 12,
                "steps": [{"step": "grade", "calls": 1}, {"step": "answer", "calls": 1}],
                "finish_reason": "stop", "attempts": 2, "stopped_by": "calls",
            })
        );
    }

    #[test]
    fn tokens_bound_the_length_of_replies_and_the_number_of_calls() {
        let mut ledger = ledger(json!({"tokens": 1000}));
        let limits = |tokens| Limits { max_tokens: Some(tokens), timeout_ms: None };
        assert_eq!(ledger.grant(&[100, 100], None, 0), (2, limits(400)));
        assert_eq!(ledger.grant(&[300, 300, 300], None, 0), (2, limits(200)));
        // 1000 - 300 - 500 and 64 for the reply leave 136.
        assert_eq!(ledger.grant(&[300], Some(500), 0), (1, limits(136)));
        assert_eq!(ledger.grant(&[300], Some(600), 0).0, 0);
        // Estimates count where the provider says nothing.
        ledger.note("a", reply(None, None), 890, false).unwrap();
        assert_eq!(ledger.usage("s")["prompt_tokens"], Value::Null);
        assert_eq!(ledger.grant(&[1], None, 0), (1, limits(99)));
        assert_eq!(ledger.grant(&[40], None, 0).0, 0);
    }

    #[test]
    fn time_is_shared_with_the_answer() {
        let mut ledger = ledger(json!({"seconds": 10}));
        let limits = |ms| Limits { max_tokens: None, timeout_ms: Some(ms) };
        assert_eq!(ledger.grant(&[1], None, 4000), (1, limits(6000)));
        assert_eq!(ledger.grant(&[1], Some(1), 4000), (1, limits(3000)));
        assert_eq!(ledger.grant(&[1], None, 9_980).0, 0);
        assert_eq!(ledger.usage("s")["stopped_by"], "seconds");
        let late = || Err(Error::new(ErrorKind::ProviderTimeout, "late"));
        assert_eq!(ledger.note("a", late(), 5, true).unwrap(), None);
        assert!(ledger.note("a", late(), 5, false).is_err());
        let other = Err(Error::new(ErrorKind::ProviderFailed, "no"));
        assert!(ledger.note("a", other, 5, true).is_err());
    }

    #[test]
    fn cost_is_counted_by_the_prices() {
        let budget = json!({"cost": 1.0, "input_price": 1000.0, "output_price": 2000.0});
        let mut ledger = ledger(budget);
        // 200 tokens cost 0.2; 0.8 buys 400.
        let limits = |tokens| Limits { max_tokens: Some(tokens), timeout_ms: None };
        assert_eq!(ledger.grant(&[200], None, 0), (1, limits(400)));
        ledger.note("a", reply(Some(500), Some(200)), 0, false).unwrap();
        assert_eq!(ledger.usage("s")["cost"], 0.9);
        assert_eq!(ledger.grant(&[90], None, 0).0, 0);
        assert_eq!(ledger.usage("s")["stopped_by"], "cost");
        let free = json!({"cost": 1.0, "input_price": 0.0, "output_price": 0.0});
        assert_eq!(self::ledger(free).grant(&[1 << 40], None, 0), (1, Limits::default()));
    }

    #[test]
    fn cached_tokens_have_a_price_of_their_own() {
        let known = Some(TokenPrices { input: 1000.0, cached: 100.0, output: 0.0 });
        for (budget, cost) in [
            (json!({}), 0.64),
            (json!({"cached_price": 0}), 0.6),
            // Who names a price for what is read means all of it.
            (json!({"input_price": 2000}), 2.0),
            (json!({"input_price": 2000, "cached_price": 1000}), 1.6),
        ] {
            let parsed: Budget = serde_json::from_value(budget.clone()).unwrap();
            let mut ledger = BudgetLedger::new(parsed.priced(known).unwrap());
            let reply =
                reply(Some(1000), Some(10)).map(|it| ModelReply { cached_tokens: Some(400), ..it });
            ledger.note("a", reply, 0, false).unwrap();
            let usage = ledger.usage("s");
            assert_eq!(
                (&usage["prompt_tokens"], &usage["cached_tokens"]),
                (&json!(1000), &json!(400))
            );
            assert!((usage["cost"].as_f64().unwrap() - cost).abs() < 1e-9, "{budget}: {usage}");
        }
    }

    #[test]
    fn prices_that_are_not_said_are_those_that_are_known() {
        let priced = |budget: Value, known: Option<TokenPrices>| {
            let budget: Budget = serde_json::from_value(budget).unwrap();
            budget.priced(known).map(|it| (it.input_price, it.output_price))
        };
        let known = Some(TokenPrices { input: 3.0, cached: 1.0, output: 5.0 });
        let cost = || json!({"cost": 1});
        assert_eq!(priced(cost(), known).unwrap(), (Some(3.0), Some(5.0)));
        let own = json!({"cost": 1, "output_price": 0});
        assert_eq!(priced(own, known).unwrap(), (Some(3.0), Some(0.0)));
        assert_eq!(priced(json!({}), None).unwrap(), (None, None));
        for budget in [cost(), json!({"cost": 1, "input_price": 1})] {
            let error = priced(budget, None).unwrap_err();
            assert_eq!(error.message(), "the budget has a cost and no prices");
            assert!(error.hint_text().unwrap().contains("rag.price"));
        }
    }

    #[test]
    fn limits_that_are_none_are_refused() {
        for (budget, part) in [
            (json!({"calls": 0}), "calls"),
            (json!({"tokens": 0}), "tokens"),
            (json!({"seconds": -1}), "seconds"),
            (json!({"cost": 0, "input_price": 1, "output_price": 1}), "cost"),
            (json!({"input_price": -1}), "input_price"),
            (json!({"cached_price": -1}), "cached_price"),
        ] {
            let parsed: Budget = serde_json::from_value(budget.clone()).unwrap();
            let error = parsed.check("answer.budget").unwrap_err();
            assert!(error.message().contains(part), "{budget}: {error}");
        }
        assert!(serde_json::from_value::<Budget>(json!({"call": 1})).is_err());
    }
}
