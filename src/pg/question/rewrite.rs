//! Rewriting, seen from a session: which model writes, and what was written lately.

use std::cell::RefCell;
use std::collections::VecDeque;

use pgrx::prelude::*;
use serde_json::Value as Json;

use crate::error::{Error, ErrorKind, Result};
use crate::extract::EXTRACTIVE;
use crate::pg::catalog::template;
use crate::pg::catalog::view::Column;
use crate::pg::ragd::generate::generate_by;
use crate::pg::ragd::{provider, usage};
use crate::pg::server::{guc, sql};
use crate::prompt::messages::Message;
use crate::prompt::template::Template;
use crate::prompt::writer::Writer;
use crate::protocol::ProviderConfig;
use crate::retrieve::{filter, value};
use crate::rewrite::{RewriteOptions, Rewriting, Task, Way, rewrite};

/// Longest answer of a language model, in tokens, unless the options say otherwise.
const TOKENS: u32 = 1000;

/// Answers that a session remembers.
const REMEMBERED: usize = 64;

/// Longest question to the model and answer that are remembered together, in bytes.
const LONGEST_REMEMBERED: usize = 64 << 10;

thread_local! {
    static MEMO: RefCell<VecDeque<(Asked, String)>> = const { RefCell::new(VecDeque::new()) };
}

/// What decides an answer. The messages are made of a version of a template and of the question.
#[derive(Clone, PartialEq)]
struct Asked {
    base_url: String,
    model: String,
    temperature: f32,
    max_tokens: Option<u32>,
    messages: Vec<Message>,
}

/// Rewrites the questions of a search.
pub struct Rewriter {
    /// How the questions are rewritten.
    pub way: Way,
    options: RewriteOptions,
    /// The template and the language model, where one is asked.
    asks: Option<(Template, Llm)>,
    /// Names and types of the metadata columns that a filter can be made of.
    columns: Vec<(String, String)>,
}

impl Rewriter {
    /// Fails where `way` needs a language model and there is none, or it may not be used.
    pub fn new(
        way: Way,
        options: &RewriteOptions,
        llm: Option<&str>,
        metadata: &[Column],
    ) -> Result<Rewriter> {
        let asks = match way.template() {
            None => None,
            Some(usual) => {
                let llm = Llm::named(&format!("rewrite \"{}\"", way.name()), options, llm)?;
                Some((template::find(options.template.as_deref().unwrap_or(usual))?, llm))
            }
        };
        let columns = metadata.iter().map(|column| (column.bare(), column.sql_type.clone()));
        let columns = columns.filter(|(_, sql_type)| value::is_checked(sql_type)).collect();
        Ok(Rewriter { way, options: options.clone(), asks, columns })
    }

    /// What is looked up for `question`.
    pub fn rewrite(&self, question: &str) -> Result<Rewriting> {
        let Some((template, llm)) = &self.asks else {
            return Ok(Rewriting::feedback(question));
        };
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let check = |filter: &Json| {
            let conditions = filter::parse(filter, &names)?;
            value::check(&conditions, &self.columns)
        };
        let task = Task {
            question,
            way: self.way,
            options: &self.options,
            template,
            columns: &self.columns,
            today: &today()?,
            check: &check,
        };
        let rewriting = rewrite(&task, &mut llm.writer())?;
        if let Some(remark) = &rewriting.remark {
            notice!("{remark}");
        }
        Ok(rewriting)
    }
}

/// A language model that the current role may use.
pub struct Llm {
    provider: ProviderConfig,
    temperature: f32,
    max_tokens: Option<u32>,
    calls: u32,
}

impl Llm {
    /// The one that `options` name, or `llm`, or that of `rag.llm`; `what` needs it.
    pub fn named(what: &str, options: &RewriteOptions, llm: Option<&str>) -> Result<Llm> {
        let name = options.llm.as_deref().or(llm).map_or_else(guc::llm, str::to_owned);
        if name == EXTRACTIVE {
            let message = format!(
                "{what} needs a language model, and the built-in answerer \"extractive\" is none"
            );
            return Err(Error::new(ErrorKind::Unsupported, message).hint(
                "CREATE SERVER ... FOREIGN DATA WRAPPER rag_llm, then SET rag.llm to its name. The rewrite 'prf' and the route 'similarity' need none.",
            ));
        }
        Ok(Llm {
            provider: provider::config(&name)?,
            temperature: options.temperature,
            max_tokens: Some(options.max_tokens.unwrap_or(TOKENS)),
            calls: options.calls(),
        })
    }

    /// A writer that may make as many calls as the options allow.
    pub fn writer(&self) -> Calls<'_> {
        Calls { llm: self, left: self.calls }
    }
}

/// The calls of one rewriting.
pub struct Calls<'a> {
    llm: &'a Llm,
    left: u32,
}

impl Writer for Calls<'_> {
    /// What this session was answered lately is not asked again.
    fn write(&mut self, messages: &[Message]) -> Result<String> {
        let Llm { provider, temperature, max_tokens, calls } = self.llm;
        let asked = Asked {
            base_url: provider.base_url.clone(),
            model: provider.model.clone(),
            temperature: *temperature,
            max_tokens: *max_tokens,
            messages: messages.to_vec(),
        };
        if let Some(answer) = recall(&asked) {
            usage::note_cache_hit();
            return Ok(answer);
        }
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            Error::new(
                ErrorKind::OutOfResources,
                format!("rewriting takes more than {calls} calls"),
            )
            .hint("Raise max_calls of the option rewrite.")
        })?;
        let answer =
            generate_by(provider.clone(), messages.to_vec(), *temperature, *max_tokens)?.text;
        remember(asked, &answer);
        Ok(answer)
    }
}

/// Forgets all that this session was answered.
pub fn forget() {
    MEMO.with_borrow_mut(VecDeque::clear);
}

fn recall(asked: &Asked) -> Option<String> {
    MEMO.with_borrow_mut(|memo| {
        let place = memo.iter().position(|(known, _)| known == asked)?;
        // The last used stands in front, the longest unused falls off the end.
        let entry = memo.remove(place)?;
        memo.push_front(entry);
        memo.front().map(|(_, answer)| answer.clone())
    })
}

fn remember(asked: Asked, answer: &str) {
    let length: usize = asked.messages.iter().map(|message| message.content.len()).sum();
    if length + answer.len() > LONGEST_REMEMBERED {
        return;
    }
    MEMO.with_borrow_mut(|memo| {
        memo.truncate(REMEMBERED - 1);
        memo.push_front((asked, answer.to_owned()));
    });
}

fn today() -> Result<String> {
    let found = sql::rows(include_str!("../../../sql/query/today.sql"), &[], |row| {
        sql::required(row.get::<String>(1)?)
    })?;
    found.into_iter().next().ok_or_else(|| Error::new(ErrorKind::Internal, "there is no date"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> Asked {
        let messages = vec![Message { role: "user".to_owned(), content: text.to_owned() }];
        let (base_url, model) = ("http://h/v1".to_owned(), "m".to_owned());
        Asked { base_url, model, temperature: 0.0, max_tokens: None, messages }
    }

    #[test]
    fn what_was_said_of_late_is_remembered() {
        (0..REMEMBERED).for_each(|n| remember(asked(&n.to_string()), "a"));
        assert_eq!(recall(&asked("0")).as_deref(), Some("a"));
        remember(asked("new"), "b");
        assert_eq!(recall(&asked("0")).as_deref(), Some("a"));
        assert_eq!(recall(&asked("1")), None);
        let other = Asked { model: "n".to_owned(), ..asked("new") };
        assert_eq!(recall(&other), None);
        remember(asked("long"), &"x".repeat(LONGEST_REMEMBERED));
        assert_eq!(recall(&asked("long")), None);
        forget();
        assert_eq!(recall(&asked("new")), None);
    }
}
