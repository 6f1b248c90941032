//! The paths that a Rust file names: `a::b::c`, and one for each item of `a::{b, c}`.

use crate::source::{RustFile, Token};

/// A path, with the line on which it ends.
pub struct NamedPath {
    pub line: usize,
    pub segments: Vec<String>,
}

impl NamedPath {
    pub fn starts_with(&self, path: &[&str]) -> bool {
        self.segments.len() >= path.len() && self.segments.iter().zip(path).all(|(a, b)| a == b)
    }
}

/// The paths that `file` names outside of tests. A word that stands alone is a path of one segment.
pub fn paths(file: &RustFile) -> Vec<NamedPath> {
    let tokens: Vec<&Token> = file.tokens.iter().filter(|token| !token.in_test).collect();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        at = match is_word(tokens[at]) {
            true => read(&tokens, at, &[], &mut found),
            false => at + 1,
        };
    }
    found
}

/// Reads a path or a group at `at`, after the segments `before`; the place after it.
fn read(tokens: &[&Token], at: usize, before: &[String], found: &mut Vec<NamedPath>) -> usize {
    let text = |place: usize| tokens.get(place).map_or("", |token| token.text.as_str());
    if text(at) == "{" {
        let mut at = at + 1;
        while at < tokens.len() && text(at) != "}" {
            at = match text(at) {
                "," => at + 1,
                _ => read(tokens, at, before, found),
            };
        }
        return at + 1;
    }
    let mut segments = before.to_vec();
    if text(at) != "self" || before.is_empty() {
        segments.push(text(at).to_owned());
    }
    let goes_on = text(at + 1) == ":" && text(at + 2) == ":";
    let continues =
        tokens.get(at + 3).is_some_and(|next| is_word(next) || "{*".contains(&next.text));
    if goes_on && continues {
        return read(tokens, at + 3, &segments, found);
    }
    found.push(NamedPath { line: tokens[at].line, segments });
    at + 1
}

fn is_word(token: &Token) -> bool {
    token.text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}
