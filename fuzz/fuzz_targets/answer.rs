//! libFuzzer's entry to [`pratique_fuzz::targets::answer`].
#![cfg_attr(fuzzing, no_main)]

libfuzzer_sys::fuzz_target!(|input: &[u8]| pratique_fuzz::targets::answer(input));

pratique_fuzz::replay!(answer);
