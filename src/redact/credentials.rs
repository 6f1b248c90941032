//! Which addresses hold a user name and a password?

use std::ops::Range;

use super::boundary::places;

/// Longest user name and password, in bytes.
const LONGEST: usize = 256;

/// Each `name:password` of an address `scheme://name:password@host` in `text`.
pub fn credentials(text: &str, interrupt: &mut dyn FnMut()) -> Vec<Range<usize>> {
    places(text, |byte| byte == b':', interrupt).filter_map(|at| behind(text, at)).collect()
}

/// Those behind the colon of a scheme at the byte `at`.
fn behind(text: &str, at: usize) -> Option<Range<usize>> {
    // An escape of JSON, `:\/\/`, is read as tabs.
    let scheme = if text[at..].starts_with("://") { "://" } else { ":\t\t\t\t" };
    let rest = text[at..].strip_prefix(scheme)?;
    let is_over = |c: char| {
        c.is_whitespace() || c.is_control() || matches!(c, '/' | '?' | '#' | '"' | '\\' | '<' | '>')
    };
    let rest = &rest[..rest.floor_char_boundary(LONGEST)];
    let authority = &rest[..rest.find(is_over).unwrap_or(rest.len())];
    let (said, _) = authority.rsplit_once('@')?;
    let (_, password) = said.split_once(':')?;
    let start = at + scheme.len();
    (!password.is_empty()).then(|| start..start + said.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::find::tests::check_rule;

    #[test]
    fn only_passwords_are_found() {
        let check = |text, expected: &[&str]| check_rule(credentials, text, expected);
        check("postgres://app:s3cr@t@db.local:5432/x", &["app:s3cr@t"]);
        check("see https://u:p@h, ftp://:p@h/", &["u:p", ":p"]);
        for text in [
            "https://example.com:8080/a@b",
            "https://u@h/",
            "https://u:@h/",
            "a://b",
            "://",
            ":",
            "std::vec",
            "https://h/x:y@z",
            "mailto:a@b.c",
        ] {
            check(text, &[]);
        }
    }
}
