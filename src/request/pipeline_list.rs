//! Which pipelines does the argument `pipeline` name?

use crate::error::{Error, Result};

/// Stands for all pipelines.
pub const ALL: &str = "*";

/// Several pipelines, as the argument `pipeline` names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PipelineList {
    /// All that the caller may read.
    All,
    /// Those with these names, each once.
    Named(Vec<String>),
}

impl PipelineList {
    /// What `text` names, where it is `*`, names between commas, or an array of names as PostgreSQL writes it
    /// (`{manual,tickets}`), which is what drivers send for an array. `None` for the name of one pipeline, or
    /// `auto`. A name with a comma or with braces stands in double quotes.
    ///
    /// Fails with an invalid parameter where something is no name.
    pub fn read(text: &str) -> Result<Option<PipelineList>> {
        let bare = text.trim();
        if bare == ALL {
            return Ok(Some(PipelineList::All));
        }
        let of_array = bare.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        if of_array.is_none() && !bare.contains(',') {
            return Ok(None);
        }
        let mut names: Vec<String> = Vec::new();
        for name in elements(of_array.unwrap_or(bare)) {
            let name = name.ok_or_else(|| no_list(text))?;
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Ok(Some(PipelineList::Named(names)))
    }
}

fn no_list(text: &str) -> Error {
    Error::invalid(format!("\"{text}\" is no list of pipelines"))
        .hint("Write names between commas, as in 'manual, tickets', each in double quotes if it has a comma itself; or '*' for all pipelines.")
}

/// The names between the commas; `None` in the place of what is no name.
fn elements(list: &str) -> Vec<Option<String>> {
    let mut names = Vec::new();
    let mut rest = Some(list);
    while let Some(text) = rest {
        let (name, behind) = element(text.trim_start());
        names.push(name.filter(|name| !name.is_empty()));
        rest = behind;
    }
    names
}

/// The first name, and what stands behind its comma if there is one.
fn element(text: &str) -> (Option<String>, Option<&str>) {
    let Some(quoted) = text.strip_prefix('"') else {
        return match text.split_once(',') {
            Some((name, rest)) => (unquoted(name), Some(rest)),
            None => (unquoted(text), None),
        };
    };
    let Some((name, rest)) = in_quotes(quoted) else { return (None, None) };
    let rest = rest.trim_start();
    match rest.strip_prefix(',') {
        Some(rest) => (Some(name), Some(rest)),
        None if rest.is_empty() => (Some(name), None),
        None => (None, None),
    }
}

/// A name without quotes. NULL is no name, in any case of its letters, as in an array.
fn unquoted(name: &str) -> Option<String> {
    let name = name.trim_end();
    (!name.eq_ignore_ascii_case("null") && !name.contains('"')).then(|| name.to_owned())
}

/// What stands before the closing quote, and what behind it. A quote within is doubled, as in an identifier,
/// or has a backslash before it, as in an array.
fn in_quotes(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => name.push(characters.next()?.1),
            '"' if matches!(characters.peek(), Some((_, '"'))) => {
                name.extend(characters.next().map(|it| it.1))
            }
            '"' => return Some((name, &text[at + 1..])),
            other => name.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn named(names: &[&str]) -> Option<PipelineList> {
        Some(PipelineList::Named(names.iter().map(|name| (*name).to_owned()).collect()))
    }

    #[test]
    fn lists_are_told_from_names() {
        let check = |text: &str, expected: Option<PipelineList>| {
            assert_eq!(PipelineList::read(text).unwrap(), expected, "{text}");
        };
        check("manual", None);
        check("auto", None);
        check("", None);
        check("My manual", None);
        check(" * ", Some(PipelineList::All));
        check("manual, tickets", named(&["manual", "tickets"]));
        check("manual,manual , Ä b", named(&["manual", "Ä b"]));
        check("{manual,tickets}", named(&["manual", "tickets"]));
        check("{manual}", named(&["manual"]));
        check(r#""a, b", c"#, named(&["a, b", "c"]));
        check(r#""a ""b""", c"#, named(&[r#"a "b""#, "c"]));
        check(r#"{"a, b","c \"d\" \\",e}"#, named(&["a, b", r#"c "d" \"#, "e"]));
        check(r#"{"null",x}"#, named(&["null", "x"]));
    }

    #[test]
    fn what_is_no_name_is_an_error() {
        for text in
            [",", "a,", ",a", "{}", "{a,NULL}", r#""a, b"#, r#""a" b, c"#, r#"a "b", c"#, "{,}"]
        {
            let error = PipelineList::read(text).unwrap_err();
            assert!(error.message().contains("is no list of pipelines"), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn names_in_quotes_are_read_as_they_are(names in prop::collection::vec(".{1,8}", 2..5)) {
            let quoted: Vec<String> =
                names.iter().map(|name| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\"\""))).collect();
            let mut wanted: Vec<String> = Vec::new();
            names.into_iter().for_each(|name| if !wanted.contains(&name) { wanted.push(name) });
            prop_assert_eq!(
                PipelineList::read(&quoted.join(", ")).unwrap(), Some(PipelineList::Named(wanted)));
        }

        #[test]
        fn whatever_is_written_is_read_or_refused(text in ".{0,40}") {
            let _ = PipelineList::read(&text);
        }
    }
}
