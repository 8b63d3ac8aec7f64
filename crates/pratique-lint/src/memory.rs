//! Findings in objects that have not changed since, for programs that lint again and again.

use std::collections::HashMap;
use std::sync::Arc;

use pratique_manifest::{DocumentSource, Location, ManifestSet, NodeId, ObjectSource, Position};
use pratique_schema::FeatureGates;

use crate::expressions::{TypedExpression, type_group};
use crate::interruption::LintInterruption;
use crate::lint_manifests;
use crate::options::LintOptions;
use crate::subject::{ExpressionGroup, ManifestView};
use crate::typing::CustomTypes;
use crate::warning::Warning;

/// Findings by the text of the objects that they are of: [`lint`](LintMemory::lint) and [`expressions`](LintMemory::expressions)
/// look only at objects that changed.
#[derive(Debug)]
pub struct LintMemory {
    warnings: FindingTable<Vec<Warning>>,
    expressions: FindingTable<Vec<TypedExpression>>,
    custom: Arc<CustomTypes>,
    options: LintOptions,
    interruption: LintInterruption,
}

impl Default for LintMemory {
    fn default() -> Self {
        Self::with_options(LintOptions::default())
    }
}

impl LintMemory {
    /// The warnings of [`lint`](crate::lint).
    pub fn lint(&mut self, sets: &[&ManifestSet]) -> Vec<Warning> {
        self.lint_with(sets, LintInterruption::default())
    }

    /// The same; `None` if the [interruption](LintMemory::interruption) comes before the end. What is known of policies by then
    /// is remembered.
    pub fn lint_unless_interrupted(&mut self, sets: &[&ManifestSet]) -> Option<Vec<Warning>> {
        let interruption = self.interruption.renewed();
        let warnings = self.lint_with(sets, interruption.clone());
        (!interruption.has_come()).then_some(warnings)
    }

    fn lint_with(&mut self, sets: &[&ManifestSet], interruption: LintInterruption) -> Vec<Warning> {
        let mut options = self.options.clone();
        options.interruption = interruption;
        self.warnings.begin();
        lint_manifests(sets, &options, |sources, lint| {
            // What is known is recalled also after an interruption: what no round asks for is forgotten.
            let known = self.warnings.recall(sources, |warnings, moves| {
                let warnings = warnings.iter().map(|warning| moved(warning, moves));
                warnings.collect()
            });
            known.unwrap_or_else(|| {
                let warnings = lint();
                // Of what was interrupted not all is known.
                if !options.interruption.has_come() {
                    self.warnings.keep(sources, warnings.clone());
                }
                warnings
            })
        })
    }

    /// That of warnings with options, such as those of a command line.
    pub fn with_options(mut options: LintOptions) -> Self {
        options.samples = Some(Arc::default());
        options.observations = Some(Arc::default());
        LintMemory {
            options,
            warnings: FindingTable::default(),
            expressions: FindingTable::default(),
            custom: Arc::default(),
            interruption: LintInterruption::default(),
        }
    }

    /// With the release and feature gates of a server.
    #[must_use]
    pub fn feature_gates(self, gates: FeatureGates) -> Self {
        LintMemory {
            options: self.options.feature_gates(gates),
            ..self
        }
    }

    /// Sets what ends [`lint_unless_interrupted`](LintMemory::lint_unless_interrupted).
    #[must_use]
    pub fn interruption(self, interruption: LintInterruption) -> Self {
        LintMemory { interruption, ..self }
    }

    /// Sets the kinds of custom resources that [`expressions`](LintMemory::expressions) knows, and over whose objects policies
    /// are tried.
    pub fn set_custom_types(&mut self, custom: Arc<CustomTypes>) {
        self.options = std::mem::take(&mut self.options).custom_kinds(custom.kinds());
        // Keys name custom kinds, and do not tell definitions apart.
        self.options.observations = Some(Arc::default());
        self.warnings = FindingTable::default();
        self.custom = custom;
        self.expressions = FindingTable::default();
    }

    /// The kinds of custom resources.
    pub fn custom_types(&self) -> &CustomTypes {
        &self.custom
    }

    /// The expressions of [`type_expressions`](crate::type_expressions), also with the types of custom resources.
    pub fn expressions(&mut self, sets: &[&ManifestSet]) -> Vec<TypedExpression> {
        let manifests = ManifestView::new(self.options.release(), sets);
        self.expressions.begin();
        let mut all = Vec::new();
        // Webhooks of a configuration have one source: they are looked at together.
        let groups: Vec<ExpressionGroup<'_, '_>> = manifests.expression_groups().collect();
        for groups in groups.chunk_by(|a, b| a.origin.source.is_same(b.origin.source)) {
            let Some(source) = groups.first().map(|group| group.origin.source) else {
                continue;
            };
            let known = self.expressions.recall(&[source], |expressions, _| {
                let again = |expression: &TypedExpression| TypedExpression {
                    source: source.clone(),
                    ..expression.clone()
                };
                expressions.iter().map(again).collect::<Vec<_>>()
            });
            all.extend(known.unwrap_or_else(|| {
                let typed: Vec<TypedExpression> = groups
                    .iter()
                    .flat_map(|group| type_group(*group, &self.custom))
                    .collect();
                self.expressions.keep(&[source], typed.clone());
                typed
            }));
        }
        all
    }
}

/// The text of an object's document, the blanks before it, and its node.
type MemoryKey = Vec<(Arc<str>, (usize, usize), NodeId)>;

/// Findings by the texts of objects.
#[derive(Debug)]
struct FindingTable<T> {
    entries: HashMap<MemoryKey, TableEntry<T>>,
    round: u64,
}

#[derive(Debug)]
struct TableEntry<T> {
    findings: T,
    /// Where the documents were.
    starts: Vec<DocumentStart>,
    /// When it was used last.
    round: u64,
}

impl<T> Default for FindingTable<T> {
    fn default() -> Self {
        FindingTable {
            entries: HashMap::new(),
            round: 0,
        }
    }
}

/// Findings that are kept; past that, only those that were used last are.
const MOST: usize = 4_096;

impl<T> FindingTable<T> {
    fn begin(&mut self) {
        let last = self.round;
        if self.entries.len() > MOST {
            self.entries.retain(|_, entry| entry.round == last);
        }
        self.round += 1;
    }

    /// The findings in these objects, which may have moved.
    fn recall<R>(
        &mut self,
        sources: &[&ObjectSource],
        again: impl FnOnce(&T, &[DocumentMove]) -> R,
    ) -> Option<R> {
        let entry = self.entries.get_mut(&key(sources)?)?;
        entry.round = self.round;
        let now = sources.iter().map(|source| DocumentStart::new(source.document()));
        let moves: Vec<DocumentMove> = entry
            .starts
            .iter()
            .cloned()
            .zip(now)
            .map(|(from, to)| DocumentMove { from, to })
            .collect();
        Some(again(&entry.findings, &moves))
    }

    fn keep(&mut self, sources: &[&ObjectSource], findings: T) {
        let Some(key) = key(sources) else { return };
        let starts = sources.iter().map(|source| DocumentStart::new(source.document()));
        let entry = TableEntry {
            findings,
            starts: starts.collect(),
            round: self.round,
        };
        self.entries.insert(key, entry);
    }
}

/// `None` for files with carriage returns, of which equal texts may have other offsets.
fn key(sources: &[&ObjectSource]) -> Option<MemoryKey> {
    let key = |source: &&ObjectSource| {
        let document = source.document();
        let lead = document.start().lead;
        let is_plain = document.file_lines().is_none();
        is_plain.then(|| (document.as_str().into(), (lead.chars, lead.bytes), source.root()))
    };
    sources.iter().map(key).collect()
}

/// Where a document is.
#[derive(Clone, Debug)]
struct DocumentStart {
    file: Arc<str>,
    document: usize,
    line: usize,
    offset: usize,
}

impl DocumentStart {
    fn new(document: &DocumentSource) -> Self {
        let start = document.start();
        DocumentStart {
            file: Arc::clone(document.file()),
            document: document.index(),
            line: start.line,
            offset: start.offset,
        }
    }
}

/// Where a document was, and where it is.
#[derive(Clone, Debug)]
struct DocumentMove {
    from: DocumentStart,
    to: DocumentStart,
}

/// A warning at the place where its document is now.
fn moved(warning: &Warning, moves: &[DocumentMove]) -> Warning {
    let mut warning = warning.clone();
    relocate(&mut warning.location, moves);
    if let Some(edit) = warning.help.as_mut().and_then(|help| help.edit.as_mut()) {
        relocate(&mut edit.location, moves);
    }
    warning
}

fn relocate(location: &mut Location, moves: &[DocumentMove]) {
    let was_there =
        |step: &&DocumentMove| step.from.file == location.file && step.from.document == location.document;
    let Some(DocumentMove { from, to }) = moves.iter().find(was_there) else {
        return;
    };
    let place = |at: Position| Position {
        line: u32::try_from((at.line as usize + to.line).saturating_sub(from.line)).unwrap_or(u32::MAX),
        column: at.column,
        offset: (at.offset + to.offset).saturating_sub(from.offset),
    };
    location.start = place(location.start);
    location.end = place(location.end);
    location.file = Arc::clone(&to.file);
    location.document = to.document;
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use pratique_manifest::{Loader, ManifestFile, UncheckedExpressions};
    use pratique_schema::Release;

    use super::*;
    use crate::{lint, type_expressions};

    fn policy(name: &str, expression: &str) -> String {
        format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {{name: {name}}}\nspec:\n  \
             matchConstraints:\n    resourceRules: [{{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: \
             [CREATE]}}]\n  validations: [{{expression: {expression}}}]\n---\n"
        )
    }

    fn binding(name: &str, policy: &str) -> String {
        format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {{name: \
             {name}}}\nspec: {{policyName: {policy}, validationActions: [Deny]}}\n---\n"
        )
    }

    #[test]
    fn what_is_interrupted_is_not_remembered() {
        let left = Arc::new(AtomicUsize::new(0));
        let countdown = Arc::clone(&left);
        let is_due = move || {
            let step = |left: usize| left.checked_sub(1);
            countdown
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, step)
                .is_err()
        };
        let mut memory = LintMemory::default().interruption(LintInterruption::new(is_due));
        let text = format!(
            "{}{}",
            policy("a", "object.spec.hostname == 'a'"),
            policy("b", "object.spec.x == 1")
        );
        let file = ManifestFile {
            path: "a.yaml".to_owned(),
            content: text.into_bytes(),
        };
        let options = pratique_manifest::LoadOptions::new(&UncheckedExpressions);
        let set = Loader::for_api(&options).load_files(&[file]).unwrap();
        let expected = lint(&[&set]);
        assert!(
            expected
                .iter()
                .any(|warning| warning.lint.name == "unguarded-field")
        );
        // Wherever it comes, the next run finds everything.
        let mut kept = Vec::new();
        for steps in [0, 1, 2, 5, 10, 10_000] {
            left.store(steps, Ordering::Relaxed);
            let interrupted = memory.lint_unless_interrupted(&[&set]);
            kept.push(memory.warnings.entries.len());
            assert!(interrupted.is_none_or(|warnings| warnings == expected), "{steps}");
        }
        assert_eq!(kept.first(), Some(&0));
        assert_eq!(kept.last(), Some(&2));
        left.store(0, Ordering::Relaxed);
        assert_eq!(memory.lint_unless_interrupted(&[&set]), None);
        assert_eq!(memory.lint(&[&set]), expected);
    }

    #[test]
    fn what_is_remembered_is_what_would_be_found() {
        let mut memory = LintMemory::default();
        let (a, b) = (
            policy("a", "object.spec.hostNetwrk"),
            policy("b", "object.spec.x == 1"),
        );
        let bound = binding("b", "b");
        let comment = "# a comment\n\n";
        for files in [
            vec![format!("{a}{b}")],
            vec![format!("{b}{a}")],
            vec![format!("{comment}{a}{b}{bound}")],
            vec![b.clone(), format!("{comment}{a}"), bound.clone()],
            vec![format!("{bound}{a}{b}")],
            vec![policy("a", "object.spec.hostNetwork"), format!("{b}{bound}")],
            vec![format!("{a}{b}").replace('\n', "\r\n")],
            vec![format!("{a}{b}")],
        ] {
            let files: Vec<ManifestFile> = files
                .into_iter()
                .enumerate()
                .map(|(number, content)| ManifestFile {
                    path: format!("{number}.yaml"),
                    content: content.into_bytes(),
                })
                .collect();
            let options = pratique_manifest::LoadOptions::new(&UncheckedExpressions);
            let set = Loader::for_api(&options).load_files(&files).unwrap();
            let (found, expected) = (memory.lint(&[&set]), lint(&[&set]));
            assert!(!expected.is_empty());
            assert_eq!(found, expected);
            let places = |all: Vec<TypedExpression>| -> Vec<(Location, bool)> {
                let place = |one: &TypedExpression| (one.location(0..1), one.checked.is_some());
                all.iter().map(place).collect()
            };
            assert_eq!(
                places(memory.expressions(&[&set])),
                places(type_expressions(Release::latest(), &[&set]))
            );
        }
        // Of each text once: `a` with and without a comment, its other expression, and `b`.
        assert_eq!(memory.expressions.entries.len(), 4);
    }

    /// A policy for two kinds with a variable, a message, and two validations.
    fn policy_for_kinds([variable, validation, other]: [&str; 3], message: &str) -> String {
        format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {{name: a}}\nspec:\n  \
             matchConstraints:\n    resourceRules: [{{apiGroups: [apps], apiVersions: [v1], resources: [deployments, \
             daemonsets], operations: [CREATE]}}]\n  variables: [{{name: v, expression: \"{variable}\"}}]\n  validations:\n  \
             - {{expression: \"{validation}\", message: {message}}}\n  - {{expression: \"{other}\"}}\n"
        )
    }

    #[test]
    fn an_edit_of_an_expression_evaluates_no_others_again() {
        let mut memory = LintMemory::default();
        let first = [
            "object.spec.template.spec",
            "variables.v.hostPID == true",
            "object.metadata.labels.a == 'b'",
        ];
        let [variable, validation, other] = first;
        let mut observed = 0;
        for (expressions, message, runs) in [
            // Two validations, each over two kinds.
            (first, "one", 4),
            // A text that is no expression.
            (first, "two", 0),
            ([variable, "variables.v.hostIPC == true", other], "two", 2),
            (
                [variable, validation, "object.metadata.labels.a == 'c'"],
                "two",
                2,
            ),
            (
                [variable, validation, "object.metadata.labels.a == 'c' || false"],
                "two",
                2,
            ),
            // A variable is evaluated where it is read.
            (
                ["object.spec.?template.spec.orValue({})", validation, other],
                "two",
                2,
            ),
            // What was there before.
            (first, "one", 0),
            ([variable, "variables.v.hostIPC == true", other], "three", 0),
        ] {
            let file = ManifestFile {
                path: "a.yaml".to_owned(),
                content: policy_for_kinds(expressions, message).into_bytes(),
            };
            let options = pratique_manifest::LoadOptions::new(&UncheckedExpressions);
            let set = Loader::for_api(&options).load_files(&[file]).unwrap();
            let warnings = memory.lint(&[&set]);
            assert_eq!(warnings, lint(&[&set]), "{expressions:?}");
            let unguarded = warnings.iter().filter(|one| one.lint.name == "unguarded-field");
            assert!(unguarded.count() > 1, "{warnings:?}");
            let memory = memory.options.observations.as_ref().unwrap();
            let count = memory.observed.load(Ordering::Relaxed);
            assert_eq!(count - observed, runs, "{expressions:?}");
            observed = count;
        }
    }
}
