//! Does an answer have the form that was asked for?
//!
//! ```text
//! (schema, request) → an answer that fits, or where it does not
//! ```
//!
//! A JSON schema goes to the provider in its protocol's own way. Where that is refused, plain JSON
//! is asked for, and where even that is refused, nothing but the prompt says what is wanted. A
//! server that has refused is asked more modestly at once for a while
//! ([`support`](super::support)). Whatever the provider promises, the answer is checked here. One
//! that does not fit is shown to the model once, with what is wrong about it.
//!
//! Schemas are of the drafts 4 to 2020-12. Nothing is fetched: a reference leads to another
//! place of the same schema.

use jsonschema::Validator;
use serde_json::Value;

use super::key::ApiKey;
use super::redaction;
use crate::error::{Bill, Error, ErrorKind, Result};
use crate::exact;
use crate::prompt::object;
use crate::protocol::{GenerateRequest, Generated, Message};

/// Longest schema, in bytes.
const LONGEST: usize = 128 << 10;

/// Most places that are named in a message to the model.
const MOST_MISFITS: usize = 5;

/// What a model gets to read after an answer that does not fit.
const REPAIR: &str = "Your answer does not fit the JSON schema:";

/// How a form is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Manner {
    /// The schema, in the protocol's own way.
    #[default]
    Schema,
    /// The protocol's own way of asking for JSON, and the schema in the prompt.
    Json,
    /// The schema in the prompt.
    Words,
}

/// A form that an answer must have.
#[derive(Clone, Debug)]
pub struct ResponseFormat {
    /// The JSON schema that the answer must fit.
    pub schema: Value,
    /// How it is asked for.
    pub manner: Manner,
    /// Whether that holds for any other form: a manner was refused, and not this schema.
    pub is_general: bool,
}

impl ResponseFormat {
    /// Fails if `schema` is not a JSON object.
    pub fn new(schema: &str) -> Result<ResponseFormat> {
        Ok(ResponseFormat { schema: parse(schema)?, manner: Manner::Schema, is_general: false })
    }

    /// Asks more modestly, if `said`, a refusal in small letters, is about the form. At most
    /// twice.
    pub fn give_in(&mut self, said: &str) -> bool {
        let about_form = ["schema", "format", "json", "tool", "grammar", "mime"];
        self.manner = match self.manner {
            _ if !about_form.iter().any(|word| said.contains(word)) => return false,
            Manner::Schema => Manner::Json,
            Manner::Json => Manner::Words,
            Manner::Words => return false,
        };
        self.is_general = !said.contains("invalid schema") && !said.contains("invalid_json_schema");
        true
    }

    /// What the model gets to read where the protocol does not tell it.
    pub fn instruction(&self) -> String {
        format!(
            "Answer with JSON that fits this JSON schema, and write nothing else:\n{}",
            self.schema
        )
    }
}

/// What came of checking an answer: its JSON, or what is wrong with it, place by place.
pub type SchemaFit = std::result::Result<String, Vec<String>>;

/// Checks whether answers fit a schema, which may take for ever: a schema whose parts refer to each other
/// twice is checked twice as often at each step, and forty short parts are enough for years.
pub trait SchemaCheck: Sync {
    /// As [`check`], within limits of time and memory.
    fn check(&self, schema: &str, answer: Option<&str>) -> Result<SchemaFit>;
}

/// The check without limits, for schemas that can be trusted.
pub struct Unlimited;

impl SchemaCheck for Unlimited {
    fn check(&self, schema: &str, answer: Option<&str>) -> Result<SchemaFit> {
        check(schema, answer)
    }
}

/// Checks whether `answer` fits `schema`; without one, whether `schema` is a JSON schema.
///
/// Fails with [`ErrorKind::InvalidParameter`] where it is none.
pub fn check(schema: &str, answer: Option<&str>) -> Result<SchemaFit> {
    let validator = compile(schema)?;
    Ok(answer.map_or_else(|| Ok(String::new()), |answer| fit(&validator, answer)))
}

/// Has `write` write until what it wrote fits the `schema`: twice at most.
///
/// The text that comes back is JSON. Fails, before anything is written, with
/// [`ErrorKind::InvalidParameter`] where `schema` is none, and with
/// [`ErrorKind::ReplyMisfit`], naming the place, where the second answer does not fit it.
pub fn insist(
    schema: &str,
    request: &GenerateRequest,
    checker: &dyn SchemaCheck,
    write: impl Fn(&GenerateRequest) -> Result<Generated>,
) -> Result<Generated> {
    // What is none is refused before anything is paid for.
    drop(checker.check(schema, None)?);
    let first = write(request)?;
    insist_from((schema, first), request, checker, write)
}

/// Has `write` correct what it wrote `first`, if that does not fit the `schema`: once at most.
///
/// Fails as [`insist`] does, and where `schema` is none, with what `first` has cost.
pub fn insist_from(
    (schema, first): (&str, Generated),
    request: &GenerateRequest,
    checker: &dyn SchemaCheck,
    write: impl Fn(&GenerateRequest) -> Result<Generated>,
) -> Result<Generated> {
    let checked = checker.check(schema, Some(&first.text));
    let wrong = match checked.map_err(|error| after(error, &first))? {
        Ok(text) => return Ok(Generated { text, ..first }),
        // It would be cut short again.
        Err(wrong) if first.finish_reason == "length" => {
            return Err(after(refused(request, &wrong), &first)
                .hint("The answer was cut short by its limit of tokens. Raise max_tokens."));
        }
        Err(wrong) => wrong,
    };
    let repaired = write(&repair(request, &first.text, &wrong));
    let second = repaired.map_err(|error| after(error, &first))?;
    let checked = checker.check(schema, Some(&second.text));
    match checked.map_err(|error| after(after(error, &second), &first))? {
        Ok(text) => Ok(Generated { text, ..together(&first, second) }),
        Err(wrong) => Err(after(after(refused(request, &wrong), &second), &first)
            .hint("The model was shown its mistake once. Ask for less, or ask another model.")),
    }
}

fn parse(schema: &str) -> Result<Value> {
    if schema.len() > LONGEST {
        let message = format!("schema of {} bytes is longer than {LONGEST}", schema.len());
        return Err(Error::invalid(message));
    }
    let value: Value = serde_json::from_str(schema)
        .map_err(|error| Error::invalid(format!("schema is not JSON: {error}")))?;
    match value.is_object() {
        true => Ok(value),
        false => Err(Error::invalid("schema is not a JSON object")
            .hint("For instance '{\"type\": \"object\", \"required\": [\"name\"]}'.")),
    }
}

fn compile(schema: &str) -> Result<Validator> {
    let schema = parse(schema)?;
    jsonschema::options().offline().build(&schema).map_err(|error| {
        let place = place(&error.instance_path().to_string());
        Error::invalid(format!(
            "schema is not a JSON schema: {place}: {}",
            shortened(&error.to_string())
        ))
        .hint("References must lead to another place of the same schema.")
    })
}

/// The JSON of `answer`, if it fits; else what is wrong with it, place by place.
fn fit(validator: &Validator, answer: &str) -> SchemaFit {
    let Some((value, text)) = json(answer) else { return Err(vec!["it is not JSON".into()]) };
    let misfits = validator.iter_errors(&value).take(MOST_MISFITS);
    let wrong: Vec<String> = misfits
        .map(|error| {
            // Without the value itself: it may be long, and the place says which it is.
            format!(
                "{}: {}",
                place(&error.instance_path().to_string()),
                shortened(&error.masked().to_string())
            )
        })
        .collect();
    if wrong.is_empty() { Ok(text) } else { Err(wrong) }
}

/// The JSON in an answer, as it is written where nothing stands around it, but for the character 0; else with all digits of
/// its numbers.
fn json(answer: &str) -> Option<(Value, String)> {
    let answer = object::without_nul(answer.trim());
    match serde_json::from_str(&answer) {
        Ok(value) => Some((value, answer.into_owned())),
        Err(_) => {
            let text = exact::written(&object::find_exact(&answer)?);
            Some((serde_json::from_str(&text).ok()?, text))
        }
    }
}

/// A JSON pointer in words: the root has an empty one.
fn place(pointer: &str) -> String {
    if pointer.is_empty() { "at the root".into() } else { format!("at {}", shortened(pointer)) }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(200) {
        None => text.to_string(),
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}

fn repair(request: &GenerateRequest, answer: &str, wrong: &[String]) -> GenerateRequest {
    let message = |role: &str, content: String| Message { role: role.to_string(), content };
    let mut request = request.clone();
    request.messages.push(message("assistant", answer.trim().to_string()));
    let wrong = wrong.join("\n");
    request
        .messages
        .push(message("user", format!("{REPAIR}\n{wrong}\nWrite all of it again, corrected.")));
    request
}

/// What an answer has cost that is not passed on.
fn bill(answer: &Generated) -> Bill {
    Bill::new(answer.attempts, answer.prompt_tokens, Some(answer.written()))
}

/// An error that comes after this answer, with what the answer has cost and what was not sent for it.
fn after(error: Error, answer: &Generated) -> Error {
    let bill = error.bill().unwrap_or_default().plus(bill(answer));
    redaction::with_values(error.with_bill(Some(bill)), &answer.withheld)
}

/// The second answer, with what both have cost, and what was not sent for either.
fn together(first: &Generated, second: Generated) -> Generated {
    let sum = |a: Option<u64>, b: Option<u64>| Some(a.unwrap_or(0).saturating_add(b?));
    // An answer of which nothing is said was not cached.
    let cached = [first.cached_tokens, second.cached_tokens].into_iter().flatten();
    let mut withheld = first.withheld.clone();
    withheld.extend(second.withheld);
    Generated {
        prompt_tokens: sum(first.prompt_tokens, second.prompt_tokens),
        cached_tokens: cached.reduce(u64::saturating_add),
        completion_tokens: sum(first.completion_tokens, second.completion_tokens),
        attempts: first.attempts + second.attempts,
        withheld,
        ..second
    }
}

fn refused(request: &GenerateRequest, wrong: &[String]) -> Error {
    let name = &request.provider.name;
    // A place is named in the provider's words.
    let key = ApiKey::resolve(&request.provider).unwrap_or_default();
    let wrong = key.excerpt(&wrong.join("; "));
    let misfit = format!("provider \"{name}\" did not answer in the form of the schema");
    // Members are named in the model's words, into which personal data have been put back, and errors are logged.
    let message = match redaction::hides(&request.provider) {
        true => misfit,
        false => format!("{misfit}: {wrong}"),
    };
    Error::new(ErrorKind::ReplyMisfit, message)
}
