//! Definitions of custom resources of versions that no server takes any more.

use pratique_json::Value;

use pratique_json::text_at;

/// A CustomResourceDefinition of a version that is gone: it defines nothing.
// Upstream: apiextensions-apiserver v1.22, which serves v1 only
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "CustomResourceDefinition {name:?} is of apiextensions.k8s.io/{version}, a version that is gone since Kubernetes 1.22: \
     write it in apiextensions.k8s.io/v1"
)]
pub struct GoneDefinition {
    /// Its name.
    pub name: String,
    /// The version: `v1beta1`.
    pub version: String,
}

impl GoneDefinition {
    /// That of an object; `None` of any other object, and of a definition of today.
    pub fn from_object(object: &Value<'_>) -> Option<Self> {
        let version = text_at(object, &["apiVersion"]).strip_prefix("apiextensions.k8s.io/")?;
        let is_gone = text_at(object, &["kind"]) == "CustomResourceDefinition" && version != "v1";
        is_gone.then(|| GoneDefinition {
            name: text_at(object, &["metadata", "name"]).to_owned(),
            version: version.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(object: &str, expected: Option<&str>) {
        let object = pratique_json::parse(object.as_bytes()).unwrap();
        let gone = GoneDefinition::from_object(&object).map(|gone| gone.to_string());
        assert_eq!(gone.as_deref(), expected, "{object}");
    }

    #[test]
    fn definitions_are_of_one_version() {
        check(r#"{"apiVersion":"v1","kind":"Pod"}"#, None);
        check(
            r#"{"apiVersion":"example.com/v1beta1","kind":"CustomResourceDefinition"}"#,
            None,
        );
        check(
            r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition"}"#,
            None,
        );
        check(
            r#"{"apiVersion":"apiextensions.k8s.io/v1beta1","kind":"CustomResourceDefinition",
                "metadata":{"name":"olds.example.com"}}"#,
            Some(
                "CustomResourceDefinition \"olds.example.com\" is of apiextensions.k8s.io/v1beta1, a version that is gone since \
                 Kubernetes 1.22: write it in apiextensions.k8s.io/v1",
            ),
        );
    }
}
