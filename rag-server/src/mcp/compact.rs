//! Texts for a model's context: short, in lines, and they say what is missing.

/// Tokens of a result where the call says nothing else.
pub const DEFAULT_TOKENS: usize = 2000;
/// Most tokens that a call may ask for.
pub const MOST_TOKENS: usize = 20_000;

/// About how many tokens a text has in any model: a quarter of its ASCII characters, and each other character. Texts
/// of few languages have more.
pub fn tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let others = text.chars().filter(|c| !c.is_ascii()).count();
    ascii.div_ceil(4) + others
}

/// As much of a text as has so many tokens, and whether that is all.
pub fn cut(text: &str, most: usize) -> (&str, bool) {
    // In quarters of a token, as in `tokens`.
    let mut left = most.saturating_mul(4);
    for (place, c) in text.char_indices() {
        let cost = if c.is_ascii() { 1 } else { 4 };
        if cost > left {
            return (&text[..place], false);
        }
        left -= cost;
    }
    (text, true)
}

/// The tokens of a line with its end.
pub fn cost(line: &str) -> usize {
    tokens(line) + 1
}

/// A result that grows by lines until it is full.
pub struct Compact {
    text: String,
    left: usize,
    missing: usize,
}

impl Compact {
    /// Nothing yet, with room for so many tokens.
    pub fn new(most: usize) -> Self {
        Self { text: String::new(), left: most, missing: 0 }
    }

    /// Adds a line if there is room and nothing was left out before.
    pub fn line(&mut self, line: &str) {
        if cost(line) <= self.left && self.missing == 0 {
            self.text.push_str(line);
            self.text.push('\n');
            self.left -= cost(line);
        } else {
            self.missing += 1;
        }
    }

    /// Adds a row of a table, its fields apart by tabs, cut as [`Compact::lines`] are.
    pub fn row(&mut self, fields: &[&str]) {
        let row: Vec<String> = fields.iter().map(|field| one_line(field)).collect();
        self.lines(&row.join("\t"));
    }

    /// Adds lines that belong together. What is too long is cut, if a good part of it fits.
    pub fn lines(&mut self, lines: &str) {
        let room = self.left.saturating_sub(2);
        if tokens(lines) < self.left || self.missing > 0 || room < LEAST_OF_A_ROW {
            self.line(lines);
            return;
        }
        let (part, _) = cut(lines, room);
        self.text.push_str(part);
        self.text.push_str("…\n");
        self.left = 0;
        self.missing += 1;
    }

    /// Adds a line whatever was left out before: all of `head`, if there is room, and as much of `tail` as leaves
    /// `behind` tokens.
    pub fn keep(&mut self, head: &str, tail: &str, behind: usize) {
        let Some(left) = self.left.checked_sub(cost(head)) else {
            self.missing += 1;
            return;
        };
        let room = left.saturating_sub(behind);
        self.text.push_str(head);
        if tokens(tail) <= room {
            self.text.push_str(tail);
            self.left = left - tokens(tail);
        } else {
            let (part, _) = cut(tail, room.saturating_sub(1));
            self.text.push_str(part);
            self.text.push('…');
            self.left = left.saturating_sub(tokens(part) + 1);
            self.missing += 1;
        }
        self.text.push('\n');
    }

    /// Something was left out before it came here.
    pub fn leave_out(&mut self) {
        self.missing += 1;
    }

    /// The text, and at its end whether all of it is there; `hint` says what to do where it is not.
    pub fn finish(mut self, hint: &str) -> String {
        match self.missing {
            0 => self.text.push_str("truncated: false"),
            missing => {
                self.text.push_str(&format!("truncated: true ({missing} left out or cut; {hint})"))
            }
        }
        self.text
    }
}

/// A cut row has so many tokens at least.
const LEAST_OF_A_ROW: usize = 40;

/// A field without tabs and breaks.
pub fn one_line(field: &str) -> String {
    field.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_counted_by_script() {
        assert_eq!(tokens(""), 0);
        assert_eq!(tokens("abcd"), 1);
        assert_eq!(tokens("abcde"), 2);
        assert_eq!(tokens("東京都"), 3);
    }

    #[test]
    fn a_cut_stays_within_its_tokens_and_between_characters() {
        assert_eq!(cut("abcdefgh", 1), ("abcd", false));
        assert_eq!(cut("東京都", 2), ("東京", false));
        assert_eq!(cut("ab", 1), ("ab", true));
        assert_eq!(cut("ab", 0), ("", false));
        for text in ["größer als alles", "mixed 東京 text", "🙂🙂🙂"] {
            for most in 0..20 {
                assert!(tokens(cut(text, most).0) <= most, "{text} {most}");
            }
        }
    }

    #[test]
    fn a_full_result_says_so() {
        let mut compact = Compact::new(10);
        compact.row(&["rag://docs/1", "a\tb\nc"]);
        assert_eq!(compact.finish("ask less"), "rag://docs/1\ta b c\ntruncated: false");

        let mut compact = Compact::new(3);
        compact.line("abcd");
        compact.line("a much longer line than fits");
        // What is short does not jump over what was left out.
        compact.line("a");
        assert_eq!(
            compact.finish("ask less"),
            "abcd\ntruncated: true (2 left out or cut; ask less)"
        );
    }

    #[test]
    fn a_long_row_is_cut() {
        let mut compact = Compact::new(60);
        compact.row(&["uri", &"word ".repeat(1000)]);
        let text = compact.finish("open it");
        assert!(text.starts_with("uri\tword word"), "{text}");
        assert!(text.contains("…\ntruncated: true (1 left out or cut; open it)"), "{text}");
        assert!(tokens(&text) < 100);
    }

    #[test]
    fn what_is_kept_has_room_behind_what_is_cut() {
        let check = |most: usize, expected: &str| {
            let mut compact = Compact::new(most);
            compact.keep("", "東京都は日本の首都です", 5);
            compact.keep("supported: ", "true", 0);
            assert_eq!(compact.finish("ask for more"), expected);
        };
        check(20, "東京都は日本の首都です\nsupported: true\ntruncated: false");
        let cut = |count| format!("\ntruncated: true ({count} left out or cut; ask for more)");
        check(12, &format!("東京都は日…\nsupported: true{}", cut(1)));
        check(2, &format!("…{}", cut(2)));
    }
}
