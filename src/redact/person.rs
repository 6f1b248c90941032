//! Which names of persons does a text say to be some?
//!
//! A name is a run of capitalised words, with initials and particles, where a title, a field, a greeting or the like
//! says that it is one ([`cue`](super::cue)), or an e-mail address stands behind it in angle brackets. A name that
//! nothing announces is not found: too many things have capital letters.

use std::ops::Range;

use super::boundary::{after, before, is_mark, is_of_word, words};
use super::cue::{Cue, CueKind, cue_at, is_title};
use crate::text::bigram::is_unspaced;
use crate::text::script::is_hiragana;

/// Most words of a name that count, and most letters of a word.
const MOST_WORDS: usize = 4;
const LONGEST_WORD: usize = 40;

/// Words between those of a name.
const PARTICLES: [&str; 26] = [
    "van", "von", "de", "der", "den", "del", "della", "di", "da", "das", "do", "dos", "du", "la",
    "le", "el", "al", "bin", "ibn", "ben", "y", "e", "zu", "zum", "af", "ter",
];

/// First words of what is greeted and is nobody.
const NOBODY: [&str; 34] = [
    "all",
    "team",
    "sir",
    "sirs",
    "madam",
    "customer",
    "customers",
    "client",
    "clients",
    "colleague",
    "colleagues",
    "friend",
    "friends",
    "everyone",
    "everybody",
    "reader",
    "readers",
    "user",
    "users",
    "support",
    "hiring",
    "world",
    "damen",
    "herren",
    "kunden",
    "kundin",
    "kunde",
    "kollegen",
    "kolleginnen",
    "gäste",
    "freunde",
    "mitglieder",
    "tous",
    "toutes",
];

/// Frequent surnames of one character, behind which Chinese puts a title.
const SURNAMES: &str = "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段钱汤尹黎易常武乔贺赖龚文張劉陳楊趙黃吳孫馬羅鄭謝韓馮許鄧";

/// The names in `text` that are those of persons without doubt.
pub fn persons(text: &str, interrupt: &mut dyn FnMut()) -> Vec<Range<usize>> {
    named(text, |kind| kind != CueKind::OpenField, interrupt)
}

/// The names in `text` in fields that name as often something else: `Author: PostgreSQL Development Group`.
pub fn open_names(text: &str, interrupt: &mut dyn FnMut()) -> Vec<Range<usize>> {
    named(text, |kind| kind == CueKind::OpenField, interrupt)
}

/// The names that cues of the kinds speak of that are `wanted`.
fn named(
    text: &str,
    is_wanted: impl Fn(CueKind) -> bool,
    interrupt: &mut dyn FnMut(),
) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, word) in words(text, interrupt) {
        let over = found.last().map_or(0, |last| last.end);
        let cue = cue_at(text, at, word).filter(|(cue, _)| is_wanted(cue.kind));
        let named = cue.and_then(|(cue, end)| beside(text, at, (cue, end)));
        // What stands before a cue may reach into what was found before.
        found.extend(named.filter(|range| range.start >= over));
    }
    found
}

/// The name before the angle bracket at the byte `at`, which opens an address: at least two words that begin a line
/// or stand behind a punctuation mark.
pub fn before_address(text: &str, at: usize) -> Option<Range<usize>> {
    const NEAR: usize = 96;
    let head = text[..at].trim_end_matches([' ', '"', '\'']);
    let from = text.ceil_char_boundary(head.len().saturating_sub(NEAR));
    let starts = head[from..].char_indices().map(|(place, _)| from + place);
    let is_first = |start: &usize| {
        let rest = text[..*start].trim_end_matches([' ', '\t', '"', '\'']);
        rest.is_empty() || rest.ends_with(['\n', ',', ';', ':', '('])
    };
    let names = starts.filter(is_first).filter_map(|start| name(text, start));
    let name = names.filter(|name| name.words > 1).find(|name| name.end == head.len())?;
    Some(name.start..name.end)
}

/// The last word of a name of several, or what stands before its comma, if it can stand alone for it.
pub fn surname(name: &str) -> Option<&str> {
    let behind = || name.rsplit_once([' ', '\u{a0}']).map(|(_, last)| last);
    let last = name.split_once(", ").map(|(surname, _)| surname).or_else(behind)?;
    (last.chars().count() > 2 && !last.ends_with('.')).then_some(last)
}

/// The name that a cue between two bytes speaks of.
fn beside(text: &str, at: usize, (cue, end): (Cue, usize)) -> Option<Range<usize>> {
    let least = if cue.kind == CueKind::OpenField { 2 } else { 1 };
    let found = match cue.kind {
        CueKind::Title => behind_title(text, at, end),
        CueKind::Field | CueKind::OpenField => behind_colon(text, at, end),
        CueKind::Saying => name_or_run(text, skipped(text, end, &[' ', '\u{a0}', ':'])),
        CueKind::Salutation => behind_salutation(text, at, end),
        CueKind::SignOff => below(text, end).or_else(|| behind_sign_off(text, at, (cue, end))),
        CueKind::Suffix => return before_suffix(text, at, end),
    }?;
    (found.words >= least).then_some(found.start..found.end)
}

/// A name and how many words it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PersonName {
    start: usize,
    end: usize,
    words: usize,
}

/// The byte behind all characters of `signs` that stand at the byte `at`, 16 at most.
fn skipped(text: &str, at: usize, signs: &[char]) -> usize {
    at + text[at..]
        .chars()
        .take(16)
        .take_while(|c| signs.contains(c))
        .map(char::len_utf8)
        .sum::<usize>()
}

fn behind_title(text: &str, at: usize, end: usize) -> Option<PersonName> {
    const AMBIGUOUS: [&str; 5] = ["Miss", "M", "Ms", "Sr", "Sig"];
    let title = &text[at..end];
    let rest = title.chars().skip(1).collect::<String>();
    let is_short = title.chars().count() < 5;
    let has_stop = text[end..].starts_with('.');
    // MRS. MILLER; without a full stop few capitals are an abbreviation of something else.
    let is_in_capitals = title == title.to_uppercase()
        && title.len() > 1
        && (has_stop || title.len() > 3 && title != "MISS");
    let is_written_so = is_in_capitals
        || rest == rest.to_lowercase() && (!is_short || title.starts_with(char::is_uppercase));
    let is_doubtful =
        AMBIGUOUS.contains(&title) && (follows_capital(text, at) || title == "M" && !has_stop);
    if !is_written_so || is_doubtful {
        return None;
    }
    let mut start =
        skipped(text, end, if has_stop { &['.', ' ', '\u{a0}'] } else { &[' ', '\u{a0}'] });
    // "Dr. rer. nat."
    for _ in 0..3 {
        let letters = text[start..]
            .chars()
            .take(6)
            .take_while(|c| c.is_lowercase())
            .map(char::len_utf8)
            .sum::<usize>();
        match text[start + letters..].starts_with(". ") {
            true if letters > 0 => start += letters + 2,
            _ => break,
        }
    }
    (start > end).then(|| name(text, start)).flatten()
}

/// Whether a capitalised word stands before the byte `at`: a heading, or a name to which something is added.
fn follows_capital(text: &str, at: usize) -> bool {
    let head = text[..at].trim_end_matches(' ');
    let last: String =
        head.chars().rev().take(LONGEST_WORD).take_while(|c| c.is_alphanumeric()).collect();
    last.chars().next_back().is_some_and(char::is_uppercase)
}

/// Whether a line, a cell or a member begins at the byte `at`.
fn begins_field(text: &str, at: usize) -> bool {
    let is_markup = |c: char| {
        matches!(c, ' ' | '\t' | '*' | '_' | '"' | '\'' | '`' | '-' | '#' | '>' | '•' | '“' | '„')
    };
    let near = text.ceil_char_boundary(at.saturating_sub(64));
    let head = text[near..at].trim_end_matches(is_markup);
    let is_first = head.is_empty() && near == 0;
    is_first
        || head
            .ends_with(['\n', '\r', ',', ';', ':', '|', '(', '{', '[', '<', '.', '，', '；', '。'])
}

fn behind_colon(text: &str, at: usize, end: usize) -> Option<PersonName> {
    let markup = [' ', '\t', '*', '_', '"', '\'', '`', '\u{a0}'];
    let colon = skipped(text, end, &markup);
    let is_colon = begins_field(text, at) && text[colon..].starts_with([':', '：']);
    let start = is_colon.then(|| skipped(text, colon, &[':', '：']))?;
    let name = name_or_run(text, skipped(text, start, &markup))?;
    Some(with_given_name(text, name).unwrap_or(name))
}

/// A surname with the given name that stands behind it and a comma, before the end of the field: `Schmidt, Anna`.
fn with_given_name(text: &str, surname: PersonName) -> Option<PersonName> {
    let start = surname.end + text[surname.end..].strip_prefix(", ").map(|_| ", ".len())?;
    let given = name(text, start).filter(|_| surname.words == 1)?;
    let rest = text[given.end..].trim_start_matches([' ', '*', '_', '\'', '\r']);
    let ends = rest.is_empty() || rest.starts_with(['\n', '"', '<', '(', ';', '|', '}', '`']);
    (ends && given.words < 3).then_some(PersonName {
        words: 1 + given.words,
        end: given.end,
        ..surname
    })
}

fn behind_salutation(text: &str, at: usize, end: usize) -> Option<PersonName> {
    let head = text[..at].trim_end_matches([' ', '\t', '>']);
    let begins = head.is_empty() || head.ends_with('\n');
    let name = begins.then(|| name(text, skipped(text, end, &[' ', '\u{a0}']))).flatten()?;
    after(text, name.end).is_none_or(|c| matches!(c, ',' | '!' | ':' | '\n' | '\r')).then_some(name)
}

fn below(text: &str, end: usize) -> Option<PersonName> {
    let start = skipped(text, end, &[',', '!', '.', ' ', '\r', '\n']);
    let is_below = text[end..start].contains('\n');
    let name = is_below.then(|| name(text, start)).flatten()?;
    let rest = text[name.end..].trim_start_matches([' ', '\r']);
    (rest.is_empty() || rest.starts_with('\n')).then_some(name)
}

/// The name that stands in the line of a closing and ends it. One of a single word counts where the closing is a sentence by
/// itself: more often than a person it is something else.
fn behind_sign_off(text: &str, at: usize, (cue, end): (Cue, usize)) -> Option<PersonName> {
    let start = skipped(text, end, &[',', '!', '-', '–', '—', ' ', '\u{a0}']);
    let between = &text[end..start];
    let is_parted = between.contains([',', '!', '-', '–', '—']);
    let name = (is_parted || cue.needs_no_comma() && !between.is_empty())
        .then(|| name(text, start))
        .flatten()?;
    let head = text[..at].trim_end_matches([' ', '\t', '\u{a0}', '>']);
    let is_sentence = head.is_empty() || head.ends_with(['\n', '.', '!', '?', ':', '"', '>']);
    let rest = text[name.end..].trim_start_matches([' ', '.', '\r']);
    let ends = rest.is_empty() || rest.starts_with(['\n', '"', '<', '(', '|', '}']);
    let goes_on = name.words > 1 && rest.starts_with(',');
    ((ends || goes_on) && (is_sentence || name.words > 1)).then_some(name)
}

/// What of the characters before a title of Chinese, Japanese or Korean is a name. One character alone is replaced
/// with the title, since by itself it is a word.
fn before_suffix(text: &str, at: usize, end: usize) -> Option<Range<usize>> {
    let is_of_name = |c: &char| is_unspaced(*c) && !is_hiragana(*c);
    let run: Vec<char> = text[..at].chars().rev().take(5).take_while(is_of_name).collect();
    let is_chinese = matches!(&text[at..end], "先生" | "女士" | "小姐");
    let count = match run.len() {
        0 => return None,
        _ if is_chinese => {
            (1..=run.len().min(3)).rev().find(|count| SURNAMES.contains(run[count - 1]))?
        }
        count @ 2..=4 => count,
        _ => return None,
    };
    let start = at - run[..count].iter().map(|c| c.len_utf8()).sum::<usize>();
    Some(start..if count == 1 { end } else { at })
}

/// A name, or a run of two to four characters of a script without spaces.
fn name_or_run(text: &str, at: usize) -> Option<PersonName> {
    let run: Vec<char> = text[at..].chars().take(5).take_while(|c| is_unspaced(*c)).collect();
    match run.len() {
        0 => name(text, at),
        2..=4 => {
            let end = at + run.iter().map(|c| c.len_utf8()).sum::<usize>();
            Some(PersonName { start: at, end, words: 2 })
        }
        _ => None,
    }
}

/// The name that begins at the byte `at`.
fn name(text: &str, at: usize) -> Option<PersonName> {
    if before(text, at).is_some_and(is_of_word) {
        return None;
    }
    let (mut end, mut count, mut full) = (name_word(text, at)?, 1, 0);
    let first = &text[at..end];
    if is_title(first) || NOBODY.contains(&first.to_lowercase().as_str()) {
        return None;
    }
    full += usize::from(!first.ends_with('.'));
    while count < MOST_WORDS {
        let Some(next) = next_word(text, end) else { break };
        let said = &text[next.clone()];
        (end, count) = (next.end, count + 1);
        full += usize::from(!said.ends_with('.'));
    }
    // Initials alone are an abbreviation.
    (full > 0).then_some(PersonName { start: at, end, words: count })
}

/// The next word of a name that has a word up to the byte `end`; particles may stand between.
fn next_word(text: &str, end: usize) -> Option<Range<usize>> {
    let space = |at: usize| {
        let c = after(text, at).filter(|c| matches!(c, ' ' | '\u{a0}'))?;
        Some(at + c.len_utf8())
    };
    let mut start = match space(end) {
        Some(start) => start,
        None if text[..end].ends_with('.') => end,
        None => return None,
    };
    for _ in 0..2 {
        let particle = PARTICLES
            .iter()
            .find(|it| text[start..].strip_prefix(**it).is_some_and(|rest| rest.starts_with(' ')));
        start += particle.map_or(0, |it| it.len() + 1);
    }
    let end = name_word(text, start)?;
    (!is_title(&text[start..end])).then_some(start..end)
}

/// The end of a word with a capital letter, or of an initial with its full stop.
fn name_word(text: &str, at: usize) -> Option<usize> {
    let is_letter = |c: char| c.is_alphabetic() && !is_unspaced(c);
    let first = after(text, at).filter(|c| is_letter(*c) && !c.is_lowercase())?;
    let mut end = at;
    let mut letters = 0;
    let mut rest = text[at..].chars().peekable();
    while let Some(c) = rest.next() {
        let is_joint =
            matches!(c, '\'' | '’' | '-' | '‑') && rest.peek().is_some_and(|c| is_letter(*c));
        let is_part = is_letter(c) || is_joint || is_mark(c) && letters > 0;
        if !is_part || letters == LONGEST_WORD {
            break;
        }
        end += c.len_utf8();
        letters += 1;
    }
    let word = &text[at..end];
    if let Some(owner) = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")) {
        end = at + owner.len();
    }
    let goes_on = after(text, end).is_some_and(is_of_word);
    match letters {
        1 if text[end..].starts_with('.') => Some(end + 1),
        // A letter of a script that has no capitals may be a word.
        1 if first.is_uppercase() => None,
        _ => (!goes_on).then_some(end),
    }
}

#[cfg(test)]
mod tests;
