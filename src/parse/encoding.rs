//! From bytes to characters.
//!
//! A byte order mark decides, then what the caller declares, then UTF-16's zeros, then
//! whether it is UTF-8 (other encodings hardly ever are by accident), then what an HTML page
//! says about itself, then a guess from the frequency of letters.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::unreadable;
use crate::error::{Error, Result};

/// Bytes in which a page says what its encoding is, as browsers have it.
const PRESCAN: usize = 1024;

/// At most one in so many characters of a text is a control character.
const CONTROLS: usize = 50;

/// The encoding called `label`, in any of its names.
pub fn by_label(label: &str) -> Result<&'static Encoding> {
    Encoding::for_label(label.as_bytes()).ok_or_else(|| {
        Error::invalid(format!("unknown encoding \"{label}\""))
            .hint("For instance utf-8, windows-1252, iso-8859-2, shift_jis or gb18030.")
    })
}

/// `bytes` as text, with line ends `\n` and no control characters but tabs.
///
/// What an encoding doesn't have becomes U+FFFD. Fails if the bytes are no text.
pub fn decode(bytes: &[u8], declared: Option<&'static Encoding>) -> Result<String> {
    let text = match utf32(bytes) {
        Some(text) => text,
        None => to_text(bytes, declared),
    };
    let controls = text.chars().filter(|c| is_control(*c)).count();
    if controls * CONTROLS > text.chars().count() {
        return Err(unreadable("document is no text and of no format that is known")
            .hint("Text, Markdown, HTML, PDF and DOCX can be parsed."));
    }
    Ok(clean(&text))
}

/// Whether `bytes` are a text in UTF-8, whatever a signature says that is short enough to
/// begin a sentence.
pub fn is_utf8_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| !text.chars().any(is_control))
}

fn is_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\x0c' | '\x1b' | '\u{85}')
}

fn to_text(bytes: &[u8], declared: Option<&'static Encoding>) -> String {
    let encoding = match Encoding::for_bom(bytes) {
        Some((encoding, _)) => encoding,
        None => declared.or_else(|| utf16(bytes)).unwrap_or_else(|| guess(bytes)),
    };
    encoding.decode_with_bom_removal(bytes).0.into_owned()
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    let said = said_in_html(bytes);
    // ISO-2022-JP is ASCII with escapes to look at.
    let has_escapes = bytes.is_ascii() && bytes.contains(&0x1b);
    if std::str::from_utf8(bytes).is_ok() && !has_escapes {
        return UTF_8;
    }
    said.unwrap_or_else(|| {
        let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
        detector.feed(bytes, true);
        detector.guess(None, Utf8Detection::Allow)
    })
}

/// UTF-16 without a mark: every other byte of a text in a Latin script is a zero.
fn utf16(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(PRESCAN) & !1];
    let zeros = |offset: usize| head.iter().skip(offset).step_by(2).filter(|b| **b == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    let units = head.len() / 2;
    match () {
        () if units == 0 || bytes.len() % 2 == 1 => None,
        () if odd * 3 > units && even * 20 < units => Some(UTF_16LE),
        () if even * 3 > units && odd * 20 < units => Some(UTF_16BE),
        () => None,
    }
}

/// UTF-32, which the web doesn't have, by its mark.
fn utf32(bytes: &[u8]) -> Option<String> {
    let is_little = bytes.starts_with(&[0xff, 0xfe, 0, 0]);
    if !is_little && !bytes.starts_with(&[0, 0, 0xfe, 0xff]) {
        return None;
    }
    let units = bytes[4..].chunks(4).map(|unit| {
        let unit = unit.try_into().ok()?;
        let number = if is_little { u32::from_le_bytes(unit) } else { u32::from_be_bytes(unit) };
        char::from_u32(number)
    });
    Some(units.map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

/// The encoding that a `meta` element or an XML declaration names, if `bytes` begin with a tag.
fn said_in_html(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes[..bytes.len().min(PRESCAN)].to_ascii_lowercase();
    if !head.trim_ascii_start().starts_with(b"<") {
        return None;
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let in_meta = head
        .split("<meta")
        .skip(1)
        .filter_map(|tag| tag.split('>').next())
        .find_map(|tag| value_after(tag, "charset"));
    let in_declaration = || {
        let declaration = head.trim_start().strip_prefix("<?xml")?.split("?>").next()?;
        value_after(declaration, "encoding")
    };
    let label = in_meta.or_else(in_declaration)?;
    let encoding = Encoding::for_label(label.as_bytes())?;
    // The name was read in ASCII, so it can't be UTF-16.
    Some(if [UTF_16LE, UTF_16BE].contains(&encoding) { UTF_8 } else { encoding })
}

/// `x` in `name = "x"`.
fn value_after<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = text[text.find(name)? + name.len()..].trim_start().strip_prefix('=')?;
    let rest = rest.trim_start().trim_start_matches(['"', '\'']);
    let end = rest.find(|c: char| c.is_whitespace() || "\"';/>?".contains(c));
    Some(&rest[..end.unwrap_or(rest.len())])
}

/// Line ends as `\n`; a form feed is one too. Other control characters go.
fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut characters = text.strip_prefix('\u{feff}').unwrap_or(text).chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' if characters.peek() == Some(&'\n') => {}
            '\r' | '\x0c' | '\u{85}' => cleaned.push('\n'),
            '\t' | '\n' => cleaned.push(character),
            _ if character.is_control() => {}
            _ => cleaned.push(character),
        }
    }
    cleaned
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: &str) {
        assert_eq!(decode(bytes, None).unwrap(), expected);
    }

    fn encoded(label: &str, text: &str) -> Vec<u8> {
        let (bytes, _, lost) = by_label(label).unwrap().encode(text);
        assert!(!lost, "{text} is not in {label}");
        bytes.into_owned()
    }

    #[test]
    fn marks() {
        check("\u{feff}Grüße".as_bytes(), "Grüße");
        let utf16: Vec<u16> = "\u{feff}Grüße 東京 👍".encode_utf16().collect();
        let little: Vec<u8> = utf16.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = utf16.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        check(&little, "Grüße 東京 👍");
        check(&big, "Grüße 東京 👍");
        let utf32: Vec<u8> = "\u{feff}ß👍".chars().flat_map(|c| (c as u32).to_le_bytes()).collect();
        check(&utf32, "ß👍");
        let utf32: Vec<u8> = "\u{feff}ß👍".chars().flat_map(|c| (c as u32).to_be_bytes()).collect();
        check(&utf32, "ß👍");
    }

    #[test]
    fn without_marks() {
        check("naïve — “quoted” 東京".as_bytes(), "naïve — “quoted” 東京");
        let text = "A file from Windows, with lines.";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        check(&little, text);
        check(&big, text);
    }

    #[test]
    fn guesses() {
        for (label, text) in [
            (
                "windows-1252",
                "Die Straße nach Köln führt über die alte Brücke; das Café hat geöffnet.",
            ),
            ("windows-1251", "Съешь же ещё этих мягких французских булок, да выпей чаю."),
            ("shift_jis", "東京は日本の首都です。人口は約千四百万人です。"),
            ("iso-2022-jp", "東京は日本の首都です。人口は約千四百万人です。"),
            ("gb18030", "北京是中华人民共和国的首都，是全国的政治中心。"),
            ("euc-kr", "서울은 대한민국의 수도이자 최대 도시이다."),
            ("windows-1253", "Η Αθήνα είναι η πρωτεύουσα της Ελλάδας."),
            ("iso-8859-2", "Příliš žluťoučký kůň úpěl ďábelské ódy."),
        ] {
            check(&encoded(label, text), text);
        }
    }

    #[test]
    fn pages_say_what_they_are() {
        for head in [
            "<meta charset=\"iso-8859-5\">",
            "<META http-equiv=x content='text/html; charset=ISO-8859-5'>",
            "<?xml version='1.0' encoding='iso-8859-5'?><html>",
        ] {
            let text = format!("{head}<p>фы");
            check(&encoded("iso-8859-5", &text), &text);
        }
        check("<meta charset=latin1>Grüße".as_bytes(), "<meta charset=latin1>Grüße");
        let text = "<meta charset=iso-2022-jp>東京";
        check(&encoded("iso-2022-jp", text), text);
        check(b"<meta charset=utf-16>x", "<meta charset=utf-16>x");
        check(b"<meta charset=", "<meta charset=");
    }

    #[test]
    fn the_caller_is_believed() {
        let bytes = "Grüße".as_bytes();
        let latin = by_label("latin1").ok();
        assert_eq!(decode(bytes, latin).unwrap(), "GrÃ¼ÃŸe");
        assert_eq!(decode(b"\xef\xbb\xbfx", latin).unwrap(), "x");
        assert!(by_label("klingon").unwrap_err().message().contains("klingon"));
    }

    #[test]
    fn lines_and_controls() {
        check(b"a\r\nb\rc\nd\x0ce\tf", "a\nb\nc\nd\ne\tf");
        let mostly = format!("{}\0{}", "x".repeat(60), "y".repeat(60));
        check(mostly.as_bytes(), &mostly.replace('\0', ""));
        assert!(decode(b"\0\0\0", None).is_err());
        assert!(decode(&(0..=255).collect::<Vec<u8>>(), None).is_err());
        check(b"", "");
    }
}
