//! The request that an API server would make of an object.

use pratique_json::{Object, Value};
use pratique_types::builtin::ServedResource;
use pratique_types::{AdmissionRequest, GroupVersion, GroupVersionKind, Operation, UserInfo};

use super::resource::{self, Target};
use super::{Question, user};
use crate::arguments::RequestArguments;
use crate::exit::Trouble;
use crate::input::{Given, Unread};
use crate::output::problems;

/// Makes requests of objects.
pub(super) struct Maker<'a> {
    arguments: &'a RequestArguments,
    user: UserInfo,
    defined: Vec<ServedResource>,
    old: &'a [Given],
}

impl<'a> Maker<'a> {
    /// Makes requests as the arguments say; `given` may define resources.
    pub(super) fn new(arguments: &'a RequestArguments, given: &[Given], old: &'a [Given]) -> Self {
        Maker {
            arguments,
            user: user::user(&arguments.user, &arguments.groups),
            defined: resource::defined(given),
            old,
        }
    }

    /// The request of an object, the `number`th of the run.
    pub(super) fn question(&self, given: &Given, number: usize) -> Result<Question, Unread> {
        let place = problems::place(&given.location);
        let kind = kind_of(&given.object).map_err(|why| Unread::Faulty {
            place: place.clone(),
            why,
        })?;
        let (asked, subresource) = (self.arguments.resource.as_deref(), &self.arguments.subresource);
        let target = resource::target(&kind, asked, subresource, &self.defined).ok_or_else(|| {
            let kind = format!("{} of {}", kind.kind, kind.api_version());
            Unread::Trouble(Trouble::UnknownKind {
                place: place.clone(),
                kind,
            })
        })?;
        let object = self.placed(given.object.clone(), &target);
        let old = self.old_of(&object, &target, &kind);
        let operation = self.arguments.operation;
        let mut request = self.about(&object, kind, target);
        request.uid = format!("00000000-0000-0000-0000-{number:012}");
        (request.object, request.old_object) = match operation {
            Operation::Create | Operation::Connect => (object, Value::Null),
            Operation::Delete => (Value::Null, object),
            Operation::Update => {
                let missing = || Unread::Trouble(Trouble::NoOldObject { place: place.clone() });
                (object, old.ok_or_else(missing)?)
            }
        };
        Ok(Question { request, place })
    }

    /// A request with everything but objects.
    fn about(
        &self,
        object: &Value<'static>,
        kind: GroupVersionKind,
        target: Target,
    ) -> AdmissionRequest<'static> {
        let arguments = self.arguments;
        let name = arguments.name.clone().unwrap_or_else(|| text(object, "name"));
        let namespace = match &target {
            // A namespace is in itself.
            target if is_namespaces(target) => name.clone(),
            target => self.namespace(object, target),
        };
        AdmissionRequest {
            request_kind: Some(kind.clone()),
            request_resource: Some(target.resource.clone()),
            request_sub_resource: arguments.subresource.clone(),
            kind,
            resource: target.resource,
            sub_resource: arguments.subresource.clone(),
            name,
            namespace,
            operation: arguments.operation,
            user_info: self.user.clone(),
            dry_run: Some(arguments.dry_run),
            options: options(arguments.operation, arguments.dry_run),
            ..AdmissionRequest::default()
        }
    }

    /// Where a request for an object goes: its own namespace, or that of the arguments.
    fn namespace(&self, object: &Value<'_>, target: &Target) -> String {
        match (target.namespaced, text(object, "namespace")) {
            (Some(false), _) => String::new(),
            (Some(true), own) if own.is_empty() => self.arguments.namespace.clone(),
            (_, own) => own,
        }
    }

    /// The object with the namespace of its request, as the server has it before anybody judges.
    fn placed(&self, object: Value<'static>, target: &Target) -> Value<'static> {
        let mut object = object;
        let namespace = self.namespace(&object, target);
        if let Value::Object(fields) = &mut object
            && let Some(Value::Object(metadata)) = fields.get_mut("metadata")
            && !namespace.is_empty()
        {
            metadata.insert("namespace", namespace);
        }
        object
    }

    /// The stored form of an object.
    fn old_of(&self, object: &Value<'_>, target: &Target, kind: &GroupVersionKind) -> Option<Value<'static>> {
        let same = |given: &&Given| {
            kind_of(&given.object).is_ok_and(|own| own.group_kind() == kind.group_kind())
                && text(&given.object, "name") == text(object, "name")
                && self.namespace(&given.object, target) == self.namespace(object, target)
        };
        let found = self.old.iter().find(same)?;
        Some(self.placed(found.object.clone(), target))
    }
}

/// What an object says it is.
pub(super) fn kind_of(object: &Value<'_>) -> Result<GroupVersionKind, String> {
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    let missing = |field: &str| Err(format!("Object '{field}' is missing"));
    match (text("kind"), text("apiVersion")) {
        ("", _) => missing("Kind"),
        (_, "") => missing("apiVersion"),
        (kind, version) => {
            let version = GroupVersion::parse(version).map_err(|error| error.to_string())?;
            Ok(version.with_kind(kind))
        }
    }
}

fn is_namespaces(target: &Target) -> bool {
    target.resource.group.is_empty() && target.resource.resource == "namespaces"
}

fn text(object: &Value<'_>, field: &str) -> String {
    object
        .at(&["metadata", field])
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

/// The options that come with an operation.
fn options(operation: Operation, dry_run: bool) -> Value<'static> {
    let kind = match operation {
        Operation::Create => "CreateOptions",
        Operation::Update => "UpdateOptions",
        Operation::Delete => "DeleteOptions",
        Operation::Connect => return Value::Null,
    };
    let mut options = Object::new();
    options.insert("apiVersion", "meta.k8s.io/v1");
    options.insert("kind", kind);
    if dry_run {
        options.insert("dryRun", vec![Value::from("All")]);
    }
    Value::Object(options)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::arguments::{Arguments, Command};
    use crate::input;

    /// The request that is made of the first object of a file, as JSON.
    fn made(arguments: &[&str], file: &str, old: Option<&str>) -> String {
        let line = ["pratique", "review"].iter().chain(arguments).chain(&["-"]);
        let Command::Review(arguments) = Arguments::try_parse_from(line).unwrap().command else {
            panic!()
        };
        let read = |text: &str| {
            input::objects(&input::file("f.yaml", text.as_bytes().to_vec()))
                .unwrap()
                .given
        };
        let (given, old) = (read(file), old.map(read).unwrap_or_default());
        let question = Maker::new(&arguments.request, &given, &old).question(&given[0], 1);
        question
            .map(|question| serde_json::to_string(&question.request).unwrap())
            .unwrap_or_else(|unread| match unread {
                Unread::Trouble(trouble) => trouble.to_string(),
                Unread::Faulty { place, why } => format!("{place}: {why}"),
                other => panic!("{other:?}"),
            })
    }

    const POD: &str = "{apiVersion: v1, kind: Pod, metadata: {name: p}}";

    #[test]
    fn a_whole_request() {
        assert_eq!(
            made(&["--as", "ann", "--dry-run"], POD, None),
            concat!(
                r#"{"uid":"00000000-0000-0000-0000-000000000001","kind":{"group":"","version":"v1","kind":"Pod"},"#,
                r#""resource":{"group":"","version":"v1","resource":"pods"},"#,
                r#""requestKind":{"group":"","version":"v1","kind":"Pod"},"#,
                r#""requestResource":{"group":"","version":"v1","resource":"pods"},"#,
                r#""name":"p","namespace":"default","operation":"CREATE","#,
                r#""userInfo":{"username":"ann","groups":["system:authenticated"]},"#,
                r#""object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default"}},"#,
                r#""oldObject":null,"dryRun":true,"#,
                r#""options":{"apiVersion":"meta.k8s.io/v1","dryRun":["All"],"kind":"CreateOptions"}}"#,
            )
        );
    }

    #[test]
    fn operations_place_the_object() {
        let deleted = made(&["--operation", "delete", "-n", "shop"], POD, None);
        assert!(
            deleted.contains(r#""object":null,"oldObject":{"apiVersion":"v1""#),
            "{deleted}"
        );
        assert!(
            deleted.contains(r#""namespace":"shop","operation":"DELETE""#),
            "{deleted}"
        );
        let old = "{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {a: b}}}";
        let updated = made(&["--operation", "UPDATE"], POD, Some(old));
        assert!(updated.contains(r#""labels":{"a":"b"}"#), "{updated}");
        let without = made(&["--operation", "UPDATE"], POD, None);
        assert_eq!(
            without,
            "f.yaml:1:1: an update needs the stored object: give it with --old"
        );
    }

    #[test]
    fn a_namespace_is_in_itself() {
        let made = made(
            &[],
            "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}",
            None,
        );
        assert!(made.contains(r#""name":"shop","namespace":"shop""#), "{made}");
        assert!(made.contains(r#""metadata":{"name":"shop"}"#), "{made}");
    }

    #[test]
    fn objects_have_to_say_what_they_are() {
        assert_eq!(made(&[], "a: 1", None), "f.yaml:1:1: Object 'Kind' is missing");
        assert_eq!(
            made(&[], "kind: Pod", None),
            "f.yaml:1:1: Object 'apiVersion' is missing"
        );
        assert_eq!(
            made(&[], "{kind: Widget, apiVersion: example.com/v1}", None),
            "f.yaml:1:1: kind Widget of example.com/v1 is not known: \
             name its resource with --resource, or give its CustomResourceDefinition"
        );
    }
}
