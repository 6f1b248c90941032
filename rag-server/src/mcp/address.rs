//! Addresses of pipelines and documents: `rag://pipeline` and `rag://pipeline/key`. A key may be empty, so the slash is what
//! tells `rag://pipeline/`, a document, from its pipeline.

use std::fmt;

use crate::failure::Failure;

/// What an address names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A pipeline, by its name.
    Pipeline(String),
    /// A document: the pipeline, and the key as `source_key` has it.
    Document(String, String),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pipeline(name) => write!(f, "rag://{}", encode(name)),
            Self::Document(name, key) => write!(f, "rag://{}/{}", encode(name), encode(key)),
        }
    }
}

impl Address {
    /// Reads an address.
    pub fn parse(uri: &str) -> Result<Self, Failure> {
        let wrong = || {
            Failure::request(format!("{uri:?} is no address of a document"))
                .hint("addresses are like rag://pipeline/key; search gives them")
        };
        let path = uri.strip_prefix("rag://").ok_or_else(wrong)?;
        let (name, key) = match path.split_once('/') {
            // The key of a row may be empty.
            Some((name, key)) => (name, Some(key)),
            None => (path, None),
        };
        let name = decode(name).filter(|name| !name.is_empty()).ok_or_else(wrong)?;
        Ok(match key {
            Some(key) => Self::Document(name, decode(key).ok_or_else(wrong)?),
            None => Self::Pipeline(name),
        })
    }
}

/// Every byte that is not unreserved as %XX.
fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        if first == b'%' {
            let digits =
                after.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
            let digits = std::str::from_utf8(digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, key: &str, uri: &str) {
        let address = Address::Document(name.to_owned(), key.to_owned());
        assert_eq!(address.to_string(), uri);
        assert_eq!(Address::parse(uri).unwrap(), address);
    }

    #[test]
    fn any_name_and_key_come_back() {
        check("docs", "2", "rag://docs/2");
        check("a/b", "x/y z%", "rag://a%2Fb/x%2Fy%20z%25");
        check("größe", "{\"a\": 1}", "rag://gr%C3%B6%C3%9Fe/%7B%22a%22%3A%201%7D");
        check("docs", "..", "rag://docs/..");
        check("docs", "a/../b", "rag://docs/a%2F..%2Fb");
        check("docs", "/", "rag://docs/%2F");
        check("docs", "%2F", "rag://docs/%252F");
        check("docs", "a+b?c#d&e", "rag://docs/a%2Bb%3Fc%23d%26e");
        check("東京", "№ 1\n", "rag://%E6%9D%B1%E4%BA%AC/%E2%84%96%201%0A");
        check("docs", "", "rag://docs/");
        for (name, uri) in [("docs", "rag://docs"), ("a/b", "rag://a%2Fb"), ("..", "rag://..")] {
            let address = Address::Pipeline(name.to_owned());
            assert_eq!(address.to_string(), uri);
            assert_eq!(Address::parse(uri).unwrap(), address);
        }
    }

    #[test]
    fn what_a_client_has_not_encoded_is_read_too() {
        let read = |uri: &str| Address::parse(uri).unwrap();
        let document = |key: &str| Address::Document("größe".to_owned(), key.to_owned());
        assert_eq!(read("rag://größe/a/../b c"), document("a/../b c"));
        assert_eq!(read("rag://gr%c3%b6%c3%9fe/%2e."), document(".."));
        assert_eq!(read("rag://größe//"), document("/"));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for uri in
            ["", "docs/2", "http://docs/2", "rag://", "rag:///2", "rag://a%2/1", "rag://%FF/1"]
        {
            assert_eq!(Address::parse(uri).unwrap_err().status, 400, "{uri}");
        }
    }
}
