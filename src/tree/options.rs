//! What can be said of trees: the option `tree` of a pipeline, and `retrieve.tree` of a question.

use serde::Deserialize;
use serde_json::Value as Json;

use super::whole::asks_for_whole;
use crate::error::{Error, Result};
use crate::options as json_options;

/// What a pipeline's option `tree` asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TreeOptions {
    /// How chunks and summaries are summed up.
    pub summary: SummaryMethod,
    /// The language model that writes summaries; `None`: `rag.llm` of the session that sets the option.
    pub llm: Option<String>,
    /// The template in which it is asked; `None`: the usual one.
    pub template: Option<String>,
    /// What there is one tree of.
    pub over: TreeScope,
}

/// What there is one tree of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TreeScope {
    /// Each document.
    #[default]
    Document,
    /// Each document, and all of them together.
    Corpus,
}

/// How texts are summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryMethod {
    /// By quoting the sentences that say most, as [`digest`](super::digest) says.
    #[default]
    Extractive,
    /// In words of its own, by a language model.
    Llm,
}

impl TreeOptions {
    /// What the option says; `None` where it is false or null and there is to be no tree.
    ///
    /// Fails with an invalid parameter that names the key, also where a language model or a template is named and
    /// summaries quote.
    pub fn read(option: &Json) -> Result<Option<TreeOptions>> {
        match option {
            Json::Null | Json::Bool(false) => Ok(None),
            Json::Object(_) => {
                let read: TreeOptions = json_options::read("tree", option.clone(), &[])?;
                read.checked().map(Some)
            }
            other => {
                let shown = json_options::shortened(&other.to_string());
                Err(Error::invalid(format!("tree cannot be {shown}"))
                    .hint("It is false, or an object such as {\"summary\": \"extractive\"}."))
            }
        }
    }

    fn checked(self) -> Result<TreeOptions> {
        let unused = match (&self.llm, &self.template) {
            _ if self.summary == SummaryMethod::Llm => return Ok(self),
            (Some(_), _) => "llm",
            (None, Some(_)) => "template",
            (None, None) => return Ok(self),
        };
        let message =
            format!("option \"tree.{unused}\" is only for summaries that a language model writes");
        Err(Error::invalid(message).hint("Say {\"summary\": \"llm\"} beside it, or leave it out."))
    }
}

/// Whether summaries of a tree are read for an answer beside the chunks that were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TreeUse {
    /// Where the pipeline has a tree and the question asks for the whole.
    #[default]
    Auto,
    /// They are not.
    Off,
    /// They are, whatever is asked; an error where the pipeline has no tree.
    On,
}

impl TreeUse {
    /// Whether summaries are read for `question`.
    #[must_use]
    pub fn suits(self, question: &str) -> bool {
        match self {
            TreeUse::Auto => asks_for_whole(question),
            TreeUse::Off => false,
            TreeUse::On => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pipeline_says_how_is_summed_up() {
        let extractive = Some(TreeOptions::default());
        assert_eq!(TreeOptions::read(&json!({"summary": "extractive"})), Ok(extractive.clone()));
        assert_eq!(TreeOptions::read(&json!({})), Ok(extractive));
        let written = json!({"summary": "llm", "llm": "writer", "template": "mine"});
        let read = TreeOptions::read(&written).unwrap().unwrap();
        assert_eq!((read.summary, read.llm.as_deref()), (SummaryMethod::Llm, Some("writer")));
        assert_eq!(read.template.as_deref(), Some("mine"));
        assert_eq!(TreeOptions::read(&json!(false)), Ok(None));
        assert_eq!(TreeOptions::read(&Json::Null), Ok(None));
        let read = TreeOptions::read(&json!({"over": "corpus"})).unwrap().unwrap();
        assert_eq!(
            (read.over, TreeOptions::default().over),
            (TreeScope::Corpus, TreeScope::Document)
        );
        let check = |option, message: &str, hint: &str| {
            let error = TreeOptions::read(&option).unwrap_err();
            assert_eq!((error.message(), error.hint_text()), (message, Some(hint)));
        };
        check(
            json!(true),
            "tree cannot be true",
            "It is false, or an object such as {\"summary\": \"extractive\"}.",
        );
        check(
            json!({"summary": "poem"}),
            "option \"tree.summary\" cannot be \"poem\"",
            "Known values: extractive, llm.",
        );
        check(
            json!({"llm": "writer"}),
            "option \"tree.llm\" is only for summaries that a language model writes",
            "Say {\"summary\": \"llm\"} beside it, or leave it out.",
        );
        check(
            json!({"summary": "extractive", "template": "mine"}),
            "option \"tree.template\" is only for summaries that a language model writes",
            "Say {\"summary\": \"llm\"} beside it, or leave it out.",
        );
        check(
            json!({"fanout": 2}),
            "unknown option \"fanout\" of \"tree\"",
            "Known options: summary, llm, template, over.",
        );
    }

    #[test]
    fn a_question_says_whether_summaries_are_read() {
        let (whole, part) = ("Summarise the handbook.", "When is lunch?");
        let suits = |it: TreeUse| [it.suits(whole), it.suits(part)];
        assert_eq!(suits(TreeUse::Auto), [true, false]);
        assert_eq!(suits(TreeUse::Off), [false, false]);
        assert_eq!(suits(TreeUse::On), [true, true]);
    }
}
