//! From a text and its headings to parts.

use super::Part;

/// A heading in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// Where its line begins.
    pub start: usize,
    /// 1 is the highest.
    pub level: u8,
    /// Its words, without marks.
    pub title: String,
}

/// All of `text` as one part; none where there is nothing but white space.
pub fn whole(text: &str) -> Vec<Part> {
    part(text, None).into_iter().collect()
}

/// The text before the first heading of the highest level in use, and one part for each such
/// heading. `title` names what has no heading.
pub fn split(text: &str, headings: &[Heading], title: Option<&str>) -> Vec<Part> {
    let highest = headings.iter().map(|heading| heading.level).min();
    let tops: Vec<&Heading> =
        headings.iter().filter(|heading| Some(heading.level) == highest).collect();
    let first = tops.first().map_or(text.len(), |heading| heading.start);
    let mut parts: Vec<Part> = part(&text[..first], title).into_iter().collect();
    for (number, heading) in tops.iter().enumerate() {
        let end = tops.get(number + 1).map_or(text.len(), |next| next.start);
        let name = if heading.title.is_empty() { title } else { Some(&*heading.title) };
        parts.extend(part(&text[heading.start..end], name));
    }
    parts
}

/// `text` without the blank lines around it.
fn part(text: &str, heading: Option<&str>) -> Option<Part> {
    let content = trim_lines(text);
    let heading = heading.map(str::to_owned);
    (!content.is_empty()).then(|| Part { page: None, heading, content: content.to_owned() })
}

/// Without blank lines at the beginning and white space at the end. The first line keeps its
/// indentation, which may be that of code.
fn trim_lines(text: &str) -> &str {
    let text = text.trim_end();
    let blank = text.len() - text.trim_start().len();
    let start = text[..blank].rfind('\n').map_or(0, |end| end + 1);
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_go_and_indentation_stays() {
        assert_eq!(trim_lines("\n  \n  a\n b \n\n"), "  a\n b");
        assert_eq!(trim_lines(" \n\t"), "");
        assert_eq!(trim_lines(""), "");
        assert_eq!(trim_lines("a"), "a");
    }
}
