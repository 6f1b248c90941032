//! Which words of a connection string are about encryption?
//!
//! The driver knows `sslmode` with three values and refuses a string with `sslrootcert`. So the words are taken out
//! before it reads the rest. What it would read otherwise than libpq is written so that both read the same.

use percent_encoding::percent_decode_str;

/// A connection string in two parts.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// What the driver reads.
    pub rest: String,
    /// The parameters `ssl...`, in their order, each with its value.
    pub encryption: Vec<(String, String)>,
}

/// Takes the parameters whose names begin with `ssl` out of a URL or of `name=value` words. Nothing is returned for what
/// is neither, nor for a URL in which such a parameter stands where a role or a host should be.
pub fn split(text: &str) -> Option<Parts> {
    let is_url = ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme));
    if is_url { of_url(text) } else { of_words(text) }
}

fn is_about_encryption(name: &str) -> bool {
    name.starts_with("ssl") || name == "requiressl"
}

fn of_url(text: &str) -> Option<Parts> {
    let start = text.find("://")? + "://".len();
    // As for libpq a role and a password end with the first @ before any slash, and may have a question mark.
    let host = match text[start..].find(['@', '/']).map(|at| start + at) {
        Some(at) if text[at..].starts_with('@') => at + 1,
        _ => start,
    };
    let query = text[host..].find('?').map_or(text.len(), |at| host + at);
    let (credentials, place) = (&text[..host], &text[host..query]);
    let is_lost = |text: &str, ends: &[char]| {
        let mut names = text.split(ends).filter_map(|word| word.split_once('='));
        names.any(|(name, _)| decoded(name).is_some_and(|name| is_about_encryption(&name)))
    };
    if is_lost(credentials, &['?', '&']) || is_lost(place, &['/', ':', '&']) {
        return None;
    }
    let mut kept = Vec::new();
    let mut encryption = Vec::new();
    for parameter in text.get(query + 1..).unwrap_or_default().split('&') {
        match parameter.split_once('=') {
            Some((name, value)) if is_about_encryption(&decoded(name)?) => {
                encryption.push((decoded(name)?, decoded(value)?));
            }
            _ => kept.push(parameter),
        }
    }
    let kept = kept.join("&");
    let separator = if kept.is_empty() { "" } else { "?" };
    // For the driver a role ends with the first @, wherever it stands.
    let rest = format!("{place}{separator}{kept}").replace('@', "%40");
    Some(Parts { rest: format!("{credentials}{rest}"), encryption })
}

fn decoded(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(String::from)
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
        check("host=db sslnegotiation=direct", "host=db", &[("sslnegotiation", "direct")]);
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
    fn a_role_ends_with_the_at_before_the_first_slash() {
        check(
            "postgresql://db/shop?sslmode=verify-full&user=a@b",
            "postgresql://db/shop?user=a%40b",
            &[("sslmode", "verify-full")],
        );
        check(
            "postgresql://reader@db/a@b?sslmode=require&sslcert=/c@d",
            "postgresql://reader@db/a%40b",
            &[("sslmode", "require"), ("sslcert", "/c@d")],
        );
        check(
            "postgresql:///shop?user=a@b&sslkey=",
            "postgresql:///shop?user=a%40b",
            &[("sslkey", "")],
        );
        let config =
            |text| -> tokio_postgres::Config { split(text).unwrap().rest.parse().unwrap() };
        let read = config("postgresql://db/shop?sslmode=verify-full&user=a@b");
        assert_eq!(read.get_hosts(), [tokio_postgres::config::Host::Tcp("db".to_owned())]);
        assert_eq!((read.get_user(), read.get_dbname()), (Some("a@b"), Some("shop")));
        let read = config("postgresql://a:b?c@db/shop?sslmode=verify-full");
        assert_eq!((read.get_user(), read.get_password()), (Some("a"), Some(&b"b?c"[..])));
        // A password may be anything else.
        check("postgresql://a:ssl=%ff@db", "postgresql://a:ssl=%ff@db", &[]);
    }

    #[test]
    fn no_word_about_encryption_gets_lost() {
        for text in [
            "postgresql://db?sslmode=verify-full&user=a@b",
            "postgresql://db?user=a&sslmode=verify-full&user=a@b/shop",
            "postgresql://db?ssl%6dode=verify-full&user=a@b",
            "postgresql://a:b@db/shop&sslmode=verify-full",
            "postgresql://a:b@db:5432&sslmode=verify-full",
            "postgresql://a:b@db/sslmode=verify-full",
        ] {
            assert_eq!(split(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_connection_string_has_no_parts() {
        assert_eq!(split("shop"), None);
        assert_eq!(split("host='db"), None);
        assert_eq!(split("postgresql://db?sslcert=%ff"), None);
    }
}
