//! The warnings and the error of an API server about an object that a client sends it.

use pratique_gotext::strconv::quote;
use pratique_json::Progress;
use pratique_schema::Schema;
use pratique_types::GroupVersionKind;

use super::node::Node;

/// Decodes an object as an API server's create handler does with `fieldValidation=Warn`, its default, by the types of a
/// release: gives the texts of the Warning headers, about unknown and duplicate fields.
///
/// Objects of kinds that are not built in are only checked for duplicate fields.
///
/// # Errors
/// The message with which the server answers 400 to an object that it cannot decode.
pub fn received_in<'v, N: Node<'v>>(
    schema: &'static Schema,
    kind: &GroupVersionKind,
    object: N,
) -> Result<Vec<String>, String> {
    let Some(id) = schema.kind(kind) else {
        return Ok(super::duplicates(schema, object));
    };
    // Upstream: apiserver/pkg/endpoints/handlers/rest.go, transformDecodeError
    super::first_fault(schema, id, object.members(), &[], &Progress::unwatched()).map_err(|cause| {
        let GroupVersionKind { kind, version, .. } = kind;
        format!(
            "{kind} in version {} cannot be handled as a {kind}: {cause}",
            quote(version)
        )
    })
}

#[cfg(test)]
mod tests {
    use pratique_schema::Release;

    use super::*;

    #[track_caller]
    fn check(kind: (&str, &str, &str), object: &str, expected: Result<&[&str], &str>) {
        let object = pratique_json::parse(object.as_bytes()).unwrap();
        let kind = GroupVersionKind::new(kind.0, kind.1, kind.2);
        let found = received_in(Release::latest().schema(), &kind, &object);
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        assert_eq!(found, expected.map(owned).map_err(str::to_owned));
    }

    #[test]
    fn fields_are_those_of_a_release() {
        let pod = r#"{"spec":{"volumes":[{"name":"v","emptyDir":{"mode":493}}]}}"#;
        let pod = pratique_json::parse(pod.as_bytes()).unwrap();
        let received = |version| {
            let schema = Release::by_version(version).unwrap().schema();
            received_in(schema, &GroupVersionKind::new("", "v1", "Pod"), &pod)
        };
        assert_eq!(received("1.37"), Ok(Vec::new()));
        let unknown = r#"unknown field "spec.volumes[0].emptyDir.mode""#.to_owned();
        assert_eq!(received("1.36"), Ok(vec![unknown]));
    }

    const DEPLOYMENT: (&str, &str, &str) = ("apps", "v1", "Deployment");

    #[test]
    fn unknown_fields_are_warnings() {
        check(DEPLOYMENT, r#"{"spec":{"replicas":5}}"#, Ok(&[]));
        check(
            DEPLOYMENT,
            r#"{"a\"b":{},"spec":{"replcas":5}}"#,
            Ok(&[r#"unknown field "a\"b""#, r#"unknown field "spec.replcas""#]),
        );
    }

    #[test]
    fn wrong_types_are_errors() {
        check(
            DEPLOYMENT,
            r#"{"spec":{"replcas":1,"replicas":"5"}}"#,
            Err(
                "Deployment in version \"v1\" cannot be handled as a Deployment: json: cannot unmarshal \
                 string into Go struct field DeploymentSpec.spec.replicas of type int32",
            ),
        );
        check(
            ("", "v1", "Pod"),
            r#"{"spec":{"containers":[{"resources":{"limits":{"cpu":"1mm"}}}]}}"#,
            Err("Pod in version \"v1\" cannot be handled as a Pod: unable to parse quantity's suffix"),
        );
    }

    #[test]
    fn nothing_is_known_of_other_kinds() {
        check(
            ("example.com", "v1", "Widget"),
            r#"{"spec":{"replcas":"x"}}"#,
            Ok(&[]),
        );
    }

    #[test]
    fn no_more_than_a_hundred_warnings() {
        let fields: Vec<String> = (0..200).map(|at| format!("\"x{at}\":1")).collect();
        let object = format!("{{{}}}", fields.join(","));
        let object = pratique_json::parse(object.as_bytes()).unwrap();
        let pod = GroupVersionKind::new("", "v1", "Pod");
        let found = received_in(Release::latest().schema(), &pod, &object);
        assert_eq!(found.map(|found| found.len()), Ok(100));
    }
}
