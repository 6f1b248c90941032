//! # script: how are words parted in the script of this character?
//!
//! ```text
//! '期', 'さ', '。' → not at all;  'ก' → by a space between phrases;  '한', 'σ' → by a space, and that of which language
//! ```
//!
//! The characters that make terms of the index of texts are blocks of their own, in [`bigram`](super::bigram): these terms
//! are stored, so what is told here may change and they may not.

/// A character of Chinese or Japanese, or a sign of theirs: no space stands beside it.
pub(crate) fn is_chinese_or_japanese(c: char) -> bool {
    is_han(c) || matches!(c, '\u{3001}'..='\u{30FF}' | '\u{FF01}'..='\u{FF9F}')
}

/// A Chinese character, in whatever language.
pub(crate) fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}')
}

/// A letter of the Japanese syllabaries.
pub(crate) fn is_kana(c: char) -> bool {
    is_hiragana(c) || matches!(c, '\u{30A1}'..='\u{30FF}' | '\u{FF66}'..='\u{FF9F}')
}

/// A letter of the Japanese syllabary in which endings and small words are written.
pub(crate) fn is_hiragana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{309F}')
}

/// Any character of Thai, Lao, Burmese or Khmer, which put a space between phrases at most: digits and signs of theirs are
/// some, too.
pub(crate) fn is_southeast_asian(c: char) -> bool {
    matches!(c, '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}')
}

/// A letter of Thai or Lao, or a vowel or tone of one. Digits, the sign that repeats a word and the one that shortens it are none.
pub(crate) fn is_thai_or_lao(c: char) -> bool {
    matches!(c, '\u{0E01}'..='\u{0E2E}' | '\u{0E30}'..='\u{0E3A}' | '\u{0E40}'..='\u{0E45}' | '\u{0E47}'..='\u{0E4E}'
        | '\u{0E81}'..='\u{0EAE}' | '\u{0EB0}'..='\u{0EC5}' | '\u{0EC8}'..='\u{0ECE}' | '\u{0EDC}'..='\u{0EDF}')
}

/// A letter of Khmer, or a vowel or sign of one.
pub(crate) fn is_khmer(c: char) -> bool {
    matches!(c, '\u{1780}'..='\u{17D3}')
}

/// A letter of Burmese and its neighbours, or a vowel or sign of one.
fn is_burmese(c: char) -> bool {
    matches!(c, '\u{1000}'..='\u{109F}')
}

/// A syllable of Korean.
pub(crate) fn is_hangul(c: char) -> bool {
    matches!(c, '\u{AC00}'..='\u{D7A3}')
}

/// A syllable of Korean, or a letter that is part of one or stands alone. Korean is looked up like scripts without spaces, but
/// has spaces between its words.
pub(crate) fn is_korean(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11FF}' | '\u{3130}'..='\u{318F}' | '\u{A960}'..='\u{A97F}'
        | '\u{AC00}'..='\u{D7FF}')
}

/// A letter of Greek; the Greek question mark is none.
pub(crate) fn is_greek(c: char) -> bool {
    matches!(c, '\u{0370}'..='\u{037D}' | '\u{037F}'..='\u{03FF}' | '\u{1F00}'..='\u{1FFF}')
}

/// A letter of a script that has no capitals.
pub(crate) fn is_without_case(c: char) -> bool {
    c.is_alphabetic() && !c.is_lowercase() && !c.is_uppercase()
}

/// Whether the end of a line between `before` and `after` stands for no space: both are written in a script that has none there.
pub(crate) fn are_joined(before: char, after: char) -> bool {
    let is_of_phrases = |c: char| is_thai_or_lao(c) || is_khmer(c) || is_burmese(c);
    // Signs and digits that such text shares with others.
    let is_shared =
        |c: char| matches!(c, '“' | '”' | '‘' | '’' | '—' | '…' | '·') || c.is_ascii_digit();
    match (is_chinese_or_japanese(before), is_chinese_or_japanese(after)) {
        (true, true) => true,
        (true, false) => is_shared(after),
        (false, true) => is_shared(before),
        (false, false) => is_of_phrases(before) && is_of_phrases(after),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_without_a_space_is_told() {
        for (before, after) in [
            ('期', '限'),
            ('だ', 'さ'),
            ('。', '借'),
            ('张', '2'),
            ('”', '然'),
            ('ค', 'ว'),
            ('ﾌ', 'ｨ'),
        ] {
            assert!(are_joined(before, after), "{before} {after}");
        }
        for (before, after) in
            [('a', 'b'), ('期', 'S'), ('S', '期'), ('한', '국'), ('1', '2'), ('”', 'a'), ('ค', 'a')]
        {
            assert!(!are_joined(before, after), "{before} {after}");
        }
    }

    #[test]
    fn letters_are_told_from_signs() {
        assert!("ที่จอดรถຫ້ອງ".chars().all(is_thai_or_lao));
        assert!(!"ๆฯ๒ໆa ".chars().any(is_thai_or_lao));
        assert!("Πώςἀ".chars().all(is_greek) && !is_greek('\u{37E}'));
        assert!("期한ק".chars().all(is_without_case) && !"aЯ1。".chars().any(is_without_case));
        assert!("さサｻ".chars().all(is_kana) && !"期。".chars().any(is_kana));
        assert!("さ".chars().all(is_hiragana) && !"サｻ期".chars().any(is_hiragana));
        assert!("期\u{FA0E}\u{20000}".chars().all(is_han) && !"さサ한。".chars().any(is_han));
        assert!("กๆ๒ລမខ".chars().all(is_southeast_asian));
        assert!(!"期さ한a".chars().any(is_southeast_asian));
        assert!("한ㅎ\u{1112}".chars().all(is_korean) && !"期さa".chars().any(is_korean));
        assert!(is_hangul('한') && !is_hangul('ㅎ'));
    }
}
