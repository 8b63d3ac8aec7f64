//! A uniform view of loaded manifests: mutating and validating policies alike, mutating and validating webhooks alike.

mod policy;
mod rule;
mod site;
mod webhook;

use pratique_manifest::{Kind, ManifestSet, ObjectName, ObjectSource, Step};

pub(crate) use policy::{Binding, Policy};
pub(crate) use rule::RuleView;
pub(crate) use site::{Role, Site};
pub(crate) use webhook::Webhook;

/// An object's name and source.
#[derive(Clone, Debug)]
pub(crate) struct Origin<'m> {
    pub(crate) name: ObjectName,
    pub(crate) source: &'m ObjectSource,
}

/// All manifests that a server loads.
pub(crate) struct Manifests<'m> {
    pub(crate) policies: Vec<Policy<'m>>,
    pub(crate) webhooks: Vec<Webhook<'m>>,
}

impl<'m> Manifests<'m> {
    pub(crate) fn new(sets: &[&'m ManifestSet]) -> Self {
        let (mut policies, mut webhooks) = (Vec::new(), Vec::new());
        for set in sets {
            policy::collect(set, &mut policies);
            webhook::collect(set, &mut webhooks);
        }
        Manifests { policies, webhooks }
    }
}

impl<'m> Origin<'m> {
    fn new(kind: Kind, name: &Option<String>, source: &'m ObjectSource) -> Self {
        let name = name.clone().unwrap_or_default();
        Origin {
            name: ObjectName { kind, name },
            source,
        }
    }
}

/// The path of a field.
pub(crate) fn path(fields: &[&str]) -> Vec<Step> {
    fields
        .iter()
        .map(|name| Step::Field((*name).to_owned()))
        .collect()
}

/// The path of a list item, or of a field of it.
pub(crate) fn item(list: &[Step], index: usize, field: &str) -> Vec<Step> {
    let mut path = list.to_vec();
    path.push(Step::Index(index));
    path.extend(
        field
            .split('.')
            .filter(|name| !name.is_empty())
            .map(|name| Step::Field(name.to_owned())),
    );
    path
}
