//! PodNodeSelector: pods run on the nodes that their namespace selects.

use std::collections::BTreeMap;

use pratique_core::Attributes;
use pratique_gotext::strconv::quote;
use pratique_gotext::validation::{label_value, qualified_name, words_before_1_35};
use pratique_json::{Object, Value};
use pratique_plugin::{MutableAttributes, PluginSettings, Rejection};
use pratique_schema::Release;

use super::is_pod;
use crate::answer::{forbidden_as, internal};
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::configuration::documents;
use crate::object::{annotation, descend_mut, members, name};

// Upstream: plugin/pkg/admission/podnodeselector/admission.go
pub(crate) struct PodNodeSelector {
    /// The labels that pods of a namespace may select, and the default selector of namespaces.
    selectors: BTreeMap<String, String>,
    release: &'static Release,
}

const ANNOTATION: &str = "scheduler.alpha.kubernetes.io/node-selector";
const CLUSTER_DEFAULT: &str = "clusterDefaultNodeSelector";

type SelectorLabels = BTreeMap<String, String>;

impl BuiltInPlugin for PodNodeSelector {
    fn admit(&self, attributes: &mut MutableAttributes<'_, '_>, call: &mut PluginCall<'_>) -> PluginAnswer {
        if !is_pod(attributes.object()) {
            return Ok(());
        }
        let selector = self.checked_selector(&attributes.as_attributes(), call)?;
        if !selector.is_empty()
            && let Some(of_pod) = descend_mut(attributes.object_mut(), &["spec", "nodeSelector"])
        {
            for (key, value) in selector {
                of_pod.insert(key, value);
            }
        }
        self.check_whitelist(&attributes.as_attributes())
    }

    fn validate(&self, attributes: &Attributes<'_>, call: &mut PluginCall<'_>) -> PluginAnswer {
        if !is_pod(attributes.object) {
            return Ok(());
        }
        self.checked_selector(attributes, call)?;
        self.check_whitelist(attributes)
    }
}

impl PodNodeSelector {
    pub(crate) fn new(settings: &PluginSettings<'_>) -> Self {
        PodNodeSelector {
            selectors: settings
                .configuration
                .map(|text| read(text, settings.feature_gates.release()))
                .unwrap_or_default(),
            release: settings.feature_gates.release(),
        }
    }

    /// The selector of the namespace, with which the pod's must not conflict.
    fn checked_selector(
        &self,
        attributes: &Attributes<'_>,
        call: &PluginCall<'_>,
    ) -> Result<SelectorLabels, Rejection> {
        let selector = self.namespace_selector(&attributes.request.namespace, call)?;
        let conflicts = of_pod(attributes.object)
            .any(|(key, value)| selector.get(key).is_some_and(|wanted| wanted != value));
        if conflicts {
            Err(refused(
                attributes,
                "pod node label selector conflicts with its namespace node label selector",
            ))
        } else {
            Ok(selector)
        }
    }

    // Upstream: plugin/pkg/admission/podnodeselector/admission.go, getNodeSelectorMap
    fn namespace_selector(
        &self,
        namespace: &str,
        call: &PluginCall<'_>,
    ) -> Result<SelectorLabels, Rejection> {
        let Some(stored) = crate::namespaces::namespace(call, namespace)? else {
            return Err(internal(&format!("namespace {namespace} does not exist")));
        };
        match annotation(stored, ANNOTATION) {
            Some(selector) => self.labels(selector),
            None => self.labels(self.selector(CLUSTER_DEFAULT)),
        }
    }

    fn check_whitelist(&self, attributes: &Attributes<'_>) -> Result<(), Rejection> {
        let whitelist = self.labels(self.selector(&attributes.request.namespace))?;
        let is_permitted =
            |(key, value): (&str, &str)| whitelist.get(key).is_some_and(|permitted| permitted == value);
        if whitelist.is_empty() || of_pod(attributes.object).all(is_permitted) {
            Ok(())
        } else {
            Err(refused(
                attributes,
                "pod node label selector labels conflict with its namespace whitelist",
            ))
        }
    }

    /// The labels of a selector; errors are in the words of the release.
    fn labels(&self, selector: &str) -> Result<SelectorLabels, Rejection> {
        labels(selector).map_err(|rejection| match rejection {
            // Upstream: apimachinery/pkg/util/validation/validation.go, IsQualifiedName and IsValidLabelValue: reworded in 1.35.
            Rejection::Error(message) if !self.release.at_least(1, 35) => {
                Rejection::Error(words_before_1_35(&message).unwrap_or(message))
            }
            other => other,
        })
    }

    fn selector(&self, name: &str) -> &str {
        self.selectors.get(name).map_or("", String::as_str)
    }
}

fn of_pod<'v>(pod: &'v Value<'_>) -> impl Iterator<Item = (&'v str, &'v str)> {
    let selector = members(pod, &["spec", "nodeSelector"])
        .into_iter()
        .flat_map(Object::iter);
    selector.map(|(key, value)| (key, value.as_str().unwrap_or_default()))
}

fn refused(attributes: &Attributes<'_>, error: &str) -> Rejection {
    forbidden_as(&attributes.request.resource, name(attributes.object), error)
}

/// The labels of a selector that has no other requirements than `key=value`.
// Upstream: apimachinery/pkg/labels/labels.go, ConvertSelectorToLabelsMap
fn labels(selector: &str) -> Result<SelectorLabels, Rejection> {
    let mut labels = SelectorLabels::new();
    if selector.is_empty() {
        return Ok(labels);
    }
    for label in selector.split(',') {
        let parts: Vec<&str> = label.split('=').collect();
        let [key, value] = parts.as_slice() else {
            return Err(Rejection::Error(format!(
                "invalid selector: [{}]",
                parts.join(" ")
            )));
        };
        let (key, value) = (trim(key), trim(value));
        reject_errors(qualified_name(key), "<nil>", key)?;
        reject_errors(label_value(value), &format!("[{key}]"), value)?;
        labels.insert(key.to_owned(), value.to_owned());
    }
    Ok(labels)
}

fn reject_errors(errors: Vec<String>, path: &str, value: &str) -> Result<(), Rejection> {
    if errors.is_empty() {
        Ok(())
    } else {
        let (value, errors) = (quote(value), errors.join("; "));
        Err(Rejection::Error(format!(
            "{path}: Invalid value: {value}: {errors}"
        )))
    }
}

fn trim(text: &str) -> &str {
    text.trim_matches(char::is_whitespace)
}

/// The selectors of a configuration. Documents that cannot be read are passed over; the first that can ends the search.
// Upstream: plugin/pkg/admission/podnodeselector/admission.go, readConfig
fn read(text: &[u8], release: &Release) -> BTreeMap<String, String> {
    let mut selectors = BTreeMap::new();
    let is_yaml = !pratique_yaml::is_json(text);
    for document in documents(text, release) {
        let Ok(document) = document else { continue };
        let mut is_sound = document.is_null() || document.as_object().is_some();
        // Go finds fields whatever their case.
        let fields = document.as_object().into_iter().flat_map(Object::iter);
        for (key, value) in fields {
            if !key.eq_ignore_ascii_case("podNodeSelectorPluginConfig") || value.is_null() {
                continue;
            }
            is_sound &= value.as_object().is_some();
            for (namespace, selector) in value.as_object().into_iter().flat_map(Object::iter) {
                let text = match selector {
                    Value::String(text) => Some(text.to_string()),
                    Value::Null => Some(String::new()),
                    // In YAML, a scalar is a text where a text is wanted.
                    Value::Bool(_) | Value::Int(_) | Value::Float(_) if is_yaml => Some(selector.to_string()),
                    _ => None,
                };
                is_sound &= text.is_some();
                selectors.insert(namespace.to_owned(), text.unwrap_or_default());
            }
        }
        if is_sound {
            break;
        }
    }
    selectors
}
