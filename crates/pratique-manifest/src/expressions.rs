//! Expressions of manifests, compiled as an API server compiles them to validate manifests: with
//! a [`Loader`](crate::Loader).

mod hints;
mod replacement;

use std::sync::{Arc, LazyLock};

use pratique_cel::{CompileError, Issue};
pub use pratique_expression::Cache;
use pratique_expression::{CURRENT_MINOR, Composition, ExpressionPurpose, token_at};
use pratique_schema::{Release, ReleaseCache};
use pratique_workers::ScopedThreads;

use crate as manifest;
use crate::DEFAULT_LOAD_BYTES;

/// Compiles the expressions of manifests, each once.
///
/// A [`ManifestSet`](manifest::ManifestSet) that is compiled with the same cache later reuses the expressions.
#[derive(Clone, Debug)]
pub struct Expressions {
    cache: Arc<Cache>,
    minor: u32,
    max_load_bytes: u64,
}

impl Expressions {
    /// Compiles for an API server of the cache's release, which accepts in new policies only what the release before has, so
    /// that it can be rolled back.
    pub fn new(cache: Arc<Cache>) -> Self {
        let minor = cache.release().version().1.saturating_sub(1);
        Self::at(cache, minor)
    }

    /// Compiles with the environment of version 1.`minor`.
    pub fn at(cache: Arc<Cache>, minor: u32) -> Self {
        Expressions {
            cache,
            minor,
            max_load_bytes: DEFAULT_LOAD_BYTES,
        }
    }

    /// Bounds the memory of each load, in bytes, see [`LoadOptions::with_max_bytes`](manifest::LoadOptions::with_max_bytes).
    #[must_use]
    pub fn with_max_load_bytes(self, max_load_bytes: u64) -> Self {
        Expressions {
            max_load_bytes,
            ..self
        }
    }

    /// The same with another cache, which may be of another release.
    #[must_use]
    pub fn with_cache(self, cache: Arc<Cache>) -> Self {
        Expressions::new(cache).with_max_load_bytes(self.max_load_bytes)
    }

    /// The options to load manifests with these expressions, on all cores.
    pub fn options(&self) -> manifest::LoadOptions<'_> {
        manifest::LoadOptions::new(self)
            .with_workers(&ScopedThreads)
            .with_max_bytes(self.max_load_bytes)
    }

    /// The expressions that all loads with [`LoadOptions::checked`](manifest::LoadOptions::checked) share.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: LazyLock<Expressions> = LazyLock::new(|| Expressions::new(Arc::default()));
        &SHARED
    }

    /// The same for a server of a release.
    pub(crate) fn shared_of(release: &'static Release) -> &'static Self {
        static OTHERS: ReleaseCache<&Release, &Expressions> = ReleaseCache::new();
        if release == Release::latest() {
            return Self::shared();
        }
        OTHERS.get_or_make(release, || {
            let cache = Arc::new(Cache::new().of_release(release));
            Box::leak(Box::new(Expressions::new(cache)))
        })
    }

    /// Where compiled expressions are kept.
    pub fn cache(&self) -> &Arc<Cache> {
        &self.cache
    }
}

impl manifest::LoadOptions<'static> {
    /// The options to load manifests as an API server of version 1.37 does, which compiles their expressions, on all cores.
    ///
    /// ```
    /// use pratique_manifest::{LoadOptions, Loader, ManifestFile, ManifestPlugin};
    ///
    /// let policy = r#"
    /// apiVersion: admissionregistration.k8s.io/v1
    /// kind: ValidatingAdmissionPolicy
    /// metadata: {name: p.static.k8s.io}
    /// spec:
    ///   matchConstraints:
    ///     resourceRules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE]}]
    ///   validations: [{expression: object.spec.replicas}]
    /// "#;
    /// let file = ManifestFile { path: "p.yaml".into(), content: policy.into() };
    /// let loader = Loader::for_plugin(ManifestPlugin::ValidatingAdmissionPolicy, &LoadOptions::checked());
    /// let errors = loader.load_files(&[file]).unwrap_err();
    /// let first = errors.problems().next().unwrap();
    /// assert!(first.message.contains("must evaluate to bool but got dyn"), "{}", first.message);
    /// ```
    pub fn checked() -> Self {
        Expressions::shared().options()
    }
}

impl manifest::ExpressionCompiler for Expressions {
    fn begin(&self) -> Box<dyn manifest::PolicyExpressions + '_> {
        Box::new(ManifestExpressions {
            composition: Composition::at(&self.cache, self.minor),
            minor: self.minor,
            release_minor: self.cache.release().version().1,
        })
    }

    fn release(&self) -> &'static Release {
        self.cache.release()
    }
}

/// The expressions of one policy.
struct ManifestExpressions<'c> {
    composition: Composition<'c>,
    minor: u32,
    release_minor: u32,
}

impl manifest::PolicyExpressions for ManifestExpressions<'_> {
    fn compile(
        &mut self,
        text: &str,
        usage: manifest::ExpressionUse<'_>,
        declarations: manifest::Declarations,
    ) -> Result<(), manifest::ExpressionError> {
        // Upstream: apiserver/pkg/cel/environment/environment.go, StoredExpressions
        let minor = if declarations.stored {
            self.release_minor.max(self.minor)
        } else {
            self.minor
        };
        let declarations = pratique_expression::Declarations {
            params: declarations.params,
            authorizer: declarations.authorizer,
            patch_types: declarations.patch_types,
            variables: declarations.variables,
        };
        let composition = &mut self.composition;
        composition.set_minor(minor);
        let compiled = match usage {
            manifest::ExpressionUse::Variable { name } => composition.variable(name, text, declarations),
            other => composition.compile(text, use_of(other), declarations),
        };
        let declared = hints::DeclaredNames {
            declarations,
            condition: usage == manifest::ExpressionUse::MatchCondition,
            minor,
        };
        compiled
            .map(|_| ())
            .map_err(|error| refused(&error, text, declared))
    }
}

/// What to do about an error in an expression, as a load says it of those that do not compile. Programs that check the types of
/// an expression more strictly than a server does show the same help.
pub fn help_for_issue(
    issue: &Issue,
    text: &str,
    declarations: pratique_expression::Declarations,
    usage: ExpressionPurpose,
) -> Option<manifest::ExpressionHelp> {
    let declared = hints::DeclaredNames {
        declarations,
        condition: usage == ExpressionPurpose::MatchCondition,
        minor: CURRENT_MINOR,
    };
    hints::for_issue(issue, text, issue.position.byte_offset(text), declared)
}

fn use_of(usage: manifest::ExpressionUse<'_>) -> ExpressionPurpose {
    match usage {
        manifest::ExpressionUse::MatchCondition => ExpressionPurpose::MatchCondition,
        manifest::ExpressionUse::Variable { .. } => ExpressionPurpose::Variable,
        manifest::ExpressionUse::Validation => ExpressionPurpose::Validation,
        manifest::ExpressionUse::Message => ExpressionPurpose::Message,
        manifest::ExpressionUse::AuditAnnotation => ExpressionPurpose::AuditAnnotation,
        manifest::ExpressionUse::ApplyConfiguration => ExpressionPurpose::ApplyConfiguration,
        manifest::ExpressionUse::JsonPatch => ExpressionPurpose::JsonPatch,
    }
}

fn refused(
    error: &pratique_expression::ExpressionError,
    text: &str,
    declared: hints::DeclaredNames,
) -> manifest::ExpressionError {
    use pratique_expression::ExpressionError::{Compile, Plan, Type};
    let (kind, issues) = match error {
        Compile(CompileError::Issues { issues, .. }) => {
            let issues = issues.iter().enumerate().map(|(index, issue)| {
                let offset = issue.position.byte_offset(text);
                let known = issues.get(..index).unwrap_or_default();
                let help = hints::for_issue(issue, text, offset, declared);
                manifest::ExpressionIssue {
                    message: issue.message.clone(),
                    offset,
                    length: token_at(text, offset).len(),
                    help: help.filter(|_| !hints::is_consequence(issue, known, text, offset)),
                }
            });
            (manifest::ExpressionErrorKind::Invalid, issues.collect())
        }
        Compile(_) | Type { .. } => (manifest::ExpressionErrorKind::Invalid, Vec::new()),
        Plan(_) => (manifest::ExpressionErrorKind::Internal, Vec::new()),
    };
    manifest::ExpressionError {
        kind,
        detail: error.to_string(),
        issues,
        help: hints::for_whole(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_reported_with_their_places() {
        let expressions = Expressions::new(Arc::new(Cache::new()));
        let mut policy = manifest::ExpressionCompiler::begin(&expressions);
        let none = manifest::Declarations::default();
        let error = policy
            .compile("object.x == nothing", manifest::ExpressionUse::Validation, none)
            .unwrap_err();
        assert!(
            error
                .detail
                .starts_with("compilation failed: ERROR: <input>:1:13: "),
            "{}",
            error.detail
        );
        assert_eq!(error.issues.len(), 1);
        assert_eq!(error.issues.first().map(|issue| issue.offset), Some(12));
        let error = policy
            .compile("object.x", manifest::ExpressionUse::Validation, none)
            .unwrap_err();
        assert_eq!(error.detail, "must evaluate to bool but got dyn");
    }

    #[test]
    fn functions_of_later_releases_are_named() {
        let help = |release: &str, text: &str, stored: bool| -> Option<String> {
            let cache = Cache::new().of_release(Release::by_version(release).unwrap());
            let expressions = Expressions::new(Arc::new(cache));
            let mut policy = manifest::ExpressionCompiler::begin(&expressions);
            let declared = manifest::Declarations {
                stored,
                ..manifest::Declarations::default()
            };
            let refused = policy.compile(text, manifest::ExpressionUse::Validation, declared);
            let issue = refused.err()?.issues.into_iter().next().unwrap();
            Some(issue.help.unwrap().text)
        };
        let distinct = "[1].distinct() == [1]";
        let told = "Kubernetes has it since 1.34, in new expressions since 1.35";
        assert_eq!(help("1.34", distinct, false).as_deref(), Some(told));
        assert_eq!(help("1.34", distinct, true), None);
        assert_eq!(help("1.35", distinct, false), None);
        let mask = "cidr('10.0.0.0/8').isMask()";
        let told = "Kubernetes has it since 1.38, in new expressions since 1.39";
        for (release, stored) in [("1.37", false), ("1.37", true), ("1.38", false)] {
            assert_eq!(help(release, mask, stored).as_deref(), Some(told), "{release}");
        }
        assert_eq!(help("1.38", mask, true), None);
        assert_eq!(
            help("1.38", "object.isMaskless()", false).as_deref(),
            Some("there is no such function")
        );
    }

    #[test]
    fn what_an_error_comes_to_has_no_help() {
        let expressions = Expressions::new(Arc::new(Cache::new()));
        let helped = |text: &str| -> Vec<bool> {
            let mut policy = manifest::ExpressionCompiler::begin(&expressions);
            let none = manifest::Declarations::default();
            let error = policy
                .compile(text, manifest::ExpressionUse::Validation, none)
                .unwrap_err();
            error.issues.iter().map(|issue| issue.help.is_some()).collect()
        };
        assert_eq!(helped("exists(object.l, c, c.a == 1)"), [true, false, false]);
        let pattern = helped(r#"object.a.matches("^\d+$")"#);
        assert!(
            pattern.len() > 3 && pattern.iter().filter(|has_help| **has_help).count() == 1,
            "{pattern:?}"
        );
        // Each of these is an error of its own.
        assert_eq!(helped("nothing == 1 && thing == 2"), [true, true]);
        let twice = helped("object.a = 1 && object.b = 2");
        assert!(
            twice.first() == Some(&true) && twice.last() == Some(&true),
            "{twice:?}"
        );
    }
}
