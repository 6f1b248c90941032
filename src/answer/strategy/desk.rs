//! Where a strategy works: sources with their numbers, calls within the budget.

mod acting;
mod around;
mod contents;
mod keeping;
mod querying;

pub use contents::DeskContents;
pub use keeping::KeptPrompt;

use std::collections::BTreeSet;

use super::budget::{estimate, estimate_all};
use super::cited::numbers;
use super::last::{AnswerWork, BegunAnswer, Fallback, FinalPrompt, PendingAnswer};
use super::options::StrategyOptions;
use super::tools::{ModelReply, ReadingCalls, StrategyHost};
use super::{AnswerStrategy, StrategyResult};
use crate::context::budget::none_fits;
use crate::context::step::{self, Material, Numbered};
use crate::context::{Reading, fit};
use crate::error::Result;
use crate::prompt::messages::{Message, PromptSource, is_no_answer};
use crate::prompt::place::{self, PromptPlace};
use crate::prompt::template::Template;
use crate::source::Source;

/// Longest text of an earlier call that is shown in a later one, in characters.
const LONGEST_NOTE: usize = 8000;

/// What stands for a reply where calls are counted and none is made.
const UNWRITTEN: &str = "...";

/// All that a strategy has.
pub struct Desk<'a> {
    /// The question to be answered.
    pub question: &'a str,
    /// How the strategy goes about its work.
    pub options: &'a StrategyOptions,
    tools: &'a mut dyn StrategyHost,
    contents: DeskContents,
    preview: Preview,
}

/// Whether prompts are only looked at.
enum Preview {
    No,
    Waiting,
    Seen(Vec<Message>),
    /// So many calls would have been made.
    Counting(usize),
}

impl<'a> Desk<'a> {
    /// A desk at which nothing has been done yet, for `strategy`.
    pub fn new(
        strategy: &AnswerStrategy,
        question: &'a str,
        options: &'a StrategyOptions,
        tools: &'a mut dyn StrategyHost,
    ) -> Desk<'a> {
        Desk {
            question,
            options,
            tools,
            contents: DeskContents::new(strategy, options),
            preview: Preview::No,
        }
    }

    /// A desk that asks no language model and keeps the first prompt.
    #[must_use]
    pub fn previewing(self) -> Desk<'a> {
        Desk { preview: Preview::Waiting, ..self }
    }

    /// The first prompt, if anything was asked but the last one.
    pub fn first_prompt(self) -> Option<Vec<Message>> {
        match self.preview {
            Preview::Seen(prompt) => Some(prompt),
            Preview::No | Preview::Waiting | Preview::Counting(_) => None,
        }
    }

    /// What was read, and what it took.
    pub fn work(self) -> AnswerWork {
        let DeskContents { strategy, readings, ledger, .. } = self.contents;
        AnswerWork { strategy, readings, ledger }
    }

    /// Ends the work with the last call, if the budget has room for it.
    pub fn close(mut self, last: FinalPrompt) -> BegunAnswer {
        let FinalPrompt { step, prompt, otherwise } = last;
        let form = self.tools.answer_form();
        // A reply in a form says nothing to who asks for free text.
        let kept = self.contents.last_kept.take().filter(|_| form.is_none());
        let size = estimate_all(&prompt);
        let (granted, limits) = self.contents.ledger.grant(&[size], None, self.tools.elapsed_ms());
        let work = self.work();
        match granted {
            0 if form.is_some() => {
                BegunAnswer::Done(Box::new(work.written(StrategyResult::Nothing)))
            }
            0 => BegunAnswer::Done(Box::new(work.written(otherwise.or(None)))),
            _ => BegunAnswer::Asking(Box::new(PendingAnswer {
                prompt,
                step,
                limits,
                form,
                otherwise,
                kept,
                size,
                work,
            })),
        }
    }

    /// `written` as it is to be in the end. Where the answer must have a form, its last call is asked for that; what
    /// was written in free text, or may be given in its place, is put into the form by one more call.
    pub fn in_form(&mut self, written: StrategyResult) -> Result<StrategyResult> {
        let Some(form) = self.tools.answer_form() else { return Ok(written) };
        let written = match written {
            StrategyResult::Asks(FinalPrompt { otherwise: Fallback::IfUnknown(_), .. }) => {
                self.finished(written)?
            }
            written => written,
        };
        let mut last = match written {
            StrategyResult::Asks(last) => last,
            StrategyResult::Answer(text) if !is_no_answer(&text) => self.form_prompt(&text)?,
            StrategyResult::Answer(_) | StrategyResult::Free(_) | StrategyResult::Nothing => {
                return Ok(StrategyResult::Nothing);
            }
        };
        form.ask(&mut last.prompt);
        Ok(StrategyResult::Asks(last))
    }

    /// What puts an answer in free text into a form, with the sources that it cites.
    fn form_prompt(&mut self, text: &str) -> Result<FinalPrompt> {
        let (sources, notes) = (self.sources(&numbers(text)), [note(text)]);
        let material = Material {
            question: self.question,
            sources: &sources,
            notes: &notes,
            ..Material::default()
        };
        let prompt = self.prompt(place::ANSWER_WITH_NOTES, material)?;
        Ok(FinalPrompt { step: "form", prompt, otherwise: Fallback::Nothing })
    }

    /// Says that another strategy works here from now on.
    pub fn hand_over(&mut self, strategy: &AnswerStrategy) {
        self.contents.strategy = strategy.name;
        self.contents.calls = calls_of(strategy);
    }

    /// Whether there is nothing to answer from: no source, and nothing that who answers knows. A prompt is looked at even
    /// so.
    pub fn has_none(&self, sources: &[Numbered]) -> bool {
        sources.is_empty() && matches!(self.preview, Preview::No) && !self.has_own_knowledge()
    }

    /// Whether who answers may use what it knows itself.
    pub fn has_own_knowledge(&self) -> bool {
        self.tools.has_own_knowledge()
    }

    /// Calls that the budget allows in all.
    pub fn calls_allowed(&self) -> u32 {
        self.contents.ledger.calls_allowed()
    }

    /// What was found for the question, best first. It is looked up once.
    pub fn candidates(&mut self) -> Result<&[Source]> {
        if self.contents.candidates.is_none() {
            self.contents.candidates = Some(self.tools.retrieve(self.question)?);
        }
        Ok(self.contents.candidates.as_deref().unwrap_or_default())
    }

    /// What was found for the question, as numbered sources, best first. They are read once.
    pub fn found(&mut self) -> Result<Vec<Numbered>> {
        if let Some(found) = &self.contents.found {
            return Ok(found.clone());
        }
        let found = match self.contents.candidates.take() {
            Some(candidates) => self.read(self.question, candidates)?,
            None => self.look_up(self.question)?,
        };
        self.contents.found = Some(found.clone());
        Ok(found)
    }

    /// The sources that are found for `query`, best first. One that was read before has the
    /// number that it got then.
    pub fn look_up(&mut self, query: &str) -> Result<Vec<Numbered>> {
        if matches!(self.preview, Preview::Seen(_)) {
            return Ok(Vec::new());
        }
        let found = match query == self.question {
            true => self.tools.retrieve(query)?,
            false => self.tools.retrieve_more(query)?,
        };
        self.read(query, found)
    }

    fn read(&mut self, query: &str, found: Vec<Source>) -> Result<Vec<Numbered>> {
        let readings = self.tools.read(query, found, self.contents.calls)?;
        self.contents.times_read += 1;
        let mut sources: Vec<Numbered> = Vec::with_capacity(readings.len());
        let mut seen = BTreeSet::new();
        for reading in readings {
            let source = reading.prompt_source();
            let number = self.number(reading, &source);
            if seen.insert(number) {
                sources.push(Numbered { number, source });
            }
        }
        Ok(sources)
    }

    /// The number of what is read: one source has one number, however often it is found.
    fn number(&mut self, reading: Reading, source: &PromptSource) -> usize {
        let number = *self
            .contents
            .numbers
            .entry(reading.source.id())
            .or_insert(self.contents.readings.len() + 1);
        if number > self.contents.readings.len() {
            self.contents.readings.push(reading);
            self.contents.shown.push(Numbered { number, source: source.clone() });
        }
        number
    }

    /// The sources of these numbers, in their order; those that there are.
    pub fn sources(&self, numbers: &BTreeSet<usize>) -> Vec<Numbered> {
        self.contents.shown.iter().filter(|one| numbers.contains(&one.number)).cloned().collect()
    }

    /// `sources` in groups of at most `most` that a call can show. One that is too long for a call
    /// of its own is cut. An error where not a word of any fits.
    pub fn groups(&mut self, sources: &[Numbered], most: usize) -> Result<Vec<Vec<Numbered>>> {
        let mut groups = Vec::new();
        let mut rest = sources;
        while !rest.is_empty() {
            let (group, number) = self.next_group(rest, most, &[])?;
            rest = &rest[number..];
            if !group.is_empty() {
                groups.push(group);
            }
        }
        match groups.is_empty() && !sources.is_empty() {
            true => Err(none_fits(self.tools.room(self.question)?.beside(0).unwrap_or_default())),
            false => Ok(groups),
        }
    }

    /// The first of these groups, where `notes` are shown beside it, and how many of `sources` it
    /// has used up.
    pub fn next_group(
        &mut self,
        sources: &[Numbered],
        most: usize,
        notes: &[String],
    ) -> Result<(Vec<Numbered>, usize)> {
        let room = self.tools.room(self.question)?;
        let taken: usize = fit::note_sizes(notes, &mut *self.tools)?.iter().sum();
        let taken = room.all.map_or(taken, |all| taken.min(all / 2));
        fit::group(sources, most, room.beside(taken), self.tools)
    }

    /// `notes` in groups of at most `most`, and of two where there are two, that a call can show.
    pub fn note_groups(&mut self, notes: &[String], most: usize) -> Result<Vec<Vec<String>>> {
        let room = self.tools.room(self.question)?.all;
        let mut groups = Vec::new();
        let mut rest = notes;
        while !rest.is_empty() {
            let group = fit::note_group(rest, most, room, &mut *self.tools)?;
            rest = &rest[group.len().max(1)..];
            groups.push(group);
        }
        Ok(groups)
    }

    /// Whether a call can show `sources`.
    pub fn can_show(&mut self, sources: &[Numbered]) -> Result<bool> {
        let room = self.tools.room(self.question)?.beside(0);
        let Some(room) = room else { return Ok(true) };
        Ok(fit::sizes(sources, &mut *self.tools)?.iter().sum::<usize>() <= room)
    }

    /// The prompt in which the answer is asked for.
    pub fn answer_prompt(&mut self, question: &str, sources: &[Numbered]) -> Result<Vec<Message>> {
        let template = self.tools.answer_template()?;
        let examples = self.tools.examples().to_vec();
        let wanted = [
            self.has_own_knowledge().then_some("own_knowledge"),
            (!examples.is_empty()).then_some("examples"),
        ];
        let needed: Vec<&str> =
            place::ANSWER.needed.iter().copied().chain(wanted.into_iter().flatten()).collect();
        let material = Material { question, sources, examples: &examples, ..Material::default() };
        self.rendered(&template, &material, &needed)
    }

    /// A prompt in the words of the usual template of `place`.
    pub fn prompt(&mut self, place: PromptPlace, material: Material<'_>) -> Result<Vec<Message>> {
        let template = self.tools.template(place.usual())?;
        self.rendered(&template, &material, place.needed)
    }

    /// The messages, with as much of `material` as a call can read.
    fn rendered(
        &mut self,
        template: &Template,
        material: &Material<'_>,
        needed: &[&str],
    ) -> Result<Vec<Message>> {
        // What was read once for one call fits as it is.
        let is_measured = material.notes.is_empty()
            && self.contents.calls == ReadingCalls::One
            && self.contents.times_read < 2;
        let is_empty = material.notes.is_empty() && material.sources.is_empty();
        let nonce = self.tools.nonce()?;
        if is_measured || is_empty {
            return step::messages(template, material, needed, &nonce);
        }
        let Material { question, actions, beside, .. } = material;
        let room = self.tools.room(&format!("{question}{actions}{beside}"))?;
        let (sources, notes) = fit::fitted(material, &room, &mut *self.tools)?;
        let material = Material { sources: &sources, notes: &notes, ..*material };
        step::messages(template, &material, needed, &nonce)
    }

    /// Asks something that prepares an answer. `None` where the budget has no room for it beside
    /// the answer.
    pub fn prepare(&mut self, step: &'static str, prompt: Vec<Message>) -> Result<Option<String>> {
        Ok(self.prepare_all(step, vec![prompt])?.pop().flatten())
    }

    /// Asks several things at once that prepare an answer; gives the replies in their order. Where
    /// the budget has no room for all beside the answer, the first are asked and the others are
    /// `None`.
    pub fn prepare_all(
        &mut self,
        step: &'static str,
        prompts: Vec<Vec<Message>>,
    ) -> Result<Vec<Option<String>>> {
        let kept = self.kept()?;
        self.ask(step, prompts, Some(kept))
    }

    /// Tokens that the prompt of the answer will have, about.
    fn kept(&mut self) -> Result<u64> {
        let examples = self.tools.examples().iter().map(|it| estimate(it)).sum::<u64>();
        let shown =
            self.contents.shown.iter().map(|one| estimate(&one.source.content)).sum::<u64>();
        let most = self.tools.room(self.question)?.all.map_or(u64::MAX, |most| most as u64);
        Ok(shown.min(most) + estimate(self.question) + examples)
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

    /// `written` once its last call is made.
    pub fn finished(&mut self, written: StrategyResult) -> Result<StrategyResult> {
        match written {
            StrategyResult::Asks(FinalPrompt { step, prompt, otherwise }) => {
                Ok(otherwise.or(self.write_last(step, prompt)?))
            }
            written => Ok(written),
        }
    }

    /// Whether the budget has room for this last call.
    pub fn can_ask(&self, prompt: &[Message]) -> bool {
        let mut ledger = self.contents.ledger.clone();
        !matches!(self.preview, Preview::No)
            || ledger.grant(&[estimate_all(prompt)], None, self.tools.elapsed_ms()).0 > 0
    }

    fn ask(
        &mut self,
        step: &'static str,
        prompts: Vec<Vec<Message>>,
        kept: Option<u64>,
    ) -> Result<Vec<Option<String>>> {
        let replies = self.ask_replies(step, prompts, kept)?.into_iter();
        Ok(replies.map(|reply| reply.map(|it| it.text)).collect())
    }

    /// Replies with a text, without the white space around it.
    fn ask_replies(
        &mut self,
        step: &'static str,
        mut prompts: Vec<Vec<Message>>,
        kept: Option<u64>,
    ) -> Result<Vec<Option<ModelReply>>> {
        let count = prompts.len();
        if let Preview::Counting(calls) = &mut self.preview {
            *calls += count;
            let reply = ModelReply { text: UNWRITTEN.to_owned(), ..ModelReply::default() };
            return Ok(vec![Some(reply); count]);
        }
        prompts = self.asking(prompts);
        if prompts.is_empty() {
            return Ok(vec![None; count]);
        }
        let sizes: Vec<u64> = prompts.iter().map(|prompt| estimate_all(prompt)).collect();
        let begun = self.tools.elapsed_ms();
        let (granted, limits) = self.contents.ledger.grant(&sizes, kept, begun);
        prompts.truncate(granted);
        let mut said = Vec::with_capacity(count);
        if granted > 0 {
            let replies = self.tools.generate_all(step, prompts, limits)?;
            let took = self.tools.elapsed_ms().saturating_sub(begun);
            let is_late = limits.timeout_ms.is_some_and(|limit| took >= limit);
            for (reply, size) in replies.into_iter().zip(sizes) {
                let reply = self.contents.ledger.note(step, reply, size, is_late)?;
                let trimmed =
                    |reply: ModelReply| ModelReply { text: reply.text.trim().to_owned(), ..reply };
                said.push(reply.map(trimmed).filter(|reply| !reply.text.is_empty()));
            }
        }
        said.resize(count, None);
        Ok(said)
    }
}

fn calls_of(strategy: &AnswerStrategy) -> ReadingCalls {
    if strategy.reads_in_groups { ReadingCalls::Several } else { ReadingCalls::One }
}

/// What a model wrote, as it is shown in a later call: not too long.
pub fn note(text: &str) -> String {
    text.trim().chars().take(LONGEST_NOTE).collect()
}
