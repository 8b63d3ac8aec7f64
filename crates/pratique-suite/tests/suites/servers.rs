//! Servers of the releases that suites and tests name, with the feature gates that were given.

use std::fs;

use pratique_schema::Release;
use pratique_suite::{Suite, SuiteGates};

use super::{Directory, failures};

const MAP: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: kept}, data: {a: '1'}}";

/// A suite with a test for each version; an empty one is that of the suite.
fn suite(directory: &Directory, versions: &[&str], gates: &str) -> Suite {
    let tests = versions.iter().enumerate().map(|(index, version)| {
        let version = match *version {
            "" => String::new(),
            version => format!("kubernetesVersion: '{version}', "),
        };
        format!("- {{name: t{index}, {version}object: {MAP}, expect: allowed}}\n")
    });
    let mut suite = directory.suite(&tests.collect::<String>()).unwrap();
    suite.gates = SuiteGates::new(Release::latest(), gates);
    suite
}

/// What is wrong with the policies of a suite.
fn problems(suite: &Suite) -> Vec<String> {
    let problems = suite.policies().map(drop).err().into_iter().flatten();
    problems.map(|problem| problem.message).collect()
}

#[test]
fn gates_are_those_of_the_server_of_each_test() {
    let directory = Directory::new();
    let servers = |versions: &[&str], gates| {
        let suite = suite(&directory, versions, gates);
        let policies = suite.policies().unwrap();
        let servers = policies.servers().map(|gates| {
            let changed: Vec<&str> = gates.changed().map(|gate| gate.name).collect();
            (gates.release().to_string(), changed.join(" "))
        });
        servers.collect::<Vec<_>>()
    };
    let server = |release: &str, gates: &str| (release.to_owned(), gates.to_owned());
    let gate = "MaxUnavailableStatefulSet";
    // It is on by default since 1.37.
    assert_eq!(
        servers(&["", "1.36"], "MaxUnavailableStatefulSet=true"),
        [server("1.37", ""), server("1.36", gate)]
    );
    assert_eq!(
        servers(&["1.36", "", "1.36"], "MaxUnavailableStatefulSet=false"),
        [server("1.37", gate), server("1.36", "")]
    );
}

#[test]
fn gates_that_a_server_refuses_are_told() {
    let directory = Directory::new();
    let unknown = suite(&directory, &["", "1.36"], "HPAGeneration=true");
    assert_eq!(
        problems(&unknown),
        [
            "Kubernetes 1.36, which the test \"t1\" names: --feature-gates: unrecognized feature gate: HPAGeneration"
        ]
    );
    let locked = suite(&directory, &["1.38"], "HPAGeneration=false");
    assert_eq!(
        problems(&locked),
        [
            "Kubernetes 1.38, which the test \"t0\" names: --feature-gates: cannot set feature gate HPAGeneration to false, \
             feature is locked to true"
        ]
    );
    // No test is for a server without it.
    let unused = suite(&directory, &["1.36"], "GangScheduling=true,GenericWorkload=true");
    assert_eq!(problems(&unused), Vec::<String>::new());
}

#[test]
fn only_servers_that_tests_are_for_load_policies() {
    let directory = Directory::new();
    let policy = directory.0.join("policy.yaml");
    let manifests = fs::read_to_string(&policy).unwrap();
    let condition = "object.data.a == '1'";
    fs::write(
        &policy,
        manifests.replace(condition, "[1, 1].distinct().size() == 1"),
    )
    .unwrap();
    for versions in [&["1.35"][..], &["", "1.38"]] {
        assert_eq!(failures(&suite(&directory, versions, "")), [""; 0]);
    }
    let message = |problems: Vec<String>| {
        let [only] = problems.as_slice() else {
            panic!("{problems:?}")
        };
        assert!(only.contains("undeclared reference to"), "{only}");
        only.split("spec.").next().unwrap_or_default().to_owned()
    };
    for (versions, test) in [(&["", "1.34"][..], "t1"), (&["1.34", "1.34"], "t0")] {
        let told = message(problems(&suite(&directory, versions, "")));
        assert_eq!(told, format!("Kubernetes 1.34, which the test {test:?} names: "));
    }
    // What no server loads is told once, and of none, where their texts are the same: 1.38 has another.
    fs::write(&policy, manifests.replace(condition, "nonsense")).unwrap();
    let told = message(problems(&suite(&directory, &["1.34", "", "1.36"], "")));
    assert_eq!(told, "");
}
