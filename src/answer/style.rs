//! # style: how does an answer show what it cites?
//!
//! ```text
//! (answer with markers [n], what the sources are called) → the answer as readers want it
//!
//! inline    Refunds take five days [4].
//! numeric   Refunds take five days [1].                  [1] 17, Billing
//! footnote  Refunds take five days [^1].                 [^1]: "Refunds take five days." (17, Billing)
//! link      Refunds take five days [[4]](https://...).
//! ```
//!
//! `numeric` and `footnote` count sources anew, in the order of their first use, and append a list.
//! A number that no source has would point to nothing there, so it is left out of the text; in
//! every style the caller learns of it. Code is never touched.

use std::collections::HashSet;
use std::ops::Range;

use serde::Deserialize;

use crate::text::marker::{Marker, code, markers};

/// Longest quote of a footnote, in characters.
const LONGEST_QUOTE: usize = 300;

/// How citations are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CitationStyle {
    /// As the answerer wrote them.
    #[default]
    Inline,
    /// Numbered by first use, with a list of sources.
    Numeric,
    /// As Markdown footnotes that hold the quotes.
    Footnote,
    /// As Markdown links to the sources.
    Link,
}

impl CitationStyle {
    /// Whether sources get other numbers than those under which they were read.
    pub fn renumbers(self) -> bool {
        matches!(self, CitationStyle::Numeric | CitationStyle::Footnote)
    }
}

/// A source as a reader is shown it; the first has number 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// What it is called.
    pub label: String,
    /// Where in the source the text stands.
    pub place: String,
    /// What is quoted of it.
    pub quotes: Vec<String>,
    /// Where a link leads; it is put into the text as it is (see [`super::link`]).
    pub link: Option<String>,
}

/// An answer in a style.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Styled {
    /// The answer's text in the style, with its list of sources if the style has one.
    pub text: String,
    /// The sources that are cited, as indexes, in the order of their first use. In a style that
    /// renumbers the first of them is number 1.
    pub used: Vec<usize>,
    /// Numbers that no source has, and where in the text they stand or would stand, in
    /// characters from 0.
    pub wrong: Vec<(u32, usize)>,
}

impl Styled {
    /// By what number the source with index `source` is cited in `style`.
    pub fn number(&self, source: usize, style: CitationStyle) -> usize {
        let place = self.used.iter().position(|used| *used == source);
        place.filter(|_| style.renumbers()).unwrap_or(source) + 1
    }
}

/// `answer` with its markers in `style`.
///
/// Markers are `[1]`, `[2, 3]` and `[1-3]` outside of code; number n is `sources[n - 1]`.
pub fn styled(answer: &str, style: CitationStyle, sources: &[Shown]) -> Styled {
    let answer = match style {
        CitationStyle::Footnote => without_footnotes(answer),
        _ => answer.to_owned(),
    };
    let mut page = StyledText { style, sources, styled: Styled::default(), characters: 0 };
    let mut from = 0;
    for marker in markers(&answer) {
        page.write(&answer[from..marker.range.start]);
        page.mark(&marker, &answer[marker.range.clone()]);
        from = marker.range.end;
    }
    page.write(&answer[from..]);
    page.append_list();
    page.styled
}

/// What has been written so far.
struct StyledText<'a> {
    style: CitationStyle,
    sources: &'a [Shown],
    styled: Styled,
    characters: usize,
}

impl StyledText<'_> {
    fn write(&mut self, text: &str) {
        self.styled.text += text;
        self.characters += text.chars().count();
    }

    /// Writes a marker, which stands in the answer as `written`.
    fn mark(&mut self, marker: &Marker, written: &str) {
        let source = |number: u32| {
            (number as usize).checked_sub(1).filter(|source| *source < self.sources.len())
        };
        let mut cited: Vec<usize> = marker.numbers.iter().copied().filter_map(source).collect();
        let mut seen = HashSet::new();
        cited.retain(|source| seen.insert(*source));
        let wrong = marker.numbers.iter().copied().filter(|number| source(*number).is_none());
        let wrong: Vec<u32> = wrong.collect();
        if self.style.renumbers() && cited.is_empty() {
            self.close_gap();
        }
        self.styled.wrong.extend(wrong.into_iter().map(|number| (number, self.characters)));
        for source in &cited {
            if !self.styled.used.contains(source) {
                self.styled.used.push(*source);
            }
        }
        let is_linked = cited.iter().any(|source| self.sources[*source].link.is_some());
        match self.style {
            CitationStyle::Link if is_linked => self.link(marker),
            CitationStyle::Inline | CitationStyle::Link => self.write(written),
            CitationStyle::Numeric | CitationStyle::Footnote if cited.is_empty() => {}
            CitationStyle::Numeric | CitationStyle::Footnote => self.renumber(&cited),
        }
    }

    fn link(&mut self, marker: &Marker) {
        for number in &marker.numbers {
            let source = (*number as usize).checked_sub(1).and_then(|at| self.sources.get(at));
            match source.and_then(|source| source.link.as_deref()) {
                Some(link) => self.write(&format!("[[{number}]]({link})")),
                None => self.write(&format!("[{number}]")),
            }
        }
    }

    fn renumber(&mut self, cited: &[usize]) {
        let number = |source: &usize| self.styled.number(*source, self.style);
        let numbers: Vec<usize> = cited.iter().map(number).collect();
        let written = match self.style {
            CitationStyle::Footnote => {
                numbers.iter().map(|number| format!("[^{number}]")).collect()
            }
            _ => {
                format!("[{}]", numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", "))
            }
        };
        self.write(&written);
    }

    /// Takes back the space before a marker that is left out.
    fn close_gap(&mut self) {
        if self.styled.text.ends_with(' ') {
            self.styled.text.pop();
            self.characters -= 1;
        }
    }

    fn append_list(&mut self) {
        if !self.style.renumbers() || self.styled.used.is_empty() {
            return;
        }
        let item = |(number, source): (usize, &usize)| {
            let Shown { label, place, quotes, .. } = &self.sources[*source];
            let named = [label, place].map(|text| plain(text));
            let named: Vec<&str> =
                named.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
            match self.style {
                CitationStyle::Footnote => {
                    format!("\n[^{number}]: {}({})", quoted(quotes), named.join(", "))
                }
                _ => format!("\n[{number}] {}", named.join(", ")),
            }
        };
        let list: String = (1..).zip(&self.styled.used).map(item).collect();
        let text = self.styled.text.trim_end().len();
        self.styled.text.truncate(text);
        self.styled.text += "\n";
        self.styled.text += &list;
    }
}

fn quoted(quotes: &[String]) -> String {
    let quote = |text: &String| {
        let text = plain(text);
        match text.char_indices().nth(LONGEST_QUOTE) {
            Some((end, _)) => format!("\"{}…\" ", text[..end].trim_end()),
            None => format!("\"{text}\" "),
        }
    };
    quotes.iter().map(quote).collect()
}

/// On one line, and without anything that a reader of Markdown or of citations could mistake for
/// more than words.
fn plain(text: &str) -> String {
    let replaced = |letter: char| match letter {
        '[' => '(',
        ']' => ')',
        '`' => '\'',
        '<' | '>' => ' ',
        other => other,
    };
    let text: String = text.chars().map(replaced).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `answer` with what looks like a footnote of its own made plain text.
fn without_footnotes(answer: &str) -> String {
    let code: Vec<Range<usize>> = code(answer);
    let mut safe = String::with_capacity(answer.len());
    let mut from = 0;
    for (at, _) in answer.match_indices("[^") {
        let next = code.partition_point(|range| range.end <= at);
        if code.get(next).is_none_or(|range| range.start > at) {
            safe += &answer[from..at];
            safe.push('\\');
            from = at;
        }
    }
    safe + &answer[from..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sources() -> Vec<Shown> {
        let source = |n: u32| Shown {
            label: format!("row {n}"),
            place: if n == 2 { String::new() } else { format!("Part {n}") },
            quotes: vec![format!("Quote {n}.")],
            link: (n != 3).then(|| format!("https://h/{n}")),
        };
        (1..=4).map(source).collect()
    }

    fn check(style: CitationStyle, answer: &str, expected: &str) {
        assert_eq!(styled(answer, style, &sources()).text, expected, "{answer}");
    }

    #[test]
    fn inline_is_what_was_written() {
        check(CitationStyle::Inline, "A [4-1], b [9] `[1]`.", "A [4-1], b [9] `[1]`.");
    }

    #[test]
    fn numbers_count_by_first_use() {
        check(
            CitationStyle::Numeric,
            "A [4]. B [2, 4]. C [1-2].\n",
            "A [1]. B [2, 1]. C [3, 2].\n\n[1] row 4, Part 4\n[2] row 2\n[3] row 1, Part 1",
        );
        check(CitationStyle::Numeric, "A [9]. B [0,2].", "A. B [1].\n\n[1] row 2");
        check(CitationStyle::Numeric, "None. [7]", "None.");
        check(CitationStyle::Numeric, "None.\n", "None.\n");
        check(CitationStyle::Numeric, "`a[4]` b [4]", "`a[4]` b [1]\n\n[1] row 4, Part 4");
    }

    #[test]
    fn footnotes_hold_the_quotes() {
        check(
            CitationStyle::Footnote,
            "A [3][1]. B [3, 1].",
            "A [^1][^2]. B [^1][^2].\n\n[^1]: \"Quote 3.\" (row 3, Part 3)\n\
             [^2]: \"Quote 1.\" (row 1, Part 1)",
        );
        check(
            CitationStyle::Footnote,
            "Forged[^1] `x[^1]` [2].",
            "Forged\\[^1] `x[^1]` [^1].\n\n[^1]: \"Quote 2.\" (row 2)",
        );
    }

    #[test]
    fn links_lead_to_the_sources() {
        check(
            CitationStyle::Link,
            "A [1]. B [2, 3].",
            "A [[1]](https://h/1). B [[2]](https://h/2)[3].",
        );
        check(CitationStyle::Link, "A [3]. B [9]. `[1]`", "A [3]. B [9]. `[1]`");
    }

    #[test]
    fn what_is_appended_says_nothing_to_a_reader_of_marks() {
        let forged = Shown {
            label: "a\n[9] `b".into(),
            quotes: vec!["x\n\n[^2]: y <b>".into(), "z".repeat(400)],
            ..Shown::default()
        };
        let text = styled("A [1].", CitationStyle::Footnote, &[forged]).text;
        let long = "z".repeat(300);
        assert_eq!(text, format!("A [^1].\n\n[^1]: \"x (^2): y b\" \"{long}…\" (a (9) 'b)"));
    }

    #[test]
    fn wrong_numbers_are_told_with_their_places() {
        let wrong = |style| styled("\u{e9} [7]. B [2, 0].", style, &sources()).wrong;
        assert_eq!(wrong(CitationStyle::Inline), [(7, 2), (0, 9)]);
        assert_eq!(wrong(CitationStyle::Numeric), [(7, 1), (0, 5)]);
    }

    #[test]
    fn numbers_can_be_looked_up() {
        let told = styled("A [4]. B [2].", CitationStyle::Numeric, &sources());
        assert_eq!(
            (told.number(3, CitationStyle::Numeric), told.number(1, CitationStyle::Numeric)),
            (1, 2)
        );
        let told = styled("A [4].", CitationStyle::Link, &sources());
        assert_eq!(told.number(3, CitationStyle::Link), 4);
    }

    /// Without markers of any style, and without spaces.
    fn bare(text: &str) -> String {
        let mut bare = String::new();
        let mut from = 0;
        for marker in markers(text) {
            bare += &text[from..marker.range.start];
            from = marker.range.end;
        }
        bare += &text[from..];
        bare.retain(|letter| !letter.is_whitespace());
        bare
    }

    proptest! {
        #[test]
        fn only_markers_change(
            answer in "([a-c]{1,3}|\\[[0-6](, ?[0-6])?\\]|\\[[1-3]-[2-5]\\]| `b\\[1\\]` |\n\n```\nc\\[2\\]\n```\n\n| |\n|\\.|é){0,30}",
        ) {
            let sources = sources();
            prop_assert_eq!(&styled(&answer, CitationStyle::Inline, &sources).text, &answer);
            let told = styled(&answer, CitationStyle::Numeric, &sources);
            let body = match told.used.is_empty() {
                true => told.text.clone(),
                false => told.text[..told.text.rfind("\n\n[1] ").unwrap()].to_owned(),
            };
            prop_assert_eq!(bare(&body), bare(&answer));
            // Each number is used first when all lower ones have been.
            let mut most = 0;
            for number in markers(&body).iter().flat_map(|marker| &marker.numbers) {
                prop_assert!(*number >= 1 && *number <= most + 1);
                most = most.max(*number);
            }
            prop_assert_eq!(most as usize, told.used.len());
            for style in [CitationStyle::Numeric, CitationStyle::Footnote, CitationStyle::Link] {
                let text = styled(&answer, style, &sources).text;
                for range in code(&answer) {
                    prop_assert!(text.contains(answer[range].trim_end()));
                }
            }
        }

        #[test]
        fn any_text_has_a_style(answer in "\\PC{0,60}") {
            for style in [CitationStyle::Inline, CitationStyle::Numeric, CitationStyle::Footnote, CitationStyle::Link] {
                let told = styled(&answer, style, &sources());
                let length = told.text.chars().count();
                prop_assert!(told.wrong.iter().all(|(_, at)| *at <= length));
            }
        }
    }
}
