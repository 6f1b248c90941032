//! What an agent may do, and what it wants to do.

use std::fmt::{self, Display, Formatter};

use serde_json::{Map, Value};

use super::super::budget::BudgetLedger;
use super::super::tools::{Limits, ModelReply};
use crate::error::Result;
use crate::exact;
use crate::prompt::messages::Message;
use crate::prompt::tools::ToolUse;
use crate::source::Source;

/// What the caller of an answer lets its agent do, beside looking up, opening, reckoning and answering.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentOffers {
    /// Metadata columns by which a search may be filtered: name and type.
    pub columns: Vec<(String, String)>,
    /// The pipelines that are asked, where they are several: a search may ask one of them.
    pub pipelines: Vec<String>,
    /// Whether there is a graph of entities.
    pub graph: bool,
    /// The predicates of its relations, to some of which a walk may keep; none where it has no relations.
    pub predicates: Vec<String>,
    /// Whether queries may be written.
    pub sql: bool,
    /// The functions that may be called.
    pub tools: Vec<ToolOffer>,
}

/// A function that may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOffer {
    /// What it is called in a call.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Its arguments.
    pub arguments: Vec<ToolArgument>,
}

/// An argument of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolArgument {
    /// Its name.
    pub name: String,
    /// Its type, as SQL writes it.
    pub sql_type: String,
    /// How a value of it looks in JSON.
    pub kind: ArgumentKind,
    /// Whether it is a list of such values.
    pub is_list: bool,
    /// Whether it may be left out.
    pub has_default: bool,
}

/// How a value looks in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentKind {
    /// A string, also of a date and whatever else has a text.
    Text,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// `true` or `false`.
    Boolean,
}

/// What a turn of an agent comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentTurn {
    /// Why, in words of the language model.
    pub reason: String,
    /// What is to be done.
    pub action: AgentAction,
}

impl AgentTurn {
    /// What is to be done, and why, if that is said.
    #[must_use]
    pub fn said(&self) -> String {
        let AgentTurn { reason, action } = self;
        if reason.is_empty() { action.to_string() } else { format!("{action}: {reason}") }
    }
}

/// What an agent wants to do.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentAction {
    /// To look something up.
    Search(AgentSearch),
    /// To read what stands around the source of this number.
    Open(usize),
    /// To go from an entity over what names it to others.
    Graph(AgentWalk),
    /// To have this question answered by a query.
    Sql(String),
    /// To know what an expression comes to.
    Calculate(String),
    /// To call a function.
    Call(ToolCall),
    /// To answer with this text.
    Answer(String),
}

/// What is looked up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentSearch {
    /// The question.
    pub question: String,
    /// How many chunks; `None`: as many as the caller says.
    pub k: Option<u32>,
    /// Conditions on the metadata that hold beside those of the caller.
    pub filter: Option<Value>,
    /// The pipeline that is asked; `None`: all that the caller asks.
    pub pipeline: Option<String>,
}

/// Where it is gone from in a graph, and over what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentWalk {
    /// The name of the entity.
    pub entity: String,
    /// Over relations of these predicates, each once; none: over whatever names both entities.
    pub predicates: Vec<String>,
}

/// A call of a function, checked against its offer.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The name of the offer.
    pub tool: String,
    /// The arguments by their names, with numbers as [`exact::read`] reads them; those that are left out are not there.
    pub arguments: Map<String, Value>,
}

/// What has become of an action, with sources of a kind.
#[derive(Clone, Debug, PartialEq)]
pub enum ActionOutcome<S> {
    /// Sources were found, or something else is to be said.
    Found(Vec<S>, Option<String>),
    /// It could not be done, and why. Another action may be.
    Failed(String),
    /// It could not be done this time, and why: something took too long, or a provider failed.
    Interrupted(String),
}

/// What a language model is asked for a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepPrompt {
    /// The messages.
    pub messages: Vec<Message>,
    /// The JSON schema of the reply; `None` where there are tools.
    pub schema: Option<String>,
    /// What it may call.
    pub tools: Option<ToolUse>,
}

/// Does what an agent wants, with the rights of the caller of an answer.
pub trait AgentHost {
    /// What the agent may do.
    fn offers(&mut self) -> Result<AgentOffers>;

    /// Whether the language model may be offered steps as tools of its provider's protocol.
    fn offers_tools(&self) -> bool;

    /// What a language model replies to `asked`, in the form of its JSON schema or with calls of its tools.
    fn generate_in(
        &mut self,
        step: &'static str,
        asked: StepPrompt,
        limits: Limits,
    ) -> Result<Result<ModelReply>>;

    /// Says to whoever watches what comes next, and why.
    fn announce(&mut self, action: &'static str, said: &str);

    /// What is found for a question, best first.
    fn search(&mut self, asked: &AgentSearch) -> Result<ActionOutcome<Source>>;

    /// A source with what stands around it in its document.
    fn open(&mut self, source: &Source) -> Result<ActionOutcome<Source>>;

    /// Chunks or rows that connect an entity with others, and how.
    fn graph(&mut self, asked: &AgentWalk) -> Result<ActionOutcome<Source>>;

    /// The rows of a query that a language model writes for `question`, with calls that `ledger` grants.
    fn rows(&mut self, question: &str, ledger: &mut BudgetLedger) -> Result<ActionOutcome<Source>>;

    /// What a function returns, which may take so many milliseconds.
    fn call(&mut self, call: &ToolCall, within_ms: Option<u64>) -> Result<ActionOutcome<Source>>;
}

impl AgentAction {
    /// What it is called in a reply.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            AgentAction::Search(_) => "search",
            AgentAction::Open(_) => "open",
            AgentAction::Graph(_) => "graph",
            AgentAction::Sql(_) => "sql",
            AgentAction::Calculate(_) => "calculate",
            AgentAction::Call(_) => "call",
            AgentAction::Answer(_) => "answer",
        }
    }

    /// What tells it from others. Case and white space of a question or name don't, those of values do.
    #[must_use]
    pub fn key(&self) -> String {
        let plain =
            |text: &str| text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
        let action = match self.clone() {
            AgentAction::Search(it) => {
                AgentAction::Search(AgentSearch { question: plain(&it.question), ..it })
            }
            AgentAction::Graph(AgentWalk { entity, mut predicates }) => {
                predicates.sort();
                AgentAction::Graph(AgentWalk { entity: plain(&entity), predicates })
            }
            other => other,
        };
        action.to_string()
    }
}

/// With what it is done.
impl Display for AgentAction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.name())?;
        match self {
            AgentAction::Search(AgentSearch { question, k, filter, pipeline }) => {
                write!(f, "\"{question}\"")?;
                k.iter().try_for_each(|k| write!(f, ", {k} chunks"))?;
                let filter = filter.as_ref().map(exact::written);
                filter.iter().try_for_each(|filter| write!(f, ", filter {filter}"))?;
                pipeline.iter().try_for_each(|name| write!(f, ", pipeline {name}"))
            }
            AgentAction::Open(number) => write!(f, "source {number}"),
            AgentAction::Graph(AgentWalk { entity, predicates }) => {
                write!(f, "\"{entity}\"")?;
                let over = predicates.join(", ");
                if over.is_empty() { Ok(()) } else { write!(f, ", over {over}") }
            }
            AgentAction::Sql(text) => write!(f, "\"{text}\""),
            AgentAction::Calculate(expression) => write!(f, "{expression}"),
            AgentAction::Call(ToolCall { tool, arguments }) => {
                write!(f, "{tool}({})", exact::written(&Value::Object(arguments.clone())))
            }
            AgentAction::Answer(text) => write!(f, "\"{text}\""),
        }
    }
}
