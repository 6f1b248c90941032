//! # title: does this line name what stands below it?
//!
//! ```text
//! "Opening hours", "DESCRIPTION", "-q, --equexit <cycles>" → yes;  "We open at nine" above its second half → no
//! ```

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::wrapping::{NARROW, ends_with_sentence, first_is_unwrapped, widest};
use crate::text::abbreviation::is_starter;
use crate::text::function_word::is_function_character;
use crate::text::script::is_chinese_or_japanese;
use crate::text::word_list::list_has;

/// Words up to which a line that ends without a full stop may be a heading.
const LONGEST_HEADING: usize = 8;

/// Characters up to which such a line of Chinese or Japanese may be a title.
const LONGEST_CHARACTERS: usize = 16;

/// What pages are called in Chinese and Japanese, at the end of their titles: manual, guide, rules, notice and the like.
const TITLE_NOUNS: &str = "\
    说明 说明书 手册 指南 规定 须知 制度 通知 公告 条例 协议 简介 政策 办法 章程 规则 守则 \
    說明 說明書 手冊 規定 須知 條例 協議 簡介 辦法 規則 守則 \
    説明書 マニュアル 規約 規程 ガイド 案内 手引き お知らせ について 一覧 要項";

/// Pronouns that have a capital within a sentence, too, in English and in German.
const CAPITAL_PRONOUNS: &[&str] = &["I", "Sie", "Ihr", "Ihre"];

/// Letters of the shortest line in capitals that is a title whatever follows.
const FEWEST_CAPITALS: usize = 4;

/// Longest line that names an option of a program, in bytes.
const LONGEST_OPTION: usize = 100;

/// The length of the first line of the paragraph `text`, if it is a title above the others.
pub(super) fn title(text: &str) -> Option<usize> {
    let length = text.find('\n')?;
    let line = text[..length].trim_end();
    // "DESCRIPTION", and not the first letter of a paragraph that is printed large, or "AGB".
    let is_capitals = || {
        line.chars().filter(|c| c.is_uppercase()).nth(FEWEST_CAPITALS - 1).is_some()
            && !line.contains(char::is_lowercase)
    };
    let begins_anew = !text[length..].trim_start().starts_with(char::is_lowercase) || is_capitals();
    let is_title = begins_anew
        && is_title_line(line)
        && (first_is_unwrapped(text) || stands_above_sentence(text, line));
    is_title.then_some(length).or_else(|| option_title(text))
}

/// Whether `line` may be a title by what it is made of: it is short and ends like no sentence. In Chinese and Japanese, which have no
/// capitals to tell what begins anew, it holds the end of none, either.
pub(super) fn is_title_line(line: &str) -> bool {
    if !line.contains(is_chinese_or_japanese) {
        return is_line_of_words(line);
    }
    line.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | '）' | '」' | '》'))
        && !line.contains(['。', '，', '、', '！', '？', '；', '：'])
        && line.chars().nth(LONGEST_CHARACTERS).is_none()
}

/// Whether the first `line` of `text`, which may be a title, stands above whole sentences although it is as long as these: nobody
/// wraps text so narrow, and the next line begins as a sentence does; or it says itself what it is.
fn stands_above_sentence(text: &str, line: &str) -> bool {
    let below = text[line.len()..].trim_start();
    if !ends_with_sentence(below) {
        return false;
    }
    if line.contains(is_chinese_or_japanese) {
        let is_title = TITLE_NOUNS.split_ascii_whitespace().any(|it| line.ends_with(it));
        return is_title || widest(text) < NARROW / 2 && !line.ends_with(is_function_character);
    }
    let first = below.split_whitespace().next().unwrap_or_default();
    widest(text) < NARROW
        && first.starts_with(char::is_uppercase)
        && is_starter(first)
        && !CAPITAL_PRONOUNS.contains(&first)
}

/// The length of the first line of the paragraph `text`, if it names an option of a program and the next one does not.
pub(super) fn option_title(text: &str) -> Option<usize> {
    let length = text.find('\n')?;
    let next = text[length..].trim_start().lines().next().unwrap_or_default();
    (is_option(text[..length].trim_end()) && !is_option(next)).then_some(length)
}

/// Whether `line` is how options are called that do the same, with what they take: "-q, --equexit <cycles>". What such an option
/// does is told below it, without its name. Signs of emphasis and of code around the names don't count: "**-b** *number*".
pub(super) fn is_option(line: &str) -> bool {
    if line.len() > LONGEST_OPTION || !line.starts_with(['-', '*', '`']) {
        return false;
    }
    let line = &*line.replace(['*', '`'], "");
    let is_called = |word: &str| {
        let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-')).unwrap_or_default();
        name.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    is_called(line)
        && !line.contains('\n')
        && !line.ends_with(['.', ':', '!', '?', ',', ';', '。', '！', '？', '：', '，', '；'])
        && line
            .split(", ")
            .all(|it| is_called(it.trim_start()) && it.split_whitespace().nth(2).is_none())
}

/// Whether `text` has the first name of the `option`, a line that names one.
pub(super) fn names_option(text: &str, option: &str) -> bool {
    fn bare(word: &str) -> &str {
        word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-')
    }
    let named = option.split([' ', ',', '=', '[']).next().map(bare);
    named.is_some_and(|name| text.split_whitespace().any(|word| bare(word) == name))
}

/// Whether `line` is short and ends like no sentence.
fn is_line_of_words(line: &str) -> bool {
    line.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | '"' | '\u{201d}'))
        && line.unicode_words().nth(LONGEST_HEADING).is_none()
}

/// One short line that ends like no sentence and holds no number, but for that of a clause.
pub(super) fn is_heading(content: &str, range: &Range<usize>) -> bool {
    let text = &content[range.clone()];
    let named = clause_title(text).unwrap_or(text);
    !text.contains('\n') && !named.contains(char::is_numeric) && is_line_of_words(named)
}

/// The title behind the number of a clause, if `line` begins with one: "§ 1. Membership", "Article 3: Boats".
pub(super) fn clause_title(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix('第') {
        let counted = rest.trim_start_matches(|c: char| c.is_numeric() || KANJI_DIGITS.contains(c));
        let title = counted.strip_prefix(['条', '條', '章', '節', '节'])?;
        // "第一节课" is a lesson.
        if !title.starts_with(|c: char| c.is_whitespace() || matches!(c, '（' | '：')) {
            return None;
        }
        let title = title.trim_matches(|c: char| c.is_whitespace() || matches!(c, '（' | '）'));
        return (counted.len() < rest.len() && !title.is_empty()).then_some(title);
    }
    let sign = line.trim_start_matches('§');
    let is_sign = sign.len() < line.len();
    let word = if is_sign { "" } else { line.split([' ', '.']).next().unwrap_or_default() };
    let is_clause = || list_has(CLAUSES, &word.to_lowercase());
    if !is_sign && !is_clause() {
        return None;
    }
    let rest = sign[word.len()..].trim_start_matches(|c: char| c == '.' || c.is_whitespace());
    let number = rest.split_whitespace().next()?;
    let bare = number.trim_end_matches(['.', ':', ')']);
    let is_number = bare.starts_with(|c: char| c.is_ascii_digit())
        && bare.len() <= LONGEST_NUMBER
        && bare.chars().all(|c| c.is_ascii_alphanumeric() || c == '.');
    let behind = rest[number.len()..].trim_start();
    let title = behind.trim_start_matches(['–', '—', '-', ':']).trim_start();
    // "Article 5 applies" is no title.
    let is_parted = is_sign || bare.len() < number.len() || title.len() < behind.len();
    let is_title = !title.is_empty() && !title.starts_with(char::is_lowercase);
    (is_number && is_parted && is_title).then_some(title)
}

/// Longest number of a clause ("12.3a"), in bytes.
const LONGEST_NUMBER: usize = 6;

/// Digits in the numbers of Chinese and Japanese clauses.
const KANJI_DIGITS: &str = "一二三四五六七八九十百零〇";

/// What clauses of laws, rules and contracts are called.
const CLAUSES: &str = "article art artikel section sec clause rule regulation paragraph abschnitt ziffer klausel artículo cláusula \
    sección articolo sezione clausola artigo seção cláusula artykuł klauzula статья пункт стаття madde άρθρο";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_named_above_what_they_do() {
        for line in [
            "-b, --beep",
            "--no-title",
            "-q, --equexit <cycles>",
            "-d, --differences[=permanent]",
            "-T threads, --threads=threads",
            "**-b** *number*",
            "`-q`, `--quiet`",
        ] {
            assert!(is_option(line), "{line}");
            assert_eq!(title(&format!("{line}\n    does this.")), Some(line.len()), "{line}");
        }
        for line in [
            "",
            "-",
            "-- so",
            "-5 is cold",
            "- item",
            "--beep beeps.",
            "-b beeps if it fails",
            "a, -b",
            "--a:",
            "-v 显示版本号。",
            "-Wi-Fiは無料です。",
            "-q\n    quiet",
        ] {
            assert!(!is_option(line), "{line}");
        }
        assert_eq!(title("-a\n-b\n-c"), None);
    }

    #[test]
    fn a_clause_is_named_behind_its_number() {
        for (line, title) in [
            ("§ 1. Membership", "Membership"),
            ("§ 12a Beiträge der Mitglieder", "Beiträge der Mitglieder"),
            ("Article 3: Boats", "Boats"),
            ("Art. 4 – Cotisation", "Cotisation"),
            ("第1条（会員）", "会員"),
            ("第二章 会費", "会費"),
        ] {
            assert_eq!(clause_title(line), Some(title), "{line}");
            assert!(is_heading(line, &(0..line.len())), "{line}");
        }
        for line in
            ["Article 5 applies", "§ 5", "Room 5: Elm", "§ 1. is void", "第三者", "Membership"]
        {
            assert_eq!(clause_title(line), None, "{line}");
        }
    }

    #[test]
    fn a_title_may_be_as_long_as_the_sentence_below_it() {
        for text in [
            "Manual de la caldera TermoPlus 24\nLa presión es de 1,5 bar.",
            "Handbuch der Kaffeemaschine KV-300\nDie Lampe blinkt rot.",
            "扫地机器人S8使用说明\n红灯闪烁表示尘盒已满。",
            "扫地机器人S8产品使用说明书\n红灯表示尘盒已满。",
            "加湿器の取扱説明書\n月に一度洗ってください。",
            "休館日\n月曜日です。",
        ] {
            assert_eq!(title(text), text.find('\n'), "{text}");
        }
        for text in [
            "图书馆周一休馆。借书\n期限为两周，逾期每日\n罚款5元。",
            "フィルターは月に一度、\n水で洗ってくだ\nさい。",
            "本馆所有读者的借书期限为\n两周，逾期每日罚款。",
            "I saw the famous actor Tom\nCruise was there.",
            "Please tell us what\nI should do.",
            "Riverside Water Board\nP.O. Box 118",
        ] {
            assert_eq!(title(text), None, "{text}");
        }
    }

    #[test]
    fn capitals_are_a_title_whatever_follows() {
        assert_eq!(
            title("DESCRIPTION\n    watch runs command repeatedly and shows what it prints."),
            Some(11)
        );
        assert_eq!(title("T\nhe museum opens at nine."), None);
        assert_eq!(title("AGB\ngelten immer."), None);
        assert_eq!(title("The word\nthat goes on in the next line of this paragraph."), None);
    }
}
