//! Decoding, defaulting and validating one document, whose expressions are not compiled: whatever the plugin, it either
//! loads, or there is a message.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pratique_manifest::{ManifestFile, Options, Plugin, UncheckedExpressions, load_files};

fuzz_target!(|input: &[u8]| {
    let Some((first, content)) = input.split_first() else {
        return;
    };
    let plugins = Plugin::START_ORDER;
    let plugin = plugins[usize::from(*first) % plugins.len()];
    let file = ManifestFile {
        path: "a.yaml".to_owned(),
        content: content.to_vec(),
    };
    let options = Options::new(&UncheckedExpressions);
    if let Err(errors) = load_files(&[file], plugin, &options) {
        assert!(!errors.to_string().is_empty());
        for problem in errors.problems() {
            assert!(
                problem
                    .location
                    .as_ref()
                    .is_none_or(|place| place.start <= place.end)
            );
        }
    }
});
