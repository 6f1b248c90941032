//! # link: where does a source stand for a reader who wants to read on?
//!
//! ```text
//! (template, values) → address;  address → the same, safe inside a Markdown link
//! ```
//!
//! Addresses come out of rows, whose text is not trusted. So only addresses of the web and of mail
//! become links, or those without a scheme, which stay within the site that shows them.

use crate::error::{Error, Result};

/// Schemes of addresses that become links.
const SCHEMES: [&str; 3] = ["http", "https", "mailto"];

/// Longest address, in bytes.
const LONGEST: usize = 2048;

/// What a placeholder of a template stands for.
pub enum LinkValue {
    /// A text, which is encoded.
    Text(String),
    /// Nothing: there is no link.
    Missing,
    /// There is no value of that name.
    Unknown,
}

/// `template` with each `{name}` replaced by its value; `None` where one is missing.
///
/// Fails where a name is unknown or a brace is not closed.
pub fn filled(template: &str, value: impl Fn(&str) -> LinkValue) -> Result<Option<String>> {
    let mut address = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').ok_or_else(|| {
            Error::invalid(format!("link_template has a brace that is not closed: {template}"))
        })?;
        address += before;
        match value(name) {
            LinkValue::Text(text) => text.bytes().for_each(|byte| encode(byte, &mut address)),
            LinkValue::Missing => return Ok(None),
            LinkValue::Unknown => {
                return Err(Error::invalid(format!(
                    "link_template has the unknown name \"{name}\""
                )));
            }
        }
        rest = after;
    }
    Ok(Some(address + rest))
}

/// `address` as it can stand in a Markdown link; `None` if it is none that may become one.
pub fn safe(address: &str) -> Option<String> {
    let address =
        address.trim_matches(|letter: char| letter.is_whitespace() || letter.is_control());
    if address.is_empty() || address.len() > LONGEST || !has_good_scheme(address) {
        return None;
    }
    let mut safe = String::with_capacity(address.len());
    for letter in address.chars() {
        let ends_a_link = "()<>[]\\\"'`{}|^*".contains(letter);
        if letter.is_whitespace() || letter.is_control() || ends_a_link {
            let mut bytes = [0; 4];
            letter.encode_utf8(&mut bytes).bytes().for_each(|byte| encode(byte, &mut safe));
        } else {
            safe.push(letter);
        }
    }
    Some(safe)
}

/// Whether `address` has one of [`SCHEMES`] or none. What stands before a colon is a scheme for a
/// browser if it has letters, digits and `+-.` only, and no part of one otherwise, once spaces and
/// the like are encoded.
fn has_good_scheme(address: &str) -> bool {
    match address.split_once(':') {
        Some((scheme, _)) if is_scheme(scheme) => {
            SCHEMES.contains(&scheme.to_ascii_lowercase().as_str())
        }
        _ => true,
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
}

/// Percent-encodes what is not a letter, a digit or one of `-._~` (RFC 3986, unreserved).
fn encode(byte: u8, out: &mut String) {
    match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            out.push(char::from(byte));
        }
        other => *out += &format!("%{other:02X}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(name: &str) -> LinkValue {
        match name {
            "key" => LinkValue::Text("a b/ü".to_owned()),
            "gone" => LinkValue::Missing,
            _ => LinkValue::Unknown,
        }
    }

    #[test]
    fn templates_are_filled() {
        let check = |template: &str, expected: Option<&str>| {
            assert_eq!(filled(template, value).unwrap().as_deref(), expected, "{template}");
        };
        check("https://h/{key}#{key}", Some("https://h/a%20b%2F%C3%BC#a%20b%2F%C3%BC"));
        check("https://h/", Some("https://h/"));
        check("https://h/{gone}", None);
        let fails = |template: &str| filled(template, value).unwrap_err().message().to_owned();
        assert_eq!(fails("{other}"), "link_template has the unknown name \"other\"");
        assert!(fails("x{key").contains("not closed"));
    }

    #[test]
    fn only_the_web_is_linked() {
        let check = |address: &str, expected: Option<&str>| {
            assert_eq!(safe(address).as_deref(), expected, "{address}");
        };
        check("https://h/a(b)?c=d&e=%20", Some("https://h/a%28b%29?c=d&e=%20"));
        check(" HTTP://h ", Some("HTTP://h"));
        check("/docs/1:2", Some("/docs/1:2"));
        check("docs/ü.html#x", Some("docs/ü.html#x"));
        for address in
            ["", " \n", "javascript:alert(1)", "JavaScript:x", "\u{1}data:text/html,x", "file:///x"]
        {
            check(address, None);
        }
        check("java\tscript:x", Some("java%09script:x"));
        check(&format!("https://h/{}", "x".repeat(3000)), None);
    }

    proptest! {
        #[test]
        fn no_address_ends_the_link(address in "\\PC{0,40}|[a-z:/()\\[\\] \n\"]{0,30}") {
            if let Some(safe) = safe(&address) {
                prop_assert!(!safe.contains(['(', ')', '[', ']', '<', '>', ' ', '\n']));
            }
        }
    }
}
