//! # phrase_gap: which spaces between phrases end a sentence?
//!
//! ```text
//! "ร้านเปิดเวลา 11 นาฬิกา ที่จอดรถอยู่ชั้นใต้ดิน" → the last one
//! ```
//!
//! Thai and Lao have no sign for the end of a sentence. They put a space there, but also around numbers and names, between the
//! items of a list and between clauses. So a space is an end where a phrase of some length stands on both sides of it, unless a word
//! beside it belongs to both. Khmer has a sign, which some texts do without.

use std::ops::Range;

use crate::text::script::{is_khmer, is_thai_or_lao};

/// Fewest characters on both sides. Names and titles are shorter.
const SHORTEST_PHRASE: usize = 12;

/// Most characters of an item of a list that "and" ends.
const LONGEST_ITEM: usize = 17;

/// Bytes in which the first word behind a space is looked for.
const LONGEST_WORD: usize = 32;

/// Signs that end a sentence of Khmer.
const KHMER_STOPS: [char; 2] = ['។', '៕'];

/// How a phrase begins that goes on with the one before: and, or, but, which, by, for, is, such as, that, so, of, from, with,
/// until, because, if, in.
const CONTINUING: &str = "\
    และ หรือ แต่ ซึ่ง โดย เพื่อ เป็น คือ ได้แก่ เช่น ว่า จึง ก็ ของ จาก กับ รวม ตลอดจน พร้อม จน ถึง เพราะ เนื่องจาก หาก ตาม ใน \
    ແລະ ຫຼື ຫລື ເຊິ່ງ ຊຶ່ງ ໂດຍ ເພື່ອ ແມ່ນ ຄື ວ່າ ຂອງ ແຕ່ \
    និង ឬ ដែល ដោយ ដើម្បី គឺ ថា នៃ របស់ ប៉ុន្តែ";

/// How the last item of a list begins: and, or, as well as.
const CONJUNCTIONS: &str = "และ หรือ ตลอดจน รวมทั้ง รวมถึง ແລະ ຫຼື ຫລື និង ឬ";

/// How a phrase begins that says when or on what condition the next one is so.
const SUBORDINATE: &str = "\
    ถ้า หาก เมื่อ เนื่องจาก เพราะ แม้ กรณี ใน สำหรับ ตั้งแต่ หลังจาก ก่อน ถึงแม้ \
    ຖ້າ ຫາກ ເມື່ອ ສຳລັບ ໃນ \
    បើ ប្រសិនបើ នៅពេល សម្រាប់ ក្នុង";

/// How a phrase ends that needs the next one: that, is, such as, of, and, by, number, Mr, Mrs, model, address.
const OPEN_ENDED: &str = "\
    ว่า คือ เช่น ได้แก่ ที่ ของ และ หรือ โดย กับ ให้ เบอร์ โทร เลขที่ นาย นาง นางสาว คุณ รุ่น ที่อยู่ \
    ວ່າ ຄື ເຊັ່ນ ແລະ ຫຼື ຂອງ \
    ថា គឺ និង ឬ ដូចជា";

/// Where such spaces end in a block, which is `line` on one line. The end of a line is none: a word may go on behind it.
pub(super) fn cuts_between_phrases(block: &str, line: &str) -> Vec<usize> {
    let gaps = gaps(block, line);
    let phrase = |number: usize| {
        let end = gaps.get(number + 1).map_or(line.len(), |next| next.start);
        &line[gaps[number].end..end]
    };
    let in_lists = in_lists(gaps.len(), phrase);
    let (mut cuts, mut start, mut is_first) = (Vec::new(), 0, true);
    for (number, gap) in gaps.iter().enumerate() {
        let (before, after) = (&line[start..gap.start], phrase(number));
        let waits = || {
            is_first && begins_with_one_of(before, SUBORDINATE)
                || OPEN_ENDED.split_ascii_whitespace().any(|it| before.ends_with(it))
        };
        let is_end = !in_lists[number]
            && has_length(after, SHORTEST_PHRASE)
            && has_length(before, SHORTEST_PHRASE)
            && !begins_with_one_of(after, CONTINUING)
            && !waits();
        is_first = is_end;
        if is_end {
            cuts.push(gap.end);
            start = gap.end;
        }
    }
    cuts
}

/// The spaces between two letters of these scripts.
fn gaps(block: &str, line: &str) -> Vec<Range<usize>> {
    // The first bytes of their characters.
    if !line.bytes().any(|byte| matches!(byte, 0xE0 | 0xE1)) {
        return Vec::new();
    }
    let reads_khmer = !line.contains(KHMER_STOPS);
    let is_letter = |c: char| is_thai_or_lao(c) || reads_khmer && is_khmer(c);
    if !line.contains(is_letter) {
        return Vec::new();
    }
    let mut gaps: Vec<Range<usize>> = Vec::new();
    for (at, space) in line.match_indices([' ', '\u{a0}']) {
        match gaps.last_mut() {
            Some(gap) if gap.end == at => gap.end += space.len(),
            _ => gaps.push(at..at + space.len()),
        }
    }
    gaps.retain(|gap| {
        let rest = &line[gap.end..];
        line[..gap.start].ends_with(is_letter)
            && rest.starts_with(is_letter)
            && !is_shortened(rest)
            && !block[gap.clone()].contains(['\n', '\r'])
    });
    gaps
}

/// For each of so many gaps, whether it stands between items of a list whose last one begins with a conjunction. `phrase` gives what
/// follows each.
fn in_lists<'a>(count: usize, phrase: impl Fn(usize) -> &'a str) -> Vec<bool> {
    let mut in_lists = vec![false; count];
    for number in (0..count).rev() {
        let after = phrase(number);
        let is_followed = in_lists.get(number + 1).is_some_and(|it| *it);
        in_lists[number] = begins_with_one_of(after, CONJUNCTIONS)
            || is_followed && !has_length(after, LONGEST_ITEM + 1);
    }
    in_lists
}

/// Whether `text` begins with a word that a full stop shortens, as that of an era or of a province.
fn is_shortened(text: &str) -> bool {
    let head = &text[..text.floor_char_boundary(LONGEST_WORD)];
    head.split(char::is_whitespace).next().is_some_and(|word| word.ends_with('.'))
}

fn begins_with_one_of(text: &str, words: &str) -> bool {
    words.split_ascii_whitespace().any(|it| text.starts_with(it))
}

/// Whether `text` has at least so many characters.
fn has_length(text: &str, least: usize) -> bool {
    text.chars().nth(least - 1).is_some()
}
