//! Templates: in which words a language model is asked.
//!
//! ```text
//! (template, values) → messages
//! ```
//!
//! A template is a text with Jinja's tags, `{{ name }}`, `{% if %}` and `{% for %}`. A line that
//! is `[[system]]`, `[[user]]` or `[[assistant]]` begins a message of that role. Messages are
//! told apart before a value is put in, so no value can begin one, whatever it says; and a value
//! is not looked through for tags.

mod tags;

use std::collections::BTreeSet;
use std::io::{self, Write};

use minijinja::value::Value as Jinja;
use minijinja::{Environment, UndefinedBehavior};

use self::tags::{called, tags, words};
use super::messages::Message;
use super::place;
use crate::error::{Error, Result};

/// What a template's variables may be called, and what each is.
pub const VARIABLES: [(&str, &str); 19] = [
    ("question", "the question"),
    ("sources", "the numbered sources between their lines"),
    ("frame", "how these lines look, and that what is between them is data"),
    ("no_answer", "the sentence by which a model says that the sources do not hold the answer"),
    (
        "own_knowledge",
        "what stands behind what no source says; empty where all must be from sources",
    ),
    ("n", "how many are wanted, or given"),
    ("summary", "1 if a summary is wanted, 0 if none is"),
    ("columns", "the metadata columns of the pipeline: name and type of each"),
    ("pipelines", "the pipelines to choose from: name and description of each"),
    ("today", "the date, as 2024-12-31"),
    ("history", "what was asked and answered before, between lines like those of sources"),
    ("chunk", "a chunk of a document, between lines like those of sources"),
    ("document", "the document of a chunk, or what is around the chunk in it, between such lines"),
    ("notes", "what was written in earlier calls for the same answer, between such lines, too"),
    ("claims", "the numbered claims of an answer, between such lines, too"),
    ("tables", "definitions of the tables that may be read, between such lines, too"),
    (
        "examples",
        "questions of the past with answers, or with queries that answer them, between such lines, too",
    ),
    ("actions", "the steps that an agent may take, a line each"),
    ("predicates", "what relations may be called: the name of each; none where that is free"),
];

/// Variables whose text is not trusted.
const STRANGERS: [&str; 8] =
    ["sources", "chunk", "document", "history", "notes", "claims", "tables", "examples"];

/// Longest template, in bytes.
const LONGEST: usize = 32 << 10;

/// Longest output, in bytes.
const LONGEST_OUTPUT: usize = 64 << 20;

/// Steps that rendering may take.
const FUEL: u64 = 50_000;

/// Deepest nesting of calls.
const DEEPEST: usize = 16;

/// What a value may be sent through.
const FILTERS: [&str; 5] = ["trim", "lower", "upper", "length", "first_characters"];

const ROLES: [&str; 3] = ["system", "user", "assistant"];

/// A template that has been checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// What errors call it.
    pub name: String,
    messages: Vec<TemplatePart>,
    variables: BTreeSet<String>,
}

/// A message before values are put in.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TemplatePart {
    role: &'static str,
    content: String,
    /// The line in which it begins, from 1.
    line: usize,
}

/// What a variable stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A text, put in as it is.
    Text(String),
    /// A whole number.
    Number(u32),
    /// A list of things with named texts.
    List(Vec<Vec<(&'static str, String)>>),
}

/// Variables and what they stand for.
pub type TemplateValues = Vec<(&'static str, Value)>;

impl Template {
    /// Reads a template. Errors name the line.
    pub fn parse(name: &str, content: &str) -> Result<Template> {
        let in_template = |error: Error| renamed(&error, name);
        let messages = parts(content).map_err(in_template)?;
        let mut variables = BTreeSet::new();
        let environment = environment();
        for part in &messages {
            let uses = compile(&environment, part).map_err(in_template)?;
            let stranger = STRANGERS.into_iter().find(|name| uses.contains(*name));
            if let ("system", Some(name)) = (part.role, stranger) {
                return Err(in_template(in_system(name, part)));
            }
            let unknown = uses.iter().find(|used| !VARIABLES.iter().any(|(it, _)| it == used));
            if let Some(unknown) = unknown {
                return Err(in_template(unknown_variable(unknown, part)));
            }
            variables.extend(uses);
        }
        Ok(Template { name: name.to_owned(), messages, variables })
    }

    /// Reads a template that is to be kept, more strictly than those that have been: it has no filter and no test that
    /// there is not, and uses what a template of this name must use. Errors name the line.
    pub fn parse_new(name: &str, content: &str) -> Result<Template> {
        let template = Template::parse(name, content)?;
        for part in &template.messages {
            check_called(part).map_err(|error| renamed(&error, name))?;
        }
        match template.missing(place::needed(name)) {
            None => Ok(template),
            Some(missing) => Err(template.lacks(missing).hint(format!(
                "Put {{{{ {missing} }}}} into it, or give it another name: \"{name}\" is used everywhere."
            ))),
        }
    }

    /// The variables that it uses, in order.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(String::as_str)
    }

    /// Whether what it says hangs on a condition with this variable, so that it may be empty.
    #[must_use]
    pub fn branches_on(&self, variable: &str) -> bool {
        let is_branch = |code: &str| {
            let has = |wanted: &str| words(code).any(|word| word == wanted);
            has(variable) && (has("if") || has("elif"))
        };
        self.messages.iter().any(|part| {
            let found = tags(&part.content, part.line).unwrap_or_default();
            found.iter().any(|tag| is_branch(&tag.code))
        })
    }

    /// The messages. An error where the template uses a variable that is not among `values`, or
    /// does not use one of `needed`.
    pub fn render(&self, values: &TemplateValues, needed: &[&str]) -> Result<Vec<Message>> {
        self.check(values, needed)?;
        let environment = environment();
        let context = Jinja::from_pairs(values.iter().map(|(name, value)| (*name, jinja(value))));
        let mut room = LONGEST_OUTPUT;
        let mut messages = Vec::with_capacity(self.messages.len());
        for part in &self.messages {
            let content = render(&environment, part, &context, &mut room)
                .map_err(|error| renamed(&error, &self.name))?;
            let content = content.trim();
            if !content.is_empty() {
                let (role, content) = (part.role.to_owned(), content.to_owned());
                messages.push(Message { role, content });
            }
        }
        match messages.is_empty() {
            false => Ok(messages),
            true => Err(Error::invalid(format!("template \"{}\" says nothing", self.name))),
        }
    }

    fn check(&self, values: &TemplateValues, needed: &[&str]) -> Result<()> {
        let known: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
        if let Some(unknown) = self.variables().find(|used| !known.contains(used)) {
            let message =
                format!("template \"{}\" uses {unknown}, which has no value here", self.name);
            return Err(Error::invalid(message)
                .hint(format!("Variables that have one: {}.", known.join(", "))));
        }
        match self.missing(needed) {
            None => Ok(()),
            Some(missing) => Err(self
                .lacks(missing)
                .hint(format!("Put {{{{ {missing} }}}} into it, or name another template."))),
        }
    }

    /// The first of the variables `needed` that it does not use.
    fn missing<'a>(&self, needed: &[&'a str]) -> Option<&'a str> {
        needed.iter().copied().find(|name| !self.variables.contains(*name))
    }

    fn lacks(&self, variable: &str) -> Error {
        Error::invalid(format!("template \"{}\" does not use {variable}", self.name))
    }
}

fn renamed(error: &Error, name: &str) -> Error {
    let renamed = Error::new(error.kind(), format!("template \"{name}\", {}", error.message()));
    match error.hint_text() {
        Some(hint) => renamed.hint(hint),
        None => renamed,
    }
}

/// The messages of a template; one for the user where it names no role.
fn parts(content: &str) -> Result<Vec<TemplatePart>> {
    if content.len() > LONGEST {
        let length = content.len();
        return Err(Error::invalid(format!("with {length} bytes, is longer than {LONGEST} bytes")));
    }
    let mut parts = vec![TemplatePart { role: "user", content: String::new(), line: 1 }];
    for (number, line) in (1..).zip(content.lines()) {
        match role(line) {
            Some(role) => {
                parts.push(TemplatePart { role, content: String::new(), line: number + 1 })
            }
            None => {
                if let Some(part) = parts.last_mut() {
                    part.content += line;
                    part.content.push('\n');
                }
            }
        }
    }
    if parts.len() > 1 {
        let first = parts.remove(0);
        if !first.content.trim().is_empty() {
            return Err(Error::invalid("line 1: there is a text before the first message")
                .hint("Begin with a line [[system]] or [[user]], or name no role at all."));
        }
    }
    match parts.iter().all(|part| part.content.trim().is_empty()) {
        true => Err(Error::invalid("line 1: there is no text")),
        false => Ok(parts),
    }
}

/// The role of a line that begins a message.
fn role(line: &str) -> Option<&'static str> {
    let name = line.trim().strip_prefix("[[")?.strip_suffix("]]")?;
    ROLES.into_iter().find(|role| *role == name)
}

/// Nothing but what is here: no loader, no function, no filter that makes values longer.
fn environment() -> Environment<'static> {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(DEEPEST);
    environment.add_filter("trim", |text: &str| text.trim().to_owned());
    environment.add_filter("lower", |text: &str| text.to_lowercase());
    environment.add_filter("upper", |text: &str| text.to_uppercase());
    environment.add_filter("length", |value: &Jinja| value.len().unwrap_or(0));
    environment.add_filter("first_characters", |text: &str, most: usize| {
        text.chars().take(most).collect::<String>()
    });
    environment
}

/// The variables that a message uses.
fn compile(environment: &Environment<'_>, part: &TemplatePart) -> Result<BTreeSet<String>> {
    tags(&part.content, part.line)?;
    let compiled = environment
        .template_from_named_str("template", &part.content)
        .map_err(|error| failed(&error, part))?;
    Ok(compiled.undeclared_variables(false).into_iter().collect())
}

/// An error for a filter or a test that there is not. The compiler leaves it to rendering to look them up, which comes
/// to a branch that is seldom taken when somebody has asked.
fn check_called(part: &TemplatePart) -> Result<()> {
    for tag in tags(&part.content, part.line)? {
        let line = tag.line;
        let called = called(&tag.code);
        if let Some(name) = called.filters.iter().find(|name| !FILTERS.contains(name)) {
            return Err(Error::invalid(format!("line {line}: there is no filter \"{name}\""))
                .hint(known_filters()));
        }
        if let Some(name) = called.tests.first() {
            return Err(Error::invalid(format!("line {line}: there is no test \"{name}\""))
                .hint("{% if name %} asks whether a text or a list is not empty."));
        }
    }
    Ok(())
}

fn known_filters() -> String {
    format!("Known filters: {}.", FILTERS.join(", "))
}

/// The line of the first tag that has `name`.
fn line_of(name: &str, part: &TemplatePart) -> usize {
    let found = tags(&part.content, part.line).unwrap_or_default();
    let holds = |tag: &&tags::TemplateTag<'_>| words(&tag.code).any(|word| word == name);
    found.iter().find(holds).map_or(part.line, |tag| tag.line)
}

fn in_system(name: &str, part: &TemplatePart) -> Error {
    let line = line_of(name, part);
    Error::invalid(format!("line {line}: {name} cannot stand in a system message"))
        .hint("A model obeys its system message. Put the texts of others behind a line [[user]].")
}

fn unknown_variable(name: &str, part: &TemplatePart) -> Error {
    let line = line_of(name, part);
    let known: Vec<&str> = VARIABLES.iter().map(|(name, _)| *name).collect();
    Error::invalid(format!("line {line}: there is no variable \"{name}\""))
        .hint(format!("Variables: {}.", known.join(", ")))
}

fn render(
    environment: &Environment<'_>,
    part: &TemplatePart,
    context: &Jinja,
    room: &mut usize,
) -> Result<String> {
    let template = environment
        .template_from_named_str("template", &part.content)
        .map_err(|error| failed(&error, part))?;
    let mut output = BoundedOutput { bytes: Vec::new(), room };
    template
        .render_captured_to(context.clone(), &mut output)
        .map_err(|error| failed(&error, part))?;
    Ok(String::from_utf8_lossy(&output.bytes).into_owned())
}

/// An error of the compiler or the renderer, with the line of the whole template.
fn failed(error: &minijinja::Error, part: &TemplatePart) -> Error {
    let line = part.line + error.line().unwrap_or(1) - 1;
    let detail = error.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
    let hint = match error.kind() {
        minijinja::ErrorKind::OutOfFuel => "It takes too many steps: shorten its loops.".to_owned(),
        minijinja::ErrorKind::WriteFailure => {
            "What it says is too long: name fewer chunks.".to_owned()
        }
        minijinja::ErrorKind::UnknownFilter => known_filters(),
        _ => {
            "Tags are {{ name }}, {% if name %}...{% endif %} and {% for item in list %}...{% endfor %}."
                .to_owned()
        }
    };
    Error::invalid(format!("line {line}: {}{detail}", error.kind())).hint(hint)
}

/// Takes so many bytes and no more.
struct BoundedOutput<'a> {
    bytes: Vec<u8>,
    room: &'a mut usize,
}

impl Write for BoundedOutput<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        *self.room = self.room.checked_sub(bytes.len()).ok_or(io::ErrorKind::OutOfMemory)?;
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn jinja(value: &Value) -> Jinja {
    match value {
        Value::Text(text) => Jinja::from(text.as_str()),
        Value::Number(number) => Jinja::from(*number),
        Value::List(items) => items
            .iter()
            .map(|item| Jinja::from_pairs(item.iter().map(|(name, text)| (*name, text.as_str()))))
            .collect(),
    }
}

#[cfg(test)]
pub mod tests;
