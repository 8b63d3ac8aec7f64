//! The annotation in which Kustomize says of which file an object is, if a kustomization asks for it.

use std::path::{Component, Path, PathBuf};

use pratique_json::Value;
use pratique_manifest::{ManifestFile, Value as TreeValue, read_documents};

/// The annotation.
// Upstream: kustomize's api/internal/utils/annotations.go, OriginAnnotationKey
const ANNOTATION: &str = "config.kubernetes.io/origin";

/// The largest value of it that is read, in bytes.
const MAX_ANNOTATION: usize = 4096;

/// A file that an object was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedOrigin {
    pub(super) path: PathBuf,
}

impl NamedOrigin {
    /// The file that the annotation of an object names, from the directory that was built: that of its resource, or else the
    /// kustomization that makes it. `None` for what comes from another repository.
    pub(super) fn of_annotation(object: &Value<'_>, directory: &Path) -> Option<Self> {
        let text = object.at(&["metadata", "annotations", ANNOTATION])?.as_str()?;
        if text.len() > MAX_ANNOTATION {
            return None;
        }
        let file = ManifestFile {
            path: String::new(),
            content: text.as_bytes().to_vec(),
        };
        let documents = read_documents(&file).ok()?;
        let source = &documents.first()?.source;
        let member = |name: &str| {
            let entry = source.tree().entry(source.root(), name)?;
            match &source.tree().get(entry.value).value {
                TreeValue::String(text, _) => Some(text.to_string()),
                _ => None,
            }
        };
        if member("repo").is_some() {
            return None;
        }
        let path = member("path").or_else(|| member("configuredIn"))?;
        resolved(directory, &path).map(|path| NamedOrigin { path })
    }
}

/// A path from a directory, without its `..`; `None` if it leads above where the directory is named from.
fn resolved(directory: &Path, path: &str) -> Option<PathBuf> {
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
        let found = NamedOrigin::of_annotation(&object, Path::new(directory));
        assert_eq!(
            found.map(|found| found.path),
            expected.map(PathBuf::from),
            "{annotation}"
        );
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
        check("", "path: web.yaml\nrepo: https://example.com/a\nref: v1\n", None);
        check("", "path: [a\n", None);
        check("", "{}", None);
    }
}
