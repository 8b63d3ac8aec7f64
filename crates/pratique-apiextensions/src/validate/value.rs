//! Values by their schema: types, limits, enumerations, combinations, with the messages of a server.

use pratique_gotext::strconv::quote;
use pratique_json::{Object, Value, escape_html};
use pratique_types::field::{Error, ErrorList, Path};

use super::combine;
use super::correlate::CorrelatedValue;
use super::number;
use super::outcome::ValueOutcome;
use crate::schema::{AdditionalMembers, SchemaNode, SchemaType, format_check};

/// Validates an object by its schema. With an old object, errors of values that did not change are left out.
// Upstream: apiextensions-apiserver/pkg/apiserver/validation/validation.go, ValidateCustomResourceUpdate
pub(crate) fn validate(
    value: &Value<'_>,
    schema: &SchemaNode,
    old: Option<&Value<'_>>,
    path: &Path<'_>,
    errors: &mut ErrorList,
) {
    let outcome = match old {
        Some(old) => ratcheted(schema, CorrelatedValue::new(value, old, schema), path),
        None => validated(value, schema, None, path),
    };
    errors.extend(outcome.problems.into_iter().map(|problem| problem.error));
}

/// Validates a value that has an old one.
// Upstream: apiextensions-apiserver/pkg/apiserver/validation/ratcheting.go, ratchetingValueValidator.Validate
fn ratcheted(schema: &SchemaNode, correlated: CorrelatedValue<'_, '_>, path: &Path<'_>) -> ValueOutcome {
    let mut outcome = validated(correlated.new, schema, Some(&correlated), path);
    if !outcome.is_valid() && correlated.is_unchanged() {
        outcome.problems.clear();
    }
    outcome
}

/// Validates a value. The correlated old value is that of its members and items; alternatives do not see it.
// Upstream: kube-openapi/pkg/validation/validate/schema.go, SchemaValidator.Validate
pub(super) fn validated(
    value: &Value<'_>,
    schema: &SchemaNode,
    correlated: Option<&CorrelatedValue<'_, '_>>,
    path: &Path<'_>,
) -> ValueOutcome {
    let mut outcome = ValueOutcome::default();
    if value.is_null() {
        outcome.merge(null(schema, path));
        if !schema.values.allowed.is_empty() {
            outcome.merge(not_allowed(value, schema, path));
        }
        return outcome;
    }
    if !schema.types().is_empty() || !schema.values.checked_format.is_empty() {
        add(&mut outcome, of_type(value, schema, path));
    }
    add(&mut outcome, combine::validate(value, schema, path));
    match value {
        Value::String(text) => {
            add(&mut outcome, string(text, schema, path));
            let format = &*schema.values.checked_format;
            if let Some(fits) = format_check(format) {
                add(
                    &mut outcome,
                    if fits(text) {
                        ValueOutcome::default()
                    } else {
                        wrong_type(path, format, text)
                    },
                );
            }
        }
        Value::Array(items) => add(&mut outcome, array(items, schema, correlated, path)),
        _ => {
            if let Some(number_outcome) = number::validate(value, schema, path) {
                add(&mut outcome, number_outcome);
            }
        }
    }
    let allowed = if is_allowed(value, &schema.values.allowed) {
        ValueOutcome::default()
    } else {
        not_allowed(value, schema, path)
    };
    add(&mut outcome, allowed);
    if let Value::Object(members) = value {
        add(&mut outcome, object(members, schema, correlated, path));
    }
    outcome.matches += 1;
    outcome
}

/// Adds the result of one check.
fn add(outcome: &mut ValueOutcome, check_outcome: ValueOutcome) {
    outcome.merge(check_outcome);
    outcome.matches += 1;
}

/// The field of an error of a schema; a dot that it begins with is left out.
pub(super) fn field(path: &Path<'_>) -> String {
    let dotted = path.to_dotted();
    match dotted.as_str() {
        "" | "." => Path::ROOT.to_string(),
        other => other.strip_prefix('.').unwrap_or(other).to_owned(),
    }
}

// Upstream: kube-openapi/pkg/validation/validate/type.go, typeValidator.Validate
fn null(schema: &SchemaNode, path: &Path<'_>) -> ValueOutcome {
    match schema.types() {
        [] => right(),
        _ if schema.nullable => right(),
        _ => wrong_type(path, schema.type_names(), "null"),
    }
}

fn right() -> ValueOutcome {
    ValueOutcome {
        problems: Vec::new(),
        matches: 1,
    }
}

fn wrong_type(path: &Path<'_>, expected: &str, actual_type: &str) -> ValueOutcome {
    let message = format!(
        "{} in body must be of type {expected}: {}",
        path.to_dotted(),
        quote(actual_type)
    );
    let error = Error::type_invalid(field(path), actual_type, &message);
    ValueOutcome::new(message, error)
}

// Upstream: kube-openapi/pkg/validation/validate/type.go, typeValidator.Validate
fn of_type(value: &Value<'_>, schema: &SchemaNode, path: &Path<'_>) -> ValueOutcome {
    let types = schema.types();
    let format = &*schema.values.checked_format;
    let has = |of| types.contains(&of);
    let (actual_type, found_format) = match value {
        Value::Bool(_) => (SchemaType::Boolean, ""),
        Value::Int(_) => (SchemaType::Integer, "int64"),
        Value::Float(_) => (SchemaType::Number, "float64"),
        Value::String(_) => (SchemaType::String, ""),
        Value::Array(_) | Value::NilArray => (SchemaType::Array, ""),
        Value::Object(_) | Value::Null => (SchemaType::Object, ""),
    };
    let is_whole =
        matches!(value, Value::Float(number) if number::is_integer(*number)) && has(SchemaType::Integer);
    let is_integer = actual_type == SchemaType::Integer && has(SchemaType::Number);
    let is_text = matches!(value, Value::String(_) | Value::Array(_));
    let fits = has(actual_type) || is_whole || is_integer;
    if !format.is_empty() && !is_text && !fits && found_format != format {
        return wrong_type(path, format, found_format);
    }
    if !format.is_empty() && is_text && !has(SchemaType::Number) && !has(SchemaType::Integer) {
        return right();
    }
    if fits {
        right()
    } else {
        wrong_type(path, schema.type_names(), actual_type.name())
    }
}

// Upstream: kube-openapi/pkg/validation/validate/validator.go, stringValidator.Validate
fn string(text: &str, schema: &SchemaNode, path: &Path<'_>) -> ValueOutcome {
    let values = &schema.values;
    let length = match (values.max_length, values.min_length) {
        (None, None) => 0,
        _ => text.chars().count() as i64,
    };
    if let Some(max) = values.max_length.filter(|max| length > *max) {
        let key = format!("{} in body should be at most {max} chars long", path.to_dotted());
        return ValueOutcome::new(key, Error::too_long(field(path), max));
    }
    if let Some(min) = values.min_length.filter(|min| length < *min) {
        let message = format!("{} in body should be at least {min} chars long", path.to_dotted());
        return invalid(path, &text.into(), message);
    }
    if let Some(pattern) = &values.pattern {
        let pattern_text = match &pattern.regex {
            Ok(regex) if regex.is_match(text) => return ValueOutcome::default(),
            Ok(_) => pattern.text.to_string(),
            Err(error) => format!("{}, but pattern is invalid: {error}", pattern.text),
        };
        let message = format!("{} in body should match '{pattern_text}'", path.to_dotted());
        return invalid(path, &text.into(), message);
    }
    ValueOutcome::default()
}

fn invalid(path: &Path<'_>, value: &Value<'_>, message: String) -> ValueOutcome {
    let error = Error::invalid(field(path), value, &message);
    ValueOutcome::new(message, error)
}

// Upstream: kube-openapi/pkg/validation/validate/slice_validator.go, schemaSliceValidator.Validate
fn array(
    items: &[Value<'_>],
    schema: &SchemaNode,
    correlated: Option<&CorrelatedValue<'_, '_>>,
    path: &Path<'_>,
) -> ValueOutcome {
    let mut outcome = ValueOutcome::default();
    if let Some(of_item) = &schema.items {
        for (at, item) in items.iter().enumerate() {
            let path = path.index(at);
            outcome.merge(match correlated.and_then(|correlated| correlated.index(at)) {
                Some(correlated) => ratcheted(of_item, correlated, &path),
                None => validated(item, of_item, None, &path),
            });
        }
    }
    let size = items.len() as i64;
    if let Some(min) = schema.values.min_items.filter(|min| size < *min) {
        let message = format!("{} in body should have at least {min} items", path.to_dotted());
        outcome.merge(invalid(path, &Value::Int(size), message));
    }
    if let Some(max) = schema.values.max_items.filter(|max| size > *max) {
        let key = format!("{} in body should have at most {max} items", path.to_dotted());
        outcome.add(key, Error::too_many(field(path), size, max));
    }
    outcome.matches += 1;
    outcome
}

/// Whether a value is among those that are allowed, after a conversion to their types as Go's are.
// Upstream: kube-openapi/pkg/validation/validate/validator.go, basicCommonValidator.Validate
fn is_allowed(value: &Value<'_>, allowed: &[Value<'_>]) -> bool {
    allowed.is_empty() || allowed.iter().any(|allowed| converts(value, allowed))
}

fn converts(value: &Value<'_>, allowed: &Value<'_>) -> bool {
    match (value, allowed) {
        (_, Value::Null) => false,
        (Value::Int(number), Value::Float(allowed)) => (*number as f64) == *allowed,
        (Value::Float(number), Value::Int(allowed)) => (*number as i64) == *allowed,
        // An integer becomes the character that it is the number of.
        (Value::Int(number), Value::String(allowed)) => {
            let character = u32::try_from(*number).ok().and_then(char::from_u32);
            let mut text = [0; 4];
            *character
                .unwrap_or(char::REPLACEMENT_CHARACTER)
                .encode_utf8(&mut text)
                == **allowed
        }
        (value, allowed) => value == allowed,
    }
}

fn not_allowed(value: &Value<'_>, schema: &SchemaNode, path: &Path<'_>) -> ValueOutcome {
    let allowed = &schema.values.allowed;
    let texts: Vec<String> = allowed
        .iter()
        .map(|allowed| match allowed {
            Value::String(text) => text.to_string(),
            other => escape_html(&other.to_string()).into_owned(),
        })
        .collect();
    let key = format!("{} in body should be one of {texts:?}", path.to_dotted());
    ValueOutcome::new(key, Error::not_supported(field(path), value, &texts))
}

// Upstream: kube-openapi/pkg/validation/validate/object_validator.go, objectValidator.Validate
fn object(
    members: &Object<'_>,
    schema: &SchemaNode,
    correlated: Option<&CorrelatedValue<'_, '_>>,
    path: &Path<'_>,
) -> ValueOutcome {
    let mut outcome = ValueOutcome::default();
    let size = members.len() as i64;
    let values = &schema.values;
    if let Some(min) = values.min_properties.filter(|min| size < *min) {
        let message = format!(
            "{} in body should have at least {min} properties",
            path.to_dotted()
        );
        outcome.merge(invalid(path, &Value::Int(size), message));
    }
    if let Some(max) = values.max_properties.filter(|max| size > *max) {
        let key = format!(
            "{} in body should have at most {max} properties",
            path.to_dotted()
        );
        outcome.add(key, Error::too_many(field(path), size, max));
    }
    for (name, value) in members.iter() {
        let member = match (schema.properties.get(name), &schema.additional) {
            (Some(schema), _) => schema,
            (None, Some(AdditionalMembers::Schema(schema))) => schema,
            (None, Some(AdditionalMembers::Allowed(false))) => {
                let message = format!("{}.{name} in body is a forbidden property", path.to_dotted());
                outcome.merge(invalid(path, &name.into(), message));
                continue;
            }
            (None, _) => continue,
        };
        let at = path.child(name);
        // Types of objects are converted, so a change of theirs would not be seen.
        let is_type = path.is_root() && matches!(name, "apiVersion" | "kind");
        let correlated = correlated
            .filter(|_| !is_type)
            .and_then(|correlated| correlated.key(name));
        outcome.merge(match correlated {
            Some(correlated) => ratcheted(member, correlated, &at),
            None => validated(value, member, None, &at),
        });
    }
    for name in &values.required {
        if !members.contains_key(name) {
            let at = path.child(name);
            let key = format!("{} is required", at.to_dotted());
            outcome.add(key, Error::required(field(&at), ""));
        }
    }
    outcome
}
