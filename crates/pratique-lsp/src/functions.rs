//! What functions, macros and variables are for, in a sentence each.

/// What is said of a name that is called; `None` for one that nothing is known of.
pub(crate) fn function(name: &str) -> Option<&'static str> {
    find(FUNCTIONS, name)
}

/// What is said of a variable that expressions of policies and webhooks have.
pub(crate) fn variable(name: &str) -> Option<&'static str> {
    find(VARIABLES, name)
}

fn find(table: &'static str, name: &str) -> Option<&'static str> {
    let mut lines = table.lines().filter_map(|line| line.split_once(": "));
    lines.find_map(|(known, told)| (known == name).then_some(told))
}

const FUNCTIONS: &str = include_str!("../data/functions.txt");
const VARIABLES: &str = include_str!("../data/variables.txt");

#[cfg(test)]
mod tests {
    use pratique_cel::library;

    use super::*;

    /// What an API server declares is told of, and nothing else.
    #[test]
    fn all_functions_are_told_of() {
        let environment = library::kubernetes().with_library(library::json_patch());
        // Names with `@` are those that macros make.
        let mut declared: Vec<&str> = environment.names().filter(|name| !name.contains('@')).collect();
        declared.sort_unstable();
        declared.dedup();
        let told: Vec<&str> = FUNCTIONS
            .lines()
            .filter_map(|line| Some(line.split_once(": ")?.0))
            .collect();
        let missing: Vec<_> = declared.iter().filter(|name| !told.contains(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        let unknown: Vec<_> = told.iter().filter(|name| !declared.contains(name)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
        assert_eq!(told.len(), FUNCTIONS.lines().count());
        assert_eq!(
            function("size"),
            Some("The number of characters, bytes, items or entries.")
        );
        assert!(variable("object").is_some_and(|told| told.contains("DELETE")));
    }
}
