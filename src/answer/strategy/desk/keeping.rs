//! What is asked once: replies that are kept are not asked for again.

use super::{Desk, Preview};
use crate::answer::strategy::StrategyResult;
use crate::answer::strategy::budget::estimate;
use crate::answer::strategy::kept::KeptCall;
use crate::context::step::{self, Material, Numbered};
use crate::error::Result;
use crate::prompt::messages::Message;
use crate::prompt::place;
use crate::source::Source;

/// A prompt, and by what the reply to it is kept, if it is.
pub type KeptPrompt = (Vec<Message>, Option<KeptCall>);

impl<'a> Desk<'a> {
    /// A desk at which calls are counted that would be made, and none is made.
    #[must_use]
    pub fn counting(self) -> Desk<'a> {
        Desk { preview: Preview::Counting(0), ..self }
    }

    /// How many calls were counted.
    pub fn counted(&self) -> usize {
        match self.preview {
            Preview::Counting(calls) => calls,
            Preview::No | Preview::Waiting | Preview::Seen(_) => 0,
        }
    }

    /// Has replies kept from now on, unless the options say otherwise. Of examples and of what a model knows itself it
    /// would not be noticed that they are gone.
    pub fn keep_replies(&mut self) {
        let knows_more = !self.tools.examples().is_empty() || self.has_own_knowledge();
        self.contents.keeps = self.options.keep_replies.unwrap_or(true) && !knows_more;
    }

    /// The prompt in which the question is answered from a group of sources.
    pub fn part(&mut self, group: &[Numbered]) -> Result<KeptPrompt> {
        Ok((self.answer_prompt(self.question, group)?, self.kept_answer(group)?))
    }

    /// By what the answer from a group of sources is kept, if it is.
    pub fn kept_answer(&mut self, group: &[Numbered]) -> Result<Option<KeptCall>> {
        // An overview may sum up more than the group.
        let has_overview = group.iter().any(|one| one.source.overview.is_some());
        if !self.contents.keeps || has_overview || group.is_empty() {
            return Ok(None);
        }
        let mut group = group.to_vec();
        group.sort_by_key(|one| self.source(one.number)?.chunk().map(|it| it.chunk_id));
        let numbers: Vec<usize> = group.iter().map(|one| one.number).collect();
        (1..).zip(&mut group).for_each(|(number, one)| one.number = number);
        let (template, nonce) = (self.tools.answer_template()?, self.tools.nonce()?);
        let question = self.question;
        let material = Material { question, sources: &group, ..Material::default() };
        let prompt = step::messages(&template, &material, place::ANSWER.needed, &nonce)?;
        let sources = numbers.iter().filter_map(|number| self.source(*number));
        Ok(KeptCall::new(prompt, numbers.clone(), sources))
    }

    /// By what the reply is kept to a prompt that merges answers, if it is. These cite by the numbers of the answer.
    pub fn kept_merge(&self, prompt: &[Message]) -> Option<KeptCall> {
        if !self.contents.keeps {
            return None;
        }
        let read = &self.contents.readings;
        let sources = read.iter().map(|it| &it.source);
        KeptCall::new(prompt.to_vec(), (1..=read.len()).collect(), sources)
    }

    fn source(&self, number: usize) -> Option<&Source> {
        Some(&self.contents.readings.get(number.checked_sub(1)?)?.source)
    }

    /// Asks several things at once that prepare an answer, which will be made of the replies: room
    /// is kept for the question, not for showing the sources again. What is kept is not asked for. Where the budget has no
    /// room for all others, the first of them are asked for and the rest are `None`.
    pub fn prepare_parts(
        &mut self,
        step: &'static str,
        parts: Vec<KeptPrompt>,
    ) -> Result<Vec<Option<String>>> {
        let (prompts, calls): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        let mut said = self.known(step, &calls)?;
        let new = prompts.into_iter().zip(&said).filter(|(_, known)| known.is_none());
        let new: Vec<Vec<Message>> = new.map(|(prompt, _)| prompt).collect();
        let mut replies = self.ask_replies(step, new, Some(estimate(self.question)))?.into_iter();
        let mut made = Vec::new();
        for (call, said) in calls.into_iter().zip(&mut said).filter(|(_, said)| said.is_none()) {
            let Some(reply) = replies.next().flatten() else { continue };
            *said = Some(reply.text.clone());
            made.extend(call.map(|call| (call, reply)));
        }
        self.tools.keep(made)?;
        Ok(said)
    }

    /// `written`, where its last call is made; what the reply says where it is kept. Else it is kept once it is there.
    pub fn once(
        &mut self,
        written: StrategyResult,
        call: Option<KeptCall>,
    ) -> Result<StrategyResult> {
        let last = match written {
            StrategyResult::Asks(last) => last,
            written => return Ok(written),
        };
        let calls = [call];
        if let Some(Some(text)) = self.known(last.step, &calls)?.pop() {
            return Ok(last.otherwise.or(Some(text)));
        }
        let [call] = calls;
        self.contents.last_kept = call;
        Ok(StrategyResult::Asks(last))
    }

    /// Makes what was to be the last call, and keeps the reply where [`once`](Self::once) has said by what. `None` where the
    /// budget is spent.
    pub(super) fn write_last(
        &mut self,
        step: &'static str,
        prompt: Vec<Message>,
    ) -> Result<Option<String>> {
        let call = self.contents.last_kept.take();
        let reply = self.ask_replies(step, vec![prompt], None)?.pop().flatten();
        let text = reply.as_ref().map(|it| it.text.clone());
        self.tools.keep(call.zip(reply).into_iter().collect())?;
        Ok(text)
    }

    /// The replies to these calls that are kept, in their order.
    fn known(
        &mut self,
        step: &'static str,
        calls: &[Option<KeptCall>],
    ) -> Result<Vec<Option<String>>> {
        match self.preview {
            Preview::No | Preview::Counting(_) => self.tools.kept(step, calls),
            Preview::Waiting | Preview::Seen(_) => Ok(vec![None; calls.len()]),
        }
    }
}
