//! Which values does a text have where a model says that there are personal data?
//!
//! A model for token classification says it by labels of its own, and marks what it takes for one name: with quotation
//! marks, line breaks and what a rule has found in it. Here its places become values as the rules give them.

use std::ops::Range;

use super::PiiKind;
use super::escape::unescaped;
use super::find::PiiSpan;
use crate::text::token_labels::LabelledSpan;

/// Words of labels, and what is called so. The first that a label contains says what it is.
const WORDS: [(&str, PiiKind); 38] = [
    ("EMAIL", PiiKind::Email),
    ("IBAN", PiiKind::Iban),
    ("CREDITCARD", PiiKind::Card),
    ("CARD", PiiKind::Card),
    ("IPV", PiiKind::Ip),
    ("IPADDRESS", PiiKind::Ip),
    ("PASSWORD", PiiKind::Credentials),
    ("SECRET", PiiKind::Credentials),
    ("USERNAME", PiiKind::Credentials),
    ("PHONE", PiiKind::Phone),
    ("TELEPHONE", PiiKind::Phone),
    ("FAX", PiiKind::Phone),
    ("SSN", PiiKind::Id),
    ("PASSPORT", PiiKind::Id),
    ("LICENSE", PiiKind::Id),
    ("IDCARD", PiiKind::Id),
    ("TAX", PiiKind::Id),
    ("SOCIAL", PiiKind::Id),
    ("BANKACCOUNT", PiiKind::Account),
    ("ACCOUNT", PiiKind::Account),
    ("ROUTING", PiiKind::Account),
    ("BIC", PiiKind::Account),
    ("ORG", PiiKind::Organization),
    ("COMPANY", PiiKind::Organization),
    ("ADDRESS", PiiKind::Location),
    ("STREET", PiiKind::Location),
    ("BUILDING", PiiKind::Location),
    ("CITY", PiiKind::Location),
    ("STATE", PiiKind::Location),
    ("COUNTRY", PiiKind::Location),
    ("COUNTY", PiiKind::Location),
    ("ZIP", PiiKind::Location),
    ("POSTCODE", PiiKind::Location),
    ("LOC", PiiKind::Location),
    ("GPE", PiiKind::Location),
    ("PLACE", PiiKind::Location),
    ("PER", PiiKind::Person),
    ("NAME", PiiKind::Person),
];

/// What a model's label says of its places, letter case and signs aside; [`PiiKind::Data`] where its words are not known.
#[must_use]
pub fn kind_of(label: &str) -> PiiKind {
    let plain: String = label.chars().filter(|c| c.is_alphanumeric()).collect();
    let plain = plain.to_uppercase();
    let is_of = |word: &str| plain.contains(word) || plain == "IP" && word == "IPADDRESS";
    let known = WORDS.iter().find(|(word, _)| is_of(word));
    known.map_or(PiiKind::Data, |(_, kind)| *kind)
}

/// `text` as a model is to read it: byte by byte in the same places, without the escapes of strings. `interrupt` is called
/// every 4 KiB, and may unwind.
#[must_use]
pub fn for_model(text: &str, interrupt: &mut dyn FnMut()) -> String {
    unescaped(text, interrupt).into_owned()
}

/// The values in the places of `text` that models have `labelled`, in order, none of which reaches into one of `taken`:
/// places in order that do not overlap. Where two models overlap, what begins first counts. `text` has no escapes. What is
/// no place of it is left out.
pub(super) fn values(text: &str, labelled: &[LabelledSpan], taken: &[PiiSpan]) -> Vec<PiiSpan> {
    let mut labelled: Vec<&LabelledSpan> = labelled.iter().collect();
    labelled.sort_by_key(|it| it.place.start);
    let (mut found, mut over) = (Vec::new(), 0);
    for LabelledSpan { place, kind } in labelled {
        let kind = kind_of(kind);
        let place = place.start.max(over)..place.end;
        over = over.max(place.end);
        let ranges = free_of(place, taken).into_iter().flat_map(|free| parts(text, free));
        found.extend(ranges.map(|range| PiiSpan { range, kind, is_certain: false }));
    }
    found
}

/// The parts of a place outside of those that are taken.
fn free_of(place: Range<usize>, taken: &[PiiSpan]) -> Vec<Range<usize>> {
    let (mut free, mut start) = (Vec::new(), place.start);
    if place.is_empty() {
        return free;
    }
    let first = taken.partition_point(|span| span.range.end <= place.start);
    for span in taken[first..].iter().take_while(|span| span.range.start < place.end) {
        free.push(start..span.range.start.max(start));
        start = span.range.end;
    }
    free.push(start..place.end.max(start));
    free
}

/// The parts of a place that can be values: without what none has, and without signs around them. One letter is none, since it would be
/// replaced wherever it is a word.
fn parts(text: &str, place: Range<usize>) -> Vec<Range<usize>> {
    let Some(said) = text.get(place.clone()) else { return Vec::new() };
    let is_between = |c: char| matches!(c, '"' | '\\' | '\'') || c.is_control();
    let of_part = |part: &str| {
        let trimmed = part.trim_matches(|c: char| !c.is_alphanumeric());
        let start = place.start + (trimmed.as_ptr() as usize - said.as_ptr() as usize);
        let is_value = trimmed.chars().nth(1).is_some();
        is_value.then_some(start..start + trimmed.len())
    };
    said.split(is_between).filter_map(of_part).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn labels_say_what_they_are_of() {
        for (label, kind) in [
            ("PER", PiiKind::Person),
            ("person", PiiKind::Person),
            ("GIVENNAME", PiiKind::Person),
            ("private_person", PiiKind::Person),
            ("LOC", PiiKind::Location),
            ("private_address", PiiKind::Location),
            ("EMAIL_ADDRESS", PiiKind::Email),
            ("email", PiiKind::Email),
            ("CREDIT_CARD_NUMBER", PiiKind::Card),
            ("account_number", PiiKind::Account),
            ("ORG", PiiKind::Organization),
            ("COMPANY_NAME", PiiKind::Organization),
            ("TELEPHONENUM", PiiKind::Phone),
            ("IP_ADDRESS", PiiKind::Ip),
            ("IP", PiiKind::Ip),
            ("MISC", PiiKind::Data),
            ("DATEOFBIRTH", PiiKind::Data),
            ("", PiiKind::Data),
        ] {
            assert_eq!(kind_of(label), kind, "{label}");
        }
    }

    fn check(text: &str, labelled: &[&str], taken: &[&str], expected: &[&str]) {
        let place = |part: &&str| {
            let start = text.find(part).unwrap();
            start..start + part.len()
        };
        let labelled: Vec<LabelledSpan> = labelled
            .iter()
            .map(|part| LabelledSpan { place: place(part), kind: "PER".to_owned() })
            .collect();
        let of_rule =
            |part: &&str| PiiSpan { range: place(part), kind: PiiKind::Phone, is_certain: true };
        let taken: Vec<PiiSpan> = taken.iter().map(of_rule).collect();
        let found = values(text, &labelled, &taken);
        let found: Vec<&str> = found.into_iter().map(|it| &text[it.range]).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn values_are_what_can_be_put_back() {
        check("ask anna lind now", &["anna lind"], &[], &["anna lind"]);
        check("(anna lind)", &["(anna lind)"], &[], &["anna lind"]);
        check(
            "anna\nlind o'neil \"x y\"",
            &["anna\nlind o'neil \"x y\""],
            &[],
            &["anna", "lind o", "neil", "x y"],
        );
        check("a b", &["a", "b"], &[], &[]);
        check("--", &["--"], &[], &[]);
        check("李雷来了", &["李雷"], &[], &["李雷"]);
    }

    #[test]
    fn what_a_rule_has_found_stays_its_own() {
        check(
            "x Main Road 5, 030 1234567 Berlin y",
            &["Main Road 5, 030 1234567 Berlin"],
            &["030 1234567"],
            &["Main Road 5", "Berlin"],
        );
        check("call 030 1234567", &["030"], &["030 1234567"], &[]);
        check("anna lind of acme", &["lind of acme", "anna lind"], &[], &["anna lind", "of acme"]);
        check("call 030 1234567 anna", &["1234567 anna"], &["030 1234567"], &["anna"]);
    }

    proptest! {
        #[test]
        fn any_place_is_read(text in any::<String>(), start in 0usize..40, length in 0usize..40) {
            let labelled = [LabelledSpan { place: start..start + length, kind: "X".to_owned() }];
            for span in values(&text, &labelled, &[]) {
                let value = text.get(span.range.clone()).expect("a part of the text");
                prop_assert!(start <= span.range.start && span.range.end <= start + length);
                prop_assert!(!value.contains(['"', '\\', '\'']) && value.chars().count() > 1);
            }
        }
    }
}
