//! How else the names of a text are written, among its words.

use pgrx::pg_sys;

use super::parsed::{ParsedWords, lexeme, place};
use crate::text::variant::WrittenVariants;

impl ParsedWords {
    /// Adds how else the names in `run` are written, in the place `begin`, where it begins. Its words are those from `known`
    /// on.
    pub fn add_written(&mut self, config: pg_sys::Oid, run: &str, known: usize, begin: u16) {
        let found = WrittenVariants::of(run);
        if found.is_empty() {
            return;
        }
        let mut texts = found.words;
        for number in found.numbers {
            if !self.add_unsigned(&number, known) {
                texts.push(number);
            }
        }
        let mut words = ParsedWords::with_room_for(run.len());
        words.parse_spellings(config, &texts.join(" "));
        for compound in &found.compounds {
            let mut parts = ParsedWords::with_room_for(run.len());
            parts.parse_spellings(config, &compound.parts);
            // Two stop words are no other word together, such as the French "est-ce".
            if !parts.words().is_empty() {
                words.parse_spellings(config, &compound.joined);
            }
        }
        let words = words.words().iter().map(lexeme);
        for add in found.names.iter().map(String::as_bytes).chain(words) {
            if !self.words()[known..].iter().any(|it| lexeme(it) == add) {
                self.push(&String::from_utf8_lossy(add), begin, 0);
            }
        }
    }

    /// Adds a number in each place where the parser has taken the hyphen before it for a minus; whether there is one.
    fn add_unsigned(&mut self, number: &str, known: usize) -> bool {
        let signed = format!("-{number}");
        let is_signed = |it: &&pg_sys::ParsedWord| lexeme(it) == signed.as_bytes();
        let places: Vec<u16> = self.words()[known..].iter().filter(is_signed).map(place).collect();
        for begin in &places {
            self.push(number, *begin, 0);
        }
        !places.is_empty()
    }
}
