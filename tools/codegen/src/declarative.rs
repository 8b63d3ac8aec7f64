//! The declarative rules of the kinds of a release, as `tools/go/declarative` reads them from Kubernetes' generated functions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const HEAD: &str = "\
# The declarative rules that a server enforces. Made by `cargo xtask codegen validation`; do not edit. The format is told in
# src/declarative/table.rs.
";

/// The rules of the kinds of a release, and of the types in them. `kinds` is its table `types.txt`.
pub(super) fn select_rules(rules: &str, kinds: &str) -> String {
    let served: BTreeSet<&str> = kinds.lines().filter_map(kind_name).collect();
    // The lines of each type: its own, and those of its fields.
    let mut types: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let (mut text, mut used, mut last) = (String::from(HEAD), Vec::new(), "");
    for line in rules.lines() {
        let of_type = line.strip_prefix("type ").or_else(|| line.strip_prefix("order "));
        if let Some(of_type) = of_type {
            last = of_type.split(' ').next().unwrap_or_default();
            types.entry(last).or_default().push(line);
        } else if line.starts_with(' ') {
            types.entry(last).or_default().push(line);
        } else if kind_name(line).is_some_and(|kind| served.contains(kind)) {
            let _ = writeln!(text, "{line}");
            used.extend(line.split(' ').nth(2));
        }
    }
    let mut written = BTreeSet::new();
    while let Some(name) = used.pop() {
        if types.contains_key(name) && written.insert(name) {
            let lines = types.get(name).into_iter().flatten();
            used.extend(lines.flat_map(|line| named_types(line)));
        }
    }
    for line in written.iter().filter_map(|name| types.get(name)).flatten() {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// `GROUP/VERSION/KIND` of the line of a kind.
fn kind_name(line: &str) -> Option<&str> {
    // The core group has no name, which the tables of the release write.
    let name = line.strip_prefix("kind ")?.split(' ').next()?;
    Some(name.trim_start_matches('/'))
}

/// The types that a line names: those whose rules it applies, and those whose values it shows.
fn named_types(line: &str) -> impl Iterator<Item = &str> {
    line.split([' ', ';', ',', '(', ')', '!', '~', '@', '=', '}'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kinds_of_the_release_and_their_types_are_kept() {
        let rules = "kind a/v1/A a/v1.A /\nkind v1/B core/v1.B /\nkind a/v1beta1/A a/v1beta1.A /\ntype a/v1.A\n spec any @a/v1.Spec\ntype a/v1.Spec\n \
                     name string requiredValue!~\n list []any each(-,-;@a/v1.Item)\ntype a/v1.Item enum(X)\ntype a/v1beta1.A enum(Y)\n";
        let text = select_rules(rules, "# types\nkind a/v1/A a.A\nkind /v1/B core.B\n");
        assert_eq!(
            text.strip_prefix(HEAD),
            Some(
                "kind a/v1/A a/v1.A /\nkind v1/B core/v1.B /\ntype a/v1.A\n spec any @a/v1.Spec\ntype a/v1.Item enum(X)\ntype a/v1.Spec\n \
                 name string requiredValue!~\n list []any each(-,-;@a/v1.Item)\n"
            )
        );
    }
}
