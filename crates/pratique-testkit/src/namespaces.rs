//! Namespaces without objects.

use pratique_match::{Namespace, Namespaces};

/// No namespace exists.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoNamespaces;

impl Namespaces for NoNamespaces {
    fn namespace<'a>(&'a self, _: &str) -> Namespace<'a> {
        Namespace::Absent
    }
}

/// All namespaces exist, and nothing else is known of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct NamesOnly;

impl Namespaces for NamesOnly {
    fn namespace<'a>(&'a self, _: &str) -> Namespace<'a> {
        Namespace::Named
    }
}
