//! Rules split into cells: one resource of one group in one version with one operation each.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// The smallest possible rule. Each part may be `*`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RuleCell {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) resource: String,
    pub(super) operation: String,
    pub(super) scope: String,
}

/// A set of cells.
#[derive(Clone, Debug, Default)]
pub(super) struct CellSet(BTreeSet<RuleCell>);

/// The cells of a rule, given its groups, versions, operations and resources.
pub(super) fn of_rule(parts: [&Option<Vec<String>>; 4], scope: &Option<String>) -> Vec<RuleCell> {
    let [groups, versions, operations, resources] = parts.map(|part| part.as_deref().unwrap_or_default());
    let mut all = Vec::new();
    for group in groups {
        for version in versions {
            for resource in resources {
                for operation in operations {
                    all.push(RuleCell {
                        group: group.clone(),
                        version: version.clone(),
                        // A trailing slash stands for the resource itself.
                        resource: resource.trim_end_matches('/').to_owned(),
                        operation: operation.clone(),
                        scope: scope.as_deref().unwrap_or("*").to_owned(),
                    });
                }
            }
        }
    }
    all
}

impl RuleCell {
    /// Whether this cell matches everything that the other one matches.
    fn covers(&self, other: &RuleCell) -> bool {
        let covers = |part: &String, other: &String| part == "*" || part == other;
        covers(&self.group, &other.group)
            && covers(&self.version, &other.version)
            && covers(&self.operation, &other.operation)
            && covers(&self.scope, &other.scope)
            && covers_resource(&self.resource, &other.resource)
    }
}

/// Whether a resource pattern covers another one: `*` matches all resources, `*/*` also their subresources, `pods/*` pods
/// and their subresources, and `*/scale` the subresource of all resources.
fn covers_resource(pattern: &str, other: &str) -> bool {
    let (name, subresource) = pattern.split_once('/').unwrap_or((pattern, ""));
    let (other_name, other_subresource) = other.split_once('/').unwrap_or((other, ""));
    (name == "*" || name == other_name) && (subresource == "*" || subresource == other_subresource)
}

impl CellSet {
    pub(super) fn extend(&mut self, cells: impl Iterator<Item = RuleCell>) {
        self.0.extend(cells);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The same cells, those of all operations one by one, so that some of them can be left out.
    pub(super) fn expanded(&self) -> CellSet {
        let each = |cell: &RuleCell| {
            let operations: &[&str] = match cell.operation.as_str() {
                "*" => &["CONNECT", "CREATE", "DELETE", "UPDATE"],
                operation => &[operation],
            };
            let of = |operation: &&str| RuleCell {
                operation: (*operation).to_owned(),
                ..cell.clone()
            };
            operations.iter().map(of).collect::<Vec<_>>()
        };
        CellSet(self.0.iter().flat_map(each).collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &RuleCell> {
        self.0.iter()
    }

    /// The cells that no cell of `others` covers.
    pub(super) fn without(&self, others: &CellSet) -> CellSet {
        let is_covered = |cell: &&RuleCell| others.0.iter().any(|other| other.covers(cell));
        CellSet(self.0.iter().filter(|cell| !is_covered(cell)).cloned().collect())
    }

    /// Merges the cells into few rules.
    pub(super) fn rules(&self) -> Vec<Value> {
        let covered = |cell: &RuleCell| self.0.iter().any(|other| other != cell && other.covers(cell));
        // One dimension after the other: rules that differ only in it are merged.
        let mut operations: BTreeMap<[String; 4], BTreeSet<String>> = BTreeMap::new();
        for cell in self.0.iter().filter(|cell| !covered(cell)) {
            let RuleCell {
                group,
                version,
                resource,
                operation,
                scope,
            } = cell.clone();
            operations
                .entry([scope, version, group, resource])
                .or_default()
                .insert(operation);
        }
        let mut resources: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
        for ([scope, version, group, resource], operations) in operations {
            resources
                .entry((scope, version, group, operations))
                .or_default()
                .insert(resource);
        }
        let mut groups: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
        for ((scope, version, group, operations), resources) in resources {
            groups
                .entry((scope, version, operations, resources))
                .or_default()
                .insert(group);
        }
        let rule = |((scope, version, operations, resources), groups): (_, BTreeSet<String>)| {
            let (scope, version): (String, String) = (scope, version);
            let (operations, resources): (BTreeSet<String>, BTreeSet<String>) = (operations, resources);
            json!({
                "apiGroups": groups, "apiVersions": [version], "operations": operations, "resources": resources,
                "scope": scope,
            })
        };
        groups.into_iter().map(rule).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(group: &str, resource: &str, operation: &str) -> RuleCell {
        let [group, version, resource, operation, scope] =
            [group, "v1", resource, operation, "*"].map(String::from);
        RuleCell {
            group,
            version,
            resource,
            operation,
            scope,
        }
    }

    #[test]
    fn wildcards_cover() {
        let check = |pattern, other, expected| {
            assert_eq!(covers_resource(pattern, other), expected, "{pattern} {other}");
        };
        check("*", "pods", true);
        check("*", "pods/status", false);
        check("*/*", "pods", true);
        check("*/*", "pods/status", true);
        check("*/*", "*/scale", true);
        check("pods/*", "pods", true);
        check("pods/*", "pods/exec", true);
        check("pods", "pods/exec", false);
        check("*/scale", "deployments/scale", true);
        check("*/scale", "deployments", false);
        assert!(cell("*", "*", "*").covers(&cell("", "pods", "CREATE")));
        assert!(!cell("", "pods", "CREATE").covers(&cell("*", "pods", "CREATE")));
    }

    #[test]
    fn rules_are_few() {
        let mut cells = CellSet::default();
        for group in ["apps", "batch"] {
            cells.extend(
                ["a", "b"].into_iter().flat_map(|resource| {
                    ["CREATE", "UPDATE"].map(|operation| cell(group, resource, operation))
                }),
            );
        }
        cells.extend([cell("apps", "*/scale", "*"), cell("apps", "a/scale", "CREATE")].into_iter());
        let expected = json!([
            {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["*/scale"], "scope": "*"},
            {"apiGroups": ["apps", "batch"], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"],
                "resources": ["a", "b"], "scope": "*"},
        ]);
        assert_eq!(json!(cells.rules()), expected);
    }
}
