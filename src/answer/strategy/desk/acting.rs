//! What an agent does at its desk.

use serde_json::Value;

use super::{Desk, Preview};
use crate::answer::strategy::agent::{ActionOutcome, AgentAction, AgentOffers, arithmetic};
use crate::answer::strategy::budget::estimate_all;
use crate::context::step::Numbered;
use crate::error::{ErrorKind, Result};
use crate::prompt::messages::Message;
use crate::source::Source;

impl Desk<'_> {
    /// What an agent may do here.
    pub fn offers(&mut self) -> Result<AgentOffers> {
        self.tools.offers()
    }

    /// How many sources have a number.
    pub fn numbered(&self) -> usize {
        self.readings.len()
    }

    /// Says to whoever watches what comes next, and why.
    pub fn announce(&mut self, action: &'static str, said: &str) {
        self.tools.announce(action, said);
    }

    /// Has users see this in the usage.
    pub fn tell(&mut self, name: &'static str, value: Value) {
        self.ledger.tell(name, value);
    }

    /// Whether the budget leaves time for something to be done.
    pub fn has_time(&mut self) -> bool {
        self.ledger.has_time(self.tools.elapsed_ms())
    }

    /// Asks something that prepares an answer, in the form of a JSON schema. `None` where the budget has no room for it
    /// beside the answer, and where the language model has not kept to the form, though it was shown its mistake.
    pub fn prepare_in(
        &mut self,
        step: &'static str,
        prompt: Vec<Message>,
        schema: String,
    ) -> Result<Option<String>> {
        let kept = self.kept()?;
        let Some(prompt) = self.asking(vec![prompt]).pop() else { return Ok(None) };
        let size = estimate_all(&prompt);
        let begun = self.tools.elapsed_ms();
        let (granted, limits) = self.ledger.grant(&[size], Some(kept), begun);
        if granted == 0 {
            return Ok(None);
        }
        let reply = self.tools.generate_in(step, prompt, schema, limits)?;
        let took = self.tools.elapsed_ms().saturating_sub(begun);
        let is_late = limits.timeout_ms.is_some_and(|limit| took >= limit);
        match self.ledger.note(step, reply, size, is_late) {
            // A provider that is out of order will fail again, when the answer is asked for.
            Err(error) if error.kind() == ErrorKind::ProviderFailed => Ok(None),
            noted => noted,
        }
    }

    /// As many of `sources` as a call can show beside other `texts`, those that were found last, in the order of their
    /// numbers.
    pub fn newest(&mut self, sources: &[Numbered], texts: &[String]) -> Result<Vec<Numbered>> {
        let latest_first: Vec<Numbered> = sources.iter().rev().cloned().collect();
        let (mut shown, _) = self.next_group(&latest_first, usize::MAX, texts)?;
        shown.sort_by_key(|one| one.number);
        Ok(shown)
    }

    /// Does what an agent wants; what was found has a number.
    pub fn act(&mut self, action: &AgentAction) -> Result<ActionOutcome<Numbered>> {
        let found = match action {
            AgentAction::Search(asked) => self.tools.search(asked)?,
            AgentAction::Open(number) => self.open(*number)?,
            AgentAction::Graph(entity) => self.tools.graph(entity)?,
            AgentAction::Sql(question) => self.tools.rows(question, &mut self.ledger)?,
            AgentAction::Calculate(expression) => computed(expression),
            AgentAction::Call(call) => {
                let within_ms = self.ledger.time_left(true, self.tools.elapsed_ms());
                self.tools.call(call, within_ms)?
            }
            AgentAction::Answer(_) => ActionOutcome::Found(Vec::new(), None),
        };
        let query = match action {
            AgentAction::Search(asked) => asked.question.as_str(),
            _ => self.question,
        };
        Ok(match found {
            ActionOutcome::Found(sources, note) if sources.is_empty() => {
                ActionOutcome::Found(Vec::new(), note)
            }
            ActionOutcome::Found(sources, note) => {
                ActionOutcome::Found(self.read(query, sources)?, note)
            }
            ActionOutcome::Failed(why) => ActionOutcome::Failed(why),
        })
    }

    fn open(&mut self, number: usize) -> Result<ActionOutcome<Source>> {
        let reading = number.checked_sub(1).and_then(|place| self.readings.get(place));
        match reading.map(|it| it.source.clone()) {
            Some(source) => self.tools.open(&source),
            None => Ok(ActionOutcome::Failed(format!("there is no source {number}"))),
        }
    }

    /// `prompts` if they are to be asked; the first of all is kept where prompts are only looked at.
    pub(super) fn asking(&mut self, mut prompts: Vec<Vec<Message>>) -> Vec<Vec<Message>> {
        if matches!(self.preview, Preview::No) {
            return prompts;
        }
        if matches!(self.preview, Preview::Waiting) && !prompts.is_empty() {
            self.preview = Preview::Seen(prompts.swap_remove(0));
        }
        Vec::new()
    }
}

fn computed(expression: &str) -> ActionOutcome<Source> {
    match arithmetic::value(expression) {
        Ok(value) => ActionOutcome::Found(Vec::new(), Some(value)),
        Err(why) => ActionOutcome::Failed(why),
    }
}
