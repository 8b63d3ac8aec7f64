//! Deterministic pseudo-random numbers.

/// A pseudo-random number generator (xorshift64*).
#[derive(Clone, Debug)]
pub(crate) struct RandomNumbers(u64);

impl RandomNumbers {
    pub(crate) fn new(seed: u64) -> Self {
        // A state of 0 would stay 0.
        RandomNumbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    /// A number below `end`; 0 if there is none.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let end = end as u64;
        self.next().checked_rem(end).unwrap_or_default() as usize
    }

    /// True with a probability of `percent` percent.
    pub(crate) fn chance(&mut self, percent: u8) -> bool {
        self.below(100) < usize::from(percent)
    }

    /// One of a list.
    pub(crate) fn pick<'l, T>(&mut self, list: &'l [T]) -> Option<&'l T> {
        list.get(self.below(list.len()))
    }
}
