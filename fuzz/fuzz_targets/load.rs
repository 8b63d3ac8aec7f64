//! The whole loader, expressions and all, over two files that a NUL divides.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use pratique::{Cache, Expressions};
use pratique_manifest::{ManifestFile, Options, Plugin, load_files};

fuzz_target!(|input: &[u8]| {
    let files: Vec<ManifestFile> = input
        .splitn(2, |byte| *byte == 0)
        .zip(["a.yaml", "b.yaml"])
        .map(|(content, path)| ManifestFile {
            path: path.to_owned(),
            content: content.to_vec(),
        })
        .collect();
    let expressions = Expressions::new(Arc::new(Cache::new()));
    let options = Options::new(&expressions);
    for plugin in Plugin::START_ORDER {
        let first = load_files(&files, plugin, &options).map(|set| set.hash);
        let again = load_files(&files, plugin, &options).map(|set| set.hash);
        assert_eq!(first, again, "loading is a function of the files");
    }
});
