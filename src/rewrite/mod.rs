//! # rewrite: what should be looked up for this question?
//!
//! ```text
//! (question, way, template, language model) → lookups, how their findings are merged, a filter
//! ```
//!
//! Users ask in other words than documents answer in. A language model can ask in more words
//! ([`multi_query`]), answer before anything was found ([`hyde`]), ask for the rule behind the case
//! ([`step_back`]), ask one thing after the other ([`decompose`]), or read a filter out of the
//! question ([`self_query`]). [`feedback`] takes the words of what was found first and needs no
//! language model. [`route`] chooses where to look. [`condense`] and [`follow_up`] make a question that follows
//! others stand alone, and [`history`] reads those others where a program tells them.
//!
//! What a model writes is not trusted: it is read by [`list`](crate::prompt::list) and [`object`](crate::prompt::object), which take what they
//! understand and leave the rest, and becomes words to look for or values to compare with, never
//! anything else. Where nothing of it can be used, the question is looked up as it is, and a remark
//! says so.

pub mod condense;
pub mod decompose;
pub mod feedback;
pub mod follow_up;
pub mod history;
pub mod hyde;
pub mod multi_query;
pub mod options;
pub mod route;
pub mod self_query;
pub mod step_back;
mod unspaced;

use serde_json::Value as Json;

pub use options::RewriteOptions;

use crate::error::{Error, ErrorKind, Result};
use crate::prompt::messages::Message;
use crate::prompt::place;
use crate::prompt::template::{Template, Value};
use crate::prompt::writer::Writer;

/// How a question is rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RewriteMethod {
    /// Other wordings; what any of them finds near its top counts.
    MultiQuery,
    /// Other wordings; what many of them find counts.
    Fusion,
    /// Passages that would answer it are compared with those that there are.
    Hyde,
    /// The more general question is asked, too.
    StepBack,
    /// Sub-questions, each of which gets its share.
    Decompose,
    /// What it says about metadata becomes a filter.
    SelfQuery,
    /// The words and vectors of what was found first are added to it.
    Prf,
}

impl RewriteMethod {
    /// All of them, as users write them.
    pub const ALL: [(&'static str, RewriteMethod); 7] = [
        ("multi_query", RewriteMethod::MultiQuery),
        ("fusion", RewriteMethod::Fusion),
        ("hyde", RewriteMethod::Hyde),
        ("step_back", RewriteMethod::StepBack),
        ("decompose", RewriteMethod::Decompose),
        ("self_query", RewriteMethod::SelfQuery),
        ("prf", RewriteMethod::Prf),
    ];

    /// What users can write: no way, or the name of one.
    const NAMES: [&'static str; RewriteMethod::ALL.len() + 1] = {
        let mut names = ["none"; RewriteMethod::ALL.len() + 1];
        let mut at = 0;
        while at < RewriteMethod::ALL.len() {
            names[at + 1] = RewriteMethod::ALL[at].0;
            at += 1;
        }
        names
    };

    /// The way called `name`; `None` for 'none'. An error for a name that is none.
    pub fn named(name: &str) -> Result<Option<RewriteMethod>> {
        let found = RewriteMethod::ALL.iter().find(|(known, _)| *known == name);
        match (name, found) {
            ("none", _) => Ok(None),
            (_, Some((_, way))) => Ok(Some(*way)),
            (_, None) => {
                Err(Error::new(ErrorKind::InvalidParameter, format!("unknown rewrite \"{name}\""))
                    .hint(format!("Known values: {}.", RewriteMethod::NAMES.join(", "))))
            }
        }
    }

    /// The name that users write.
    #[must_use]
    pub fn name(self) -> &'static str {
        RewriteMethod::ALL.iter().find(|(_, way)| *way == self).map_or("", |(name, _)| *name)
    }

    /// The template in which a language model is asked; `None` where none is.
    #[must_use]
    pub fn template(self) -> Option<&'static str> {
        match self {
            RewriteMethod::Fusion => Some(RewriteMethod::MultiQuery.name()),
            RewriteMethod::Prf => None,
            way => Some(way.name()),
        }
    }

    /// How many questions or passages are wanted if the options don't say.
    fn usual_number(self) -> u32 {
        match self {
            RewriteMethod::MultiQuery => 3,
            RewriteMethod::Fusion | RewriteMethod::Decompose => 4,
            _ => 1,
        }
    }
}

/// How what several lookups find becomes one list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// By the best place that a chunk has anywhere.
    Union,
    /// By the sum of the reciprocals of its places.
    Reciprocal,
    /// By the sum of the reciprocals of its places, where every list after the first counts half.
    Feedback,
    /// By taking one of each list in turn.
    Shares,
}

/// Something to look up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// Its words are those that are looked for, and it is embedded as a question.
    pub text: String,
    /// Texts that are embedded as passages; the vector is the mean of all.
    pub passages: Vec<String>,
}

impl Lookup {
    /// A lookup of a question, by its words and its vector.
    #[must_use]
    pub fn question(text: impl Into<String>) -> Lookup {
        Lookup { text: text.into(), passages: Vec::new() }
    }
}

/// What a question has become.
#[derive(Clone, Debug, PartialEq)]
pub struct Rewriting {
    /// What is looked up.
    pub lookups: Vec<Lookup>,
    /// What becomes of what they find.
    pub merge: Merge,
    /// A filter of the metadata, checked, that must hold beside the caller's own.
    pub filter: Option<Json>,
    /// What the caller should know.
    pub remark: Option<String>,
}

impl Rewriting {
    /// The question and nothing else.
    #[must_use]
    pub fn none(question: &str) -> Rewriting {
        Rewriting::of(vec![Lookup::question(question)], Merge::Union)
    }

    /// The question, with what it finds looked up again.
    #[must_use]
    pub fn feedback(question: &str) -> Rewriting {
        Rewriting { merge: Merge::Feedback, ..Rewriting::none(question) }
    }

    fn of(lookups: Vec<Lookup>, merge: Merge) -> Rewriting {
        Rewriting { lookups, merge, filter: None, remark: None }
    }

    /// The question as it is, since a model wrote nothing of use.
    fn given_up(question: &str, what: &str) -> Rewriting {
        let remark = format!("the language model gave {what}; the question is looked up as it is");
        Rewriting { remark: Some(remark), ..Rewriting::none(question) }
    }
}

/// What is to be rewritten.
pub struct RewriteTask<'a> {
    /// The question to be rewritten.
    pub question: &'a str,
    /// The way in which it is rewritten.
    pub way: RewriteMethod,
    /// How many questions or passages, and of how many calls.
    pub options: &'a RewriteOptions,
    /// The template in which a language model is asked.
    pub template: &'a Template,
    /// The metadata that can be filtered by: name and type of each column.
    pub columns: &'a [(String, String)],
    /// The date, as 2024-12-31.
    pub today: &'a str,
    /// Fails if a filter cannot be used.
    pub check: &'a dyn Fn(&Json) -> Result<()>,
}

impl RewriteTask<'_> {
    fn number(&self) -> usize {
        self.options.n.unwrap_or_else(|| self.way.usual_number()) as usize
    }

    fn messages(&self) -> Result<Vec<Message>> {
        let columns = self.columns.iter();
        let columns =
            columns.map(|(name, sql)| vec![("name", name.clone()), ("type", sql.clone())]);
        let values = vec![
            ("question", Value::Text(self.question.trim().to_owned())),
            ("n", Value::Number(self.number() as u32)),
            ("columns", Value::List(columns.collect())),
            ("today", Value::Text(self.today.to_owned())),
        ];
        self.template.render(&values, place::REWRITE.needed)
    }
}

/// An error where a language model cannot be asked in the words of `template` to rewrite a question.
pub fn check_template(template: &Template) -> Result<()> {
    let task = RewriteTask {
        question: "question",
        way: RewriteMethod::MultiQuery,
        options: &RewriteOptions::default(),
        template,
        columns: &[("column".to_owned(), "text".to_owned())],
        today: "2024-12-31",
        check: &|_: &Json| Ok(()),
    };
    task.messages().map(drop)
}

/// Rewrites a question. For [`RewriteMethod::Prf`] this is the first lookup; the second needs what it finds.
pub fn rewrite(task: &RewriteTask<'_>, writer: &mut dyn Writer) -> Result<Rewriting> {
    match task.way {
        RewriteMethod::MultiQuery => multi_query::rewrite(task, Merge::Union, writer),
        RewriteMethod::Fusion => multi_query::rewrite(task, Merge::Reciprocal, writer),
        RewriteMethod::Hyde => hyde::rewrite(task, writer),
        RewriteMethod::StepBack => step_back::rewrite(task, writer),
        RewriteMethod::Decompose => decompose::rewrite(task, writer),
        RewriteMethod::SelfQuery => self_query::rewrite(task, writer),
        RewriteMethod::Prf => Ok(Rewriting::feedback(task.question)),
    }
}

#[cfg(test)]
mod tests;
