//! The object in a file that Kustomize made another one of.

use pratique_manifest::convert::items;
use pratique_manifest::{Location, MappingFields, NodeId, SourceDocument};
use pratique_review::FieldPath;

/// An object in a file, with the places of its fields.
#[derive(Debug)]
pub(super) struct DocumentOrigin {
    document: SourceDocument,
    object: NodeId,
}

impl DocumentOrigin {
    /// The object of a kind among the documents of a file that was made one with a name, to which a kustomization may have added
    /// something before or behind.
    pub(super) fn find(documents: &[SourceDocument], kind: &str, name: &str) -> Option<Self> {
        let mut best: Option<(usize, &SourceDocument, NodeId)> = None;
        for document in documents {
            let tree = document.source.tree();
            for item in items(&document.source).objects {
                let object = MappingFields { tree, id: item.node };
                if object.read_text("kind").as_deref() != Some(kind) {
                    continue;
                }
                let metadata = object.node("metadata");
                let own = metadata.and_then(|id| MappingFields { tree, id }.read_text("name"));
                let own = own.unwrap_or_default();
                // Of several names that may have become this one, it is the longest.
                if name.contains(own.as_str()) && best.is_none_or(|(length, ..)| length < own.len()) {
                    best = Some((own.len(), document, item.node));
                }
            }
        }
        best.map(|(_, document, object)| DocumentOrigin {
            document: document.clone(),
            object,
        })
    }

    /// Its name.
    pub(super) fn name(&self) -> String {
        let tree = self.document.source.tree();
        let object = MappingFields {
            tree,
            id: self.object,
        };
        let metadata = object.node("metadata");
        let name = metadata.and_then(|id| MappingFields { tree, id }.read_text("name"));
        name.unwrap_or_default()
    }

    /// Where the object begins.
    pub(super) fn object(&self) -> Location {
        let source = &self.document.source;
        source.document().location(source.tree().get(self.object).span)
    }

    /// Where a field of it is, or what should have it; `None` if what was made of it has more of the field, which something else set.
    pub(super) fn locate(&self, field: &FieldPath, made_depth: usize) -> Option<Location> {
        let source = &self.document.source;
        if field.depth(source.tree(), self.object) < made_depth {
            return None;
        }
        let span = field.nearest_span(source.tree(), self.object);
        Some(source.document().location(span))
    }
}
