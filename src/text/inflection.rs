//! # inflection: are these forms of one word?
//!
//! ```text
//! ("invoices", "invoice", English) → yes;  ("employer", "employee", English) → no
//! ```
//!
//! Words that begin alike are mostly the same word, which is enough where a mistake costs little
//! ([`credit`](super::words)). Here they are the same only if what follows their common beginning are two endings of
//! one paradigm, as in the light stemmers of Savoy (2006). Nouns that are made of a verb ("installation") count as forms of it
//! where the common beginning is long. Words with digits are the same only where they are one number, and those of
//! languages without paradigms here only where they are equal. An irregular form is another word.

use super::language::NaturalLanguage;
use super::number::is_same_number;

/// Letters that two forms share at least.
const LEAST_SHARED: usize = 3;

/// Letters that they share at least where their endings also make other words of short ones: "train" and "training".
const LONG: usize = 6;

/// Letters of the longest word that may have another form.
const LONGEST: usize = 64;

/// The paradigms of a language: endings without accents, with a space between, of which any may stand for another. "-"
/// is no ending.
struct Paradigms {
    language: NaturalLanguage,
    /// Those that inflect.
    inflected: &'static [&'static str],
    /// Those that are not to be trusted behind short beginnings.
    behind_long: &'static [&'static str],
    /// Whether a consonant may be doubled before an ending: "stopped".
    doubles: bool,
}

/// Whether two words, in lower case and without accents, are forms of one word of `language`.
pub(crate) fn is_same_word(first: &str, second: &str, language: NaturalLanguage) -> bool {
    if first == second || is_same_number(first, second) {
        return true;
    }
    let is_word =
        |word: &str| !word.contains(char::is_numeric) && word.chars().nth(LONGEST).is_none();
    let Some(paradigms) = PARADIGMS.iter().find(|it| it.language == language) else { return false };
    is_word(first)
        && is_word(second)
        && (paradigms.have(first, second)
            || language == NaturalLanguage::German
                && (of_participle(first)
                    .is_some_and(|it| it == second || paradigms.have(it, second))
                    || of_participle(second)
                        .is_some_and(|it| it == first || paradigms.have(first, it))))
}

/// Whether it is known how words of `language` are inflected.
pub(crate) fn has_forms(language: NaturalLanguage) -> bool {
    PARADIGMS.iter().any(|it| it.language == language)
}

/// A German participle without its "ge-": "gereinigt".
fn of_participle(word: &str) -> Option<&str> {
    let rest = word.strip_prefix("ge")?;
    (rest.ends_with('t') && rest.chars().nth(4).is_some()).then_some(rest)
}

impl Paradigms {
    /// Whether both words have an ending of one paradigm behind the same beginning.
    fn have(&self, first: &str, second: &str) -> bool {
        let letters = first.char_indices().zip(second.chars());
        let shared = letters.take_while(|((_, a), b)| a == b);
        let ends = shared.map(|((at, letter), _)| (at + letter.len_utf8(), letter));
        (1..).zip(ends).filter(|(count, _)| *count >= LEAST_SHARED).any(|(count, (end, last))| {
            let endings = (&first[end..], &second[end..]);
            let long = self.behind_long.iter().filter(|_| count >= LONG);
            self.inflected.iter().chain(long).any(|it| self.has(it, endings, last))
        })
    }

    /// Whether a paradigm has both endings, which may begin with the `last` letter before them once more where the
    /// language doubles it.
    fn has(&self, paradigm: &str, (first, second): (&str, &str), last: char) -> bool {
        let is_one = |ending: &str| {
            paradigm.split(' ').any(|it| it == ending || it == "-" && ending.is_empty())
        };
        let single = |ending| match self.doubles {
            true => str::strip_prefix(ending, last).unwrap_or(ending),
            false => ending,
        };
        let (one, other) = (single(first), single(second));
        is_one(first) && is_one(second) || one != other && is_one(one) && is_one(other)
    }
}

#[rustfmt::skip]
const PARADIGMS: &[Paradigms] = &[
    Paradigms {
        language: NaturalLanguage::English,
        inflected: &["- s es ed", "e es ed ing", "y ies ied"],
        behind_long: &[
            "- s es ed ing", "- ment ments ing", "- ation ations ing", "- ion ions ing", "e ation ations ion ions ing",
            "e al als",
        ],
        doubles: true,
    },
    Paradigms {
        language: NaturalLanguage::German,
        inflected: &["- e en n s es em"],
        behind_long: &["- e en n t te st"],
        doubles: false,
    },
    Paradigms {
        language: NaturalLanguage::French,
        inflected: &["- s x", "al aux", "er e ee es ees ent ez ons", "ir it issent", "re d dent"],
        behind_long: &["- e es"],
        doubles: false,
    },
    Paradigms {
        language: NaturalLanguage::Spanish,
        inflected: &[
            "- s es", "ar o amos", "ar a an ado ada ados adas ando", "er ir o", "er ir e en es emos",
            "er ir ido ida idos idas",
        ],
        behind_long: &["o a os as"],
        doubles: false,
    },
    Paradigms {
        language: NaturalLanguage::Italian,
        inflected: &[
            "o i", "a e", "e i", "are o iamo", "are a ano ato ata ati ate", "ere o", "ere e ono", "ere uto uta",
            "ire o isco", "ire e ono isce", "ire ito ita",
        ],
        behind_long: &["o a i e"],
        doubles: false,
    },
    Paradigms {
        language: NaturalLanguage::Portuguese,
        inflected: &[
            "- s es", "ao oes", "ar o amos", "ar a am ado ada ados adas", "er ir o", "er ir e em emos",
            "er ir ido ida idos idas",
        ],
        behind_long: &["o a os as"],
        doubles: false,
    },
    Paradigms {
        language: NaturalLanguage::Dutch,
        inflected: &["- e en s"],
        behind_long: &["- en n t"],
        doubles: true,
    },
    Paradigms {
        language: NaturalLanguage::Polish,
        inflected: &[
            "a y i e o om ami ach", "- a u owi em ie y i ow om ami ach", "e a u em",
            "y a e ego ej ych ym ymi", "i a e ego iej ich im imi", "c - e sz my cie a l la",
        ],
        behind_long: &[],
        doubles: false,
    },
    Paradigms {
        language: NaturalLanguage::Russian,
        inflected: &[
            "а ы и у е о й ой ою ам ами ах", "- а у ом е ы и ов ей ам ами ах", "я и ю е ей ь ям ями ях",
            "ь я ю ем и ей ям ями ях", "ый ая ое ые ого ому ым ом ую ой ых ыми", "ий яя ее ие его ему им ем юю ей их ими",
            "ть ет ют у ю ит ят ат л ла ли", "ться ется ются ится ятся атся",
        ],
        behind_long: &[],
        doubles: false,
    },
    Paradigms {
        language: NaturalLanguage::Turkish,
        inflected: &[
            "- i u yi yu", "- in un nin nun", "- lar ler lari leri", "- m im um",
        ],
        behind_long: &[],
        doubles: false,
    },
    Paradigms {
        language: NaturalLanguage::Hindi,
        inflected: &["ा े ी ों", "- ें ों ियां", "ी ियां ियों", "ना ने नी ें ता ते ती"],
        behind_long: &[],
        doubles: false,
    },
];

#[cfg(test)]
mod tests {
    use NaturalLanguage::{
        Arabic, Dutch, English, French, German, Hindi, Italian, Polish, Portuguese, Russian,
        Spanish, Turkish,
    };

    use super::*;

    fn check(language: NaturalLanguage, first: &str, second: &str, expected: bool) {
        for (first, second) in [(first, second), (second, first)] {
            let is_same = is_same_word(first, second, language);
            assert_eq!(is_same, expected, "{language:?} {first} {second}");
        }
    }

    #[test]
    fn forms_of_a_word_are_one() {
        for (language, first, second) in [
            (English, "invoice", "invoices"),
            (English, "reply", "replies"),
            (English, "stop", "stopped"),
            (English, "cancel", "cancellation"),
            (English, "charge", "charging"),
            (English, "install", "installation"),
            (German, "reinige", "gereinigt"),
            (German, "rechnung", "rechnungen"),
            (French, "cheval", "chevaux"),
            (French, "exporter", "exportez"),
            (Spanish, "exportar", "exporto"),
            (Italian, "contatto", "contatti"),
            (Portuguese, "cartao", "cartoes"),
            (Dutch, "bak", "bakken"),
            (Polish, "szkoda", "szkody"),
            (Russian, "перевод", "перевода"),
            (Turkish, "filtre", "filtreyi"),
            (Hindi, "गोली", "गोलियां"),
            (Arabic, "كلمه", "كلمه"),
            (English, "1250", "1,250.00"),
        ] {
            check(language, first, second, true);
        }
    }

    #[test]
    fn words_that_begin_alike_may_be_others() {
        for (language, first, second) in [
            (English, "employer", "employee"),
            (English, "payer", "payee"),
            (English, "internal", "internet"),
            (English, "import", "important"),
            (English, "train", "training"),
            (English, "car", "card"),
            (English, "port", "portion"),
            (English, "person", "personal"),
            (English, "install", "uninstall"),
            (English, "x200", "x200s"),
            (English, "1250", "1251"),
            (German, "mieter", "vermieter"),
            (German, "miete", "mieter"),
            (German, "verbrauch", "verbraucher"),
            (French, "employeur", "employe"),
            (Spanish, "plazo", "plaza"),
            (Italian, "porto", "porta"),
            (Dutch, "plan", "plant"),
            (Dutch, "werkgever", "werknemer"),
            (Arabic, "كتب", "كتاب"),
            (English, "", "s"),
        ] {
            check(language, first, second, false);
        }
        check(English, &"a".repeat(1_000), &("a".repeat(1_000) + "s"), false);
    }
}
