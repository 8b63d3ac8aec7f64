//! The analysis of the manifests of a directory.

use std::collections::BTreeSet;
use std::sync::Arc;

use pratique::expressions::Expressions;
use pratique::{Admission, FeatureGates};
use pratique_lint::{CustomTypes, LintInterruption, LintMemory, TypedExpression, Warning};
use pratique_manifest::{
    Kind, LoadOptions, Location, ManifestFile, ManifestSet, ObjectName, ObjectSource, Problem,
    UncheckedExpressions,
};
use pratique_review::sorted_objects::{ObjectGroup, RefusedPolicies, SortedPolicies};
use pratique_types::ADMISSION_GROUP;

use crate::workspace::steps;

/// The memory that loading a directory may take, by the loader's estimate.
const LOAD_BYTES: u64 = 384 << 20;
/// Compiles manifests again and again: equal expressions are compiled once.
#[derive(Debug)]
pub(crate) struct ManifestAnalyzer {
    expressions: Expressions,
    /// Results of earlier analyses, for objects that have not changed.
    memory: LintMemory,
}

/// The manifests of a directory, as far as they can be read.
#[derive(Debug, Default)]
pub(crate) struct ManifestAnalysis {
    /// What an API server would refuse.
    pub(crate) problems: Vec<Problem>,
    /// What the lints find in the files without problems, once they have run.
    pub(crate) warnings: Vec<Warning>,
    /// The expressions of the files that are well-formed, whether they compile or not.
    pub(crate) expressions: Vec<TypedExpression>,
    /// The objects of these files.
    pub(crate) objects: Vec<ManifestObject>,
    sets: Vec<ManifestSet>,
    /// Those of the files without problems, if others have problems.
    flawless: Option<Vec<ManifestSet>>,
}

/// An object of a manifest.
#[derive(Clone, Debug)]
pub(crate) struct ManifestObject {
    pub(crate) name: ObjectName,
    /// All of it.
    pub(crate) location: Location,
    /// Its name.
    pub(crate) name_location: Location,
    /// Of a binding: the name of its policy, and where that is.
    pub(crate) policy: Option<(String, Location)>,
    pub(crate) source: ObjectSource,
}

impl ManifestAnalyzer {
    /// Analyzes manifests as a server with some feature gates loads them. Lints that may be interrupted are ended by `interruption`.
    pub(crate) fn new(gates: FeatureGates, interruption: LintInterruption) -> Self {
        let builder = Admission::builder().feature_gates(gates);
        let expressions = builder.max_load_bytes(LOAD_BYTES).expressions().clone();
        ManifestAnalyzer {
            expressions,
            memory: LintMemory::default()
                .feature_gates(gates)
                .interruption(interruption),
        }
    }

    /// Sets the kinds of custom resources.
    pub(crate) fn set_custom_types(&mut self, types: Arc<CustomTypes>) {
        self.memory.set_custom_types(types);
    }

    pub(crate) fn custom_types(&self) -> &CustomTypes {
        self.memory.custom_types()
    }

    /// Analyzes files as one directory. Lints take longer than all else: [`lint`](ManifestAnalyzer::lint) adds what they find.
    pub(crate) fn analyze(&mut self, files: Vec<ManifestFile>) -> ManifestAnalysis {
        let mut files: Vec<ManifestFile> = files
            .into_iter()
            .filter(|file| String::from_utf8_lossy(&file.content).contains(ADMISSION_GROUP))
            .collect();
        let refused = match sorted(&files).load(&self.expressions) {
            Ok(loaded) => return ManifestAnalysis::of_sets(without_groups(loaded), &mut self.memory),
            Err(refused) => refused,
        };
        let mut analysis = ManifestAnalysis::of_sets(well_formed(files.clone()), &mut self.memory);
        analysis.problems = refused.errors.problems().cloned().collect();
        // The other files may be fine: bindings of what is refused are no problem of theirs.
        let refused = names(&refused);
        files.retain(|file| !refused.contains(&file.path));
        let loaded = sorted(&files).load(&self.expressions).unwrap_or_default();
        analysis.flawless = Some(without_groups(loaded));
        analysis
    }

    /// Adds what the lints find; gives whether they ran to their end, which an interruption may prevent.
    pub(crate) fn lint(&mut self, analysis: &mut ManifestAnalysis, may_be_interrupted: bool) -> bool {
        let sets: Vec<&ManifestSet> = match &analysis.flawless {
            Some(flawless) => flawless.iter().collect(),
            None => analysis.sets(),
        };
        let warnings = if may_be_interrupted {
            self.memory.lint_unless_interrupted(&sets)
        } else {
            Some(self.memory.lint(&sets))
        };
        let Some(warnings) = warnings else {
            return false;
        };
        analysis.warnings = warnings;
        true
    }
}

impl ManifestAnalysis {
    fn of_sets(sets: Vec<ManifestSet>, memory: &mut LintMemory) -> Self {
        let all: Vec<&ManifestSet> = sets.iter().collect();
        ManifestAnalysis {
            expressions: memory.expressions(&all),
            objects: all.iter().flat_map(|set| objects(set)).collect(),
            sets,
            ..ManifestAnalysis::default()
        }
    }

    /// The sets that `expressions` are of.
    pub(crate) fn sets(&self) -> Vec<&ManifestSet> {
        self.sets.iter().collect()
    }
}

/// Reads what can be read without compiling expressions, which are incomplete while one types.
fn well_formed(mut files: Vec<ManifestFile>) -> Vec<ManifestSet> {
    let options = LoadOptions::new(&UncheckedExpressions);
    let loaded = match sorted(&files).load_with(&options) {
        Ok(loaded) => loaded,
        Err(refused) => {
            let refused = names(&refused);
            files.retain(|file| !refused.contains(&file.path));
            sorted(&files).load_with(&options).unwrap_or_default()
        }
    };
    without_groups(loaded)
}

fn without_groups(loaded: Vec<(ObjectGroup, ManifestSet)>) -> Vec<ManifestSet> {
    loaded.into_iter().map(|(_, set)| set).collect()
}

fn sorted(files: &[ManifestFile]) -> SortedPolicies {
    SortedPolicies::of_files(files.to_vec(), None)
}

/// The files that have problems.
fn names(refused: &RefusedPolicies) -> BTreeSet<String> {
    let locations = refused
        .errors
        .problems()
        .filter_map(|problem| problem.location.as_ref());
    locations.map(|location| location.file.to_string()).collect()
}

fn objects(set: &ManifestSet) -> impl Iterator<Item = ManifestObject> {
    let bindings = set.bindings().map(|(object, policy)| (object, Some(policy)));
    let not_bindings = set.objects().filter(|object| {
        !matches!(
            object.kind,
            Kind::ValidatingAdmissionPolicyBinding | Kind::MutatingAdmissionPolicyBinding
        )
    });
    let all = bindings.chain(not_bindings.map(|object| (object, None)));
    all.map(|(object, policy)| {
        let field = |names: &[&str]| object.source.locate(&steps(names));
        ManifestObject {
            name: ObjectName {
                kind: object.kind,
                name: object.name.to_owned(),
            },
            location: object.source.locate(&[]),
            name_location: field(&["metadata", "name"]),
            policy: policy.map(|policy| (policy.to_owned(), field(&["spec", "policyName"]))),
            source: object.source.clone(),
        }
    })
}

/// Whether a place, line and column from 1, is in a location or right behind it.
pub(crate) fn contains(location: &Location, (line, column): (u32, u32)) -> bool {
    let [start, end] = [location.start, location.end].map(|at| (at.line, at.column));
    (start..=end).contains(&(line, column))
}
