//! Which personal data stand in a text, and where?

use std::collections::BTreeMap;
use std::ops::Range;

use super::PiiKind;
use super::account::accounts;
use super::boundary::places;
use super::card::cards;
use super::credentials::credentials;
use super::email::emails;
use super::escape::unescaped;
use super::iban::ibans;
use super::ip::ips;
use super::labelled;
use super::national_id::national_ids;
use super::person::{before_address, open_names, persons};
use super::phone::phones;
use super::placeholder::Placeholder;
use crate::text::token_labels::LabelledSpan;

/// Personal data in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PiiSpan {
    /// Its place, in bytes.
    pub range: Range<usize>,
    /// What it is.
    pub kind: PiiKind,
    /// Whether the text leaves no doubt that it is a person's, so that the last word of a name is a surname.
    pub is_certain: bool,
}

/// A rule: the places in a text of one kind of data, in order. `interrupt` is called from time to time and may unwind.
type Rule = fn(&str, &mut dyn FnMut()) -> Vec<Range<usize>>;

const RULES: [(PiiKind, Rule); 9] = [
    (PiiKind::Credentials, credentials),
    (PiiKind::Email, emails),
    (PiiKind::Iban, ibans),
    (PiiKind::Card, cards),
    (PiiKind::Ip, ips),
    (PiiKind::Id, national_ids),
    (PiiKind::Phone, phones),
    (PiiKind::Account, accounts),
    (PiiKind::Person, persons),
];

/// The personal data that the rules find in `text`, in order; no two overlap, and none has an apostrophe. What looks like a placeholder is among
/// them, with the kind that it names. `interrupt` is called every 4 KiB or more often, and may unwind.
///
/// The time is linear in the length of the text.
#[must_use]
pub fn find(text: &str, interrupt: &mut dyn FnMut()) -> Vec<PiiSpan> {
    let text = &*unescaped(text, interrupt);
    let mut found = FoundSpans::default();
    for (range, kind) in placeholders(text, interrupt) {
        found.add(PiiSpan { range, kind, is_certain: true });
    }
    for (kind, rule) in RULES {
        let ranges = rule(text, interrupt);
        let named = if kind == PiiKind::Email { owners(text, &ranges) } else { Vec::new() };
        found.add_all(ranges, kind, true);
        found.add_all(named, PiiKind::Person, false);
    }
    found.add_all(open_names(text, interrupt), PiiKind::Person, false);
    found.into_spans().into_iter().flat_map(|span| between_apostrophes(text, span)).collect()
}

/// As [`find`], with what a model has `labelled` in `text` between these. None of it is certain.
#[must_use]
pub fn find_beside(
    text: &str,
    labelled: &[LabelledSpan],
    interrupt: &mut dyn FnMut(),
) -> Vec<PiiSpan> {
    let mut found = find(text, interrupt);
    let more = labelled::values(&unescaped(text, interrupt), labelled, &found);
    found.extend(more);
    found.sort_by_key(|span| span.range.start);
    found
}

/// The parts of a place between apostrophes. One letter is no value: it would be replaced wherever it is a word.
fn between_apostrophes(text: &str, span: PiiSpan) -> Vec<PiiSpan> {
    let PiiSpan { range, kind, is_certain } = span;
    let said = &text[range.clone()];
    if !said.contains('\'') {
        return vec![PiiSpan { range, kind, is_certain }];
    }
    let parts = said.split('\'').filter(|part| part.chars().nth(1).is_some());
    let start_of = |part: &str| range.start + (part.as_ptr() as usize - said.as_ptr() as usize);
    let place = |part: &str| start_of(part)..start_of(part) + part.len();
    parts.map(|part| PiiSpan { range: place(part), kind, is_certain }).collect()
}

/// Names before addresses in angle brackets.
fn owners(text: &str, addresses: &[Range<usize>]) -> Vec<Range<usize>> {
    let brackets = addresses.iter().filter_map(|range| range.start.checked_sub(1));
    let brackets = brackets.filter(|at| text.as_bytes()[*at] == b'<');
    brackets.filter_map(|at| before_address(text, at)).collect()
}

fn placeholders(text: &str, interrupt: &mut dyn FnMut()) -> Vec<(Range<usize>, PiiKind)> {
    let parsed = |at: usize| {
        let (placeholder, length) = Placeholder::parse(&text[at..])?;
        Some((at..at + length, placeholder.kind))
    };
    places(text, |byte| byte == b'[', interrupt).filter_map(parsed).collect()
}

/// Places that do not overlap.
#[derive(Default)]
struct FoundSpans(BTreeMap<usize, PiiSpan>);

impl FoundSpans {
    /// Adds a place, unless it overlaps one that is there.
    fn add(&mut self, span: PiiSpan) {
        let last = self.0.range(..span.range.end).next_back();
        if last.is_none_or(|(_, last)| last.range.end <= span.range.start) {
            self.0.insert(span.range.start, span);
        }
    }

    fn add_all(&mut self, ranges: Vec<Range<usize>>, kind: PiiKind, is_certain: bool) {
        ranges.into_iter().for_each(|range| self.add(PiiSpan { range, kind, is_certain }));
    }

    fn into_spans(self) -> Vec<PiiSpan> {
        self.0.into_values().collect()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// What a rule finds in `text`.
    pub fn check_rule(rule: Rule, text: &str, expected: &[&str]) {
        let found: Vec<&str> =
            rule(text, &mut || {}).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, expected, "{}", &text[..text.floor_char_boundary(200)]);
    }

    fn check(text: &str, expected: &[(&str, PiiKind)]) {
        let found = find(text, &mut || {});
        let found: Vec<_> = found.into_iter().map(|it| (&text[it.range], it.kind)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn the_first_kind_takes_precedence() {
        check("postgres://app:pw@db.example.com/x", &[("app:pw", PiiKind::Credentials)]);
        check("030-1234567@example.com", &[("030-1234567@example.com", PiiKind::Email)]);
        check(
            "account DE89 3704 0044 0532 0130 00",
            &[("DE89 3704 0044 0532 0130 00", PiiKind::Iban)],
        );
        check("account 4111 1111 1111 1111", &[("4111 1111 1111 1111", PiiKind::Card)]);
        check("tel 123-45-6789", &[("123-45-6789", PiiKind::Id)]);
    }

    #[test]
    fn what_looks_like_a_placeholder_is_found() {
        check("[EMAIL_7], [PERSON_x] and [1]", &[("[EMAIL_7]", PiiKind::Email)]);
        check("[IP_1][IP_2]", &[("[IP_1]", PiiKind::Ip), ("[IP_2]", PiiKind::Ip)]);
    }

    #[test]
    fn escapes_are_no_part_of_values() {
        check(
            r#"{"note": "Card:\n4111 1111 1111 1111\nMrs. Miller\nanna@example.com\t10.1.2.3"}"#,
            &[
                ("4111 1111 1111 1111", PiiKind::Card),
                ("Miller", PiiKind::Person),
                ("anna@example.com", PiiKind::Email),
                ("10.1.2.3", PiiKind::Ip),
            ],
        );
        check(r#"{\"name\": \"Anna Roth\"}"#, &[("Anna Roth", PiiKind::Person)]);
        check(r"https:\/\/app:pw@h.de\/x", &[("app:pw", PiiKind::Credentials)]);
    }

    #[test]
    fn values_have_no_apostrophe() {
        check("o'neil@x-y.org", &[("neil@x-y.org", PiiKind::Email)]);
        check(
            "Mrs. Anna O'Neil, https://u:p'wd@h",
            &[
                ("Anna O", PiiKind::Person),
                ("Neil", PiiKind::Person),
                ("u:p", PiiKind::Credentials),
                ("wd", PiiKind::Credentials),
            ],
        );
    }

    #[test]
    fn owners_of_addresses_are_named() {
        check(
            "Cc: x@y.org, Anna Schmidt <a@b.de>",
            &[
                ("x@y.org", PiiKind::Email),
                ("Anna Schmidt", PiiKind::Person),
                ("a@b.de", PiiKind::Email),
            ],
        );
    }
}
