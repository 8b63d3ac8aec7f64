//! PodTolerationRestriction: pods get the default tolerations of their namespace, and no others than it permits.

mod configuration;
mod read;

use pratique_core::Attributes;
use pratique_plugin::{MutableAttributes, PluginSettings, Rejection, StartError, gates};
use pratique_schema::Release;
use pratique_types::{AdmissionRequest, Operation};

use super::is_pod;
use super::resources::is_best_effort;
use super::toleration::{PodToleration, is_whitelisted, merge_into};
use crate::answer::not_found;
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::{annotation, elements, elements_mut};
use read::{OwnedToleration, read};

// Upstream: plugin/pkg/admission/podtolerationrestriction/admission.go
pub(crate) struct PodTolerationRestriction {
    default: Vec<OwnedToleration>,
    whitelist: Vec<OwnedToleration>,
    pod_level_resources: bool,
    release: &'static Release,
}

const DEFAULTS: &str = "scheduler.alpha.kubernetes.io/defaultTolerations";
const WHITELIST: &str = "scheduler.alpha.kubernetes.io/tolerationsWhitelist";

/// A toleration of pods that request resources.
const MEMORY_PRESSURE: PodToleration<'static> = PodToleration {
    key: "node.kubernetes.io/memory-pressure",
    operator: "Exists",
    value: "",
    effect: "NoSchedule",
    seconds: None,
};

impl BuiltInPlugin for PodTolerationRestriction {
    fn admit(&self, attributes: &mut MutableAttributes<'_, '_>, call: &mut PluginCall<'_>) -> PluginAnswer {
        let request = attributes.request;
        if !is_pod(attributes.object()) {
            return Ok(());
        }
        let of_namespace = match request.operation {
            Operation::Create => of_namespace(request, call, DEFAULTS, self.release)?,
            _ => Some(Vec::new()),
        };
        let defaults = of_namespace.as_ref().unwrap_or(&self.default);
        let mut added: Vec<PodToleration<'_>> = defaults.iter().map(OwnedToleration::borrowed).collect();
        if !is_best_effort(attributes.object(), self.pod_level_resources) {
            added.push(MEMORY_PRESSURE);
        }
        if !added.is_empty()
            && let Some(tolerations) = elements_mut(attributes.object_mut(), &["spec"], "tolerations")
        {
            merge_into(tolerations, &added);
        }
        self.check_tolerations(&attributes.as_attributes(), call)
    }

    fn validate(&self, attributes: &Attributes<'_>, call: &mut PluginCall<'_>) -> PluginAnswer {
        if is_pod(attributes.object) {
            self.check_tolerations(attributes, call)
        } else {
            Ok(())
        }
    }
}

impl PodTolerationRestriction {
    pub(crate) fn read(settings: &PluginSettings<'_>) -> Result<Self, StartError> {
        let (default, whitelist) = match settings.configuration {
            None => (Vec::new(), Vec::new()),
            Some(text) => configuration::read(
                settings.configuration_file,
                text,
                settings.feature_gates.release(),
            )?,
        };
        Ok(PodTolerationRestriction {
            default,
            whitelist,
            pod_level_resources: settings.feature_gates.is_on(gates::POD_LEVEL_RESOURCES),
            release: settings.feature_gates.release(),
        })
    }

    fn check_tolerations(&self, attributes: &Attributes<'_>, call: &PluginCall<'_>) -> PluginAnswer {
        let tolerations = elements(attributes.object, &["spec", "tolerations"]);
        if tolerations.is_empty() {
            return Ok(());
        }
        let of_namespace = of_namespace(attributes.request, call, WHITELIST, self.release)?;
        let (whitelist, scope) = match &of_namespace {
            Some(whitelist) => (whitelist, "namespace"),
            None => (&self.whitelist, "cluster"),
        };
        let whitelist: Vec<PodToleration<'_>> = whitelist.iter().map(OwnedToleration::borrowed).collect();
        if is_whitelisted(tolerations, &whitelist) {
            Ok(())
        } else {
            Err(Rejection::Error(format!(
                "pod tolerations (possibly merged with namespace default tolerations) conflict with its {scope} \
                 whitelist"
            )))
        }
    }
}

/// The tolerations in an annotation of the namespace; `None` where there is none.
// Upstream: plugin/pkg/admission/podtolerationrestriction/admission.go, extractNSTolerations
fn of_namespace(
    request: &AdmissionRequest<'_>,
    call: &PluginCall<'_>,
    key: &str,
    release: &Release,
) -> Result<Option<Vec<OwnedToleration>>, Rejection> {
    let name = &request.namespace;
    let Some(namespace) = crate::namespaces::namespace(call, name)? else {
        return Err(not_found("", "namespaces", name));
    };
    match annotation(namespace, key) {
        None => Ok(None),
        Some("") => Ok(Some(Vec::new())),
        Some(text) => read(text, release).map_err(Rejection::Error),
    }
}
