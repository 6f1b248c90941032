//! What strategies work with.

use super::agent::AgentHost;
use super::budget::BudgetLedger;
use super::kept::KeptCall;
use super::surroundings::Surroundings;
use crate::answer::form::AnswerForm;
use crate::context::Reading;
use crate::context::budget::Room;
use crate::error::Result;
use crate::graph::communities::rank::CommunityQuest;
use crate::graph::relations::pick::{PickedRelations, RelationMenu};
use crate::prompt::messages::Message;
use crate::prompt::template::Template;
use crate::prompt::tokens::Counter;
use crate::prompt::tools::ToolReply;
use crate::source::Source;

/// Finds sources, reads them, counts their tokens, has a language model write, and does what an agent wants.
pub trait StrategyHost: Counter + AgentHost {
    /// The sources that speak of `query`, the caller's question, best first: those of the page that the caller asks for.
    fn retrieve(&mut self, query: &str) -> Result<Vec<Source>>;

    /// The sources that speak of `query`, which has come up on the way to an answer, from the best on.
    fn retrieve_more(&mut self, query: &str) -> Result<Vec<Source>>;

    /// The sources of each of the communities of which chunks speak that `question` finds, best first.
    fn communities(&mut self, question: &str, quest: CommunityQuest) -> Result<Vec<Vec<Source>>>;

    /// What is around `question` in the graph.
    fn surroundings(&mut self, question: &str, quest: CommunityQuest) -> Result<Surroundings>;

    /// What relations there are that `question` may ask for.
    fn relation_menu(&mut self, question: &str) -> Result<RelationMenu>;

    /// What is said on the paths over these relations.
    fn related(&mut self, picked: &PickedRelations) -> Result<Surroundings>;

    /// Where the answer to `question` is to be looked for, as far as the caller has allowed queries. No language model is
    /// asked.
    fn wanted_sources(&mut self, question: &str) -> Result<WantedSources>;

    /// The rows of a query that a language model writes for `question`, with calls that `ledger` grants; none where no
    /// query can answer it. The query may join the documents `beside`. The error inside: none that was written runs.
    fn query(
        &mut self,
        question: &str,
        beside: &[Source],
        ledger: &mut BudgetLedger,
    ) -> Result<Result<Vec<Source>>>;

    /// The prompt in which the first such query is asked for.
    fn query_prompt(&mut self, question: &str, beside: &[Source]) -> Result<Vec<Message>>;

    /// What is read for `question` of what was found for it: as much as one call can read, or, where
    /// it is for several, all.
    fn read(
        &mut self,
        question: &str,
        sources: Vec<Source>,
        calls: ReadingCalls,
    ) -> Result<Vec<Reading>>;

    /// How many tokens a call can read beside `question`.
    fn room(&mut self, question: &str) -> Result<Room>;

    /// What a language model replies to each of `prompts`, in their order; they are asked at
    /// once. A call that fails does not keep the replies of the others back. `step` says what
    /// the calls are for.
    fn generate_all(
        &mut self,
        step: &'static str,
        prompts: Vec<Vec<Message>>,
        limits: Limits,
    ) -> Result<Vec<Result<ModelReply>>>;

    /// What was replied to each of these calls, as far as it is kept; `None` also for a call whose reply is not. `step` says
    /// what they are for.
    fn kept(
        &mut self,
        step: &'static str,
        calls: &[Option<KeptCall>],
    ) -> Result<Vec<Option<String>>>;

    /// Keeps replies, as far as they came to their end by themselves.
    fn keep(&mut self, replies: Vec<(KeptCall, ModelReply)>) -> Result<()>;

    /// The template in which the answer is asked for.
    fn answer_template(&mut self) -> Result<Template>;

    /// The form in which the answer is asked for; `None`: it is free text.
    fn answer_form(&self) -> Option<AnswerForm>;

    /// Whether who answers may use what it knows itself.
    fn has_own_knowledge(&self) -> bool;

    /// Questions of the past with answers, which the call that answers is shown.
    fn examples(&self) -> &[String];

    /// The template called `name`, of a step.
    fn template(&mut self, name: &str) -> Result<Template>;

    /// Letters and digits that can't be foretold.
    fn nonce(&mut self) -> Result<String>;

    /// Milliseconds since the answer was asked for.
    fn elapsed_ms(&self) -> u64;
}

/// Where the answer to a question is to be looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WantedSources {
    /// In documents.
    #[default]
    Documents,
    /// In the rows of a query.
    Rows,
    /// In documents, and in the rows of a query about them.
    Both,
}

/// For how many calls something is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadingCalls {
    /// For one call, which reads all of it.
    One,
    /// For several calls, of which each reads a part.
    Several,
}

/// What a call may take at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Longest reply, in tokens.
    pub max_tokens: Option<u32>,
    /// Longest time, in milliseconds.
    pub timeout_ms: Option<u64>,
}

/// What a language model wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelReply {
    /// The text that was written.
    pub text: String,
    /// Why it ends, as the provider says.
    pub finish_reason: String,
    /// Tokens read, if the provider says.
    pub prompt_tokens: Option<u64>,
    /// Tokens among these that were in the provider's cache of prompts, if the provider says.
    pub cached_tokens: Option<u64>,
    /// Tokens written, if the provider says.
    pub completion_tokens: Option<u64>,
    /// Calls made, the retried ones included.
    pub attempts: u32,
    /// What it calls for; `None` where no tools were offered.
    pub tools: Option<ToolReply>,
}
