//! # when: does this text say in digits when something is?
//!
//! ```text
//! "05.11.2024", "5/11", "11月5日", "14:30", "9 Uhr", "2 pm", "8h30", "с 18 часов" → yes;  "3/4", "16:9", "за 18 часов" → no
//! ```
//!
//! Years, months and days of the week are told by single words. Digits tell of a date or a time of day by the signs between
//! them, or by what stands beside them. What may as well be how long something takes ("8 h", "18 часов") tells of a time where a
//! word such as "at" stands before it.

use crate::text::word_list::list_has;

/// Hours of a day, and minutes of an hour.
const HOURS: u32 = 24;
const MINUTES: u32 = 60;

/// Minutes to which times are rounded that are written with a point: "8.30" is none without a sign of that, "8.37" never.
const ROUNDED: u32 = 5;

/// Denominators of fractions and of ratings: "3/4", "9/10".
const DENOMINATORS: [u32; 6] = [2, 3, 4, 5, 8, 10];

/// Spaces between a number and what it counts.
pub(super) const SPACES: [char; 3] = [' ', '\u{A0}', '\u{202F}'];

/// Signs that stand for "to".
const DASHES: [char; 3] = ['-', '–', '—'];

/// What follows an hour and nothing else, without a full stop at its end.
const OF_HOURS: &str = "uhr pm p.m a.m o'clock o’clock утра вечера ночи ранку вечора बजे";

/// What follows an hour or how many of them it takes.
const HOURS_OR_LENGTHS: &str =
    "h uur heure heures hora horas часа часов часам ч година години годині годин";

/// What stands before an hour and not before a length of time.
const AT: &str = "à dès vers entre avant après jusqu'à jusqu’à às las bis ab um om tot vanaf с в до к после около со о од після";

/// What stands before an hour in English.
const AT_IN_ENGLISH: &str = "at from until till before after by to between and since";

/// What alone tells that an hour follows, without a full stop at its end.
const ALONE: &str = "الساعة الساعه saat godz godzinie godziny kl klo klokken";

/// Whether `text` has a date or a time of day in digits that `question` does not have.
pub(super) fn tells_when(text: &str, question: &str) -> bool {
    let tells = |it: &WrittenNumber| it.is_day() || it.is_time_of_day();
    WrittenNumber::all(text).any(|it| tells(&it) && !it.stands_in(question))
}

/// Whether `text` has a date in digits that `question` does not have.
pub(super) fn tells_date(text: &str, question: &str) -> bool {
    WrittenNumber::all(text).any(|it| it.is_day() && !it.stands_in(question))
}

/// Whether `digits` are a date with its year: "05.11.2024", "2024/11/05", "05.11.24".
pub(super) fn is_date(digits: &str) -> bool {
    ['.', '/', '-'].into_iter().any(|sign| {
        let parts: Vec<&str> = digits.split(sign).collect();
        let [first, second, third] = parts[..] else { return false };
        match (first.len(), second.len(), third.len()) {
            (4, ..) => is_year(first) && are_day_and_month(third, second),
            (_, _, 4) => is_year(third) && are_day_and_month(first, second),
            (2, 2, 2) => sign != '-' && are_day_and_month(first, second),
            _ => false,
        }
    })
}

/// Digits with the signs between them that dates and times have.
pub(super) struct WrittenNumber<'a> {
    /// All that stands before them.
    pub before: &'a str,
    /// The digits, with points, slashes, colons and hyphens between them.
    pub digits: &'a str,
    /// All that stands behind them.
    pub behind: &'a str,
}

impl<'a> WrittenNumber<'a> {
    /// Those of `text` that are no part of a word.
    pub fn all(text: &'a str) -> impl Iterator<Item = WrittenNumber<'a>> {
        let is_sign = |c: char| matches!(c, '.' | '/' | ':' | '-');
        let runs = text.split(move |c: char| !c.is_ascii_digit() && !is_sign(c));
        let digits = runs.map(move |run| run.trim_matches(is_sign)).filter(|it| !it.is_empty());
        let number = move |digits: &'a str| {
            let start = digits.as_ptr().addr() - text.as_ptr().addr();
            let behind = &text[start + digits.len()..];
            WrittenNumber { before: &text[..start], digits, behind }
        };
        let is_in_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        digits.map(number).filter(move |it| !it.before.ends_with(is_in_word))
    }

    /// Whether `question` has it, too.
    pub fn stands_in(&self, question: &str) -> bool {
        WrittenNumber::all(question).any(|it| it.digits == self.digits)
    }

    /// Whether it is a date, be it without its year.
    pub fn is_day(&self) -> bool {
        let is_bound = !self.behind.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '%');
        let is_month = || {
            let unit = self.behind.trim_start_matches(SPACES);
            number(self.last()).is_some_and(|it| (1..=12).contains(&it))
                && unit.starts_with(['月', '월'])
        };
        is_date(self.digits)
            || self.digits.split('-').any(is_date)
            || is_bound && self.digits.split('-').any(is_short_date)
            || is_month()
    }

    /// Whether it is a time of day, or the hours between two.
    pub fn is_time_of_day(&self) -> bool {
        self.digits.split('-').any(|it| is_clock(it, ':')) || self.is_from_to() || self.is_hour()
    }

    /// Whether it begins the hours between two times with points: "8.00 - 18.30".
    fn is_from_to(&self) -> bool {
        if let Some((from, to)) = self.digits.split_once('-') {
            return is_rounded(from) && is_rounded(to);
        }
        let behind = self.behind.trim_start_matches(SPACES);
        let to = behind.strip_prefix(DASHES).map(|it| it.trim_start_matches(SPACES));
        let until = to.and_then(|it| it.split(|c: char| !c.is_ascii_digit() && c != '.').next());
        is_rounded(self.digits) && until.is_some_and(|it| is_rounded(it.trim_end_matches('.')))
    }

    /// Whether what stands beside it tells that it is an hour.
    pub fn is_hour(&self) -> bool {
        let last = self.last();
        if !is_clock(last, '.') && number(last).is_none_or(|it| it > HOURS) {
            return false;
        }
        let behind = self.behind.trim_start_matches(SPACES);
        let is_glued = behind.len() == self.behind.len();
        let ends = |c: char| !c.is_alphabetic() && !matches!(c, '.' | '\'' | '’');
        let written = behind.split(ends).next().unwrap_or_default().trim_end_matches('.');
        let unit = written.to_lowercase();
        let before = self.before.trim_end_matches(SPACES).trim_end_matches('.');
        let parts = |c: char| !c.is_alphabetic() && !matches!(c, '\'' | '’');
        let word = before.rsplit(parts).next().unwrap_or_default().to_lowercase();
        match unit.as_str() {
            "am" => is_glued || written == "AM" || list_has(AT_IN_ENGLISH, &word),
            "h" if begins_with_minutes(&behind[1..]) => true,
            unit => {
                list_has(OF_HOURS, unit)
                    || list_has(HOURS_OR_LENGTHS, unit) && list_has(AT, &word)
                    || list_has(ALONE, &word)
                    || is_hour_of_east_asia(before, behind)
            }
        }
    }

    /// The end of a range, or all of it.
    fn last(&self) -> &'a str {
        self.digits.rsplit('-').next().unwrap_or_default()
    }
}

/// Whether what stands behind a number says in Chinese, Japanese or Korean that it is an hour: "9時", not "24時間". The sign 点
/// also counts points.
fn is_hour_of_east_asia(before: &str, behind: &str) -> bool {
    let mut signs = behind.chars();
    let (unit, next) = (signs.next(), signs.next());
    let is_next = |signs: &str| next.is_some_and(|it| signs.contains(it));
    match unit {
        Some('時' | '时') => !is_next("間间"),
        Some('시') => !is_next("간"),
        Some('点' | '點') => {
            is_next("半整钟鐘到至前后後起")
                || next.is_some_and(|it| it.is_ascii_digit())
                || before.ends_with(['午', '上', '晨', '晚', '在', '于', '从', '從', '至', '到'])
        }
        _ => false,
    }
}

/// Whether the minutes of an hour follow its sign: "h30".
fn begins_with_minutes(behind: &str) -> bool {
    let digits = behind.trim_start_matches(SPACES);
    let minutes = digits.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    minutes.len() == 2 && number(minutes).is_some_and(|it| it < MINUTES)
}

/// Whether `digits` are a day and a month with a slash between them, and not a fraction.
fn is_short_date(digits: &str) -> bool {
    let Some((first, second)) = digits.split_once('/') else { return false };
    let is_fraction = match (number(first), number(second)) {
        (Some(part), Some(whole)) => DENOMINATORS.contains(&whole) && part <= whole,
        _ => true,
    };
    !is_fraction && are_day_and_month(first, second)
}

/// Whether `text` has several times with points, no other numbers with points, and minutes with which hardly a price ends.
pub(super) fn tells_times(text: &str) -> bool {
    let numbers = WrittenNumber::all(text).flat_map(|it| it.digits.split('-'));
    let decimals: Vec<&str> = numbers.filter(|it| it.contains('.')).collect();
    decimals.len() > 1
        && decimals.iter().all(|it| is_clock(it, '.'))
        && decimals.iter().any(|it| !it.ends_with(['0', '5', '9']))
}

/// Whether `digits` are hours and minutes, be it with seconds, parted by `sign`.
fn is_clock(digits: &str, sign: char) -> bool {
    let mut parts = digits.split(sign);
    let hour = parts.next().and_then(number);
    let others: Vec<&str> = parts.collect();
    let is_of_sixty = |it: &&str| it.len() == 2 && number(it).is_some_and(|it| it < MINUTES);
    hour.is_some_and(|it| it <= HOURS)
        && matches!(others.len(), 1 | 2)
        && others.iter().all(is_of_sixty)
}

/// Whether `digits` are a time with a point that is rounded.
fn is_rounded(digits: &str) -> bool {
    let minutes = digits.split_once('.').and_then(|(_, minutes)| number(minutes));
    is_clock(digits, '.') && minutes.is_some_and(|it| it % ROUNDED == 0)
}

/// Whether one of both is a day of a month, and the other one a month.
fn are_day_and_month(one: &str, other: &str) -> bool {
    let fits = |day: &str, month: &str| {
        number(day).is_some_and(|it| (1..=31).contains(&it))
            && number(month).is_some_and(|it| (1..=12).contains(&it))
    };
    fits(one, other) || fits(other, one)
}

fn is_year(digits: &str) -> bool {
    digits.starts_with(['1', '2']) && digits.chars().all(|c| c.is_ascii_digit())
}

/// The number that is written with one or two digits.
fn number(digits: &str) -> Option<u32> {
    let is_short = matches!(digits.len(), 1 | 2) && digits.chars().all(|c| c.is_ascii_digit());
    is_short.then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_told_by_their_signs() {
        for text in [
            "It opened on 05.11.2024.",
            "2024/11/05",
            "2024-11-05T14:30",
            "am 05.11.24",
            "from 01.05.2024-03.05.2024",
            "until 5/11",
            "31/12",
            "11月5日",
            "11월 5일",
        ] {
            assert!(tells_date(text, "When?") && tells_when(text, "When?"), "{text}");
        }
        for text in [
            "",
            "...",
            "1/2 cup",
            "3/4",
            "rated 9/10",
            "10.0.0.1",
            "version 1.2.3",
            "v05.11.2024",
            "5.11",
            "32.13.2024",
            "13/13",
            "13月",
            "20/30%",
            "14:30",
        ] {
            assert!(!tells_date(text, "When?"), "{text}");
        }
    }

    #[test]
    fn times_of_day_are_told_by_signs_and_by_what_stands_beside_them() {
        for text in [
            "at 14:30",
            "11:00-14:00",
            "10:14:08",
            "9 Uhr",
            "9-12 Uhr",
            "8.30 Uhr",
            "2 pm",
            "2pm",
            "9 a.m.",
            "at 2 am",
            "2 AM",
            "5 o'clock",
            "8h30",
            "8 h 30",
            "à 8 h",
            "с 18 часов",
            "om 9 uur",
            "godz. 9",
            "الساعة 9",
            "9時から",
            "上午9点",
            "9点半",
            "9시부터",
            "8.00 - 18.30",
            "9.30–12.30",
            "9.30-12.30",
        ] {
            assert!(tells_when(text, "When?"), "{text}");
        }
        for text in [
            "16:9",
            "25:00",
            "1:100",
            "24 h",
            "für 8 h",
            "за 18 часов",
            "9 uur rijden",
            "24時間",
            "24시간",
            "3点",
            "8.50 EUR",
            "2.37-4.12",
            "Gleis 2 am Bahnhof",
            "30 Uhren",
            "9 hens",
            "h30",
        ] {
            assert!(!tells_when(text, "When?"), "{text}");
        }
    }

    #[test]
    fn times_with_points_are_told_from_prices_by_their_minutes() {
        for text in ["Oberhagen 6.31   7.24   7.54", "07.05, 07.33 daily", "16.50-17.18"] {
            assert!(tells_times(text), "{text}");
        }
        for text in ["", "6.31", "4.50 5.25 6.49", "6.31 7.84", "6.31 25.12", "6,31 7,24", "6:31"] {
            assert!(!tells_times(text), "{text}");
        }
    }

    #[test]
    fn what_the_question_has_is_no_answer() {
        assert!(!tells_when("On 05.11.2024 it was closed.", "When on 05.11.2024 was it closed?"));
        assert!(tells_when("On 05.11.2024 at 14:30.", "When on 05.11.2024 was it closed?"));
        assert!(tells_when("At 9 Uhr.", "Wann war es 1998 offen?"));
    }

    #[test]
    fn digits_without_an_end_take_no_time() {
        for text in ["1", "1.", "1:", "1/", "1-", "1 h ", "-"] {
            assert!(!tells_date(&text.repeat(100_000), "When?"), "{text}");
        }
    }
}
