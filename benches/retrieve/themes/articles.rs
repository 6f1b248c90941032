//! Paragraphs of articles of Wikipedia, a row each: what is asked for is what several documents say together.
//!
//! The set has five paragraphs of each of 48 articles. Their texts stand without the title, so that it is by their words that they
//! belong together. The pipeline has a tree over all documents. Each article is asked for once, in one of the three ways by
//! turns, and all of its paragraphs are to be covered.

use std::collections::BTreeMap;
use std::path::Path;

use super::{QUESTIONS, Theme, ThemeSet};
use crate::Result;
use crate::sets::Set;

/// Fewest documents of a theme.
const FEWEST_DOCUMENTS: usize = 3;

/// The paragraphs, and a question for each article.
pub fn set(folder: &Path) -> Result<ThemeSet> {
    let set = Set::read(folder, "xquad/en", None)?;
    let (mut rows, mut articles) = (Vec::new(), BTreeMap::<&str, Vec<_>>::new());
    for [id, title, text] in &set.documents {
        rows.push((id.clone(), text.clone()));
        articles.entry(title).or_default().push((id.clone(), 0..text.chars().count() as i64));
    }
    let articles = articles.into_iter().filter(|(_, judged)| judged.len() >= FEWEST_DOCUMENTS);
    let theme = |(number, (title, judged)): (usize, (&str, Vec<_>))| {
        let words = QUESTIONS[number % QUESTIONS.len()];
        Theme { questions: vec![words.replace('X', &title.replace('_', " "))], judged }
    };
    let parts = vec![("articles", articles.enumerate().map(theme).collect())];
    let title = "questions for an article of five documents";
    Ok(ThemeSet { title, rows, tree: r#"{"over": "corpus"}"#, parts, budgets: &[250, 500] })
}
