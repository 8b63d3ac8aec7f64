//! The types of a custom resource, from its definition.

use std::collections::{HashMap, HashSet};

use pratique_json::Value;
use pratique_types::GroupVersionKind;

use super::openapi::{DEDUCED, InvalidSchema, OpenApi};
use super::{MapType, MergeSchema, MergeType, MergeTypeId};
use crate::Release;

impl MergeSchema {
    /// The types of a custom resource in all of its versions, from its `CustomResourceDefinition`, on servers of a release.
    ///
    /// A version without schema has a type that deduces everything. A schema that a server would not accept is
    /// an error.
    pub fn custom(release: &'static Release, definition: &Value<'_>) -> Result<Self, InvalidSchema> {
        let base = release.merge_schema();
        let mut custom = MergeSchema {
            base: Some(base),
            types: Vec::new(),
            kinds: HashMap::default(),
            versions: HashSet::new(),
        };
        let text = |path: &[&str]| definition.at(path).and_then(Value::as_str).unwrap_or_default();
        let (group, kind) = (text(&["spec", "group"]), text(&["spec", "names", "kind"]));
        let versions = definition.at(&["spec", "versions"]).and_then(Value::as_array);
        for version in versions.into_iter().flatten() {
            let name = version.get("name").and_then(Value::as_str).unwrap_or_default();
            let schema = version.at(&["schema", "openAPIV3Schema"]);
            let first = (base.types.len() + custom.types.len()) as u32;
            custom.types.extend(match schema {
                Some(schema) => OpenApi::read_custom(schema, first, base.object_meta())?,
                None => vec![anything()],
            });
            let last = MergeTypeId((base.types.len() + custom.types.len()).saturating_sub(1) as u32);
            custom
                .kinds
                .insert(GroupVersionKind::new(group, name, kind), last);
            custom.versions.insert((group.to_owned(), name.to_owned()));
        }
        Ok(custom)
    }

    /// The type of `metadata`.
    fn object_meta(&self) -> MergeTypeId {
        let pod = self.kind(&GroupVersionKind::new("", "v1", "Pod")).ok();
        let metadata = pod.and_then(|pod| self.get(pod).map.as_ref()?.field("metadata"));
        metadata.unwrap_or(DEDUCED)
    }
}

fn anything() -> MergeType {
    MergeType {
        map: Some(MapType::new(Vec::new(), Some(DEDUCED), false)),
        ..MergeType::default()
    }
}
