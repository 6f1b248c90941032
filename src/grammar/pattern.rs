//! Simple regular expressions of strings, and names that are not among some.

use super::json::quoted;
use super::rules::{GrammarExpression, PLAIN};

/// Longest pattern that is looked at, in bytes.
const LONGEST: usize = 400;

/// Most repetitions in a pattern.
const MOST_REPEATED: u32 = 200;

/// Most places of rules that a pattern may take, its repetitions written out. llama.cpp refuses
/// more than 2000 repetitions of rules.
const LARGEST: u64 = 1500;

/// Deepest groups of a pattern.
const DEEPEST: usize = 8;

/// What `pattern`, a regular expression as of ECMAScript, lets stand in a string of JSON, between
/// its quotes; `character` is any character there. `None` where it has something else than
/// characters, classes, groups, alternatives and repetitions.
#[must_use]
pub fn expression(pattern: &str, character: &GrammarExpression) -> Option<GrammarExpression> {
    if pattern.len() > LONGEST {
        return None;
    }
    let (pattern, at_start) = match pattern.strip_prefix('^') {
        Some(rest) => (rest, true),
        None => (pattern, false),
    };
    let is_end = pattern.ends_with('$') && !pattern.ends_with("\\$");
    let body = if is_end { &pattern[..pattern.len() - 1] } else { pattern };
    let mut reader = PatternReader { rest: body.chars().collect(), at: 0, depth: 0 };
    let inner = reader.choice()?;
    // Outside of groups, an anchor belongs to one alternative and not to all.
    let is_split = matches!(inner, GrammarExpression::Choice(_));
    if reader.at < reader.rest.len() || is_split || inner.size() > LARGEST {
        return None;
    }
    let anything = || GrammarExpression::Repeat(Box::new(character.clone()), 0, None);
    let mut parts = vec![inner];
    if !at_start {
        parts.insert(0, anything());
    }
    if !is_end {
        parts.push(anything());
    }
    Some(GrammarExpression::Sequence(parts))
}

struct PatternReader {
    rest: Vec<char>,
    at: usize,
    depth: usize,
}

/// Characters of a class: ranges, both ends included.
type CharacterRanges = Vec<(char, char)>;

impl PatternReader {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        self.at += 1;
        self.rest.get(self.at - 1).copied()
    }

    fn eat(&mut self, c: char) -> bool {
        let is_there = self.peek() == Some(c);
        self.at += usize::from(is_there);
        is_there
    }

    fn choice(&mut self) -> Option<GrammarExpression> {
        let mut parts = vec![self.sequence()?];
        while self.eat('|') {
            parts.push(self.sequence()?);
        }
        Some(if parts.len() == 1 { parts.remove(0) } else { GrammarExpression::Choice(parts) })
    }

    fn sequence(&mut self) -> Option<GrammarExpression> {
        let mut parts = Vec::new();
        while self.peek().is_some_and(|c| c != '|' && c != ')') {
            let part = self.part()?;
            parts.push(self.repeated(part)?);
        }
        Some(GrammarExpression::Sequence(parts))
    }

    fn part(&mut self) -> Option<GrammarExpression> {
        match self.next()? {
            '(' => self.group(),
            '[' => self.class(),
            '.' => Some(negated(&[('\n', '\n'), ('\r', '\r')])),
            '\\' => {
                let (ranges, is_negated) = self.escape()?;
                Some(if is_negated { negated(&ranges) } else { one_of(&ranges) })
            }
            '^' | '$' | '*' | '+' | '?' | '{' | '}' | ']' => None,
            c => Some(GrammarExpression::Text(in_json(c))),
        }
    }

    fn group(&mut self) -> Option<GrammarExpression> {
        if self.eat('?') && !self.eat(':') {
            return None;
        }
        self.depth += 1;
        let inner = (self.depth <= DEEPEST).then(|| self.choice()).flatten()?;
        self.depth -= 1;
        self.eat(')').then_some(inner)
    }

    /// What follows a backslash: characters, and whether it stands for all others.
    fn escape(&mut self) -> Option<(CharacterRanges, bool)> {
        let digits = vec![('0', '9')];
        let word = vec![('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];
        let blank = vec![(' ', ' ')];
        Some(match self.next()? {
            'd' => (digits, false),
            'w' => (word, false),
            's' => (blank, false),
            'D' => (digits, true),
            'W' => (word, true),
            'n' => (vec![('\n', '\n')], false),
            'r' => (vec![('\r', '\r')], false),
            't' => (vec![('\t', '\t')], false),
            c if c.is_ascii_punctuation() => (vec![(c, c)], false),
            _ => return None,
        })
    }

    fn class(&mut self) -> Option<GrammarExpression> {
        let is_negated = self.eat('^');
        let mut ranges = CharacterRanges::new();
        loop {
            let from = match self.next()? {
                ']' if ranges.is_empty() => return None,
                ']' => break,
                '\\' => {
                    let (of_escape, is_negated) = self.escape()?;
                    if is_negated {
                        return None;
                    }
                    match of_escape[..] {
                        [(c, last)] if c == last => c,
                        _ => {
                            ranges.extend(of_escape);
                            continue;
                        }
                    }
                }
                c => c,
            };
            let is_range = self.peek() == Some('-') && self.rest.get(self.at + 1) != Some(&']');
            if !is_range {
                ranges.push((from, from));
                continue;
            }
            self.at += 1;
            let to = self.next().filter(|to| *to != '\\' && *to != '[' && *to >= from)?;
            ranges.push((from, to));
        }
        Some(if is_negated { negated(&ranges) } else { one_of(&ranges) })
    }

    fn repeated(&mut self, part: GrammarExpression) -> Option<GrammarExpression> {
        let (least, most) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => self.bounds()?,
            _ => return Some(part),
        };
        self.at += 1;
        // A second sign would make it lazy or greedy, which changes nothing of what fits.
        let is_sane =
            least.max(most.unwrap_or(0)) <= MOST_REPEATED && most.is_none_or(|it| it >= least);
        let is_alone = !self.peek().is_some_and(|c| "*+?{".contains(c));
        (is_sane && is_alone).then(|| GrammarExpression::Repeat(Box::new(part), least, most))
    }

    /// Reads `{2,3}` up to its closing brace.
    fn bounds(&mut self) -> Option<(u32, Option<u32>)> {
        let length = self.rest[self.at..].iter().position(|c| *c == '}')?;
        let inner: String = self.rest[self.at + 1..self.at + length].iter().collect();
        self.at += length;
        match inner.split_once(',') {
            None => inner.parse().ok().map(|count| (count, Some(count))),
            Some((least, "")) => Some((least.parse().ok()?, None)),
            Some((least, most)) => Some((least.parse().ok()?, Some(most.parse().ok()?))),
        }
    }
}

/// A character between the quotes of a string of JSON.
fn in_json(c: char) -> String {
    let quoted = quoted(c.encode_utf8(&mut [0; 4]));
    quoted[1..quoted.len() - 1].to_owned()
}

fn is_plain(c: char) -> bool {
    !c.is_ascii_control() && c != '"' && c != '\\'
}

/// A character of a class as llama.cpp reads it.
fn in_class(c: char) -> String {
    match c {
        '0'..='9' | 'a'..='z' | 'A'..='Z' => c.to_string(),
        c => format!("\\U{:08X}", u32::from(c)),
    }
}

fn written(ranges: &[(char, char)]) -> String {
    let range = |(from, to): &(char, char)| match from == to {
        true => in_class(*from),
        false => format!("{}-{}", in_class(*from), in_class(*to)),
    };
    ranges.iter().map(range).collect()
}

/// One character of `ranges`; those that JSON escapes, as it escapes them.
fn one_of(ranges: &[(char, char)]) -> GrammarExpression {
    let mut plain = CharacterRanges::new();
    let mut parts = Vec::new();
    for (from, to) in ranges {
        if is_plain(*from) && from == to {
            plain.push((*from, *to));
        } else if from == to {
            parts.push(GrammarExpression::Text(in_json(*from)));
        } else {
            parts.extend(
                ['"', '\\']
                    .into_iter()
                    .filter(|c| (from..=to).contains(&c))
                    .map(|c| GrammarExpression::Text(in_json(c))),
            );
            plain.extend(without_escaped(*from, *to));
        }
    }
    if !plain.is_empty() {
        parts.push(GrammarExpression::Class(format!("[{}]", written(&plain))));
    }
    if parts.len() == 1 { parts.remove(0) } else { GrammarExpression::Choice(parts) }
}

/// The parts of a range in which nothing has to be escaped.
fn without_escaped(from: char, to: char) -> CharacterRanges {
    let plain = [(' ', '!'), ('#', '['), (']', '~'), ('\u{80}', char::MAX)];
    let cut = |(first, last): (char, char)| (first.max(from), last.min(to));
    plain.into_iter().map(cut).filter(|(first, last)| first <= last).collect()
}

/// One plain character that is not in `ranges`.
fn negated(ranges: &[(char, char)]) -> GrammarExpression {
    GrammarExpression::Class(format!("[^{PLAIN}{}]", written(ranges)))
}

/// A string of plain characters that is none of `names`.
///
/// Letter by letter: a name may go on as no other does, or end where none ends.
#[must_use]
pub fn name_but(names: &[&str]) -> GrammarExpression {
    // One with characters that are escaped is written in no other way here.
    let plain: Vec<Vec<char>> = names
        .iter()
        .filter(|name| name.chars().all(is_plain))
        .map(|name| name.chars().take(LONGEST).collect())
        .collect();
    let paths: Vec<&[char]> = plain.iter().map(Vec::as_slice).collect();
    let inner = rest_but(&paths);
    GrammarExpression::Sequence(vec![
        GrammarExpression::text("\""),
        inner,
        GrammarExpression::text("\""),
    ])
}

fn rest_but(paths: &[&[char]]) -> GrammarExpression {
    let any = || GrammarExpression::Class(format!("[^{PLAIN}]"));
    let mut firsts: Vec<char> = paths.iter().filter_map(|path| path.first().copied()).collect();
    firsts.sort_unstable();
    firsts.dedup();
    let anything = GrammarExpression::Repeat(Box::new(any()), 0, None);
    let ranges: Vec<(char, char)> = firsts.iter().map(|c| (*c, *c)).collect();
    let mut parts = vec![GrammarExpression::Sequence(vec![negated(&ranges), anything])];
    for first in firsts {
        let below: Vec<&[char]> = paths
            .iter()
            .filter(|path| path.first() == Some(&first))
            .map(|path| &path[1..])
            .collect();
        let first = GrammarExpression::Text(first.to_string());
        parts.push(GrammarExpression::Sequence(vec![first, rest_but(&below)]));
    }
    let inner = GrammarExpression::Choice(parts);
    // Where a name ends, another one must go on.
    if paths.iter().any(|path| path.is_empty()) { inner } else { inner.optional() }
}
