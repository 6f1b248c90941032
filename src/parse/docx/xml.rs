//! XML as a sequence of tags and texts, with limited nesting. Namespaces are not looked at:
//! the names that matter are unambiguous without them.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::{NAME, damaged};
use crate::error::Result;
use crate::parse::too_deep;

/// XML that is being read.
pub struct Xml<'a> {
    reader: Reader<&'a [u8]>,
    depth: usize,
    limit: usize,
}

/// What comes next in the XML.
pub enum XmlTag<'a> {
    /// An element begins; one without content ends at once.
    Start(Start<'a>),
    /// An element ends: its name.
    End(String),
    /// Text, with its references resolved.
    Text(String),
}

/// The beginning of an element.
pub struct Start<'a>(BytesStart<'a>);

impl Start<'_> {
    /// Its name, without a prefix.
    pub fn name(&self) -> &str {
        local(self.0.name().0)
    }

    /// The value of the attribute that is called `name` but for a prefix.
    pub fn attribute(&self, name: &str) -> Option<String> {
        let mut all = self.0.attributes();
        let attributes = all.with_checks(false).filter_map(|attribute| attribute.ok());
        let mut named = attributes.filter(|attribute| local(attribute.key.0) == name);
        let value = named.next()?;
        let text = value.normalized_value(XmlVersion::Implicit1_0);
        Some(text.map_or_else(|_| value.value.to_string(), Into::into))
    }

    /// The attribute `val`, which most elements have that say something.
    pub fn value(&self) -> Option<String> {
        self.attribute("val")
    }

    /// A switch: on, unless its value says that it is off.
    pub fn is_on(&self) -> bool {
        !matches!(self.value().as_deref(), Some("0" | "false" | "off" | "none"))
    }
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

impl<'a> Xml<'a> {
    /// At the beginning of `text`, in which elements are at most `limit` deep.
    pub fn new(text: &'a str, limit: usize) -> Xml<'a> {
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        Xml { reader, depth: 0, limit }
    }

    /// The next tag or text; `None` at the end. Entities of the document's own are left out,
    /// so that none can grow.
    pub fn next_tag(&mut self) -> Result<Option<XmlTag<'a>>> {
        loop {
            let event = self.reader.read_event().map_err(|error| damaged(NAME, error))?;
            match event {
                Event::Start(start) => {
                    self.depth += 1;
                    if self.depth > self.limit {
                        return Err(too_deep(self.limit));
                    }
                    return Ok(Some(XmlTag::Start(Start(start))));
                }
                Event::End(end) => {
                    self.depth = self.depth.saturating_sub(1);
                    return Ok(Some(XmlTag::End(local(end.name().0).to_owned())));
                }
                Event::Text(text) => return Ok(Some(XmlTag::Text(text.into_inner().into_owned()))),
                Event::CData(text) => {
                    return Ok(Some(XmlTag::Text(text.into_inner().into_owned())));
                }
                Event::GeneralRef(name) => {
                    if let Some(character) = character(&name, name.resolve_char_ref().ok()) {
                        return Ok(Some(XmlTag::Text(character.to_string())));
                    }
                }
                Event::Eof if self.depth > 0 => {
                    return Err(damaged(NAME, "it ends in the middle of an element"));
                }
                Event::Eof => return Ok(None),
                _ => {}
            }
        }
    }
}

/// The character that a reference stands for. Control characters are none.
fn character(name: &str, number: Option<Option<char>>) -> Option<char> {
    let character = match number.flatten() {
        Some(character) => character,
        None => match name {
            "lt" => '<',
            "gt" => '>',
            "amp" => '&',
            "quot" => '"',
            "apos" => '\'',
            _ => return None,
        },
    };
    (!character.is_control() || matches!(character, '\t' | '\n')).then_some(character)
}
