//! Runs the program that makes objects of a directory: Helm for a chart, Kustomize for a kustomization.
//!
//! Nobody but the user says that a program is run, and on what: a project file that may come with an unreviewed change cannot.

use std::collections::HashMap;
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use pratique_json::Value;
use pratique_manifest::convert::{convert, items};
use pratique_manifest::{ManifestFile, path_text, read_contents};
use pratique_review::{CHART, KUSTOMIZATIONS};

use super::failure_place::locate_failure;
use super::kustomize_origin::read_annotation;
use super::render_error::RenderError;
use crate::input::spool::{self, SpooledPipe};
use crate::output;
use crate::output::text::{PrintableText, text};

/// How much is kept of what a program says on standard error, in bytes.
const MAX_MESSAGE: u64 = 16 << 10;

/// How much is read of what Kustomize makes to find out where objects come from, in bytes.
const MAX_ORIGINS: u64 = 256 << 20;

/// A program that makes objects of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BuildProgram {
    /// `helm template`
    Helm,
    /// `kustomize build`, or `kubectl kustomize`
    Kustomize,
}

/// What a program is told besides the directory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BuildOptions<'a> {
    /// Files of values for the templates of charts.
    pub(crate) values: &'a [PathBuf],
    /// The namespace of a release.
    pub(crate) namespace: &'a str,
    /// The release of Kubernetes, as templates ask for it.
    pub(crate) release: &'a str,
}

/// A directory of which objects were made.
#[derive(Clone, Debug)]
pub(crate) struct BuiltDirectory {
    pub(super) root: PathBuf,
    /// The files of objects, as Kustomize tells them.
    origins: HashMap<BuiltObject, PathBuf>,
    /// The file that stands for objects of which nothing is told: the chart, or the kustomization.
    main_file: Option<PathBuf>,
}

/// An object by its API version, kind, namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct BuiltObject([String; 4]);

impl BuiltObject {
    fn identify(object: &Value<'_>) -> Self {
        let text = |path: &[&str]| {
            let value = object.at(path).and_then(Value::as_str);
            value.unwrap_or_default().to_owned()
        };
        BuiltObject([
            text(&["apiVersion"]),
            text(&["kind"]),
            text(&["metadata", "namespace"]),
            text(&["metadata", "name"]),
        ])
    }
}

impl BuiltDirectory {
    /// A directory of which somebody else made objects.
    pub(crate) fn new(root: PathBuf) -> Self {
        BuiltDirectory {
            main_file: main_file(&root),
            root,
            origins: HashMap::new(),
        }
    }

    /// The file that an object was made of.
    pub(super) fn origin_of(&self, object: &Value<'_>) -> Option<PathBuf> {
        let told = self.origins.get(&BuiltObject::identify(object)).cloned();
        told.or_else(|| read_annotation(object, &self.root))
            .or_else(|| self.main_file.clone())
    }
}

/// What a program writes.
struct ProgramOutput {
    output: SpooledPipe,
    /// What it says besides.
    notes: Vec<PrintableText>,
}

impl ProgramOutput {
    /// Passes on what the program says: that it goes on does not make it unimportant.
    fn tell(&self) {
        self.notes
            .iter()
            .for_each(|note| output::eprint(&output::note(note)));
    }
}

impl BuildProgram {
    /// The program that a directory is for; `None` if it is for none.
    pub(crate) fn for_directory(directory: &Path) -> Option<Self> {
        if directory.join(CHART).is_file() {
            Some(BuildProgram::Helm)
        } else {
            main_file(directory).map(|_| BuildProgram::Kustomize)
        }
    }

    /// Makes the objects of a directory.
    ///
    /// # Errors
    /// The program is not there, or fails.
    pub(crate) fn build(
        self,
        directory: &Path,
        options: BuildOptions<'_>,
    ) -> Result<(SpooledPipe, BuiltDirectory), RenderError> {
        match self {
            BuildProgram::Helm => {
                let made = run(helm(directory, options), "helm template", directory)?;
                made.tell();
                Ok((made.output, BuiltDirectory::new(directory.to_owned())))
            }
            BuildProgram::Kustomize => {
                let made = kustomize(directory)?;
                made.tell();
                let built = BuiltDirectory {
                    origins: origins(directory).unwrap_or_default(),
                    ..BuiltDirectory::new(directory.to_owned())
                };
                Ok((made.output, built))
            }
        }
    }
}

fn helm(directory: &Path, options: BuildOptions<'_>) -> Command {
    let mut helm = Command::new("helm");
    helm.args(["template", "--include-crds", "--kube-version", options.release]);
    helm.args(["--namespace", options.namespace]);
    for file in options.values {
        helm.arg("--values").arg(file);
    }
    helm.arg("--").arg(directory);
    helm
}

/// Runs Kustomize, or the one that is part of kubectl.
fn kustomize(directory: &Path) -> Result<ProgramOutput, RenderError> {
    let mut alone = Command::new("kustomize");
    alone.args(["build", "--"]).arg(directory);
    match run(alone, "kustomize build", directory) {
        Err(absent @ RenderError::NoProgram { .. }) => {
            let mut part = Command::new("kubectl");
            part.args(["kustomize", "--"]).arg(directory);
            match run(part, "kubectl kustomize", directory) {
                Err(RenderError::NoProgram { .. }) => Err(absent),
                made => made,
            }
        }
        made => made,
    }
}

/// The files of the objects that Kustomize makes of a directory. It tells them in annotations, which objects are not to have: so it
/// is asked for them in a run of its own, by a kustomization that has the directory as a resource.
fn origins(directory: &Path) -> Option<HashMap<BuiltObject, PathBuf>> {
    let around = tempfile::tempdir().ok()?;
    let root = fs::canonicalize(around.path()).ok()?;
    let target = relative(&root, &fs::canonicalize(directory).ok()?)?;
    let resource = serde_json::Value::from(target);
    let text = format!("resources: [{resource}]\nbuildMetadata: [originAnnotations]\n");
    fs::write(root.join("kustomization.yaml"), text).ok()?;
    let made = kustomize(&root).ok()?;
    let mut content = Vec::new();
    let stream = made.output.open().ok()?;
    stream.input.take(MAX_ORIGINS).read_to_end(&mut content).ok()?;
    let file = ManifestFile {
        path: String::new(),
        content,
    };
    let working = std::env::current_dir().and_then(fs::canonicalize).ok()?;
    let mut origins = HashMap::new();
    for document in read_contents(&file).documents {
        for item in items(&document.source).objects {
            let object = convert(document.source.tree(), item.node);
            if let Some(path) = read_annotation(&object, &root) {
                let path = path.strip_prefix(&working).unwrap_or(&path).to_owned();
                origins.insert(BuiltObject::identify(&object), path);
            }
        }
    }
    Some(origins)
}

/// A path from one directory to another, both without links: Kustomize takes no absolute ones.
fn relative(from: &Path, to: &Path) -> Option<String> {
    let names = |path: &Path| {
        let parts = path.components().filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_str().map(str::to_owned)),
            _ => None,
        });
        parts.collect::<Option<Vec<String>>>()
    };
    let (from, to) = (names(from)?, names(to)?);
    let shared = from.iter().zip(&to).take_while(|(from, to)| from == to).count();
    let up = from.iter().skip(shared).map(|_| "..".to_owned());
    let down = to.iter().skip(shared).cloned();
    Some(up.chain(down).collect::<Vec<_>>().join("/"))
}

/// The file that makes a directory a chart or a kustomization.
pub(super) fn main_file(directory: &Path) -> Option<PathBuf> {
    let names = [CHART].iter().chain(&KUSTOMIZATIONS);
    let mut paths = names.map(|name| directory.join(name));
    paths.find(|path| path.is_file())
}

/// Runs a program to its end, and gives what it writes.
fn run(mut command: Command, program: &'static str, directory: &Path) -> Result<ProgramOutput, RenderError> {
    let path = path_text(directory);
    let place = |message: &str| locate_failure(directory, main_file(directory), message);
    let failed = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => RenderError::NoProgram {
            path: path.clone(),
            place: place(""),
            program,
        },
        _ => RenderError::Run {
            path: path.clone(),
            place: place(""),
            program,
            error,
        },
    };
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let stderr = child.stderr.take();
    // Both are read at once: a program waits where one of its pipes is full.
    let message = thread::spawn(move || stderr.map(first_of).unwrap_or_default());
    let made = match child.stdout.take() {
        Some(output) => SpooledPipe::copy(output, spool::LARGEST),
        None => Err(ErrorKind::BrokenPipe.into()),
    };
    if made.is_err() {
        // Nobody reads what it goes on to write.
        let _ = child.kill();
    }
    let status = child.wait().map_err(failed)?;
    let message = message.join().unwrap_or_default();
    let output = made.map_err(failed)?;
    let message = String::from_utf8_lossy(&message);
    if status.success() {
        let said = message.lines().filter(|line| !line.trim().is_empty());
        Ok(ProgramOutput {
            output,
            notes: said
                .map(|line| text!("{}: {}: {}", path, program, line))
                .collect(),
        })
    } else {
        Err(RenderError::Failed {
            place: place(&message),
            path,
            program,
            status: status.to_string(),
            message: message.trim().to_owned(),
        })
    }
}

/// The beginning of a stream, which is read to its end.
fn first_of(mut stream: impl Read) -> Vec<u8> {
    let mut first = Vec::new();
    // What cannot be read is not told: the status of the program is.
    let _ = stream.by_ref().take(MAX_MESSAGE).read_to_end(&mut first);
    let _ = io::copy(&mut stream, &mut io::sink());
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_reached_from_others() {
        for (from, to, expected) in [
            ("/tmp/a", "/tmp/h/overlays/prod", "../h/overlays/prod"),
            ("/tmp/a", "/home/x", "../../home/x"),
            ("/tmp/a", "/tmp/a/b", "b"),
        ] {
            assert_eq!(
                relative(Path::new(from), Path::new(to)).as_deref(),
                Some(expected)
            );
        }
    }
}
