//! Scopes of quotas and of limited resources.

use std::fmt::{self, Display, Formatter};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use pratique_gotext::strconv::quote;
use pratique_json::Value;
use pratique_match::Selector;

use crate::QuotaError;
use crate::fields::{items, text_at};

/// A scope with an operator and values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeSelector {
    /// The name of the scope: `PriorityClass`.
    pub scope: String,
    /// The operator, as it is written.
    pub operator: String,
    /// The values; `None` where there are none given.
    pub values: Option<Vec<String>>,
    /// The operator, unless the selector cannot be read.
    compiled: Result<ScopeOperator, QuotaError>,
}

/// The operators of selectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScopeOperator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

impl ScopeSelector {
    /// A selector as it is written.
    pub fn new(scope: String, operator: String, values: Option<Vec<String>>) -> Self {
        let compiled = compile(&scope, &operator, values.as_ref());
        ScopeSelector {
            scope,
            operator,
            values,
            compiled,
        }
    }

    /// A scope of `spec.scopes`.
    pub fn exists(scope: &str) -> Self {
        ScopeSelector::new(scope.to_owned(), "Exists".to_owned(), None)
    }

    /// A selector of a list of `matchExpressions` or `matchScopes`.
    pub fn read(value: &Value<'_>) -> Self {
        let values = value.get("values").and_then(Value::as_array).map(|values| {
            let texts = values.iter().map(|value| value.as_str().unwrap_or_default());
            texts.map(str::to_owned).collect()
        });
        let owned = |name| text_at(value, &[name]).to_owned();
        ScopeSelector::new(owned("scopeName"), owned("operator"), values)
    }

    /// Whether one of the names that an object has for the scope is selected, or none at all.
    ///
    /// # Errors
    /// The selector cannot be read.
    // Upstream: pkg/apis/core/v1/helper/helpers.go, ScopedResourceSelectorRequirementsAsSelector
    pub(crate) fn selects(&self, names: &[&str]) -> Result<bool, QuotaError> {
        if self.operator == "Exists" {
            return Ok(!names.is_empty());
        }
        let operator = self.compiled.clone()?;
        let values = self.values.as_deref().unwrap_or_default();
        let has = |name: &&str| values.iter().any(|value| value == name);
        Ok(match operator {
            ScopeOperator::Exists => !names.is_empty(),
            ScopeOperator::DoesNotExist => names.is_empty(),
            ScopeOperator::In => names.iter().any(has),
            ScopeOperator::NotIn => names.is_empty() || names.iter().any(|name| !has(name)),
        })
    }

    /// Whether evaluating it for a scope with values fails.
    pub(crate) fn is_invalid(&self) -> bool {
        self.operator != "Exists" && self.compiled.is_err()
    }
}

/// The selectors of a quota.
// Upstream: pkg/admission/plugin/resourcequota/controller.go, getScopeSelectorsFromQuota
pub(crate) fn selectors_of(quota: &Value<'_>) -> Vec<ScopeSelector> {
    let Some(spec) = quota.get("spec") else {
        return Vec::new();
    };
    let scopes = items(spec, "scopes").iter();
    let scopes = scopes.map(|scope| ScopeSelector::exists(scope.as_str().unwrap_or_default()));
    let selector = spec.get("scopeSelector");
    let expressions = selector.map_or(&[] as &[_], |selector| items(selector, "matchExpressions"));
    scopes
        .chain(expressions.iter().map(ScopeSelector::read))
        .collect()
}

fn compile(scope: &str, operator: &str, values: Option<&Vec<String>>) -> Result<ScopeOperator, QuotaError> {
    let operator = match operator {
        "In" => ScopeOperator::In,
        "NotIn" => ScopeOperator::NotIn,
        "Exists" => ScopeOperator::Exists,
        "DoesNotExist" => ScopeOperator::DoesNotExist,
        other => {
            let text = format!("{} is not a valid scope selector operator", quote(other));
            return Err(QuotaError::Selector(text));
        }
    };
    let is_of_values = matches!(operator, ScopeOperator::In | ScopeOperator::NotIn);
    if is_of_values && values.is_none_or(Vec::is_empty) {
        let values_text = if values.is_some() { "[]" } else { "null" };
        return Err(QuotaError::Selector(format!(
            "values: Invalid value: {values_text}: for 'in', 'notin' operators, values set can't be empty"
        )));
    }
    // `Selector` checks the requirement as one on labels.
    let requirement = LabelSelectorRequirement {
        key: scope.to_owned(),
        operator: format!("{operator:?}"),
        values: values.cloned(),
    };
    let selector = LabelSelector {
        match_expressions: Some(vec![requirement]),
        ..LabelSelector::default()
    };
    match Selector::compile(&selector) {
        Ok(_) => Ok(operator),
        Err(error) => Err(QuotaError::Selector(error.to_string())),
    }
}

/// As Go shows the struct: `{PriorityClass In [high]}`.
impl Display for ScopeSelector {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let values = self.values.as_deref().unwrap_or_default().join(" ");
        write!(f, "{{{} {} [{values}]}}", self.scope, self.operator)
    }
}
