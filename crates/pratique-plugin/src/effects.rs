//! The effects of a request besides the decision.

use pratique_gotext::validation::qualified_name;
use pratique_json::Value;

use crate::state::StateKind;

/// The additions of plugins to the answer, and the objects that they would write to the cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effects {
    /// Warnings for the user, in order.
    pub warnings: Vec<String>,
    /// Objects that plugins create.
    pub created: Vec<CreatedObject>,
    /// Quotas whose usage changes.
    pub booked: Vec<ChangedQuota>,
    annotations: Vec<(String, String)>,
}

/// An object that a plugin creates.
#[derive(Clone, Debug, PartialEq)]
pub struct CreatedObject {
    /// Its kind.
    pub kind: StateKind,
    /// Its namespace; empty for a kind of cluster scope.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The object.
    pub object: Value<'static>,
}

/// A ResourceQuota whose status changes.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangedQuota {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The whole new `status`.
    pub status: Value<'static>,
}

fn is_annotation_key(key: &str) -> bool {
    key.contains('/') && qualified_name(key).is_empty()
}

impl Effects {
    /// Warns the user.
    pub fn warn(&mut self, warning: impl Into<String>) {
        self.warnings.push(warning.into());
    }

    /// Adds an annotation to the audit event. A key that is there keeps its value, and one that is no qualified name with a
    /// prefix is left out.
    // Upstream: pkg/admission/attributes.go, attributesRecord.AddAnnotationWithLevel
    pub fn annotate(&mut self, key: impl Into<String>, value: impl Into<String>) {
        let key = key.into();
        if is_annotation_key(&key) && !self.has_annotation(&key) {
            self.annotations.push((key, value.into()));
        }
    }

    /// The same with a key of the plugin's own, which is a qualified name with a prefix.
    pub fn annotate_known(&mut self, key: &'static str, value: impl Into<String>) {
        debug_assert!(is_annotation_key(key), "{key}");
        if !self.has_annotation(key) {
            self.annotations.push((key.to_owned(), value.into()));
        }
    }

    fn has_annotation(&self, key: &str) -> bool {
        self.annotations.iter().any(|(other, _)| other == key)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.warnings.is_empty()
            && self.created.is_empty()
            && self.booked.is_empty()
            && self.annotations.is_empty()
    }

    /// Takes the annotations of the audit event, in the order in which they were added.
    pub fn take_audit_annotations(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.annotations)
    }

    /// The annotations of the audit event, in the order in which they were added.
    pub fn audit_annotations(&self) -> &[(String, String)] {
        &self.annotations
    }
}
