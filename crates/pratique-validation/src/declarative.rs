//! Declarative rules: those that the API's types state in comments, as far as a server enforces them.
//!
//! They are a [table], made of the functions that Kubernetes generates from the comments, with one
//! [interpreter]. A server applies them to the object in the version of the request, after the rules that are written by
//! hand, of which they [replace](coverage) some.
// Upstream: k8s.io/api, +k8s: tags; apiserver/pkg/registry/rest/validate.go, ValidateDeclarativelyWithMigrationChecks

mod coverage;
mod formats;
mod interpreter;
mod matching;
mod shown;
mod table;

use pratique_json::Value;
use pratique_types::GroupVersionKind;
use pratique_types::field::Error;

pub(crate) use coverage::Coverage;
pub(crate) use formats::long_name;

use crate::errors::Errors;
use crate::node::Node;

/// An error of a declarative rule.
#[derive(Debug)]
struct DeclarativeError {
    error: Error,
    /// What kind of rule found it; empty for those that are told apart by the error's kind alone.
    origin: &'static str,
    /// Whether it replaces that of a rule by hand.
    is_beta: bool,
}

/// The groups of servers that are libraries of their own, whose strategies know no declarative rules.
const WITHOUT_RULES: [&str; 2] = ["apiextensions.k8s.io", "apiregistration.k8s.io"];

/// Adds the errors of an object's declarative rules; `old` is `null` where the object is new. With them, a server drops
/// handwritten errors that are there twice.
pub(crate) fn validate_declaratively(
    kind: &GroupVersionKind,
    subresource: &str,
    object: &Value<'_>,
    old: &Value<'_>,
    errors: &mut Errors,
) {
    if WITHOUT_RULES.contains(&kind.group.as_str()) {
        return;
    }
    errors.remove_duplicates();
    let table = table::Table::get();
    let Some(rules) = table.kind(kind, subresource) else {
        return;
    };
    let old = Some(old).filter(|old| !old.is_null());
    let found = interpreter::judge(table, rules, &Node::root(object), old);
    if found.is_empty() {
        return;
    }
    coverage::remove_covered(errors, &found);
    for declarative in found {
        errors.push(declarative.error);
    }
}
