//! libFuzzer's entry to [`pratique_fuzz::targets::admission_configuration`].
#![cfg_attr(fuzzing, no_main)]

libfuzzer_sys::fuzz_target!(|input: &[u8]| pratique_fuzz::targets::admission_configuration(input));

pratique_fuzz::replay!(admission_configuration);
