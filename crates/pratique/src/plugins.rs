//! The plugins of a chain, and what they see of the cluster.
//!
//! A [`PluginChain`] has the [plugins](Plugin) that are built into kube-apiserver, as
//! `pratique-plugins`, `pratique-pod-security` and `pratique-quota` make them, and those of a program, which come after
//! them and before policies. [`AdmissionBuilder::plugins`](crate::AdmissionBuilder::plugins) puts them around policies and
//! webhooks; each request [gives](crate::AdmissionContext::with_plugins) them their [view of the cluster](ClusterState).
//!
//! A [`Plugin`] is for what decides at once, by the request and by state that is there: it may have two halves, takes part
//! in the second round, is undecided where it lacks something, and reports what it would write. What has to wait, for the
//! answer of another service, is an [`AdmissionStep`](crate::AdmissionStep), which is asynchronous and sees the request
//! only.
//!
//! ```
//! use pratique::plugins::{
//!     Effects, Handler, MutableAttributes, Plugin, PluginContext, Rejection, StateKind, StateObjects,
//! };
//! use pratique::types::{AdmissionRequest, GroupVersionKind, GroupVersionResource, Operation, Reason, Status};
//! use pratique::{Admission, AdmissionContext, Attributes, Objects, PluginChain, PluginInputs};
//!
//! const TEAM: Handler =
//!     Handler::new("Team", &[Operation::Create]).mutating().validating().needing(&[StateKind::NAMESPACE]);
//!
//! /// Copies the team of a namespace to its objects, and requires one.
//! struct Team;
//!
//! impl Plugin for Team {
//!     fn handler(&self) -> &Handler {
//!         &TEAM
//!     }
//!
//!     fn admit(
//!         &self,
//!         attributes: &mut MutableAttributes<'_, '_>,
//!         context: &PluginContext<'_>,
//!         _: &mut Effects,
//!     ) -> Result<(), Rejection> {
//!         // Undecided if the namespace is not known.
//!         let namespace = context.state.find(StateKind::NAMESPACE, "", &attributes.request.namespace)?;
//!         let team = namespace.and_then(|namespace| namespace.at(&["metadata", "labels", "team"])).cloned();
//!         if let (Some(team), pratique::json::Value::Object(object)) = (team, attributes.object_mut()) {
//!             object.insert("team", team.into_owned());
//!         }
//!         Ok(())
//!     }
//!
//!     fn validate(
//!         &self,
//!         attributes: &Attributes<'_>,
//!         _: &PluginContext<'_>,
//!         _: &mut Effects,
//!     ) -> Result<(), Rejection> {
//!         match attributes.object.get("team") {
//!             Some(_) => Ok(()),
//!             None => Err(Status::failure(Reason::Forbidden, "it has no team").into()),
//!         }
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let admission = Admission::builder().plugins(PluginChain::new(vec![Box::new(Team)])).build()?;
//! let mut state = StateObjects::default();
//! state.insert(pratique::json::parse(br#"{"apiVersion": "v1", "kind": "Namespace",
//!     "metadata": {"name": "shop", "labels": {"team": "till"}}}"#)?.into_owned())?;
//! let cluster = Objects::new();
//! let context = AdmissionContext::new(&cluster).with_plugins(PluginInputs::new(&state));
//!
//! let mut request = AdmissionRequest {
//!     kind: GroupVersionKind::new("", "v1", "ConfigMap"),
//!     resource: GroupVersionResource::new("", "v1", "configmaps"),
//!     operation: Operation::Create,
//!     namespace: "shop".to_owned(),
//!     object: pratique::json::parse(br#"{"data": {}}"#)?,
//!     ..AdmissionRequest::default()
//! };
//! let outcome = admission.admit(&request, context.clone(), &mut ()).await?;
//! assert_eq!(outcome.object.ok_or("unchanged")?.to_string(), r#"{"data":{},"team":"till"}"#);
//!
//! request.namespace = "bank".to_owned();
//! let outcome = admission.admit(&request, context, &mut ()).await?;
//! assert_eq!(
//!     outcome.undecided[0].to_string(),
//!     r#"Team is undecided: Namespace objects named "bank" are not known"#
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(()) })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::{Arc, LazyLock};
use std::time::Duration;

#[cfg(feature = "webhooks")]
pub use crate::image_backend::{HttpImageBackend, ImageBackendError};
use crate::image_reviews::ImageAnswers;
pub use crate::image_reviews::{ImageBackend, ImageReviewing};
use pratique_policy::{MissingDependency, UndecidedDecision};

pub use pratique_plugin::{
    Access, AccessAnswer, AccessReviewer, BUILT_IN, BuiltIn, ChangedQuota, ClusterState, CreatedObject,
    Effects, FieldTree, FieldsRead, Handler, ImageReviewAnswer, ImageReviewer, LookedUpPart, Lookup,
    MissingState, MutableAttributes, ObjectList, ObjectText, Operations, Plugin, PluginChain, PluginContext,
    PluginFactory, PluginSettings, Rejection, Stage, StartError, StateKind, StateObjects, default_plugins,
    default_plugins_of,
};

/// The plugins of an admission, if it has any.
#[derive(Clone, Debug, Default)]
pub(crate) struct AdmissionPlugins(Option<Arc<ChainedPlugins>>);

#[derive(Debug)]
struct ChainedPlugins {
    chain: PluginChain,
    /// The kinds that its plugins look up, besides namespaces.
    kinds: Vec<StateKind>,
}

impl AdmissionPlugins {
    pub(crate) fn new(chain: PluginChain) -> Self {
        let needs = chain
            .plugins()
            .flat_map(|plugin| plugin.handler().needs.iter().copied());
        let mut kinds: Vec<StateKind> = needs.filter(|kind| *kind != StateKind::NAMESPACE).collect();
        kinds.sort_unstable();
        kinds.dedup();
        AdmissionPlugins(Some(Arc::new(ChainedPlugins { chain, kinds })))
    }

    /// The plugins, in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &dyn Plugin> {
        self.stage(Stage::All)
    }

    /// The plugins of a stage, in their order.
    pub(crate) fn stage(&self, stage: Stage) -> impl Iterator<Item = &dyn Plugin> {
        self.0.iter().flat_map(move |chained| chained.chain.stage(stage))
    }

    /// The kinds that plugins look up besides namespaces; `None` where there are no plugins.
    pub(crate) fn kinds(&self) -> Option<&[StateKind]> {
        self.0.as_ref().map(|chained| chained.kinds.as_slice())
    }
}

/// The report of a plugin that is undecided because some state of the cluster is missing.
pub fn undecided(plugin: &dyn Plugin, missing: MissingState) -> UndecidedDecision {
    lacks(plugin, missing.into())
}

pub(crate) fn lacks(plugin: &dyn Plugin, missing: MissingDependency) -> UndecidedDecision {
    UndecidedDecision {
        plugin: plugin.handler().name.to_owned().into(),
        name: String::new(),
        binding: None,
        missing,
    }
}

/// The inputs of plugins besides the request and the authorizer.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct PluginInputs<'c> {
    /// The view of the cluster.
    pub state: &'c dyn ClusterState,
    /// Has the answers of the backend of ImagePolicyWebhook, if they are there.
    pub images: Option<&'c dyn ImageReviewer>,
    /// Calls the backend of ImagePolicyWebhook, for missing answers.
    pub image_backend: Option<&'c dyn ImageBackend>,
    /// The time, since the Unix epoch.
    pub now: Duration,
    /// The suffix of names that plugins generate: five characters, random in a server.
    pub suffix: &'c str,
}

impl<'c> PluginInputs<'c> {
    /// A view of the cluster, at the epoch, without an image policy backend.
    pub fn new(state: &'c dyn ClusterState) -> Self {
        PluginInputs {
            state,
            images: None,
            image_backend: None,
            now: Duration::ZERO,
            suffix: "xxxxx",
        }
    }

    /// Sets what has the answers of the backend of ImagePolicyWebhook.
    #[must_use]
    pub fn with_images(self, images: &'c dyn ImageReviewer) -> Self {
        PluginInputs {
            images: Some(images),
            ..self
        }
    }

    /// Sets what calls the backend of ImagePolicyWebhook, in place of [answers](Self::with_images) that are there.
    #[must_use]
    pub fn with_image_backend(self, backend: &'c dyn ImageBackend) -> Self {
        PluginInputs {
            image_backend: Some(backend),
            ..self
        }
    }

    /// Sets what generated names end in.
    #[must_use]
    pub fn with_suffix(self, suffix: &'c str) -> Self {
        PluginInputs { suffix, ..self }
    }

    /// Sets the time, since the Unix epoch.
    #[must_use]
    pub fn at(self, now: Duration) -> Self {
        PluginInputs { now, ..self }
    }

    /// The context of a plugin, with the answers that the backend of ImagePolicyWebhook gave so far.
    pub(crate) fn context<'a>(
        &'a self,
        access: &'a dyn AccessReviewer,
        answered: &'a ImageAnswers,
    ) -> PluginContext<'a> {
        let context = PluginContext::new(self.state)
            .with_access(access)
            .with_suffix(self.suffix)
            .at(self.now);
        if self.image_backend.is_some() {
            return context.with_images(answered);
        }
        match self.images {
            Some(images) => context.with_images(images),
            None => context,
        }
    }
}

/// Nothing is known of the cluster.
impl Default for PluginInputs<'_> {
    fn default() -> Self {
        static NOTHING: LazyLock<StateObjects> = LazyLock::new(StateObjects::default);
        PluginInputs::new(&*NOTHING)
    }
}
