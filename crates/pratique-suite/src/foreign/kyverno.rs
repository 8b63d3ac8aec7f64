//! Tests of the Kyverno CLI, as far as they are about validating and mutating admission policies.
//!
//! Each policy is a suite of its own, as Kyverno evaluates each over the resources as they are given.
// Upstream: kyverno/kyverno cmd/cli/kubectl-kyverno/apis/v1alpha1/test.go, test_result.go

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use pratique_json::{Progress, Value};
use pratique_manifest::{NodeId, Problem};
use pratique_typed::settle_object;
use pratique_types::builtin::resource_of;
use pratique_types::{Operation, UserInfo};

use super::{NotEvaluatedReason, Source, user};
use crate::policy_outcome::PolicyOutcome;
use crate::read::{Fields, operation_named};
use crate::select::{DEFAULT_NAMESPACE, label};
use crate::suite::{Case, ClusterState, Expected, Reference, Suite, TestInput};
use pratique_json::text_at;
use pratique_request::kind_of;

/// The kinds of policies that are evaluated.
const KINDS: [&str; 2] = ["ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"];

pub(super) fn read(reader: &Source<'_>) -> Result<Vec<Suite>, Vec<Problem>> {
    let root = reader.root();
    let mut defaults = TestDefaults::default();
    for id in root.list("policies") {
        let file = reader.fields(id).as_text().unwrap_or_default();
        defaults.policies(reader, &file, id);
    }
    let name = reader.name().or_else(|| root.text("name"));
    let name = name.unwrap_or_else(|| pratique_manifest::path_text(reader.path));
    let results = root.list("results");
    let is_ours = |id: &NodeId| {
        let policy = reader.fields(*id).text("policy").unwrap_or_default();
        defaults.names.contains_key(&policy)
    };
    let (ours, others): (Vec<NodeId>, Vec<NodeId>) = results.into_iter().partition(is_ours);
    let mut suites: BTreeMap<String, Suite> = BTreeMap::new();
    if !ours.is_empty() {
        defaults.state(reader, &root)?;
    }
    let policy_of = |id: NodeId| reader.fields(id).text("policy").unwrap_or_default();
    // A file that is not read may have the policy.
    let missing = others
        .iter()
        .filter(|id| defaults.unread.is_empty() && !defaults.has(&policy_of(**id)));
    let mut problems: Vec<Problem> = missing
        .map(|id| {
            let policy = policy_of(*id);
            reader.problem(
                format!("there is no policy {policy} in the files of `policies`"),
                *id,
            )
        })
        .collect();
    for id in ours {
        let fields = reader.fields(id);
        let policy = fields.text("policy").unwrap_or_default();
        let suite = suites.entry(policy.clone()).or_insert_with(|| Suite {
            policies: defaults.names.get(&policy).cloned().unwrap_or_default(),
            cluster: defaults.cluster.clone(),
            only: Some(policy.clone()),
            ..reader.suite(format!("{name} / {policy}"))
        });
        if let Some(reason) = defaults.unsupported(&policy) {
            suite
                .not_evaluated
                .push(reader.not_evaluated(id, policy, &reason));
            continue;
        }
        match defaults.cases(reader, &policy, id) {
            Ok(cases) => suite.cases.extend(cases),
            Err(found) => problems.extend(found),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut suites: Vec<Suite> = suites.into_values().collect();
    if !others.is_empty() {
        let mut suite = reader.suite(name);
        let reason = match defaults.unread.into_iter().next() {
            Some(problem) => NotEvaluatedReason::Unread(problem),
            None => NotEvaluatedReason::OtherKind,
        };
        let left_out = others.into_iter();
        let left_out = left_out.map(|id| reader.not_evaluated(id, policy_of(id), &reason));
        suite.not_evaluated = left_out.collect();
        suites.push(suite);
    }
    Ok(suites)
}

/// The inputs that the tests of a document share.
#[derive(Default)]
struct TestDefaults {
    /// The files of each policy that is evaluated.
    names: BTreeMap<String, Vec<Reference>>,
    /// The names of all objects of the files, of whatever kind.
    all_names: BTreeSet<String>,
    /// Why files of policies are not read.
    unread: Vec<String>,
    resources: Vec<Value<'static>>,
    cluster: ClusterState,
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
    fn policies(&mut self, reader: &Source<'_>, file: &str, at: NodeId) {
        let objects = match reader.objects(file, at) {
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
        let reference = Reference {
            path: reader.path.parent().unwrap_or(Path::new("")).join(file),
            location: reader.location(at),
        };
        let mut named: Vec<String> = objects.iter().map(is_named).collect();
        named.sort_unstable();
        named.dedup();
        for name in named.into_iter().filter(|name| !name.is_empty()) {
            self.names.entry(name).or_default().push(reference.clone());
        }
    }

    /// Reads resources, params, namespaces and the user.
    fn state(&mut self, reader: &Source<'_>, root: &Fields<'_>) -> Result<(), Vec<Problem>> {
        let all = |name: &str| -> Result<Vec<Value<'static>>, Vec<Problem>> {
            let mut objects = Vec::new();
            for id in root.list(name) {
                objects.extend(reader.named(id)?);
            }
            Ok(objects)
        };
        self.resources = all("resources")?;
        self.cluster.objects = all("paramResources")?;
        self.cluster.objects.extend(all("clusterResources")?);
        self.has_exceptions = !root.list("exceptions").is_empty();
        for name in ["variables", "values"] {
            let Some(id) = root.node(name) else { continue };
            let values = match reader.fields(id).as_text() {
                Some(file) => reader.objects(&file, id)?,
                None => vec![reader.fields(id).value_of()],
            };
            values.iter().for_each(|values| self.values(values));
        }
        if let Some(id) = root.node("userinfo") {
            let found = reader.named(id)?;
            let info = found
                .first()
                .map(|found| found.get("userInfo").unwrap_or(&Value::Null));
            self.user = info.map(user);
        }
        Ok(())
    }

    fn values(&mut self, values: &Value<'static>) {
        let list = |name: &str| values.get(name).and_then(Value::as_array).unwrap_or_default();
        for namespace in list("namespaceSelector") {
            let labels = namespace.get("labels").cloned().unwrap_or_default();
            let object = pratique_state::cluster::namespace(text_at(namespace, &["name"]), labels);
            self.cluster.objects.push(object);
        }
        self.operation =
            operation_named(text_at(values, &["globalValues", "request.operation"])).or(self.operation);
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
    fn cases(&self, reader: &Source<'_>, policy: &str, id: NodeId) -> Result<Vec<Case>, Vec<Problem>> {
        let fields = reader.fields(id);
        let result = fields
            .text("result")
            .or_else(|| fields.text("status"))
            .unwrap_or_default();
        let Some(outcomes) = outcomes(&result) else {
            return Err(vec![reader.problem(format!("`{result}` is no result"), id)]);
        };
        let kind = fields.text("kind");
        let is_of_kind = |object: &&Value<'static>| {
            kind.as_deref()
                .is_none_or(|kind| kind == text_at(object, &["kind"]))
        };
        let of_kind: Vec<_> = self.resources.iter().filter(is_of_kind).collect();
        let mut names = fields.texts("resources");
        names.extend(fields.text("resource"));
        let mut chosen = Vec::new();
        for name in &names {
            let found: Vec<_> = of_kind.iter().filter(|object| is_named(object, name)).collect();
            if found.is_empty() {
                let kind = kind.as_deref().unwrap_or("resource");
                return Err(vec![reader.problem(format!("there is no {kind} {name}"), id)]);
            }
            chosen.extend(found.into_iter().copied());
        }
        if names.is_empty() {
            chosen = of_kind;
        }
        let patched = match fields.node("patchedResources").or(fields.node("patchedResource")) {
            Some(at) => {
                let files = match reader.fields(at).as_text() {
                    Some(file) => vec![file],
                    None => reader.fields(at).items(),
                };
                let mut all = Vec::new();
                for file in files {
                    all.extend(reader.objects(&file, at)?);
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
                    let found = patched.iter().find(|other| label(other) == label(object));
                    found.map(|found| in_namespace(found, object))
                }
                _ => None,
            };
            let expected = Expected {
                any_decision: true,
                policies: BTreeMap::from([(policy.to_owned(), outcomes.to_vec())]),
                object: object_expected,
                ..Expected::default()
            };
            let input = TestInput {
                object: Some(object.clone()),
                user: self.user.clone(),
                operation: self.operation,
                ..TestInput::default()
            };
            let name = format!("{policy} / {} / {result}", label(object));
            cases.push(reader.case(id, name, expected, input)?);
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
    let namespaced = kind_of(object)
        .ok()
        .and_then(|kind| resource_of(&kind).map(|served| served.namespaced));
    if namespaced == Some(true)
        && let Value::Object(fields) = &mut expected
        && let Some(Value::Object(metadata)) = fields.get_mut("metadata")
        && !metadata.contains_key("namespace")
    {
        metadata.insert("namespace", DEFAULT_NAMESPACE);
    }
    if let Ok(kind) = kind_of(&expected) {
        settle_object(&kind, &mut expected, &Progress::unwatched());
    }
    expected
}
