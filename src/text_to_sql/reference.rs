//! Names in a query, with what qualifies them, as `o . "Total"`.

/// A reference without quotes and spaces, in lower case.
#[must_use]
pub fn bare(reference: &str) -> String {
    reference.replace(['"', ' '], "").to_lowercase()
}

/// Where the reference begins that `text` compares by an equals sign at its end; `None` where it ends otherwise.
#[must_use]
pub fn operand_before(text: &str) -> Option<usize> {
    let left = text.trim_end().strip_suffix('=')?.trim_end();
    let is_part = |c: char| c.is_alphanumeric() || "_$.\"".contains(c);
    let at = left.trim_end_matches(is_part).len();
    (at < left.len()).then_some(at)
}

/// The bytes of the name at the beginning of `text`, with what it is qualified by; `None` where there is none.
#[must_use]
pub fn length(text: &str) -> Option<usize> {
    let mut length = name_length(text)?;
    loop {
        let rest = &text[length..];
        let spaces = |text: &str| text.len() - text.trim_start().len();
        let dot = spaces(rest);
        let Some(behind) = rest[dot..].strip_prefix('.') else { return Some(length) };
        let gap = spaces(behind);
        let Some(next) = name_length(&behind[gap..]) else { return Some(length) };
        length += dot + 1 + gap + next;
    }
}

fn name_length(text: &str) -> Option<usize> {
    if let Some(quoted) = text.strip_prefix('"') {
        let mut rest = quoted.char_indices();
        while let Some((at, c)) = rest.next() {
            if c == '"' && !quoted[at + 1..].starts_with('"') {
                return Some(at + 2);
            }
            if c == '"' {
                rest.next();
            }
        }
        return None;
    }
    let begins = |c: char| c.is_alphabetic() || c == '_';
    let goes_on = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    text.starts_with(begins).then(|| text.find(|c| !goes_on(c)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_ends_where_its_name_does() {
        let check =
            |text: &str, expected: Option<usize>| assert_eq!(length(text), expected, "{text}");
        check("a.b = c", Some(3));
        check("a . \"b\"\"c\"+1", Some(10));
        check("größe,", Some(7));
        check("a.1", Some(1));
        check("\"open", None);
        check("1", None);
    }

    #[test]
    fn what_stands_before_an_equals_sign_is_found() {
        assert_eq!(operand_before("ON a.b = "), Some(3));
        assert_eq!(operand_before("x=\"A\".b="), Some(2));
        assert_eq!(operand_before("ON (a) = "), None);
        assert_eq!(operand_before("ON a.b"), None);
    }
}
