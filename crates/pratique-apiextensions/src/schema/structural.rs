//! Whether a schema is structural: every value has one type, which combinations only restrict further.

use pratique_types::field::{Error, ErrorList, Path};

use super::{AdditionalMembers, SchemaNode, SchemaType};

/// Checks that a schema is structural.
// Upstream: apiextensions-apiserver/pkg/apiserver/schema/validation.go, ValidateStructural
pub(crate) fn check_structural(schema: &SchemaNode, path: &Path<'_>, errors: &mut ErrorList) {
    let mut structural_errors = ErrorList::default();
    StructuralChecker {
        errors: &mut structural_errors,
    }
    .schema(schema, SchemaLevel::Root, path);
    complete(schema, Some(schema), path, path, &mut structural_errors);
    let mut sorted_errors = structural_errors.into_vec();
    sorted_errors.sort_by_cached_key(ToString::to_string);
    errors.extend(sorted_errors);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SchemaLevel {
    Root,
    Item,
    Field,
}

struct StructuralChecker<'e> {
    errors: &'e mut ErrorList,
}

impl StructuralChecker<'_> {
    // Upstream: apiextensions-apiserver/pkg/apiserver/schema/validation.go, validateStructuralInvariants
    fn schema(&mut self, schema: &SchemaNode, level: SchemaLevel, path: &Path<'_>) {
        if schema.of == Some(SchemaType::Array) && schema.items.is_none() {
            self.errors
                .push(Error::required(path.child("items"), "must be specified"));
        }
        if let Some(items) = &schema.items {
            self.schema(items, SchemaLevel::Item, &path.child("items"));
        }
        let properties = path.child("properties");
        for (name, property) in &schema.properties {
            self.schema(property, SchemaLevel::Field, &properties.key(name));
        }
        if let Some(additional) = &schema.additional {
            let path = path.child("additionalProperties");
            if level == SchemaLevel::Root {
                self.errors
                    .push(Error::forbidden(path, "must not be used at the root"));
            }
            if let AdditionalMembers::Schema(schema) = additional {
                self.schema(schema, SchemaLevel::Field, &path);
            }
        }
        self.extensions(schema, path);
        self.values(
            schema,
            is_int_or_string(&schema.any_of),
            first_is_int_or_string(schema),
            path,
        );
        self.of_type(schema, level, path);
        self.meta_fields(schema, level, path);
        if schema.is_embedded && !schema.preserves_unknown && schema.properties.is_empty() {
            let detail = "must not be empty if x-kubernetes-embedded-resource is true without \
                          x-kubernetes-preserve-unknown-fields";
            self.errors.push(Error::required(properties, detail));
        }
    }

    fn extensions(&mut self, schema: &SchemaNode, path: &Path<'_>) {
        let detail = "must be false if x-kubernetes-int-or-string is true";
        if schema.is_int_or_string && schema.preserves_unknown {
            self.errors.push(Error::invalid(
                path.child("x-kubernetes-preserve-unknown-fields"),
                true,
                detail,
            ));
        }
        if schema.is_int_or_string && schema.is_embedded {
            self.errors.push(Error::invalid(
                path.child("x-kubernetes-embedded-resource"),
                true,
                detail,
            ));
        }
    }

    fn of_type(&mut self, schema: &SchemaNode, level: SchemaLevel, path: &Path<'_>) {
        let of_type = path.child("type");
        if schema.is_embedded && schema.of != Some(SchemaType::Object) {
            let detail = "must be object if x-kubernetes-embedded-resource is true";
            match schema.of {
                None => self.errors.push(Error::required(of_type, detail)),
                Some(_) => self
                    .errors
                    .push(Error::invalid(of_type, schema.type_name(), detail)),
            }
        } else if schema.of.is_none() && !schema.is_int_or_string && !schema.preserves_unknown {
            self.errors.push(Error::required(
                of_type,
                match level {
                    SchemaLevel::Root => "must not be empty at the root",
                    SchemaLevel::Item => "must not be empty for specified array items",
                    SchemaLevel::Field => "must not be empty for specified object fields",
                },
            ));
        }
        if schema.is_embedded && schema.additional.is_some() {
            let detail = "must not be used if x-kubernetes-embedded-resource is set";
            self.errors
                .push(Error::forbidden(path.child("additionalProperties"), detail));
        }
        if level == SchemaLevel::Root && schema.of.is_some_and(|of| of != SchemaType::Object) {
            let detail = "must be object at the root";
            self.errors
                .push(Error::invalid(of_type, schema.type_name(), detail));
        }
    }

    fn meta_fields(&mut self, schema: &SchemaNode, level: SchemaLevel, path: &Path<'_>) {
        let is_resource = level == SchemaLevel::Root || schema.is_embedded;
        let properties = path.child("properties");
        for (name, expected) in [
            ("kind", SchemaType::String),
            ("apiVersion", SchemaType::String),
            ("metadata", SchemaType::Object),
        ] {
            if let Some(property) = schema.properties.get(name).filter(|_| is_resource)
                && property.of != Some(expected)
            {
                let at = properties.key(name);
                let detail = format!("must be {}", expected.name());
                self.errors
                    .push(Error::invalid(at.child("type"), property.type_name(), &detail));
            }
        }
        if let Some(metadata) = schema
            .properties
            .get("metadata")
            .filter(|_| level == SchemaLevel::Root)
            && !restricts_names_only(metadata)
        {
            let detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
            self.errors
                .push(Error::forbidden(properties.key("metadata"), detail));
        }
    }

    // Upstream: apiextensions-apiserver/pkg/apiserver/schema/validation.go, validateValueValidation
    fn values(&mut self, schema: &SchemaNode, skips_any_of: bool, skips_first_all_of: bool, path: &Path<'_>) {
        let nested = |name| path.child(name);
        if !skips_any_of {
            for (at, schema) in schema.any_of.iter().enumerate() {
                self.nested(schema, false, &nested("anyOf").index(at));
            }
        }
        for (at, schema) in schema.all_of.iter().enumerate() {
            self.nested(schema, skips_first_all_of && at == 0, &nested("allOf").index(at));
        }
        for (at, schema) in schema.one_of.iter().enumerate() {
            self.nested(schema, false, &nested("oneOf").index(at));
        }
        if let Some(schema) = &schema.not {
            self.nested(schema, false, &nested("not"));
        }
        if let Some(pattern) = &schema.values.pattern
            && let Err(error) = &pattern.regex
        {
            let detail = format!("must be a valid regular expression, but isn't: {error}");
            self.errors
                .push(Error::invalid(nested("pattern"), &*pattern.text, &detail));
        }
    }

    // Upstream: apiextensions-apiserver/pkg/apiserver/schema/validation.go, validateNestedValueValidation
    fn nested(&mut self, schema: &SchemaNode, skips_any_of: bool, path: &Path<'_>) {
        self.values(schema, skips_any_of, false, path);
        if let Some(items) = &schema.items {
            self.nested(items, false, &path.child("items"));
        }
        let properties = path.child("properties");
        for (name, property) in &schema.properties {
            self.nested(property, false, &properties.key(name));
        }
        let (empty, unset) = (
            "must be empty to be structural",
            "must be undefined to be structural",
        );
        let off = "must be false to be structural";
        let additional = !matches!(schema.additional, None | Some(AdditionalMembers::Allowed(false)));
        for (name, is_given, detail) in [
            ("type", schema.of.is_some(), empty),
            ("additionalProperties", additional, unset),
            ("default", schema.default.is_some(), unset),
            ("title", schema.has_title, empty),
            ("description", schema.has_description, empty),
            ("nullable", schema.nullable, off),
            (
                "x-kubernetes-preserve-unknown-fields",
                schema.preserves_unknown,
                off,
            ),
            ("x-kubernetes-embedded-resource", schema.is_embedded, off),
            ("x-kubernetes-int-or-string", schema.is_int_or_string, off),
            (
                "x-kubernetes-list-map-keys",
                !schema.list_map_keys.is_empty(),
                empty,
            ),
            ("x-kubernetes-list-type", schema.list_type.is_some(), unset),
            ("x-kubernetes-map-type", schema.map_type.is_some(), unset),
            ("x-kubernetes-validations", !schema.rules.is_empty(), empty),
        ] {
            if is_given {
                self.errors.push(Error::forbidden(path.child(name), detail));
            }
        }
        if schema.properties.contains_key("metadata") {
            self.errors.push(Error::forbidden(
                properties.key("metadata"),
                "must not be specified in a nested context",
            ));
        }
    }
}

/// Whether alternatives are an integer and a string, which may be given besides `x-kubernetes-int-or-string`.
fn is_int_or_string(any_of: &[SchemaNode]) -> bool {
    let is_only = |schema: &SchemaNode, of| {
        schema.of == Some(of)
            && schema.properties.is_empty()
            && schema.default.is_none()
            && has_no_validations(schema)
            && has_no_extensions(schema)
    };
    matches!(any_of, [first, second] if is_only(first, SchemaType::Integer) && is_only(second, SchemaType::String))
}

fn first_is_int_or_string(schema: &SchemaNode) -> bool {
    schema
        .all_of
        .first()
        .is_some_and(|first| is_int_or_string(&first.any_of))
}

impl super::ValueConstraints {
    /// Whether there are no restrictions.
    fn is_empty(&self) -> bool {
        let numbers = [self.maximum, self.minimum, self.multiple_of];
        let sizes = [
            self.max_length,
            self.min_length,
            self.max_items,
            self.min_items,
            self.max_properties,
            self.min_properties,
        ];
        self.format.is_empty()
            && numbers.iter().all(Option::is_none)
            && sizes.iter().all(Option::is_none)
            && self.pattern.is_none()
            && self.required.is_empty()
            && self.allowed.is_empty()
            && !self.exclusive_maximum
            && !self.exclusive_minimum
            && !self.unique_items
    }
}

/// Whether the schema of an object's metadata restricts nothing but its names.
fn restricts_names_only(metadata: &SchemaNode) -> bool {
    let names = ["name", "generateName"];
    metadata.properties.keys().all(|name| names.contains(&&**name))
        && has_no_validations(metadata)
        && has_no_extensions(metadata)
}

fn has_no_extensions(schema: &SchemaNode) -> bool {
    schema.list_type.is_none()
        && schema.list_map_keys.is_empty()
        && schema.map_type.is_none()
        && !schema.preserves_unknown
        && !schema.is_embedded
        && !schema.is_int_or_string
}

/// Whether a schema has at most a type, properties, a default, and extensions of Kubernetes that are no rules.
fn has_no_validations(schema: &SchemaNode) -> bool {
    schema.values.is_empty()
        && schema.items.is_none()
        && schema.additional.is_none()
        && schema
            .combinations()
            .iter()
            .all(|(_, schemas)| schemas.is_empty())
        && schema.not.is_none()
        && schema.rules.is_empty()
        && !schema.nullable
        && !schema.has_title
        && !schema.has_description
        && !schema.has_examples
        && !schema.has_empty_lists
}

/// Checks that the schema has the fields and items that combinations name.
// Upstream: apiextensions-apiserver/pkg/apiserver/schema/complete.go, validateValueValidationCompleteness
fn complete(
    values: &SchemaNode,
    schema: Option<&SchemaNode>,
    schema_path: &Path<'_>,
    path: &Path<'_>,
    errors: &mut ErrorList,
) {
    if let Some(not) = &values.not {
        nested_complete(not, schema, schema_path, &path.child("not"), errors);
    }
    for (name, schemas) in values.combinations() {
        let list = path.child(name);
        for (at, nested) in schemas.iter().enumerate() {
            nested_complete(nested, schema, schema_path, &list.index(at), errors);
        }
    }
}

fn nested_complete(
    values: &SchemaNode,
    schema: Option<&SchemaNode>,
    schema_path: &Path<'_>,
    path: &Path<'_>,
    errors: &mut ErrorList,
) {
    let Some(schema) = schema else {
        let detail = format!("because it is defined in {}", path);
        errors.push(Error::required(schema_path, &detail));
        return;
    };
    complete(values, Some(schema), schema_path, path, errors);
    if let Some(items) = &values.items {
        let (schema_path, path) = (schema_path.child("items"), path.child("items"));
        nested_complete(items, schema.items.as_deref(), &schema_path, &path, errors);
    }
    let (schema_properties, properties) = (schema_path.child("properties"), path.child("properties"));
    for (name, property) in &values.properties {
        let (schema_path, path) = (schema_properties.key(name), properties.key(name));
        nested_complete(property, schema.properties.get(name), &schema_path, &path, errors);
    }
}
