//! Where does a text have escapes of strings in it?

use std::borrow::Cow;

use super::boundary::places;

/// Letters that a backslash makes something else, in JSON and most languages of programs.
const ESCAPED: &[u8] = b"nrtbf\"/";

/// `text`, byte by byte in the same places, without its escapes: a line break stands where one is meant, so the letter
/// of an escape is part of no word. A text is often a document of JSON or a part of it. No escape becomes what a value
/// may have, so a value that is found stands in `text` as it is. `interrupt` is called every 4 KiB, and may unwind.
pub fn unescaped<'text>(text: &'text str, interrupt: &mut dyn FnMut()) -> Cow<'text, str> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut over = 0;
    for at in places(text, |byte| byte == b'\\', interrupt) {
        if at < over {
            continue;
        }
        // A document within a document has several.
        let signs = text[at..].bytes().take_while(|byte| *byte == b'\\').count();
        over = at + signs;
        let Some((meant, length)) = meaning(&text.as_bytes()[over..]) else { continue };
        if bytes.is_empty() {
            bytes = text.as_bytes().to_vec();
        }
        bytes[at..over + length].fill(meant);
        over += length;
    }
    match String::from_utf8(bytes) {
        Ok(plain) if !plain.is_empty() => Cow::Owned(plain),
        _ => Cow::Borrowed(text),
    }
}

/// What the letter behind a backslash means that `rest` begins with, and how many bytes that has.
fn meaning(rest: &[u8]) -> Option<(u8, usize)> {
    let digits = rest.iter().skip(1).take(4).filter(|byte| byte.is_ascii_hexdigit()).count();
    match rest.first()? {
        b'n' | b'r' => Some((b'\n', 1)),
        b'"' => Some((b'"', 1)),
        b'u' if digits == 4 => Some((b'\t', 5)),
        byte if ESCAPED.contains(byte) => Some((b'\t', 1)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_no_letters() {
        let check = |text: &str, expected: &str| {
            assert_eq!(unescaped(text, &mut || {}), expected);
            assert_eq!(text.len(), expected.len());
        };
        check(r"a\nb\tc", "a\n\nb\t\tc");
        check(r#"{\"x\": 1}"#, r#"{""x"": 1}"#);
        check(r"ü\\nb", "ü\n\n\nb");
        check(r"\u00e4b \u12", "\t\t\t\t\t\tb \\u12");
        check(r"C:\x \", r"C:\x \");
        check("", "");
    }

    #[test]
    fn hostile_texts_take_no_longer() {
        let mut looks = 0;
        let _ = unescaped(&"\\".repeat(1 << 20), &mut || looks += 1);
        let _ = unescaped(&r"\n".repeat(1 << 19), &mut || looks += 1);
        assert!(looks > 100, "{looks}");
    }
}
