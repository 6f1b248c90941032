//! Rules of a grammar, and how llama.cpp wants them written.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::error::{Error, Result};

/// Longest grammar, in bytes.
const LONGEST: usize = 512 << 10;

/// Most rules. llama.cpp takes a place of memory for each element of each.
const MOST_RULES: usize = 4000;

/// Characters of a string that are written as they are, as a class without its brackets.
pub const PLAIN: &str = r#""\\\x00-\x1F\x7F"#;

/// What may be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrammarExpression {
    /// This text.
    Text(String),
    /// A character of a class, which is written as in a grammar, brackets included.
    Class(String),
    /// What the rule of this number says.
    Rule(usize),
    /// One after the other.
    Sequence(Vec<GrammarExpression>),
    /// One of these; of none: nothing can be written here, and whatever needs it can't be either.
    Choice(Vec<GrammarExpression>),
    /// So many times at least, and at most, if there is a most.
    Repeat(Box<GrammarExpression>, u32, Option<u32>),
}

impl GrammarExpression {
    /// This text.
    #[must_use]
    pub fn text(text: &str) -> GrammarExpression {
        GrammarExpression::Text(text.to_owned())
    }

    /// This or nothing.
    #[must_use]
    pub fn optional(self) -> GrammarExpression {
        GrammarExpression::Repeat(Box::new(self), 0, Some(1))
    }

    /// How many places of a rule it takes in llama.cpp, which writes repetitions out.
    #[must_use]
    pub fn size(&self) -> u64 {
        match self {
            GrammarExpression::Text(text) => text.len() as u64,
            GrammarExpression::Class(class) => class.len() as u64,
            GrammarExpression::Rule(_) => 1,
            GrammarExpression::Sequence(parts) | GrammarExpression::Choice(parts) => {
                parts.iter().fold(1, |sum, part| sum.saturating_add(part.size()))
            }
            GrammarExpression::Repeat(part, least, most) => {
                part.size().saturating_mul(u64::from(most.unwrap_or(least + 1)))
            }
        }
    }

    /// Whether what is written may be empty, if `empty` are the rules of which that is known.
    fn may_be_empty(&self, empty: &BTreeSet<usize>) -> bool {
        match self {
            GrammarExpression::Text(text) => text.is_empty(),
            GrammarExpression::Class(_) => false,
            GrammarExpression::Rule(rule) => empty.contains(rule),
            GrammarExpression::Sequence(parts) => parts.iter().all(|part| part.may_be_empty(empty)),
            GrammarExpression::Choice(parts) => parts.iter().any(|part| part.may_be_empty(empty)),
            GrammarExpression::Repeat(part, least, _) => *least == 0 || part.may_be_empty(empty),
        }
    }

    /// Whether it can be written in finite time, if `finite` are the rules of which that is known.
    fn is_finite(&self, finite: &BTreeSet<usize>) -> bool {
        match self {
            GrammarExpression::Text(_) | GrammarExpression::Class(_) => true,
            GrammarExpression::Rule(rule) => finite.contains(rule),
            GrammarExpression::Sequence(parts) => parts.iter().all(|part| part.is_finite(finite)),
            GrammarExpression::Choice(parts) => parts.iter().any(|part| part.is_finite(finite)),
            GrammarExpression::Repeat(part, least, _) => *least == 0 || part.is_finite(finite),
        }
    }

    /// Without the choices that cannot be written in finite time.
    fn pruned(self, finite: &BTreeSet<usize>) -> GrammarExpression {
        match self {
            GrammarExpression::Choice(parts) => {
                let possible = parts.into_iter().filter(|part| part.is_finite(finite));
                let mut parts: Vec<_> = possible.map(|part| part.pruned(finite)).collect();
                match parts.len() {
                    1 => parts.remove(0),
                    _ => GrammarExpression::Choice(parts),
                }
            }
            GrammarExpression::Sequence(parts) => {
                GrammarExpression::Sequence(parts.into_iter().map(|it| it.pruned(finite)).collect())
            }
            GrammarExpression::Repeat(part, ..) if !part.is_finite(finite) => {
                GrammarExpression::text("")
            }
            GrammarExpression::Repeat(part, least, most) => {
                GrammarExpression::Repeat(Box::new(part.pruned(finite)), least, most)
            }
            other => other,
        }
    }

    /// The rules with which what is written may begin.
    fn heads(&self, empty: &BTreeSet<usize>, heads: &mut Vec<usize>) {
        match self {
            GrammarExpression::Text(_) | GrammarExpression::Class(_) => {}
            GrammarExpression::Rule(rule) => heads.push(*rule),
            GrammarExpression::Sequence(parts) => {
                for part in parts {
                    part.heads(empty, heads);
                    if !part.may_be_empty(empty) {
                        break;
                    }
                }
            }
            GrammarExpression::Choice(parts) => {
                parts.iter().for_each(|part| part.heads(empty, heads))
            }
            GrammarExpression::Repeat(part, ..) => part.heads(empty, heads),
        }
    }

    fn rules(&self, rules: &mut Vec<usize>) {
        match self {
            GrammarExpression::Text(_) | GrammarExpression::Class(_) => {}
            GrammarExpression::Rule(rule) => rules.push(*rule),
            GrammarExpression::Sequence(parts) | GrammarExpression::Choice(parts) => {
                parts.iter().for_each(|part| part.rules(rules));
            }
            GrammarExpression::Repeat(part, ..) => part.rules(rules),
        }
    }

    fn write(&self, names: &[String], out: &mut String) {
        match self {
            GrammarExpression::Text(text) => *out += &literal(text),
            GrammarExpression::Class(class) => *out += class,
            GrammarExpression::Rule(rule) => *out += &names[*rule],
            GrammarExpression::Sequence(parts) => joined(parts, " ", names, out),
            GrammarExpression::Choice(parts) => {
                *out += "(";
                joined(parts, " | ", names, out);
                *out += ")";
            }
            GrammarExpression::Repeat(part, least, most) => {
                let is_single =
                    matches!(**part, GrammarExpression::Class(_) | GrammarExpression::Rule(_));
                let (open, close) = if is_single { ("", "") } else { ("(", ")") };
                *out += open;
                part.write(names, out);
                *out += close;
                *out += &times(*least, *most);
            }
        }
    }
}

fn joined(parts: &[GrammarExpression], between: &str, names: &[String], out: &mut String) {
    if parts.is_empty() {
        *out += "\"\"";
    }
    for (number, part) in parts.iter().enumerate() {
        if number > 0 {
            *out += between;
        }
        part.write(names, out);
    }
}

fn times(least: u32, most: Option<u32>) -> String {
    match (least, most) {
        (0, None) => "*".into(),
        (1, None) => "+".into(),
        (0, Some(1)) => "?".into(),
        (least, None) => format!("{{{least},}}"),
        (least, Some(most)) => format!("{{{least},{most}}}"),
    }
}

/// A text in quotes as llama.cpp reads it.
fn literal(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => _ = write!(quoted, "\\U{:08X}", u32::from(c)),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// A grammar under way.
#[derive(Debug, Default)]
pub struct Rules {
    names: Vec<String>,
    bodies: Vec<GrammarExpression>,
}

impl Rules {
    /// A new rule called `name` that says nothing yet; a number is added to a name that is taken.
    pub fn reserve(&mut self, name: &str) -> usize {
        let number = self.names.len();
        let is_taken = self.names.iter().any(|it| it == name);
        self.names.push(if is_taken { format!("{name}-{number}") } else { name.to_owned() });
        self.bodies.push(GrammarExpression::Choice(Vec::new()));
        number
    }

    /// Has `rule` say `body`.
    pub fn define(&mut self, rule: usize, body: GrammarExpression) {
        self.bodies[rule] = body;
    }

    /// A new rule called `name` that says `body`.
    pub fn add(&mut self, name: &str, body: GrammarExpression) -> GrammarExpression {
        let rule = self.reserve(name);
        self.define(rule, body);
        GrammarExpression::Rule(rule)
    }

    /// How many rules there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// The grammar of `root`, with the rules that it needs.
    ///
    /// Fails with [`ErrorKind::InvalidParameter`](crate::error::ErrorKind::InvalidParameter) where
    /// nothing can be written in finite time, where a rule begins with itself, and where the
    /// grammar would be too long.
    pub fn written(mut self, root: GrammarExpression) -> Result<String> {
        let root = self.add("root", root);
        self.check_count()?;
        let finite = self.closure(|body, known| body.is_finite(known));
        if !root.is_finite(&finite) {
            return Err(Error::invalid("no text can fit the JSON schema")
                .hint("It may exclude everything, or require itself within itself."));
        }
        for body in &mut self.bodies {
            let old = std::mem::replace(body, GrammarExpression::text(""));
            *body = old.pruned(&finite);
        }
        let needed = self.needed();
        self.check_heads(&needed)?;
        let mut text = String::new();
        for rule in needed.iter().rev() {
            text += &self.names[*rule];
            text += " ::= ";
            self.bodies[*rule].write(&self.names, &mut text);
            text.push('\n');
            if text.len() > LONGEST {
                return Err(too_large(&format!("of more than {LONGEST} bytes")));
            }
        }
        Ok(text)
    }

    /// Fails where there are too many rules already.
    pub fn check_count(&self) -> Result<()> {
        match self.count() {
            count if count > MOST_RULES => {
                Err(too_large(&format!("of more than {MOST_RULES} rules")))
            }
            _ => Ok(()),
        }
    }

    /// The rules of which `holds`, given those of which it holds.
    fn closure(
        &self,
        holds: impl Fn(&GrammarExpression, &BTreeSet<usize>) -> bool,
    ) -> BTreeSet<usize> {
        let mut known = BTreeSet::new();
        loop {
            let before = known.len();
            for (rule, body) in self.bodies.iter().enumerate() {
                if !known.contains(&rule) && holds(body, &known) {
                    known.insert(rule);
                }
            }
            if known.len() == before {
                return known;
            }
        }
    }

    /// The rules to which the last one leads, itself included.
    fn needed(&self) -> BTreeSet<usize> {
        let mut needed = BTreeSet::new();
        let mut open: Vec<usize> = self.names.len().checked_sub(1).into_iter().collect();
        while let Some(rule) = open.pop() {
            if needed.insert(rule) {
                self.bodies[rule].rules(&mut open);
            }
        }
        needed
    }

    /// Fails if a rule begins with itself: llama.cpp would follow it for ever.
    fn check_heads(&self, needed: &BTreeSet<usize>) -> Result<()> {
        let empty = self.closure(|body, known| body.may_be_empty(known));
        let heads_of = |rule: usize| {
            let mut heads = Vec::new();
            self.bodies[rule].heads(&empty, &mut heads);
            heads
        };
        // Takes away what begins with nothing that is left; a circle stays.
        let mut left: Vec<(usize, Vec<usize>)> =
            needed.iter().map(|rule| (*rule, heads_of(*rule))).collect();
        let mut open: BTreeSet<usize> = needed.clone();
        loop {
            let before = left.len();
            left.retain(|(rule, heads)| {
                let stays = heads.iter().any(|head| open.contains(head));
                if !stays {
                    open.remove(rule);
                }
                stays
            });
            if left.is_empty() {
                return Ok(());
            }
            if left.len() == before {
                return Err(Error::invalid("the JSON schema says of itself that it is itself")
                    .hint("A reference may lead back to its own place only from inside a property or an item."));
            }
        }
    }
}

fn too_large(what: &str) -> Error {
    Error::invalid(format!("the JSON schema makes a grammar {what}"))
        .hint("Ask for less at once, or for shorter lists of values.")
}
