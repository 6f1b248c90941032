//! Which e-mail addresses stand in a text?

use std::ops::Range;

use super::boundary::{is_mark, places};
use crate::text::bigram::is_unspaced;

/// Most characters before and behind the sign, as SMTP has it.
const LONGEST_LOCAL: usize = 64;
const LONGEST_DOMAIN: usize = 255;

/// The e-mail addresses of `text`.
pub fn emails(text: &str, interrupt: &mut dyn FnMut()) -> Vec<Range<usize>> {
    places(text, |byte| matches!(byte, b'@' | b'%'), interrupt)
        .filter_map(|at| around(text, at))
        .collect()
}

/// The address whose sign is at the byte `at`; in addresses of the web it may be written `%40`.
fn around(text: &str, at: usize) -> Option<Range<usize>> {
    let sign = if text[at..].starts_with("%40") { "%40" } else { "@" };
    let is_local = |c: &char| is_letter(*c) || "._%+-'".contains(*c);
    let local: usize =
        text[..at].chars().rev().take_while(is_local).take(LONGEST_LOCAL).map(char::len_utf8).sum();
    let local = &text[at - local..at];
    let local = local.trim_start_matches(|c: char| !c.is_alphanumeric());
    let is_domain = |c: &char| is_letter(*c) || ".-".contains(*c);
    let rest = text[at..].strip_prefix(sign)?;
    let domain: usize =
        rest.chars().take_while(is_domain).take(LONGEST_DOMAIN).map(char::len_utf8).sum();
    let domain = domain_name(&rest[..domain])?;
    let is_address = !local.is_empty() && !local.ends_with('.');
    is_address.then(|| at - local.len()..at + sign.len() + domain.len())
}

/// The longest beginning of `text` that is a domain name: behind it may stand the end of a sentence, a date or the name
/// of a file.
fn domain_name(text: &str) -> Option<&str> {
    let ends = text.match_indices(['.', '-']).map(|(place, _)| place).chain([text.len()]);
    let ends: Vec<usize> = ends.collect();
    let mut beginnings = ends.into_iter().rev().map(|end| &text[..end]);
    beginnings.find(|it| is_domain_name(it))
}

fn is_letter(c: char) -> bool {
    (c.is_alphanumeric() || is_mark(c)) && !is_unspaced(c)
}

/// Whether it has a top-level domain, which is no number: `package@1.2.3` is a version.
fn is_domain_name(domain: &str) -> bool {
    let labels = || domain.split('.');
    let is_label =
        |label: &str| !label.is_empty() && !label.starts_with('-') && !label.ends_with('-');
    let is_top = |label: &str| {
        label.chars().count() >= 2 && label.chars().all(char::is_alphabetic)
            || label.starts_with("xn--")
    };
    labels().count() > 1 && labels().all(is_label) && labels().next_back().is_some_and(is_top)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::find::tests::check_rule;

    #[test]
    fn addresses_are_found() {
        let check = |text, expected: &[&str]| check_rule(emails, text, expected);
        check("Write to anna.b+x@mail.example.com.", &["anna.b+x@mail.example.com"]);
        check("<o'neil@x-y.org>, 'z@b.de'", &["o'neil@x-y.org", "z@b.de"]);
        check("mailto:jürgen@müller.de?x", &["jürgen@müller.de"]);
        check("请联系anna@example.cn，谢谢", &["anna@example.cn"]);
        check("a@b.co,c@d.xn--p1ai", &["a@b.co", "c@d.xn--p1ai"]);
        check("?to=anna%40example.com&x", &["anna%40example.com"]);
        for beside in ["...then", "-2024-01-15", ".2nd", ". Please", "-", ".1", "--x"] {
            let text = format!("anna@example.com{beside}");
            check_rule(emails, &text, &["anna@example.com"]);
        }
        // These might be domains, and are replaced whole.
        for whole in ["anna@example.com.Please", "anna@example.com-2024-01-15.log"] {
            check_rule(emails, whole, &[whole]);
        }
    }

    #[test]
    fn what_only_has_the_sign_is_none() {
        let check = |text| check_rule(emails, text, &[]);
        for text in [
            "@app.route('/x')",
            "user@host",
            "react@18.2.0",
            "a @ b.com",
            "x@",
            "@",
            "@@",
            "@scope/pkg",
            "a@-b.com",
            "a@b-.com",
            "a@b..com",
            "a.@b.com",
            "a@b.c",
            "SELECT '{}'::jsonb @> '{}'",
        ] {
            check(text);
        }
        check(&"@".repeat(10_000));
    }
}
