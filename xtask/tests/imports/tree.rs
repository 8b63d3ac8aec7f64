//! Paths of `use` declarations.

/// The paths that a file imports, each as its names. Re-exports, comments and what follows the first module of unit tests
/// are left out.
pub(crate) fn paths(text: &str) -> Vec<Vec<String>> {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let code: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    let mut found = Vec::new();
    for declaration in code.split(';') {
        let start = declaration.rfind("\nuse ").map(|at| at + 5);
        let start = start.or_else(|| declaration.strip_prefix("use ").map(|_| 4));
        if let Some(tree) = start.and_then(|start| declaration.get(start..)) {
            expand(&[], tree, &mut found);
        }
    }
    found
}

/// Adds the paths of a tree below a prefix.
fn expand(prefix: &[String], tree: &str, found: &mut Vec<Vec<String>>) {
    let tree = tree.trim();
    let (head, group) = match tree.split_once('{') {
        Some((head, rest)) => (head, Some(rest.strip_suffix('}').unwrap_or(rest))),
        None => (tree.split(" as ").next().unwrap_or_default(), None),
    };
    let names = head.split("::").map(str::trim).filter(|name| !name.is_empty());
    let path: Vec<String> = prefix.iter().cloned().chain(names.map(str::to_owned)).collect();
    match group {
        Some(group) => parts(group)
            .into_iter()
            .for_each(|part| expand(&path, part, found)),
        None => found.push(path),
    }
}

/// The parts of a group, at commas that stand in no inner group.
fn parts(group: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let separates = |character: char| {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        character == ',' && depth == 0
    };
    group
        .split(separates)
        .filter(|part| !part.trim().is_empty())
        .collect()
}
