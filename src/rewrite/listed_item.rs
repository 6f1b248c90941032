//! Which item of the last answer does "the second one" stand for?
//!
//! ```text
//! ("Plan: Free, Price: 0\nPlan: Team, Price: 20 [1]", "How much is the second one?") → "Team", in the place of "second"
//! ```
//!
//! And what is it that the last answer, a row of a table, is about? Rows and items are looked at as the built-in answerer shows them: a line each, or behind a colon with semicolons between. Where
//! the answer has no such list, or a shorter one, nothing is known.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::text::marker::markers;

/// Words of an item's name that are taken over.
const MOST_WORDS: usize = 6;

/// Items of an answer that are looked at.
const MOST_ITEMS: usize = 100;

/// Words for the first, the second, the third and the last one.
const ORDINALS: [&str; 4] = [
    "first erste ersten erster erstes premier première primero primera primo prima primeiro primeira eerste pierwszy pierwsza \
     pierwsze birinci первый первая первое первого первой перший перша πρώτος πρώτη πρώτο पहला पहली पहले الأول الأولى",
    "second zweite zweiten zweiter zweites deuxième segundo segunda secondo seconda tweede drugi druga drugie ikinci второй \
     вторая второе второго другий друга δεύτερος δεύτερη δεύτερο दूसरा दूसरी दूसरे الثاني الثانية",
    "third dritte dritten dritter drittes troisième tercero tercera terzo terza terceiro terceira derde trzeci trzecia trzecie \
     üçüncü третий третья третье третьего третій третя τρίτος τρίτη τρίτο तीसरा तीसरी तीसरे الثالث الثالثة",
    "last letzte letzten letzter letztes dernier dernière último última ultimo ultima laatste ostatni ostatnia ostatnie \
     sonuncu последний последняя последнее останній τελευταίος τελευταία आख़िरी अंतिम الأخير الأخيرة",
];

/// `question` with the name of the item of `answer` in the place of "second" and the like; `None` where it has no such word, or the
/// answer no such item.
pub(super) fn with_named_item(question: &str, answer: &str) -> Option<String> {
    let (at, place) = ordinal(question)?;
    let items = items(answer);
    let is_list = items.len() > 1;
    let item = if at + 1 == ORDINALS.len() { items.last() } else { items.get(at) };
    let name = item.filter(|_| is_list)?;
    Some(format!("{}{name}{}", &question[..place.start], &question[place.end..]))
}

/// The row of a table that `answer` is, and what it calls the thing that it is about; `None` where that is anything else.
pub(super) fn only_row(answer: &str) -> Option<(String, String)> {
    let answer = without_citations(answer);
    let mut lines = answer.lines().map(str::trim).filter(|it| !it.is_empty());
    let row = lines.next().filter(|line| line.matches(": ").count() > 1)?;
    lines.next().is_none().then(|| (row.to_owned(), name(row)))
}

/// Which of [`ORDINALS`] stands in `question`, and where, if it is one alone.
fn ordinal(question: &str) -> Option<(usize, Range<usize>)> {
    let words = question.unicode_word_indices().take(100);
    let mut found = words.filter_map(|(start, word)| {
        let folded = word.to_lowercase();
        let holds = |list: &&str| list.split_ascii_whitespace().any(|it| it == folded);
        let at = ORDINALS.iter().position(|list| holds(&list))?;
        Some((at, start..start + word.len()))
    });
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// The names of the items that `answer` lists.
fn items(answer: &str) -> Vec<String> {
    let answer = without_citations(answer);
    let lines: Vec<&str> = answer.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    let marked: Vec<&str> = lines.iter().filter_map(|line| without_sign(line)).collect();
    if marked.len() > 1 {
        return marked.into_iter().take(MOST_ITEMS).map(name).collect();
    }
    let first = lines.first().and_then(|line| column(line));
    let rows = || lines.iter().filter(|line| first.is_some() && column(line) == first);
    if rows().count() > 1 {
        return rows().take(MOST_ITEMS).map(|row| name(row)).collect();
    }
    let listed = answer.split_once(": ").filter(|(_, list)| list.contains("; "));
    let parts = listed.into_iter().flat_map(|(_, list)| list.split("; "));
    parts.take(MOST_ITEMS).map(name).collect()
}

fn without_citations(answer: &str) -> String {
    let (mut text, mut start) = (String::new(), 0);
    for marker in markers(answer) {
        text += &answer[start..marker.range.start];
        start = marker.range.end;
    }
    text + &answer[start..]
}

/// What a row begins with: the name of its first column.
fn column(line: &str) -> Option<&str> {
    line.split_once(": ").map(|(column, _)| column)
}

/// What stands behind the dash or the number of an item.
fn without_sign(line: &str) -> Option<&str> {
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = numbered.len() < line.len();
    line.strip_prefix("- ").or_else(|| numbered.strip_prefix(". ").filter(|_| is_numbered))
}

/// What an item is called: its first words, or what a row says in its first column.
fn name(item: &str) -> String {
    let of_row = item.split_once(": ").filter(|(_, rest)| rest.contains(": "));
    let text = of_row.map_or(item, |(_, value)| value);
    let ends = |c: char| matches!(c, ',' | ';' | ':' | '(' | '.' | '。' | '।');
    let text = text.split(ends).next().unwrap_or_default().trim();
    text.split_whitespace().take(MOST_WORDS).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &str =
        "Plan: Free, Price: 0 EUR\nPlan: Team, Price: 20 EUR\nPlan: Enterprise, Price: 90 EUR [1]";

    #[test]
    fn an_item_is_named_in_the_place_of_its_number() {
        for (question, answer, expected) in [
            (
                "How many users does the second one have?",
                ROWS,
                "How many users does the Team one have?",
            ),
            ("Und das letzte?", ROWS, "Und das Enterprise?"),
            (
                "And the first?",
                "- Elm room: two beds\n- Oak room: three beds [2]",
                "And the Elm room?",
            ),
            (
                "¿Y la tercera?",
                "1. Abra la tapa.\n2. Quite el filtro.\n3. Lave el filtro con agua. [1]",
                "¿Y la Lave el filtro con agua?",
            ),
            (
                "What does the third cost?",
                "There are three ways to pay: by card; by invoice; in cash [1]",
                "What does the in cash cost?",
            ),
        ] {
            assert_eq!(with_named_item(question, answer).as_deref(), Some(expected), "{question}");
        }
    }

    #[test]
    fn a_row_is_about_what_its_first_column_says() {
        let row = |answer: &str| only_row(answer).map(|(_, name)| name);
        assert_eq!(row("Room: Elm, Beds: 2, Price: 80 [1]").as_deref(), Some("Elm"));
        for answer in [ROWS, "", "Price: 80 [1]", "The price is 80. [1]"] {
            assert_eq!(row(answer), None, "{answer}");
        }
    }

    #[test]
    fn where_no_list_is_nothing_is_named() {
        for (question, answer) in [
            ("And the second?", "The shop opens at nine. [1]"),
            ("And the second?", ""),
            ("And the third?", "- one\n- two [1]"),
            ("How much is it?", ROWS),
            ("Is the first or the second cheaper?", ROWS),
            ("", ROWS),
        ] {
            assert_eq!(with_named_item(question, answer), None, "{question}");
        }
    }
}
