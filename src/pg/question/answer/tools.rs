//! What a strategy of answers works with: the search of a call, the provider and the templates.

mod agent;
pub mod around;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::kept::KeptReplies;
use super::read::Tokens;
use super::{Writing, read, write};
use crate::answer::form::AnswerForm;
use crate::answer::strategy::{
    BudgetLedger, KeptCall, Limits, ModelReply, PendingAnswer, ReadingCalls, StrategyHost,
    Surroundings, WantedSources,
};
use crate::context::Reading;
use crate::context::budget::Room;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::communities::rank::CommunityQuest;
use crate::graph::relations::pick::{PickedRelations, RelationMenu};
use crate::pg::agent_tools::AgentTool;
use crate::pg::catalog::template;
use crate::pg::question::federation::FederatedSearch;
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::generate::{Sampling, ask, generate_all, request, said};
use crate::pg::ragd::{trace, usage};
use crate::pg::server::random;
use crate::pg::text_to_sql;
use crate::prompt::messages::Message;
use crate::prompt::template::Template;
use crate::prompt::tokens::Counter;
use crate::protocol::{GenerateRequest, ProviderConfig};
use crate::source::Source;

/// The tools of one answer.
pub struct Session<'a> {
    search: &'a FederatedSearch,
    writing: &'a Writing,
    /// The provider of the language model; `None` where prompts are only looked at.
    provider: Option<ProviderConfig>,
    /// The template of the answer, once it was asked for.
    answer: Option<Template>,
    /// The templates of steps, by name.
    templates: Vec<(String, Template)>,
    /// The functions that an agent was offered.
    tools: Vec<AgentTool>,
    /// What counts tokens, and what was counted.
    tokens: Option<Tokens>,
    counted: HashMap<String, usize>,
    /// What communities were found before, to be looked at once more.
    communities: Option<Vec<Vec<Source>>>,
    begun: Instant,
    retrieving: Duration,
}

/// The tools of an answer while nobody uses them.
pub struct PausedSession {
    provider: Option<ProviderConfig>,
    answer: Option<Template>,
    templates: Vec<(String, Template)>,
    tools: Vec<AgentTool>,
    tokens: Option<Tokens>,
    counted: HashMap<String, usize>,
    begun: Instant,
    retrieving: Duration,
}

impl<'a> Session<'a> {
    /// Tools that only look at prompts and ask no language model.
    pub fn looking(search: &'a FederatedSearch, writing: &'a Writing) -> Session<'a> {
        Session {
            search,
            writing,
            provider: None,
            answer: writing.template.clone(),
            templates: Vec::new(),
            tools: Vec::new(),
            tokens: None,
            counted: HashMap::new(),
            communities: None,
            begun: Instant::now(),
            retrieving: Duration::ZERO,
        }
    }

    /// Tools that only look at prompts over these communities, as if they were found now.
    pub fn looking_at(
        communities: Vec<Vec<Source>>,
        search: &'a FederatedSearch,
        writing: &'a Writing,
    ) -> Session<'a> {
        Session { communities: Some(communities), ..Session::looking(search, writing) }
    }

    /// Tools of a language model.
    pub fn new(
        search: &'a FederatedSearch,
        writing: &'a Writing,
        provider: ProviderConfig,
    ) -> Session<'a> {
        Session { provider: Some(provider), ..Session::looking(search, writing) }
    }

    /// The tools without what they work on, for a while in which nobody uses them.
    pub fn pause(self) -> PausedSession {
        let Session {
            provider, answer, templates, tools, tokens, counted, begun, retrieving, ..
        } = self;
        PausedSession { provider, answer, templates, tools, tokens, counted, begun, retrieving }
    }

    /// The tools that were put aside, for the same search and writing.
    pub fn resume(
        search: &'a FederatedSearch,
        writing: &'a Writing,
        paused: PausedSession,
    ) -> Session<'a> {
        let PausedSession {
            provider,
            answer,
            templates,
            tools,
            tokens,
            counted,
            begun,
            retrieving,
        } = paused;
        Session {
            search,
            writing,
            provider,
            answer,
            templates,
            tools,
            tokens,
            counted,
            communities: None,
            begun,
            retrieving,
        }
    }

    /// How long was searched.
    pub fn retrieving(&self) -> Duration {
        self.retrieving
    }

    fn kept_replies(&self) -> KeptReplies {
        KeptReplies::of(self.search, self.writing, self.provider.as_ref())
    }

    /// Does `work` with the search of the call, and counts its time.
    fn timed<T>(&mut self, work: impl FnOnce(&FederatedSearch) -> Result<T>) -> Result<T> {
        let begun = Instant::now();
        let done = work(self.search);
        self.retrieving += begun.elapsed();
        done
    }
}

/// What was counted is not counted again: a strategy weighs the same sources more than once.
impl Counter for Session<'_> {
    fn count(&mut self, texts: &[String]) -> Result<Vec<usize>> {
        let is_new = |text: &&String| !self.counted.contains_key(*text);
        let new: Vec<String> = texts.iter().filter(is_new).cloned().collect();
        if !new.is_empty() {
            let mut tokens = match self.tokens.take() {
                Some(tokens) => tokens,
                None => Tokens::of(self.search, self.writing)?,
            };
            let counts = tokens.count(&new)?;
            self.tokens = Some(tokens);
            self.counted.extend(new.into_iter().zip(counts));
        }
        let known = |text: &String| self.counted.get(text).copied().unwrap_or_default();
        Ok(texts.iter().map(known).collect())
    }
}

impl StrategyHost for Session<'_> {
    fn retrieve(&mut self, query: &str) -> Result<Vec<Source>> {
        self.timed(|search| search.sources(query))
    }

    fn retrieve_more(&mut self, query: &str) -> Result<Vec<Source>> {
        self.timed(|search| search.more_sources(query))
    }

    fn communities(&mut self, question: &str, quest: CommunityQuest) -> Result<Vec<Vec<Source>>> {
        if let Some(found) = self.communities.take() {
            return Ok(found);
        }
        let (search, writing, begun) = (self.search, self.writing, Instant::now());
        let found = around::communities(question, quest, search, writing);
        self.retrieving += begun.elapsed();
        found
    }

    fn surroundings(&mut self, question: &str, quest: CommunityQuest) -> Result<Surroundings> {
        let begun = Instant::now();
        let found = around::surroundings(question, quest, self.search);
        self.retrieving += begun.elapsed();
        found
    }

    fn relation_menu(&mut self, question: &str) -> Result<RelationMenu> {
        self.timed(|search| search.relation_menu(question))
    }

    fn related(&mut self, picked: &PickedRelations) -> Result<Surroundings> {
        self.timed(|search| around::related(picked, search))
    }

    fn wanted_sources(&mut self, question: &str) -> Result<WantedSources> {
        text_to_sql::wanted_sources(question, &self.writing.sql)
    }

    fn query(
        &mut self,
        question: &str,
        beside: &[Source],
        ledger: &mut BudgetLedger,
    ) -> Result<Result<Vec<Source>>> {
        self.queried(question, beside, ledger)
    }

    fn query_prompt(&mut self, question: &str, beside: &[Source]) -> Result<Vec<Message>> {
        let found = self.search.found_rows(beside)?;
        text_to_sql::first_prompt(question, found, &self.writing.sql)
    }

    fn read(
        &mut self,
        question: &str,
        sources: Vec<Source>,
        calls: ReadingCalls,
    ) -> Result<Vec<Reading>> {
        read::read(question, sources, self.search, self.writing, calls)
    }

    fn room(&mut self, question: &str) -> Result<Room> {
        let writing = self.writing;
        read::room(question, writing, self)
    }

    fn generate_all(
        &mut self,
        step: &'static str,
        prompts: Vec<Vec<Message>>,
        limits: Limits,
    ) -> Result<Vec<Result<ModelReply>>> {
        let Some(provider) = &self.provider else { return Err(nobody_to_ask()) };
        let sampling = sampling(self.writing, &limits);
        ask_all(provider, step, prompts, sampling, &self.search.context)
    }

    fn kept(
        &mut self,
        step: &'static str,
        calls: &[Option<KeptCall>],
    ) -> Result<Vec<Option<String>>> {
        if calls.iter().all(Option::is_none) {
            return Ok(vec![None; calls.len()]);
        }
        let kept = self.kept_replies();
        let find = |call: &Option<KeptCall>| call.as_ref().map_or(Ok(None), |it| kept.find(it));
        let found = calls.iter().map(find).collect::<Result<Vec<_>>>()?;
        let hits = found.iter().flatten().count();
        if hits > 0 && self.provider.is_some() {
            let note = || {
                (0..hits).for_each(|_| usage::note_cache_hit());
                trace::remark(|| format!("{hits} kept"));
                Ok(())
            };
            trace::step("write", || step.to_owned(), note)?;
        }
        Ok(found)
    }

    fn keep(&mut self, replies: Vec<(KeptCall, ModelReply)>) -> Result<()> {
        self.kept_replies().keep(replies.iter().map(|(call, reply)| (call, reply)))
    }

    /// The template that is wanted, or the usual one.
    fn answer_template(&mut self) -> Result<Template> {
        if let Some(known) = &self.answer {
            return Ok(known.clone());
        }
        let found = write::template_of(self.writing)?;
        Ok(self.answer.insert(found).clone())
    }

    fn answer_form(&self) -> Option<AnswerForm> {
        self.writing.form.clone()
    }

    fn has_own_knowledge(&self) -> bool {
        self.writing.own_knowledge
    }

    fn examples(&self) -> &[String] {
        &self.writing.examples
    }

    fn template(&mut self, name: &str) -> Result<Template> {
        if let Some((_, known)) = self.templates.iter().find(|(known, _)| known == name) {
            return Ok(known.clone());
        }
        let found = template::find(name)?;
        self.templates.push((name.to_owned(), found.clone()));
        Ok(found)
    }

    fn nonce(&mut self) -> Result<String> {
        random::nonce()
    }

    fn elapsed_ms(&self) -> u64 {
        self.begun.elapsed().as_millis() as u64
    }
}

fn nobody_to_ask() -> Error {
    Error::new(ErrorKind::Internal, "there is no language model to ask")
}

/// What a language model replies to each of `prompts`.
pub fn ask_all(
    provider: &ProviderConfig,
    step: &'static str,
    prompts: Vec<Vec<Message>>,
    sampling: Sampling,
    context: &CallContext,
) -> Result<Vec<Result<ModelReply>>> {
    let ask = || generate_all(provider, prompts, sampling, context);
    let replies = trace::step("write", || step.to_owned(), ask)?;
    Ok(replies.into_iter().map(|reply| reply.map(said)).collect())
}

/// The call that makes an answer, in the form that the answer must have.
pub fn last_request(
    provider: &ProviderConfig,
    pending: &PendingAnswer,
    writing: &Writing,
    context: &CallContext,
) -> GenerateRequest {
    let sampling = sampling(writing, &pending.limits);
    let request = request(provider, pending.prompt.clone(), sampling, context.lane);
    GenerateRequest { schema: pending.form.as_ref().map(AnswerForm::reply_schema), ..request }
}

/// What a language model replies to the call that makes an answer.
pub fn ask_last(
    request: GenerateRequest,
    step: &'static str,
    context: &CallContext,
) -> Result<ModelReply> {
    // A call that fails may have taken all the time that there was, which is no error.
    let ask = || Ok(ask(request, context).map(said));
    trace::step("write", || step.to_owned(), ask)?
}

/// How a reply is chosen as `writing` says, within `limits`.
pub fn sampling(writing: &Writing, limits: &Limits) -> Sampling {
    let max_tokens = [writing.max_tokens, limits.max_tokens].into_iter().flatten().min();
    Sampling { parameters: writing.sampling, max_tokens, within_ms: limits.timeout_ms }
}
