//! PodTolerationRestriction: pods get the default tolerations of their namespace, and no others than it permits.

mod configuration;
mod read;

use pratique_core::Attributes;
use pratique_plugin::{
    Effects, Gate, Handler, MutableAttributes, Plugin, PluginContext, PluginFactory, Rejection, StateKind,
};
use pratique_types::{AdmissionRequest, Operation};

use super::resources::is_best_effort;
use super::toleration::{Toleration, is_whitelisted, merge_into};
use super::{is_for_whole_pods, is_pod};
use crate::answer::not_found;
use crate::object::{annotation, elements, elements_mut};
use read::{OwnedToleration, read};

pub(crate) const FACTORY: PluginFactory = PluginFactory {
    handler: Handler::new(
        "PodTolerationRestriction",
        &[Operation::Create, Operation::Update],
    )
    .mutating()
    .validating()
    .needing(&[StateKind::NAMESPACE]),
    make: |settings| {
        let (default, whitelist) = match settings.configuration {
            None => (Vec::new(), Vec::new()),
            Some(text) => configuration::read(settings.configuration_file, text)?,
        };
        Ok(Box::new(PodTolerationRestriction {
            default,
            whitelist,
            pod_level_resources: settings.feature_gates.enabled(Gate::POD_LEVEL_RESOURCES),
        }))
    },
};

// Upstream: plugin/pkg/admission/podtolerationrestriction/admission.go
struct PodTolerationRestriction {
    default: Vec<OwnedToleration>,
    whitelist: Vec<OwnedToleration>,
    pod_level_resources: bool,
}

const DEFAULTS: &str = "scheduler.alpha.kubernetes.io/defaultTolerations";
const WHITELIST: &str = "scheduler.alpha.kubernetes.io/tolerationsWhitelist";

/// Tolerated by pods that ask for resources.
const MEMORY_PRESSURE: Toleration<'static> = Toleration {
    key: "node.kubernetes.io/memory-pressure",
    operator: "Exists",
    value: "",
    effect: "NoSchedule",
    seconds: None,
};

impl Plugin for PodTolerationRestriction {
    fn handler(&self) -> &Handler {
        &FACTORY.handler
    }

    fn admit(
        &self,
        attributes: &mut MutableAttributes<'_, '_>,
        context: &PluginContext<'_>,
        effects: &mut Effects,
    ) -> Result<(), Rejection> {
        let request = attributes.request;
        if !is_for_whole_pods(request) || !is_pod(attributes.object()) {
            return Ok(());
        }
        let of_namespace = match request.operation {
            Operation::Create => of_namespace(request, context, effects, DEFAULTS)?,
            _ => Some(Vec::new()),
        };
        let defaults = of_namespace.as_ref().unwrap_or(&self.default);
        let mut added: Vec<Toleration<'_>> = defaults.iter().map(OwnedToleration::borrowed).collect();
        if !is_best_effort(attributes.object(), self.pod_level_resources) {
            added.push(MEMORY_PRESSURE);
        }
        if !added.is_empty()
            && let Some(tolerations) = elements_mut(attributes.object_mut(), &["spec"], "tolerations")
        {
            merge_into(tolerations, &added);
        }
        self.check(&attributes.as_attributes(), context, effects)
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        context: &PluginContext<'_>,
        effects: &mut Effects,
    ) -> Result<(), Rejection> {
        match is_for_whole_pods(attributes.request) && is_pod(attributes.object) {
            true => self.check(attributes, context, effects),
            false => Ok(()),
        }
    }
}

impl PodTolerationRestriction {
    fn check(
        &self,
        attributes: &Attributes<'_>,
        context: &PluginContext<'_>,
        effects: &Effects,
    ) -> Result<(), Rejection> {
        let tolerations = elements(attributes.object, &["spec", "tolerations"]);
        if tolerations.is_empty() {
            return Ok(());
        }
        let of_namespace = of_namespace(attributes.request, context, effects, WHITELIST)?;
        let (whitelist, scope) = match &of_namespace {
            Some(whitelist) => (whitelist, "namespace"),
            None => (&self.whitelist, "cluster"),
        };
        let whitelist: Vec<Toleration<'_>> = whitelist.iter().map(OwnedToleration::borrowed).collect();
        match is_whitelisted(tolerations, &whitelist) {
            true => Ok(()),
            false => Err(Rejection::Error(format!(
                "pod tolerations (possibly merged with namespace default tolerations) conflict with its {scope} \
                 whitelist"
            ))),
        }
    }
}

/// The tolerations in an annotation of the namespace; `None` where there is none.
// Upstream: plugin/pkg/admission/podtolerationrestriction/admission.go, extractNSTolerations
fn of_namespace(
    request: &AdmissionRequest<'_>,
    context: &PluginContext<'_>,
    effects: &Effects,
    key: &str,
) -> Result<Option<Vec<OwnedToleration>>, Rejection> {
    let name = &request.namespace;
    let Some(namespace) = crate::namespaces::namespace(context, effects, name)? else {
        return Err(not_found("", "namespaces", name));
    };
    match annotation(namespace, key) {
        None => Ok(None),
        Some("") => Ok(Some(Vec::new())),
        Some(text) => read(text).map_err(Rejection::Error),
    }
}
