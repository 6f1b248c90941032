//! # variant: how else is this written?
//!
//! ```text
//! MX-507 → mx507, 507 │ wi-fi → wifi │ 978-3-16 → 978316, 3, 16 │ v2.1.4 → 2.1.4
//! 10mm   → 10, mm     │ M8x40 → m8, 40 │ C++ → c++ │ .NET → .net
//! ```
//!
//! Models, error codes and part numbers are typed with hyphens, without them, or by their digits alone, and so are words
//! such as e-mail. PostgreSQL's parser knows a hyphenated word and its parts, but takes the hyphen before digits for
//! a minus, and what is written without one for another word. Of `C++`, `C#` and `F#` it keeps the letter.

/// Bytes of the longest name that is also looked up without its hyphens: those of a UUID are 32.
const LONGEST: usize = 40;

/// Parts of such a name, at most. What has more is the title of a page in its address.
const MOST_PARTS: usize = 6;

/// Digits of the shortest number that is looked up without its hyphens. What is shorter is a range, such as 5-10.
const FEWEST_DIGITS: usize = 6;

/// Letters of the longest word before `++`.
const LONGEST_WORD: usize = 16;

/// What stands behind a number without a space as often as with one, in lower case.
#[rustfmt::skip]
const UNITS: [&str; 87] = [
    "nm", "um", "µm", "μm", "mm", "cm", "dm", "m", "km", "in", "inch", "ft", "yd", "mi", "mg", "µg", "μg", "g", "kg", "t",
    "oz", "lb", "lbs", "ml", "cl", "dl", "l", "gal", "ns", "µs", "μs", "ms", "s", "sec", "min", "h", "hz", "khz", "mhz", "ghz",
    "b", "kb", "mb", "gb", "tb", "pb", "kib", "mib", "gib", "tib", "bit", "kbit", "mbit", "gbit", "kbps", "mbps", "gbps", "fps",
    "mv", "v", "kv", "ma", "mah", "ah", "a", "mw", "w", "kw", "wh", "kwh", "mwh", "va", "kva", "pa", "kpa", "mpa", "bar", "psi",
    "rpm", "db", "dpi", "ppi", "px", "pt", "mp", "k", "lm",
];

/// What can be looked up of a run beside what PostgreSQL's parser finds in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenVariants {
    /// Names that no dictionary knows, in lower case.
    pub names: Vec<String>,
    /// Words and numbers, as they would stand in a text.
    pub words: Vec<String>,
    /// Numbers behind a hyphen that is no minus.
    pub numbers: Vec<String>,
    /// Words that a hyphen joins.
    pub compounds: Vec<HyphenCompound>,
}

/// A word of two words with a hyphen between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HyphenCompound {
    /// The word without the hyphen.
    pub joined: String,
    /// Its two words, with a space between them.
    pub parts: String,
}

impl WrittenVariants {
    /// Those of `run`, a part of a text without spaces. Takes time in proportion to it.
    #[must_use]
    pub fn of(run: &str) -> WrittenVariants {
        let mut found = WrittenVariants::default();
        if !may_have_some(run) {
            return found;
        }
        for name in hyphenated(run) {
            found.add_hyphenated(&name);
        }
        for token in run.split(|it: char| !(it.is_alphanumeric() || it == '.')) {
            found.add_token(token.trim_matches('.'));
        }
        found.add_signs(run);
        found
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
            && self.words.is_empty()
            && self.numbers.is_empty()
            && self.compounds.is_empty()
    }

    fn add_hyphenated(&mut self, parts: &[&str]) {
        for part in &parts[1..] {
            if is_number(part) {
                add(&mut self.numbers, part);
            } else if part.starts_with(|it: char| it.is_ascii_digit()) {
                add(&mut self.words, part);
            }
        }
        let joined = parts.concat();
        let is_plain = joined.chars().all(char::is_alphanumeric) && joined.len() <= LONGEST;
        if !is_plain || parts.len() > MOST_PARTS {
            return;
        }
        if !joined.chars().any(char::is_numeric) {
            if parts.len() == 2 {
                self.compounds.push(HyphenCompound { joined, parts: parts.join(" ") });
            }
        } else if !is_number(&joined) || joined.len() >= FEWEST_DIGITS {
            add(&mut self.words, &joined);
        }
    }

    /// Letters and digits, with points between them.
    fn add_token(&mut self, token: &str) {
        if let Some(version) = token.strip_prefix(['v', 'V'])
            && is_number(version)
            && version.contains('.')
        {
            add(&mut self.words, version);
        }
        let numbers = sizes(token);
        for size in &numbers {
            if let Some((number, unit)) = measure(size) {
                add(&mut self.words, number);
                add(&mut self.words, unit);
            } else if numbers.len() > 1 {
                add(&mut self.words, size);
            }
        }
    }

    /// Names with signs in them that mean something.
    fn add_signs(&mut self, run: &str) {
        for (at, _) in run.match_indices("++") {
            let word = letters_before(run, at);
            if (1..=LONGEST_WORD).contains(&word.chars().count()) {
                add(&mut self.names, &format!("{word}++").to_lowercase());
            }
        }
        for (at, _) in run.match_indices('#') {
            let word = letters_before(run, at);
            let before = run[..at - word.len()].chars().next_back();
            let is_word = (1..=2).contains(&word.chars().count())
                && !before.is_some_and(char::is_alphanumeric);
            if is_word && !run[at + 1..].starts_with(char::is_alphabetic) {
                add(&mut self.names, &format!("{word}#").to_lowercase());
            }
        }
        for (at, _) in run.match_indices('.') {
            let name = run[at + 1..].find(|it: char| !it.is_alphanumeric());
            let name = name.map_or(&run[at + 1..], |end| &run[at + 1..at + 1 + end]);
            let is_first = at == 0 || run[..at].ends_with('/');
            let is_name = name.starts_with(char::is_alphabetic) && name.len() > 1;
            if is_first && is_name && name.len() <= LONGEST {
                add(&mut self.names, &format!(".{name}").to_lowercase());
            }
        }
    }
}

/// Whether a look at the run is of any use, as for few runs of a text.
fn may_have_some(run: &str) -> bool {
    let is_sign = |it: char| is_hyphen(it) || it == '+' || it == '#';
    let has_sign = run.chars().skip(1).any(|it| is_sign(it) || it.is_ascii_digit());
    has_sign
        || run.starts_with('.')
        || run.contains("/.")
        || run.starts_with(|it: char| it.is_ascii_digit())
}

/// Whether a character is a hyphen between two words, such as one at which no line may be broken.
pub fn is_hyphen(character: char) -> bool {
    matches!(character, '-' | '\u{2010}' | '\u{2011}')
}

/// The names of a run with a hyphen between letters or digits, each as its parts, of which there are at least two.
fn hyphenated(run: &str) -> Vec<Vec<&str>> {
    let mut names = Vec::new();
    let is_other = |it: char| !(it.is_alphanumeric() || is_hyphen(it) || it == '.');
    for segment in run.split(is_other).filter(|it| it.contains(is_hyphen)) {
        let mut name: Vec<&str> = Vec::new();
        for part in segment.split(is_hyphen) {
            let inner = part.trim_matches('.');
            let is_whole = is_number(inner) || !inner.contains('.');
            if inner.is_empty() || part.starts_with('.') {
                names.push(std::mem::take(&mut name));
            }
            if is_whole {
                name.extend((!inner.is_empty()).then_some(inner));
            } else {
                // A sentence, a file or a host ends between.
                name.extend(inner.split('.').next());
                names.push(std::mem::take(&mut name));
                name.extend(inner.rsplit('.').next());
            }
            if part.ends_with('.') {
                names.push(std::mem::take(&mut name));
            }
        }
        names.push(name);
    }
    names.retain(|name| name.len() > 1);
    names
}

/// Whether it consists of digits, with single points between them perhaps.
fn is_number(text: &str) -> bool {
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    text.split('.').all(is_digits)
}

/// The numbers with an `x` between them, as of the size of a screw or a picture; the token itself if it is none.
fn sizes(token: &str) -> Vec<&str> {
    if token.starts_with("0x") || token.starts_with("0X") {
        return vec![token];
    }
    let bytes = token.as_bytes();
    let is_between_digits = |at: usize| {
        let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        at > 0 && is_digit(bytes.get(at - 1)) && is_digit(bytes.get(at + 1))
    };
    let (mut sizes, mut start) = (Vec::new(), 0);
    for (at, _) in token.match_indices(['x', 'X']).filter(|(at, _)| is_between_digits(*at)) {
        sizes.push(&token[start..at]);
        start = at + 1;
    }
    sizes.push(&token[start..]);
    sizes
}

/// A number and the unit directly behind it.
fn measure(token: &str) -> Option<(&str, &str)> {
    let end = token.find(char::is_alphabetic)?;
    let (number, unit) = token.split_at(end);
    (is_number(number) && UNITS.contains(&unit.to_lowercase().as_str())).then_some((number, unit))
}

/// The letters that end at the byte `at`.
fn letters_before(run: &str, at: usize) -> &str {
    let before = &run[..at];
    let rest = before.trim_end_matches(char::is_alphabetic);
    &before[rest.len()..]
}

fn add(to: &mut Vec<String>, text: &str) {
    if !to.iter().any(|known| known == text) {
        to.push(text.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Names, words, numbers and compounds, each with a mark of its kind.
    fn of(run: &str) -> String {
        let WrittenVariants { names, words, numbers, compounds } = WrittenVariants::of(run);
        let names = names.into_iter().map(|it| format!("name:{it}"));
        let numbers = numbers.into_iter().map(|it| format!("-{it}"));
        let compounds =
            compounds.into_iter().map(|it| format!("{}={}", it.parts.replace(' ', "+"), it.joined));
        let all: Vec<String> = names.chain(words).chain(numbers).chain(compounds).collect();
        all.join(" ")
    }

    #[test]
    fn what_hyphens_join_is_found_without_them_and_by_its_numbers() {
        for (run, expected) in [
            ("MX-507", "MX507 -507"),
            ("E-1042.", "E1042 -1042"),
            ("(E-1042)", "E1042 -1042"),
            ("MX\u{2011}507", "MX507 -507"),
            ("910-005544", "910005544 -005544"),
            ("978-3-16-148410-0", "9783161484100 -3 -16 -148410 -0"),
            ("2024-05-01", "20240501 -05 -01"),
            ("5-10", "-10"),
            ("AB-12C", "12C AB12C"),
            ("wi-fi", "wi+fi=wifi"),
            ("T-Shirts?", "T+Shirts=TShirts"),
            ("state-of-the-art", ""),
            ("nginx-1.25.3", "-1.25.3"),
            ("MX-507/MX-508", "MX507 MX508 -507 -508"),
            ("e-mail.Next-day", "e+mail=email Next+day=Nextday"),
            ("foo--bar", ""),
            ("-5", ""),
            ("x=-5", ""),
            ("pre-", ""),
            (
                "550e8400-e29b-41d4-a716-446655440000",
                "41d4 550e8400e29b41d4a716446655440000 -446655440000",
            ),
        ] {
            assert_eq!(of(run), expected, "{run}");
        }
        assert_eq!(of(&["ab"; 41].join("-")), "");
        assert_eq!(of("how-to-fix-it-in-2024-today"), "-2024");
    }

    #[test]
    fn versions_measures_and_sizes_are_found_by_their_numbers() {
        for (run, expected) in [
            ("v2.1.4", "2.1.4"),
            ("V16.2,", "16.2"),
            ("v2", ""),
            ("10mm", "10 mm"),
            ("64GB", "64 GB"),
            ("1.5kg", "1.5 kg"),
            ("M8x40", "M8 40"),
            ("1920X1080px", "1920 1080 px"),
            ("0x1F", ""),
            ("2nd", ""),
            ("3D", ""),
            ("w17", ""),
            ("2024", ""),
            ("10.0.0.1", ""),
        ] {
            assert_eq!(of(run), expected, "{run}");
        }
    }

    #[test]
    fn signs_that_mean_something_belong_to_the_name() {
        for (run, expected) in [
            ("C++", "name:c++"),
            ("C++17", "name:c++"),
            ("C#", "name:c#"),
            ("(F#-Code)", "name:f#"),
            ("page#top", ""),
            ("page#", ""),
            ("#c", ""),
            (".NET", "name:.net"),
            ("~/.bashrc", "name:.bashrc"),
            ("...and", ""),
            (".5", ""),
            ("x.", ""),
            ("1+1", ""),
        ] {
            assert_eq!(of(run), expected, "{run}");
        }
    }

    proptest! {
        #[test]
        fn any_run_is_read(run in "[a-zC0-9vxX.#+/:-]{0,40}|\\PC{0,20}") {
            let found = WrittenVariants::of(&run);
            prop_assert!(found.names.iter().chain(&found.words).all(|it| !it.is_empty()));
            prop_assert!(found.numbers.iter().all(|it| is_number(it)));
        }
    }
}
