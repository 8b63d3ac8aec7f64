//! JobValidation: the parallelism of jobs whose pods are scheduled together does not change.

use pratique_core::Attributes;
use pratique_gotext::strconv::quote;
use pratique_json::Value;
use pratique_plugin::{PluginContext, Rejection, StateKind};

use crate::answer::forbidden;
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::{elements, is_kind, name, text};

// Upstream: plugin/pkg/admission/job/admission.go
pub(crate) struct JobValidation;

impl BuiltInPlugin for JobValidation {
    fn validate(&self, attributes: &Attributes<'_>, context: &mut PluginCall<'_>) -> PluginAnswer {
        let request = attributes.request;
        let (job, old) = (attributes.object, &request.old_object);
        let parallelism = ["spec", "parallelism"];
        if !is_kind(job, "batch", "Job")
            || !is_kind(old, "batch", "Job")
            || job.at(&parallelism) == old.at(&parallelism)
        {
            return Ok(());
        }
        let gang = match gang_of(old, context)? {
            None => return Ok(()),
            Some(gang) => quote(gang),
        };
        let error = format!("cannot change parallelism for a Job referencing gang-scheduled PodGroup {gang}");
        Err(forbidden(attributes, error))
    }
}

/// The name of the group that a job's pods are scheduled with as a whole.
// Upstream: plugin/pkg/admission/job/admission.go, validateParallelismChange
fn gang_of<'s>(job: &Value<'_>, context: &PluginContext<'s>) -> Result<Option<&'s str>, Rejection> {
    let namespace = text(job, &["metadata", "namespace"]);
    let is_gang = |group: &Value<'_>| group.at(&["spec", "schedulingPolicy", "gang"]).is_some();
    let named = job.at(&["spec", "template", "spec", "schedulingGroup", "podGroupName"]);
    let state = context.state;
    if let Some(named) = named.and_then(Value::as_str) {
        let group = state.find(StateKind::POD_GROUP, namespace, named)?;
        return Ok(group.filter(|group| is_gang(group)).map(|group| name(group)));
    }
    let uid = text(job, &["metadata", "uid"]);
    let is_owned = |group: &Value<'_>| {
        let mut owners = elements(group, &["metadata", "ownerReferences"]).iter();
        let controller = owners.find(|owner| owner.get("controller").and_then(Value::as_bool) == Some(true));
        controller.is_some_and(|owner| text(owner, &["uid"]) == uid)
    };
    let groups = state.require_list(StateKind::POD_GROUP, namespace)?;
    let mut gangs = groups.iter().filter(|group| is_owned(group) && is_gang(group));
    Ok(gangs.next().map(|group| name(group)))
}
