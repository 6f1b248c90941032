//! JSON with the order of its keys, in which a model will write them.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum OrderedJson {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as it is written again.
    Number(serde_json::Number),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<OrderedJson>),
    /// Names and values in their order. A name that is there twice has its last value.
    Object(Vec<(String, OrderedJson)>),
}

impl OrderedJson {
    /// The value called `name` of an object.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&OrderedJson> {
        let entries = self.entries()?;
        entries.iter().rev().find(|(it, _)| it == name).map(|(_, value)| value)
    }

    /// Names and values of an object.
    #[must_use]
    pub fn entries(&self) -> Option<&[(String, OrderedJson)]> {
        if let OrderedJson::Object(entries) = self { Some(entries) } else { None }
    }

    /// The elements of a list.
    #[must_use]
    pub fn list(&self) -> Option<&[OrderedJson]> {
        if let OrderedJson::List(list) = self { Some(list) } else { None }
    }

    /// A string.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        if let OrderedJson::Text(text) = self { Some(text) } else { None }
    }

    /// A whole number, also where it is written as `3.0`.
    #[must_use]
    pub fn whole(&self) -> Option<i64> {
        let OrderedJson::Number(number) = self else { return None };
        // Beyond this, a float is no exact number.
        let whole = |it: f64| (it.fract() == 0.0 && it.abs() < 9e15).then_some(it as i64);
        number.as_i64().or_else(|| number.as_f64().and_then(whole))
    }

    /// The value at the JSON pointer `pointer`, as in a reference within a schema.
    #[must_use]
    pub fn at(&self, pointer: &str) -> Option<&OrderedJson> {
        let Some(path) = pointer.strip_prefix('/') else {
            return pointer.is_empty().then_some(self);
        };
        path.split('/').try_fold(self, |value, part| {
            let part = part.replace("~1", "/").replace("~0", "~");
            match value {
                OrderedJson::List(list) => list.get(part.parse::<usize>().ok()?),
                _ => value.get(&part),
            }
        })
    }
}

/// As compact JSON.
impl fmt::Display for OrderedJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OrderedJson::Null => f.write_str("null"),
            OrderedJson::Bool(it) => write!(f, "{it}"),
            OrderedJson::Number(it) => write!(f, "{it}"),
            OrderedJson::Text(it) => f.write_str(&quoted(it)),
            OrderedJson::List(list) => {
                let parts: Vec<String> = list.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", parts.join(","))
            }
            OrderedJson::Object(entries) => {
                let part =
                    |(name, value): &(String, OrderedJson)| format!("{}:{value}", quoted(name));
                let parts: Vec<String> = entries.iter().map(part).collect();
                write!(f, "{{{}}}", parts.join(","))
            }
        }
    }
}

/// A string of JSON.
#[must_use]
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl<'de> Deserialize<'de> for OrderedJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyJson)
    }
}

struct AnyJson;

impl<'de> Visitor<'de> for AnyJson {
    type Value = OrderedJson;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<OrderedJson, E> {
        Ok(OrderedJson::Null)
    }

    fn visit_bool<E>(self, it: bool) -> Result<OrderedJson, E> {
        Ok(OrderedJson::Bool(it))
    }

    fn visit_i64<E>(self, it: i64) -> Result<OrderedJson, E> {
        Ok(OrderedJson::Number(it.into()))
    }

    fn visit_u64<E>(self, it: u64) -> Result<OrderedJson, E> {
        Ok(OrderedJson::Number(it.into()))
    }

    fn visit_f64<E>(self, it: f64) -> Result<OrderedJson, E> {
        let number = serde_json::Number::from_f64(it);
        Ok(number.map_or(OrderedJson::Null, OrderedJson::Number))
    }

    fn visit_str<E>(self, it: &str) -> Result<OrderedJson, E> {
        Ok(OrderedJson::Text(it.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<OrderedJson, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = list.next_element()? {
            elements.push(element);
        }
        Ok(OrderedJson::List(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OrderedJson, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(OrderedJson::Object(entries))
    }
}
