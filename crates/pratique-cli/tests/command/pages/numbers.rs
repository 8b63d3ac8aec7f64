//! Numbers in the pages are those of the sources.

use std::fs;

use super::root;

/// A page, what it says, a source, and what that has.
const NUMBERS: [[&str; 4]; 23] = [
    [
        "review",
        "up to 4096 MiB",
        "pratique-cli/src/input/spool.rs",
        "LARGEST: u64 = 4 << 30;",
    ],
    [
        "review",
        "longer than 1 MiB",
        "pratique-stream/src/splitter.rs",
        "list: 1 << 20,",
    ],
    [
        "policies-and-state",
        "500 at a time",
        "pratique-kube/src/requests.rs",
        "PAGE: usize = 500;",
    ],
    [
        "policies-and-state",
        "No more than 256 MiB",
        "pratique-kube/src/requests.rs",
        "MOST_BYTES: usize = 256 << 20;",
    ],
    [
        "operators",
        "each ten seconds",
        "pratique-cli/src/serve/policy_files.rs",
        "POLL_INTERVAL: Duration = Duration::from_secs(10);",
    ],
    [
        "run-as-a-webhook",
        "has not changed for half a second",
        "pratique-manifest/src/load/rewrites.rs",
        "rewritten: Duration::from_millis(500),",
    ],
    [
        "run-as-a-webhook",
        "is gone after five seconds",
        "pratique-manifest/src/load/rewrites.rs",
        "shrunk: Duration::from_secs(5),",
    ],
    [
        "test",
        "at most 32 MiB",
        "pratique-suite/src/files.rs",
        "LARGEST: u64 = 32 << 20;",
    ],
    [
        "test",
        "may take 512 MiB",
        "pratique-suite/src/read/budget.rs",
        "MOST: usize = 512 << 20;",
    ],
    [
        "replay",
        "keeps every ten",
        "pratique-cli/src/arguments/checkpoints.rs",
        "default_value_t = 10\n",
    ],
    [
        "scan",
        "5,000 rows",
        "pratique-report/src/tally.rs",
        "rows: 5_000,",
    ],
    [
        "scan",
        "(`--chunk-size`, 500)",
        "pratique-cli/src/arguments/list.rs",
        "default_value_t = 500",
    ],
    [
        "scan",
        "`--kube-api-qps` (20)",
        "pratique-cli/src/arguments/list.rs",
        "default_value_t = 20",
    ],
    [
        "scan",
        "`--kube-api-burst` (30)",
        "pratique-cli/src/arguments/list.rs",
        "default_value_t = 30",
    ],
    [
        "scan",
        "more than 16 MiB",
        "pratique-kube/src/pages.rs",
        "bytes: 16 << 20,",
    ],
    [
        "scan",
        "up to 20,000 objects",
        "pratique-cli/src/scan/collect.rs",
        "MAX_RECORDS: usize = 20_000;",
    ],
    [
        "scan",
        "up to 1,000 results in 1 MiB",
        "pratique-report/src/namespace_reports.rs",
        "results: 1_000,\n            bytes: 1 << 20,",
    ],
    [
        "scan",
        "keeps every ten seconds",
        "pratique-cli/src/arguments/checkpoints.rs",
        "default_value_t = 10\n",
    ],
    [
        "editors",
        "at most two seconds",
        "pratique-lsp/src/suites.rs",
        "TIME_LIMIT: Duration = Duration::from_secs(2);",
    ],
    [
        "playground",
        "after five seconds",
        "../playground/evaluator.js",
        "PATIENCE = 5000;",
    ],
    [
        "playground",
        "http://127.0.0.1:8480/",
        "pratique-cli/src/arguments/playground.rs",
        "default_value = \"127.0.0.1:8480\"",
    ],
    ["install", "user 65532", "../deploy/Containerfile", "USER 65532"],
    ["install", "Rust 1.95", "../Cargo.toml", "rust-version = \"1.95\""],
];

#[test]
fn numbers_are_those_of_the_sources() {
    let read = |path: &str| {
        let path = root().join(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let wrong: Vec<_> = NUMBERS
        .iter()
        .filter(|[page, says, source, has]| {
            let is_said = one_line(&read(&format!("docs/{page}.md"))).contains(says);
            !is_said || !read(&format!("crates/{source}")).contains(has)
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
