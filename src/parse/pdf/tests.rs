use super::*;
use crate::parse::tests::documents::{draw, draw_lines, encrypted_pdf, nested_pdf, pdf};

fn parts(contents: &[&str]) -> Vec<Part> {
    parse(&pdf(contents), 0..usize::MAX, &ParseLimits::default()).unwrap()
}

fn check(content: &str, expected: &str) {
    assert_eq!(parts(&[content])[0].content, expected);
}

const LINES: [&str; 6] = [
    "The press has two rollers, an upper and a lower one, which",
    "must be cleaned every evening by the last person to leave.",
    "Ink is kept in the cellar, where it stays cool in summer and",
    "does not freeze in winter. Take the oldest tin first, please,",
    "and write the date on it. Paper comes on Mondays, and is put",
    "on the shelf beside the door by whoever is there to take it.",
];

#[test]
fn lines_are_joined_to_paragraphs() {
    check(&draw_lines(&LINES), &LINES.join(" "));
    check(&draw_lines(&["a word is bro-", "ken here"]), "a word is broken here");
    check("", "");
}

#[test]
fn pages_are_numbered() {
    let found = parts(&[&draw(72, 700, 10, "one"), "", &draw(72, 700, 10, "three")]);
    let found: Vec<_> = found.iter().map(|part| (part.page, &*part.content)).collect();
    assert_eq!(found, [(Some(1), "one"), (Some(2), ""), (Some(3), "three")]);
}

#[test]
fn large_letters_are_headings() {
    let first = draw(72, 800, 24, "The Press") + &draw(72, 785, 14, "Care") + &draw_lines(&LINES);
    let second =
        draw_lines(&LINES) + &draw(72, 400, 14, "2. Ink") + &draw(72, 380, 10, "It is black.");
    let third = draw(72, 800, 14, "Paper") + &draw_lines(&LINES);
    let found = parts(&[&first, &second, &third]);
    let text = LINES.join(" ");
    assert_eq!(found[0].content, format!("# The Press\n\n## Care\n\n{text}"));
    assert_eq!(found[1].content, format!("{text}\n\n## 2. Ink\n\nIt is black."));
    let headings: Vec<_> = found.iter().map(|part| part.heading.as_deref()).collect();
    assert_eq!(headings, [Some("The Press"), Some("Care"), Some("Paper")]);
}

#[test]
fn columns_are_read_one_after_the_other() {
    let title = draw(72, 800, 10, &"a title over both of the columns ".repeat(3));
    let column = |x: i32, name: &str| -> String {
        let line =
            |n: i32| draw(x, 760 - 12 * n, 10, &format!("{name} column, line {n} of its text"));
        (0..5).map(line).collect()
    };
    // Drawn line by line across the page, as some programs do.
    let (left, right) = (column(72, "left"), column(320, "right"));
    let across: String =
        left.lines().zip(right.lines()).map(|(a, b)| format!("{a}\n{b}\n")).collect();
    let found = &parts(&[&(title + &across)])[0].content;
    let order: Vec<_> =
        ["title", "left column, line 4", "right column, line 0", "right column, line 4"]
            .iter()
            .map(|words| found.find(words).unwrap())
            .collect();
    assert!(order.is_sorted(), "{found}");
}

#[test]
fn cells_below_each_other_are_a_table() {
    let rows = [("Part", "Pieces"), ("Roller", "2"), ("Screw", "16")];
    let content: String = rows
        .iter()
        .zip(0..)
        .map(|((a, b), n)| draw(72, 700 - 14 * n, 10, a) + &draw(250, 700 - 14 * n, 10, b))
        .collect();
    check(&content, "| Part | Pieces |\n| --- | --- |\n| Roller | 2 |\n| Screw | 16 |");
}

#[test]
fn lists_have_markers() {
    let content = draw_lines(&["Before the list:", "\\225 one".trim(), "1. first", "2. second"]);
    // A bullet is byte 0x95 in this font's encoding, which the escape of the text has hidden.
    let content = content.replace("\\\\225", "\\225");
    check(&content, "Before the list:\n\n- one\n1. first\n2. second");
}

#[test]
fn spaces_come_from_gaps() {
    check("BT /F1 10 Tf 72 700 Td [(two) -400 (words)] TJ ET", "two words");
    check("BT /F1 10 Tf 72 700 Td [(o) 20 (ne)] TJ ET", "one");
    check("BT /F1 10 Tf 72 700 Td (a) Tj 0 -40 Td (b) Tj ET", "a\n\nb");
}

#[test]
fn what_is_no_text_of_the_page() {
    let kept = draw(72, 700, 10, "kept");
    check(&format!("/Artifact BMC {} EMC {kept}", draw(72, 800, 10, "Header")), "kept");
    check(&(draw(72, 2000, 10, "outside") + &kept), "kept");
    check(&(kept.clone() + &kept), "kept");
    check(&format!("3 Tr {kept}"), "kept");
}

#[test]
fn turned_text_comes_last() {
    let turned = "BT /F1 10 Tf 0 1 -1 0 40 300 Tm (in the margin) Tj ET ";
    check(&format!("{turned} {}", draw_lines(&LINES)), &(LINES.join(" ") + "\n\nin the margin"));
}

#[test]
fn running_lines_go() {
    let page = |n: usize| {
        let line = format!("Page {n} has a text of its own: {}", "abc ".repeat(n));
        draw(72, 800, 8, "The Manual")
            + &draw(72, 700, 10, &line)
            + &draw(300, 40, 8, &n.to_string())
    };
    let pages: Vec<String> = (3..8).map(page).collect();
    let pages: Vec<&str> = pages.iter().map(|page| &**page).collect();
    for part in parts(&pages) {
        assert!(part.content.starts_with("Page "), "{}", part.content);
        assert!(part.content.ends_with("abc"), "{}", part.content);
    }
}

#[test]
fn nesting_and_encryption() {
    let found = parse(&nested_pdf(100), 0..usize::MAX, &ParseLimits::default()).unwrap();
    assert_eq!(found.len(), 1);
    assert!(parse(&nested_pdf(100_000), 0..usize::MAX, &ParseLimits::default()).is_ok());
    let error = parse(&encrypted_pdf(), 0..usize::MAX, &ParseLimits::default()).unwrap_err();
    assert_eq!(error.message(), "PDF document is encrypted and needs a password");
}
