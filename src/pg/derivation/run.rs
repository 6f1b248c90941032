//! One derivation under way: items are looked up, asked about with many calls in flight or made without, kept and
//! embedded.

mod maker;

use std::collections::{HashSet, VecDeque};
use std::mem;

use self::maker::{Maker, at_work, in_source, prepare};
use super::lease::DerivationLease;
use super::mentions::look_around;
use super::provider_calls::{self, HARMLESS};
use super::scheduler::{DerivationKey, note_failure};
use super::{DerivationItem, DerivedReply, DerivedText, UnembeddedText};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::derivation::{self, DerivationProgress};
use crate::pg::catalog::owner::as_owner;
use crate::pg::catalog::pipeline::PipelineStage;
use crate::pg::ragd::client::PendingReply;
use crate::pg::server::error::OrReport;
use crate::pg::server::random;
use crate::pg::server::role::{self, as_superuser};
use crate::pg::server::transaction::{Failure, Outcome, Transactions, caught, force_sync_commit};
use crate::scheduling::concurrent_calls::{ConcurrentCalls, NextCall};

/// Calls in flight where the server of the language model sets no `max_concurrency`.
const CALLS: usize = 8;

/// Most calls in flight, whatever a server allows: each is a connection to ragd.
const MOST_CALLS: usize = 64;

/// Fewest items that are looked up at a time.
const FEWEST_ITEMS: usize = 16;

/// Texts that are embedded at a time, while replies are waited for and while none are.
const TEXTS_BESIDE_CALLS: usize = 8;
const TEXTS: usize = 64;

/// Missing items are counted up to here.
pub(super) const MOST_COUNTED: i64 = 1_000_000;

/// What a step of a run came to.
pub enum RunStep {
    /// So many items were kept or texts embedded; there may be more to do.
    Worked(usize),
    /// Replies are waited for.
    Waiting,
    /// Nothing is left to do; whether anything was made.
    Done(bool),
}

/// A derivation of a pipeline under way.
pub struct DerivationRun {
    key: DerivationKey,
    _lease: DerivationLease,
    maker: Maker,
    calls: ConcurrentCalls<DerivationItem, Failure>,
    /// Calls about items, and one about something harmless.
    in_flight: Vec<(Option<DerivationItem>, PendingReply)>,
    /// Items to be asked about.
    items: VecDeque<DerivationItem>,
    /// Items to be asked about again, since a reply could not be read.
    again: VecDeque<DerivationItem>,
    /// What is known to be asked about or made since items were looked up last, as
    /// [`identity`](super::Derivation::identity) says.
    asked: HashSet<Vec<u8>>,
    /// The last key that was looked up in this pass over the items, and whether it was the last of all.
    after: Vec<u8>,
    is_last: bool,
    /// Whether this pass has found an item. The next one finds those that were refused for reasons of
    /// the provider, and new ones.
    found: bool,
    /// What was paid for and is not kept yet.
    made: Vec<(DerivationItem, Vec<DerivedText>)>,
    /// How much more was said and is not noted yet.
    dropped: usize,
    unembedded: VecDeque<UnembeddedText>,
    was_made: bool,
}

/// What came of the attempt to begin a run.
pub enum BegunRun {
    /// It is under way.
    Run(Box<DerivationRun>),
    /// Another process has the lease.
    Elsewhere,
    /// There is no such derivation any more.
    Gone,
}

impl DerivationRun {
    /// Takes the lease of a derivation, gets ready, and looks up what it needs.
    pub fn begin(transactions: Transactions, key: DerivationKey) -> Outcome<BegunRun> {
        let (pipeline, kind) = key;
        let take = || as_superuser(|| DerivationLease::take(pipeline, kind));
        let Some(lease) = transactions.run(take)? else { return Ok(BegunRun::Elsewhere) };
        prepare(transactions, key)?;
        transactions.run(|| {
            as_superuser(|| {
                let begun = in_source(key, |pipeline, relation, maker| {
                    let Maker { derivation, .. } = &maker;
                    let (missing, items) = match derivation.is_one_item() {
                        true => {
                            let items = derivation.missing(pipeline, relation, &[], 1)?;
                            (items.len() as i64, items)
                        }
                        false => (
                            derivation.count_missing(pipeline, relation, MOST_COUNTED)?,
                            Vec::new(),
                        ),
                    };
                    Ok((maker, missing, items))
                })?;
                let Some((maker, missing, items)) = begun else { return Ok(BegunRun::Gone) };
                let is_last = maker.derivation.is_one_item();
                derivation::set_missing(pipeline, kind, missing)?;
                let most = maker.provider.as_ref().and_then(|it| it.limits.max_concurrency);
                let most = most.map_or(CALLS, |it| it as usize);
                Ok(BegunRun::Run(Box::new(DerivationRun {
                    key,
                    _lease: lease,
                    maker,
                    calls: ConcurrentCalls::new(most.min(MOST_CALLS)),
                    in_flight: Vec::new(),
                    items: items.into(),
                    again: VecDeque::new(),
                    asked: HashSet::new(),
                    after: Vec::new(),
                    is_last,
                    found: false,
                    made: Vec::new(),
                    dropped: 0,
                    unembedded: VecDeque::new(),
                    was_made: false,
                })))
            })
        })
    }

    /// Which derivation it is.
    pub fn key(&self) -> DerivationKey {
        self.key
    }

    /// The replies that are waited for.
    pub fn replies(&self) -> impl Iterator<Item = &PendingReply> {
        self.in_flight.iter().map(|(_, reply)| reply)
    }

    /// Whether something has been paid for, or may have been, and is not kept.
    pub fn owes(&self) -> bool {
        !self.in_flight.is_empty() || !self.made.is_empty()
    }

    /// Does what can be done without waiting for a language model.
    pub fn step(
        &mut self,
        transactions: Transactions,
        is_unwanted: fn() -> bool,
    ) -> Outcome<RunStep> {
        self.take_replies();
        if self.maker.provider.is_none() {
            self.compose(transactions, is_unwanted)?;
        }
        // Before anything else: it has been paid for.
        let kept = self.keep(transactions)?;
        if self.maker.provider.is_some() {
            self.ask(transactions)?;
        }
        let embedded = self.embed(transactions, is_unwanted)?;
        if kept + embedded > 0 {
            return Ok(RunStep::Worked(kept + embedded));
        }
        if self.calls.is_waiting() {
            return Ok(RunStep::Waiting);
        }
        match self.calls.stopped() {
            Some(failure) => Err(failure.clone()),
            // It was made without asking, and is kept next.
            None if !self.made.is_empty() => Ok(RunStep::Worked(0)),
            None => self.finish(transactions),
        }
    }

    /// Keeps what replies say, and asks nothing more; whether more replies are waited for.
    pub fn drain(&mut self, transactions: Transactions) -> Outcome<bool> {
        self.take_replies();
        self.keep(transactions)?;
        Ok(self.calls.is_waiting())
    }

    /// Takes the replies that have come.
    fn take_replies(&mut self) {
        let in_flight = mem::take(&mut self.in_flight);
        let (come, waiting): (Vec<_>, Vec<_>) =
            in_flight.into_iter().partition(|(_, reply)| reply.has_come());
        self.in_flight = waiting;
        for (item, reply) in come {
            let reply = provider_calls::taken(reply, item.as_ref().map(|it| it.key.as_slice()));
            for (mut item, reply) in self.calls.replied(item, reply) {
                let read = reply.map(|reply| self.maker.derivation.read(&item, &reply));
                let DerivedReply { texts, dropped, is_unreadable } = read.unwrap_or_default();
                item.unreadable_replies += u32::from(is_unreadable);
                if is_unreadable && !item.is_unreadable() {
                    self.again.push_back(item);
                    continue;
                }
                self.dropped += dropped;
                self.made.push((item, texts));
            }
        }
    }

    /// Keeps what was made; how many items that was.
    fn keep(&mut self, transactions: Transactions) -> Outcome<usize> {
        if let Some(failure) = self.calls.take_refused() {
            // One that is about an item and not about the provider is noted, and not waited for.
            transactions.run(|| as_superuser(|| note_failure(self.key.0, &failure)))?;
        }
        let count = self.made.len();
        if count == 0 {
            return Ok(0);
        }
        let (pipeline, kind) = self.key;
        let Maker { derivation, provider, .. } = &self.maker;
        let (made, dropped) = (&self.made, self.dropped);
        let without_texts = made.iter().filter(|(_, texts)| texts.is_empty());
        let (unreadable, empty): (Vec<_>, Vec<_>) =
            without_texts.partition(|(item, _)| item.is_unreadable());
        let mut may_keep = true;
        at_work(transactions, self.key, |source, relation| {
            may_keep = derivation.may_keep(relation.oid, made);
            if !may_keep {
                return Ok(());
            }
            if provider.is_some() {
                // No crash is to have it paid for again.
                force_sync_commit();
            }
            as_owner(source, || derivation.keep(source, &relation.sql, made))?;
            let progress = DerivationProgress {
                done: derivation.finished(made),
                empty: empty.len(),
                unreadable: unreadable.len(),
                dropped,
            };
            derivation::note_progress(pipeline, kind, progress)?;
            let state = derivation.state(made);
            state.map_or(Ok(()), |state| derivation::set_state(pipeline, kind, state))
        })?;
        self.dropped = 0;
        self.was_made |= may_keep;
        // What was made for a table that is gone is made again for the one in its place.
        self.found |= !may_keep;
        for (item, texts) in mem::take(&mut self.made) {
            for text in texts {
                let Some(whole) = self.maker.derivation.whole(&item, &text) else { continue };
                self.unembedded.push_back(UnembeddedText { key: item.key.clone(), text, whole });
            }
        }
        Ok(count)
    }

    /// Makes things of some items without a language model.
    fn compose(&mut self, transactions: Transactions, is_unwanted: fn() -> bool) -> Outcome<()> {
        let mut watch = unless_unwanted(is_unwanted);
        let mut interrupt = || {
            look_around();
            watch().or_report();
        };
        while self.made.len() < FEWEST_ITEMS
            && let Some(item) = self.next_item(transactions)?
        {
            let mut item = item;
            let texts = caught(|| self.maker.derivation.composed(&mut item, &mut interrupt))?;
            self.made.push((item, texts));
        }
        Ok(())
    }

    /// Makes as many calls as there is room for.
    fn ask(&mut self, transactions: Transactions) -> Outcome<()> {
        while let Some(call) = self.calls.next() {
            let item = match call {
                NextCall::Harmless => None,
                NextCall::Thing => match self.next_to_ask(transactions)? {
                    Some(item) => Some(item),
                    None => break,
                },
            };
            match self.begin_call(item.as_ref()) {
                Ok(reply) => {
                    self.calls.begun(call);
                    self.in_flight.push((item, reply));
                }
                Err(failure) if failure.is_cancel() => return Err(failure),
                Err(failure) => self.calls.stop(failure),
            }
        }
        Ok(())
    }

    /// The next item that the language model is to be asked about; `None`: there is none in this pass, or enough has
    /// been made without it to be kept first. What two items have in common is asked about once.
    fn next_to_ask(&mut self, transactions: Transactions) -> Outcome<Option<DerivationItem>> {
        if let Some(item) = self.again.pop_front() {
            return Ok(Some(item));
        }
        while self.made.len() < FEWEST_ITEMS
            && let Some(item) = self.next_item(transactions)?
        {
            let derivation = &self.maker.derivation;
            if !self.asked.insert(derivation.identity(&item).to_vec()) {
                continue;
            }
            if derivation.needs_model(&item) {
                return Ok(Some(item));
            }
            let mut item = item;
            let texts = caught(|| derivation.composed(&mut item, &mut look_around))?;
            self.made.push((item, texts));
        }
        Ok(None)
    }

    fn begin_call(&self, item: Option<&DerivationItem>) -> Outcome<PendingReply> {
        let Maker { derivation, provider, owner, .. } = &self.maker;
        let harmless = DerivationItem { content: HARMLESS.to_owned(), ..DerivationItem::default() };
        let messages = derivation.messages(item.unwrap_or(&harmless), &random::nonce()?)?;
        role::work_on_behalf_of(*owner);
        let provider = provider
            .as_ref()
            .ok_or_else(|| Error::new(ErrorKind::Internal, "there is no language model to ask"))?;
        provider_calls::begin(self.key.0, provider, messages)
    }

    /// The next item to be asked about; `None`: there is none in this pass.
    fn next_item(&mut self, transactions: Transactions) -> Outcome<Option<DerivationItem>> {
        if self.items.is_empty() && !self.is_last {
            let most = (2 * self.calls.room()).max(FEWEST_ITEMS) as i32;
            let (key, after) = (self.key, &self.after);
            let found = transactions.run(|| {
                as_superuser(|| {
                    in_source(key, |pipeline, relation, maker| {
                        let items = maker.derivation.missing(pipeline, relation, after, most)?;
                        Ok((maker, items))
                    })
                })
            })?;
            let Some((maker, items)) = found else {
                self.is_last = true;
                return Ok(None);
            };
            self.maker = maker;
            // What is kept by now was not found again.
            let derivation = &self.maker.derivation;
            let in_flight = self.in_flight.iter().filter_map(|(item, _)| item.as_ref());
            let not_kept = in_flight.chain(&self.again);
            let not_kept = not_kept.chain(self.made.iter().map(|(item, _)| item));
            self.asked = not_kept.map(|item| derivation.identity(item).to_vec()).collect();
            self.is_last = items.len() < most as usize;
            self.found = self.found || !items.is_empty();
            if let Some(last) = items.last() {
                self.after.clone_from(&last.key);
            }
            self.items = items.into();
        }
        Ok(self.items.pop_front())
    }

    /// Embeds some of the texts that are kept; how many.
    fn embed(&mut self, transactions: Transactions, is_unwanted: fn() -> bool) -> Outcome<usize> {
        let most = if self.calls.is_waiting() { TEXTS_BESIDE_CALLS } else { TEXTS };
        let texts: Vec<_> = self.unembedded.drain(..self.unembedded.len().min(most)).collect();
        if texts.is_empty() {
            return Ok(0);
        }
        let Maker { derivation, embedding, owner, .. } = &self.maker;
        role::work_on_behalf_of(*owner);
        let mut watch = unless_unwanted(is_unwanted);
        let whole = |it: &UnembeddedText| it.whole.clone();
        let embedded = provider_calls::embedded(embedding, texts, whole, &mut watch);
        let known = &embedded.known;
        if !known.is_empty() {
            at_work(transactions, self.key, |pipeline, relation| {
                as_owner(pipeline, || derivation.put_vectors(pipeline, &relation.sql, known))
            })?;
        }
        if let Some(failure) = embedded.refused {
            transactions.run(|| as_superuser(|| note_failure(self.key.0, &failure)))?;
        }
        let count = embedded.known.len();
        match embedded.stopped {
            Some(failure) if failure.is_cancel() => return Err(failure),
            Some(failure) => {
                // They are kept, and found again later.
                self.unembedded.clear();
                self.calls.stop(failure);
            }
            None => {}
        }
        Ok(count)
    }

    /// Looks for what is still to be done, where no call is in flight: new items, and texts that an
    /// earlier run has not embedded.
    fn finish(&mut self, transactions: Transactions) -> Outcome<RunStep> {
        if self.found || !self.is_last {
            (self.after, self.is_last, self.found) = (Vec::new(), false, false);
            return Ok(RunStep::Worked(0));
        }
        let (key, (pipeline, kind)) = (self.key, self.key);
        let derivation = &self.maker.derivation;
        let unembedded = transactions.run(|| {
            as_superuser(|| {
                let found = in_source(key, |pipeline, relation, _| {
                    let found = derivation.unembedded(pipeline, relation, TEXTS as i32)?;
                    if found.is_empty() && pipeline.stage == PipelineStage::Live {
                        derivation.forget_gone(pipeline, relation)?;
                    }
                    Ok(found)
                })?;
                derivation::set_missing(pipeline, kind, 0)?;
                Ok(found.unwrap_or_default())
            })
        })?;
        match unembedded.is_empty() {
            true => Ok(RunStep::Done(self.was_made)),
            false => {
                self.was_made = true;
                // There may be something to be made of them once they have vectors.
                self.found = true;
                self.unembedded = unembedded.into();
                Ok(RunStep::Worked(0))
            }
        }
    }
}

/// What ends a call once another process waits for this one to leave.
fn unless_unwanted(is_unwanted: fn() -> bool) -> impl FnMut() -> Result<()> {
    move || match is_unwanted() {
        true => {
            let message =
                "worker is leaving because another session needs exclusive access to the database";
            Err(Error::new(ErrorKind::NotInState, message))
        }
        false => Ok(()),
    }
}
