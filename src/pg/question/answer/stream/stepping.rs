//! The steps of an agent, each a row as soon as it was taken.
//!
//! ```text
//! a row is asked for → one more reply of the language model → its steps → rows
//! ```
//!
//! Between two rows nothing is under way, and what is known so far is Rust's own. A row of a step is a JSON object with the
//! one member `step`; rows are steps until the first that is none.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::{AnswerStream, StreamState, Times, last_call};
use crate::answer::strategy::{self, AgentNext, SteppedAnswer, StrategyOptions};
use crate::error::Result;
use crate::pg::question::answer::Writing;
use crate::pg::question::answer::tools::{PausedSession, Session};
use crate::pg::question::answer::write;
use crate::pg::question::federation::FederatedSearch;
use crate::pg::ragd::trace;
use crate::pg::server::guc::TraceLevel;
use crate::protocol::ProviderConfig;

/// An answer that an agent is working on.
pub struct SteppingAnswer {
    question: String,
    search: FederatedSearch,
    writing: Writing,
    options: StrategyOptions,
    begun: Instant,
    session: PausedSession,
    /// What was done; `None`: nothing yet.
    agent: Option<SteppedAnswer>,
}

impl SteppingAnswer {
    /// The answer to `question`, for which nothing was done.
    pub fn new(
        question: &str,
        search: FederatedSearch,
        writing: Writing,
        provider: ProviderConfig,
    ) -> Result<SteppingAnswer> {
        let options = write::priced(&writing.strategy_options, &provider)?;
        let session = Session::new(&search, &writing, provider).pause();
        let (question, begun) = (question.to_owned(), Instant::now());
        Ok(SteppingAnswer { question, search, writing, options, begun, session, agent: None })
    }

    /// The next steps, and what comes behind them.
    fn go_on(self) -> Result<(Vec<Value>, StreamState)> {
        let SteppingAnswer { question, search, writing, options, begun, session, agent } = self;
        let mut tools = Session::resume(&search, &writing, session);
        let progress = strategy::step(agent, &question, &options, &mut tools)?;
        let state = match progress.next {
            AgentNext::Steps(agent) => {
                let (session, agent) = (tools.pause(), Some(*agent));
                #[rustfmt::skip]
                let stepping = SteppingAnswer { question, search, writing, options, begun, session, agent };
                StreamState::Stepping(Box::new(stepping))
            }
            AgentNext::Ends(ended) => {
                let retrieving = tools.retrieving();
                drop(tools);
                let times = Times { begun, retrieving, asked: begun, first_piece: None };
                last_call((*ended).into(), times, (&question, &search), writing)?
            }
        };
        Ok((progress.steps, state))
    }
}

impl AnswerStream {
    /// Has the next steps taken, which become rows.
    pub(super) fn step(&mut self, stepping: SteppingAnswer) -> Result<()> {
        // An agent has the rights of who has asked, also where the rows are fetched by another.
        self.role.check("the answer was asked for")?;
        let is_recorded = self.record.as_ref().is_some_and(|it| it.level != TraceLevel::Off);
        let ((steps, state), traced) = trace::recorded(is_recorded, || stepping.go_on())?;
        if let Some(record) = &mut self.record {
            trace::go_on(&mut record.steps, traced);
        }
        self.rows.extend(steps.into_iter().map(|step| json!({ "step": step }).to_string()));
        (self.state, self.follows_steps) = (state, true);
        Ok(())
    }

    /// A piece of the answer, in two where it is the first and could be taken for a step. Behind steps that is whatever
    /// begins as they do; without them it is what looks like one.
    pub(super) fn apart(&mut self, piece: String) -> String {
        let is_first = std::mem::take(&mut self.begins);
        if !is_first || !piece.starts_with('{') || !(self.follows_steps || is_like_a_step(&piece)) {
            return piece;
        }
        let (begin, rest) = piece.split_at(1);
        if !rest.is_empty() {
            self.rows.push_back(rest.to_owned());
        }
        begin.to_owned()
    }
}

/// Whether a text is an object with the one member `step`. What the member holds makes no difference: others may read numbers
/// that Rust does not.
fn is_like_a_step(text: &str) -> bool {
    let members = serde_json::from_str::<BTreeMap<String, IgnoredAny>>(text);
    members.is_ok_and(|members| members.len() == 1 && members.contains_key("step"))
}
