//! Characters of a text that comes as bytes, a token at a time.

/// Takes the whole characters from the front of `bytes`; what can become none is U+FFFD.
pub(super) fn whole_characters(bytes: &mut Vec<u8>) -> String {
    let mut text = String::new();
    let mut at = 0;
    for chunk in bytes.utf8_chunks() {
        text += chunk.valid();
        at += chunk.valid().len();
        let invalid = chunk.invalid();
        let may_go_on = at + invalid.len() == bytes.len() && is_begun(invalid);
        if !invalid.is_empty() && !may_go_on {
            text.push(char::REPLACEMENT_CHARACTER);
            at += invalid.len();
        }
    }
    bytes.drain(..at);
    text
}

/// Whether `bytes` begin a character that has more bytes than these.
fn is_begun(bytes: &[u8]) -> bool {
    let Err(error) = std::str::from_utf8(bytes) else { return false };
    error.error_len().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_come_whole() {
        let mut bytes = Vec::new();
        let mut text = String::new();
        for byte in "aé€😀".bytes() {
            bytes.push(byte);
            text += &whole_characters(&mut bytes);
            assert!(text.is_empty() || "aé€😀".starts_with(text.as_str()), "{text}");
        }
        assert_eq!(text, "aé€😀");
        let mut broken = b"a\xe2\x82b\xff\xf0\x9f".to_vec();
        assert_eq!(whole_characters(&mut broken), "a\u{fffd}b\u{fffd}");
        assert_eq!(broken, b"\xf0\x9f");
    }
}
