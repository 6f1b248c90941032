//! # script: how are words parted in the script of this character?
//!
//! ```text
//! '期', 'さ', '。' → not at all;  'ก' → by a space between phrases;  '한', 'σ' → by a space, and that of which language
//! ```

/// A character of Chinese or Japanese, or a sign of theirs: no space stands beside it.
pub(crate) fn is_chinese_or_japanese(c: char) -> bool {
    matches!(c, '\u{3001}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{FF01}'..='\u{FF9F}' | '\u{20000}'..='\u{3FFFF}')
}

/// A letter of the Japanese syllabaries.
pub(crate) fn is_kana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{309F}' | '\u{30A1}'..='\u{30FF}' | '\u{FF66}'..='\u{FF9F}')
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
        assert!("さサ".chars().all(is_kana) && !"期。".chars().any(is_kana));
    }
}
