//! The annotation in which Kustomize says of which file an object is, if a kustomization asks for it.

use std::path::{Component, Path, PathBuf};

use pratique_json::Value;

use super::first_document_texts;

/// The annotation.
// Upstream: kustomize's api/internal/utils/annotations.go, OriginAnnotationKey
const ANNOTATION: &str = "config.kubernetes.io/origin";

/// The largest value of it that is read, in bytes.
const MAX_ANNOTATION: usize = 4096;

/// The file that the annotation of an object names, from the directory that was built: that of its resource, or else the
/// kustomization that makes it. `None` for what comes from another repository.
pub(super) fn read_annotation(object: &Value<'_>, directory: &Path) -> Option<PathBuf> {
    let text = object.at(&["metadata", "annotations", ANNOTATION])?.as_str()?;
    if text.len() > MAX_ANNOTATION {
        return None;
    }
    let names = ["repo", "path", "configuredIn"];
    let [repository, path, configuration] = first_document_texts(text.as_bytes().to_vec(), names)?;
    if repository.is_some() {
        return None;
    }
    resolve_path(directory, &path.or(configuration)?)
}

/// A path from a directory, without its `..`; `None` if it leads above where the directory is named from, or does not begin there.
pub(super) fn resolve_path(directory: &Path, path: &str) -> Option<PathBuf> {
    // A path with a root or, on Windows, a prefix takes the place of the directory that it is joined to.
    let begins_elsewhere = |part| matches!(part, Component::RootDir | Component::Prefix(_));
    if Path::new(path).components().any(begins_elsewhere) {
        return None;
    }
    let mut resolved = PathBuf::new();
    for part in directory.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if !resolved.pop() {
                    return None;
                }
            }
            part => resolved.push(part),
        }
    }
    resolved.file_name().is_some().then_some(resolved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(directory: &str, annotation: &str, expected: Option<&str>) {
        let object = format!(
            r#"{{"metadata": {{"annotations": {{"{ANNOTATION}": {}}}}}}}"#,
            serde_json::Value::from(annotation)
        );
        let object = pratique_json::parse(object.as_bytes()).unwrap();
        let path = read_annotation(&object, Path::new(directory));
        assert_eq!(path, expected.map(PathBuf::from), "{annotation}");
    }

    #[test]
    fn files_are_named_from_the_directory() {
        check(
            "overlays/prod",
            "path: ../../base/web.yaml\n",
            Some("base/web.yaml"),
        );
        check("", "path: base/web.yaml\n", Some("base/web.yaml"));
        check(
            "overlays/prod",
            "configuredIn: ../../base/kustomization.yaml\nconfiguredBy:\n  kind: ConfigMapGenerator\n",
            Some("base/kustomization.yaml"),
        );
        check("", "path: ../../../etc/passwd\n", None);
        check("", "path: /etc/x.yaml\n", None);
        check("overlays/prod", "configuredIn: /etc/x.yaml\n", None);
        check("", "path: web.yaml\nrepo: https://example.com/a\nref: v1\n", None);
        check("", "path: [a\n", None);
        check("", "{}", None);
    }
}
