//! # wrapping: did these lines end where the text did, or where the page did?
//!
//! ```text
//! "Monday 9-18\nSaturday 10-14" → where the text did: "Monday 9-18, Saturday 10-14";  "借书\n期限为两周。" → where the page did
//! ```
//!
//! Lines in small letters go on with the one before. Scripts without capitals tell it by where their sentences end.

use unicode_width::UnicodeWidthStr;

use crate::text::line::{is_joined, line_ranges, single_line};
use crate::text::script::{
    is_chinese_or_japanese, is_kana, is_khmer, is_thai_or_lao, is_without_case,
};

/// Columns of a screen up to which text is not wrapped.
pub(super) const NARROW: usize = 50;

/// Signs that end a sentence, without the full stop of other scripts.
const SENTENCE_ENDS: [char; 11] = ['。', '｡', '！', '？', '!', '?', '।', '॥', '؟', '۔', '။'];

/// Signs between the parts of a sentence.
const COMMAS: [char; 4] = ['，', '、', '､', '،'];

/// Signs that stand at the beginning of no line.
const NEVER_FIRST: &str = "。｡，、､；：！？）」』】〉》’”…ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ";

/// Lines with commas between them, where they don't end with punctuation and the next one does not go on in a small letter.
pub(super) fn listed(text: &str) -> String {
    let mut list = String::new();
    for line in line_ranges(text).map(|line| single_line(&text[line])) {
        if !list.is_empty() && !line.is_empty() {
            list += between(&list, &line);
        }
        list += &line;
    }
    list
}

/// What is put between the lines `before` and `line`.
fn between(before: &str, line: &str) -> &'static str {
    let ends = before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | '）'));
    let is_parted = ends && !line.starts_with(char::is_lowercase);
    match (is_parted, is_joined(before, line)) {
        (true, true) if line.contains(is_kana) || before.contains(is_kana) => "、",
        (true, true) => "，",
        (true, false) => ", ",
        (false, true) => "",
        (false, false) => " ",
    }
}

/// Whether no line of `text` was wrapped: all of them are short, or the next word would have had room in each, and they are of
/// different lengths. One long line among others that are as good as full has an address in it.
pub(super) fn is_unwrapped(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    let widths: Vec<usize> = lines.iter().map(|line| line.width()).collect();
    let widest = widths.iter().copied().max().unwrap_or_default();
    let differ = || widths.iter().rev().skip(1).any(|width| 4 * width < 3 * widest);
    let has_room = |pair: &[&str]| has_room(pair[0], pair[1], widest);
    if is_mostly_without_case(text) {
        let is_running = |c: char| is_thai_or_lao(c) || is_khmer(c) || COMMAS.contains(&c);
        if run_on(&lines) || text.contains(is_running) && !differ() {
            return false;
        }
    }
    widest < NARROW || differ() && lines.windows(2).all(has_room)
}

/// Whether the line that `text` begins with was ended on purpose.
pub(super) fn first_is_unwrapped(text: &str) -> bool {
    let widest = widest(text);
    let mut lines = text.lines();
    matches!((lines.next(), lines.next()), (Some(one), Some(next)) if has_room(one, next, widest))
}

/// Whether `text` ends with a sentence.
pub(super) fn ends_with_sentence(text: &str) -> bool {
    let text = text.trim_end().trim_end_matches(['"', '”', '»', ')', '）', '」', '』']);
    text.ends_with(SENTENCE_ENDS) || text.ends_with('.')
}

/// The columns of the widest line of `text`.
pub(super) fn widest(text: &str) -> usize {
    text.lines().map(UnicodeWidthStr::width).max().unwrap_or_default()
}

/// Whether most letters of `text` belong to scripts without capitals.
fn is_mostly_without_case(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let (mut all, mut without_case) = (0_usize, 0_usize);
    for letter in letters {
        all += 1;
        without_case += usize::from(is_without_case(letter));
    }
    2 * without_case > all
}

/// Whether sentences go on from one of `lines` to the next: one ends within a line, or some lines end with one and others don't.
fn run_on(lines: &[&str]) -> bool {
    let ended = lines.iter().filter(|line| ends_with_sentence(line)).count();
    lines.iter().any(|line| holds_end(line)) || ended > 0 && ended < lines.len()
}

/// Whether a sentence ends in `line` and another one begins there. A number with a full stop counts something.
fn holds_end(line: &str) -> bool {
    // No sign that ends a sentence is a letter or a digit, so the last of these stands behind an end or before it.
    let Some(last) = line.rfind(char::is_alphanumeric) else { return false };
    let said = &line[..last];
    let mut stops = said.match_indices(". ");
    said.contains(SENTENCE_ENDS) || stops.any(|(at, _)| line[..at].ends_with(char::is_alphabetic))
}

/// Whether the first word of `next` would have stood in `line`, had lines been wrapped at `widest`.
fn has_room(line: &str, next: &str, widest: usize) -> bool {
    let next = next.trim_start();
    let word = match next.starts_with(is_chinese_or_japanese) {
        true => first_character(next),
        false => next.split_whitespace().next().unwrap_or_default(),
    };
    let space = usize::from(!is_joined(line.trim_end(), next));
    line.width() + space + word.width() <= widest
}

/// The first character of `text`, with the signs behind it that begin no line. Chinese and Japanese are wrapped between any others.
fn first_character(text: &str) -> &str {
    let mut others = text.char_indices().skip(1).filter(|(_, c)| !NEVER_FIRST.contains(*c));
    &text[..others.next().map_or(text.len(), |(at, _)| at)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_were_wrapped_are_told_from_others() {
        for text in [
            "Support hours\nMonday to Friday 9-18\nSaturday 10-14",
            "Monday to Friday 9-18\nSunday closed\nOn the first Saturday of each month we are open until noon only",
            "开放时间\n周一至周五 9:00-18:00\n周六 10:00-14:00",
            "身份证\n户口本\n照片两张",
            "休館日のお知らせ\n月曜日\n祝日の翌日",
            "운영 시간\n월요일부터 금요일 9-18\n토요일 10-14",
            "เวลาทำการ\nจันทร์ถึงศุกร์ 9-18",
        ] {
            assert!(is_unwrapped(text), "{text}");
        }
        for text in [
            "The telescope stands on a mountain in the desert and is open to\nvisitors on clear nights.",
            "The pump is made by a company of one family that sells open pumps and\nclosed ones. Its rival is a \
             [wholly free project](/community/of/the/project/), made by hundreds\nof people and companies.",
            "图书馆周一休馆。借书\n期限为两周，逾期每日\n罚款5元。影印每张\n2元。",
            "フィルターは月に一度、\n水で洗ってくだ\nさい。保証期間は\n二年です。",
            "期限为两周，逾期每日\n罚款五元",
            "도서관은 월요일에 쉽니다. 대출\n기간은 2주입니다.",
            "पुस्तकालय सोमवार को बंद\nरहता है।",
            "ห้ามสูบบุหรี่ใน\nอาคารทุกชั้น",
        ] {
            assert!(!is_unwrapped(text), "{text}");
        }
    }

    #[test]
    fn signs_without_a_word_behind_them_take_no_time() {
        assert!(!is_unwrapped(&format!("期限为两周\n{}", "！".repeat(300_000))));
        assert!(
            holds_end("好。了") && !holds_end("好了。！") && !holds_end("。") && !holds_end("")
        );
        assert!(holds_end("so. Then") && !holds_end("3. Then") && !holds_end("so. "));
    }

    #[test]
    fn the_first_line_has_room_for_the_next_word() {
        for text in [
            "Charger hot\nThe USB-C charger becomes hot when it is covered.",
            "扫地机器人S8使用说明\n红灯闪烁表示尘盒已满。",
        ] {
            assert!(first_is_unwrapped(text), "{text}");
        }
        for text in ["One line", "借书期限为\n两周，逾。", "本馆周\n一。"] {
            assert!(!first_is_unwrapped(text), "{text}");
        }
    }

    #[test]
    fn lines_that_were_not_wrapped_are_a_list() {
        for (text, expected) in [
            (
                "Monday 9-18\n\n Saturday 10-14 \nor\nlater.",
                "Monday 9-18, Saturday 10-14 or later.",
            ),
            ("Monday 9-18\rSaturday", "Monday 9-18, Saturday"),
            ("周一 9:00-18:00\n周六休息", "周一 9:00-18:00，周六休息"),
            ("月曜日\n祝日の翌日。\n他", "月曜日、祝日の翌日。他"),
            ("월요일\n토요일", "월요일, 토요일"),
        ] {
            assert_eq!(listed(text), expected, "{text:?}");
        }
    }
}
