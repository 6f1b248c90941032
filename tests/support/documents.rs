//! Documents for tests, made here: PDF, DOCX, and some that mean harm.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Operators that draw `text` in Helvetica at a place counted in points from the lower left.
pub fn draw(x: i32, y: i32, size: i32, text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)");
    format!("BT /F1 {size} Tf {x} {y} Td ({text}) Tj ET\n")
}

/// `lines` of size 10 one below the other, from the top of an A4 page.
pub fn draw_lines(lines: &[&str]) -> String {
    let line = |(number, text): (usize, &&str)| draw(72, 770 - 12 * number as i32, 10, text);
    lines.iter().enumerate().map(line).collect()
}

/// A PDF with a page for each of `contents`, which are operators.
pub fn pdf(contents: &[&str]) -> Vec<u8> {
    let streams: Vec<Vec<u8>> = contents.iter().map(|text| text.as_bytes().to_vec()).collect();
    pdf_of(&streams, "", "", &[])
}

/// The same, deflated as most PDFs are.
pub fn compressed_pdf(contents: &[&str]) -> Vec<u8> {
    let streams: Vec<Vec<u8>> = contents.iter().map(|text| deflated(text.as_bytes())).collect();
    pdf_of(&streams, "/Filter /FlateDecode", "", &[])
}

/// A PDF that cannot be read without a password.
pub fn encrypted_pdf() -> Vec<u8> {
    let secret = "<28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A>";
    let trailer = format!(
        "/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O {secret} /U {secret} >> \
         /ID [<0123456789ABCDEF0123456789ABCDEF> <0123456789ABCDEF0123456789ABCDEF>]"
    );
    pdf_of(&[b"".to_vec()], "", &trailer, &[])
}

/// A PDF whose only page, of some kilobytes, unpacks to `size` bytes: runs of 128 spaces in
/// two bytes each, deflated.
pub fn pdf_bomb(size: usize) -> Vec<u8> {
    let runs = [129, b' '].repeat(size / 128);
    pdf_of(&[deflated(&runs)], "/Filter [/FlateDecode /RunLengthDecode]", "", &[])
}

/// A PDF that draws forms in forms in forms, ten each: no time is enough.
pub fn endless_pdf() -> Vec<u8> {
    let resources = |next: usize| {
        format!("/Resources << /Font << /F1 3 0 R >> /XObject << /X {next} 0 R >> >>")
    };
    // The pages' objects come first: two for the single page.
    let first = FIRST_PAGE + 2;
    let forms: Vec<String> = (0..20)
        .map(|number| {
            let next = first + (number + 1) % 20;
            let content = "/X Do ".repeat(10) + &draw(9000, 9000, 1, "x");
            format!(
                "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] {} /Length {} >>\n\
                 stream\n{content}\nendstream",
                resources(next),
                content.len()
            )
        })
        .collect();
    let page = format!("/XObject << /X {first} 0 R >>");
    pdf_with_resources(&[b"/X Do".to_vec()], "", "", &forms, &page)
}

/// A PDF whose single object is nested `depth` deep.
pub fn nested_pdf(depth: usize) -> Vec<u8> {
    let arrays = "[".repeat(depth) + &"]".repeat(depth);
    let dictionaries = "<< /A ".repeat(depth) + "1" + &">>".repeat(depth);
    let content = format!("{arrays} TJ {dictionaries} BDC {}", draw(72, 700, 10, "end"));
    pdf_of(&[content.into_bytes()], "", "", &[arrays, dictionaries])
}

const FIRST_PAGE: usize = 4;

fn pdf_of(streams: &[Vec<u8>], filter: &str, trailer: &str, more: &[String]) -> Vec<u8> {
    pdf_with_resources(streams, filter, trailer, more, "")
}

fn pdf_with_resources(
    streams: &[Vec<u8>],
    filter: &str,
    trailer: &str,
    more: &[String],
    resources: &str,
) -> Vec<u8> {
    let page_of = |number: usize| FIRST_PAGE + 2 * number;
    let kids: String = (0..streams.len()).map(|n| format!("{} 0 R ", page_of(n))).collect();
    let mut objects: Vec<Vec<u8>> = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", streams.len()).into_bytes(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
            .to_vec(),
    ];
    for (number, stream) in streams.iter().enumerate() {
        let page = format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {} 0 R \
             /Resources << /Font << /F1 3 0 R >> {resources} >> >>",
            page_of(number) + 1
        );
        let mut content = format!("<< /Length {} {filter} >>\nstream\n", stream.len()).into_bytes();
        content.extend_from_slice(stream);
        content.extend_from_slice(b"\nendstream");
        objects.extend([page.into_bytes(), content]);
    }
    objects.extend(more.iter().map(|object| object.as_bytes().to_vec()));
    assembled(&objects, trailer)
}

fn assembled(objects: &[Vec<u8>], trailer: &str) -> Vec<u8> {
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut table = String::new();
    for (number, object) in objects.iter().enumerate() {
        writeln!(table, "{:010} 00000 n ", file.len()).unwrap();
        file.extend(format!("{} 0 obj\n", number + 1).bytes());
        file.extend_from_slice(object);
        file.extend(b"\nendobj\n");
    }
    let (start, size) = (file.len(), objects.len() + 1);
    let end = format!(
        "xref\n0 {size}\n0000000000 65535 f \n{table}\
         trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\nstartxref\n{start}\n%%EOF\n"
    );
    file.extend(end.bytes());
    file
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A zip archive.
pub fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

const CONTENT_TYPES: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\
    <Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>";

const WORD: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";

/// An element of Word's with `inner` in it.
pub fn word(name: &str, inner: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<w:{name} xmlns:w=\"{WORD}\">{inner}</w:{name}>"
    )
}

/// A DOCX with `body` between the tags of the body, and further files.
pub fn docx_with(body: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let document = word("document", &format!("<w:body>{body}<w:sectPr/></w:body>"));
    let mut files: Vec<(&str, &[u8])> = vec![
        ("[Content_Types].xml", CONTENT_TYPES.as_bytes()),
        ("word/document.xml", document.as_bytes()),
    ];
    files.extend(more.iter().map(|(name, text)| (*name, text.as_bytes())));
    zip(&files)
}

/// A DOCX with the styles that Word has.
pub fn docx(body: &str) -> Vec<u8> {
    let styles = "<w:style w:type=\"paragraph\" w:default=\"1\" w:styleId=\"Normal\"><w:name w:val=\"Normal\"/></w:style>\
        <w:style w:type=\"paragraph\" w:styleId=\"Titel\"><w:name w:val=\"Title\"/></w:style>\
        <w:style w:type=\"paragraph\" w:styleId=\"Kop1\"><w:name w:val=\"heading 1\"/><w:basedOn w:val=\"Normal\"/></w:style>\
        <w:style w:type=\"paragraph\" w:styleId=\"Kop2\"><w:name w:val=\"heading 2\"/><w:basedOn w:val=\"Kop1\"/></w:style>\
        <w:style w:type=\"paragraph\" w:styleId=\"Own\"><w:name w:val=\"My heading\"/><w:basedOn w:val=\"Kop2\"/></w:style>";
    let lists = "<w:abstractNum w:abstractNumId=\"0\"><w:lvl w:ilvl=\"0\"><w:start w:val=\"1\"/><w:numFmt w:val=\"bullet\"/></w:lvl></w:abstractNum>\
        <w:abstractNum w:abstractNumId=\"1\"><w:lvl w:ilvl=\"0\"><w:start w:val=\"3\"/><w:numFmt w:val=\"decimal\"/></w:lvl>\
        <w:lvl w:ilvl=\"1\"><w:start w:val=\"1\"/><w:numFmt w:val=\"lowerLetter\"/></w:lvl></w:abstractNum>\
        <w:num w:numId=\"1\"><w:abstractNumId w:val=\"0\"/></w:num>\
        <w:num w:numId=\"2\"><w:abstractNumId w:val=\"1\"/></w:num>";
    let (styles, lists) = (word("styles", styles), word("numbering", lists));
    docx_with(body, &[("word/styles.xml", &styles), ("word/numbering.xml", &lists)])
}

/// A paragraph of a DOCX in `style`, "" for none.
pub fn paragraph(style: &str, text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let style = match style {
        "" => String::new(),
        style => format!("<w:pPr><w:pStyle w:val=\"{style}\"/></w:pPr>"),
    };
    format!("<w:p>{style}<w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r></w:p>")
}

/// A DOCX of a few kilobytes whose body unzips to more than `size` bytes.
pub fn docx_bomb(size: usize) -> Vec<u8> {
    let paragraph = paragraph("", &"bomb ".repeat(200));
    docx(&paragraph.repeat(size / paragraph.len() + 1))
}

/// A DOCX with elements `depth` deep.
pub fn nested_docx(depth: usize) -> Vec<u8> {
    docx(&("<w:sdt>".repeat(depth) + &"</w:sdt>".repeat(depth)))
}
