//! # method: which places are good to cut at?
//!
//! ```text
//! document → sections, and in them places to cut, best first
//! ```

mod code;
mod fixed;
mod html;
mod markdown;
mod page;
mod recursive;
mod sentence;
#[cfg(feature = "code")]
mod syntax;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::HEADING_SEPARATOR;
use super::options::MethodSettings;
use crate::error::{Error, ErrorKind, Result};
use crate::text::format::TextFormat;
use crate::text::line::with_line_feeds;
pub(super) use code::plan_by_layout;
pub use page::FORM_FEED;

/// Which places of a document are good to cut at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChunkingMethod {
    /// As what the document seems to be written in: Markdown, HTML, source code or prose.
    Auto,
    /// Every `max_tokens` tokens, wherever that falls.
    Fixed,
    /// Whole sentences, as many as fit.
    Sentence,
    /// Paragraphs, then lines, sentences, words: the largest unit that fits.
    Recursive,
    /// Markdown blocks under their headings.
    Markdown,
    /// The readable text of a page, cut like Markdown.
    Html,
    /// Pages, and in them the largest unit that fits.
    Page,
    /// Functions and classes, then statements, then lines.
    Code,
    /// Sentences that are about one subject.
    Semantic,
    /// Small chunks that know the larger ones they are parts of.
    Hierarchical,
}

/// What messages, documentation and dispatch know about a method.
pub struct MethodInfo {
    /// Its name in SQL.
    pub name: &'static str,
    /// One line that describes it to users.
    pub summary: &'static str,
    /// The method itself.
    pub method: ChunkingMethod,
    /// Names of its own settings.
    pub settings: &'static [&'static str],
    /// Finds its places to cut, as far as the text alone says.
    plan: fn(&str, &MethodSettings) -> CutPlan,
}

/// All methods: the only list of them.
pub const CHUNKING_METHODS: &[MethodInfo] = &[
    MethodInfo {
        name: "auto",
        summary: "as what the text is written in: markdown, html, code, else recursive",
        method: ChunkingMethod::Auto,
        settings: &[],
        plan: |document, settings| ChunkingMethod::fitting(document).plan(document, settings),
    },
    MethodInfo {
        name: "fixed",
        summary: "every max_tokens tokens, wherever that falls",
        method: ChunkingMethod::Fixed,
        settings: &[],
        plan: |document, _| fixed::plan(document),
    },
    MethodInfo {
        name: "sentence",
        summary: "whole sentences, as many as fit",
        method: ChunkingMethod::Sentence,
        settings: &[],
        plan: |document, _| sentence::plan(document),
    },
    MethodInfo {
        name: "recursive",
        summary: "paragraphs, then lines, sentences, words: the largest unit that fits",
        method: ChunkingMethod::Recursive,
        settings: &[],
        plan: |document, _| recursive::plan(document),
    },
    MethodInfo {
        name: "markdown",
        summary: "Markdown blocks under their headings",
        method: ChunkingMethod::Markdown,
        settings: &[],
        plan: |document, _| markdown::plan(document),
    },
    MethodInfo {
        name: "html",
        summary: "the readable text of an HTML page, cut like Markdown",
        method: ChunkingMethod::Html,
        settings: &[],
        plan: |document, _| html::plan(document),
    },
    MethodInfo {
        name: "page",
        summary: "pages that form feeds end, and in them as recursive",
        method: ChunkingMethod::Page,
        settings: &[],
        plan: |document, _| page::plan(document),
    },
    MethodInfo {
        name: "code",
        summary: "functions and classes, then statements, then lines",
        method: ChunkingMethod::Code,
        settings: &["language"],
        plan: code::plan,
    },
    MethodInfo {
        name: "semantic",
        summary: "sentences that speak of the same",
        method: ChunkingMethod::Semantic,
        settings: &["percentile", "min_tokens"],
        // Without distances between the sentences, they are as good as each other.
        plan: |document, _| sentence::plan(document),
    },
    MethodInfo {
        name: "hierarchical",
        summary: "small chunks that know the larger ones they are parts of",
        method: ChunkingMethod::Hierarchical,
        settings: &["child_tokens", "base"],
        plan: |document, _| recursive::plan(document),
    },
];

impl ChunkingMethod {
    /// The name in SQL.
    pub fn as_str(self) -> &'static str {
        self.info().name
    }

    /// Names of its own settings.
    pub fn settings(self) -> &'static [&'static str] {
        self.info().settings
    }

    /// The method that fits what `document` seems to be written in. HTML is read before it is cut, and what is read
    /// is Markdown.
    pub fn fitting(document: &str) -> ChunkingMethod {
        match TextFormat::of(document) {
            TextFormat::Markdown | TextFormat::Html => ChunkingMethod::Markdown,
            TextFormat::Code => ChunkingMethod::Code,
            TextFormat::Prose => ChunkingMethod::Recursive,
        }
    }

    /// Whether it can say where parents and children of [`ChunkingMethod::Hierarchical`] are cut.
    pub(super) fn can_be_base(self) -> bool {
        !matches!(
            self,
            ChunkingMethod::Hierarchical | ChunkingMethod::Semantic | ChunkingMethod::Html
        )
    }

    /// The places where `document` may be cut. To the parsers behind it, a carriage return alone ends no line.
    pub(super) fn plan(self, document: &str, settings: &MethodSettings) -> CutPlan {
        (self.info().plan)(&with_line_feeds(document), settings)
    }

    /// Its entry in [`CHUNKING_METHODS`], which has the order of the variants.
    fn info(self) -> &'static MethodInfo {
        &CHUNKING_METHODS[self as usize]
    }
}

/// Where a document may be cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutPlan {
    /// Stretches of the document that share no chunk, in order.
    pub(super) sections: Vec<Section>,
    /// Places to cut, in byte offsets: for each kind of unit, largest first, the places where
    /// one begins, sorted. A unit goes to where the next of its kind or a larger one begins.
    pub(super) levels: Vec<Vec<usize>>,
    /// What has a name, in the order of its beginning, outer before inner.
    pub(super) scopes: Vec<NamedScope>,
    /// Whether words are kept whole where no level has a place.
    pub(super) whole_words: bool,
}

/// A stretch of the document with a heading of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Section {
    /// Byte range in the document.
    pub range: Range<usize>,
    /// Path of its headings.
    pub heading: Option<String>,
}

/// A stretch of the document that has a name, inside of another one or beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct NamedScope {
    /// Byte range in the document.
    pub range: Range<usize>,
    /// What it is called.
    pub name: String,
    /// Number of the scope that it is in.
    pub outer: Option<usize>,
}

/// Most names of things beside each other in one heading.
const MOST_NAMES: usize = 3;

impl CutPlan {
    /// A plan for a document without sections.
    fn unsectioned(document: &str, levels: Vec<Vec<usize>>) -> Self {
        let section = Section { range: 0..document.len(), heading: None };
        CutPlan { sections: vec![section], levels, scopes: Vec::new(), whole_words: true }
    }

    /// The plan, if it fits `document`.
    pub(super) fn checked(self, document: &str) -> Result<Self> {
        let is_place = |at: &usize| document.is_char_boundary(*at);
        let is_range = |range: &Range<usize>| {
            range.start <= range.end && is_place(&range.start) && is_place(&range.end)
        };
        let apart = self.sections.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start);
        let in_order = self.scopes.is_sorted_by_key(|scope| scope.range.start)
            && (0..).zip(&self.scopes).all(|(number, scope)| scope.outer < Some(number));
        let fits = self.levels.iter().all(|level| level.is_sorted() && level.iter().all(is_place))
            && self.sections.iter().all(|section| is_range(&section.range))
            && self.scopes.iter().all(|scope| is_range(&scope.range));
        match apart && in_order && fits {
            true => Ok(self),
            false => Err(Error::new(ErrorKind::Internal, "plan of chunks is of another document")),
        }
    }

    /// The heading of a chunk of `section` with this range: that of the section, and the names
    /// that the chunk is in, or has.
    pub(super) fn heading(&self, section: usize, chunk: &Range<usize>) -> Option<String> {
        let mut names = Vec::new();
        let own = self.names_within(chunk);
        names.extend((!own.is_empty()).then_some(&*own));
        let begun = self.scopes.partition_point(|scope| scope.range.start <= chunk.start);
        // Scopes lie in each other: whatever is around the chunk is around the last one, or it.
        let mut around = begun.checked_sub(1);
        while let Some(scope) = around.and_then(|number| self.scopes.get(number)) {
            if scope.range.end >= chunk.end {
                names.push(&scope.name);
            }
            around = scope.outer;
        }
        names.extend(self.sections[section].heading.as_deref());
        names.reverse();
        (!names.is_empty()).then(|| names.join(HEADING_SEPARATOR))
    }

    /// The names of the outermost scopes in `chunk`, as far as they do not go beyond it, each
    /// with the names of what it is in and the chunk is not.
    fn names_within(&self, chunk: &Range<usize>) -> String {
        let first = self.scopes.partition_point(|scope| scope.range.start < chunk.start);
        let mut end = chunk.start;
        let mut names: Vec<String> = Vec::new();
        for scope in &self.scopes[first..] {
            if scope.range.start >= chunk.end || names.len() > MOST_NAMES {
                break;
            }
            let is_outermost = scope.range.start >= end;
            let is_whole = scope.range != *chunk && scope.range.end <= chunk.end;
            if is_outermost && is_whole {
                names.push(self.path(scope, chunk));
                end = scope.range.end;
            }
        }
        let more = if names.len() > MOST_NAMES { ", …" } else { "" };
        names.truncate(MOST_NAMES);
        names.join(", ") + more
    }

    /// The names of `scope` and what it is in, outermost first, without what is around `chunk`.
    fn path(&self, scope: &NamedScope, chunk: &Range<usize>) -> String {
        let mut names = vec![scope.name.as_str()];
        let mut outer = scope.outer;
        while let Some(around) = outer.and_then(|number| self.scopes.get(number)) {
            if around.range.start <= chunk.start && chunk.end <= around.range.end {
                break;
            }
            names.push(&around.name);
            outer = around.outer;
        }
        names.reverse();
        names.join(HEADING_SEPARATOR)
    }
}

/// Byte offset of the first character at or after `from` that is not white space.
pub(super) fn skip_white_space(text: &str, from: usize) -> usize {
    text.len() - text[from..].trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_method() {
        for (number, info) in CHUNKING_METHODS.iter().enumerate() {
            assert_eq!(info.method as usize, number, "order of {}", info.name);
            assert_eq!(info.method.as_str(), info.name);
            let read: ChunkingMethod = serde_json::from_value(info.name.into()).unwrap();
            assert_eq!(read, info.method);
        }
    }
}
