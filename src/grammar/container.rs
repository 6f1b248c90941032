//! Lists and objects of a schema, as rules.

use super::json::{OrderedJson, quoted};
use super::merge::{Keywords, MOST_PROPERTIES};
use super::pattern;
use super::rules::GrammarExpression;
use super::schema::{Grammar, choice, repeat, sequence, text};
use crate::error::{Error, Result};

impl<'a> Grammar<'a> {
    pub(super) fn array_of(&mut self, keywords: &Keywords<'a>) -> Result<GrammarExpression> {
        let items = keywords.get("items");
        // Until 2019, a list of schemas was called items, and what follows it additionalItems.
        let old = items.and_then(OrderedJson::list);
        let first = old.or_else(|| keywords.get("prefixItems").and_then(OrderedJson::list));
        let other = if old.is_some() { keywords.get("additionalItems") } else { items };
        let (least, most) = (keywords.count_of("minItems"), keywords.count_of("maxItems"));
        let first = first.unwrap_or_default();
        if first.is_empty() {
            let item = match other {
                Some(schema) => self.schema(schema)?,
                None => self.value.clone(),
            };
            let array = self.listed("[", item, least.unwrap_or(0), most, "]");
            return Ok(self.rules.add("list", array));
        }
        self.tuple(first, other, (least, most))
    }

    /// A list whose first items have schemas of their own, all of which are there.
    fn tuple(
        &mut self,
        first: &'a [OrderedJson],
        other: Option<&'a OrderedJson>,
        (least, most): (Option<u32>, Option<u32>),
    ) -> Result<GrammarExpression> {
        let there = first.len().min(most.unwrap_or(u32::MAX) as usize);
        let mut parts = vec![text("["), self.space.clone()];
        for (number, schema) in first[..there].iter().enumerate() {
            if number > 0 {
                parts.push(self.comma());
            }
            parts.push(self.schema(schema)?);
        }
        let there = there as u32;
        let (least, most) = (least.unwrap_or(0).saturating_sub(there), most.map(|it| it - there));
        match other {
            Some(schema) if most != Some(0) => {
                let more = sequence([self.comma(), self.schema(schema)?]);
                parts.push(self.counted(more, least, most));
            }
            // Nothing says what would follow, so nothing does unless it must.
            _ if least > 0 => {
                let more = sequence([self.comma(), self.value.clone()]);
                parts.push(self.counted(more, least, most));
            }
            _ => {}
        }
        parts.extend([self.space.clone(), text("]")]);
        Ok(self.rules.add("list", GrammarExpression::Sequence(parts)))
    }

    pub(super) fn object_of(&mut self, keywords: &Keywords<'a>) -> Result<GrammarExpression> {
        let other = keywords.get("additionalProperties");
        let mut properties = keywords.properties.clone();
        for name in &keywords.required {
            if !properties.iter().any(|(it, _)| it == name) {
                properties.push((name, other.unwrap_or(&OrderedJson::Bool(true))));
            }
        }
        if properties.len() > MOST_PROPERTIES {
            let message =
                format!("an object of the JSON schema has over {MOST_PROPERTIES} properties");
            return Err(Error::invalid(message));
        }
        if properties.is_empty() {
            return self.free_object(keywords, other);
        }
        let mut pairs = Vec::with_capacity(properties.len());
        for (name, schema) in &properties {
            let value = self.schema(schema)?;
            let pair = self.pair(text(&quoted(name)), value);
            pairs.push((pair, keywords.required.contains(name)));
        }
        let more = match other {
            Some(schema) if !matches!(schema, OrderedJson::Bool(false)) => {
                let names: Vec<&str> = properties.iter().map(|(name, _)| *name).collect();
                let name = pattern::name_but(&names);
                let value = self.schema(schema)?;
                Some(self.pair(name, value))
            }
            _ => None,
        };
        Ok(self.properties(pairs, more))
    }

    /// An object of which only the kind of values is said.
    fn free_object(
        &mut self,
        keywords: &Keywords<'a>,
        other: Option<&'a OrderedJson>,
    ) -> Result<GrammarExpression> {
        let has_patterns = keywords.has(&["patternProperties"]);
        let value = match other {
            Some(schema) if !has_patterns => self.schema(schema)?,
            _ => self.value.clone(),
        };
        let (least, most) =
            (keywords.count_of("minProperties"), keywords.count_of("maxProperties"));
        let pair = self.pair(self.string.clone(), value);
        let object = self.listed("{", pair, least.unwrap_or(0), most, "}");
        Ok(self.rules.add("map", object))
    }

    /// An object of `pairs`, each with whether it must be there, and then of any number of `more`.
    ///
    /// A comma stands before each but the first that is there. So there are two rules for what may
    /// follow from each pair on: one where nothing is written yet, and one behind a comma's place.
    fn properties(
        &mut self,
        pairs: Vec<(GrammarExpression, bool)>,
        more: Option<GrammarExpression>,
    ) -> GrammarExpression {
        let comma = self.comma();
        let (mut first, mut next) = match more {
            Some(more) => {
                let next = repeat(sequence([comma.clone(), more.clone()]), 0, None);
                (sequence([more, next.clone()]).optional(), next)
            }
            None => (text(""), text("")),
        };
        for (pair, is_required) in pairs.into_iter().rev() {
            let pair = self.rules.add("pair", pair);
            let begun = sequence([pair.clone(), next.clone()]);
            let with_comma = sequence([comma.clone(), pair]);
            let (now, later) = match is_required {
                true => (begun, sequence([with_comma, next])),
                false => (choice([begun, first]), sequence([with_comma.optional(), next])),
            };
            first = self.rules.add("first", now);
            next = self.rules.add("next", later);
        }
        let space = self.space.clone();
        let object = sequence([text("{"), space.clone(), first, space, text("}")]);
        self.rules.add("record", object)
    }
}
