//! # preamble: what stands before the text?
//!
//! ```text
//! "---\ntitle: Pumps\n---\n<!-- draft -->\n\nWater flows." → "Pumps", and that 37 bytes are no text
//! ```
//!
//! Pages of site generators (Jekyll, Hugo, Docusaurus, MkDocs) begin with front matter, a block of settings in YAML or
//! TOML between two lines of three signs, and often go on with comments, scripts and styles. A reader of the page
//! sees none of that, but for the title.

/// Most bytes of front matter; between lines that are farther apart stands something else.
const LONGEST_FRONT_MATTER: usize = 16 * 1024;

/// How what no reader sees begins and ends in HTML.
const UNSEEN: [(&str, &str); 3] =
    [("<!--", "-->"), ("<script", "</script>"), ("<style", "</style>")];

/// What stands before the text of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preamble<'a> {
    /// Bytes up to where the text begins, white space included.
    pub length: usize,
    /// The title that front matter names.
    pub title: Option<&'a str>,
}

impl<'a> Preamble<'a> {
    /// Reads that of `page`: nothing where it begins with its text.
    #[must_use]
    pub fn of(page: &'a str) -> Preamble<'a> {
        let text = page.trim_start_matches('\u{feff}');
        let matter = front_matter(text);
        let title = matter.and_then(|(settings, _)| title(settings));
        let mut rest = matter.map_or(text, |(_, rest)| rest).trim_start();
        while let Some(behind) = behind_unseen(rest) {
            rest = behind.trim_start();
        }
        Preamble { length: page.len() - rest.len(), title }
    }
}

/// The settings of the front matter that `text` begins with, and what stands behind it.
fn front_matter(text: &str) -> Option<(&str, &str)> {
    let (first, _) = text.split_once('\n')?;
    let (assigns, ends): (char, &[&str]) = match first.trim_end() {
        "---" => (':', &["---", "..."]),
        "+++" => ('=', &["+++"]),
        _ => return None,
    };
    let settings = first.len() + 1;
    let mut end = settings;
    for line in text[settings..].split_inclusive('\n') {
        let shown = line.trim_end();
        if ends.contains(&shown) {
            return Some((&text[settings..end], &text[end + line.len()..]));
        }
        end += line.len();
        if end > LONGEST_FRONT_MATTER || !is_setting(shown, assigns, end == settings + line.len()) {
            return None;
        }
    }
    None
}

/// Whether `line` can stand in front matter; the first line is no blank one, as below a line that is drawn across a page.
fn is_setting(line: &str, assigns: char, is_first: bool) -> bool {
    let is_further = line.is_empty() || line.starts_with([' ', '\t', '-', '[', ']', '}']);
    line.starts_with('#') || line.contains(assigns) || !is_first && is_further
}

/// The value of the setting `title`, without its quotes.
fn title(settings: &str) -> Option<&str> {
    let value = settings.lines().find_map(|line| {
        let value = line.strip_prefix("title").or_else(|| line.strip_prefix("Title"))?;
        value.trim_start().strip_prefix([':', '='])
    })?;
    let value = value.trim();
    let quoted = |sign: char| value.strip_prefix(sign).and_then(|it| it.strip_suffix(sign));
    let title = quoted('"').or_else(|| quoted('\'')).unwrap_or(value).trim();
    // "title: >" announces a text on the next lines.
    title.contains(char::is_alphanumeric).then_some(title)
}

/// What stands behind the comment, script or style that `text` begins with.
fn behind_unseen(text: &str) -> Option<&str> {
    let begins = |sign: &str| {
        let (found, rest) = text.split_at_checked(sign.len()).unwrap_or_default();
        let is_whole = sign == "<!--" || rest.starts_with(['>', ' ', '\n', '\t']);
        found.eq_ignore_ascii_case(sign) && is_whole
    };
    let (begin, end) = UNSEEN.iter().find(|(begin, _)| begins(begin))?;
    let inside = &text.as_bytes()[begin.len()..];
    let length =
        inside.windows(end.len()).position(|it| it.eq_ignore_ascii_case(end.as_bytes()))?;
    Some(&text[begin.len() + length + end.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: &str, text: &str, title: Option<&str>) {
        let preamble = Preamble::of(page);
        assert_eq!((&page[preamble.length..], preamble.title), (text, title), "{page:?}");
    }

    #[test]
    fn front_matter_of_every_kind() {
        check("---\ntitle: Pumps\n---\n\nWater.", "Water.", Some("Pumps"));
        check("\u{feff}---\r\ntitle: \"A: b\"\r\n---\r\n# A\r\n", "# A\r\n", Some("A: b"));
        check("+++\ntitle = 'Pumps'\n[menu]\n  weight = 2\n+++\nWater.", "Water.", Some("Pumps"));
        check("---\ntags:\n- a\n\n# comment\nlist: [a,\n  b]\n...\nWater.", "Water.", None);
        check("---\ntitle: >\n  Long\n---\nWater.", "Water.", None);
        check("---\ntitle: 泵\n---", "", Some("泵"));
    }

    #[test]
    fn what_is_none() {
        for page in [
            "",
            "Water.",
            "---",
            "---\n\nWater: hot.\n\n---\n",
            "---\nWater flows.\n---\n",
            "---\ntitle: Pumps\nWater.",
            "+++\ntitle: Pumps\n+++\n",
            "--- title: x ---\n",
            "Lehrkräfte",
            "<style",
        ] {
            check(page, page, None);
        }
        let long = format!("---\n{}---\nWater.", "a: b\n".repeat(10_000));
        check(&long, &long, None);
    }

    #[test]
    fn comments_scripts_and_styles_are_no_text() {
        check("<!-- c -->\n<script src=\"a\">\nx\n</script>\n<style>a{}</style>\n# A", "# A", None);
        check("<SCRIPT>x</SCRIPT>\nWater.", "Water.", None);
        let pumps = "---\ntitle: Pumps\n---\n<!-- draft -->\n\nWater flows.";
        check(pumps, "Water flows.", Some("Pumps"));
        assert_eq!(Preamble::of(pumps).length, 37);
        check("<scripture>a</scripture>", "<scripture>a</scripture>", None);
        check("<!-- never closed", "<!-- never closed", None);
        check(&"<!--".repeat(1_000_000), &"<!--".repeat(1_000_000), None);
    }
}
