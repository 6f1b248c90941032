//! # directive: is this line one for the program that makes a page of the text?
//!
//! ```text
//! "::: tip", "{{< note >}}", "!!! warning", "<Tabs>", "import Tabs from '@theme/Tabs'" → a reader never sees it
//! ```
//!
//! Site generators have signs of their own in Markdown: containers (VitePress, Docusaurus, Pandoc), admonitions (MkDocs,
//! GitHub, reStructuredText), shortcodes (Hugo), tags (Jekyll) and components (MDX, Vue). They part what stands above them
//! from what stands below, and say nothing.

/// Whether `line`, without white space around it, is nothing but such a sign.
pub(super) fn is_directive(line: &str) -> bool {
    let Some(first) = line.chars().next() else { return false };
    match first {
        ':' => is_container(line),
        '!' | '?' => is_admonition(line),
        '/' => is_block(line),
        '[' => is_alert(line),
        '{' => {
            is_enclosed(line, "{{<", ">}}")
                || is_enclosed(line, "{{%", "%}}")
                || is_enclosed(line, "{%", "%}")
        }
        '.' => is_explicit_markup(line),
        '<' => is_component(line),
        'i' | 'e' => is_module(line),
        _ => false,
    }
}

/// `:::`, `::: tip`, `:::note[Title]`
fn is_container(line: &str) -> bool {
    line.strip_prefix(":::").is_some_and(|rest| {
        let rest = rest.trim_start_matches(':');
        rest.is_empty() || names(rest) || is_enclosed(rest.trim(), "{", "}")
    })
}

/// `!!! note "Title"`, `??? tip`, `???+ tip`
fn is_admonition(line: &str) -> bool {
    let rest = line.strip_prefix("!!!").or_else(|| line.strip_prefix("???"));
    let rest = rest.map(|rest| rest.strip_prefix('+').unwrap_or(rest));
    rest.is_some_and(|rest| rest.starts_with(' ') && names(rest))
}

/// `/// tip | Title`, `///`
fn is_block(line: &str) -> bool {
    line.strip_prefix("///").is_some_and(|rest| {
        let (name, _title) = rest.split_once('|').unwrap_or((rest, ""));
        rest.is_empty() || rest.starts_with(' ') && is_name(name.trim())
    })
}

/// `[!NOTE]`
fn is_alert(line: &str) -> bool {
    let name = line.strip_prefix("[!").and_then(|rest| rest.strip_suffix(']'));
    name.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic()))
}

/// Whether the sign that begins with `open` ends where the line does.
fn is_enclosed(line: &str, open: &str, close: &str) -> bool {
    let inside = line.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    inside.is_some_and(|inside| !inside.contains(close))
}

/// `.. note::`, `.. image:: pump.png`, `.. _label:`
fn is_explicit_markup(line: &str) -> bool {
    line.strip_prefix(".. ").is_some_and(|rest| {
        rest.starts_with('_') && rest.ends_with(':')
            || rest.split_once("::").is_some_and(|(name, _)| is_name(name))
    })
}

/// `<Tabs>`, `</TabItem>`, `<PumpLink href="/pumps" />`: one tag whose name has a capital letter or a hyphen, as that of
/// no element of HTML has. `<user>` stands for something, and is none.
fn is_component(line: &str) -> bool {
    let Some(inside) = line.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) else {
        return false;
    };
    let inside = inside.strip_prefix('/').unwrap_or(inside);
    let is_in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':');
    let name = &inside[..inside.find(|c| !is_in_name(c)).unwrap_or(inside.len())];
    let rest = &inside[name.len()..];
    let is_of_components = name.starts_with(|c: char| c.is_ascii_uppercase())
        || name.starts_with(|c: char| c.is_ascii_lowercase()) && name.contains('-');
    let is_one_tag = !outside_quotes(rest).any(|c| matches!(c, '<' | '>'));
    is_of_components && is_one_tag && (rest.is_empty() || rest.starts_with([' ', '/']))
}

/// `import Tabs from '@theme/Tabs';`, `export const size = 5;`
fn is_module(line: &str) -> bool {
    let line = line.trim_end_matches(';');
    let is_import = line.strip_prefix("import ").is_some_and(|rest| {
        rest.ends_with(['\'', '"']) && (rest.contains(" from ") || rest.starts_with(['\'', '"']))
    });
    let is_export = || {
        ["const ", "default ", "function "]
            .iter()
            .any(|it| line.strip_prefix("export ").is_some_and(|rest| rest.starts_with(it)))
    };
    is_import || is_export()
}

/// Whether `rest` of a line names a kind of block, with a title at most, and says no more.
fn names(rest: &str) -> bool {
    let rest = rest.trim();
    let name = rest.split([' ', '[', '{', '"', '(']).next().unwrap_or_default();
    is_name(name) && !rest.ends_with(['.', '!', '?', '。', '！', '？'])
}

fn is_name(text: &str) -> bool {
    let is_in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(is_in_name)
}

/// The characters of `text` that don't stand between quotes.
fn outside_quotes(text: &str) -> impl Iterator<Item = char> + '_ {
    let mut quote = None;
    text.chars().filter(move |c| match quote {
        Some(open) => {
            if *c == open {
                quote = None;
            }
            false
        }
        None => {
            if matches!(c, '"' | '\'') {
                quote = Some(*c);
            }
            quote.is_none()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_site_generators_say_nothing() {
        for line in [
            ":::",
            "::::",
            ":::tip",
            "::: warning Achtung",
            ":::note[Before you begin]",
            "::: {.callout-note}",
            "!!! note",
            "!!! warning \"Old pumps\"",
            "??? tip",
            "???+ info",
            "///",
            "/// tip | Tipp",
            "/// details",
            "[!NOTE]",
            "[!Tip]",
            "{{< note >}}",
            "{{% alert title=\"Pumps\" %}}",
            "{{< /note >}}",
            "{% include pumps.md %}",
            "{%- endif -%}",
            ".. note::",
            ".. code-block:: sql",
            ".. _pumps:",
            "<Tabs>",
            "</TabItem>",
            "<PumpLink href=\"/a>b\" title='Pumps'/>",
            "<Card.Title>",
            "<doc-note kind=\"tip\">",
            "import Tabs from '@theme/Tabs';",
            "import \"./pumps.css\"",
            "export const size = 5;",
        ] {
            assert!(is_directive(line), "{line}");
        }
    }

    #[test]
    fn what_a_reader_sees_is_none() {
        for line in [
            "",
            ":",
            ":: a",
            "::: Pumps are heavy.",
            "!!!",
            "!!! 5 pumps",
            "??? Really?",
            "// a comment",
            "/// Returns the pump.",
            "/// the pump",
            "///pumps",
            "[!]",
            "[NOTE] Pumps are heavy.",
            "[!NOTE] Pumps are heavy.",
            "{{ pump }}",
            "{{< ref \"a\" >}} and {{< ref \"b\" >}}",
            "{{< note >}} Pumps are heavy.",
            "... and so on",
            ".. and so on",
            "<user>",
            "<br>",
            "<kbd>Q</kbd>",
            "<Teleport> moves what is in it.",
            "<Tabs>Pumps</Tabs>",
            "<https://example.org/a-b>",
            "<a-b@example.org>",
            "import pumps from Spain",
            "export the pumps",
            "in 1990",
        ] {
            assert!(!is_directive(line), "{line}");
        }
    }
}
