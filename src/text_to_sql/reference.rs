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

/// The bytes of the name at the beginning of `text`, its quotes among them; `None` where there is none.
#[must_use]
pub fn name_length(text: &str) -> Option<usize> {
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

/// Whether `sql` compares these two references, as [`bare`] has them, by an equals sign.
#[must_use]
pub fn are_equated(sql: &str, [one, other]: &[String; 2]) -> bool {
    sql.match_indices('=').any(|(at, _)| {
        let left = operand_before(&sql[..=at]).map(|from| bare(sql[from..at].trim()));
        let behind = sql[at + 1..].trim_start();
        let right = length(behind).map(|end| bare(&behind[..end]));
        let (Some(left), Some(right)) = (left, right) else { return false };
        left == *one && right == *other || left == *other && right == *one
    })
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

    #[test]
    fn what_an_equals_sign_compares_is_found() {
        let check = |sql: &str, expected: bool| {
            let sides = ["a.id", "b.a_id"].map(str::to_owned);
            assert_eq!(are_equated(sql, &sides), expected, "{sql}");
        };
        check("ON a.id = b.a_id", true);
        check("ON true AND B.\"a_id\"=a . id", true);
        check("WHERE b.a_id=A.id", true);
        check("ON a.id <= b.a_id", false);
        check("ON a.id = b.id AND x = b.a_id", false);
    }
}
