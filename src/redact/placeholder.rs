//! What stands for a value?

use std::fmt;

use super::PiiKind;

/// Most digits of a number: what has more is no placeholder.
const MOST_DIGITS: usize = 9;

/// What stands for a value: `[EMAIL_1]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Placeholder {
    /// What kind of value it stands for.
    pub kind: PiiKind,
    /// Which of these, from 1.
    pub number: u32,
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}_{}]", self.kind.word(), self.number)
    }
}

impl Placeholder {
    /// The placeholder with which `text` begins, and how many bytes it has.
    #[must_use]
    pub fn parse(text: &str) -> Option<(Placeholder, usize)> {
        let (kind, rest) = kind(text)?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let is_number = (1..=MOST_DIGITS).contains(&digits) && !rest.starts_with('0');
        if !is_number || !rest[digits..].starts_with(']') {
            return None;
        }
        let number = rest[..digits].parse().ok()?;
        Some((Placeholder { kind, number }, text.len() - rest.len() + digits + 1))
    }

    /// The byte behind which `text` is the beginning of a placeholder that may still be written; its length where
    /// there is none.
    #[must_use]
    pub fn unfinished(text: &str) -> usize {
        match text.rfind('[') {
            Some(place) if is_beginning(&text[place..]) => place,
            _ => text.len(),
        }
    }
}

/// The kind of the placeholder with which `text` begins, and what stands behind its underscore.
fn kind(text: &str) -> Option<(PiiKind, &str)> {
    let rest = text.strip_prefix('[')?;
    let rest_of = |kind: PiiKind| rest.strip_prefix(kind.word())?.strip_prefix('_');
    PiiKind::ALL.into_iter().find_map(|kind| Some((kind, rest_of(kind)?)))
}

/// Whether more text may make a placeholder of `text`, which begins with a bracket.
fn is_beginning(text: &str) -> bool {
    match kind(text) {
        Some((_, digits)) => {
            digits.len() <= MOST_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit())
        }
        None => PiiKind::ALL.iter().any(|kind| format!("[{}_", kind.word()).starts_with(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for kind in PiiKind::ALL {
            for number in [1, 10, 999_999_999] {
                let placeholder = Placeholder { kind, number };
                let written = placeholder.to_string();
                assert_eq!(Placeholder::parse(&written), Some((placeholder, written.len())));
                for end in 1..written.len() {
                    let text = format!("a [b] {}", &written[..end]);
                    assert_eq!(Placeholder::unfinished(&text), 6, "{text}");
                }
                let (all, rest) = (format!("{written}x]"), format!("{written} "));
                assert_eq!(Placeholder::parse(&all), Some((placeholder, written.len())));
                assert_eq!(Placeholder::unfinished(&rest), rest.len());
            }
        }
    }

    #[test]
    fn what_is_garbled_is_none() {
        for garbled in [
            "",
            "[",
            "[]",
            "[EMAIL]",
            "[EMAIL_]",
            "[EMAIL_0]",
            "[EMAIL_01]",
            "[EMAIL_1",
            "EMAIL_1]",
            "[email_1]",
            "[EMAIL 1]",
            "[EMAIL_1 ]",
            "[EMAIL_1.0]",
            "[MAIL_1]",
            "[EMAIL_1234567890]",
            "[IP_1x]",
            " [IP_1]",
            "[EMAIL_١]",
        ] {
            assert_eq!(Placeholder::parse(garbled), None, "{garbled}");
        }
        for finished in ["", "a", "[1]", "[EMAIL_1]", "[e", "[EMAIL_x", "[EMAIL_1234567890", "[I_"]
        {
            assert_eq!(Placeholder::unfinished(finished), finished.len(), "{finished}");
        }
    }
}
