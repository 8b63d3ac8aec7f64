//! Inputs of the benchmarks: Pods like those of clusters, and expressions and policies like those of users.

pub mod contest;
pub mod memory;

use std::sync::LazyLock;

use pratique::manifest::ManifestFile;

/// Why a benchmark cannot run.
pub type BenchError = Box<dyn std::error::Error + Send + Sync>;

/// A Pod of two containers and an init container.
pub const POD: &str = include_str!("../data/pod.json");

/// A Pod of three containers and an init container, as a ReplicaSet's controller creates it and an API server defaults it.
pub const FULL_POD: &str = include_str!("../data/full-pod.json");

/// A Pod of 3 kB as a user writes it, without the fields that an API server sets.
pub const WRITTEN_POD: &str = include_str!("../data/written-pod.json");

/// Requests for the admission plugins that are built into an API server: each case has a name, the plugins, the objects of the
/// cluster and the request.
pub const PLUGIN_CASES: &str = include_str!("../data/plugins.json");

/// Expressions of the kind that policies are made of, from the smallest to the largest, each with a short name.
pub static EXPRESSIONS: LazyLock<Vec<(String, String)>> =
    // The text is a constant of ours; a test counts the expressions.
    LazyLock::new(|| serde_json::from_str(include_str!("../data/expressions.json")).unwrap_or_default());

/// Static manifests of `count` policies for Pods with a binding each; every policy has its own mix of three validations
/// from [`EXPRESSIONS`].
pub fn manifests(count: usize) -> Vec<ManifestFile> {
    let document = |index: usize| {
        let validations: String = (0..3)
            .map(|step| {
                EXPRESSIONS
                    .get((index + step * 5) % EXPRESSIONS.len())
                    .map_or("true", |(_, text)| text.as_str())
            })
            .map(|text| format!("  - expression: {}\n", json_string(text)))
            .collect();
        format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata:\n  name: p{index}.static.k8s.io\n\
             spec:\n  matchConstraints:\n    resourceRules:\n    - apiGroups: ['']\n      apiVersions: [v1]\n      operations: [CREATE]\n      \
             resources: [pods]\n  validations:\n{validations}---\napiVersion: admissionregistration.k8s.io/v1\n\
             kind: ValidatingAdmissionPolicyBinding\nmetadata:\n  name: p{index}.static.k8s.io\n\
             spec:\n  policyName: p{index}.static.k8s.io\n  validationActions: [Deny]\n"
        )
    };
    let file = |index| ManifestFile {
        path: format!("p{index:05}.yaml"),
        content: document(index).into_bytes(),
    };
    (0..count).map(file).collect()
}

/// A manifest of a policy and its binding; no two have an expression in common, so that no compiled one can be reused.
pub fn policy(index: usize) -> String {
    include_str!("../data/policy.yaml").replace("INDEX", &index.to_string())
}

/// The request to create [`POD`].
pub fn request() -> String {
    format!(
        r#"{{"uid":"00000000-0000-4000-8000-000000000000","kind":{{"version":"v1","kind":"Pod"}},"resource":{{"version":"v1","resource":"pods"}},"name":"checkout-6f7c9d5b8-x2k4p","namespace":"shop","operation":"CREATE","userInfo":{{"username":"ann"}},"object":{POD}}}"#
    )
}

fn json_string(text: &str) -> String {
    pratique_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    #[test]
    fn there_are_expressions() {
        assert_eq!(super::EXPRESSIONS.len(), 12);
    }
}
