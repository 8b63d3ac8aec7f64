//! Reads the table.

use std::collections::HashMap;

use pratique_types::GroupVersionKind;

use super::openapi::{DEDUCED, UNTYPED, common};
use super::{ListKey, ListMerging, ListType, MapType, MergeSchema, MergeType, MergeTypeId, ScalarKind};

/// Parses the table; other lines are skipped.
pub(crate) fn read(table: &str) -> MergeSchema {
    let mut reader = MergeReader::new(table);
    let mut of: Option<OpenStruct> = None;
    for line in table.lines() {
        if let Some(kind) = line.strip_prefix("kind ") {
            reader.kind(kind);
        } else if let Some(version) = line.strip_prefix("version ") {
            reader.schema.versions.extend(group_version(version));
        } else if let Some(named) = line.strip_prefix("type ") {
            reader.finish(of.take());
            let (name, atomic) = named.split_once(' ').unwrap_or((named, ""));
            of = reader.shapes.get(name).map(|id| OpenStruct {
                id: *id,
                atomic: !atomic.is_empty(),
                fields: Vec::new(),
            });
        } else if let (Some(field), Some(of)) = (line.strip_prefix(' '), &mut of) {
            let field = field.split_once(' ');
            of.fields
                .extend(field.map(|(name, shape)| (name.to_owned(), reader.shape(shape))));
        }
    }
    reader.finish(of);
    reader.schema
}

/// A struct whose lines are being read.
struct OpenStruct {
    id: MergeTypeId,
    atomic: bool,
    fields: Vec<(String, MergeTypeId)>,
}

struct MergeReader<'t> {
    schema: MergeSchema,
    /// Types by their names in the table and by the shapes read so far.
    shapes: HashMap<&'t str, MergeTypeId>,
}

impl<'t> MergeReader<'t> {
    fn new(table: &'t str) -> Self {
        let mut reader = MergeReader {
            schema: MergeSchema::default(),
            shapes: HashMap::from([("untyped-atomic", UNTYPED), ("deduced", DEDUCED)]),
        };
        reader.schema.types.extend(common());
        for line in table.lines() {
            if let Some(named) = line.strip_prefix("type ") {
                let id = reader.push(MergeType::default());
                let name = named.split(' ').next().unwrap_or(named);
                reader.shapes.insert(name, id);
            }
        }
        reader
    }

    fn push(&mut self, of: MergeType) -> MergeTypeId {
        let id = MergeTypeId(self.schema.types.len() as u32);
        self.schema.types.push(of);
        id
    }

    fn finish(&mut self, of: Option<OpenStruct>) {
        if let Some(of) = of
            && let Some(place) = self.schema.types.get_mut(of.id.index())
        {
            place.map = Some(MapType::new(of.fields, None, of.atomic));
        }
    }

    /// `apps/v1/Deployment apps/v1.Deployment`
    fn kind(&mut self, line: &str) {
        let kind_and_type = line
            .split_once(' ')
            .and_then(|(kind, name)| Some((GroupVersionKind::from_path(kind)?, *self.shapes.get(name)?)));
        self.schema.kinds.extend(kind_and_type);
    }

    /// The type of a shape: `string`, `[string`, `(name)core/v1.Container`
    fn shape(&mut self, text: &'t str) -> MergeTypeId {
        if let Some(id) = self.shapes.get(text) {
            return *id;
        }
        let of = self.make(text);
        let id = self.push(of);
        self.shapes.insert(text, id);
        id
    }

    fn make(&mut self, text: &'t str) -> MergeType {
        let scalar = |kind| MergeType {
            scalar: Some(kind),
            ..MergeType::default()
        };
        match text {
            "numeric" => scalar(ScalarKind::Numeric),
            "string" => scalar(ScalarKind::String),
            "boolean" => scalar(ScalarKind::Boolean),
            "untyped" => scalar(ScalarKind::Untyped),
            "any" => any(),
            _ => self.collection(text).unwrap_or_default(),
        }
    }

    fn collection(&mut self, text: &'t str) -> Option<MergeType> {
        let list = |element, merging| MergeType {
            list: Some(ListType { element, merging }),
            ..MergeType::default()
        };
        let mut map = |element: &'t str, atomic| MergeType {
            map: Some(MapType::new(Vec::new(), Some(self.shape(element)), atomic)),
            ..MergeType::default()
        };
        if let Some(element) = text.strip_prefix('{') {
            return Some(map(element, false));
        }
        if let Some(element) = text.strip_prefix("!{") {
            return Some(map(element, true));
        }
        if let Some(element) = text.strip_prefix('[') {
            return Some(list(self.shape(element), ListMerging::Atomic));
        }
        if let Some(element) = text.strip_prefix('=') {
            return Some(list(self.shape(element), ListMerging::Set));
        }
        let (keys, element) = text.strip_prefix('(')?.split_once(')')?;
        let keys = keys.split(',').map(key).collect();
        Some(list(self.shape(element), ListMerging::Keyed(keys)))
    }
}

/// The type of an OpenAPI schema that does not state one.
fn any() -> MergeType {
    let [untyped, deduced] = common();
    MergeType {
        scalar: Some(ScalarKind::Untyped),
        list: untyped.list,
        map: deduced.map,
    }
}

/// `name`, `protocol="TCP"`
fn key(text: &str) -> ListKey {
    let (name, default) = text.split_once('=').unwrap_or((text, ""));
    ListKey {
        name: name.to_owned(),
        default: pratique_json::parse(default.as_bytes())
            .ok()
            .map(pratique_json::Value::into_owned),
    }
}

/// `apps/v1`, `/v1`
fn group_version(text: &str) -> Option<(String, String)> {
    let (group, version) = text.rsplit_once('/')?;
    Some((group.to_owned(), version.to_owned()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_line_is_lost() {
        let table = crate::Release::latest().tables().merge;
        let schema = super::read(table);
        let count = |prefix| table.lines().filter(|line| line.starts_with(prefix)).count();
        let fields = schema.types.iter().filter_map(|of| of.map.as_ref());
        assert_eq!(fields.map(|map| map.fields.len()).sum::<usize>(), count(" "));
        assert_eq!(schema.kinds.len(), count("kind "));
        assert_eq!(schema.versions.len(), count("version "));
        for of in &schema.types {
            assert!(
                of.scalar.is_some() || of.list.is_some() || of.map.is_some(),
                "{of:?}"
            );
            if let Some(map) = &of.map {
                assert!(map.fields.is_sorted_by(|a, b| a.0 < b.0), "{map:?}");
            }
        }
    }
}
