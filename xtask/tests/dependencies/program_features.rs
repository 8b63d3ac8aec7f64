//! What users build is the program alone; the tests build the whole workspace, where each crate has its default features.
//! A feature that changes answers has to be passed on to every crate of the program, or only the tests have it.

use std::collections::{BTreeMap, BTreeSet};

use pratique_harness::{ToolError, cargo, workspace};

#[test]
fn every_crate_of_the_program_has_its_crypto_provider() {
    let defaults = crates("pratique-validation").unwrap();
    assert_eq!(
        defaults["pratique-validation"],
        ["default", "ring"],
        "by itself, the crate verifies signatures"
    );
    let program = crates("pratique-cli").unwrap();
    for name in ["pratique-crypto", "pratique-validation", "pratique-webhook"] {
        assert!(
            program[name].iter().any(|feature| feature == "ring"),
            "{name} of the program has {:?}",
            program[name]
        );
    }
}

#[test]
fn what_cargo_run_compiles_the_tests_compile_no_second_time() {
    let run = tree(&["--edges", "normal,build"]).unwrap();
    let tests = tree(&["--workspace", "--edges", "normal,build,dev"]).unwrap();
    let others: Vec<&String> = run.difference(&tests).collect();
    assert!(run.len() > 100, "{run:?}");
    assert!(
        others.is_empty(),
        "with the tests, these have more features, which tools/workspace-features should add: {others:#?}"
    );
}

#[test]
fn what_is_shipped_has_the_features_of_the_program_alone() {
    let alone = tree(&["--package", "pratique-cli", "--edges", "normal"]).unwrap();
    // `cargo xtask dist` builds it together with programs that put it to work.
    let mut arguments = vec!["--edges", "normal"];
    for package in ["pratique-cli", "pratique-benches", "pratique-load-test"] {
        arguments.extend(["--package", package]);
    }
    let shipped = tree(&arguments).unwrap();
    let name = |line: &str| line.split(' ').next().map(str::to_owned);
    let names: BTreeSet<_> = alone.iter().map(|line| name(line)).collect();
    let others = shipped.difference(&alone);
    let others: Vec<_> = others
        .map(|line| name(line))
        .filter(|name| names.contains(name))
        .collect();
    // It has one function more, which the program does not call.
    assert_eq!(others, [Some("rustix".to_owned())]);
}

/// The features of the crates that a package is built of, by their names.
fn crates(package: &str) -> Result<BTreeMap<String, Vec<String>>, ToolError> {
    let lines = tree(&["--package", package, "--edges", "normal"])?;
    Ok(lines.iter().filter_map(|line| package_features(line)).collect())
}

/// What `cargo tree` says of each package, `NAME vVERSION (PATH) FEATURES`, where the features are separated by commas.
fn tree(arguments: &[&str]) -> Result<BTreeSet<String>, ToolError> {
    let output = cargo::command()
        .current_dir(workspace::root())
        .args(["tree", "--locked", "--offline"])
        .args(arguments)
        .args(["--prefix", "none", "--format", "{p} {f}"])
        .output()
        .map_err(ToolError::program("cargo"))?;
    if !output.status.success() {
        return Err(format!("cargo tree: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    // `(*)` stands for a repetition.
    Ok(String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| line.trim_end_matches("(*)").trim_end().to_owned())
        .collect())
}

/// The name and the features of a package.
fn package_features(line: &str) -> Option<(String, Vec<String>)> {
    let (name, _) = line.split_once(' ')?;
    let features = line.rsplit_once(") ");
    let features = features.map_or("", |(_, features)| features);
    Some((name.to_owned(), features.split(',').map(str::to_owned).collect()))
}
