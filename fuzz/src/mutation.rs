//! Mutated inputs, reproducible from a seed: a fuzzer without coverage.

use std::num::Wrapping;

/// Generates inputs by mutating others.
#[derive(Clone, Debug)]
pub struct InputMutator<'c> {
    seeds: &'c [Vec<u8>],
    tokens: &'c [Vec<u8>],
    state: Wrapping<u64>,
}

/// The maximum length of an input, in bytes.
const LONGEST: usize = 16 << 10;

impl<'c> InputMutator<'c> {
    /// A mutator of seed inputs, with tokens to insert.
    #[must_use]
    pub fn new(seeds: &'c [Vec<u8>], tokens: &'c [Vec<u8>], seed: u64) -> Self {
        InputMutator {
            seeds,
            tokens,
            state: Wrapping(seed),
        }
    }

    /// The next input: a seed input, changed in one to eight places.
    pub fn next_input(&mut self) -> Vec<u8> {
        let seeds = self.seeds;
        let mut input = self.pick(seeds).cloned().unwrap_or_default();
        for _ in 0..1 << self.below(4) {
            self.change(&mut input);
        }
        input.truncate(LONGEST);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let (seeds, tokens) = (self.seeds, self.tokens);
        let start = self.below(input.len() + 1);
        let end = (start + self.below(17)).min(input.len());
        match self.below(7) {
            0 => {
                input.drain(start..end);
            }
            1 => {
                let token = self.pick(tokens).cloned().unwrap_or_default();
                input.splice(start..start, token);
            }
            2 => {
                let token = self.pick(tokens).cloned().unwrap_or_default();
                input.splice(start..end, token);
            }
            3 => {
                let piece = input.get(start..end).unwrap_or_default().to_vec();
                let times = 1 + self.below(4);
                input.splice(start..start, piece.repeat(times));
            }
            4 => {
                let other = self.pick(seeds).cloned().unwrap_or_default();
                let from = self.below(other.len() + 1);
                let to = (from + self.below(65)).min(other.len());
                let piece = other.get(from..to).unwrap_or_default().to_vec();
                input.splice(start..end, piece);
            }
            5 => {
                let bit = self.below(8);
                if let Some(byte) = input.get_mut(start) {
                    *byte ^= 1 << bit;
                }
            }
            _ => {
                let byte = u8::try_from(self.below(256)).unwrap_or_default();
                input.splice(start..start, [byte]);
            }
        }
    }

    fn pick<'t, T>(&mut self, of: &'t [T]) -> Option<&'t T> {
        let at = self.below(of.len());
        of.get(at)
    }

    /// A number below another; 0 below 0. The generator is SplitMix64.
    fn below(&mut self, end: usize) -> usize {
        self.state += 0x9e37_79b9_7f4a_7c15;
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)) * Wrapping(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)) * Wrapping(0x94d0_49bb_1331_11eb);
        let bits = (mixed ^ (mixed >> 31)).0 >> 1;
        usize::try_from(bits).unwrap_or(usize::MAX) % end.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_its_inputs() {
        let (seeds, tokens) = ([b"first".to_vec(), b"second".to_vec()], [b"word".to_vec()]);
        let inputs = |seed| -> Vec<Vec<u8>> {
            let mut mutator = InputMutator::new(&seeds, &tokens, seed);
            (0..50).map(|_| mutator.next_input()).collect()
        };
        assert_eq!(inputs(1), inputs(1));
        assert_ne!(inputs(1), inputs(2));
        assert!(
            inputs(1)
                .iter()
                .any(|input| input.windows(4).any(|window| window == b"word"))
        );
    }

    #[test]
    fn nothing_to_begin_with() {
        let mut mutator = InputMutator::new(&[], &[], 1);
        assert!((0..50).all(|_| mutator.next_input().len() <= LONGEST));
    }
}
