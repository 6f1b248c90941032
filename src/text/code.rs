//! # code: where in a text does code stand that is no part of what it says?
//!
//! ```text
//! text, the fence that is open before it → byte ranges of code
//! pieces of a document                   → the fence that is open where each begins
//! ```
//!
//! Code between fences goes on to the fence that closes it, which may stand in a later piece of the document: so a piece
//! alone does not tell. What is indented is code in Markdown, but in letters and plays it is prose that is set off. It is
//! taken for code only where it looks like code, too.

use std::borrow::Cow;
use std::ops::Range;

use super::fence::{closes, fence};
use super::line::item_sign;

/// The byte ranges of code in `text`, in order: of fenced blocks with their fences, and of indented lines that look like
/// code. `open` is the line of a fence that is open where the text begins.
#[must_use]
pub fn code_blocks(text: &str, open: Option<&str>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut fenced: Option<(usize, &str)> = open.and_then(fence).map(|signs| (0, signs));
    // Where the prose begins that is being read.
    let (mut prose, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        match fenced {
            Some((start, signs)) if closes(line, signs) => {
                found.push(start..end);
                fenced = None;
                prose = end;
            }
            Some(_) => {}
            None => {
                fenced = fence(line).map(|signs| (at, signs));
                if fenced.is_some() {
                    add_indented(text, prose..at, &mut found);
                }
            }
        }
        at = end;
    }
    match fenced {
        // A fence that is not closed holds the rest.
        Some((start, _)) if start < at => found.push(start..at),
        Some(_) => {}
        None => add_indented(text, prose..at, &mut found),
    }
    found
}

/// `text` with a space for each character of code in it: what is left stands at the same characters.
#[must_use]
pub fn without_code<'a>(text: &'a str, open: Option<&str>) -> Cow<'a, str> {
    let blocks = code_blocks(text, open);
    if blocks.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut prose = String::with_capacity(text.len());
    let mut from = 0;
    for block in blocks {
        prose.push_str(&text[from..block.start]);
        from = block.end;
        prose.extend(text[block].chars().map(|c| if c == '\n' { c } else { ' ' }));
    }
    prose.push_str(&text[from..]);
    Cow::Owned(prose)
}

/// For each of some pieces of a document, the line of the fence that is open where it begins. The pieces stand in their
/// order, each as the character of the document at which it begins and its text; they may overlap. A piece without a fence
/// may be given without its text.
#[must_use]
pub fn open_fences<'a>(pieces: &[(u32, &'a str)]) -> Vec<Option<&'a str>> {
    let mut fences: Vec<(u32, &'a str)> = pieces.iter().flat_map(|it| fences_of(*it)).collect();
    fences.sort_by_key(|(at, _)| *at);
    fences.dedup_by_key(|(at, _)| *at);
    let (mut fences, mut open) = (fences.into_iter().peekable(), None);
    let mut at_starts = Vec::with_capacity(pieces.len());
    for (start, _) in pieces {
        while let Some((_, line)) = fences.next_if(|(at, _)| at < start) {
            open = after(open, line);
        }
        at_starts.push(open);
    }
    at_starts
}

/// What is open behind a line with a fence, where `open` is before it.
fn after<'a>(open: Option<&'a str>, line: &'a str) -> Option<&'a str> {
    match open {
        None => Some(line),
        Some(first) if fence(first).is_some_and(|signs| closes(line, signs)) => None,
        open => open,
    }
}

/// The lines with fences of a piece that begins at the character `start`, each with the character at which it begins.
fn fences_of((start, text): (u32, &str)) -> Vec<(u32, &str)> {
    let (mut found, mut at) = (Vec::new(), start);
    if !text.contains("```") && !text.contains("~~~") {
        return found;
    }
    for line in text.split_inclusive('\n') {
        if fence(line).is_some() {
            found.push((at, line));
        }
        at = at.saturating_add(line.chars().count() as u32);
    }
    found
}

/// Adds the runs of indented lines of a stretch of `text` that look like code. Items of lists go on in indented paragraphs.
fn add_indented(text: &str, stretch: Range<usize>, found: &mut Vec<Range<usize>>) {
    let mut run: Option<Range<usize>> = None;
    let (mut is_behind_blank, mut is_in_list) = (true, false);
    let mut at = stretch.start;
    for line in text[stretch].split_inclusive('\n') {
        let end = at + line.len();
        let indentation = line.len() - line.trim_start().len();
        let is_blank = line.trim().is_empty();
        let is_indented = !is_blank && (line.starts_with("    ") || line.starts_with('\t'));
        if is_indented && let Some(run) = &mut run {
            run.end = end;
        } else if is_indented && is_behind_blank && !is_in_list {
            run = Some(at..end);
        } else if !is_blank {
            found.extend(run.take().filter(|run| looks_like_code(&text[run.clone()])));
            let goes_on = indentation > 0 || !is_behind_blank;
            is_in_list = item_sign(line) > indentation || is_in_list && goes_on;
        }
        is_behind_blank = is_blank;
        at = end;
    }
    found.extend(run.filter(|run| looks_like_code(&text[run.clone()])));
}

/// Whether most of some lines have signs of code.
fn looks_like_code(lines: &str) -> bool {
    let lines = || lines.lines().map(str::trim).filter(|line| !line.is_empty());
    2 * lines().filter(|line| has_signs(line)).count() > lines().count()
}

/// Whether a line has a sign that is frequent in code and rare in prose.
fn has_signs(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    let is_keyword = first.len() > 1 && first.bytes().all(|byte| byte.is_ascii_uppercase());
    is_keyword
        || line.starts_with(['#', '/'])
        || line.contains(['{', '}', ';', '=', '<', '>', '$', '\\', '|', '_'])
        || line.contains("::")
        || calls(line) > 0
}

/// How many parentheses open right behind a name, as where a function is called.
fn calls(text: &str) -> usize {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices('(').filter(|(at, _)| text[..*at].ends_with(is_name)).count()
}

/// Whether `sentence`, of which nothing is known but its words, reads as code: it is full of the signs of it, outside of what
/// stands between backticks, or ends as statements do.
#[must_use]
pub fn reads_as_code(sentence: &str) -> bool {
    let bare: String = sentence.split('`').step_by(2).collect();
    let is_sign =
        |c: &char| matches!(c, '{' | '}' | '<' | '>' | '=' | ';' | '|' | '\\' | '$' | '_');
    let signs = bare.chars().filter(is_sign).count() + calls(&bare);
    let letters = bare.chars().filter(|c| c.is_alphanumeric()).count();
    let ends = bare.trim_end().ends_with([';', '{', '}', '=', '\\']);
    ends && signs > 1 || signs > 3 && 8 * signs > letters
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, open: Option<&str>, expected: &[&str]) {
        let found: Vec<&str> =
            code_blocks(text, open).into_iter().map(|block| &text[block]).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn fences_hold_code() {
        check("Text.\n\n```sql\nSELECT 1;\n```\n\nMore.", None, &["```sql\nSELECT 1;\n```\n"]);
        check("~~~\na\n```\nb\n~~~~\nc", None, &["~~~\na\n```\nb\n~~~~\n"]);
        check("Text.\n```\nrest\nof it", None, &["```\nrest\nof it"]);
        check("Use `a` and ```b```.", None, &[]);
        check("", None, &[]);
        check("Text alone.", None, &[]);
    }

    #[test]
    fn a_fence_that_is_open_holds_the_beginning() {
        check("FROM t;\n```\n\nText.", Some("```sql\n"), &["FROM t;\n```\n"]);
        check("SELECT 1;\nSELECT 2;", Some("```"), &["SELECT 1;\nSELECT 2;"]);
        check("a\n```\nb\n~~~\nc", Some("~~~text"), &["a\n```\nb\n~~~\n"]);
        check("", Some("```"), &[]);
        check("Text.", Some("no fence"), &[]);
    }

    #[test]
    fn what_is_indented_is_code_where_it_looks_so() {
        let code = "    x = f(1)\n    y = x\n";
        check(&format!("Do this:\n\n{code}\nThen rest."), None, &[code]);
        check(code, None, &[code]);
        check(
            "Text:\n\n\tmake install;\n\n\tmake test;\n",
            None,
            &["\tmake install;\n\n\tmake test;\n"],
        );
        // A paragraph that goes on, a paragraph of an item, and verses.
        check("Text goes on\n    x = f(1)\n", None, &[]);
        check("- Item.\n\n    x = f(1)\n\n    y = 2\n", None, &[]);
        check("She sang:\n\n    The mill of the vale\n    is turning no more.\n", None, &[]);
    }

    #[test]
    fn what_is_no_code_stays_where_it_is() {
        let text = "Über uns.\n```\nélan = 1\n```\nEnde.";
        let prose = without_code(text, None);
        assert_eq!(prose.chars().count(), text.chars().count());
        assert_eq!(prose.find("Ende."), Some(prose.len() - 5));
        assert!(
            !prose.contains("lan") && prose.starts_with("Über uns.\n   \n        \n   \nEnde.")
        );
        assert!(matches!(without_code("Text.", None), Cow::Borrowed("Text.")));
        assert_eq!(without_code("a;\nb;", Some("```")), "  \n  ");
    }

    #[test]
    fn a_piece_may_begin_in_code() {
        let text = "Text.\n\n```sql\nSELECT a,\n       b\nFROM t;\n```\n\nMore.\n\n```\nx\n";
        let piece = |part: &'static str| (text.find(part).unwrap() as u32, part);
        let pieces = [
            piece("Text.\n\n```sql\nSELECT a,\n"),
            // Without its text, as it has no fence; then one that overlaps it.
            (piece("       b\n").0, ""),
            piece("b\nFROM t;\n```"),
            piece("More.\n\n```\nx"),
            (text.len() as u32, ""),
        ];
        let sql = Some("```sql\n");
        assert_eq!(open_fences(&pieces), [None, sql, sql, None, Some("```\n")]);
        assert!(open_fences(&[]).is_empty());
        // Pieces that overlap say of the same fence once that it is there.
        let twice = [(0, "```\na\n"), (0, "```\na\n"), (4, "a\n```"), (10, "")];
        assert_eq!(open_fences(&twice), [None, None, Some("```\n"), None]);
    }

    #[test]
    fn sentences_read_as_code_by_their_signs() {
        for code in [
            "SELECT answer FROM rag_answer_details('Summarise the rules.', 'handbook');",
            "CREATE TABLE handbook (id integer PRIMARY KEY, body text) WITH (fillfactor = 50);",
            "if (a == b) { return c->d; }",
        ] {
            assert!(reads_as_code(code), "{code}");
        }
        for prose in [
            "Set `max_jobs = 4;` and call `rag_run('x');` then.",
            "The gate closes at ten; visitors leave then.",
            "See [providers.md](providers.md) and [the manual](index.md#how) for more of it.",
            "- the fee is due;",
            "Employees (of all kinds) have thirty days (a year).",
            "",
        ] {
            assert!(!reads_as_code(prose), "{prose}");
        }
    }

    proptest! {
        /// A text in pieces has the code that it has as a whole.
        #[test]
        fn pieces_know_of_the_code_before_them(
            lines in prop::collection::vec("(Text\\.|```|```sql|~~~|~~~~|x = 1;|)\n", 0..20), cut in 0_usize..20,
        ) {
            let text = lines.concat();
            let blocks = code_blocks(&text, None);
            prop_assert!(blocks.windows(2).all(|pair| pair[0].end <= pair[1].start));
            prop_assert!(blocks.iter().all(|block| !block.is_empty() && block.end <= text.len()));
            let cut = lines[..cut.min(lines.len())].concat().len();
            let (first, second) = text.split_at(cut);
            let open = open_fences(&[(0, first), (cut as u32, second)])[1];
            prop_assert_eq!(&without_code(&text, None)[cut..], &without_code(second, open)[..]);
        }

        #[test]
        fn any_text_has_blocks_in_order(text in "[`~ \\t\n#a-c=;.-]{0,60}|\\PC{0,40}", open in prop::option::of("[`~]{0,4}[a-c]{0,2}")) {
            let blocks = code_blocks(&text, open.as_deref());
            prop_assert!(blocks.windows(2).all(|pair| pair[0].end <= pair[1].start));
            prop_assert!(blocks.iter().all(|block| text.get(block.clone()).is_some_and(|it| !it.is_empty())));
            let prose = without_code(&text, open.as_deref());
            prop_assert_eq!(prose.chars().count(), text.chars().count());
        }
    }
}
