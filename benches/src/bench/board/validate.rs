//! Rows in which an object is decoded, defaulted and validated.

use pratique_harness::ToolError;
use serde_json::{Value, json};

use super::evaluate::EvaluatingSides;
use super::rows::{CaseObject, ValidationCase};
use super::{MeasuredRow, RowContext};
use crate::objects::written_objects;

/// Checks that the sides say the same of the object, and measures them alternately.
pub(super) fn measure(context: &RowContext<'_>, case: &ValidationCase) -> Result<MeasuredRow, ToolError> {
    let theirs = context.programs.validation.as_deref();
    EvaluatingSides::start(context, "validate", theirs, &setup(case)?, None)?.take_turns(context)
}

/// The object and the work.
pub(super) fn setup(case: &ValidationCase) -> Result<Value, ToolError> {
    Ok(json!({"object": object(case.object)?, "work": case.work}))
}

/// The object as a person writes it.
pub(super) fn object(which: CaseObject) -> Result<Value, ToolError> {
    let objects = written_objects()?;
    let name = match which {
        CaseObject::Deployment => "deployment",
        CaseObject::Pod | CaseObject::Invalid => "pod",
    };
    let mut object = objects.get(name).cloned().unwrap_or_default();
    if matches!(which, CaseObject::Invalid) {
        let changes = [
            ("/metadata/name", json!("Foo_Bar")),
            ("/spec/containers/0/ports/0/containerPort", json!(99_999)),
            ("/spec/restartPolicy", json!("Allways")),
        ];
        for (path, value) in changes {
            let (parent, name) = path.rsplit_once('/').unwrap_or_default();
            let Some(Value::Object(members)) = object.pointer_mut(parent) else {
                return Err(format!("the Pod has no {path}").into());
            };
            members.insert(name.to_owned(), value);
        }
    }
    Ok(object)
}

#[cfg(test)]
mod tests {
    use super::super::rows::{ROWS, RowWork};
    use super::*;

    #[test]
    fn every_row_has_its_object() {
        let cases = ROWS.iter().filter_map(|row| match &row.work {
            RowWork::Validate(case) => Some(case),
            _ => None,
        });
        let sizes: Vec<usize> = cases
            .map(|case| setup(case).unwrap()["object"].to_string().len())
            .collect();
        assert_eq!(sizes.len(), 4);
        assert!(
            sizes.iter().all(|size| (2_500..4_500).contains(size)),
            "{sizes:?}"
        );
    }
}
