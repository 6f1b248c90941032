//! Which words of a connection string are about encryption?
//!
//! The driver knows `sslmode` with three values and refuses a string with `sslrootcert`. So the words are taken out
//! before it reads the rest.

use percent_encoding::percent_decode_str;

/// A connection string in two parts.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// What the driver reads.
    pub rest: String,
    /// The parameters `ssl...`, in their order, each with its value.
    pub encryption: Vec<(String, String)>,
}

/// Takes the parameters whose names begin with `ssl` out of a URL or of `name=value` words; `sslnegotiation` stays, as
/// the driver reads that. Nothing is returned for what is neither.
pub fn split(text: &str) -> Option<Parts> {
    let is_url = ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme));
    if is_url { of_url(text) } else { of_words(text) }
}

fn is_about_encryption(name: &str) -> bool {
    name.starts_with("ssl") && name != "sslnegotiation" || name == "requiressl"
}

fn of_url(text: &str) -> Option<Parts> {
    // A question mark before it may belong to a password.
    let host = text.find('@').map_or(0, |at| at + 1);
    let Some(query) = text[host..].find('?').map(|at| host + at) else {
        return Some(Parts { rest: text.to_owned(), ..Parts::default() });
    };
    let decoded = |text: &str| percent_decode_str(text).decode_utf8().ok().map(String::from);
    let mut kept = Vec::new();
    let mut encryption = Vec::new();
    for parameter in text[query + 1..].split('&') {
        match parameter.split_once('=') {
            Some((name, value)) if is_about_encryption(&decoded(name)?) => {
                encryption.push((decoded(name)?, decoded(value)?));
            }
            _ => kept.push(parameter),
        }
    }
    let separator = if kept.is_empty() { "" } else { "?" };
    Some(Parts { rest: format!("{}{separator}{}", &text[..query], kept.join("&")), encryption })
}

fn of_words(text: &str) -> Option<Parts> {
    let mut parts = Parts::default();
    let mut tail = text.trim_start();
    while !tail.is_empty() {
        let (name, after) = tail.split_once('=')?;
        let (name, after) = (name.trim_end(), after.trim_start());
        let (value, length) = first_value(after)?;
        let (word, more) = tail.split_at(tail.len() - after.len() + length);
        if is_about_encryption(name) {
            parts.encryption.push((name.to_owned(), value));
        } else {
            parts.rest.push_str(word);
            parts.rest.push(' ');
        }
        tail = more.trim_start();
    }
    Some(parts)
}

/// The value that a text begins with, and how many bytes it takes there. It may stand between apostrophes, and a
/// backslash takes the next character as it is. Nothing is returned where the second apostrophe is missing.
fn first_value(text: &str) -> Option<(String, usize)> {
    let is_quoted = text.starts_with('\'');
    let mut value = String::new();
    let mut characters = text.char_indices().skip(usize::from(is_quoted));
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => value.extend(characters.next().map(|(_, next)| next)),
            '\'' if is_quoted => return Some((value, at + 1)),
            _ if !is_quoted && character.is_whitespace() => return Some((value, at)),
            _ => value.push(character),
        }
    }
    (!is_quoted).then_some((value, text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, rest: &str, encryption: &[(&str, &str)]) {
        let parts = split(text).unwrap();
        assert_eq!(parts.rest.trim_end(), rest, "{text}");
        let expected: Vec<_> =
            encryption.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        assert_eq!(parts.encryption, expected, "{text}");
    }

    #[test]
    fn words_are_taken_out() {
        check("", "", &[]);
        check("host=db dbname=shop", "host=db dbname=shop", &[]);
        check("sslmode=require host=db", "host=db", &[("sslmode", "require")]);
        check(
            "host = db sslrootcert = '/a b/it\\'s.pem' user='sslmode=disable' sslmode=verify-ca",
            "host = db user='sslmode=disable'",
            &[("sslrootcert", "/a b/it's.pem"), ("sslmode", "verify-ca")],
        );
        check("sslcert=a\\ b sslkey=c", "", &[("sslcert", "a b"), ("sslkey", "c")]);
        check("host=db sslnegotiation=direct", "host=db sslnegotiation=direct", &[]);
        check("requiressl=1", "", &[("requiressl", "1")]);
    }

    #[test]
    fn parameters_of_a_url_are_taken_out() {
        check("postgresql://db/shop", "postgresql://db/shop", &[]);
        check(
            "postgres://db/shop?sslmode=require",
            "postgres://db/shop",
            &[("sslmode", "require")],
        );
        check(
            "postgresql://a:b?c@db/shop?host=/run&sslrootcert=%2Fa%20b&user=x",
            "postgresql://a:b?c@db/shop?host=/run&user=x",
            &[("sslrootcert", "/a b")],
        );
        check(
            "postgresql://db?sslmode=disable&sslmode=prefer",
            "postgresql://db",
            &[("sslmode", "disable"), ("sslmode", "prefer")],
        );
    }

    #[test]
    fn what_is_no_connection_string_has_no_parts() {
        assert_eq!(split("shop"), None);
        assert_eq!(split("host='db"), None);
        assert_eq!(split("postgresql://db?sslcert=%ff"), None);
    }
}
