//! The rules applied to an object beside the old one.

use pratique_gotext::quantity::Quantity;
use pratique_gotext::strconv::quote;
use pratique_json::Value;
use pratique_types::field::{BadValue, Error};

use super::DeclarativeError;
use super::formats::format_errors;
use super::matching::{ElementMatch, OldElements};
use super::table::{
    DeclarativeCheck, DeclarativeRule, FieldRules, ForbiddenChange, MemberTest, RuleTable, TypeRules,
    UnionMember, ValueShape,
};
use super::typed_values::typed_json;
use crate::errors::{DEPENDENT_REQUIRED, IMMUTABLE, named};
use crate::gates::FeatureSet;
use crate::node::{Node, is_same};
use crate::quantities::quantity;

/// The errors of an object; without an old one it is new.
pub(super) fn validate(
    table: &'static RuleTable,
    rules: &TypeRules,
    object: &Node<'_, '_>,
    old: Option<&Value<'_>>,
    gates: FeatureSet,
) -> Vec<DeclarativeError> {
    // Upstream: pkg/registry/autoscaling/horizontalpodautoscaler/strategy.go, DeclarativeValidationConfig
    let had_zero = old
        .and_then(|old| old.at(&["spec", "minReplicas"]))
        .is_some_and(|count| count.as_int() == Some(0));
    let mut interpreter = RuleInterpreter {
        table,
        gates,
        had_zero,
        is_update: old.is_some(),
        errors: Vec::new(),
    };
    interpreter.validate_type(rules, object, old);
    interpreter.errors
}

struct RuleInterpreter {
    table: &'static RuleTable,
    gates: FeatureSet,
    /// Whether the old autoscaler may scale to zero, which its successor then may, too.
    had_zero: bool,
    is_update: bool,
    errors: Vec<DeclarativeError>,
}

/// Throughout, `old` is the value to which the new one corresponds; there is none where the object is new, and where no element
/// of an old list is the same one.
impl RuleInterpreter {
    /// Recursion follows the nesting of the types; those that contain themselves have no rules.
    fn validate_type(&mut self, rules: &TypeRules, node: &Node<'_, '_>, old: Option<&Value<'_>>) {
        self.validate_rules(&rules.rules, node, old);
        for field in &rules.fields {
            match field.name {
                Some(name) => self.validate_field(field, &node.child(name), old.map(|old| member(old, name))),
                None => self.validate_field(field, node, old),
            }
        }
    }

    fn validate_field(&mut self, field: &FieldRules, node: &Node<'_, '_>, old: Option<&Value<'_>>) {
        // What did not change is not validated again.
        // A pointer to an empty struct is another value than none.
        let is_same_pointer = |old: &Value<'_>| !field.is_pointer || node.is_set() != old.is_null();
        let is_unchanged = |old: &Value<'_>| node.is_same_value(old) && is_same_pointer(old);
        if self.is_update && old.is_some_and(is_unchanged) {
            return;
        }
        let old = old.filter(|old| !field.is_pointer || !old.is_null());
        self.validate_rules(&field.rules, node, old);
    }

    fn validate_rules(&mut self, rules: &[DeclarativeRule], node: &Node<'_, '_>, old: Option<&Value<'_>>) {
        let mut is_over = false;
        for rule in rules {
            if is_over && !rule.ends {
                return;
            }
            is_over |= self.validate_rule(rule, node, old) && rule.ends;
        }
    }

    /// Whether there was an error, which may be silent.
    fn validate_rule(
        &mut self,
        rule: &DeclarativeRule,
        node: &Node<'_, '_>,
        old: Option<&Value<'_>>,
    ) -> bool {
        // Nothing is worded that is not told: rules of fields that may be absent begin so.
        match &rule.check {
            DeclarativeCheck::Required(shape) if rule.is_silent => return is_missing(*shape, node.value()),
            DeclarativeCheck::Forbidden(shape) if rule.is_silent => return !is_missing(*shape, node.value()),
            _ => {}
        }
        let start = self.errors.len();
        self.apply_check(&rule.check, node, old);
        let has_errors = self.errors.len() > start;
        if rule.is_silent {
            self.errors.truncate(start);
        } else if rule.is_beta {
            for error in self.errors.iter_mut().skip(start) {
                error.is_beta = true;
            }
        }
        has_errors
    }

    fn apply_check(&mut self, check: &DeclarativeCheck, node: &Node<'_, '_>, old: Option<&Value<'_>>) {
        match check {
            DeclarativeCheck::Required(shape) if is_missing(*shape, node.value()) => {
                self.push("", Error::required(node, ""));
            }
            DeclarativeCheck::Forbidden(shape) if !is_missing(*shape, node.value()) => {
                self.push("", Error::forbidden(node, ""));
            }
            DeclarativeCheck::Required(_) | DeclarativeCheck::Forbidden(_) => {}
            DeclarativeCheck::Type(name) => {
                if let Some(rules) = self.table.of_type(name) {
                    self.validate_type(rules, node, old);
                }
            }
            DeclarativeCheck::Cohort(rules) => self.validate_rules(rules, node, old),
            DeclarativeCheck::If { option, is_on, rule } => {
                let is_gate_on = self.gates.feature_gates.is_on(option);
                let has_option = is_gate_on || (*option == "HPAScaleToZero" && self.had_zero);
                if has_option == *is_on {
                    self.validate_rule(rule, node, old);
                }
            }
            DeclarativeCheck::Immutable if self.is_update => self.push_nil("immutable", node, IMMUTABLE),
            DeclarativeCheck::Immutable => {}
            DeclarativeCheck::MaxItems(..)
            | DeclarativeCheck::MaxProperties(..)
            | DeclarativeCheck::MinimumQuantity(..)
            | DeclarativeCheck::MaxLength(..)
            | DeclarativeCheck::MaxBytes(..)
            | DeclarativeCheck::Minimum(..)
            | DeclarativeCheck::Maximum(..)
            | DeclarativeCheck::Monotonic
            | DeclarativeCheck::Format(..)
            | DeclarativeCheck::Custom(..)
            | DeclarativeCheck::Enum(..) => self.check_scalar(check, node, old),
            DeclarativeCheck::Each(by, rule) => self.validate_elements(by, rule, node, old),
            DeclarativeCheck::EachValue(rule) => self.validate_values(rule, node, old),
            DeclarativeCheck::EachKey(rule) => self.validate_keys(rule, node, old),
            DeclarativeCheck::Unique(by, type_name) => {
                let elements = node.value().as_array().unwrap_or_default();
                let repeated = by.repeated(elements);
                let release = self.gates.feature_gates.release();
                for (index, element) in node.items().enumerate() {
                    if repeated.binary_search(&index).is_ok() {
                        let value = match type_name {
                            Some(name) => typed_json(release, name, element.value()),
                            None => BadValue::Json(element.value()),
                        };
                        self.push("", Error::duplicate(element, value));
                    }
                }
            }
            DeclarativeCheck::Subfield(name, rule) => {
                let (field, old) = (node.child(name), old.map(|old| member(old, name)));
                if !(self.is_update && old.is_some_and(|old| field.is_same_value(old))) {
                    self.validate_rule(rule, &field, old);
                }
            }
            DeclarativeCheck::Discriminated {
                field,
                by,
                cases,
                otherwise,
            } => {
                let (field, old_field) = (node.child(field), old.map(|old| member(old, field)));
                let value = node.child(by);
                let is_unchanged =
                    old.is_some_and(|old| member(old, by).as_str().unwrap_or_default() == value.as_text());
                if is_unchanged && old_field.is_some_and(|old| field.is_same_value(old)) {
                    return;
                }
                let case = cases.iter().find(|(case, _)| *case == value.as_text());
                let rules = case.map_or(otherwise, |(_, rules)| rules);
                self.validate_rules(rules, &field, old_field.filter(|old| !old.is_null()));
            }
            DeclarativeCheck::Dependent {
                trigger,
                dependent,
                is_required,
            } => self.check_dependent(trigger, dependent, *is_required, node, old),
            DeclarativeCheck::Union { members, is_required } => {
                self.check_union(members, *is_required, node, old)
            }
            DeclarativeCheck::DiscriminatedUnion { by, members } => {
                self.check_discriminated(by, members, node, old)
            }
            DeclarativeCheck::Update(shape, by, constraints) => {
                if self.is_update {
                    self.check_update(*shape, by, constraints, node, old);
                }
            }
        }
    }

    // Upstream: apimachinery/pkg/api/validate/limits.go, enum.go, monotonic.go
    fn check_scalar(&mut self, check: &DeclarativeCheck, node: &Node<'_, '_>, old: Option<&Value<'_>>) {
        let length = |of: usize| i64::try_from(of).unwrap_or(i64::MAX);
        let (number, text) = (node.int(), node.as_text());
        match check {
            DeclarativeCheck::MaxProperties(max) if length(node.len()) > *max => {
                self.push("maxProperties", Error::too_many(node, length(node.len()), *max));
            }
            DeclarativeCheck::MinimumQuantity(min)
                if node.is_set() && quantity(node) < Quantity::from_integer(*min) =>
            {
                let detail = format!("must be greater than or equal to {min}");
                self.push("minimum", Error::invalid(node, text, &detail));
            }
            DeclarativeCheck::MaxItems(max) if length(node.len()) > *max => {
                self.push("maxItems", Error::too_many(node, length(node.len()), *max));
            }
            DeclarativeCheck::MaxLength(max) if length(text.chars().count()) > *max => {
                self.push("maxLength", Error::too_long_characters(node, *max));
            }
            DeclarativeCheck::MaxBytes(max) if length(text.len()) > *max => {
                self.push("maxBytes", Error::too_long(node, *max));
            }
            DeclarativeCheck::Minimum(min) if number < *min => {
                let detail = format!("must be greater than or equal to {min}");
                self.push("minimum", Error::invalid(node, number, &detail));
            }
            DeclarativeCheck::Maximum(max) if number > *max => {
                let detail = format!("must be less than or equal to {max}");
                self.push("maximum", Error::invalid(node, number, &detail));
            }
            DeclarativeCheck::Monotonic => {
                let old_number = old.and_then(Value::as_int).filter(|old| number < *old);
                if let Some(old_number) = old_number.filter(|_| self.is_update && node.is_set()) {
                    let detail = format!("may not be decreased from {old_number}");
                    self.push("monotonic", Error::invalid(node, number, &detail));
                }
            }
            DeclarativeCheck::Format(format, is_plain) => {
                for error in format_errors(format, node.path(), text, *is_plain, self.gates.release) {
                    self.push_format(format, error);
                }
            }
            DeclarativeCheck::Custom(rule) => {
                for error in rule.errors(node) {
                    self.push("", error);
                }
            }
            DeclarativeCheck::Enum(values) if !values.contains(&text) => {
                self.push("", Error::not_supported(node, named(text), values));
            }
            _ => {}
        }
    }

    // Upstream: apimachinery/pkg/api/validate/each.go, EachValSliceVal
    fn validate_elements(
        &mut self,
        by: &ElementMatch,
        rule: &DeclarativeRule,
        node: &Node<'_, '_>,
        old: Option<&Value<'_>>,
    ) {
        let old = OldElements::new(by, old);
        for element in node.items() {
            let old = old.find(element.value());
            if !(self.is_update && old.is_some_and(|old| is_same(element.value(), old))) {
                self.validate_rule(rule, &element, old);
            }
        }
    }

    // Upstream: apimachinery/pkg/api/validate/each.go, EachMapVal
    fn validate_values(&mut self, rule: &DeclarativeRule, node: &Node<'_, '_>, old: Option<&Value<'_>>) {
        for (key, value) in node.entries() {
            let old = old.and_then(|old| old.get(key));
            if !(self.is_update && old.is_some_and(|old| is_same(value.value(), old))) {
                self.validate_rule(rule, &value, old);
            }
        }
    }

    // Upstream: apimachinery/pkg/api/validate/each.go, EachMapKey
    fn validate_keys(&mut self, rule: &DeclarativeRule, node: &Node<'_, '_>, old: Option<&Value<'_>>) {
        for (key, _) in node.entries() {
            let is_old = self.is_update && old.is_some_and(|old| old.get(key).is_some());
            if !is_old {
                let value = Value::from(key);
                self.validate_rule(rule, &Node::with_path(&value, *node.path()), None);
            }
        }
    }

    // Upstream: apimachinery/pkg/api/validate/dependentrequired.go
    fn check_dependent(
        &mut self,
        trigger: &UnionMember,
        dependent: &UnionMember,
        is_required: bool,
        node: &Node<'_, '_>,
        old: Option<&Value<'_>>,
    ) {
        let is_set = |of: &Value<'_>| (is_set(trigger, of), is_set(dependent, of));
        let now = is_set(node.value());
        if old.is_some_and(|old| is_set(old) == now) {
            return;
        }
        let field = node.child(dependent.name);
        match now {
            (true, false) if is_required => {
                let detail = format!("must be set when {} is set", trigger.name);
                self.push(DEPENDENT_REQUIRED, Error::required(field, &detail));
            }
            (true, true) if !is_required => {
                let detail = format!("may not be set when {} is set", trigger.name);
                self.push("dependentForbidden", Error::forbidden(field, &detail));
            }
            _ => {}
        }
    }

    // Upstream: apimachinery/pkg/api/validate/union.go, unionValidate
    fn check_union(
        &mut self,
        members: &[UnionMember],
        is_required: bool,
        node: &Node<'_, '_>,
        old: Option<&Value<'_>>,
    ) {
        let is_unchanged = |old: &Value<'_>| {
            members
                .iter()
                .all(|member| is_set(member, old) == is_set(member, node.value()))
        };
        if old.is_some_and(is_unchanged) {
            return;
        }
        let set = || members.iter().filter(|member| is_set(member, node.value()));
        let every = || {
            let quoted: Vec<String> = members
                .iter()
                .map(|member| format!("`{}`", member.name))
                .collect();
            quoted.join(", ")
        };
        let (origin, quantity) = match (set().count(), is_required) {
            (0, true) => {
                let detail = format!("must specify one of: {}", every());
                self.push("union", Error::invalid(node, "", &detail));
                return;
            }
            (0 | 1, _) => return,
            (_, true) => ("union", "exactly"),
            (_, false) => ("zeroOrOneOf", "at most"),
        };
        let names: Vec<&str> = set().map(|member| member.name).collect();
        let (value, detail) = (
            format!("{{{}}}", names.join(", ")),
            format!("must specify {quantity} one of: {}", every()),
        );
        self.push(origin, Error::invalid(node, value.as_str(), &detail));
    }

    // Upstream: apimachinery/pkg/api/validate/union.go, DiscriminatedUnion
    fn check_discriminated(
        &mut self,
        by: &str,
        members: &[(UnionMember, &str)],
        node: &Node<'_, '_>,
        old: Option<&Value<'_>>,
    ) {
        let value = node.child(by);
        let is_unchanged = |old: &Value<'_>| {
            let is_same = |(of, _): &(UnionMember, &str)| is_set(of, old) == is_set(of, node.value());
            member(old, by).as_str().unwrap_or_default() == value.as_text() && members.iter().all(is_same)
        };
        if old.is_some_and(is_unchanged) {
            return;
        }
        for (of, expected) in members {
            let detail = match (is_set(of, node.value()), value.as_text() == *expected) {
                (true, false) => format!("may only be specified when `{by}` is {}", quote(expected)),
                (false, true) => format!("must be specified when `{by}` is {}", quote(value.as_text())),
                _ => continue,
            };
            self.push("union", Error::invalid(node.child(of.name), "", &detail));
        }
    }

    // Upstream: apimachinery/pkg/api/validate/update.go
    fn check_update(
        &mut self,
        shape: ValueShape,
        by: &ElementMatch,
        constraints: &[ForbiddenChange],
        node: &Node<'_, '_>,
        old: Option<&Value<'_>>,
    ) {
        // A plain value without an old one may be anything.
        if matches!(shape, ValueShape::Value) && old.is_none() {
            return;
        }
        let was_missing = old.is_none_or(|old| is_missing(shape, old));
        let is_missing = is_missing(shape, node.value());
        for constraint in constraints {
            match constraint {
                ForbiddenChange::Set if was_missing && !is_missing => {
                    self.push_nil("update", node, "field cannot be set once created");
                }
                ForbiddenChange::Unset if !was_missing && is_missing => {
                    self.push_nil("update", node, "field cannot be cleared once set");
                }
                ForbiddenChange::Modify if !was_missing && !is_missing => {
                    self.push_nil("update", node, "field cannot be modified once set");
                }
                ForbiddenChange::AddItem => {
                    let old = OldElements::new(by, old);
                    for element in node.items().filter(|element| old.find(element.value()).is_none()) {
                        self.push("update", Error::forbidden(element, "item may not be added"));
                    }
                }
                ForbiddenChange::RemoveItem => {
                    let new = OldElements::new(by, Some(node.value()));
                    let old = old.and_then(Value::as_array).unwrap_or_default();
                    for _ in old.iter().filter(|element| new.find(element).is_none()) {
                        self.push("update", Error::forbidden(node, "item may not be removed"));
                    }
                }
                ForbiddenChange::Set | ForbiddenChange::Unset | ForbiddenChange::Modify => {}
            }
        }
    }

    fn push(&mut self, origin: &'static str, error: Error) {
        self.errors.push(DeclarativeError {
            error,
            origin,
            is_beta: false,
        });
    }

    /// An error that does not say what the value is.
    fn push_nil(&mut self, origin: &'static str, node: &Node<'_, '_>, detail: &str) {
        self.push(
            origin,
            Error::invalid(node, BadValue::Prepared("null".into()), detail),
        );
    }

    fn push_format(&mut self, format: &str, error: Error) {
        const ORIGINS: &[&str] = &[
            "format=k8s-short-name",
            "format=k8s-long-name",
            "format=k8s-long-name-caseless",
            "format=k8s-label-key",
            "format=k8s-uuid",
            "format=k8s-resource-pool-name",
            "format=k8s-extended-resource-name",
            "format=k8s-resource-fully-qualified-name",
        ];
        let mut origins = ORIGINS.iter();
        let origin = origins.find(|origin| origin.strip_prefix("format=") == Some(format));
        self.push(origin.copied().unwrap_or("format"), error);
    }
}

fn member<'v, 'd>(value: &'v Value<'d>, name: &str) -> &'v Value<'d> {
    value.get(name).unwrap_or(&Value::Null)
}

// Upstream: apimachinery/pkg/api/validate/required.go
fn is_missing(shape: ValueShape, value: &Value<'_>) -> bool {
    match shape {
        ValueShape::Value => is_zero(value),
        ValueShape::Pointer => value.is_null(),
        ValueShape::Collection => value.is_empty(),
    }
}

/// Whether it is the zero value of its type in Go. Recursion follows the nesting of the value.
fn is_zero(value: &Value<'_>) -> bool {
    match value {
        Value::Null | Value::NilArray | Value::Bool(false) | Value::Int(0) => true,
        Value::Float(number) => *number == 0.0,
        Value::String(text) => text.is_empty(),
        Value::Object(members) => members.iter().all(|(_, member)| is_zero(member)),
        Value::Array(_) | Value::Bool(true) | Value::Int(_) => false,
    }
}

fn is_set(of: &UnionMember, value: &Value<'_>) -> bool {
    match of.test {
        MemberTest::NotNull => !member(value, of.name).is_null(),
        MemberTest::NotEmpty => !member(value, of.name).is_empty() && !is_zero(member(value, of.name)),
        MemberTest::HasElement {
            member: name,
            value: text,
        } => {
            let elements = value.as_array().unwrap_or_default();
            elements
                .iter()
                .any(|element| member(element, name).as_str() == Some(text))
        }
    }
}
