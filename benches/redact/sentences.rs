//! Sentences with known personal data, made of patterns.

use std::ops::Range;

use crate::tongues::{ACCOUNTS, CARDS, CREDENTIALS, EMAILS, IPS, TONGUES, Tongue};

/// Sentences that are made of each pattern, with other values each time.
const DRAWS: usize = 2;

/// What stands in the braces of patterns, with what it is called in tables.
pub const SLOTS: [(&str, &str); 11] = [
    ("email", "EMAIL"),
    ("phone", "PHONE"),
    ("iban", "IBAN"),
    ("account", "ACCOUNT"),
    ("card", "CARD"),
    ("ip", "IP"),
    ("id", "ID"),
    ("credentials", "CREDENTIALS"),
    ("person", "PERSON, announced"),
    ("name", "PERSON, not announced"),
    ("city", "LOCATION"),
];

/// A sentence and the personal data in it.
pub struct JudgedSentence {
    pub language: &'static str,
    pub text: String,
    /// Where they stand, in bytes, and the numbers of their [`SLOTS`].
    pub places: Vec<(Range<usize>, usize)>,
}

/// All sentences: those of each pattern, and those without personal data.
pub fn sentences() -> Vec<JudgedSentence> {
    let of_tongue = |(place, tongue): (usize, &'static Tongue)| {
        let patterns = tongue.patterns.iter().enumerate();
        let made = patterns.flat_map(move |(number, pattern)| {
            (0..DRAWS).map(move |draw| filled(tongue, pattern, place + number + draw))
        });
        let harmless = tongue.harmless.iter().map(move |text| JudgedSentence {
            language: tongue.name,
            text: (*text).to_owned(),
            places: Vec::new(),
        });
        made.chain(harmless)
    };
    TONGUES.iter().enumerate().flat_map(of_tongue).collect()
}

/// A pattern with values in the place of its braces; `first` says which of each list come first.
fn filled(tongue: &'static Tongue, pattern: &str, first: usize) -> JudgedSentence {
    let (mut text, mut places, mut rest) = (String::new(), Vec::new(), pattern);
    while let Some((before, (slot, behind))) =
        rest.split_once('{').and_then(|(before, slot)| Some((before, slot.split_once('}')?)))
    {
        text += before;
        let values = values(tongue, slot);
        let start = text.len();
        text += values[(first + places.len()) % values.len()];
        let number = SLOTS.iter().position(|(name, _)| *name == slot).expect("a known slot");
        places.push((start..text.len(), number));
        rest = behind;
    }
    text += rest;
    JudgedSentence { language: tongue.name, text, places }
}

fn values(tongue: &'static Tongue, slot: &str) -> &'static [&'static str] {
    match slot {
        "person" | "name" => &tongue.people,
        "city" => &tongue.cities,
        "phone" => &tongue.phones,
        "iban" => &tongue.ibans,
        "id" => &tongue.ids,
        "email" => &EMAILS,
        "card" => &CARDS,
        "account" => &ACCOUNTS,
        "ip" => &IPS,
        "credentials" => &CREDENTIALS,
        other => panic!("no value stands for {{{other}}}"),
    }
}
