//! Numbers that look random and are the same in each run.
//!
//! SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). Intervals and tests repeat exactly for the same
//! seed, on every machine.

/// A generator of pseudorandom numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator that begins at `seed`.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `end`, which is above 0. Those of a small range are equally likely but for
    /// one part in 2^32 or less.
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.bits()) * end as u128) >> 64) as usize
    }

    /// Puts `items` in an order that is drawn, each with the same probability (Durstenfeld, 1964).
    pub fn shuffle<Item>(&mut self, items: &mut [Item]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// The numbers below `count` in an order that is drawn.
    pub fn shuffled(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        self.shuffle(&mut order);
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_published_generator() {
        // The first numbers of the seed 1234567, as implementations in other languages list them.
        let mut random = Random::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.bits()).collect();
        let expected =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(first, expected);
    }

    #[test]
    fn numbers_are_spread_evenly() {
        let mut random = Random::new(7);
        let mut counts = [0; 6];
        (0..60_000).for_each(|_| counts[random.below(6)] += 1);
        assert!(counts.iter().all(|count| (9_600..10_400).contains(count)), "{counts:?}");
    }
}
