//! # release: does this line name the release that what stands below it is of?
//!
//! ```text
//! "2.3.0 (2024-11-05)", "Version 4.8 from 15.05.2024", "Amber 4.8 – 3 May", "pump (1.2-3) unstable; urgency=low" → yes;  "2.1 Setup" → no
//! ```
//!
//! Plain text has no sign for headings, and a line with a number is none of words. So one that is a release is taken for a heading
//! if another one is, or a list stands below it: a line on the title page of a handbook is not.

use std::borrow::Cow;
use std::ops::Range;

use super::answer_type::{is_time, is_version};
use super::blocks::{BlockKind, TextBlock};
use super::fact_lines::lines;
use super::when::is_date;
use crate::text::length::is_within;
use crate::text::word_list::list_has;
use crate::text::words::{Word, words};

/// Words of the longest name of a product, and the [`length`](crate::text::length) of the longest line.
const MOST_NAME_WORDS: usize = 2;
const LONGEST_LINE: usize = 100;

/// Lines of a Debian changelog in which the day of an entry is looked for.
const LONGEST_ENTRY: usize = 500;

/// What releases are called, beside words for versions; of Chinese and Japanese, all characters.
const RELEASE_NAMES: &str = "release rel ver v ausgabe fassung édition edición edizione edição uitgave wydanie выпуск релиз \
    バージョン リリース 版本 第 版 버전 릴리스 릴리즈 إصدار الإصدار phiênbản";

/// What stands beside versions and dates, and names nothing else.
const BESIDE: &str = "of from on at since released unreleased beta alpha rc preview lts stable final hotfix patch build yanked snapshot \
    vom von am veröffentlicht unveröffentlicht du le de publiée publié del di do da em op van uit z dnia от с выпущена року від \
    日 版 发布 發布 リリース 공개 일 \
    jan feb mar apr jun jul aug sep sept oct nov dec mär okt dez mon tue wed thu fri sat sun";

/// Whether a heading of these words is a version or a date, with no word before it but one for a version ("Version 2.3.0"), or the
/// name of a product with its version and a date ("Amber 4.8, 15 May 2024").
pub(super) fn is_release(heading: &[Word]) -> bool {
    let Some((named, said)) = parts(heading) else { return false };
    let has_number = || said.iter().any(|it| it.folded.contains('.'));
    let is_product = || named.len() <= MOST_NAME_WORDS && is_version_number(&said[0]);
    match named.is_empty() || names_version(named) {
        true => said.iter().any(is_day) || has_number(),
        false => is_product() && said[1..].iter().any(is_day),
    }
}

/// The lines of prose that name the release of what stands below them, in order.
pub(super) fn release_lines(content: &str, blocks: &[TextBlock]) -> Vec<Range<usize>> {
    let mut found: Vec<(Range<usize>, bool)> = Vec::new();
    for (at, block) in blocks.iter().enumerate().filter(|(_, it)| it.kind == BlockKind::Prose) {
        let start = block.range.start;
        for line in lines(&content[block.range.clone()]) {
            let line = start + line.start..start + line.end;
            let Some(is_dated) = dated_release(&content[line.clone()]) else { continue };
            let mut below = content[line.end..].lines().map(str::trim);
            // A list of versions has no lines below each.
            let is_above =
                below.find(|it| !it.is_empty()).is_some_and(|it| dated_release(it).is_none());
            if is_above && (is_dated || line.start == start) {
                let next = blocks.get(at + 1).filter(|_| line.end == block.range.end);
                found.push((line, next.is_some_and(|it| it.kind == BlockKind::Item)));
            }
        }
    }
    let are_several = found.len() > 1;
    found.into_iter().filter(|(_, is_sure)| are_several || *is_sure).map(|(line, _)| line).collect()
}

/// The heading at `range` of `content`; one of a Debian changelog with its name, its version and the day that stands below.
pub(super) fn release_name<'a>(content: &'a str, range: &Range<usize>) -> Cow<'a, str> {
    let heading = &content[range.clone()];
    match debian_release(heading) {
        None => Cow::Borrowed(heading),
        Some(named) => match debian_day(&content[range.end..]) {
            Some(day) => Cow::Owned(format!("{named}, {day}")),
            None => Cow::Borrowed(named),
        },
    }
}

/// Whether `line`, which names a release by its version, has a date or is above one; `None` where it names none.
fn dated_release(line: &str) -> Option<bool> {
    let line = line.trim_end_matches([':', '*', '_']);
    let is_line = is_within(line, LONGEST_LINE)
        && line.contains(|c: char| c.is_ascii_digit())
        && !line.ends_with(['.', ',', ';', '!', '?', '。']);
    if !is_line {
        return None;
    }
    if debian_release(line).is_some() {
        return Some(true);
    }
    let words = words(line);
    let (named, said) = parts(&words)?;
    let (number, others) = said.split_first()?;
    let is_dated = others.iter().any(is_day);
    let is_named = names_version(named) && number.is_number && !is_day(number);
    let is_marked = number.folded.starts_with('v') || number.folded.matches('.').count() > 1;
    let is_number = is_named || is_version_number(number) && (is_marked || is_dated);
    (is_number && is_release(&words)).then_some(is_dated)
}

/// The words before the first number or date of a heading, and the others; `None` where these are more than numbers, dates and
/// what stands beside them.
fn parts(heading: &[Word]) -> Option<(&[Word], &[Word])> {
    let tells = |it: &Word| it.is_number || is_time(it);
    let (named, said) = heading.split_at(heading.iter().position(tells)?);
    said.iter().all(|it| tells(it) || list_has(BESIDE, &it.folded)).then_some((named, said))
}

/// Whether nothing but a word for a version is named.
fn names_version(named: &[Word]) -> bool {
    let name: String = named.iter().map(|it| it.folded.as_str()).collect();
    matches!(named, [only] if is_version(only)) || list_has(RELEASE_NAMES, &name)
}

fn is_version_number(word: &Word) -> bool {
    let number = word.folded.strip_prefix('v').unwrap_or(&word.folded);
    number.starts_with(|c: char| c.is_ascii_digit()) && number.contains('.') && !is_date(number)
}

fn is_day(word: &Word) -> bool {
    is_time(word) || is_date(&word.folded)
}

/// The package with its version, if `line` begins an entry of a Debian changelog: "pump (1.2-3) unstable; urgency=low".
fn debian_release(line: &str) -> Option<&str> {
    let (named, rest) = line.split_once(") ")?;
    let (package, version) = named.split_once(" (")?;
    let is_name = |it: &str| {
        let is_of_one = |c: char| c.is_ascii_alphanumeric() || "+-.~:".contains(c);
        it.starts_with(|c: char| c.is_ascii_alphanumeric()) && it.chars().all(is_of_one)
    };
    let is_entry = is_name(package)
        && is_name(version)
        && rest.split_once(';').is_some_and(|(_, it)| it.trim_start().starts_with("urgency="));
    is_entry.then(|| &line[..named.len() + 1])
}

/// The day of an entry, which stands `below` its line, behind who has made it: "-- Ada <ada@example.org>  Sun, 18 Feb 2024 21:07:44 +0100".
fn debian_day(below: &str) -> Option<&str> {
    let lines = below.lines().take(LONGEST_ENTRY).map(str::trim);
    let mut of_entry = lines.take_while(|it| debian_release(it).is_none());
    let signed = of_entry.find_map(|line| line.strip_prefix("-- "))?;
    let (_, time) = signed.split_once('>')?;
    let (day, _) = time.split_once(':')?;
    Some(day.rsplit_once(' ')?.0.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::blocks::blocks;

    #[test]
    fn a_version_or_a_date_is_told_from_other_headings() {
        for heading in [
            "[2.3.0] - 2024-11-05",
            "Version 2.3.0",
            "5.1.0 (12 décembre 2024)",
            "March 2024",
            "v1.2 – 3 May",
            "2.3.0 (unreleased)",
            "Версия 4.8 от 15.05.2024",
            "バージョン 2.6.0(2024年9月3日)",
            "版本 2.6",
            "Amber 4.8 – Sun, 18 Feb 2024",
        ] {
            assert!(is_release(&words(heading)), "{heading}");
        }
        for heading in [
            "",
            "Added",
            "Annual report 2023",
            "2.1 Installation",
            "3",
            "Step 2",
            "Error 1045",
            "Section 3.1",
            "Amber 4.8",
            "Amber 4.8 in May 2024",
            "Our new Amber 4.8 (May 2024)",
        ] {
            assert!(!is_release(&words(heading)), "{heading}");
        }
    }

    /// The lines of `content` that are taken for headings.
    fn read(content: &str) -> Vec<&str> {
        let found = release_lines(content, &blocks(content));
        found.into_iter().map(|it| &content[it]).collect()
    }

    #[test]
    fn lines_of_releases_are_told_by_what_stands_below_and_beside_them() {
        for line in [
            "Версия 4.8 от 15.05.2024",
            "Version 2.3 (2024-05-01)",
            "**Version 5.0:**",
            "v1.2 – 3 May",
            "1.2.3",
            "4.8 (May 2024)",
            "Amber 4.8 – 15 May 2024",
            "pump (1.2-3) unstable; urgency=medium",
        ] {
            assert_eq!(read(&format!("{line}\n\n- Less noise.")), [line]);
            assert_eq!(read(&format!("{line}\n- Less noise.")), [line]);
            let two = format!("{line}\nLess noise.\n\n{line}\n\nMore of it.");
            assert_eq!(read(&two), [line, line]);
            assert_eq!(read(&format!("{line}\n\nThis handbook is for all.")), [""; 0], "{line}");
            assert_eq!(read(line), [""; 0], "{line}");
        }
        assert_eq!(
            read("1.1 (May 2024)\nLess noise.\n1.0 (April 2024)\nBegun."),
            ["1.1 (May 2024)", "1.0 (April 2024)"]
        );
    }

    #[test]
    fn other_lines_with_numbers_are_no_releases() {
        for line in [
            "3.2",
            "2024",
            "May 2024",
            "15.05.2024",
            "2.1 Setup",
            "Room 2.14",
            "Version 2.3 is out.",
            "We like version 2.3 (2024-05-01)",
            "Price 4.50",
            "9.30–12.30",
        ] {
            let list = format!("{line}\n\n- One\n\n{line}\n\n- Two");
            assert_eq!(read(&list), [""; 0], "{line}");
        }
        assert_eq!(read("1.2.3\n1.2.2\n1.2.1\n\nAsk us for others."), [""; 0]);
        let wrapped = "What was known before is in\n2.3.0\nand in\n2.4.0\nas well.";
        assert_eq!(read(wrapped), [""; 0]);
    }

    #[test]
    fn the_day_of_an_entry_stands_below_it() {
        let entry = |name: &str, day: &str| {
            format!(
                "{name} unstable; urgency=low\n\n  * Less noise.\n\n -- Ada <ada@example.org>  {day} 21:07:44 +0100\n\n"
            )
        };
        let content = entry("pump (1.2-3)", "Sun, 18 Feb 2024")
            + "pump (1.2-2) unstable; urgency=low\n\n  * Begun.";
        let said = |name: &str| {
            let start = content.find(name).expect("an entry");
            let end = content[start..].find('\n').map_or(content.len(), |it| start + it);
            release_name(&content, &(start..end)).into_owned()
        };
        assert_eq!(said("pump (1.2-3)"), "pump (1.2-3), Sun, 18 Feb 2024");
        assert_eq!(said("pump (1.2-2)"), "pump (1.2-2)");
        assert_eq!(said("* Begun."), "* Begun.");
    }
}
