//! What an agent does at its desk.

use serde_json::Value;

use super::{Desk, Preview};
use crate::answer::strategy::agent::{
    ActionOutcome, AgentAction, AgentOffers, StepPrompt, arithmetic,
};
use crate::answer::strategy::budget::{estimate, estimate_all};
use crate::answer::strategy::tools::ModelReply;
use crate::context::step::{Numbered, StepOutcome};
use crate::error::Result;
use crate::prompt::messages::Message;
use crate::prompt::tools::ToolUse;
use crate::source::Source;

impl Desk<'_> {
    /// What an agent may do here.
    pub fn offers(&mut self) -> Result<AgentOffers> {
        self.tools.offers()
    }

    /// How many sources have a number.
    pub fn numbered(&self) -> usize {
        self.contents.readings.len()
    }

    /// Says to whoever watches what comes next, and why.
    pub fn announce(&mut self, action: &'static str, said: &str) {
        self.tools.announce(action, said);
    }

    /// Has users see this in the usage.
    pub fn tell(&mut self, name: &'static str, value: Value) {
        self.contents.ledger.tell(name, value);
    }

    /// Whether the budget leaves time for something to be done.
    pub fn has_time(&mut self) -> bool {
        self.contents.ledger.has_time(self.tools.elapsed_ms())
    }

    /// Whether steps may be offered as tools of the provider's protocol: it has some, and the template of a step says
    /// something else where it lists none.
    pub fn offers_tools(&mut self, template: &str) -> Result<bool> {
        Ok(self.tools.offers_tools() && self.tools.template(template)?.branches_on("actions"))
    }

    /// Asks something that prepares an answer, in the form of a JSON schema or with tools. `None` where the budget has
    /// no room for it beside the answer, and where the language model has not kept to the form, though it was shown its
    /// mistake.
    pub fn prepare_in(
        &mut self,
        step: &'static str,
        asked: StepPrompt,
    ) -> Result<Option<ModelReply>> {
        let kept = self.kept()?;
        if self.asking(vec![asked.messages.clone()]).is_empty() {
            return Ok(None);
        }
        let called = asked.tools.iter().flat_map(ToolUse::texts).map(estimate).sum::<u64>();
        let size = estimate_all(&asked.messages) + called;
        let begun = self.tools.elapsed_ms();
        let (granted, limits) = self.contents.ledger.grant(&[size], Some(kept), begun);
        if granted == 0 {
            return Ok(None);
        }
        let reply = self.tools.generate_in(step, asked, limits)?;
        let took = self.tools.elapsed_ms().saturating_sub(begun);
        let is_late = limits.timeout_ms.is_some_and(|limit| took >= limit);
        match self.contents.ledger.note(step, reply, size, is_late) {
            // A provider that is out of order will fail again, when the answer is asked for.
            Err(error) if error.kind().is_of_answer() => Ok(None),
            noted => noted,
        }
    }

    /// What a language model is told of its calls, in their order, with the steps that are `left`.
    pub fn told(&mut self, outcomes: Vec<StepOutcome>, left: u32) -> Result<Vec<String>> {
        let told = outcomes.into_iter().map(|outcome| Ok(outcome.told(&self.tools.nonce()?)));
        let mut told = told.collect::<Result<Vec<String>>>()?;
        if let Some(last) = told.last_mut() {
            *last += &format!("\n\nSteps left, with the answer as the last one: {left}");
        }
        Ok(told)
    }

    /// Whether a call can read all these texts, and what is sent `beside` them.
    pub fn can_read(&mut self, texts: Vec<String>, beside: &str) -> Result<bool> {
        let asked = format!("{}{beside}", self.question);
        let Some(room) = self.tools.room(&asked)?.all else { return Ok(true) };
        Ok(self.tools.count(&texts)?.iter().sum::<usize>() <= room)
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
            AgentAction::Graph(asked) => self.tools.graph(asked)?,
            AgentAction::Sql(question) => self.tools.rows(question, &mut self.contents.ledger)?,
            AgentAction::Calculate(expression) => computed(expression),
            AgentAction::Call(call) => {
                let within_ms = self.contents.ledger.time_left(true, self.tools.elapsed_ms());
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
            ActionOutcome::Interrupted(why) => ActionOutcome::Interrupted(why),
        })
    }

    fn open(&mut self, number: usize) -> Result<ActionOutcome<Source>> {
        let reading = number.checked_sub(1).and_then(|place| self.contents.readings.get(place));
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
