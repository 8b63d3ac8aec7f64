//! The kinds that a policy matches.

use pratique_exclusion::is_virtual;
use pratique_schema::Release;
use pratique_types::GroupVersionKind;
use pratique_types::builtin::ServedResource;

use super::schema::{FieldPresence, presence};
use crate::subject::RuleView;

/// The kinds of the objects that rules match.
pub(crate) struct MatchedKinds {
    /// The release whose kinds these are.
    pub(crate) release: &'static Release,
    /// Built-in kinds, each with one of its resources.
    pub(crate) builtin: Vec<&'static ServedResource>,
    /// Whether the rules may match other kinds, of which nothing is known.
    pub(crate) others: bool,
}

impl MatchedKinds {
    pub(crate) fn new(release: &'static Release, rules: &[RuleView<'_>]) -> Self {
        let mut builtin: Vec<&'static ServedResource> = Vec::new();
        for served in rules.iter().flat_map(RuleView::served) {
            let known = builtin
                .iter()
                .any(|resource| resource.kind == served.kind && resource.subresource == served.subresource);
            if !known && !is_virtual(&served.resource.group, &served.resource.resource) {
                builtin.push(served);
            }
        }
        builtin.sort_by(|a, b| order(&a.kind).cmp(&order(&b.kind)));
        MatchedKinds {
            release,
            builtin,
            others: rules.iter().any(|rule| !rule.is_builtin_only()),
        }
    }

    /// Whether a kind has a field that distinguishes kinds: some of the kinds have it, and some do not.
    pub(crate) fn distinguishes(&self, kind: &GroupVersionKind, fields: &[String]) -> Option<bool> {
        let others = |is: FieldPresence| {
            self.builtin
                .iter()
                .any(|resource| presence(self.release, &resource.kind, fields) == is)
        };
        match presence(self.release, kind, fields) {
            FieldPresence::Unknown => None,
            FieldPresence::Defined => others(FieldPresence::Undefined).then_some(true),
            FieldPresence::Undefined => {
                let had = self.others || others(FieldPresence::Defined) || others(FieldPresence::Unknown);
                had.then_some(false)
            }
        }
    }
}

fn order(kind: &GroupVersionKind) -> (&str, &str, &str) {
    (&kind.group, &kind.version, &kind.kind)
}
