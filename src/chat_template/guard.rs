//! Checks of sizes, put into a template.
//!
//! Of the statements of Jinja, those are let through that make values in places that can be
//! checked: `set`, `for`, `if` and their like. Macros, blocks that are kept, recursive loops and
//! includes are refused. A tag may join a few values, so what it makes is at most so many times
//! longer than the longest value that was checked.

use crate::error::{Error, ErrorKind, Result};

/// Filter for values that are kept or printed.
pub const CHECKED: &str = "checked_size";

/// Filter for what is kept in a namespace, in which no namespace may be: it could hold itself.
pub const PLAIN: &str = "checked_plain";

/// Most signs in a tag that join values.
const MOST_JOINS: usize = 24;

/// Most signs in a tag that put values into a list.
const MOST_COMMAS: usize = 64;

/// Statements that need no check.
const FREE: [&str; 8] = ["if", "elif", "else", "endif", "endfor", "break", "continue", "do"];

/// `template` with a check of each value that is kept or printed.
///
/// Fails with [`ErrorKind::Unsupported`] at a statement or sign that is not let through, and at a tag
/// without an end. Errors name the line.
pub fn guarded(template: &str) -> Result<String> {
    let (mut source, mut rest) = (String::with_capacity(2 * template.len()), template);
    let mut line = 1;
    while let Some(open) = next_tag(rest) {
        let (text, tag) = rest.split_at(open);
        source += text;
        line += newlines(text);
        let length = match tag.strip_prefix("{#") {
            Some(comment) => comment.find("#}").map(|end| end + 4),
            None => tag_length(tag),
        };
        let Some(length) = length else { return Err(refused(line, "a tag has no end")) };
        let (tag, after) = tag.split_at(length);
        match tag.starts_with("{#") {
            true => source += tag,
            false => source += &guarded_tag(tag, line)?,
        }
        line += newlines(tag);
        rest = after;
    }
    Ok(source + rest)
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// Where the next tag or comment begins.
fn next_tag(text: &str) -> Option<usize> {
    text.match_indices('{')
        .map(|(at, _)| at)
        .find(|at| matches!(text.as_bytes().get(at + 1), Some(b'{' | b'%' | b'#')))
}

/// Length of the tag at the beginning of `tag`: to its end outside of quotes and brackets.
fn tag_length(tag: &str) -> Option<usize> {
    let end = if tag.starts_with("{{") { "}}" } else { "%}" };
    let (mut at, mut open) = (2, 0usize);
    while at < tag.len() {
        let rest = &tag[at..];
        // Within brackets, two braces end two lists of names and not the tag.
        if open == 0 && rest.starts_with(end) {
            return Some(at + 2);
        }
        match rest.as_bytes()[0] {
            quote @ (b'"' | b'\'') => at += quoted_length(rest, quote)?,
            b'{' => (open, at) = (open + 1, at + 1),
            b'}' => (open, at) = (open.saturating_sub(1), at + 1),
            _ => at += rest.chars().next().map_or(1, char::len_utf8),
        }
    }
    None
}

/// Length of the text in quotes at the beginning of `text`, quotes included.
fn quoted_length(text: &str, quote: u8) -> Option<usize> {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            byte if byte == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn refused(line: usize, what: &str) -> Error {
    let message = format!("chat template, line {line}: {what}");
    Error::new(ErrorKind::Unsupported, message)
        .hint("Use the model with another chat template, for instance ChatML.")
}

/// A tag with checks in it.
fn guarded_tag(tag: &str, line: usize) -> Result<String> {
    let trims = |c: &char| *c == '-' || *c == '+';
    let begin = 2 + usize::from(tag[2..].chars().next().filter(trims).is_some());
    let end = tag.len() - 2;
    let end = end - usize::from(end > begin && tag[..end].ends_with(['-', '+']));
    let (open, code, close) = (&tag[..begin], &tag[begin..end], &tag[end..]);
    let words = outside(code);
    check_signs(&words, line)?;
    if tag.starts_with("{{") {
        return Ok(format!("{open} ({code})|{CHECKED} {close}"));
    }
    let code = code.trim();
    let statement =
        code.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    let code = match statement {
        "set" => guarded_set(&code[3..], line)?,
        "for" => guarded_for(&code[3..], line)?,
        // It marks what a model is trained on, and says nothing here.
        "generation" | "endgeneration" => {
            return Ok(format!("{open} if true {close}{open} endif {close}"));
        }
        _ if FREE.contains(&statement) => code.to_owned(),
        _ => {
            let shown: String = statement.chars().take(40).collect();
            return Err(refused(line, &format!("the statement \"{shown}\" is not supported")));
        }
    };
    Ok(format!("{open} {code} {close}"))
}

/// `code` with spaces in place of what is in quotes, each byte in its place.
fn outside(code: &str) -> String {
    let (mut outside, mut at) = (String::with_capacity(code.len()), 0);
    while at < code.len() {
        let rest = &code[at..];
        let quote = rest.as_bytes()[0];
        let length = match quote {
            b'"' | b'\'' => quoted_length(rest, quote).unwrap_or(rest.len()),
            _ => 0,
        };
        match (length, rest.chars().next()) {
            (0, Some(c)) => {
                outside.push(c);
                at += c.len_utf8();
            }
            _ => {
                outside.extend(std::iter::repeat_n(' ', length));
                at += length;
            }
        }
    }
    outside
}

fn check_signs(words: &str, line: usize) -> Result<()> {
    if words.contains('*') {
        return Err(refused(line, "repetition and multiplication are not supported"));
    }
    if words.matches(['~', '+']).count() > MOST_JOINS {
        return Err(refused(line, &format!("a tag joins more than {MOST_JOINS} values")));
    }
    if words.matches(',').count() > MOST_COMMAS {
        return Err(refused(line, &format!("a tag lists more than {MOST_COMMAS} values")));
    }
    // Else a bracket could end the one that a check is put behind.
    match is_balanced(words) {
        true => Ok(()),
        false => Err(refused(line, "brackets do not match")),
    }
}

fn is_balanced(words: &str) -> bool {
    let mut open = Vec::new();
    let closes = |c: char| match c {
        '(' => Some(')'),
        '[' => Some(']'),
        '{' => Some('}'),
        _ => None,
    };
    let fits = words.chars().all(|c| match closes(c) {
        Some(close) => {
            open.push(close);
            true
        }
        None => !")]}".contains(c) || open.pop() == Some(c),
    });
    fits && open.is_empty()
}

/// What follows `set`, with a check of the value.
fn guarded_set(code: &str, line: usize) -> Result<String> {
    let words = outside(code);
    let Some(equals) = words.find('=').filter(|at| !words[at + 1..].starts_with('=')) else {
        return Err(refused(line, "a block that is kept is not supported"));
    };
    let (target, value) = (code[..equals].trim(), &code[equals + 1..]);
    let check = if target.contains('.') { PLAIN } else { CHECKED };
    Ok(format!("set {target} = ({value})|{check}"))
}

/// What follows `for`, with a check of the list.
fn guarded_for(code: &str, line: usize) -> Result<String> {
    let words = outside(code);
    let Some(within) = word_at(&words, "in", 0) else {
        return Err(refused(line, "a loop over nothing"));
    };
    if word_at(&words, "recursive", within).is_some() {
        return Err(refused(line, "a recursive loop is not supported"));
    }
    let end = word_at(&words, "if", within).unwrap_or(code.len());
    let (target, list, condition) = (&code[..within], &code[within + 2..end], &code[end..]);
    Ok(format!("for {target} in ({list})|{CHECKED} {condition}"))
}

/// Where `word` stands outside of brackets, from `from` on.
fn word_at(words: &str, word: &str, from: usize) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut open = 0i32;
    words
        .char_indices()
        .find(|(at, c)| {
            match c {
                '(' | '[' | '{' => open += 1,
                ')' | ']' | '}' => open -= 1,
                _ => {}
            }
            let stands_alone = || {
                let before = words[..*at].chars().next_back();
                let after = words[*at..].strip_prefix(word).map(|rest| rest.chars().next());
                before.is_none_or(|c| !is_part(c))
                    && after.is_some_and(|it| it.is_none_or(|c| !is_part(c)))
            };
            open == 0 && *at >= from && stands_alone()
        })
        .map(|(at, _)| at)
}
