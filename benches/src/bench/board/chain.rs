//! Rows in which a request goes the whole way through a server: from its bytes to the answer.

use pratique_harness::{ToolError, with};
use serde_json::{Value, json};

use super::evaluate::EvaluatingSides;
use super::material::BoardMaterial;
use super::rows::{CaseObject, ChainCase, ChainObject, EvaluatedObject};
use super::{MeasuredRow, RowContext, objects, validate};

/// Checks that the sides have the same decision and object, and measures them alternately.
pub(super) fn measure(context: &RowContext<'_>, case: &ChainCase) -> Result<MeasuredRow, ToolError> {
    let theirs = context.programs.plugins.as_deref();
    let setup = setup(&context.row.name, case, context.material)?;
    EvaluatingSides::start(context, "chain", theirs, &setup, None)?.take_turns(context)
}

/// The plugins, the policies, the objects of the cluster, and the request.
pub(super) fn setup(name: &str, case: &ChainCase, material: &BoardMaterial) -> Result<Value, ToolError> {
    let object = match case.object {
        ChainObject::Small => objects::object(EvaluatedObject::Small),
        ChainObject::Written => validate::object(CaseObject::Pod)?,
        ChainObject::Invalid => validate::object(CaseObject::Invalid)?,
    };
    let name_of_object = object.pointer("/metadata/name").cloned().unwrap_or_default();
    // The answer is all there is: nothing is stored, and no quota charged.
    let changes = [
        ("dryRun", true.into()),
        ("name", name_of_object),
        ("object", object),
    ];
    let request = with(objects::request(EvaluatedObject::Small), changes);
    let directory = match &case.policies {
        None => String::new(),
        Some(policies) => material.policies(name, policies)?,
    };
    let account = |name: &str| json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": "shop"}});
    let class = json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
        "metadata": {"name": "customer-facing"}, "value": 1000});
    let cluster = [
        objects::namespace(),
        account("orders"),
        account("checkout"),
        class,
    ];
    Ok(json!({
        "plugins": "default",
        "objects": cluster,
        "request": request,
        "directory": directory,
        "whole": true,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::rows::{ROWS, RowWork};
    use super::*;

    #[test]
    fn every_row_has_its_request() {
        let directory = std::env::temp_dir().join(format!("pratique-bench-chain-{}", std::process::id()));
        let material = BoardMaterial::new(&directory, 1).unwrap();
        let mut seen = Vec::new();
        for row in ROWS.iter() {
            let RowWork::Chain(case) = &row.work else {
                continue;
            };
            let setup = setup(&row.name, case, &material).unwrap();
            let object = setup.pointer("/request/object").unwrap();
            assert!((2_500..4_500).contains(&object.to_string().len()), "{}", row.name);
            let directory = setup["directory"].as_str().unwrap();
            let files = std::fs::read_dir(directory).map_or(0, Iterator::count);
            seen.push((row.name.as_str(), files));
        }
        assert_eq!(seen, [("chain-pod", 0), ("chain-10", 10), ("chain-no", 0)]);
        std::fs::remove_dir_all(directory).unwrap();
    }
}
