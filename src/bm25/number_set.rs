//! # number set: is this page, or this document, one of them?

/// Numbers below some number, one bit each.
#[derive(Debug)]
pub struct NumberSet(Vec<u64>);

impl NumberSet {
    /// An empty set, for numbers below this one.
    pub fn below(most: u32) -> NumberSet {
        NumberSet(vec![0; (most as usize).div_ceil(64)])
    }

    /// Puts a number in. Whether it fits, and was not there yet.
    pub fn insert(&mut self, number: u32) -> bool {
        let Some(word) = self.0.get_mut(number as usize / 64) else { return false };
        let before = *word;
        *word |= 1 << (number % 64);
        before != *word
    }

    /// Whether a number is in it.
    pub fn contains(&self, number: u32) -> bool {
        self.0.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// The lowest number in it that is not below this one.
    pub fn first_from(&self, number: u32) -> Option<u32> {
        let mut place = number as usize / 64;
        let mut word = self.0.get(place)? & (u64::MAX << (number % 64));
        while word == 0 {
            place += 1;
            word = *self.0.get(place)?;
        }
        Some(place as u32 * 64 + word.trailing_zeros())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_in_their_order() {
        let numbers = [0, 1, 63, 64, 200, 319];
        let mut set = NumberSet::below(320);
        assert!(numbers.iter().all(|number| set.insert(*number)));
        assert!(!set.insert(64) && !set.insert(320));
        for from in 0..400 {
            let expected = numbers.iter().find(|number| **number >= from);
            assert_eq!(set.first_from(from), expected.copied(), "{from}");
            assert_eq!(set.contains(from), numbers.contains(&from), "{from}");
        }
        assert_eq!(NumberSet::below(0).first_from(0), None);
    }
}
