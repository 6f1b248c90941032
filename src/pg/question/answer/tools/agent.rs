//! What an agent works with: the search of a call made narrower, documents, graphs, queries and functions.
//!
//! All of it happens with the caller's rights. What another action could do better is told to the language model; all
//! else ends the answer.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Session, around, ask_last, nobody_to_ask, sampling};
use crate::answer::strategy::agent::{
    ActionOutcome, AgentHost, AgentOffers, AgentSearch, AgentWalk, StepPrompt, ToolCall,
};
use crate::answer::strategy::{BudgetLedger, Limits, ModelReply};
use crate::error::{Error, ErrorKind, Result};
use crate::exact;
use crate::graph::relations::pick::PickedRelations;
use crate::graph::relations::{phrases, possible};
use crate::pg::agent_tools::{self, AgentTool, ToolLimits};
use crate::pg::question::search::{Connections, Narrowing};
use crate::pg::ragd::generate::request;
use crate::pg::ragd::llm::Llm;
use crate::pg::ragd::trace;
use crate::pg::text_to_sql::{self, SqlSession};
use crate::protocol::GenerateRequest;
use crate::retrieve::value::is_checked;
use crate::source::Source;

/// Errors of what was asked for, which another action need not meet.
const MENDABLE: [ErrorKind; 4] = [
    ErrorKind::InvalidParameter,
    ErrorKind::UndefinedObject,
    ErrorKind::Unsupported,
    ErrorKind::DocumentLimit,
];

/// Errors of a provider that a step has asked, such as that of an embedding model, and not of what was asked for.
const PASSING: [ErrorKind; 4] = [
    ErrorKind::ProviderFailed,
    ErrorKind::ReplyMisfit,
    ErrorKind::ProviderTimeout,
    ErrorKind::ProviderBusy,
];

/// The SQLSTATE of a statement that takes too long.
const TOO_SLOW: &str = "57014";

impl AgentHost for Session<'_> {
    fn offers(&mut self) -> Result<AgentOffers> {
        let tools = agent_tools::usable(self.writing.tools.as_deref())?;
        let columns = self.search.metadata().iter().filter(|it| is_checked(&it.sql_type));
        let pipelines = self.search.pipelines();
        self.tools.clone_from(&tools);
        Ok(AgentOffers {
            columns: columns.map(|it| (it.bare(), it.sql_type.clone())).collect(),
            pipelines: if pipelines.len() > 1 { pipelines } else { Vec::new() },
            graph: self.search.has_graph()?,
            predicates: self.search.predicates()?,
            sql: text_to_sql::is_granted()?,
            tools: tools.into_iter().map(|it| it.offer).collect(),
        })
    }

    fn offers_tools(&self) -> bool {
        match &self.writing.llm {
            Llm::Extractive => false,
            Llm::Provider(provider) => provider.config.offers_tools(),
        }
    }

    fn generate_in(
        &mut self,
        step: &'static str,
        asked: StepPrompt,
        limits: Limits,
    ) -> Result<Result<ModelReply>> {
        let Some(provider) = &self.provider else { return Err(nobody_to_ask()) };
        let context = &self.search.context;
        let StepPrompt { messages, schema, tools } = asked;
        let request = request(provider, messages, sampling(self.writing, &limits), context.lane);
        let request = GenerateRequest { schema, tools, ..request };
        Ok(ask_last(request, step, context))
    }

    fn announce(&mut self, action: &'static str, said: &str) {
        let note = || {
            if !said.is_empty() {
                trace::words(|| said.to_owned());
            }
            Ok(())
        };
        // A note never fails.
        drop(trace::step("agent", || action.to_owned(), note));
    }

    fn search(&mut self, asked: &AgentSearch) -> Result<ActionOutcome<Source>> {
        let AgentSearch { question, k, filter, pipeline } = asked.clone();
        let narrowing = Narrowing { k, filter, pipeline };
        let found = self.timed(|search| match narrowing == Narrowing::default() {
            true => search.more_sources(&question),
            false => search.narrowed(&narrowing)?.sources(&question),
        });
        outcome(found.map(|sources| (sources, None)))
    }

    fn open(&mut self, source: &Source) -> Result<ActionOutcome<Source>> {
        let Some(passage) = source.chunk() else {
            return Ok(ActionOutcome::Failed("it is no part of a document".to_owned()));
        };
        let around = self.timed(|search| {
            trace::found("open", String::new, || Ok(search.around(passage)?.into_iter().collect()))
        })?;
        let around: Vec<Source> = around.into_iter().map(Source::Chunk).collect();
        Ok(match around.is_empty() {
            false => ActionOutcome::Found(around, None),
            true => ActionOutcome::Failed("it is not there any more".to_owned()),
        })
    }

    fn graph(&mut self, asked: &AgentWalk) -> Result<ActionOutcome<Source>> {
        let AgentWalk { entity, predicates } = asked;
        if !predicates.is_empty() {
            return outcome(self.related_to(entity, predicates.clone()));
        }
        let mut paths = Vec::new();
        let found = self.timed(|search| {
            trace::found("graph", String::new, || {
                let Connections { paths: found, passages } = search.connections(entity)?;
                paths = found.into_iter().map(|it| it.names).collect::<Vec<_>>();
                Ok(passages)
            })
        });
        let note = (!paths.is_empty()).then(|| format!("connected are {}", paths.join("; ")));
        outcome(found.map(|it| (it.into_iter().map(Source::Chunk).collect(), note)))
    }

    fn rows(&mut self, question: &str, ledger: &mut BudgetLedger) -> Result<ActionOutcome<Source>> {
        match self.queried(question, &[], ledger) {
            Ok(Ok(rows)) if rows.is_empty() => {
                let said = "no query can answer that, or it has no rows".to_owned();
                Ok(ActionOutcome::Found(rows, Some(said)))
            }
            Ok(Ok(rows)) => Ok(ActionOutcome::Found(rows, None)),
            // That no query runs is no fault of the provider, nor of the moment.
            Ok(Err(none_runs)) => Ok(ActionOutcome::Failed(said(&none_runs))),
            Err(error) => outcome(Err(error)),
        }
    }

    fn call(&mut self, call: &ToolCall, within_ms: Option<u64>) -> Result<ActionOutcome<Source>> {
        // It may have been dropped, or another function may have its name, since it was offered.
        let Some(tool) = self.offered(&call.tool)? else {
            return Ok(ActionOutcome::Failed(format!(
                "there is no tool \"{}\" any more",
                call.tool
            )));
        };
        let sql = &self.writing.sql;
        let usual = Duration::from_secs_f64(sql.timeout);
        let timeout = within_ms.map_or(usual, |left| usual.min(Duration::from_millis(left.max(1))));
        let limits = ToolLimits { timeout, max_cost: sql.max_cost, guard: &sql.guard };
        let begun = Instant::now();
        let returned = trace::step(
            "tool",
            || call.tool.clone(),
            || {
                trace::words(|| exact::written(&Value::Object(call.arguments.clone())));
                let returned = agent_tools::returned(&tool, &call.arguments, limits);
                trace::rows(returned.as_ref().map_or(0, |found| found.rows.len()));
                Ok(returned)
            },
        )?;
        self.retrieving += begun.elapsed();
        Ok(match returned {
            Ok(found) => {
                let sources = text_to_sql::called(&found, &call.tool);
                let note = match (sources.is_empty(), found.is_truncated) {
                    (true, _) => Some("returned nothing".to_owned()),
                    (false, true) => Some("there are more rows".to_owned()),
                    (false, false) => None,
                };
                ActionOutcome::Found(sources, note)
            }
            Err(error) if error.is_mendable() && error.sqlstate == TOO_SLOW => {
                ActionOutcome::Interrupted(error.told())
            }
            Err(error) if error.is_mendable() => ActionOutcome::Failed(error.told()),
            Err(error) => error.raise(&call.tool),
        })
    }
}

impl Session<'_> {
    /// The rows of a query that is written for `question` and may join the documents `beside`. The error inside: none that
    /// is written runs.
    pub(super) fn queried(
        &mut self,
        question: &str,
        beside: &[Source],
        ledger: &mut BudgetLedger,
    ) -> Result<Result<Vec<Source>>> {
        let Some(provider) = &self.provider else { return Err(nobody_to_ask()) };
        let session = SqlSession::new(provider, &self.writing.sql);
        let session = session.for_answer(self.search.context, self.begun);
        let begun = Instant::now();
        let found = self.search.found_rows(beside)?;
        let rows = text_to_sql::sources((question, found), &self.writing.sql, ledger, session);
        self.retrieving += begun.elapsed();
        rows
    }

    /// What is stated of an entity, and of what that leads to, with some predicates; and the paths in words.
    fn related_to(
        &mut self,
        entity: &str,
        predicates: Vec<String>,
    ) -> Result<(Vec<Source>, Option<String>)> {
        let entities = possible(entity);
        let picked = PickedRelations { entities, asked: phrases(entity), predicates };
        let found = self.timed(|search| around::related(&picked, search))?;
        let paths = found.told(&found.sources.iter().map(Source::id).collect()).join("; ");
        let note = (!paths.is_empty()).then_some(paths);
        Ok((found.sources, note))
    }

    /// The function that was offered by this name, as long as it is there.
    fn offered(&self, name: &str) -> Result<Option<AgentTool>> {
        match self.tools.iter().find(|it| it.offer.name == name) {
            Some(tool) if tool.is_there()? => Ok(Some(tool.clone())),
            _ => Ok(None),
        }
    }
}

/// What was found; what is wrong with the wish alone is told.
fn outcome(found: Result<(Vec<Source>, Option<String>)>) -> Result<ActionOutcome<Source>> {
    match found {
        Ok((sources, note)) => Ok(ActionOutcome::Found(sources, note)),
        Err(error) if MENDABLE.contains(&error.kind()) => Ok(ActionOutcome::Failed(said(&error))),
        Err(error) if PASSING.contains(&error.kind()) => {
            Ok(ActionOutcome::Interrupted(said(&error)))
        }
        Err(error) => Err(error),
    }
}

/// An error in a line.
fn said(error: &Error) -> String {
    let parts = [Some(error.message()), error.detail_text(), error.hint_text()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(". ")
}
