//! Rewriting, seen from a session: which model writes, and what was written lately.

use std::cell::RefCell;
use std::collections::BTreeMap;

use pgrx::prelude::*;
use serde_json::Value as Json;

use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::template;
use crate::pg::catalog::view::ViewColumn;
use crate::pg::ragd::cache;
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::generate::{Sampling, ask, request, withhold};
use crate::pg::ragd::llm::Llm;
use crate::pg::ragd::usage;
use crate::pg::server::sql::today;
use crate::prompt::messages::Message;
use crate::prompt::template::Template;
use crate::prompt::writer::Writer;
use crate::protocol::{Generated, ProviderConfig, SamplingParameters};
use crate::recent::Recent;
use crate::redact::PiiKind;
use crate::redact::withheld::WithheldValues;
use crate::retrieve::value;
use crate::rewrite::{RewriteMethod, RewriteOptions, RewriteTask, Rewriting, rewrite};

/// Longest answer of a language model, in tokens, unless the options say otherwise.
const TOKENS: u32 = 1000;

/// Answers that a session remembers.
const REMEMBERED: usize = 64;

/// Longest question to the model and answer that are remembered together, in bytes.
const LONGEST_REMEMBERED: usize = 64 << 10;

thread_local! {
    static MEMO: RefCell<Recent<RewriteKey, RewriteReply>> = RefCell::new(Recent::new(REMEMBERED));
}

/// What was answered.
#[derive(Clone)]
struct RewriteReply {
    text: String,
    /// What a model has found that was not sent: where the reply is given again, none looks for it.
    withheld: BTreeMap<String, PiiKind>,
}

/// What decides an answer. The messages are made of a version of a template and of the question.
#[derive(Clone, PartialEq, Eq, Hash)]
struct RewriteKey {
    /// Who asks whom: the role, and the server with all its options, its key and its proxy among them.
    asked: String,
    /// As bits, which can be compared and hashed.
    temperature: u32,
    max_tokens: Option<u32>,
    messages: Vec<Message>,
}

/// Rewrites the questions of a search.
pub struct Rewriter {
    /// How the questions are rewritten.
    pub way: RewriteMethod,
    options: RewriteOptions,
    /// In which words which model is asked, where one is.
    asks: Option<(Template, RewriteModel)>,
    /// Names and types of the metadata columns that a filter can be made of.
    columns: Vec<(String, String)>,
}

impl Rewriter {
    /// Fails where `way` needs a language model and there is none, or it may not be used.
    pub fn new(
        way: RewriteMethod,
        options: &RewriteOptions,
        llm: Option<&str>,
        metadata: &[ViewColumn],
    ) -> Result<Rewriter> {
        let asks = match way.template() {
            None => None,
            Some(usual) => {
                let llm =
                    RewriteModel::named(&format!("rewrite \"{}\"", way.name()), options, llm)?;
                Some((template::find(options.template.as_deref().unwrap_or(usual))?, llm))
            }
        };
        let columns = metadata.iter().map(|column| (column.bare(), column.sql_type.clone()));
        let columns = columns.filter(|(_, sql_type)| value::is_checked(sql_type)).collect();
        Ok(Rewriter { way, options: options.clone(), asks, columns })
    }

    /// The same, which keeps these values from its provider.
    #[must_use]
    pub fn withholding(mut self, values: &WithheldValues) -> Rewriter {
        self.asks = self.asks.map(|(template, llm)| (template, llm.withholding(values)));
        self
    }

    /// What is looked up for `question`.
    pub fn rewrite(&self, question: &str, context: &CallContext) -> Result<Rewriting> {
        let Some((template, llm)) = &self.asks else {
            return Ok(Rewriting::feedback(question));
        };
        let check = |filter: &Json| value::check_filter(filter, &self.columns);
        let task = RewriteTask {
            question,
            way: self.way,
            options: &self.options,
            template,
            columns: &self.columns,
            today: &today()?,
            check: &check,
        };
        let rewriting = rewrite(&task, &mut llm.writer(*context))?;
        if let Some(remark) = &rewriting.remark {
            notice!("{remark}");
        }
        Ok(rewriting)
    }
}

/// A language model that rewrites, with what a call of it may take.
pub struct RewriteModel {
    provider: ProviderConfig,
    temperature: f32,
    max_tokens: Option<u32>,
    calls: u32,
}

impl RewriteModel {
    /// The same, which keeps these values from its provider.
    #[must_use]
    pub fn withholding(mut self, values: &WithheldValues) -> RewriteModel {
        self.provider.special.withheld = values.clone();
        self
    }

    /// The one that `options` name, or `llm`, or that of `rag.llm`; `what` needs it.
    pub fn named(what: &str, options: &RewriteOptions, llm: Option<&str>) -> Result<RewriteModel> {
        let llm = Llm::or_default(options.llm.as_deref().or(llm))?;
        let provider = llm.provider_for(what).map_err(|error| {
            error.hint(
                "CREATE SERVER ... FOREIGN DATA WRAPPER rag_llm, then SET rag.llm to its name. The rewrite 'prf' and the routes 'search' and 'similarity' need none.",
            )
        })?;
        Ok(RewriteModel {
            provider: provider.clone(),
            temperature: options.temperature,
            max_tokens: Some(options.max_tokens.unwrap_or(TOKENS)),
            calls: options.calls(),
        })
    }

    /// A writer that may make as many calls as the options allow.
    pub fn writer(&self, context: CallContext) -> RewriteCalls<'_> {
        RewriteCalls { llm: self, context, left: self.calls }
    }
}

/// The calls of one rewriting.
pub struct RewriteCalls<'a> {
    llm: &'a RewriteModel,
    context: CallContext,
    left: u32,
}

impl Writer for RewriteCalls<'_> {
    /// What this session was answered lately is not asked again.
    fn write(&mut self, messages: &[Message]) -> Result<String> {
        let RewriteModel { provider, temperature, max_tokens, calls } = self.llm;
        let asked = RewriteKey {
            asked: cache::of_caller(&cache::named(provider)),
            temperature: temperature.to_bits(),
            max_tokens: *max_tokens,
            messages: messages.to_vec(),
        };
        let parameters = SamplingParameters::of_temperature(*temperature);
        let sampling = Sampling { parameters, max_tokens: *max_tokens, within_ms: None };
        let request = request(provider, messages.to_vec(), sampling, self.context.lane);
        if let Some(RewriteReply { text, withheld }) = recall(&asked) {
            usage::note_cache_hit();
            // What later calls are not to send is found as if the model had been asked.
            withhold(&request);
            provider.special.withheld.add(withheld);
            return Ok(text);
        }
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            Error::new(
                ErrorKind::OutOfResources,
                format!("rewriting takes more than {calls} calls"),
            )
            .hint("Raise max_calls of the option \"retrieve.rewrite\".")
        })?;
        let Generated { text, withheld, .. } = ask(request, &self.context)?;
        remember(asked, RewriteReply { text: text.clone(), withheld });
        Ok(text)
    }
}

/// Forgets all that this session was answered.
pub fn forget() {
    MEMO.with_borrow_mut(Recent::clear);
}

fn recall(asked: &RewriteKey) -> Option<RewriteReply> {
    MEMO.with_borrow_mut(|memo| memo.get(asked).cloned())
}

fn remember(asked: RewriteKey, reply: RewriteReply) {
    let length: usize = asked.messages.iter().map(|message| message.content.len()).sum();
    if length + reply.text.len() <= LONGEST_REMEMBERED {
        MEMO.with_borrow_mut(|memo| memo.put(asked, reply));
    }
}

#[cfg(feature = "pg_test")]
mod tests {
    use super::*;
    use crate::pg::server::sql;

    fn asked(text: &str) -> RewriteKey {
        let messages = vec![Message { role: "user".to_owned(), content: text.to_owned() }];
        let asked = cache::of_caller("m");
        RewriteKey { asked, temperature: 0, max_tokens: None, messages }
    }

    fn reply(text: &str) -> RewriteReply {
        let withheld = BTreeMap::from([("anna lind".to_owned(), PiiKind::Person)]);
        RewriteReply { text: text.to_owned(), withheld }
    }

    fn recalled(asked: &RewriteKey) -> Option<String> {
        recall(asked).map(|reply| reply.text)
    }

    #[pg_extern]
    fn another_question_or_model_has_another_answer() {
        remember(asked("one"), reply("a"));
        assert_eq!(recalled(&asked("one")).as_deref(), Some("a"));
        assert_eq!(recall(&asked("one")).expect("a reply").withheld, reply("a").withheld);
        assert_eq!(recalled(&asked("two")), None);
        assert_eq!(recalled(&RewriteKey { asked: cache::of_caller("n"), ..asked("one") }), None);
        assert_eq!(recalled(&RewriteKey { temperature: 1.0_f32.to_bits(), ..asked("one") }), None);
        forget();
        assert_eq!(recalled(&asked("one")), None);
    }

    #[pg_extern]
    fn another_role_of_the_session_has_another_answer() {
        let run = |statement| sql::execute(statement, &[]).expect(statement);
        remember(asked("one"), reply("a"));
        run("CREATE ROLE rewrite_clerk");
        run("SET LOCAL ROLE rewrite_clerk");
        assert_eq!(recalled(&asked("one")), None);
        remember(asked("one"), reply("b"));
        assert_eq!(recalled(&asked("one")).as_deref(), Some("b"));
        run("SET LOCAL ROLE NONE");
        assert_eq!(recalled(&asked("one")).as_deref(), Some("a"));
        forget();
    }

    #[pg_extern]
    fn long_answers_are_not_remembered() {
        remember(asked("long"), reply(&"x".repeat(LONGEST_REMEMBERED)));
        assert_eq!(recalled(&asked("long")), None);
    }
}
