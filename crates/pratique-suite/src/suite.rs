//! Decoded suites: every row is a separate case.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pratique::plugins::StateKind;
use pratique_json::Value;
use pratique_manifest::{Location, ManifestFile, NodeId, ObjectSource, path_text};
use pratique_types::{Operation, UserInfo};
use serde::Serialize;

use crate::plugin_outcome::PluginOutcome;
use crate::policy_outcome::PolicyOutcome;
use crate::roots::SuiteRoots;
use crate::scripted_webhooks::WebhookScript;
use crate::servers::SuiteGates;
use crate::substitute;
use pratique_review::Decision;
use pratique_review::chain::ChainSettings;
use pratique_schema::Release;
use pratique_state::Rule;
use pratique_state::StoredState;

/// A suite.
#[derive(Clone, Debug)]
pub struct Suite {
    /// Its name; by default the name of its file.
    pub name: String,
    /// The path of the file, as given or found.
    pub file: String,
    /// The directory to which the paths in the suite are relative.
    pub directory: PathBuf,
    /// The cases, in order.
    pub cases: Vec<Case>,
    /// Whether policies without a binding are evaluated as if a binding without constraints named them.
    pub bind: bool,
    /// Tests of another program that are not evaluated.
    pub not_evaluated: Vec<NotEvaluated>,
    /// The release of the server, for what says no other, and the feature gates of all servers.
    pub gates: SuiteGates,
    /// The release of the server, if the suite says it.
    pub(crate) release: Option<&'static Release>,
    /// Whether objects are completed as an API server does.
    pub defaults: bool,
    /// Whether the server's own validation refuses objects of built-in kinds.
    pub validation: bool,
    /// The plugins of the server's chain, if requests go through it.
    pub(crate) chain: Option<ChainSettings>,
    /// What webhooks answer; `None` if the suite does not say it.
    pub(crate) webhooks: Option<Vec<WebhookScript>>,
    pub(crate) source: ObjectSource,
    pub(crate) policies: Vec<FileReference>,
    pub(crate) configuration: Option<FileReference>,
    pub(crate) cluster: ClusterState,
    /// The files that the suite names, besides policies.
    pub(crate) files: Vec<PathBuf>,
    /// The directories below which it can name files.
    pub(crate) roots: SuiteRoots,
    /// The only policy that is evaluated, with its bindings.
    pub only: Option<String>,
    /// Policies that are no files.
    pub(crate) generated: Vec<ManifestFile>,
    /// Whether it is another program's.
    pub(crate) is_foreign: bool,
    /// Whether expressions see objects as they are written, rather than in the form of their kind.
    pub is_unstructured: bool,
}

impl Suite {
    /// A suite of a document without cases, which names nothing.
    pub(crate) fn new(name: String, path: &Path, source: ObjectSource, roots: &SuiteRoots) -> Self {
        Suite {
            name,
            file: path_text(path),
            directory: path.parent().map(Path::to_path_buf).unwrap_or_default(),
            cases: Vec::new(),
            bind: false,
            not_evaluated: Vec::new(),
            gates: SuiteGates::default(),
            release: None,
            defaults: false,
            validation: true,
            chain: None,
            webhooks: None,
            source,
            policies: Vec::new(),
            configuration: None,
            cluster: ClusterState::default(),
            files: Vec::new(),
            roots: roots.clone(),
            only: None,
            generated: Vec::new(),
            is_foreign: false,
            is_unstructured: false,
        }
    }

    /// The files that the suite names, besides its policies.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(PathBuf::as_path)
    }

    /// Whether it is a test of another program, whose state is only what it says.
    pub fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// Whether it names policies.
    pub fn names_policies(&self) -> bool {
        !self.policies.is_empty() || self.configuration.is_some() || !self.generated.is_empty()
    }

    /// Whether its policies are made of what another program reads, such as a template, and are no files.
    pub fn makes_policies(&self) -> bool {
        self.is_foreign && !self.generated.is_empty()
    }

    /// Whether it says what webhooks do: it has answers of them, or sends requests through the whole chain.
    pub fn has_webhooks(&self) -> bool {
        self.chain.is_some() || self.webhooks.is_some()
    }

    /// Adds policies of the API that are not below the suite's directories, such as those of a cluster.
    pub fn add_policies(&mut self, files: Vec<ManifestFile>) {
        self.generated.extend(files);
    }

    /// Adds files of policies that a test in another format names.
    pub fn add_policy_files(&mut self, files: impl IntoIterator<Item = FileReference>) {
        self.policies.extend(files);
    }

    /// Adds objects of the cluster.
    pub fn add_cluster_objects(&mut self, objects: impl IntoIterator<Item = Value<'static>>) {
        self.cluster.objects.extend(objects);
    }
}

/// A file that a suite names, and where.
#[derive(Clone, Debug)]
pub struct FileReference {
    pub(crate) path: PathBuf,
    pub(crate) location: Location,
}

/// A test, or a row of one.
#[derive(Clone, Debug)]
pub struct Case {
    /// The name of the test, and that of the row after ` / `.
    pub name: String,
    /// Its location.
    pub location: Location,
    /// The expected result; `None` if there is no expectation yet.
    pub expected: Option<ExpectedResult>,
    pub(crate) input: TestInput,
    pub(crate) nodes: CaseNodes,
}

impl Case {
    /// The case without its objects: what reports need after it ran.
    pub fn outline(&self) -> Case {
        let expected = self.expected.as_ref().map(|expected| ExpectedResult {
            object: None,
            object_contains: None,
            ..expected.clone()
        });
        Case {
            name: self.name.clone(),
            location: self.location.clone(),
            expected,
            input: TestInput::default(),
            nodes: self.nodes,
        }
    }
}

/// The nodes of a case in its document, for updates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CaseNodes {
    /// The mapping of the test or the row.
    pub(crate) node: NodeId,
    /// The value of `expect`; for a row without one, that of the test.
    pub(crate) expect: Option<NodeId>,
    /// Whether other cases have the same nodes, so that they cannot be updated.
    pub(crate) shared: bool,
}

/// How many validations deny.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedViolations {
    /// A regular expression: counted are the validations with messages that it matches; `None` for all.
    pub message: Option<String>,
    /// How many there are.
    pub count: ViolationCount,
}

/// A number of violations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViolationCount {
    /// At least one.
    Some,
    /// This many.
    Exactly(usize),
}

impl ExpectedResult {
    /// Anything, whatever is decided.
    pub fn anything() -> Self {
        ExpectedResult::default()
    }

    /// Whether single policies or bindings are expected to do something.
    pub(crate) fn names_policies(&self) -> bool {
        !(self.policies.is_empty() && self.bindings.is_empty() && self.violations.is_empty())
    }
}

/// The input of a case.
#[derive(Clone, Debug, Default)]
pub(crate) struct TestInput {
    pub(crate) object: Option<Value<'static>>,
    pub(crate) old_object: Option<Value<'static>>,
    pub(crate) request: Option<Value<'static>>,
    pub(crate) operation: Option<Operation>,
    pub(crate) resource: Option<String>,
    pub(crate) subresource: Option<String>,
    pub(crate) namespace: Option<String>,
    pub(crate) user: Option<UserInfo>,
    /// The release of the server, if it is not the suite's.
    pub(crate) release: Option<&'static Release>,
    pub(crate) dry_run: bool,
    pub(crate) options: Option<Value<'static>>,
    /// What webhooks answer, before what the suite says.
    pub(crate) webhooks: Vec<WebhookScript>,
    pub(crate) cluster: ClusterState,
}

/// The state of the cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClusterState {
    pub(crate) objects: Vec<Value<'static>>,
    /// Authorizer rules; `None` if none are given.
    pub(crate) rules: Option<Vec<Rule>>,
    /// Of which kinds that admission plugins look up there are no other objects.
    pub(crate) complete: CompleteKinds,
    /// What snapshots among the objects say about them.
    pub(crate) snapshots: Vec<StoredState>,
}

/// Kinds of which all objects are known.
#[derive(Clone, Debug, Default)]
pub(crate) struct CompleteKinds {
    /// All kinds; namespaces only if there are some.
    pub(crate) all: bool,
    pub(crate) kinds: Vec<StateKind>,
}

impl ClusterState {
    /// Adds another state, whose authorizer rules come first.
    pub(crate) fn extend(&mut self, other: ClusterState) {
        self.objects.extend(other.objects);
        self.snapshots.extend(other.snapshots);
        self.complete.all |= other.complete.all;
        self.complete.kinds.extend(other.complete.kinds);
        if let Some(mut rules) = other.rules {
            rules.extend(self.rules.take().unwrap_or_default());
            self.rules = Some(rules);
        }
    }
}

/// The expected result of a case. A field that is `None` matches anything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExpectedResult {
    /// The decision.
    pub decision: Option<Decision>,
    /// The HTTP code of a denial.
    pub code: Option<i32>,
    /// The reason of a denial.
    pub reason: Option<String>,
    /// The whole message of a denial.
    pub message: Option<String>,
    /// A part of the message.
    pub message_contains: Option<String>,
    /// Some of the fields for which the server's own validation refuses the object, with the reason of each.
    pub invalid: BTreeMap<String, String>,
    /// The policy that the message names.
    pub policy: Option<String>,
    /// The admission plugin that refuses the request.
    pub plugin: Option<String>,
    /// The outcome of the request in some admission plugins.
    pub plugins: BTreeMap<String, PluginOutcome>,
    /// Fields that some admission plugins, policies and webhooks change.
    pub(crate) changes: BTreeMap<String, Vec<FieldPath>>,
    /// Amounts that are used of some quotas, by `NAMESPACE/NAME` or `NAME`, and by resource.
    pub quotas: BTreeMap<String, BTreeMap<String, String>>,
    /// The outcome of the request in some policies: one of these.
    pub policies: BTreeMap<String, Vec<PolicyOutcome>>,
    /// The outcome of the request in some bindings: one of these.
    pub bindings: BTreeMap<String, Vec<PolicyOutcome>>,
    /// How many validations deny, with which messages.
    pub violations: Vec<ExpectedViolations>,
    /// All warnings.
    pub warnings: Option<Vec<String>>,
    /// Some of the audit annotations.
    pub audit_annotations: BTreeMap<String, String>,
    /// The whole object after mutation.
    pub object: Option<Value<'static>>,
    /// A part of it.
    pub object_contains: Option<Value<'static>>,
    /// Whether policies leave the object unchanged.
    pub unchanged: Option<bool>,
}

/// A path in an object, and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldPath {
    pub(crate) text: String,
    pub(crate) path: substitute::ObjectPath,
}

/// A test of another program that is not about policies of the API, or needs more than they do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotEvaluated {
    /// The test.
    pub name: String,
    /// Why it is not evaluated.
    pub why: String,
    /// Whether its author says that it is skipped, and it is no fault that it is not evaluated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
    /// Its location.
    pub location: Location,
}
