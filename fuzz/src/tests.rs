//! All inputs through all targets, on stable Rust: what fuzzing begins with holds, and what it found stays mended.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::mutation::InputMutator;
use crate::{FuzzTarget, TARGETS, corpus};

/// How many inputs are made of each target's own.
const MADE: usize = 150;

fn names(of: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    of.into_iter().collect()
}

fn files(directory: &str) -> BTreeSet<String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let entries = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    names(entries.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()))
}

fn holds(target: &FuzzTarget, input: &[u8], what: &str) {
    let result = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    let shown = String::from_utf8_lossy(input);
    assert!(result.is_ok(), "{} of {what}: {shown}", target.name);
}

/// Targets in a row each, so that one that is slow shows.
fn replay(of: &str) {
    let target = crate::target(of).unwrap();
    let inputs = corpus::inputs(&corpus::directory(of)).unwrap();
    assert!(inputs.len() >= 3, "{of} begins with {} inputs", inputs.len());
    for (path, input) in &inputs {
        assert!(input.len() <= 4 << 10, "{} is large", path.display());
        holds(target, input, &path.display().to_string());
    }
    let seeds: Vec<Vec<u8>> = inputs.into_iter().map(|(_, input)| input).collect();
    let tokens = corpus::dictionary(of).map_or_else(Vec::new, |path| {
        corpus::tokens(&std::fs::read_to_string(path).unwrap())
    });
    let mut mutator = InputMutator::new(&seeds, &tokens, 1);
    for _ in 0..MADE {
        holds(target, &mutator.next_input(), "a changed input");
    }
}

macro_rules! replays {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            replay(stringify!($name));
        })*

        const REPLAYED: &[&str] = &[$(stringify!($name)),*];
    };
}

replays! {
    load documents decode
    parse check evaluate
    regex quantity time url
    merge json_patch objects selectors
    review answer
    admission_configuration kubeconfig suite
}

#[test]
fn every_target_has_a_binary_inputs_and_a_test() {
    let expected = names(TARGETS.iter().map(|target| target.name.to_owned()));
    assert!(expected.len() >= 14);
    assert_eq!(names(REPLAYED.iter().map(|name| (*name).to_owned())), expected);
    assert_eq!(files("fuzz_targets"), expected);
    assert_eq!(files("corpus"), expected);
    let manifest = include_str!("../Cargo.toml");
    let binaries = manifest.split("[[bin]]").skip(1);
    let binaries =
        binaries.filter_map(|text| Some(text.split_once("name = \"")?.1.split_once('"')?.0.to_owned()));
    assert_eq!(names(binaries), expected);
}

#[test]
fn every_dictionary_is_of_some_target_and_has_words() {
    let used = TARGETS
        .iter()
        .filter_map(|target| corpus::dictionary(target.name));
    let used: BTreeSet<_> = used.collect();
    let stems = used
        .iter()
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
    assert_eq!(files("dictionaries"), names(stems));
    for path in used {
        let text = std::fs::read_to_string(&path).unwrap();
        // libFuzzer reads no others.
        let is_read = |byte: u8| byte == b'\n' || (b' '..=b'~').contains(&byte);
        assert!(text.bytes().all(is_read), "{}", path.display());
        let lines = text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert_eq!(corpus::tokens(&text).len(), lines.count(), "{}", path.display());
    }
}

#[test]
fn continuous_fuzzing_gives_targets_the_same_dictionaries() {
    let script = include_str!("../../.clusterfuzzlite/build.sh");
    for target in TARGETS {
        let lines = script
            .lines()
            .filter_map(|line| line.trim().split_once(") echo "));
        let mut named = lines.filter(|(targets, _)| targets.split(" | ").any(|name| name == target.name));
        let found = named
            .next()
            .map(|(_, name)| name.trim_end_matches(" ;;").to_owned());
        let expected = corpus::dictionary(target.name);
        let expected = expected.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
        assert_eq!(found, expected, "{}", target.name);
    }
}
