//! libFuzzer's entry to [`pratique_fuzz::targets::suite`].
#![cfg_attr(fuzzing, no_main)]

libfuzzer_sys::fuzz_target!(|input: &[u8]| pratique_fuzz::targets::suite(input));

pratique_fuzz::replay!(suite);
