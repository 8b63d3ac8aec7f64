//! PodGroupWorkloadExists: the workload that a pod group refers to exists and has its template.

use pratique_core::Attributes;
use pratique_gotext::strconv::quote;
use pratique_plugin::StateKind;

use crate::answer::{bad_request, forbidden};
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::{elements, is_kind, text};

// Upstream: plugin/pkg/admission/podgroup/admission.go
pub(crate) struct PodGroupWorkloadExists;

impl BuiltInPlugin for PodGroupWorkloadExists {
    fn validate(&self, attributes: &Attributes<'_>, context: &mut PluginCall<'_>) -> PluginAnswer {
        let request = attributes.request;
        let group = attributes.object;
        if !is_kind(group, "scheduling.k8s.io", "PodGroup") {
            return Err(bad_request(
                "resource was marked with kind PodGroup but could not be converted",
            ));
        }
        let Some(reference) = group.at(&["spec", "podGroupTemplateRef", "workload"]) else {
            return Ok(());
        };
        let workload = text(reference, &["workloadName"]);
        let quoted_name = quote(workload);
        let stored = context
            .state
            .find(StateKind::WORKLOAD, &request.namespace, workload)?;
        let Some(stored) = stored else {
            let error = format!("PodGroup rejected: Workload {quoted_name} not found");
            return Err(forbidden(attributes, error));
        };
        if !text(stored, &["metadata", "deletionTimestamp"]).is_empty() {
            let error = format!("PodGroup rejected: Workload {quoted_name} is being deleted");
            return Err(forbidden(attributes, error));
        }
        let template = text(reference, &["podGroupTemplateName"]);
        let mut templates = elements(stored, &["spec", "podGroupTemplates"]).iter();
        if templates.any(|other| text(other, &["name"]) == template) {
            Ok(())
        } else {
            let template = quote(template);
            let error =
                format!("PodGroup rejected: PodGroupTemplate {template} not found in Workload {quoted_name}");
            Err(forbidden(attributes, error))
        }
    }
}
