//! What fields of built-in kinds are for, in the words of Kubernetes.

use std::collections::HashMap;
use std::sync::LazyLock;

const TABLE: &str = include_str!("../data/descriptions.txt");

/// The lines of each type.
static TYPES: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let types = TABLE.split("\ntype ").skip(1);
    types.filter_map(|lines| lines.split_once('\n')).collect()
});

/// Containers of all sorts have one type in expressions, with the field that only ephemeral ones have.
const CONTAINER: &str = "core/v1.Container";
const EPHEMERAL: &str = "core/v1.EphemeralContainer";

/// The description of a field of a built-in type, as Markdown; `None` if there is none.
pub(crate) fn describe(type_name: &str, field: &str) -> Option<String> {
    let of_type = |name: &str| {
        let mut lines = TYPES.get(name)?.lines();
        lines.find_map(|line| line.strip_prefix(' ')?.strip_prefix(field)?.strip_prefix(' '))
    };
    let is_container = type_name == CONTAINER;
    let description = of_type(type_name).or_else(|| is_container.then(|| of_type(EPHEMERAL)).flatten())?;
    Some(description.replace('\t', "\n"))
}

#[cfg(test)]
mod tests {

    use pratique_schema::Release;

    use super::*;

    #[test]
    fn fields_of_kinds_are_described() {
        let image = describe("core/v1.Container", "image").unwrap();
        assert!(image.starts_with("Container image name."), "{image}");
        assert!(describe("core/v1.Container", "targetContainerName").is_some());
        assert!(describe("meta/v1.ObjectMeta", "labels").is_some());
        for (type_name, field) in [("core/v1.Container", "im"), ("core/v1.None", "image"), ("", "")] {
            assert_eq!(describe(type_name, field), None, "{type_name} {field}");
        }
    }

    /// The names are those of the tables that types come from.
    #[test]
    fn types_are_those_of_the_schema() {
        let known: Vec<&str> = Release::latest().schema().types().map(|of| of.name).collect();
        let described = known.iter().filter(|name| TYPES.contains_key(*name)).count();
        assert!(described * 2 > known.len(), "{described} of {}", known.len());
    }
}
