//! Random choices that a seed repeats, on any machine.

use rand_core::{Rng, SeedableRng};
use rand_xorshift::XorShiftRng;

/// A source of random choices.
#[derive(Clone, Debug)]
pub struct RandomDice(XorShiftRng);

impl RandomDice {
    /// The choices of a seed.
    pub fn new(seed: u64) -> Self {
        RandomDice(XorShiftRng::seed_from_u64(seed))
    }

    /// A number below another; 0 below 0.
    pub fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.0.next_u64() % end).unwrap_or(0)
    }

    /// True with a probability in percent.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of several, if there is any.
    pub fn pick<'t, T>(&mut self, of: &'t [T]) -> Option<&'t T> {
        let at = self.below(of.len());
        of.get(at)
    }

    /// Any 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
}
