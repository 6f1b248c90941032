//! How many characters stand before a byte?

/// Turns byte offsets of a text, which mostly grow, into character offsets, in one pass over the text.
pub struct CharacterCounter<'a> {
    text: &'a str,
    bytes: usize,
    characters: u32,
}

impl<'a> CharacterCounter<'a> {
    /// A counter that stands at the beginning of `text`.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        CharacterCounter { text, bytes: 0, characters: 0 }
    }

    /// Characters before the byte `bytes`. Where that is less than the last time, the text is counted from its beginning.
    ///
    /// # Panics
    ///
    /// Panics where `bytes` is no boundary of a character.
    pub fn count_to(&mut self, bytes: usize) -> u32 {
        if bytes < self.bytes {
            (self.bytes, self.characters) = (0, 0);
        }
        self.characters += self.text[self.bytes..bytes].chars().count() as u32;
        self.bytes = bytes;
        self.characters
    }
}

#[cfg(test)]
mod tests {
    use super::CharacterCounter;

    #[test]
    fn characters_are_counted_forwards_and_backwards() {
        let mut counter = CharacterCounter::new("aé好b");
        assert_eq!([0, 1, 3, 6, 7].map(|bytes| counter.count_to(bytes)), [0, 1, 2, 3, 4]);
        assert_eq!([7, 3, 6].map(|bytes| counter.count_to(bytes)), [4, 2, 3]);
    }
}
