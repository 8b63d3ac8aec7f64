//! Resources that rules name, and that nothing defines.

use pratique_sample::CustomKinds;
use pratique_types::GroupVersionResource;

use crate::subject::PolicyView;

/// The most resources without a definition whose objects are tried.
const MOST_UNKNOWN: usize = 4;

/// The resources that rules name, and of which there is no definition. Of their objects only the metadata is known.
pub(crate) fn unknown_resources(policy: &PolicyView<'_>, custom: &CustomKinds) -> Vec<GroupVersionResource> {
    let is_unknown = |named: &GroupVersionResource| {
        let is_same = |of: &GroupVersionResource| of.group == named.group && of.resource == named.resource;
        let mut builtin = policy.release.resources().served().iter();
        let mut defined = custom.matching(|served| is_same(&served.resource));
        !builtin.any(|served| is_same(&served.resource)) && defined.next().is_none()
    };
    let mut resources: Vec<GroupVersionResource> = Vec::new();
    for rule in policy.rules.iter().filter(|rule| !rule.is_builtin_only()) {
        for named in rule.named_resources().filter(is_unknown) {
            if !resources.contains(&named) {
                resources.push(named);
            }
        }
    }
    resources.truncate(MOST_UNKNOWN);
    resources
}
