//! Manifests and what is said of them: each file of `testdata/load` holds a plugin, some files, and the report that
//! loading these gives. `BLESS=1` writes the reports anew.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails may stop"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use pratique_manifest::{
    Declarations, ExpressionCompiler, ExpressionError, ExpressionErrorKind, ExpressionIssue, ExpressionUse,
    LoadErrors, LoadOptions, Loader, ManifestFile, ManifestPlugin, ManifestSet, PolicyExpressions,
};

/// Finds fault with every `nope` in an expression, and with nothing else.
struct Nope;

impl ExpressionCompiler for Nope {
    fn begin(&self) -> Box<dyn PolicyExpressions + '_> {
        Box::new(Self)
    }
}

impl PolicyExpressions for Nope {
    fn compile(&mut self, text: &str, _: ExpressionUse<'_>, _: Declarations) -> Result<(), ExpressionError> {
        let issue = |(offset, _)| ExpressionIssue {
            message: "nope is not declared".to_owned(),
            offset,
            length: 4,
            help: None,
        };
        let issues: Vec<_> = text.match_indices("nope").map(issue).collect();
        if issues.is_empty() {
            Ok(())
        } else {
            Err(ExpressionError {
                kind: ExpressionErrorKind::Invalid,
                detail: "does not compile".into(),
                issues,
                help: None,
            })
        }
    }
}

#[test]
fn reports_are_as_recorded() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/load");
    let mut cases: Vec<PathBuf> = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    cases.sort();
    let differing: Vec<String> = cases.iter().filter_map(|case| check(case)).collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// Runs a case; gives the difference if there is one.
fn check(case: &Path) -> Option<String> {
    let text = fs::read_to_string(case).unwrap();
    let (input, expected) = text.split_once("=== report\n").unwrap_or((&text, ""));
    let (plugin, files) = input.split_once('\n').unwrap();
    let plugin = ManifestPlugin::from_name(plugin.trim_start_matches("plugin: ")).unwrap();
    let files: Vec<ManifestFile> = files.split("=== ").skip(1).map(file).collect();
    let report = match Loader::for_plugin(plugin, &LoadOptions::new(&Nope)).load_files(&files) {
        Ok(set) => loaded(&set),
        Err(errors) => failed(&errors),
    };
    if std::env::var_os("BLESS").is_some() {
        fs::write(case, format!("{input}=== report\n{report}")).unwrap();
        return None;
    }
    (report != expected).then(|| format!("{}:\n{report}", case.display()))
}

fn file(section: &str) -> ManifestFile {
    let (path, content) = section.split_once('\n').unwrap();
    ManifestFile {
        path: path.to_owned(),
        content: content.as_bytes().to_vec(),
    }
}

fn loaded(set: &ManifestSet) -> String {
    let mut report = format!("{}\n", set.hash);
    macro_rules! list {
        ($($field:ident)*) => {$(
            for loaded in &set.$field {
                let start = loaded.source.locate(&[]).start;
                let json = serde_json::to_string(&*loaded.object).unwrap();
                writeln!(report, "{}:{}: {json}", loaded.source.document().file(), start.line).unwrap();
            }
        )*};
    }
    list!(validating_policies validating_bindings mutating_policies mutating_bindings validating_webhooks mutating_webhooks);
    report
}

fn failed(errors: &LoadErrors) -> String {
    let mut report = format!("{errors}\n");
    for problem in errors.problems() {
        let place = problem.location.as_ref().map_or_else(String::new, |at| {
            format!(
                "{}:{}:{}-{}:{}: ",
                at.file, at.start.line, at.start.column, at.end.line, at.end.column
            )
        });
        let field = problem
            .field
            .as_ref()
            .map_or_else(String::new, |field| format!(" {field}"));
        writeln!(
            report,
            "- {place}[{}{field}] {}",
            problem.rule.name(),
            problem.message
        )
        .unwrap();
        if let Some(help) = &problem.help {
            writeln!(report, "  help: {}", help.text).unwrap();
        }
    }
    report
}
