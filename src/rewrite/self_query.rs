//! What the question says about metadata, as a filter.
//!
//! The filter is checked like one that the caller gives, and its values against the types of their
//! columns, before anything is asked with it. The model is asked once more with what is wrong; if
//! that does not help, the search goes without a filter and says so.

use serde_json::{Value as Json, json};

use super::{Lookup, Merge, Result, RewriteTask, Rewriting};
use crate::error::Error;
use crate::exact;
use crate::prompt::messages::Message;
use crate::prompt::object;
use crate::prompt::writer::Writer;

/// Longest text to look for, in characters; what is longer is cut.
const LONGEST: usize = 500;

/// The question without what its filter says.
pub(super) fn rewrite(task: &RewriteTask<'_>, writer: &mut dyn Writer) -> Result<Rewriting> {
    if task.columns.is_empty() {
        let remark = "the pipeline has no metadata column that a question could be about";
        return Ok(Rewriting { remark: Some(remark.into()), ..Rewriting::none(task.question) });
    }
    let mut messages = task.messages()?;
    let mut calls = 0;
    loop {
        let answer = writer.write(&messages)?;
        calls += 1;
        let error = match read(&answer, task) {
            Ok(rewriting) => return Ok(rewriting),
            Err(error) => error,
        };
        if calls >= task.options.calls().min(2) {
            let remark = format!(
                "the language model gave no filter that can be used; the question is looked up without one: {error}"
            );
            return Ok(Rewriting { remark: Some(remark), ..Rewriting::none(task.question) });
        }
        messages.extend(repair(&answer, &error));
    }
}

/// What tells a model what is wrong with its answer.
fn repair(answer: &str, error: &Error) -> [Message; 2] {
    let hint = error.hint_text().map(|hint| format!(" {hint}")).unwrap_or_default();
    let content = format!(
        "That cannot be used: {error}.{hint} Reply with the corrected JSON object and nothing else."
    );
    let answer = answer.chars().take(4000).collect::<String>();
    let message = |role: &str, content| Message { role: role.to_owned(), content };
    [message("assistant", answer), message("user", content)]
}

fn read(answer: &str, task: &RewriteTask<'_>) -> Result<Rewriting> {
    let found = match object::find_exact(answer) {
        Some(Json::Object(found)) => found,
        _ => return Err(Error::invalid("the answer is not a JSON object")),
    };
    let unknown = found.keys().find(|name| !["query", "filter"].contains(&name.as_str()));
    if let Some(unknown) = unknown {
        return Err(Error::invalid(format!("there is no member \"{unknown}\""))
            .hint("The members are \"query\" and \"filter\"."));
    }
    let filter = match found.get("filter") {
        None | Some(Json::Null) => json!({}),
        Some(filter) => filter.clone(),
    };
    (task.check)(&filter)?;
    let text = match found.get("query").and_then(exact::text).map(str::trim) {
        Some(text) if text.chars().any(char::is_alphanumeric) => {
            text.chars().take(LONGEST).collect()
        }
        _ => task.question.to_owned(),
    };
    let is_empty = filter.as_object().is_some_and(serde_json::Map::is_empty);
    Ok(Rewriting {
        filter: (!is_empty).then_some(filter),
        ..Rewriting::of(vec![Lookup::question(text)], Merge::Union)
    })
}
