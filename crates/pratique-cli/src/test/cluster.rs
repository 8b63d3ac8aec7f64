//! The cluster over whose state suites run.

use std::collections::HashSet;
use std::sync::Arc;

use pratique::authorization::Authorizer;
use pratique_manifest::ManifestFile;
use pratique_request::ResourceResolver;
use pratique_state::KnownCluster;
use pratique_suite::{Policies, Suite};

use crate::arguments::TestArguments;
use crate::exit::CliError;
use crate::output;
use crate::output::text::{PrintableText, text};
#[cfg(feature = "kube")]
use crate::snapshot::ClusterAccess;
use crate::snapshot::{LoadedState, StateSource, WebhookUse};

/// A cluster, or a snapshot of one, that all suites of a run see. Each kind of objects is read once.
pub(super) struct SuiteCluster {
    source: StateSource,
    /// Its policies, and those with webhook configurations.
    policies: Option<Vec<ManifestFile>>,
    with_webhooks: Option<Vec<ManifestFile>>,
    /// The warnings that were printed.
    warned: HashSet<PrintableText>,
    #[cfg(feature = "kube")]
    access: Option<Arc<ClusterAccess>>,
}

impl SuiteCluster {
    /// Connects to the cluster, or reads the snapshot, that arguments name; `None` if they name none.
    ///
    /// # Errors
    /// The cluster cannot be reached, or the snapshot not be read.
    pub(super) fn open(arguments: &TestArguments) -> Result<Option<Self>, CliError> {
        let source = StateSource::open(&arguments.client, arguments.snapshot.as_deref())?;
        Ok(match source {
            StateSource::None => None,
            source => Some(SuiteCluster {
                source,
                policies: None,
                with_webhooks: None,
                warned: HashSet::new(),
                #[cfg(feature = "kube")]
                access: None,
            }),
        })
    }

    /// Where the state comes from, and the version of the server there.
    pub(super) fn server_version(&self) -> Option<(String, String)> {
        self.source.server_version()
    }

    /// Gives the policies of the cluster to a suite that names none.
    ///
    /// # Errors
    /// They are not known.
    pub(super) fn add_policies(&mut self, suite: &mut Suite) -> Result<(), CliError> {
        if suite.is_foreign() || suite.names_policies() {
            return Ok(());
        }
        let (read, webhooks) = if suite.has_webhooks() {
            (&mut self.with_webhooks, WebhookUse::Taken)
        } else {
            let help = "`webhooks` of a suite says what they answer";
            (&mut self.policies, WebhookUse::Skipped { help })
        };
        let files = match read {
            Some(files) => files,
            None => read.insert(self.source.policies(webhooks)?.unwrap_or_default()),
        };
        suite.add_policies(files.clone());
        Ok(())
    }

    /// Gives policies the state of the cluster that they need. Warns once of what is not known.
    pub(super) fn provide(&mut self, policies: &mut Policies) {
        let name = self.source.name();
        let state = self
            .source
            .state_of(policies.admission(), &policies.sets, policies.plugin_kinds());
        let mut warnings = state.snapshot.unknown_kinds(&name);
        let mut resolver = ResourceResolver::default();
        state.resolve(&mut resolver);
        let known = KnownCluster {
            resolver,
            objects: state.objects().cloned().collect(),
            complete: state.complete_kinds(),
            served: state.served().collect(),
            permissions: state.permissions(),
            authorizer: self.authorizer(&state),
        };
        let consequence = "the definition defines nothing";
        let faults = policies.over(&known).into_iter();
        warnings.extend(faults.map(|fault| text!("{}: {}: {}", name, consequence, fault)));
        for warning in warnings {
            if self.warned.insert(warning.clone()) {
                output::eprint(&output::warning(&warning));
            }
        }
    }

    /// The cluster's own authorizer. It is one for all suites, so that a cluster that does not answer is asked once.
    #[cfg(feature = "kube")]
    fn authorizer(&mut self, state: &LoadedState) -> Option<Arc<dyn Authorizer>> {
        let server = state.server.as_ref()?;
        let access = self
            .access
            .get_or_insert_with(|| Arc::new(ClusterAccess::new(server)));
        Some(Arc::clone(access) as _)
    }

    #[cfg(not(feature = "kube"))]
    fn authorizer(&mut self, _: &LoadedState) -> Option<Arc<dyn Authorizer>> {
        None
    }
}
