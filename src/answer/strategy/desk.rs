//! Where a strategy works: sources with their numbers, calls within the budget.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use super::Opening;
use super::budget::{Ledger, estimate, estimate_all};
use super::options::StrategyOptions;
use super::tools::Tools;
use crate::context::Reading;
use crate::context::prompt::{Message, Source};
use crate::context::step::{self, Material, Numbered};
use crate::error::Result;

/// Longest text of an earlier call that is shown in a later one, in characters.
const LONGEST_NOTE: usize = 8000;

/// What a template of an answer has to use.
const OF_ANSWERS: [&str; 2] = ["question", "sources"];

/// All that a strategy has.
pub struct Desk<'a> {
    /// The question.
    pub question: &'a str,
    /// How the strategy goes about its work.
    pub options: &'a StrategyOptions,
    tools: &'a mut dyn Tools,
    ledger: Ledger,
    /// What was read, and as it was shown first; number n stands at n - 1.
    readings: Vec<Reading>,
    shown: Vec<Numbered>,
    /// The numbers by what was read: the row and the characters of it.
    numbers: HashMap<(String, i32, i32), usize>,
    /// What was found for the question itself.
    found: Option<Vec<Numbered>>,
    /// Who works here in the end.
    strategy: &'static str,
    preview: Preview,
}

/// Whether prompts are only looked at.
enum Preview {
    No,
    Waiting,
    Seen(Vec<Message>),
}

impl<'a> Desk<'a> {
    /// An empty one, for `strategy`.
    pub fn new(
        strategy: &'static str,
        question: &'a str,
        options: &'a StrategyOptions,
        tools: &'a mut dyn Tools,
    ) -> Desk<'a> {
        Desk {
            question,
            options,
            tools,
            ledger: Ledger::new(options.budget),
            readings: Vec::new(),
            shown: Vec::new(),
            numbers: HashMap::new(),
            found: None,
            strategy,
            preview: Preview::No,
        }
    }

    /// One at which nobody is asked, and the first prompt is kept.
    #[must_use]
    pub fn previewing(self) -> Desk<'a> {
        Desk { preview: Preview::Waiting, ..self }
    }

    /// The first prompt.
    pub fn first_prompt(self) -> Vec<Message> {
        match self.preview {
            Preview::Seen(prompt) => prompt,
            Preview::No | Preview::Waiting => Vec::new(),
        }
    }

    /// Who works here, with the first prompt and what was read for it, if there is anything.
    pub fn opening(self) -> Option<(&'static str, Opening)> {
        match self.preview {
            Preview::Seen(messages) if !self.readings.is_empty() => {
                Some((self.strategy, Opening { messages, readings: self.readings }))
            }
            _ => None,
        }
    }

    /// What was read, and what it took.
    pub fn close(self) -> (Vec<Reading>, Value) {
        let usage = self.ledger.usage(self.strategy);
        (self.readings, usage)
    }

    /// Says that another strategy works here from now on.
    pub fn hand_over(&mut self, strategy: &'static str) {
        self.strategy = strategy;
    }

    /// Whether there is nothing to answer from. A prompt is looked at even so.
    pub fn has_none(&self, sources: &[Numbered]) -> bool {
        sources.is_empty() && matches!(self.preview, Preview::No)
    }

    /// Calls that the budget allows in all.
    pub fn calls_allowed(&self) -> u32 {
        self.ledger.calls_allowed()
    }

    /// The sources that were found for the question, best first. They are looked up once.
    pub fn found(&mut self) -> Result<Vec<Numbered>> {
        if let Some(found) = &self.found {
            return Ok(found.clone());
        }
        let found = self.look_up(self.question)?;
        self.found = Some(found.clone());
        Ok(found)
    }

    /// The sources that are found for `query`, best first. One that was read before has the
    /// number that it got then.
    pub fn look_up(&mut self, query: &str) -> Result<Vec<Numbered>> {
        if matches!(self.preview, Preview::Seen(_)) {
            return Ok(Vec::new());
        }
        let passages = self.tools.retrieve(query)?;
        let readings = self.tools.read(query, passages)?;
        let mut sources: Vec<Numbered> = Vec::with_capacity(readings.len());
        let mut seen = BTreeSet::new();
        for reading in readings {
            let source = self.tools.source(&reading);
            let number = self.number(reading, &source);
            if seen.insert(number) {
                sources.push(Numbered { number, source });
            }
        }
        Ok(sources)
    }

    /// The number of what is read, which is a place in a document.
    fn number(&mut self, reading: Reading, source: &Source) -> usize {
        let passage = &reading.passage;
        let place = (passage.source_key.clone(), passage.start_char, passage.end_char);
        let number = *self.numbers.entry(place).or_insert(self.readings.len() + 1);
        if number > self.readings.len() {
            self.readings.push(reading);
            self.shown.push(Numbered { number, source: source.clone() });
        }
        number
    }

    /// The sources of these numbers, in their order; those that there are.
    pub fn sources(&self, numbers: &BTreeSet<usize>) -> Vec<Numbered> {
        self.shown.iter().filter(|one| numbers.contains(&one.number)).cloned().collect()
    }

    /// The prompt in which the answer is asked for.
    pub fn answer_prompt(&mut self, question: &str, sources: &[Numbered]) -> Result<Vec<Message>> {
        let template = self.tools.answer_template()?;
        let nonce = self.tools.nonce()?;
        let material = Material { question, sources, ..Material::default() };
        step::messages(&template, &material, &OF_ANSWERS, &nonce)
    }

    /// A prompt in the words of the template `name`, which has to use the variables `needed`.
    pub fn prompt(
        &mut self,
        name: &str,
        material: Material<'_>,
        needed: &[&str],
    ) -> Result<Vec<Message>> {
        let template = self.tools.template(name)?;
        let nonce = self.tools.nonce()?;
        step::messages(&template, &material, needed, &nonce)
    }

    /// Asks something that prepares an answer. `None` where the budget has no room for it beside
    /// the answer.
    pub fn prepare(&mut self, step: &'static str, prompt: Vec<Message>) -> Result<Option<String>> {
        Ok(self.prepare_all(step, vec![prompt])?.pop().flatten())
    }

    /// The same of several things at once. Where there is no room for all, the first are asked.
    pub fn prepare_all(
        &mut self,
        step: &'static str,
        prompts: Vec<Vec<Message>>,
    ) -> Result<Vec<Option<String>>> {
        let kept = self.shown.iter().map(|one| estimate(&one.source.content)).sum::<u64>()
            + estimate(self.question);
        self.ask(step, prompts, Some(kept))
    }

    /// The same where the answer will be made of the replies, and the sources are not shown again.
    pub fn prepare_parts(
        &mut self,
        step: &'static str,
        prompts: Vec<Vec<Message>>,
    ) -> Result<Vec<Option<String>>> {
        let kept = estimate(self.question);
        self.ask(step, prompts, Some(kept))
    }

    /// Asks for an answer. `None` where the budget is spent.
    pub fn write(&mut self, step: &'static str, prompt: Vec<Message>) -> Result<Option<String>> {
        Ok(self.write_all(step, vec![prompt])?.pop().flatten())
    }

    /// Asks for several answers at once. Where there is no room for all, the first are asked for.
    pub fn write_all(
        &mut self,
        step: &'static str,
        prompts: Vec<Vec<Message>>,
    ) -> Result<Vec<Option<String>>> {
        self.ask(step, prompts, None)
    }

    fn ask(
        &mut self,
        step: &'static str,
        mut prompts: Vec<Vec<Message>>,
        kept: Option<u64>,
    ) -> Result<Vec<Option<String>>> {
        let count = prompts.len();
        if !matches!(self.preview, Preview::No) {
            if matches!(self.preview, Preview::Waiting) && count > 0 {
                self.preview = Preview::Seen(prompts.swap_remove(0));
            }
            return Ok(vec![None; count]);
        }
        let sizes: Vec<u64> = prompts.iter().map(|prompt| estimate_all(prompt)).collect();
        let begun = self.tools.elapsed_ms();
        let (granted, limits) = self.ledger.grant(&sizes, kept, begun);
        prompts.truncate(granted);
        let mut said = Vec::with_capacity(count);
        if granted > 0 {
            let replies = self.tools.generate_all(step, prompts, limits)?;
            let took = self.tools.elapsed_ms().saturating_sub(begun);
            let is_late = limits.timeout_ms.is_some_and(|limit| took >= limit);
            for (reply, size) in replies.into_iter().zip(sizes) {
                let text = self.ledger.note(step, reply, size, is_late)?;
                said.push(text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()));
            }
        }
        said.resize(count, None);
        Ok(said)
    }
}

/// What a model wrote, as it is shown in a later call: not too long.
pub fn note(text: &str) -> String {
    text.trim().chars().take(LONGEST_NOTE).collect()
}
