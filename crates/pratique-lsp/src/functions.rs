//! Descriptions of functions, macros and variables, in a sentence each.

/// The description of a function or macro, if there is one.
pub(crate) fn function(name: &str) -> Option<&'static str> {
    find(FUNCTIONS, name)
}

/// The description of a variable of expressions of policies and webhooks, if there is one.
pub(crate) fn variable(name: &str) -> Option<&'static str> {
    find(VARIABLES, name)
}

fn find(table: &'static str, name: &str) -> Option<&'static str> {
    let mut lines = table.lines().filter_map(|line| line.split_once(": "));
    lines.find_map(|(described, description)| (described == name).then_some(description))
}

const FUNCTIONS: &str = include_str!("../data/functions.txt");
const VARIABLES: &str = include_str!("../data/variables.txt");

#[cfg(test)]
mod tests {
    use pratique_cel::{Environment, library};

    use super::*;

    /// Everything that an API server declares is described, and nothing else.
    #[test]
    fn all_functions_are_described() {
        let environment = Environment::kubernetes().with_library(library::json_patch());
        // Names with `@` are those that macros make.
        let mut declared: Vec<&str> = environment.names().filter(|name| !name.contains('@')).collect();
        declared.sort_unstable();
        declared.dedup();
        let described: Vec<&str> = FUNCTIONS
            .lines()
            .filter_map(|line| Some(line.split_once(": ")?.0))
            .collect();
        let missing: Vec<_> = declared.iter().filter(|name| !described.contains(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        let unknown: Vec<_> = described.iter().filter(|name| !declared.contains(name)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
        assert_eq!(described.len(), FUNCTIONS.lines().count());
        assert_eq!(
            function("size"),
            Some("The number of characters, bytes, items or entries.")
        );
        assert!(variable("object").is_some_and(|text| text.contains("DELETE")));
    }
}
