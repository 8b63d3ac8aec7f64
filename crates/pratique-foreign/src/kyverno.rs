//! Tests of the Kyverno CLI, as far as they are about validating and mutating admission policies.
//!
//! Each policy is a suite of its own, as Kyverno evaluates each over the resources as they are given.
// Upstream: kyverno/kyverno cmd/cli/kubectl-kyverno/apis/v1alpha1/test.go, test_result.go

use std::collections::{BTreeMap, BTreeSet};

use pratique_json::{Progress, Value, text_at};
use pratique_manifest::{MappingFields, NodeId, Problem, path_text};
use pratique_request::{DEFAULT_NAMESPACE, kind_of};
use pratique_schema::Release;
use pratique_suite::{
    Case, CaseInput, ExpectedResult, FileReference, PolicyOutcome, Suite, SuiteDocument, SuiteFormat,
    object_label,
};
use pratique_typed::settle_object;
use pratique_types::{Operation, UserInfo};

use crate::reason::NotEvaluatedReason;
use crate::user::read_user;

/// Tests of the Kyverno CLI.
#[derive(Clone, Copy, Debug)]
pub struct KyvernoFormat;

impl SuiteFormat for KyvernoFormat {
    fn marker(&self) -> &'static str {
        "kyverno.io/"
    }

    fn has_kind(&self, api_version: &str, kind: &str) -> bool {
        let group = api_version.split('/').next().unwrap_or_default();
        kind == "Test" && matches!(group, "cli.kyverno.io" | "kyverno.io")
    }

    fn read(&self, document: &SuiteDocument<'_>) -> Result<Vec<Suite>, Vec<Problem>> {
        read_tests(document)
    }
}

/// The kinds of policies that are evaluated.
const KINDS: [&str; 2] = ["ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"];

fn read_tests(document: &SuiteDocument<'_>) -> Result<Vec<Suite>, Vec<Problem>> {
    let root = document.root();
    let mut defaults = TestDefaults::default();
    for id in root.list("policies") {
        let file = document.fields(id).as_text().unwrap_or_default();
        defaults.policies(document, &file, id);
    }
    let name = document.name().or_else(|| root.read_text("name"));
    let name = name.unwrap_or_else(|| path_text(document.path()));
    let results = root.list("results");
    let is_ours = |id: &NodeId| {
        let policy = document.fields(*id).read_text("policy").unwrap_or_default();
        defaults.names.contains_key(&policy)
    };
    let (ours, others): (Vec<NodeId>, Vec<NodeId>) = results.into_iter().partition(is_ours);
    let mut suites: BTreeMap<String, Suite> = BTreeMap::new();
    if !ours.is_empty() {
        defaults.state(document, &root)?;
    }
    let policy_of = |id: NodeId| document.fields(id).read_text("policy").unwrap_or_default();
    // A file that is not read may have the policy.
    let missing = others
        .iter()
        .filter(|id| defaults.unread.is_empty() && !defaults.has(&policy_of(**id)));
    let mut problems: Vec<Problem> = missing
        .map(|id| {
            let policy = policy_of(*id);
            document.problem(
                format!("there is no policy {policy} in the files of `policies`"),
                *id,
            )
        })
        .collect();
    for id in ours {
        let fields = document.fields(id);
        let policy = fields.read_text("policy").unwrap_or_default();
        let suite = suites.entry(policy.clone()).or_insert_with(|| {
            let mut suite = document.suite(format!("{name} / {policy}"));
            suite.add_policy_files(defaults.names.get(&policy).cloned().unwrap_or_default());
            suite.add_cluster_objects(defaults.cluster_objects.iter().cloned());
            suite.only = Some(policy.clone());
            suite
        });
        if let Some(reason) = defaults.unsupported(&policy) {
            suite.not_evaluated.push(reason.of_test(document, id, policy));
            continue;
        }
        match defaults.cases(document, &policy, id) {
            Ok(cases) => suite.cases.extend(cases),
            Err(refused) => problems.extend(refused),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut suites: Vec<Suite> = suites.into_values().collect();
    if !others.is_empty() {
        let mut suite = document.suite(name);
        let reason = match defaults.unread.into_iter().next() {
            Some(problem) => NotEvaluatedReason::Unread(problem),
            None => NotEvaluatedReason::OtherKind,
        };
        let left_out = others.into_iter();
        let left_out = left_out.map(|id| reason.of_test(document, id, policy_of(id)));
        suite.not_evaluated = left_out.collect();
        suites.push(suite);
    }
    Ok(suites)
}

/// The inputs that the tests of a document share.
#[derive(Default)]
struct TestDefaults {
    /// The files of each policy that is evaluated.
    names: BTreeMap<String, Vec<FileReference>>,
    /// The names of all objects of the files, of whatever kind.
    all_names: BTreeSet<String>,
    /// Why files of policies are not read.
    unread: Vec<String>,
    resources: Vec<Value<'static>>,
    cluster_objects: Vec<Value<'static>>,
    user: Option<UserInfo>,
    operation: Option<Operation>,
    /// Policies with values that only Kyverno's variables have.
    with_values: Vec<String>,
    has_exceptions: bool,
}

impl TestDefaults {
    /// Whether the files have a policy of a name, which may be preceded by its namespace.
    fn has(&self, name: &str) -> bool {
        let (_, last) = name.rsplit_once('/').unwrap_or(("", name));
        self.all_names.contains(name) || self.all_names.contains(last)
    }

    /// Finds the policies of a file; a file that cannot be read has none.
    fn policies(&mut self, document: &SuiteDocument<'_>, file: &str, at: NodeId) {
        let objects = match document.objects(file, at) {
            Ok(objects) => objects,
            Err(problems) => {
                let first = problems.into_iter().next().map(|problem| problem.message);
                self.unread.push(first.unwrap_or_default());
                return;
            }
        };
        let names = objects
            .iter()
            .map(|object| text_at(object, &["metadata", "name"]).to_owned());
        self.all_names.extend(names);
        let is_policy = |object: &&Value<'static>| KINDS.contains(&text_at(object, &["kind"]));
        for policy in objects.iter().filter(is_policy) {
            let name = text_at(policy, &["metadata", "name"]).to_owned();
            self.names.entry(name).or_default();
        }
        let is_named = |object: &Value<'static>| {
            let named = match text_at(object, &["kind"]) {
                kind if KINDS.contains(&kind) => text_at(object, &["metadata", "name"]),
                "ValidatingAdmissionPolicyBinding" | "MutatingAdmissionPolicyBinding" => {
                    text_at(object, &["spec", "policyName"])
                }
                _ => "",
            };
            named.to_owned()
        };
        let reference = document.policy_file(file, at);
        let mut named: Vec<String> = objects.iter().map(is_named).collect();
        named.sort_unstable();
        named.dedup();
        for name in named.into_iter().filter(|name| !name.is_empty()) {
            self.names.entry(name).or_default().push(reference.clone());
        }
    }

    /// Reads resources, params, namespaces and the user.
    fn state(&mut self, document: &SuiteDocument<'_>, root: &MappingFields<'_>) -> Result<(), Vec<Problem>> {
        let all = |name: &str| -> Result<Vec<Value<'static>>, Vec<Problem>> {
            let mut objects = Vec::new();
            for id in root.list(name) {
                objects.extend(document.objects_at(id)?);
            }
            Ok(objects)
        };
        self.resources = all("resources")?;
        self.cluster_objects = all("paramResources")?;
        self.cluster_objects.extend(all("clusterResources")?);
        self.has_exceptions = !root.list("exceptions").is_empty();
        for name in ["variables", "values"] {
            let Some(id) = root.node(name) else { continue };
            let values = match document.fields(id).as_text() {
                Some(file) => document.objects(&file, id)?,
                None => vec![document.fields(id).value_of()],
            };
            values.iter().for_each(|values| self.values(values));
        }
        if let Some(id) = root.node("userinfo") {
            let objects = document.objects_at(id)?;
            let object = objects.first();
            let info = object.map(|object| object.get("userInfo").unwrap_or(&Value::Null));
            self.user = info.map(read_user);
        }
        Ok(())
    }

    fn values(&mut self, values: &Value<'static>) {
        let list = |name: &str| values.get(name).and_then(Value::as_array).unwrap_or_default();
        for namespace in list("namespaceSelector") {
            let labels = namespace.get("labels").cloned().unwrap_or_default();
            let object = pratique_state::cluster::namespace(text_at(namespace, &["name"]), labels);
            self.cluster_objects.push(object);
        }
        self.operation =
            Operation::from_name(text_at(values, &["globalValues", "request.operation"])).or(self.operation);
        let policies = list("policies").iter();
        self.with_values
            .extend(policies.map(|policy| text_at(policy, &["name"]).to_owned()));
    }

    /// Why the tests of a policy are not evaluated.
    fn unsupported(&self, policy: &str) -> Option<NotEvaluatedReason> {
        if self.with_values.iter().any(|name| name == policy) {
            return Some(NotEvaluatedReason::Variables);
        }
        self.has_exceptions.then_some(NotEvaluatedReason::Exceptions)
    }

    /// The cases of a result: one for each resource.
    fn cases(
        &self,
        document: &SuiteDocument<'_>,
        policy: &str,
        id: NodeId,
    ) -> Result<Vec<Case>, Vec<Problem>> {
        let fields = document.fields(id);
        let result = fields
            .read_text("result")
            .or_else(|| fields.read_text("status"))
            .unwrap_or_default();
        let Some(outcomes) = outcomes(&result) else {
            return Err(vec![document.problem(format!("`{result}` is no result"), id)]);
        };
        let kind = fields.read_text("kind");
        let is_of_kind = |object: &&Value<'static>| {
            kind.as_deref()
                .is_none_or(|kind| kind == text_at(object, &["kind"]))
        };
        let of_kind: Vec<_> = self.resources.iter().filter(is_of_kind).collect();
        let mut names = fields.texts("resources");
        names.extend(fields.read_text("resource"));
        let mut chosen = Vec::new();
        for name in &names {
            let with_name: Vec<_> = of_kind.iter().filter(|object| is_named(object, name)).collect();
            if with_name.is_empty() {
                let kind = kind.as_deref().unwrap_or("resource");
                return Err(vec![document.problem(format!("there is no {kind} {name}"), id)]);
            }
            chosen.extend(with_name.into_iter().copied());
        }
        if names.is_empty() {
            chosen = of_kind;
        }
        let patched = match fields.node("patchedResources").or(fields.node("patchedResource")) {
            Some(at) => {
                let files = match document.fields(at).as_text() {
                    Some(file) => vec![file],
                    None => document.fields(at).items(),
                };
                let mut all = Vec::new();
                for file in files {
                    all.extend(document.objects(&file, at)?);
                }
                Some(all)
            }
            None => None,
        };
        let mut cases = Vec::new();
        for object in chosen {
            let object_expected = match &patched {
                // A resource without a patched form is left as it is.
                Some(patched) if result == "pass" => {
                    let patched = patched
                        .iter()
                        .find(|other| object_label(other) == object_label(object));
                    patched.map(|patched| in_namespace(patched, object))
                }
                _ => None,
            };
            let mut expected = ExpectedResult::anything();
            expected.policies = BTreeMap::from([(policy.to_owned(), outcomes.to_vec())]);
            expected.object = object_expected;
            let input = CaseInput {
                object: Some(object.clone()),
                user: self.user.clone(),
                operation: self.operation,
                ..CaseInput::default()
            };
            let name = format!("{policy} / {} / {result}", object_label(object));
            cases.push(document.case(id, name, expected, input)?);
        }
        Ok(cases)
    }
}

/// The outcomes of a policy of the API that a result of Kyverno's stands for.
fn outcomes(result: &str) -> Option<&'static [PolicyOutcome]> {
    Some(match result {
        "pass" => &[PolicyOutcome::Allowed, PolicyOutcome::Mutated],
        "fail" => &[
            PolicyOutcome::Denied,
            PolicyOutcome::Warned,
            PolicyOutcome::Audited,
        ],
        "warn" => &[PolicyOutcome::Warned, PolicyOutcome::Audited],
        "skip" => &[PolicyOutcome::Skipped],
        "error" => &[PolicyOutcome::Error, PolicyOutcome::Ignored],
        _ => return None,
    })
}

/// Whether a resource has a name, `NAME` or `NAMESPACE/NAME`.
fn is_named(object: &Value<'_>, name: &str) -> bool {
    match name.rsplit_once('/') {
        Some((namespace, name)) => {
            let of_object = match text_at(object, &["metadata", "namespace"]) {
                "" => DEFAULT_NAMESPACE,
                stated => stated,
            };
            of_object == namespace && text_at(object, &["metadata", "name"]) == name
        }
        None => text_at(object, &["metadata", "name"]) == name,
    }
}

/// An expected object in the form of its kind, as a server writes it, with the namespace that it sets in a namespaced object.
fn in_namespace(expected: &Value<'static>, object: &Value<'static>) -> Value<'static> {
    let mut expected = expected.clone();
    let namespaced = kind_of(object).ok().and_then(|kind| {
        Release::latest()
            .resources()
            .resource_of(&kind)
            .map(|served| served.namespaced)
    });
    if namespaced == Some(true)
        && let Value::Object(fields) = &mut expected
        && let Some(Value::Object(metadata)) = fields.get_mut("metadata")
        && !metadata.contains_key("namespace")
    {
        metadata.insert("namespace", DEFAULT_NAMESPACE);
    }
    if let Ok(kind) = kind_of(&expected) {
        settle_object(Release::latest(), &kind, &mut expected, &Progress::unwatched());
    }
    expected
}
