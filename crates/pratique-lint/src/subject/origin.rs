//! Where a finding is: objects, and paths of fields in them.

use pratique_manifest::{Kind, ObjectName, ObjectSource, PathStep};

/// An object's name and source.
#[derive(Clone, Debug)]
pub(crate) struct ObjectOrigin<'m> {
    pub(crate) name: ObjectName,
    pub(crate) source: &'m ObjectSource,
}

impl<'m> ObjectOrigin<'m> {
    pub(super) fn new(kind: Kind, name: &Option<String>, source: &'m ObjectSource) -> Self {
        let name = name.clone().unwrap_or_default();
        ObjectOrigin {
            name: ObjectName { kind, name },
            source,
        }
    }
}

/// The path of a field, as messages write it: `spec.validations[0].expression`.
pub(crate) fn path(field: &str) -> Vec<PathStep> {
    let step = |step: &str| {
        let index = step.strip_suffix(']').and_then(|index| index.parse().ok());
        index.map_or_else(|| PathStep::Field(step.to_owned()), PathStep::Index)
    };
    field.split(['.', '[']).map(step).collect()
}

/// The path of a list item, or of a field of it.
pub(crate) fn item(list: &[PathStep], index: usize, field: &str) -> Vec<PathStep> {
    let mut path = list.to_vec();
    path.push(PathStep::Index(index));
    path.extend(
        field
            .split('.')
            .filter(|name| !name.is_empty())
            .map(|name| PathStep::Field(name.to_owned())),
    );
    path
}
