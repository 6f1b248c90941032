//! Days as numbers, from 1970-01-01, which is 0. All of them are days of UTC, so that a day is the
//! same for every session.

/// Days of 400 years, after which the calendar repeats itself.
const CYCLE: i32 = 146_097;

/// From 0000-03-01 to 1970-01-01. Years that begin in March have the odd day at their end.
const EPOCH: i32 = 719_468;

/// A time that a limit is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// A day.
    Day,
    /// A month.
    Month,
}

impl Period {
    /// The period called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Period> {
        [Period::Day, Period::Month].into_iter().find(|period| period.name() == name)
    }

    /// The name that users write.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Period::Day => "day",
            Period::Month => "month",
        }
    }

    /// The first day of the one that `day` is in.
    #[must_use]
    pub fn start(self, day: i32) -> i32 {
        match self {
            Period::Day => day,
            Period::Month => day - (date(day).2 - 1),
        }
    }

    /// The first day of the one after it.
    #[must_use]
    pub fn end(self, day: i32) -> i32 {
        match self {
            Period::Day => day + 1,
            // The 28th and four days are always in the next month.
            Period::Month => self.start(self.start(day) + 31),
        }
    }
}

/// Year, month from 1 and day from 1.
fn date(day: i32) -> (i32, i32, i32) {
    let days = day + EPOCH;
    let (cycle, in_cycle) = (days.div_euclid(CYCLE), days.rem_euclid(CYCLE));
    let year = (in_cycle - in_cycle / 1460 + in_cycle / 36_524 - in_cycle / (CYCLE - 1)) / 365;
    let in_year = in_cycle - (365 * year + year / 4 - year / 100);
    // Months from March have 153 days in five of them, again and again.
    let month = (5 * in_year + 2) / 153;
    let day = in_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + cycle * 400 + i32::from(month <= 2), month, day)
}

/// A day as text, such as 2026-12-31.
#[must_use]
pub fn text(day: i32) -> String {
    let (year, month, day) = date(day);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        for (day, expected) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_779, "2026-11-22"),
        ] {
            assert_eq!(text(day), expected);
        }
    }

    #[test]
    fn each_day_follows_the_one_before() {
        for day in -200_000..200_000 {
            let (before, after) = (date(day), date(day + 1));
            let next_day = (before.0, before.1, before.2 + 1);
            let next_month = (before.0, before.1 + 1, 1);
            assert!([next_day, next_month, (before.0 + 1, 1, 1)].contains(&after), "{after:?}");
            assert!((1..=12).contains(&after.1) && (1..=31).contains(&after.2), "{after:?}");
        }
    }

    #[test]
    fn months_begin_and_end() {
        for day in 0..40_000 {
            let (start, end) = (Period::Month.start(day), Period::Month.end(day));
            assert!(start <= day && day < end && (28..=31).contains(&(end - start)), "{day}");
            assert!(text(start).ends_with("-01") && text(end).ends_with("-01"), "{day}");
        }
        assert_eq!((Period::Day.start(7), Period::Day.end(7)), (7, 8));
    }
}
