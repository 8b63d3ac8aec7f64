//! An index of the constraints that can match a request.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use pratique_types::Operation;

use crate::equivalents::Equivalents;
use crate::request::Target;
use crate::resources::MatchResources;
use crate::rules::Rule;

/// An index over operation, group and resource.
///
/// It holds positions in a list of the caller, such as one of policies, and returns those whose rules can match a request:
/// never too few, sometimes too many.
#[derive(Clone, Debug, Default)]
pub struct MatchIndex {
    always: Vec<u32>,
    operations: Vec<(Operation, GroupMap)>,
}

/// By group, then by resource.
type GroupMap = NameMap<NameMap<Vec<u32>>>;

/// Entries by name, and the entry of any name.
#[derive(Clone, Debug, Default)]
struct NameMap<T> {
    any: T,
    /// That of the empty name, which the core group has.
    unnamed: T,
    named: HashMap<Box<str>, T, RandomState>,
}

impl<T: Default> NameMap<T> {
    /// The entry of a name, or of any name.
    fn entry(&mut self, name: Option<&str>) -> &mut T {
        match name {
            None => &mut self.any,
            Some("") => &mut self.unnamed,
            Some(name) => self.named.entry(name.into()).or_default(),
        }
    }

    /// The entries of a name and of any name.
    fn entries_for(&self, name: &str) -> impl Iterator<Item = &T> {
        let of_name = match name {
            "" => Some(&self.unnamed),
            name => self.named.get(name),
        };
        of_name.into_iter().chain([&self.any])
    }

    /// The entries of all names.
    fn entries(&self) -> impl Iterator<Item = &T> {
        self.named.values().chain([&self.unnamed, &self.any])
    }
}

impl MatchIndex {
    /// Indexes constraints by their position.
    pub fn new<'a>(constraints: impl IntoIterator<Item = &'a MatchResources>) -> Self {
        let mut index = MatchIndex::default();
        for (position, constraints) in constraints.into_iter().enumerate() {
            index.add(position as u32, constraints);
        }
        index
    }

    /// The positions that can match, in ascending order.
    pub fn candidates(&self, target: &Target<'_>, equivalents: &Equivalents) -> Vec<u32> {
        let mut matching_positions = self.always.clone();
        let wanted = |(operation, _): &&(_, _)| *operation == target.operation;
        let Some((_, groups)) = self.operations.iter().find(wanted) else {
            return matching_positions;
        };
        if target.assumes_resource {
            // Any name may be that of the resource.
            let lists = groups
                .entries_for(&target.resource.group)
                .flat_map(NameMap::entries);
            lists.for_each(|positions| matching_positions.extend(positions));
            matching_positions.sort_unstable();
            matching_positions.dedup();
            return matching_positions;
        }
        let others = equivalents.list(target.resource, target.subresource).iter();
        let others = others
            .map(|other| &other.resource)
            .filter(|other| *other != target.resource);
        for resource in std::iter::once(target.resource).chain(others) {
            collect(
                groups,
                &resource.group,
                &resource.resource,
                &mut matching_positions,
            );
        }
        matching_positions.sort_unstable();
        matching_positions.dedup();
        matching_positions
    }

    fn add(&mut self, position: u32, constraints: &MatchResources) {
        if constraints.invalid.is_some() || constraints.rules.is_empty() {
            self.always.push(position);
            return;
        }
        for rule in &constraints.rules.rules {
            self.add_rule(position, rule);
        }
    }

    fn groups(&mut self, operation: Operation) -> Option<&mut GroupMap> {
        if !self.operations.iter().any(|(known, _)| *known == operation) {
            self.operations.push((operation, GroupMap::default()));
        }
        let mut all = self.operations.iter_mut();
        all.find(|(known, _)| *known == operation)
            .map(|(_, groups)| groups)
    }

    fn add_rule(&mut self, position: u32, rule: &Rule) {
        for operation in &rule.operations {
            let Some(groups) = self.groups(*operation) else {
                continue;
            };
            for group in any_or_each(rule.groups.0.as_deref()) {
                let resources = groups.entry(group);
                for pattern in &rule.resources {
                    let positions = resources.entry(pattern.resource.as_deref());
                    if positions.last() != Some(&position) {
                        positions.push(position);
                    }
                }
            }
        }
    }
}

fn any_or_each(names: Option<&[String]>) -> Vec<Option<&str>> {
    match names {
        None => vec![None],
        Some(names) => names.iter().map(|name| Some(name.as_str())).collect(),
    }
}

fn collect(groups: &GroupMap, group: &str, resource: &str, matching_positions: &mut Vec<u32>) {
    let lists = groups
        .entries_for(group)
        .flat_map(|resources| resources.entries_for(resource));
    lists.for_each(|positions| matching_positions.extend(positions));
}

#[cfg(test)]
mod tests {
    use pratique_types::builtin::BuiltinResources;

    use super::*;
    use pratique_types::AdmissionRequest;

    #[test]
    fn only_those_that_can_match() {
        let rule = |operation: &str, group: &str, resource: &str| {
            let json = format!(
                r#"{{"resourceRules":[{{"operations":["{operation}"],"apiGroups":["{group}"],"apiVersions":["v1"],
                    "resources":["{resource}"]}}],"matchPolicy":"Equivalent","namespaceSelector":{{}},"objectSelector":{{}}}}"#
            );
            MatchResources::compile(Some(&serde_json::from_str(&json).unwrap()))
        };
        let index = MatchIndex::new(&[
            rule("CREATE", "", "pods"),
            rule("*", "*", "*/*"),
            rule("DELETE", "", "pods"),
            rule("CREATE", "", "events"),
            MatchResources::compile(None),
            rule("*", "apps", "*"),
        ]);
        let check = |request: &str, expected: &[u32]| {
            let request: AdmissionRequest<'_> = serde_json::from_str(request).unwrap();
            let matching_positions = index.candidates(
                &Target::new(&request),
                &Equivalents::of_release(BuiltinResources::latest()),
            );
            assert_eq!(matching_positions, expected);
        };
        check(
            r#"{"operation":"CREATE","resource":{"group":"","version":"v1","resource":"pods"}}"#,
            &[0, 1, 4],
        );
        check(
            r#"{"operation":"UPDATE","resource":{"group":"apps","version":"v1","resource":"deployments"}}"#,
            &[1, 4, 5],
        );
        check(
            r#"{"operation":"CREATE","resource":{"group":"events.k8s.io","version":"v1","resource":"events"}}"#,
            &[1, 3, 4],
        );
    }
}
