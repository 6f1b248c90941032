//! # initial: is this letter the beginning of a name?
//!
//! ```text
//! "J." of "J. Smith", "ए." of "ए. पी. जे. अब्दुल" → yes;  "А. П." behind "Смирновой" → yes, and it ends the name
//! ```

use super::last_word;
use crate::text::word_list::list_has;

/// Initials that one person has at most.
const MOST_INITIALS: usize = 3;

/// "B" of "B. Smith", or "U.S", "Ph.D": letters with stops between, at least one a capital.
pub(super) fn is_acronym(stem: &str) -> bool {
    let mut parts = stem.split('.');
    let short = parts.all(|part| (1..=2).contains(&part.chars().count()));
    let dotted = stem.contains('.') || is_single_letter(stem);
    short
        && dotted
        && stem.starts_with(char::is_uppercase)
        && stem.chars().all(|c| c == '.' || c.is_alphabetic())
}

/// A word that is one letter and a full stop, as in "J." or "B.".
pub(super) fn is_initial(word: &str) -> bool {
    word.strip_suffix('.').is_some_and(is_single_letter)
}

/// Whether it is exactly one letter.
pub(super) fn is_single_letter(stem: &str) -> bool {
    let mut characters = stem.chars();
    characters.next().is_some_and(char::is_alphabetic) && characters.next().is_none()
}

/// Whether it is one letter of Arabic or Hebrew, which have no capitals and no words of one letter.
pub(super) fn is_letter_without_capital(stem: &str) -> bool {
    let is_letter = |c: char| matches!(c, '\u{5d0}'..='\u{5ea}' | '\u{620}'..='\u{64a}');
    is_single_letter(stem) && stem.starts_with(is_letter)
}

/// Whether it is what Hindi calls a Latin letter, as it writes initials.
pub(super) fn is_letter_of_hindi(stem: &str) -> bool {
    list_has(LETTERS_OF_HINDI, stem)
}

/// Latin letters in Hindi, without those that are words as well ("आई", came).
const LETTERS_OF_HINDI: &str = "ए बी सी डी एफ जी एच जे के एल एम एन पी क्यू आर एस टी वी डब्ल्यू एक्स वाई जेड";

/// Whether the initials that `core` ends with stand behind the surname, as in Russian and Ukrainian lists of persons, so that what
/// follows is no part of the name. One initial alone may also be that of a middle name, and the first word has a capital anyway.
pub(super) fn is_behind_surname(core: &str) -> bool {
    let (mut rest, mut initials) = (core, 0);
    while initials < MOST_INITIALS
        && let Some(word) = last_word(rest).filter(|word| is_initial(word))
    {
        rest = rest[..rest.len() - word.len()].trim_end();
        initials += 1;
    }
    let name = last_word(rest).unwrap_or_default();
    initials > 1
        && name.len() < rest.len()
        && name.starts_with(|c: char| matches!(c, 'А'..='Я' | 'І' | 'Ї' | 'Є'))
        && SURNAME_ENDINGS.split_ascii_whitespace().any(|it| name.ends_with(it))
}

/// How surnames of Russian and Ukrainian end, in all their cases.
const SURNAME_ENDINGS: &str = "\
    ов ова ову овым овой ове ев ева еву евым евой еве ёв ёва ин ина ину иным иной ине ын ына ыну \
    ский ская ского скому ским скую ской цкий цкая цкого цкому цким цкой ко ук юк ич ян";
