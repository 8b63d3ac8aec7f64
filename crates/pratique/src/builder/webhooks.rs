//! How webhooks are called.

use std::sync::Arc;

use pratique_manifest::{ManifestPlugin, PluginConfiguration};
use pratique_types::KubeConfig;
use pratique_webhook::{Caller, HttpCaller, Services};

use super::AdmissionBuilder;
use super::inputs::static_order;
use crate::guards::WebhookGuards;
use crate::webhooks::WebhookCallers;

/// How webhooks are called.
#[derive(Debug, Default)]
pub(super) struct WebhookSettings {
    /// The callers that were set, and the settings of all.
    callers: WebhookCallers,
    /// Whether webhooks without a caller of their own are called over HTTPS.
    https: bool,
    plain_http_redirects: bool,
    /// The credentials for the webhooks of each plugin.
    pub(super) credentials: Vec<(ManifestPlugin, KubeConfig)>,
}

impl WebhookSettings {
    pub(super) fn into_callers(mut self) -> WebhookCallers {
        if self.https {
            let mutating = self.callers.mutating.take();
            let validating = self.callers.validating.take();
            let mutating =
                mutating.unwrap_or_else(|| self.over_https(ManifestPlugin::MutatingAdmissionWebhook));
            let validating =
                validating.unwrap_or_else(|| self.over_https(ManifestPlugin::ValidatingAdmissionWebhook));
            self.callers.mutating = Some(mutating);
            self.callers.validating = Some(validating);
        }
        self.callers.guarded()
    }

    fn over_https(&self, plugin: ManifestPlugin) -> Arc<dyn Caller> {
        let builder = HttpCaller::builder().plain_http_redirects(self.plain_http_redirects);
        let credentials = self.credentials.iter().find(|(of, _)| *of == plugin);
        Arc::new(match credentials {
            Some((_, credentials)) => builder.credentials(Arc::new(credentials.clone())).build(),
            None => builder.build(),
        })
    }

    /// The first user of a kubeconfig for webhooks with an exec credential plugin, which is not run: every call would
    /// fail.
    fn exec_credentials(&self) -> Option<(ManifestPlugin, String)> {
        let is_called_by_others = |plugin: ManifestPlugin| match plugin {
            ManifestPlugin::MutatingAdmissionWebhook => self.callers.mutating.is_some(),
            _ => self.callers.validating.is_some(),
        };
        let credentials = self.credentials.iter();
        let mut credentials = credentials.filter(|(plugin, _)| !is_called_by_others(*plugin));
        credentials.find_map(|(plugin, config)| {
            let (user, _) = config.users.iter().find(|(_, user)| {
                let is_static =
                    !user.token.is_empty() || user.token_file.is_some() || !user.username.is_empty();
                user.has_exec && !is_static
            })?;
            Some((*plugin, user.clone()))
        })
    }
}

impl AdmissionBuilder {
    /// Has all webhooks called by `caller`.
    pub fn caller(mut self, caller: impl Caller + 'static) -> Self {
        let caller: Arc<dyn Caller> = Arc::new(caller);
        self.webhooks.callers.mutating = Some(caller.clone());
        self.webhooks.callers.validating = Some(caller);
        self
    }

    /// Shows the webhooks of a plugin the credentials that a kubeconfig has for them.
    pub fn credentials(mut self, plugin: ManifestPlugin, credentials: KubeConfig) -> Self {
        self.webhooks.credentials.push((plugin, credentials));
        self
    }

    /// Takes what the configuration of a plugin, which was loaded elsewhere, says of webhooks besides its manifests: the credentials
    /// that they are shown, and when static ones are called.
    pub fn configured(mut self, plugin: &PluginConfiguration) -> Self {
        if let Some(order) = static_order(plugin) {
            self.settings.static_order = order;
        }
        match &plugin.kube_config {
            Some(credentials) => self.credentials(plugin.plugin, credentials.clone()),
            None => self,
        }
    }

    /// Has webhooks called over HTTPS, unless a [caller](Self::caller) is set; they are shown the credentials of the
    /// kubeconfigs that an AdmissionConfiguration names. [`live`](Self::live) implies it.
    pub fn https(mut self) -> Self {
        self.webhooks.https = true;
        self
    }

    /// Whether redirections of webhooks from https to http are followed, as an API server does; if not, they fail.
    pub fn plain_http_redirects(mut self, followed: bool) -> Self {
        self.webhooks.plain_http_redirects = followed;
        self
    }

    /// Guards all calls of webhooks in ways that an API server does not.
    pub fn guards(mut self, guards: WebhookGuards) -> Self {
        self.webhooks.callers.guards = guards;
        self
    }

    /// Finds the services that webhooks are behind in this way; without, that is left to the cluster's DNS.
    pub fn services(mut self, services: impl Services + 'static) -> Self {
        self.webhooks.callers.services = Some(Arc::new(services));
        self
    }

    /// The first plugin whose webhooks need an exec credential plugin, and the user of the kubeconfig.
    pub(crate) fn exec_credentials(&self) -> Option<(ManifestPlugin, String)> {
        self.webhooks.exec_credentials()
    }
}
