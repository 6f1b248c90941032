//! # identifier: does the question name a setting, an option or a function that no passage knows?
//!
//! ```text
//! "What does --no-ignore-vcs do?", passages that speak of .gitignore → yes: they cannot answer it
//! ```
//!
//! What programs call by name is spelled one way. A passage that does not hold it may share every other word of the
//! question and is about something else, so these names count more than words do.

use super::ExtractPassage;

/// What is left of the confidence where no passage holds a name that is asked about.
const UNKNOWN: f32 = 0.1;

/// The part of a confidence that is left: all of it where the passages hold each name of a program that `question` has.
pub(super) fn known_share(question: &str, passages: &[ExtractPassage]) -> f32 {
    let names: Vec<String> = identifiers(question).map(bare).collect();
    if names.is_empty() {
        return 1.0;
    }
    let texts = texts(passages);
    let is_held = |name: &String| texts.iter().any(|text| text.contains(name.as_str()));
    if names.iter().all(is_held) { 1.0 } else { UNKNOWN }
}

/// Which name a piece lacks of those that programs know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LackedName {
    /// The one that the question has.
    Known,
    /// The one that the question asks for.
    Wanted,
}

/// What a question names as programs do, and which passages have these names.
pub(super) struct AskedNames {
    /// The names that some passage has.
    known: Vec<String>,
    /// For each passage, whether it has all of them.
    are_held: Vec<bool>,
}

impl AskedNames {
    /// Looks for the names of `question` in `passages` and their headings.
    pub fn of(question: &str, passages: &[ExtractPassage]) -> AskedNames {
        let names: Vec<String> = identifiers(question).map(bare).collect();
        if names.is_empty() {
            return AskedNames { known: names, are_held: vec![true; passages.len()] };
        }
        let texts = texts(passages);
        let is_known = |name: &String| texts.iter().any(|text| text.contains(name.as_str()));
        let known: Vec<String> = names.into_iter().filter(is_known).collect();
        let has_all = |text: &String| known.iter().all(|name| text.contains(name.as_str()));
        let are_held = texts.iter().map(has_all).collect();
        AskedNames { known, are_held }
    }

    /// The name that a piece of the passage at `index` lacks where it is about something else: the passage lacks a name that another one has, or
    /// the piece is the `row` of a table, each of which is about one thing, and lacks it itself.
    pub fn lacked_by(&self, index: usize, row: Option<&str>) -> Option<LackedName> {
        let lacks = |text: String| !self.known.iter().all(|name| text.contains(name.as_str()));
        let are_lacked = !self.are_held[index]
            || !self.known.is_empty() && row.is_some_and(|it| lacks(it.to_lowercase()));
        are_lacked.then_some(LackedName::Known)
    }
}

/// The passages with their headings, in lower case.
fn texts(passages: &[ExtractPassage]) -> Vec<String> {
    let text = |it: &ExtractPassage| {
        format!("{}\n{}", it.heading.unwrap_or_default(), it.content).to_lowercase()
    };
    passages.iter().map(text).collect()
}

/// The name of the option, the setting, the function or the file whose `heading` this is, if it is nothing but that and what it
/// takes: "`--delay [seconds]`". The text below it mostly says what it does without the name.
pub(super) fn named_by(heading: &str) -> Option<String> {
    let mut parts = heading.trim().trim_matches('*').trim_end_matches(':').split('`');
    let (first, code) = (parts.next().unwrap_or_default(), parts.next());
    let called = match code {
        Some(code) if first.is_empty() => {
            let beside = parts.step_by(2);
            let is_alone = beside.flat_map(str::chars).all(|c| !c.is_alphabetic());
            is_alone.then_some(code)?
        }
        Some(_) => return None,
        None => first,
    };
    let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '=' | '<' | '[' | '{' | '|');
    let word = called.split(ends).next()?;
    let name = if word.contains("()") { word } else { word.split('(').next()? };
    let rest = called[name.len()..].trim_start();
    let takes = rest.is_empty() || !rest.starts_with(char::is_alphabetic);
    let is_path = name.len() > 2 && (name.starts_with('/') || name.starts_with("~/"));
    let is_name = code.is_some() || takes && (is_identifier(name) || is_path);
    let name = bare(name);
    (is_name && name.contains(|c: char| c.is_ascii_alphabetic())).then_some(name)
}

/// The words of `text` that only programs have.
pub(super) fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let is_of_one =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':' | '.' | '(' | ')');
    let words = text.split(move |c: char| !is_of_one(c));
    let trimmed = words.map(|word| {
        let word = word.trim_end_matches(['.', ':', '-']).trim_start_matches(['.', ':', '(']);
        if word.ends_with("()") { word } else { word.trim_end_matches(')') }
    });
    trimmed.filter(|word| is_identifier(word))
}

/// Whether `text` has `name` by itself, and not within a word: `rs` is none of "restarts".
pub(super) fn has_word(text: &str, name: &str) -> bool {
    let is_bound = |beside: Option<char>| !beside.is_some_and(|c| c.is_ascii_alphanumeric());
    text.match_indices(name).any(|(at, _)| {
        let behind = &text[at + name.len()..];
        is_bound(text[..at].chars().next_back()) && is_bound(behind.chars().next())
    })
}

fn is_identifier(word: &str) -> bool {
    let option = word.trim_start_matches('-');
    let is_option = matches!(word.len() - option.len(), 1 | 2)
        && option.starts_with(|c: char| c.is_ascii_alphabetic());
    let joins = |sign: &str| {
        word.split(sign)
            .filter(|part| part.contains(|c: char| c.is_ascii_alphanumeric()))
            .nth(1)
            .is_some()
    };
    is_option || joins("_") || joins("::") || word.len() > 2 && word.ends_with("()")
}

/// As it is looked for: in lower case, a function without its parentheses.
fn bare(word: &str) -> String {
    word.trim_end_matches("()").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_programs_are_told_from_words() {
        let found = |question| identifiers(question).collect::<Vec<_>>();
        assert_eq!(
            found("What does the -z flag do, and --no-ignore-vcs?"),
            ["-z", "--no-ignore-vcs"]
        );
        assert_eq!(
            found("Is max_connections more than work_mem (or not)?"),
            ["max_connections", "work_mem"]
        );
        assert_eq!(found("When do I call std::mem::swap or now()?"), ["std::mem::swap", "now()"]);
        assert_eq!(found("max_connections的默认值是多少？"), ["max_connections"]);
        for question in [
            "Which e-mail address is it - the old one -- or the new?",
            "Was it in 1914-1918 (the Great War)?",
            "Is it at 10:30 a.m.: yes or no?",
            "_ or __ or :: or ()",
            "",
        ] {
            assert!(found(question).is_empty(), "{question}");
        }
    }

    #[test]
    fn a_heading_names_what_programs_call_by_that() {
        for (heading, name) in [
            ("`--delay [seconds]`", "--delay"),
            ("**`-q`, `--quiet`**", "-q"),
            ("`delay`:", "delay"),
            ("--no-stash", "--no-stash"),
            ("-q, --quiet", "-q"),
            ("Max_Connections (integer)", "max_connections"),
            ("now()", "now"),
            ("/etc/hosts", "/etc/hosts"),
        ] {
            assert_eq!(named_by(heading).as_deref(), Some(name), "{heading}");
        }
        for heading in [
            "Use `--delay`",
            "`delay` and `quiet`",
            "work_mem is too small",
            "Options",
            "4.2.0 (2024-11-05)",
            "`404`",
            "/ or not",
            "",
        ] {
            assert_eq!(named_by(heading), None, "{heading}");
        }
    }

    #[test]
    fn what_no_passage_names_is_not_answered_by_them() {
        let passage = ExtractPassage::of(1, "Use --hidden for hidden files.");
        let passages = [ExtractPassage { heading: Some("The setting `Work_Mem`"), ..passage }];
        assert_eq!(known_share("What does --hidden do?", &passages), 1.0);
        assert_eq!(known_share("What does --no-hidden do?", &passages), UNKNOWN);
        assert_eq!(known_share("What is work_mem?", &passages), 1.0);
        assert_eq!(known_share("What is it?", &[]), 1.0);
    }
}
