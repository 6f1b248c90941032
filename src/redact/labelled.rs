//! Which values does a text have where a model says that there are personal data?
//!
//! A model for token classification says it by labels of its own, and marks what it takes for one name: with quotation
//! marks, line breaks and what a rule has found in it. Here its places become values as the rules give them.

use std::ops::Range;

use WordPlace::{AtEnd, Whole, Within};

use super::PiiKind;
use super::escape::unescaped;
use super::find::PiiSpan;
use crate::text::token_labels::LabelledSpan;

/// Where a label has a word that says what it is of.
#[derive(Clone, Copy)]
enum WordPlace {
    /// Anywhere, also across signs: "CREDITCARD" in "CREDIT_CARD_NUMBER".
    Within,
    /// As a whole word between signs: "CITY" in "CITY_OF_BIRTH", and not in "ETHNICITY".
    Whole,
    /// At the end of a word: "NAME" in "FIRSTNAME", and not in "TOURNAMENT".
    AtEnd,
}

/// Words of labels, and what is called so. The first that a label has says what it is. Short words are parts of many
/// others, so they count only where nothing else touches them.
const WORDS: [(&str, WordPlace, PiiKind); 53] = [
    ("EMAIL", Within, PiiKind::Email),
    ("IBAN", Whole, PiiKind::Iban),
    ("IBANNUM", Within, PiiKind::Iban),
    ("IDCARD", Within, PiiKind::Id),
    ("CREDITCARD", Within, PiiKind::Card),
    ("DEBITCARD", Within, PiiKind::Card),
    ("CARDNUM", Within, PiiKind::Card),
    ("CARD", Whole, PiiKind::Card),
    ("IPV", Within, PiiKind::Ip),
    ("IPADDRESS", Within, PiiKind::Ip),
    ("IP", Whole, PiiKind::Ip),
    ("PASSWORD", Within, PiiKind::Credentials),
    ("SECRET", Whole, PiiKind::Credentials),
    ("SECRETKEY", Within, PiiKind::Credentials),
    ("USERNAME", Within, PiiKind::Credentials),
    ("PHONE", Within, PiiKind::Phone),
    ("FAX", Whole, PiiKind::Phone),
    ("FAXNUM", Within, PiiKind::Phone),
    ("SSN", Whole, PiiKind::Id),
    ("PASSPORT", Within, PiiKind::Id),
    ("LICENSE", Within, PiiKind::Id),
    ("TAX", Whole, PiiKind::Id),
    ("TAXNUM", Within, PiiKind::Id),
    ("TAXID", Within, PiiKind::Id),
    ("TAXPAYER", Within, PiiKind::Id),
    ("SOCIAL", Within, PiiKind::Id),
    ("ACCOUNT", Within, PiiKind::Account),
    ("ROUTING", Within, PiiKind::Account),
    ("BIC", Whole, PiiKind::Account),
    ("ORG", Whole, PiiKind::Organization),
    ("ORGANIZATION", Within, PiiKind::Organization),
    ("ORGANISATION", Within, PiiKind::Organization),
    ("COMPANY", Within, PiiKind::Organization),
    ("ADDRESS", Within, PiiKind::Location),
    ("STREET", Within, PiiKind::Location),
    ("BUILDING", Within, PiiKind::Location),
    ("CITY", Whole, PiiKind::Location),
    ("CITYNAME", Within, PiiKind::Location),
    ("STATE", Whole, PiiKind::Location),
    ("STATENAME", Within, PiiKind::Location),
    ("COUNTRY", Within, PiiKind::Location),
    ("COUNTY", Within, PiiKind::Location),
    ("ZIP", Whole, PiiKind::Location),
    ("ZIPCODE", Within, PiiKind::Location),
    ("POSTCODE", Within, PiiKind::Location),
    ("LOC", Whole, PiiKind::Location),
    ("LOCATION", Within, PiiKind::Location),
    ("GPE", Whole, PiiKind::Location),
    ("PLACE", AtEnd, PiiKind::Location),
    ("PER", Whole, PiiKind::Person),
    ("PERS", Whole, PiiKind::Person),
    ("PERSON", Within, PiiKind::Person),
    ("NAME", AtEnd, PiiKind::Person),
];

/// What a model's label says of its places, letter case aside; [`PiiKind::Data`] where its words are not known. Words are
/// what stands between signs and spaces.
#[must_use]
pub fn kind_of(label: &str) -> PiiKind {
    let label = label.to_uppercase();
    let words = || label.split(|c: char| !c.is_alphanumeric());
    let joined: String = words().collect();
    let is_of = |word: &str, place: WordPlace| match place {
        Within => joined.contains(word),
        Whole => words().any(|it| it == word),
        AtEnd => words().any(|it| it.ends_with(word)),
    };
    let known = WORDS.iter().find(|(word, place, _)| is_of(word, *place));
    known.map_or(PiiKind::Data, |(.., kind)| *kind)
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
            ("B-PER", PiiKind::Person),
            ("first name", PiiKind::Person),
            ("SURNAME", PiiKind::Person),
            ("CITY", PiiKind::Location),
            ("birth-city", PiiKind::Location),
            ("ZIPCODE", PiiKind::Location),
            ("WORKPLACE", PiiKind::Location),
            ("CARD", PiiKind::Card),
            ("IDCARDNUM", PiiKind::Id),
            ("TAX_ID", PiiKind::Id),
            ("TAXNUM", PiiKind::Id),
            ("ORGANIZATION", PiiKind::Organization),
            ("IPV4", PiiKind::Ip),
            ("CARDINAL", PiiKind::Data),
            ("PERCENT", PiiKind::Data),
            ("ETHNICITY", PiiKind::Data),
            ("STATEMENT", PiiKind::Data),
            ("BLOCK", PiiKind::Data),
            ("SYNTAX", PiiKind::Data),
            ("AEROBIC", PiiKind::Data),
            ("TOURNAMENT", PiiKind::Data),
            ("_-", PiiKind::Data),
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
