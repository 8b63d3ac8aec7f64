//! What there is in a directory for the commands, as a first project file names it.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use pratique_foreign::READER;
use pratique_json::text_at;
use pratique_manifest::convert::{convert, items};
use pratique_manifest::{ManifestFile, path_text, read_contents};
use pratique_review::{SourceFile, SourceFiles, SourceKind, named_parts};
use pratique_suite::read_file;
use pratique_types::{ADMISSION_GROUP, ObjectRef};

use super::{FILE, permit};
use crate::exit::CliError;
use crate::input::FileSelection;
use crate::input::sources::recognize;

/// The kinds of objects that say what a cluster is, by their API versions' groups and their names.
const STATE: [(&str, &str); 6] = [
    ("", "Namespace"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io", "Role"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
];

/// Paths relative to a directory, by what they are for.
pub(super) struct DirectoryContents {
    /// Policies, bindings and webhook configurations.
    pub(super) policies: Vec<String>,
    pub(super) suites: Vec<String>,
    /// Objects to review.
    pub(super) inputs: Vec<String>,
    /// Objects of the cluster: params of the policies, and what they may read.
    pub(super) objects: Vec<String>,
    /// Charts and kustomizations, of which programs make objects.
    pub(super) rendered: Vec<String>,
    /// Files with objects that are parts of these.
    pub(super) parts: usize,
    /// Other files that are no objects of the API.
    pub(super) sources: Vec<SourceFile>,
    /// Files of which nothing is known but that there is no object in them.
    pub(super) unknown: Vec<String>,
}

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileUse {
    Policies,
    Suites,
    Inputs,
    Objects,
    /// Part of what a chart or a kustomization renders.
    Rendered,
}

/// An object of a file, as far as it says what the file is for.
struct FoundObject {
    group: String,
    kind: String,
    name: String,
}

/// Directories of which programs make objects.
#[derive(Default)]
struct RenderedRoots {
    charts: BTreeSet<PathBuf>,
    kustomizations: BTreeSet<PathBuf>,
    /// What kustomizations name of others.
    bases: BTreeSet<PathBuf>,
}

/// The params that policies and bindings name.
#[derive(Default)]
struct NamedParams {
    /// Their API versions' groups and kinds.
    kinds: BTreeSet<(String, String)>,
    names: BTreeSet<String>,
}

impl DirectoryContents {
    /// Looks at the files below a directory. What cannot be read now is no reason not to begin.
    pub(super) fn read(directory: &Path) -> Result<Self, CliError> {
        let mut files: Vec<(PathBuf, FileUse)> = Vec::new();
        let mut others: Vec<(PathBuf, Vec<FoundObject>)> = Vec::new();
        let mut params = NamedParams::default();
        let mut sources = SourceFiles::default();
        let mut roots = RenderedRoots::default();
        let mut other_sources = Vec::new();
        let mut unknown = Vec::new();
        for path in FileSelection::default().files(directory)? {
            let Ok(file) = permit(&path).and_then(|()| read_file(&path)) else {
                continue;
            };
            let relative = path.strip_prefix(directory).unwrap_or(&path).to_owned();
            if READER.has_suite(&file) {
                files.push((relative, FileUse::Suites));
                continue;
            }
            if relative == Path::new(FILE) {
                continue;
            }
            if let Some(source) = recognize(&mut sources, &path) {
                if !roots.add(&source, &relative, &file) {
                    other_sources.push((relative, source));
                }
                continue;
            }
            let (objects, is_policy) = params.read(&file);
            if is_policy {
                files.push((relative, FileUse::Policies));
            } else if objects.is_empty() {
                unknown.push(relative);
            } else {
                others.push((relative, objects));
            }
        }
        let suites = homes(&files, FileUse::Suites);
        let mut parts = 0;
        for (path, objects) in others {
            // What suites try is not what is to be deployed.
            if suites.iter().any(|home| path.starts_with(home)) {
                continue;
            }
            // It is an object only as a chart or a kustomization makes it.
            if roots.has_part(&path) {
                parts += 1;
                files.push((path, FileUse::Rendered));
                continue;
            }
            let is_state = objects.iter().all(|object| params.is_state(object));
            let of = if is_state {
                FileUse::Objects
            } else {
                FileUse::Inputs
            };
            files.push((path, of));
        }
        Ok(DirectoryContents {
            policies: path_texts(homes(&files, FileUse::Policies)),
            suites: path_texts(suites),
            inputs: path_texts(unmixed(&files, FileUse::Inputs)),
            objects: path_texts(unmixed(&files, FileUse::Objects)),
            parts,
            sources: other_sources
                .into_iter()
                .filter(|(path, _)| !roots.has_part(path))
                .map(|(_, source)| source)
                .collect(),
            unknown: path_texts(unknown.into_iter().filter(|path| !roots.has_part(path)).collect()),
            rendered: path_texts(roots.into_paths()),
        })
    }

    /// Whether there is nothing to name.
    pub(super) fn is_empty(&self) -> bool {
        let lists = [
            &self.policies,
            &self.suites,
            &self.inputs,
            &self.objects,
            &self.rendered,
        ];
        lists.iter().all(|list| list.is_empty())
    }
}

impl RenderedRoots {
    /// Adds the directory of a chart or a kustomization by the file that says so; gives whether it is one.
    fn add(&mut self, source: &SourceFile, relative: &Path, file: &ManifestFile) -> bool {
        let directory = relative.parent().unwrap_or(Path::new("")).to_owned();
        if source.kind == SourceKind::Chart {
            self.charts.insert(directory);
        } else if source.kind == SourceKind::Kustomization {
            self.bases.extend(named_parts(&directory, file));
            self.kustomizations.insert(directory);
        } else {
            return false;
        }
        true
    }

    /// Whether a file is below one of the directories.
    fn has_part(&self, path: &Path) -> bool {
        let mut roots = self.charts.iter().chain(&self.kustomizations);
        roots.any(|root| path.starts_with(root))
    }

    /// What is rendered by itself: no charts in charts, and no kustomizations that others build upon.
    fn into_paths(self) -> Vec<PathBuf> {
        let mut paths = topmost(self.charts);
        let kustomizations = self.kustomizations.difference(&self.bases);
        paths.extend(kustomizations.cloned());
        for path in &mut paths {
            if path.as_os_str().is_empty() {
                *path = PathBuf::from(".");
            }
        }
        paths.sort();
        paths
    }
}

impl NamedParams {
    /// The objects of a file, and whether one of them configures admission, of which the params are noted.
    fn read(&mut self, file: &ManifestFile) -> (Vec<FoundObject>, bool) {
        let mut objects = Vec::new();
        let mut is_policy = false;
        for document in read_contents(file).documents {
            for item in items(&document.source).objects {
                let object = convert(document.source.tree(), item.node);
                let of = ObjectRef::new(&object);
                let (version, kind) = (of.api_version(), of.kind());
                if version.is_empty() || kind.is_empty() {
                    continue;
                }
                if group(version) == ADMISSION_GROUP {
                    is_policy = true;
                    let param_kind = object.at(&["spec", "paramKind"]).map(ObjectRef::new);
                    if let Some(param) = param_kind.filter(|param| !param.kind().is_empty()) {
                        let group = group(param.api_version()).to_owned();
                        self.kinds.insert((group, param.kind().to_owned()));
                    }
                    let name = text_at(&object, &["spec", "paramRef", "name"]);
                    if !name.is_empty() {
                        self.names.insert(name.to_owned());
                    }
                }
                objects.push(FoundObject {
                    group: group(version).to_owned(),
                    kind: kind.to_owned(),
                    name: of.name().to_owned(),
                });
            }
        }
        (objects, is_policy)
    }

    /// Whether an object says what the cluster is, rather than being one to review: a param is one that a binding names, or of a kind
    /// that is there for nothing else.
    fn is_state(&self, object: &FoundObject) -> bool {
        let FoundObject { group, kind, name } = object;
        if STATE.contains(&(group.as_str(), kind.as_str())) {
            return true;
        }
        let is_of_kind = self.kinds.contains(&(group.clone(), kind.clone()));
        // Kinds of the core group, such as ConfigMap, are for much else.
        is_of_kind && (self.names.contains(name) || !group.is_empty())
    }
}

/// The group of an API version.
fn group(version: &str) -> &str {
    version.split_once('/').map_or("", |(group, _)| group)
}

/// The topmost directories of the files with a use; a file at the top is named itself.
fn homes(files: &[(PathBuf, FileUse)], of: FileUse) -> Vec<PathBuf> {
    let of_use = files.iter().filter(|(_, is)| *is == of);
    topmost(of_use.map(|(path, _)| home(path)).collect())
}

/// The same, where files in or below a directory with another use stay out of it: these are named one by one.
fn unmixed(files: &[(PathBuf, FileUse)], of: FileUse) -> Vec<PathBuf> {
    let others = files.iter().filter(|(_, other)| *other != of);
    let mixed: HashSet<&Path> = others.flat_map(|(path, _)| path.ancestors()).collect();
    let of_use = files.iter().filter(|(_, is)| *is == of);
    let paths = of_use.map(|(path, _)| {
        let home = home(path);
        if mixed.contains(home.as_path()) {
            path.clone()
        } else {
            home
        }
    });
    topmost(paths.collect())
}

/// The directory of a file; a file at the top is named itself.
fn home(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => path.to_owned(),
    }
}

/// The paths that are not below others.
fn topmost(paths: BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in paths {
        // Paths are sorted part by part: what is below one comes right after it.
        if !kept.last().is_some_and(|above| path.starts_with(above)) {
            kept.push(path);
        }
    }
    kept
}

fn path_texts(paths: Vec<PathBuf>) -> Vec<String> {
    paths.iter().map(|path| path_text(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_others_are_dropped() {
        let paths = ["a", "a/b", "ab", "c/d"].map(PathBuf::from);
        assert_eq!(path_texts(topmost(paths.into())), ["a", "ab", "c/d"]);
    }

    #[test]
    fn directories_with_something_else_are_not_named() {
        let file = |path: &str, of| (PathBuf::from(path), of);
        let files = [
            file("deploy/web.yaml", FileUse::Inputs),
            file("deploy/jobs/job.yaml", FileUse::Inputs),
            file("mixed/web.yaml", FileUse::Inputs),
            file("mixed/policies/a.yaml", FileUse::Policies),
            file("params.yaml", FileUse::Objects),
        ];
        assert_eq!(
            path_texts(unmixed(&files, FileUse::Inputs)),
            ["deploy", "mixed/web.yaml"]
        );
        assert_eq!(path_texts(unmixed(&files, FileUse::Objects)), ["params.yaml"]);
        assert_eq!(path_texts(homes(&files, FileUse::Policies)), ["mixed/policies"]);
    }

    #[test]
    fn params_are_those_that_bindings_name() {
        let read = |params: &mut NamedParams, text: &str| {
            let file = ManifestFile {
                path: "a.yaml".to_owned(),
                content: text.as_bytes().to_vec(),
            };
            params.read(&file)
        };
        let mut params = NamedParams::default();
        let (_, is_policy) = read(
            &mut params,
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n\
             spec: {paramKind: {apiVersion: v1, kind: ConfigMap}}\n---\n\
             apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\n\
             spec: {paramRef: {name: limits}}\n",
        );
        assert!(is_policy);
        for (text, expected) in [
            (
                "{apiVersion: v1, kind: ConfigMap, metadata: {name: limits}}",
                true,
            ),
            (
                "{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}",
                false,
            ),
            ("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}", true),
            (
                "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}",
                false,
            ),
        ] {
            let (objects, is_policy) = read(&mut params, text);
            assert!(!is_policy && objects.len() == 1);
            assert_eq!(
                objects.iter().all(|object| params.is_state(object)),
                expected,
                "{text}"
            );
        }
    }
}
