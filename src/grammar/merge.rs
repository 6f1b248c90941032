//! One schema out of several that hold at once.

use super::json::OrderedJson;

/// Keywords that say something about a value, and not only to people.
const SAYING: [&str; 25] = [
    "type",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "$ref",
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "minProperties",
    "maxProperties",
    "items",
    "prefixItems",
    "additionalItems",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
];

/// Most properties of an object. One more is kept, so that it can be seen that there are too many.
pub const MOST_PROPERTIES: usize = 500;

/// The keywords of a schema, or of several together.
#[derive(Clone, Debug, Default)]
pub struct Keywords<'a> {
    entries: Vec<(&'a str, &'a OrderedJson)>,
    /// Names and schemas of properties, in their order.
    pub properties: Vec<(&'a str, &'a OrderedJson)>,
    /// Names of the properties that must be there.
    pub required: Vec<&'a str>,
}

impl<'a> Keywords<'a> {
    /// The keywords of an object.
    #[must_use]
    pub fn new(schema: &'a [(String, OrderedJson)]) -> Keywords<'a> {
        let mut keywords = Keywords::default();
        keywords.add(schema);
        keywords
    }

    /// Adds those of `schema`. Of a keyword that both have, its own holds; properties are put together.
    pub fn add(&mut self, schema: &'a [(String, OrderedJson)]) {
        for (name, value) in schema {
            match name.as_str() {
                "properties" => {
                    let properties = value.entries().unwrap_or_default();
                    properties.iter().for_each(|(name, value)| self.add_property(name, value));
                }
                "required" => {
                    let names = value.list().unwrap_or_default().iter();
                    names.filter_map(OrderedJson::text).for_each(|name| self.add_required(name));
                }
                _ => {}
            }
            if SAYING.contains(&name.as_str()) {
                self.entries.retain(|(it, _)| it != name);
                self.entries.push((name, value));
            }
        }
    }

    /// Adds those of `other`, as [`Keywords::add`] does.
    pub fn merge(&mut self, other: &Keywords<'a>) {
        for (name, value) in &other.entries {
            self.entries.retain(|(it, _)| it != name);
            self.entries.push((name, value));
        }
        other.properties.iter().for_each(|(name, value)| self.add_property(name, value));
        other.required.iter().for_each(|name| self.add_required(name));
    }

    fn add_required(&mut self, name: &'a str) {
        if !self.required.contains(&name) && self.required.len() <= MOST_PROPERTIES {
            self.required.push(name);
        }
    }

    fn add_property(&mut self, name: &'a str, value: &'a OrderedJson) {
        let count = self.properties.len();
        match self.properties.iter_mut().find(|(it, _)| *it == name) {
            Some((_, old)) => *old = value,
            None if count <= MOST_PROPERTIES => self.properties.push((name, value)),
            None => {}
        }
    }

    /// The value of a keyword.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'a OrderedJson> {
        self.entries.iter().find(|(it, _)| *it == name).map(|(_, value)| *value)
    }

    /// The value of a keyword, which is taken away.
    pub fn take(&mut self, name: &str) -> Option<&'a OrderedJson> {
        let value = self.get(name);
        self.entries.retain(|(it, _)| *it != name);
        value
    }

    /// Whether one of these is there.
    #[must_use]
    pub fn has(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.get(name).is_some())
    }

    /// Whether it says nothing about a value, so that any fits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many keywords and properties there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.entries.len() + self.properties.len() + self.required.len()
    }

    /// A whole number that is not negative.
    #[must_use]
    pub fn count_of(&self, name: &str) -> Option<u32> {
        let number = self.get(name)?.whole()?;
        Some(u32::try_from(number.max(0)).unwrap_or(u32::MAX))
    }
}
