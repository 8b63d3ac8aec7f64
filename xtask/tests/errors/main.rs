//! The errors that loading, evaluations and calls can give: each text of the sources is in a list, with help or the reason why
//! it has none, and `docs/problems.md` shows the lists.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::string_slice,
    reason = "a test that fails may stop"
)]

mod catalogue;
mod literals;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use catalogue::{KnownText, read_texts};
use literals::{files_below, is_sentence, text_literals};

/// A list of texts.
struct TextList {
    /// Its file, from the directory of crates on.
    path: &'static str,
    /// The title of its part of the page.
    title: &'static str,
    /// The sources of the errors, from the directory of crates on, without `pratique-`.
    sources: &'static [&'static str],
    /// Files of these that have help, or forms of values.
    left_out: &'static [&'static str],
    /// Literals in the sources that are no errors: help, questions, parts.
    others: &'static [&'static str],
}

const LOADING: TextList = TextList {
    path: "pratique-manifest/testdata/texts.txt",
    title: "Errors of loading",
    sources: &[
        "cel/src/checker",
        "cel/src/checker.rs",
        "cel/src/library/macros",
        "cel/src/parser/diagnostic",
        "expression/src/error.rs",
        "expression/src/return_types.rs",
        "gotext/src/json.rs",
        "manifest/src/configuration",
        "manifest/src/convert.rs",
        "manifest/src/decode",
        "manifest/src/decode.rs",
        "manifest/src/load",
        "manifest/src/load.rs",
        "manifest/src/parse",
        "manifest/src/read",
        "manifest/src/validate",
        "typed/src/decode/fault.rs",
        "types/src/field",
        "yaml/src/budget.rs",
        "yaml/src/json",
        "yaml/src/json.rs",
        "yaml/src/yaml",
    ],
    left_out: &["/help.rs", "/guidance.rs", "/go_syntax.rs"],
    others: &[
        // The parts of a text that differs by release.
        " (did you mean '…' or '…'?)",
        " (did you mean '…'?)",
        " (os error",
        " of type …",
        "Go struct field ….…",
        "struct { APIVersion string ",
        "; Kind string ",
        " and 1 object of it is gone",
        " and … objects of it are gone",
        "Objects of the kind `",
        "Syntax error: ",
        "a document of comments only is an error: remove the separator before or after it",
        "must evaluate to ",
        "name it …",
        "none of the … policies here has a name like it",
        "null, ~ and nothing behind the colon are all the same to YAML: no value",
        "policies here: …",
        "remove one of the two; the server refuses to choose",
        "static manifests bind static policies: the policy has to be named …, too",
        "there is no policy of that kind here: a static binding needs its policy beside it",
        "undeclared reference to '…' (in container '…')…",
        "undeclared reference to '…'…",
        "write it in …",
        "… … is not served unless the server has --runtime-config=…=true; it is read as if it had",
    ],
};

/// What the parser and the checker say of an expression is told when it is loaded.
const REQUESTS: TextList = TextList {
    path: "pratique-explain/data/failures.txt",
    title: "Errors of requests",
    sources: &[
        "cel/src/error.rs",
        "cel/src/evaluate_json.rs",
        "cel/src/library",
        "cel/src/ops",
        "cel/src/plan/run",
        "cel/src/text",
        "cel/src/time/zone.rs",
        "core/src/evaluation.rs",
        "expression/src/error.rs",
        "gotext/src/json.rs",
        "merge/src/json_patch",
        "merge/src/json_patch.rs",
        "merge/src/structured_merge",
        "merge/src/structured_merge.rs",
        "policy/src",
        "typed/src",
        "webhook/src",
    ],
    left_out: &[
        "/display.rs",
        "/foreign.rs",
        "/go_text.rs",
        "/go_types.rs",
        "/library/macros",
        "/review.rs",
    ],
    others: &[
        " of type …",
        "'map(dyn, dyn)'",
        "; received from peer",
        "and each of … more",
        "any value",
        "map(dyn, dyn)",
        "no object",
        "Go struct field ….…",
        "… annotations: all of an answer may have … bytes",
    ],
};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates")
}

/// Each literal of a list's sources is in the list, and each text of the list is in a source.
fn check_list(list: &TextList) {
    let content = fs::read_to_string(crates().join(list.path)).unwrap();
    let texts = read_texts(&content);
    let mut used = vec![false; texts.len()];
    let mut missing = String::new();
    let files = list.sources.iter();
    let files = files.flat_map(|source| files_below(&crates().join(format!("pratique-{source}"))));
    for path in files.filter(|path| {
        !list
            .left_out
            .iter()
            .any(|part| path.to_string_lossy().contains(part))
    }) {
        for literal in text_literals(&fs::read_to_string(&path).unwrap()) {
            let mut is_known = false;
            for (text, used) in texts.iter().zip(&mut used) {
                if text.is_whole(&literal) {
                    (*used, is_known) = (true, true);
                }
            }
            if !is_known && is_sentence(&literal) && !list.others.contains(&literal.as_str()) {
                let _ = writeln!(missing, "{}: {literal:?}", path.display());
            }
        }
    }
    assert!(
        missing.is_empty(),
        "texts that {} does not have:\n{missing}",
        list.path
    );
    let is_special = |text: &KnownText<'_>| {
        let mut others = texts.iter().zip(&used).filter(|(_, used)| **used);
        others.any(|(other, _)| other.is_whole(text.text))
    };
    let unused = texts
        .iter()
        .zip(&used)
        .filter(|(text, used)| !**used && !is_special(text));
    let unused: Vec<&str> = unused.map(|(text, _)| text.text).collect();
    assert!(
        unused.is_empty(),
        "texts of {} that no source has: {unused:#?}",
        list.path
    );
}

#[test]
fn every_error_of_loading_is_listed() {
    check_list(&LOADING);
}

#[test]
fn every_error_of_requests_is_listed() {
    check_list(&REQUESTS);
}

const BEGIN: &str = "<!-- errors: written by a test -->\n";
const END: &str = "<!-- end of errors -->\n";

#[test]
fn the_page_shows_the_lists() {
    let path = crates().join("../docs/problems.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let mut tables = String::new();
    for list in [LOADING, REQUESTS] {
        let content = fs::read_to_string(crates().join(list.path)).unwrap();
        write_tables(list.title, &read_texts(&content), &mut tables);
    }
    let written = format!("{before}{BEGIN}{tables}\n{END}{after}");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &written).unwrap();
    } else {
        assert!(
            page == written,
            "docs/problems.md does not show the lists: BLESS=1"
        );
    }
}

fn write_tables(title: &str, texts: &[KnownText<'_>], tables: &mut String) {
    let helped = texts.iter().filter(|text| text.is_helped).count();
    let _ = write!(
        tables,
        "\n### {title}\n\n{} texts: {helped} have help, {} a reason why they have none.\n",
        texts.len(),
        texts.len() - helped
    );
    let mut section = "";
    for text in texts {
        if text.section != section {
            section = text.section;
            let _ = write!(tables, "\n#### {section}\n\n| error | help |\n|---|---|\n");
        }
        let code = text.text.replace('|', "\\|");
        let code = if code.contains('`') {
            format!("`` {code} ``")
        } else {
            format!("`{code}`")
        };
        let what = text.what.replace('|', "\\|").replace('<', "&lt;");
        let what = if text.is_helped {
            what
        } else {
            format!("*none: {what}*")
        };
        let _ = writeln!(tables, "| {code} | {what} |");
    }
}
