//! What is in a judged set?
//!
//! ```text
//! {"id": "q1", "text": "Who ...?", "answer": ["..."], "relevant": [...]}     a case
//! {"_id": "q1", "text": "Who ...?"}, and judgements beside it               BEIR
//! {"id": "q1", "text": "Who ...?", "corpus_id": "d1",
//!  "references": [{"start_index": 10, "end_index": 90}]}                    spans of a document
//! ```
//!
//! Public sets use many names for the same thing and bring fields of their own, so the usual names
//! are known and other fields are passed over.

use serde_json::{Map, Value, json};

use super::judgement::Judgements;
use super::qrels::{self, Judged};
use crate::error::{Error, Result};
use crate::exact;

/// The names that are known, for hints.
const NAMES: &str = "Known fields: question (or text, query), label (or id), answers (or answer), \
                     relevant, references with corpus_id, filter.";

/// A case to be kept.
#[derive(Clone, Debug, PartialEq)]
pub struct NewCase {
    /// What it is called in its set; its question if it has no name.
    pub label: String,
    /// What is asked.
    pub question: String,
    /// Expected answers, any of which will do.
    pub answers: Vec<String>,
    /// What is relevant, as [`super::judgement`] reads it.
    pub relevant: Value,
    /// A filter of the metadata, as `rag_retrieve` takes it.
    pub filter: Option<Value>,
}

/// Cases, and how many questions were left out because nothing is said about them.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The cases, in the order of the data.
    pub cases: Vec<NewCase>,
    /// How many questions have no judgement.
    pub unjudged: usize,
}

/// Reads cases: an array of them, or an object with `queries` and `qrels`, in which keys and filters have numbers as
/// [`exact::read`] reads them. `interrupt` is called for each case, and may unwind.
pub fn from_json(data: &Value, interrupt: &mut dyn FnMut()) -> Result<Loaded> {
    match data {
        Value::Array(items) => from_items(items, None, interrupt),
        Value::Object(set) if set.contains_key("queries") => {
            let judged = qrels::from_json(set.get("qrels").unwrap_or(&Value::Null))?;
            from_items(&queries(&set["queries"])?, Some(&judged), interrupt)
        }
        _ => Err(Error::invalid(
            "the data is neither an array of cases nor an object with queries and qrels",
        )
        .hint("For instance [{\"question\": \"Who ...?\", \"relevant\": [\"17\"]}].")),
    }
}

/// Reads lines of JSON, one a case; the judgements are in the lines or in `judged`. `interrupt` is
/// called for each, and may unwind.
pub fn from_lines(
    lines: &str,
    judged: Option<&Judged>,
    interrupt: &mut dyn FnMut(),
) -> Result<Loaded> {
    let numbered = lines.trim_start_matches('\u{feff}').lines().enumerate();
    let written = numbered.filter(|(_, line)| !line.trim().is_empty());
    let items: Result<Vec<Value>> = written
        .map(|(at, line)| {
            interrupt();
            exact::read(line).map_err(|error| {
                Error::invalid(format!("line {} of the questions: {error}", at + 1))
            })
        })
        .collect();
    from_items(&items?, judged, interrupt)
}

/// BEIR's `{"id": "text"}` as a list.
fn queries(queries: &Value) -> Result<Vec<Value>> {
    match queries {
        Value::Array(items) => Ok(items.clone()),
        Value::Object(texts) => {
            Ok(texts.iter().map(|(id, text)| json!({"id": id, "text": text})).collect())
        }
        _ => Err(Error::invalid("queries is neither an array nor an object")),
    }
}

fn from_items(
    items: &[Value],
    judged: Option<&Judged>,
    interrupt: &mut dyn FnMut(),
) -> Result<Loaded> {
    let mut loaded = Loaded { cases: Vec::with_capacity(items.len()), unjudged: 0 };
    for (at, item) in items.iter().enumerate() {
        interrupt();
        let in_case = |error: Error| match error.detail_text() {
            None => error.detail(format!("Case {} of the data.", at + 1)),
            Some(_) => error,
        };
        let case = read(item, judged).map_err(in_case)?;
        Judgements::parse(&case.relevant).map_err(in_case)?;
        let says_nothing = case.relevant == json!([]) && case.answers.is_empty();
        match (says_nothing, judged) {
            (false, _) => loaded.cases.push(case),
            (true, Some(_)) => loaded.unjudged += 1,
            (true, None) => {
                let message = "the case says neither what is relevant nor what the answer is";
                return Err(in_case(Error::invalid(message).hint(NAMES)));
            }
        }
    }
    Ok(loaded)
}

fn read(item: &Value, judged: Option<&Judged>) -> Result<NewCase> {
    let Value::Object(fields) = item else {
        return Err(Error::invalid("the case is not a JSON object").hint(NAMES));
    };
    let question = text(first(fields, &["question", "text", "query"]), "question")?
        .filter(|question| !question.trim().is_empty())
        .ok_or_else(|| Error::invalid("the case has no question").hint(NAMES))?;
    let label = text(first(fields, &["label", "id", "_id"]), "label")?;
    let label = label.unwrap_or_else(|| question.clone());
    let relevant = match judged {
        Some(judged) => json!(judged.get(&label).cloned().unwrap_or_default()),
        None => relevant(fields)?,
    };
    Ok(NewCase {
        relevant,
        answers: texts(first(fields, &["answers", "answer", "expected_answer"]))?,
        filter: filter(fields.get("filter"))?,
        label,
        question,
    })
}

fn first<'a>(fields: &'a Map<String, Value>, names: &[&str]) -> Option<&'a Value> {
    names.iter().find_map(|name| fields.get(*name)).filter(|value| !value.is_null())
}

fn text(value: Option<&Value>, name: &str) -> Result<Option<String>> {
    let Some(value) = value else { return Ok(None) };
    let text = exact::number(value).or_else(|| value.as_str().map(str::to_owned));
    text.map(Some).ok_or_else(|| {
        let other = exact::written(value);
        Error::invalid(format!("{name} is not a text: {other}")).hint(NAMES)
    })
}

fn texts(value: Option<&Value>) -> Result<Vec<String>> {
    let one = |value| Ok(text(Some(value), "answer")?.unwrap_or_default());
    let texts: Result<Vec<String>> = match value {
        None => Ok(Vec::new()),
        Some(Value::Array(values)) => values.iter().map(one).collect(),
        Some(value) => one(value).map(|text| vec![text]),
    };
    Ok(texts?.into_iter().filter(|text| !text.trim().is_empty()).collect())
}

fn filter(value: Option<&Value>) -> Result<Option<Value>> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(filter @ Value::Object(_)) => Ok(Some(filter.clone())),
        Some(other) => {
            let other = exact::written(other);
            Err(Error::invalid(format!("filter is not a JSON object: {other}")))
        }
    }
}

fn relevant(fields: &Map<String, Value>) -> Result<Value> {
    if let Some(relevant) = first(fields, &["relevant"]) {
        return Ok(relevant.clone());
    }
    let Some(references) = first(fields, &["references"]) else { return Ok(json!([])) };
    let not_understood = || {
        Error::invalid("references is not a list of objects with start_index and end_index")
            .hint("corpus_id of the case or of the reference says which row they are in.")
    };
    let spans: Option<Vec<Value>> = references
        .as_array()
        .ok_or_else(not_understood)?
        .iter()
        .map(|reference| {
            let key = reference.get("corpus_id").or_else(|| fields.get("corpus_id"))?;
            let (start, end) = (reference.get("start_index")?, reference.get("end_index")?);
            Some(json!({"source_key": key, "start_char": start, "end_char": end}))
        })
        .collect();
    Ok(Value::Array(spans.ok_or_else(not_understood)?))
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
