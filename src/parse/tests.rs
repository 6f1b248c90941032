//! What holds for every format, whatever the bytes.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

#[allow(dead_code)]
#[path = "../../tests/support/documents.rs"]
pub mod documents;

const DOCX: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const TYPES: [&str; 5] = ["text/plain", "text/markdown", "text/html", "application/pdf", DOCX];

const PAGE: &str = "<!DOCTYPE html><title>T</title><h1>A</h1><p>b <b>c</b><ul><li>d<li>e</ul>\
    <table><tr><th>f<th>g<tr><td colspan=2>h</table><pre>i\n j</pre><!-- k --><p>l &amp; m";

/// Parses, and checks what holds for every answer. A panic inside counts as a failure.
fn checked(document: &[u8], mime: Option<&str>) -> Result<Vec<Part>> {
    let result = parse(document, mime, &ParseOptions::default(), &ParseLimits::default());
    match &result {
        Ok(parts) => {
            for part in parts {
                let is_strange = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
                assert!(!part.content.contains(is_strange), "{:?}", part.content);
                assert_eq!(part.content.trim_end(), part.content);
            }
        }
        Err(error) => assert!(!error.message().contains("gave up"), "{error}"),
    }
    result
}

/// A valid document of each format.
fn valid() -> Vec<Vec<u8>> {
    use documents::{compressed_pdf, docx, draw, draw_lines, paragraph, pdf};
    let table = "<w:tbl><w:tr><w:tc><w:p/></w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl>";
    let body = paragraph("Kop1", "Title") + &paragraph("", "Some text.") + table;
    let pages = [draw(72, 770, 24, "Title"), draw_lines(&["one", "two", "three"])];
    let pages = [&*pages[0], &*pages[1]];
    vec![
        b"Plain text.\r\nTwo lines.\n".to_vec(),
        b"# A\n\ntext\n\n- b\n- c\n\n|d|e|\n|-|-|\n|f|g|\n\n```\nh\n```\n".to_vec(),
        PAGE.as_bytes().to_vec(),
        pdf(&pages),
        compressed_pdf(&pages),
        docx(&body),
    ]
}

/// What happens to a file on its way.
#[derive(Clone, Debug)]
enum Harm {
    Change(usize, u8),
    Remove(usize, usize),
    Repeat(usize, usize),
    Truncate(usize),
}

fn harm() -> impl Strategy<Value = Harm> {
    prop_oneof![
        4 => (any::<usize>(), any::<u8>()).prop_map(|(place, byte)| Harm::Change(place, byte)),
        1 => (any::<usize>(), 1_usize..64).prop_map(|(place, length)| Harm::Remove(place, length)),
        1 => (any::<usize>(), 1_usize..64).prop_map(|(place, length)| Harm::Repeat(place, length)),
        1 => any::<usize>().prop_map(Harm::Truncate),
    ]
}

fn harmed(mut document: Vec<u8>, harms: &[Harm]) -> Vec<u8> {
    for harm in harms {
        let length = document.len();
        if length == 0 {
            break;
        }
        match *harm {
            Harm::Change(place, byte) => document[place % length] = byte,
            Harm::Remove(place, count) => {
                let start = place % length;
                document.drain(start..(start + count).min(length));
            }
            Harm::Repeat(place, count) => {
                let start = place % length;
                let piece = document[start..(start + count).min(length)].to_vec();
                document.splice(start..start, piece);
            }
            Harm::Truncate(place) => document.truncate(place % length),
        }
    }
    document
}

/// Words that no format takes for anything else.
fn words() -> impl Strategy<Value = String> {
    vec("[A-Za-z]{1,9}", 1..8).prop_map(|words| words.join(" "))
}

/// What was written, with single spaces.
fn flat(parts: &[Part]) -> String {
    let texts: Vec<&str> = parts.iter().map(|part| &*part.content).collect();
    texts.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn random_bytes(bytes in vec(any::<u8>(), 0..400), mime in proptest::option::of(select(&TYPES[..]))) {
        let _ = checked(&bytes, mime);
    }

    #[test]
    fn random_bytes_that_begin_well(
        bytes in vec(any::<u8>(), 0..400),
        start in select(&["%PDF-1.7\n1 0 obj <<", "PK\x03\x04", "<html>", "# A\n\n", "\u{feff}"][..]),
    ) {
        let _ = checked(&[start.as_bytes(), &bytes].concat(), None);
    }

    #[test]
    fn harmed_documents(number in 0_usize..6, harms in vec(harm(), 1..12)) {
        let document = harmed(valid().swap_remove(number), &harms);
        let _ = checked(&document, None);
    }

    #[test]
    fn random_pages(tags in vec(select(&[
        "<p>", "</p>", "<div>", "</div>", "<table>", "<tr>", "<td>", "</table>", "<ul>", "<li>", "</ul>",
        "<b>", "</b>", "<i>", "<a>", "</a>", "<h1>", "</h2>", "<pre>", "</pre>", "<svg>", "<template>",
        "<select>", "<option>", "<caption>", "<body>", "<html>", "<form>", "<math>", "x", "&amp;", "|", "\n# y",
    ][..]), 0..60)) {
        prop_assert!(checked(tags.concat().as_bytes(), Some("text/html")).is_ok());
    }

    #[test]
    fn random_bodies(tags in vec(select(&[
        "<w:p>", "</w:p>", "<w:r>", "</w:r>", "<w:t>", "</w:t>", "<w:tbl>", "</w:tbl>", "<w:tr>", "<w:tc>",
        "</w:tc>", "<w:br/>", "<w:pPr>", "</w:pPr>", "<w:numId w:val='2'/>", "<w:ilvl w:val='7'/>", "x", "&lt;",
        "<w:del>", "</w:del>", "<w:gridSpan w:val='9999999'/>", "<w:vMerge/>", "&#0;", "<w:outlineLvl w:val='-1'/>",
    ][..]), 0..60)) {
        let _ = checked(&documents::docx(&tags.concat()), Some(DOCX));
    }

    #[test]
    fn random_drawings(operators in vec(select(&[
        "BT ", "ET ", "/F1 10 Tf ", "/F2 0 Tf ", "(x) Tj ", "[(a) -500 (b)] TJ ", "1 0 0 1 9 9 cm ", "72 700 Td ",
        "0 0 0 0 0 0 Tm ", "1e30 0 0 1e30 1e30 0 Tm ", "0 1 -1 0 99 99 Tm ", "T* ", "q ", "Q ", "(\\377\\0) ' ",
        "/Artifact BMC ", "EMC ", "3 Tr ", "/X Do ", "BI ID x EI ", "-1 Tz ", "[[[ ",
    ][..]), 0..60)) {
        prop_assert!(checked(&documents::pdf(&[&operators.concat()]), None).is_ok());
    }

    #[test]
    fn what_is_written_is_read(title in words(), texts in vec(words(), 1..6)) {
        use documents::{compressed_pdf, docx, draw, paragraph, pdf};
        let expected = format!("# {title} {}", texts.join(" "));
        let body: String = texts.iter().map(|text| paragraph("", text)).collect();
        let word = docx(&(paragraph("Kop1", &title) + &body));
        prop_assert_eq!(flat(&checked(&word, None).unwrap()), &*expected);

        let body: String = texts.iter().map(|text| format!("<p>{text}</p>")).collect();
        let page = format!("<html><h1>{title}</h1>{body}");
        prop_assert_eq!(flat(&checked(page.as_bytes(), None).unwrap()), &*expected);

        let markdown = format!("# {title}\n\n{}", texts.join("\n\n"));
        prop_assert_eq!(flat(&checked(markdown.as_bytes(), None).unwrap()), &*expected);

        let lines = texts.iter().enumerate();
        let content: String = lines.map(|(n, text)| draw(40, 700 - 40 * n as i32, 10, text)).collect();
        for file in [pdf(&[&content]), compressed_pdf(&[&content])] {
            prop_assert_eq!(flat(&checked(&file, None).unwrap()), texts.join(" "));
        }
    }
}

#[test]
fn every_format_is_found_and_named() {
    for (document, mime) in valid().iter().zip([
        "text/plain",
        "text/markdown",
        "text/html",
        "application/pdf",
        "application/pdf",
        DOCX,
    ]) {
        let found = checked(document, None).unwrap();
        assert!(!found.is_empty());
        assert_eq!(found, checked(document, Some(mime)).unwrap());
    }
}

#[test]
fn white_space_has_no_parts() {
    for mime in ["text/plain", "text/markdown", "text/html"] {
        assert!(checked(b"", Some(mime)).unwrap().is_empty());
        assert!(checked(b" \r\n\t\n", Some(mime)).unwrap().is_empty());
    }
    assert!(checked(&documents::docx(""), None).unwrap().is_empty());
}

fn check_error(document: &[u8], mime: Option<&str>, kind: ErrorKind, words: &str) {
    let error =
        parse(document, mime, &ParseOptions::default(), &ParseLimits::default()).unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.message().contains(words), "{error}");
    assert!(error.hint_text().is_some(), "{error} without a hint");
}

#[test]
fn what_cannot_be_read() {
    use ErrorKind::{DocumentLimit, DocumentUnreadable};
    let [.., pdf, _, docx] = &valid()[..] else { panic!() };
    check_error(b"%PDF-1.7", None, DocumentUnreadable, "PDF document is damaged");
    check_error(&documents::encrypted_pdf(), None, DocumentUnreadable, "needs a password");
    check_error(&docx[..docx.len() / 2], None, DocumentUnreadable, "DOCX document is damaged");
    check_error(&documents::zip(&[("a", b"b")]), None, DocumentUnreadable, "application/zip");
    check_error(&documents::nested_docx(2000), None, DocumentLimit, "more than 512 deep");
    check_error("<div>".repeat(2000).as_bytes(), None, DocumentLimit, "more than 512 deep");
    assert!(
        parse(&pdf[..pdf.len() - 40], None, &ParseOptions::default(), &ParseLimits::default())
            .is_ok()
    );
}

#[test]
fn limits_are_kept() {
    let small = |limits: ParseLimits, document: &[u8]| {
        let error = parse(document, None, &ParseOptions::default(), &limits).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DocumentLimit, "{error}");
        error.message().to_owned()
    };
    let default = ParseLimits::default;
    let message = small(ParseLimits { document: 3, ..default() }, b"four");
    assert_eq!(message, "document has 4 bytes, the limit is 3");
    for document in valid() {
        small(ParseLimits { text: 5, ..default() }, &document);
    }
    let bomb = documents::docx_bomb(1 << 20);
    let message = small(ParseLimits { unzipped: 100_000, ..default() }, &bomb);
    assert!(message.contains("unzips to more than 100000 bytes"), "{message}");
    let message = small(ParseLimits { pages: 2, ..default() }, &documents::pdf(&["", "", ""]));
    assert!(message.contains("3 pages"), "{message}");
}

#[test]
fn pages_are_chosen() {
    let draw = |text| documents::draw(72, 700, 10, text);
    let pages = [draw("one"), draw("two"), draw("three")];
    let file = documents::pdf(&pages.each_ref().map(|page| &**page));
    let read = |first_page, last_page| {
        let options = ParseOptions { first_page, last_page, ..ParseOptions::default() };
        let parts = parse(&file, None, &options, &ParseLimits::default())?;
        Ok(parts.iter().map(|part| part.page.unwrap_or(0)).collect::<Vec<_>>())
    };
    let read = |first, last| -> Result<Vec<u32>> { read(first, last) };
    assert_eq!(read(None, None).unwrap(), [1, 2, 3]);
    assert_eq!(read(Some(2), None).unwrap(), [2, 3]);
    assert_eq!(read(Some(2), Some(2)).unwrap(), [2]);
    assert_eq!(read(None, Some(99)).unwrap(), [1, 2, 3]);
    assert_eq!(read(Some(9), None).unwrap(), [0; 0]);
    assert!(read(Some(3), Some(2)).is_err());
    assert!(read(Some(0), None).is_err());
    let options = ParseOptions { first_page: Some(1), ..ParseOptions::default() };
    let error = parse(b"text", None, &options, &ParseLimits::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
}
