//! The policies, bindings and webhook configurations in a checkout.

use std::fs;
use std::path::{Path, PathBuf};

use pratique::expressions::Expressions;
use pratique_harness::ToolError;
use pratique_manifest::{LoadErrors, Loader, ManifestFile, ManifestSet};

/// A checkout of a repository.
#[derive(Debug)]
pub struct RepositoryCheckout {
    /// The name of its directory.
    pub name: String,
    pub(crate) path: PathBuf,
}

/// The content of a checkout.
#[derive(Debug, Default)]
pub struct CheckoutContent {
    /// How many files have manifests.
    pub files: usize,
    /// The documents that are, or contain, manifests.
    pub manifests: Vec<ManifestDocument>,
}

/// A document with a manifest.
#[derive(Debug)]
pub struct ManifestDocument {
    /// Its file, from the repository's directory on.
    file: String,
    /// The document, after as many empty lines as there are lines before it: places in it are those in the file.
    text: String,
    /// The line on which it starts.
    line: usize,
}

/// The largest file that is looked at; manifests written by people are not near it.
const LARGEST: u64 = 4 << 20;

/// Directories that are not looked into: what is in them belongs to others.
const SKIPPED: [&str; 4] = [".git", "node_modules", "vendor", "target"];

/// The checkouts below a directory, by name.
pub fn repositories(directory: &Path) -> Result<Vec<RepositoryCheckout>, ToolError> {
    let mut repositories: Vec<RepositoryCheckout> = entries(directory)?
        .into_iter()
        .filter(|path| path.is_dir())
        .map(|path| RepositoryCheckout {
            name: path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            path,
        })
        .collect();
    repositories.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(repositories)
}

pub(crate) fn entries(directory: &Path) -> Result<Vec<PathBuf>, ToolError> {
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    let mut entries = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // Links lead to what is looked at anyway, or out of the checkout.
        if !entry.file_type().map_err(failed)?.is_symlink() {
            entries.push(entry.path());
        }
    }
    entries.sort();
    Ok(entries)
}

impl RepositoryCheckout {
    /// The manifests in the checkout.
    pub fn manifests(&self) -> Result<CheckoutContent, ToolError> {
        let mut selection = CheckoutContent::default();
        let mut open = vec![self.path.clone()];
        while let Some(path) = open.pop() {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                if !SKIPPED.contains(&&*name) {
                    open.extend(entries(&path)?);
                }
            } else if is_manifest_name(&name) {
                self.read(&path, &mut selection)?;
            }
        }
        selection
            .manifests
            .sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        Ok(selection)
    }

    fn read(&self, path: &Path, selection: &mut CheckoutContent) -> Result<(), ToolError> {
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        if fs::metadata(path).map_err(failed)?.len() > LARGEST {
            return Ok(());
        }
        let Ok(text) = String::from_utf8(fs::read(path).map_err(failed)?) else {
            return Ok(());
        };
        let file = path.strip_prefix(&self.path).unwrap_or(path);
        let documents = documents(&text)
            .into_iter()
            .filter(|(_, text)| has_manifest(text));
        let previous_count = selection.manifests.len();
        selection
            .manifests
            .extend(documents.map(|(line, text)| ManifestDocument {
                file: format!("{}/{}", self.name, file.display()),
                text: "\n".repeat(line) + &as_v1(text),
                line,
            }));
        selection.files += usize::from(selection.manifests.len() > previous_count);
        Ok(())
    }
}

impl ManifestDocument {
    /// Loads it as objects that are created in the API.
    pub fn load(&self, expressions: &Expressions) -> Result<ManifestSet, LoadErrors> {
        let file = ManifestFile {
            path: self.file.clone(),
            content: self.text.clone().into_bytes(),
        };
        Loader::for_api(&expressions.options()).load_files(&[file])
    }

    /// Whether it looks like a template, such as Helm's, of which only the rendered text is a manifest.
    pub fn is_template(&self) -> bool {
        self.text.contains("{{")
    }

    /// Its file, from the checkout on.
    pub(crate) fn path(&self) -> &str {
        self.file.split_once('/').map_or("", |(_, path)| path)
    }

    /// Its position.
    pub fn place(&self) -> String {
        format!("{}:{}", self.file, self.line + 1)
    }
}

pub(crate) fn is_manifest_name(name: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end))
}

/// The documents of a file, each with the number of lines before it.
fn documents(text: &str) -> Vec<(usize, &str)> {
    let mut documents = Vec::new();
    let (mut start, mut start_line, mut at) = (0, 0, 0);
    for (line, content) in text.split_inclusive('\n').enumerate() {
        let end = at + content.len();
        if content.trim_end() == "---" || content.starts_with("--- ") {
            documents.push((start_line, text.get(start..at).unwrap_or_default()));
            (start, start_line) = (end, line + 1);
        }
        at = end;
    }
    documents.push((start_line, text.get(start..).unwrap_or_default()));
    documents
}

/// Whether a document is a manifest of admission, or a list with some.
fn has_manifest(text: &str) -> bool {
    const KINDS: [&str; 4] = [
        "ValidatingAdmissionPolicy",
        "MutatingAdmissionPolicy",
        "ValidatingWebhookConfiguration",
        "MutatingWebhookConfiguration",
    ];
    // An object says what it is at its margin; in JSON any line may be one of it.
    let is_json = text.trim_start().starts_with('{');
    let values = |what: &str| -> Vec<&str> {
        let lines = text.lines().filter_map(|line| {
            let line = if is_json { line.trim_start() } else { line };
            let (key, value) = line.split_once(':')?;
            let value = value.split(" #").next().unwrap_or_default();
            (key.trim_matches('"') == what)
                .then(|| value.trim().trim_end_matches(',').trim_matches(['"', '\'']))
        });
        lines.collect()
    };
    let is_list = values("kind").contains(&"List") && text.contains("admissionregistration.k8s.io/");
    let has_group = values("apiVersion")
        .iter()
        .any(|version| version.starts_with("admissionregistration.k8s.io/"));
    let kinds = values("kind");
    let has_kind = kinds
        .iter()
        .any(|kind| KINDS.iter().any(|known| kind.starts_with(known)));
    is_list || (has_group && has_kind)
}

/// A document as that of version v1: the versions before it have the same fields.
fn as_v1(text: &str) -> String {
    let group = "admissionregistration.k8s.io/";
    let mut text = text.to_owned();
    for version in ["v1beta1", "v1alpha1"] {
        text = text.replace(
            &format!("apiVersion: {group}{version}"),
            &format!("apiVersion: {group}v1"),
        );
        text = text.replace(&format!("\"{group}{version}\""), &format!("\"{group}v1\""));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_keep_their_lines() {
        let text = "a: 1\n---\nb: 2\nc: 3\n--- # more\nd: 4\n";
        assert_eq!(
            documents(text),
            [(0, "a: 1\n"), (2, "b: 2\nc: 3\n"), (5, "d: 4\n")]
        );
    }

    #[test]
    fn manifests_are_told_from_what_mentions_them() {
        let group = "apiVersion: admissionregistration.k8s.io/v1beta1\n";
        for (text, expected) in [
            (format!("{group}kind: ValidatingAdmissionPolicy\n"), true),
            (format!("{group}kind: MutatingAdmissionPolicyBinding # one\n"), true),
            (format!("kind: List\nitems:\n- {group}  kind: ValidatingAdmissionPolicy\n"), true),
            ("apiVersion: v1\nkind: ConfigMap\ndata:\n  kind: ValidatingAdmissionPolicy\n".to_owned(), false),
            (format!("kind: ClusterPolicy\nspec:\n  {group}  kind: ValidatingAdmissionPolicy\n"), false),
            (
                "{\n  \"apiVersion\": \"admissionregistration.k8s.io/v1\",\n  \"kind\": \"ValidatingAdmissionPolicy\"\n}".to_owned(),
                true,
            ),
        ] {
            assert_eq!(has_manifest(&text), expected, "{text}");
        }
        assert!(as_v1(group).contains("k8s.io/v1\n"));
    }
}
