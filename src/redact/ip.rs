//! Which network addresses stand in a text?

use std::ops::Range;

use super::boundary::{after, before, ends_at, is_fraction, is_of_word, places};
use super::label::{OF_OTHER_THINGS, is_labelled};

/// Longest IPv6 address.
const LONGEST: usize = 39;

/// Words of which one stands before an address, in small letters.
const LABELS: &[&str] = &["ip", "ipv6", "inet6", "addr", "address", "adresse", "host", "client"];

/// The IPv4 and IPv6 addresses in `text` that may be somebody's: not those of each machine to itself, and no masks.
pub fn ips(text: &str, interrupt: &mut dyn FnMut()) -> Vec<Range<usize>> {
    let may_begin = |byte: u8| byte.is_ascii_hexdigit() || byte == b':';
    let mut over = 0;
    let found = places(text, may_begin, interrupt).filter_map(|at| {
        let is_begun = at < over || before(text, at).is_some_and(is_of_word);
        let range = if is_begun { None } else { ipv4(text, at).or_else(|| ipv6(text, at)) };
        over = range.as_ref().map_or(over, |range| range.end);
        range
    });
    found.collect()
}

fn ipv4(text: &str, at: usize) -> Option<Range<usize>> {
    let length =
        text[at..].bytes().take(16).take_while(|it| it.is_ascii_digit() || *it == b'.').count();
    let said = text[at..at + length].trim_end_matches('.');
    let range = at..at + said.len();
    let octet = |part: &str| match part {
        "0" => Some(0),
        part if part.starts_with('0') => None,
        part => part.parse::<u8>().ok(),
    };
    let octets: Option<Vec<u8>> = said.split('.').map(octet).collect();
    let is_own = matches!(octets?.as_slice(), [0 | 127 | 255, ..] | [169, 254, ..] | [_, 0, 0, 0])
        || said.split('.').count() != 4;
    let is_own = is_own || is_fraction(text, at);
    let is_other = is_own || follows_program(text, at) || is_labelled(text, at, OF_OTHER_THINGS);
    (!is_other && is_whole(text, range.end)).then_some(range)
}

/// Whether the name of a program stands before its version: `Chrome/120.0.6099.71`.
fn follows_program(text: &str, at: usize) -> bool {
    let mut before = text[..at].chars().rev();
    matches!(before.next(), Some('/' | '-' | '_')) && before.next().is_some_and(char::is_alphabetic)
}

/// Whether nothing behind the byte `end` makes more than an address of what stands before it. A port may follow, or
/// the other end of a range.
fn is_whole(text: &str, end: usize) -> bool {
    let more = text[end..].strip_prefix('.').and_then(|rest| rest.chars().next());
    ends_at(text, end) && !more.is_some_and(|c| c.is_ascii_digit())
}

/// Whether a colon before the byte `at` is part of what stands there: of a path, a time or a longer address, and not of
/// a label such as `ip:`.
fn follows_group(text: &str, at: usize) -> bool {
    let Some(head) = text[..at].strip_suffix(':') else { return false };
    let word = head.chars().rev().take(16).take_while(|c| is_of_word(*c));
    head.ends_with(':')
        || !head.is_empty()
            && word.clone().count() > 0
            && word.into_iter().all(|c| c.is_ascii_hexdigit())
}

fn ipv6(text: &str, at: usize) -> Option<Range<usize>> {
    if follows_group(text, at) {
        return None;
    }
    let is_part = |byte: &u8| byte.is_ascii_hexdigit() || *byte == b':';
    let length = text[at..].bytes().take(LONGEST + 1).take_while(is_part).count();
    let mut said = &text[at..at + length];
    if said.ends_with(':') && !said.ends_with("::") {
        said = &said[..said.len() - 1];
    }
    let end = at + said.len();
    let tail = text[end..].bytes().take(12).take_while(|it| it.is_ascii_digit() || *it == b'.');
    if tail.filter(|byte| *byte == b'.').count() > 2 {
        return with_ipv4_tail(text, at, said);
    }
    let goes_on = after(text, end).is_some_and(is_of_word);
    let is_address = || is_ipv6(said, || is_labelled(text, at, LABELS));
    (!goes_on && is_address()).then_some(at..end)
}

/// An address whose last two groups are written as an IPv4 address: `::ffff:203.0.113.9`.
fn with_ipv4_tail(text: &str, at: usize, said: &str) -> Option<Range<usize>> {
    let (head, _) = said.rsplit_once(':')?;
    let tail = ipv4(text, at + head.len() + 1)?;
    is_ipv6(&format!("{head}:0:0"), || true).then_some(at..tail.end)
}

/// Whether it is an address, and one that nothing else looks like: `abc::def` is a path in C++. Of one or two groups one
/// has to be full, as the first one of each network is, unless a label says that it is an address.
fn is_ipv6(text: &str, is_labelled: impl FnOnce() -> bool) -> bool {
    let groups = |part: &str| match part {
        "" => Some(0),
        part => {
            let is_group = |group: &str| (1..=4).contains(&group.len());
            part.split(':').all(is_group).then(|| part.split(':').count())
        }
    };
    let count = match text.split_once("::") {
        None => groups(text).filter(|count| *count == 8),
        Some((left, right)) => groups(left)
            .zip(groups(right))
            .map(|(left, right)| left + right)
            .filter(|count| *count < 8),
    };
    let is_clear = |count: usize| {
        count > 2 || text.split(':').any(|group| group.len() == 4) || count > 0 && is_labelled()
    };
    text != "::1" && text.bytes().any(|byte| byte.is_ascii_digit()) && count.is_some_and(is_clear)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::find::tests::check_rule;

    #[test]
    fn addresses_are_found() {
        let check = |text, expected: &[&str]| check_rule(ips, text, expected);
        check(
            "from 10.1.2.3, 203.0.113.9:8080 and 192.168.0.1/24.",
            &["10.1.2.3", "203.0.113.9", "192.168.0.1"],
        );
        check("http://10.1.2.3/x", &["10.1.2.3"]);
        check("[2001:db8::8a2e:370:7334]:443", &["2001:db8::8a2e:370:7334"]);
        check("at fe80::1ff:fe23:4567:890a: up", &["fe80::1ff:fe23:4567:890a"]);
        check(
            "2001:0db8:85a3:0000:0000:8a2e:0370:7334",
            &["2001:0db8:85a3:0000:0000:8a2e:0370:7334"],
        );
        check("client_ip:203.0.113.9, x:[10.1.2.3]", &["203.0.113.9", "10.1.2.3"]);
        check("inet addr:192.168.1.5", &["192.168.1.5"]);
        check("::ffff:203.0.113.9", &["::ffff:203.0.113.9"]);
        check("64:ff9b::192.0.2.33.", &["64:ff9b::192.0.2.33"]);
        check("2600::1234, fe80::1%eth0", &["2600::1234", "fe80::1"]);
        check("ip:2001:db8::1, ip: 1::2", &["2001:db8::1", "1::2"]);
        check("10.1.2.3-10.1.2.9", &["10.1.2.3", "10.1.2.9"]);
        check("地址10.1.2.3。", &["10.1.2.3"]);
    }

    #[test]
    fn versions_times_and_paths_are_none() {
        for text in [
            "127.0.0.1",
            "0.0.0.0",
            "255.255.255.0",
            "::1",
            "::",
            "12:34:56",
            "std::vec",
            "abc::def",
            "fe::ad",
            "00:1a:2b:3c:4d:5e",
            "version 1.2.3.4",
            "v1.2.3.4",
            "Chrome/120.0.6099.71",
            "1.2.3",
            "1.2.3.4.5",
            "10.0.19041.1",
            "1.02.3.4",
            "a::b::c",
            "1:2:3:4:5:6:7",
            "Chrome/120.0.0.0",
            "10.0.0.0",
            "libx-1.2.3.4",
            "169.254.169.254",
            "1::2",
            "x1.2.3.4",
            "f64::add",
            "crate::a1::b2",
            "ip ::1",
            "::ffff:127.0.0.1",
        ] {
            check_rule(ips, text, &[]);
        }
        check_rule(ips, &"a:".repeat(10_000), &[]);
        check_rule(ips, &"1.".repeat(10_000), &[]);
    }
}
