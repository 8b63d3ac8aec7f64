//! Batches of objects become batches of decisions.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array as _, ArrayRef, BinaryArray, BinaryViewArray, DictionaryArray, Int64Array, LargeBinaryArray,
    LargeStringArray, RecordBatch, RecordBatchReader as _, StringArray, StringViewArray, StructArray,
};
use arrow_schema::ArrowError;
use pratique::{Admission, FeatureGates, ManifestFile, ManifestPlugin, Release};
use pratique_arrow::{BatchEvaluator, InputError, TextColumn, replay_schema, result_schema};
use pratique_request::RequestTemplate;
use pratique_state::ClusterObjects;
use pratique_types::builtin::ServedResource;
use pratique_types::{GroupVersionKind, GroupVersionResource};

const POLICIES: &str = r#"
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: team.static.k8s.io}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE, UPDATE]}]
  validations: [{expression: "'team' in object.metadata.?labels.orValue({})", message: a Pod needs a team}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: team.static.k8s.io}
spec: {policyName: team.static.k8s.io, validationActions: [Deny, Audit]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: user.static.k8s.io}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: ["*"]}]
  validations:
  - expression: "request.userInfo.username != 'mallory' && request.namespace != 'locked'"
    messageExpression: "request.operation + ' by ' + request.userInfo.username + ' of ' + string(size(request.userInfo.groups)) + ' groups'"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: user.static.k8s.io}
spec: {policyName: user.static.k8s.io, validationActions: [Deny]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: allowed.static.k8s.io}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}]
  validations: [{expression: "authorizer.group('').resource('quotas').check('use').allowed()"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: allowed.static.k8s.io}
spec: {policyName: allowed.static.k8s.io, validationActions: [Deny]}
"#;

fn evaluator() -> BatchEvaluator {
    let file = ManifestFile {
        path: "policies.yaml".into(),
        content: POLICIES.into(),
    };
    let builder = Admission::builder().files([file], ManifestPlugin::ValidatingAdmissionPolicy);
    BatchEvaluator::new(Arc::new(builder.build().unwrap()))
}

fn object(kind: &str, name: &str, has_team: bool) -> String {
    let labels = if has_team { r#","labels":{"team":"a"}"# } else { "" };
    format!(
        r#"{{"apiVersion":"v1","kind":"{kind}","metadata":{{"name":"{name}","uid":"u-{name}"{labels}}},"spec":{{"containers":[{{"name":"c","image":"i"}}]}}}}"#
    )
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))
        .unwrap()
}

fn texts(batch: &RecordBatch, column: &str) -> Vec<Option<String>> {
    let column = batch.column_by_name(column).unwrap();
    let texts = column.as_string::<i32>().iter();
    texts.map(|text| text.map(str::to_owned)).collect()
}

fn decisions(batch: &RecordBatch) -> Vec<String> {
    texts(batch, "decision").into_iter().map(Option::unwrap).collect()
}

/// The findings of a row: policy, action, message.
fn findings(batch: &RecordBatch, row: usize) -> Vec<[String; 3]> {
    let list = batch
        .column_by_name("findings")
        .unwrap()
        .as_list::<i32>()
        .value(row);
    let found: &StructArray = list.as_struct();
    let text = |name: &str, index: usize| {
        let column = found.column_by_name(name).unwrap().as_string::<i32>();
        column.value(index).to_owned()
    };
    (0..found.len())
        .map(|index| ["policy", "action", "message"].map(|name| text(name, index)))
        .collect()
}

/// The review of a creation says what the server refuses; what it never stored is neither deleted nor updated.
#[test]
fn what_cannot_have_been_stored_fails() {
    let broken = object("Pod", "a", true).replace(r#"[{"name":"c","image":"i"}]"#, "7");
    let pod = object("Pod", "a", true);
    let objects = [Some(broken.as_str()), None, Some(pod.as_str())];
    let old_objects = [None, Some(broken.as_str()), Some(broken.as_str())];
    let input = batch(vec![
        ("object", Arc::new(StringArray::from_iter(objects))),
        ("old_object", Arc::new(StringArray::from_iter(old_objects))),
    ]);
    let results = evaluator().evaluate(&input).unwrap();
    assert_eq!(decisions(&results), ["denied", "failed", "failed"]);
    let messages = texts(&results, "message");
    let told = r#"Pod in version "v1" cannot be handled as a Pod"#;
    for (message, expected) in messages
        .iter()
        .zip([told, told, &format!("the old object: {told}")])
    {
        assert!(message.as_ref().unwrap().starts_with(expected), "{messages:?}");
    }
}

/// As in the reports of scans, a field that is dropped has the name of its rule where a policy has its own.
#[test]
fn dropped_fields_are_findings_of_their_rule() {
    let pod = object("Pod", "a", true).replace(
        r#""spec":{"#,
        r#""spec":{"schedulingGroup":{"podGroupName":"g"},"#,
    );
    let input = batch(vec![("object", Arc::new(StringArray::from_iter([Some(pod)])))]);
    let results = evaluator().evaluate(&input).unwrap();
    assert_eq!(decisions(&results), ["allowed"]);
    let findings = findings(&results, 0);
    assert_eq!(findings[0][..2], ["dropped-field", "warn"], "{findings:?}");
    assert!(findings[0][2].contains("GenericWorkload"), "{findings:?}");
}

#[test]
fn each_row_has_a_decision() {
    let objects = [
        Some(object("Pod", "a", true)),
        Some(object("Pod", "b", false)),
        Some("{".to_owned()),
        None,
        Some(r#"{"metadata":{}}"#.to_owned()),
        Some(format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","items":[{}]}}"#,
            object("Pod", "b", false)
        )),
        Some(
            object("ConfigMap", "c", true)
                .replace("spec", "data")
                .replace(r#"[{"name":"c","image":"i"}]"#, "\"\""),
        ),
    ];
    let input = batch(vec![("object", Arc::new(StringArray::from_iter(objects)))]);
    let results = evaluator().evaluate(&input).unwrap();
    assert_eq!(results.schema(), result_schema());
    assert_eq!(
        decisions(&results),
        [
            "allowed",
            "denied",
            "failed",
            "failed",
            "failed",
            "failed",
            "undecided"
        ]
    );
    let messages = texts(&results, "message");
    assert!(
        messages[1]
            .as_ref()
            .unwrap()
            .ends_with("denied request: a Pod needs a team"),
        "{messages:?}"
    );
    assert!(
        messages[2].as_ref().unwrap().starts_with("it is not JSON: "),
        "{messages:?}"
    );
    assert_eq!(messages[3].as_deref(), Some("the row has no object"));
    assert_eq!(messages[4].as_deref(), Some("Object 'Kind' is missing"));
    assert_eq!(
        messages[5].as_deref(),
        Some("it is a list, of which each object needs a row")
    );
    let found = findings(&results, 1);
    let expected = ["deny", "audit"].map(|action| ["team.static.k8s.io", action, "a Pod needs a team"]);
    assert_eq!(found, expected);
    assert_eq!(
        findings(&results, 6)[0][..2],
        ["allowed.static.k8s.io", "undecided"]
    );
    assert_eq!(findings(&results, 0).len(), 0);
    assert_eq!(
        (
            texts(&results, "uid")[1].as_deref(),
            texts(&results, "namespace")[1].as_deref()
        ),
        (Some("u-b"), Some("default"))
    );
}

/// A kind that no server serves is refused, and one that is not known is undecided where a policy may match it.
#[test]
fn kinds_are_not_guessed() {
    let policies = POLICIES
        .replacen("apiGroups: [\"\"]", "apiGroups: ['', example.com]", 1)
        .replacen("resources: [pods]", "resources: [pods, gateways]", 1);
    let file = ManifestFile {
        path: "policies.yaml".into(),
        content: policies.into(),
    };
    let builder = Admission::builder().files([file], ManifestPlugin::ValidatingAdmissionPolicy);
    let evaluator = BatchEvaluator::new(Arc::new(builder.build().unwrap()));
    let of = |version: &str, kind: &str| {
        format!(
            r#"{{"apiVersion":"{version}","kind":"{kind}","metadata":{{"name":"a","namespace":"shop"}}}}"#
        )
    };
    let objects = [
        of("extensions/v1beta1", "Deployment"),
        of("v1", "Podd"),
        of("example.com/v1", "Gateway"),
        of("other.com/v1", "Gateway"),
    ];
    let input = batch(vec![("object", Arc::new(StringArray::from_iter_values(objects)))]);
    let results = evaluator.evaluate(&input).unwrap();
    assert_eq!(decisions(&results), ["denied", "denied", "undecided", "allowed"]);
    let missing = "the server could not find the requested resource";
    assert_eq!(texts(&results, "message")[0].as_deref(), Some(missing));
    assert_eq!(
        findings(&results, 2)[0][1..],
        [
            "undecided",
            "the resource of kind Gateway of example.com/v1 is not known"
        ]
    );
    let mut cluster = ClusterObjects::default();
    cluster.objects.assume_namespaces();
    cluster.resolver.serve([ServedResource {
        resource: GroupVersionResource::new("example.com", "v1", "gateways"),
        subresource: String::new(),
        kind: GroupVersionKind::new("example.com", "v1", "Gateway"),
        namespaced: true,
        short_names: Vec::new(),
    }]);
    let results = evaluator.with_cluster(cluster).evaluate(&input).unwrap();
    assert_eq!(decisions(&results)[2], "denied");
}

#[test]
fn rows_say_who_did_what_and_where() {
    let pods: Vec<String> = ["a", "b", "c", "d"].map(|name| object("Pod", name, true)).into();
    let new = [Some(&pods[0]), None, Some(&pods[2]), Some(&pods[3])];
    let old = [None, Some(&pods[1]), Some(&pods[2]), None];
    let mut groups = ListBuilder::new(StringBuilder::new());
    for row in [&["x", "y"][..], &[], &["z"], &[]] {
        row.iter().for_each(|group| groups.values().append_value(group));
        groups.append(!row.is_empty());
    }
    let users: DictionaryArray<Int32Type> = ["mallory", "ann", "mallory", "ann"].into_iter().collect();
    let input = batch(vec![
        ("number", Arc::new(Int64Array::from(vec![1, 2, 3, 4]))),
        ("object", Arc::new(LargeStringArray::from_iter(new))),
        (
            "old_object",
            Arc::new(BinaryArray::from_iter(
                old.iter().map(|text| text.map(|text| text.as_bytes())),
            )),
        ),
        (
            "namespace",
            Arc::new(StringViewArray::from(vec![None, None, None, Some("locked")])),
        ),
        ("user", Arc::new(users)),
        ("groups", Arc::new(groups.finish())),
    ]);
    let results = evaluator().evaluate(&input).unwrap();
    let operations: Vec<_> = texts(&results, "operation").into_iter().flatten().collect();
    assert_eq!(operations, ["CREATE", "DELETE", "UPDATE", "CREATE"]);
    assert_eq!(decisions(&results), ["denied", "allowed", "denied", "denied"]);
    let messages: Vec<String> = [0, 2, 3].map(|row| findings(&results, row)[0][2].clone()).into();
    assert_eq!(
        messages,
        [
            "CREATE by mallory of 3 groups",
            "UPDATE by mallory of 2 groups",
            "CREATE by ann of 1 groups"
        ]
    );
    assert_eq!(texts(&results, "namespace")[3].as_deref(), Some("locked"));
}

/// The groups of the default user are those of no other.
#[test]
fn rows_without_a_user_have_that_of_the_evaluator() {
    let template = RequestTemplate {
        namespace: "locked".to_owned(),
        user: pratique_request::user("root", &["system:masters".to_owned()]),
        ..RequestTemplate::default()
    };
    let pod = object("Pod", "a", true);
    let input = batch(vec![
        ("object", Arc::new(StringArray::from_iter_values([&pod, &pod]))),
        ("user", Arc::new(StringArray::from_iter([None, Some("ann")]))),
    ]);
    let results = evaluator().with_template(template).evaluate(&input).unwrap();
    let messages = [0, 1].map(|row| findings(&results, row)[0][2].clone());
    assert_eq!(
        messages,
        ["CREATE by root of 2 groups", "CREATE by ann of 1 groups"]
    );
    assert_eq!(
        texts(&results, "user"),
        [Some("root".to_owned()), Some("ann".to_owned())]
    );
}

#[test]
fn batches_are_evaluated_as_they_come() {
    let of = |names: &[&str]| {
        let objects = names
            .iter()
            .map(|name| object("Pod", name, !name.starts_with('x')));
        batch(vec![("object", Arc::new(StringArray::from_iter_values(objects)))])
    };
    let batches = [
        Ok(of(&["a", "x1"])),
        Ok(of(&[])),
        Err(ArrowError::ParseError("broken".to_owned())),
        Ok(of(&["x2"])),
    ];
    let mut results = evaluator().stream(batches);
    assert_eq!(results.schema(), result_schema());
    assert_eq!(
        decisions(&results.next().unwrap().unwrap()),
        ["allowed", "denied"]
    );
    assert_eq!(results.next().unwrap().unwrap().num_rows(), 0);
    assert!(results.next().unwrap().is_err());
    assert_eq!(decisions(&results.next().unwrap().unwrap()), ["denied"]);
    assert!(results.next().is_none());
}

#[test]
fn columns_have_to_be_text() {
    let numbers = || Arc::new(Int64Array::from(vec![1])) as ArrayRef;
    let error = evaluator()
        .evaluate(&batch(vec![("object", numbers())]))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "column `object` is of type Int64, and text is expected"
    );
    let error = evaluator()
        .evaluate(&batch(vec![("other", numbers())]))
        .unwrap_err();
    assert!(matches!(error, InputError::NoObjects), "{error}");
}

#[test]
fn objects_are_decoded_as_a_server_does() {
    let objects = [
        r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":""}"#.to_owned(),
        object("Pod", "b", true).replace(r#""image":"i""#, r#""image":"i","imagee":"j""#),
        r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"c","labels":3}}"#.to_owned(),
    ];
    let objects = batch(vec![("object", Arc::new(StringArray::from(objects.to_vec())))]);
    let results = evaluator().evaluate(&objects).unwrap();
    assert_eq!(decisions(&results), ["denied", "allowed", "denied"]);
    let [undecodable, warned] = [0, 1].map(|row| findings(&results, row));
    assert_eq!(undecodable.len(), 1, "{undecodable:?}");
    assert!(
        undecodable[0][2].starts_with(r#"ConfigMap in version "v1" cannot be handled as a ConfigMap"#),
        "{undecodable:?}"
    );
    assert_eq!(
        warned,
        [["", "warn", r#"unknown field "spec.containers[0].imagee""#].map(str::to_owned)]
    );
}

/// What has no name is refused, whether objects are completed or are as they are stored.
#[test]
fn objects_need_names() {
    let unnamed = object("Pod", "", true).replace(r#""name":"","#, "");
    let generated = object("Pod", "a", true).replace(r#""name":"a""#, r#""generateName":"a-""#);
    let input = batch(vec![(
        "object",
        Arc::new(StringArray::from_iter_values([unnamed, generated])),
    )]);
    for evaluator in [evaluator(), evaluator().with_complete_objects()] {
        let results = evaluator.evaluate(&input).unwrap();
        assert_eq!(decisions(&results), ["denied", "allowed"]);
        let message = "Pod \"\" is invalid: metadata.name: Required value: name or generateName is required";
        assert_eq!(texts(&results, "message")[0].as_deref(), Some(message));
    }
}

/// A default that came with 1.37.
#[test]
fn the_server_is_of_a_release() {
    let policy = r#"
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: available.static.k8s.io}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], resources: [statefulsets], operations: [CREATE]}]
  validations: [{expression: "!has(object.spec.updateStrategy.rollingUpdate.maxUnavailable)"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: available.static.k8s.io}
spec: {policyName: available.static.k8s.io, validationActions: [Deny]}
"#;
    let file = ManifestFile {
        path: "policy.yaml".into(),
        content: policy.into(),
    };
    let admission = Admission::builder()
        .files([file], ManifestPlugin::ValidatingAdmissionPolicy)
        .build()
        .unwrap();
    let evaluator = BatchEvaluator::new(Arc::new(admission));
    let set = r#"{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"db"},"spec":{"selector":{"matchLabels":{"a":"b"}},
        "updateStrategy":{"rollingUpdate":{"partition":0}},
        "template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}"#;
    // Served since 1.37.
    let migration = r#"{"apiVersion":"storagemigration.k8s.io/v1","kind":"StorageVersionMigration","metadata":{"name":"m"},
        "spec":{"resource":{"group":"apps","resource":"deployments"}}}"#;
    let objects = StringArray::from_iter_values([set, migration]);
    let batch = RecordBatch::try_from_iter([("object", Arc::new(objects) as ArrayRef)]).unwrap();
    let decisions = |evaluator: &BatchEvaluator| -> Vec<String> {
        let results = evaluator.evaluate(&batch).unwrap();
        let decisions = results
            .column_by_name("decision")
            .unwrap()
            .as_string::<i32>()
            .clone();
        decisions
            .iter()
            .map(|decision| decision.unwrap().to_owned())
            .collect()
    };
    assert_eq!(decisions(&evaluator), ["denied", "allowed"]);
    let mut cluster = ClusterObjects::new(FeatureGates::new(Release::by_version("1.36").unwrap()));
    cluster.objects.assume_namespaces();
    assert_eq!(decisions(&evaluator.with_cluster(cluster)), ["allowed", "denied"]);
}

/// Programs read these columns: none is renamed, removed or of another type.
#[test]
fn columns_stay_as_they_are() {
    let columns = |schema: arrow_schema::SchemaRef| -> Vec<String> {
        let fields = schema.fields().iter();
        let column = |field: &arrow_schema::Field| {
            let null = if field.is_nullable() { "" } else { " not null" };
            format!("{}: {}{null}", field.name(), field.data_type())
        };
        fields.map(|field| column(field)).collect()
    };
    let of_results = [
        "place: Utf8",
        "time: Timestamp(µs, \"UTC\")",
        "operation: Utf8",
        "api_version: Utf8",
        "kind: Utf8",
        "namespace: Utf8",
        "name: Utf8",
        "uid: Utf8",
        "user: Utf8",
        "owner: Utf8",
        "decision: Utf8 not null",
        "message: Utf8",
        "findings: List(non-null Struct(\"policy\": Utf8, \"binding\": Utf8, \"action\": non-null Utf8, \
         \"is_error\": non-null Boolean, \"message\": non-null Utf8)) not null",
    ];
    assert_eq!(columns(result_schema()), of_results);
    let of_replays = [
        "id: Utf8",
        "comparison: Utf8",
        "then_decision: Utf8",
        "then_by: Utf8",
        "then_message: Utf8",
        "unknown: Utf8",
        "approximations: List(non-null Utf8) not null",
    ];
    assert_eq!(columns(replay_schema()), [&of_results[..], &of_replays].concat());
}

#[test]
fn text_is_read_in_every_form() {
    let texts = [Some("a"), None, Some("b"), Some("a")];
    let bytes = texts.map(|text| text.map(str::as_bytes));
    let dictionary: DictionaryArray<Int32Type> = texts.into_iter().collect();
    let arrays: [ArrayRef; 7] = [
        Arc::new(StringArray::from_iter(texts)),
        Arc::new(LargeStringArray::from_iter(texts)),
        Arc::new(StringViewArray::from_iter(texts)),
        Arc::new(BinaryArray::from_iter(bytes)),
        Arc::new(LargeBinaryArray::from_iter(bytes)),
        Arc::new(BinaryViewArray::from_iter(bytes)),
        Arc::new(dictionary),
    ];
    for array in arrays {
        let column = TextColumn::from_array(&array).unwrap();
        let read: Vec<_> = (0..5).map(|row| column.get(row)).collect();
        // There is no fifth row.
        assert_eq!(read, [&bytes[..], &[None]].concat(), "{}", array.data_type());
        assert!(TextColumn::is_text(array.data_type()));
    }
    let numbers = Int64Array::from(vec![1]);
    assert!(TextColumn::from_array(&numbers).is_none() && !TextColumn::is_text(numbers.data_type()));
}
