//! Splitting files and reading their documents: every place that is told lies within the file. (A document may have
//! no text: a byte order mark alone is one.)
#![no_main]

use libfuzzer_sys::fuzz_target;
use pratique_manifest::{ManifestFile, read_documents};

fuzz_target!(|content: &[u8]| {
    let file = ManifestFile {
        path: "a.yaml".to_owned(),
        content: content.to_vec(),
    };
    match read_documents(&file) {
        Ok(documents) => {
            for document in &documents {
                let place = document.source.locate(&[]);
                assert!(place.start.offset <= content.len());
            }
        }
        Err(errors) => assert!(errors.problems().next().is_some()),
    }
});
