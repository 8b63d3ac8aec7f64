//! A short, seeded run of what the fuzz targets do: manifests with a few bytes wrong never make the loader panic, and
//! whatever it says has a place in the file.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that fails may stop"
)]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use pratique_manifest::{
    LoadOptions, Loader, ManifestFile, ManifestPlugin, UncheckedExpressions, read_documents,
};

const MUTATIONS: usize = 2_000;

/// What is put into texts, beside what is in them.
const PIECES: &[&str] = &[
    ":",
    "-",
    "- ",
    "? ",
    ": ",
    "#",
    "&a ",
    "*a",
    "!",
    "!!str ",
    "!!int ",
    "|",
    ">",
    "'",
    "\"",
    "[",
    "]",
    "{",
    "}",
    ",",
    "%",
    "@",
    "`",
    "<<: *a\n",
    "---\n",
    "\n---\n",
    "\n...\n",
    "\n",
    "\n  ",
    "\t",
    "\r\n",
    "\u{85}",
    "\u{2028}",
    "\u{feff}",
    "\u{a0}",
    "\0",
    "\x07",
    "\\",
    "\\x",
    "\\u12",
    "\\ud800",
    "null",
    "0x",
    "1e400",
    ".inf",
    "é",
    "%YAML 1.1\n---\n",
    "%TAG ! x\n---\n",
    "{\"a\": ",
    "[[[[",
    "}}}}",
    "a: a: a",
];

/// A small generator of numbers, the same on every machine.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(bound.max(1)).unwrap()).unwrap()
    }
}

/// The files of the recorded cases.
fn corpus() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/load");
    let mut cases: Vec<_> = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    cases.sort();
    let texts = cases
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"));
    let mut files = Vec::new();
    for text in texts.map(|path| fs::read_to_string(path).unwrap()) {
        let input = text.split("=== report\n").next().unwrap_or_default();
        let sections = input.split("=== ").skip(1);
        files.extend(sections.filter_map(|section| Some(section.split_once('\n')?.1.as_bytes().to_vec())));
    }
    files
}

fn mutate(content: &mut Vec<u8>, others: &[Vec<u8>], numbers: &mut Numbers) {
    for _ in 0..=numbers.below(3) {
        let at = numbers.below(content.len() + 1);
        let end = (at + numbers.below(12)).min(content.len());
        match numbers.below(6) {
            0 => drop(content.drain(at..end)),
            1 => content.truncate(at),
            2 => {
                let other = &others[numbers.below(others.len())];
                let from = numbers.below(other.len());
                let to = (from + numbers.below(60)).min(other.len());
                content.splice(at..end, other[from..to].iter().copied());
            }
            3 => content.insert(at, u8::try_from(numbers.below(256)).unwrap()),
            _ => {
                let piece = PIECES[numbers.below(PIECES.len())].as_bytes();
                content.splice(at..at, piece.iter().copied());
            }
        }
    }
}

#[test]
fn mutated_manifests_load_or_say_why_not() {
    let corpus = corpus();
    let mut numbers = Numbers(0x5EED_5EED);
    for round in 0..MUTATIONS {
        let mut content = corpus[numbers.below(corpus.len())].clone();
        mutate(&mut content, &corpus, &mut numbers);
        let plugin = ManifestPlugin::START_ORDER[numbers.below(4)];
        let begun = Instant::now();
        check(&content, plugin);
        let shown = String::from_utf8_lossy(&content);
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "round {round}: {shown}"
        );
    }
}

fn check(content: &[u8], plugin: ManifestPlugin) {
    let file = ManifestFile {
        path: "a.yaml".to_owned(),
        content: content.to_vec(),
    };
    let options = LoadOptions::new(&UncheckedExpressions);
    let shown = String::from_utf8_lossy(content);
    if let Err(errors) = Loader::for_plugin(plugin, &options).load_files(std::slice::from_ref(&file)) {
        assert!(!errors.to_string().is_empty(), "{shown}");
        let places = errors.problems().filter_map(|problem| problem.location.as_ref());
        for place in places {
            assert!(place.start <= place.end, "{place:?} in {shown}");
            assert!(place.start.offset <= content.len(), "{place:?} in {shown}");
        }
    }
    if let Ok(documents) = read_documents(&file) {
        for document in documents {
            assert!(
                document.source.locate(&[]).start.offset <= content.len(),
                "{shown}"
            );
        }
    }
}
