//! # sentence: where does a sentence end?
//!
//! ```text
//! text → byte ranges of its sentences, in order
//! ```
//!
//! The rules of UAX #29 know terminators, quotes and brackets of every script, but no
//! abbreviations and no layout. So three steps:
//!
//! 1. Lines are grouped into blocks. A blank line, a heading, a list item, a table row or a
//!    fence ends a block; a single newline within a paragraph does not.
//! 2. UAX #29 cuts each block. It takes a small letter for a sentence that goes on, so cuts are added before code and
//!    before names that only programs have ("`max_jobs` is …").
//! 3. Cuts that [`abbreviation`](super::abbreviation) knows to be no ends are taken back,
//!    and brackets that the rules leave on the wrong side go where they belong.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::abbreviation::{is_end, is_opening, is_shortened};
use super::line::{Line, LineKind, lines};

/// After so many characters without a letter or digit, text is taken for a rule or a
/// dotted leader and cut. UAX #29's rule SB8 looks ahead from each character of such a run,
/// which takes quadratic time in the length of the run.
const LONGEST_QUIET_RUN: usize = 64;

/// After so many bytes a line that goes on is looked at anew, so that the caller may stop.
const LONGEST_WINDOW: usize = 1 << 16;

/// Longest reference mark ("[12, 14]", "[citation needed]") that stays with the sentence before
/// it, in bytes.
const LONGEST_REFERENCE: usize = 48;

/// Longest name of something of a program that is recognized, in bytes.
const LONGEST_NAME: usize = 64;

/// How polite questions of Japanese end that have no question mark. The particle alone also ends words ("明らか") and
/// doubts ("だろうか").
const POLITE_QUESTIONS: &[&str] = &["ですか", "ますか", "ましたか", "ませんか"];

/// Byte ranges of the sentences of `text`, in order.
///
/// They cover the text but for white space, which no range begins or ends with.
/// Text that has no sentences (a heading, a list item, a table row) counts as one each.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    sentences_interruptibly(text, &mut || {})
}

/// Byte ranges of the sentences of `text`, in order, as [`sentences`] gives them. `interrupt` is
/// called every 64 KiB and for each paragraph, and may unwind.
pub fn sentences_interruptibly(text: &str, interrupt: &mut dyn FnMut()) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let caseless = is_caseless(text);
    for block in blocks(text, interrupt) {
        let from = block.start;
        cut_block((&text[block], from), caseless, &mut found, interrupt);
    }
    found
}

/// Whether a sentence asks something, by the sign at its end. That of Greek is, or looks like, a semicolon, and polite
/// questions of Japanese have a particle before a full stop.
pub fn is_question(sentence: &str) -> bool {
    let is_greek = |c: char| matches!(c, '\u{0370}'..='\u{037D}' | '\u{037F}'..='\u{03FF}');
    let asks = |it: &str| POLITE_QUESTIONS.iter().any(|end| it.ends_with(end));
    sentence.ends_with(['?', '？', '؟', '\u{037E}'])
        || sentence.strip_suffix(';').is_some_and(|it| it.ends_with(is_greek))
        || sentence.strip_suffix('。').is_some_and(asks)
}

/// The part of `range` that is left without white space at both ends; `None` if nothing is.
pub(crate) fn trimmed(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let piece = &text[range.clone()];
    let rest = piece.trim_start();
    let start = range.start + (piece.len() - rest.len());
    let end = start + rest.trim_end().len();
    (start < end).then_some(start..end)
}

/// Whether the author (or a preprocessing step) wrote without capitals.
///
/// There a full stop before a small letter is an end, which it is not in other texts.
fn is_caseless(text: &str) -> bool {
    let mut upper = 0usize;
    let mut lower = 0usize;
    for (at, byte) in text.bytes().enumerate() {
        upper += usize::from(byte.is_ascii_uppercase());
        lower += usize::from(byte.is_ascii_lowercase());
        // Ordinary prose shows within a few lines that it has capitals.
        if at % 4096 == 4095 && upper * 100 > lower {
            return false;
        }
    }
    lower > 0 && upper * 500 < lower
}

/// Byte ranges of runs of lines within which sentences may go on from line to line.
fn blocks(text: &str, interrupt: &mut dyn FnMut()) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut open = false;
    for Line { range, kind } in lines(text) {
        interrupt();
        match kind {
            LineKind::Blank => open = false,
            LineKind::Text if open => {
                if let Some(block) = blocks.last_mut() {
                    block.end = range.end;
                }
            }
            LineKind::Text | LineKind::Item => {
                blocks.push(range);
                open = true;
            }
            LineKind::Alone => {
                blocks.push(range);
                open = false;
            }
        }
    }
    blocks
}

/// Adds the sentences of a block, which starts at a byte `offset` of the text.
fn cut_block(
    (block, offset): (&str, usize),
    caseless: bool,
    found: &mut Vec<Range<usize>>,
    interrupt: &mut dyn FnMut(),
) {
    let flat = flatten(block, caseless);
    let mut start = 0;
    let mut all = cuts(&flat, LONGEST_WINDOW, interrupt);
    all.extend(cuts_before_names(&flat));
    all.sort_unstable();
    for cut in all {
        let Some(end) = moved_past_brackets(&flat, start, cut) else { continue };
        let cut = end + emphasis_end(&flat[start..end], &flat[end..]);
        if cut < block.len() && !is_end(&flat[start..end], &flat[cut..], caseless) {
            continue;
        }
        if let Some(sentence) = trimmed(block, start..cut) {
            found.push(offset + sentence.start..offset + sentence.end);
        }
        start = cut;
    }
    if let Some(sentence) = trimmed(block, start..block.len()) {
        found.push(offset + sentence.start..offset + sentence.end);
    }
}

/// `block` as one line, with capitals where it has none; byte offsets stay the same.
fn flatten(block: &str, caseless: bool) -> Cow<'_, str> {
    let has_newline = block.bytes().any(|byte| byte == b'\n' || byte == b'\r');
    let mut flat = Cow::Borrowed(block);
    if has_newline {
        flat = Cow::Owned(block.replace(['\n', '\r'], " "));
    }
    if caseless {
        flat = Cow::Owned(flat.to_ascii_uppercase());
    }
    flat
}

/// The ends of the sentences of one line by UAX #29, in order.
fn cuts(line: &str, longest: usize, interrupt: &mut dyn FnMut()) -> Vec<usize> {
    let mut cuts = Vec::new();
    for SentenceWindow { text, end, goes_on } in windows(line, longest) {
        interrupt();
        let start = text.start;
        let bounds = line[text].split_sentence_bound_indices();
        cuts.extend(bounds.map(|(at, sentence)| start + at + sentence.len()));
        // What is left of a long run belongs to the sentence before it.
        cuts.pop();
        if !goes_on {
            cuts.push(end);
        }
    }
    cuts
}

/// Where a full stop stands before code or before the name of something of a program, both of which begin in a small letter at
/// the beginning of a sentence, too.
fn cuts_before_names(line: &str) -> Vec<usize> {
    let (mut cuts, mut seen, mut in_code) = (Vec::new(), 0, false);
    for (stop, _) in line.match_indices(". ") {
        in_code ^= line[seen..stop].matches('`').count() % 2 == 1;
        seen = stop;
        let behind = &line[stop + 1..];
        let gap = behind.len() - behind.trim_start_matches(' ').len();
        let rest = &behind[gap..];
        let begins = (rest.starts_with('`') || is_name_of_program(rest)) && !goes_on(rest);
        if begins && !in_code && !is_shortened(&line[..stop]) {
            cuts.push(stop + 1 + gap);
        }
    }
    cuts
}

/// Whether `text`, which begins with a name of something of a program, says what that does with what stands before: "rag_parse
/// reads it".
fn goes_on(text: &str) -> bool {
    let object = text.split_whitespace().nth(2).unwrap_or_default();
    matches!(object.trim_end_matches(['.', ',', ';']), "it" | "them" | "this" | "these")
}

/// Whether `text` begins with a word that only programs have, in small letters: "max_jobs", "llama.cpp", "now()".
fn is_name_of_program(text: &str) -> bool {
    let head = &text[..text.floor_char_boundary(LONGEST_NAME)];
    let word = head.split([' ', ',', ';', ':']).next().unwrap_or_default();
    let name = word.trim_end_matches("()");
    let is_part = |part: &str| {
        part.chars().nth(1).is_some() && part.chars().all(|c| c.is_ascii_alphanumeric())
    };
    let joins = |sign: char| name.contains(sign) && name.split(sign).all(is_part);
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && (joins('_') || joins('.') || name.len() < word.len())
}

/// A part of a line that UAX #29 may look at in one go.
struct SentenceWindow {
    /// What it looks at.
    text: Range<usize>,
    /// Where the rest of the run that ends it ends.
    end: usize,
    /// Whether it ends within a sentence.
    goes_on: bool,
}

/// Cuts `line` after each run of at least [`LONGEST_QUIET_RUN`] characters that are neither
/// letter nor digit, and after `longest` bytes where no sentence can end.
fn windows(line: &str, longest: usize) -> impl Iterator<Item = SentenceWindow> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let window = (start < line.len()).then(|| window(line, start, longest))?;
        start = window.end;
        Some(window)
    })
}

/// The window that begins at `start`.
fn window(line: &str, start: usize, longest: usize) -> SentenceWindow {
    let (mut quiet, mut stop, mut before) = (0, None, ' ');
    for (at, character) in line[start..].char_indices() {
        let at = start + at;
        if at - start >= longest && stop.is_none() && is_inside(before, character) {
            return SentenceWindow { text: start..at, end: at, goes_on: true };
        }
        quiet = if character.is_alphanumeric() { 0 } else { quiet + 1 };
        if quiet == LONGEST_QUIET_RUN {
            stop = Some(at + character.len_utf8());
        } else if let (0, Some(text_end)) = (quiet, stop) {
            return SentenceWindow { text: start..text_end, end: at, goes_on: false };
        }
        before = character;
    }
    let text = start..stop.unwrap_or(line.len());
    SentenceWindow { text, end: line.len(), goes_on: false }
}

/// Whether no rule of UAX #29 needs both what is before a place between these characters and what
/// is after it: the first is a letter, which ends every look ahead, and the second neither ends a
/// sentence nor changes the letter.
fn is_inside(before: char, after: char) -> bool {
    is_plain_letter(before) && (is_plain_letter(after) || after == ' ')
}

/// A letter of one of the common scripts, and no sign that combines with it.
fn is_plain_letter(character: char) -> bool {
    let is_common = matches!(character,
        'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' | '\u{391}'..='\u{3ff}'
        | '\u{400}'..='\u{481}' | '\u{48a}'..='\u{52f}' | '\u{5d0}'..='\u{5ea}' | '\u{620}'..='\u{64a}'
        | '\u{e01}'..='\u{e2e}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}');
    is_common && character.is_alphabetic()
}

/// `cut`, or the place beside a bracket where the cut should have been.
///
/// UAX #29 treats opening and closing brackets alike, so that it leaves the opening one
/// of "end.(Next" and the whole beginning of "end.[12] Next" with the sentence before.
/// `None`: there is nothing to cut.
fn moved_past_brackets(line: &str, start: usize, cut: usize) -> Option<usize> {
    if cut <= start {
        return None;
    }
    let before = &line[start..cut];
    let kept = before.trim_end_matches(is_opening);
    if kept.len() == before.len() || cut == line.len() {
        return Some(cut);
    }
    if before.ends_with('[')
        && let Some(end) = reference_end(line, cut)
    {
        return Some(end);
    }
    (!kept.is_empty()).then_some(start + kept.len())
}

/// The length of what closes the emphasis of Markdown in `rest`, which a sentence has opened: that of `**`
/// in "**Size.** It is small."
fn emphasis_end(sentence: &str, rest: &str) -> usize {
    let behind = rest.trim_start_matches(['*', '_']);
    let signs = &rest[..rest.len() - behind.len()];
    let closes = !signs.is_empty()
        && !sentence.ends_with(char::is_whitespace)
        && (behind.is_empty() || behind.starts_with(char::is_whitespace))
        && sentence.matches(signs).count() % 2 == 1;
    if closes { signs.len() } else { 0 }
}

/// The end of the reference marks ("[3][4]") whose first opening bracket is just before `at`.
fn reference_end(line: &str, at: usize) -> Option<usize> {
    let mut end = None;
    let mut rest = &line[at..];
    while let Some(length) = reference_length(rest) {
        let so_far = line.len() - rest.len() + length;
        end = Some(so_far);
        let Some(next) = line[so_far..].strip_prefix('[') else { break };
        rest = next;
    }
    end
}

/// The length of the reference mark that `rest` begins with, closing bracket included.
fn reference_length(rest: &str) -> Option<usize> {
    let close = rest.bytes().take(LONGEST_REFERENCE).position(|byte| byte == b']')?;
    rest[..close]
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, ',' | ';' | ' ' | '-' | '–'))
        .then_some(close + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_of_programs_begin_sentences_in_small_letters() {
        check("Set `a`. `b` is off.", &["Set `a`.", "`b` is off."]);
        check(
            "It needs no key. llama.cpp runs models. max_jobs is 7. now() is later.",
            &["It needs no key.", "llama.cpp runs models.", "max_jobs is 7.", "now() is later."],
        );
        check("Lines wrap.\n`b` is off.", &["Lines wrap.", "`b` is off."]);
        // Within code, behind what is shortened, and before other small letters.
        for whole in [
            "Call `f. g` and `h. max_jobs i` now.",
            "Set it, e.g. `b` or `c`.",
            "At most incl. max_jobs and approx. `b`.",
            "The docs of Acme Inc. max_jobs is on.",
            "It is about. small letters.",
            "A file is text. rag_parse reads it.",
            "See p. max_ or x. a.b there.",
        ] {
            check(whole, &[whole]);
        }
    }

    #[test]
    fn emphasis_ends_with_what_it_emphasizes() {
        check("**Size.** With it an index is small.", &["**Size.**", "With it an index is small."]);
        check("*It is so.* _And so._ Or not.", &["*It is so.*", "_And so._", "Or not."]);
        check("It is **so.** And __so.__", &["It is **so.**", "And __so.__"]);
        // What opens belongs to the next one, and so does what opens nothing.
        check("It is. **Size** matters.", &["It is.", "**Size** matters."]);
        check("It is.** Size matters.", &["It is.", "** Size matters."]);
        check("**Dr.** Smith came. **He** sat.", &["**Dr.** Smith came.", "**He** sat."]);
    }

    /// The sentences of `text` are `expected`.
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<&str> = sentences(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, expected, "sentences of {text:?}");
    }

    #[test]
    fn a_word_may_begin_with_a_full_stop() {
        check("Can it read .Z files? No.", &["Can it read .Z files?", "No."]);
        check("It needs .NET 8. Or more.", &["It needs .NET 8.", "Or more."]);
        check("It is so .Then it ends.", &["It is so .Then it ends."]);
    }

    #[test]
    fn stops_and_quotes() {
        check("", &[]);
        check(" \n\t ", &[]);
        check("One", &["One"]);
        check("One. Two! Three?  Four", &["One.", "Two!", "Three?", "Four"]);
        check("He said \"Go.\" She went.", &["He said \"Go.\"", "She went."]);
        check("(Really.) Yes.", &["(Really.)", "Yes."]);
        check("\"Really?\" he asked. Yes.", &["\"Really?\" he asked.", "Yes."]);
        check("„Das ist gut.“ Er ging.", &["„Das ist gut.“", "Er ging."]);
        check("It ended.(Then more.)", &["It ended.", "(Then more.)"]);
        check("It ended.[12] Then more.", &["It ended.[12]", "Then more."]);
        check("It ended.[3, 4][5] Then.", &["It ended.[3, 4][5]", "Then."]);
        check("It ended.[Note 3] Then.", &["It ended.[Note 3]", "Then."]);
        check("他走了。[需要引证]好吗？", &["他走了。[需要引证]", "好吗？"]);
        check("Wait... What?!  No.", &["Wait...", "What?!", "No."]);
    }

    #[test]
    fn abbreviations() {
        check(
            "Dr. Smith met Prof. Jones. They spoke.",
            &["Dr. Smith met Prof. Jones.", "They spoke."],
        );
        check(
            "Use tools, e.g. Vim, i.e. Editors. Done.",
            &["Use tools, e.g. Vim, i.e. Editors.", "Done."],
        );
        check("Das gilt z. B. Montags. Gut.", &["Das gilt z. B. Montags.", "Gut."]);
        check("Das gilt z.B. Montags. Gut.", &["Das gilt z.B. Montags.", "Gut."]);
        check("The U.S. Navy came. It left.", &["The U.S. Navy came.", "It left."]);
        check(
            "He lives in the U.S. The weather is fine.",
            &["He lives in the U.S.", "The weather is fine."],
        );
        check("J. R. R. Tolkien wrote. He did.", &["J. R. R. Tolkien wrote.", "He did."]);
        check("Choose plan B. It is better.", &["Choose plan B.", "It is better."]);
        check("See No. 5 Main Street. Go.", &["See No. 5 Main Street.", "Go."]);
        check("See Fig. 3 and Eq. 4 Above. Go.", &["See Fig. 3 and Eq. 4 Above.", "Go."]);
        check("He said no. Then he left.", &["He said no.", "Then he left."]);
        check("Acme Inc. Chairman Bob spoke.", &["Acme Inc. Chairman Bob spoke."]);
        check(
            "She works for Acme Inc. The pay is good.",
            &["She works for Acme Inc.", "The pay is good."],
        );
        check("Pears, apples, etc. The end.", &["Pears, apples, etc.", "The end."]);
        check("On Jan. 5 Bob came. On Sept. 7 too.", &["On Jan. 5 Bob came.", "On Sept. 7 too."]);
        check("Am 3. Oktober feiern wir. Ja.", &["Am 3. Oktober feiern wir.", "Ja."]);
        check(
            "Smith et al. Found it (cf. Jones). Good.",
            &["Smith et al. Found it (cf. Jones).", "Good."],
        );
    }

    #[test]
    fn abbreviations_of_other_languages() {
        check("Zabierz np. Kask. Gotowe.", &["Zabierz np. Kask.", "Gotowe."]);
        check("Sklep przy ul. Długiej. Tak.", &["Sklep przy ul. Długiej.", "Tak."]);
        check("Otwieramy o godz. 8 rano. Tak.", &["Otwieramy o godz. 8 rano.", "Tak."]);
        check("Neem bijv. Water mee. Ja.", &["Neem bijv. Water mee.", "Ja."]);
        check("Örn. Ankara büyüktür. Evet.", &["Örn. Ankara büyüktür.", "Evet."]);
        check(
            "Pane, acqua ecc. I prezzi sono bassi.",
            &["Pane, acqua ecc.", "I prezzi sono bassi."],
        );
    }

    #[test]
    fn addresses_and_titles_stay_whole() {
        for whole in [
            "Le siège est au 5 bd. Voltaire à Paris.",
            "Nuestra oficina está en la Avda. América 12 de Madrid.",
            "A loja fica na Av. Paulista 100, apto. 12.",
            "The office is at 40 King Street, Ste. 200, Apt. 5.",
            "Mağaza Merkez Mah. Bağdat Cad. 12, Gül Sok. 3.",
            "Biuro jest przy placu, lok. 12.",
            "Офис на просп. Мира, кв. 12, оф. 3.",
            "Офіс на вул. Шевченка, буд. 5.",
            "La calle tiene el núm. 12.",
            "Tél. 01 23 45 67 89.",
            "Onze accountant is mevr. Bakker, en dhr. De Wit en mw. Smit helpen.",
            "Il medico è il sig. Rossi di Roma.",
            "Ce sont MM. Dupont et Martin.",
            "La sede en EE. UU. está cerrada.",
            "Die Kaution beträgt max. 500 EUR.",
            "Det finns bl.a. Kaffe och t.ex. Te.",
            "Das gilt gem. § 5 Abs. 2.",
        ] {
            check(whole, &[whole]);
        }
        check(
            "Die Werkstatt ist in der Bahnhofstr. 12. Sie schließt um 18 Uhr.",
            &["Die Werkstatt ist in der Bahnhofstr. 12.", "Sie schließt um 18 Uhr."],
        );
    }

    #[test]
    fn words_that_look_like_abbreviations_end_sentences() {
        check("His name is Max. 500 EUR is due.", &["His name is Max.", "500 EUR is due."]);
        check("Wait for 5 min. 20 MB remain.", &["Wait for 5 min.", "20 MB remain."]);
        check("It makes 300 MW. Siemens built it.", &["It makes 300 MW.", "Siemens built it."]);
        check("The gap is 5 MM. Dupont says so.", &["The gap is 5 MM.", "Dupont says so."]);
        check("It costs 5 CAD. Shipping is 3.", &["It costs 5 CAD.", "Shipping is 3."]);
        check("This is a gem. 5 Stars.", &["This is a gem.", "5 Stars."]);
        check("Das gilt nicht. § 5 BGB gilt.", &["Das gilt nicht.", "§ 5 BGB gilt."]);
        check("Vive en EE. UU. El clima es bueno.", &["Vive en EE. UU.", "El clima es bueno."]);
    }

    #[test]
    fn german_ordinals() {
        check("Die 2., 3. und 4. Armee kam. Ja.", &["Die 2., 3. und 4. Armee kam.", "Ja."]);
        check(
            "Im Laufe des 18. und 19. Jahrhunderts. Gut.",
            &["Im Laufe des 18. und 19. Jahrhunderts.", "Gut."],
        );
        check("Vom 4. Jahrtausend v. Chr. bis heute.", &["Vom 4. Jahrtausend v. Chr. bis heute."]);
        check("Er kam am 5. Dann ging er.", &["Er kam am 5.", "Dann ging er."]);
        check("Das sind 12. Mehr gibt es nicht.", &["Das sind 12.", "Mehr gibt es nicht."]);
        check("Es waren 584 Mio. EUR im Jahr. Gut.", &["Es waren 584 Mio. EUR im Jahr.", "Gut."]);
    }

    #[test]
    fn initials_without_capitals() {
        check("قال بول ت. ويلسون ذلك. ثم ذهب.", &["قال بول ت. ويلسون ذلك.", "ثم ذهب."]);
        check("Это им. Ленина. Да.", &["Это им. Ленина.", "Да."]);
        check("Дж. Буш и А. С. Пушкин. Да.", &["Дж. Буш и А. С. Пушкин.", "Да."]);
        check("Jones et al. 1998 found it. Yes.", &["Jones et al. 1998 found it.", "Yes."]);
        check("Lefevre (c. 1455–1536) wrote. Yes.", &["Lefevre (c. 1455–1536) wrote.", "Yes."]);
    }

    #[test]
    fn numbers_and_names() {
        check("Pi is 3.14 or 3,1. Yes.", &["Pi is 3.14 or 3,1.", "Yes."]);
        check("It was 2017. Then 2018.", &["It was 2017.", "Then 2018."]);
        check("Visit www.example.com. Then log in.", &["Visit www.example.com.", "Then log in."]);
        check("Call std::fmt.Display now.", &["Call std::fmt.Display now."]);
    }

    #[test]
    fn numbers_with_letters_stay_whole() {
        check(
            "The VAT number of the company is NL8123.45.678.B01 since 2020. It is on each invoice.",
            &[
                "The VAT number of the company is NL8123.45.678.B01 since 2020.",
                "It is on each invoice.",
            ],
        );
        check("Order B2.E14 or 100.A7.22 now. Go.", &["Order B2.E14 or 100.A7.22 now.", "Go."]);
        check("It was 2017.Then it was 2018.", &["It was 2017.", "Then it was 2018."]);
    }

    #[test]
    fn questions_are_told_by_their_signs() {
        for question in
            ["Is it so?", "什么？", "Τι είναι;", "社員証をなくしました。どうすればいいですか。"]
        {
            assert!(is_question(question), "{question}");
        }
        for other in [
            "It is so.",
            "A;",
            "二つのうちのどちらか。",
            "原因は明らか。",
            "これは答えです。",
            "か",
        ] {
            assert!(!is_question(other), "{other}");
        }
    }

    #[test]
    fn layout() {
        check("One line\ngoes on. Next\none.", &["One line\ngoes on.", "Next\none."]);
        check("One line\r\ngoes on. Next\r\none.", &["One line\r\ngoes on.", "Next\r\none."]);
        check("No stop\n\nNew one", &["No stop", "New one"]);
        check("No stop\r\n \r\nNew one", &["No stop", "New one"]);
        check("# Title\nBody text", &["# Title", "Body text"]);
        check("Title\n=====\nBody", &["Title", "=====", "Body"]);
        check("- one\n- two\n  more\n* three", &["- one", "- two\n  more", "* three"]);
        check("1. Install it. Run it.\n2. Done", &["1. Install it.", "Run it.", "2. Done"]);
        check("a. First\n\nIV. Fourth", &["a. First", "IV. Fourth"]);
        check("| a b | c |\n|---|---|\n| d | e |", &["| a b | c |", "|---|---|", "| d | e |"]);
    }

    #[test]
    fn other_scripts() {
        check("今天很好。我们走吧！好吗？好", &["今天很好。", "我们走吧！", "好吗？", "好"]);
        check("他说：“你好。”然后走了。", &["他说：“你好。”", "然后走了。"]);
        check("終わり。「次」です。", &["終わり。", "「次」です。"]);
        check("كيف حالك؟ أنا بخير. شكرا", &["كيف حالك؟", "أنا بخير.", "شكرا"]);
        check("यह अच्छा है। वह गया।", &["यह अच्छा है।", "वह गया।"]);
        check("Это так. Он ушёл.", &["Это так.", "Он ушёл."]);
    }

    #[test]
    fn text_without_capitals() {
        check(
            "the tax was $16 million. a loss of 2.5 percent, e.g. in may, followed.",
            &["the tax was $16 million.", "a loss of 2.5 percent, e.g. in may, followed."],
        );
        check(
            "A list. Use pears etc. and go. Done",
            &["A list.", "Use pears etc. and go.", "Done"],
        );
    }

    #[test]
    fn long_runs_take_linear_time() {
        for unit in [" ", ")", ".", ". ", "\u{301}", "?)", "1 ", "\"", "[", "a. ", "\n", "\r"] {
            let text = format!("End.{}", unit.repeat(2_000_000 / unit.len()));
            let start = std::time::Instant::now();
            sentences(&text);
            assert!(start.elapsed().as_secs() < 10, "{unit:?} took {:?}", start.elapsed());
        }
    }

    proptest! {
        #[test]
        fn a_line_can_be_looked_at_in_parts(
            line in "([a-zA-Zäß]{1,3}|[.!?…。]|[0-9]|[,;:\"'()\u{2019}]| |\u{301}|ا|中|가|e\\.g\\. ){0,60}",
            longest in 1..20usize,
        ) {
            let whole = cuts(&line, usize::MAX, &mut || {});
            prop_assert_eq!(cuts(&line, longest, &mut || {}), whole);
        }
    }

    proptest! {
        #[test]
        fn cover_the_text(text in "(\\PC|[.!?\"()\\[\\]“”。 \r\n\t#|-]|[a-zA-Z]{1,5}){0,60}") {
            let mut end = 0;
            for range in sentences(&text) {
                prop_assert!(text[end..range.start].chars().all(char::is_whitespace));
                prop_assert!(range.start < range.end);
                prop_assert_eq!(text[range.clone()].trim(), &text[range.clone()]);
                end = range.end;
            }
            prop_assert!(text[end..].trim().is_empty());
        }
    }
}
