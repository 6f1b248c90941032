//! # bits: how are many small numbers written in few bytes?
//!
//! Variable-length integers (seven bits a byte, the lowest first), and runs of numbers packed
//! with the bits that the largest of them needs.

/// Bytes that [`unpack`] may look at beyond the last packed one.
pub const SLACK: usize = 8;

/// Appends a number in as few bytes as it needs.
pub fn put_number(bytes: &mut Vec<u8>, number: u64) {
    let mut left = number;
    while left >= 0x80 {
        bytes.push(left as u8 | 0x80);
        left >>= 7;
    }
    bytes.push(left as u8);
}

/// Bytes to be read from the front. What isn't there is `None`.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    /// The next number of [`put_number`].
    #[inline]
    pub fn number(&mut self) -> Option<u64> {
        if let [first @ ..0x80, rest @ ..] = self.0 {
            self.0 = rest;
            return Some(u64::from(*first));
        }
        let mut number = 0;
        for (place, byte) in self.0.iter().take(10).enumerate() {
            number |= u64::from(byte & 0x7f) << (7 * place);
            if *byte < 0x80 {
                self.0 = &self.0[place + 1..];
                return Some(number);
            }
        }
        None
    }

    /// The next number, if it fits 32 bits.
    #[inline]
    pub fn short(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    /// The next bytes, as many as asked for; `None` if there are fewer.
    #[inline]
    pub fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    /// The next two bytes, as a number.
    pub fn two(&mut self) -> Option<u16> {
        self.take(2)?.try_into().ok().map(u16::from_le_bytes)
    }
}

/// How many bits the largest of some numbers needs.
#[must_use]
pub fn bits_of(numbers: &[u32]) -> u32 {
    32 - numbers.iter().fold(0, |all, number| all | number).leading_zeros()
}

/// How many bytes [`pack`] writes.
#[must_use]
pub fn packed_bytes(count: usize, bits: u32) -> usize {
    (count * bits as usize).div_ceil(8)
}

/// Appends numbers, each in its lowest `bits`.
pub fn pack(bytes: &mut Vec<u8>, numbers: &[u32], bits: u32) {
    let (mut waiting, mut filled) = (0u64, 0);
    for number in numbers {
        waiting |= u64::from(*number) << filled;
        filled += bits;
        while filled >= 8 {
            bytes.push(waiting as u8);
            waiting >>= 8;
            filled -= 8;
        }
    }
    if filled > 0 {
        bytes.push(waiting as u8);
    }
}

/// Reads numbers of [`pack`]. `None` if there are too few bytes, with [`SLACK`] behind them, or
/// if `bits` is over 32.
#[inline]
pub fn unpack(bytes: &[u8], bits: u32, numbers: &mut [u32]) -> Option<()> {
    if bits > 32 || bytes.len() < packed_bytes(numbers.len(), bits) + SLACK {
        return None;
    }
    let mask = (1u64 << bits) - 1;
    let mut at = 0;
    for number in numbers {
        let start = at >> 3;
        let word = bytes.get(start..start + 8)?.try_into().map(u64::from_le_bytes).ok()?;
        *number = (word >> (at & 7) & mask) as u32;
        at += bits as usize;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(
            numbers in prop::collection::vec(any::<u32>(), 0..300),
            shift in 0u32..32,
        ) {
            let numbers: Vec<u32> = numbers.iter().map(|number| number >> shift).collect();
            let bits = bits_of(&numbers);
            let mut bytes = Vec::new();
            pack(&mut bytes, &numbers, bits);
            prop_assert_eq!(bytes.len(), packed_bytes(numbers.len(), bits));
            let mut read = vec![0; numbers.len()];
            prop_assert!(bytes.is_empty() || unpack(&bytes, bits, &mut read).is_none());
            bytes.extend([0xa5; SLACK]);
            prop_assert!(unpack(&bytes, bits, &mut read).is_some());
            prop_assert_eq!(read, numbers);
        }

        #[test]
        fn numbers_are_read_as_written(numbers in prop::collection::vec(any::<u64>(), 0..50)) {
            let mut bytes = Vec::new();
            numbers.iter().for_each(|number| put_number(&mut bytes, *number >> (number % 64)));
            let mut left = Bytes(&bytes);
            for number in numbers {
                prop_assert_eq!(left.number(), Some(number >> (number % 64)));
            }
            prop_assert_eq!(left.number(), None);
        }
    }
}
