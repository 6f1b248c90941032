//! What functions that ask a pipeline have as arguments of their own.

use serde_json::{Map, Value, json};

use super::{QuestionOptions, WrittenOptions};
use crate::answer::strategy;
use crate::error::Result;
use crate::retrieve::SearchMode;
use crate::rewrite::RewriteMethod;

/// The arguments that are options as well; `None` where nothing is given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuestionArguments<'a> {
    /// How many chunks are found, or read.
    pub k: Option<i32>,
    /// 'dense', 'lexical' or 'hybrid'.
    pub mode: Option<&'a str>,
    /// Conditions on the metadata.
    pub filter: Option<Value>,
    /// The way in which the question is rewritten, or 'none'.
    pub rewrite: Option<&'a str>,
    /// What reads the candidates again, or 'none'.
    pub rerank: Option<&'a str>,
    /// How the chunks are put to the answerer.
    pub strategy: Option<&'a str>,
    /// 'extractive' or the foreign server that writes.
    pub llm: Option<&'a str>,
}

impl QuestionArguments<'_> {
    /// The arguments in the places that they have among the options. An error for one that cannot be, in
    /// the words of an argument.
    pub fn written(&self) -> Result<WrittenOptions> {
        QuestionOptions { k: self.k, ..QuestionOptions::default() }.check()?;
        self.mode.map_or(Ok(()), |name| name.parse::<SearchMode>().map(drop))?;
        self.rewrite.map_or(Ok(()), |name| RewriteMethod::named(name).map(drop))?;
        strategy::named(self.strategy)?;
        let mut retrieve = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            retrieve.extend(value.map(|value| (key.to_owned(), value)));
        };
        put("mode", self.mode.map(|name| json!(name)));
        put("filter", self.filter.clone());
        put("rewrite", self.rewrite.map(|name| json!(name)));
        put("rerank", self.rerank.map(|name| json!(name)));
        let mut all = Map::new();
        all.extend(self.k.map(|k| ("k".to_owned(), json!(k))));
        all.extend(self.llm.map(|llm| ("llm".to_owned(), json!(llm))));
        all.extend((!retrieve.is_empty()).then(|| ("retrieve".to_owned(), retrieve.into())));
        all.extend(self.strategy.map(|it| ("answer".to_owned(), json!({"strategy": it}))));
        Ok(WrittenOptions::of(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_have_places_among_the_options() {
        let all = QuestionArguments {
            k: Some(3),
            mode: Some("dense"),
            filter: Some(json!({"a": 1})),
            rewrite: Some("prf"),
            rerank: Some("llm"),
            strategy: Some("refine"),
            llm: Some("writer"),
        };
        let written = all.written().unwrap();
        assert_eq!(
            written.clone().into_json(),
            json!({"k": 3, "llm": "writer", "answer": {"strategy": "refine"},
                "retrieve": {"mode": "dense", "filter": {"a": 1}, "rewrite": "prf", "rerank": "llm"}})
        );
        assert_eq!(WrittenOptions::read(written.clone().into_json()).unwrap(), written);
        assert!(QuestionArguments::default().written().unwrap().is_empty());
    }

    #[test]
    fn what_cannot_be_is_said_in_the_words_of_an_argument() {
        let check = |arguments: QuestionArguments<'_>, message: &str| {
            assert_eq!(arguments.written().unwrap_err().message(), message);
        };
        let none = QuestionArguments::default;
        check(QuestionArguments { k: Some(0), ..none() }, "k must be between 1 and 10000, not 0");
        check(
            QuestionArguments { mode: Some("sparse"), ..none() },
            "unknown retrieval mode \"sparse\"",
        );
        check(QuestionArguments { rewrite: Some("hide"), ..none() }, "unknown rewrite \"hide\"");
        check(QuestionArguments { strategy: Some("x"), ..none() }, "unknown strategy \"x\"");
    }
}
