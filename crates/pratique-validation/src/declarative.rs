//! Declarative rules: those that the API's types state in comments, as far as a server enforces them.
//!
//! They are a table, by kind and path, with one interpreter. A server applies them to the object in the version of the
//! request, after the rules that are written by hand.
// Upstream: k8s.io/api, +k8s: tags; apiserver/pkg/registry/rest/validate.go, ValidateDeclaratively

use std::collections::HashMap;
use std::sync::OnceLock;

use pratique_gotext::validation::{dns1123_label, dns1123_subdomain, qualified_name};
use pratique_types::GroupVersionKind;
use pratique_types::field::{BadValue, Error};

use crate::errors::{Errors, IMMUTABLE};
use crate::node::Node;

/// The rules of a field.
struct FieldRules {
    /// The names that lead to it; `[*]` is each element of a list.
    steps: Vec<&'static str>,
    checks: Vec<Check>,
}

enum Check {
    Required,
    Immutable,
    MaxItems(i64),
    MaxLength(i64),
    MaxBytes(i64),
    Minimum(i64),
    Maximum(i64),
    Format(&'static str),
    Enum(Vec<&'static str>),
}

/// The groups of servers that are libraries of their own, whose strategies know no declarative rules.
const WITHOUT_RULES: [&str; 2] = ["apiextensions.k8s.io", "apiregistration.k8s.io"];

/// Adds the errors of an object's declarative rules. With them, a server drops handwritten errors that are there twice.
// Upstream: apiserver/pkg/registry/rest/validate.go, ValidateDeclarativelyWithMigrationChecks
pub(crate) fn validate_declaratively(
    kind: &GroupVersionKind,
    object: &Node<'_, '_>,
    old: &Node<'_, '_>,
    errors: &mut Errors,
) {
    if WITHOUT_RULES.contains(&kind.group.as_str()) {
        return;
    }
    errors.remove_duplicates();
    for rules in rules_of(kind) {
        validate_field(object, Some(old), &rules.steps, &rules.checks, errors);
    }
}

fn rules_of(kind: &GroupVersionKind) -> &'static [FieldRules] {
    static RULES: OnceLock<HashMap<&'static str, HashMap<&'static str, Vec<FieldRules>>>> = OnceLock::new();
    let rules = RULES.get_or_init(|| {
        let mut all: HashMap<&'static str, HashMap<&'static str, Vec<FieldRules>>> = HashMap::new();
        let mut last = "";
        for line in include_str!("../data/declarative.txt").lines() {
            let mut words = line.splitn(3, ' ');
            let (Some(name), Some(path), Some(check)) = (words.next(), words.next(), words.next()) else {
                continue;
            };
            // `group/version/Kind`, without a group for the core.
            let (version, kind) = name.rsplit_once('/').unwrap_or(("", name));
            let fields = all.entry(version).or_default().entry(kind).or_default();
            let key = line.get(..name.len() + 1 + path.len()).unwrap_or_default();
            if key != last {
                fields.push(FieldRules {
                    steps: parse_steps(path),
                    checks: Vec::new(),
                });
                last = key;
            }
            if let (Some(field), Some(check)) = (fields.last_mut(), parse_check(check)) {
                field.checks.push(check);
            }
        }
        all
    });
    let of_version = rules.iter().find(|(version, _)| kind.is_of_version(version));
    let of_kind = of_version.and_then(|(_, kinds)| kinds.get(kind.kind.as_str()));
    of_kind.map(Vec::as_slice).unwrap_or_default()
}

fn parse_steps(path: &'static str) -> Vec<&'static str> {
    let mut steps = Vec::new();
    for name in path.split('.') {
        let plain = name.trim_end_matches("[*]");
        steps.push(plain);
        let lists = (name.len() - plain.len()) / "[*]".len();
        steps.extend(std::iter::repeat_n("[*]", lists));
    }
    steps
}

fn parse_check(text: &'static str) -> Option<Check> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let number = || value.parse().ok();
    Some(match name {
        "required" => Check::Required,
        "immutable" => Check::Immutable,
        "maxItems" => Check::MaxItems(number()?),
        "maxLength" => Check::MaxLength(number()?),
        "maxBytes" => Check::MaxBytes(number()?),
        "minimum" => Check::Minimum(number()?),
        "maximum" => Check::Maximum(number()?),
        "format" => Check::Format(value),
        "enum" => Check::Enum(value.split('|').collect()),
        _ => return None,
    })
}

/// Recursion follows the steps of a path.
fn validate_field(
    node: &Node<'_, '_>,
    old: Option<&Node<'_, '_>>,
    steps: &[&str],
    checks: &[Check],
    errors: &mut Errors,
) {
    // What did not change is not judged again.
    if old.is_some_and(|old| old.is_set() && node.is_same(old)) {
        return;
    }
    match steps {
        [] => check_field(node, old, checks, errors),
        ["[*]", rest @ ..] => {
            for item in node.items() {
                let is_old = old.is_some_and(|old| old.items().any(|old| old.is_same(&item)));
                if !is_old {
                    validate_field(&item, None, rest, checks, errors);
                }
            }
        }
        [name, rest @ ..] => {
            if !node.is_set() {
                return;
            }
            let old_child = old.map(|old| old.child(name));
            validate_field(&node.child(name), old_child.as_ref(), rest, checks, errors);
        }
    }
}

fn check_field(node: &Node<'_, '_>, old: Option<&Node<'_, '_>>, checks: &[Check], errors: &mut Errors) {
    if let Some(old) = old.filter(|old| old.is_set())
        && checks.iter().any(|check| matches!(check, Check::Immutable))
        && !node.is_same(old)
    {
        errors.invalid(node, BadValue::Prepared("null".into()), IMMUTABLE);
        return;
    }
    if node.is_empty() && !is_zero_pointer(node, checks) {
        if checks.iter().any(|check| matches!(check, Check::Required)) {
            errors.required(node, "");
        }
        return;
    }
    for check in checks {
        if !check_value(node, check, errors) {
            return;
        }
    }
}

/// Whether it is the number 0 where one may be left out: then 0 is a value.
fn is_zero_pointer(node: &Node<'_, '_>, checks: &[Check]) -> bool {
    node.some_int().is_some() && !checks.iter().any(|check| matches!(check, Check::Required))
}

/// Whether further checks follow.
fn check_value(node: &Node<'_, '_>, check: &Check, errors: &mut Errors) -> bool {
    let length = |of: usize| i64::try_from(of).unwrap_or(i64::MAX);
    match check {
        Check::Required | Check::Immutable => {}
        Check::MaxItems(max) => {
            if length(node.len()) > *max {
                errors.too_many(node, *max);
                return false;
            }
        }
        Check::MaxLength(max) => {
            if length(node.text().chars().count()) > *max {
                errors.push(Error::too_long_characters(node, *max));
            }
        }
        Check::MaxBytes(max) => {
            if length(node.text().len()) > *max {
                errors.too_long(node, *max);
            }
        }
        Check::Minimum(min) => {
            if node.int() < *min {
                errors.invalid(
                    node,
                    node.int(),
                    &format!("must be greater than or equal to {min}"),
                );
            }
        }
        Check::Maximum(max) => {
            if node.int() > *max {
                errors.invalid(node, node.int(), &format!("must be less than or equal to {max}"));
            }
        }
        Check::Format(format) => errors.invalid_each(node, &format_messages(format, node.text())),
        Check::Enum(values) => {
            if !values.contains(&node.text()) {
                errors.not_supported(node, values);
            }
        }
    }
    true
}

// Upstream: apimachinery/pkg/api/validate/strfmt.go
fn format_messages(format: &str, text: &str) -> Vec<String> {
    match format {
        "k8s-short-name" => dns1123_label(text),
        "k8s-long-name" => dns1123_subdomain(text),
        "k8s-long-name-caseless" => dns1123_subdomain(&text.to_lowercase()),
        "k8s-label-key" => qualified_name(text),
        _ => Vec::new(),
    }
}
