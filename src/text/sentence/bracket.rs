//! # bracket: on which side of a bracket or a quote does a sentence end?
//!
//! ```text
//! "end.(Next", "end.[12] Next", "« Fin. » Après", "Frau Köhler (Abt. Personal) kommt" → before "(", behind "]" and "»", not in "(…)"
//! ```

use std::ops::Range;

use crate::text::abbreviation::is_opening;

/// Longest reference mark ("[12, 14]", "[citation needed]") that stays with the sentence before
/// it, in bytes.
const LONGEST_REFERENCE: usize = 48;

/// Longest text in brackets that is part of a sentence, in characters.
const LONGEST_BRACKET: usize = 80;

/// How far back a sentence is looked through, in bytes: for the sign that opened an emphasis, and for a letter before a bracket.
/// To look through all of it from each end that is proposed would be quadratic.
const LOOKED_BACK: usize = 4096;

/// Brackets in each other that are looked at.
const MOST_NESTED: usize = 8;

/// `cut`, or the place beside a bracket where the cut should have been.
///
/// UAX #29 treats opening and closing brackets alike, so that it leaves the opening one
/// of "end.(Next" and the whole beginning of "end.[12] Next" with the sentence before.
/// `None`: there is nothing to cut.
pub(super) fn moved_past_brackets(line: &str, start: usize, cut: usize) -> Option<usize> {
    if cut <= start {
        return None;
    }
    let before = &line[start..cut];
    let kept = before.trim_end_matches(is_opening);
    if kept.len() == before.len() || cut == line.len() {
        return Some(cut);
    }
    if before.ends_with('[')
        && let Some(end) = reference_end(line, cut)
    {
        return Some(end);
    }
    (!kept.is_empty()).then_some(start + kept.len())
}

/// The length of what closes the emphasis of Markdown in `rest`, which a sentence has opened: that of `**`
/// in "**Size.** It is small."
pub(super) fn emphasis_end(sentence: &str, rest: &str) -> usize {
    let behind = rest.trim_start_matches(['*', '_']);
    let signs = &rest[..rest.len() - behind.len()];
    let closes = !signs.is_empty()
        && !sentence.ends_with(char::is_whitespace)
        && (behind.is_empty() || behind.starts_with(char::is_whitespace))
        && last_part(sentence).matches(signs).count() % 2 == 1;
    if closes { signs.len() } else { 0 }
}

/// The end of `text`, as far as it is looked through.
fn last_part(text: &str) -> &str {
    &text[text.floor_char_boundary(text.len().saturating_sub(LOOKED_BACK))..]
}

/// The end of the reference marks ("[3][4]") whose first opening bracket is just before `at`.
fn reference_end(line: &str, at: usize) -> Option<usize> {
    let mut end = None;
    let mut rest = &line[at..];
    while let Some(length) = reference_length(rest) {
        let so_far = line.len() - rest.len() + length;
        end = Some(so_far);
        let Some(next) = line[so_far..].strip_prefix('[') else { break };
        rest = next;
    }
    end
}

/// The length of the reference mark that `rest` begins with, closing bracket included.
fn reference_length(rest: &str) -> Option<usize> {
    let close = rest.bytes().take(LONGEST_REFERENCE).position(|byte| byte == b']')?;
    rest[..close]
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, ',' | ';' | ' ' | '-' | '–'))
        .then_some(close + 1)
}

/// The length of the sign that closes a quote at `at`, before which French puts a space: that of `»` in "« Fin. » Après". It is 0
/// where no quote is open that begins with the other sign, as German uses them the other way round.
pub(super) fn guillemet_end(line: &str, at: usize) -> usize {
    let Some(rest) = line[at..].strip_prefix(['»', '›']) else { return 0 };
    let before = &line[..at];
    let last = before.rfind(['«', '»', '‹', '›']).map(|it| &before[it..]);
    let is_open = last.is_some_and(|it| it.starts_with(['«', '‹']));
    let closes = is_open && !rest.starts_with(char::is_alphanumeric);
    if closes { line.len() - at - rest.len() } else { 0 }
}

/// Whether a sentence goes on in `rest`, behind a quote that ends with a sentence of its own: "« Vraiment ? », dit-il".
pub(super) fn goes_on_behind_guillemet(rest: &str) -> bool {
    let is_inside = |c: char| {
        c.is_lowercase()
            || matches!(c, ',' | ';' | ':' | '.' | '…' | '!' | '?' | ')' | '—' | '–' | '-')
    };
    rest.trim_start().starts_with(is_inside)
}

/// Where round brackets stand in `line` that close soon, from the opening to the closing one; outermost ones, in order.
pub(super) fn short_brackets(line: &str) -> Vec<Range<usize>> {
    let (mut found, mut open): (Vec<Range<usize>>, Vec<(usize, usize)>) = Default::default();
    if !line.contains(['(', '（']) {
        return found;
    }
    for (number, (at, sign)) in line.char_indices().enumerate() {
        match sign {
            '(' | '（' => {
                if open.len() == MOST_NESTED {
                    open.remove(0);
                }
                open.push((number, at));
            }
            ')' | '）' => {
                let Some((first, start)) = open.pop() else { continue };
                if number - first <= LONGEST_BRACKET {
                    let outside = found.partition_point(|it| it.start < start);
                    found.truncate(outside);
                    found.push(start..at);
                }
            }
            _ => {}
        }
    }
    found
}

/// Whether a sentence with this range of `line` would end in one of `brackets` that it has opened after its beginning. What stands in
/// brackets as a whole has ends of its own.
pub(super) fn ends_in_bracket(
    line: &str,
    brackets: &[Range<usize>],
    sentence: Range<usize>,
) -> bool {
    let next = brackets.partition_point(|it| it.end < sentence.end);
    let around = brackets.get(next).filter(|it| it.start < sentence.end);
    let before = around.and_then(|it| line.get(sentence.start..it.start));
    before.is_some_and(|it| last_part(it).contains(char::is_alphanumeric))
}
