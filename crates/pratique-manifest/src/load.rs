//! Loading files as a [`ManifestSet`], or all their errors.

pub(crate) mod content_hash;
mod document_batcher;
mod document_validator;
mod file_cache;
pub(crate) mod loader;
pub(crate) mod options;
pub(crate) mod reload;
pub(crate) mod rewrites;
pub(crate) mod selection;
pub(crate) mod set;
mod set_builder;

use std::borrow::Cow;

use crate::budget::Budget;
use crate::parse::file_document::bad_separators;
use crate::problem::{Failure, LoadErrors, Problem, Rule};
use crate::read::directory::{self, KnownContents, ManifestFile, ReadManifest};
use crate::read::stamp::FileStamp;
use document_batcher::DocumentBatcher;
use document_validator::DocumentValidator;
use file_cache::{CacheEntry, FileCache};
use set::ManifestSet;

/// Reads the files of a directory. All are read before any is parsed, so that they belong together as far as possible.
fn read(
    path: &str,
    budget: &Budget,
    known: KnownContents<'_>,
) -> Result<Vec<Result<ReadManifest, Failure>>, LoadErrors> {
    directory::read(path, budget, known).map_err(|failure| LoadErrors::new(vec![failure]))
}

/// A file to load.
pub(crate) enum FileInput<'a> {
    /// With its stamp, if it may be cached with one.
    Read(Cow<'a, ManifestFile>, Option<FileStamp>),
    /// The path of a file that is unchanged, and its objects.
    Cached(CacheEntry),
}

/// Loads files; the cache gets those that have no errors.
pub(crate) fn finish<'a>(
    files: impl IntoIterator<Item = Result<FileInput<'a>, Failure>>,
    validator: DocumentValidator<'_>,
    cache: Option<&mut FileCache>,
) -> Result<ManifestSet, LoadErrors> {
    let mut batcher = DocumentBatcher::new(validator);
    // The server reads and splits all files before it looks at any document.
    let mut failures = Vec::new();
    for file in files {
        let file = match file {
            Ok(file) => file,
            Err(failure) => {
                batcher.add_unreadable_file();
                failures.push(failure);
                continue;
            }
        };
        if validator.budget.is_exceeded() {
            break;
        }
        match file {
            FileInput::Cached(entry) => batcher.add_cached(entry),
            FileInput::Read(file, stamp) => {
                let separator_failures = bad_separators(&file);
                batcher.add_file(file, stamp, cache.is_some() && separator_failures.is_empty());
                failures.extend(separator_failures);
            }
        }
    }
    let (set, document_failures, entries) = batcher.finish();
    if let Some(cache) = cache.filter(|_| !validator.budget.is_exceeded()) {
        cache.replace(entries);
    }
    failures.extend(document_failures);
    outcome(set, failures, validator.budget)
}

/// The result of a load. One that exceeds its budget fails for that alone, as the search for other errors was cut short.
fn outcome(set: ManifestSet, failures: Vec<Failure>, budget: &Budget) -> Result<ManifestSet, LoadErrors> {
    if budget.is_exceeded() {
        return Err(LoadErrors::new(vec![exceeded(&failures, budget)]));
    }
    if failures.is_empty() {
        Ok(set)
    } else {
        Err(LoadErrors::new(failures))
    }
}

/// The failure of a load that exceeds its budget, with the place where it does, if that is known.
fn exceeded(failures: &[Failure], budget: &Budget) -> Failure {
    let message = budget.message();
    let mut problems = failures.iter().flat_map(|failure| &failure.problems);
    let budget_problem = problems.find(|problem| problem.message.ends_with(&message));
    let location = budget_problem.and_then(|problem| problem.location.clone());
    let text = match &location {
        Some(location) => format!("error loading {}: {message}", location.file),
        None => format!("error loading manifests: {message}"),
    };
    let mut problem = Problem::new(Rule::Unreadable, message);
    problem.location = location;
    Failure::single(text, problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::UncheckedExpressions;
    use crate::load::loader::Loader;
    use crate::load::options::LoadOptions;
    use crate::load::set::OptionalVersion;
    use crate::plugin::ManifestPlugin;

    const POLICY: &str = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n\
        metadata: {name: p}\nspec:\n  paramKind: {apiVersion: v1, kind: ConfigMap}\n  matchConstraints:\n    \
        resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]\n  \
        validations: [{expression: 'true'}]\n";

    fn load(text: &str) -> Result<ManifestSet, LoadErrors> {
        let file = ManifestFile {
            path: "p.yaml".to_owned(),
            content: text.as_bytes().to_vec(),
        };
        let options = LoadOptions::new(&UncheckedExpressions);
        Loader::for_api(&options).load_files(&[file])
    }

    #[test]
    fn objects_of_the_api_have_freedoms() {
        let set = load(POLICY).unwrap();
        assert_eq!(set.validating_policies.len(), 1);
        let policy = set.validating_policies.first().unwrap();
        let spec = policy.object.spec.as_ref().unwrap();
        assert_eq!(spec.failure_policy.as_deref(), Some("Fail"));
    }

    #[test]
    fn documents_are_told_apart_by_name() {
        let text = format!(
            "{}---\n{}---\nkind: Pod\napiVersion: v1\n",
            POLICY,
            POLICY
                .replace("{name: p}", "{name: q.static.k8s.io}")
                .replace("  paramKind: {apiVersion: v1, kind: ConfigMap}\n", "")
        );
        let file = ManifestFile {
            path: "p.yaml".to_owned(),
            content: text.into_bytes(),
        };
        let documents = crate::parse::documents::read_documents(&file).unwrap();
        let options = LoadOptions::new(&UncheckedExpressions);
        let names = |set: Result<ManifestSet, LoadErrors>| {
            let set = set.unwrap();
            set.objects()
                .map(|object| object.name.to_owned())
                .collect::<Vec<_>>()
        };
        let plugin = ManifestPlugin::ValidatingAdmissionPolicy;
        assert_eq!(
            names(
                Loader::for_plugin(plugin, &options)
                    .by_name()
                    .load_documents(&documents)
            ),
            ["q.static.k8s.io"]
        );
        assert_eq!(
            names(Loader::for_api(&options).by_name().load_documents(&documents)),
            ["p"]
        );
        assert_eq!(
            names(Loader::for_api(&options).load_documents(&documents)),
            ["p", "q.static.k8s.io"]
        );
    }

    #[test]
    fn older_versions_are_those_of_some_clusters() {
        let older = POLICY.replace("k8s.io/v1\n", "k8s.io/v1beta1\n");
        let refused = load(&older).unwrap_err().to_string();
        let missing = "the server could not find the requested resource (post \
            validatingadmissionpolicies.admissionregistration.k8s.io)";
        assert_eq!(refused, missing);
        let load_stored = |text: &str| {
            let file = ManifestFile {
                path: "p.yaml".to_owned(),
                content: text.as_bytes().to_vec(),
            };
            let options = LoadOptions::new(&UncheckedExpressions);
            Loader::for_api(&options)
                .with_older_versions()
                .load_files(&[file])
        };
        assert_eq!(load_stored(&older).unwrap().validating_policies.len(), 1);
        let binding = "apiVersion: admissionregistration.k8s.io/v1alpha1\nkind: ValidatingAdmissionPolicyBinding\n\
            metadata: {name: b}\nspec: {policyName: p, paramRef: {name: x}, validationActions: [Deny]}\n";
        let set = load_stored(binding).unwrap();
        assert_eq!(set.older.len(), 1, "{:?}", set.older);
        let stable = load(&binding.replace("v1alpha1", "v1")).unwrap_err().to_string();
        let expected = "ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io \"b\" is invalid: \
            spec.paramRef.parameterNotFoundAction: Required value";
        assert_eq!(stable, expected);
    }

    #[cfg(feature = "expressions")]
    #[test]
    fn stored_expressions_are_those_of_the_release() {
        let load_as = |expression: &str, is_stored: bool| {
            let file = ManifestFile {
                path: "p.yaml".to_owned(),
                content: POLICY.replace("'true'", &format!("'{expression}'")).into_bytes(),
            };
            let loader = Loader::for_api(&LoadOptions::checked());
            let loader = if is_stored {
                loader.with_stored_expressions()
            } else {
                loader
            };
            loader.load_files(&[file])
        };
        // Since 1.37, which new expressions of 1.37 may not use yet.
        let newest = "[1].includes(1)";
        assert!(load_as(newest, false).is_err());
        let set = load_as(newest, true).unwrap();
        assert_eq!((set.validating_policies.len(), set.uncompiled), (1, vec![]));
        // What no server of the release has is in the policy nevertheless.
        assert!(load_as("object.unknown()", false).is_err());
        let set = load_as("object.unknown()", true).unwrap();
        let texts: Vec<&str> = set
            .uncompiled
            .iter()
            .map(|failure| failure.text.as_str())
            .collect();
        assert_eq!(set.validating_policies.len(), 1);
        assert!(
            matches!(texts.as_slice(), [text] if text.contains("undeclared reference to 'unknown'")),
            "{texts:?}"
        );
        // A policy that is not valid otherwise is not one that a server has.
        let invalid = POLICY
            .replace("[CREATE]", "[CREATED]")
            .replace("'true'", "'object.unknown()'");
        let file = ManifestFile {
            path: "p.yaml".to_owned(),
            content: invalid.into_bytes(),
        };
        let loader = Loader::for_api(&LoadOptions::checked()).with_stored_expressions();
        let refused = loader.load_files(&[file]).unwrap_err();
        assert_eq!(refused.problems().count(), 2, "{refused}");
    }

    #[test]
    fn versions_that_servers_can_be_told_to_serve() {
        let binding = |version: &str| {
            format!(
                "apiVersion: admissionregistration.k8s.io/{version}\nkind: MutatingAdmissionPolicyBinding\nmetadata: {{name: b}}\n\
                 spec: {{policyName: p}}\n"
            )
        };
        for version in ["v1beta1", "v1alpha1"] {
            let set = load(&binding(version)).unwrap();
            let told: Vec<String> = set.optional.iter().map(ToString::to_string).collect();
            let expected = format!(
                "admissionregistration.k8s.io/{version} MutatingAdmissionPolicyBinding is not served unless the server has \
                 --runtime-config=admissionregistration.k8s.io/{version}=true; it is read as if it had"
            );
            assert_eq!((told, set.mutating_bindings.len()), (vec![expected], 1));
            let help = set.optional.first().and_then(OptionalVersion::help);
            assert_eq!(
                help.as_deref(),
                Some("write it in admissionregistration.k8s.io/v1")
            );
        }
        assert_eq!(load(&binding("v1")).unwrap().optional, []);
        assert!(load(&binding("v2")).is_err());
        let file = ManifestFile {
            path: "b.yaml".to_owned(),
            content: binding("v1beta1").into_bytes(),
        };
        let options = LoadOptions::new(&UncheckedExpressions);
        // A cluster has it.
        let stored = Loader::for_api(&options).with_older_versions();
        assert_eq!(
            stored.load_files(std::slice::from_ref(&file)).unwrap().optional,
            []
        );
        // Static manifests are decoded otherwise.
        let plugin = ManifestPlugin::MutatingAdmissionPolicy;
        let refused = Loader::for_plugin(plugin, &options)
            .load_files(&[file])
            .unwrap_err();
        assert!(
            refused
                .to_string()
                .contains("unsupported resource type *v1beta1.MutatingAdmissionPolicyBinding")
        );
    }

    #[test]
    fn objects_of_the_api_are_validated() {
        let twice = load(&format!("{POLICY}---\n{POLICY}")).unwrap();
        assert_eq!((twice.validating_policies.len(), twice.replaced.len()), (1, 1));
        let unknown = load(&POLICY.replace("validations", "validatons")).unwrap_err();
        let expected = "ValidatingAdmissionPolicy in version \"v1\" cannot be handled as a ValidatingAdmissionPolicy: strict \
            decoding error: unknown field \"spec.validatons\"";
        assert_eq!(unknown.to_string(), expected);
    }
}
