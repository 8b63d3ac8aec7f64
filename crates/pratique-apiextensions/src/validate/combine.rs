//! Combinations of schemas: `anyOf`, `oneOf`, `allOf` and `not`.

use pratique_gotext::strconv::quote;
use pratique_json::Value;
use pratique_types::field::Path;

use super::outcome::ValueOutcome;
use super::value::validated;
use crate::schema::SchemaNode;

// Upstream: kube-openapi/pkg/validation/validate/schema_props.go, schemaPropsValidator.Validate
pub(super) fn validate(value: &Value<'_>, schema: &SchemaNode, path: &Path<'_>) -> ValueOutcome {
    let mut outcome = ValueOutcome::default();
    if !schema.any_of.is_empty() {
        any_of(value, &schema.any_of, path, &mut outcome);
    }
    if !schema.one_of.is_empty() {
        one_of(value, &schema.one_of, path, &mut outcome);
    }
    if !schema.all_of.is_empty() {
        all_of(value, &schema.all_of, path, &mut outcome);
    }
    if let Some(not) = &schema.not
        && validated(value, not, None, path).is_valid()
    {
        outcome.add_message(format!("{} must not validate the schema (not)", quoted(path)));
    }
    outcome.matches += 1;
    outcome
}

fn quoted(path: &Path<'_>) -> String {
    quote(&path.to_dotted())
}

fn any_of(value: &Value<'_>, schemas: &[SchemaNode], path: &Path<'_>, outcome: &mut ValueOutcome) {
    let mut best: Option<ValueOutcome> = None;
    for schema in schemas {
        let schema_outcome = validated(value, schema, None, path);
        if schema_outcome.is_valid() {
            return outcome.merge(schema_outcome);
        }
        keep_better(&mut best, schema_outcome);
    }
    outcome.add_message(format!(
        "{} must validate at least one schema (anyOf)",
        quoted(path)
    ));
    if let Some(best) = best {
        outcome.merge(best);
    }
}

fn one_of(value: &Value<'_>, schemas: &[SchemaNode], path: &Path<'_>, outcome: &mut ValueOutcome) {
    let mut best: Option<ValueOutcome> = None;
    let mut first: Option<ValueOutcome> = None;
    let mut valid = 0;
    for schema in schemas {
        let schema_outcome = validated(value, schema, None, path);
        if schema_outcome.is_valid() {
            valid += 1;
            best = None;
            first.get_or_insert(schema_outcome);
        } else if valid == 0 {
            keep_better(&mut best, schema_outcome);
        }
    }
    let reason = match valid {
        1 => {
            outcome.merge(first.unwrap_or_default());
            return;
        }
        0 => "Found none valid".to_owned(),
        many => format!("Found {many} valid alternatives"),
    };
    outcome.add_message(format!(
        "{} must validate one and only one schema (oneOf). {reason}",
        quoted(path)
    ));
    if let Some(best) = best {
        outcome.merge(best);
    }
}

fn keep_better(best: &mut Option<ValueOutcome>, candidate: ValueOutcome) {
    if best.as_ref().is_none_or(|best| candidate.matches > best.matches) {
        *best = Some(candidate);
    }
}

fn all_of(value: &Value<'_>, schemas: &[SchemaNode], path: &Path<'_>, outcome: &mut ValueOutcome) {
    let mut valid = 0;
    for schema in schemas {
        let schema_outcome = validated(value, schema, None, path);
        valid += usize::from(schema_outcome.is_valid());
        outcome.merge(schema_outcome);
    }
    if valid < schemas.len() {
        let reason = if valid == 0 { ". None validated" } else { "" };
        outcome.add_message(format!(
            "{} must validate all the schemas (allOf){reason}",
            quoted(path)
        ));
    }
}
