//! # style: how does an answer show what it cites?
//!
//! ```text
//! (answer with markers [n], what the sources are called) → the answer as readers want it
//!
//! inline    Refunds take five days [1].
//! numeric   Refunds take five days [1].                  [1] 17, Billing
//! footnote  Refunds take five days [^1].                 [^1]: "Refunds take five days." (17, Billing)
//! link      Refunds take five days [[1]](https://...).
//! ```
//!
//! Each style counts sources anew ([`super::numbering`]), and `numeric` and `footnote` append a list. Code
//! is never touched.

use std::ops::Range;

use serde::Deserialize;
use serde_json::Value;

use super::form::FormedAnswer;
use super::json_text::{JsonScalar, scalars};
use super::numbering::{SourceNumbers, TextAroundMarkers, written};
use super::own_knowledge::NUMBER;
use crate::chunk::HEADING_SEPARATOR;
use crate::text::line::single_line;
use crate::text::marker::{Marker, code, markers};

/// Longest quote of a footnote, in characters.
const LONGEST_QUOTE: usize = 300;

/// How citations are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CitationStyle {
    /// By their numbers.
    #[default]
    Inline,
    /// By their numbers, with a list of sources.
    Numeric,
    /// As Markdown footnotes that hold the quotes.
    Footnote,
    /// As Markdown links to the sources.
    Link,
}

impl CitationStyle {
    /// Whether sources are listed after the text.
    fn lists(self) -> bool {
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
    /// All sources, as indexes, in the order of the numbers by which they are shown: first those that
    /// are cited, as they are used first.
    pub order: Vec<usize>,
    /// Numbers that no source has, as they were written, and where in the text they would stand, in
    /// characters from 0.
    pub wrong: Vec<(u32, usize)>,
}

impl Styled {
    /// By what number the source with index `source` is shown.
    pub fn number(&self, source: usize) -> usize {
        self.order.iter().position(|other| *other == source).unwrap_or(source) + 1
    }
}

/// `answer` with its markers in `style`.
///
/// Markers are `[1]`, `[2, 3]` and `[1-3]` outside of code; number n is `sources[n - 1]`.
pub fn styled(answer: &str, style: CitationStyle, sources: &[Shown]) -> Styled {
    styled_with_own(answer, style, sources, None)
}

/// As [`styled`]; where there is a mark for the writer's `own` knowledge, it stands where that is cited.
pub fn styled_with_own(
    answer: &str,
    style: CitationStyle,
    sources: &[Shown],
    own: Option<&str>,
) -> Styled {
    let answer = match style {
        CitationStyle::Footnote => without_footnotes(answer),
        _ => answer.to_owned(),
    };
    let mut page = StyledText { own, ..StyledText::of(style, sources) };
    page.add(&answer, &markers(&answer));
    page.append_list();
    Styled { text: page.written.text, order: page.numbers.order(), wrong: page.wrong }
}

/// The JSON of `answer` with the markers of its strings in `style`, but for styles that list sources after the text:
/// they show numbers. Sources that the answer as a whole cites are counted after those of markers.
///
/// A number that no source has is told with the place where its string begins, or else the end.
pub fn styled_json(answer: &FormedAnswer, style: CitationStyle, sources: &[Shown]) -> Styled {
    let style = if style.lists() { CitationStyle::Inline } else { style };
    let mut page = StyledText::of(style, sources);
    let (mut json, mut characters, mut from) = (String::new(), 0, 0);
    let mut wrong = Vec::new();
    for JsonScalar { range, said, .. } in scalars(&answer.json) {
        let Some(said) = said else { continue };
        let markers = markers(&said);
        if markers.is_empty() {
            continue;
        }
        page.add(&said, &markers);
        let before = &answer.json[from..range.start];
        let place = characters + before.chars().count();
        wrong.extend(page.wrong.drain(..).map(|(number, _)| (number, place)));
        let written = Value::String(std::mem::take(&mut page.written).text).to_string();
        characters = place + written.chars().count();
        json += before;
        json += &written;
        from = range.end;
    }
    json += &answer.json[from..];
    let end = json.chars().count();
    let (_, unknown) = page.numbers.cite(&answer.sources);
    wrong.extend(unknown.into_iter().map(|number| (number, end)));
    Styled { text: json, order: page.numbers.order(), wrong }
}

/// What has been written so far.
struct StyledText<'a> {
    style: CitationStyle,
    sources: &'a [Shown],
    numbers: SourceNumbers,
    written: TextAroundMarkers,
    wrong: Vec<(u32, usize)>,
    /// What stands where own knowledge is cited.
    own: Option<&'a str>,
}

impl<'a> StyledText<'a> {
    fn of(style: CitationStyle, sources: &'a [Shown]) -> StyledText<'a> {
        let (numbers, written) = (SourceNumbers::of(sources.len()), TextAroundMarkers::default());
        StyledText { style, sources, numbers, written, wrong: Vec::new(), own: None }
    }

    /// Adds `text`, which has these markers.
    fn add(&mut self, text: &str, markers: &[Marker]) {
        let mut from = 0;
        for marker in markers {
            self.written.write(&text[from..marker.range.start]);
            self.mark(marker);
            from = marker.range.end;
        }
        self.written.write(&text[from..]);
    }

    fn mark(&mut self, marker: &Marker) {
        let (cited, mut wrong) = self.numbers.cite(&marker.numbers);
        let own = self.own.filter(|_| wrong.contains(&NUMBER));
        if own.is_some() {
            wrong.retain(|number| *number != NUMBER);
        }
        if cited.is_empty() && own.is_none() {
            self.written.leave_out();
        }
        let place = self.written.characters;
        self.wrong.extend(wrong.into_iter().map(|number| (number, place)));
        if !cited.is_empty() {
            self.written.write(&self.shown(&cited));
        }
        if let Some(own) = own {
            self.written.write(own);
        }
    }

    /// A marker of the sources `cited`.
    fn shown(&self, cited: &[usize]) -> String {
        let number = |source: &usize| self.numbers.number(*source);
        let link = |source: &usize| self.sources[*source].link.as_deref();
        match self.style {
            CitationStyle::Link if cited.iter().any(|source| link(source).is_some()) => {
                let linked = |source: &usize| match link(source) {
                    Some(link) => format!("[[{}]]({link})", number(source)),
                    None => format!("[{}]", number(source)),
                };
                cited.iter().map(linked).collect()
            }
            CitationStyle::Footnote => {
                cited.iter().map(|source| format!("[^{}]", number(source))).collect()
            }
            _ => written(&cited.iter().map(number).collect::<Vec<_>>()),
        }
    }

    fn append_list(&mut self) {
        if !self.style.lists() || self.numbers.used().is_empty() {
            return;
        }
        let item = |(number, source): (usize, &usize)| {
            let shown = &self.sources[*source];
            match self.style {
                CitationStyle::Footnote => {
                    format!("\n[^{number}]: {}({})", quoted(&shown.quotes), named(shown))
                }
                _ => format!("\n[{number}] {}", named(shown)),
            }
        };
        let list: String = (1..).zip(self.numbers.used()).map(item).collect();
        let text = &mut self.written.text;
        text.truncate(text.trim_end().len());
        text.push('\n');
        *text += &list;
    }
}

/// What a source is called and where its text stands there. A path of headings that begins with the
/// name says both.
fn named(shown: &Shown) -> String {
    let (label, place) = (plain(&shown.label), plain(&shown.place));
    let top = place.split(HEADING_SEPARATOR).next().unwrap_or_default();
    match (label.is_empty(), place.is_empty()) {
        _ if top == label => place,
        (true, _) => place,
        (_, true) => label,
        _ => format!("{label}, {place}"),
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
        '<' => ' ',
        other => other,
    };
    let text: String = text.chars().map(replaced).collect();
    // By itself it parts headings, and ends no tag.
    let kept = |word: &str| if word == ">" { word.to_owned() } else { word.replace('>', " ") };
    let words: Vec<String> = text.split_whitespace().map(kept).collect();
    single_line(&words.join(" "))
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
    use std::collections::HashSet;

    use super::super::form::AnswerForm;
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
    fn inline_numbers_count_by_first_use() {
        check(CitationStyle::Inline, "A [4-1], b `[1]` [2].\n", "A [1, 2], b `[1]` [3].\n");
        check(CitationStyle::Inline, "A [3][1] [3, 1].", "A [1][2] [1, 2].");
        check(CitationStyle::Inline, "A [1]. B [2].", "A [1]. B [2].");
    }

    #[test]
    fn numeric_has_a_list() {
        check(
            CitationStyle::Numeric,
            "A [4]. B [2, 4]. C [1-2].\n",
            "A [1]. B [2, 1]. C [3, 2].\n\n[1] row 4, Part 4\n[2] row 2\n[3] row 1, Part 1",
        );
        check(CitationStyle::Numeric, "None.\n", "None.\n");
        check(CitationStyle::Numeric, "`a[4]` b [4]", "`a[4]` b [1]\n\n[1] row 4, Part 4");
    }

    #[test]
    fn own_knowledge_has_its_mark() {
        let told = |answer: &str| {
            let Styled { text, wrong, .. } =
                styled_with_own(answer, CitationStyle::Inline, &sources(), Some("(mine)"));
            (text, wrong)
        };
        assert_eq!(told("A [2]. B [0]. C [9]."), ("A [1]. B (mine). C.".to_owned(), vec![(9, 18)]));
        assert_eq!(told("A [0, 2].").0, "A [1](mine).");
        check(CitationStyle::Inline, "A [0].", "A.");
    }

    #[test]
    fn json_stays_what_it_is_but_for_its_markers() {
        let form = AnswerForm::of(serde_json::Map::new());
        let told = |style, answer: &str, cited: &str| {
            let reply = format!("{{\"answer\": {answer}, \"sources\": {cited}}}");
            styled_json(&form.read(&reply).unwrap(), style, &sources())
        };
        let answer = r#"{"b": "\u00e9 \"x\" [4].", "a" : [1.50, "None [9].", "[2]"], "[3]": true}"#;
        let shown = r#"{"b": "é \"x\" [1].", "a" : [1.50, "None.", "[2]"], "[3]": true}"#;
        for style in [CitationStyle::Inline, CitationStyle::Numeric, CitationStyle::Footnote] {
            let styled = told(style, answer, "[1, 4, 7]");
            assert_eq!(styled.text, shown);
            assert_eq!(styled.order, [3, 1, 0, 2]);
            assert_eq!(styled.wrong, [(9, 35), (7, shown.chars().count())]);
        }
        assert_eq!(&shown.chars().skip(35).take(7).collect::<String>(), "\"None.\"");
        let linked = told(CitationStyle::Link, r#"["A [4]."]"#, "[]").text;
        assert_eq!(linked, r#"["A [[1]](https://h/4)."]"#);
        assert_eq!(told(CitationStyle::Inline, "12", "[2]").order, [1, 0, 2, 3]);
    }

    #[test]
    fn a_marker_of_no_source_is_left_out_in_every_style() {
        use CitationStyle::{Footnote, Inline, Link, Numeric};
        for style in [Inline, Numeric, Footnote, Link] {
            check(style, "See [9].", "See.");
            check(style, "None. [7]", "None.");
            check(style, "[7] Some. `[7]`", "Some. `[7]`");
            check(style, "One [7], two [0][8] and three.", "One, two and three.");
            check(style, "One.\n[7] Two.", "One.\nTwo.");
        }
        check(Inline, "A [9]. B [0,2].", "A. B [1].");
        check(Numeric, "A [9]. B [0,2].", "A. B [1].\n\n[1] row 2");
    }

    #[test]
    fn a_path_of_headings_is_kept_and_no_title_repeated() {
        let check = |label: &str, place: &str, expected: &str| {
            let source = Shown { label: label.into(), place: place.into(), ..Shown::default() };
            let text = styled("A [1].", CitationStyle::Numeric, &[source]).text;
            assert_eq!(text, format!("A [1].\n\n[1] {expected}"));
        };
        check("Returns", "Returns > Refund time", "Returns > Refund time");
        check("Returns", "Returns", "Returns");
        check("Returns", "Refund time > Days", "Returns, Refund time > Days");
        check("Returns", "Returns of goods", "Returns, Returns of goods");
        check("17", "characters 0-9", "17, characters 0-9");
        check("a<b>c", "x >y", "a b c, x y");
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
        check(CitationStyle::Link, "A [3]. B [9]. `[1]`", "A [1]. B. `[1]`");
        check(CitationStyle::Link, "A [3]. B [2].", "A [1]. B [[2]](https://h/2).");
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
        assert_eq!(wrong(CitationStyle::Inline), [(7, 1), (0, 5)]);
        assert_eq!(wrong(CitationStyle::Numeric), [(7, 1), (0, 5)]);
    }

    #[test]
    fn numbers_can_be_looked_up() {
        let told = styled("A [4]. B [2].", CitationStyle::Link, &sources());
        assert_eq!(told.order, [3, 1, 0, 2]);
        assert_eq!([3, 1, 0, 2].map(|source| told.number(source)), [1, 2, 3, 4]);
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
            let told = styled(&answer, CitationStyle::Inline, &sources);
            let body = told.text.clone();
            let listed = styled(&answer, CitationStyle::Numeric, &sources);
            prop_assert!(listed.text.starts_with(body.trim_end()));
            prop_assert_eq!(&listed.order, &told.order);
            prop_assert_eq!(bare(&body), bare(&answer));
            // Each number is used first when all lower ones have been.
            let mut most = 0;
            for number in markers(&body).iter().flat_map(|marker| &marker.numbers) {
                prop_assert!(*number >= 1 && *number <= most + 1);
                most = most.max(*number);
            }
            let cited: HashSet<u32> = markers(&body).into_iter().flat_map(|it| it.numbers).collect();
            prop_assert_eq!(most as usize, cited.len());
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
