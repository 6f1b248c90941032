//! # joined_name: what is this name made of?
//!
//! ```text
//! rag_hnsw.ef_search → itself, ef_search, rag_hnsw │ rag, hnsw, ef, search
//! input/output       → itself                      │ input, output
//! ```
//!
//! Texts about software are full of names that are words joined by signs: settings, functions, files, addresses. Whoever asks may
//! type the whole name, its last part or one of its words. PostgreSQL's parser decides for one of these: it takes
//! `numpy.array` and `input/output` for a host and a file and knows nothing of their words, splits `work_mem` and
//! does not know the name, and takes `rag_hnsw.ef_search` for the host `rag_hnsw.ef` and the word `search`.

use super::variant::{WrittenVariants, is_hyphen};

/// Bytes of the longest name. What is longer is data, such as Base64.
const LONGEST: usize = 128;

/// Bytes of the longest run that is looked at. What is longer is no address either.
const LONGEST_RUN: usize = 1024;

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stretch<'a> {
    /// What has no joined names and nothing that is also written otherwise, or is a tag of HTML.
    Plain(&'a str),
    /// A run without a space that has at least one of these.
    Joined(&'a str),
}

/// What can be looked up of the names in a run, in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JoinedNames {
    /// Names as a whole, and those parts of them that are joined themselves.
    pub names: Vec<String>,
    /// Their words of two letters and more.
    pub words: Vec<String>,
}

/// The parts of `text`, in order. Together they are the text. Takes time in proportion to it.
#[must_use]
pub fn stretches(text: &str) -> Vec<Stretch<'_>> {
    let mut stretches = Vec::new();
    let mut tags = TagEnds { text, next: Some(0) };
    let (mut plain, mut at) = (0, 0);
    while let Some(character) = text[at..].chars().next() {
        if let Some(end) = tags.end_of_tag(at) {
            at = end;
        } else if is_of_run(character) {
            let end = text[at..].find(|it| !is_of_run(it)).map_or(text.len(), |run| at + run);
            let run = &text[at..end];
            if run.len() <= LONGEST_RUN && is_of_interest(run) {
                if plain < at {
                    stretches.push(Stretch::Plain(&text[plain..at]));
                }
                stretches.push(Stretch::Joined(run));
                plain = end;
            }
            at = end;
        } else {
            at += character.len_utf8();
        }
    }
    if plain < text.len() {
        stretches.push(Stretch::Plain(&text[plain..]));
    }
    stretches
}

/// What can be looked up of the names in `run`.
#[must_use]
pub fn joined_names(run: &str) -> JoinedNames {
    let mut found = JoinedNames::default();
    let mut add = |to: fn(&mut JoinedNames) -> &mut Vec<String>, text: &str| {
        let (to, text) = (to(&mut found), text.to_lowercase());
        if !to.contains(&text) {
            to.push(text);
        }
    };
    for name in names(run) {
        add(|it| &mut it.names, name);
        for part in name.split(['.', '/']).filter(|it| it.contains('_') && is_joined(it)) {
            add(|it| &mut it.names, part);
        }
        words(name).for_each(|word| add(|it| &mut it.words, word));
    }
    for recipient in recipients(run) {
        words(recipient).for_each(|word| add(|it| &mut it.words, word));
    }
    found
}

/// Whether PostgreSQL's parser leaves something of a run unknown.
fn is_of_interest(run: &str) -> bool {
    names(run).next().is_some() || !WrittenVariants::of(run).is_empty()
}

/// The words of two letters and more in a name.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let words = name.split(|it: char| !it.is_alphanumeric());
    words.filter(|word| word.chars().nth(1).is_some())
}

/// What stands before each `@` of a run, as the part of an address before its host.
fn recipients(run: &str) -> impl Iterator<Item = &str> {
    run.match_indices('@').map(move |(at, _)| {
        let before = &run[..at];
        before.rsplit(SIGNS).next().unwrap_or(before)
    })
}

/// Where the tags of a text end, each looked for once.
struct TagEnds<'a> {
    text: &'a str,
    /// The first `>` at or behind the place that was asked for last, or where to look for it; `None` if there is none.
    next: Option<usize>,
}

impl TagEnds<'_> {
    /// Behind the tag of HTML that begins at `start`; `None` if none begins there. PostgreSQL's parser wants to see one whole.
    fn end_of_tag(&mut self, start: usize) -> Option<usize> {
        let inside = self.text[start..].strip_prefix('<')?;
        if !inside.starts_with(|it: char| it.is_ascii_alphabetic() || "/!?".contains(it)) {
            return None;
        }
        let known = self.next?;
        if known <= start {
            self.next = self.text[start..].find('>').map(|end| start + end);
        }
        self.next.map(|end| end + 1)
    }
}

/// Whether PostgreSQL's parser may take a character for a part of a name, an address or a file.
fn is_of_run(character: char) -> bool {
    character.is_alphanumeric() || is_hyphen(character) || "_./@:=?&#%~+\\".contains(character)
}

/// What stands between two names of a run.
const SIGNS: [char; 12] =
    ['@', ':', '=', '?', '&', '#', '%', '~', '+', '\\', '\u{2010}', '\u{2011}'];

/// The joined names in a run, such as both of `work_mem=rag.work_mem`.
fn names(run: &str) -> impl Iterator<Item = &str> {
    run.split(SIGNS)
        .map(|piece| piece.trim_matches(['_', '.', '-', '/']))
        .filter(|piece| piece.len() <= LONGEST && is_joined(piece))
}

/// Whether a name consists of several words, and not only of numbers or single letters.
fn is_joined(name: &str) -> bool {
    let is_word =
        |part: &str| part.starts_with(char::is_alphabetic) && part.chars().nth(1).is_some();
    name.contains(['_', '.', '/']) && name.split(['_', '.', '/']).any(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(run: &str) -> (String, String) {
        let found = joined_names(run);
        (found.names.join(" "), found.words.join(" "))
    }

    #[test]
    fn a_name_is_found_whole_by_its_part_and_by_its_words() {
        for (run, names, words) in [
            ("rag_hnsw.ef_search", "rag_hnsw.ef_search rag_hnsw ef_search", "rag hnsw ef search"),
            ("work_mem=64MB", "work_mem", "work mem"),
            ("numpy.Array", "numpy.array", "numpy array"),
            ("input/output", "input/output", "input output"),
            ("docs/install-guide.md", "docs/install-guide.md", "docs install guide md"),
            ("--max_size", "max_size", "max size"),
            ("std::io::read_line", "read_line", "read line"),
            ("user@mail.example.com", "mail.example.com", "mail example com user"),
            ("mailto:no-reply@a.io?x=y", "a.io", "io no reply"),
            ("first.last@example.com", "first.last example.com", "first last example com"),
            ("a_b=b_cd", "b_cd", "cd"),
        ] {
            assert_eq!(of(run), (names.to_owned(), words.to_owned()), "{run}");
        }
    }

    #[test]
    fn numbers_dates_and_data_are_no_names() {
        let base64 = "QUJD/".repeat(40);
        for text in [
            "3.14",
            "10.0.0.1",
            "2024/12/31",
            "-1.5e3",
            "I.B.M.",
            "state-of-the-art",
            "1_000",
            "_",
            "../..",
            &base64,
        ] {
            assert_eq!(stretches(text), [Stretch::Plain(text)], "{text}");
        }
    }

    #[test]
    fn a_text_is_cut_around_names_and_not_within_tags() {
        assert_eq!(
            stretches("Set `work_mem`, <a href=\"a_bc\">and/or</a> go."),
            [
                Stretch::Plain("Set `"),
                Stretch::Joined("work_mem"),
                Stretch::Plain("`, <a href=\"a_bc\">"),
                Stretch::Joined("and/or"),
                Stretch::Plain("</a> go."),
            ]
        );
        assert_eq!(
            stretches("the Wi-Fi of E-7, for 10mm"),
            [
                Stretch::Plain("the "),
                Stretch::Joined("Wi-Fi"),
                Stretch::Plain(" of "),
                Stretch::Joined("E-7"),
                Stretch::Plain(", for "),
                Stretch::Joined("10mm"),
            ]
        );
        assert_eq!(stretches(""), []);
        assert_eq!(stretches("a < b_cd"), [Stretch::Plain("a < "), Stretch::Joined("b_cd")]);
    }

    #[test]
    fn what_is_endless_takes_no_time() {
        for endless in
            ["<a", "<a_bc", "a_bc:", "<a>b_cd<", "a_bc ", "/", "1-", "C++#", "a-b ", ".", "1x"]
        {
            let text = endless.repeat(300_000);
            let bytes: usize = stretches(&text)
                .iter()
                .map(|it| match it {
                    Stretch::Plain(part) => part.len(),
                    Stretch::Joined(run) => {
                        assert!(joined_names(run).names.len() < LONGEST_RUN);
                        run.len()
                    }
                })
                .sum();
            assert_eq!(bytes, text.len());
        }
    }

    proptest! {
        #[test]
        fn the_parts_are_the_text(text in "[a-zéß_./:@<> 数0-9-]{0,60}") {
            let parts: String = stretches(&text).iter().map(|it| match it {
                Stretch::Plain(part) | Stretch::Joined(part) => *part,
            }).collect();
            prop_assert_eq!(parts, text);
        }
    }
}
