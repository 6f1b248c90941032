//! What does a text say of a number that stands behind it?

use super::boundary::begins_at;
use crate::text::number_word::number_words;

/// How far before a number its label is looked for, in bytes.
const NEAR: usize = 48;

/// Words between a label and its number that say nothing, as those for "number" do.
const COPULAS: [&str; 4] = ["is", "ist", "est", "es"];

/// Words of which one stands before what is no telephone number and no network address, though it may look like one.
pub const OF_OTHER_THINGS: &[&str] = &[
    "#",
    "order",
    "invoice",
    "ticket",
    "version",
    "ver",
    "release",
    "build",
    "isbn",
    "issn",
    "doi",
    "sku",
    "part",
    "serial",
    "article",
    "artikel",
    "artikelnummer",
    "bestellung",
    "bestellnummer",
    "auftrag",
    "auftragsnummer",
    "rechnung",
    "rechnungsnummer",
    "seriennummer",
    "commande",
    "facture",
    "pedido",
    "factura",
    "ordine",
    "fattura",
    "zamówienie",
    "заказ",
    "версия",
    "版本",
    "订单号",
];

/// Whether one of `labels`, in small letters, stands before the byte `at`, perhaps with a colon or a word such as
/// "number" between.
pub fn is_labelled(text: &str, at: usize, labels: &[&str]) -> bool {
    let from = text.ceil_char_boundary(at.saturating_sub(NEAR));
    let near = text[from..at].to_lowercase();
    let mut said = trimmed(&near);
    loop {
        if labels.iter().any(|label| is_last_word(said, label)) {
            return true;
        }
        match number_words().chain(COPULAS).find(|filler| is_last_word(said, filler)) {
            Some(filler) => said = trimmed(&said[..said.len() - filler.len()]),
            None => return false,
        }
    }
}

fn trimmed(text: &str) -> &str {
    let is_nothing = |c: char| c.is_whitespace() && c != '\n' || ".:：=*|\"'()+-_/".contains(c);
    text.trim_end_matches(is_nothing)
}

fn is_last_word(text: &str, word: &str) -> bool {
    // A sign needs no space before it.
    let is_sign = !word.starts_with(char::is_alphanumeric);
    text.ends_with(word) && (is_sign || begins_at(text, text.len() - word.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_backwards() {
        let check = |before: &str, expected: bool| {
            let text = format!("{before}12345");
            assert_eq!(
                is_labelled(&text, before.len(), &["tel", "#", "电话"]),
                expected,
                "{before}"
            );
        };
        for labelled in [
            "Tel. ",
            "tel: ",
            "**Tel:** ",
            "TEL NO. ",
            "tel n° ",
            "Tel. Nummern: ",
            "tel номер: ",
            "my tel number is ",
            "(tel) ",
            "x#",
            "的电话：",
            "\"tel\": \"",
        ] {
            check(labelled, true);
        }
        for other in ["", "hotel ", "tel\n", "tel, ", "number ", "tel of Anna ", "no no no "] {
            check(other, false);
        }
    }
}
