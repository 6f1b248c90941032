//! A schema's keywords, as rules.

use std::collections::HashMap;

use super::json::OrderedJson;
use super::kind::{asked_types, is_never_negative, is_of_type, kinds};
use super::merge::Keywords;
use super::pattern;
use super::rules::{GrammarExpression, PLAIN, Rules};
use crate::error::{Error, Result};

/// Longest schema, in bytes.
const LONGEST: usize = 128 << 10;

/// Most work: schemas looked at, each as often as it is needed, and keywords of merged ones.
const MOST_WORK: usize = 50_000;

/// Deepest nesting of schemas that are merged or refer to each other without an object between.
const DEEPEST: usize = 64;

/// Most repetitions of one thing that are counted. llama.cpp refuses over 2000, and makes a rule of each.
const MOST_COUNTED: u32 = 1000;

/// Repetitions that are counted in a whole grammar.
const COUNTED_IN_ALL: u32 = 8000;

/// Largest distance of bounds between which each whole number is listed.
const LISTED_NUMBERS: i64 = 200;

/// The grammar of what fits `schema`, in llama.cpp's language; without one, of any JSON object.
///
/// Its start is the rule `root`. Between tokens stand one space, or a line break and at most 16
/// spaces, and none at the end. It takes at most 512 KiB, and 4000 rules.
///
/// Fails with [`ErrorKind::InvalidParameter`](crate::error::ErrorKind::InvalidParameter) if `schema`
/// is not a JSON object of at most 128 KiB, has a reference that leads out of it or nowhere, can
/// be fitted by no text, or would need a larger grammar.
pub fn json_grammar(schema: Option<&str>) -> Result<String> {
    let parsed = schema.map(parse).transpose()?;
    let root = parsed.unwrap_or_else(|| OrderedJson::Object(Vec::new()));
    let mut grammar = Grammar::new(&root);
    let start = match (schema, root.entries()) {
        (Some(_), Some(_)) => grammar.schema(&root)?,
        _ => grammar.object.clone(),
    };
    grammar.rules.written(start)
}

fn parse(schema: &str) -> Result<OrderedJson> {
    if schema.len() > LONGEST {
        let message = format!("JSON schema of {} bytes is longer than {LONGEST}", schema.len());
        return Err(Error::invalid(message));
    }
    let parsed: OrderedJson = serde_json::from_str(schema)
        .map_err(|error| Error::invalid(format!("JSON schema is not JSON: {error}")))?;
    match parsed.entries() {
        Some(_) => Ok(parsed),
        None => Err(Error::invalid("JSON schema is not a JSON object")),
    }
}

/// A grammar of the schema `root`, under way.
pub struct Grammar<'a> {
    root: &'a OrderedJson,
    pub(super) rules: Rules,
    /// Rules by the reference that leads to them.
    references: HashMap<&'a str, usize>,
    work: usize,
    depth: usize,
    counted: u32,
    pub(super) space: GrammarExpression,
    character: GrammarExpression,
    pub(super) string: GrammarExpression,
    integer: GrammarExpression,
    natural: GrammarExpression,
    number: GrammarExpression,
    pub(super) value: GrammarExpression,
    object: GrammarExpression,
    array: GrammarExpression,
}

pub(super) fn sequence<const N: usize>(parts: [GrammarExpression; N]) -> GrammarExpression {
    GrammarExpression::Sequence(parts.into())
}

pub(super) fn choice<const N: usize>(parts: [GrammarExpression; N]) -> GrammarExpression {
    GrammarExpression::Choice(parts.into())
}

pub(super) fn text(text: &str) -> GrammarExpression {
    GrammarExpression::text(text)
}

fn class(class: &str) -> GrammarExpression {
    GrammarExpression::Class(class.to_owned())
}

pub(super) fn repeat(part: GrammarExpression, least: u32, most: Option<u32>) -> GrammarExpression {
    GrammarExpression::Repeat(Box::new(part), least, most)
}

pub(super) fn nothing() -> GrammarExpression {
    GrammarExpression::Choice(Vec::new())
}

impl<'a> Grammar<'a> {
    fn new(root: &'a OrderedJson) -> Grammar<'a> {
        let mut rules = Rules::default();
        let blanks = choice([text(" "), sequence([text("\n"), repeat(text(" "), 0, Some(16))])]);
        let space = rules.add("space", blanks.optional());
        let hex = class("[0-9a-fA-F]");
        // Half of a pair of UTF-16 is no character, and JSON with one is none.
        let code = choice([
            sequence([class("[0-9a-cA-CefEF]"), repeat(hex.clone(), 3, Some(3))]),
            sequence([class("[dD]"), class("[0-7]"), repeat(hex, 2, Some(2))]),
        ]);
        let escape = choice([class(r#"["\\/bfnrt]"#), sequence([text("u"), code])]);
        let escape = sequence([text("\\"), escape]);
        let character = rules.add("char", choice([class(&format!("[^{PLAIN}]")), escape]));
        let inner = repeat(character.clone(), 0, None);
        let string = rules.add("string", sequence([text("\""), inner, text("\"")]));
        let digits = |most| repeat(class("[0-9]"), 0, Some(most));
        let first = choice([text("0"), sequence([class("[1-9]"), digits(17)])]);
        let natural = rules.add("natural", first);
        let signed = sequence([text("-").optional(), natural.clone()]);
        let integer = rules.add("integer", signed);
        let fraction = sequence([text("."), repeat(class("[0-9]"), 1, Some(16))]).optional();
        let sign = class("[-+]").optional();
        let power = sequence([class("[eE]"), sign, class("[0-9]"), class("[0-9]").optional()]);
        let number = sequence([integer.clone(), fraction, power.optional()]);
        let number = rules.add("number", number);
        let [value, object, array] =
            ["value", "object", "array"].map(|name| GrammarExpression::Rule(rules.reserve(name)));
        let (references, work, depth, counted) = (HashMap::new(), 0, 0, COUNTED_IN_ALL);
        let mut grammar = Grammar {
            root,
            rules,
            references,
            work,
            depth,
            counted,
            space,
            character,
            string,
            integer,
            natural,
            number,
            value,
            object,
            array,
        };
        grammar.define_values();
        grammar
    }

    /// Fills the rules of values of any kind.
    fn define_values(&mut self) {
        let (string, value) = (self.string.clone(), self.value.clone());
        let (object, array, number) =
            (self.object.clone(), self.array.clone(), self.number.clone());
        let words = choice([text("true"), text("false"), text("null")]);
        let any = choice([string.clone(), number, object.clone(), array.clone(), words]);
        let pair = self.pair(string, value.clone());
        let bodies = [
            (value.clone(), any),
            (object, self.listed("{", pair, 0, None, "}")),
            (array, self.listed("[", value, 0, None, "]")),
        ];
        for (rule, body) in bodies {
            if let GrammarExpression::Rule(rule) = rule {
                self.rules.define(rule, body);
            }
        }
    }

    /// A name and its value.
    pub(super) fn pair(
        &self,
        name: GrammarExpression,
        value: GrammarExpression,
    ) -> GrammarExpression {
        sequence([name, text(":"), self.space.clone(), value])
    }

    pub(super) fn comma(&self) -> GrammarExpression {
        sequence([text(","), self.space.clone()])
    }

    /// So many items between brackets.
    pub(super) fn listed(
        &mut self,
        open: &str,
        item: GrammarExpression,
        least: u32,
        most: Option<u32>,
        close: &str,
    ) -> GrammarExpression {
        let items = match most {
            Some(0) if least == 0 => text(""),
            Some(most) if most < least => nothing(),
            _ => {
                let more = sequence([self.comma(), item.clone()]);
                let (least_more, most_more) = (least.saturating_sub(1), most.map(|it| it - 1));
                let more = self.counted(more, least_more, most_more);
                // Blanks behind the last item, so that there are no two places for them in an empty list.
                let items = sequence([item, more, self.space.clone()]);
                if least == 0 { items.optional() } else { items }
            }
        };
        sequence([text(open), self.space.clone(), items, text(close)])
    }

    /// `part` so often, as far as that many can be counted.
    pub(super) fn counted(
        &mut self,
        part: GrammarExpression,
        least: u32,
        most: Option<u32>,
    ) -> GrammarExpression {
        let least = least.min(MOST_COUNTED).min(self.counted);
        let most = most.filter(|most| *most <= MOST_COUNTED.min(self.counted));
        self.counted -= most.unwrap_or(least);
        // llama.cpp multiplies the rules that a part is made of by how often it is there; a part with
        // a name of its own is one.
        let part = match part {
            GrammarExpression::Rule(_) => part,
            _ => self.rules.add("part", part),
        };
        repeat(part, least, most)
    }

    /// Counts work of a schema, and fails where it becomes too much.
    fn spend(&mut self, work: usize) -> Result<()> {
        self.work += work;
        self.rules.check_count()?;
        if self.work > MOST_WORK || self.depth > DEEPEST {
            return Err(Error::invalid("the JSON schema combines too many schemas")
                .hint("Use fewer references and alternatives within each other."));
        }
        Ok(())
    }

    pub(super) fn schema(&mut self, schema: &'a OrderedJson) -> Result<GrammarExpression> {
        match schema {
            OrderedJson::Bool(true) => Ok(self.value.clone()),
            OrderedJson::Object(entries) => {
                let reference = schema.get("$ref").and_then(OrderedJson::text);
                let keywords = Keywords::new(entries);
                match reference {
                    // The draft 7 and older ones read nothing beside a reference.
                    Some(reference) if keywords.count() == 1 => self.reference(reference),
                    _ => self.keywords(keywords),
                }
            }
            _ => Ok(nothing()),
        }
    }

    /// The rule of the schema to which `reference` leads.
    fn reference(&mut self, reference: &'a str) -> Result<GrammarExpression> {
        if let Some(rule) = self.references.get(reference) {
            return Ok(GrammarExpression::Rule(*rule));
        }
        let target = self.target(reference)?;
        let rule = self.rules.reserve(&rule_name(reference));
        self.references.insert(reference, rule);
        self.depth += 1;
        let body = self.schema(target)?;
        self.depth -= 1;
        self.rules.define(rule, body);
        Ok(GrammarExpression::Rule(rule))
    }

    fn target(&self, reference: &str) -> Result<&'a OrderedJson> {
        let pointer = reference.strip_prefix('#').map(decoded);
        pointer.and_then(|pointer| self.root.at(&pointer)).ok_or_else(|| {
            let shown: String = reference.chars().take(100).collect();
            Error::invalid(format!("the JSON schema has no place \"{}\"", shown.escape_debug()))
                .hint(
                    "A reference must be a path within the same schema, such as \"#/$defs/name\".",
                )
        })
    }

    fn keywords(&mut self, mut keywords: Keywords<'a>) -> Result<GrammarExpression> {
        self.depth += 1;
        self.spend(1 + keywords.count())?;
        self.merge(&mut keywords)?;
        let expression = self.merged(keywords)?;
        self.depth -= 1;
        Ok(expression)
    }

    /// Adds what references and `allOf` say to the keywords beside them.
    fn merge(&mut self, keywords: &mut Keywords<'a>) -> Result<()> {
        let mut steps = 0;
        loop {
            let target = match keywords.take("$ref").and_then(OrderedJson::text) {
                Some(reference) => vec![self.target(reference)?],
                None => match keywords.take("allOf").and_then(OrderedJson::list) {
                    Some(all) => all.iter().collect(),
                    None => return Ok(()),
                },
            };
            steps += 1;
            for schema in target {
                let mut entries = Keywords::new(schema.entries().unwrap_or_default());
                // One after the other: there is room for one reference and one list.
                if let Some(reference) = entries.get("$ref").and_then(OrderedJson::text) {
                    let target = self.target(reference)?.entries().unwrap_or_default();
                    entries = Keywords::new(target);
                }
                self.spend(entries.count() + keywords.count())?;
                keywords.merge(&entries);
            }
            if steps > DEEPEST {
                return Err(Error::invalid("the JSON schema refers to itself without end"));
            }
        }
    }

    fn merged(&mut self, mut keywords: Keywords<'a>) -> Result<GrammarExpression> {
        if keywords.is_empty() {
            return Ok(self.value.clone());
        }
        if let Some(value) = keywords.get("const") {
            return Ok(self.literals(std::slice::from_ref(value), &keywords));
        }
        if let Some(values) = keywords.get("enum").and_then(OrderedJson::list) {
            return Ok(self.literals(values, &keywords));
        }
        for name in ["anyOf", "oneOf"] {
            if let Some(choices) = keywords.take(name).and_then(OrderedJson::list) {
                return self.alternatives(choices, &keywords);
            }
        }
        let kinds = kinds(&keywords);
        let mut parts = Vec::with_capacity(kinds.len());
        for kind in kinds {
            parts.push(self.of_kind(kind, &keywords)?);
        }
        Ok(GrammarExpression::Choice(parts))
    }

    fn alternatives(
        &mut self,
        choices: &'a [OrderedJson],
        keywords: &Keywords<'a>,
    ) -> Result<GrammarExpression> {
        let mut parts = Vec::with_capacity(choices.len());
        for schema in choices {
            parts.push(match schema {
                schema if keywords.is_empty() => self.schema(schema)?,
                OrderedJson::Object(entries) => {
                    self.spend(keywords.count())?;
                    let mut both = keywords.clone();
                    both.add(entries);
                    self.keywords(both)?
                }
                OrderedJson::Bool(true) => self.keywords(keywords.clone())?,
                _ => nothing(),
            });
        }
        Ok(GrammarExpression::Choice(parts))
    }

    /// The values of a list whose type is asked for.
    fn literals(&self, values: &[OrderedJson], keywords: &Keywords<'a>) -> GrammarExpression {
        let asked = keywords.get("type").map(asked_types);
        let fits = |value: &&OrderedJson| {
            asked.as_ref().is_none_or(|asked| asked.iter().any(|it| is_of_type(value, it)))
        };
        GrammarExpression::Choice(
            values.iter().filter(fits).map(|it| text(&it.to_string())).collect(),
        )
    }

    fn of_kind(&mut self, kind: &str, keywords: &Keywords<'a>) -> Result<GrammarExpression> {
        Ok(match kind {
            "null" => text("null"),
            "boolean" => choice([text("true"), text("false")]),
            "integer" => self.integer_of(keywords),
            "number" if is_never_negative(keywords) => self.positive_number(),
            "number" => self.number.clone(),
            "string" => self.string_of(keywords),
            "array" => self.array_of(keywords)?,
            "object" => self.object_of(keywords)?,
            _ => nothing(),
        })
    }

    fn integer_of(&self, keywords: &Keywords<'a>) -> GrammarExpression {
        let bound = |name| keywords.get(name).and_then(OrderedJson::whole);
        let least = bound("minimum").or(bound("exclusiveMinimum").map(|it| it.saturating_add(1)));
        let most = bound("maximum").or(bound("exclusiveMaximum").map(|it| it.saturating_sub(1)));
        match (least, most) {
            (Some(least), Some(most)) if most.saturating_sub(least) <= LISTED_NUMBERS => {
                GrammarExpression::Choice((least..=most).map(|it| text(&it.to_string())).collect())
            }
            (Some(0..), _) => self.natural.clone(),
            _ => self.integer.clone(),
        }
    }

    /// A number without a sign.
    fn positive_number(&self) -> GrammarExpression {
        let fraction = sequence([text("."), repeat(class("[0-9]"), 1, Some(16))]);
        sequence([self.natural.clone(), fraction.optional()])
    }

    fn string_of(&mut self, keywords: &Keywords<'a>) -> GrammarExpression {
        let (least, most) = (keywords.count_of("minLength"), keywords.count_of("maxLength"));
        let pattern = keywords.get("pattern").and_then(OrderedJson::text);
        let inner = match pattern.and_then(|it| pattern::expression(it, &self.character)) {
            Some(inner) => inner,
            None if least.is_none() && most.is_none() => return self.string.clone(),
            None if most.is_some_and(|most| most < least.unwrap_or(0)) => nothing(),
            None => self.counted(self.character.clone(), least.unwrap_or(0), most),
        };
        sequence([text("\""), inner, text("\"")])
    }
}

/// The last part of a reference, as the name of a rule.
fn rule_name(reference: &str) -> String {
    let last = reference.rsplit('/').next().unwrap_or_default();
    let name: String = last.chars().filter(char::is_ascii_alphanumeric).take(40).collect();
    format!("ref-{name}")
}

/// A part of an address with its percent signs resolved.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut decoded, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let hex = text.get(at + 1..at + 3).filter(|_| *byte == b'%');
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(code) => {
                decoded.push(code);
                at += 3;
            }
            None => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
