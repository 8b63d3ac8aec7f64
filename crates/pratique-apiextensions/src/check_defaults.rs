//! Whether defaults are values of their schemas.

use pratique_json::Value;
use pratique_schema::Release;
use pratique_types::cel_limits::RUNTIME_BUDGET;
use pratique_types::field::{Error, ErrorList, Path, aggregate};

use crate::metadata::{MalformedMetadata, coerce};
use crate::prune::prune_value;
use crate::rules::RuleNode;
use crate::schema::SchemaNode;
use crate::surrounding::{PlaceStep, surround};
use crate::validate::{embedded_resource, value};

/// Checks the defaults of the schema of a resource: that nothing would be pruned of them where that is required, and that they are
/// valid, also by the rules.
// Upstream: apiextensions-apiserver/pkg/apiserver/schema/defaulting/validation.go, ValidateDefaults
pub(crate) fn check_defaults(
    schema: &SchemaNode,
    rules: Option<&RuleNode>,
    requires_pruned: bool,
    release: &'static Release,
    path: &Path<'_>,
    errors: &mut ErrorList,
) {
    let mut check = DefaultCheck {
        requires_pruned,
        release,
        budget: RUNTIME_BUDGET,
        errors,
    };
    let mut steps = Vec::new();
    let place = DefaultPlace {
        resource: schema,
        is_resource: true,
        is_in_meta: false,
    };
    check.schema(schema, rules, place, &mut steps, path);
}

struct DefaultCheck<'e> {
    requires_pruned: bool,
    release: &'static Release,
    budget: u64,
    errors: &'e mut ErrorList,
}

/// The place of a schema.
#[derive(Clone, Copy)]
struct DefaultPlace<'p> {
    /// The schema of the resource around it.
    resource: &'p SchemaNode,
    /// Whether it is itself that of a resource.
    is_resource: bool,
    /// Whether it is of the metadata of the resource, or of its kind or version.
    is_in_meta: bool,
}

impl DefaultCheck<'_> {
    fn schema<'s>(
        &mut self,
        schema: &'s SchemaNode,
        rules: Option<&RuleNode>,
        place: DefaultPlace<'s>,
        steps: &mut Vec<PlaceStep<'s>>,
        path: &Path<'_>,
    ) {
        if let Some(default) = &schema.default {
            let field = path.child("default").to_string();
            if place.is_in_meta {
                self.in_metadata(default, schema, place.resource, steps, rules, &field);
            } else {
                self.elsewhere(default, schema, place.is_resource, rules, &field);
            }
        }
        if let Some(items) = &schema.items {
            let rules = rules.and_then(RuleNode::items);
            self.part(items, rules, place, PlaceStep::Index, steps, &path.child("items"));
        }
        let properties = path.child("properties");
        for (name, property) in &schema.properties {
            let is_meta = place.is_resource && matches!(&**name, "apiVersion" | "kind" | "metadata");
            let place = DefaultPlace {
                is_in_meta: place.is_in_meta || is_meta,
                ..place
            };
            let rules = rules.and_then(|rules| rules.property(name));
            self.part(
                property,
                rules,
                place,
                PlaceStep::Child(name),
                steps,
                &properties.key(name),
            );
        }
    }

    fn part<'s>(
        &mut self,
        schema: &'s SchemaNode,
        rules: Option<&RuleNode>,
        around: DefaultPlace<'s>,
        step: PlaceStep<'s>,
        steps: &mut Vec<PlaceStep<'s>>,
        path: &Path<'_>,
    ) {
        if schema.is_embedded {
            let place = DefaultPlace {
                resource: schema,
                is_resource: true,
                is_in_meta: false,
            };
            return self.schema(schema, rules, place, &mut Vec::new(), path);
        }
        let place = DefaultPlace {
            is_resource: false,
            ..around
        };
        steps.push(step);
        self.schema(schema, rules, place, steps, path);
        steps.pop();
    }

    /// A default in metadata, which are to be valid with it.
    fn in_metadata(
        &mut self,
        default: &Value<'static>,
        schema: &SchemaNode,
        resource: &SchemaNode,
        steps: &[PlaceStep<'_>],
        rules: Option<&RuleNode>,
        field: &str,
    ) {
        let mut object = surround(default.clone(), steps);
        if let Value::Object(members) = &mut object {
            for (name, text) in [("kind", "Validation"), ("apiVersion", "validation/v1")] {
                if !members.contains_key(name) {
                    members.insert(name, text);
                }
            }
        }
        let detail = match coerce(&mut object, resource, true, MalformedMetadata::Refuse) {
            Err(error) => Some(error.to_string()),
            Ok(_) => {
                let mut faults = ErrorList::default();
                embedded_resource::validate(
                    &object,
                    (resource, true),
                    self.release,
                    &Path::ROOT,
                    &mut faults,
                );
                (!faults.is_empty()).then(|| aggregate(&faults.into_vec()))
            }
        };
        if let Some(detail) = detail {
            let detail = format!("must result in valid metadata: {detail}");
            return self
                .errors
                .push(Error::invalid(field.to_owned(), default, &detail));
        }
        self.value(default, schema, rules, field);
    }

    fn elsewhere(
        &mut self,
        default: &Value<'static>,
        schema: &SchemaNode,
        is_resource: bool,
        rules: Option<&RuleNode>,
        field: &str,
    ) {
        let mut pruned = default.clone();
        prune_value(&mut pruned, schema, is_resource);
        if self.requires_pruned && pruned != *default {
            let detail = "must not have unknown fields";
            self.errors
                .push(Error::invalid(field.to_owned(), default, detail));
        }
        let mut coerced = default.clone();
        if let Err(error) = coerce(&mut coerced, schema, is_resource, MalformedMetadata::Refuse) {
            self.errors.push(within(field, error));
            return;
        }
        let mut faults = ErrorList::default();
        embedded_resource::validate(
            &coerced,
            (schema, is_resource),
            self.release,
            &Path::ROOT,
            &mut faults,
        );
        if faults.is_empty() {
            return self.value(&coerced, schema, rules, field);
        }
        self.extend(faults, field);
    }

    fn value(
        &mut self,
        default: &Value<'static>,
        schema: &SchemaNode,
        rules: Option<&RuleNode>,
        field: &str,
    ) {
        let mut faults = ErrorList::default();
        value::validate(default, schema, None, &Path::ROOT, &mut faults);
        if let Some(rules) = rules.filter(|_| faults.is_empty()) {
            rules.validate_default(default, schema, &mut self.budget, &mut faults);
        }
        self.extend(faults, field);
    }

    fn extend(&mut self, faults: ErrorList, field: &str) {
        let faults = faults.into_vec().into_iter();
        self.errors.extend(faults.map(|error| within(field, error)));
    }
}

/// An error of a default, with the field of the default before its own.
fn within(field: &str, error: Error) -> Error {
    let field = match error.field.as_str() {
        "<nil>" => field.to_owned(),
        other => format!("{field}.{other}"),
    };
    Error { field, ..error }
}
