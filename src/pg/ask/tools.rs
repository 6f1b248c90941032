//! What a strategy of answers works with: the search of a call, the provider and the templates.

use std::time::{Duration, Instant};

use super::{Writing, read, write};
use crate::answer::strategy::{Limits, Reply, Tools};
use crate::context::Reading;
use crate::context::prompt::{Message, Source};
use crate::context::template::Template;
use crate::daemon::protocol::{Generated, ProviderConfig};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::template;
use crate::pg::functions::generate_all_by;
use crate::pg::search::Search;
use crate::pg::{provider, random, trace};
use crate::retrieve::Passage;

/// The tools of one answer.
pub struct Session<'a> {
    search: &'a Search,
    writing: &'a Writing,
    /// Who writes; `None` where prompts are only looked at.
    provider: Option<ProviderConfig>,
    /// The template of the answer, once it was asked for.
    answer: Option<Template>,
    /// Those of steps, by name.
    templates: Vec<(String, Template)>,
    begun: Instant,
    retrieving: Duration,
}

impl<'a> Session<'a> {
    /// Tools with which nobody is asked.
    pub fn looking(search: &'a Search, writing: &'a Writing) -> Session<'a> {
        Session {
            search,
            writing,
            provider: None,
            answer: writing.template.clone(),
            templates: Vec::new(),
            begun: Instant::now(),
            retrieving: Duration::ZERO,
        }
    }

    /// Tools of the language model of `writing`. An error where the current role may not use it.
    pub fn new(search: &'a Search, writing: &'a Writing) -> Result<Session<'a>> {
        let provider = Some(provider::config(&writing.llm)?);
        Ok(Session { provider, ..Session::looking(search, writing) })
    }

    /// How long was searched.
    pub fn retrieving(&self) -> Duration {
        self.retrieving
    }
}

impl Tools for Session<'_> {
    fn retrieve(&mut self, query: &str) -> Result<Vec<Passage>> {
        let begun = Instant::now();
        let passages = self.search.run(query);
        self.retrieving += begun.elapsed();
        passages
    }

    fn read(&mut self, question: &str, passages: Vec<Passage>) -> Result<Vec<Reading>> {
        read::read(question, passages, self.search, self.writing)
    }

    fn source(&self, reading: &Reading) -> Source {
        read::shown(reading)
    }

    fn generate_all(
        &mut self,
        step: &'static str,
        prompts: Vec<Vec<Message>>,
        limits: Limits,
    ) -> Result<Vec<Result<Reply>>> {
        let Some(provider) = &self.provider else {
            return Err(Error::new(ErrorKind::Internal, "there is nobody who could be asked"));
        };
        let Writing { temperature, max_tokens, .. } = self.writing;
        let longest = [*max_tokens, limits.max_tokens].into_iter().flatten().min();
        let sampling = (*temperature, longest);
        let ask = || generate_all_by(provider, prompts, sampling, limits.timeout_ms);
        let replies = trace::step("write", || step.to_owned(), ask)?;
        Ok(replies.into_iter().map(|reply| reply.map(said)).collect())
    }

    /// The template of the call, or that of the pipeline, or the usual one.
    fn answer_template(&mut self) -> Result<Template> {
        if let Some(known) = &self.answer {
            return Ok(known.clone());
        }
        let found = write::template_of(self.search, self.writing)?;
        Ok(self.answer.insert(found).clone())
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

fn said(generated: Generated) -> Reply {
    let Generated { text, finish_reason, prompt_tokens, completion_tokens, attempts } = generated;
    Reply { text, finish_reason, prompt_tokens, completion_tokens, attempts }
}
