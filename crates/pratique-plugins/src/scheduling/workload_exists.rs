//! PodGroupWorkloadExists: the workload that a pod group refers to exists and has its template.

use pratique_core::Attributes;
use pratique_gotext::strconv::quote;
use pratique_plugin::{Gate, Handler, PluginContext, PluginFactory, StateKind};
use pratique_types::Operation;

use crate::answer::{bad_request, forbidden};
use crate::object::{elements, is_kind, text};
use crate::plain::{Answer, PlainPlugin, plain};

pub(crate) const FACTORY: PluginFactory = PluginFactory {
    handler: Handler::new("PodGroupWorkloadExists", &[Operation::Create])
        .validating()
        .needing(&[StateKind::WORKLOAD]),
    make: |settings| {
        let enabled = settings.feature_gates.enabled(Gate::GENERIC_WORKLOAD);
        plain(FACTORY.handler, PodGroupWorkloadExists { enabled })
    },
};

// Upstream: plugin/pkg/admission/podgroup/admission.go
struct PodGroupWorkloadExists {
    enabled: bool,
}

impl PlainPlugin for PodGroupWorkloadExists {
    fn validate(&self, attributes: &Attributes<'_>, context: &PluginContext<'_>) -> Answer {
        let request = attributes.request;
        let resource = &request.resource;
        let group = attributes.object;
        if !self.enabled
            || resource.resource != "podgroups"
            || resource.group != "scheduling.k8s.io"
            || !request.sub_resource.is_empty()
        {
            return Ok(());
        }
        if !is_kind(group, "scheduling.k8s.io", "PodGroup") {
            return Err(bad_request(
                "resource was marked with kind PodGroup but could not be converted",
            ));
        }
        let Some(reference) = group.at(&["spec", "podGroupTemplateRef", "workload"]) else {
            return Ok(());
        };
        let workload = text(reference, &["workloadName"]);
        let shown = quote(workload);
        let stored = context
            .state
            .find(StateKind::WORKLOAD, &request.namespace, workload)?;
        let Some(stored) = stored else {
            let error = format!("PodGroup rejected: Workload {shown} not found");
            return Err(forbidden(attributes, error));
        };
        if !text(stored, &["metadata", "deletionTimestamp"]).is_empty() {
            let error = format!("PodGroup rejected: Workload {shown} is being deleted");
            return Err(forbidden(attributes, error));
        }
        let template = text(reference, &["podGroupTemplateName"]);
        let mut templates = elements(stored, &["spec", "podGroupTemplates"]).iter();
        match templates.any(|other| text(other, &["name"]) == template) {
            true => Ok(()),
            false => {
                let template = quote(template);
                let error =
                    format!("PodGroup rejected: PodGroupTemplate {template} not found in Workload {shown}");
                Err(forbidden(attributes, error))
            }
        }
    }
}
