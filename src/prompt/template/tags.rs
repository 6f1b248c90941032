//! What may stand in a template's tags.
//!
//! Jinja can compute: `{% set a = a ~ a %}` forty times over is a terabyte, and a program that
//! runs out of memory takes the whole server with it. Fuel counts steps and not bytes. So what
//! makes values out of values is refused before the template is compiled: of the statements
//! only `if` and `for` are let through, and no operator that joins or repeats. What is left
//! prints, chooses and goes over lists, and its output is counted.
//!
//! The scanner must find the ends of tags where the compiler finds them. It can, because braces
//! are refused inside of tags, too: the first `}}` or `%}` outside of a text ends a tag.

use crate::error::{Error, Result};

/// Statements that a template may have.
const STATEMENTS: [&str; 6] = ["if", "elif", "else", "endif", "for", "endfor"];

/// Signs that make values out of values, or braces.
const REFUSED: [char; 5] = ['~', '*', '+', '{', '}'];

/// A tag of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateTag<'a> {
    /// What is between its braces, without texts in quotes.
    pub code: String,
    /// The line in which it begins, from 1.
    pub line: usize,
    /// Whether it prints what it says.
    pub prints: bool,
    rest: &'a str,
}

/// The tags of `source`, which begins in line `first`; an error where one has something that a
/// template may not have.
pub fn tags(source: &str, first: usize) -> Result<Vec<TemplateTag<'_>>> {
    let mut tags = Vec::new();
    let mut rest = source;
    let mut line = first;
    while let Some(open) = rest.find('{') {
        line += newlines(&rest[..open]);
        let after = &rest[open + 1..];
        rest = match after.as_bytes().first() {
            Some(b'#') => {
                let end = after.find("#}").map_or(after.len(), |end| end + 2);
                line += newlines(&after[..end]);
                &after[end..]
            }
            Some(kind @ (b'{' | b'%')) => {
                let tag = tag(&after[1..], *kind == b'{', line)?;
                let rest = tag.rest;
                line += newlines(&after[..after.len() - rest.len()]);
                tags.push(tag);
                rest
            }
            _ => after,
        };
    }
    Ok(tags)
}

fn newlines(text: &str) -> usize {
    text.matches('\n').count()
}

/// The tag whose inside begins with `source`.
fn tag(source: &str, prints: bool, line: usize) -> Result<TemplateTag<'_>> {
    let end = if prints { "}}" } else { "%}" };
    let mut code = String::new();
    let mut quote = None;
    let mut is_escaped = false;
    for (at, c) in source.char_indices() {
        match quote {
            Some(_) if is_escaped => is_escaped = false,
            Some(_) if c == '\\' => is_escaped = true,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if source[at..].starts_with(end) => {
                let tag = TemplateTag { code, line, prints, rest: &source[at + end.len()..] };
                check(&tag)?;
                return Ok(tag);
            }
            None if c == '"' || c == '\'' => {
                code.push(' ');
                quote = Some(c);
            }
            None if REFUSED.contains(&c) => return Err(refused_sign(c, line)),
            None => code.push(c),
        }
    }
    let what = if prints { "{{" } else { "{%" };
    Err(Error::invalid(format!("line {line}: a tag that begins with {what} does not end"))
        .hint(format!("Close it with {end}.")))
}

fn check(tag: &TemplateTag<'_>) -> Result<()> {
    if words(&tag.code).any(|word| word == "recursive") {
        let message = format!("line {}: a template's loop cannot be recursive", tag.line);
        return Err(Error::invalid(message));
    }
    let statement = words(tag.code.trim_start_matches('-')).next().unwrap_or_default();
    if tag.prints || STATEMENTS.contains(&statement) {
        return Ok(());
    }
    let message = format!("line {}: a template has no statement \"{statement}\"", tag.line);
    Err(Error::invalid(message).hint(format!("Known statements: {}.", STATEMENTS.join(", "))))
}

fn refused_sign(sign: char, line: usize) -> Error {
    Error::invalid(format!("line {line}: a template's tag cannot have \"{sign}\""))
        .hint("Tags print, choose and repeat: {{ name }}, {% if name %}, {% for item in list %}.")
}

/// What the code of a tag calls by its name.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CalledNames<'a> {
    /// What values are sent through: `name | filter`.
    pub filters: Vec<&'a str>,
    /// What is asked of values: `name is test`.
    pub tests: Vec<&'a str>,
}

/// The filters and tests in the code of a tag.
pub fn called(code: &str) -> CalledNames<'_> {
    let mut called = CalledNames::default();
    let (mut rest, mut is_asked) = (code, false);
    while let Some(start) = rest.find(is_of_word) {
        let (before, from) = rest.split_at(start);
        let (word, after) =
            from.split_at(from.find(|c: char| !is_of_word(c)).unwrap_or(from.len()));
        let sign = before.trim_end().chars().next_back();
        match word {
            "not" if is_asked => {}
            // Behind a dot it is what a value has, and no word of the language.
            "is" if sign != Some('.') => is_asked = true,
            _ if is_asked => {
                called.tests.push(word);
                is_asked = false;
            }
            _ if sign == Some('|') => called.filters.push(word),
            _ => {}
        }
        rest = after;
    }
    called
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The names in the code of a tag, keywords among them.
pub fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !is_of_word(c)).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &[(&str, usize)]) {
        let tags = tags(source, 1).unwrap();
        let found: Vec<(&str, usize)> =
            tags.iter().map(|tag| (tag.code.trim(), tag.line)).collect();
        assert_eq!(found, expected, "{source}");
    }

    #[test]
    fn tags_are_found_where_they_end() {
        check("", &[]);
        check("plain { text } of %} braces", &[]);
        check("a\n{{ b }}{% if c %}\n\n{% endif %}", &[("b", 2), ("if c", 2), ("endif", 4)]);
        check("{{ a or '}}' }}{{ b }}", &[("a or", 1), ("b", 1)]);
        check(r#"{{ a or "\"}}" }}{{ b }}"#, &[("a or", 1), ("b", 1)]);
        check("{# {{ a }}\n #}{{- b -}}", &[("- b -", 2)]);
        check("{# never ends {{ a }}", &[]);
    }

    #[test]
    fn filters_and_tests_are_found_where_they_are_called() {
        let check = |code: &str, filters: &[&str], tests: &[&str]| {
            let CalledNames { filters: found, tests: asked } = called(code);
            assert_eq!((&found[..], &asked[..]), (filters, tests), "{code}");
        };
        check("question", &[], &[]);
        check("question|upper | first_characters(2)", &["upper", "first_characters"], &[]);
        check("if a is defined and b is not none or c is odd", &[], &["defined", "none", "odd"]);
        check("for it in columns|reverse if it.is", &["reverse"], &[]);
        check("this or island", &[], &[]);
        check("a |", &[], &[]);
    }

    fn refused(source: &str, message: &str) {
        let error = tags(source, 1).unwrap_err();
        assert!(error.message().contains(message), "{source}: {error}");
    }

    #[test]
    fn what_makes_values_is_refused() {
        for statement in ["set a = 1", "- macro f()", "include 'x'", "block a", "raw", "do a()"] {
            refused(&format!("\n{{% {statement} %}}"), "line 2: a template has no statement");
        }
        refused("{% %}", "no statement \"\"");
        for code in ["a ~ a", "a * 3", "a + a", "{'a': 1}", "a }"] {
            refused(&format!("{{{{ {code} }}}}"), "line 1: a template's tag cannot have");
        }
        refused("{% for a in b recursive %}{% endfor %}", "cannot be recursive");
        refused("{{ a", "line 1: a tag that begins with {{ does not end");
        refused("{{ a 'b }}", "does not end");
        refused("x\n{% if a", "line 2: a tag that begins with {% does not end");
    }
}
