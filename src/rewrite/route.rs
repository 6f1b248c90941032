//! Which pipeline is asked?
//!
//! By what they hold: the one with the chunk that is nearest to the question. Or by what they say of
//! themselves: the nearest description, or the one that a language model names.

use serde::Deserialize;

use crate::error::{Error, ErrorKind, Result};
use crate::prompt::place;
use crate::prompt::template::{Template, Value};
use crate::prompt::writer::Writer;
use crate::text::line::single_line;

/// The name that stands for the pipeline that suits the question.
pub const AUTO: &str = "auto";

/// The template in which a language model is asked.
pub const TEMPLATE: &str = "route";

/// How a pipeline is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// By the similarity of the question to the best chunk of each.
    #[default]
    Search,
    /// By the similarity of the question to the descriptions.
    Similarity,
    /// By the choice of a language model.
    Llm,
}

/// A pipeline that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The name of the pipeline.
    pub name: String,
    /// What is in it.
    pub description: String,
}

/// The place of the greatest similarity, the first of those that are equal.
#[must_use]
pub fn nearest(similarities: &[f64]) -> Option<usize> {
    (0..similarities.len()).rev().max_by(|a, b| similarities[*a].total_cmp(&similarities[*b]))
}

/// The place of the choice that a language model names for the question.
pub fn ask(
    question: &str,
    choices: &[Choice],
    template: &Template,
    writer: &mut dyn Writer,
) -> Result<usize> {
    let item = |it: &Choice| {
        vec![("name", it.name.clone()), ("description", single_line(&it.description))]
    };
    let values = vec![
        ("question", Value::Text(question.trim().to_owned())),
        ("pipelines", Value::List(choices.iter().map(item).collect())),
    ];
    let answer = writer.write(&template.render(&values, place::ROUTE.needed)?)?;
    named(&answer, choices).ok_or_else(|| {
        let start: String = answer.chars().take(80).collect();
        let names: Vec<&str> = choices.iter().map(|it| it.name.as_str()).collect();
        Error::new(
            ErrorKind::ProviderFailed,
            format!("the language model named no pipeline but \"{start}\""),
        )
        .hint(format!("Name one yourself: {}; or route by similarity.", names.join(", ")))
    })
}

/// The choice whose name the answer is, or else the one whose name alone is a word of it.
fn named(answer: &str, choices: &[Choice]) -> Option<usize> {
    let edge = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '.' | '*' | '-');
    let bare = answer.trim_matches(edge);
    let is = |name: &str| name.eq_ignore_ascii_case(bare);
    if let Some(place) = choices.iter().position(|it| is(&it.name)) {
        return Some(place);
    }
    let part = |c: char| !(c.is_alphanumeric() || c == '_');
    let holds = |name: &str| answer.split(part).take(200).any(|word| word == name);
    let mut held = (0..choices.len()).filter(|place| holds(&choices[*place].name));
    match (held.next(), held.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices() -> Vec<Choice> {
        ["manual", "news", "old_news"]
            .map(|name| Choice { name: name.to_owned(), description: format!("the\n{name}") })
            .to_vec()
    }

    #[test]
    fn the_nearest_wins() {
        assert_eq!(nearest(&[0.1, 0.7, 0.7, -1.0]), Some(1));
        assert_eq!(nearest(&[]), None);
    }

    #[test]
    fn names_are_read_as_models_write_them() {
        let check = |answer: &str, expected: Option<usize>| {
            assert_eq!(named(answer, &choices()), expected, "{answer:?}");
        };
        check("news", Some(1));
        check(" \"Manual\".\n", Some(0));
        check("The best collection is `old_news`.", Some(2));
        check("manual or news", None);
        check("", None);
        check("neither", None);
        check(&"x ".repeat(10_000), None);
    }

    struct Says(&'static str);

    impl Writer for Says {
        fn write(&mut self, messages: &[crate::prompt::messages::Message]) -> Result<String> {
            assert!(messages[0].content.contains("- old_news: the old_news"));
            assert_eq!(messages[1].content, "Question: What?");
            Ok(self.0.to_owned())
        }
    }

    #[test]
    fn a_model_is_asked() {
        let template = crate::prompt::template::tests::shipped(TEMPLATE);
        let ask = |says| ask("What?", &choices(), &template, &mut Says(says));
        assert_eq!(ask("news").unwrap(), 1);
        let error = ask("drop it").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ProviderFailed);
        assert!(
            error.message().contains("drop it") && error.hint_text().unwrap().contains("manual")
        );
    }
}
