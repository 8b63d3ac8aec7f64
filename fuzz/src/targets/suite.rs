//! Suites of tests.

use pratique_foreign::READER;
use pratique_manifest::ManifestFile;
use pratique_suite::{ActualResult, Case, Roots, Suite, read_suites, updated};

/// A file of suites. What is wrong has a message; cases of suites without files are run, and once what they gave is written
/// into the file, they pass.
pub fn suite(input: &[u8]) {
    let file = file(input);
    let suites = match READER.read(file.path.as_ref(), &file, &Roots::default()) {
        Ok(suites) => suites,
        Err(problems) => {
            assert!(!problems.is_empty());
            return;
        }
    };
    if may_open_files(input, &suites) {
        return;
    }
    let results: Vec<(&Suite, &Case, ActualResult)> = suites.iter().flat_map(results).collect();
    let results: Vec<_> = results
        .iter()
        .map(|(suite, case, actual)| (*suite, *case, actual))
        .collect();
    if let Ok(Some(text)) = updated(&file, &results) {
        let written = ManifestFile {
            content: text.clone().into_bytes(),
            ..file
        };
        let again = read_suites(&written).unwrap_or_default();
        let complaint = |suite: &Suite| results_fail(suite);
        assert!(!again.is_empty() && !again.iter().any(complaint), "{text}");
    }
}

fn file(content: &[u8]) -> ManifestFile {
    ManifestFile {
        path: "suite.yaml".to_owned(),
        content: content.to_vec(),
    }
}

/// Whether testing the suites could open files. NUL bytes are those of UTF-16, in which words are not found.
fn may_open_files(input: &[u8], suites: &[Suite]) -> bool {
    let says = |word: &[u8]| input.windows(word.len()).any(|window| window == word);
    let named = suites.iter().any(|suite| suite.files().next().is_some());
    named || says(b"polic") || says(b"onfiguration") || says(b"\\") || says(b"\0")
}

fn results(suite: &Suite) -> Vec<(&Suite, &Case, ActualResult)> {
    let Ok(policies) = suite.policies() else {
        return Vec::new();
    };
    let cases = suite.cases.iter();
    cases
        .filter_map(|case| Some((suite, case, suite.test(case, &policies, None).actual.ok()?)))
        .collect()
}

/// Whether a case gave something other than what is expected.
fn results_fail(suite: &Suite) -> bool {
    let Ok(policies) = suite.policies() else {
        return true;
    };
    suite.cases.iter().any(|case| {
        let result = suite.test(case, &policies, None);
        result.actual.is_ok() && !result.passed()
    })
}
