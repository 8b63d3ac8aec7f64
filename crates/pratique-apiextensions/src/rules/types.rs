//! The types that expressions see, from a schema, with the sizes that bound their costs.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use pratique_cel::cost::Range;
use pratique_cel::estimate::Sizes;
use pratique_cel::{Type as CelType, TypeProvider};
use pratique_gotext::validation::{CEL_RESERVED, SUBDOMAIN_MAX};
use pratique_json::Value;
use pratique_schema::Release;

use super::names::escape;
use crate::schema::{AdditionalMembers, SchemaNode, SchemaType};

/// The size of the largest request.
// Upstream: apiserver/pkg/apis/cel/config.go, MaxRequestSizeBytes
pub(super) const MAX_REQUEST: i64 = 3 * 1024 * 1024;

/// The length of the longest name of an object.
const NAME_LENGTH: i64 = SUBDOMAIN_MAX as i64;

/// A type as it is declared to expressions.
// Upstream: apiserver/pkg/cel/types.go, DeclType
#[derive(Debug)]
pub(crate) struct DeclaredType {
    form: TypeForm,
    /// The largest number of characters, items or entries.
    max_elements: i64,
    /// The fewest bytes that a value takes in JSON.
    pub(crate) min_size: i64,
}

#[derive(Debug)]
enum TypeForm {
    Scalar(CelType),
    List(Box<DeclaredType>),
    Map(Box<DeclaredType>),
    Object(BTreeMap<String, DeclaredType>),
}

impl DeclaredType {
    fn new(form: TypeForm, max_elements: i64, min_size: i64) -> Self {
        DeclaredType {
            form,
            max_elements,
            min_size,
        }
    }

    fn scalar(of: CelType, max_elements: i64, min_size: i64) -> Self {
        DeclaredType::new(TypeForm::Scalar(of), max_elements, min_size)
    }

    /// The type of a schema; `None` where expressions do not see values of it.
    // Upstream: apiserver/pkg/cel/common/schemas.go, SchemaDeclType
    pub(crate) fn from_schema(
        schema: &SchemaNode,
        is_resource: bool,
        release: &Release,
    ) -> Option<DeclaredType> {
        if schema.is_int_or_string {
            let max = schema
                .values
                .max_length
                .map_or(MAX_REQUEST - 2, |max| max.max(0).saturating_mul(4));
            return Some(DeclaredType::scalar(CelType::Dyn, max, 1));
        }
        Some(match schema.of? {
            SchemaType::Unknown => return None,
            SchemaType::Boolean => DeclaredType::scalar(CelType::Bool, 0, 4),
            SchemaType::Number => DeclaredType::scalar(CelType::Double, 0, 1),
            SchemaType::Integer => DeclaredType::scalar(CelType::Int, 0, 1),
            SchemaType::String => string(schema),
            SchemaType::Array => {
                let items = schema.items.as_deref()?;
                let items = DeclaredType::from_schema(items, items.is_embedded, release)?;
                let max = match schema.values.max_items {
                    Some(max) => max.max(0),
                    None => (MAX_REQUEST - 2) / items.min_size.saturating_add(1),
                };
                DeclaredType::new(TypeForm::List(Box::new(items)), max, 2)
            }
            SchemaType::Object => match &schema.additional {
                Some(AdditionalMembers::Schema(values)) => {
                    let values = DeclaredType::from_schema(values, values.is_embedded, release)?;
                    let max = match schema.values.max_properties {
                        Some(max) => max.max(0),
                        None => (MAX_REQUEST - 2) / values.min_size.saturating_add(6),
                    };
                    DeclaredType::new(TypeForm::Map(Box::new(values)), max, 2)
                }
                _ => object(schema, is_resource, release),
            },
        })
    }

    /// The type of a field, or of the items or values.
    fn part(&self, name: &str) -> Option<&DeclaredType> {
        match (&self.form, name) {
            (TypeForm::List(_) | TypeForm::Map(_), "@items" | "@values") => self.element(),
            (TypeForm::Object(fields), name) => fields.get(name),
            _ => None,
        }
    }

    /// The type of the items or values.
    pub(super) fn element(&self) -> Option<&DeclaredType> {
        match &self.form {
            TypeForm::List(inner) | TypeForm::Map(inner) => Some(inner),
            TypeForm::Scalar(_) | TypeForm::Object(_) => None,
        }
    }

    /// The type of a property.
    pub(super) fn property(&self, name: &str) -> Option<&DeclaredType> {
        match &self.form {
            TypeForm::Object(fields) => fields.get(&escape(name)?),
            TypeForm::Scalar(_) | TypeForm::List(_) | TypeForm::Map(_) => None,
        }
    }

    /// The type in an environment; the objects in it are named after their place, and added to `types`.
    pub(crate) fn cel_type(&self, name: &str, types: &mut ObjectTypes) -> CelType {
        match &self.form {
            TypeForm::Scalar(of) => of.clone(),
            TypeForm::List(items) => CelType::list(items.cel_type(&format!("{name}.@idx"), types)),
            TypeForm::Map(values) => {
                CelType::map(CelType::String, values.cel_type(&format!("{name}.@elem"), types))
            }
            TypeForm::Object(fields) => {
                let of_field = |(field, of): (&String, &DeclaredType)| {
                    (
                        Arc::from(field.as_str()),
                        of.cel_type(&format!("{name}.{field}"), types),
                    )
                };
                let fields = fields.iter().map(of_field).collect();
                types.by_name.insert(name.into(), fields);
                CelType::Struct(name.into())
            }
        }
    }
}

// Upstream: apiserver/pkg/cel/limits.go
fn string(schema: &SchemaNode) -> DeclaredType {
    let values = &schema.values;
    let (of, max, min) = match &*values.format {
        "byte" => (
            CelType::Bytes,
            values.max_length.map_or(MAX_REQUEST - 2, |max| max.max(0)),
            2,
        ),
        "duration" => (CelType::Duration, 32, 3),
        "date" => (CelType::Timestamp, 12, 12),
        "date-time" => (CelType::Timestamp, 32, 21),
        _ => {
            let max = match (values.max_length, values.allowed.is_empty()) {
                (Some(max), _) => max.max(0).saturating_mul(4),
                (None, true) => MAX_REQUEST - 2,
                (None, false) => {
                    let lengths = values.allowed.iter().filter_map(Value::as_str).map(str::len);
                    lengths.max().unwrap_or_default() as i64
                }
            };
            (CelType::String, max, 2)
        }
    };
    DeclaredType::scalar(of, max, min)
}

fn object(schema: &SchemaNode, is_resource: bool, release: &Release) -> DeclaredType {
    let mut fields = BTreeMap::new();
    // `{}`
    let mut min_size: i64 = 2;
    for (name, property) in &schema.properties {
        if is_resource && matches!(&**name, "apiVersion" | "kind" | "metadata") {
            continue;
        }
        let Some(of) = DeclaredType::from_schema(property, property.is_embedded, release) else {
            continue;
        };
        if schema.values.required.contains(name) && property.default.is_none() {
            min_size = min_size.saturating_add(name.len() as i64 + of.min_size + 4);
        }
        if let Some(name) = escape(name) {
            fields.insert(name, of);
        }
    }
    if is_resource {
        min_size = min_size.saturating_add(add_meta(schema, release, &mut fields));
    }
    DeclaredType::new(TypeForm::Object(fields), 0, min_size)
}

/// Adds the fields that rules of resources may always read. Where the schema declares all of them, it stays as it is.
// Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/model/schemas.go, WithTypeAndObjectMeta
fn add_meta(schema: &SchemaNode, release: &Release, fields: &mut BTreeMap<String, DeclaredType>) -> i64 {
    let mut min_size = 0;
    let string = || DeclaredType::scalar(CelType::String, MAX_REQUEST - 2, 2);
    let metadata = schema.properties.get("metadata");
    let name = |name: &str, longest: i64| {
        // Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/model/schemas.go, cappedLengthStringType, since 1.37
        if !release.at_least(1, 37) {
            return string();
        }
        let stated = metadata.and_then(|metadata| metadata.properties.get(name)?.values.max_length);
        let longest = stated.map_or(longest, |stated| stated.max(0).min(longest));
        DeclaredType::scalar(CelType::String, longest.saturating_mul(4), 2)
    };
    let names = [
        ("name", name("name", NAME_LENGTH)),
        ("generateName", name("generateName", NAME_LENGTH - 1)),
    ];
    let names = names
        .map(|(name, of)| (name.to_owned(), of))
        .into_iter()
        .collect();
    let metadata = DeclaredType::new(TypeForm::Object(names), 0, 2);
    let meta = [
        ("apiVersion", string()),
        ("kind", string()),
        ("metadata", metadata),
    ];
    let is_declared = declares_meta(schema);
    for (name, fixed) in meta {
        let of = match schema.properties.get(name).filter(|_| is_declared) {
            Some(property) => {
                DeclaredType::from_schema(property, property.is_embedded, release).unwrap_or(fixed)
            }
            None => fixed,
        };
        let has_default = is_declared
            && schema
                .properties
                .get(name)
                .is_some_and(|property| property.default.is_some());
        if schema.values.required.iter().any(|required| **required == *name) && !has_default {
            min_size += name.len() as i64 + of.min_size + 4;
        }
        fields.insert(name.to_owned(), of);
    }
    min_size
}

pub(super) fn declares_meta(schema: &SchemaNode) -> bool {
    let of = |schema: Option<&SchemaNode>, of| schema.is_some_and(|schema| schema.of == Some(of));
    let property = |name: &str| schema.properties.get(name);
    let metadata = property("metadata");
    let name = |name: &str| metadata.and_then(|metadata| metadata.properties.get(name));
    of(property("kind"), SchemaType::String)
        && of(property("apiVersion"), SchemaType::String)
        && of(metadata, SchemaType::Object)
        && of(name("name"), SchemaType::String)
        && of(name("generateName"), SchemaType::String)
}

/// The types of the objects in a schema.
#[derive(Debug, Default)]
pub(crate) struct ObjectTypes {
    by_name: HashMap<Arc<str>, Vec<(Arc<str>, CelType)>>,
}

impl TypeProvider for ObjectTypes {
    fn has_type(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    fn has_namespace(&self, _: &str) -> bool {
        // A server makes the name of the root of the time, so that no expression can use it.
        false
    }

    fn field(&self, type_name: &str, field: &str) -> Option<CelType> {
        let fields = self.by_name.get(type_name)?;
        let find = |wanted: &str| fields.iter().find(|(name, _)| **name == *wanted);
        let field_entry = find(field).or_else(|| {
            // Upstream: apiserver/pkg/cel/types.go, DeclTypeProvider.FindStructFieldType
            let is_keyword = CEL_RESERVED.contains(&field);
            is_keyword.then(|| find(&escape(field)?)).flatten()
        });
        field_entry.map(|(_, of)| of.clone())
    }

    fn field_names(&self, type_name: &str) -> Vec<Arc<str>> {
        let fields = self.by_name.get(type_name).into_iter().flatten();
        fields.map(|(name, _)| name.clone()).collect()
    }
}

// Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go, sizeEstimator.EstimateSize
impl Sizes for DeclaredType {
    fn size(&self, path: &[String], _: &CelType) -> Option<Range> {
        let (_, steps) = path.split_first()?;
        let mut at = self;
        for step in steps {
            // Keys are strings of any length.
            if step == "@keys" {
                return match at.form {
                    TypeForm::Map(_) => Some(Range { min: 0, max: 0 }),
                    _ => None,
                };
            }
            at = at.part(step)?;
        }
        Some(Range {
            min: 0,
            max: at.max_elements.max(0).unsigned_abs(),
        })
    }
}
