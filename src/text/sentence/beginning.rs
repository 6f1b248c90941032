//! # beginning: where does a sentence begin that UAX #29 takes for one that goes on?
//!
//! ```text
//! "It is slow. `max_jobs` is 2. 's Avonds ook. Πού είναι; Στον" → four places
//! "The answer is no. 3 people came." → before the number
//! ```

use crate::text::abbreviation::{is_closing, is_opening, is_shortened};
use crate::text::script::is_greek;
use crate::text::word_list::list_has;
use crate::text::words::is_function_word;

/// Longest name of something of a program that is recognized, in bytes.
const LONGEST_NAME: usize = 64;

/// Where a full stop stands before what begins in a small letter at the beginning of a sentence, too: code, the name of something of
/// a program, a Dutch word of one letter, or, behind "no", a number with what it counts: UAX #29 looks through the number. Whether
/// such a "no" is short for "number" is decided where all ends are, by `text::abbreviation`. Other words are left to UAX #29, since
/// no list has all that are shortened before a number: "Use cat. 5 cables."
pub(super) fn cuts_before_small_letters(line: &str) -> Vec<usize> {
    let (mut cuts, mut seen, mut in_code) = (Vec::new(), 0, false);
    for (stop, _) in line.match_indices(". ") {
        in_code ^= line[seen..stop].matches('`').count() % 2 == 1;
        seen = stop;
        let behind = &line[stop + 1..];
        let gap = behind.len() - behind.trim_start_matches(' ').len();
        let rest = &behind[gap..];
        let is_of_program = rest.starts_with('`') || is_name_of_program(rest);
        let is_counted = line[..stop].ends_with(" no") && begins_with_count(rest);
        let begins = is_of_program && !goes_on(rest) || begins_with_clitic(rest) || is_counted;
        if begins && !in_code && !is_shortened(&line[..stop]) {
            cuts.push(stop + 1 + gap);
        }
    }
    cuts
}

/// Whether `text`, which begins with a name of something of a program, says what that does with what stands before: "rag_parse
/// reads it".
fn goes_on(text: &str) -> bool {
    let object = text.split_whitespace().nth(2).unwrap_or_default();
    matches!(object.trim_end_matches(['.', ',', ';']), "it" | "them" | "this" | "these")
}

/// Whether `text` begins with a word that only programs have, in small letters: "max_jobs", "llama.cpp", "now()".
fn is_name_of_program(text: &str) -> bool {
    let head = &text[..text.floor_char_boundary(LONGEST_NAME)];
    let word = head.split([' ', ',', ';', ':']).next().unwrap_or_default();
    let name = word.trim_end_matches("()");
    let is_part = |part: &str| {
        part.chars().nth(1).is_some() && part.chars().all(|c| c.is_ascii_alphanumeric())
    };
    let joins = |sign: char| name.contains(sign) && name.split(sign).all(is_part);
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && (joins('_') || joins('.') || name.len() < word.len())
}

/// Whether `text` begins with a Dutch word that has lost its beginning and leaves its capital to the next: "'s Avonds", "'t Is".
fn begins_with_clitic(text: &str) -> bool {
    let word = text.strip_prefix(['\'', '’']);
    let rest =
        word.and_then(|it| it.strip_prefix(['n', 's', 't'])).and_then(|it| it.strip_prefix(' '));
    rest.is_some_and(|it| it.starts_with(char::is_uppercase))
}

/// Whether `text` begins with a number and what it counts, in the plural: "3 people", but not "3 in the charts" and "2 seed".
fn begins_with_count(text: &str) -> bool {
    let mut words = text.split(' ');
    let number = words.next().unwrap_or_default();
    let counted = words.next().unwrap_or_default().trim_end_matches(|c: char| !c.is_alphabetic());
    let may_be_plural = counted.ends_with('s') && !counted.ends_with("ss");
    let is_plural = may_be_plural && !is_function_word(counted) && !list_has(NO_PLURALS, counted);
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number && number != "1" && (is_plural || list_has(PLURALS, counted))
}

/// Nouns of English that have a plural without an s.
const PLURALS: &str = "children feet men people percent teeth women";

/// Words of English that end as plurals do: "no. 12 towards Dulwich".
const NO_PLURALS: &str =
    "across always besides overseas perhaps plus series sometimes towards upwards versus";

/// Behind the questions of Greek, whose sign is, or looks like, a semicolon: where a word with a capital follows.
pub(super) fn cuts_behind_greek_questions(line: &str) -> Vec<usize> {
    let signs = line.match_indices(';').chain(line.match_indices('\u{37e}'));
    let cut = |(at, sign): (usize, &str)| {
        let asked = line[..at].trim_end_matches(is_closing);
        let behind = line[at + sign.len()..].trim_start_matches(is_closing);
        let next = behind.trim_start();
        let is_capital = |c: char| is_greek(c) && c.is_uppercase();
        let begins = next.trim_start_matches(is_opening).starts_with(is_capital);
        let is_end = asked.ends_with(is_greek) && next.len() < behind.len() && begins;
        is_end.then_some(line.len() - next.len())
    };
    signs.filter_map(cut).collect()
}
