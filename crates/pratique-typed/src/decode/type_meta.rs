//! The `kind` and `apiVersion` of a document, as a server reads them before it knows the type.

use pratique_gotext::json::{TYPE_META, unknown_kind};
use pratique_json::Value;
use pratique_schema::Release;
use pratique_types::{GroupVersion, GroupVersionKind, InvalidGroupVersion};
use pratique_yaml::tree::NodeId;

use super::node::Node;
use super::tree_node::TreeNode;
use super::value_error::{StructField, ValueError};

/// Why the kind and version of a document cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TypeMetaError {
    /// The document, its `kind` or its `apiVersion` is of the wrong type.
    #[error("{}", unknown_kind(.error))]
    Type {
        /// The value of the wrong type.
        node: NodeId,
        /// What is wrong with it.
        error: ValueError,
    },
    /// The `apiVersion` is not one.
    #[error("{error}")]
    Version {
        /// The `apiVersion`, or the document if its key is written in another case.
        node: NodeId,
        /// What is wrong with it.
        error: InvalidGroupVersion,
    },
}

impl TypeMetaError {
    /// The value that is at fault.
    pub fn node(&self) -> NodeId {
        match self {
            TypeMetaError::Type { node, .. } | TypeMetaError::Version { node, .. } => *node,
        }
    }
}

/// Reads the kind and version of a document as a server of a release; parts that are missing are empty.
///
/// # Errors
/// A part is not a text, or the version is not one.
// Upstream: apimachinery/pkg/runtime/serializer/json/meta.go, SimpleMetaFactory.Interpret
pub fn type_meta(document: TreeNode<'_>, release: &Release) -> Result<GroupVersionKind, TypeMetaError> {
    let value = document.value();
    if !matches!(*value, Value::Object(_) | Value::Null) {
        return Err(TypeMetaError::Type {
            node: document.id(),
            error: ValueError::of_type(value.kind().to_owned(), TYPE_META.to_owned()),
        });
    }
    let (mut api_version, mut kind) = (String::new(), String::new());
    let mut error = None;
    for (key, member) in document.members() {
        // Before the type is known, the server ignores the case of these two keys.
        let (name, target) = match key.to_lowercase().as_str() {
            "apiversion" => ("apiVersion", &mut api_version),
            "kind" => ("kind", &mut kind),
            _ => continue,
        };
        match &*member.value() {
            Value::String(text) => *target = text.to_string(),
            Value::Null => {}
            other => {
                error.get_or_insert_with(|| TypeMetaError::Type {
                    node: member.id(),
                    error: ValueError::Type {
                        found: other.kind().to_owned(),
                        field: Some(StructField {
                            of: String::new(),
                            // Since Go 1.27, a name is told as it is written.
                            path: if release.is_of_go_1_27() { key } else { name }.to_owned(),
                        }),
                        go_type: "string".to_owned(),
                    },
                });
            }
        }
    }
    if let Some(error) = error {
        return Err(error);
    }
    match GroupVersion::parse(&api_version) {
        Ok(version) => Ok(version.with_kind(&kind)),
        Err(error) => {
            let mut entries = document.entries().iter().rev();
            let entry = entries.find(|entry| *entry.key == *"apiVersion");
            let node = entry.map_or(document.id(), |entry| entry.value);
            Err(TypeMetaError::Version { node, error })
        }
    }
}

#[cfg(test)]
mod tests {
    use pratique_yaml::{Budget, json};

    use super::*;

    #[test]
    fn names_are_told_as_they_are_written_since_go_1_27() {
        let document = json::parse(br#"{"APIVERSION": 1}"#, &Budget::unlimited()).unwrap();
        for (version, name) in [("1.37", "apiVersion"), ("1.38", "APIVERSION")] {
            let release = Release::by_version(version).unwrap();
            let error = type_meta(TreeNode::new(&document.tree, document.root), release).unwrap_err();
            let expected = format!(
                "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field \
                 .{name} of type string"
            );
            assert_eq!(error.to_string(), expected);
        }
    }
}
