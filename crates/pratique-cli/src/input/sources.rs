//! Files among the inputs that are no objects of the API: told as what they are, counted, and not evaluated.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pratique_review::{SourceFile, SourceFiles, SourceKind};
use serde::Serialize;

use super::{FileSelection, STDIN};
use crate::output;
use crate::output::counted_nouns::counted;
use crate::output::finding::AnnotationLevel;
use crate::output::github::WorkflowCommands;
use crate::output::junit::{CaseOutcome, JunitCase};
use crate::output::notice::{InputNotice, OBJECT_IN_SOURCE};
use crate::output::place::InputPlace;
use crate::output::text::text;
use crate::project::permit;

/// How many files are named on standard error.
const MAX_NAMED: usize = 20;

/// The files of some paths without those that are no objects of the API, and the latter. Those with an object in them are told.
pub(crate) fn without_sources(
    files: Vec<PathBuf>,
    sources: &mut SourceFiles,
    selection: &FileSelection,
) -> (Vec<PathBuf>, Vec<SourceFile>) {
    let mut objects = Vec::with_capacity(files.len());
    let mut others = Vec::new();
    for file in files {
        let source = if file == Path::new(STDIN) {
            None
        } else {
            recognize(sources, &file)
        };
        match source {
            Some(source) => {
                tell_object(&source, selection);
                others.push(source);
            }
            None => objects.push(file),
        }
    }
    (objects, others)
}

/// What a file is, if it is no object of the API and may be read.
pub(crate) fn recognize(sources: &mut SourceFiles, file: &Path) -> Option<SourceFile> {
    permit(file).ok()?;
    sources.recognize(file)
}

/// Reports files on standard error, with the commands that make objects of them.
pub(crate) fn report_sources(sources: &[SourceFile]) {
    let Some(summary) = summary(sources) else { return };
    output::eprint(&output::note(&text!("{}", summary)));
    for source in sources.iter().take(MAX_NAMED) {
        output::eprint(&text!("  {}: {}\n", source.path, source.kind));
    }
    let more = sources.len().saturating_sub(MAX_NAMED);
    if more > 0 {
        output::eprint(&text!("  and {} more\n", more));
    }
    let mut commands: Vec<(String, &str)> = sources.iter().filter_map(build_command).collect();
    commands.sort_unstable();
    commands.dedup();
    for (command, root) in commands.iter().take(MAX_NAMED) {
        output::eprint(&text!(
            "  = help: what is made of them can be given: {} | pratique … -; `pratique review --render {}` does both\n",
            command,
            root
        ));
    }
    let is_open = |source: &SourceFile| source.kind == SourceKind::Template && source.root.is_none();
    if sources.iter().any(is_open) {
        let help = "a template has to be filled in before it is a manifest, as helm template does";
        output::eprint(&text!("  = help: {}\n", help));
    }
}

/// Tells of a file that there is an object in it all the same: nothing but what stands beside it says that it is none.
pub(crate) fn tell_object(source: &SourceFile, selection: &FileSelection) {
    if !source.has_object {
        return;
    }
    let message = format!(
        "{}: an object of the API is in it, which is not evaluated: clients that are given the directory send it",
        source.kind
    );
    selection.tell(InputNotice::new(OBJECT_IN_SOURCE, source.path.clone(), message));
}

/// The command that makes objects of what a file belongs to, and the directory of that.
fn build_command(source: &SourceFile) -> Option<(String, &str)> {
    let (root, command) = (source.root.as_deref()?, source.kind.build_command()?);
    Some((format!("{command} {root}"), root))
}

/// The number of files, by what they are; `None` if there are none.
pub(crate) fn summary(sources: &[SourceFile]) -> Option<String> {
    if sources.is_empty() {
        return None;
    }
    let kinds = SourceCounts::new(sources).0;
    let kinds = kinds.iter().map(|(kind, count)| {
        let (one, several) = kind.names();
        counted(*count, one, several).to_string()
    });
    let kinds: Vec<String> = kinds.collect();
    let (count, are) = match sources.len() {
        1 => ("1 file".to_owned(), "is no object"),
        count => (format!("{count} files"), "are no objects"),
    };
    Some(format!(
        "{count} {are} of the API, and not evaluated: {}",
        kinds.join(", ")
    ))
}

/// How many files there are of each kind.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub(crate) struct SourceCounts(#[serde(serialize_with = "by_name")] BTreeMap<SourceKind, usize>);

fn by_name<S: serde::Serializer>(counts: &BTreeMap<SourceKind, usize>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(counts.iter().map(|(kind, count)| (kind.to_string(), count)))
}

impl SourceCounts {
    pub(crate) fn new(sources: &[SourceFile]) -> Self {
        let mut counts = BTreeMap::new();
        for source in sources {
            *counts.entry(source.kind).or_default() += 1;
        }
        SourceCounts(counts)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A file as JSON.
#[derive(Serialize)]
pub(crate) struct JsonSource<'a> {
    file: &'a str,
    is: String,
}

impl<'a> From<&'a SourceFile> for JsonSource<'a> {
    fn from(source: &'a SourceFile) -> Self {
        JsonSource {
            file: &source.path,
            is: source.kind.to_string(),
        }
    }
}

/// A line of JSON about a file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SourceLine<'a> {
    not_evaluated: JsonSource<'a>,
}

/// Prints a line of JSON for each file.
pub(crate) fn print_json_lines(sources: &[SourceFile]) -> Result<(), crate::exit::CliError> {
    sources.iter().try_for_each(|source| {
        output::print_json_line(&SourceLine {
            not_evaluated: source.into(),
        })
    })
}

/// What is said of a file where it stands beside others.
fn message(source: &SourceFile) -> String {
    let help = build_command(source).map(|(command, _)| format!("; {command} makes objects of it"));
    format!(
        "{}: no object of the API, and not evaluated{}",
        source.kind,
        help.unwrap_or_default()
    )
}

/// The files as cases that are skipped.
pub(crate) fn cases(sources: &[SourceFile]) -> impl Iterator<Item = JunitCase> {
    sources.iter().map(|source| JunitCase {
        name: source.path.clone(),
        file: source.path.clone(),
        line: None,
        seconds: 0.0,
        outcome: CaseOutcome::Skipped {
            message: message(source),
        },
        output: String::new(),
    })
}

/// Adds the files as notices.
pub(crate) fn annotate(sources: &[SourceFile], commands: &mut WorkflowCommands) {
    for source in sources {
        let place = InputPlace::parse(&source.path);
        commands.annotate_place(
            AnnotationLevel::Note,
            &place,
            "pratique: not evaluated",
            &message(source),
        );
    }
}

/// The files in a SARIF log, as notifications of the run.
pub(crate) fn notifications(sources: &[SourceFile]) -> impl Iterator<Item = (AnnotationLevel, String)> {
    let note = |source: &SourceFile| {
        (
            AnnotationLevel::Note,
            format!("{}: {}", source.path, message(source)),
        )
    };
    sources.iter().map(note)
}
