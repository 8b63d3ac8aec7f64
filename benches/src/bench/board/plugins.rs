//! Rows in which built-in admission plugins of an API server get one request.

use pratique_benches::PLUGIN_CASES;
use pratique_harness::ToolError;
use serde_json::Value;

use super::evaluate::EvaluatingSides;
use super::rows::{PluginCase, RowWork};
use super::{MeasuredRow, RowContext};

/// Checks that the sides have the same decision and object, and measures them alternately.
pub(super) fn measure(context: &RowContext<'_>, case: &PluginCase) -> Result<MeasuredRow, ToolError> {
    let less = match context.row.control.as_ref().map(|control| &control.work) {
        Some(RowWork::Plugins(case)) => Some(setup(case)?),
        _ => None,
    };
    let theirs = context.programs.plugins.as_deref();
    EvaluatingSides::start(context, "plugins", theirs, &setup(case)?, less.as_ref())?.take_turns(context)
}

/// The plugins, the objects of the cluster, and the request.
pub(super) fn setup(case: &PluginCase) -> Result<Value, ToolError> {
    let cases: Vec<Value> = serde_json::from_str(PLUGIN_CASES).map_err(|error| error.to_string())?;
    let mut setup = cases
        .into_iter()
        .find(|case_of_name| case_of_name.get("name").and_then(Value::as_str) == Some(&case.name))
        .ok_or_else(|| format!("no case of plugins is named {:?}", case.name))?;
    let objects = setup.get_mut("objects").and_then(Value::as_array_mut);
    let objects = objects.ok_or_else(|| format!("{}: no objects", case.name))?;
    let last = objects.last().cloned().unwrap_or_default();
    for number in 1..case.of_last {
        let mut further = last.clone();
        if let Some(name) = further.pointer_mut("/metadata/name") {
            *name = format!("further-{number}").into();
        }
        objects.push(further);
    }
    Ok(setup)
}

#[cfg(test)]
mod tests {
    use super::super::rows::ROWS;
    use super::*;

    #[test]
    fn every_row_has_its_case() {
        let works = ROWS
            .iter()
            .flat_map(|row| [Some(&row.work), row.control.as_ref().map(|control| &control.work)]);
        let cases = works.flatten().filter_map(|work| match work {
            RowWork::Plugins(case) => Some(case),
            _ => None,
        });
        let mut seen = 0;
        for case in cases {
            let objects = setup(case).unwrap()["objects"].as_array().unwrap().len();
            assert!(objects >= case.of_last, "{}: {objects}", case.name);
            seen += 1;
        }
        assert_eq!(seen, 13);
    }
}
