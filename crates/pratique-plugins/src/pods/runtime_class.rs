//! RuntimeClass: pods get the overhead and the scheduling of their class.

use std::borrow::Cow;

use pratique_core::Attributes;
use pratique_json::{Object, Value};
use pratique_plugin::{MutableAttributes, PluginContext, PluginSettings, Rejection, StateKind};
use pratique_schema::Release;

use super::is_pod;
use super::resources::{amount, amounts, quantity};
use super::toleration::{PodToleration, merge_into};
use crate::answer::{bad_request, forbidden};
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::{descend_mut, elements, elements_mut, members, remove_at, set_at};

// Upstream: plugin/pkg/admission/runtimeclass/admission.go
pub(crate) struct RuntimeClass {
    release: &'static Release,
}

impl RuntimeClass {
    pub(crate) fn new(settings: &PluginSettings<'_>) -> Self {
        RuntimeClass {
            release: settings.feature_gates.release(),
        }
    }
}

impl BuiltInPlugin for RuntimeClass {
    fn admit(
        &self,
        attributes: &mut MutableAttributes<'_, '_>,
        context: &mut PluginCall<'_>,
    ) -> PluginAnswer {
        let Some(class) = class_of(&attributes.as_attributes(), context, self.release)? else {
            return Ok(());
        };
        set_overhead(attributes, class)?;
        set_scheduling(attributes, class)
    }

    fn validate(&self, attributes: &Attributes<'_>, context: &mut PluginCall<'_>) -> PluginAnswer {
        let class = class_of(attributes, context, self.release)?;
        let defined = class.and_then(|class| members(class, &["overhead"]));
        match (class, defined) {
            (Some(class), Some(_)) if !is_overhead(attributes.object, class) => {
                Err(forbidden(attributes, OVERHEAD_DIFFERS))
            }
            (_, None) if has_overhead(attributes) => Err(forbidden(
                attributes,
                "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
            )),
            _ => Ok(()),
        }
    }
}

const OVERHEAD_DIFFERS: &str = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

// Upstream: plugin/pkg/admission/runtimeclass/admission.go, prepareObjects
fn class_of<'s>(
    attributes: &Attributes<'_>,
    context: &PluginContext<'s>,
    release: &Release,
) -> Result<Option<&'s Value<'s>>, Rejection> {
    if !is_pod(attributes.object) {
        return Err(bad_request(
            "Resource was marked with kind Pod but was unable to be converted",
        ));
    }
    let named = attributes.object.at(&["spec", "runtimeClassName"]);
    let Some(name) = named.and_then(Value::as_str) else {
        return Ok(None);
    };
    // Upstream: prepareObjects, since 1.38; before, the class of the empty name was looked up.
    if name.is_empty() && release.at_least(1, 38) {
        return Ok(None);
    }
    match context.state.find(StateKind::RUNTIME_CLASS, "", name)? {
        None => {
            let name = pratique_gotext::strconv::quote(name);
            Err(forbidden(
                attributes,
                format!("pod rejected: RuntimeClass {name} not found"),
            ))
        }
        class => Ok(class),
    }
}

// Upstream: plugin/pkg/admission/runtimeclass/admission.go, setOverhead
fn set_overhead(attributes: &mut MutableAttributes<'_, '_>, class: &Value<'_>) -> Result<(), Rejection> {
    if members(class, &["overhead"]).is_none() {
        return Ok(());
    }
    let overhead = members(attributes.object(), &["spec", "overhead"]);
    let is_set = overhead.is_some_and(|overhead| !overhead.is_empty());
    if is_set && !is_overhead(attributes.object(), class) {
        return Err(forbidden(&attributes.as_attributes(), OVERHEAD_DIFFERS));
    }
    let fixed = members(class, &["overhead", "podFixed"])
        .into_iter()
        .flat_map(Object::iter);
    let fixed: Object<'static> = fixed
        .filter_map(|(name, value)| {
            let text = quantity(value)?.to_string();
            Some((Cow::Owned(name.to_owned()), text.into()))
        })
        .collect();
    if !fixed.is_empty() {
        set_at(attributes.object_mut(), &["spec"], "overhead", fixed);
    } else if is_set {
        remove_at(attributes.object_mut(), &["spec"], "overhead");
    }
    Ok(())
}

// Upstream: plugin/pkg/admission/runtimeclass/admission.go, setScheduling
fn set_scheduling(attributes: &mut MutableAttributes<'_, '_>, class: &Value<'_>) -> Result<(), Rejection> {
    if members(class, &["scheduling"]).is_none() {
        return Ok(());
    }
    let of_pod = members(attributes.object(), &["spec", "nodeSelector"]);
    let of_class = members(class, &["scheduling", "nodeSelector"]);
    let mut added: Vec<(String, String)> = Vec::new();
    for (key, value) in of_class.into_iter().flat_map(Object::iter) {
        let value = value.as_str().unwrap_or_default();
        match of_pod.and_then(|of_pod| of_pod.get(key)).and_then(Value::as_str) {
            Some(given) if given != value => {
                let error = format!(
                    "conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; pod.spec.nodeSelector[{key}] = \
                     {given}"
                );
                return Err(forbidden(&attributes.as_attributes(), error));
            }
            Some(_) => {}
            None => added.push((key.to_owned(), value.to_owned())),
        }
    }
    if !added.is_empty()
        && let Some(selector) = descend_mut(attributes.object_mut(), &["spec", "nodeSelector"])
    {
        for (key, value) in added {
            selector.insert(key, value);
        }
    }
    let of_class: Vec<PodToleration<'_>> = elements(class, &["scheduling", "tolerations"])
        .iter()
        .map(PodToleration::new)
        .collect();
    let of_pod = elements(attributes.object(), &["spec", "tolerations"]);
    if !(of_class.is_empty() && of_pod.is_empty())
        && let Some(tolerations) = elements_mut(attributes.object_mut(), &["spec"], "tolerations")
    {
        merge_into(tolerations, &of_class);
    }
    Ok(())
}

/// Whether a pod's overhead is that of the class.
fn is_overhead(pod: &Value<'_>, class: &Value<'_>) -> bool {
    let fixed = ["overhead", "podFixed"];
    let overhead = || amounts(pod, &["spec", "overhead"]);
    overhead().count() == amounts(class, &fixed).count()
        && overhead().all(|(name, quantity)| amount(class, &fixed, name) == Some(quantity))
}

/// Whether a pod has an overhead, even an empty one: that is written by the client only, as encoding drops it.
fn has_overhead(attributes: &Attributes<'_>) -> bool {
    let path = ["spec", "overhead"];
    members(attributes.object, &path).is_some() || members(&attributes.request.object, &path).is_some()
}
