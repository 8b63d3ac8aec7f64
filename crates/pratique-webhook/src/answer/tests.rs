//! Each way in which an answer can be refused.

use super::*;
use pratique_schema::Release;

const UID: &str = "u-1";

/// What becomes of an answer to a v1 review.
fn outcome(body: &str, version: ReviewVersion, mutating: bool) -> String {
    let answered = match ReadAnswer::read(Release::latest(), body.as_bytes(), version, &|_| Ok(())).unwrap() {
        Err(error) => return error.to_string(),
        Ok(answered) => answered,
    };
    match answered.verified(UID, version, mutating) {
        Err(error) => error.to_string(),
        Ok(verified) => format!(
            "allowed={} patch={:?} type={}",
            verified.allowed,
            String::from_utf8_lossy(&verified.patch),
            verified.patch_type
        ),
    }
}

#[track_caller]
fn check(response: &str, mutating: bool, expected: &str) {
    let body =
        format!(r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{response}}}"#);
    assert_eq!(outcome(&body, ReviewVersion::V1, mutating), expected);
}

#[track_caller]
fn check_body(body: &str, expected: &str) {
    assert_eq!(outcome(body, ReviewVersion::V1, false), expected);
}

#[test]
fn good_answers_count() {
    check(
        r#"{"uid":"u-1","allowed":true}"#,
        false,
        "allowed=true patch=\"\" type=",
    );
    check(
        r#"{"uid":"u-1","allowed":true,"patch":"W10=","patchType":"JSONPatch"}"#,
        true,
        "allowed=true patch=\"[]\" type=JSONPatch",
    );
    check(
        r#"{"uid":"u-1","Allowed":true,"more":1}"#,
        true,
        "allowed=false patch=\"\" type=",
    );
}

#[test]
fn what_does_not_answer_the_question_is_refused() {
    check("null", false, "webhook response was absent");
    check(
        r#"{"uid":"u-2"}"#,
        false,
        r#"expected response.uid="u-1", got "u-2""#,
    );
    check_body(
        r#"{"response":{"uid":"u-1"}}"#,
        "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=",
    );
}

#[test]
fn patches_must_fit() {
    let patch = r#"{"uid":"u-1","patch":"W10="}"#;
    let typed = r#"{"uid":"u-1","patchType":"JSONPatch"}"#;
    check(
        patch,
        true,
        "webhook returned response.patch but not response.patchType",
    );
    check(
        typed,
        true,
        "webhook returned response.patchType but not response.patch",
    );
    check(
        r#"{"uid":"u-1","patch":"W10=","patchType":""}"#,
        true,
        r#"webhook returned invalid response.patchType of """#,
    );
    check(patch, false, "validating webhook may not return response.patch");
    check(
        typed,
        false,
        "validating webhook may not return response.patchType",
    );
}

#[test]
fn other_kinds_are_refused() {
    let kind = |version: &str, kind: &str| format!(r#"{{"apiVersion":"{version}","kind":"{kind}"}}"#);
    check_body(
        &kind("admission.k8s.io/v2", "AdmissionReview"),
        r#"no kind "AdmissionReview" is registered for version "admission.k8s.io/v2" in scheme "pkg/runtime/scheme.go:111""#,
    );
    check_body(
        &kind("admission.k8s.io/v1beta1", "AdmissionReview"),
        "converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion",
    );
    // It is read as what it says it is before that.
    check_body(
        r#"{"apiVersion": "admission.k8s.io/v1beta1", "kind": "AdmissionReview", "response": {"warnings": 3}}"#,
        "json: cannot unmarshal number into Go struct field AdmissionResponse.response.warnings of type []string",
    );
    check_body(
        &kind("v1", "Status"),
        "converting (v1.Status) to (v1.AdmissionReview): unknown conversion",
    );
    check_body(&kind("a/b/c", "X"), "unexpected GroupVersion string: a/b/c");
}

#[test]
fn fields_have_types() {
    let typed = |what: &str, field: &str, of: &str| {
        format!(
            "json: cannot unmarshal {what} into Go struct field AdmissionResponse.response.{field} of type {of}"
        )
    };
    check(r#"{"uid":1}"#, false, &typed("number", "uid", "types.UID"));
    check(r#"{"allowed":"yes"}"#, false, &typed("string", "allowed", "bool"));
    check(
        r#"{"status":"no"}"#,
        false,
        &typed("string", "status", "v1.Status"),
    );
    check(
        r#"{"warnings":[1]}"#,
        false,
        &typed("number", "warnings", "string"),
    );
    check(
        r#"{"auditAnnotations":{"a":true}}"#,
        false,
        &typed("bool", "auditAnnotations", "string"),
    );
    check(r#"{"patch":"?"}"#, true, "illegal base64 data at input byte 0");
    check_body(
        "[]",
        "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { \
         APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }",
    );
}

#[test]
fn old_webhooks_are_believed() {
    let old = |response: &str| format!(r#"{{"response":{response}}}"#);
    let check = |response: &str, mutating, expected: &str| {
        assert_eq!(
            outcome(&old(response), ReviewVersion::V1Beta1, mutating),
            expected
        );
    };
    check(r#"{"allowed":true}"#, false, "allowed=true patch=\"\" type=");
    check(
        r#"{"allowed":true,"patch":"W10="}"#,
        true,
        "allowed=true patch=\"[]\" type=JSONPatch",
    );
    check(
        r#"{"allowed":true,"patch":"W10="}"#,
        false,
        "allowed=true patch=\"\" type=",
    );
    check(
        r#"{"allowed":true,"patchType":"x"}"#,
        true,
        "allowed=true patch=\"\" type=",
    );
}

/// What aliases of YAML repeat is bounded, in whatever field.
#[test]
fn aliases_do_not_multiply_an_answer() {
    let answer = |times: usize| {
        format!(
            "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nresponse: {{uid: u-1, allowed: true, \
             warnings: [&a '{}',{}]}}\n",
            "x".repeat(49_000),
            "*a,".repeat(times)
        )
    };
    check_body(&answer(10), "allowed=true patch=\"\" type=");
    check_body(
        &answer(266_000),
        "yaml: more than 22 MiB of memory would be needed to load this: values that YAML aliases repeat count each time",
    );
}
