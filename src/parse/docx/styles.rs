//! Which paragraphs are headings, and which are items of lists?

use std::collections::HashMap;

use super::xml::{Start, Xml, XmlTag};
use crate::error::Result;
use crate::parse::ParseLimits;

/// Styles that are derived from each other, at most.
const LONGEST_CHAIN: usize = 16;

/// Levels of a list.
pub const LIST_LEVELS: usize = 9;

/// The document's styles and lists.
#[derive(Default)]
pub struct Styles {
    styles: HashMap<String, ParagraphStyle>,
    /// For each list, the name of what it looks like.
    lists: HashMap<String, String>,
    /// What lists look like: of each level, whether it is numbered.
    looks: HashMap<String, [Mark; LIST_LEVELS]>,
}

/// What stands before an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// A bullet of any form.
    #[default]
    Bullet,
    /// A number, counted from this one.
    Number(i32),
    /// Nothing: it is no item.
    None,
}

/// What is known of a paragraph's looks, by its style or by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParagraphStyle {
    /// A heading's level, counted from 1; the title of the document has 0; text has
    /// [`ParagraphStyle::TEXT`].
    pub level: Option<u8>,
    /// The list it belongs to.
    pub list: Option<String>,
    /// Its level in the list, counted from 0.
    pub list_level: Option<usize>,
    based_on: Option<String>,
    is_default: bool,
}

impl ParagraphStyle {
    /// The level of what is no heading.
    pub const TEXT: u8 = u8::MAX;

    /// Takes in what an element inside `pPr` says.
    pub fn read(&mut self, element: &Start<'_>) {
        match element.name() {
            "outlineLvl" => {
                let level = element.value().and_then(|value| value.parse::<u8>().ok());
                self.level =
                    level.map(|level| if level < 9 { level + 1 } else { ParagraphStyle::TEXT });
            }
            "numId" => self.list = element.value(),
            "ilvl" => self.list_level = element.value().and_then(|value| value.parse().ok()),
            _ => {}
        }
    }

    /// Fills what is not known from `other`.
    fn complete(&mut self, other: &ParagraphStyle) {
        self.level = self.level.or(other.level);
        self.list = self.list.take().or_else(|| other.list.clone());
        self.list_level = self.list_level.or(other.list_level);
    }
}

impl Styles {
    /// Reads `styles.xml` and `numbering.xml`, where they are.
    pub fn read(
        styles: &Option<String>,
        lists: &Option<String>,
        limits: &ParseLimits,
    ) -> Result<Styles> {
        let mut known = Styles::default();
        if let Some(text) = styles {
            known.read_styles(&mut Xml::new(text, limits.depth))?;
        }
        if let Some(text) = lists {
            known.read_lists(&mut Xml::new(text, limits.depth))?;
        }
        Ok(known)
    }

    fn read_styles(&mut self, xml: &mut Xml<'_>) -> Result<()> {
        let (mut name, mut style) = (String::new(), ParagraphStyle::default());
        while let Some(tag) = xml.next_tag()? {
            match tag {
                XmlTag::Start(element) if element.name() == "style" => {
                    name = element.attribute("styleId").unwrap_or_default();
                    let is_paragraph = element.attribute("type").is_none_or(|t| t == "paragraph");
                    let is_default = element.attribute("default").is_some_and(|d| d == "1");
                    style = ParagraphStyle {
                        is_default: is_default && is_paragraph,
                        ..ParagraphStyle::default()
                    };
                }
                XmlTag::Start(element) => match element.name() {
                    "name" => {
                        let level = level_of(&element.value().unwrap_or_default());
                        style.level = level.or(style.level);
                    }
                    "basedOn" => style.based_on = element.value(),
                    _ => style.read(&element),
                },
                XmlTag::End(end) if end == "style" => {
                    self.styles.insert(std::mem::take(&mut name), std::mem::take(&mut style));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn read_lists(&mut self, xml: &mut Xml<'_>) -> Result<()> {
        let (mut look, mut list, mut level) = (String::new(), String::new(), 0);
        while let Some(tag) = xml.next_tag()? {
            let XmlTag::Start(element) = tag else { continue };
            match element.name() {
                "abstractNum" => {
                    look = element.attribute("abstractNumId").unwrap_or_default();
                    self.looks.insert(look.clone(), [Mark::default(); LIST_LEVELS]);
                }
                "lvl" => {
                    let said = element.attribute("ilvl").and_then(|value| value.parse().ok());
                    level = said.unwrap_or(LIST_LEVELS);
                }
                "start" => self.change_mark(&look, level, |mark| match mark {
                    Mark::None => Mark::None,
                    _ => element.value().and_then(|v| v.parse().ok()).map_or(mark, Mark::Number),
                }),
                "numFmt" => self.change_mark(&look, level, |mark| {
                    match (element.value().as_deref(), mark) {
                        (Some("bullet"), _) => Mark::Bullet,
                        (Some("none"), _) => Mark::None,
                        (_, Mark::Number(start)) => Mark::Number(start),
                        _ => Mark::Number(1),
                    }
                }),
                "num" => list = element.attribute("numId").unwrap_or_default(),
                "abstractNumId" => {
                    let look = element.value().unwrap_or_default();
                    self.lists.insert(std::mem::take(&mut list), look);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn change_mark(&mut self, look: &str, level: usize, change: impl FnOnce(Mark) -> Mark) {
        if let Some(mark) = self.looks.get_mut(look).and_then(|marks| marks.get_mut(level)) {
            *mark = change(*mark);
        }
    }

    /// `own` completed by the style called `name`, or by the default style.
    pub fn of(&self, name: Option<&str>, mut own: ParagraphStyle) -> ParagraphStyle {
        let mut next = name.and_then(|name| self.styles.get(name));
        if next.is_none() {
            next = self.styles.values().find(|style| style.is_default);
        }
        for _ in 0..LONGEST_CHAIN {
            let Some(style) = next else { break };
            own.complete(style);
            next = style.based_on.as_deref().and_then(|name| self.styles.get(name));
        }
        own
    }

    /// What stands before an item of `list` at `level`; list 0 is none.
    pub fn mark(&self, list: &str, level: usize) -> Mark {
        if list == "0" {
            return Mark::None;
        }
        let marks = self.lists.get(list).and_then(|look| self.looks.get(look));
        marks.and_then(|marks| marks.get(level)).copied().unwrap_or_default()
    }
}

/// The level of a style, whose name is in English in every language's documents.
fn level_of(name: &str) -> Option<u8> {
    let name = name.to_ascii_lowercase();
    match name.strip_prefix("heading ") {
        Some(number) => number.trim().parse().ok().filter(|level| (1..=9).contains(level)),
        None => (name == "title").then_some(0),
    }
}
