//! `docs/warnings.md` is written from the documentation of the lints' modules, whose examples are linted.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

use std::fs;
use std::path::Path;

use pratique_lint::{LintMeta, list_lints};
use pratique_manifest::{LoadOptions, Loader, ManifestFile, UncheckedExpressions};

const HEAD: &str = "\
# Warnings

Warnings of `pratique check` about manifests that load but may not work as intended. A warning does not fail
the check, unless it is denied.

```sh
pratique check --deny warnings manifests/                      # any warning fails
pratique check --deny null-object,type-check manifests/        # these do
pratique check --allow cost-limit manifests/                   # this one is not given
pratique check --deny warnings --allow cost-limit manifests/   # any other fails
pratique check --warn cost-limit manifests/                    # this one also reports cases that are off by default
```

`PRATIQUE_ALLOW`, `PRATIQUE_WARN` and `PRATIQUE_DENY` do the same. A name takes precedence over `warnings`, `--deny` over
`--warn`, and `--warn` over `--allow`. Some warnings have cases that are off by default; `--warn NAME` and
`--deny NAME` report them, `--deny warnings` does not.
";

/// Lints whose example is not manifests alone: of certificates, of several directories, and of a configuration.
const OTHERS: [&str; 3] = ["expired-ca-bundle", "mixed-origins", "unknown-plugin"];

/// What the documentation of a lint's module says.
struct LintDocs {
    what: String,
    why: String,
    example: String,
}

impl LintDocs {
    fn read(lint: &LintMeta) -> Self {
        let file = format!("src/lints/{}.rs", lint.name.replace('-', "_"));
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&file);
        let source = fs::read_to_string(path).unwrap_or_else(|error| panic!("{file}: {error}"));
        let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
        let text: String = lines
            .map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line)))
            .collect();
        let mut rest = text.as_str();
        let mut cut = |heading: &str| {
            let (section, after) = rest
                .split_once(&format!("\n# {heading}\n\n"))
                .unwrap_or_else(|| panic!("{file} has no heading {heading}"));
            rest = after;
            section.trim_end().to_owned()
        };
        let (_title, what, why) = (cut("What"), cut("Why"), cut("Example"));
        LintDocs {
            what,
            why,
            example: rest.trim_end().to_owned(),
        }
    }

    fn section(&self, name: &str) -> String {
        let LintDocs { what, why, example } = self;
        let gap = if example.starts_with("```") { "\n\n" } else { " " };
        format!(
            "\n## {name}\n\n{what}\n\n**Why:** {why}\n\n**Example:**{gap}{example}\n\nSilence it with `--allow {name}`.\n"
        )
    }
}

#[test]
fn page_is_current() {
    let sections = list_lints().map(|lint| LintDocs::read(lint).section(lint.name));
    let expected = HEAD.to_owned() + &sections.collect::<String>();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/warnings.md");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    let page = fs::read_to_string(&path).unwrap();
    assert!(page == expected, "docs/warnings.md: run cargo xtask reference");
}

#[test]
fn examples_are_warned_of() {
    for lint in list_lints().filter(|lint| !OTHERS.contains(&lint.name)) {
        let docs = LintDocs::read(lint);
        let (_, block) = docs.example.split_once("```yaml\n").unwrap();
        let (manifests, advice) = block.split_once("```").unwrap();
        assert!(advice.len() > 3, "{}: the example is not explained", lint.name);
        let file = ManifestFile {
            path: "example.yaml".to_owned(),
            content: manifests.as_bytes().to_vec(),
        };
        let files = [file];
        let options = LoadOptions::new(&UncheckedExpressions);
        let loader = Loader::for_api(&options);
        let of_cluster = || loader.with_older_versions().load_files(&files);
        let set = loader
            .load_files(&files)
            .or_else(|_| of_cluster())
            .unwrap_or_else(|errors| panic!("{}: {errors}", lint.name));
        let warnings = pratique_lint::lint(&[&set]);
        let names: Vec<&str> = warnings.iter().map(|warning| warning.lint.name).collect();
        assert!(
            names.contains(&lint.name),
            "{}: only {names:?}\n{manifests}",
            lint.name
        );
    }
}

#[test]
fn files_are_lints() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lints");
    let mut files: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.replace('_', "-")))
        .filter(|name| name != "testing")
        .collect();
    files.sort();
    let names: Vec<&str> = list_lints().map(|lint| lint.name).collect();
    assert_eq!(files, names);
}
