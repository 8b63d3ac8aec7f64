//! Files that are no objects of the API by their nature: the sources that Kustomize and Helm make objects of, and the
//! configurations of programs.
//!
//! Repositories have them among their objects. They are recognised by their names, by what is beside them (a kustomization that names
//! a patch, the `Chart.yaml` of a template) and by their content, and are told as what they are, as [`SourceKind`] says: no server sees
//! them, and what one would answer to them says nothing.

mod content;
mod kustomization;

use std::collections::HashMap;
use std::fmt;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use pratique_manifest::{ManifestFile, open_regular, path_text, without_dots};

use content::FileContent;
pub use kustomization::named_parts;
use pratique_manifest::is_manifest;

/// The largest file that is recognised by its whole content, in bytes; of others, only the beginning is looked at. Nobody writes larger
/// sources by hand, but there are large templates.
const LARGEST: u64 = 256 << 10;

/// How many directories upward are looked at for what names a file.
const MAX_PARENTS: usize = 8;

/// How many directories are remembered.
const MAX_DIRECTORIES: usize = 10_000;

/// The names of a kustomization.
pub const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// The file that makes a directory a chart.
pub const CHART: &str = "Chart.yaml";

/// What that file is made of where a build writes it: beside templates, it makes a chart as well.
const GENERATED_CHARTS: [&str; 5] = [
    "Chart.template.yaml",
    "Chart.yaml.in",
    "Chart.yaml.template",
    "Chart.yaml.tmpl",
    "Chart.yaml.tpl",
];

/// What a file is, if it is no object of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceKind {
    /// A kustomization, or a component of some.
    Kustomization,
    /// A patch that a kustomization names.
    Patch,
    /// What a kustomization configures itself with: transformers, generators, replacements, names and references.
    KustomizeConfiguration,
    /// What a kustomization makes a ConfigMap or Secret of.
    GeneratorFile,
    /// The description of a chart.
    Chart,
    /// Values for the templates of a chart.
    Values,
    /// Another file of a chart, such as a test of its templates.
    ChartFile,
    /// A template, from which a manifest is made: one of Helm in charts.
    Template,
    /// What a program is configured with: a cluster of kind, a kubelet, a kubeconfig.
    ProgramConfiguration,
    /// What an API server is started with, such as an AdmissionConfiguration, which can be [checked](Self::is_checked).
    ServerConfiguration,
    /// Tests of policies: a suite of this program or of gator, a test of Kyverno.
    TestSuite,
}

impl SourceKind {
    /// What it is, for one and for several files.
    pub fn names(self) -> (&'static str, &'static str) {
        match self {
            SourceKind::Kustomization => ("kustomization", "kustomizations"),
            SourceKind::Patch => ("patch of a kustomization", "patches of kustomizations"),
            SourceKind::KustomizeConfiguration => {
                ("configuration of Kustomize", "configurations of Kustomize")
            }
            SourceKind::GeneratorFile => (
                "content of a generated ConfigMap or Secret",
                "contents of generated ConfigMaps and Secrets",
            ),
            SourceKind::Chart => ("description of a chart", "descriptions of charts"),
            SourceKind::Values => ("file of values", "files of values"),
            SourceKind::ChartFile => ("other file of a chart", "other files of charts"),
            SourceKind::Template => ("template", "templates"),
            SourceKind::ProgramConfiguration => ("configuration of a program", "configurations of programs"),
            SourceKind::ServerConfiguration => {
                ("configuration of an API server", "configurations of API servers")
            }
            SourceKind::TestSuite => ("suite of tests", "suites of tests"),
        }
    }

    /// The command that makes objects of such files, if any does.
    pub fn build_command(self) -> Option<&'static str> {
        match self {
            SourceKind::Kustomization
            | SourceKind::Patch
            | SourceKind::KustomizeConfiguration
            | SourceKind::GeneratorFile => Some("kustomize build"),
            SourceKind::Chart | SourceKind::Values | SourceKind::ChartFile | SourceKind::Template => {
                Some("helm template")
            }
            SourceKind::ProgramConfiguration | SourceKind::ServerConfiguration | SourceKind::TestSuite => {
                None
            }
        }
    }

    /// Whether a file that is named to be checked is loaded as what it is.
    pub fn is_checked(self) -> bool {
        self == SourceKind::ServerConfiguration
    }
}

impl fmt::Display for SourceKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.names().0)
    }
}

/// A file that is no object of the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The file, as it is shown.
    pub path: String,
    /// What it is.
    pub kind: SourceKind,
    /// The directory to build: that of the kustomization, or of the chart, where it is known.
    pub root: Option<String>,
    /// Whether an object of the API with a name is in it, or may be. A patch looks like one; a client that is given the directory
    /// sends it as one, whatever a kustomization or a chart beside it says of the file.
    pub has_object: bool,
}

/// Recognises files, and remembers what it read of their directories.
#[derive(Debug, Default)]
pub struct SourceFiles {
    directories: HashMap<PathBuf, DirectorySources>,
}

/// What is known of a file that is no object of the API.
struct RecognizedFile {
    kind: SourceKind,
    root: Option<PathBuf>,
    has_object: bool,
}

/// What a directory says of the files in and below it.
#[derive(Clone, Debug, Default)]
struct DirectorySources {
    is_chart: bool,
    has_kustomization: bool,
    /// Whether its kustomization has resources, or makes some.
    has_resources: bool,
    /// The files that its kustomization names and that are no resources.
    named: HashMap<PathBuf, SourceKind>,
    /// Whether the search upward ends here: it is the top of a repository.
    is_top: bool,
}

impl SourceFiles {
    /// What a file is; `None` for one that may have objects. Only regular files are read.
    pub fn recognize(&mut self, path: &Path) -> Option<SourceFile> {
        if !self.may_be_source(path) {
            return None;
        }
        let mut text = Vec::new();
        let file = open_regular(path).ok().flatten()?;
        file.take(LARGEST + 1).read_to_end(&mut text).ok()?;
        self.recognize_text(path, &text)
    }

    /// What a file with a content is.
    pub fn recognize_content(&mut self, path: &Path, text: &[u8]) -> Option<SourceFile> {
        if !self.may_be_source(path) {
            return None;
        }
        let most = usize::try_from(LARGEST + 1).unwrap_or(usize::MAX);
        self.recognize_text(path, text.get(..most).unwrap_or(text))
    }

    /// What a file is whose content begins with a text, and is that if the text is not longer than what is read.
    fn recognize_text(&mut self, path: &Path, text: &[u8]) -> Option<SourceFile> {
        let RecognizedFile {
            kind,
            root,
            has_object,
        } = self.kind_of(path, text)?;
        Some(SourceFile {
            path: path_text(path),
            kind,
            root: root.map(|root| shown_root(path, &root)),
            has_object,
        })
    }

    fn may_be_source(&self, path: &Path) -> bool {
        is_manifest(path) || is_named(path, &KUSTOMIZATIONS)
    }

    fn kind_of(&mut self, path: &Path, text: &[u8]) -> Option<RecognizedFile> {
        let place = absolute(path)?;
        let directory = place.parent()?.to_owned();
        let parents = self.parents(&directory);
        let sources = |parent: &PathBuf| self.directories.get(parent);
        let chart = parents
            .iter()
            .find(|parent| sources(parent).is_some_and(|sources| sources.is_chart));
        let named = parents
            .iter()
            .find_map(|parent| Some((parent, *sources(parent)?.named.get(&place)?)));
        let is_kustomization_name = is_named(path, &KUSTOMIZATIONS);
        let is_known = chart.is_some() || named.is_some() || is_kustomization_name || is_values_name(path);
        if !is_known && !content::may_be_source(text) {
            return None;
        }
        let is_whole = text.len() as u64 <= LARGEST;
        let content = FileContent::new(path, text, is_whole);
        let has_object = content.may_have_object();
        let recognized = |kind, root| {
            Some(RecognizedFile {
                kind,
                root,
                has_object,
            })
        };
        if let Some(chart) = chart
            && let Some(kind) = kind_in_chart(&place, chart, &content)
        {
            return recognized(kind, Some(chart.clone()));
        }
        if let Some((parent, kind)) = named {
            // What is not read here may be read elsewhere, such as JSON values one after the other.
            let has_object = has_object || !content.is_read();
            // Kustomize refuses a patch that has nothing to patch: what a kustomization without resources names so is an object
            // that would be hidden by it.
            let has_resources = sources(parent).is_some_and(|sources| sources.has_resources);
            let source = RecognizedFile {
                kind,
                root: Some(parent.clone()),
                has_object,
            };
            return Some(source).filter(|_| has_resources || !has_object);
        }
        if content.is_kustomization(is_kustomization_name) {
            return recognized(SourceKind::Kustomization, Some(directory));
        }
        if content.is_kustomize_configuration() {
            let has_kustomization =
                |parent: &&PathBuf| sources(parent).is_some_and(|sources| sources.has_kustomization);
            let root = parents.iter().find(has_kustomization).cloned();
            return recognized(SourceKind::KustomizeConfiguration, root);
        }
        if content.is_json_patch() {
            return recognized(SourceKind::Patch, None);
        }
        if let Some(kind) = content.program_kind() {
            return recognized(kind, None);
        }
        let is_values = is_values_name(path) && content.has_no_object();
        match (is_values, content.is_template()) {
            (true, _) => recognized(SourceKind::Values, None),
            (_, true) => recognized(SourceKind::Template, None),
            (false, false) => None,
        }
    }

    /// A directory and those that it is in, as far as they may say something of its files.
    fn parents(&mut self, directory: &Path) -> Vec<PathBuf> {
        let mut parents = Vec::new();
        for parent in directory.ancestors().take(MAX_PARENTS) {
            if self.directories.len() >= MAX_DIRECTORIES {
                self.directories.clear();
            }
            let sources = self
                .directories
                .entry(parent.to_owned())
                .or_insert_with(|| DirectorySources::read(parent));
            parents.push(parent.to_owned());
            if sources.is_top {
                break;
            }
        }
        parents
    }
}

impl DirectorySources {
    fn read(directory: &Path) -> Self {
        let mut sources = DirectorySources {
            is_chart: is_chart(directory),
            is_top: directory.join(".git").exists(),
            ..DirectorySources::default()
        };
        for name in KUSTOMIZATIONS {
            let path = directory.join(name);
            let mut text = Vec::new();
            let Some(file) = open_regular(&path).ok().flatten() else {
                continue;
            };
            let is_read = file.take(LARGEST).read_to_end(&mut text).is_ok();
            // An object in a file of that name names no files.
            if is_read && FileContent::new(&path, &text, true).is_kustomization(true) {
                sources.has_kustomization = true;
                let file = ManifestFile {
                    path: path_text(&path),
                    content: text,
                };
                let read = kustomization::NamedFiles::read(directory, &file);
                sources.has_resources |= read.has_resources;
                sources.named.extend(read.files);
            }
        }
        sources
    }
}

/// Whether a directory is that of a chart.
fn is_chart(directory: &Path) -> bool {
    let has_file = |name: &str| directory.join(name).is_file();
    let is_generated = || GENERATED_CHARTS.into_iter().any(has_file) && directory.join("templates").is_dir();
    has_file(CHART) || is_generated()
}

/// Whether an object of the API with a name is in the content of a file, or may be: what is large, or cannot be read, may have one.
pub fn may_have_object(path: &Path, text: &[u8]) -> bool {
    let content = FileContent::new(path, text, text.len() as u64 <= LARGEST);
    content.may_have_object() || !content.is_read()
}

/// What a file of a chart is.
fn kind_in_chart(place: &Path, chart: &Path, content: &FileContent) -> Option<SourceKind> {
    let below = place.strip_prefix(chart).ok()?;
    let first = below.components().next()?;
    let is_at_top = below.components().count() == 1;
    let is_in = |name: &str| !is_at_top && first == Component::Normal(name.as_ref());
    match () {
        () if is_at_top && below == Path::new(CHART) => content.has_no_object().then_some(SourceKind::Chart),
        () if is_at_top && is_named(below, &GENERATED_CHARTS) && content.has_no_object() => {
            Some(SourceKind::Chart)
        }
        () if is_at_top && is_named(below, &["requirements.yaml"]) => Some(SourceKind::Chart),
        // Values for its tests lie in `ci`.
        () if (is_at_top || is_in("ci")) && content.has_no_object() => Some(SourceKind::Values),
        () if is_in("templates") && content.has_action() => Some(SourceKind::Template),
        () if content.has_no_object() => Some(SourceKind::ChartFile),
        () => None,
    }
}

/// Whether a file is named as those of values are: `values.yaml`, `values-production.yaml`, `shop.values.yaml`.
fn is_values_name(path: &Path) -> bool {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase());
    let stem = stem.unwrap_or_default();
    stem.split(['-', '.', '_']).any(|part| part == "values")
}

fn is_named(path: &Path, names: &[&str]) -> bool {
    path.file_name()
        .is_some_and(|name| names.iter().any(|other| name == *other))
}

/// The path from the root, without `.` and `..`; links are not resolved.
fn absolute(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    Some(without_dots(&path))
}

/// The directory to build, as the user would name it who named a file.
fn shown_root(path: &Path, root: &Path) -> String {
    let mut parent = path.parent();
    while let Some(directory) = parent {
        let named = if directory.as_os_str().is_empty() {
            Path::new(".")
        } else {
            directory
        };
        if absolute(named).is_some_and(|absolute| absolute == root) {
            return path_text(named);
        }
        parent = directory.parent();
    }
    path_text(root)
}

#[cfg(test)]
mod tests;
