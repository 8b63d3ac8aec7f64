//! How a request is named in every output.

use std::fmt::{self, Display, Formatter};

use pratique_review::ParentWorkload;
use pratique_types::Operation;

use crate::evaluation::record::namespaced;

/// A request: `CREATE deployments.apps shop/web`, `CREATE pods shop/web-5d-x of Deployment web`.
pub(crate) struct RequestSubject<'r> {
    pub(crate) operation: Operation,
    /// The resource with its group: `deployments.apps`.
    pub(crate) resource: &'r str,
    pub(crate) subresource: &'r str,
    pub(crate) namespace: &'r str,
    pub(crate) name: &'r str,
    pub(crate) parent: Option<&'r ParentWorkload>,
}

impl Display for RequestSubject<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let part = if self.subresource.is_empty() { "" } else { "/" };
        // A request about a namespace has it as its own namespace as well.
        let namespace = match self.resource {
            "namespaces" => "",
            _ => self.namespace,
        };
        let name = match self.name {
            "" => "(no name)",
            name => name,
        };
        write!(
            formatter,
            "{} {}{part}{} {}",
            self.operation,
            self.resource,
            self.subresource,
            namespaced(namespace, name)
        )?;
        match self.parent {
            Some(parent) => write!(formatter, " of {} {}", parent.kind, parent.name),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_one_name() {
        let subject = |resource, subresource, namespace, name| {
            let subject = RequestSubject {
                operation: Operation::Create,
                resource,
                subresource,
                namespace,
                name,
                parent: None,
            };
            subject.to_string()
        };
        assert_eq!(
            subject("deployments.apps", "", "shop", "web"),
            "CREATE deployments.apps shop/web"
        );
        assert_eq!(
            subject("pods", "eviction", "shop", ""),
            "CREATE pods/eviction shop/(no name)"
        );
        assert_eq!(
            subject("namespaces", "", "shop", "shop"),
            "CREATE namespaces shop"
        );
        assert_eq!(subject("nodes", "", "", "a"), "CREATE nodes a");
    }
}
