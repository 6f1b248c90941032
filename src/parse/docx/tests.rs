use super::*;
use crate::parse::tests::documents::{docx, docx_with, paragraph, word};

fn text(document: &[u8]) -> String {
    let parts = parse(document, &ParseLimits::default()).unwrap();
    parts.iter().map(|part| &*part.content).collect::<Vec<_>>().join("\n\n")
}

fn check(body: &str, expected: &str) {
    assert_eq!(text(&docx(body)), expected, "text of {body}");
}

fn item(list: u32, level: u32, text: &str) -> String {
    format!(
        "<w:p><w:pPr><w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"{list}\"/></w:numPr></w:pPr>\
         <w:r><w:t>{text}</w:t></w:r></w:p>"
    )
}

fn table(rows: &[&[&str]]) -> String {
    let cell = |text: &&str| format!("<w:tc>{}</w:tc>", paragraph("", text));
    let row =
        |cells: &&[&str]| format!("<w:tr>{}</w:tr>", cells.iter().map(cell).collect::<String>());
    format!("<w:tbl>{}</w:tbl>", rows.iter().map(row).collect::<String>())
}

#[test]
fn paragraphs_and_runs() {
    check(&paragraph("", "a &\u{a0}<b>"), "a & <b>");
    check(
        "<w:p><w:r><w:t>one</w:t></w:r><w:r><w:tab/><w:t>two</w:t><w:br/><w:t>three</w:t></w:r></w:p>",
        "one two\nthree",
    );
    check("<w:p><w:r><w:t>&#65;&quot;&unknown;<![CDATA[<c>]]></w:t></w:r></w:p>", "A\"<c>");
    check("<w:p/><w:p></w:p>", "");
    check("<w:p><w:hyperlink><w:r><w:t>link</w:t></w:r></w:hyperlink></w:p>", "link");
}

#[test]
fn headings_by_style_and_outline() {
    check(
        &[
            paragraph("Kop1", "A"),
            paragraph("", "a"),
            paragraph("Own", "B"),
            "<w:p><w:pPr><w:outlineLvl w:val=\"2\"/></w:pPr><w:r><w:t>C</w:t></w:r></w:p>".to_owned(),
            "<w:p><w:pPr><w:pStyle w:val=\"Kop1\"/><w:outlineLvl w:val=\"9\"/></w:pPr><w:r><w:t>d</w:t></w:r></w:p>"
                .to_owned(),
        ]
        .concat(),
        "# A\n\na\n\n## B\n\n### C\n\nd",
    );
    check(&(paragraph("Titel", "T") + &paragraph("Kop1", "A")), "# T\n\n## A");
}

#[test]
fn sections() {
    let body = [("", "intro"), ("Kop1", "A"), ("", "a"), ("Kop2", "B"), ("Kop1", "C")];
    let body: String = body.iter().map(|(style, text)| paragraph(style, text)).collect();
    let parts = parse(&docx(&body), &ParseLimits::default()).unwrap();
    let found: Vec<_> =
        parts.iter().map(|part| (part.heading.as_deref(), &*part.content)).collect();
    assert_eq!(found, [(None, "intro"), (Some("A"), "# A\n\na\n\n## B"), (Some("C"), "# C")]);
}

#[test]
fn lists() {
    check(
        &[
            item(1, 0, "a"),
            item(1, 1, "b"),
            item(2, 0, "c"),
            item(2, 1, "d"),
            item(2, 1, "e"),
            item(2, 0, "f"),
            item(2, 1, "g"),
            item(0, 0, "none"),
        ]
        .concat(),
        "- a\n  - b\n3. c\n  1. d\n  2. e\n4. f\n  1. g\n\nnone",
    );
}

#[test]
fn tables() {
    check(
        &(table(&[&["a", "b"], &["c", "d|"]]) + &paragraph("", "after")),
        "| a | b |\n| --- | --- |\n| c | d\\| |\n\nafter",
    );
    check(&table(&[&["frame"]]), "frame");
    let inner = table(&[&["x", "y"]]);
    check(
        &format!(
            "<w:tbl><w:tr><w:tc>{inner}</w:tc><w:tc>{}</w:tc></w:tr></w:tbl>",
            paragraph("", "z")
        ),
        "| x y | z |\n| --- | --- |",
    );
    check(
        "<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val=\"2\"/></w:tcPr><w:p><w:r><w:t>wide</w:t></w:r></w:p></w:tc></w:tr>\
         <w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc>\
         <w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>",
        "| wide |  |\n| --- | --- |\n| a |  |",
    );
}

#[test]
fn what_nobody_sees() {
    for hidden in [
        "<w:del><w:r><w:delText>x</w:delText></w:r></w:del>",
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>x</w:t></w:r>",
        "<w:r><w:instrText>PAGE</w:instrText></w:r>",
        "<mc:AlternateContent><mc:Fallback><w:r><w:t>x</w:t></w:r></mc:Fallback></mc:AlternateContent>",
        "<!-- x -->",
    ] {
        check(&format!("<w:p><w:r><w:t>a</w:t></w:r>{hidden}<w:r><w:t>b</w:t></w:r></w:p>"), "ab");
    }
    check(
        "<w:p><w:ins><w:r><w:rPr><w:vanish w:val=\"0\"/></w:rPr><w:t>kept</w:t></w:r></w:ins></w:p>",
        "kept",
    );
}

#[test]
fn text_boxes_and_notes() {
    check(
        "<w:p><w:r><w:t>outer</w:t><w:txbxContent><w:p><w:r><w:t>box</w:t></w:r></w:p></w:txbxContent></w:r></w:p>",
        "box\n\nouter",
    );
    let notes = "<w:footnote w:type=\"separator\" w:id=\"0\"><w:p/></w:footnote>\
                 <w:footnote w:id=\"1\"><w:p><w:r><w:t> the note</w:t></w:r></w:p></w:footnote>";
    let body = "<w:p><w:r><w:t>text</w:t></w:r><w:r><w:footnoteReference w:id=\"1\"/></w:r></w:p>";
    let notes = word("footnotes", notes);
    let document = docx_with(body, &[("word/footnotes.xml", &notes)]);
    assert_eq!(text(&document), "text[^1]\n\n[^1]: the note");
}

#[test]
fn the_body_may_be_elsewhere() {
    let relations = "<Relationships><Relationship Type=\"http://x/officeDocument\" Target=\"/word/document2.xml\"/></Relationships>";
    let other = word("document", &format!("<w:body>{}</w:body>", paragraph("", "second")));
    let more = [("_rels/.rels", relations), ("word/document2.xml", &*other)];
    assert_eq!(text(&docx_with(&paragraph("", "first"), &more)), "second");
}

#[test]
fn damage_is_named() {
    for body in ["<w:p>", "</w:p>", "<w:p></w:r>", "&"] {
        let error = parse(&docx(body), &ParseLimits::default()).unwrap_err();
        assert!(error.message().starts_with("DOCX document is damaged: "), "{body}: {error}");
    }
}
