//! libFuzzer's entry to [`pratique_fuzz::targets::json_patch`].
#![cfg_attr(fuzzing, no_main)]

libfuzzer_sys::fuzz_target!(|input: &[u8]| pratique_fuzz::targets::json_patch(input));

pratique_fuzz::replay!(json_patch);
