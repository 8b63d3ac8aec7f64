//! The object in a file that Kustomize made another one of.

use pratique_json::Value;
use pratique_manifest::convert::{convert, items};
use pratique_manifest::{Document, Location, NodeId};
use pratique_review::FieldPath;

/// An object in a file, with the places of its fields.
#[derive(Debug)]
pub(super) struct DocumentOrigin {
    document: Document,
    object: NodeId,
}

impl DocumentOrigin {
    /// The object of a kind among the documents of a file that was made one with a name, to which a kustomization may have added
    /// something before or behind.
    pub(super) fn find(documents: &[Document], kind: &str, name: &str) -> Option<Self> {
        let mut best: Option<(usize, Self)> = None;
        for document in documents {
            for item in items(&document.source).objects {
                let object = convert(document.source.tree(), item.node);
                let is_of_kind = object.get("kind").and_then(Value::as_str) == Some(kind);
                let own = object.at(&["metadata", "name"]).and_then(Value::as_str);
                let own = own.unwrap_or_default();
                // Of several names that may have become this one, it is the longest.
                if is_of_kind
                    && name.contains(own)
                    && best.as_ref().is_none_or(|(length, _)| *length < own.len())
                {
                    let origin = DocumentOrigin {
                        document: document.clone(),
                        object: item.node,
                    };
                    best = Some((own.len(), origin));
                }
            }
        }
        best.map(|(_, origin)| origin)
    }

    /// Where the object begins.
    pub(super) fn object(&self) -> Location {
        let source = &self.document.source;
        source.document().location(source.tree().get(self.object).span)
    }

    /// Where a field of it is, or what should have it.
    pub(super) fn locate(&self, field: &FieldPath) -> Option<Location> {
        let source = &self.document.source;
        let span = field.nearest_span(source.tree(), self.object);
        Some(source.document().location(span))
    }
}
