//! The constraints of OpenAPI on the values of built-in types: required fields, the texts of enumerations,
//! and the keys of lists. An API server checks more than that.

use std::collections::HashMap;

/// The constraints of all built-in types.
#[derive(Debug, Default)]
pub struct Constraints {
    types: HashMap<&'static str, TypeConstraints>,
}

/// The constraints of a type.
#[derive(Debug, Default)]
pub struct TypeConstraints {
    required: Vec<&'static str>,
    enums: Vec<(&'static str, Vec<&'static str>)>,
    keys: Vec<(&'static str, Vec<&'static str>)>,
}

impl Constraints {
    /// The constraints of a type by its name (`core/v1.Container`); none for a type without.
    pub fn for_type(&self, name: &str) -> &TypeConstraints {
        const NOTHING: &TypeConstraints = &TypeConstraints {
            required: Vec::new(),
            enums: Vec::new(),
            keys: Vec::new(),
        };
        self.types.get(name).unwrap_or(NOTHING)
    }
}

impl TypeConstraints {
    /// Whether a field must be given.
    pub fn is_required(&self, field: &str) -> bool {
        self.required.contains(&field)
    }

    /// The texts that a field takes; none where it takes others too.
    pub fn values(&self, field: &str) -> &[&'static str] {
        find(&self.enums, field).unwrap_or_default()
    }

    /// The fields that identify the elements of a list: none of a list whose elements may be equal, an empty
    /// list where elements are compared as a whole.
    pub fn keys(&self, field: &str) -> Option<&[&'static str]> {
        find(&self.keys, field)
    }
}

fn find<'t>(list: &'t [(&str, Vec<&'static str>)], field: &str) -> Option<&'t [&'static str]> {
    let entry = list.iter().find(|(name, _)| *name == field)?;
    Some(entry.1.as_slice())
}

/// Parses the table; other lines are skipped.
pub(crate) fn read(table: &'static str) -> Constraints {
    let mut constraints = Constraints::default();
    let mut name = "";
    for line in table.lines() {
        if let Some(type_name) = line.strip_prefix("type ") {
            name = type_name;
            continue;
        }
        let Some(line) = line.strip_prefix(' ') else {
            continue;
        };
        let mut columns = line.split(' ');
        let of = constraints.types.entry(name).or_default();
        match columns.next() {
            Some("required") => of.required = columns.collect(),
            Some("enum") => of
                .enums
                .extend(columns.next().map(|field| (field, columns.collect()))),
            Some("keys") => of
                .keys
                .extend(columns.next().map(|field| (field, columns.collect()))),
            _ => {}
        }
    }
    constraints
}

#[cfg(test)]
mod tests {
    use crate::Release;

    #[test]
    fn constraints_are_known() {
        let all = Release::latest().constraints();
        let container = all.for_type("core/v1.Container");
        assert!(container.is_required("name") && !container.is_required("image"));
        assert!(container.values("imagePullPolicy").contains(&"Never"));
        assert!(container.values("image").is_empty());
        assert_eq!(container.keys("env"), Some(["name"].as_slice()));
        assert_eq!(container.keys("args"), None);
        let meta = all.for_type("meta/v1.ObjectMeta");
        assert_eq!(meta.keys("finalizers"), Some([].as_slice()));
    }

    #[test]
    fn names_are_those_of_the_types() {
        let known: Vec<&str> = Release::latest().schema().types().map(|of| of.name).collect();
        let all = Release::latest().constraints();
        let missing = known.iter().filter(|name| all.types.contains_key(**name)).count();
        // Lists, options and the like have no place in the other table.
        assert!(
            missing * 4 > all.types.len() * 3,
            "{missing} of {}",
            all.types.len()
        );
    }
}
