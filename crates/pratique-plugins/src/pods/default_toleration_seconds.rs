//! DefaultTolerationSeconds: pods tolerate nodes that are not ready for some minutes.

use pratique_json::Value;
use pratique_plugin::{MutableAttributes, PluginSettings};

use super::is_pod;
use crate::answer::bad_request;
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::{elements, elements_mut, go_type, object, text};

// Upstream: plugin/pkg/admission/defaulttolerationseconds/admission.go
pub(crate) struct DefaultTolerationSeconds {
    /// Taints, and how long they are tolerated.
    defaults: [(&'static str, i64); 2],
}

impl DefaultTolerationSeconds {
    pub(crate) fn new(settings: &PluginSettings<'_>) -> Self {
        let not_ready = settings.not_ready_toleration_seconds;
        let unreachable = settings.unreachable_toleration_seconds;
        DefaultTolerationSeconds {
            defaults: [
                ("node.kubernetes.io/not-ready", not_ready),
                ("node.kubernetes.io/unreachable", unreachable),
            ],
        }
    }
}

impl BuiltInPlugin for DefaultTolerationSeconds {
    fn admit(&self, attributes: &mut MutableAttributes<'_, '_>, _: &mut PluginCall<'_>) -> PluginAnswer {
        if !is_pod(attributes.object()) {
            return Err(bad_request(format!(
                "expected *api.Pod but got {}",
                go_type(attributes.object())
            )));
        }
        let tolerations = elements(attributes.object(), &["spec", "tolerations"]);
        let lacking = self.defaults.map(|(taint, _)| !tolerate(tolerations, taint));
        if lacking.contains(&true)
            && let Some(tolerations) = elements_mut(attributes.object_mut(), &["spec"], "tolerations")
        {
            let defaults = self.defaults.iter().zip(lacking);
            for ((taint, seconds), _) in defaults.filter(|(_, is_lacking)| *is_lacking) {
                tolerations.push(object([
                    ("effect", "NoExecute".into()),
                    ("key", (*taint).into()),
                    ("operator", "Exists".into()),
                    ("tolerationSeconds", (*seconds).into()),
                ]));
            }
        }
        Ok(())
    }
}

fn tolerate(tolerations: &[Value<'_>], taint: &str) -> bool {
    tolerations.iter().any(|toleration| {
        matches!(text(toleration, &["key"]), key if key.is_empty() || key == taint)
            && matches!(text(toleration, &["effect"]), "" | "NoExecute")
    })
}
