//! Chooses objects among several: by name, kind and name, or kind, namespace and name.

use pratique_json::{Value, text_at};
use pratique_types::{GroupVersion, ObjectRef};

/// A choice of objects: `NAME`, `KIND/NAME` or `KIND/NAMESPACE/NAME`, where a kind may have its group: `Ingress.networking.k8s.io`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObjectSelector {
    kind: Option<String>,
    namespace: Option<String>,
    name: String,
}

impl ObjectSelector {
    /// Reads a choice; `None` if it has too many parts, or an empty one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('/').collect();
        if parts.iter().any(|part| part.is_empty()) {
            return None;
        }
        let owned = |text: &str| text.to_owned();
        let (kind, namespace, name) = match parts.as_slice() {
            [name] => (None, None, owned(name)),
            [kind, name] => (Some(owned(kind)), None, owned(name)),
            [kind, namespace, name] => (Some(owned(kind)), Some(owned(namespace)), owned(name)),
            _ => return None,
        };
        Some(ObjectSelector {
            kind,
            namespace,
            name,
        })
    }

    /// Whether it chooses an object; `namespace` is that of objects that name none.
    pub(crate) fn fits(&self, object: &Value<'_>, namespace: &str) -> bool {
        let namespace_of_object = match text_at(object, &["metadata", "namespace"]) {
            "" => namespace,
            stated => stated,
        };
        let is_of_kind = |wanted: &String| match wanted.split_once('.') {
            Some((kind, group)) => kind == text_at(object, &["kind"]) && group == group_of(object),
            None => wanted == text_at(object, &["kind"]),
        };
        self.name == ObjectRef::new(object).name_or_prefix()
            && self.kind.as_ref().is_none_or(is_of_kind)
            && self
                .namespace
                .as_ref()
                .is_none_or(|wanted| wanted == namespace_of_object)
    }
}

/// The name of an object among others: `KIND/NAMESPACE/NAME`, or `KIND/NAME` if it has no namespace.
pub fn object_label(object: &Value<'_>) -> String {
    let (kind, name) = (
        text_at(object, &["kind"]),
        ObjectRef::new(object).name_or_prefix(),
    );
    match text_at(object, &["metadata", "namespace"]) {
        "" => format!("{kind}/{name}"),
        namespace => format!("{kind}/{namespace}/{name}"),
    }
}

fn group_of(object: &Value<'_>) -> String {
    let version = GroupVersion::parse(text_at(object, &["apiVersion"]));
    version.map(|version| version.group).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use pratique_request::DEFAULT_NAMESPACE;

    use super::*;

    #[track_caller]
    fn check(selector: &str, expected: bool) {
        let object = r#"{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}}"#;
        let object = pratique_json::parse(object.as_bytes()).unwrap();
        assert_eq!(object_label(&object), "Deployment/shop/web");
        let selector = ObjectSelector::parse(selector).unwrap();
        assert_eq!(
            selector.fits(&object, DEFAULT_NAMESPACE),
            expected,
            "{selector:?}"
        );
    }

    #[test]
    fn objects_are_chosen() {
        check("web", true);
        check("Deployment/web", true);
        check("Deployment.apps/web", true);
        check("Deployment/shop/web", true);
        check("Deployment/default/web", false);
        check("Deployment.extensions/web", false);
        check("Pod/web", false);
        check("Deployment/shop/api", false);
        for wrong in ["", "/web", "a/b/c/d", "Deployment//web"] {
            assert_eq!(ObjectSelector::parse(wrong), None);
        }
    }

    #[test]
    fn objects_without_a_namespace_are_in_that_of_the_test() {
        let object = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "web-"}}"#;
        let object = pratique_json::parse(object.as_bytes()).unwrap();
        assert_eq!(object_label(&object), "Pod/web-");
        let fits = |namespace| {
            ObjectSelector::parse("Pod/shop/web-")
                .unwrap()
                .fits(&object, namespace)
        };
        assert!(fits("shop") && !fits(DEFAULT_NAMESPACE));
    }
}
