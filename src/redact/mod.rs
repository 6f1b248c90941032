//! # redact: which personal data stand in a text, and how is it read without them?
//!
//! ```text
//! texts → personal data, each with its place → texts with placeholders │ a reply with placeholders → the reply
//! ```
//!
//! What leaves for a provider shall not say who somebody is. [`find`] looks for personal data by rules: [`email`],
//! [`credentials`] in addresses, [`iban`], [`card`] and [`national_id`] numbers with their check digits, [`ip`]
//! addresses, [`phone`] numbers and [`account`] numbers by how they are written and what stands before them
//! ([`label`]), and names of persons where the text itself says that they are some ([`person`], by the [`cue`]s of
//! fifteen languages). A model for token classification may find more beside them ([`labelled`]). What was found in one
//! text of a call is then replaced wherever it stands in all of them ([`redaction`]), and in later calls for the same answer
//! ([`withheld`]).
//!
//! A [`placeholder`] such as `[EMAIL_1]` stands for one value, letter by letter. What looks like a placeholder before
//! anything was replaced is a value itself and gets one of its own, so each placeholder that is sent means one thing,
//! and putting values back gives the text that was there. [`pieces`] does so while a reply comes in pieces, and
//! [`json`] in the strings of a document that has to stay one.
//!
//! A text may be a document of JSON or a part of one, so rules read it without its escapes ([`escape`]).
//!
//! No value has a quotation mark, a backslash, a control character or an apostrophe, so one can be put back into JSON and
//! into a string of SQL as it is. A value that is found with apostrophes is replaced in parts, between them.

mod account;
mod boundary;
mod card;
mod credentials;
mod cue;
mod digits;
mod email;
mod escape;
pub mod find;
mod iban;
mod ip;
pub mod json;
mod label;
pub mod labelled;
mod national_id;
mod person;
mod phone;
pub mod pieces;
pub mod placeholder;
pub mod redaction;
pub mod withheld;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

/// Kinds of personal data, in the order in which they take precedence where rules find several in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PiiKind {
    /// The user name and password in an address, as in `https://name:password@host`.
    Credentials,
    /// An e-mail address.
    Email,
    /// An account number in the international form.
    Iban,
    /// The number of a payment card.
    Card,
    /// An IPv4 or IPv6 address.
    Ip,
    /// A number by which a state knows a person.
    Id,
    /// A number of a telephone.
    Phone,
    /// Another account number.
    Account,
    /// A name of a person, without titles.
    Person,
    /// A place, an address or a part of one; only a model finds it.
    Location,
    /// A name of a company or the like; only a model finds it.
    Organization,
    /// Something else that a model finds.
    Data,
}

impl PiiKind {
    /// All of them.
    pub const ALL: [PiiKind; 12] = [
        PiiKind::Credentials,
        PiiKind::Email,
        PiiKind::Iban,
        PiiKind::Card,
        PiiKind::Ip,
        PiiKind::Id,
        PiiKind::Phone,
        PiiKind::Account,
        PiiKind::Person,
        PiiKind::Location,
        PiiKind::Organization,
        PiiKind::Data,
    ];

    /// The word of its placeholders, in capital letters.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            PiiKind::Credentials => "CREDENTIALS",
            PiiKind::Email => "EMAIL",
            PiiKind::Iban => "IBAN",
            PiiKind::Card => "CARD",
            PiiKind::Ip => "IP",
            PiiKind::Id => "ID",
            PiiKind::Phone => "PHONE",
            PiiKind::Account => "ACCOUNT",
            PiiKind::Person => "PERSON",
            PiiKind::Location => "LOCATION",
            PiiKind::Organization => "ORGANIZATION",
            PiiKind::Data => "DATA",
        }
    }

    /// The kind with this word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<PiiKind> {
        PiiKind::ALL.into_iter().find(|kind| kind.word() == word)
    }
}
